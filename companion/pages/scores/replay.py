"""A hand played again, step by step: the board as it lay, the play, the verdict, who said so, the score so far."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, render_template, request

from companion.common import parsing
from companion.match.archive import PlayedHand
from companion.match.history import CAMERA, SOMEBODY, Written
from companion.match.match import Entry
from companion.pages import words
from companion.pages.context import state
from companion.pages.game import views
from companion.pages.game.views import PlayView
from companion.pages.scores import past_matches
from companion.pages.words import N_, Names, _
from companion.rules import scoring
from companion.rules.record.judge import Game

bp = Blueprint("replay", __name__)

MOST_STEPS = 10**9
"""A step is asked for by a number up to this; one beyond the last is the last."""


@dataclass(frozen=True, slots=True)
class Step:
    """A moment of the hand: before the first play (0), or after a play."""

    number: int
    last: int
    play: PlayView | None
    who: tuple[str, ...]
    """Who entered, confirmed and changed it, a sentence each."""

    so_far: tuple[tuple[str, int, int | None], ...]
    """Each side's points in this hand until now, and in the match without it."""


@bp.get("/past/<int(max=999999999):number>/<int(max=9999):hand>")
def show(number: int, hand: int) -> str:
    """A hand at one of its steps."""
    played = past_matches.past_or_404(number)
    one = past_matches.hand_or_404(played, hand)
    at = min(parsing.whole(request.args.get("step"), 0, MOST_STEPS) or 0, len(one.entries))
    game, names = (one.begins, *one.games)[at], Names.of(played.game)
    step = _step(one, game, names, at)
    return render_template(
        "replay.html",
        match=number,
        hand=hand,
        heading=words.hand_title(played.game.edition, hand),
        step=step,
        sides=views.side_views_of(game._replace(shown=played.game.shown), None),
        plays=[views.entry_view_of(played.game, entry) for entry in one.entries],
        is_running=number == state().match,
        hands=len(played.hands),
        is_race=words.is_race(played.game.edition),
    )


def _step(hand: PlayedHand, game: Game, names: Names, at: int) -> Step:
    entry = hand.entries[at - 1] if at else None
    play = views.entry_view_of(game._replace(shown=names.shown), entry) if entry else None
    return Step(at, len(hand.entries), play, _who(entry, names) if entry else (), _so_far(hand, game, names))


def _so_far(hand: PlayedHand, game: Game, names: Names) -> tuple[tuple[str, int, int | None], ...]:
    table, begun = game.table, hand.begins
    if table is None:
        return ()
    counts_match = table.edition.match_points is not None
    return tuple(
        (names.side(side.name), sheet.total, begun.totals.get(side.name, 0) if counts_match else None)
        for side, sheet in zip(table.sides, scoring.score(table), strict=True)
    )


def _who(entry: Entry, names: Names) -> tuple[str, ...]:
    """Where a line comes from."""
    written = entry.written
    said = [_(_origin(written), who=_called(written.by, names))]
    if written.corrected_by is not None:
        said.append(_("Changed later by %(who)s.", who=_called(written.corrected_by, names)))
    return tuple(said)


def _origin(written: Written) -> str:
    if written.by == CAMERA:
        return N_("Seen by the camera; it counted at once.")
    if written.source == CAMERA:
        return N_("Seen by the camera, confirmed by %(who)s.")
    return N_("Entered by %(who)s.")


def _called(by: str, names: Names) -> str:
    return _("somebody") if by in ("", SOMEBODY) else names.player(by)
