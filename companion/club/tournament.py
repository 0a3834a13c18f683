"""A tournament's state, computed from its deeds (decisions) and the tables' matches. Pure functions.

`tournament` reads the deeds, `results` adds the matches. The functions under "Next deeds" return the next deed's body,
or raise Problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from companion.club import swiss
from companion.club.deed import Deed
from companion.club.swiss import Encounter, Standing
from companion.common.errors import Problem
from companion.common.parsing import whole
from companion.common.text import plain, say
from companion.match.statistics import key_of
from companion.rules.dealing import check_seating
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.table import Team

MOST_SIDES, MOST_SEATS = 512, 6
MOST_ROUNDS, MOST_HANDS, MOST_MINUTES = 50, 20, 600
MOST_POINTS = 100_000
_MOST_NAME = 48
_TOGETHER = re.compile(r"\s*[&,]\s*")


class System(StrEnum):
    """Pairing system."""

    SWISS = "swiss"  # neighbors in the standings meet, repeatedly only if unavoidable
    ROUND_ROBIN = "round-robin"  # all meet once
    FIXED = "fixed"  # all rounds drawn by lot before the first; results change nothing


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of a tournament."""

    name: str
    edition: str
    system: System
    is_of_pairs: bool
    rounds: int  # ignored in a round robin
    hands: int  # hands of a match that count; 0 for all
    minutes: int  # of a round; 0 for no clock
    seats: int = 2  # sides at a table


@dataclass(frozen=True, slots=True)
class Entrant:
    """A side: a player or a pair."""

    name: str
    players: tuple[str, ...]
    has_left: bool = False


@dataclass(frozen=True, slots=True)
class Pairing:
    """A round's game at one table."""

    number: int  # from 1, best table first
    sides: tuple[str, ...]  # a single side has a bye
    place: str = ""  # club table's name; may be empty
    table: str | None = None  # the club table's ID
    since: int = 0  # the table's last event at the draw; later matches belong to this round

    @property
    def rests(self) -> bool:
        return len(self.sides) == 1


class Clock(NamedTuple):
    """Time left in a round."""

    left_s: float
    runs: bool


@dataclass(frozen=True, slots=True)
class Tournament:
    """State of a tournament."""

    plan: Plan
    sides: tuple[Entrant, ...] = ()
    lot: tuple[str, ...] = ()  # sides in the order drawn by lot
    rounds: tuple[tuple[Pairing, ...], ...] = ()
    typed: Mapping[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)
    """Results entered by hand, by round and first side."""

    clock: Clock | None = None

    @property
    def length(self) -> int:
        if self.plan.system is not System.ROUND_ROBIN:
            return self.plan.rounds
        count = len(self.lot or self.sides)
        return max(1, count - 1 + count % 2)

    @property
    def order(self) -> tuple[str, ...]:
        """All sides in the lot's order; later entrants last."""
        return (*self.lot, *(side.name for side in self.sides if side.name not in self.lot))

    def side(self, name: str) -> Entrant | None:
        return next((side for side in self.sides if side.name == name), None)


def tournament(deeds: Iterable[Deed]) -> Tournament | None:
    """Return the tournament of these deeds; None without any."""
    tournament: Tournament | None = None
    for deed in deeds:
        if tournament is None:
            tournament = Tournament(Plan(**{**deed.body, "system": System(deed.body["system"])}))
        else:
            tournament = _after(tournament, deed)
    return tournament


def _after(before: Tournament, deed: Deed) -> Tournament:
    body = deed.body
    match deed.kind:
        case "enter":
            entered = tuple(Entrant(" & ".join(players), tuple(players)) for players in body["sides"])
            return replace(before, sides=before.sides + entered)
        case "leave":
            sides = (replace(side, has_left=side.has_left or side.name == body["side"]) for side in before.sides)
            return replace(before, sides=tuple(sides))
        case "draw":
            seats = tuple(map(_seat, body["seats"]))
            return replace(before, rounds=(*before.rounds, seats), lot=before.lot or tuple(body["lot"]), clock=None)
        case "undraw":
            lot = before.lot if len(before.rounds) > 1 else ()
            return replace(before, rounds=before.rounds[:-1], lot=lot, clock=None)
        case "result":
            typed = {key: points for key, points in before.typed.items() if key != (body["round"], body["first"])}
            if body["points"] is not None:
                typed[body["round"], body["first"]] = tuple(body["points"])
            return replace(before, typed=typed)
        case "clock":
            left_s = body["left_s"] - (deed.age_s if body["runs"] else 0)
            return replace(before, clock=Clock(max(0.0, left_s), body["runs"]))
    return before


def _seat(written: Mapping[str, Any]) -> Pairing:
    """Return a draw's pairing; older clubs wrote `first` and `second` instead of `sides`."""
    sides = written.get("sides") or [one for one in (written["first"], written["second"]) if one]
    at = {name: written[name] for name in ("number", "place", "table", "since") if name in written}
    return Pairing(sides=tuple(sides), **at)


# Results of the tables


class Played(NamedTuple):
    """A match at a club table, as far as judged."""

    table: str
    match: int
    state: Mapping[str, Any]  # from `projection.state_of`
    counted: Mapping[str, int] | None
    """Totals after `Plan.hands` hands; None before, or if all hands count."""


@dataclass(frozen=True, slots=True)
class Result:
    """A table's result in a round, as far as known."""

    round: int
    seat: Pairing
    points: tuple[int, ...] | None = None
    is_final: bool = False
    is_typed: bool = False
    others: str = ""  # sides that play here instead
    edition: str = ""  # edition played, if not the tournament's


def results(tournament: Tournament, played: Sequence[Played]) -> tuple[Result, ...]:
    """Return the results of all tables in all rounds; those entered by hand take precedence."""
    return tuple(
        _result(tournament, number, seat, played)
        for number, seats in enumerate(tournament.rounds, start=1)
        for seat in seats
    )


def _result(tournament: Tournament, number: int, seat: Pairing, played: Sequence[Played]) -> Result:
    if seat.rests:
        return Result(number, seat, is_final=True)
    typed = tournament.typed.get((number, seat.sides[0]))
    if typed is not None:
        return Result(number, seat, typed, is_final=True, is_typed=True)
    later = (other for seats in tournament.rounds[number:] for other in seats if other.table == seat.table)
    until = min((other.since for other in later), default=None)
    there = (one for one in played if one.table == seat.table and one.match > seat.since)
    here = sorted((one for one in there if until is None or one.match <= until), key=lambda one: -one.match)
    for one in here:
        sides = [side for name in seat.sides if (side := _side_in(tournament, name, one.state["sides"])) is not None]
        if len(one.state["sides"]) == len(seat.sides) == len(sides):
            edition = str(one.state["edition"])
            points = tuple(side["total"] if one.counted is None else one.counted.get(side["name"], 0) for side in sides)
            is_final = one.counted is not None or bool(one.state["winner"])
            other = edition if edition != tournament.plan.edition else ""
            return Result(number, seat, points, is_final, edition=other)
    others = " – ".join(str(side["name"]) for one in here[:1] for side in one.state["sides"])
    return Result(number, seat, others=others)


def _side_in(tournament: Tournament, name: str, sides: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    side = tournament.side(name)
    wanted = {key_of(player) for player in (side.players if side else (name,))}
    return next((one for one in sides if {key_of(who) for who in one["players"]} == wanted), None)


def standings(tournament: Tournament, known: Iterable[Result]) -> list[Standing]:
    """Return the standings after all final results."""
    seats = tournament.plan.seats
    games = [Encounter(one.seat.sides, one.points or (), seats) for one in known if one.is_final]
    return swiss.standings(tournament.order, games)


def open_seats(tournament: Tournament, known: Iterable[Result]) -> list[Result]:
    """Return the last round's results that are not final."""
    return [one for one in known if one.round == len(tournament.rounds) and not one.is_final]


# Next deeds


def planned(form: Mapping[str, str]) -> dict[str, object]:
    """Return the tournament settings in a form. Raises Problem if invalid."""
    name = _called(form.get("name", ""))
    system = form.get("system", "")
    if not name:
        raise Problem(say("Enter a name for the tournament."))
    if system not in tuple(System) or form.get("edition") not in edition_names():
        raise Problem(say("Choose an edition and a system."))
    each, seats = 1 + (form.get("of") == "pairs"), _number(form, "seats", 2, MOST_SEATS)
    check_seating(load_edition(form["edition"]), [Team(str(side), ("",) * each) for side in range(seats)])
    if seats > 2 and system == System.ROUND_ROBIN:
        raise Problem(say("A round robin has two sides per table: choose another system."))
    return {
        "name": name,
        "edition": form["edition"],
        "system": system,
        "is_of_pairs": each == 2,
        "seats": seats,
        "rounds": _number(form, "rounds", 1, MOST_ROUNDS),
        "hands": _number(form, "hands", 0, MOST_HANDS),
        "minutes": _number(form, "minutes", 0, MOST_MINUTES),
    }


def _number(form: Mapping[str, str], name: str, low: int, high: int) -> int:
    number = whole(form.get(name, "").strip(), low, high)
    if number is None:
        raise Problem(
            "“%(text)s” is not a number from %(low)d to %(high)d.",
            text=plain(form.get(name, ""), 20),
            low=low,
            high=high,
        )
    return number


def _called(text: str) -> str:
    return " ".join(plain(text, _MOST_NAME).split())


def entered(tournament: Tournament, text: str) -> dict[str, object]:
    """Return the sides in a text: one per line, players joined by `&` or comma."""
    if tournament.rounds and tournament.plan.system is not System.SWISS:
        raise Problem(say("All rounds are already drawn: no more sides can be added."))
    size = 2 if tournament.plan.is_of_pairs else 1
    known = {key_of(player) for side in tournament.sides for player in side.players}
    sides = []
    for line in filter(str.strip, text.splitlines()):
        players = [_called(one) for one in _TOGETHER.split(line.strip()) if one]
        if len(players) != size:
            wanted = say("“%(line)s” is not a pair: write Ann & Bob.", line=plain(line, _MOST_NAME))
            alone = say("“%(line)s” is more than one player: write one per line.", line=plain(line, _MOST_NAME))
            raise Problem(wanted if size == 2 else alone)
        for player in players:
            if key_of(player) in known:
                raise Problem("%(who)s is already taking part.", who=player)
            known.add(key_of(player))
        sides.append(players)
    if not sides:
        raise Problem(say("Enter the participants, one side per line."))
    if len(tournament.sides) + len(sides) > MOST_SIDES:
        raise Problem("At most %(most)d sides can take part.", most=MOST_SIDES)
    return {"sides": sides}


def left(tournament: Tournament, name: str) -> dict[str, object]:
    """Return the deed's body `{"side": name}` for a side that leaves. Raises Problem if unknown."""
    if tournament.side(name) is None:
        raise Problem("%(who)s is not taking part.", who=plain(name, _MOST_NAME))
    return {"side": name}


class TableThere(NamedTuple):
    """A club table available for a round."""

    id: str
    name: str
    last: int


def drawn(
    tournament: Tournament, known: Sequence[Result], number: int, tables: Sequence[TableThere], lot: Sequence[str]
) -> dict[str, object]:
    """Return the draw of round `number`, the next; `lot` is a random order of sides."""
    there = [side.name for side in tournament.sides if not side.has_left]
    waiting = open_seats(tournament, known)
    if number != len(tournament.rounds) + 1:
        raise Problem("Round %(number)d is already drawn.", number=number)
    if number > tournament.length:
        raise Problem(say("All rounds have been played."))
    if waiting:
        who = " – ".join(waiting[0].seat.sides)
        raise Problem("%(who)s: no result yet. Wait for it, or enter it.", who=who)
    if len(there) < 2:
        raise Problem(say("A round needs two sides."))
    begun = tournament if tournament.lot else replace(tournament, lot=tuple(lot))
    if tournament.plan.system is System.SWISS or tournament.plan.seats > 2:
        table = [one for one in standings(begun, known) if one.side in there]
        if tournament.plan.system is not System.SWISS:
            table.sort(key=lambda one: begun.lot.index(one.side))
        seated = swiss.seated(table, tournament.plan.seats)
    else:
        seated = _in_circle(begun.lot, number, there)
    places: list[dict[str, object]] = []
    for place, sides in enumerate(seated):
        at: dict[str, object] = {"number": place + 1, "sides": sides}
        if place < len(tables) and len(sides) > 1:
            at |= {"place": tables[place].name, "table": tables[place].id, "since": tables[place].last}
        places.append(at)
    return {"round": number, "seats": places, "lot": list(begun.lot)}


def _in_circle(lot: Sequence[str], number: int, there: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a round-robin round's pairs (circle method); a side without opponent comes last."""
    ring = [*lot, *([""] if len(lot) % 2 else [])]
    turn = (number - 1) % (len(ring) - 1)
    ring = [ring[0], *ring[len(ring) - turn :], *ring[1 : len(ring) - turn]]
    half = len(ring) // 2
    both = (tuple(one for one in pair if one in there) for pair in zip(ring[:half], reversed(ring[half:]), strict=True))
    return sorted(filter(None, both), key=lambda pair: -len(pair))


def undrawn(tournament: Tournament, known: Sequence[Result], number: int) -> dict[str, object]:
    """Return the deed's body that undoes the last draw. Raises Problem once one of its games has points."""
    if number != len(tournament.rounds) or not tournament.rounds:
        raise Problem(say("Only the last round can be drawn again."))
    if any(one.points is not None for one in known if one.round == number):
        raise Problem(say("This round has started: it cannot be drawn again."))
    return {"round": number}


def typed(tournament: Tournament, form: Mapping[str, str]) -> dict[str, object]:
    """Return a result entered by hand; without points the table's own counts again."""
    number, first = _number(form, "round", 1, max(1, len(tournament.rounds))), form.get("first", "")
    seats = tournament.rounds[number - 1] if tournament.rounds else ()
    seat = next((seat for seat in seats if seat.sides[0] == first and not seat.rests), None)
    if seat is None:
        raise Problem("%(who)s does not play in this round.", who=plain(first, _MOST_NAME))
    fields = [f"points{at}" for at in range(len(seat.sides))]
    is_given = any(form.get(name, "").strip() for name in fields)
    points = [_number(form, name, 0, MOST_POINTS) for name in fields] if is_given else None
    return {"round": number, "first": first, "points": points}


def clocked(tournament: Tournament, runs: str) -> dict[str, object]:
    """Return the clock's new state; `runs` is `start`, `stop`, or `again` for the full time."""
    if not tournament.plan.minutes or not tournament.rounds:
        raise Problem(say("This round has no clock."))
    whole_s = tournament.plan.minutes * 60.0
    left_s = whole_s if tournament.clock is None or runs == "again" else tournament.clock.left_s
    return {"left_s": round(left_s, 1), "runs": runs != "stop"}
