"""Stickers: which physical cards lie on a picture, and where.

zxing-cpp reads the picture at twice its size; pyzbar is asked about every code that it found, on a straightened
copy of the code. Where both answer and differ, the card is unknown. Only texts of `companion.labels` count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import zxingcpp

from companion.labels import card_id_of
from companion.vision.boxes import Box, Image, merged, whole
from companion.vision.opencv import cv2
from companion.vision.view import Point, Quad

AGREED = 0.99
"""Confidence where both readers give the same card."""

ALONE = 0.9
"""Confidence where one reader gives the card and the other nothing."""

SECOND_TRY = 0.8
"""Confidence where a code was found but only its enlarged, sharpened crop could be read, by one reader."""

MODULES = 21
MIN_SIDE_PX = 15.0
"""A version 1 code with smaller modules than 0.7 px can be no reading of ours."""

UPSCALE = 2
MAX_SECOND_TRIES = 12
WHOLE_FROM = 0.6
"""Where the boxes to read cover more of the picture than this, the whole of it is read at once."""

_ASKED_MODULE_PX = 4
"""Pixels a module on the crop that pyzbar is asked about: as good as 6 above 2 px a module, and half the time."""

_TRIED_MODULE_PX = 6
"""The same on the crop of a code that could not be read."""

_MARGIN_MODULES = 3


@dataclass(frozen=True, slots=True)
class Code:
    """A sticker of ours on a picture."""

    card: str | None
    """The physical card, or None: the readers differ, the card is not in this deck, or it is here twice."""

    corners_px: Quad
    """The code without its quiet zone: top left, top right, bottom right, bottom left as it is printed."""

    confidence: float
    """`AGREED`, `ALONE` or `SECOND_TRY`; 0 where the card is None."""

    @property
    def centre_px(self) -> Point:
        return centre_of(self.corners_px)

    @property
    def side_px(self) -> float:
        """The mean length of the code's four sides."""
        return side_of(self.corners_px)


def read_codes(
    gray: Image,
    *,
    where: Sequence[Box] | None = None,
    allowed: Collection[str] | None = None,
    known: Mapping[str, Point] | None = None,
) -> tuple[Code, ...]:
    """The stickers of ours on a grey picture `(H, W) uint8`, in the order they were found.

    `where` limits the search to boxes. A card that is not in `allowed` (physical cards, None: any) is of another
    deck: it lies there, so it is a code without a card. `known` are cards that both readers agreed on at that
    place on an earlier picture: pyzbar is not asked again about them. A foreign text is no code at all.
    """
    found = [code for box in boxes_to_read(gray, where) for code in _codes_in(gray, box, known or {})]
    return tuple(_told_apart([code if _in_deck(code, allowed) else _unknown(code) for code in found]))


def centre_of(quad: Quad) -> Point:
    """The middle of four corners: where the diagonals of a square seen at an angle cross."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
    ux, uy, vx, vy = cx - ax, cy - ay, dx - bx, dy - by
    cross = ux * vy - uy * vx
    if abs(cross) < 1e-9:
        return (ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4
    t = ((bx - ax) * vy - (by - ay) * vx) / cross
    return ax + t * ux, ay + t * uy


def side_of(quad: Quad) -> float:
    """The mean length of the four sides of a quad."""
    return sum(math.dist(quad[i - 1], quad[i]) for i in range(4)) / 4


def boxes_to_read(gray: Image, where: Sequence[Box] | None) -> tuple[Box, ...]:
    """The boxes that are read for `where`: apart from each other, or the whole picture where that is quicker."""
    if where is None:
        return (whole(gray),)
    height, width = gray.shape
    boxes = merged([box for box in (b.within(width, height) for b in where) if box.area_px])
    return (whole(gray),) if sum(box.area_px for box in boxes) > WHOLE_FROM * gray.size else boxes


# --- The first reader -----------------------------------------------------------------------------------------


def _codes_in(gray: Image, box: Box, known: Mapping[str, Point]) -> Iterator[Code]:
    part = box.of(gray)
    unread: list[Quad] = []
    for result in _zxing(_enlarged(part, UPSCALE)):
        quad = _quad(result, UPSCALE, (box.left, box.top))
        if not _plausible(quad):
            continue
        if not result.valid:
            unread.append(quad)
        elif card := card_id_of(result.text):
            yield _judged(gray, card, quad, known)
    for quad in unread[:MAX_SECOND_TRIES]:
        yield from _second_try(gray, quad)


def _enlarged(image: Image, factor: int) -> Image:
    return cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)


def _zxing(gray: Image) -> list[zxingcpp.Barcode]:
    return zxingcpp.read_barcodes(
        gray,
        formats=zxingcpp.BarcodeFormat.QRCode,
        try_rotate=False,
        try_downscale=False,
        try_invert=False,
        return_errors=True,
    )


def _quad(result: zxingcpp.Barcode, scale: float, offset: tuple[int, int]) -> Quad:
    """A result's corners in pixels of the whole picture, whose first pixel's middle is (0, 0)."""
    place = result.position
    corners = (place.top_left, place.top_right, place.bottom_right, place.bottom_left)
    a, b, c, d = ((c.x / scale - 0.5 + offset[0], c.y / scale - 0.5 + offset[1]) for c in corners)
    return a, b, c, d


def _plausible(quad: Quad) -> bool:
    """Whether a square sticker can look like this: large enough, convex, not too slanted, not mirrored."""
    edges = [(quad[i][0] - quad[i - 1][0], quad[i][1] - quad[i - 1][1]) for i in range(4)]
    right_turns = all(edges[i - 1][0] * edges[i][1] > edges[i - 1][1] * edges[i][0] for i in range(4))
    lengths = [math.hypot(x, y) for x, y in edges]
    return right_turns and min(lengths) >= MIN_SIDE_PX and max(lengths) < 3 * min(lengths)


# --- The second reader ----------------------------------------------------------------------------------------


def _judged(gray: Image, card: str, quad: Quad, known: Mapping[str, Point]) -> Code:
    code = Code(card, quad, AGREED)
    before = known.get(card)
    if before is not None and _near(before, code):
        return code
    said = _second_opinion(_straight(gray, quad, _ASKED_MODULE_PX))
    if said is None:
        return replace(code, confidence=ALONE)
    return code if said == card else _unknown(code)


def _straight(gray: Image, quad: Quad, module_px: int) -> Image:
    """The code and a margin seen from straight above, its way up kept."""
    low, high = _MARGIN_MODULES * module_px, (_MARGIN_MODULES + MODULES) * module_px
    to = np.array([(low, low), (high, low), (high, high), (low, high)], np.float32)
    matrix = cv2.getPerspectiveTransform(np.array(quad, np.float32), to)
    side = low + high
    return cv2.warpPerspective(gray, matrix, (side, side), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)


def _second_opinion(crop: Image) -> str | None:
    """What pyzbar reads on a crop: a physical card, or None where it reads nothing of ours or two things."""
    cards = {card for text in _zbar()(crop) if (card := card_id_of(text))}
    return cards.pop() if len(cards) == 1 else None


@cache
def _zbar() -> Callable[[Image], list[str]]:
    """The second reader, from a grey picture to texts. Without libzbar it reads nothing (`doctor` says so)."""
    try:
        from pyzbar.pyzbar import ZBarSymbol, decode
    except ImportError:
        return lambda _: []

    def texts(gray: Image) -> list[str]:
        return [found.data.decode("utf-8", "replace") for found in decode(gray, symbols=[ZBarSymbol.QRCODE])]

    return texts


def _second_try(gray: Image, quad: Quad) -> Iterator[Code]:
    """A code that was found and could not be read: enlarged and sharpened, to both readers."""
    crop = _sharpened(_straight(gray, quad, _TRIED_MODULE_PX))
    first = {card for result in _zxing(crop) if result.valid and (card := card_id_of(result.text))}
    second = _second_opinion(crop)
    cards = first | ({second} if second else set())
    if len(cards) == 1:
        yield Code(cards.pop(), quad, AGREED if first and second else SECOND_TRY)
    elif cards:
        yield Code(None, quad, 0.0)


def _sharpened(crop: Image) -> Image:
    soft = cv2.GaussianBlur(crop, (0, 0), _TRIED_MODULE_PX * 0.6)
    sharp: npt.NDArray[np.uint8] = cv2.addWeighted(crop, 2.2, soft, -1.2, 0)
    return sharp


# --- What may be believed -------------------------------------------------------------------------------------


def _unknown(code: Code) -> Code:
    return replace(code, card=None, confidence=0.0)


def _in_deck(code: Code, allowed: Collection[str] | None) -> bool:
    return code.card is None or allowed is None or code.card in allowed


def _near(point: Point, code: Code) -> bool:
    return math.dist(point, code.centre_px) <= code.side_px / 2


def _told_apart(codes: list[Code]) -> Iterator[Code]:
    """Each place once; a card that is read at two places is unknown at both."""
    kept: list[Code] = []
    for code in codes:
        if not any(other.card == code.card and _near(other.centre_px, code) for other in kept):
            kept.append(code)
    seen = [code.card for code in kept]
    yield from (_unknown(code) if code.card and seen.count(code.card) > 1 else code for code in kept)
