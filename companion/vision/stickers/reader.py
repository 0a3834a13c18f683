"""Read stickers: which physical cards are where on a picture.

Our reader finds squares (`code_detector`) on a small picture of the rectified table (`plane`). It compares what the
camera's picture shows there with all codes (`codebook`), down to 1.2 pixels per module. General readers confirm it:
zxing-cpp on the doubled picture, pyzbar on single codes. If two disagree, the card is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import zxingcpp

from companion.tabletop.sticker_codes import MODULES, STICKER_MODULES, card_of_text
from companion.vision.boxes import Box, Floats, Image, boxes_within, whole
from companion.vision.mats import plane
from companion.vision.mats.homography import Fit, as_quad, from_squares
from companion.vision.mats.localization import Mats
from companion.vision.mats.tags import read_tags
from companion.vision.opencv import cv2
from companion.vision.stickers import code_detector, codebook
from companion.vision.stickers.code_detector import MarkFit
from companion.vision.stickers.code_plane import SIZES_MM, level_of, still_to_look_for, widths_mm
from companion.vision.stickers.code_samples import LIMITS, Homographies, Reading, quads_of
from companion.vision.view import AGREED, ALONE, Point, Quad, StickerSeen, centre_of, side_of

LIKELY_MARGIN, LIKELY_SUM, LIKELY_STRUCTURE = 0.18, 0.78, 0.55  # minimum to ask players about a code
PLAIN_STRUCTURE, PLAIN_SUM = 0.6, 1.1  # the same without a known module size


@dataclass(frozen=True, slots=True)
class Scales:
    """Pixels per module: of codes that our reader finds, and of the pictures on which it looks for them.

    Set on the pictures of `tests.bench.eye` and `tests.bench.readings`.
    """

    coarse: float = 1.0  # to find codes; with 0.9 dim ones are lost, with more it takes longer
    fewest: float = 0.7  # below, codes are unreadable
    most: float = 9.0  # above, only general readers search: from near, codes in a fan of cards are partly covered
    tried: Sequence[float] = (1.15, 1.36, 1.6, 1.9, 2.25, 2.65, 3.1, 3.65, 4.3, 5.1, 6.0, 7.1)  # without mats
    most_pixels: int = 1_750_000  # of a picture to search without mats; larger photos are taken from near
    most_planes: int = 3  # to estimate from codes, each from more codes than the one before


SCALES = Scales()
ENOUGH_MARKERS = 4  # enough to search on the table's plane only
UPSCALE = 2
MIN_SIDE_PX = 15.0  # a version 1 code at 0.7 px per module
WHOLE_FROM = 0.6  # share of the picture above which all is read
_ASKED_MODULE_PX = 4  # for pyzbar: as good as 6, in half the time
_MARGIN_MODULES = 3
_CORNERS = np.array([(0, 0), (MODULES, 0), (MODULES, MODULES), (0, MODULES)], np.float32)


@dataclass(frozen=True, slots=True)
class Before:
    """What earlier pictures of the table showed."""

    known: Mapping[str, Point] = field(default_factory=dict)  # read surely; not confirmed again
    sizes_mm: Sequence[float] = SIZES_MM  # sticker sizes
    level: Fit | None = None  # plane of the codes, without mats
    beside: Sequence[Quad] = ()  # codes that may reach into the boxes to read


NOTHING_BEFORE = Before()


def read_codes(
    gray: Image,
    *,
    where: Sequence[Box] | None = None,
    allowed: Collection[str] | None = None,
    mats: Mats | None = None,
    before: Before = NOTHING_BEFORE,
) -> tuple[StickerSeen, ...]:
    """Return the stickers, codes and tags, on a picture `(H, W) uint8`.

    `where` limits the search. `allowed` are the deck's cards (None: any); other stickers have no card. `mats` give the
    scale. Codes with other texts are ignored.
    """
    boxes, mats = boxes_to_read(gray, where), mats or Mats()
    found = [code for box in boxes for code in _codes_in(gray, box, mats, before)]
    found = [code if code.card is None or allowed is None or code.card in allowed else _unknown(code) for code in found]
    # Mat markers are not stickers.
    markers = (StickerSeen(None, as_quad(corners), 0.0) for fit in mats.fits for corners in fit.markers.values())
    not_tags = [*found, *markers, *(StickerSeen(None, quad, 0.0) for quad in before.beside)]
    tags = read_tags(gray, where=boxes, allowed=allowed, beside=not_tags)
    return tuple(_each_once([*found, *tags]))


def are_there(gray: Image, codes: Sequence[tuple[str | None, Quad | None]]) -> tuple[bool, ...]:
    """Return for each earlier code whether our reader surely reads it there."""
    known = [(card, quad) for card, quad in codes if card is not None and quad is not None]
    squares = np.array([_matrix_of(quad) for _, quad in known]).reshape(-1, 3, 3)
    readings = codebook.read_squares(gray, squares)
    seen = {
        (card, quad)
        for (card, quad), reading in zip(known, readings, strict=True)
        if reading is not None and reading.card == card and reading.is_sure
    }
    return tuple(code in seen for code in codes)


def are_mirrored(gray: Image) -> bool:
    """True if most codes of cards on a picture `(H, W) uint8` are mirrored left to right."""
    codes = [quad for card, quad in _general(gray, whole(gray)) if card is not None and _plausible(quad)]
    return 2 * sum(_is_mirrored(gray, quad) for quad in codes) > len(codes)


def boxes_to_read(gray: Image, where: Sequence[Box] | None) -> tuple[Box, ...]:
    """Return the merged boxes to read, or the whole picture if faster."""
    boxes = boxes_within(gray, where)
    return (whole(gray),) if sum(box.area_px for box in boxes) > WHOLE_FROM * gray.size else boxes


def _codes_in(gray: Image, box: Box, mats: Mats, before: Before) -> Iterator[StickerSeen]:
    own = _best_each([*_closed_set(gray, box, mats, before)])
    general = [(card, quad) for card, quad in _general(gray, box) if _plausible(quad)]
    for code in own:
        said = {card for card, quad in general if _near(code.centre_px, quad)}
        if None in said:
            continue
        yield _both(gray, code, said - {None}) if said else code
    for card, quad in general:
        if card is not None and not any(_near(code.centre_px, quad) for code in own) and not _is_mirrored(gray, quad):
            yield _checked(gray, card, quad, before.known)


# --- Our own reader -------------------------------------------------------------------------------------------


def _closed_set(gray: Image, box: Box, mats: Mats, before: Before) -> Iterator[tuple[Reading, Quad]]:
    """Yield our readings, possibly repeated."""
    fit = plane.plane_of(gray, box, mats)
    if fit is not None:
        yield from _on_mats(gray, box, fit, before.sizes_mm)
    elif before.level is not None:
        yield from _readings(gray, _on_plane(gray, box, before.level, [1.0], code_detector.NEARLY_UPRIGHT))
    if sum(len(fit.markers) for fit in mats.fits) < ENOUGH_MARKERS and before.level is None:
        yield from _without_mats(gray, box)


def _without_mats(gray: Image, box: Box) -> Iterator[tuple[Reading, Quad]]:
    """Search at many scales, then on the plane of the codes found: rectified, more are found, and a better plane."""
    found, enough = [*_searched(gray, box)], 0
    yield from found
    for _ in range(SCALES.most_planes):
        sure = [quad for reading, quad in found if reading.is_sure]
        fit = level_of(sure) if len(sure) > enough else None
        if fit is None:
            return
        squares = _on_plane(gray, box, fit, [1.0], code_detector.NEARLY_UPRIGHT)
        found, enough = [*_readings(gray, squares)], len(sure)
        yield from found


def _on_mats(gray: Image, box: Box, fit: Fit, sizes_mm: Sequence[float]) -> Iterator[tuple[Reading, Quad]]:
    """Search on the mats' plane, which gives the size."""
    found = [*_readings(gray, _of_sizes(gray, box, fit, sizes_mm))]
    yield from found
    widths = widths_mm((quad for reading, quad in found if reading.is_sure), fit)
    yield from _readings(gray, _of_sizes(gray, box, fit, still_to_look_for(widths, sizes_mm)))


def _of_sizes(gray: Image, box: Box, fit: Fit, sizes_mm: Sequence[float]) -> Homographies:
    modules_mm = (size_mm / STICKER_MODULES for size_mm in sorted(sizes_mm))
    readable_mm = [mm for mm in modules_mm if SCALES.fewest <= mm * fit.px_per_mm <= SCALES.most]
    return _on_plane(gray, box, fit, readable_mm, code_detector.UPRIGHT)


def _on_plane(gray: Image, box: Box, fit: Fit, modules_mm: Sequence[float], marks: MarkFit) -> Homographies:
    """Return possible codes with modules of these sizes, ascending: matrices from modules to the picture's pixels."""
    flat = plane.flattened(gray, fit, box, SCALES.coarse / modules_mm[0]) if modules_mm else None
    if flat is None:
        return np.empty((0, 3, 3))
    found = _at_scales(flat.image, [modules_mm[0] / module_mm for module_mm in modules_mm], marks)
    return from_squares(MODULES, flat.to_picture(found).reshape(-1, 4, 2))


def _searched(gray: Image, box: Box) -> Iterator[tuple[Reading, Quad]]:
    """Search with unknown module size."""
    scales = [scale for px in SCALES.tried if box.area_px * (scale := SCALES.coarse / px) ** 2 <= SCALES.most_pixels]
    found = np.add(_at_scales(box.of(gray), scales, code_detector.LEANING), (box.left, box.top))
    for reading, quad in _readings(gray, from_squares(MODULES, found)):
        # At some scale small print resembles a code.
        if reading.structure >= PLAIN_STRUCTURE and reading.sum >= PLAIN_SUM:
            yield reading, quad


def _at_scales(image: Image, scales: Sequence[float], marks: MarkFit) -> Floats:
    """Return the corners of possible codes on a picture at these scales, descending, `(n, 4, 2)`."""
    found, at = [np.empty((0, 4, 2))], 1.0
    for scale in scales:
        # Each from the one before: cheaper, and smooth enough without averaging.
        image, at = _scaled(image, scale / at), scale
        corners = quads_of(code_detector.squares(image, SCALES.coarse, marks))
        found.append((corners + 0.5) / scale - 0.5)
    return np.concatenate(found)


def _scaled(image: Image, scale: float) -> Image:
    """Return a picture `(H, W)` scaled, to at least 1 × 1 pixel."""
    if scale == 1 or min(image.shape) * scale < 1:
        return image
    how = cv2.INTER_LINEAR if scale > 0.5 else cv2.INTER_AREA
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)


def _readings(gray: Image, squares: Homographies) -> Iterator[tuple[Reading, Quad]]:
    for reading in filter(None, codebook.read_squares(gray, squares)):
        is_clear = reading.margin >= LIKELY_MARGIN and reading.structure >= LIKELY_STRUCTURE
        if reading.is_sure or (is_clear and reading.sum >= LIKELY_SUM):
            yield reading, as_quad(quads_of(reading.matrix))


def _best_each(found: list[tuple[Reading, Quad]]) -> list[StickerSeen]:
    kept: list[StickerSeen] = []
    for reading, quad in sorted(found, key=lambda pair: -pair[0].score):
        code = _code_of(reading, quad)
        if not any(_near(code.centre_px, other.corners_px) for other in kept):
            kept.append(code)
    return kept


def _code_of(reading: Reading, quad: Quad) -> StickerSeen:
    """Convert a reading; uncertain cards become rivals with at most 0.85."""
    if reading.is_sure:
        return StickerSeen(reading.card, quad, min(AGREED, 0.93 + 0.2 * (reading.margin - LIMITS.sure_margin)))
    weights = {card: math.exp(12 * score) for card, score in reading.ranking}
    total = sum(weights.values())
    return StickerSeen(None, quad, 0.0, tuple((card, round(0.85 * w / total, 3)) for card, w in weights.items()))


# --- The general readers --------------------------------------------------------------------------------------


def _general(gray: Image, box: Box) -> Iterator[tuple[str | None, Quad]]:
    """Yield card and corners that zxing-cpp reads; card None for other texts."""
    part = cv2.resize(box.of(gray), None, fx=UPSCALE, fy=UPSCALE, interpolation=cv2.INTER_CUBIC)
    for result in zxingcpp.read_barcodes(
        part, formats=zxingcpp.BarcodeFormat.QRCode, try_rotate=False, try_downscale=False, try_invert=False
    ):
        if result.text:
            at = result.position
            corners = np.array([(p.x, p.y) for p in (at.top_left, at.top_right, at.bottom_right, at.bottom_left)])
            # (0, 0) is the center of the first pixel.
            yield card_of_text(result.text), as_quad(corners / UPSCALE - 0.5 + (box.left, box.top))


def _plausible(quad: Quad) -> bool:
    """True if a square sticker can look like this: large, convex, not too oblique or mirrored."""
    edges = [(quad[i][0] - quad[i - 1][0], quad[i][1] - quad[i - 1][1]) for i in range(4)]
    right_turns = all(edges[i - 1][0] * edges[i][1] > edges[i - 1][1] * edges[i][0] for i in range(4))
    lengths = [math.hypot(x, y) for x, y in edges]
    return right_turns and min(lengths) >= MIN_SIDE_PX and max(lengths) < 3 * min(lengths)


def _both(gray: Image, own: StickerSeen, said: set[str]) -> StickerSeen:
    """Combine our reading with the general readers'."""
    card = next(iter(said)) if len(said) == 1 else None
    if card is None or (own.card is not None and own.card != card):
        return _unknown(own)
    if own.card == card:
        return replace(own, confidence=AGREED)
    second = _second_opinion(gray, own.corners_px)
    return StickerSeen(card, own.corners_px, AGREED) if second == card else own


def _checked(gray: Image, card: str, quad: Quad, known: Mapping[str, Point]) -> StickerSeen:
    """Confirm a general reader's code by ours or pyzbar."""
    code = StickerSeen(card, quad, AGREED)
    before = known.get(card)
    if before is not None and _near(before, quad):
        return code
    reading = codebook.read_squares(gray, _matrix_of(quad)[None])[0]
    if reading is not None and reading.is_sure:
        return code if reading.card == card else _unknown(code)
    said = _second_opinion(gray, quad)
    if said is None:
        return replace(code, confidence=ALONE)
    return code if said == card else _unknown(code)


def _is_mirrored(gray: Image, quad: Quad) -> bool:
    """True for a mirrored code, which general readers read too."""
    a, b, c, d = quad
    reading = codebook.read_squares(gray, _matrix_of((a, d, c, b))[None])[0]
    return reading is not None and reading.is_sure


def _matrix_of(quad: Quad) -> npt.NDArray[np.float64]:
    """Return the matrix `(3, 3)`: modules → pixels."""
    return from_squares(MODULES, np.array(quad)[None])[0]


def _second_opinion(gray: Image, quad: Quad) -> str | None:
    """Return the ID of the card that pyzbar reads at `quad`; None for none or several."""
    to = _ASKED_MODULE_PX * (_CORNERS + _MARGIN_MODULES)
    side = _ASKED_MODULE_PX * (2 * _MARGIN_MODULES + MODULES)
    matrix = cv2.getPerspectiveTransform(np.float32(quad), to)
    crop = cv2.warpPerspective(gray, matrix, (side, side), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    cards = {card for text in _zbar()(crop) if (card := card_of_text(text))}
    return cards.pop() if len(cards) == 1 else None


@cache
def _zbar() -> Callable[[Image], list[str]]:
    """Return pyzbar as a function from gray picture to texts; without libzbar it finds none."""
    try:
        from pyzbar.pyzbar import ZBarSymbol, decode
    except ImportError:
        return lambda _: []

    def texts(gray: Image) -> list[str]:
        return [found.data.decode("utf-8", "replace") for found in decode(gray, symbols=[ZBarSymbol.QRCODE])]

    return texts


# --- What may be believed -------------------------------------------------------------------------------------


def _unknown(code: StickerSeen) -> StickerSeen:
    return replace(code, card=None, confidence=0.0)


def _near(point: Point, quad: Quad) -> bool:
    """True if a point is within half a side of a code's center."""
    return math.dist(point, centre_of(quad)) <= side_of(quad) / 2


def _each_once(codes: list[StickerSeen]) -> Iterator[StickerSeen]:
    """Yield each sticker once; a card at two places is unknown at both."""
    kept: list[StickerSeen] = []
    for code in codes:
        if not any(other.card == code.card and _near(other.centre_px, code.corners_px) for other in kept):
            kept.append(code)
    seen = [code.card for code in kept]
    for code in kept:
        yield replace(_unknown(code), twice=code.card) if code.card and seen.count(code.card) > 1 else code
