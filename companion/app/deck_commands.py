"""Commands for printed sheets and template decks."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from companion.app.reports import deck_report
from companion.app.usage import (
    FILE,
    WRONG,
    Group,
    Number,
    data_option,
    editions_of_data,
    tell,
    terminal_language,
    warn,
)
from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.common.terminal import typed
from companion.common.text import Said, say, sentences
from companion.rules.editions.edition import load_edition
from companion.storage.data_folder import data_dir
from companion.tabletop.deck_archive import export_deck, import_deck
from companion.tabletop.template_decks import checked_size, deck_names, load_deck, remove_deck


@click.command("print")
@click.argument("what", type=click.Choice(["stickers", "mats", "deck", "robot"]))
@click.option("--edition", default="classic", show_default=True, help="Edition whose cards to print.")
@click.option("--sides", default=2, show_default=True, type=click.IntRange(1, 8), help="Number of sides, one mat each.")
@click.option(
    "--format", default="pdf", show_default=True, type=click.Choice(["pdf", "png", "svg"]), help="File format."
)
@click.option("--dpi", default=300, show_default=True, type=click.IntRange(50, 600), help="Resolution of PNG files.")
@click.option("--size-mm", metavar="MM", type=Number(), help="Side of a cut-out sticker (default 20).")
@click.option(
    "--kind",
    "sticker_kind",
    default="qr",
    show_default=True,
    type=click.Choice(["qr", "tag"]),
    help="Stickers as QR codes, or as tags.",
)
@click.option(
    "--labels", metavar="SHEET", help="Print stickers on this label sheet, such as L7651, or on one you measured."
)
@click.option(
    "--language", type=click.Choice(LANGUAGES), help="Language of the printed words (default: the terminal's)."
)
@click.option("--out", metavar="DIR", type=FILE, help="Folder for the files.  [required]")
@editions_of_data
def print_sheets(what: str, edition: str, size_mm: float | None, language: str | None, **how: Any) -> None:
    """Write printable sheets: stickers, mats, a deck of cards, or the mat and screen of a robot's seat.

    Any phone can read a QR sticker. A tag has a larger pattern: readable from farther away, but only by this program.

    --labels takes a maker's number, or the layout of your sheet in millimeters, such as 5x13,4.7x10.7,40.6x21.2. These
    are columns x rows, left and top edge of the first label, and the steps between labels. Append ,letter for Letter
    paper.

    \b
    Example: companion print stickers --out sheets
    Example: companion print stickers --labels L7651 --out sheets
    """
    from companion.printing.write import about_size, write_sheets

    name, spoken = load_edition(edition).name, language or terminal_language()
    if how["out"] is None:  # Checked here to report an unknown edition first.
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=next(o for o in context.command.params if o.name == "out"))
    for path in write_sheets(what, name, size_mm=size_mm, language=spoken, **how):
        click.echo(path)
    if note := about_size(size_mm):
        warn(note)


@click.command()
@click.argument("deck", metavar="DECK")
@click.option("--edition", required=True, metavar="E", help="Edition of these cards.")
@click.option(
    "--from",
    "folder",
    metavar="DIR",
    type=FILE,
    help="Folder with one picture per face, named after the card: roll.jpg, 100.png, back.jpg.",
)
@click.option("--source", metavar="SRC", help="Camera, film, folder or stream that shows the cards one by one.")
@click.option(
    "--photo",
    "photos",
    metavar="FILE",
    type=FILE,
    multiple=True,
    help="Photograph of many cards laid in rows; repeat it for several photographs.",
)
@click.option(
    "--in-order",
    is_flag=True,
    help="Name the cards on the photographs by their place: in the edition's order, row by row, the back last.",
)
@click.option("--size", metavar="WxH", help="Width and height of a card in millimeters (default 57x88).")
@click.option("--maker", metavar="TEXT", help="Maker of these cards; saved with the deck.")
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
    """Add a deck, so that the camera recognizes your cards without stickers.

    Each picture is a scan of a card, or a photograph of it on a plain background of another color. With --source, show
    the cards to the camera one by one: each is saved once it lies still; Enter skips a card, q ends. If standard input
    is not a terminal, show them in the order of the edition.

    With --photo, lay all cards in rows on one or more photographs. Cards drawn like a known deck are named
    automatically, others by their place with --in-order. Name the rest on the deck's page.

    \b
    Example: companion enroll grandma --edition classic --from photos
    Example: companion enroll grandma --edition classic --source 0
    Example: companion enroll grandma --edition classic --photo all.jpg --in-order
    """
    from companion.vision.enrol.enrolment import begin, enrol_folder
    from companion.vision.enrol.sheet_enrolment import enrol_photographs

    if [folder is None, source is None, not photos].count(False) != 1:
        raise Problem(
            say(
                "Name the pictures of the cards: `--from DIR` for a folder of pictures, `--source SRC` for a camera,"
                " or `--photo FILE`, a photo of many cards."
            )
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
        (warn if said.is_fault else tell)(said.sentence)
    if not got:
        where = folder or source or ", ".join(map(str, photos))
        raise Problem(
            "No card of '%(deck)s' was added from %(where)s: see above for what is wrong with each picture.",
            deck=deck,
            where=where,
        )
    tell(_added(deck, enrolment.folder, all_good=not wrong))
    return WRONG if wrong else 0


def _added(deck: str, folder: Path, *, all_good: bool) -> Said:
    """Return where a deck is saved, how to check it, and how to use it."""
    saved = say("The deck '%(deck)s' is saved in %(folder)s.", deck=deck, folder=folder)
    if not all_good:
        saved = say("The deck '%(deck)s' is saved with the other cards in %(folder)s.", deck=deck, folder=folder)
    check = say(
        "Check that each card was cut out well and has the right name: %(command)s.",
        command=typed(f"decks show {deck} --out {deck}.png"),
    )
    use = say("Use it with: %(command)s", command=typed(f"read IMAGE --deck {deck}"))
    return sentences(saved, check, use)


def _guided(enrolment: Any, source: str) -> Iterable[Any]:
    from companion.vision.capture.sources import frames
    from companion.vision.enrol.guided import STILL_S, TerminalKeys, guided

    pictures = frames(source, fps=10.0, tell=lambda notice: warn(notice.sentence))
    keys = TerminalKeys() if sys.stdin.isatty() else None
    if keys:
        tell(say("Each card is photographed as soon as it is still. Enter skips a card; q and Enter quits."))
    return guided(enrolment, pictures, keys, still_s=0.0 if Path(source).is_dir() else STILL_S)


def _card_size(text: str) -> tuple[float, float]:
    try:
        return checked_size([float(side) for side in text.lower().replace("×", "x").split("x")])
    except ValueError as error:
        raise Problem(
            "--size is width and height in millimeters from 30 to 150, the shorter first, such as --size 57x88, not"
            " '%(text)s'.",
            text=text[:20],
        ) from error


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
@data_option
def decks(context: click.Context, data: Path | None) -> None:
    """List the decks that the camera can recognize; show, export, import or remove one.

    \b
    Example: companion decks
    """
    if context.invoked_subcommand is None:
        click.echo("\n".join(deck_report.listing(deck_names(data_dir(data)), data_dir(data))))


@decks.command("show")
@click.argument("deck")
@click.option("--out", metavar="FILE", type=FILE, help="Write all its pictures with their names to this PNG file.")
@data_option
def show_deck(deck: str, out: Path | None, data: Path | None) -> None:
    """Print what a deck contains and which faces are missing; with --out, write its pictures on one sheet.

    \b
    Example: companion decks show own
    Example: companion decks show grandma --out grandma.png
    """
    from companion.app.reports.deck_sheet import write_sheet

    shown = load_deck(deck, data_dir(data))
    click.echo(write_sheet(shown, out) if out else "\n".join(deck_report.sheet(shown)))


@decks.command("export")
@click.argument("deck")
@click.option("--out", metavar="FILE", type=FILE, help="File to write (default: DECK.zip in this folder).")
@data_option
def export_deck_file(deck: str, out: Path | None, data: Path | None) -> None:
    """Write a deck to a file for another machine.

    \b
    Example: companion decks export grandma --out grandma.zip
    """
    click.echo(export_deck(load_deck(deck, data_dir(data)), out or Path()))


@decks.command("import")
@click.argument("file", type=FILE)
@click.option("--as", "name", metavar="NAME", help="Name of the deck here (default: the name in the file).")
@data_option
def import_deck_file(file: Path, name: str | None, data: Path | None) -> None:
    """Import a deck from an exported file.

    \b
    Example: companion decks import grandma.zip
    """
    from companion.vision.enrol.enrolment import recoded

    click.echo("\n".join(deck_report.sheet(import_deck(file, data_dir(data), recoded, name))))


@decks.command("remove")
@click.argument("deck")
@data_option
def remove_deck_folder(deck: str, data: Path | None) -> None:
    """Remove one of your own decks.

    \b
    Example: companion decks remove grandma
    """
    tell(say("Removed %(folder)s", folder=remove_deck(deck, data_dir(data))))


COMMANDS = (print_sheets, enroll, decks)
