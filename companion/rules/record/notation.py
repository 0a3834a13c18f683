"""The record notation: parse and write lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from companion.common.spelling import composed, meant, shown
from companion.common.text import Said, say
from companion.rules.card_names import card_named, joined, printed_by_key
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.editions.edition import EditionError, load_edition
from companion.rules.editions.edition_file import LEAST_TARGET_KM, TARGET_STEP_KM
from companion.rules.editions.switches import check_option
from companion.rules.play import Play, Verb
from companion.rules.table import Team

_NAME = r"""[^\s"#=,<>!]+"""
_PLAIN_NAME = re.compile(r"[\w-]+")
_TIMES = re.compile(r"([^*]+)\*([2-9])(?:\*([2-9]))?|([2-9])\*([^*]+)")
_TIMES_SIGN = re.compile(r"([0-9](?:[\s-]*[^\W\d_]+)?)\s*[x×*]\s*(?=[0-9])", re.IGNORECASE)
"""The sign in `100x2`, `2 × 100`, `100*2`, `100 km x 2`, after its number."""
_SPACED_TIMES = re.compile(r"(?<!\S)[0-9]\S*(?: \* \S+)+")

MOST_SHOWN = 60  # characters of a name or display name
MOST_EXCHANGED = 6
MOST_WRITTEN_TIMES = 9


class Unreadable(ValueError):
    """A line that cannot be parsed; `str()` is a sentence for the user."""

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(say(sentence, **values) if values else sentence)


class UnreadableEdition(Unreadable):
    """An unusable `edition` line."""


class UnknownWord(Unreadable):
    """An unknown card or house rule."""


class UnknownCard(UnknownWord):
    """An unknown card."""

    def __init__(self, word: str, others: Iterable[str] = ()) -> None:
        self._word, self._others = word, tuple(others)
        super().__init__(self.among(()))

    def among(self, cards: Iterable[Card], edition: str | None = None) -> Said:
        """Return the sentence, suggesting one of `cards` or, if none is similar, another card.

        Printed names are suggested in the edition's spelling, if given.
        """
        every = [card for card in Card if card is not Card.UNKNOWN]
        near = meant(self._word, [*(cards or every), *self._others]) or meant(self._word, every)
        printed = printed_by_key(edition)
        near = near or meant(self._word, printed, printed)
        return say("There is no card '%(word)s'%(near)s.", word=shown(self._word), near=near)


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A numbered line without comment and surrounding spaces."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class EditionLine:
    """`edition classic`"""

    name: str


@dataclass(frozen=True, slots=True)
class SideLine:
    """`side Reds = Ann, Cid`"""

    team: Team


@dataclass(frozen=True, slots=True)
class TargetLine:
    """`target 1000`: the km to complete"""

    km: int


@dataclass(frozen=True, slots=True)
class OptionLine:
    """`option hazard-on-hazard=forbidden`"""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class DeckLine:
    """`deck stop=5, roll=5`: the owner's counts of an unverified deck"""

    counts: tuple[tuple[Card, int], ...]


@dataclass(frozen=True, slots=True)
class PlayerLine:
    """`player Ann "Ann Smith"`"""

    player: str
    shown: str


@dataclass(frozen=True, slots=True)
class HandLine:
    """`hand first Ann`: Ann begins"""

    first: str


Header = EditionLine | SideLine | TargetLine | OptionLine | DeckLine | PlayerLine | HandLine


def lines(text: str) -> Iterator[RecordLine]:
    r"""Yield the numbered lines of a record, from 1, without comments and empty lines.

    Text becomes Unicode NFC: both spellings of `Zoë` are equal.

    >>> for line in lines("side Ann\nside Bob\n\nhand first Ann\nAnn roll  # green light"):
    ...     print(line.number, line.text)
    1 side Ann
    2 side Bob
    4 hand first Ann
    5 Ann roll
    """
    written = composed(text).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, raw in enumerate(written, start=1):
        words = without_comment(raw)
        if words:
            yield RecordLine(number, words)


def without_comment(raw: str) -> str:
    """Return a line without comment and outer spaces; a `#` in quotes stays."""
    quoted = False
    for found in re.finditer(r'["#]', raw) if "#" in raw else ():
        at = found.start()
        if found[0] == '"':
            quoted = not quoted
        elif not quoted:
            return raw[:at].strip()
    return raw.strip()


def is_name(word: str) -> bool:
    """True for a word of letters (any script), digits, `-` and `_`."""
    if _PLAIN_NAME.fullmatch(word):
        return True
    # Many scripts need combining marks and joiners.
    letters = (c.isalnum() or c in "-_\u200c\u200d" or unicodedata.category(c).startswith("M") for c in word)
    return word != "" and all(letters)


def parse_header(text: str) -> Header | None:
    """Parse a header or `hand first …`; None if the first word is no header's.

    Raises Unreadable if the rest is malformed.
    """
    text = composed(text)
    keyword = text.split(maxsplit=1)[0].lower() if text.strip() else ""
    if keyword not in _HEADERS:
        return None
    shape, example, read = _HEADERS[keyword]
    found = re.fullmatch(rf"{keyword}\s+{shape}", text.strip(), re.IGNORECASE)
    if found is None:
        unreadable = UnreadableEdition if keyword == "edition" else Unreadable
        raise unreadable(say("Write this line as %(example)s.", example=example))
    return read(*found.groups())


def read_header(text: str) -> Header | None:
    """Parse a header; None for anything else.

    Plays of a player named like a header (`side`) need `parse_line`.
    """
    try:
        return parse_header(text)
    except Unreadable:
        return None


def edition_named(text: str) -> str | None:
    """Return the edition's name in an `edition` line, known or not; None for other lines."""
    found = re.fullmatch(rf"edition\s+{_HEADERS['edition'][0]}", text.strip(), re.IGNORECASE)
    return found[1].lower() if found else None


def parse_line(text: str, teams: tuple[Team, ...]) -> Play | Header:
    """Parse a line. Raises Unreadable.

    Plays come first: a player may be named like a header.

    >>> teams = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
    >>> play = parse_line("Ann Red Light > Bob", teams)
    >>> str(play)
    'Ann stop > Bob'
    >>> parse_line("hand first Ann", teams)
    HandLine(first='Ann')
    """
    try:
        return parse_play(text, teams)
    except Unreadable:
        header = parse_header(text)
        if header is None:
            raise
        return header


def headers(lines: Iterable[str]) -> Iterator[Header]:
    """Yield the readable headers of a record."""
    teams: tuple[Team, ...] = ()
    for text in lines:
        with suppress(Unreadable):
            line = parse_line(text, teams)
            if isinstance(line, SideLine):
                teams = (*teams, line.team)
            if not isinstance(line, Play):
                yield line


def _read_edition(name: str) -> EditionLine:
    try:
        return EditionLine(load_edition(name).name)
    except EditionError as error:
        raise UnreadableEdition(str(error)) from error


def _read_side(name: str, written: str | None) -> SideLine:
    players = [player.strip() for player in written.split(",")] if written else [name]
    _refuse_no_name(name)
    if not all(map(is_name, players)) or len(set(players)) != len(players):
        raise Unreadable(say("List each player of a side once, separated by commas: `side Reds = Ann, Cid`."))
    return SideLine(Team(name, tuple(players)))


def check_names(team: Team) -> None:
    """Raise Unreadable for a name that is too long, unless a side joins its players' (`Ann-Bob`).

    Only new matches are checked: older logs remain readable.
    """
    own = () if team.name == "-".join(team.players) else (team.name,)
    for name in (*own, *team.players):
        if len(name) > MOST_SHOWN:
            raise Unreadable(
                "A name has at most %(most)d letters: '%(name)s' has %(count)d.",
                most=MOST_SHOWN,
                name=shown(name),
                count=len(name),
            )


def _refuse_no_name(word: str) -> None:
    if not is_name(word):
        raise Unreadable(say("A name is one word of letters, digits, - and _."))


def _read_target(written: str) -> TargetLine:
    km, step, least = int(written), TARGET_STEP_KM, LEAST_TARGET_KM
    if km < least or km % step:
        raise Unreadable(
            "A target must be a multiple of %(step)d, at least %(least)d km, not %(km)d.", step=step, least=least, km=km
        )
    return TargetLine(km)


def _read_option(name: str, value: str) -> OptionLine:
    try:
        check_option(name.lower(), value.lower())
    except EditionError as error:
        raise UnknownWord(str(error)) from error
    return OptionLine(name.lower(), value.lower())


def _read_deck(written: str) -> DeckLine:
    counts = [re.fullmatch(r"([\w'’ -]+?)\s*=\s*([0-9]{1,3})", part.strip()) for part in written.split(",")]
    if not all(counts):
        raise Unreadable("Write this line as %(example)s.", example=_HEADERS["deck"][1])
    return DeckLine(tuple((_card(found[1]), int(found[2])) for found in counts if found))


def _read_player(player: str, written: str) -> PlayerLine:
    _refuse_no_name(player)
    shown = " ".join(written.split())
    if not shown or len(shown) > MOST_SHOWN:
        raise Unreadable("A display name has 1 to %(most)d letters.", most=MOST_SHOWN)
    return PlayerLine(player, shown)


_HEADERS: dict[str, tuple[str, str, Callable[..., Header]]] = {
    "edition": (r"([\w.-]+)", "`edition classic`", _read_edition),
    "side": (
        rf"({_NAME})(?:\s*=\s*(.+))?",
        say("`side Ann` or `side Reds = Ann, Cid`, each name one word"),
        _read_side,
    ),
    "target": (r"([0-9]{1,9})", "`target 1000`", _read_target),
    "option": (r"([\w-]+)\s*=\s*([\w-]+)", "`option hazard-on-hazard=forbidden`", _read_option),
    "deck": (r"(.+)", say("`deck stop=5, roll=5`, each card with its count"), _read_deck),
    "player": (rf'({_NAME})\s+"([^"]*)"', '`player Ann "Ann Smith"`', _read_player),
    "hand": (rf"first\s+({_NAME})", "`hand first Ann`", HandLine),
}
"""By first word: pattern for the rest, example, parser of the groups."""


_WORDS = {verb.value: verb for verb in (Verb.TAKE, Verb.SKIP_DRAW, Verb.PASS, Verb.EXTEND, Verb.FINISH)}
_ANYWAY = "anyway"
_UNDER = "under"
_ONLY_A_REMEDY = say("Only a remedy out of turn goes under its hazard: `repairs under !`.")
_TABLE_WORDS = {verb.value: verb for verb in (Verb.EXHAUSTED, Verb.END)}


@lru_cache(maxsize=4096)
def parse_play(text: str, teams: tuple[Team, ...]) -> Play:
    """Parse a play. Raises Unreadable.

    A final `anyway` marks an illegal play that the table accepted. Cached: records repeat a few hundred lines.
    """
    text = composed(text)
    said = without_comment(text) if "#" in text else text
    words = said.replace(">", " > ").replace("!", " ! ").split()
    if len(words) == 1 and words[0].lower() in _TABLE_WORDS:
        return Play(_TABLE_WORDS[words[0].lower()])
    if not words or not any(words[0] in team.players for team in teams):
        raise Unreadable(_who(words, teams))
    player, rest = words[0], _in_few_words(words[1:])
    anyway = words[-1].lower() == _ANYWAY and words[-2:-1] != [">"] and len(words) > 1
    rest = rest[:-1] if anyway else rest
    at_once = bool(rest) and rest[-1] == "!"
    rest = rest[:-1] if at_once else rest
    under = at_once and len(rest) > 1 and rest[-1].lower() == _UNDER
    play = _parse_act(player, rest[:-1] if under else rest, teams)
    if at_once and play.verb is not Verb.PLAY:
        raise Unreadable(say("Write `!` only after a card that is played out of turn."))
    if under and (play.card or Card.UNKNOWN).family is not Family.REMEDY:
        raise Unreadable(_ONLY_A_REMEDY)
    return replace(play, at_once=at_once, under=under, anyway=anyway) if at_once or anyway else play


def _in_few_words(words: Sequence[str]) -> list[str]:
    """Return the words with each card as one: `red-light` for `red light`, `100*2` for `100 x 2`.

    Names after `>` stay unchanged.
    """
    end = words.index(">") if ">" in words else len(words)
    cards = words[:end]
    if any(sign in word for word in cards for sign in "xX×*"):
        cards = _TIMES_SIGN.sub(r"\1 * ", " ".join(cards)).split()
    if len(cards) > 1 and not all(word in _PLAIN_WORDS or card_of_slug(word) for word in cards):
        cards = _SPACED_TIMES.sub(lambda found: found[0].replace(" ", ""), " ".join(joined(cards))).split()
    return [*cards, *words[end:]]


def read_play(text: str, teams: tuple[Team, ...]) -> Play | None:
    """Parse a play; None for anything else."""
    try:
        return parse_play(text, teams)
    except Unreadable:
        return None


def _who(words: Sequence[str], teams: Sequence[Team]) -> Said:
    players = [player for team in teams for player in team.players]
    # Pages show `Player-1` as `Player 1`.
    near = meant("-".join(words[:2]), players) or meant(words[0], [*players, *_HEADERS, *_TABLE_WORDS]) if words else ""
    if not players:
        return say("No `side` line names the players yet%(near)s.", near=near)
    return say("Start a play with a player's name: %(players)s%(near)s.", players=", ".join(players), near=near)


def _parse_act(player: str, words: Sequence[str], teams: Sequence[Team]) -> Play:
    if not words:
        raise Unreadable("What does %(player)s do? Write `%(player)s roll` or `%(player)s discard 25`.", player=player)
    if len(words) == 1:
        return _parse_word(player, words[0])
    verb = _ACTS.get(words[0].lower())
    if verb is not None:
        return _read_act(player, verb, words[1:], teams)
    if len(words) == 3 and words[1] == ">":
        card, side = _card(words[0]), _side(words[2], teams)
        if card.family is not Family.HAZARD:
            raise Unreadable(say("Only a hazard can be played on another side."))
        return Play(Verb.PLAY, player, card, side)
    if words[1:] == [">"] and (card_named(words[0]) or Card.UNKNOWN).family is Family.HAZARD:
        _side("", teams)
    if len(words) == 2 and words[1].lower() == _UNDER:
        raise Unreadable(_ONLY_A_REMEDY)
    if words[0].lower() in _WORDS:
        raise Unreadable("Write nothing after `%(word)s`.", word=words[0].lower())
    near = meant(words[0], _ACTS) if verb is None else ""
    raise Unreadable(
        "Write a play as `%(player)s roll`, `%(player)s stop > SIDE` or `%(player)s discard 25`%(near)s.",
        player=player,
        near=near,
    )


def _parse_word(player: str, word: str) -> Play:
    verb = _WORDS.get(word.lower())
    if verb is not None:
        return Play(verb, player)
    if word.lower() in _ACTS and card_of_slug(word.lower()) is None:
        raise Unreadable("Write a card after `%(word)s`.", word=word.lower())
    card, times = _doubled(word, (*_WORDS, *_ACTS))
    return Play(Verb.PLAY, player, card, times=times)


def _doubled(word: str, others: Iterable[str] = ()) -> tuple[Card, int]:
    """Return card and factor of `100*2`; suggests `others` for an unknown word."""
    found = _TIMES.fullmatch(word)
    if found is None:
        return _card(word, others), 1
    card = _card(found[1] or found[5])
    if card.family is not Family.DISTANCE:
        raise Unreadable(say("Only a distance card can be doubled: `100*2`."))
    # Refusing `100*2*2` or `100*4` is up to the referee.
    return card, min(int(found[2] or found[4]) * int(found[3] or 1), MOST_WRITTEN_TIMES)


def _side(target: str, teams: Sequence[Team]) -> str:
    side = next((team.name for team in teams if target == team.name or target in team.players), None)
    if side is None:
        names = ", ".join(team.name for team in teams)
        near = meant(target, [name for team in teams for name in (team.name, *team.players)]) if target else ""
        raise Unreadable("Write a side after `>`: %(sides)s%(near)s.", sides=names, near=near)
    return side


def _player(target: str, teams: Sequence[Team]) -> str:
    if not any(target in team.players for team in teams):
        players = [player for team in teams for player in team.players]
        near = meant(target, players)
        raise Unreadable("Write a player after `>`: %(players)s%(near)s.", players=", ".join(players), near=near)
    return target


def _read_act(player: str, verb: Verb, words: Sequence[str], teams: Sequence[Team]) -> Play:
    """Parse the words after a verb: `discard 25`, `pair 50 for 100`, `control stop > Bob`."""
    shape, written = _ACT_SHAPES[verb]
    if not re.fullmatch(shape, " ".join(words), re.IGNORECASE):
        raise Unreadable(written, player=player, verb=verb.value, most=MOST_EXCHANGED)
    if verb is Verb.EXCHANGE:
        return Play(verb, player, cards=tuple(map(_card, words)))
    card, times = _doubled(words[0]) if verb is Verb.THEFT else (_card(words[0]), 1)
    if verb is Verb.PAIR:
        return Play(verb, player, card, wanted=_card(words[2]))
    of = _side if verb is Verb.THEFT else _player
    return Play(verb, player, card, of(words[2], teams) if len(words) > 1 else None, times=times)


_AT_SOMEBODY = r"\S+( > \S+)?", say("Write this as `%(player)s %(verb)s 100 > NAME`.")
_ACT_SHAPES = {
    Verb.DISCARD: (r"\S+", say("Write a discard as `%(player)s discard 25`.")),
    Verb.PENALTY: (r"\S+", say("Write a penalty as `%(player)s penalty 25`, with the card drawn from the hand.")),
    Verb.EXCHANGE: (
        rf"\S+( \S+){{0,{MOST_EXCHANGED - 1}}}",
        say("Exchange one to %(most)d cards: `%(player)s exchange 25 25 stop`."),
    ),
    Verb.PAIR: (r"\S+ for \S+", say("Write two equal cards for a discarded one as `%(player)s pair 50 for 100`.")),
    **dict.fromkeys((Verb.THEFT, Verb.CONTROL, Verb.GIVE, Verb.NAME), _AT_SOMEBODY),
}
"""By verb: pattern for the words after it, and sentence if they do not match."""

_ACTS = {verb.value: verb for verb in _ACT_SHAPES}
_PLAIN_WORDS = frozenset({*_ACTS, "for", "!", _ANYWAY, _UNDER})
"""Words of a play outside card names."""


def _card(slug: str, others: Iterable[str] = ()) -> Card:
    card = card_named(slug)
    if card is None:
        raise UnknownCard(slug, others)
    return card


def header_text(teams: Sequence[Team], edition: str, target: int | None, options: Mapping[str, str]) -> list[str]:
    """Return the header lines of a new record; `target` in km."""
    sides = [f"side {t.name}" if t.players == (t.name,) else f"side {t.name} = {', '.join(t.players)}" for t in teams]
    lines = [f"edition {edition}", *sides]
    lines += [f"target {target}"] if target else []
    return lines + [f"option {name}={value}" for name, value in options.items()]


def record_text(lines: Iterable[str]) -> str:
    """Return a record file's text, a blank line before each hand."""
    return "".join("\n" * isinstance(read_header(text), HandLine) + f"{text}\n" for text in lines)
