"""Decode untrusted pictures in a restricted process, for `sandbox.py`.

It cannot open files or connections, or start processes; its memory is limited.
"""

from __future__ import annotations

import os
import resource
import select
import struct
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from companion.vision.boxes import Image
from companion.vision.capture.image_io import SENT, decoded
from companion.vision.opencv import cv2

MOST_MORE_BYTES = 400 * 2**20  # memory added; 28 megapixels in scans, rotated, take 252 MB
MOST_CPU_S = 20  # per picture, even if the starting process is gone
IDLE_S = 120.0  # without a picture, until the process ends
SIZES = struct.Struct(">II")  # height and width, before the pixels; 0 if damaged
LENGTH = struct.Struct(">Q")  # bytes of the picture file that follows


def main() -> None:
    """Decode pictures from standard input until it ends."""
    asked, answers = os.fdopen(0, "rb", closefd=False), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("wb") as nowhere:  # decoder output must not mix with the answers
        os.dup2(nowhere.fileno(), 1)
    cv2.setNumThreads(1)
    shut_in()
    while (data := _next(asked)) is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        allowed = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + MOST_CPU_S, allowed))
        _answer(answers, _decoded(data))


def shut_in() -> None:
    """Drop all rights that decoding does not need. Raise OSError or ValueError if refused."""
    with suppress(OSError):  # if memory is short, this ends before the service
        Path("/proc/self/oom_score_adj").write_text("1000")
    most = resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0]) + MOST_MORE_BYTES
    _lower(resource.RLIMIT_AS, most)
    for nothing in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        _lower(nothing, 0)


def _lower(limit: int, most: int) -> None:
    allowed = resource.getrlimit(limit)[1]
    most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
    resource.setrlimit(limit, (most, most))


def _next(asked: BinaryIO) -> bytes | None:
    """Return the next picture file; None at the end or after `IDLE_S`."""
    if not select.select([asked], [], [], IDLE_S)[0]:
        return None
    length = asked.read(LENGTH.size)
    return asked.read(LENGTH.unpack(length)[0]) if len(length) == LENGTH.size else None


def _decoded(data: bytes) -> Image | None:
    try:
        image = decoded(data, SENT)
    except MemoryError:
        return None
    return None if image is None else np.ascontiguousarray(image)


def _answer(answers: BinaryIO, image: Image | None) -> None:
    height, width = (0, 0) if image is None else image.shape[:2]
    answers.write(SIZES.pack(height, width))
    if image is not None:
        answers.write(memoryview(image).cast("B"))
    answers.flush()


if __name__ == "__main__":
    main()
