"""The score: every hand's sheet line by line, the match totals, the next hand. Works without any script."""

from __future__ import annotations

from flask import Blueprint, render_template

from companion.match import next_first
from companion.pages import offers, views, words
from companion.pages.context import state
from companion.pages.words import Names

bp = Blueprint("score", __name__)


@bp.get("/score")
def show() -> str:
    """All score sheets of the match, the latest first."""
    now = state()
    names = Names.of(now.game)
    sheets = [views.sheet_view(result, names) for result in now.game.hands]
    table = now.game.table
    began = table is not None
    open_sheet = views.open_sheet(now) if now.game.hand_is_open else None
    return render_template(
        "score.html",
        sheets=sheets[::-1],
        open_sheet=open_sheet,
        sides=views.side_views(now, None),
        next_first=names.player(next_first(now)) if began and not now.game.hand_is_open else None,
        seats=[(seat.player, names.player(seat.player)) for seat in table.seats] if table else [],
        next_first_name=next_first(now) if began else None,
        goal=now.game.edition.match_points,
        is_race=words.is_race(now.game.edition),
        wins=views.wins(now),
        turns_back=table is not None and table.is_over and bool(offers.answers(table, names, None)),
        winner=names.side(now.game.winner) if now.game.winner else None,
    )
