"""The command line. Each command reads its input, hands it to the room that knows, and prints what comes back.

Rooms are imported inside the commands: `companion replay` must not wait for OpenCV.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from companion import __version__
from companion.app import usage
from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.common.program_name import program, typed
from companion.common.terminal import plain, show_plainly

if TYPE_CHECKING:
    from companion.rules.record.judge import JudgedLine

_WRONG = 1
"""Exit code: done, and something is wrong in the input."""

_FILE = click.Path(path_type=Path)
_MOST_RECORD_BYTES = 256_000_000


def main() -> None:
    """Run a command, and turn what went wrong into one sentence and an exit code."""
    show_plainly()
    try:
        code = companion.main(prog_name=program(), standalone_mode=False)
    except click.ClickException as error:
        code = _complain(usage.sentence(error), 2)
    except Problem as problem:
        code = _complain(str(problem), problem.exit_code)
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        # The reader of our output has gone (`companion … | head`); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("COMPANION_DEBUG"):
            raise
        fault = f"{type(error).__name__}: {error}".splitlines()[0]
        code = _complain(f"The companion has made a mistake ({fault}). COMPANION_DEBUG=1 shows where.", _WRONG)
    sys.exit(code if isinstance(code, int) else 0)


_OWN_FILES = 0o077
"""Umask of what writes into the data folder, which may lie in a folder that others can look into."""


def _leave() -> None:
    """End the process at once: all is saved, and no thread that still reads a picture has to be waited for.

    An interpreter that is torn down under a thread in the picture library aborts.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _complain(sentence: str, code: int) -> int:
    """Say something on standard error; return the exit code."""
    _warn(sentence)
    return code


def _warn(sentence: str) -> None:
    """Say something on standard error; nothing that somebody has put into a file or its name steers the terminal."""
    click.echo(plain(sentence), err=True)


def _data_option(*, expose_value: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--data",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="COMPANION_DATA",
        callback=_with_own_editions,
        expose_value=expose_value,
        help="Where matches, decks, editions and settings live (default: your user data folder).",
    )


def _with_own_editions(context: click.Context, _option: click.Parameter, data: Path | None) -> Path | None:
    """Make the edition files in the data folder editions by their names, for every command."""
    from companion.storage.data_folder import editions_path

    if data is None and context.parent:
        data = context.parent.params.get("data")
    folder = editions_path(data)
    if (folder.parent / "restoring").is_dir():
        # A power cut has interrupted a restore: it is finished before anything is read.
        from companion.storage.event_store import locked

        with locked(folder.parent):
            pass
    if folder.is_dir():
        from companion.rules.editions.edition import keep_own_editions

        for sentence in keep_own_editions(folder):
            _warn(sentence)
    return data


_data = _data_option(expose_value=True)
_editions_of_data = _data_option(expose_value=False)
"""For commands that need the data folder for its editions alone."""


_deck = click.option(
    "--deck", metavar="DECK", help="Tell cards by the faces of this deck too: `own`, or one that you have enrolled."
)
_host = click.option("--host", default="0.0.0.0", show_default=True, metavar="H", help="Address to listen on.")  # noqa: S104
_port = click.option("--port", default=8080, show_default=True, type=click.IntRange(1, 65535))
_records = click.argument("records", nargs=-1, required=True, metavar="RECORD...", type=_FILE)


def _read_records(records: Sequence[Path], *, may_be_pictures: bool = False) -> list[tuple[Path, str]]:
    """Return records with their paths; a file that is no text at all is refused, or gives unreadable lines."""
    texts = [(path, _read_record(path)) for path in records]
    for path, text in texts:
        if not may_be_pictures and ("\x00" in text or text.count("\ufffd") > len(text) // 20):
            raise Problem(f"{path} is no record: a record is a text, one play a line.", _WRONG)
    return texts


def _read_record(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_RECORD_BYTES + 1)
    except OSError as error:
        raise Problem(f"The record {path} cannot be read ({error.strerror}): check the path.") from error
    if len(raw) > _MOST_RECORD_BYTES:
        raise Problem(f"{path} is larger than {_MOST_RECORD_BYTES // 1_000_000} MB: no record is.", _WRONG)
    return raw.decode("utf-8", errors="replace")


def _print_json(item: object) -> None:
    """Print an object on a line; what a terminal or a program after us might stumble over is a number."""
    line = json.dumps(item, ensure_ascii=False)
    click.echo("".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="companion")
def companion() -> None:
    """Watches a real Mille Bornes table, referees it and keeps the score.

    \b
    Example: companion demo
    """


@companion.command()
@_records
@click.option("--as-lies", is_flag=True, help="Apply illegal plays too: the cards lie where they lie.")
@click.option("--states", is_flag=True, help="Add the table after each line.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, one at each hand's end.")
@_editions_of_data
def replay(records: tuple[Path, ...], as_lies: bool, states: bool, as_json: bool) -> int:
    """Judge written records line by line, and score each hand.

    \b
    Example: companion replay sunday.mbn --json
    """
    texts = _read_records(records, may_be_pictures=as_json)
    if as_json:
        return max([_replayed_as_json(str(path), text, as_lies=as_lies, states=states) for path, text in texts])
    return max([_replayed(str(path), text, as_lies=as_lies) for path, text in texts])


def _replayed_as_json(file: str, text: str, *, as_lies: bool, states: bool) -> int:
    """Print an object for each line and hand; return the exit code."""
    from companion.rules.record import judge, notation

    wrong = False
    for item in judge.judge(notation.lines(text), as_lies=as_lies):
        if isinstance(item, judge.JudgedLine):
            wrong |= item.verdict != judge.LEGAL
            _print_json(item.as_json(file, states=states))
        else:
            _print_json(item.as_json(file))
    return _WRONG if wrong else 0


def _replayed(file: str, text: str, *, as_lies: bool) -> int:
    """Print what there is to say about each line and hand; return the exit code."""
    from companion.app.reports import report
    from companion.rules.record import judge, notation

    lines: list[judge.JudgedLine] = []
    for item in judge.judge(notation.lines(text), as_lies=as_lies):
        if isinstance(item, judge.JudgedLine):
            # A long record must not carry all its tables along.
            lines.append(item._replace(table=None))
            click.echo(report.judged_line(item, file))
        else:
            click.echo("\n".join(["", *report.score_sheet(item), ""]))
    for sentence in report.closing(lines, as_lies=as_lies):
        click.echo(sentence)
    return _wrong_in(file, lines)


def _wrong_in(file: str, lines: Sequence[JudgedLine]) -> int:
    """Return the exit code for judged lines of a file; say so if there are none."""
    from companion.rules.record import judge

    if not lines:
        _warn(f"{file}: there is no play in it.")
    return _WRONG if any(line.verdict != judge.LEGAL for line in lines) else 0


@companion.command()
@_records
@_editions_of_data
def score(records: tuple[Path, ...]) -> int:
    """The score sheets of written records, as text tables.

    \b
    Example: companion score sunday.mbn
    """
    return max([_scored(path, text) for path, text in _read_records(records)])


def _scored(path: Path, text: str) -> int:
    """Print the score sheets of a record, and on standard error what is not counted; return the exit code."""
    from companion.app.reports import report
    from companion.rules.record import judge, notation

    lines: list[judge.JudgedLine] = []
    click.echo(report.printable(path.name))
    for item in judge.judge(notation.lines(text)):
        if isinstance(item, judge.HandResult):
            click.echo("\n".join(["", *report.score_sheet(item)]))
            continue
        lines.append(item._replace(table=None))
        if item.verdict != judge.LEGAL:
            counted = "counted all the same" if item.applied else "not counted"
            _warn(f"  {counted}: {report.judged_line(item, str(path))}")
    for sentence in report.closing(lines):
        _warn(f"  {sentence}")
    return _wrong_in(str(path), lines)


@companion.command()
@click.option("--level", default="2", show_default=True, type=click.Choice(["1", "2", "3"]), help="3 plays best.")
@click.option("--seconds", metavar="S", type=usage.Number(0.01, 60), help="Time for a move of level 3.")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="The same answers each time, without --seconds.")
@_editions_of_data
def robot(level: str, seconds: float | None, seed: int | None) -> None:
    """A player for programs: a question on each line of standard input, an answer on each line of standard output.

    \b
    Example: companion robot --level 3 --seed 1 < questions.jsonl
    """
    from companion.robots.dialogue import Dialogue
    from companion.robots.robot import Level
    from companion.robots.search import Effort

    dialogue = Dialogue(Level(int(level)), Effort(seconds=seconds), seed)
    for line in sys.stdin.buffer:
        if line.strip():
            asked = line.decode("utf-8", errors="replace")
            _print_json(dialogue.answer(asked))
            sys.stdout.flush()


@companion.command()
@click.option("--edition", metavar="E", help="Whose rules and cards (default classic).")
@click.option("--players", type=click.IntRange(2, 6), help="How many play, you among them (default 2).")
@click.option("--pairs", is_flag=True, help="Play in pairs where the edition leaves the choice.")
@click.option("--level", type=click.Choice(["1", "2", "3"]), help="3 plays best (default 2).")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="The same cards each time.")
@click.option("--language", type=click.Choice(LANGUAGES), help="What is spoken (default: the terminal's).")
@click.argument("file", required=False, metavar="[FILE]", type=_FILE)
@_editions_of_data
def play(file: Path | None, language: str | None, **asked: Any) -> None:
    """Play against robots in the terminal. FILE keeps the game: one that is there is played on.

    \b
    Example: companion play --edition bsd-mille --level 3
    Example: companion play --players 4 sunday.json
    """
    from companion.app.robot_match import begun_or_resumed
    from companion.app.terminal_game import TerminalGame
    from companion.pages.language import speak

    speak(language or _terminal_language())
    for number in (signal.SIGHUP, signal.SIGTERM):
        # A connection that is lost ends the game as Ctrl-C does: it is saved.
        signal.signal(number, signal.default_int_handler)
    TerminalGame(begun_or_resumed(file, **asked), file, _typed_line, click.echo).run()


def _terminal_language() -> str:
    """Return the language that the terminal is set to, by its two letters."""
    variables = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return next(filter(None, variables), "")[:2]


def _typed_line(prompt: str) -> str | None:
    """Return the next line of standard input, None at its end; one that nobody sees being typed is shown."""
    click.echo(prompt, nl=False)
    sys.stdout.flush()
    typed_bytes = sys.stdin.buffer.readline()
    line = typed_bytes.decode("utf-8", errors="replace").replace("\x00", "").strip()
    if not (typed_bytes and sys.stdin.isatty()):
        click.echo(plain(line))
    return line if typed_bytes else None


@companion.group(invoke_without_command=True)
@click.pass_context
@_data
def editions(context: click.Context, data: Path | None) -> None:
    """The rule sets, and every switch with its value and source.

    \b
    Example: companion editions show classic
    """
    del data
    from companion.app.reports import edition_report
    from companion.rules.editions.edition import edition_names, load_edition

    if context.invoked_subcommand is None:
        click.echo("\n".join(edition_report.listing([load_edition(name) for name in edition_names()])))


@editions.command("show")
@click.argument("edition")
@_editions_of_data
def show_edition(edition: str) -> None:
    """Everything an edition says: one of those that ship, or a file of your own.

    \b
    Example: companion editions show classic
    """
    from companion.app.reports import edition_report
    from companion.rules.editions.edition import read_edition

    shown = read_edition(Path(edition)) if edition.endswith(".toml") else _edition(edition)
    columns = shutil.get_terminal_size((edition_report.WIDTH, 0)).columns
    click.echo("\n".join(edition_report.sheet(shown, min(max(columns, 80), 100))))


@editions.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@_editions_of_data
def check_editions(files: tuple[Path, ...]) -> int:
    """Check edition files of your own: all that is wrong in them, by key.

    \b
    Example: companion editions check our-rules.toml
    """
    return max(map(_check_edition, files))


def _check_edition(path: Path) -> int:
    """Say what is wrong in an edition file, a line each; return the exit code."""
    from companion.app.reports import edition_report
    from companion.rules.editions.edition import EditionError, read_edition
    from companion.rules.editions.edition_file import read_file

    try:
        faults = read_file(path).faults
    except EditionError as error:
        return _complain(str(error), 2)
    for fault in faults:
        _complain(fault.in_file(path), _WRONG)
    if not faults:
        edition = read_edition(path)
        click.echo(f"{path}: {edition_report.in_order(edition)}")
        if path.name != f"{edition.name}.toml":
            click.echo(f"{path}: as an edition of the data folder the file is called {edition.name}.toml.")
    return _WRONG if faults else 0


def _edition(name: str) -> Any:
    from companion.rules.editions.edition import load_edition

    return load_edition(name)


@companion.command("print")
@click.argument("what", type=click.Choice(["stickers", "mats", "deck", "robot"]))
@click.option("--edition", default="classic", show_default=True, help="Whose cards.")
@click.option("--sides", default=2, show_default=True, type=click.IntRange(1, 8), help="How many mats.")
@click.option("--format", default="pdf", show_default=True, type=click.Choice(["pdf", "png", "svg"]))
@click.option("--dpi", default=300, show_default=True, type=click.IntRange(50, 600), help="For png.")
@click.option("--size-mm", metavar="MM", type=usage.Number(), help="Side of a sticker as it is cut out (default 20).")
@click.option(
    "--kind",
    "sticker_kind",
    default="qr",
    show_default=True,
    type=click.Choice(["qr", "tag"]),
    help="Stickers: QR codes, or tags.",
)
@click.option("--out", required=True, metavar="DIR", type=_FILE, help="Where the files go.")
@_editions_of_data
def print_sheets(what: str, edition: str, size_mm: float | None, **how: Any) -> None:
    """Write printable sheets: stickers, mats, a whole deck, or the mat and screen of a robot's seat.

    A QR sticker can be read by any phone; a tag is a coarser pattern for the companion alone.

    \b
    Example: companion print stickers --out sheets
    """
    from companion.printing.write import about_size, write_sheets

    for path in write_sheets(what, _edition(edition).name, size_mm=size_mm, **how):
        click.echo(path)
    if note := about_size(size_mm):
        _warn(note)


@companion.command()
@click.argument("deck", metavar="DECK")
@click.option("--edition", required=True, metavar="E", help="Whose cards these are.")
@click.option(
    "--from",
    "folder",
    metavar="DIR",
    type=_FILE,
    help="A folder with a picture of each face, called as the card is: roll.jpg, 100.png, back.jpg.",
)
@click.option("--source", metavar="SRC", help="Camera, clip, folder or stream before which the cards are laid.")
@click.option(
    "--photo",
    "photos",
    metavar="FILE",
    type=_FILE,
    multiple=True,
    help="A photograph of many cards laid in rows; give several for a deck that does not fit on one.",
)
@click.option(
    "--in-order",
    is_flag=True,
    help="The cards on the photographs lie in the order of the edition, row by row, the back last.",
)
@click.option("--size", metavar="WxH", help="Width and height of a card in millimetres (default 57x88).")
@click.option("--maker", metavar="TEXT", help="Who made these cards; kept with the deck.")
@_data
def enroll(
    deck: str,
    edition: str,
    folder: Path | None,
    source: str | None,
    photos: tuple[Path, ...],
    in_order: bool,
    size: str | None,
    maker: str | None,
    data: Path | None,
) -> int:
    """Make a template deck of one picture a face, by which your cards are told without stickers.

    A picture is a scan of the card, or a photograph of it on a plain ground of another colour. With --source lay one
    card after the other before the camera: each is taken as soon as it lies still; Enter leaves one out, q ends.
    Where nobody can be asked, the cards come in the order of the edition.

    With --photo all cards lie in rows on one picture or a few. Those of a known edition are named by themselves, others
    by their places with --in-order; what has no name waits for one on the page of the deck.

    \b
    Example: companion enroll grandma --edition classic --from photos
    Example: companion enroll grandma --edition classic --source 0
    Example: companion enroll grandma --edition classic --photo all.jpg --in-order
    """
    from companion.vision.enrol.enrolment import begin, enrol_folder
    from companion.vision.enrol.sheet_enrolment import enrol_photographs

    if [folder is None, source is None, not photos].count(False) != 1:
        raise Problem(
            "Say where the cards are: `--from DIR`, a folder of pictures, `--source SRC`, a camera, or `--photo FILE`,"
            " a photograph of many cards."
        )
    rules, size_mm = _edition(edition), _card_size(size) if size else None
    enrolment = begin(deck, rules.name, _data_folder(data), size_mm=size_mm, maker=maker)
    got, wrong = 0, 0
    sayings: Iterable[Any]
    if photos:
        sayings = enrol_photographs(enrolment, photos, _data_folder(data), in_order=in_order)
    else:
        sayings = enrol_folder(enrolment, folder) if folder else _guided(enrolment, str(source))
    for said in sayings:
        got, wrong = got + said.is_kept, wrong + said.is_fault
        (_warn if said.is_fault else click.echo)(said.sentence)
    if not got:
        where = folder or source or ", ".join(map(str, photos))
        raise Problem(f"No face of '{deck}' was enrolled from {where}: see above for what is wrong with each picture.")
    rest = " with the rest" if wrong else ""
    click.echo(
        f"The deck '{deck}' is kept{rest} in {enrolment.folder}. Look whether each card was cut out well and is called"
        f" right: {typed(f'decks show {deck} --out {deck}.png')}. Use it with: {typed(f'read IMAGE --deck {deck}')}"
    )
    return _WRONG if wrong else 0


def _guided(enrolment: Any, source: str) -> Iterable[Any]:
    """Enrol cards laid before a camera, one after the other."""
    from companion.vision.capture.sources import frames
    from companion.vision.enrol.guided import TerminalKeys, guided
    from companion.vision.enrol.stillness import STILL_S

    pictures = frames(source, fps=10.0, tell=lambda notice: _warn(notice.sentence))
    keys = TerminalKeys() if sys.stdin.isatty() else None
    if keys:
        click.echo("Each card is taken as soon as it lies still. Enter leaves one out; q and Enter ends.")
    return guided(enrolment, pictures, keys, still_s=0.0 if Path(source).is_dir() else STILL_S)


def _card_size(text: str) -> tuple[float, float]:
    from companion.tabletop.template_decks import checked_size

    try:
        return checked_size([float(side) for side in text.lower().replace("×", "x").split("x")])
    except ValueError as error:
        say = "--size is width and height in millimetres from 30 to 150, the shorter first, such as --size 57x88,"
        raise Problem(f"{say} not '{text[:20]}'.") from error


@companion.group(invoke_without_command=True)
@click.pass_context
@_data
def decks(context: click.Context, data: Path | None) -> None:
    """The template decks by which cards without stickers are told.

    \b
    Example: companion decks
    """
    from companion.app.reports import deck_report
    from companion.tabletop.template_decks import deck_names

    if context.invoked_subcommand is None:
        click.echo("\n".join(deck_report.listing(deck_names(_data_folder(data)), _data_folder(data))))


def _data_folder(data: Path | None) -> Path:
    from companion.storage.data_folder import data_dir

    context = click.get_current_context()
    return data_dir(data or (context.parent.params.get("data") if context.parent else None))


@decks.command("show")
@click.argument("deck")
@click.option("--out", metavar="FILE", type=_FILE, help="All its pictures with their names, a PNG.")
@_data
def show_deck(deck: str, out: Path | None, data: Path | None) -> None:
    """Say what a deck holds, and which faces it lacks; or show all its pictures on one sheet.

    \b
    Example: companion decks show own
    Example: companion decks show grandma --out grandma.png
    """
    from companion.app.reports import deck_report
    from companion.app.reports.deck_sheet import write_sheet
    from companion.tabletop.template_decks import load_deck

    shown = load_deck(deck, _data_folder(data))
    click.echo(write_sheet(shown, out) if out else "\n".join(deck_report.sheet(shown)))


@decks.command("export")
@click.argument("deck")
@click.option("--out", metavar="FILE", type=_FILE, help="The file (default: DECK.zip here).")
@_data
def export_deck_file(deck: str, out: Path | None, data: Path | None) -> None:
    """Write a deck as one file, for another machine.

    \b
    Example: companion decks export grandma --out grandma.zip
    """
    from companion.tabletop.template_decks import export_deck, load_deck

    click.echo(export_deck(load_deck(deck, _data_folder(data)), out or Path()))


@decks.command("import")
@click.argument("file", type=_FILE)
@click.option("--as", "name", metavar="NAME", help="Call it so (default: as it says itself).")
@_data
def import_deck_file(file: Path, name: str | None, data: Path | None) -> None:
    """Take a deck from a file that was exported.

    \b
    Example: companion decks import grandma.zip
    """
    from companion.app.reports import deck_report
    from companion.tabletop.template_decks import import_deck
    from companion.vision.enrol.enrolment import recoded

    click.echo("\n".join(deck_report.sheet(import_deck(file, _data_folder(data), recoded, name))))


@decks.command("remove")
@click.argument("deck")
@_data
def remove_deck_folder(deck: str, data: Path | None) -> None:
    """Remove a deck of your own.

    \b
    Example: companion decks remove grandma
    """
    from companion.tabletop.template_decks import remove_deck

    click.echo(f"Removed {remove_deck(deck, _data_folder(data))}")


@companion.command("read")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...", type=_FILE)
@click.option(
    "--setup",
    metavar="FILE",
    type=_FILE,
    help="The table's setup file: is the camera good enough for it, and what would help?",
)
@click.option("--audit", metavar="EDITION", help="Is the deck all there? Which cards are on none of the pictures?")
@click.option("--tally", metavar="EDITION", help="The hand is over: what lies before each side, and the score.")
@_deck
@click.option("--json", "as_json", is_flag=True, help="One JSON object a picture, with --audit or --tally one more.")
@_data
def read_images(
    images: tuple[Path, ...],
    setup: Path | None,
    audit: str | None,
    tally: str | None,
    deck: str | None,
    as_json: bool,
    data: Path | None,
) -> int:
    """Say what is on pictures: mats, cards, zones. Or check a deck before you play, or count a hand after it.

    Cards are told by their stickers, with --deck by their faces too.

    \b
    Example: companion read table.jpg --json
    Example: companion read table.jpg --deck own
    Example: companion read table.jpg --setup our-table.toml
    Example: companion read cards-1.jpg cards-2.jpg --audit classic
    Example: companion read ann.jpg bob.jpg --tally classic
    """
    from companion.app.reports import report
    from companion.match.setup_file import read_setup
    from companion.tabletop.card_ids import card_ids
    from companion.vision.faces.deck_in_use import faces_of
    from companion.vision.quality.advice import of_reading
    from companion.vision.read import read_pictures

    table = read_setup(setup) if setup else None
    audited, counted = (_of_table(name, table.edition if table else None) if name else None for name in (audit, tally))
    allowed = frozenset(card_ids(table.edition.deck)) if table and not (audited or counted) else None
    unread, pictures, views = 0, [], list[Any]()

    def also(image: Any, mats: Any, view: Any) -> dict[str, Any]:
        """Keep what a picture shows; give what the camera allows for a table's setup."""
        views.append(view)
        return {"setup": of_reading([image], mats, view, _layouts(table)).as_json()} if table else {}

    named, drawing = (deck or table.cards, table.drawing) if table else (deck, None)
    faces = faces_of(named, data, tell=_warn)
    for found in read_pictures(images, allowed=allowed, drawing=drawing, also=also, templates=faces):
        if "problem" in found:
            unread += 1
            _warn(str(found["problem"]))
            continue
        found["cards"] = report.in_order(cast("list[dict[str, Any]]", found["cards"]))
        pictures.append(found)
        if as_json or not (audited or counted):
            _print_json(found) if as_json else click.echo("\n".join(map(report.printable, report.picture(found))))
        if "setup" in found and not (as_json or audited or counted):
            click.echo("\n".join(report.allowed_by_camera(cast("dict[str, Any]", found["setup"]))))
    if counted:
        photos = [(str(p["image"]), (p["width"], p["height"]), view) for p, view in zip(pictures, views, strict=True)]
        _say_tally(counted, photos, table.mats if table else {}, named, data, as_json=as_json)
    if audited:
        return _audit(audited, pictures, unread, as_json=as_json)
    return _WRONG if unread else 0


def _say_tally(
    edition: Any, photos: Sequence[Any], names: Any, deck: str | None, data: Path | None, *, as_json: bool
) -> None:
    """Say what lies before each side, and the score; where nothing was read, what to do.

    `photos` are the name, the width and height, and the view of each picture.
    """
    from companion.app.reports import tally_report
    from companion.tabletop.template_decks import decks_for
    from companion.vision.counting.tally import Photo, tally

    counted = tally(edition, [Photo(*photo) for photo in photos], names)
    if counted.is_blank:
        hint = tally_report.nothing_read(deck, decks_for(edition, _data_folder(data)))
        counted = replace(counted, notes=(*counted.notes, hint))
    if as_json:
        _print_json(tally_report.as_json(edition, counted))
    else:
        click.echo("\n".join(tally_report.sentences(edition, counted)))


def _layouts(table: Any) -> list[Any]:
    """Return the mats that a set-up table needs: one a side, and the table's own."""
    from companion.tabletop.mat_layout import all_mats

    return [layout for layout in all_mats() if layout.id in {*table.mats, "table"}]


def _of_table(name: str, of_table: Any) -> Any:
    """Return an edition by name; the table's own where it plays that one, for its deck may be corrected."""
    edition = _edition(name)
    return of_table if of_table and of_table.name == edition.name else edition


def _audit(edition: Any, pictures: Sequence[dict[str, Any]], unread: int, *, as_json: bool) -> int:
    """Say which cards of a deck are on no picture; return the exit code."""
    from companion.app.reports import audit_report

    shown = audit_report.shown_on(pictures, unread)
    if as_json:
        _print_json(audit_report.as_json(edition, shown))
    else:
        click.echo("\n".join(audit_report.sentences(edition, shown)))
    return 0 if audit_report.audit(edition.deck, shown.counts).is_complete and not unread else _WRONG


@companion.command()
@click.option("--source", required=True, metavar="SRC", help="Camera, clip, folder, stream, or `demo:`.")
@click.option("--setup", metavar="FILE", type=_FILE, help="Who plays what, on which mats.")
@click.option("--confirm", default="none", show_default=True, type=click.Choice(["none", "legal"]))
@click.option("--extension", default="finish", show_default=True, type=click.Choice(["finish", "extend"]))
@click.option("--fps", type=usage.Number(0.1, 120), help="Frames a second of a folder (default 10).")
@_deck
@click.option("--json", "as_json", is_flag=True, help="One JSON object a proposal, one at each hand's end.")
@_data
def watch(source: str, setup: Path | None, as_json: bool, **how: Any) -> None:
    """Follow a source without the pages: its proposals, and each hand's score.

    \b
    Example: companion watch --source demo: --confirm legal --json
    """
    from companion.app import service
    from companion.app.reports import report

    for item in service.watched(source, setup, **how):
        _print_json(item) if as_json else click.echo(report.watched(item))


@companion.command()
@click.option("--source", metavar="SRC", help="Camera, clip, folder or stream (default: the first camera).")
@click.option("--setup", metavar="FILE", type=_FILE, help="Start this match at once.")
@click.option("--new", is_flag=True, help="Begin it although another match, or this one, is being played.")
@_host
@_port
@_deck
@_data
def up(source: str | None, setup: Path | None, new: bool, **how: Any) -> None:
    """Start the companion: camera, referee, pages for the phones.

    \b
    Example: companion up --source 0
    """
    from companion.app.memory import loading

    if new and setup is None:
        raise click.UsageError("`--new` begins the match of a set-up file: name it with `--setup FILE`.")
    with loading():
        from companion.app import service
    os.umask(_OWN_FILES)
    service.up(source, setup, begins=new, **how)
    _leave()


@companion.command()
@click.option("--speed", default=1.0, show_default=True, type=usage.Number(0.1, 20), help="How fast they play.")
@click.option("--edition", default="classic", show_default=True)
@click.option("--hands", default=3, show_default=True, type=click.IntRange(1, 50), help="How many hands.")
@click.option("--players", default=2, show_default=True, type=click.IntRange(2, 6), help="How many play.")
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Other hands; 0 begins with the short one that ships.",
)
@click.option(
    "--cards",
    default="stickers",
    show_default=True,
    type=click.Choice(["stickers", "faces"]),
    help="Cards with stickers, or as they are printed.",
)
@click.option("--confirm", default="tap", show_default=True, type=click.Choice(["tap", "play-on", "auto"]))
@_host
@_port
@_data
def demo(edition: str, confirm: str, host: str, port: int, data: Path | None, **played: Any) -> None:
    """The same service on a simulated table: nothing needed but this computer.

    \b
    Example: companion demo --speed 2
    """
    from companion.app.memory import loading

    with loading():
        from companion.app import demo as simulated
    os.umask(_OWN_FILES)
    simulated.demo(_edition(edition).name, confirm=confirm, host=host, port=port, data=data, **played)
    _leave()


@companion.command()
@click.option(
    "--source", metavar="SRC", help="Look at this: camera, picture, clip, folder, stream (default: a camera)."
)
@click.option("--setup", metavar="FILE", type=_FILE, help="Are all of this table's mats seen?")
@_port
@_data
def doctor(source: str | None, setup: Path | None, port: int, data: Path | None) -> int:
    """Check what the companion needs: libraries, camera, clock, disk, power, port. Is the camera good enough?

    Zones drawn in the setup file, or on the page, count where no mat is seen.

    \b
    Example: companion doctor
    Example: companion doctor --source table.jpg
    """
    from companion.app.doctor import checks
    from companion.match.setup_file import read_setup
    from companion.tabletop.drawn_zones import DrawnZones

    table = read_setup(setup) if setup else None
    layouts = _layouts(table) if table else None
    folder, missing = _data_folder(data), False
    zones = DrawnZones(folder, table.drawing if table else None)
    if zones.problem:
        click.echo(f"{'note':8}zones: {zones.problem}")
    for check in checks(folder, port, source=source, layouts=layouts, drawing=zones.current):
        missing |= check.needed and not check.ok
        click.echo(f"{'ok' if check.ok else 'MISSING' if check.needed else 'note':8}{check.name}: {check.sentence}")
    return _WRONG if missing else 0


@companion.command()
@click.argument("match", type=int, metavar="MATCH")
@click.option("--format", "form", default="mbn", show_default=True, type=click.Choice(["mbn", "json", "csv"]))
@_data
def export(match: int, form: str, data: Path | None) -> None:
    """Write a match from the data folder to standard output.

    \b
    Example: companion export 1 --format csv
    """
    from companion.app import service

    click.echo(service.exported(match, form, data), nl=False)


@companion.command()
@click.argument("file", metavar="FILE", type=_FILE)
@click.option("--force", is_flag=True, help="Write over a file that is there already.")
@_data
def backup(file: Path, force: bool, data: Path | None) -> int:
    """Write matches, decks, editions and settings into one file, also while the companion runs.

    The key that signs the phones' cookies is not in it: on another machine the phones scan the code anew.

    \b
    Example: companion backup table.zip
    """
    from companion.app.backup_archive import write_bundle

    left_out = write_bundle(_data_folder(data), file, force=force)
    for sentence in left_out:
        click.echo(sentence, err=True)
    click.echo(file)
    return _WRONG if left_out else 0


@companion.command()
@click.argument("file", metavar="FILE", type=_FILE)
@_data
def restore(file: Path, data: Path | None) -> None:
    """Put a backup in the place of the matches, decks, editions and settings here; those are kept aside.

    Stop the companion first.

    \b
    Example: companion restore table.zip
    """
    from companion.app.backup_archive import read_bundle, restore
    from companion.storage.data_folder import EDITIONS_NAME
    from companion.storage.event_store import locked
    from companion.vision.enrol.enrolment import recoded

    os.umask(_OWN_FILES)
    folder = _data_folder(data)
    with locked(folder):
        bundle = read_bundle(file, recoded=recoded, own=folder / EDITIONS_NAME)
        kept = restore(folder, bundle)
    click.echo(f"Restored into {folder}: {bundle.says}. On another machine the phones scan the code anew.")
    if kept is not None:
        click.echo(f"What was there before lies in {kept}.")
