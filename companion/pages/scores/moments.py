"""What is worth the whole screen for a moment: a coup fourré, and the end of a hand."""

from __future__ import annotations

from dataclasses import dataclass

from companion.match.match import last_result
from companion.pages.context import state
from companion.pages.game import views
from companion.pages.scores import score_sheets
from companion.pages.words import Names, _
from companion.rules.table import COUP_FOURRE_KM


@dataclass(frozen=True, slots=True)
class Moment:
    """What is shown over the whole screen, once on each."""

    key: str
    """The match and its last line: a later one is new."""

    kind: str = ""
    """`coup-fourre` or `arrival`; empty for a line that is worth no such thing."""

    side: int = 0
    title: str = ""
    about: str = ""


def latest() -> Moment | None:
    """Return the moment that the last play of the hand made; None before the first."""
    now = state()
    last, result, table, names = views.last_play(now), last_result(now), now.game.table, Names.of(now.game)
    if last is None or table is None:
        return None
    key, side = str(last["key"]), int(str(last["side"]))
    if table.is_over and result is not None:
        sheet = score_sheets.sheet_view(result, names)
        return Moment(key, "arrival", sheet.lead[0], sheet.headline) if sheet.lead else Moment(key)
    if last["kind"] != "coup-fourre":
        return Moment(key)
    edition = table.edition
    points = edition.points.coup_fourre or COUP_FOURRE_KM * (edition.safeties_count_as_distance == "yes")
    return Moment(key, "coup-fourre", side, _("Coup fourré!"), f"{names.side(now.game.teams[side - 1].name)} +{points}")
