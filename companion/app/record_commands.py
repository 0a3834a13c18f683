"""The commands for records, editions, robots and exported matches."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from companion.app.reports import edition_report, report
from companion.app.usage import (
    FILE,
    WRONG,
    Group,
    Number,
    answer_in,
    data_option,
    editions_of_data,
    here,
    print_json,
    tell,
    warn,
)
from companion.common.errors import Problem, cause
from companion.common.languages import LANGUAGES
from companion.common.small_file import is_text, text_of
from companion.common.terminal import plain
from companion.common.text import say
from companion.rules.editions.edition import EditionError, edition_names, load_edition, read_edition
from companion.rules.editions.edition_file import read_file
from companion.rules.record import judge, notation
from companion.rules.record.judge import JudgedLine

_MOST_RECORD_BYTES = 256_000_000

MOST_UNREADABLE = 5  # a file that begins with so many unreadable lines is not taken for a record
_records = click.argument("records", nargs=-1, required=True, metavar="RECORD...", type=FILE)


def _read_record(path: Path) -> str | None:
    """Return the text of a record; None after a warning if the file is not text."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_RECORD_BYTES + 1)
    except OSError as error:
        raise Problem(
            "The record %(path)s cannot be read (%(error)s): check the path.", path=path, error=cause(error)
        ) from error
    if len(raw) > _MOST_RECORD_BYTES:
        most = _MOST_RECORD_BYTES // 1_000_000
        raise Problem("%(path)s is larger than %(mb)d MB, too large for a record.", WRONG, path=path, mb=most)
    text = text_of(raw, errors="replace")
    if is_text(text):
        return text
    warn(say("%(path)s is not a record: a record is a text file with one play per line.", path=path))
    return None


@click.command()
@_records
@click.option("--as-lies", is_flag=True, help="Apply illegal plays too, as if the table had accepted them.")
@click.option("--states", is_flag=True, help="With --json: add the table's state after each line.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per line, and one at the end of each hand."
)
@editions_of_data
def replay(records: tuple[Path, ...], as_lies: bool, states: bool, as_json: bool) -> int:
    """Judge records line by line, and print each hand's score sheet.

    \b
    Example: companion replay sunday.mbn --json
    """
    judged = partial(_replayed_as_json, states=states) if as_json else _told
    return _of_each(records, partial(judged, as_lies=as_lies))


def _of_each(records: Sequence[Path], judged: Callable[[Path, str], int]) -> int:
    """Read every record first, then judge each; return the exit code."""
    texts = [(path, _read_record(path)) for path in records]
    return max([WRONG if text is None else judged(path, text) for path, text in texts])


def _replayed_as_json(path: Path, text: str, *, as_lies: bool, states: bool) -> int:
    """Print a JSON object for each line and hand; return the exit code."""
    file, wrong = str(path), False
    for item in judge.judge(notation.lines(text), as_lies=as_lies):
        if isinstance(item, JudgedLine):
            wrong |= item.verdict != judge.LEGAL
            print_json(item.as_json(file, states=states))
        else:
            print_json(item.as_json(file))
    return WRONG if wrong else 0


def _told(path: Path, text: str, *, as_lies: bool = False, scores_alone: bool = False) -> int:
    """Print the verdict on each line and the score sheet of each hand; return the exit code.

    `scores_alone` prints only the sheets, and lines that were not legal on standard error.
    """
    file, lines, hands = str(path), list[JudgedLine](), 0
    add: Callable[[str], None] = (lambda said: warn(f"  {here(said)}")) if scores_alone else tell
    if scores_alone:
        click.echo(report.printable(path.name))
    for item in judge.judge(notation.lines(text), as_lies=as_lies):
        if isinstance(item, judge.HandResult):
            hands += 1
            click.echo("\n".join(["", *report.score_sheet(item), *([] if scores_alone else [""])]))
            continue
        # Without its table each line takes little memory.
        lines.append(item._replace(table=None))
        if not scores_alone:
            click.echo(report.judged_line(item, file))
        elif item.verdict != judge.LEGAL:
            line = report.judged_line(item, file)
            add(say("counted anyway: %(line)s", line=line) if item.applied else say("not counted: %(line)s", line=line))
        if _seems_no_record(file, text, lines):
            return WRONG
    for sentence in report.closing(lines, as_lies=as_lies):
        add(sentence)
    if scores_alone and lines and not hands:
        add(say("No hand could be counted."))
    if not lines:
        warn(say("%(path)s has no plays.", path=file))
    return WRONG if any(line.verdict != judge.LEGAL for line in lines) else 0


def _seems_no_record(file: str, text: str, lines: Sequence[JudgedLine]) -> bool:
    """True if a file's first lines are all unreadable; prints this once, instead of an error for each line."""
    if len(lines) != MOST_UNREADABLE or any(line.verdict != judge.UNREADABLE for line in lines):
        return False
    if any(line.lower().split()[:1] == ["side"] for line in text.splitlines()):
        return False
    warn(
        say(
            "%(path)s: the first %(count)d lines cannot be read. Is this a record? "
            "A record starts with the players, as in `side Ann`; docs/records.md shows one.",
            path=file,
            count=MOST_UNREADABLE,
        )
    )
    return True


@click.command()
@_records
@editions_of_data
def score(records: tuple[Path, ...]) -> int:
    """Print the score sheets of records as text tables.

    \b
    Example: companion score sunday.mbn
    """
    return _of_each(records, partial(_told, scores_alone=True))


@click.command()
@click.option("--level", default="2", type=click.Choice(["1", "2", "3"]), help="1 easy, 2 good (default), 3 best.")
@click.option("--seconds", metavar="S", type=Number(0.01, 60), help="Time for each move of level 3, in seconds.")
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), help="Give the same answers each time; not with --seconds."
)
@editions_of_data
def robot(level: str, seconds: float | None, seed: int | None) -> None:
    """Answer other programs: read a position on each input line, print a robot's play on each output line.

    \b
    Example: companion robot --level 3 --seed 1 < questions.jsonl
    """
    from companion.robots.robot import Dialogue, Level
    from companion.robots.search import Effort

    dialogue = Dialogue(Level(int(level)), Effort(seconds=seconds), seed)
    for line in sys.stdin.buffer:
        if line.strip():
            asked = line.decode("utf-8", errors="replace")
            print_json(dialogue.answer(asked))


@click.command()
@click.option("--edition", metavar="E", help="Rules and cards (default classic).")
@click.option("--name", metavar="NAME", help="Your name.")
@click.option("--players", type=click.IntRange(2, 6), help="Number of players including you (default 2).")
@click.option("--pairs", is_flag=True, help="Play in pairs, if the edition allows both.")
@click.option("--level", type=click.Choice(["1", "2", "3"]), help="1 easy, 2 good (default), 3 best.")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="Deal the same cards each time.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Language of the game (default: the terminal's).")
@click.argument("file", required=False, metavar="[FILE]", type=FILE)
@editions_of_data
def play(file: Path | None, language: str | None, **asked: Any) -> None:
    """Play against robots in the terminal. The game is saved in FILE; if FILE exists, that game continues.

    \b
    Example: companion play --edition bsd-mille --level 3
    Example: companion play --players 4 sunday.json
    """
    from companion.app.robot_match import begun_or_resumed
    from companion.app.terminal_game import TerminalGame

    answer_in(language)
    TerminalGame(begun_or_resumed(file, **asked), file, _typed_line, click.echo).run()


def _typed_line(prompt: str) -> str | None:
    """Return the next line of standard input, None at its end; echo it if it is not typed on a terminal."""
    click.echo(prompt, nl=False)
    try:
        typed_bytes = sys.stdin.buffer.readline()
    except OSError:
        # The terminal was closed.
        return None
    line = typed_bytes.decode("utf-8", errors="replace").replace("\x00", "").strip()
    if not (typed_bytes and sys.stdin.isatty()):
        click.echo(plain(line))
    return line if typed_bytes else None


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
@data_option
def editions(context: click.Context, data: Path | None) -> None:
    """List the editions; show or check one.

    \b
    Example: companion editions show classic
    """
    del data
    if context.invoked_subcommand is None:
        click.echo("\n".join(edition_report.listing([load_edition(name) for name in edition_names()])))


@editions.command("show")
@click.argument("edition")
@editions_of_data
def show_edition(edition: str) -> None:
    """Print an edition: cards, seating, targets, points, and every switch with its source. EDITION may be a .toml file.

    \b
    Example: companion editions show classic
    """
    shown = read_edition(Path(edition)) if edition.endswith(".toml") else load_edition(edition)
    columns = shutil.get_terminal_size((edition_report.WIDTH, 0)).columns
    click.echo("\n".join(edition_report.sheet(shown, min(max(columns, 80), 100))))


@editions.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@editions_of_data
def check_editions(files: tuple[Path, ...]) -> int:
    """Check your own edition files and print every mistake.

    \b
    Example: companion editions check our-rules.toml
    """
    return max(map(_check_edition, files))


def _check_edition(path: Path) -> int:
    """Print the faults of an edition file, one a line; return the exit code."""
    try:
        faults = read_file(path).faults
    except EditionError as error:
        warn(str(error))
        return 2
    for fault in faults:
        warn(fault.in_file(path))
    if not faults:
        edition = read_edition(path)
        click.echo(f"{path}: {edition_report.in_order(edition)}")
        if path.name != f"{edition.name}.toml":
            named = f"{edition.name}.toml"
            tell(say("%(path)s: in the data folder, name the file %(file)s.", path=path, file=named))
    return WRONG if faults else 0


@click.command()
@click.argument("match", type=int, metavar="MATCH")
@click.option(
    "--format",
    "form",
    default="mbn",
    show_default=True,
    type=click.Choice(["mbn", "json", "csv"]),
    help="Record, JSON or table.",
)
@data_option
def export(match: int, form: str, data: Path | None) -> None:
    """Write match number MATCH from the data folder to standard output.

    \b
    Example: companion export 1 --format csv
    """
    from companion.app import service

    click.echo(service.exported(match, form, data), nl=False)


COMMANDS = (replay, score, robot, play, editions, export)
