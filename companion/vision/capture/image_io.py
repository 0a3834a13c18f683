"""Picture files: their size is read from the header before anything is decoded."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from companion.common.errors import Problem, cause
from companion.vision import MAX_PICTURE_PX
from companion.vision.boxes import Image, shrunk
from companion.vision.opencv import cv2

MAX_FILE_BYTES = 64_000_000
MAX_SIDE_PX = 16_000  # maximum side of a picture: that of a panorama; OpenCV warps nothing of pictures twice as long
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp"})  # the files of a folder that count as its pictures
JPEG_QUALITY = 80
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_MOST_SEGMENTS = 10_000  # maximum number of segments of a JPEG before its first scan; more are not looked through
_ONE_AT_A_TIME = threading.Lock()
_JPEG_ALONE = frozenset({0x01, 0xFF, *range(0xD0, 0xD9)})


def read_picture(path: str | Path) -> Image:
    """Return a picture file as `(H, W, 3) uint8 BGR`, turned upright as its camera noted.

    Raises Problem when there is no such file, or it is too large, damaged, or no JPEG, PNG, WebP or BMP.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            most = MAX_FILE_BYTES // 1_000_000
            raise Problem("The picture %(name)s is larger than %(mb)d MB; save it smaller.", 1, name=file, mb=most)
        data = file.read_bytes()
    except FileNotFoundError as error:
        raise Problem("There is no picture %(path)s: check the path.", path=file) from error
    except IsADirectoryError as error:
        raise Problem("%(path)s is a folder: name a picture in it.", path=file) from error
    except OSError as error:
        raise Problem("The picture %(name)s cannot be read (%(error)s).", 1, name=file, error=cause(error)) from error
    return decode(data, file)


def decode(data: bytes, name: str | Path, by: Callable[[bytes], Image | None] | None = None) -> Image:
    """Return a picture file's content as `(H, W, 3) uint8 BGR`. Raises Problem, which calls the picture `name`.

    `by` decodes what has a header in order and gives None for what is damaged; `sandbox.decode` does so elsewhere.
    """
    size = declared_size(data)
    if size is None:
        raise Problem(
            "The picture %(name)s is no JPEG, PNG, WebP or BMP picture, or its first bytes are damaged;"
            " save it as JPEG.",
            1,
            name=name,
        )
    _check_size(size, name)
    # Where the end of a JPEG or PNG is missing decoders fill it with grey without a word.
    end = b"\xff\xd9" if data[:2] == b"\xff\xd8" else b"IEND" if data[:4] == b"\x89PNG" else b""
    if end not in data[-65536:]:
        raise Problem("The picture %(name)s is cut short or damaged; copy it again.", 1, name=name)
    if by is not None:
        image = by(data)
    else:
        with _hushed():
            image = decoded(data)
    if image is None:
        raise Problem("The picture %(name)s is damaged; copy it again.", 1, name=name)
    return image


def _check_size(size: tuple[int, int], name: str | Path) -> None:
    """Raise Problem for a picture of this width and height that is too large to be read."""
    its = {"name": name, "width": size[0], "height": size[1]}
    if not 0 < size[0] * size[1] <= MAX_PICTURE_PX:
        raise Problem(
            "The picture %(name)s is %(width)d × %(height)d pixels large; at most %(millions)d million are read.",
            1,
            **its,
            millions=MAX_PICTURE_PX // 10**6,
        )
    if max(size) > MAX_SIDE_PX:
        raise Problem(
            "The picture %(name)s is %(width)d × %(height)d pixels large; along a side at most %(most)d are read.",
            1,
            **its,
            most=MAX_SIDE_PX,
        )


def declared_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels that a JPEG, PNG, WebP or BMP says it has; None for any other content."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if data[:2] == b"\xff\xd8":
        return max(_jpeg_sizes(data), key=lambda size: size[0] * size[1], default=None)
    if data[:2] == b"BM" and len(data) >= 26:
        return _bmp_size(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    return None


def decoded(data: bytes) -> Image | None:
    """Return what OpenCV makes of a picture file whose header is in order; None for a damaged one."""
    try:
        return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep off standard error what the decoders' C code writes there about damaged pictures."""
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


def _jpeg_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield every size up to the first scan: a file with two of them is judged by the larger."""
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
        if kind in _JPEG_SIZES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            yield width, height
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
    """Return a picture `(H, W, 3) uint8 BGR` as JPEG, no side longer than `most_px`; None where OpenCV makes none."""
    image = shrunk(image, most_px / max(image.shape[:2]))
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return bytes(data) if done else None
