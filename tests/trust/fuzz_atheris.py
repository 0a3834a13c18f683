"""Fuzzing guided by coverage, where atheris can be had (`pip install atheris`; it is no test dependency: there is none
for the Raspberry Pi): `PYTHONPATH=tests:. python tests/trust/fuzz_atheris.py TARGET -- -max_total_time=300`.

TARGET is notation, judge, edition, setup, picture, deck or backup. What stands behind `--` goes to libFuzzer; an input
that is a finding is left in the current folder as `crash-…`, and `TARGET -- FILE` tries it again.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

try:
    import atheris
except ImportError:
    atheris = None

WATCHED = (
    "rules", "said", "setup", "decks", "drawn_zones", "report", "edition_report", "bundle", "image", "vision.picture",
)  # fmt: skip
"""The rooms in which it is watched which lines are reached."""

_watched = [f"companion.{room}" for room in WATCHED]
with atheris.instrument_imports(include=_watched) if atheris else contextlib.nullcontext():
    from trust.fuzz_files import hostile_backup, sound_pictures
    from trust.fuzz_toml import DECK, EDITION, SETUP
    from trust.fuzzing import golden

    from companion.app.backup_archive import read_bundle
    from companion.app.reports import edition_report, report
    from companion.common.errors import Problem
    from companion.match.setup_file import read_setup
    from companion.rules.editions.edition import _built
    from companion.rules.editions.edition_file import read_text
    from companion.rules.record import judge, notation
    from companion.rules.table import Team
    from companion.tabletop.template_decks import read_description
    from companion.vision.capture.image_io import declared_size

MOST_BYTES = 20_000
Target = Callable[[bytes], None]


def main() -> int:
    """Hands a target to atheris; 2 where there is none."""
    words = sys.argv[1:]
    if not words or words[0] not in TARGETS:
        print(f"{__doc__}\nThere is no target {words[:1]}: {', '.join(TARGETS)}")
        return 2
    if atheris is None:
        print("atheris is not installed: pip install atheris")
        return 2
    name, rest = words[0], [word for word in words[1:] if word != "--"]
    with tempfile.TemporaryDirectory() as corpus:
        if not any(Path(word).exists() for word in rest):
            write_corpus(name, Path(corpus))
            rest = [*rest, corpus]
        atheris.Setup(
            [sys.argv[0], f"-max_len={MOST_BYTES}", "-timeout=20", "-rss_limit_mb=3000", *rest], TARGETS[name]
        )
        atheris.Fuzz()
    return 0


def write_corpus(name: str, folder: Path) -> None:
    """What a target starts from."""
    for number, data in enumerate(samples(name)):
        (folder / str(number)).write_bytes(data)


def samples(name: str) -> list[bytes]:
    """Sound inputs of a target."""
    if name in ("notation", "judge"):
        texts = [path.read_bytes() for path in golden()]
        lines = [line for text in texts[:6] for line in text.splitlines()]
        return lines if name == "notation" else [b"\n".join(text.splitlines()[:25]) for text in texts]
    return {
        "edition": [EDITION.encode()],
        "setup": [SETUP.encode(), SETUP.replace("[[zone]]", "#").encode()],
        "picture": list(sound_pictures()),
        "deck": [DECK.encode()],
        "backup": [hostile_backup(random.Random(number)) for number in range(20)],
    }[name]


def check_sentence(error: Exception) -> None:
    """Whether what went wrong is said in a sentence of one line."""
    assert str(error)
    assert str(error).isprintable()


def try_notation(data: bytes) -> None:
    """A line is read or refused, and one that is read can be written and read again."""
    text = data.decode("utf-8", "replace")
    teams = [Team("Reds", ("Ann", "Cid")), Team("Bob", ("Bob",))]
    for line in notation.lines(text):
        try:
            play = notation.parse_play(line.text, teams)
        except notation.Unreadable as error:
            check_sentence(error)
        else:
            assert notation.parse_play(str(play), teams) == play
        try:
            notation.parse_header(line.text)
        except notation.Unreadable as error:
            check_sentence(error)


def try_judge(data: bytes) -> None:
    """A record is judged to its end, by the rules and as it lies."""
    text = data.decode("utf-8", "replace")
    for as_lies in (False, True):
        for item in judge.judge(notation.lines(text), as_lies=as_lies):
            if isinstance(item, judge.JudgedLine):
                json.dumps(item.as_json("f"))
                assert report.judged_line(item, "f").isprintable()
            else:
                json.dumps(item.as_json("f"))
                report.score_sheet(item)


def try_edition(data: bytes) -> None:
    """An edition file is in order and can be used, or every fault in it has a line and a sentence."""
    reading = read_text(data.decode("utf-8", "replace"))
    assert all(fault.line >= 1 and fault.say.isprintable() for fault in reading.faults)
    if not reading.faults:
        edition_report.sheet(_built(reading.entries), 100)


def try_setup(data: bytes) -> None:
    """A setup file is read, and then begins a match, or is refused in a sentence."""
    try:
        setup = read_setup(written(data, "table.toml"))
    except Problem as problem:
        check_sentence(problem)
        return
    game = judge.NEW_GAME
    for number, text in enumerate([*setup.header(), f"hand first {setup.first}"], start=1):
        game, items = judge.step(game, notation.Line(number, text))
        assert not items, items
    assert game.hand_is_open


def try_picture(data: bytes) -> None:
    """A picture's first bytes tell its size, or it is none."""
    size = declared_size(data)
    assert size is None or (len(size) == 2 and min(size) >= 0)


def try_deck(data: bytes) -> None:
    """A deck's own file is read, or refused in a sentence."""
    try:
        read_description(written(data, "deck.toml").parent)
    except Problem as problem:
        check_sentence(problem)


def try_backup(data: bytes) -> None:
    """A backup is read, or refused in a sentence."""
    try:
        read_bundle(Path("backup.zip"), data)
    except Problem as problem:
        check_sentence(problem)


_FOLDER = tempfile.TemporaryDirectory()


def written(data: bytes, name: str) -> Path:
    """A file that holds an input."""
    path = Path(_FOLDER.name) / "ours" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


TARGETS: dict[str, Target] = {
    "notation": try_notation, "judge": try_judge, "edition": try_edition, "setup": try_setup, "picture": try_picture,
    "deck": try_deck, "backup": try_backup,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
