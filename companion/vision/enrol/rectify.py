"""Rectify a picture of one card, a scan or a photograph: the card alone, upright, from straight above."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from companion.common.text import Said, say
from companion.vision.boxes import Floats, Image, Mask, Pixels, Size, lab, shrunk
from companion.vision.enrol.card_outline import SURE_EDGE, SURE_ODD, Outline, outlines
from companion.vision.enrol.printed_frames import to_pixels
from companion.vision.mats.homography import Fit, through
from companion.vision.mats.localization import Mats, look
from companion.vision.opencv import cv2
from companion.vision.quality.glare import ON_CARDS, reflections_on
from companion.vision.quality.sharpness import blur_of

PX_PER_MM = 6.0  # scale of saved pictures
LEAST_WIDTH_PX = 100  # minimum width of a card
LARGE_PX = 1600  # longer side of reduced pictures; exact 3 : 2 at this size is a camera's
_LEAST_SEEN_PX = 20  # minimum shorter side after reduction
_RIM_PX = 8  # border to find a cut-off card

_SAME_COLOURS = 1.5  # maximum Lab difference of edges and middle of bare ground
_SAME_GROUND = 18.0  # maximum Lab difference within one ground in uneven light
_PLAIN = 8.0  # maximum variation of plain ground in gray levels
_TILT_DEG = 26.0  # camera tilt above which an uncertain outline is TILTED
_CLEAR_SIDES = 0.7  # minimum support and step to judge the tilt
_FOCAL = 0.9  # a phone's focal length in longer picture sides

_MOST_BLUR_MM = 0.5  # maximum σ of the sharpest edges
_PAPER_MM = (6.0, 30.0)  # distance range of the mat's paper that shows the light's color


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """Limits that distinguish a scan of only the card from a photograph. Source: rendered pictures of ten decks.

    Cards photographed on a table have an oddity of up to 0.004, of up to 0.02 in cropped pictures; frames that scans
    show have 0.000 to 0.09 and are turned by up to 0.3°.
    """

    most_off: float = 0.015  # log ratio of the picture's proportions to the card's
    least_share: float = 0.25  # share of the picture that an outline covers to be judged as a frame
    least_step: float = 0.9  # `Outline.step` of a card
    parallel_deg: float = 0.4  # turn up to which an outline is a printed frame
    least_width_px: float = 150.0  # width from which a turn is measured well enough
    odd_per_deg: float = 0.0125  # oddity allowed for a card per degree beyond that


SCAN = ScanLimits()


_ON_CARD = say("on the card")
_PLACES = (
    (say("in the upper left of the card"), say("at the top of the card"), say("in the upper right of the card")),
    (say("on the left of the card"), say("in the middle of the card"), say("on the right of the card")),
    (say("in the lower left of the card"), say("at the bottom of the card"), say("in the lower right of the card")),
)  # as seen in the picture, in thirds


class PictureFault(Enum):
    """Why a picture cannot be used, as a message without a full stop."""

    NO_CARD = say("no card found: put one whole card in the picture, on a plain surface of another color")
    LOW_CONTRAST = say("the card barely stands out: put it on something darker or of another color")
    UNCLEAR = say("the card's edge is unclear: put it on a plain surface of another color than its edge")
    NOT_WHOLE = say("the card is cut off at the edge of the picture: move the camera a little farther away")
    SEVERAL = say("there are several cards in the picture: put down just one, or at least three in rows with gaps")
    TOO_SMALL = say("the card is too small, less than %(px)d pixels wide: move closer", px=LEAST_WIDTH_PX)
    NOT_SHARP = say("the picture is not sharp: hold the camera still, not too close, in better light")
    REFLECTION = say("a lamp is reflected %(where)s: tilt the card or move the lamp", where=_ON_CARD)
    TILTED = say("the picture was taken at an angle: hold the phone straight above the cards")


@dataclass(frozen=True, slots=True, eq=False)
class Rectified:
    """The card found in a picture, and its fault."""

    picture: Image | None  # the card alone, `(h, w, 3) uint8 BGR` at `PX_PER_MM`; None if not found
    fault: PictureFault | None = None
    corners: Floats | None = None  # `(4, 2)` picture px, clockwise from the card's upper left
    is_scan: bool = False  # the whole picture is taken as the card
    reflections: tuple[Floats, ...] = ()
    """Outlines of a lamp's reflections on print, `(n, 2)` picture px, largest first; also of those no fault."""

    @property
    def sentence(self) -> str:
        """The fault and where it is, without a full stop, or empty."""
        if self.fault is PictureFault.REFLECTION:
            return Said(self.fault.value.pattern, where=self._where)
        return self.fault.value if self.fault else ""

    @property
    def note(self) -> str:
        """What to check on a usable picture, without a full stop, or empty."""
        return kept_with_reflection(self._where) if self.reflections and self.fault is None else ""

    @property
    def _where(self) -> Said:
        if self.corners is None or not self.reflections:
            return _ON_CARD
        low, high = self.corners.min(axis=0), self.corners.max(axis=0)
        column, row = np.clip(3 * (self.reflections[0].mean(axis=0) - low) / (high - low), 0, 2).astype(int)
        return _PLACES[row][column]


def kept_with_reflection(where: Said) -> Said:
    """Return a note on usable pictures with a lamp's reflection, without a full stop."""
    return say("kept, but a lamp is reflected %(where)s: if that hides print, take the picture again", where=where)


def rectified(image: Image, size_mm: Size) -> Rectified:
    """Return the card of this size in a picture `(H, W, 3) uint8 BGR`, or its fault."""
    shrink = min(1.0, LARGE_PX / max(image.shape[:2]))
    seen = shrunk(image, shrink)
    if min(seen.shape[:2]) < _LEAST_SEEN_PX:
        return Rectified(None, PictureFault.TOO_SMALL)
    mats = look(cv2.cvtColor(seen, cv2.COLOR_BGR2GRAY), Mats(), 0.0)
    fit = max(mats.printed, key=lambda fit: len(fit.markers), default=None)
    found = outlines(seen, size_mm, fit)
    if _fills(image, size_mm, found, seen):
        return judged(image, _edges_of(image, size_mm), size_mm, is_whole=True)
    best = found[0] if found else None
    is_unsure = best is not None and not best.is_sure and min(best.support, best.step) >= _CLEAR_SIDES
    if best is not None and is_unsure and tilt_deg(best.corners, seen, size_mm) > _TILT_DEG:
        return Rectified(None, PictureFault.TILTED)
    if _are_several(found):
        return Rectified(None, PictureFault.SEVERAL)
    if best is None or not best.is_sure:
        is_unclear = best is not None and best.is_doubtful
        return Rectified(None, PictureFault.UNCLEAR if is_unclear else _why_not(seen, found, size_mm))
    light = _light_on(seen, fit, best) if fit else None
    return judged(image, (best.corners + 0.5) / shrink - 0.5, size_mm, light)


# --- Where the card is ----------------------------------------------------------------------------------------


def _fills(image: Image, size_mm: Size, found: list[Outline], seen: Image) -> bool:
    """True if a picture is a scan: it has the card's proportions, and no outline inside explains it better."""
    height, width = image.shape[:2]
    off = min(_shape_off(width, height, size_mm), _shape_off(height, width, size_mm))
    return off < SCAN.most_off and not _is_bare(seen) and not (found and _is_card_in(seen, found[0], size_mm))


def _is_card_in(image: Image, outline: Outline, size_mm: Size) -> bool:
    """True if an outline is a card's and no printed frame's.

    A scan's frames are parallel to its edges, and the strips around them change their proportions.
    """
    if _lies_in_a_half(outline, image):
        return True
    if outline.area_px < SCAN.least_share * image.shape[0] * image.shape[1]:
        return _lies_on_ground(image, outline, size_mm)
    is_clear = outline.support >= SURE_EDGE and outline.step > SCAN.least_step
    is_clear = is_clear and outline.area_px > SCAN.least_width_px**2 * size_mm[1] / size_mm[0]
    most_odd = min(SURE_ODD, SCAN.odd_per_deg * (_turn_deg(outline) - SCAN.parallel_deg))
    return is_clear and outline.odd < most_odd


def _turn_deg(outline: Outline) -> float:
    """Return the largest angle between an outline's sides and the picture's."""
    sides = np.roll(outline.corners, -1, axis=0) - outline.corners
    angles = np.degrees(np.arctan2(sides[:, 1], sides[:, 0])) % 90
    return float(np.minimum(angles, 90 - angles).max())


def _is_bare(image: Image) -> bool:
    """True if a picture's edges and middle have the same colors."""
    small = lab(cv2.resize(image, (120, 120)))
    middle = small[27:-27, 27:-27].reshape(-1, 3)
    rim, inner = (np.percentile(part, (3, 10, 50, 90, 97), axis=0) for part in (small[_is_rim(small, 15)], middle))
    return float(np.linalg.norm(rim - inner, axis=1).max()) < _SAME_COLOURS


def _is_rim(image: Pixels, width_px: int) -> Mask:
    is_rim = np.ones(image.shape[:2], bool)
    is_rim[width_px:-width_px, width_px:-width_px] = False
    return is_rim


def _lies_in_a_half(outline: Outline, image: Image) -> bool:
    """True if a card fills one half of the picture."""
    size = np.array(image.shape[1::-1])
    off = float((np.abs(outline.corners.mean(axis=0) - size / 2) / size).max())
    is_card = outline.support > 0.9 and outline.step > 0.9 and outline.odd < SURE_ODD
    return is_card and off > 0.15 and 0.15 < outline.area_px / (size[0] * size[1]) < 0.5


def _lies_on_ground(image: Image, outline: Outline, size_mm: Size) -> bool:
    """True if a certain, large outline is on ground that reaches the picture's edge."""
    sure = outline.support > 0.9 and outline.ends > 0.7 and outline.step > 0.9 and outline.odd < 0.04
    if not sure or outline.area_px < 0.9 * LEAST_WIDTH_PX**2 * size_mm[1] / size_mm[0]:
        return False
    colours = lab(image)
    room = round(0.03 * max(image.shape[:2]))
    middle = outline.corners.mean(axis=0)
    beside = _ring(colours, middle + 1.1 * (outline.corners - middle), middle + 1.03 * (outline.corners - middle))
    if len(beside) < 20:
        return True
    at_edge = colours[_is_rim(colours, room)]
    there, here = (np.percentile(part, (20, 50, 80), axis=0) for part in (beside, at_edge))
    return float(np.linalg.norm(there - here, axis=1).max()) < _SAME_GROUND


def _ring(colours: Pixels, outer: Floats, inner: Floats) -> Pixels:
    cover = np.zeros(colours.shape[:2], np.uint8)
    cv2.fillConvexPoly(cover, np.int32(np.round(outer)), 1)
    cv2.fillConvexPoly(cover, np.int32(np.round(inner)), 0)
    return colours[cover > 0]


def tilt_deg(corners: Floats, image: Image, size_mm: Size) -> float:
    """Return the camera's estimated tilt in degrees."""
    size = np.array(image.shape[1::-1])
    focal_px = _FOCAL * size.max()
    right, down, _ = (to_pixels(corners - (size - 1) / 2, size_mm) / np.array([[focal_px], [focal_px], [1.0]])).T
    normal = np.cross(right, down)
    return math.degrees(math.acos(min(1.0, abs(float(normal[2])) / (float(np.linalg.norm(normal)) + 1e-12))))


def _shape_off(width: float, height: float, size_mm: Size) -> float:
    return abs(math.log(width * size_mm[1] / (height * size_mm[0])))


def _edges_of(image: Image, size_mm: Size) -> Floats:
    """Return a scan's corners `(4, 2)` px, clockwise from the card's upper left."""
    h, w = image.shape[:2]
    corners = np.array([(0, 0), (w, 0), (w, h), (0, h)]) - 0.5
    is_across = _shape_off(w, h, size_mm) > _shape_off(h, w, size_mm)
    return np.roll(corners, -1, axis=0) if is_across else corners


def _are_several(found: list[Outline]) -> bool:
    """True if another card like the first is found; in rows, their edges join."""
    for other in found[1:]:
        first = found[0]
        shared, _ = cv2.intersectConvexConvex(np.float32(first.corners), np.float32(other.corners))
        if min(other.step, other.support) <= 0.9 or shared > 0.05 * min(first.area_px, other.area_px):
            continue
        alike = other.area_px / first.area_px
        if first.is_sure and other.ends > 0.75 and other.odd < 0.08 and 0.7 < alike < 1.4:
            return True
        is_in_line = first.step > 0.9 and first.support > 0.9 and first.ends < 0.85
        fit = max(first.odd, other.odd) < 0.012 and 0.85 < alike < 1.18
        if is_in_line and fit and _are_in_a_row(first, other):
            return True
    return False


def _are_in_a_row(one: Outline, other: Outline) -> bool:
    """True if the cards are in line, less than a card apart."""
    way = other.corners.mean(axis=0) - one.corners.mean(axis=0)
    for side in np.diff(one.corners[:3], axis=0):
        length = float(np.linalg.norm(side))
        along = float(way @ side) / length
        if abs(along) < 2 * length and float(np.linalg.norm(way - along * side / length)) < 0.08 * length:
            return True
    return False


def _why_not(image: Image, found: list[Outline], size_mm: Size) -> PictureFault:
    gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    if (_blur_px(gray) or 0.0) > _MOST_BLUR_MM / size_mm[1] * max(gray.shape):
        return PictureFault.NOT_SHARP
    if _is_plain_around(image):
        return PictureFault.LOW_CONTRAST
    if _is_cut_off(image, size_mm):
        return PictureFault.NOT_WHOLE
    near = [outline for outline in found if outline.support >= 0.6 and outline.odd <= 0.08 and outline.ends >= 0.5]
    return PictureFault.LOW_CONTRAST if near else PictureFault.NO_CARD


def _is_plain_around(image: Image) -> bool:
    """True if the ground is plain and only print contrasts."""
    gray = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (0, 0), 2).astype(np.float32)
    level = np.abs(gray - cv2.GaussianBlur(gray, (0, 0), max(image.shape[:2]) / 12))
    is_rim = _is_rim(level, round(0.06 * min(gray.shape)))
    return float(np.percentile(level[is_rim], 98)) < _PLAIN and float(level[~is_rim].max()) > 4 * _PLAIN


def _is_cut_off(image: Image, size_mm: Size) -> bool:
    """True if one or two sides of an outline are on an added border."""
    small = shrunk(image, 700 / max(image.shape[:2]))
    rimmed = cv2.copyMakeBorder(small, *[_RIM_PX] * 4, cv2.BORDER_CONSTANT, value=(255, 0, 255))
    low, high = _RIM_PX + 1.5, np.array(rimmed.shape[1::-1]) - _RIM_PX - 2.5
    for width, height in ((1.0, 0.85), (1.0, 0.7), (0.8, 1.0)):
        for outline in outlines(rimmed, (size_mm[0] * width, size_mm[1] * height))[:3]:
            ends = np.roll(outline.corners, -1, axis=0)
            on_rim = sum(bool(((a <= low) & (b <= low)).any() or ((a >= high) & (b >= high)).any())
                         for a, b in zip(outline.corners, ends, strict=True))  # fmt: skip
            if 1 <= on_rim <= 2 and outline.support > 0.85 and outline.step >= 0.9 and outline.odd < 0.06:
                return True
    return False


# --- The card's own picture -----------------------------------------------------------------------------------


def judged(
    image: Image, corners: Floats, size_mm: Size, light: Floats | None = None, *, is_whole: bool = False
) -> Rectified:
    """Return the card with these corners `(4, 2)`, upright, and its fault.

    `light` are gains `(3,)` that make the light white. `is_whole` marks a scan, not checked for reflections.
    """
    side = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    picture = _flat(image, corners, size_mm)
    if light is not None:
        picture = np.clip(picture * light, 0, 255).astype(np.uint8)
    gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    fault, reflections = None, ()
    if float(side[0] + side[2]) / 2 < LEAST_WIDTH_PX:
        fault = PictureFault.TOO_SMALL
    elif (_blur_px(gray) or 0.0) > _MOST_BLUR_MM * PX_PER_MM:
        fault = PictureFault.NOT_SHARP
    elif not is_whole:
        share, found = reflections_on(gray)
        fault = PictureFault.REFLECTION if share > ON_CARDS.share else None
        to_px = to_pixels(corners, size_mm)
        reflections = tuple(through(to_px, (outline + 0.5) / PX_PER_MM) for outline in found)
    return Rectified(picture, fault, corners, is_whole, reflections)


def _flat(image: Image, corners: Floats, size_mm: Size) -> Image:
    """Return the card at `corners` from straight above, at `PX_PER_MM`."""
    width, height = (round(side * PX_PER_MM) for side in size_mm)
    seen = math.sqrt(abs(cv2.contourArea(np.float32(corners))) / (width * height))
    small = shrunk(image, 1.3 / seen if seen > 1.3 else 1)
    exact = np.array(small.shape[1::-1]) / np.array(image.shape[1::-1])
    wanted = np.float32([(0, 0), (width, 0), (width, height), (0, height)]) - 0.5
    matrix = cv2.getPerspectiveTransform(np.float32((corners + 0.5) * exact - 0.5), np.float32(wanted))
    return cv2.warpPerspective(small, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


def _blur_px(gray: Image) -> float | None:
    """Return the sharpest edges' σ in pixels, None without edges; reduction reveals soft ones."""
    for smaller in (1, 2, 4, 8):
        part = shrunk(gray, 1 / smaller)
        blur = blur_of(part)
        if blur is not None and (blur < 4 or smaller == 8):
            return blur * smaller
    return None


def _light_on(image: Image, fit: Fit, card: Outline) -> Floats | None:
    """Return gains `(3,)` that make the mat's paper near the card gray; None without paper."""
    to_mm = fit.to_mm(card.corners)
    middle = to_mm.mean(axis=0)
    reach = np.abs(to_mm - middle).max(axis=0)
    x, y = np.meshgrid(*(np.arange(-r - _PAPER_MM[1], r + _PAPER_MM[1], 1.5) for r in reach))
    outside = (np.abs(x) > reach[0] + _PAPER_MM[0]) | (np.abs(y) > reach[1] + _PAPER_MM[0])
    points = np.stack([x[outside], y[outside]], axis=-1) + middle
    on_sheet = (points > 4).all(axis=1) & (points < np.array(fit.layout.size_mm) - 4).all(axis=1)
    px = fit.to_px(points[on_sheet]) if on_sheet.any() else np.zeros((0, 2))
    px = px[(px >= 0).all(axis=1) & (px < np.array(image.shape[1::-1]) - 1).all(axis=1)]
    if len(px) < 100:
        return None
    colours = image[np.rint(px[:, 1]).astype(int), np.rint(px[:, 0]).astype(int)].astype(np.float64)
    bright = colours[colours.sum(axis=1) >= np.percentile(colours.sum(axis=1), 60)]
    unsaturated = bright[(bright < 252).all(axis=1)]
    paper = np.median(unsaturated, axis=0) if len(unsaturated) else np.zeros(3)
    if paper.min() < 40:
        return None
    return np.clip(paper.mean() / paper, 0.7, 1.4)
