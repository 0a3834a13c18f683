"""Break the rules one by one and report which test notices: `python tests/mutations.py [NAME…] [--jobs N]`.

Each change is made in a copy of the project, where the tests of the rules run until the first failure. Random plays and
tests marked `long` are left out: every rule needs a test that names it and that `deploy/test` runs.
"""

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
RULES = "companion/rules"
COPIED = ("companion", "tests", "web", "card_templates", "pyproject.toml", "README.md")
TOO_LONG_S = 300

TESTS = """
referee scoring rush asmodee bsd_mille parker dujardin
traps every_sheet notation judge golden edition reasons corrections
"""
SUITE = [f"test_{name}.py" for name in TESTS.split()]
"""A rule file's own test, or its edition's, runs first; without one, the first of these does."""

CHANGE = re.compile(r"\[-(.*?)-\]|\{\+(.*?)\+\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mutation:
    """A mistake in one rule: `new` replaces `old`, which occurs once in the file."""

    name: str
    file: str
    """Relative to `companion/rules`."""

    old: str
    new: str


def _mutations() -> Iterator[Mutation]:
    """Read mutations.txt: [file], then lines `name: change` in the format of `git diff --word-diff`."""
    file = ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        name, _, change = line.replace("\\n", "\n").partition(": ")
        if change:
            yield Mutation(name, file, CHANGE.sub(r"\1", change), CHANGE.sub(r"\2", change))
        else:
            file = line.strip("[]")


MUTATIONS = tuple(_mutations())
UNCHANGED = Mutation("nothing is changed", "", "", "")


def main() -> int:
    """Print a line per mutation; return 1 if one survived, 2 if tests fail without mutations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of a mutation's name (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="number of mutations tried in parallel")
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS if not options.names or any(name in m.name for name in options.names)]
    with tempfile.TemporaryDirectory() as folder:
        copies = [copy_of_project(Path(folder) / str(number)) for number in range(options.jobs)]
        for mutation in chosen:
            mutated(text_of(copies[0], mutation), mutation)
        failed = first_failure(copies[0], UNCHANGED, writes_bytecode=True)
        if failed:
            print(f"Without any mutation {failed} fails: the tests have to pass first.")
            return 2
        survived = survivors(chosen, copies)
    print(f"{len(chosen)} mutations, {len(chosen) - survived} noticed, {survived} survived")
    return 1 if survived else 0


def survivors(chosen: Sequence[Mutation], copies: Iterable[Path]) -> int:
    """Try mutations, print which test noticed each, and return the number that no test noticed."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def tried(mutation: Mutation) -> str | None:
        copy = free.get()
        try:
            return first_failure_with(copy, mutation)
        finally:
            free.put(copy)

    survived = 0
    with ThreadPoolExecutor(free.qsize()) as pool:
        for mutation, noticed_by in zip(chosen, pool.map(tried, chosen), strict=True):
            print(f"{mutation.name:<62}  {noticed_by or 'SURVIVED'}", flush=True)
            survived += noticed_by is None
    return survived


def copy_of_project(to: Path) -> Path:
    """Copy what the tests of the rules need, without bytecode."""
    to.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "stills"))
        else:
            shutil.copy2(ROOT / name, to / name)
    return to


def first_failure_with(copy: Path, mutation: Mutation) -> str | None:
    """Return the first test that fails with the mutation, then restore the file."""
    path = copy / RULES / mutation.file
    original = copy / "original"
    shutil.copy2(path, original)
    path.write_text(mutated(text_of(copy, mutation), mutation), encoding="utf-8")
    try:
        return first_failure(copy, mutation)
    finally:
        # Restore the modification time too: bytecode is matched by it.
        shutil.copy2(original, path)


def text_of(root: Path, mutation: Mutation) -> str:
    return (root / RULES / mutation.file).read_text(encoding="utf-8")


def mutated(text: str, mutation: Mutation) -> str:
    """Return the text with the mutation. Raises ValueError unless the old text occurs exactly once."""
    if text.count(mutation.old) != 1:
        raise ValueError(f"'{mutation.name}': its text stands {text.count(mutation.old)} times in {mutation.file}.")
    return text.replace(mutation.old, mutation.new)


def first_failure(copy: Path, mutation: Mutation, *, writes_bytecode: bool = False) -> str | None:
    """Return the name of the first failing test, or None."""
    own = f"test_{re.sub('-[0-9]+$', '', Path(mutation.file).stem).replace('-', '_')}.py"
    likeliest = own if own in SUITE else SUITE[0]
    others = [name for name in SUITE if name != likeliest]
    return next(filter(None, (_run(copy, files, writes_bytecode) for files in ([likeliest], others))), None)


def _run(copy: Path, files: Iterable[str], writes_bytecode: bool) -> str | None:
    environment = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "400", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if not writes_bytecode:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    command += [f"tests/{name}" for name in files]
    try:
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=TOO_LONG_S)
    except subprocess.TimeoutExpired:
        return "a test that does not end"
    return None if run.returncode == 0 else failure_in(run.stdout)


def failure_in(output: str) -> str:
    """Return the failed test from pytest's output."""
    found = re.search(r"^(?:FAILED|ERROR) tests/(\S+)", output, re.MULTILINE)
    return found[1] if found else f"pytest itself: {output.strip().splitlines()[-1:]}"


if __name__ == "__main__":
    sys.exit(main())
