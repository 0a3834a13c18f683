"""The page on which a play is picked: a new one, another answer to a question, or a corrected line of the log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match.match import MatchState
from companion.match.questions import Kind, Question
from companion.pages import words
from companion.pages.context import state
from companion.pages.game import card_picker, offers, own_hand, prompts, views
from companion.pages.game.card_picker import Tab
from companion.pages.players import permissions, phone_identity
from companion.pages.words import N_, Names, _
from companion.rules import referee
from companion.rules.play import Play, Verb
from companion.rules.record import notation
from companion.rules.record.notation import Unreadable
from companion.rules.table import Table

bp = Blueprint("entry", __name__)

TABS = (
    (Tab.MY_TURN, "tab=my-turn", N_("My turn")),
    (Tab.DISCARD, "discard=1", N_("Discard")),
    (Tab.AT_ONCE, "tab=at-once", N_("Out of turn")),
    (Tab.OTHER, "tab=other", N_("Other")),
)
"""The tabs, each with the query that chooses it."""


@bp.get("/play")
def new() -> AnyResponse | str:
    """Pick a new play."""
    now = state()
    table = now.game.table
    if table is None:
        return redirect(url_for("setting_up.show"))
    if now.is_dealt:
        return _way_to_play(now, table)
    if table.is_over and not offers.answers(table, Names.of(now.game), None):
        return redirect(url_for("score.show"))
    lays_now, seat = offers.who_lays_now(table), phone_identity.seat(now)
    mine = lays_now[1] if lays_now is not None and lays_now[0] == seat else None
    return _picker(
        now,
        table,
        seat if seat and mine else table.player_to_move,
        title=words.lay_now(mine) if mine else _("What was played?"),
        post_to=url_for("table.enter"),
        is_new=True,
        asks_who=lays_now is not None and not mine and seat != table.player_to_move,
    )


def _way_to_play(now: MatchState, table: Table) -> AnyResponse | str:
    """Ask in which way this phone's player plays a card of his hand."""
    question = own_hand.question(now, request.args)
    if question is None:
        return redirect(url_for("table.show"))
    task = {"title": question.title, "post_to": url_for("table.enter"), "table": table}
    return render_template(
        "entry.html",
        task=task,
        question=question,
        groups=question.groups,
        player=phone_identity.seat(now),
        here=request.path,
        is_own=True,
    )


@bp.get("/question/<question_id>")
def instead(question_id: str) -> AnyResponse | str:
    """Pick the play that answers a question."""
    now = state()
    question = now.question(question_id)
    table = (question.table if question else None) or now.game.table
    if question is None or table is None:
        return redirect(url_for("table.show"))
    play = question.plays[0] if question.plays else None
    said = prompts.sentence(now, question)
    is_play = question.kind is Kind.PLAY
    return _picker(
        now,
        table,
        (play.player if play else None) or table.player_to_move,
        title=_("Which card is it?") if question.kind is Kind.WHICH else _("What was it?"),
        post_to=url_for("table.answer", question_id=question_id),
        about=_("Noted as: %(play)s", play=said) if is_play else said,
        written=str(play) if play and is_play else "",
        tab=_tab_of(play) if is_play else Tab.MY_TURN,
        picture=url_for("live.crop", question_id=question_id) if question.crop else None,
        is_asked=True,
        refused=_refused(now, question, table) if "refused" in request.args else None,
    )


def _refused(now: MatchState, question: Question, table: Table) -> dict[str, Any] | None:
    """Return the illegal play that was named in answer to a question, with the reasons against it."""
    try:
        play = notation.parse_play(request.args.get("text", ""), now.game.teams)
    except Unreadable:
        return None
    named = replace(question, kind=Kind.PLAY, plays=(play,), table=table, reasons=referee.objections(table, play))
    return None if named.is_legal else prompts.view(now, named)


@bp.get("/line/<int:seq>")
def change(seq: int) -> AnyResponse | str:
    """Pick what a line of the log should say, or with `?before=1` what was forgotten before it."""
    now = state()
    entry = now.entry(seq)
    if entry is None or entry.judged is None or now.is_dealt:
        return redirect(url_for("table.show"))
    before = request.args.get("before") == "1"
    place = next(index for index, entry in enumerate(now.entries) if entry.seq == seq)
    table = now.record.games[place - 1].table or now.record.games[place].table or abort(404)
    play = entry.judged.play
    return _picker(
        now,
        table,
        table.player_to_move if before or play is None or play.player is None else play.player,
        title=_("What came before it?") if before else _("What was it?"),
        post_to=url_for("table.insert" if before else "table.correct", seq=seq),
        about=_("Noted as: %(play)s", play=views.entry_view(now.game, entry)["say"]),
        written="" if before else entry.written.text,
        line=seq,
        tab=Tab.MY_TURN if before else _tab_of(play),
    )


def _picker(
    now: MatchState,
    table: Table,
    usual_player: str,
    *,
    tab: Tab = Tab.MY_TURN,
    written: str = "",
    line: int | None = None,
    is_new: bool = False,
    asks_who: bool = False,
    **task: object,
) -> str:
    """Return the page, with `usual_player` and `tab` chosen at first.

    `written` is the play in the notation; `line` the line of the log that is being changed; `asks_who`: two players may
    lay a card now, and nobody knows whose this phone is. `task` is for the template: `title`, `post_to`, `about` (what
    was laid or recorded, as a sentence), `picture` (its address), `is_asked` (it answers a question, to which "not a
    play" is an answer too), `refused` (the illegal play that was picked here).
    """
    names = Names.of(now.game)
    player = request.args.get("player", usual_player)
    if not any(seat.player == player for seat in table.seats):
        player = usual_player
    tab = Tab.DISCARD if request.args.get("discard") == "1" else request.args.get("tab", tab, type=Tab)
    if tab is Tab.AT_ONCE and "player" not in request.args:
        player = card_picker.who_answers(table, player)
    who = card_picker.who_plays(table, names) if asks_who and not request.args else None
    question = who or card_picker.question(table, player, request.args, names)
    take = [offer for offer in (offers.taking(table, player),) if offer is not None and offer.legal]
    return render_template(
        "entry.html",
        task={**task, "table": table, "line": line, "is_new": is_new},
        player=player,
        tab=tab,
        tabs=TABS,
        question=question,
        groups=question.groups if question else card_picker.groups(table, player, tab),
        beside=[*offers.beside(table, names, player), *take] if tab is Tab.MY_TURN else [],
        more=card_picker.more(table, player, names) if tab is Tab.OTHER else [],
        written=request.args.get("text") or written or f"{player} ",
        fault=_fault(now),
        chances=[offers.coup_fourre(play, names) for play in offers.coups_fourres(table)] if is_new else [],
        here=request.path,
        before="before=1&" if request.args.get("before") else "",
        why_not_retract=permissions.why_no_retract(now, line) if line else None,
    )


def _fault(now: MatchState) -> str | None:
    """Say what is wrong with the text that was written as in a record and is shown again."""
    try:
        notation.parse_play(request.args.get("text", "end"), now.game.teams)
    except Unreadable as error:
        return str(error)
    return None


def _tab_of(play: Play | None) -> Tab:
    """Return the tab on which a replacement of a play is looked for first."""
    return Tab.DISCARD if play is not None and play.verb is Verb.DISCARD else Tab.MY_TURN
