"""The table as an immutable value: piles, hand sizes, turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition

SAFETY_KM = 100  # in editions that count safeties as distance
COUP_FOURRE_KM = 100  # on top of `SAFETY_KM`
FULL_HAND = 7  # hand size after drawing if `draw` is `to-seven`
EXTENDABLE_KM = 700  # only target with an extension

SPEED_CARDS = (Card.SPEED_LIMIT, Card.END_OF_LIMIT)
_KM: Callable[[Card], int] = attrgetter("km")


class Shows(StrEnum):
    """What a battle pile counts as showing; a removed hazard may leave a Roll or nothing."""

    TOP = "top"
    ROLL = "roll"
    NOTHING = "nothing"


class Due(StrEnum):
    """The draw due before the next play."""

    TURN = "turn"  # the edition's draw at the start of a turn
    ONE = "one"  # after playing a safety
    NOTHING = "nothing"


class Team(NamedTuple):
    """A side's name and players; a `Side` has cards."""

    name: str
    players: tuple[str, ...]


class Side(NamedTuple):
    """The cards in front of a side; piles from bottom to top."""

    name: str
    players: tuple[str, ...]
    battle: tuple[Card, ...] = ()
    speed: tuple[Card, ...] = ()
    distances: tuple[Card, ...] = ()
    doubled: tuple[Card, ...] = ()  # those of `distances` with an accelerator
    safeties: tuple[Card, ...] = ()
    coups_fourres: tuple[Card, ...] = ()  # those of `safeties` played as one
    shows: Shows = Shows.TOP
    speed_cleared: bool = False  # Right of Way has removed a limit

    @property
    def km(self) -> int:
        return sum(map(_KM, self.distances)) + (sum(map(_KM, self.doubled)) if self.doubled else 0)

    @property
    def battle_top(self) -> Card | None:
        """What the battle pile counts as showing."""
        if self.shows is not Shows.TOP:
            return Card.ROLL if self.shows is Shows.ROLL else None
        return self.battle[-1] if self.battle else None

    @property
    def speed_top(self) -> Card | None:
        return self.speed[-1] if self.speed and not self.speed_cleared else None

    @property
    def hazard(self) -> Card | None:
        """The hazard that stops the side, unless its safety has been played."""
        top = self.battle_top
        stops = top is not None and top.family is Family.HAZARD and SAFETY_OF[top] not in self.safeties
        return top if stops else None

    @property
    def limited(self) -> bool:
        return self.speed_top is Card.SPEED_LIMIT and Card.RIGHT_OF_WAY not in self.safeties

    @property
    def has_right_of_way(self) -> bool:
        return Card.RIGHT_OF_WAY in self.safeties

    @property
    def has_begun(self) -> bool:
        """True if the side has played a card of its own."""
        own = any(card.family is Family.REMEDY for card in self.battle + self.speed)
        return bool(own or self.distances or self.safeties)

    @property
    def piles(self) -> dict[str, tuple[Card, ...]]:
        return {"battle": self.battle, "speed": self.speed, "distance": self.distances, "safety": self.safeties}

    def goes_doubled(self, card: Card, times: int) -> bool:
        """True if an accelerator goes with a removed distance card: `times` says so, or all copies have one."""
        return times > 1 or self.distances.count(card) == self.doubled.count(card)

    def copies(self, card: Card) -> int:
        """Return how many copies are in front of this side."""
        if card is Card.ACCELERATOR:
            return len(self.doubled)
        return _PILE[card](self).count(card)


_AREA = {Family.DISTANCE: "distance", Family.SAFETY: "safety"}
PILE_OF = {card: "speed" if card in SPEED_CARDS else _AREA.get(card.family, "battle") for card in Card}
"""Pile or area by card: `battle`, `speed`, `distance` or `safety`; `battle` for cards never put there."""

_FIELD = {"distance": "distances", "safety": "safeties"}
_PILE: dict[Card, Callable[[Side], tuple[Card, ...]]] = {
    card: attrgetter(_FIELD.get(pile, pile)) for card, pile in PILE_OF.items()
}


@dataclass(frozen=True, slots=True)
class Seat:
    """A player's seat; seats are listed clockwise."""

    player: str
    side: int  # index in `Table.sides`


class Attack(NamedTuple):
    """A hazard that can still be answered."""

    hazard: Card
    by_seat: int
    side: int  # index of the attacked side
    before: Shows = Shows.TOP  # what the battle pile showed before
    mirrors: int = 0  # mirrors played on it


@dataclass(frozen=True, slots=True)
class Laid:
    """The last distance card, while a u-turn can return it."""

    seat: int
    card: Card
    times: int


class How(StrEnum):
    """How a card came into a hand."""

    STOLEN = "stolen"
    HANDED = "handed"
    FETCHED = "fetched"


@dataclass(frozen=True, slots=True)
class Taken:
    """A card just taken into a hand; it must be played at once unless stolen."""

    seat: int
    card: Card
    how: How


@dataclass(frozen=True, slots=True)
class Request:
    """A card that a player must hand over when they get it; the Control card is beside them."""

    card: Card
    by_seat: int
    of_seat: int


@dataclass(frozen=True, slots=True)
class Window:
    """What can be answered or played before the next draw or play."""

    laid: Laid | None = None
    taken: Taken | None = None
    asked: Request | None = None  # just made: may be answered now
    drew: bool = False  # by a line of its own: no exchange


class HowEnded(StrEnum):
    """How a hand ended; `OPEN`: it has not."""

    COMPLETED = "completed"
    EXHAUSTED = "exhausted"
    AGREED = "agreed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a hand ended, and the index of the side that completed its trip."""

    how: HowEnded
    side: int | None = None


class Table(NamedTuple):
    """A hand between two plays, as all players see it."""

    edition: Edition
    sides: tuple[Side, ...]
    seats: tuple[Seat, ...]
    deck: Mapping[Card, int]
    hands: tuple[int, ...]  # numbers of cards, by seat
    draw_pile: int
    discards: tuple[Card, ...]
    to_move: int  # index in `seats`
    due: Due
    target: int
    extension_offered_to: int | None = None  # index of the side that must answer
    extended_by: int | None = None
    attacks: tuple[Attack, ...] = ()  # oldest first
    may_pass: bool = False  # after a play out of turn
    window: Window = Window()
    requests: tuple[Request, ...] = ()
    ending: Ending | None = None

    @property
    def player_to_move(self) -> str:
        return self.seats[self.to_move].player

    @property
    def handed_to(self) -> int | None:
        """The seat that was just handed a card to play or discard."""
        taken = self.window.taken
        return taken.seat if taken is not None and taken.how is How.HANDED else None

    @property
    def player_up(self) -> str:
        """The player just handed a card, else the player to move."""
        seat = self.handed_to
        return self.seats[self.to_move if seat is None else seat].player

    @property
    def drawn(self) -> bool:
        """True if the player to move has drawn or skipped the draw."""
        return self.due is Due.NOTHING

    @property
    def to_draw(self) -> int:
        return self.draws(self.hands[self.to_move], self.due)

    def draws(self, held: int, due: Due = Due.TURN) -> int:
        """Return how many cards a player with `held` cards draws before playing."""
        if due is Due.TURN and self.edition.draw == "to-seven":
            return max(0, FULL_HAND - held)
        return 0 if due is Due.NOTHING else 1

    @property
    def may_extend(self) -> bool:
        return self.edition.extension == "yes" and self.target == EXTENDABLE_KM

    @property
    def is_over(self) -> bool:
        return self.ending is not None

    @property
    def draw_reshuffles(self) -> bool:
        return self.edition.reshuffles and self.to_draw > self.draw_pile

    def seat_named(self, player: str | None) -> int | None:
        return next((index for index, seat in enumerate(self.seats) if seat.player == player), None)

    def seat_of(self, player: str) -> int:
        """Return the index of a player's seat. Raises KeyError if unknown."""
        for index, seat in enumerate(self.seats):
            if seat.player == player:
                return index
        raise KeyError(player)

    def side_index(self, name: str | None) -> int | None:
        """Return the index of the side with this name or player."""
        for index, side in enumerate(self.sides):
            if side.name == name or name in side.players:
                return index
        return None

    def side_of(self, player: str) -> Side:
        """Return a player's side. Raises KeyError if unknown."""
        return self.sides[self.seats[self.seat_of(player)].side]

    def copies_left(self, card: Card) -> int:
        """Return the number of copies in hands and draw pile."""
        asking = len(self.requests) if card is Card.CONTROL else 0
        played = self.discards.count(card) + sum(side.copies(card) for side in self.sides) + asking
        return self.deck.get(card, 0) - played

    @property
    def lying(self) -> Counter[Card]:
        """Number of visible copies of each card."""
        lies = Counter(self.discards)
        for side in self.sides:
            lies.update(chain.from_iterable(side.piles.values()))
            lies[Card.ACCELERATOR] += len(side.doubled)
        if self.requests:
            lies[Card.CONTROL] += len(self.requests)
        return lies

    def race_km(self, side: Side) -> int:
        return race_km(self.edition, side)


def race_km(edition: Edition, side: Side) -> int:
    """Return the km towards the target: distances and, in some editions, safeties."""
    if edition.safeties_count_as_distance == "no":
        return side.km
    return side.km + SAFETY_KM * len(side.safeties) + COUP_FOURRE_KM * len(side.coups_fourres)


def is_driving(edition: Edition, side: Side) -> bool:
    """True if no hazard stops the side and it has the Roll or Right of Way it may need."""
    if side.hazard is not None:
        return False
    top = side.battle_top
    if top is Card.ROLL or side.has_right_of_way:
        return True
    if top is None:
        return edition.roll_to_start == "not-needed"
    if top.family is Family.HAZARD:
        return edition.roll_after_late_safety == "not-needed"
    return edition.roll_after_remedy == "not-needed"
