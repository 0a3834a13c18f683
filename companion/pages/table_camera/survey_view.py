"""What the camera page says of the latest picture: the zones on it, and figures in words. Plain values, no markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from companion.common.text import Said, Term
from companion.pages import language, words
from companion.pages.words import Names, _
from companion.tabletop.mat_layout import MatLayout, side_mat, table_mat
from companion.vision.quality.advice import NO_MATS
from companion.vision.quality.live_survey import Survey
from companion.vision.quality.measure import (
    DARK_WHITE,
    GLARE_SHARE,
    MOST_BLUR_MODULES,
    SOFT_PX,
    ZoneSight,
)
from companion.vision.quality.sharpness import DIM_CONTRAST

BLURRED_PX = 2 * MOST_BLUR_MODULES
"""From this blur (σ) on nothing but large stickers is read."""

TABLE = "table"


def layout_of(mat: str) -> MatLayout:
    """The printed mat of a side, or the table's."""
    return table_mat() if mat == TABLE else side_mat(int(mat.removeprefix("side-")))


@dataclass(frozen=True, slots=True)
class Outline:
    """A zone on the picture."""

    number: int
    """As it stands in the list beside the picture."""

    points: str
    """Its corners in pixels, as SVG has them."""

    at: tuple[float, float]
    """Its middle, in hundredths of the picture's width and height."""

    is_drawn: bool
    is_good: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """What can be read in a zone."""

    number: int
    name: str
    is_good: bool
    stickers: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatFigures:
    """The zones of a side, or of the table's middle."""

    title: str
    zones: tuple[Figures, ...]


@dataclass(frozen=True, slots=True)
class ToDo:
    """Something that would help."""

    say: str
    is_needed: bool


@dataclass(frozen=True, slots=True)
class Sights:
    """The camera page."""

    size_px: tuple[int, int]
    is_measured: bool
    """How large things are is known, which drawn zones do not tell by themselves."""

    brief: str
    all_well: str
    """What is said where nothing is to be done."""

    faces: str
    """Whether cards without stickers are large enough; nothing where that is not known."""

    todo: tuple[ToDo, ...]
    outlines: tuple[Outline, ...]
    mats: tuple[MatFigures, ...]


def sights(survey: Survey, names: Names, mats: Mapping[str, str]) -> Sights:
    """A survey in words; `mats` says which side plays on which mat."""
    advice, called = survey.advice, Called(names, mats)
    well = _("All is well: every zone can be read.")
    if advice.is_guessed:
        well = _(
            "All is well as far as cards tell: without mats their stickers are the measure, taken as %(mm)s mm wide.",
            mm=f"{advice.sticker_mm:g}",
        )
    return Sights(
        size_px=survey.size_px,
        is_measured=advice.smallest_mm is not None,
        brief=_brief(survey),
        all_well=well,
        faces=words.said(advice.faces),
        todo=tuple(ToDo(called.in_sentence(hint.say), hint.needed) for hint in advice.hints),
        outlines=tuple(_outlines(survey, called)),
        mats=tuple(_by_mat(survey, called)),
    )


def without_drawn(survey: Survey) -> Survey:
    """A survey taken while zones were drawn, without what it says of them: they are gone, and no picture came since."""
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

    def numbers(self, *seen: str) -> dict[str, int]:
        """The number of every zone that the match needs, the same on every page; others that are seen come after."""
        needed = (f"{mat}/{zone}" for mat in (*self.mats, TABLE) for zone in layout_of(mat).zones)
        return {zone: number for number, zone in enumerate(dict.fromkeys((*needed, *seen)), start=1)}

    def side(self, mat: str) -> str | None:
        """The side that plays on a mat, None for the table's."""
        if mat == TABLE:
            return None
        side = self.mats.get(mat)
        return self.names.side(side) if side else _("Side %(number)s", number=mat.removeprefix("side-"))

    def title(self, mat: str) -> str:
        """A mat as a heading."""
        return self.side(mat) or _("Middle of the table")

    def zone(self, zone: str) -> str:
        """A zone by itself: `Battle pile`."""
        return words.zone_name(zone, None)

    def whole(self, zone: str) -> str:
        """A zone with whose it is: `Ann: battle pile`."""
        return words.zone_name(zone, self.side(zone.partition("/")[0]))

    def in_sentence(self, sentence: str) -> str:
        """A sentence with the mats and zones called as they are at this table."""
        return language.said_here(sentence, self._named) if isinstance(sentence, Said) else sentence

    def _named(self, term: Term) -> str | None:
        if term.kind == "zone":
            return words.zone_in_sentence(term.key, self.side(term.key.partition("/")[0]))
        if term.kind == "mat":
            side = self.side(term.key)
            return _("%(who)s’s mat", who=side) if side else _("the mat of the table’s middle")
        if term.kind == "side":
            return self.side(term.key) or _("the middle of the table")
        return None


def _brief(survey: Survey) -> str:
    width, height = survey.size_px
    said = [_("%(width)d × %(height)d pixels", width=width, height=height)]
    if survey.advice.distance_cm is not None:
        said.append(_("about %(cm)d cm away", cm=survey.advice.distance_cm))
    if survey.advice.tilt_deg is not None:
        said.append(_("slant %(degrees)d°", degrees=survey.advice.tilt_deg))
    return " · ".join(said)


def _outlines(survey: Survey, called: Called) -> Iterator[Outline]:
    width, height = survey.size_px
    good = {zone.zone: zone.good for zone in survey.advice.zones}
    numbers = called.numbers(*survey.printed, *survey.drawn)
    for zone, quad in {**survey.printed, **survey.drawn}.items():
        x, y = (sum(corner[axis] for corner in quad) / len(quad) for axis in (0, 1))
        yield Outline(
            number=numbers[zone],
            points=" ".join(f"{corner[0]:.0f},{corner[1]:.0f}" for corner in quad),
            at=(round(100 * x / width, 1), round(100 * y / height, 1)),
            is_drawn=zone in survey.drawn,
            is_good=good.get(zone, False) is not False,
        )


def _by_mat(survey: Survey, called: Called) -> Iterator[MatFigures]:
    shown = {**survey.printed, **survey.drawn}
    numbers = called.numbers(*shown)
    seen = sorted((zone for zone in survey.advice.zones if zone.zone in shown), key=lambda zone: numbers[zone.zone])
    for mat, zones in groupby(seen, key=lambda zone: zone.zone.partition("/")[0]):
        yield MatFigures(called.title(mat), tuple(_figures(numbers[z.zone], z, called) for z in zones))


def _figures(number: int, zone: ZoneSight, called: Called) -> Figures:
    smallest = zone.smallest_mm
    return Figures(
        number=number,
        name=called.zone(zone.zone),
        is_good=zone.good is not False,
        stickers=_("from %(mm)s mm", mm=f"{smallest:g}") if smallest else _("drawn"),
        facts=tuple(fact for fact in (_scale(zone), sharpness(zone), light(zone)) if fact),
    )


def _scale(zone: ZoneSight) -> str:
    if zone.px_per_mm is None:
        return ""
    scale = "–".join(dict.fromkeys(f"{scale:.1f}" for scale in zone.px_per_mm))
    return _("about %(scale)s px/mm", scale=scale) if zone.is_guessed else _("%(scale)s px/mm", scale=scale)


def sharpness(zone: ZoneSight) -> str:
    """How sharp a zone is, in a word; nothing where no edge shows."""
    if zone.blur_px is None:
        return ""
    if zone.blur_px <= SOFT_PX:
        return _("sharp")
    said = _("a little soft") if zone.blur_px < BLURRED_PX else _("blurred")
    return _("%(soft)s (%(px)s px)", soft=said, px=f"{zone.blur_px:.1f}")


def light(zone: ZoneSight) -> str:
    """The light on a zone, in a word or two; nothing where there is no paper to tell it by."""
    if zone.glare >= GLARE_SHARE:
        return _("glare on %(share)d %%", share=round(100 * zone.glare))
    if not zone.shows_paper:
        return ""
    if zone.white < DARK_WHITE:
        return _("too dark")
    return _("little contrast") if zone.contrast < DIM_CONTRAST else _("good light")
