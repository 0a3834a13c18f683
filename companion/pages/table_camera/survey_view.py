"""The latest survey of the picture as the camera page shows it: zones outlined on it, and figures in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from companion.pages import words
from companion.pages.words import Names, _
from companion.tabletop.mat_layout import MatLayout, all_mats
from companion.vision.quality.advice import NO_MATS
from companion.vision.quality.live_survey import Survey
from companion.vision.quality.measure import (
    DARK_WHITE,
    DIM_CONTRAST,
    GLARE_SHARE,
    MOST_BLUR_MODULES,
    SOFT_PX,
    ZoneSight,
)

BLURRED_PX = 2 * MOST_BLUR_MODULES
"""Blur (σ), in pixels, from which only large stickers are read."""

TABLE = "table"


def layout_of(mat: str) -> MatLayout:
    """Return the layout of a printed mat."""
    return next(layout for layout in all_mats() if layout.id == mat)


def sights(survey: Survey, called: Called) -> dict[str, Any]:
    """Return a survey as the camera page shows it."""
    advice = survey.advice
    well = _("All is well: every zone can be read.")
    if advice.is_guessed:
        well = _(
            "All is well as far as cards tell: without mats their stickers are the measure, taken as %(mm)s mm wide.",
            mm=f"{advice.sticker_mm:g}",
        )
    return {
        "size_px": survey.size_px,
        # Drawn zones alone do not tell how large things are.
        "is_measured": advice.smallest_mm is not None,
        "brief": _brief(survey),
        "all_well": well,
        "faces": words.said(advice.faces),
        "todo": [{"say": words.said(hint.say), "is_needed": hint.needed} for hint in advice.hints],
        "outlines": list(_outlines(survey, called)),
        "mats": list(_by_mat(survey, called)),
    }


def without_drawn(survey: Survey) -> Survey:
    """Return a survey without the drawn zones, which were cleared after it was taken."""
    if not survey.drawn:
        return survey
    zones = tuple(zone for zone in survey.advice.zones if zone.zone not in survey.drawn)
    hints = tuple(hint for hint in survey.advice.hints if not hint.zones or set(hint.zones) - set(survey.drawn))
    advice = replace(survey.advice, zones=zones, hints=hints if zones else (NO_MATS,))
    return replace(survey, advice=advice, drawn={})


@dataclass(frozen=True, slots=True)
class Called:
    """How mats and zones are called at this table."""

    names: Names
    mats: Mapping[str, str]
    """The side that plays on each mat."""

    def numbers(self, *seen: str) -> dict[str, int]:
        """Return the number of every zone that the match needs, then those of others that are seen."""
        needed = (f"{mat}/{zone}" for mat in (*self.mats, TABLE) for zone in layout_of(mat).zones)
        return {zone: number for number, zone in enumerate(dict.fromkeys((*needed, *seen)), start=1)}

    def title(self, mat: str) -> str:
        """Return a mat as a heading."""
        return words.side_at(mat, self.names, self.mats) or _("Middle of the table")

    def whole(self, zone: str) -> str:
        """Return a zone with whose it is: `Ann: battle pile`."""
        return words.zone_name(zone, words.side_at(zone, self.names, self.mats))


def _brief(survey: Survey) -> str:
    width, height = survey.size_px
    said = [_("%(width)d × %(height)d pixels", width=width, height=height)]
    if survey.advice.distance_cm is not None:
        said.append(_("about %(cm)d cm away", cm=survey.advice.distance_cm))
    if survey.advice.tilt_deg is not None:
        said.append(_("slant %(degrees)d°", degrees=survey.advice.tilt_deg))
    return " · ".join(said)


def _outlines(survey: Survey, called: Called) -> Iterator[dict[str, object]]:
    """Yield the zones on the picture: corners in pixels as SVG has them, the middle in hundredths of its size."""
    width, height = survey.size_px
    good = {zone.zone: zone.good for zone in survey.advice.zones}
    numbers = called.numbers(*survey.printed, *survey.drawn)
    for zone, quad in {**survey.printed, **survey.drawn}.items():
        x, y = (sum(corner[axis] for corner in quad) / len(quad) for axis in (0, 1))
        yield {
            "number": numbers[zone],
            "points": " ".join(f"{corner[0]:.0f},{corner[1]:.0f}" for corner in quad),
            "at": (round(100 * x / width, 1), round(100 * y / height, 1)),
            "is_drawn": zone in survey.drawn,
            "is_good": good.get(zone, False) is not False,
        }


def _by_mat(survey: Survey, called: Called) -> Iterator[dict[str, object]]:
    """Yield what can be read in each zone, mat by mat."""
    shown = {**survey.printed, **survey.drawn}
    numbers = called.numbers(*shown)
    seen = sorted((zone for zone in survey.advice.zones if zone.zone in shown), key=lambda zone: numbers[zone.zone])
    for mat, zones in groupby(seen, key=lambda zone: zone.zone.partition("/")[0]):
        figures = [
            {
                "number": numbers[zone.zone],
                "name": words.zone_name(zone.zone, None),
                "is_good": zone.good is not False,
                "stickers": _("from %(mm)s mm", mm=f"{zone.smallest_mm:g}") if zone.smallest_mm else _("drawn"),
                "facts": [fact for fact in (_scale(zone), sharpness(zone), light(zone)) if fact],
            }
            for zone in zones
        ]
        yield {"title": called.title(mat), "zones": figures}


def _scale(zone: ZoneSight) -> str:
    if zone.px_per_mm is None:
        return ""
    scale = "–".join(dict.fromkeys(f"{scale:.1f}" for scale in zone.px_per_mm))
    return _("about %(scale)s px/mm", scale=scale) if zone.is_guessed else _("%(scale)s px/mm", scale=scale)


def sharpness(zone: ZoneSight) -> str:
    """Return how sharp a zone is, in a word; empty where no edge shows."""
    if zone.blur_px is None:
        return ""
    if zone.blur_px <= SOFT_PX:
        return _("sharp")
    said = _("a little soft") if zone.blur_px < BLURRED_PX else _("blurred")
    return _("%(soft)s (%(px)s px)", soft=said, px=f"{zone.blur_px:.1f}")


def light(zone: ZoneSight) -> str:
    """Return the light on a zone, in a word or two; empty where there is no paper to measure it on."""
    if zone.glare >= GLARE_SHARE:
        return _("glare on %(share)d %%", share=round(100 * zone.glare))
    if not zone.shows_paper:
        return ""
    if zone.white < DARK_WHITE:
        return _("too dark")
    return _("little contrast") if zone.contrast < DIM_CONTRAST else _("good light")
