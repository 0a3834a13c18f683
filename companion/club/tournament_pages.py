"""Tournament pages: seats and standings for all, control for the director."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from flask import Blueprint, Response, abort, redirect, render_template, request
from psycopg.rows import dict_row
from werkzeug.wrappers import Response as AnyResponse

from companion.club import club_doors, club_log, deeds, tournament
from companion.club.batch import CLOCK
from companion.club.club_doors import club
from companion.club.deed import Deed
from companion.club.people import Role
from companion.club.people_pages import here
from companion.club.postgres import Connection, connected
from companion.club.swiss import Standing
from companion.match.archive import as_cell
from companion.pages.context import download, editions
from companion.pages.server.address import qr_path
from companion.pages.words import N_, _

bp = Blueprint("tournaments", __name__)

SYSTEMS = {
    tournament.System.SWISS: (N_("Swiss"), N_("Sides with similar scores meet; none meet twice.")),
    tournament.System.ROUND_ROBIN: (N_("Round robin"), N_("Everyone meets everyone else once.")),
    tournament.System.FIXED: (N_("Fixed rounds"), N_("All rounds are drawn at random in advance.")),
}
RECENT_S = 12 * 3600.0  # tables silent for longer get no game
_CLOCKS = """
    SELECT number, seq, name, runs, greatest(0, round(left_s - CASE WHEN runs THEN age_s ELSE 0 END))::int AS left_s
      FROM (SELECT DISTINCT ON (topic) substr(topic, 12)::int AS number, seq, kind, (body->>'runs')::boolean AS runs,
                   (body->>'left_s')::float AS left_s, extract(epoch FROM now() - at)::float AS age_s,
                   (SELECT body->>'name' FROM club.deeds made
                     WHERE made.topic = deeds.topic AND made.kind = 'create') AS name
              FROM club.deeds WHERE topic LIKE 'tournament:%' AND kind IN ('clock', 'draw', 'undraw')
               AND at > now() - interval '12 hours'
             ORDER BY topic, seq DESC) latest
     WHERE kind = 'clock'
"""


@dataclass(frozen=True, slots=True)
class Known:
    """A tournament with its results and standings."""

    number: int
    now: tournament.Tournament
    results: tuple[tournament.Result, ...]
    standings: tuple[Standing, ...]

    @property
    def round(self) -> int:
        return len(self.now.rounds)

    @property
    def latest(self) -> tuple[tournament.Result, ...]:
        return tuple(one for one in self.results if one.round == self.round)

    @property
    def waits(self) -> int:
        """Number of the latest round's games without a final result."""
        return len(tournament.open_seats(self.now, self.results))


def known(db: Connection, number: int, log: Sequence[Deed] | None = None) -> Known:
    """Return a tournament's state; abort with 404 for none."""
    now = tournament.tournament(deeds.of(db, _topic(number)) if log is None else log) or abort(404)
    found = tournament.results(now, _played(db, now))
    return Known(number, now, found, tuple(tournament.standings(now, found)))


def _topic(number: int) -> str:
    return f"tournament:{number}"


def _played(db: Connection, now: tournament.Tournament) -> list[tournament.Played]:
    seats = [seat for seats in now.rounds for seat in seats if seat.table is not None]
    rows = db.execute(
        "SELECT m.table_id, m.match, m.state, h.result->'match' FROM club.matches m LEFT JOIN club.hands h"
        " ON h.table_id = m.table_id AND h.match = m.match AND h.hand = %s"
        " WHERE m.table_id = ANY(%s) AND m.match > %s",
        [now.plan.hands, [seat.table for seat in seats], min((seat.since for seat in seats), default=0)],
    )
    return [tournament.Played(*row) for row in rows]


def clocks() -> list[dict[str, Any]]:
    """Return all current rounds' clocks."""
    with connected(club().pool) as db:
        return clocks_of(db)


def clocks_of(db: Connection) -> list[dict[str, Any]]:
    """Return all current rounds' clocks: number, seq, name, runs, left_s."""
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(_CLOCKS).fetchall()


def clocks_at_tables(db: Connection) -> dict[str, dict[str, object]]:
    """Return the clock letter of each table in a current round, by table ID."""
    found: dict[str, dict[str, object]] = {}
    for one in clocks_of(db):
        now = tournament.tournament(deeds.of(db, _topic(one["number"])))
        runs = "runs" if one["runs"] else ""
        told = {"letter": one["seq"], "what": CLOCK, "by": one["name"], "of": one["left_s"], "text": runs}
        found |= {seat.table: told for seat in (now.rounds[-1] if now and now.rounds else ()) if seat.table}
    return found


# Public pages


@bp.get("/tournaments")
def show_all() -> str:
    """Show all tournaments."""
    with connected(club().pool) as db:
        made = deeds.begun(db, "create")
    return render_template("club_tournaments.html", made=made, editions=editions(), systems=SYSTEMS)


@bp.get("/tournaments/<int:number>")
def show(number: int) -> str:
    """Show seats and standings; the query's `me` highlights a side."""
    with connected(club().pool) as db:
        found = known(db, number)
    name = club_doors.name()
    own = next((side for side in found.now.sides if name and name in side.players), None)
    me = found.now.side(request.args.get("me", "")) or own
    place = next((at for at, one in enumerate(found.standings, start=1) if me and one.side == me.name), 0)
    seat = next((one.seat for one in found.latest if me and me.name in one.seat.sides), None)
    return render_template("club_tournament.html", found=found, systems=SYSTEMS, me=me, place=place, seat=seat)


@bp.get("/tournaments/<int:number>/cards")
def cards(number: int) -> str:
    """Show a printable card per table: its name and the QR code of tournament `number`."""
    with connected(club().pool) as db:
        found = known(db, number)
        tables = [row.name for row in club_log.tables(db)]
    drawn = [_("Table %(number)d", number=one.seat.number) for one in found.latest if not one.seat.rests]
    url = f"{here()}/tournaments/{number}"
    return render_template("club_cards.html", found=found, tables=tables or drawn, url=url, qr=qr_path(url))


@bp.get("/tournaments/<int:number>.json")
def as_json(number: int) -> dict[str, object]:
    """Return a tournament as JSON."""
    with connected(club().pool) as db:
        found = known(db, number)
    return {
        "plan": asdict(found.now.plan),
        "sides": [asdict(side) for side in found.now.sides],
        "games": [asdict(one) for one in found.results],
        "standings": [{"place": at, **asdict(one)} for at, one in enumerate(found.standings, start=1)],
    }


@bp.get("/tournaments/<int:number>/<any(standings, games):what>.csv")
def as_csv(number: int, what: str) -> Response:
    """Return a tournament's standings or games as CSV."""
    with connected(club().pool) as db:
        found = known(db, number)
    text = io.StringIO()
    table = csv.writer(text)
    if what == "standings":
        table.writerow(["place", "side", "match points", "buchholz", "difference", "points"])
        for at, one in enumerate(found.standings, start=1):
            table.writerow([at, as_cell(one.side), one.won, one.buchholz, one.difference, one.points])
    else:
        seats = found.now.plan.seats
        table.writerow(["round", "table", *["side", "points"] * seats, "final", "typed"])
        for game in found.results:
            seat, empty = game.seat, [""] * seats
            names = [*map(as_cell, seat.sides), *["bye"] * seat.rests, *empty]
            cells = [cell for pair in zip(names, [*(game.points or ()), *empty], strict=False) for cell in pair]
            place = as_cell(seat.place or str(seat.number))
            table.writerow([game.round, place, *cells[: 2 * seats], int(game.is_final), int(game.is_typed)])
    return download(text.getvalue(), "text/csv", f"{what}-{number}.csv")


# The director


@bp.post("/tournaments")
def create() -> AnyResponse:
    """Make a tournament."""
    body = tournament.planned(request.form)
    with connected(club().pool) as db:
        row = db.execute("SELECT nextval('club.tournament_numbers')").fetchone() or abort(500)
        deeds.append(db, _topic(row[0]), "create", club_doors.name(), body)
    return redirect(f"/tournaments/{row[0]}/direct", 303)


@bp.get("/tournaments/<int:number>/direct")
def direct(number: int) -> str:
    """Show the director's controls."""
    with connected(club().pool) as db:
        return render_template("club_direct.html", found=known(db, number), systems=SYSTEMS)


def _drawn(db: Connection, found: Known, form: Mapping[str, str]) -> dict[str, object]:
    there = [row for row in club_log.tables(db) if row.quiet_s < RECENT_S]
    tables = [tournament.TableThere(row.id, row.name, max(row.last, row.told)) for row in there]
    sides = [side.name for side in found.now.sides if not side.has_left]
    lot = secrets.SystemRandom().sample(sides, len(sides))
    return tournament.drawn(found.now, found.results, _round(form), tables, lot)


def _round(form: Mapping[str, str]) -> int:
    return int(text) if (text := form.get("round", "")).isdecimal() and len(text) < 6 else 0


_Decide = Callable[[Connection, Known, Mapping[str, str]], dict[str, object]]
_DECIDE: Mapping[str, tuple[Role, _Decide]] = {
    "enter": (Role.DIRECTOR, lambda _db, found, form: tournament.entered(found.now, form.get("sides", ""))),
    "leave": (Role.DIRECTOR, lambda _db, found, form: tournament.left(found.now, form.get("side", ""))),
    "draw": (Role.DIRECTOR, _drawn),
    "undraw": (Role.DIRECTOR, lambda _db, found, form: tournament.undrawn(found.now, found.results, _round(form))),
    "result": (Role.HELPER, lambda _db, found, form: tournament.typed(found.now, form)),
    "clock": (Role.HELPER, lambda _db, found, form: tournament.clocked(found.now, form.get("runs", ""))),
}


@bp.post("/tournaments/<int:number>/<deed>")
def decide(number: int, deed: str) -> AnyResponse:
    """Append a deed to a tournament, if its state allows it."""
    role, what = _DECIDE.get(deed) or abort(404)
    club_doors.need(role)
    with connected(club().pool) as db:
        found = known(db, number, deeds.locked(db, _topic(number)))
        deeds.append(db, _topic(number), deed, club_doors.name(), what(db, found, request.form))
    return redirect(f"/tournaments/{number}/direct", 303)
