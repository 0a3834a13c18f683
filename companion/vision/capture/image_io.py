"""Read and write picture files; their size is checked in the header first."""

from __future__ import annotations

import math
import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from companion.common.errors import Problem, cause
from companion.vision import MAX_PICTURE_PX
from companion.vision.boxes import Image, shrunk
from companion.vision.opencv import cv2

MAX_FILE_BYTES = 64_000_000
MAX_SIDE_PX = 16_000  # a panorama's; OpenCV cannot warp twice as much
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp"})  # read from a folder
JPEG_QUALITY = 80
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_IN_ROWS = frozenset({0xC0, 0xC1})  # baseline: decoded row by row; others need all data in memory
_MOST_SEGMENTS = 10_000  # before a JPEG's first scan
_ONE_AT_A_TIME = threading.Lock()
_JPEG_ALONE = frozenset({0x01, 0xFF, *range(0xD0, 0xD9)})


@dataclass(frozen=True, slots=True)
class Limits:
    """Maximum sizes of a picture, in pixels."""

    whole_px: int  # decoded at full size
    jpeg_px: int  # of a JPEG; above `whole_px` it is reduced while decoding
    kept_px: int  # of the result, else reduced


OWN = Limits(MAX_PICTURE_PX, MAX_PICTURE_PX, MAX_PICTURE_PX)
SENT = Limits(whole_px=28_000_000, jpeg_px=200_000_000, kept_px=12_600_000)
"""Limits for pictures from phones, to save memory.

Recognizing faces takes 17 bytes per pixel plus 245 MB (`tests/trust/picture_memory.py`). Phones take 12 to 200
megapixels; 12 show all print on cards.
"""


def read_picture(path: str | Path) -> Image:
    """Return a picture file as `(H, W, 3) uint8 BGR`, turned upright by its metadata.

    Raise Problem if it is missing, too large, damaged, or no JPEG, PNG, WebP or BMP.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            most = MAX_FILE_BYTES // 1_000_000
            raise Problem("The picture %(name)s is larger than %(mb)d MB; save it smaller.", 1, name=file, mb=most)
        data = file.read_bytes()
    except FileNotFoundError as error:
        raise Problem("Picture %(path)s not found: check the path.", path=file) from error
    except IsADirectoryError as error:
        raise Problem("%(path)s is a folder: name a picture in it.", path=file) from error
    except OSError as error:
        raise Problem("The picture %(name)s cannot be read (%(error)s).", 1, name=file, error=cause(error)) from error
    return decode(data, file)


def decode(data: bytes, name: str | Path, by: Callable[[bytes], Image | None] | None = None) -> Image:
    """Decode a picture file's content to `(H, W, 3) uint8 BGR`. Raise Problem about `name`.

    `by`, such as `sandbox.decode`, decodes instead, within `SENT`; None means damaged.
    """
    size = declared_size(data)
    if size is None:
        raise Problem(
            "The picture %(name)s is damaged, or not a JPEG, PNG, WebP or BMP file; save it as JPEG.",
            1,
            name=name,
        )
    _check_size(data, size, name, OWN if by is None else SENT)
    # Decoders silently fill missing ends with gray.
    end = b"\xff\xd9" if data[:2] == b"\xff\xd8" else b"IEND" if data[:4] == b"\x89PNG" else b""
    if end not in data[-65536:]:
        raise Problem("The picture %(name)s is incomplete or damaged; copy it again.", 1, name=name)
    if by is not None:
        image = by(data)
    else:
        with _hushed():
            image = decoded(data)
    if image is None:
        raise Problem("The picture %(name)s is damaged; copy it again.", 1, name=name)
    return image


def _check_size(data: bytes, size: tuple[int, int], name: str | Path, limits: Limits) -> None:
    its = {"name": name, "width": size[0], "height": size[1]}
    most_px = limits.jpeg_px if _is_in_rows(data) else limits.whole_px
    if not 0 < size[0] * size[1] <= most_px:
        raise Problem(
            "The picture %(name)s has %(width)d × %(height)d pixels; the limit is %(millions)d million: save it "
            "smaller.",
            1,
            **its,
            millions=most_px // 10**6,
        )
    if max(size) > MAX_SIDE_PX * _reduction(data, size, limits):
        raise Problem(
            "The picture %(name)s has %(width)d × %(height)d pixels; the limit is %(most)d per side: save it smaller.",
            1,
            **its,
            most=MAX_SIDE_PX,
        )


def declared_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height from a JPEG, PNG, WebP or BMP header; None for other data."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if data[:2] == b"\xff\xd8":
        sizes = (size for _kind, size in _jpeg_frames(data))
        return max(sizes, key=lambda size: size[0] * size[1], default=None)
    if data[:2] == b"BM" and len(data) >= 26:
        return _bmp_size(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    return None


def decoded(data: bytes, limits: Limits = OWN) -> Image | None:
    """Decode a picture file to `(H, W, 3) uint8 BGR`, reduced to the limits; None if damaged."""
    size = declared_size(data)
    if size is None:
        return None
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), _FLAGS[_reduction(data, size, limits)])
    except cv2.error:
        return None
    if image is None:
        return None
    return shrunk(image, math.sqrt(limits.kept_px / (image.shape[0] * image.shape[1])))


_FLAGS = {
    1: cv2.IMREAD_COLOR,
    2: cv2.IMREAD_REDUCED_COLOR_2,
    4: cv2.IMREAD_REDUCED_COLOR_4,
    8: cv2.IMREAD_REDUCED_COLOR_8,
}


def _reduction(data: bytes, size: tuple[int, int], limits: Limits) -> int:
    """Return the factor, 1 to 8, by which decoding reduces sides."""
    if not _is_in_rows(data):
        return 1
    return next((times for times in _FLAGS if size[0] * size[1] <= times**2 * limits.whole_px), max(_FLAGS))


def _is_in_rows(data: bytes) -> bool:
    return data[:2] == b"\xff\xd8" and all(kind in _JPEG_IN_ROWS for kind, _size in _jpeg_frames(data))


@contextmanager
def _hushed() -> Iterator[None]:
    """Suppress C decoders' output to standard error."""
    with _ONE_AT_A_TIME:
        try:
            kept = os.dup(2)
        except OSError:
            yield
            return
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _jpeg_frames(data: bytes) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield kind, and width and height, of each frame before the first scan."""
    at = 2
    for _segment in range(_MOST_SEGMENTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return
        kind = data[at + 1]
        if kind == 0xDA:
            return
        if kind in _JPEG_ALONE:
            at += 1 if kind == 0xFF else 2
            continue
        if kind in _JPEG_FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            yield kind, (width, height)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def _bmp_size(data: bytes) -> tuple[int, int]:
    if int.from_bytes(data[14:18], "little") == 12:
        return struct.unpack("<HH", data[18:22])
    width, height = struct.unpack("<ii", data[18:26])
    return abs(width), abs(height)


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def jpeg_of(image: Image, most_px: int = MAX_SIDE_PX) -> bytes | None:
    """Encode `(H, W, 3) uint8 BGR` as JPEG, with sides up to `most_px`; None on failure."""
    image = shrunk(image, most_px / max(image.shape[:2]))
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return bytes(data) if done else None
