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
from companion.common.errors import Problem
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


def checks(
    data_dir: Path,
    port: int,
    source: str | None = None,
    layouts: Sequence[MatLayout] | None = None,
    drawing: Drawing | None = None,
) -> Iterator[Check]:
    """Yield every check; the last three arguments are those of `seeing`."""
    yield library("cv2", "OpenCV", "type `pip install opencv-python` (and `sudo apt-get install libgl1 libglib2.0-0`)")
    yield library("zxingcpp", "zxing-cpp", "type `pip install zxing-cpp`")
    yield library("pyzbar.pyzbar", "pyzbar", "type `sudo apt-get install libzbar0`")
    yield from seeing(source, layouts, drawing)
    yield clock()
    yield disk(data_dir)
    yield matches(data_dir)
    yield power()
    yield port_free(port)


def verdict(found: Sequence[Check]) -> str:
    """Return one or two sentences on whether you can play; the camera's verdict if it has one."""
    bad = {check.name: check.needed for check in found if not check.ok}
    if any(bad.values()):
        return "The companion cannot work yet: the lines below say what to do."
    seen = next((check.sentence for check in found if check.name == VERDICT), None)
    if seen is not None:
        return f"{seen} See below for further improvements." if bad.keys() & set(BESIDE_CAMERA) else seen
    if "camera" in bad:
        return "You can play by hand now; see the line about the camera for what is wrong with it."
    if bad:
        return "You can play now, with the camera; possible improvements come first below."
    return "All good: you can play, with the camera."


def library(module: str, name: str, remedy: str) -> Check:
    """Check whether a library can be loaded."""
    try:
        version = getattr(importlib.import_module(module), "__version__", "")
    except (ImportError, OSError) as error:
        return Check(name, False, True, f"{name} cannot be loaded ({error}): {remedy}.")
    return Check(name, True, True, f"{name} {version} is installed.".replace("  ", " "))


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
            yield Check("camera", False, False, "No camera found: plug one in, or enter plays by hand.")
            return
        trial = camera_check.tried(found, tell=warn)
    except Problem as problem:
        yield Check("camera", False, source is not None, str(problem))
    except ImportError:
        yield Check("camera", False, False, "Cannot test cameras without OpenCV.")
    else:
        yield pictures(trial)
        yield from table(trial, layouts, drawing)


def pictures(trial: Trial) -> Check:
    """Check the size and rate of a source's pictures."""
    height, width = trial.pictures[0].shape[:2]
    rate = "" if trial.fps is None else f", {trial.fps:.0f} a second"
    kind = "" if trial.kind is None else f", as {trial.kind}"
    has = "gives pictures of" if trial.fps is not None else "has"
    found = f"{trial.name} {has} {width} × {height} pixels{rate}{kind}"
    if trial.fps is not None and trial.fps < SLOW_FPS:
        return Check("camera", False, False, f"{found}; aim for 10: add light, or use another USB port.")
    if trial.fps is not None and width < FULL_HD_PX:
        return Check("camera", False, False, f"{found}; 1920 × 1080 is better: try another camera or USB port.")
    return Check("camera", True, False, f"{found}.")


def table(trial: Trial, layouts: Sequence[MatLayout] | None, drawing: Drawing | None = None) -> Iterator[Check]:
    """Yield the findings on the pictures, the verdict with the next step, and a check for each further step."""
    from companion.vision.quality.camera_check import verdict_of

    try:
        verdict = verdict_of(trial, layouts, drawing)
    except Problem as problem:
        yield Check("table", False, False, str(problem))
        return
    for finding in verdict.findings[1:]:
        yield Check(
            finding.aspect, finding.is_good is not False, False, f"{finding.says[:1].upper()}{finding.says[1:]}."
        )
    yield Check(VERDICT, verdict.is_good, False, f"{verdict.says} {verdict.next_step}")
    for step in verdict.steps[1:]:
        yield Check("help", False, False, step)


def clock() -> Check:
    """Check whether the clock is plausible: plays are recorded with their time."""
    year = time.gmtime(clocks.now_s()).tm_year
    if year < SANE_YEAR:
        return Check("clock", False, False, f"The clock says {year}: connect to a network once, or set it by hand.")
    if _said(["timedatectl", "show", "--property=NTPSynchronized", "--value"]) == "no":
        return Check("clock", True, False, "The clock looks right, but is not synchronized over the network now.")
    return Check("clock", True, False, "The clock looks right.")


def disk(data_dir: Path) -> Check:
    """Check whether the data folder is writable and has room."""
    home = next((folder for folder in (data_dir, *data_dir.parents) if folder.is_dir()), Path("/"))
    try:
        with as_owner_of(home), tempfile.NamedTemporaryFile(dir=home, prefix=".companion-"):
            pass
    except Problem as problem:
        return Check("data folder", False, True, str(problem))
    except OSError as error:
        return Check("data folder", False, True, f"{data_dir} cannot be written to ({error.strerror}): use --data DIR.")
    room = shutil.disk_usage(home).free
    enough = room >= ENOUGH_BYTES
    advice = "." if enough else "; free some space, 500 MB should be free."
    return Check("data folder", enough, False, f"{data_dir} has {room / 1e9:.1f} GB free{advice}")


def matches(data_dir: Path) -> Check:
    """Check whether the log is readable and complete; a service may be writing it."""
    path, known = store_path(data_dir), recovery.last_known(data_dir)
    if not path.exists():
        return Check("matches", True, False, "The data folder has no matches yet.")
    try:
        with as_owner_of(data_dir), closing(readable(path)) as log:
            last = last_of(log)
            compared = [row for row, _ in selected(log, "WHERE seq IN (1, ?)", (known.seq if known else 1,))]
    except Problem as problem:
        return Check("matches", False, not isinstance(problem, Damaged), str(problem))
    except (OSError, sqlite3.Error) as error:
        return Check("matches", False, True, f"{path} cannot be read ({error}): check the folder's permissions.")
    if known is not None and known.is_of_another(compared):
        what_to_do = "start the companion to see what you can do"
        return Check("matches", False, False, f"{path} belongs to another table: {what_to_do}.")
    if known is not None and known.seq > last:
        return Check("matches", False, False, f"The end of {path} is missing: start the companion to see how much.")
    return Check("matches", True, False, f"All matches can be read, up to event {last}.")


def power() -> Check:
    """Check a Raspberry Pi's power supply; other computers do not report it."""
    said = _said(["vcgencmd", "get_throttled"])
    try:
        flags = int((said or "").partition("=")[2], 16)
    except ValueError:
        return Check("power", True, False, "This computer does not report on its power supply.")
    if flags & (_UNDER_VOLTAGE_NOW | _UNDER_VOLTAGE_BEFORE):
        when = "now" if flags & _UNDER_VOLTAGE_NOW else "since it was switched on"
        return Check("power", False, False, f"Too little power {when}: use the Raspberry Pi's own power supply.")
    if flags & _THROTTLED:
        return Check("power", False, False, "The Raspberry Pi is too hot and has slowed down: improve its cooling.")
    return Check("power", True, False, "The power supply is strong enough.")


def port_free(port: int) -> Check:
    """Check whether a port is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            if _runs_at(port):
                return Check("port", True, True, f"A companion is already running here: http://localhost:{port}/.")
            return Check("port", False, True, f"Port {port} is not available ({error.strerror}): try another --port.")
    return Check("port", True, True, f"Port {port} is free.")


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
