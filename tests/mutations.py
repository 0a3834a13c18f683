"""Rules changed one by one: `python tests/mutations.py [NAME…] [--jobs N]` says which test notices each change.

Each change is made in a copy of the project and the tests of the rules are run there until the first failure. Left
out are the tests that play by chance and those marked `long`: a rule is held by a test that names it and that
`deploy/test` runs. NAME is a part of a mutation's name.
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
"""A file of rules is held first by the test of its name, or of its edition's; the others by the first of these."""

CHANGE = re.compile(r"\[-(.*?)-\]|\{\+(.*?)\+\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mutation:
    """One rule turned wrong: `old` stands once in the file, and `new` in its place is the mistake."""

    name: str
    file: str
    """Below `companion/rules`."""

    old: str
    new: str


def _mutations() -> Iterator[Mutation]:
    """Read mutations.txt: [file], then a line for each `name: change`, as `git diff --word-diff` writes changes."""
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
    """Prints a line for each mutation; 1 when one survived, 2 when the tests fail without any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a mutation's name; all without one")
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried at the same time")
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
    """Try mutations, print in their order which test noticed each, and return how many none has noticed."""
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
    """What the tests of the rules need, without what was compiled before."""
    to.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "stills"))
        else:
            shutil.copy2(ROOT / name, to / name)
    return to


def first_failure_with(copy: Path, mutation: Mutation) -> str | None:
    """The first test that fails in a copy with the mutation, which is taken back afterwards."""
    path = copy / RULES / mutation.file
    original = copy / "original"
    shutil.copy2(path, original)
    path.write_text(mutated(text_of(copy, mutation), mutation), encoding="utf-8")
    try:
        return first_failure(copy, mutation)
    finally:
        # Bytecode is found by the time of its source: the original's own time comes back with it.
        shutil.copy2(original, path)


def text_of(root: Path, mutation: Mutation) -> str:
    return (root / RULES / mutation.file).read_text(encoding="utf-8")


def mutated(text: str, mutation: Mutation) -> str:
    """A file's text with the mutation. Raises ValueError where its old text does not stand there exactly once."""
    if text.count(mutation.old) != 1:
        raise ValueError(f"'{mutation.name}': its text stands {text.count(mutation.old)} times in {mutation.file}.")
    return text.replace(mutation.old, mutation.new)


def first_failure(copy: Path, mutation: Mutation, *, writes_bytecode: bool = False) -> str | None:
    """The name of the first test that fails in a copy; None when all pass."""
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
    """The test that failed, from what pytest printed."""
    found = re.search(r"^(?:FAILED|ERROR) tests/(\S+)", output, re.MULTILINE)
    return found[1] if found else f"pytest itself: {output.strip().splitlines()[-1:]}"


if __name__ == "__main__":
    sys.exit(main())
