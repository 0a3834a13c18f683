"""Rate what can be read in each zone of a picture, and give tips."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from companion.common.text import Said, Term, all_of, say
from companion.tabletop.mat_layout import CARD_MM, TABLE, MatLayout, mat_of
from companion.tabletop.sticker_codes import LARGEST_STICKER_MM, STICKER_MM, STICKER_MODULES
from companion.vision.boxes import Floats, Image
from companion.vision.capture.devices import SIZE_PX
from companion.vision.mats.localization import Mats
from companion.vision.opencv import cv2
from companion.vision.quality import measure
from companion.vision.quality.measure import DARK_WHITE, GLARE_SHARE, MODULE_PX, SOFT_PX, ZoneSight
from companion.vision.stickers.reader import are_mirrored
from companion.vision.view import Quad, View

MILKY = 0.45  # minimum relative contrast; less means a dirty lens or stray light
BLACK_PICTURE = 40.0  # maximum 99th percentile of a black picture's gray levels
TOO_BRIGHT_SHARE = 0.35  # minimum median saturated share of a too bright picture
UNEVEN = 0.45  # minimum ratio of paper levels in two zones
STEEP_DEG = 35.0  # tilt above which the camera should be higher
SMEARED = 1.6  # blur ratio that means motion
TOLD_PX, ASKED_PX = 75, 50
"""Card widths: readable by face from the first on, hardly below the second.

Measured: `docs/how-well-it-reads.md`.
"""


@dataclass(frozen=True, slots=True)
class Tip:
    """One recommendation."""

    code: str
    say: str
    zones: tuple[str, ...] = ()  # zones or mats concerned; none: whole picture
    needed: bool = False  # stickers go unread without it


NO_MATS = Tip(
    "no-mats",
    say("No mat found: lay the printed mats flat so that the camera sees their four corner marks."),
    needed=True,
)


MIRRORED = Tip(
    "mirrored",
    say("The picture is mirrored: turn that off in the camera's app, or tap “Mirror it” under “What the camera sees”."),
    needed=True,
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What can be read on a picture, and tips."""

    size_px: tuple[int, int]
    sticker_mm: float
    zones: tuple[ZoneSight, ...]
    hints: tuple[Tip, ...]  # most important first
    distance_cm: float | None  # camera to the mats' middle, for a usual lens
    tilt_deg: float | None  # angle of view from straight down
    cards: int = 0
    is_sticker_measured: bool = False  # on the picture

    @property
    def smallest_mm(self) -> float | None:
        """Smallest sticker width readable in every zone; None if unknown."""
        smallest = [zone.smallest_mm for zone in self.zones]
        known = [size_mm for size_mm in smallest if size_mm is not None]
        return max(known) if known and len(known) == len(smallest) else None

    @property
    def card_px(self) -> int | None:
        """Minimum card width; None if unknown."""
        scales = [zone.px_per_mm[0] for zone in self.zones if zone.px_per_mm]
        return int(min(scales) * CARD_MM[0]) if scales and len(scales) == len(self.zones) else None

    @property
    def faces(self) -> str:
        """Sentence on cards without stickers; empty if unknown."""
        if self.card_px is None:
            return ""
        told = say("too small to recognize cards without stickers; move the camera closer")
        if self.card_px >= TOLD_PX:
            told = say("large enough to recognize cards without stickers")
        elif self.card_px >= ASKED_PX:
            told = say("the app will often ask about cards without stickers; aim for %(enough)d pixels", enough=TOLD_PX)
        return say("The smallest card is %(px)d pixels wide: %(told)s.", px=self.card_px, told=told)

    @property
    def is_guessed(self) -> bool:
        """True if a zone's scale comes only from stickers."""
        return any(zone.is_guessed for zone in self.zones)

    @property
    def is_drawn(self) -> bool:
        """True if all zones, at least one, are drawn."""
        return bool(self.zones) and self.tilt_deg is None

    @property
    def good(self) -> bool:
        """True if all in play is readable."""
        return self.smallest_mm is not None and not any(hint.needed for hint in self.hints)

    @property
    def verdict(self) -> str:
        """Sentences on readable stickers; empty if unknown."""
        smallest_mm = self.smallest_mm
        if smallest_mm is None:
            return ""
        fine = "large enough" if smallest_mm <= self.sticker_mm else "too small"
        if self.is_guessed:
            read = "1 card was" if self.cards == 1 else f"{self.cards} cards were"
            return (
                f"{read} read. Without mats the stickers tell the scale: if they are {self.sticker_mm:g} mm wide, those"
                f" from {smallest_mm:g} mm can be read in every zone, and yours are {fine}."
            )
        own = "those on the table, about" if self.is_sticker_measured else "the usual ones,"
        return (
            f"Stickers from {smallest_mm:g} mm can be read in every zone:"
            f" {own} {round(self.sticker_mm)} mm wide, are {fine}."
        )

    def as_json(self) -> dict[str, Any]:
        """Return the `setup` part of `read --setup --json`."""
        return {
            "size_px": list(self.size_px),
            **{key: getattr(self, key) for key in _FIGURES},
            "zones": [_zone_json(zone) for zone in self.zones],
            "hints": [
                {"code": hint.code, "say": hint.say, "zones": list(hint.zones), "needed": hint.needed}
                for hint in self.hints
            ],
        }


_FIGURES = ("good", "distance_cm", "tilt_deg", "sticker_mm", "smallest_mm", "cards", "verdict", "card_px", "faces")


def advise(
    pictures: Sequence[Image],
    mats: Mats,
    layouts: Iterable[MatLayout] | None = None,
    *,
    sticker_mm: float | None = None,
    codes: Sequence[Quad] = (),
) -> Advice:
    """Rate one picture, or a few of the same moment, `(H, W, 3) uint8`.

    `mats` are those found, `layouts` those in play (None: those found). `sticker_mm` is the width with quiet zone
    (None: usual). `codes` are corners of codes read; they scale drawn zones.
    """
    grays = [cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) for picture in pictures]
    height, width = grays[0].shape
    wide_mm = sticker_mm or STICKER_MM
    zones = measure.measured(grays, mats.fits, wide_mm, codes)
    cameras = [measure.camera_of(fit, width, height) for fit in mats.printed]
    tilt = round(float(np.median([camera.tilt_deg for camera in cameras]))) if cameras else None
    # Drawn zones replace printed mats, also the table's.
    drawn = {fit.layout.id for fit in mats.fits if not fit.is_measured}
    spared = drawn | {TABLE} if drawn else drawn
    wanted = tuple(layout for layout in layouts or () if layout.id not in spared)
    is_black = float(np.percentile(grays[0], 99)) < BLACK_PICTURE
    scene = _Scene((width, height), mats, wanted, zones, wide_mm, tilt, is_black)
    # needed ones first
    found = [hint for ask in _ASKED for hint in ask(scene)]
    return Advice(
        size_px=(width, height),
        sticker_mm=wide_mm,
        zones=zones,
        hints=tuple(sorted(found, key=lambda hint: not hint.needed)),
        distance_cm=round(float(np.mean([c.distance_mm for c in cameras])) / 10) if cameras else None,
        tilt_deg=tilt,
        cards=len(codes),
        is_sticker_measured=sticker_mm is not None,
    )


def of_reading(pictures: Sequence[Image], mats: Mats, view: View, layouts: Iterable[MatLayout] | None) -> Advice:
    """Rate pictures; stickers read on one give their width. Mirrored mats are read, so only others are reported."""
    codes = [sighting.corners_px for sighting in view.sightings if sighting.card and sighting.corners_px]
    advice = advise(pictures, mats, layouts, sticker_mm=measure.sticker_mm_of(codes, mats), codes=codes)
    if codes or mats.printed or not are_mirrored(cv2.cvtColor(pictures[-1], cv2.COLOR_BGR2GRAY)):
        return advice
    return replace(advice, hints=(MIRRORED, *advice.hints))


def _zone_json(zone: ZoneSight) -> dict[str, Any]:
    return {
        "zone": zone.zone,
        "px_per_mm": [round(scale, 2) for scale in zone.px_per_mm] if zone.px_per_mm else None,
        "blur_px": None if zone.blur_px is None else round(zone.blur_px, 2),
        **{key: round(getattr(zone, key), digits) for key, digits in _DIGITS.items()},
        "smallest_mm": zone.smallest_mm,
        "good": zone.good,
        "guessed": zone.is_guessed,
    }


_DIGITS = {"white": None, "contrast": None, "grain": 1, "saturated": 3, "glare": 3, "dark": 3}


# --- What would help ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    size_px: tuple[int, int]
    mats: Mats
    layouts: tuple[MatLayout, ...]
    zones: tuple[ZoneSight, ...]
    sticker_mm: float
    tilt_deg: float | None
    is_black: bool

    @property
    def lit(self) -> tuple[ZoneSight, ...]:
        """Zones with paper to measure light on."""
        return tuple(zone for zone in self.zones if zone.shows_paper)

    def unread(self) -> tuple[ZoneSight, ...]:
        """Return zones with too small stickers."""
        return tuple(z for z in self.zones if z.smallest_mm is not None and z.smallest_mm > self.sticker_mm)


_ALMOST_BLACK = Tip("dark", say("Add light: the picture is almost black."), needed=True)


def _about_missing_mats(scene: _Scene) -> Iterator[Tip]:
    if not scene.mats.printed and not scene.zones:
        if scene.is_black:
            yield _ALMOST_BLACK
        yield NO_MATS
        return
    found = {fit.layout.id for fit in scene.mats.printed} | {mat_of(zone.zone) for zone in scene.zones}
    missing = tuple(layout.id for layout in scene.layouts if layout.id not in found)
    if missing:
        first, *others = map(_mat_name, missing)
        named = all_of([first.begun(), *others])
        lay = (
            say("%(mats)s were not found: lay them flat in the picture with their corner marks uncovered.", mats=named)
            if others
            else say("%(mat)s was not found: lay it flat in the picture with its corner marks uncovered.", mat=named)
        )
        yield Tip("mat-missing", lay, missing, True)


def _about_mats_cut_off(scene: _Scene) -> Iterator[Tip]:
    for fit in scene.mats.printed:
        where = _beyond(fit.outline_px, scene.size_px)
        if where:
            needed = any(_beyond(fit.quad_px(rect), scene.size_px) for rect in fit.layout.zones.values())
            yield Tip("mat-cut-off", _turn_towards(fit.layout.id, where), (fit.layout.id,), needed)


def _about_covered_marks(scene: _Scene) -> Iterator[Tip]:
    if scene.unread():
        # A better picture may show them.
        return
    for fit in scene.mats.printed:
        seen, there = len(fit.markers), len(fit.layout.markers)
        if seen < 3 and not _beyond(fit.outline_px, scene.size_px):
            uncover = say(
                "Uncover the corner marks of %(mat)s: %(seen)d of %(there)d can be read.",
                mat=_mat_name(fit.layout.id),
                seen=seen,
                there=there,
            )
            yield Tip("marks-covered", uncover, (fit.layout.id,))


def _about_glare(scene: _Scene) -> Iterator[Tip]:
    """Find reflections of a lamp, and light that hides unread print."""
    shining = [zone for zone in scene.zones if zone.glare >= GLARE_SHARE]
    if scene.zones and np.median([zone.saturated for zone in scene.zones]) >= TOO_BRIGHT_SHARE:
        needed = not any(zone.is_read for zone in scene.zones)
        dimmer = say("Dim the light, or lower the camera's exposure: the picture is too bright.")
        yield Tip("too-bright", dimmer, (), needed)
    elif shining:
        worst = max(shining, key=lambda zone: zone.glare)
        turn = say(
            "Turn the lamp away from the camera: its glare hides %(share)d%% of %(zone)s.",
            share=round(100 * worst.glare),
            zone=_zone(worst.zone),
        )
        yield Tip("glare", turn, tuple(z.zone for z in shining), any(not zone.is_read for zone in shining))
    elif faded := tuple(z.zone for z in scene.zones if z.faded >= GLARE_SHARE and not z.is_read):
        dimmer = say("Dim the light, or lower the camera's exposure: %(zones)s is too bright.", zones=_the(faded))
        yield Tip("too-bright", dimmer, faded)


def _about_blur(scene: _Scene) -> Iterator[Tip]:
    soft = [
        zone
        for zone in scene.unread()
        if (zone.blur_px or 0) > SOFT_PX and _module_px(scene, zone) < measure.module_px_for_blur(zone.blur_px)
    ]
    names, worst = tuple(zone.zone for zone in soft), round(max((zone.blur_px or 0.0 for zone in soft), default=0.0), 1)
    if soft and all(zone.smear > SMEARED for zone in soft):
        hold = say("Put the camera on a steady stand and add light: the picture is blurred by movement.")
        yield Tip("shaken", hold, names, True)
    elif 0 < len(soft) < len(scene.zones):
        focus = say("Focus the lens on %(zones)s: edges there are blurred over %(px)s px.", zones=_the(names), px=worst)
        yield Tip("blurred", focus, names, True)
    elif soft:
        clean = say("Clean or focus the lens: edges are blurred over %(px)s px.", px=worst)
        yield Tip("blurred", clean, (), True)


def _about_dark(scene: _Scene) -> Iterator[Tip]:
    if not scene.lit and scene.is_black and scene.zones:
        yield _ALMOST_BLACK
    grainy = [
        zone
        for zone in scene.unread()
        if zone in scene.lit and _module_px(scene, zone) < measure.module_px_for_grain(zone.contrast, zone.grain)
    ]
    milky = [zone for zone in scene.lit if zone.white >= DARK_WHITE and zone.contrast < MILKY * zone.white]
    dark = [zone for zone in scene.lit if zone not in milky and (zone.white < DARK_WHITE or zone in grainy)]
    if milky:
        clean = say("Clean the lens and shade it from the lamp: the picture is hazy, black print looks gray.")
        yield Tip("pale", clean, _unless_all(scene, milky), any(zone in grainy for zone in milky))
    if dark:
        names = _unless_all(scene, dark)
        yield Tip("dark", _lighter(names, is_grainy=bool(grainy)), names, any(zone in grainy for zone in dark))


def _lighter(names: Sequence[str], *, is_grainy: bool) -> Said:
    if names and is_grainy:
        return say("Add light on %(zones)s: the picture is grainy.", zones=_the(names))
    if names:
        return say("Add light on %(zones)s: the picture is dark.", zones=_the(names))
    grainy, dark = say("Add light: the picture is grainy."), say("Add light: the picture is dark.")
    return grainy if is_grainy else dark


def _unless_all(scene: _Scene, zones: Sequence[ZoneSight]) -> tuple[str, ...]:
    """Return the zones' names; none if all."""
    return () if len(zones) == len(scene.lit) else tuple(zone.zone for zone in zones)


def _about_size(scene: _Scene) -> Iterator[Tip]:
    """Find zones where even a sharp, bright picture shows too small stickers."""
    small = [zone for zone in scene.zones if zone.px_per_mm and _module_px(scene, zone) < MODULE_PX]
    if not small:
        return
    worst = min(small, key=lambda zone: _module_px(scene, zone))
    ratio, names = MODULE_PX / _module_px(scene, worst), tuple(zone.zone for zone in small)
    if (scene.tilt_deg or 0) > STEEP_DEG:
        above = say(
            "Move the camera more directly above the table: at a tilt of %(degrees)d°, %(zones)s looks too small.",
            degrees=scene.tilt_deg,
            zones=_zone(worst.zone),
        )
        yield Tip("tilted", above, names, True)
    elif _still_fits(scene, ratio):
        closer_by_mm = (worst.distance_mm or 0.0) * (1 - 1 / ratio)
        cm, told = max(5, 5 * math.ceil(closer_by_mm / 50)), {"mm": scene.sticker_mm, "zones": _the(names)}
        if worst.distance_mm:
            closer = say(
                "Move the camera %(cm)d cm closer: %(mm)g mm stickers are too small on %(zones)s.", cm=cm, **told
            )
        else:
            closer = say("Move the camera closer: %(mm)g mm stickers are too small on %(zones)s.", **told)
        yield Tip("closer", closer, names, True)
    else:
        size_mm = math.ceil(scene.sticker_mm * ratio)
        larger = say(
            "Print larger stickers (%(mm)d mm) or use a camera with a higher resolution: "
            "the table already fills the picture.",
            mm=size_mm,
        )
        if size_mm > LARGEST_STICKER_MM:
            larger = say(
                "Use a camera with a higher resolution, or a smaller table: %(zones)s is too far away for any sticker.",
                zones=_zone(worst.zone),
            )
        yield Tip("larger-stickers", larger, names, True)
    if max(scene.size_px) < SIZE_PX[0]:
        width, height = scene.size_px
        more = say(
            "A camera with 1920 × 1080 pixels sees more: this picture has %(width)d × %(height)d.",
            width=width,
            height=height,
        )
        yield Tip("smaller-picture", more)


def _about_uneven_light(scene: _Scene) -> Iterator[Tip]:
    if len(scene.lit) < 2:
        return
    dim, bright = (of(scene.lit, key=lambda zone: zone.white) for of in (min, max))
    if dim.white < UNEVEN * bright.white:
        evenly = say(
            "Light the table more evenly: %(dim)s gets less than half as much light as %(bright)s.",
            dim=_zone(dim.zone),
            bright=_zone(bright.zone),
        )
        yield Tip("uneven", evenly, (dim.zone,))


def _about_unknown_scale(scene: _Scene) -> Iterator[Tip]:
    unknown = tuple(zone.zone for zone in scene.zones if zone.smallest_mm is None)
    if unknown:
        lay = say(
            "Put a card in each zone and check again: without mats, only cards show whether stickers look large enough."
        )
        yield Tip("no-scale", lay, unknown)


_ASKED: tuple[Callable[[_Scene], Iterator[Tip]], ...] = (
    _about_missing_mats,
    _about_mats_cut_off,
    _about_covered_marks,
    _about_glare,
    _about_blur,
    _about_dark,
    _about_size,
    _about_unknown_scale,
    _about_uneven_light,
)


def _module_px(scene: _Scene, zone: ZoneSight) -> float:
    """Return the zone's minimum pixels per module."""
    return zone.px_per_mm[0] * scene.sticker_mm / STICKER_MODULES if zone.px_per_mm else math.inf


def _still_fits(scene: _Scene, ratio: float) -> bool:
    """True if all mats fit when `ratio` times larger."""
    outlines = [
        [fit.outline_px] if fit.is_measured else [fit.quad_px(rect) for rect in fit.layout.zones.values()]
        for fit in scene.mats.fits
    ]
    corners = np.concatenate([corners for quads in outlines for corners in quads])
    span = (corners.max(axis=0) - corners.min(axis=0)) * ratio
    return bool((span <= scene.size_px).all())


def _beyond(quad: Floats, size_px: tuple[int, int]) -> tuple[str, ...]:
    """Return the picture's edges that a quad crosses: `left`, `right`, `up`, `down`."""
    (left, top), (right, bottom) = quad.min(axis=0), quad.max(axis=0)
    width, height = size_px
    over = {"left": left < -1, "right": right > width, "up": top < -1, "down": bottom > height}
    return tuple(name for name, is_over in over.items() if is_over)


def _turn_towards(mat_id: str, where: tuple[str, ...]) -> Said:
    mat = _mat_name(mat_id).begun()
    if {"left", "right"} <= set(where) or {"up", "down"} <= set(where):
        return say("%(mat)s is partly out of the picture: move the camera farther away.", mat=mat)
    towards = all_of([_DIRECTIONS[name] for name in where])
    return say("%(mat)s is partly out of the picture: turn the camera a little %(where)s.", mat=mat, where=towards)


_DIRECTIONS = {
    "left": say("to its left"),
    "right": say("to its right"),
    "up": say("upwards"),
    "down": say("downwards"),
}


def _mat_name(mat_id: str) -> Term:
    named = "the mat of the table's middle" if mat_id == TABLE else f"the mat of {mat_id.replace('-', ' ')}"
    return Term(named, "mat", mat_id)


def _zone(zone: str) -> Term:
    return Term(zone, "zone", zone)


def _the(zones: Sequence[str]) -> Said:
    mats = dict.fromkeys(map(mat_of, zones))
    return _zone(zones[0]) if len(zones) == 1 else all_of(map(_mat_name, mats))
