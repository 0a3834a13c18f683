"""Scripts for the simulated table, in record notation.

A comment is a card that is played, then taken back before the next line:

    # taken back: Ann 100
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from companion.common.errors import Problem
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import Edition, load_edition
from companion.rules.play import Play, Verb
from companion.rules.record import notation
from companion.rules.referee import seating
from companion.rules.table import PILE_OF, Table, Team
from companion.tabletop.card_ids import card_ids, face_of
from companion.tabletop.mat_layout import DISCARD_ZONE

TAKEN_BACK = "# taken back: "
_HANDS = Path(__file__).parent / "hands"


@dataclass(frozen=True, slots=True)
class Action:
    """A play and its physical card."""

    play: Play
    card_id: str | None = None
    taken_back: bool = False


@dataclass(frozen=True, slots=True)
class Hand:
    """One deal and its actions."""

    first: str
    actions: tuple[Action, ...]
    begins: HandStart | None = None  # position to start from, if not the deal


@dataclass(frozen=True, slots=True)
class Script:
    """A game at the simulated table."""

    teams: tuple[Team, ...]
    hands: tuple[Hand, ...]
    edition_name: str = "classic"
    target: int | None = None
    options: tuple[tuple[str, str], ...] = ()

    @property
    def edition(self) -> Edition:
        """The edition with house rules."""
        return load_edition(self.edition_name).with_options(self.options)

    @property
    def players(self) -> tuple[str, ...]:
        """Players clockwise."""
        return tuple(seat.player for seat in seating(self.teams))

    @property
    def header(self) -> list[str]:
        return notation.header_text(self.teams, self.edition_name, self.target, dict(self.options))

    def record(self) -> str:
        """Return the record, without plays taken back."""
        lines = self.header
        for hand in self.hands:
            lines += [f"hand first {hand.first}", *map(str, plays_that_stay(hand))]
        return "\n".join(lines) + "\n"


def shipped_scripts() -> tuple[str, ...]:
    """Return the names of shipped scripts."""
    return tuple(sorted(path.stem for path in _HANDS.glob("*.mbn")))


def shipped_script(name: str, seed: int = 0) -> Script:
    """Return a shipped script. Raise Problem if unknown."""
    if name not in shipped_scripts():
        raise Problem(f"There is no scripted hand '{name}'; choose one of {', '.join(shipped_scripts())}.")
    return read_script((_HANDS / f"{name}.mbn").read_text(encoding="utf-8"), seed)


def read_script(text: str, seed: int = 0) -> Script:
    """Parse a record; the seed chooses the cards.

    Raise Problem naming the line that cannot be played.
    """
    chance = random.Random(f"cards {seed}")  # noqa: S311
    edition, target, options, teams = "classic", None, dict[str, str](), tuple[Team, ...]()
    hands: list[tuple[str, list[Action]]] = []
    deck = _Copies({}, chance)
    for number, raw in enumerate(text.splitlines(), 1):
        try:
            taken_back = raw.strip().lower().startswith(TAKEN_BACK)
            line = notation.without_comment(raw.strip()[len(TAKEN_BACK) if taken_back else 0 :])
            if not line:
                continue
            match notation.parse_line(line, teams):
                case notation.EditionLine(name):
                    edition = name
                case notation.TargetLine(km):
                    target = km
                case notation.OptionLine(name, value):
                    options[name] = value
                case notation.SideLine(team):
                    teams = (*teams, team)
                case notation.HandLine(first):
                    hands.append((first, []))
                    deck = _Copies(load_edition(edition).deck, chance)
                case Play() if not hands:
                    raise ValueError("a line of play needs `hand first` and a player's name before it.")
                case Play() as play:
                    hands[-1][1].append(Action(play, deck.card_for(play, taken_back), taken_back))
        except (notation.Unreadable, ValueError) as error:
            raise Problem(f"Line {number} of the script: {error}", 1) from error
    if not hands:
        raise Problem("The script has no hand: it needs `hand first` and a player's name.", 1)
    played = tuple(Hand(first, tuple(actions)) for first, actions in hands)
    return Script(teams, played, edition, target, tuple(options.items()))


class _Copies:
    """Physical cards not yet played, by face."""

    def __init__(self, deck: Mapping[Card, int], chance: random.Random) -> None:
        shuffled = chance.sample(card_ids(deck), sum(deck.values()))
        self._left = {face: [card_id for card_id in shuffled if face_of(card_id) is face] for face in deck}
        self._held: dict[tuple[str | None, Card], str] = {}

    def card_for(self, play: Play, taken_back: bool) -> str | None:
        """Return a play's card, preferably one taken back."""
        if play.card is None:
            return None
        who = play.player, play.card
        card_id = self._held.pop(who, None) or self._next(play.card)
        if taken_back:
            self._held[who] = card_id
        return card_id

    def _next(self, face: Card) -> str:
        if not self._left.get(face):
            raise ValueError(f"the deck has no {face} left.")
        return self._left[face].pop()


def plays_that_stay(hand: Hand) -> Iterator[Play]:
    """Yield a hand's plays that are not taken back."""
    return (action.play for action in hand.actions if not action.taken_back)


# --- The table ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandStart:
    """A position in the middle of a hand."""

    table: Table
    lying: Mapping[str, tuple[str, ...]]  # card ids by zone, bottom to top
    sideways: frozenset[str] = frozenset()  # Coups Fourrés among them

    @property
    def not_lying(self) -> tuple[str, ...]:
        """Card ids in hands and draw pile."""
        lying = {card_id for cards in self.lying.values() for card_id in cards}
        return tuple(card_id for card_id in card_ids(self.table.deck) if card_id not in lying)


def position_of(table: Table, chance: random.Random) -> HandStart:
    """Assign physical cards to a table's cards, while the deck has any."""
    left = card_ids(table.deck)
    copies = {face: [card_id for card_id in left if face_of(card_id) is face] for face in table.deck}
    for cards in copies.values():
        chance.shuffle(cards)
    lying: dict[str, tuple[str, ...]] = {}
    sides = list(enumerate(table.sides, start=1))
    piles = [(f"side-{number}/{pile}", cards) for number, side in sides for pile, cards in side.piles.items()]
    for zone, faces in (*piles, (DISCARD_ZONE, table.discards)):
        shown = tuple(copies[face].pop() for face in faces if copies.get(face))
        if shown:
            lying[zone] = shown
    sideways = frozenset(
        card_id
        for number, side in sides
        for card_id in lying.get(f"side-{number}/safety", ())
        if face_of(card_id) in side.coups_fourres
    )
    return HandStart(table, MappingProxyType(lying), sideways)


def zone_of(table: Table, play: Play) -> str:
    """Return the zone of a play's card: `side-1/battle`, …"""
    card = play.card or Card.UNKNOWN
    side = table.side_index(play.target or play.player)
    if play.verb is Verb.DISCARD or card.family is Family.SPECIAL or side is None:
        return DISCARD_ZONE
    return f"side-{side + 1}/{PILE_OF[card]}"


def answered(before: Table, after: Table) -> tuple[str, ...]:
    """Return the zones of cards that a play clears away, in discard pile order."""
    gone: list[tuple[str, Card]] = []
    for number, (old, new) in enumerate(zip(before.sides, after.sides, strict=True), 1):
        gone += ((f"side-{number}/battle", card) for card in old.battle[len(new.battle) :])
        gone += ((f"side-{number}/speed", card) for card in old.speed[len(new.speed) :])
    last = after.discards[-len(gone) :] if gone else ()
    return tuple(zone for zone, card in sorted(gone, key=lambda part: last.index(part[1]) if part[1] in last else 0))


def reshuffled(before: Table, play: Play, after: Table) -> bool:
    """True if the play made the discards the draw pile."""
    return play.verb is not Verb.TAKE and after.discards[: len(before.discards)] != before.discards
