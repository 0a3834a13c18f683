"""The checks of `companion doctor`."""

from __future__ import annotations

import importlib
import json
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from companion.app.usage import warn
from companion.common import clock as clocks
from companion.common.errors import Problem, cause
from companion.common.text import Said, begun, say, sentences
from companion.storage import recovery
from companion.storage.data_folder import as_owner_of, store_path
from companion.storage.database import Damaged, last_of, readable, selected
from companion.tabletop.drawn_zones import Drawing
from companion.tabletop.mat_layout import MatLayout

if TYPE_CHECKING:
    from companion.vision.quality.camera_check import Trial

ENOUGH_BYTES = 500_000_000
SANE_YEAR = 2025
"""Earliest plausible year; a computer without a clock chip starts years before it."""

VERDICT, BESIDE_CAMERA = "verdict", ("clock", "data folder", "matches", "power", "port")
"""Name of the camera's overall verdict, and of the checks that do not concern the camera."""

NAMES = {
    "camera": say("camera"),
    "clock": say("clock"),
    "data folder": say("data folder"),
    "matches": say("matches"),
    "power": say("power"),
    "port": say("port"),
    "zones": say("zones"),
    "table": say("table"),
    "help": say("help"),
    VERDICT: say("verdict"),
    "picture": say("picture"),
    "mats": say("mats"),
    "glare": say("glare"),
    "focus": say("focus"),
    "light": say("light"),
    "stickers": say("stickers"),
    "faces": say("faces"),
    "pace": say("pace"),
}
"""Names of the checks as printed; libraries have their own."""

SLOW_FPS = 8.0
FULL_HD_PX = 1920

_UNDER_VOLTAGE_NOW, _UNDER_VOLTAGE_BEFORE, _THROTTLED = 0x1, 0x10000, 0x40004


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check."""

    name: str
    ok: bool
    needed: bool  # True if the companion cannot work without it
    sentence: str

    @property
    def title(self) -> str:
        """The name as printed."""
        return NAMES.get(self.name, self.name)

    @property
    def mark(self) -> Said:
        """The word that begins the printed line."""
        if self.ok:
            return say("ok")
        return say("MISSING") if self.needed else say("note")


def checks(
    data_dir: Path,
    port: int,
    source: str | None = None,
    layouts: Sequence[MatLayout] | None = None,
    drawing: Drawing | None = None,
) -> Iterator[Check]:
    """Yield every check; the last three arguments are those of `seeing`."""
    yield library(
        "cv2",
        "OpenCV",
        say("type `pip install opencv-python` (and `%(more)s`)", more="sudo apt-get install libgl1 libglib2.0-0"),
    )
    yield library("zxingcpp", "zxing-cpp", say("type `%(command)s`", command="pip install zxing-cpp"))
    yield library("pyzbar.pyzbar", "pyzbar", say("type `%(command)s`", command="sudo apt-get install libzbar0"))
    yield from seeing(source, layouts, drawing)
    yield clock()
    yield disk(data_dir)
    yield matches(data_dir)
    yield power()
    yield port_free(port)


def verdict(found: Sequence[Check]) -> Said:
    """Return one or two sentences on whether you can play; the camera's verdict if it has one."""
    bad = {check.name: check.needed for check in found if not check.ok}
    if any(bad.values()):
        return say("The companion cannot work yet: the lines below say what to do.")
    seen = next((check.sentence for check in found if check.name == VERDICT), None)
    if seen is not None:
        more = [say("See below for further improvements.")] if bad.keys() & set(BESIDE_CAMERA) else []
        return sentences(seen, *more)
    if "camera" in bad:
        return say("You can play by hand now; see the line about the camera for what is wrong with it.")
    if bad:
        return say("You can play now, with the camera; possible improvements come first below.")
    return say("All good: you can play, with the camera.")


def library(module: str, name: str, remedy: Said) -> Check:
    """Check whether a library can be loaded."""
    try:
        version = getattr(importlib.import_module(module), "__version__", "")
    except (ImportError, OSError) as error:
        missing = say("%(name)s cannot be loaded (%(error)s): %(remedy)s.", name=name, error=error, remedy=remedy)
        return Check(name, False, True, missing)
    return Check(name, True, True, say("%(name)s is installed.", name=f"{name} {version}".rstrip()))


def seeing(
    source: str | None = None, layouts: Sequence[MatLayout] | None = None, drawing: Drawing | None = None
) -> Iterator[Check]:
    """Check whether a camera delivers pictures, and whether stickers can be read on them.

    This opens the camera, so the caller must not use one. `source` replaces the first camera; `layouts` are the
    expected mats; `drawing` has the zones drawn instead of mats.
    """
    try:
        # Imported here so that the other checks run without OpenCV.
        from companion.vision.capture import sources
        from companion.vision.quality import camera_check

        found = source or sources.camera_answers()
        if found is None:
            yield Check("camera", False, False, say("No camera found: plug one in, or enter plays by hand."))
            return
        trial = camera_check.tried(found, tell=warn)
    except Problem as problem:
        yield Check("camera", False, source is not None, str(problem))
    except ImportError:
        yield Check("camera", False, False, say("Cannot test cameras without OpenCV."))
    else:
        yield pictures(trial)
        yield from table(trial, layouts, drawing)


def pictures(trial: Trial) -> Check:
    """Check the size and rate of a source's pictures."""
    height, width = trial.pictures[0].shape[:2]
    its = {"name": trial.name, "width": width, "height": height}
    if trial.fps is None:
        return Check("camera", True, False, say("%(name)s has %(width)d × %(height)d pixels.", **its))
    found = say(
        "%(name)s gives pictures of %(width)d × %(height)d pixels, %(rate)d a second", rate=round(trial.fps), **its
    )
    if trial.kind is not None:
        found = say("%(found)s, as %(kind)s", found=found, kind=trial.kind)
    if trial.fps < SLOW_FPS:
        slow = say("%(found)s; aim for 10: add light, or use another USB port.", found=found)
        return Check("camera", False, False, slow)
    if width < FULL_HD_PX:
        small = say("%(found)s; 1920 × 1080 is better: try another camera or USB port.", found=found)
        return Check("camera", False, False, small)
    return Check("camera", True, False, Said("%(found)s.", found=found))


def table(trial: Trial, layouts: Sequence[MatLayout] | None, drawing: Drawing | None = None) -> Iterator[Check]:
    """Yield the findings on the pictures, the verdict with the next step, and a check for each further step."""
    from companion.vision.quality.camera_check import verdict_of

    try:
        verdict = verdict_of(trial, layouts, drawing)
    except Problem as problem:
        yield Check("table", False, False, str(problem))
        return
    for finding in verdict.findings[1:]:
        said = begun(Said("%(finding)s.", finding=finding.says))
        yield Check(finding.aspect, finding.is_good is not False, False, said)
    yield Check(VERDICT, verdict.is_good, False, sentences(verdict.says, verdict.next_step))
    for step in verdict.steps[1:]:
        yield Check("help", False, False, step)


def clock() -> Check:
    """Check whether the clock is plausible: plays are recorded with their time."""
    year = time.gmtime(clocks.now_s()).tm_year
    if year < SANE_YEAR:
        wrong = say("The clock says %(year)s: connect to a network once, or set it by hand.", year=year)
        return Check("clock", False, False, wrong)
    if _said(["timedatectl", "show", "--property=NTPSynchronized", "--value"]) == "no":
        unchecked = say("The clock looks right, but is not synchronized over the network now.")
        return Check("clock", True, False, unchecked)
    return Check("clock", True, False, say("The clock looks right."))


def disk(data_dir: Path) -> Check:
    """Check whether the data folder is writable and has room."""
    home = next((folder for folder in (data_dir, *data_dir.parents) if folder.is_dir()), Path("/"))
    try:
        with as_owner_of(home), tempfile.NamedTemporaryFile(dir=home, prefix=".companion-"):
            pass
    except Problem as problem:
        return Check("data folder", False, True, str(problem))
    except OSError as error:
        refused = say(
            "%(folder)s cannot be written to (%(error)s): use --data DIR.", folder=data_dir, error=cause(error)
        )
        return Check("data folder", False, True, refused)
    room = shutil.disk_usage(home).free
    its = {"folder": data_dir, "room": round(room / 1e9, 1)}
    if room >= ENOUGH_BYTES:
        return Check("data folder", True, False, say("%(folder)s has %(room)s GB free.", **its))
    little = say("%(folder)s has %(room)s GB free; free some space, 500 MB should be free.", **its)
    return Check("data folder", False, False, little)


def matches(data_dir: Path) -> Check:
    """Check whether the log is readable and complete; a service may be writing it."""
    path, known = store_path(data_dir), recovery.last_known(data_dir)
    if not path.exists():
        return Check("matches", True, False, say("The data folder has no matches yet."))
    try:
        with as_owner_of(data_dir), closing(readable(path)) as log:
            last = last_of(log)
            compared = [row for row, _ in selected(log, "WHERE seq IN (1, ?)", (known.seq if known else 1,))]
    except Problem as problem:
        return Check("matches", False, not isinstance(problem, Damaged), str(problem))
    except (OSError, sqlite3.Error) as error:
        unread = say("%(path)s cannot be read (%(error)s): check the folder's permissions.", path=path, error=error)
        return Check("matches", False, True, unread)
    if known is not None and known.is_of_another(compared):
        other = say("%(path)s belongs to another table: start the companion to see what you can do.", path=path)
        return Check("matches", False, False, other)
    if known is not None and known.seq > last:
        short = say("The end of %(path)s is missing: start the companion to see how much.", path=path)
        return Check("matches", False, False, short)
    return Check("matches", True, False, say("All matches can be read, up to event %(number)d.", number=last))


def power() -> Check:
    """Check a Raspberry Pi's power supply; other computers do not report it."""
    said = _said(["vcgencmd", "get_throttled"])
    try:
        flags = int((said or "").partition("=")[2], 16)
    except ValueError:
        return Check("power", True, False, say("This computer does not report on its power supply."))
    if flags & _UNDER_VOLTAGE_NOW:
        weak = say("Too little power now: use the Raspberry Pi's own power supply.")
        return Check("power", False, False, weak)
    if flags & _UNDER_VOLTAGE_BEFORE:
        weak = say("Too little power since it was switched on: use the Raspberry Pi's own power supply.")
        return Check("power", False, False, weak)
    if flags & _THROTTLED:
        hot = say("The Raspberry Pi is too hot and has slowed down: improve its cooling.")
        return Check("power", False, False, hot)
    return Check("power", True, False, say("The power supply is strong enough."))


def port_free(port: int) -> Check:
    """Check whether a port is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            if _runs_at(port):
                ours = say("A companion is already running here: %(address)s.", address=f"http://localhost:{port}/")
                return Check("port", True, True, ours)
            taken = say(
                "Port %(port)s is not available (%(error)s): try another --port.", port=port, error=cause(error)
            )
            return Check("port", False, True, taken)
    return Check("port", True, True, say("Port %(port)s is free.", port=port))


def _runs_at(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/version", timeout=3) as answer:
            found = json.loads(answer.read(1000))
            return isinstance(found, dict) and isinstance(found.get("version"), int)
    except (OSError, ValueError):
        return False


def _said(command: list[str]) -> str | None:
    """Return a system program's output; None if it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=3, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
