"""Read tags, the coarser alternative to QR codes on stickers, with only 212 patterns.

A tag's black rim is found as a dark quadrilateral. Its cells are correlated with every tag and mat marker, at all
quarter turns and several blurs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from companion.tabletop.mat_layout import MARKER_CELLS as CELLS
from companion.tabletop.mat_layout import ROBOT_MARKER_IDS
from companion.tabletop.sticker_codes import CARDS, FIRST_TAG_ID, card_of_tag
from companion.vision.boxes import Box, Floats32, Image, blurring, boxes_within
from companion.vision.mats.homography import as_quad, from_squares
from companion.vision.opencv import cv2
from companion.vision.view import AGREED, StickerSeen

MARGIN = 1  # white margin, in cells
SIDE = CELLS + 2 * MARGIN
INSIDE = slice(MARGIN + 1, SIDE - MARGIN - 1)  # cells within the black rim
SURE = 0.2
LIKELY, LIKELY_CONFIDENCE = 0.06, 0.92
"""Minimum evidence (`_TagMatch.evidence`) to accept a tag, and its confidence then.

Of 3907 tags of other makers the best reaches 0.04 (`tests/test_tags.py`).
"""

THERE = -0.05  # minimum evidence of an unidentified tag
MAYBE = 0.5  # minimum score of a possible tag
LEAST_OF_ITS_OWN = 0.5  # minimum norm of a tag's own pattern, of 1 in all
RIM, ROUGH_RIM = 0.75, 0.65  # minimum rim correlation; with one sample per cell
INSIDE_CONTRAST = (0.2, 0.8)  # σ inside the rim / contrast of margin and rim; usually 0.3–0.55
MIN_CONTRAST = 12.0
SMALLEST_SIDE_PX = 10.0
LARGEST_OUTLINE_PX = 2400
SMALLEST_BOX, LONGEST_BOX = 0.8, 3.0  # box of a leaning square: sides relative to `SMALLEST_SIDE_PX`; ratio of sides
THRESHOLD_WINDOW_PX, THRESHOLD_BELOW = 11, 7
CORNER_SHARE = 0.06  # maximum distance of an outline from a quadrilateral, relative to its length
BLURS_CELLS = (0.3, 0.5, 0.7, 0.95)  # σ
_STEPS_CELLS = (0.35, 0.18, 0.09)
_RIVALS = 3


_TAGS = (*range(FIRST_TAG_ID + len(CARDS)), *ROBOT_MARKER_IDS)


class _Patterns(NamedTuple):
    """Tag patterns under each blur, with mean 0 and norm 1."""

    rims: Floats32  # rim and margin, `(blurs, 64)`
    common: Floats32  # shared by all insides when blurred, `(blurs, 36)`
    insides: Floats32  # rest of each inside, `(blurs, tags · 4 turns, 36)`


class _TagMatch(NamedTuple):
    score: float
    lead: float
    tag: int
    turns: int
    scores: Floats32  # of every tag

    @property
    def evidence(self) -> float:
        """`lead` - 2 · (1 - `score`)."""
        return self.lead - 2 * (1 - self.score)


def read_tags(
    gray: Image,
    *,
    where: Sequence[Box] | None = None,
    allowed: Collection[str] | None = None,
    beside: Sequence[StickerSeen] = (),
) -> tuple[StickerSeen, ...]:
    """Return the card tags on a picture `(H, W) uint8`, or in the boxes `where`.

    `allowed` are the deck's cards (None: any). A tag of another deck has no card, an uncertain one has rivals. Codes
    `beside` are skipped.
    """
    return tuple(_codes(_tag_candidates(gray, _off_codes(_patches(gray, where), beside)), allowed))


def read_markers(gray: Image) -> list[tuple[int, Floats32]]:
    """Return id and corners `(4, 2)` px of markers too small or soft for general readers."""
    told = [found for found in _tag_candidates(gray, _patches(gray, None)) if found[1].evidence >= LIKELY]
    tags = ((_TAGS[match.tag], np.roll(quad, match.turns, axis=0)) for quad, match in _apart(told))
    return [(tag, quad) for tag, quad in tags if card_of_tag(tag) is None]


# --- Dark patches with four corners ---------------------------------------------------------------------------


def _patches(gray: Image, where: Sequence[Box] | None) -> Floats32:
    """Return dark quadrilaterals `(N, 4, 2)`, clockwise along the middle of their edges."""
    boxes = boxes_within(gray, where)
    quads = [_patches_in(box.of(gray)) + np.float32((box.left, box.top)) for box in boxes]
    return np.concatenate([np.empty((0, 4, 2), np.float32), *quads])


def _off_codes(quads: Floats32, codes: Sequence[StickerSeen]) -> Floats32:
    """Return the quads not centered on a code."""
    if not codes:
        return quads
    middles = np.array([code.centre_px for code in codes])
    reach = np.array([0.75 * code.side_px for code in codes])
    apart = np.linalg.norm(quads.mean(axis=1)[:, None] - middles[None], axis=2)
    return quads[(apart > reach).all(axis=1)]


def _patches_in(part: Image) -> Floats32:
    window, below = THRESHOLD_WINDOW_PX, THRESHOLD_BELOW
    dark = cv2.adaptiveThreshold(part, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, below)
    outlines, _ = cv2.findContours(dark, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    corners = [found for outline in outlines if _may_be_square(outline) and len(found := _corners(outline)) == 4]
    return _square_enough(np.array(corners, np.float32).reshape(-1, 4, 2))


def _may_be_square(outline: npt.NDArray[np.int32]) -> bool:
    """True if an outline's length and box suit a square; cheap, as nearly all outlines are small print or noise."""
    if not 3 * SMALLEST_SIDE_PX <= len(outline) <= LARGEST_OUTLINE_PX:
        return False
    _, _, width, height = cv2.boundingRect(outline)
    least, most = sorted((width, height))
    return least >= SMALLEST_BOX * SMALLEST_SIDE_PX and most <= LONGEST_BOX * least


def _corners(outline: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    # OpenCV's y points up: counterclockwise there is clockwise here.
    hull = cv2.convexHull(outline, clockwise=False)
    return cv2.approxPolyDP(hull, CORNER_SHARE * cv2.arcLength(hull, True), True)


def _square_enough(quads: Floats32) -> Floats32:
    """Return possible squares, grown by half a pixel: outlines run inside the edge."""
    sides = np.linalg.norm(quads - np.roll(quads, 1, axis=1), axis=2)
    fine = (sides.min(axis=1) >= SMALLEST_SIDE_PX) & (sides.max(axis=1) <= 2.5 * sides.min(axis=1))
    middles = quads.mean(axis=1, keepdims=True)
    grown: Floats32 = middles + (quads - middles) * (1 + 1 / np.maximum(sides.mean(axis=1), 1))[:, None, None]
    return grown[fine]


# --- What a patch looks like ----------------------------------------------------------------------------------


def _cells(gray: Image, quads: Floats32, parts: int = 3) -> Floats32:
    """Return each cell's gray level `(N, SIDE, SIDE)`, the mean of `parts`² samples."""
    if not len(quads):
        return np.empty((0, SIDE, SIDE), np.float32)
    places = _places(parts) @ from_squares(CELLS, quads).transpose(0, 2, 1)
    points = (places[..., :2] / places[..., 2:]).astype(np.float32)
    read = cv2.remap(gray, points, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return read.reshape(len(quads), SIDE, parts, SIDE, parts).mean(axis=(2, 4), dtype=np.float32)


@cache
def _places(parts: int) -> npt.NDArray[np.float64]:
    """Return homogeneous sample positions `(N, 3)` in cells, `parts`² in each."""
    along = (np.arange(SIDE * parts) + 0.5) / parts - MARGIN
    x, y = np.meshgrid(along, along)
    return np.column_stack((x.ravel(), y.ravel(), np.ones(x.size)))


def _rim_scores(looks: Floats32) -> Floats32:
    return (_unit(looks[:, _rim()]) @ _patterns().rims.T).max(axis=1)


def _looks_printed(looks: Floats32) -> npt.NDArray[np.bool_]:
    """True where margin is white, rim black, and the inside mixed, `(N,)`."""
    contrast = looks[:, 0].mean(axis=1) - looks[:, MARGIN, MARGIN:-MARGIN].mean(axis=1)
    spread = looks[:, INSIDE, INSIDE].std(axis=(1, 2))
    least, most = INSIDE_CONTRAST
    return (contrast >= MIN_CONTRAST) & (spread >= least * contrast) & (spread <= most * contrast)


def _tag_candidates(gray: Image, quads: Floats32) -> Iterator[tuple[Floats32, _TagMatch]]:
    """Yield possible tags with their best match."""
    quads = quads[_rim_scores(_cells(gray, quads, parts=1)) >= ROUGH_RIM]
    looks = _cells(gray, quads)
    may_be = (_rim_scores(looks) >= RIM) & _looks_printed(looks)
    return _matched(gray, quads[may_be], looks[may_be])


def _matched(gray: Image, quads: Floats32, looks: Floats32) -> Iterator[tuple[Floats32, _TagMatch]]:
    """Yield quads with their best match; refine uncertain ones."""
    found = [pair for pair in zip(quads, _compared(looks), strict=True) if pair[1].score >= MAYBE]
    unsure = np.array([quad for quad, match in found if match.evidence < SURE]).reshape(-1, 4, 2)
    refined = _fitted_to_rim(gray, unsure)
    better = zip(refined, _compared(_cells(gray, refined)), strict=True)
    for quad, match in found:
        again = (quad, match) if match.evidence >= SURE else next(better)
        yield again if again[1].evidence > match.evidence else (quad, match)


def _compared(looks: Floats32) -> Iterator[_TagMatch]:
    scores = _inside_scores(_unit(looks[:, INSIDE, INSIDE].reshape(-1, 36)))
    for by_blur in scores.transpose(1, 0, 2):
        turned = by_blur[int(by_blur.max(axis=1).argmax())].reshape(-1, 4)
        best = turned.max(axis=1)
        second, first = np.partition(best, -2)[-2:]
        tag = int(best.argmax())
        yield _TagMatch(float(first), float(first - second), tag, int(turned[tag].argmax()), best)


def _inside_scores(insides: Floats32) -> Floats32:
    """Return correlations with all tags and turns, without the shared part, `(blurs, N, tags · 4)`."""
    patterns = _patterns()
    scores = []
    for common, own in zip(patterns.common, patterns.insides, strict=True):
        rest = insides - np.outer(insides @ common, common)
        length = np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), LEAST_OF_ITS_OWN)
        scores.append(rest / length @ own.T)
    return np.array(scores)


def _fitted_to_rim(gray: Image, quads: Floats32) -> Floats32:
    """Return the nearby quads `(N, 4, 2)` whose rims correlate best."""
    cell_px = np.array([np.sqrt(cv2.contourArea(quad)) / CELLS for quad in quads], np.float32)
    for step in _STEPS_CELLS:
        tries = quads[:, None] + _moves() * (step * cell_px)[:, None, None, None]
        scores = _rim_scores(_cells(gray, tries.reshape(-1, 4, 2), parts=2)).reshape(tries.shape[:2])
        quads = tries[np.arange(len(quads)), scores.argmax(axis=1)]
    return quads


@cache
def _moves() -> Floats32:
    """Return the shifts to try `(N, 4, 2)`: none, each corner, whole, larger, smaller."""
    ways = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)], np.float32)
    corners = [np.where(np.arange(4)[:, None] == corner, way, 0) for corner in range(4) for way in ways]
    outwards = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float32)
    wholes = [np.tile(way, (4, 1)) for way in ways]
    return np.array([np.zeros((4, 2)), *corners, *wholes, outwards, -outwards], np.float32)


# --- The patterns ---------------------------------------------------------------------------------------------


@cache
def _patterns() -> _Patterns:
    tags = np.array([_printed(tag) for tag in _TAGS])
    blurred = np.array([_blurred(tags, blur) for blur in BLURS_CELLS])
    turned = np.stack([np.rot90(blurred, turns, axes=(2, 3)) for turns in range(4)], axis=2)
    insides = _unit(turned[..., INSIDE, INSIDE].reshape(len(BLURS_CELLS), -1, 36))
    common = _unit(insides.mean(axis=1))
    own = insides - (insides @ common[..., None]) * common[:, None]
    return _Patterns(_unit(turned[..., _rim()].mean(axis=(1, 2))), common, _unit(own))


def _printed(tag: int) -> Floats32:
    """Return a tag in white (1) and black, with three white border cells."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12)
    bits = cv2.aruco.generateImageMarker(dictionary, tag, CELLS) > 0
    return np.pad(bits, MARGIN + 2, constant_values=True).astype(np.float32)


def _blurred(tags: Floats32, blur_cells: float) -> Floats32:
    across = blurring(tags.shape[1], blur_cells, 5, 1)[2:-2]
    return across @ tags @ across.T


@cache
def _rim() -> npt.NDArray[np.bool_]:
    rim = np.ones((SIDE, SIDE), bool)
    rim[INSIDE, INSIDE] = False
    return rim


def _unit(values: npt.NDArray[np.floating]) -> Floats32:
    """Scale to mean 0 and norm 1."""
    centred = values - values.mean(axis=-1, keepdims=True)
    length = np.linalg.norm(centred, axis=-1, keepdims=True)
    return (centred / np.maximum(length, 1e-6)).astype(np.float32)


# --- What may be believed -------------------------------------------------------------------------------------


def _apart(found: Iterable[tuple[Floats32, _TagMatch]]) -> Iterator[tuple[Floats32, _TagMatch]]:
    """Yield the best match at each place; rims have two outlines."""
    kept: list[Floats32] = []
    for quad, match in sorted(found, key=lambda pair: -pair[1].evidence):
        middle, half = quad.mean(axis=0), float(np.linalg.norm(quad[0] - quad[2])) / 3
        if all(np.linalg.norm(middle - other) > half for other in kept):
            kept.append(middle)
            yield quad, match


def _codes(found: Iterable[tuple[Floats32, _TagMatch]], allowed: Collection[str] | None) -> Iterator[StickerSeen]:
    there = ((quad, match) for quad, match in found if match.evidence >= THERE and card_of_tag(match.tag))
    for quad, match in _apart(there):
        card = card_of_tag(match.tag)
        corners = as_quad(np.roll(quad, match.turns, axis=0))
        if match.evidence < LIKELY:
            yield StickerSeen(None, corners, 0.0, _rivals(match, allowed))
        elif allowed is not None and card not in allowed:
            yield StickerSeen(None, corners, 0.0)
        else:
            yield StickerSeen(card, corners, AGREED if match.evidence >= SURE else LIKELY_CONFIDENCE)


def _rivals(match: _TagMatch, allowed: Collection[str] | None) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-match.scores)[: 2 * _RIVALS]
    cards = [(card, float(match.scores[tag])) for tag in order if (card := card_of_tag(int(tag)))]
    return tuple((card, round(score / 2, 3)) for card, score in cards if allowed is None or card in allowed)[:_RIVALS]
