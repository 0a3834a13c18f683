"""What a picture allows to be read in each zone, in figures: scale, sharpness, light, and where the camera must be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from companion.tabletop.mat_layout import Rect
from companion.tabletop.sticker_codes import MODULES, STICKER_MODULES
from companion.vision.boxes import Floats, Image, around
from companion.vision.code import centre_of
from companion.vision.mats.drawn import DrawnFit
from companion.vision.mats.homography import Fit, corners_mm
from companion.vision.mats.localization import Mats
from companion.vision.opencv import cv2
from companion.vision.quality.glare import NO_SHINE, SATURATED, Shine, shine_of
from companion.vision.quality.sharpness import Edge, blur_of, grain_of, marker_edge
from companion.vision.stickers.sizes import width_mm
from companion.vision.view import Quad

MODULE_PX = 0.95
"""Pixels a module that the reader needs on a sharp and bright picture, with a little to spare.

`tests/bench/eye.py` measures this and the next two.
"""

MOST_BLUR_MODULES = 1.0
"""Maximum blur (σ) that the reader stands, in modules: softer pictures need larger stickers."""

GRAINY_MODULE_PX, GRAINY_POWER = 6.4, 0.63
"""Pixels a module that the reader needs on a grainy picture: this, times (grain / contrast) to this power."""

SOFT_PX = 1.05
"""Blur (σ) from which on a picture looks soft, in pixels; a webcam in focus makes edges of 0.6 to 1."""

DIM_CONTRAST = 60.0
"""Grey levels between paper and print below which a picture looks dim."""

DARK = 20
"""Grey level up to which a pixel is black in black."""

DARK_WHITE = 80.0
"""Grey level of white paper below which more light is advised, whatever can be read."""

GLARE_SHARE = 0.02
"""Minimum share of a zone under a lamp's reflection that is too much; a sticker covers about as much of it."""

VIEW_DEG = 65.0
"""Angle of view across a usual webcam's picture, in degrees; the camera does not tell it."""


@dataclass(frozen=True, slots=True)
class ZoneSight:
    """What the picture of one zone allows."""

    zone: str
    px_per_mm: tuple[float, float] | None
    """The smallest and the largest scale in it, each the root of what a square millimetre covers; None in a zone that
    was drawn where nothing tells."""

    blur_px: float | None
    """σ of an edge; None where none shows."""

    white: float
    """Grey level of paper."""

    contrast: float
    """Grey levels between paper and print."""

    saturated: float
    """Share of its pixels that are white in white."""

    dark: float
    """Share of its pixels that are black in black."""

    smallest_mm: float | None
    """The smallest sticker, quiet zone included, that can be read everywhere in it."""

    good: bool | None
    """True if the stickers in use can be read everywhere in it; None where its scale is not known."""

    grain: float = 0.0
    """σ of the noise, in grey levels."""

    smear: float = 1.0
    """Ratio of the blur one way to that across it."""

    distance_mm: float | None = None
    """From the camera to its middle."""

    is_guessed: bool = False
    """True if its scale is that of the stickers read, taken to be as wide as is usual."""

    glare: float = 0.0
    """Share of its pixels that a lamp's reflection blots out."""

    faded: float = 0.0
    """Share of its pixels that bright light makes white in white, where no print shows."""

    is_read: bool = False
    """True if a sticker was read in it."""

    shows_paper: bool = True
    """True if there is paper in it to tell the light by: an empty drawn zone is bare table."""


def module_px_needed(blur_px: float | None, contrast: float, grain: float) -> float:
    """Return the pixels a module that the reader needs at a blur (σ in px), a contrast and a grain (grey levels)."""
    return max(MODULE_PX, module_px_for_blur(blur_px), module_px_for_grain(contrast, grain))


def module_px_for_blur(blur_px: float | None) -> float:
    """Return what the blur alone asks for."""
    return (blur_px or 0.0) / MOST_BLUR_MODULES


def module_px_for_grain(contrast: float, grain: float) -> float:
    """Return what contrast and grain alone ask for."""
    return GRAINY_MODULE_PX * (max(grain, 0.1) / max(contrast, 1.0)) ** GRAINY_POWER


def sticker_mm_of(quads: Iterable[Quad], mats: Mats) -> float | None:
    """Return the width of the stickers on a picture, by the codes read on mats, to half a millimetre; None without."""
    found = ((quad, fit) for quad in quads for fit in mats.fits if fit.is_measured and fit.holds(centre_of(quad)))
    widths = [width_mm(quad, fit) for quad, fit in found]
    return round(float(np.median(widths)) * 2) / 2 if widths else None


# --- Measuring ------------------------------------------------------------------------------------------------


def measured(
    grays: Sequence[Image], fits: Sequence[Fit], sticker_mm: float, codes: Sequence[Quad] = ()
) -> tuple[ZoneSight, ...]:
    """Return every zone of the mats found, printed or drawn, on the picture `(H, W)` that is the median for it.

    `codes` are the corners of the codes that were read: in drawn zones they tell the scale.
    """
    seen = [[zone for fit in fits for zone in _zones(gray, fit, sticker_mm, codes)] for gray in grays]
    return tuple(
        sorted(same, key=lambda zone: (zone.smallest_mm or 0.0, zone.glare, zone.saturated))[len(same) // 2]
        for same in zip(*seen, strict=True)
    )


def _zones(gray: Image, fit: Fit, sticker_mm: float, codes: Sequence[Quad]) -> Iterator[ZoneSight]:
    if isinstance(fit, DrawnFit):
        return _drawn_zones(gray, fit, sticker_mm, codes)
    return _mat_zones(gray, fit, sticker_mm, codes)


def _mat_zones(gray: Image, fit: Fit, sticker_mm: float, codes: Sequence[Quad]) -> Iterator[ZoneSight]:
    read_in = {fit.zone_at(centre_of(code)) for code in codes}
    edges = [edge for corners in fit.markers.values() if (edge := marker_edge(gray, corners))]
    camera = camera_of(fit, gray.shape[1], gray.shape[0])
    for name, rect in fit.layout.zones.items():
        light = _Light.of(gray, fit.quad_px(rect))
        scales = _scales(fit, rect)
        blur, smear, white, contrast = _sharpness(edges, fit.to_px([rect.centre_mm])[0], light)
        smallest = _smallest_mm(min(scales), module_px_needed(blur, contrast, light.grain))
        yield ZoneSight(
            zone=f"{fit.layout.id}/{name}",
            px_per_mm=(min(scales), max(scales)),
            blur_px=blur,
            white=white,
            contrast=contrast,
            saturated=light.saturated,
            dark=light.dark,
            smallest_mm=smallest,
            good=smallest <= sticker_mm and light.shine.glare < GLARE_SHARE,
            grain=light.grain,
            smear=smear,
            distance_mm=camera.distance_to(rect.centre_mm),
            glare=light.shine.glare,
            faded=light.shine.faded,
            is_read=f"{fit.layout.id}/{name}" in read_in,
        )


def _drawn_zones(gray: Image, fit: DrawnFit, sticker_mm: float, codes: Sequence[Quad]) -> Iterator[ZoneSight]:
    """Measure drawn zones: their scale was measured by somebody, or follows from the codes read there or nearby."""
    in_zone = [fit.zone_at(centre_of(code)) for code in codes]
    code_mm = sticker_mm * MODULES / STICKER_MODULES
    for name, rect in fit.layout.zones.items():
        zone, light = f"{fit.layout.id}/{name}", _Light.of(gray, fit.quad_px(rect))
        here = [code for code, where in zip(codes, in_zone, strict=True) if where == zone]
        near = here or [code for code, where in zip(codes, in_zone, strict=True) if where] or codes
        told = [float(cv2.contourArea(np.array(code, np.float32))) ** 0.5 / code_mm for code in near]
        scales = _scales(fit, rect) if fit.is_scaled else told
        paper = bool(here) or light.range >= DIM_CONTRAST
        needed = module_px_needed(light.blur_px, *((light.range, light.grain) if paper else (math.inf, 0.0)))
        smallest = _smallest_mm(min(scales), needed) if scales else None
        well_lit = light.shine.glare < GLARE_SHARE and (not paper or light.white >= DARK_WHITE)
        yield ZoneSight(
            zone=zone,
            px_per_mm=(min(scales), max(scales)) if scales else None,
            blur_px=light.blur_px,
            white=light.white,
            contrast=light.range,
            saturated=light.saturated,
            dark=light.dark,
            smallest_mm=smallest,
            good=well_lit and (None if smallest is None else smallest <= sticker_mm),
            grain=light.grain,
            is_guessed=bool(scales) and not fit.is_scaled,
            glare=light.shine.glare,
            faded=light.shine.faded,
            is_read=bool(here),
            shows_paper=paper,
        )


@dataclass(frozen=True, slots=True)
class _Light:
    """What the pixels of a zone say by themselves."""

    white: float
    range: float
    saturated: float
    dark: float
    grain: float
    blur_px: float | None
    shine: Shine = NO_SHINE

    @classmethod
    def of(cls, gray: Image, quad: Floats) -> _Light:
        box = around(quad).within(gray.shape[1], gray.shape[0])
        part = np.ascontiguousarray(box.of(gray))
        mask = np.zeros(part.shape, np.uint8)
        if mask.size:
            cv2.fillConvexPoly(mask, np.int32(np.round(quad - (box.left, box.top))), 1)
        inside = part[mask > 0]
        if not inside.size:
            return cls(0.0, 0.0, 0.0, 0.0, 0.0, None)
        low, high = (float(level) for level in np.percentile(inside, (2, 95)))
        shares = float((inside >= SATURATED).mean()), float((inside <= DARK).mean())
        return cls(high, high - low, *shares, grain_of(part), blur_of(part), shine_of(gray, quad))


def _sharpness(edges: Sequence[Edge], at_px: Floats, light: _Light) -> tuple[float | None, float, float, float]:
    """Return blur, smear, paper and contrast at a place: its mat's markers weighted by how near they are."""
    if not edges:
        return light.blur_px, 1.0, light.white, light.range
    apart = np.array([math.dist(edge.middle_px, at_px) for edge in edges])
    weights = 1 / (apart + 1) ** 2
    across, along, white, black = np.average(
        [(*edge.blur_px, edge.white, edge.black) for edge in edges], axis=0, weights=weights
    )
    blur, other = max(across, along), min(across, along)
    return float(blur), float(blur / max(other, 0.3)), float(white), float(white - black)


def _scales(fit: Fit, rect: Rect) -> list[float]:
    """Return the scale at nine places of a zone, in px/mm."""
    xs = np.linspace(rect.x_mm, rect.x_mm + rect.width_mm, 3)
    ys = np.linspace(rect.y_mm, rect.y_mm + rect.height_mm, 3)
    return [float(scale) for scale in fit.scales([(x, y) for x in xs for y in ys])]


def _smallest_mm(px_per_mm: float, module_px: float) -> float:
    """Return the width of the smallest sticker, rounded up to half a millimetre: what can be bought and cut."""
    return math.ceil(2 * STICKER_MODULES * module_px / px_per_mm - 1e-6) / 2


# --- Where the camera is --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """Where a camera with a usual lens must be to see a mat like this, in millimetres of the mat."""

    at_mm: Floats
    distance_mm: float
    tilt_deg: float

    def distance_to(self, point_mm: tuple[float, float]) -> float:
        """Return how far a point of the mat is from it."""
        return float(np.linalg.norm(self.at_mm - (*point_mm, 0.0)))


def camera_of(fit: Fit, width_px: int, height_px: int) -> Camera:
    """Return where the camera must be, from how a mat looks on a picture of that size."""
    mm = corners_mm(Rect(0.0, 0.0, *fit.layout.size_mm))
    matrix = cv2.getPerspectiveTransform(mm.astype(np.float32), fit.to_px(mm).astype(np.float32))
    focal = max(width_px, height_px) / 2 / math.tan(math.radians(VIEW_DEG / 2))
    lens = np.array([[focal, 0, width_px / 2 - 0.5], [0, focal, height_px / 2 - 0.5], [0, 0, 1]])
    right, down, shift = (np.linalg.inv(lens) @ matrix).T
    size = (np.linalg.norm(right) + np.linalg.norm(down)) / 2
    u, _, vt = np.linalg.svd(np.column_stack((right, down, np.cross(right, down) / size)) / size)
    turn = u @ vt
    at = -turn.T @ shift / size
    middle = (*(side / 2 for side in fit.layout.size_mm), 0.0)
    return Camera(at, float(np.linalg.norm(at - middle)), math.degrees(math.acos(min(1.0, abs(turn[2, 2])))))
