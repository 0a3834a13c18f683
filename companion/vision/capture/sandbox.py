"""Decode untrusted pictures in a separate process; a crash there is only an error here.

The process starts with the first picture, and is replaced after a crash, a timeout, or many pictures. It is spawned:
OpenCV does not survive a fork.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import numpy as np

from companion.common.errors import Busy, Problem
from companion.common.text import say
from companion.vision.boxes import Image
from companion.vision.capture import image_io
from companion.vision.capture.sandbox_worker import LENGTH, SIZES

MOST_S = 30.0  # per picture, including process start
MOST_PICTURES = 200  # until the process is replaced, in case decoders leak
PATIENCE_S = 20.0  # maximum wait for the previous picture
BUSY = say("Another picture is being processed: try again in a moment.")
_COMMAND = ("-m", "companion.vision.capture.sandbox_worker")
_ROOT = Path(__file__).parents[3]


@contextmanager
def one_at_a_time(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock. Raise Busy if it is not free within `PATIENCE_S`."""
    if not lock.acquire(timeout=PATIENCE_S):
        raise Busy(BUSY)
    try:
        yield
    finally:
        lock.release()


class Darkroom:
    """Decode pictures in another process, one at a time. Thread-safe."""

    def __init__(
        self, most_s: float = MOST_S, command: tuple[str, ...] = _COMMAND, most_pictures: int = MOST_PICTURES
    ) -> None:
        self._most_s, self._most_pictures = most_s, most_pictures
        self._command = command
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[bytes] | None = None
        self._served = 0

    def decode(self, data: bytes, name: str | Path) -> Image:
        """Decode a picture file's content to `(H, W, 3) uint8 BGR`, within the size limits `image_io.SENT`.

        Raise Problem about `name`, or Busy after `PATIENCE_S`.
        """
        try:
            return image_io.decode(data, name, by=self._decoded)
        except (OSError, EOFError) as error:
            raise Problem(
                "The picture %(name)s cannot be read: save it again as JPEG, or take another.", 1, name=name
            ) from error

    def close(self) -> None:
        """End the process; the next picture starts another."""
        with self._lock:
            self._end()

    def _decoded(self, data: bytes) -> Image | None:
        with one_at_a_time(self._lock):
            if self._served >= self._most_pictures or (self._worker is not None and self._worker.poll() is not None):
                self._end()
            self._served += 1
            try:
                return self._asked(data)
            except (OSError, EOFError):
                # It may have ended while idle.
                ended_idle = self._end() == 0
                if not ended_idle:
                    raise
                return self._asked(data)

    def _asked(self, data: bytes) -> Image | None:
        worker = self._worker = self._worker or self._started()
        late = threading.Timer(self._most_s, worker.kill)
        late.daemon = True
        late.start()
        try:
            assert worker.stdin is not None  # noqa: S101
            assert worker.stdout is not None  # noqa: S101
            return _exchange(worker.stdin, worker.stdout, data)
        finally:
            late.cancel()

    def _started(self) -> subprocess.Popen[bytes]:
        here = [str(_ROOT), *filter(None, sys.path)]
        kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD") if key in os.environ}
        return subprocess.Popen(
            [sys.executable, *self._command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=kept | {"PYTHONPATH": os.pathsep.join(here), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def _end(self) -> int | None:
        """End the process, if any; return its exit code."""
        worker, self._worker, self._served = self._worker, None, 0
        if worker is None:
            return None
        for pipe in filter(None, (worker.stdin, worker.stdout)):
            with suppress(OSError):
                pipe.close()
        with suppress(subprocess.TimeoutExpired):
            return worker.wait(1)
        worker.kill()
        return worker.wait()


def _exchange(to: IO[bytes], back: IO[bytes], data: bytes) -> Image | None:
    """Send a picture file, return its pixels; None if damaged. Raise OSError or EOFError if the process fails."""
    to.write(LENGTH.pack(len(data)))
    to.write(data)
    to.flush()
    sizes = back.read(SIZES.size)
    if len(sizes) < SIZES.size:
        raise EOFError
    height, width = SIZES.unpack(sizes)
    if not height * width:
        return None
    if height * width > image_io.SENT.whole_px:
        raise EOFError
    image = np.empty((height, width, 3), np.uint8)
    if back.readinto(memoryview(image).cast("B")) < image.nbytes:  # type: ignore[attr-defined]
        raise EOFError
    return image


_DARKROOM = Darkroom()
atexit.register(_DARKROOM.close)
decode = _DARKROOM.decode
