"""The director's desk: calls, a table's wall screen, notes, corrections."""

from __future__ import annotations

from flask import Blueprint, abort, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from companion.club import club_log, deeds, desk, projection
from companion.club.club_doors import club, name
from companion.club.club_log import TableRow
from companion.club.club_pages import past_of, trouble
from companion.club.desk import LetterStage
from companion.club.postgres import Connection, connected
from companion.common.errors import Problem
from companion.common.parsing import whole
from companion.common.text import plain, say
from companion.match.archive import PastMatch, PlayedHand
from companion.match.questions import Letter
from companion.pages import words
from companion.pages.game import views
from companion.pages.words import N_, Names
from companion.rules.record import notation
from companion.rules.record.notation import Unreadable

bp = Blueprint("desk", __name__)

STAGES = {
    LetterStage.WAITS: N_("The table has not received it yet."),
    LetterStage.ASKED: N_("Waiting for the table’s answer."),
    LetterStage.YES: N_("%(who)s has agreed."),
    LetterStage.NO: N_("%(who)s has refused."),
    LetterStage.VOID: N_("The table has moved on: this no longer applies."),
}


def _row(db: Connection, table: str) -> TableRow:
    return club_log.table_row(db, table) or abort(404)


def _now(db: Connection, table: str) -> PastMatch | None:
    matches = projection.matches_of(db, table)
    return past_of(db, table, matches[0]) if matches else None


def _view(table: str) -> dict[str, object]:
    with connected(club().pool) as db:
        row, past = _row(db, table), _now(db, table)
        said = deeds.of(db, desk.topic(table))
    hand = past.hands[-1] if past and past.hands else None
    if past:
        words.speak_of(past.game, {})
    return {
        "table": row,
        "trouble": trouble(row),
        "sides": views.side_views(hand.games[-1] if hand and hand.games else past.game, None) if past else [],
        "lines": _lines(past, hand) if past and hand else [],
        "call": desk.waiting_call(said),
        "corrections": desk.corrections(said, past),
        "stages": STAGES,
    }


def _lines(past: PastMatch, hand: PlayedHand) -> list[dict[str, object]]:
    names = Names.of(past.game)
    return [
        {"seq": entry.seq, "text": entry.written.text, "say": words.play_say(entry.play, names) if entry.play else ""}
        for entry in hand.entries[::-1]
    ]


@bp.get("/tables/<table>/desk")
def show(table: str) -> str:
    """Show a table's wall screen with the forms for notes and corrections."""
    return render_template("club_desk.html", **_view(table))


@bp.get("/tables/<table>/board")
def board(table: str) -> str:
    """Return the self-updating part of that page."""
    return render_template("club_board.html", **_view(table))


@bp.post("/tables/<table>/answered")
def answer(table: str) -> AnyResponse:
    """Record that a helper is coming, and tell the table."""
    with connected(club().pool) as db:
        topic = desk.topic(_row(db, table).id)
        call = desk.waiting_call(deeds.locked(db, topic))
        if call is not None:
            deeds.append(db, topic, desk.ANSWERED, name(), {"call": call.body["call"]})
            club_log.send(db, table, Letter.COMING, name(), of=call.body["call"])
    return redirect((request.form.get("to") == "desk" and f"/tables/{table}/desk") or "/", 303)


@bp.post("/tables/<table>/note")
def note(table: str) -> AnyResponse:
    """Send a note to a table."""
    text = " ".join(plain(request.form.get("text", ""), desk.MOST_TEXT).split())
    if not text:
        raise Problem(say("Write a message to the table."))
    with connected(club().pool) as db:
        club_log.send(db, _row(db, table).id, Letter.NOTE, name(), text=text)
    return redirect(f"/tables/{table}/desk", 303)


@bp.post("/tables/<table>/correct")
def correct(table: str) -> AnyResponse:
    """Ask a table to remove a play or change it to `text`; the table must accept."""
    seq, text = whole(request.form.get("line"), 1, 2**53), request.form.get("text", "").strip()
    with connected(club().pool) as db:
        past = _now(db, _row(db, table).id)
        entries = {entry.seq: entry for hand in past.hands for entry in hand.entries} if past else {}
        if past is None or seq not in entries:
            raise Problem(say("This play is no longer in the record: reload the table’s page."))
        if request.form.get("what") == Letter.REMOVE:
            club_log.send(db, table, Letter.REMOVE, name(), of=seq, match=past.match, text=entries[seq].written.text)
        else:
            try:
                play = notation.parse_play(text, past.game.teams)
            except Unreadable as error:
                raise Problem(str(error)) from error
            club_log.send(db, table, Letter.CHANGE, name(), of=seq, match=past.match, text=str(play))
    return redirect(f"/tables/{table}/desk", 303)
