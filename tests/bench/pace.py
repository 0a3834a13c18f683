"""Measure how fast a machine is: `python -m tests.bench.pace FOLDER [--seconds 15] [--write]`.

Looks at a simulated hand as `companion up` does, by stickers and by faces, opens pages, and asks robots. FOLDER keeps
the pictures, so that drawing them is not measured. A part of a core shows what a slower machine can do:
`systemd-run --scope -p CPUQuota=50% -p AllowedCPUs=0 …`, or a cgroup. Docs: `docs/how-fast-it-is.md`.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from bench import page
from bench.eye import heading, line_of
from companion.app import demo
from companion.app.service import eye_for
from companion.match.match import Match
from companion.pages import create_app
from companion.storage.event_store import Store
from companion.vision.capture.image_io import jpeg_of, read_picture
from companion.vision.capture.sources import LIVE_FPS, Frame
from companion.vision.faces.deck_in_use import faces_of

PICTURES, EVERY = 120, 3
"""Number of pictures, and the step through the simulated ones: one or two plays a second."""

SCALES = {"1920 x 1080": 1, "3840 x 2160": 2}
QUESTION = {"record": "edition classic\nside Ann\nside Bob\nhand first Ann", "player": "Ann"}
HAND = ["roll", "25", "100", "stop", "repairs", "driving-ace", "speed-limit"]
PAGES = ("/", "/score", "/wall", "/camera", "/version")


def pictures_of(folder: Path, kind: str) -> list[Path]:
    """Return the pictures of a simulated hand; draw them if they are missing."""
    where = folder / kind
    if not where.is_dir():
        where.mkdir(parents=True)
        _setup, frames = demo.filmed("", None, has_stickers=kind == "stickers")
        for number, frame in enumerate(islice(frames, 0, PICTURES * EVERY, EVERY)):
            (where / f"{number:04}.jpg").write_bytes(jpeg_of(frame.image))
    return sorted(where.iterdir())


def looks(paths: list[Path], kind: str, scale: int, seconds: float) -> Iterator[tuple[float, float]]:
    """Yield the times of each look, as `timed`, including decoding the JPEG."""
    eye = eye_for(demo.filmed("", None, has_stickers=True)[0], faces_of("own", None) if kind == "faces" else None)
    ends_s = time.monotonic() + seconds
    for number, path in enumerate(paths):
        sent = np.frombuffer(jpeg_of(cv2.resize(read_picture(path), None, fx=scale, fy=scale)), np.uint8)
        yield timed(lambda sent=sent, t_s=number / LIVE_FPS: eye(Frame(cv2.imdecode(sent, cv2.IMREAD_COLOR), t_s)))
        if time.monotonic() > ends_s:
            return


def told(name: str, took: list[tuple[float, float]]) -> str:
    """Return a row: the time on the clock and the processor time, in milliseconds."""
    clock, work = ([one[which] for one in took] for which in (0, 1))
    mean_s, late_s = sum(clock) / len(clock), sorted(clock)[int(0.95 * (len(clock) - 1))]
    times_ms = (f"{1000 * one:.0f}" for one in (mean_s, median(clock), late_s, sum(work) / len(work)))
    return line_of(name, *times_ms, len(took))


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """Return clock time and processor time of a call, in seconds."""
    begun_s, worked_s = time.monotonic(), time.process_time()
    act()
    return time.monotonic() - begun_s, time.process_time() - worked_s


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=15.0, help="for each of the four ways of looking")
    parser.add_argument("--write", action="store_true", help="write the table into docs/")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parsed(arguments)
    figures = page.Figures("pace", arguments) if asked.write else None
    lines = []
    for line in measured(asked):
        print(line, flush=True)
        lines.append(line)
    if figures:
        path = "`companion/vision/eye.py` on JPEG pictures, the pages of `companion/pages/`, `companion/robots/`"
        figures.write(page.SPEED, "machine", lines, path)


def measured(asked: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table."""
    yield from heading("", "mean, ms", "median, ms", "95 % within, ms", "processor time, ms", "times")
    for kind in ("stickers", "faces"):
        for size, scale in SCALES.items():
            took = list(looks(pictures_of(asked.folder, kind), kind, scale, asked.seconds))
            yield told(f"a look, {kind}, {size}", took)
    with tempfile.TemporaryDirectory() as data:
        store = Store.open(Path(data) / "log.sqlite3")
        match = Match(store)
        match.start(("edition classic", "side Ann", "side Bob", "hand first Ann"))
        client = create_app(match, secret=b"0123456789abcdef" * 2).test_client()
        for path in PAGES:
            took = [timed(lambda path=path: client.get(path)) for _ in range(8)]
            yield told(f"page `{path}`", took[1:])
        store.close()
    for level in ("2", "3"):
        command = [sys.executable, "-c", "from companion.app.main import main; main()", "robot", "--level", level]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as robot:

            def ask(robot: subprocess.Popen[str] = robot) -> None:
                print(json.dumps(QUESTION | {"hand": HAND}), file=robot.stdin, flush=True)
                assert "play" in json.loads(robot.stdout.readline())

            took = [timed(ask) for _ in range(4)]
            robot.stdin.close()
        moves_ms = [1000 * one[0] for one in took[1:]]
        yield line_of(f"a move of robot {level}, by the clock", f"{sum(moves_ms) / len(moves_ms):.0f}",
                      f"{median(moves_ms):.0f}", "", "", len(moves_ms))  # fmt: skip
    yield ""
    yield f"At most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB of memory, robots not counted."


if __name__ == "__main__":
    main()
