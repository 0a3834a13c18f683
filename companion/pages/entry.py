"""A play picked by hand: a new one, another in a proposal's place, or a line of the log as it should have been."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match import MatchState
from companion.pages import people, views
from companion.pages.context import state
from companion.pages.words import Names, _, play_say
from companion.rules.cards import Card, card_of_slug
from companion.rules.play import Play, Verb
from companion.rules.table import Table

bp = Blueprint("entry", __name__)


@dataclass(frozen=True, slots=True)
class Task:
    """What the picked play is for."""

    title: str
    post_to: str
    table: Table
    player: str
    was: str | None = None
    """The play that it replaces, in words."""

    line: int | None = None
    """The line of the log that is being changed."""

    proposal: int | None = None


@bp.get("/play")
def new() -> AnyResponse | str:
    """Picks a new play."""
    now = state()
    table = now.game.table
    if table is None:
        return redirect(url_for("setting_up.show"))
    if table.is_over:
        return redirect(url_for("score.show"))
    return _picker(Task(_("What was played?"), url_for("table.enter"), table, table.player_to_move), now)


@bp.get("/proposal/<int(signed=True):proposal_id>")
def instead(proposal_id: int) -> AnyResponse | str:
    """Picks the play that a proposal was in truth."""
    now = state()
    pending = now.waiting(proposal_id)
    table = now.game.table
    if pending is None or table is None:
        return redirect(url_for("table.show"))
    before = now.pending[: now.pending.index(pending)]
    table = before[-1].judged.table or table if before else table
    play = pending.proposal.play
    task = Task(
        title=_("What was it?"),
        post_to=url_for("table.amend", proposal_id=proposal_id),
        table=table,
        player=play.player or table.player_to_move,
        was=play_say(play, Names.of(now.game)),
        proposal=proposal_id if pending.proposal.crop else None,
    )
    return _picker(task, now)


@bp.get("/line/<int:seq>")
def change(seq: int) -> AnyResponse | str:
    """Picks what a line of the log should say, or with `?before=1` what was forgotten before it."""
    now = state()
    entry = now.entry(seq)
    if entry is None or entry.judged is None:
        return redirect(url_for("table.show"))
    before = request.args.get("before") == "1"
    table = _table_before(now, seq)
    play = entry.judged.play
    task = Task(
        title=_("What came before it?") if before else _("What was it?"),
        post_to=url_for("table.insert" if before else "table.correct", seq=seq),
        table=table,
        player=table.player_to_move if before or play is None or play.player is None else play.player,
        was=views.entry_view(now, entry).say,
        line=seq,
    )
    return _picker(task, now)


def _table_before(now: MatchState, seq: int) -> Table:
    """The table that a line of the log was played on."""
    place = next(index for index, entry in enumerate(now.entries) if entry.seq == seq)
    entry = now.entries[place]
    earlier = [e.judged.table for e in now.entries[:place] if e.judged and e.hand == entry.hand]
    table = earlier[-1] if earlier else entry.judged.table if entry.judged else None
    return table or abort(404)


def _picker(task: Task, now: MatchState) -> str:
    player = request.args.get("player", task.player)
    if not any(seat.player == player for seat in task.table.seats):
        player = task.player
    discard = request.args.get("discard") == "1"
    card = card_of_slug(request.args.get("card", ""))
    asked = card if card in task.table.edition.deck and not discard else None
    return render_template(
        "entry.html",
        task=task,
        player=player,
        discard=discard,
        asked=asked,
        targets=_targets(task.table, player, asked, Names.of(now.game)) if asked else [],
        groups=list(views.tiles(task.table, player, discard=discard)),
        others=_other_lines(task.table, player),
        chances=views.coup_fourre_chances(now) if task.line is None else [],
        seated=people.seat(now),
        here=request.path,
    )


def _targets(table: Table, player: str, card: Card, names: Names) -> list[tuple[str, str]]:
    """The notation and the shown name of each side that a hazard can be laid on."""
    return [(str(play), names.side(play.target)) for play in views.ways(table, player, card) if play.target]


def _other_lines(table: Table, player: str) -> list[tuple[str, str]]:
    """The rarer things that happen at a table: notation and words."""
    lines = [
        (str(Play(Verb.SKIP_DRAW, player)), _("Forgot to draw")),
        (str(Play(Verb.EXHAUSTED)), _("The draw pile is used up")),
        (str(Play(Verb.END)), _("End the hand here")),
    ]
    if table.edition.take_discard == "allowed":
        lines.insert(0, (str(Play(Verb.TAKE, player)), _("Took the top of the discard pile")))
    return lines
