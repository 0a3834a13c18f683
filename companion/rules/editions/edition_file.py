"""Edition files (TOML): differences from a parent edition; reading lists every fault.

A file is checked alone, then its valid part with the parent, so each fault is reported once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from companion.common import toml_text
from companion.common.errors import cause
from companion.common.small_file import read_small, text_of
from companion.common.spelling import meant, nearest
from companion.common.text import one_of, plain, say
from companion.common.toml_text import TomlError
from companion.rules.cards import Card, card_of_slug
from companion.rules.editions.switches import EditionError, contradictions, otherwise, switches, written

EDITIONS = Path(__file__).parent

LEAST_TARGET_KM = 200
TARGET_STEP_KM = 25
MOST_PLAYERS = 8

Entries = Mapping[str, Any]
Place = tuple[str, ...]  # keys from the top level down
_MOST_TEXT, _MOST_LETTERS = 300, {"name": 60, "title": 60}
"""Maximum characters of a text, in general and by key."""

_IDENTITY = {"name": str, "title": str, "sheet": str, "about": str}
_TABLES = {"deck": dict, "setting-up": dict, "points": dict, "switches": dict}
_NEEDED = {**_IDENTITY, "counts-verified": bool, **_TABLES}
_KINDS_OF_FILE = {"parent": str, "deck-changes": dict, "unit": str, "year": int, **_NEEDED}
_SETTING_UP = {"cards": int, "first-player": object, "hand": int, "seatings": list, "source": str, "target-km": dict}
_POINTS = {
    "source": str,
    **dict.fromkeys(("safety", "all-safeties", "coup-fourre", "trip-completed"), int),
    **dict.fromkeys(("delayed-action", "safe-trip", "extension", "shut-out"), int),
    "level": str,
}
_LEVEL = ("play-on", "restart")
_UNITS = ("km", "miles")
_CHOICE = {"value": str, "source": str}
_MAY_BE_FIXED = {**_CHOICE, "fixed": bool}
FIRST_PLAYERS = MappingProxyType(
    {
        "left-of-the-dealer": say("The player to the dealer's left starts, and the deal rotates."),
        "youngest": say("The youngest player starts."),
        "alternates": say("The first turn alternates hand by hand."),
    }
)
"""Sentences for who begins by the sheet; no rule depends on it."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_KIND_WORDS: dict[type, str] = {
    dict: "a table",
    list: "a list",
    str: "a text in quotes",
    bool: "true or false",
    int: "a whole number",
}
_MOST_SHOWN = 40
_LONGEST = 500
_TOO_LARGE = 100_000  # above any valid number


@cache
def shipped_names() -> tuple[str, ...]:
    """Return the names of shipped editions, classic first."""
    names = sorted(path.stem for path in EDITIONS.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: name != "classic"))


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in an edition file; `say` names the key."""

    say: str
    line: int | None = None  # from 1; only for faults of TOML or UTF-8
    places: tuple[Place, ...] = ()

    def in_file(self, path: Path) -> str:
        """Return the sentence with file name and line."""
        return f"{path}:{self.line}: {self.say}" if self.line else f"{path}: {self.say}"


@dataclass(frozen=True, slots=True)
class EditionReading:
    """Valid entries, merged with the parent's, and the file's faults."""

    entries: Entries
    faults: tuple[Fault, ...] = ()


def _wrong(say: str, *places: Place) -> Fault:
    return Fault(plain(say, _LONGEST), places=places)  # A quoted key may contain any character.


def read_file(path: Path) -> EditionReading:
    """Read an edition file; only shipped files may use shipped names.

    Raises EditionError, naming the file, if it cannot be opened.
    """
    try:
        raw = read_small(path)
    except OSError as error:
        raise EditionError("%(path)s: cannot be read (%(error)s).", path=path, error=cause(error)) from error
    try:
        taken = () if path.resolve().parent == EDITIONS.resolve() else shipped_names()
        return read_text(text_of(raw), taken)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return EditionReading({}, (Fault("this is no UTF-8 text; save the file as UTF-8.", line),))


def read_text(text: str, taken: Collection[str] = ()) -> EditionReading:
    """Read an edition file's text; a name in `taken` is a fault."""
    text = text.removeprefix("\ufeff")
    try:
        data = toml_text.load(text)
    except TomlError as error:
        return EditionReading({}, (Fault(f"{error}.", error.line or 1),))
    own_wrongs = [*_own_wrongs(data)]
    if data.get("name") in taken:
        say = f"'{data['name']}' is the name of an edition that ships: give yours another."
        own_wrongs.append(_wrong(say, ("name",)))
    named_wrong = {place[:2] for wrong in own_wrongs for place in wrong.places}
    own = _sound(data, named_wrong)
    if "switches" in own:
        # The edition that sets each switch.
        own["switches"] = {key: {**entry, "edition": own.get("name", "")} for key, entry in own["switches"].items()}
    parent = own.get("parent", None if "parent" not in data else "classic")
    entries = _with_parent(read_file(EDITIONS / f"{parent}.toml").entries, own) if parent else own
    # Skip faults about reported keys, their parts and parents.
    whole_wrongs = (
        wrong
        for wrong in _whole_wrongs(own, entries)
        if not any(place[: len(named)] == named[: len(place)] for place in wrong.places for named in named_wrong)
    )
    return EditionReading(entries, (*own_wrongs, *whole_wrongs))


def _sound(data: Mapping[str, Any], wrong: Collection[Place]) -> dict[str, Any]:
    """Return the data without wrong keys of the top two levels."""
    out = {}
    for key, value in data.items():
        if (key,) not in wrong:
            is_table = isinstance(value, dict)
            out[key] = {k: v for k, v in value.items() if (key, k) not in wrong} if is_table else value
    return out


def _with_parent(base: Entries, own: Entries) -> dict[str, Any]:
    """Merge an edition with its parent key by key, `deck` as a whole."""
    setting_up = {**base["setting-up"], **own.get("setting-up", {})}
    deck = {**own.get("deck", base["deck"]), **own.get("deck-changes", {})}
    changed = {key: {**base[key], **own.get(key, {})} for key in ("points", "switches")}
    title = own.get("title", own.get("name", "").replace("-", " ").capitalize())
    about = f"As {base['title']}, with rules of our own."
    identity = {"title": title, "sheet": "our own rules", "about": about, "year": None}
    # Only for allowed numbers of players.
    seated = {str(players) for players, _ in setting_up["seatings"]}
    inherited = {players: km for players, km in base["setting-up"]["target-km"].items() if players in seated}
    targets = {**inherited, **own.get("setting-up", {}).get("target-km", {})}
    top = {**base, **identity, **own, **changed, "deck": deck}
    return {**top, "setting-up": {**setting_up, "target-km": targets}}


# Faults of a file alone


def _own_wrongs(data: Entries) -> Iterator[Fault]:
    yield from _shape(data, _KINDS_OF_FILE, (), "")
    yield from _identity_wrongs(data)
    for table in ("deck", "deck-changes"):
        yield from _deck_wrongs(_table(data, table), table)
    setting_up = _table(data, "setting-up")
    yield from _shape(setting_up, _SETTING_UP, ("setting-up",), "[setting-up] ")
    yield from _seating_wrongs(setting_up.get("seatings"))
    for players, km in _table(setting_up, "target-km").items():
        if not _is(km, int) or km < LEAST_TARGET_KM or km % TARGET_STEP_KM:
            say = f"'{players}' must be a multiple of {TARGET_STEP_KM} from {LEAST_TARGET_KM} km up, not {_shown(km)}."
            yield _wrong(f"[setting-up.target-km] {say}", ("setting-up", "target-km", players))
    if "first-player" in setting_up:
        yield from _choice_wrongs(setting_up["first-player"], FIRST_PLAYERS, ("setting-up", "first-player"))
    points = _table(data, "points")
    yield from _shape(points, _POINTS, ("points",), "[points] ")
    yield from _not_among(points.get("level"), _LEVEL, "[points] 'level'", ("points", "level"))
    for name, entry in _table(data, "switches").items():
        place: Place = ("switches", name)
        if name not in switches():
            near = meant(name, switches()) or ": `companion editions show classic` lists them all"
            yield _wrong(f"[switches] has no switch '{name}'{near}.", place)
        else:
            yield from _choice_wrongs(entry, switches()[name], place)


def _table(data: Entries, key: str) -> Entries:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _shape(table: Entries, kinds: Mapping[str, type], place: Place, where: str) -> Iterator[Fault]:
    """Yield faults for unknown keys, long texts, wrong types."""
    for key, value in table.items():
        if key not in kinds:
            near = meant(key, kinds) or f"; known are {', '.join(kinds)}"
            yield _wrong(f"{where}there is no key '{key}' here{near}.", (*place, key))
        elif isinstance(value, str) and len(value) > (most := _MOST_LETTERS.get(key, _MOST_TEXT)):
            yield _wrong(f"{where}'{key}' has at most {most} letters, not {len(value)}.", (*place, key))
        elif not _is(value, kinds[key]):
            wanted = "one line of text" if kinds[key] is str and isinstance(value, str) else _KIND_WORDS[kinds[key]]
            yield _wrong(f"{where}'{key}' must be {wanted}, not {_shown(value)}.", (*place, key))


def _not_among(value: object, values: Collection[str], where: str, place: Place) -> Iterator[Fault]:
    if _is(value, str) and value not in values:
        yield _wrong(f"{where} is {one_of(values)}, not {_shown(value)}{meant(str(value), values)}.", place)


def _is(value: object, kind: type) -> bool:
    if kind is int:
        return type(value) is int and 0 <= value < _TOO_LARGE
    if kind is str:
        return isinstance(value, str) and value.strip() != "" and value.isprintable()
    return isinstance(value, kind)


def _shown(value: object) -> str:
    """Return a value in TOML notation, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value[:_MOST_SHOWN]}'"
    if isinstance(value, int) and abs(value) < _TOO_LARGE:
        return str(value)
    names = {dict: "a table", list: "a list", int: "so large a number", float: "a number with a point"}
    return names.get(type(value), "a date")


def _identity_wrongs(data: Entries) -> Iterator[Fault]:
    parent, name = data.get("parent"), data.get("name")
    if _is(parent, str) and parent not in shipped_names():
        near = meant(str(parent), shipped_names())
        yield _wrong(f"its parent '{parent}' is not one of {', '.join(shipped_names())}{near}.", ("parent",))
    if isinstance(name, str) and _is(name, str) and not _SLUG.fullmatch(name):
        yield _wrong(f"'name' is small letters, digits and hyphens, such as our-rules, not '{name}'.", ("name",))
    yield from _not_among(data.get("unit"), _UNITS, "'unit'", ("unit",))
    if "deck" in data and "deck-changes" in data:
        say = "[deck] lists every card, [deck-changes] those whose number differs from the parent's: write one of them."
        yield _wrong(say, ("deck-changes",), ("deck",))
    elif "deck-changes" in data and "parent" not in data:
        yield _wrong("[deck-changes] changes a parent's deck, and this file names no parent.", ("deck-changes",))


def _deck_wrongs(counts: Entries, table: str) -> Iterator[Fault]:
    for slug, count in counts.items():
        place, where = (table, slug), f"[{table}]"
        if slug == "source":
            yield from _shape({slug: count}, {slug: str}, (table,), f"{where} ")
        elif card_of_slug(slug) in (None, Card.UNKNOWN):
            near = meant(slug, set(Card) - {Card.UNKNOWN})
            yield _wrong(f"{where} names a card '{slug}' that no edition has{near}.", place)
        elif not _is(count, int):
            yield _wrong(f"{where} '{slug}' must be a whole number, not {_shown(count)}.", place)


def _seating_wrongs(seatings: object) -> Iterator[Fault]:
    place: Place = ("setting-up", "seatings")
    if not isinstance(seatings, list):
        return
    if not seatings:
        yield _wrong("[setting-up] 'seatings' is empty: list pairs such as [[2, 1], [4, 2]].", place)
    for number, pair in enumerate(seatings):
        if not _is_seating(pair):
            yield _wrong(f"[setting-up] 'seatings' {_SEATING_SAY}", place)
        elif pair in seatings[:number]:
            yield _wrong(f"[setting-up] 'seatings' lists {pair} twice.", place)


_SEATING_SAY = (
    "lists pairs of numbers, players and players a side, for two sides or more and up to "
    f"{MOST_PLAYERS} players: [[2, 1], [4, 2]]."
)


def _is_seating(pair: object) -> bool:
    if not isinstance(pair, list) or len(pair) != 2 or not all(type(number) is int and number > 0 for number in pair):
        return False
    players, each = pair
    return bool(players % each == 0 and 2 * each <= players <= MOST_PLAYERS)


def _choice_wrongs(entry: object, values: Collection[str], place: Place) -> Iterator[Fault]:
    """Yield faults of `{ value = "no", source = "A turn" }`."""
    where = f"[{place[0]}] '{place[1]}'"
    if not isinstance(entry, dict):
        likely = nearest(str(entry), values) or next(iter(values))
        example = f'{{ value = "{likely}", source = "…" }}'
        yield _wrong(f"{where} must be a table such as {example}, not {_shown(entry)}.", place)
        return
    yield from _shape(entry, _MAY_BE_FIXED if place[0] == "switches" else _CHOICE, place, f"{where}: ")
    for key in _CHOICE:
        if key not in entry:
            yield _wrong(f'{where} has no \'{key}\': write {{ value = "…", source = "…" }}.', place)
    yield from _not_among(entry.get("value"), values, where, (*place, "value"))


# Faults after merging


def _whole_wrongs(own: Entries, entries: Entries) -> Iterator[Fault]:
    yield from _missing(own, entries)
    if _TABLES.keys() <= entries.keys():
        yield from _count_wrongs(own, entries)
        yield from _unseated(entries)
        yield from _contradiction_wrongs(own, entries)


def _missing(own: Entries, entries: Entries) -> Iterator[Fault]:
    way_out = "" if "parent" in own else ", and this file names no parent that says it"
    for key in _NEEDED:
        if key not in entries or (key == "name" and key not in own):
            yield _wrong(f"'{key}' is missing{way_out if key != 'name' else ''}.", (key,))
    for table, needed in (("setting-up", _SETTING_UP), ("points", _POINTS), ("switches", switches())):
        for key in needed:
            if table in own.keys() | entries.keys() and key not in entries[table]:
                yield _wrong(f"[{table}] says nothing about '{key}'{way_out}.", (table, key))


def _count_wrongs(own: Entries, entries: Entries) -> Iterator[Fault]:
    setting_up = entries["setting-up"]
    total = sum(count for slug, count in entries["deck"].items() if slug != "source")
    cards, hand = setting_up.get("cards", total), setting_up.get("hand", 1)
    if total != cards:
        table = next((table for table in ("deck-changes", "deck") if table in own), None)
        where = f"with [{table}]" if table else "[setting-up]"
        ways_out = f"correct the counts, or write cards = {total} under [setting-up]"
        place = (table,) if table else ("setting-up", "cards")
        yield _wrong(f"{where} the deck has {total} cards, not {cards}: {ways_out}.", place)
        return
    most = max((players for players, _ in setting_up.get("seatings", ())), default=0)
    if not hand:
        yield _wrong("[setting-up] 'hand' is at least one card.", ("setting-up", "hand"))
    if hand * most > total:
        say = f"[setting-up] the hands of {most} players take {hand * most} cards, and the deck has {total}."
        yield _wrong(say, *(("setting-up", key) for key in ("hand", "seatings", "cards")))


def _unseated(entries: Entries) -> Iterator[Fault]:
    setting_up = entries["setting-up"]
    seated = {str(players): None for players, _ in setting_up.get("seatings", ())}
    targets = setting_up.get("target-km", seated)
    where = "[setting-up.target-km]"
    seats: Place = ("setting-up", "seatings")
    for players in seated:
        if players not in targets:
            say = f"{where} names no target for {players} players, whom 'seatings' has."
            yield _wrong(say, ("setting-up", "target-km"), seats)
    for players in targets:
        if players not in seated:
            say = f"{where} names '{players}', a number of players that 'seatings' has not."
            yield _wrong(say, ("setting-up", "target-km", players), seats)


def _contradiction_wrongs(own: Entries, entries: Entries) -> Iterator[Fault]:
    values = {name: entry["value"] for name, entry in entries["switches"].items()}
    for pair in contradictions(values):
        one, other = sorted((pair.one, pair.other), key=lambda rule: rule[0] not in own.get("switches", {}))
        say = f"{written(one)} contradicts {written(other)} ({pair.because}): {written(otherwise(other))} would do."
        yield _wrong(f"[switches] {say}", ("switches", one[0]), ("switches", other[0]))
