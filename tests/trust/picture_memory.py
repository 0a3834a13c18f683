"""Measure the memory that counting large photographs takes.

    PYTHONPATH=tests:. python tests/trust/picture_memory.py [--most 560]

Each picture is sent to a new service, which reads it with the faces of a deck. Measured is the peak of the service and
its decoding process together. The exit code is 1 if it is above `--most` MB.
"""

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from trust.fuzzing import arguments
from trust.real_service import ROOT, Service, asked, beside, service, size_of
from werkzeug.datastructures import FileStorage

DECK = "own"
STILL = next((ROOT / "tests" / "stills").rglob("*.jpg"))
FLAT, TABLE = "flat", "table"
PROGRESSIVE = (cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444)
PICTURES = (
    ("JPEG, 12 Mpx", TABLE, (4000, 3000), ".jpg", ()),
    ("JPEG, 24 Mpx", TABLE, (5712, 4284), ".jpg", ()),
    ("JPEG, 48 Mpx", TABLE, (8064, 6048), ".jpg", ()),
    ("JPEG, 50 Mpx", TABLE, (8160, 6120), ".jpg", ()),
    ("JPEG, 108 Mpx", TABLE, (12000, 9000), ".jpg", (cv2.IMWRITE_JPEG_QUALITY, 80)),
    ("JPEG, 200 Mpx", TABLE, (16320, 12240), ".jpg", (cv2.IMWRITE_JPEG_QUALITY, 70)),
    ("JPEG, 24 Mpx, in scans", FLAT, (5712, 4284), ".jpg", PROGRESSIVE),
    ("JPEG, 64 Mpx, in scans", FLAT, (9200, 6900), ".jpg", PROGRESSIVE),
    ("PNG, 12 Mpx", FLAT, (4000, 3000), ".png", ()),
    ("PNG, 24 Mpx", FLAT, (5712, 4284), ".png", ()),
    ("PNG, 64 Mpx", FLAT, (9200, 6900), ".png", ()),
)


def file_of(what: str, size: tuple[int, int], kind: str, options: tuple[int, ...]) -> bytes:
    if what == FLAT:
        image = np.full((size[1], size[0], 3), 120, np.uint8)
    else:
        image = cv2.resize(cv2.imread(str(STILL)), size, interpolation=cv2.INTER_CUBIC)
    return cv2.imencode(kind, image, list(options))[1].tobytes()


def taken_mb(running: Service) -> float:
    """Return the memory of the service and its children, in MB; shared program files count once."""
    pid, total_kb = running.process.pid, 0
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children += (thread / "children").read_text().split()
        total_kb = size_of(pid).rss_kb + sum(size_of(int(child)).anon_kb for child in {*children})
    return total_kb / 1024


@contextlib.contextmanager
def watched(running: Service) -> Iterator[list[float]]:
    """Watch the memory inside the context; yield a list with the peak so far."""
    peak = [0.0]

    def look(over: threading.Event) -> None:
        while not over.wait(0.003):
            peak[0] = max(peak[0], taken_mb(running))

    with beside(look):
        yield peak


def measured(name: str, data: bytes) -> float:
    """Print and return the peak for one picture, in MB."""
    with tempfile.TemporaryDirectory() as folder, service(Path(folder), "up") as running:
        _, _, cookie = asked(running.port, f"/join?t={running.token}")
        before = taken_mb(running)
        with watched(running) as peak:
            fields = {"edition": "classic", "deck": DECK, "photo": FileStorage(io.BytesIO(data), "photo")}
            status, _, _ = asked(running.port, "/snap", fields, cookie=cookie, timeout_s=120)
    what = "read" if status == 303 else f"refused ({status})"
    took = f"{before:4.0f} MB before, {peak[0]:4.0f} MB at the peak"
    print(f"{name:24}{len(data) / 1e6:6.1f} MB  {what:14} {took}", flush=True)
    return peak[0]


def main() -> int:
    most = arguments(__doc__, "most", 560).most
    worst = max(measured(name, file_of(*how)) for name, *how in PICTURES)
    print(f"at most {worst:.0f} MB; as promised: {'yes' if worst <= most else 'NO'}")
    return 0 if worst <= most else 1


if __name__ == "__main__":
    sys.exit(main())
