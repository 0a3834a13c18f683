"""Hostile records: `PYTHONPATH=tests:. python tests/trust/fuzz_records.py --times 5000`.

Golden records with words, lines and bytes changed, and bytes of any kind, through `replay`, `replay --json`,
`--as-lies --states` and `score`: sentences or JSON lines, never a fault of ours, nothing that steers a terminal; a
damaged line swallows no other.
"""

import json
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from trust.fuzzing import WORDS, Findings, faults_of, fuzz, golden, mutated_text, run_command, written_otherwise

from companion.common import small_file
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names
from companion.rules.editions.switches import switches
from companion.rules.play import Verb
from companion.rules.record import notation

LOOKALIKE = str.maketrans("aeopcxyAOBE1", "аеорсхуАОВЕ１")
OURS = (
    *map(str, Card),
    *map(str, Verb),
    *edition_names(),
    *switches(),
    *("Ann", "Bob", "!", ">", "under", "anyway", "for", "hand first Ann", "option extension=no", "target 1000"),
    *("100*2", "100*2*2", "100*999999999", "25*0", "*", "side A = B, C", 'player Ann "x"', "deck stop=5",
        "edition ../x",),
    *(f"side S{n}" for n in range(20)),
    "side " + ",".join(f"P{n}" for n in range(3000)),
    "option " + "=".join("x" * 9 for _ in range(300)),
)  # fmt: skip


def run(findings: Findings, times: int, seed: int, folder: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in golden()]
    for number in range(times):
        chance = random.Random(f"{seed}:{number}")
        data = hostile_record(chance.choice(texts), chance)
        path = folder / "hostile.mbn"
        path.write_bytes(data)
        with findings.trying(("bytes", "mutated")[is_text(data)], f"seed {seed} number {number}"):
            for fault in check_record(path, chance):
                findings.found(fault, f"seed {seed} number {number}: {data[:300]!r}")


def is_text(data: bytes) -> bool:
    """Whether a record is still UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def hostile_record(text: str, chance: random.Random) -> bytes:
    """A golden record, damaged; sometimes nothing but noise."""
    kind = chance.random()
    if kind < 0.05:
        return chance.randbytes(chance.choice((0, 1, 10, 500, 5000)))
    if kind < 0.15:
        return "\n".join(chance.choice((*WORDS, *OURS)) for _ in range(chance.randint(1, 60))).encode(
            "utf-8", "replace"
        )
    if kind < 0.2:
        return text.translate(LOOKALIKE).encode()
    if kind < 0.25:
        return unicodedata.normalize("NFD", text.replace("Ann", "Zoé")).encode()
    return written_otherwise(mutated_text(text, chance, (*WORDS, *OURS), most=6), chance)


def check_record(path: Path, chance: random.Random) -> Iterator[str]:
    """What is wrong with what the commands say of a record."""
    extra = chance.choice(((), ("--as-lies",), ("--as-lies", "--states"), ("--states",)))
    as_json = run_command("replay", "--json", *extra, str(path))
    if small_file.is_text(text_in(path)):
        yield from (f"replay --json {extra}: {fault}" for fault in faults_of_json(as_json.out, as_json.err))
        yield from lost_lines(path, as_json.out)
    elif as_json.out or "is not a record" not in as_json.err or as_json.err.count("\n") != 1:
        yield f"replay --json {extra}: no text, and said {as_json.err[:200]!r} {as_json.out[:200]!r}"
    for words in (("replay", *extra), ("score",)):
        ran = run_command(*words, str(path))
        yield from (f"{' '.join(words)}: {fault}" for fault in faults_of(ran, longest=6000))


def text_in(path: Path) -> str:
    return small_file.text_of(path.read_bytes(), errors="replace")


def faults_of_json(out: str, err: str) -> Iterator[str]:
    """Whether each line is one JSON object."""
    if err:
        yield f"said {err[:200]!r}"
    for line in out.split("\n")[:-1]:
        try:
            if not isinstance(json.loads(line), dict):
                yield f"no object: {line[:100]!r}"
        except ValueError:
            yield f"no JSON: {line[:200]!r}"


def lost_lines(path: Path, out: str) -> Iterator[str]:
    """Every line that says something is judged, or is a header that could be read: none is swallowed by another."""
    text = text_in(path)
    told = {item["line"]: item["text"] for item in map(json.loads, out.split("\n")[:-1]) if "line" in item}
    said = {line.number: line.text for line in notation.lines(text)}
    if not told.items() <= said.items():
        yield "a line is told otherwise than it stands there"
    quiet = [text for number, text in said.items() if number not in told]
    strange = [text for text in quiet if notation.read_header(text) is None]
    if strange:
        yield f"nothing is said about {strange[0][:80]!r}"


def huge_records() -> Iterator[tuple[str, bytes]]:
    """What somebody writes who wants the machine to stop."""
    begun = b"side Ann\nside Bob\nhand first Ann\n"
    yield "line", b"x" * 10_000_000
    yield "words", begun + b"Ann " * 2_500_000
    yield "quotes", begun + b'"#' * 3_000_000
    yield "arrows", begun + b"Ann stop " + b">" * 5_000_000
    yield "times", begun + b"Ann 100" + b"*2" * 3_000_000
    yield "name", b"side " + b"a" * 5_000_000
    yield "players", b"side A = " + b"B," * 300_000
    yield "deck", b"deck " + b"stop=5," * 500_000
    yield "cards", begun + b"Ann exchange " + b"25 " * 1_000_000
    yield "lines", begun + b"Ann roll\n" * 300_000
    yield "empty lines", b"\n" * 5_000_000
    yield "hands", begun + b"hand first Ann\n" * 100_000
    yield "sides", b"".join(b"side S%d\n" % number for number in range(100_000))
    yield "players to show", b"".join(b'player P%d "x"\n' % number for number in range(100_000))
    yield "options", b"option extension=no\n" * 100_000
    yield "no lines", b"\x00" * 5_000_000
    yield "digits", b"target " + b"9" * 1_000_000


if __name__ == "__main__":
    sys.exit(fuzz("records", __doc__, run, times=1000))
