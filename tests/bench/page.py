"""Write measured tables into the pages of docs/, each with its command, commit, date and machine."""

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
READING = ROOT / "docs" / "how-well-it-reads.md"
SPEED = ROOT / "docs" / "how-fast-it-is.md"
ROBOTS = ROOT / "docs" / "robots.md"
MEASURED = ("companion", "card_templates", "tests")  # folders whose state decides what comes out


class Figures:
    """The tables of one run of a bench.

    Made before anything is measured: exits if the measured code has uncommitted changes, because nobody could check
    out what the figures are of.
    """

    def __init__(self, bench: str, arguments: Sequence[str] | None = None) -> None:
        self.bench = bench
        given = sys.argv[1:] if arguments is None else arguments
        self.command = shlex.join(["python", "-m", f"tests.bench.{bench}", *given])
        self.commit = clean_commit()

    def write(self, page: Path, name: str, lines: Sequence[str], measured: str) -> None:
        """Replace a table of this bench; `measured` says which code was measured, and how."""
        facts = f"Commit {self.commit}, {date.today().isoformat()}, {machine()}. Measured: {measured}."
        table = "\n".join(lines).strip()
        fill(page, f"{self.bench} {name}", f"```sh\n{self.command}\n```\n\n{table}\n\n{facts}")


def clean_commit(root: Path = ROOT) -> str:
    """Return the checkout's commit. Raises SystemExit if it has uncommitted changes in what is measured."""
    changed = git(root, "status", "--porcelain", "--", *MEASURED)
    if changed:
        raise SystemExit(f"Figures are written from committed code only. Commit or remove first:\n{changed}")
    return git(root, "rev-parse", "--short=8", "HEAD").strip()


def git(root: Path, *arguments: str) -> str:
    asked = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if asked.returncode:
        raise SystemExit(f"Figures are written in a git checkout only: {asked.stderr.strip()}")
    return asked.stdout


def machine() -> str:
    """`2 cores of an AMD EPYC, Python 3.13.5, OpenCV 5.0.0`."""
    cpus = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.+)$", cpus.read_text("utf-8") if cpus.is_file() else "", re.MULTILINE)
    cpu = models[0] if models else platform.machine()
    opencv = ".".join(version("opencv-python").split(".")[:3])
    return f"{os.cpu_count()} cores ({cpu}), Python {platform.python_version()}, OpenCV {opencv}"


def marks(name: str) -> tuple[str, str]:
    """Return the lines of the page between which a table goes."""
    return f"<!-- measured: {name} -->", f"<!-- end of {name} -->"


def fill(page: Path, name: str, text: str) -> None:
    """Replace what is between the marks of a table. Raises ValueError if the page lacks them."""
    begin_mark, end_mark = marks(name)
    before, begin, rest = page.read_text(encoding="utf-8").partition(begin_mark)
    _, end, after = rest.partition(end_mark)
    if not end:
        raise ValueError(f"{page} lacks the marks {begin_mark} and {end_mark}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
