"""Compare a place on a located mat with the mat's own print: is it bare, or does something hide it?

The zones of a mat are printed in one color, with ink on it. Light varies smoothly. Where a picture shows neither, an
object hides the print.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from companion.tabletop.mat_layout import MatLayout, Rect
from companion.vision.boxes import Floats, Image, Mask, Pixels, lab, lengths
from companion.vision.ground import bare_mat
from companion.vision.mats.homography import Fit
from companion.vision.opencv import cv2

PX_PER_MM, SMOOTH_PX = 2.0, 1.0  # scale and smoothing σ of rectified pictures
BLACK = 16.0  # offset in Lab's lightness: zero light is at -16


@dataclass(frozen=True)
class GroundLimits:
    """Limits of bare ground, set on the tables of `python -m tests.bench.finished` and `tests.bench.fans`."""

    hue: float = 3.0  # Lab; the palest print of a card differs by at least 3, old paper by less
    rough_hue: float = 10.0  # Lab, in unknown light
    darkest: float = 0.62  # brightness, relative to lit ground
    inked: float = 0.9  # the same, of printed words and their edges
    brightest: float = 1.1  # the same
    lit: float = 80.0  # percentile of lit ground's brightness: over half may be shaded
    plain: float = 25.0  # percentile of changes that noise alone makes: cards have print
    noise: float = 6.0  # the largest change by noise, in that percentile
    most_ink: float = 0.4  # maximum share of a heading that its letters and signs print on
    covered: float = 0.12  # maximum share of a heading that differs from its print
    clipped: float = 97.0  # Lab lightness of ground above which white cannot be distinguished from it
    least_px: int = 4000  # minimum ground pixels to judge others by
    line_mm: float = 2.0  # width of a zone's printed line
    rim_mm: float = 8.0  # width of a zone's rim, usually free of cards
    most: float = 4.0  # maximum log likelihood ratio of a cell, for and against
    filled_mm: float = 4.0  # largest part of an object that looks like print
    cell_mm: float = 3.0  # width of cells that are independent of each other
    beyond_mm: float = 8.0  # width of the margin beyond a zone that cards in it leave free
    solid_mm: float = 12.0  # least width of an object in the margin: no word, arrow or marker is solid so far
    crossing: float = 0.4  # minimum share of that margin, beside a part of a zone, of an object that crosses the rim


LIMITS = GroundLimits()


def softened(flat: Image) -> Pixels:
    """Return a picture `(H, W, 3) uint8 BGR` as smoothed Lab."""
    return np.asarray(cv2.GaussianBlur(lab(flat), (0, 0), SMOOTH_PX), np.float32)


class PrintedGround:
    """A mat from straight above, and where its print is hidden; `PX_PER_MM` pixels a mm."""

    def __init__(self, image: Image, fit: Fit) -> None:
        self.fit = fit
        x, y = cv2.split(fit.grid_px(fit.sheet, 1 / PX_PER_MM))
        self._flat = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        self.picture = softened(self._flat)
        height, width = image.shape[:2]
        self.is_off: Mask = (x < 0) | (y < 0) | (x > width - 1) | (y > height - 1)

    def log_ratio(self, quad_px: Floats) -> float:
        """Return the log likelihood ratio of an object to bare print in a quad `(4, 2)`; 0 outside the zones."""
        inside = self.under([quad_px]) & self.zones(LIMITS.line_mm)
        return float(self.evidence[inside].sum()) / (LIMITS.cell_mm * PX_PER_MM) ** 2

    @cached_property
    def evidence(self) -> Pixels:
        """Each pixel's log likelihood ratio of an object to bare print, `(h, w)`."""
        return self.evidence_beside(self.is_off)

    @property
    def hidden(self) -> Mask:
        """True where an object is likelier than bare print, by the pixels around."""
        return _likely(self.evidence)

    def hidden_beside(self, told: Mask) -> Mask:
        """Return the same, learned beside read cards: True in `told` is one."""
        return _likely(self.evidence_beside(told))

    def crosses_rim(self, strip: Rect, zone: Rect) -> bool:
        """True if what hides a part of a zone goes on beyond the zone's rim, as a cup or an arm does, and no card."""
        rim, wide = LIMITS.rim_mm, LIMITS.beyond_mm
        right, bottom = zone.x_mm + zone.width_mm, zone.y_mm + zone.height_mm
        beside = (
            (strip.y_mm - zone.y_mm, Rect(strip.x_mm, zone.y_mm - wide, strip.width_mm, wide)),
            (bottom - strip.y_mm - strip.height_mm, Rect(strip.x_mm, bottom, strip.width_mm, wide)),
            (strip.x_mm - zone.x_mm, Rect(zone.x_mm - wide, strip.y_mm, wide, strip.height_mm)),
            (right - strip.x_mm - strip.width_mm, Rect(right, strip.y_mm, wide, strip.height_mm)),
        )
        shares = (self._beyond[part(margin)] for gap_mm, margin in beside if gap_mm <= rim)
        return any(share.size and share.mean() >= LIMITS.crossing for share in shares)

    @cached_property
    def _beyond(self) -> Mask:
        """True where an object hides the paper outside the zones."""
        off, shade = _hue_and_brightness(self.picture, self._bare(~self.is_off))
        is_object = ((off > LIMITS.rough_hue) | (shade < LIMITS.darkest)) & ~self.is_off
        solid = np.ones([round(LIMITS.solid_mm * PX_PER_MM)] * 2, np.uint8)
        return cv2.morphologyEx(np.uint8(is_object), cv2.MORPH_OPEN, solid) > 0

    def _bare(self, shown: Mask) -> Pixels:
        """Return the bare mat in this light, `(h, w, 3)` Lab, fitted where the mat is `shown`."""
        half = cv2.resize(self._flat, None, fx=1 / PX_PER_MM, fy=1 / PX_PER_MM, interpolation=cv2.INTER_AREA)
        size = half.shape[1::-1]
        zones, fitted = (cv2.resize(np.uint8(each), size) > 0 for each in (self.zones(0.0), shown & ~self.is_off))
        bare = lab(np.uint8(bare_mat(half, zones, fitted).round()))
        return np.asarray(cv2.resize(bare, self._flat.shape[1::-1], interpolation=cv2.INTER_NEAREST), np.float32)

    def under(self, quads_px: list[Floats]) -> Mask:
        """True under quads `(4, 2)` of the picture."""
        mask = np.zeros(self.is_off.shape, np.uint8)
        for quad in quads_px:
            cv2.fillConvexPoly(mask, np.int32(np.round(self.fit.to_mm(quad) * PX_PER_MM)), 1)
        return mask > 0

    def zones(self, within_mm: float, *names: str) -> Mask:
        """True in the named zones, or all, inside a margin."""
        mask = np.zeros(self.is_off.shape, bool)
        zones = self.fit.layout.zones
        for name in names or zones:
            mask[part(zones[name], within_mm)] = True
        return mask

    def evidence_beside(self, told: Mask) -> Pixels:
        """Return each pixel's log likelihood ratio of an object to bare print, `(h, w)`; `told` are read cards.

        An object has another hue than the ground, is much darker, or brighter. Zero everywhere if too little ground
        is visible, and where the ground is white.
        """
        limits, picture = LIMITS, cv2.GaussianBlur(self.picture, (0, 0), LIMITS.cell_mm * PX_PER_MM / 3)
        ground = self._bare(~told)
        off, shade = _hue_and_brightness(picture, ground)
        is_lit = (shade > limits.darkest) & (shade < 1 / limits.darkest)
        near = self.zones(limits.line_mm) & ~told & (off < limits.hue) & is_lit
        if np.count_nonzero(near) < limits.least_px:
            return np.zeros(told.shape, np.float32)
        lit = np.percentile(shade[near], limits.lit)
        hue, step = self._noise(picture)
        brightest = np.maximum(limits.brightest, 1 + step / np.maximum(ground[..., 0] + BLACK, 1.0))
        dark = limits.darkest * lit / np.maximum(shade, 1e-3)
        unlike = np.maximum(np.maximum(off / max(limits.hue, hue), dark), shade / (brightest * lit))
        ratio = np.clip(unlike**2 - 1, -limits.most, limits.most).astype(np.float32)
        # Printed words and signs prove nothing where most of the ground around them is bare.
        is_ink = shade < limits.inked * lit
        excused = np.where(is_ink, np.minimum(ratio, 0.0), ratio)
        for text, sign in _headings(self.fit.layout):
            excused[part(sign)] = 0.0
            inner = part(text, limits.line_mm)
            beside = ~told[inner]
            differs, inked = (
                np.count_nonzero(each[inner] & beside) for each in (excused > 0, shade < limits.darkest * lit)
            )
            if max(differs / limits.covered, inked / limits.most_ink) <= np.count_nonzero(beside):
                ratio[part(text)] = excused[part(text)]
        ratio[ground[..., 0] * lit > limits.clipped] = 0.0
        return ratio

    def _noise(self, picture: Pixels) -> tuple[float, float]:
        """Return the hue and lightness that bare ground hardly exceeds by noise."""
        rough = (picture - cv2.GaussianBlur(picture, (0, 0), LIMITS.cell_mm * PX_PER_MM))[self.zones(LIMITS.line_mm)]
        hue, step = (np.percentile(each, LIMITS.plain) for each in (lengths(rough[:, 1:]), np.abs(rough[:, 0])))
        return LIMITS.noise * float(hue), LIMITS.noise * float(step)


def _likely(evidence: Pixels) -> Mask:
    """True where an object is likelier by all pixels around; parts of it may look like print."""
    width = round(LIMITS.cell_mm * PX_PER_MM / 2)
    likely = np.uint8(cv2.blur(evidence, (width, width)) > 0)
    filled = round(LIMITS.filled_mm * PX_PER_MM)
    return cv2.morphologyEx(likely, cv2.MORPH_CLOSE, np.ones((filled, filled), np.uint8)) > 0


def _headings(layout: MatLayout) -> Iterator[tuple[Rect, Rect]]:
    """Yield the places of a side's printed words and numbers, and of the colored sign in each."""
    for zone in (layout.zones[name] for name in ("battle", "speed", "safety") if name in layout.zones):
        yield Rect(zone.x_mm, zone.y_mm, zone.width_mm, 26.0), Rect(zone.x_mm + 4, zone.y_mm + 6, 17.0, 17.0)
    for column in layout.columns:
        right = column.x_mm + column.width_mm
        yield Rect(column.x_mm, column.y_mm, column.width_mm, 24.0), Rect(right - 18, column.y_mm + 4, 16.0, 18.0)


def part(rect: Rect, within_mm: float = 0.0) -> tuple[slice, slice]:
    """Return a rectangle's rows and columns in the mat's picture, inside a margin."""
    rim = round(within_mm * PX_PER_MM)
    left, top = round(rect.x_mm * PX_PER_MM), round(rect.y_mm * PX_PER_MM)
    width, height = round(rect.width_mm * PX_PER_MM), round(rect.height_mm * PX_PER_MM)
    return slice(top + rim, top + height - rim), slice(left + rim, left + width - rim)


def _hue_and_brightness(colours: Pixels, ground: Pixels) -> tuple[Pixels, Pixels]:
    """Return the hue difference of colors `(…, 3)` Lab from the ground, and their relative brightness.

    Shadow scales lightness above black and hues by one factor.
    """
    shade = (colours[..., 0] + BLACK) / np.maximum(ground[..., 0] + BLACK, 1.0)
    return lengths(colours[..., 1:] - shade[..., None] * ground[..., 1:]), shade
