"""The commands about cards: sheets to print, and the template decks by which cards are told without stickers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from companion.app.reports import deck_report
from companion.app.usage import FILE, WRONG, Group, Number, data_option, editions_of_data, terminal_language, warn
from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.common.terminal import typed
from companion.rules.editions.edition import load_edition
from companion.storage.data_folder import data_dir
from companion.tabletop.deck_archive import export_deck, import_deck
from companion.tabletop.template_decks import checked_size, deck_names, load_deck, remove_deck


@click.command("print")
@click.argument("what", type=click.Choice(["stickers", "mats", "deck", "robot"]))
@click.option("--edition", default="classic", show_default=True, help="Whose cards.")
@click.option("--sides", default=2, show_default=True, type=click.IntRange(1, 8), help="How many mats.")
@click.option("--format", default="pdf", show_default=True, type=click.Choice(["pdf", "png", "svg"]))
@click.option("--dpi", default=300, show_default=True, type=click.IntRange(50, 600), help="For png.")
@click.option("--size-mm", metavar="MM", type=Number(), help="Side of a sticker as it is cut out (default 20).")
@click.option(
    "--kind",
    "sticker_kind",
    default="qr",
    show_default=True,
    type=click.Choice(["qr", "tag"]),
    help="Stickers: QR codes, or tags.",
)
@click.option("--labels", metavar="SHEET", help="Stickers: a sheet of labels, such as L7651, or as you measured it.")
@click.option("--language", type=click.Choice(LANGUAGES), help="What stands on them (default: the terminal's).")
@click.option("--out", metavar="DIR", type=FILE, help="Where the files go: must be given.")
@editions_of_data
def print_sheets(what: str, edition: str, size_mm: float | None, language: str | None, **how: Any) -> None:
    """Write printable sheets: stickers, mats, a whole deck, or the mat and screen of a robot's seat.

    A QR sticker can be read by any phone; a tag is a coarser pattern for the companion alone.

    --labels takes a maker's number, or columns x rows, the first label's left and upper edge, and the steps from label
    to label, in millimetres: 5x13,4.7x10.7,40.6x21.2 (with ,letter behind it for that paper).

    \b
    Example: companion print stickers --out sheets
    Example: companion print stickers --labels L7651 --out sheets
    """
    from companion.printing.write import about_size, write_sheets

    name, spoken = load_edition(edition).name, language or terminal_language()
    if how["out"] is None:  # said after an edition that is not there, which is the worse mistake
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=next(o for o in context.command.params if o.name == "out"))
    for path in write_sheets(what, name, size_mm=size_mm, language=spoken, **how):
        click.echo(path)
    if note := about_size(size_mm):
        warn(note)


@click.command()
@click.argument("deck", metavar="DECK")
@click.option("--edition", required=True, metavar="E", help="Whose cards these are.")
@click.option(
    "--from",
    "folder",
    metavar="DIR",
    type=FILE,
    help="A folder with a picture of each face, called as the card is: roll.jpg, 100.png, back.jpg.",
)
@click.option("--source", metavar="SRC", help="Camera, clip, folder or stream before which the cards are laid.")
@click.option(
    "--photo",
    "photos",
    metavar="FILE",
    type=FILE,
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
@data_option
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
    rules, size_mm = load_edition(edition), _card_size(size) if size else None
    enrolment = begin(deck, rules.name, data_dir(data), size_mm=size_mm, maker=maker)
    got, wrong = 0, 0
    sayings: Iterable[Any]
    if photos:
        sayings = enrol_photographs(enrolment, photos, data_dir(data), in_order=in_order)
    else:
        sayings = enrol_folder(enrolment, folder) if folder else _guided(enrolment, str(source))
    for said in sayings:
        got, wrong = got + said.is_kept, wrong + said.is_fault
        (warn if said.is_fault else click.echo)(said.sentence)
    if not got:
        where = folder or source or ", ".join(map(str, photos))
        raise Problem(f"No face of '{deck}' was enrolled from {where}: see above for what is wrong with each picture.")
    rest = " with the rest" if wrong else ""
    click.echo(
        f"The deck '{deck}' is kept{rest} in {enrolment.folder}. Look whether each card was cut out well and is called"
        f" right: {typed(f'decks show {deck} --out {deck}.png')}. Use it with: {typed(f'read IMAGE --deck {deck}')}"
    )
    return WRONG if wrong else 0


def _guided(enrolment: Any, source: str) -> Iterable[Any]:
    from companion.vision.capture.sources import frames
    from companion.vision.enrol.guided import STILL_S, TerminalKeys, guided

    pictures = frames(source, fps=10.0, tell=lambda notice: warn(notice.sentence))
    keys = TerminalKeys() if sys.stdin.isatty() else None
    if keys:
        click.echo("Each card is taken as soon as it lies still. Enter leaves one out; q and Enter ends.")
    return guided(enrolment, pictures, keys, still_s=0.0 if Path(source).is_dir() else STILL_S)


def _card_size(text: str) -> tuple[float, float]:
    try:
        return checked_size([float(side) for side in text.lower().replace("×", "x").split("x")])
    except ValueError as error:
        say = "--size is width and height in millimetres from 30 to 150, the shorter first, such as --size 57x88,"
        raise Problem(f"{say} not '{text[:20]}'.") from error


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
@data_option
def decks(context: click.Context, data: Path | None) -> None:
    """The template decks by which cards without stickers are told.

    \b
    Example: companion decks
    """
    if context.invoked_subcommand is None:
        click.echo("\n".join(deck_report.listing(deck_names(data_dir(data)), data_dir(data))))


@decks.command("show")
@click.argument("deck")
@click.option("--out", metavar="FILE", type=FILE, help="All its pictures with their names, a PNG.")
@data_option
def show_deck(deck: str, out: Path | None, data: Path | None) -> None:
    """Say what a deck holds, and which faces it lacks; or show all its pictures on one sheet.

    \b
    Example: companion decks show own
    Example: companion decks show grandma --out grandma.png
    """
    from companion.app.reports.deck_sheet import write_sheet

    shown = load_deck(deck, data_dir(data))
    click.echo(write_sheet(shown, out) if out else "\n".join(deck_report.sheet(shown)))


@decks.command("export")
@click.argument("deck")
@click.option("--out", metavar="FILE", type=FILE, help="The file (default: DECK.zip here).")
@data_option
def export_deck_file(deck: str, out: Path | None, data: Path | None) -> None:
    """Write a deck as one file, for another machine.

    \b
    Example: companion decks export grandma --out grandma.zip
    """
    click.echo(export_deck(load_deck(deck, data_dir(data)), out or Path()))


@decks.command("import")
@click.argument("file", type=FILE)
@click.option("--as", "name", metavar="NAME", help="Call it so (default: as it says itself).")
@data_option
def import_deck_file(file: Path, name: str | None, data: Path | None) -> None:
    """Take a deck from a file that was exported.

    \b
    Example: companion decks import grandma.zip
    """
    from companion.vision.enrol.enrolment import recoded

    click.echo("\n".join(deck_report.sheet(import_deck(file, data_dir(data), recoded, name))))


@decks.command("remove")
@click.argument("deck")
@data_option
def remove_deck_folder(deck: str, data: Path | None) -> None:
    """Remove a deck of your own.

    \b
    Example: companion decks remove grandma
    """
    click.echo(f"Removed {remove_deck(deck, data_dir(data))}")


COMMANDS = (print_sheets, enroll, decks)
