"""The program that decodes strangers' pictures, one after another, in a process that may do nothing else.

`sandbox.py` starts it. Before the first picture it gives up what a process may do: no file and no connection can be
opened any more, no other process started, and no more memory taken than the largest picture that is read needs. What
a hostile picture does to its decoder ends here.
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

MOST_MORE_BYTES = 400 * 2**20  # maximum memory beyond that at the start: 28 megapixels in scans, turned, take 252 MB
MOST_CPU_S = 20  # seconds that a picture may take. The process that started this waits as long, and may be gone.
IDLE_S = 120.0  # seconds without a picture after which the process ends, to cost no memory
SIZES = struct.Struct(">II")  # height and width of what was decoded, before its pixels; 0 for what is damaged
LENGTH = struct.Struct(">Q")  # number of bytes of a picture file that follow


def main() -> None:
    """Decode what comes in until nothing more does."""
    asked, answers = os.fdopen(0, "rb", closefd=False), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("wb") as nowhere:  # A decoder that prints something must not spoil an answer.
        os.dup2(nowhere.fileno(), 1)
    cv2.setNumThreads(1)
    shut_in()
    while (data := _next(asked)) is not None:
        # Gives the next picture its time.
        used = resource.getrusage(resource.RUSAGE_SELF)
        allowed = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + MOST_CPU_S, allowed))
        _answer(answers, _developed(data))


def shut_in() -> None:
    """Give up all that decoding does not need. Raises OSError or ValueError where the system does not take it."""
    with suppress(OSError):  # Where memory is short, this goes before the service.
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
    """Return the next picture file; None where none comes any more."""
    if not select.select([asked], [], [], IDLE_S)[0]:
        return None
    length = asked.read(LENGTH.size)
    return asked.read(LENGTH.unpack(length)[0]) if len(length) == LENGTH.size else None


def _developed(data: bytes) -> Image | None:
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
