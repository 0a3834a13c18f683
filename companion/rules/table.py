"""The table as a value: every pile of every side, the hands' sizes, whose turn it is. A change is a new table."""

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

SAFETY_KM = 100  # kilometres of a safety where safeties count as distance
COUP_FOURRE_KM = 100  # kilometres of a coup fourré there, on top of its safety
FULL_HAND = 7  # number of cards in a hand after drawing
EXTENDABLE_KM = 700  # the target at which an extension can be called

SPEED_CARDS = (Card.SPEED_LIMIT, Card.END_OF_LIMIT)
_KM: Callable[[Card], int] = attrgetter("km")


class Shows(StrEnum):
    """What a battle pile counts as showing. Only a safety that took a hazard away makes it other than its top card."""

    TOP = "top"
    ROLL = "roll"
    NOTHING = "nothing"


class Due(StrEnum):
    """What the player to move still draws before he plays."""

    TURN = "turn"  # what the edition draws at the start of a turn
    ONE = "one"  # one card, for the safety that he has laid
    NOTHING = "nothing"


class Team(NamedTuple):
    """A side before the cards are dealt: its name and its one or two players."""

    name: str
    players: tuple[str, ...]


class Side(NamedTuple):
    """What lies in front of a side. Piles are listed from the bottom to the top."""

    name: str
    players: tuple[str, ...]
    battle: tuple[Card, ...] = ()
    speed: tuple[Card, ...] = ()
    distances: tuple[Card, ...] = ()
    doubled: tuple[Card, ...] = ()  # the distance cards among `distances` that count twice
    safeties: tuple[Card, ...] = ()
    coups_fourres: tuple[Card, ...] = ()  # the safeties among `safeties` that were laid as a coup fourré
    shows: Shows = Shows.TOP
    speed_cleared: bool = False  # the speed pile counts as empty: right of way has taken a limit away

    @property
    def km(self) -> int:
        """What the distance cards show."""
        return sum(map(_KM, self.distances)) + (sum(map(_KM, self.doubled)) if self.doubled else 0)

    @property
    def battle_top(self) -> Card | None:
        """What the battle pile shows."""
        if self.shows is not Shows.TOP:
            return Card.ROLL if self.shows is Shows.ROLL else None
        return self.battle[-1] if self.battle else None

    @property
    def speed_top(self) -> Card | None:
        """What the speed pile shows."""
        return self.speed[-1] if self.speed and not self.speed_cleared else None

    @property
    def hazard(self) -> Card | None:
        """The hazard that stops the car: the one on top, unless its safety is out."""
        top = self.battle_top
        stops = top is not None and top.family is Family.HAZARD and SAFETY_OF[top] not in self.safeties
        return top if stops else None

    @property
    def limited(self) -> bool:
        """True if a speed limit is in force."""
        return self.speed_top is Card.SPEED_LIMIT and Card.RIGHT_OF_WAY not in self.safeties

    @property
    def has_right_of_way(self) -> bool:
        return Card.RIGHT_OF_WAY in self.safeties

    @property
    def has_begun(self) -> bool:
        """True if a card of its own lies there: the hazards are the opponents' cards."""
        own = any(card.family is Family.REMEDY for card in self.battle + self.speed)
        return bool(own or self.distances or self.safeties)

    @property
    def piles(self) -> dict[str, tuple[Card, ...]]:
        """The cards of each pile and area, by the names of `PILE_OF`."""
        return {"battle": self.battle, "speed": self.speed, "distance": self.distances, "safety": self.safeties}

    def goes_doubled(self, card: Card, times: int) -> bool:
        """True if a distance card that leaves takes an accelerator along: it is said, or each of its kind has one."""
        return times > 1 or self.distances.count(card) == self.doubled.count(card)

    def copies(self, card: Card) -> int:
        """Return how many of a card lie in front of this side; an accelerator lies with each doubled card."""
        if card is Card.ACCELERATOR:
            return len(self.doubled)
        return _PILE[card](self).count(card)


_AREA = {Family.DISTANCE: "distance", Family.SAFETY: "safety"}
PILE_OF = {card: "speed" if card in SPEED_CARDS else _AREA.get(card.family, "battle") for card in Card}
"""The pile or area of a side where each card lies; what lies nowhere there is not found on the battle pile."""

_FIELD = {"distance": "distances", "safety": "safeties"}
_PILE: dict[Card, Callable[[Side], tuple[Card, ...]]] = {
    card: attrgetter(_FIELD.get(pile, pile)) for card, pile in PILE_OF.items()
}


@dataclass(frozen=True, slots=True)
class Seat:
    """A player's place at the table, clockwise."""

    player: str
    side: int  # the index of his side


class Attack(NamedTuple):
    """A hazard that has been laid, while a coup fourré can still answer it."""

    hazard: Card
    by_seat: int
    side: int  # the index of the attacked side
    before: Shows = Shows.TOP  # what the battle pile counted as showing before the hazard fell on it
    mirrors: int = 0  # how often it has been mirrored


@dataclass(frozen=True, slots=True)
class Laid:
    """A distance card that has just been laid, while a u-turn can still turn it back."""

    seat: int
    card: Card
    times: int


class How(StrEnum):
    """How a card that is laid by a line of its own came into the hand."""

    STOLEN = "stolen"
    HANDED = "handed"
    FETCHED = "fetched"


@dataclass(frozen=True, slots=True)
class Taken:
    """A card that has just come into a hand and may be laid at once; all but a stolen one have to be."""

    seat: int
    card: Card
    how: How


@dataclass(frozen=True, slots=True)
class Request:
    """A card that a player has to hand over as soon as he holds it.

    The Control card that asks for it stays beside that player until then.
    """

    card: Card
    by_seat: int
    of_seat: int


@dataclass(frozen=True, slots=True)
class Window:
    """What can be answered or laid at once, until the next card is drawn or played."""

    laid: Laid | None = None
    taken: Taken | None = None
    asked: Request | None = None  # a request that was made just now, so that the card may be handed over on the spot
    drew: bool = False  # the player to move has drawn for the turn by a line of its own, and may exchange no more


class HowEnded(StrEnum):
    """How a hand ended; `OPEN` is a record's end in the middle of one."""

    COMPLETED = "completed"
    EXHAUSTED = "exhausted"
    AGREED = "agreed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a hand ended and, where a trip was completed, the index of the side that did."""

    how: HowEnded
    side: int | None = None


class Table(NamedTuple):
    """Everything that is public about a hand, between two plays."""

    edition: Edition
    sides: tuple[Side, ...]
    seats: tuple[Seat, ...]
    deck: Mapping[Card, int]
    hands: tuple[int, ...]  # how many cards each seat holds; which ones is never known
    draw_pile: int
    discards: tuple[Card, ...]
    to_move: int  # the seat whose turn it is
    due: Due  # what the player to move draws before he plays
    target: int
    extension_offered_to: int | None = None  # the side that has reached the target and has to answer
    extended_by: int | None = None  # the index of the side that called the extension
    attacks: tuple[Attack, ...] = ()  # the attacks that a coup fourré can still answer, the latest last
    may_pass: bool = False  # the player to move has the turn by a play out of turn, and may pass it to his left
    window: Window = Window()
    requests: tuple[Request, ...] = ()
    ending: Ending | None = None

    @property
    def player_to_move(self) -> str:
        return self.seats[self.to_move].player

    @property
    def handed_to(self) -> int | None:
        """The seat that was handed a card by the last play, and lays or discards it before anybody goes on."""
        taken = self.window.taken
        return taken.seat if taken is not None and taken.how is How.HANDED else None

    @property
    def player_up(self) -> str:
        """The player who does something next: who was handed a card, else the player to move."""
        seat = self.handed_to
        return self.seats[self.to_move if seat is None else seat].player

    @property
    def drawn(self) -> bool:
        """True if the player to move has drawn already, or has forgotten to."""
        return self.due is Due.NOTHING

    @property
    def to_draw(self) -> int:
        """How many cards the player to move still draws before he plays."""
        return self.draws(self.hands[self.to_move], self.due)

    def draws(self, held: int, due: Due = Due.TURN) -> int:
        """Return how many cards a player who holds so many draws before he plays."""
        if due is Due.TURN and self.edition.draw == "to-seven":
            return max(0, FULL_HAND - held)
        return 0 if due is Due.NOTHING else 1

    @property
    def may_extend(self) -> bool:
        """True if an extension can still be called at this target."""
        return self.edition.extension == "yes" and self.target == EXTENDABLE_KM

    @property
    def is_over(self) -> bool:
        return self.ending is not None

    @property
    def draw_reshuffles(self) -> bool:
        """True if the draw before the next play turns the discard pile into the draw pile."""
        return self.edition.reshuffles and self.to_draw > self.draw_pile

    def seat_named(self, player: str | None) -> int | None:
        """Return the seat of the player of that name; None where there is none."""
        return next((index for index, seat in enumerate(self.seats) if seat.player == player), None)

    def seat_of(self, player: str) -> int:
        """Return the seat of a player. Raises KeyError for a stranger."""
        for index, seat in enumerate(self.seats):
            if seat.player == player:
                return index
        raise KeyError(player)

    def side_index(self, name: str | None) -> int | None:
        """Return the index of the side of that name, or of the side that a player of that name plays for."""
        for index, side in enumerate(self.sides):
            if side.name == name or name in side.players:
                return index
        return None

    def side_of(self, player: str) -> Side:
        """Return the side that a player plays for. Raises KeyError for a stranger."""
        return self.sides[self.seats[self.seat_of(player)].side]

    def copies_left(self, card: Card) -> int:
        """Return how many of a card have not been laid yet in this hand."""
        asking = len(self.requests) if card is Card.CONTROL else 0
        played = self.discards.count(card) + sum(side.copies(card) for side in self.sides) + asking
        return self.deck.get(card, 0) - played

    @property
    def lying(self) -> Counter[Card]:
        """The cards that lie openly, by face."""
        lies = Counter(self.discards)
        for side in self.sides:
            lies.update(chain.from_iterable(side.piles.values()))
            lies[Card.ACCELERATOR] += len(side.doubled)
        if self.requests:
            lies[Card.CONTROL] += len(self.requests)
        return lies

    def race_km(self, side: Side) -> int:
        """Return what of a side counts towards the target."""
        return race_km(self.edition, side)


def race_km(edition: Edition, side: Side) -> int:
    """Return what counts towards the target: the distances and, where the edition says so, the safeties."""
    if edition.safeties_count_as_distance == "no":
        return side.km
    return side.km + SAFETY_KM * len(side.safeties) + COUP_FOURRE_KM * len(side.coups_fourres)


def is_driving(edition: Edition, side: Side) -> bool:
    """True if the side's car moves: nothing stops it, and a roll shows where one is needed."""
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
