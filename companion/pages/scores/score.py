"""The score: every hand's sheet line by line, the match totals, the next hand. Works without any script."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match import archive
from companion.match.match import last_result, next_first
from companion.pages import words
from companion.pages.context import go, state
from companion.pages.game import offers, score_prompt, views
from companion.pages.scores import chart_data, explanations, score_sheets
from companion.pages.words import Names

bp = Blueprint("score", __name__)


@bp.get("/score")
def show() -> AnyResponse | str:
    """Show all score sheets of the match, the latest first; a phone that was led here goes on with the next hand."""
    now = state()
    if score_prompt.lead_back(now) and "HX-Request" in request.headers:
        return go(url_for("table.show"))
    names, hands = Names.of(now.game), archive.hands_now(now)
    ended = [hand for hand in hands if not hand.is_open]
    table = now.game.table
    newest = hands[-1] if hands else None
    last = last_result(now)
    following = next_first(now) if table is not None else None
    hazards = explanations.answered(newest) if newest else explanations.NOTHING
    return render_template(
        "score.html",
        sheets=[score_sheets.explained(hand, names) for hand in reversed(ended)],
        open_sheet=score_sheets.open_sheet(now.game, hazards) if now.game.hand_is_open else None,
        is_new=last is not None and score_prompt.is_new(now.match, last),
        race=chart_data.race(newest, names) if newest else None,
        totals=chart_data.totals([hand.result for hand in ended], names),
        sides=views.side_views(now.game, None),
        next_first=names.player(following) if following and not now.game.hand_is_open else None,
        seats=[(seat.player, names.player(seat.player)) for seat in table.seats] if table else [],
        next_first_name=following,
        goal=now.game.edition.match_points,
        is_race=words.is_race(now.game.edition),
        wins=score_sheets.wins(now.game),
        turns_back=table is not None and table.is_over and bool(offers.answers(table, names, None)),
        winner=names.side(now.game.winner) if now.game.winner else None,
    )


@bp.get("/score/<int:number>/plays")
def plays(number: int) -> str:
    """Show the plays of a hand, each to be corrected, also after the hand has ended."""
    now = state()
    entries = [entry for entry in now.entries if entry.hand == number and entry.judged is not None]
    if not entries:
        abort(404)
    return render_template(
        "plays.html",
        heading=words.hand_title(now.game.edition, number),
        lines=[views.entry_view(now.game, entry) for entry in entries],
    )
