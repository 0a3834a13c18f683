"""The command line. Each command reads its input, hands it to the room that knows, and prints what comes back.

Rooms are imported inside the commands: `companion replay` must not wait for OpenCV.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from companion import __version__
from companion.errors import Problem

_WRONG = 1
"""Exit code: done, and something is wrong in the input."""


def main() -> None:
    """The console script: runs a command, and turns what went wrong into one sentence and an exit code."""
    try:
        code = companion.main(standalone_mode=False)
    except click.ClickException as error:
        code = _complain(error.format_message(), 2)
    except Problem as problem:
        code = _complain(str(problem), problem.exit_code)
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        # The reader of our output has gone (`companion … | head`); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _complain(sentence: str, code: int) -> int:
    click.echo(sentence, err=True)
    return code


def _data(command: Callable[..., Any]) -> Callable[..., Any]:
    option = click.option(
        "--data",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="COMPANION_DATA",
        help="Where matches, decks and settings live (default: your user data folder).",
    )
    return option(command)


def _read_record(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise Problem(f"The record {path} cannot be read ({error.strerror}): check the path.") from error


def _print_json(items: Iterable[dict[str, Any]]) -> None:
    for item in items:
        click.echo(json.dumps(item, ensure_ascii=False))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="companion")
def companion() -> None:
    """Watches a real Mille Bornes table, referees it and keeps the score.

    \b
    Example: companion demo
    """


@companion.command()
@click.argument("records", nargs=-1, required=True, metavar="RECORD...", type=click.Path(path_type=Path))
@click.option("--as-lies", is_flag=True, help="Apply illegal plays too: the cards lie where they lie.")
@click.option("--states", is_flag=True, help="Add the table after each line.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, one at each hand's end.")
@_data
def replay(records: tuple[Path, ...], as_lies: bool, states: bool, as_json: bool, data: Path | None) -> int:
    """Judge written records line by line, and score each hand.

    \b
    Example: companion replay sunday.mbn --json
    """
    del data
    texts = [(str(path), _read_record(path)) for path in records]
    wrong = False
    for file, text in texts:
        for said, bad in _replayed(file, text, as_lies=as_lies, states=states, as_json=as_json):
            wrong |= bad
            click.echo(said)
    return _WRONG if wrong else 0


def _replayed(file: str, text: str, *, as_lies: bool, states: bool, as_json: bool) -> Iterator[tuple[str, bool]]:
    """What to print for each line and hand, and whether something is wrong with it."""
    from companion import report
    from companion.rules import judge, notation

    for item in judge.judge(notation.lines(text), as_lies=as_lies):
        if isinstance(item, judge.JudgedLine):
            bad = item.verdict != judge.LEGAL
            said = json.dumps(item.as_json(file, states=states), ensure_ascii=False)
            yield said if as_json else report.judged_line(item, file), bad
        else:
            sheet = json.dumps(item.as_json(file), ensure_ascii=False)
            yield sheet if as_json else "\n".join(["", *report.score_sheet(item), ""]), False


@companion.command()
@click.argument("records", nargs=-1, required=True, metavar="RECORD...", type=click.Path(path_type=Path))
@_data
def score(records: tuple[Path, ...], data: Path | None) -> int:
    """The score sheets of written records, as text tables.

    \b
    Example: companion score sunday.mbn
    """
    del data
    from companion import report
    from companion.rules import judge, notation

    texts = [(path, _read_record(path)) for path in records]
    wrong = False
    for path, text in texts:
        click.echo(path.name)
        for item in judge.judge(notation.lines(text)):
            if isinstance(item, judge.HandResult):
                click.echo("\n".join(["", *report.score_sheet(item)]))
            elif item.verdict != judge.LEGAL:
                wrong = True
                click.echo(f"  not counted: {report.judged_line(item, str(path))}", err=True)
    return _WRONG if wrong else 0


@companion.group(invoke_without_command=True)
@click.pass_context
@_data
def editions(context: click.Context, data: Path | None) -> None:
    """The rule sets, and every switch with its value and source.

    \b
    Example: companion editions show classic
    """
    del data
    from companion import report
    from companion.rules.edition import edition_names

    if context.invoked_subcommand is None:
        click.echo("\n".join(report.edition_list(edition_names())))


@editions.command("show")
@click.argument("edition")
@_data
def show_edition(edition: str, data: Path | None) -> None:
    """Everything an edition says.

    \b
    Example: companion editions show classic
    """
    del data
    from companion import report

    click.echo("\n".join(report.edition_sheet(_edition(edition))))


@editions.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@_data
def check_editions(files: tuple[Path, ...], data: Path | None) -> int:
    """Check edition files of your own.

    \b
    Example: companion editions check our-rules.toml
    """
    del data
    from companion.rules.edition import EditionError, read_edition

    wrong = 0
    for path in files:
        try:
            edition = read_edition(path)
            click.echo(f"{path}: {edition.title} is in order, {sum(edition.deck.values())} cards.")
        except EditionError as error:
            wrong = _complain(str(error), _WRONG)
    return wrong


def _edition(name: str) -> Any:
    from companion.rules.edition import EditionError, load_edition

    try:
        return load_edition(name)
    except EditionError as error:
        raise Problem(str(error)) from error
