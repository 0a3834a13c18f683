"""The compared readers: each takes a gray picture and returns the named cards with their places.

A text that is not one of our cards is returned as it is. In the place of one of our stickers it counts as wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import zxingcpp
from pyzbar import pyzbar

from companion.tabletop.card_ids import card_id_of
from companion.tabletop.sticker_codes import CARDS, FIRST_TAG_ID, card_of_tag
from companion.vision.mats.localization import Mats
from companion.vision.mats.tags import read_tags
from companion.vision.stickers.reader import read_codes

Found = list[tuple[str | None, tuple[float, float]]]


@dataclass(frozen=True)
class Reader:
    """A way to read a picture. With `with_mats` it gets the mats; with `of_tags` it reads tags, not codes."""

    name: str
    read: Callable[..., Found]
    with_mats: bool = False
    of_tags: bool = False

    def __call__(self, gray: np.ndarray, mats: Mats | None = None) -> Found:
        return self.read(gray, mats) if self.with_mats else self.read(gray)


def ours(gray: np.ndarray, mats: Mats | None = None) -> Found:
    """Read by our closed set of codes; without mats the scale is searched."""
    return [(code.card, code.centre_px) for code in read_codes(gray, mats=mats)]


def our_tags(gray: np.ndarray) -> Found:
    """Read tags by our closed set."""
    return [(code.card, code.centre_px) for code in read_tags(gray)]


def zxing(gray: np.ndarray) -> Found:
    """Read with zxing-cpp, QR codes only."""
    results = zxingcpp.read_barcodes(
        gray, formats=zxingcpp.BarcodeFormat.QRCode, try_rotate=False, try_downscale=False, try_invert=False
    )
    return [_named(r.text, [(p.x, p.y) for p in _corners(r.position)]) for r in results]


def _corners(position: zxingcpp.Position) -> tuple[zxingcpp.Point, ...]:
    return position.top_left, position.top_right, position.bottom_right, position.bottom_left


def zbar(gray: np.ndarray) -> Found:
    """Read with pyzbar, QR codes only."""
    results = pyzbar.decode(gray, symbols=[pyzbar.ZBarSymbol.QRCODE])
    return [_named(r.data.decode("utf-8", "replace"), [(p.x, p.y) for p in r.polygon]) for r in results]


def opencv_codes(gray: np.ndarray) -> Found:
    """Read with OpenCV's QR detector based on ArUco."""
    _, texts, corners, _ = _opencv_detector().detectAndDecodeMulti(gray)
    return [_named(text, quad) for text, quad in zip(texts, corners if texts else (), strict=True) if text]


@cache
def _opencv_detector() -> cv2.QRCodeDetectorAruco:
    return cv2.QRCodeDetectorAruco()


def opencv_tags(gray: np.ndarray) -> Found:
    """Read with OpenCV's marker detector, tuned as for the mats, with a dictionary of the tags in use."""
    corners, ids, _ = _tag_detector().detectMarkers(gray)
    cards = [card_of_tag(FIRST_TAG_ID + int(number)) for number in (ids.ravel() if ids is not None else ())]
    return [(card, _middle(quad[0])) for card, quad in zip(cards, corners, strict=True)]


@cache
def _tag_detector() -> cv2.aruco.ArucoDetector:
    full = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12)
    ids = list(range(FIRST_TAG_ID, FIRST_TAG_ID + len(CARDS)))
    few = cv2.aruco.Dictionary(full.bytesList[ids], full.markerSize, full.maxCorrectionBits)
    parameters = cv2.aruco.DetectorParameters()
    parameters.adaptiveThreshWinSizeMin = parameters.adaptiveThreshWinSizeMax = 15
    parameters.minMarkerPerimeterRate = 0.015
    parameters.perspectiveRemoveIgnoredMarginPerCell = 0.2
    return cv2.aruco.ArucoDetector(few, parameters)


def twice(read: Callable[[np.ndarray], Found], *, threshold: bool = False) -> Callable[[np.ndarray], Found]:
    """Return a reader of the picture at twice its size, made black and white first if asked."""

    def enlarged(gray: np.ndarray) -> Found:
        double = cv2.resize(gray, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
        if threshold:
            double = cv2.adaptiveThreshold(double, 255, cv2.ADAPTIVE_THRESH_GAUSSIAN_C, cv2.THRESH_BINARY, 31, 5)
        return [(card, ((x + 0.5) / 2 - 0.5, (y + 0.5) / 2 - 0.5)) for card, (x, y) in read(double)]

    return enlarged


def _named(text: str, corners: object) -> tuple[str | None, tuple[float, float]]:
    return card_id_of(text) or f"?{text}", _middle(corners)


def _middle(corners: object) -> tuple[float, float]:
    x, y = np.mean(np.asarray(corners, float), 0)
    return float(x), float(y)


READERS = (
    Reader("ours, mats known", ours, with_mats=True), Reader("ours, no mats", ours), Reader("zxing-cpp", zxing),
    Reader("zxing-cpp, 2×", twice(zxing)), Reader("pyzbar", zbar),
    Reader("pyzbar, 2× and threshold", twice(zbar, threshold=True)), Reader("OpenCV QR", opencv_codes),
    Reader("ours, tags", our_tags, of_tags=True), Reader("OpenCV tags", opencv_tags, of_tags=True),
)  # fmt: skip
