"""The score: every hand's sheet line by line, the match totals, the next hand. Works without any script."""

from __future__ import annotations

from flask import Blueprint, render_template

from companion.match import next_first
from companion.pages import views
from companion.pages.context import state
from companion.pages.words import Names

bp = Blueprint("score", __name__)


@bp.get("/score")
def show() -> str:
    """All score sheets of the match, the latest first."""
    now = state()
    names = Names.of(now.game)
    sheets = [views.sheet_view(result, names) for result in now.game.hands]
    began = now.game.table is not None
    open_sheet = views.open_sheet(now) if now.game.hand_is_open else None
    return render_template(
        "score.html",
        sheets=sheets[::-1],
        open_sheet=open_sheet,
        sides=views.side_views(now, None),
        next_first=names.player(next_first(now)) if began and not now.game.hand_is_open else None,
        seats=[(seat.player, names.player(seat.player)) for seat in now.game.table.seats] if now.game.table else [],
        next_first_name=next_first(now) if began else None,
        goal=now.game.edition.match_points,
        winner=names.side(now.game.winner) if now.game.winner else None,
    )
