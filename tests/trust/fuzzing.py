"""Shared parts of the fuzzers: hostile words, mutations, findings, options and the final report."""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import category

from companion.app import cli

MISTAKE = "The companion has made a mistake"
"""Beginning of the command line's sentence about an internal error."""

TRACE = "Traceback (most recent call last)"
MARK = "zqx<b>\"'&zqx"
"""A unique text; pages must escape it."""

ESCAPE = "\x1b]0;zqx\x07\x1b[2J"
"""Clears a terminal and names its window, if printed unchanged."""

MOST_SHOWN = 20

WORDS = (
    "", " ", "\x00", "\ufeff", "\u202e", "\u2028", "\x85", "\r", "\t", ESCAPE, MARK, "%s%(name)s%n", "{{ 7 * 7 }}",
    "{0.__class__}", "../../../etc/passwd", "/etc/passwd", "..\\..\\x", "'; DROP TABLE event; --", "-1", "0",
    "00000000000000000001", "1e309", "NaN", "inf", "9" * 30, "9" * 5000, "0x" + "f" * 6000, "2147483648",
    "9223372036854775808", "²", "٣", "Ⅷ", "true", "null", "[]", "{}", "[" * 3000, "é" * 50, "e\u0301" * 50, "👨‍👩‍👧‍👦",
    "Аnn", "а" * 4000, "Ann,Bob", "Ann=Bob", "-", "_", "side", "hand", "anyway", "exhausted",
)  # fmt: skip
"""Words that often break programs."""


class TooLong(BaseException):
    """A sample took too long."""


@dataclass
class Findings:
    """Numbers of samples and faults; the first few faults are kept whole."""

    name: str
    tried: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest_s: float = 0.0
    slowest: str = ""
    figures: dict[str, object] = field(default_factory=dict)
    began_s: float = field(default_factory=time.monotonic)

    def found(self, what: str, sample: object = "") -> None:
        self.wrong.append(f"{what}\n    with {shortened(sample)}")
        if len(self.wrong) <= MOST_SHOWN:
            print(f"FOUND {self.wrong[-1]}", flush=True)

    def took(self, seconds: float, what: str) -> None:
        if seconds > self.slowest_s:
            self.slowest_s, self.slowest = seconds, what

    def add(self, other: Findings) -> None:
        self.tried += other.tried
        self.wrong += other.wrong  # already printed by the other process
        self.took(other.slowest_s, other.slowest)

    @contextlib.contextmanager
    def trying(self, kind: str, sample: object = "", *, within_s: float = 20.0) -> Iterator[None]:
        """Count a sample; an exception or timeout is a finding."""
        self.tried[kind] += 1
        start_s = time.monotonic()
        try:
            with at_most(within_s):
                yield
        except TooLong:
            self.found(f"{kind}: took longer than {within_s:g} s", sample)
        except Exception:
            self.found(f"{kind}: {last_lines(traceback.format_exc())}", sample)
        self.took(time.monotonic() - start_s, kind)

    def close(self) -> int:
        """Print the result; return 1 if there are findings."""
        if len(self.wrong) > MOST_SHOWN:
            print(f"… and {len(self.wrong) - MOST_SHOWN} more")
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(self.tried.items()))
        figures = "".join(f", {name} {value}" for name, value in self.figures.items())
        print(
            f"{self.name}: {self.tried.total():,} tried ({kinds}), {len(self.wrong)} findings{figures},"
            f" slowest {self.slowest_s:.2f} s ({self.slowest}), {time.monotonic() - self.began_s:.0f} s in all"
        )
        return 1 if self.wrong else 0


def shortened(sample: object, most: int = 600) -> str:
    said = repr(sample)
    return said if len(said) <= most else f"{said[:most]}… ({len(said)} signs)"


def last_lines(trace: str, most: int = 6) -> str:
    return " | ".join(line.strip() for line in trace.strip().splitlines()[-most:])


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooLong in the main thread after a time, if the system has alarms."""

    def ring(*_: object) -> None:
        raise TooLong

    try:
        before = signal.signal(signal.SIGALRM, ring)
    except ValueError:  # Not the main thread: no alarms there.
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


Usual = int | float | str | bool | tuple[str, ...]


def arguments(doc: str, count: str, usual: float, **more: Usual) -> argparse.Namespace:
    """Parse the options of a script: the number of samples, the seed, and `more` with their defaults.

    A tuple lists the choices, default first.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(f"--{count}", type=type(usual), default=usual, help=f"how many (default {usual:,})")
    parser.add_argument("--seed", type=int, default=1, help="other samples; the same seed gives the same ones")
    for name, value in more.items():
        if isinstance(value, bool):
            parser.add_argument(f"--{name}", action="store_true")
        elif isinstance(value, tuple):
            parser.add_argument(f"--{name}", choices=value, default=value[0])
        else:
            parser.add_argument(f"--{name}", type=type(value), default=value, help=f"default {value}")
    return parser.parse_args()


def fuzz(name: str, doc: str, run: Callable[[Findings, int, int, Path], object], *, times: int) -> int:
    """Run a fuzzer in a temporary folder with its options, and print the result."""
    given, findings = arguments(doc, "times", times), Findings(name)
    with tempfile.TemporaryDirectory() as folder:
        run(findings, given.times, given.seed, Path(folder))
    return findings.close()


# --- Mutations ------------------------------------------------------------------------------------------------


def mutated_bytes(data: bytes, chance: random.Random, most: int = 8) -> bytes:
    """Change, cut, double or move a few bytes, or replace a 2- or 4-byte number by an extreme one."""
    out = bytearray(data)
    for _ in range(chance.randint(1, most)):
        way, at = (
            chance.choice(("flip", "flip", "set", "cut", "insert", "double", "number")),
            chance.randint(0, len(out)),
        )
        if way == "insert":
            out[at:at] = chance.randbytes(chance.choice((1, 2, 4, 16, 64)))
        elif at == len(out):
            continue
        elif way == "flip":
            out[at] ^= 1 << chance.randrange(8)
        elif way == "set":
            out[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        elif way == "cut":
            del out[at : at + chance.choice((1, 2, 4, 16, len(out)))]
        elif way == "double":
            out[at:at] = out[at : at + chance.choice((1, 4, 32, 256))]
        elif at + 4 < len(out):
            size = chance.choice((2, 4))
            value = chance.choice((0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)) & (256**size - 1)
            out[at : at + size] = value.to_bytes(size, chance.choice(("big", "little")))
    return bytes(out)


def mutated_text(text: str, chance: random.Random, words: Sequence[str] = WORDS, most: int = 4) -> str:
    lines = text.split("\n")
    for _ in range(chance.randint(1, most)):
        at = chance.randrange(len(lines))
        lines[at : at + 1] = _changed(lines[at], chance, words)
        lines = lines or [""]
    return "\n".join(lines)


def _changed(line: str, chance: random.Random, words: Sequence[str]) -> list[str]:
    """Return the lines that replace a line."""
    at, word = chance.randint(0, len(line)), chance.choice(words)
    parts = line.split(" ")
    parts[chance.randrange(len(parts))] = word
    another_word, another_sign = " ".join(parts), line[:at] + chance.choice('="[]{}.,#>!*-_0\\ \x00éа') + line[at + 1 :]
    return chance.choice((
        [another_word], [another_word], [another_sign], [another_sign], [line[:at] + word + line[at:]],
        [line[:at] + line[at + 1 :]], [line] * chance.choice((2, 2, 3, 40)), [],
        [line, " ".join(chance.choice(words) for _ in range(chance.randint(1, 4)))],
    ))  # fmt: skip


def written_otherwise(text: str, chance: random.Random) -> bytes:
    """Encode a text: mostly as UTF-8, sometimes in another encoding, sometimes damaged."""
    encoding = chance.choice(("utf-8",) * 12 + ("utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp037", "utf-32"))
    text = text.replace("\n", chance.choice(("\n",) * 6 + ("\r\n", "\r", "\n\r", "\x0b")))
    data = text.encode(encoding, errors="replace")
    return mutated_bytes(data, chance) if chance.random() < 0.15 else data


# --- The command line -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str


def run_command(*words: str) -> Ran:
    """Run a command in this process, with strict UTF-8 output."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict") for _ in range(2))
    argv, code = sys.argv, 0
    sys.argv = ["companion", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.argv = argv
    return Ran(code, *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def faults_of(ran: Ran, *, sentences: int | None = None, longest: int = 2000) -> list[str]:
    """Return the faults in a command's output: internal errors, control characters, too many or long sentences."""
    both = ran.out + ran.err
    wrong = [f"said {both[both.find(MISTAKE) :][:300]}"] if MISTAKE in both else []
    wrong += ["a traceback"] if TRACE in both else []
    if ran.code not in (0, 1, 2):
        wrong.append(f"ended with {ran.code}")
    # Spaces of other widths do not control the terminal.
    steering = sorted(char for char in {*both} - {"\n"} if not (char.isprintable() or category(char) == "Zs"))
    wrong += [f"printed {steering!r}"] if steering else []
    lines = ran.err.splitlines()
    if any(len(line) > longest for line in lines):
        wrong.append(f"a sentence of {max(map(len, lines))} signs")
    if sentences is not None and len(lines) > sentences:
        wrong.append(f"{len(lines)} lines where {sentences} would do: {lines[:3]}")
    return wrong


def golden() -> tuple[Path, ...]:
    return tuple(sorted((Path(__file__).parents[1] / "golden").glob("*.mbn")))
