"""The pages of tournaments: for everybody where one sits and how one stands, for the director what comes next."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from flask import Blueprint, Response, abort, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from companion.club import club_doors, club_log, deeds
from companion.club.club_doors import club
from companion.club.people import Role
from companion.club.people_pages import here
from companion.club.postgres import Connection, connected
from companion.club.swiss import Standing
from companion.club.tournament import (
    Played,
    Result,
    Side,
    System,
    TableThere,
    Tournament,
    clocked,
    drawn,
    entered,
    left,
    open_seats,
    planned,
    results,
    standings,
    tournament,
    typed,
    undrawn,
)
from companion.match.exports import as_cell
from companion.pages.context import download, editions
from companion.pages.server.address import qr_path
from companion.pages.words import N_

bp = Blueprint("tournaments", __name__)

SYSTEMS = {
    System.SWISS: (N_("Swiss"), N_("Who stand nearest to each other meet, nobody twice.")),
    System.ROUND_ROBIN: (N_("Round robin"), N_("Everybody meets everybody once.")),
    System.FIXED: (N_("Fixed rounds"), N_("All rounds are drawn by lot beforehand.")),
}
RECENT_S = 12 * 3600.0
"""Time without a word after which a table is not at the tournament, in seconds."""

_CLOCKS = """
    SELECT DISTINCT ON (topic) substr(topic, 12), kind, (body->>'left_s')::float
           - CASE WHEN (body->>'runs')::boolean THEN extract(epoch FROM now() - at)::float ELSE 0 END,
           (body->>'runs')::boolean,
           (SELECT body->>'name' FROM club.deeds made WHERE made.topic = deeds.topic AND made.kind = 'create')
      FROM club.deeds WHERE topic LIKE 'tournament:%' AND kind IN ('clock', 'draw', 'undraw')
       AND at > now() - interval '12 hours'
     ORDER BY topic, seq DESC
"""


@dataclass(frozen=True, slots=True)
class Known:
    """A tournament with what its tables have played."""

    number: int
    now: Tournament
    results: tuple[Result, ...]
    standings: tuple[Standing, ...]

    @property
    def round(self) -> int:
        """The number of the round that was drawn last; 0 before the first."""
        return len(self.now.rounds)

    @property
    def latest(self) -> tuple[Result, ...]:
        """The results of that round."""
        return tuple(one for one in self.results if one.round == self.round)

    @property
    def waits(self) -> int:
        """How many encounters of that round have no result yet."""
        return len(open_seats(self.now, self.results))


def known(db: Connection, number: int, log: Sequence[deeds.Deed] | None = None) -> Known:
    """Return a tournament as it stands; ends the request where there is none."""
    now = tournament(deeds.of(db, _topic(number)) if log is None else log) or abort(404)
    found = results(now, _played(db, now))
    return Known(number, now, found, tuple(standings(now, found)))


def _topic(number: int) -> str:
    return f"tournament:{number}"


def _played(db: Connection, now: Tournament) -> list[Played]:
    seats = [seat for seats in now.rounds for seat in seats if seat.table is not None]
    rows = db.execute(
        "SELECT m.table_id, m.match, m.state, h.result->'match' FROM club.matches m LEFT JOIN club.hands h"
        " ON h.table_id = m.table_id AND h.match = m.match AND h.hand = %s"
        " WHERE m.table_id = ANY(%s) AND m.match > %s",
        [now.plan.hands, [seat.table for seat in seats], min((seat.since for seat in seats), default=0)],
    )
    return [Played(*row) for row in rows]  # type: ignore[arg-type]


def clocks() -> list[dict[str, object]]:
    """Return the clocks of the rounds that are being played, for every page."""
    with connected(club().pool) as db:
        return clocks_of(db)


def clocks_of(db: Connection) -> list[dict[str, object]]:
    """Return the same for a page that asks for more beside it."""
    rows = db.execute(_CLOCKS).fetchall()
    names = ("number", "kind", "left_s", "runs", "name")
    found = (dict(zip(names, row, strict=True)) for row in rows)
    return [one | {"left_s": max(0, round(float(str(one["left_s"]))))} for one in found if one["kind"] == "clock"]


# --- What everybody sees --------------------------------------------------------------------------------------


@bp.get("/tournaments")
def show_all() -> str:
    """Show all tournaments; the director may make one."""
    with connected(club().pool) as db:
        made = deeds.begun(db, "create")
    return render_template("club_tournaments.html", made=made, editions=editions(), systems=SYSTEMS)


@bp.get("/tournaments/<int:number>")
def show(number: int) -> str:
    """Show who sits where, and how all stand; `me` is the side that looks."""
    with connected(club().pool) as db:
        found = known(db, number)
    me = found.now.side(request.args.get("me", "")) or _own_side(found.now)
    place = next((at for at, one in enumerate(found.standings, start=1) if me and one.side == me.name), 0)
    seat = next((one.seat for one in found.latest if me and me.name in (one.seat.first, one.seat.second)), None)
    return render_template("club_tournament.html", found=found, systems=SYSTEMS, me=me, place=place, seat=seat)


def _own_side(now: Tournament) -> Side | None:
    name = club_doors.name()
    return next((side for side in now.sides if name and name in side.players), None)


@bp.get("/tournaments/<int:number>/cards")
def cards(number: int) -> str:
    """Show a card for each table, to be printed: its name and the way to this tournament."""
    with connected(club().pool) as db:
        found = known(db, number)
        tables = [row.name for row in club_log.tables(db)]
    url = f"{here()}/tournaments/{number}"
    return render_template("club_cards.html", found=found, tables=tables, url=url, qr=qr_path(url))


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
    """Return the standings or the games of a tournament for a spreadsheet."""
    with connected(club().pool) as db:
        found = known(db, number)
    text = io.StringIO()
    table = csv.writer(text)
    if what == "standings":
        table.writerow(["place", "side", "match points", "buchholz", "difference", "points"])
        for at, one in enumerate(found.standings, start=1):
            table.writerow([at, as_cell(one.side), one.won, one.buchholz, one.difference, one.points])
    else:
        table.writerow(["round", "table", "first", "points", "second", "points", "final", "typed"])
        for game in found.results:
            seat, (mine, theirs) = game.seat, game.points or ("", "")
            names = [as_cell(seat.place or str(seat.number)), as_cell(seat.first), mine, as_cell(seat.second or "bye")]
            table.writerow([game.round, *names, theirs, int(game.is_final), int(game.is_typed)])
    return download(text.getvalue(), "text/csv", f"{what}-{number}.csv")


# --- The director ---------------------------------------------------------------------------------------------


@bp.post("/tournaments")
def create() -> AnyResponse:
    """Make a tournament."""
    body = planned(request.form)
    with connected(club().pool) as db:
        row = db.execute("SELECT nextval('club.tournament_numbers')").fetchone() or abort(500)
        deeds.append(db, _topic(int(str(row[0]))), "create", club_doors.name(), body)
    return redirect(f"/tournaments/{row[0]}/direct", 303)


@bp.get("/tournaments/<int:number>/direct")
def direct(number: int) -> str:
    """Show what the director does with a tournament."""
    with connected(club().pool) as db:
        return render_template("club_direct.html", found=known(db, number), systems=SYSTEMS)


def _drawn(db: Connection, found: Known, form: Mapping[str, str]) -> dict[str, object]:
    there = [row for row in club_log.tables(db) if row.quiet_s < RECENT_S]
    tables = [TableThere(row.id, row.name, max(row.last, row.told)) for row in there]
    sides = [side.name for side in found.now.sides if not side.has_left]
    lot = secrets.SystemRandom().sample(sides, len(sides))
    return drawn(found.now, found.results, _round(form), tables, lot)


def _round(form: Mapping[str, str]) -> int:
    return int(text) if (text := form.get("round", "")).isdecimal() and len(text) < 6 else 0


_Decide = Callable[[Connection, Known, Mapping[str, str]], dict[str, object]]
_DECIDE: Mapping[str, tuple[Role, _Decide]] = {
    "enter": (Role.DIRECTOR, lambda _db, found, form: entered(found.now, form.get("sides", ""))),
    "leave": (Role.DIRECTOR, lambda _db, found, form: left(found.now, form.get("side", ""))),
    "draw": (Role.DIRECTOR, _drawn),
    "undraw": (Role.DIRECTOR, lambda _db, found, form: undrawn(found.now, found.results, _round(form))),
    "result": (Role.HELPER, lambda _db, found, form: typed(found.now, form)),
    "clock": (Role.HELPER, lambda _db, found, form: clocked(found.now, form.get("runs", ""))),
}


@bp.post("/tournaments/<int:number>/<deed>")
def decide(number: int, deed: str) -> AnyResponse:
    """Do what the director asks, if it may be done as the tournament stands."""
    role, what = _DECIDE.get(deed) or abort(404)
    club_doors.need(role)
    with connected(club().pool) as db:
        found = known(db, number, deeds.locked(db, _topic(number)))
        deeds.append(db, _topic(number), deed, club_doors.name(), what(db, found, request.form))
    return redirect(f"/tournaments/{number}/direct", 303)
