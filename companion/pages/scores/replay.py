"""The replay of a hand, step by step: the board, the play, the verdict, who confirmed it, the score so far."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request

from companion.common import parsing
from companion.match.archive import PlayedHand
from companion.match.history import CAMERA, SOMEBODY, Written
from companion.pages import words
from companion.pages.context import state
from companion.pages.game import views
from companion.pages.scores import past_matches
from companion.pages.words import N_, Names, _
from companion.rules import scoring
from companion.rules.record.judge import Game

bp = Blueprint("replay", __name__)

MOST_STEPS = 10**9


@bp.get("/past/<int(max=999999999):number>/<int(max=9999):hand>")
def show(number: int, hand: int) -> str:
    """Show a hand before its first play (step 0), or after a play."""
    played = past_matches.past_or_404(number)
    one = played.hand(hand) or abort(404)
    at = min(parsing.whole(request.args.get("step"), 0, MOST_STEPS) or 0, len(one.entries))
    game, names = (one.begins, *one.games)[at], Names.of(played.game)
    entry = one.entries[at - 1] if at else None
    return render_template(
        "replay.html",
        match=number,
        hand=hand,
        heading=words.hand_title(played.game.edition, hand),
        step={
            "number": at,
            "last": len(one.entries),
            "play": views.entry_view(game._replace(shown=names.shown), entry) if entry else None,
            "who": _who(entry.written, names) if entry else [],
            "so_far": _so_far(one, game, names),
        },
        sides=views.side_views(game._replace(shown=played.game.shown), None),
        plays=[views.entry_view(played.game, entry) for entry in one.entries],
        is_running=number == state().match,
        hands=len(played.hands),
        is_race=words.is_race(played.game.edition),
    )


def _so_far(hand: PlayedHand, game: Game, names: Names) -> tuple[tuple[str, int, int | None], ...]:
    """Return each side's points in this hand until now, and in the match without it."""
    table, begun = game.table, hand.begins
    if table is None:
        return ()
    counts_match = table.edition.match_points is not None
    return tuple(
        (names.side(side.name), sheet.total, begun.totals.get(side.name, 0) if counts_match else None)
        for side, sheet in zip(table.sides, scoring.score(table), strict=True)
    )


def _who(written: Written, names: Names) -> list[str]:
    """Say who entered, confirmed and changed a line."""
    if written.by == CAMERA:
        origin = N_("Seen by the camera; it counted at once.")
    elif written.source == CAMERA:
        origin = N_("Seen by the camera, confirmed by %(who)s.")
    else:
        origin = N_("Entered by %(who)s.")
    said = [_(origin, who=_called(written.by, names))]
    if written.corrected_by is not None:
        said.append(_("Changed later by %(who)s.", who=_called(written.corrected_by, names)))
    return said


def _called(by: str, names: Names) -> str:
    return _("somebody") if by in ("", SOMEBODY) else names.player(by)
