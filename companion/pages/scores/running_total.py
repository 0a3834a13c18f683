"""The running total of counted hands, kept on the phone that counts them, in its cookie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import session

from companion.pages.scores.score_sheets import SheetView

_COUNTED = "counted"
MOST_HANDS = 20
"""Maximum number of hands of a total: a cookie is small."""

_TOKEN = 8
"""Length of what a photograph's hand is known by."""


@dataclass(frozen=True, slots=True)
class Total:
    """The hands that were added up, each with its points a side."""

    edition: str = ""
    sides: tuple[str, ...] = ()
    hands: tuple[tuple[int, ...], ...] = ()

    @property
    def sums(self) -> tuple[int, ...]:
        return tuple(map(sum, zip(*self.hands, strict=True)))

    def winner(self, goal: int | None) -> str | None:
        """Return who has won a match to so many points; None for nobody, or several level."""
        best = max(self.sums, default=0)
        is_won = goal is not None and best >= goal and self.sums.count(best) == 1
        return self.sides[self.sums.index(best)] if is_won else None


def total() -> Total:
    """Return what this phone has added up last."""
    kept = session.get(_COUNTED, {})
    hands = tuple(tuple(points) for _token, *points in kept.get("hands", ()))
    return Total(kept.get("edition", ""), tuple(kept.get("sides", ())), hands)


def add(token: str, edition: str, goal: int | None, sheet: SheetView) -> None:
    """Add a counted hand, or put it right where it was added; other sides, or a match that is won, begin anew."""
    before, kept = total(), session.get(_COUNTED, {})
    same: Sequence[list[object]] = (
        kept.get("hands", ()) if (before.edition, before.sides) == (edition, sheet.sides) else ()
    )
    hand = [token[:_TOKEN], *sheet.totals]
    if any(other[0] == hand[0] for other in same):
        hands = [hand if other[0] == hand[0] else other for other in same]
    else:
        hands = [*(same if before.winner(goal) is None else ()), hand]
    session.permanent = True
    session[_COUNTED] = {"edition": edition, "sides": sheet.sides, "hands": hands[-MOST_HANDS:]}
