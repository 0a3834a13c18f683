"""A finished hand as a table to score: visible cards, and facts only people know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from companion.common.text import Said, say, say_many
from companion.rules.cards import Card, Family
from companion.rules.dealing import EXTENDED_KM, SeatingError, ways_to_play
from companion.rules.editions.edition import Edition
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import EXTENDABLE_KM, Due, Ending, HowEnded, Side, Table, race_km


@dataclass(frozen=True, slots=True)
class Trip:
    """Target of a hand in km, and who called the extension."""

    target: int
    extended_by: int | None = None  # index of a side


@dataclass(frozen=True, slots=True)
class Told:
    """Facts about a hand that its cards do not show."""

    trip: Trip
    completed_by: int | None  # index of a side
    played_out: bool  # if not completed: all cards were used up
    draw_pile_empty: bool  # when the trip was completed


def trips(edition: Edition, sides: int) -> tuple[Trip, ...]:
    """Return the possible trips: the edition's targets, 700, 1000, and each side's extension."""
    targets = dict.fromkeys((*_own_targets(edition, sides), EXTENDABLE_KM, EXTENDED_KM))
    extended = [Trip(EXTENDED_KM, side) for side in range(sides)] if edition.extension == "yes" else []
    return (*map(Trip, targets), *extended)


def _own_targets(edition: Edition, sides: int) -> list[int]:
    return sorted({edition.target_km[players] for players, _each in _seatings(edition, sides)})


def likely(
    edition: Edition, sides: Sequence[Side], *, trip: Trip | None = None, draw_pile_empty: bool | None = None
) -> Told:
    """Return the likeliest facts; a single side at the target has completed the trip."""
    km = [race_km(edition, side) for side in sides]
    trip = trip or _likely_trip(edition, km)
    done = [side for side, driven in enumerate(km) if edition.completes(driven, trip.target)]
    return Told(trip, done[0] if len(done) == 1 else None, not done, bool(draw_pile_empty))


def _likely_trip(edition: Edition, km: Sequence[int]) -> Trip:
    """Return the shortest target that no side has passed, else the leader's extension."""
    own = _own_targets(edition, len(km)) or [EXTENDED_KM]
    target = next((target for target in own if target >= max(km)), own[-1])
    if edition.extension == "yes" and own[0] == EXTENDABLE_KM < max(km):
        return Trip(EXTENDED_KM, km.index(max(km)))
    return Trip(target)


def may_have_more(edition: Edition, sides: Sequence[Side], number: int, trip: Trip | None = None) -> bool:
    """True if a side may have another distance card, perhaps on a longer trip."""
    shortest = min((card for card in edition.deck if card.family is Family.DISTANCE), key=lambda card: card.km)
    more = sides[number]._replace(distances=(*sides[number].distances, shortest))
    target = likely(edition, [*sides[:number], more, *sides[number + 1 :]], trip=trip).trip.target
    return edition.overshoot == "allowed" or race_km(edition, more) <= target


def check_sides(edition: Edition, sides: int) -> None:
    """Raise SeatingError if the edition does not allow so many sides."""
    if not _seatings(edition, sides):
        wrong = say_many(
            "%(edition)s is for %(ways)s: these are %(count)d sides.",
            "%(edition)s is for %(ways)s: these are %(count)d sides.",
            sides,
            edition=Said(edition.title),
            ways=ways_to_play(edition),
        )
        raise SeatingError(wrong)


def table_of(edition: Edition, sides: Sequence[Side], told: Told) -> Table:
    """Return the table of a finished hand, for scoring.

    Battle piles get an unread card each. A side with uncounted distances has an unread distance card, so it is not shut
    out.
    """
    laid = sum(len(side.distances) + len(side.safeties) for side in sides)
    how = HowEnded.EXHAUSTED if told.played_out else HowEnded.AGREED
    return Table(
        edition=edition,
        sides=tuple(side._replace(battle=(Card.UNKNOWN,)) for side in sides),
        seats=(),
        deck=edition.deck,
        hands=(),
        draw_pile=0 if told.draw_pile_empty else max(1, sum(edition.deck.values()) - laid),
        discards=(),
        to_move=0,
        due=Due.NOTHING,
        target=told.trip.target,
        extended_by=told.trip.extended_by,
        ending=Ending(how if told.completed_by is None else HowEnded.COMPLETED, told.completed_by),
    )


def _seatings(edition: Edition, sides: int) -> list[tuple[int, int]]:
    return [(players, each) for players, each in edition.seatings if players == sides * each]


def odd_cards(table: Table) -> Iterator[Reason]:
    """Yield what is impossible or unlikely, last what an unverified deck may explain."""
    edition, unsure = table.edition, []
    laid = (card for side in table.sides for card in side.distances + side.safeties)
    twice = Counter({Card.ACCELERATOR: sum(len(side.doubled) for side in table.sides)})
    for card, count in (Counter(laid) + twice).items():
        if card not in table.deck:
            if card is not Card.UNKNOWN:
                yield reason(Code.UNKNOWN_CARD, card=card)
        elif count > table.deck[card]:
            if edition.counts_verified or card.family is Family.SAFETY:
                yield reason(Code.TOO_MANY_COPIES, case="laid", card=card, laid=count, count=table.deck[card])
            else:
                unsure.append(reason(Code.TOO_MANY_COPIES, case="unverified", card=card, count=table.deck[card]))
    for side in table.sides:
        most, km = edition.two_hundreds_max, table.race_km(side)
        if most is not None and side.distances.count(Card.KM_200) > most:
            yield reason(Code.THIRD_200, case="lies", side=side.name, card=Card.KM_200, count=most)
        if edition.overshoot == "forbidden" and km > table.target:
            yield reason(Code.PAST_TARGET, case="sum", side=side.name, km=km, target=table.target)
        if Counter(side.doubled) - Counter(side.distances):
            yield reason(Code.NEEDS_DISTANCE, side=side.name)
    yield from unsure


def odd_trip(table: Table) -> Iterator[Said]:
    """Yield a sentence per side whose km contradict `Ending.side`."""
    completer = table.ending.side if table.ending else None
    for number, side in enumerate(table.sides):
        km = table.race_km(side)
        is_there = table.edition.completes(km, table.target)
        if number == completer and not is_there:
            yield say(
                "%(side)s has %(km)d km, but the trip was to %(target)d: check the cards again.",
                side=side.name,
                km=km,
                target=table.target,
            )
        elif is_there and completer is None:
            yield say("%(side)s has all %(km)d km: that completes the trip.", side=side.name, km=table.target)
        elif is_there and number != completer:
            yield say(
                "%(side)s has all %(km)d km as well: only one side completes the trip.",
                side=side.name,
                km=table.target,
            )
