"""Measure zones: scale, sharpness, light, camera position."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from companion.tabletop.mat_layout import Rect
from companion.tabletop.sticker_codes import MODULES, STICKER_MODULES
from companion.vision.boxes import Floats, Image, around, cut_out
from companion.vision.mats.homography import Fit, corners_mm
from companion.vision.mats.localization import Mats
from companion.vision.opencv import cv2
from companion.vision.quality.glare import SATURATED, shine_of
from companion.vision.quality.sharpness import Edge, blur_of, grain_of, marker_edge
from companion.vision.stickers.code_plane import width_mm
from companion.vision.view import Quad, centre_of

MODULE_PX = 0.95
"""Pixels per module needed on a sharp, bright picture, with a margin.

Measured like the next two by `tests/bench/eye.py`.
"""

MOST_BLUR_MODULES = 1.0  # maximum blur (σ) in modules
GRAINY_MODULE_PX, GRAINY_POWER = 6.4, 0.63
"""Pixels per module needed on a grainy picture: a · (grain / contrast) ^ b."""

SOFT_PX = 1.05  # minimum blur (σ) of a soft picture; a focused webcam has 0.6 to 1
DIM_CONTRAST = 60.0  # dim below that
DARK = 20  # maximum level of a black pixel
DARK_WHITE = 80.0  # paper level; advise more light below that
GLARE_SHARE = 0.02  # maximum share under a reflection, about one sticker
VIEW_DEG = 65.0  # usual angle of view; cameras do not report theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneLight:
    """Light and sharpness of a zone, by pixels and markers."""

    white: float  # level of paper
    contrast: float  # between paper and print, in levels
    saturated: float
    dark: float
    blur_px: float | None  # σ of edges, if any
    smear: float = 1.0  # blur ratio of two directions
    grain: float = 0.0  # σ of noise, in levels
    glare: float = 0.0  # share under a reflection
    faded: float = 0.0  # share too bright for print


@dataclass(frozen=True, slots=True)
class ZoneSight(ZoneLight):
    """What can be read in one zone."""

    zone: str
    px_per_mm: tuple[float, float] | None
    """Smallest and largest scale, √(area of 1 mm²); None if unknown."""

    smallest_mm: float | None  # readable everywhere, width with quiet zone
    good: bool | None  # stickers in use are readable; None if unknown
    distance_mm: float | None = None  # camera to center; None if drawn
    is_guessed: bool = False  # scale comes from stickers of assumed size
    is_read: bool = False  # a sticker was read in it
    shows_paper: bool = True  # paper to measure light on


def module_px_needed(blur_px: float | None, contrast: float, grain: float) -> float:
    """Return pixels per module needed at a blur (σ in px), contrast and grain (levels)."""
    return max(MODULE_PX, module_px_for_blur(blur_px), module_px_for_grain(contrast, grain))


def module_px_for_blur(blur_px: float | None) -> float:
    """Return pixels per module needed for blur alone."""
    return (blur_px or 0.0) / MOST_BLUR_MODULES


def module_px_for_grain(contrast: float, grain: float) -> float:
    """Return pixels per module needed for grain alone."""
    return GRAINY_MODULE_PX * (max(grain, 0.1) / max(contrast, 1.0)) ** GRAINY_POWER


def sticker_mm_of(quads: Iterable[Quad], mats: Mats) -> float | None:
    """Return the median width of stickers read on mats, to 0.5 mm, or None."""
    found = ((quad, fit) for quad in quads for fit in mats.printed if fit.holds(centre_of(quad)))
    widths = [width_mm(quad, fit) for quad, fit in found]
    return round(float(np.median(widths)) * 2) / 2 if widths else None


# --- Measuring ------------------------------------------------------------------------------------------------


def measured(
    grays: Sequence[Image], fits: Sequence[Fit], sticker_mm: float, codes: Sequence[Quad] = ()
) -> tuple[ZoneSight, ...]:
    """Return the median measurements of each zone, printed or drawn, on gray pictures `(H, W)`.

    `codes` are corners of codes read, which scale drawn zones.
    """
    seen = [[zone for fit in fits for zone in _zones(gray, fit, sticker_mm, codes)] for gray in grays]
    return tuple(
        sorted(same, key=lambda zone: (zone.smallest_mm or 0.0, zone.glare, zone.saturated))[len(same) // 2]
        for same in zip(*seen, strict=True)
    )


def _zones(gray: Image, fit: Fit, sticker_mm: float, codes: Sequence[Quad]) -> Iterator[ZoneSight]:
    """Measure a mat's zones; codes nearby may scale drawn ones."""
    is_drawn = not fit.is_measured
    in_zone = [fit.zone_at(centre_of(code)) for code in codes]
    code_mm = sticker_mm * MODULES / STICKER_MODULES
    edges = [edge for corners in fit.markers.values() if (edge := marker_edge(gray, corners))]
    camera = None if is_drawn else camera_of(fit, gray.shape[1], gray.shape[0])
    for name, rect in fit.layout.zones.items():
        zone, light = f"{fit.layout.id}/{name}", _light_of(gray, fit.quad_px(rect))
        light = _by_edges(light, edges, fit.to_px([rect.centre_mm])[0])
        here = [code for code, where in zip(codes, in_zone, strict=True) if where == zone]
        near = here or [code for code, where in zip(codes, in_zone, strict=True) if where] or codes
        told = [float(cv2.contourArea(np.array(code, np.float32))) ** 0.5 / code_mm for code in near]
        scales = _scales(fit, rect) if fit.is_scaled else told
        paper = not is_drawn or bool(here) or light.contrast >= DIM_CONTRAST
        needed = module_px_needed(light.blur_px, *((light.contrast, light.grain) if paper else (math.inf, 0.0)))
        # Round up to half a millimeter, as sold.
        smallest = math.ceil(2 * STICKER_MODULES * needed / min(scales) - 1e-6) / 2 if scales else None
        well_lit = light.glare < GLARE_SHARE and not (is_drawn and paper and light.white < DARK_WHITE)
        yield ZoneSight(
            zone,
            (min(scales), max(scales)) if scales else None,
            smallest,
            well_lit and (None if smallest is None else smallest <= sticker_mm),
            camera and float(np.linalg.norm(camera.at_mm - (*rect.centre_mm, 0.0))),
            is_guessed=bool(scales) and not fit.is_scaled,
            is_read=bool(here),
            shows_paper=paper,
            **asdict(light),
        )


def _light_of(gray: Image, quad: Floats) -> ZoneLight:
    part, in_zone = cut_out(gray, quad, around(quad).within(gray.shape[1], gray.shape[0]))
    inside = part[in_zone]
    if not inside.size:
        return ZoneLight(white=0.0, contrast=0.0, saturated=0.0, dark=0.0, blur_px=None)
    low, high = (float(level) for level in np.percentile(inside, (2, 95)))
    glare, faded = shine_of(gray, quad)
    return ZoneLight(
        white=high,
        contrast=high - low,
        saturated=float((inside >= SATURATED).mean()),
        dark=float((inside <= DARK).mean()),
        blur_px=blur_of(part),
        grain=grain_of(part),
        glare=glare,
        faded=faded,
    )


def _by_edges(light: ZoneLight, edges: Sequence[Edge], at_px: Floats) -> ZoneLight:
    """Take blur, paper and contrast from markers, weighted by proximity."""
    if not edges:
        return light
    weights = [1 / (math.dist(edge.middle_px, at_px) + 1) ** 2 for edge in edges]
    across, along, white, black = np.average(
        [(*edge.blur_px, edge.white, edge.black) for edge in edges], axis=0, weights=weights
    )
    blur, other = max(across, along), min(across, along)
    smear = float(blur / max(other, 0.3))
    return replace(light, blur_px=float(blur), smear=smear, white=float(white), contrast=float(white - black))


def _scales(fit: Fit, rect: Rect) -> list[float]:
    """Return px/mm at nine points of a zone."""
    xs = np.linspace(rect.x_mm, rect.x_mm + rect.width_mm, 3)
    ys = np.linspace(rect.y_mm, rect.y_mm + rect.height_mm, 3)
    return [float(scale) for scale in fit.scales([(x, y) for x in xs for y in ys])]


# --- Where the camera is --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Viewpoint:
    """Camera position: mat coordinates, distance from the mat's center, tilt from straight down."""

    at_mm: Floats
    distance_mm: float
    tilt_deg: float


def camera_of(fit: Fit, width_px: int, height_px: int) -> Viewpoint:
    """Estimate the camera's position by a mat's shape on the picture."""
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
    return Viewpoint(at, float(np.linalg.norm(at - middle)), math.degrees(math.acos(min(1.0, abs(turn[2, 2])))))
