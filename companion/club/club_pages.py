"""The club's pages: overview, tables' scores, standings, and the director's keys."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import asdict
from functools import partial
from math import inf
from typing import Any

from flask import Blueprint, abort, g, redirect, render_template, request, session
from werkzeug.wrappers import Response as AnyResponse

from companion.club import batch, club_log, deeds, desk, keys, projection
from companion.club.batch import Missing
from companion.club.club_doors import club, may, name, who
from companion.club.club_log import Fork, TableRow
from companion.club.deed import Deed
from companion.club.people import Role
from companion.club.people_pages import here
from companion.club.postgres import Connection, connected
from companion.club.tournament_pages import clocks, clocks_at_tables
from companion.common.cache import Kept
from companion.common.text import Said, say, say_many
from companion.match.archive import PastMatch, judged
from companion.pages import language, words
from companion.pages.scores import score_sheets
from companion.pages.server.address import qr_path
from companion.pages.words import Names, _, many
from companion.tabletop import translation

bp = Blueprint("club", __name__)

MOST_SHEETS = 10  # matches shown of a table
_pasts: Kept[PastMatch] = Kept(32)


def helpers() -> dict[str, object]:
    """Return template variables; on the error page none that need the database."""
    if "is_failing" in g:
        return {"clocks": tuple}
    return {"person": who(), "director": may(Role.DIRECTOR), "helper": may(Role.HELPER), "clocks": clocks}


# Pushed events


@bp.post("/club/events")
def take() -> tuple[dict[str, object], int]:
    """Receive a batch of events: 200 once stored, 409 for a gap or fork."""
    is_large = (request.content_length or 0) > batch.MOST_BYTES
    body = b"" if is_large else request.get_data(cache=False)
    if is_large or len(body) > batch.MOST_BYTES:
        return {"say": batch.TOO_LARGE}, 413
    try:
        with connected(club().pool) as db:
            key = keys.checked(db, request.headers.get("Authorization", ""), body, needed=club().keys_needed)
            sent = batch.read(body)
            try:
                last = club_log.take(db, sent, key)
            except Fork as fork:  # returning commits the note in the table's row
                return {"fork_at": fork.args[0]}, 409
            clock = club().clocks.get("", partial(clocks_at_tables, db), int(time.monotonic())).get(sent.table)
            letters = [*club_log.letters(db, sent.table), *([clock] if clock else [])]
            secret = keys.secret_of(db, key) if letters and key else None
        answer: dict[str, object] = {"acknowledged": last}
        if letters:
            text = json.dumps(letters)
            answer |= {"letters": text} | ({"signed": batch.digest(secret, text.encode())} if secret else {})
        return answer, 200
    except Missing as missing:
        return {"missing_from": missing.args[0]}, 409


# Public pages


@bp.get("/")
def boards() -> str:
    """Show all tables. The public's page is cached for a second per language."""

    def drawn() -> str:
        with connected(club().pool) as db:
            glances = _glances(db)
        return render_template("club_tables.html", tables=glances)

    key = (translation.spoken(), "HX-Request" in request.headers)
    return drawn() if who() else club().boards.get(key, drawn, int(time.monotonic()))


@bp.get("/club/tables.json")
def as_json() -> dict[str, object]:
    """Return all tables as JSON."""
    with connected(club().pool) as db:
        states = projection.latest_states(db)
        rows = club_log.tables(db)
    return {"tables": [asdict(row) | {"state": states.get(row.id)} for row in rows]}


def _glances(db: Connection) -> list[dict[str, Any]]:
    states = projection.latest_states(db)
    rows = club_log.tables(db)
    heard = deeds.at_tables(db)
    glances = [_glance(row, states.get(row.id), desk.waiting_call(heard.get(desk.topic(row.id), ()))) for row in rows]
    # longest wait first
    return sorted(glances, key=lambda one: one["call"].seq if one["call"] else inf)


def _glance(row: TableRow, state: dict[str, Any] | None, call: Deed | None) -> dict[str, Any]:
    known = state["sides"] if state else ()
    names = Names({}, {side["name"]: side["players"] for side in known})
    sides = [side | {"shown": names.side(side["name"]), "way": _("%(km)d km", km=side["km"])} for side in known]
    return {
        "id": row.id,
        "name": row.name,
        "hand": state["hand"] if state else 0,
        "sides": sides,
        "leader": _leader(sides, state),
        "seen": _("now") if row.quiet_s < 60 else _ago(row.quiet_s),
        "is_gone": row.is_gone,
        "trouble": trouble(row),
        "call": call,
        "called": _ago(call.age_s) if call else None,
    }


def _leader(sides: list[dict[str, Any]], state: dict[str, Any] | None) -> str:
    if not state or not sides:
        return ""
    if state["winner"]:
        won = next((side["shown"] for side in sides if side["name"] == state["winner"]), state["winner"])
        return _("%(who)s has won", who=won)
    by = "total" if any(side["total"] for side in sides) else "km"
    best = max(side[by] for side in sides)
    first = [side["shown"] for side in sides if side[by] == best]
    return str(first[0]) if len(first) == 1 else _("level")


def _ago(quiet_s: float) -> str:
    minutes = round(quiet_s / 60)
    if minutes < 120:
        return many("%(count)d minute ago", "%(count)d minutes ago", minutes)
    hours = round(minutes / 60)
    if hours < 48:
        return many("%(count)d hour ago", "%(count)d hours ago", hours)
    return many("%(count)d day ago", "%(count)d days ago", round(hours / 24))


def trouble(row: TableRow) -> Said | None:
    """Return how a table's log differs from the club's, if it does."""
    if row.fork_at is not None:
        return say("Its record differs from the club’s, from entry %(seq)d or earlier.", seq=row.fork_at)
    if row.told < row.last:
        return say(
            "It has %(told)d entries, the club has %(last)d: it was restored from a backup.",
            told=row.told,
            last=row.last,
        )
    if row.copy_of is not None:
        return say(
            "It starts with the same entries as %(other)s: it is a copy, or was restored from a backup.",
            other=row.copy_of,
        )
    if row.behind:
        return say_many("%(count)d entry is still missing.", "%(count)d entries are still missing.", row.behind)
    return None


@bp.get("/tables/<table>")
def one(table: str) -> str:
    """Show the score sheets of a table's newest matches."""
    with connected(club().pool) as db:
        row = club_log.table_row(db, table, hidden=may(Role.DIRECTOR)) or abort(404)
        pasts = [past_of(db, row.id, match) for match in projection.matches_of(db, row.id)[:MOST_SHEETS]]
    matches = [_match_view(past) for past in pasts if past is not None]
    return render_template("club_table.html", table=row, trouble=trouble(row), matches=matches)


def past_of(db: Connection, table: str, match: int) -> PastMatch | None:
    """Return a match judged by replay, cached until it changes; None without events."""
    query = "SELECT sum(erased) FROM club.events WHERE table_id = %s AND match = %s"
    erased, known = db.execute(query, [table, match]).fetchone(), club_log.events(db, table, match)
    return _pasts.get((table, match, erased), partial(judged, match, known), known[-1].seq) if known else None


def _match_view(past: PastMatch) -> dict[str, object]:
    names = Names.of(past.game)
    words.speak_of(past.game, {})
    return {
        "sides": " – ".join(names.side(team.name) for team in past.game.teams),
        "edition": _(past.game.edition.title),
        "sheets": [score_sheets.explained(hand, names) for hand in reversed(past.hands)],
    }


@bp.get("/standings")
def standings() -> str:
    """Show the players' statistics over all tables."""
    with connected(club().pool) as db:
        return render_template("club_standings.html", players=projection.standings(db))


@bp.post("/language")
def speak() -> AnyResponse:
    """Set this browser's language."""
    session[language.CHOSEN] = request.form.get("language", "")
    return redirect("/", 303)


# The director


@bp.get("/keys")
def all_keys() -> str:
    """Show the tables' keys."""
    with connected(club().pool) as db:
        return render_template("club_keys.html", keys=keys.all_of(db))


@bp.post("/keys")
def make_key() -> AnyResponse:
    """Make a key for a table to send its log, and redirect to it."""
    with connected(club().pool) as db:
        made = keys.make(db, request.form.get("name", ""))
        deeds.append(db, deeds.PEOPLE, "key", name(), {"key": made.id, "name": made.name})
    return redirect(f"/keys/{made.id}", 303)


@bp.get("/keys/<key_id>")
def one_key(key_id: str) -> str:
    """Show a key: its table's start command, also as a QR code."""
    with connected(club().pool) as db:
        key = next((key for key in keys.all_of(db) if key.id == key_id and not key.is_revoked), None) or abort(404)
    line = f"companion up --club {here()} --name {shlex.quote(key.name)} --key {key.text}"
    return render_template("club_key.html", key=key, line=line, qr=qr_path(line))


@bp.post("/keys/<key_id>/revoke")
def revoke_key(key_id: str) -> AnyResponse:
    """Revoke a key."""
    with connected(club().pool) as db:
        keys.revoke(db, key_id)
        deeds.append(db, deeds.PEOPLE, "revoked", name(), {"key": key_id})
    return redirect("/keys", 303)


@bp.post("/tables/<table>/settle")
def settle(table: str) -> AnyResponse:
    """Dismiss a table's fork, or hide the table."""
    with connected(club().pool) as db:
        club_log.settle(db, table, hidden=request.form.get("answer") == "hide")
        deeds.append(db, deeds.PEOPLE, "settled", name(), {"table": table, "answer": request.form.get("answer", "")})
    return redirect("/", 303)
