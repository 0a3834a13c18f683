from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.common.errors import Problem, cause
from companion.common.text import Said, say
from companion.printing import deck, mats, render, sheets, stickers, svg
from companion.printing.label_sheets import LabelSheet, label_sheet
from companion.printing.printed_words import mat_word
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.tabletop.card_ids import card_ids, face_of
from companion.tabletop.mat_layout import CARD_MM, ROBOT, MatLayout, robot_mat, side_mat, table_mat
from companion.tabletop.sticker_codes import LARGEST_STICKER_MM, STICKER_MM

SCREENS = {"screen-left": 1, "screen-right": 1, "screen-ends": 2}
"""Parts per sheet of a robot's screen."""

SIZES_MM = (12.0, CARD_MM[0])  # from what cameras resolve to what fits on a card
READABLE_MM = 16.0  # for a 1920 × 1080 camera over 1.2 m of table (`docs/how-well-it-reads.md`)


Item = tuple[str, str, Mapping[str, Any]]  # name, drawing, index entry


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to print, and how. Raise Problem for stickers that do not fit a card or label."""

    kind: str  # `stickers`, `mats`, `deck` or `robot`
    edition: str
    sides: int = 2
    size_mm: float = STICKER_MM  # sticker width with quiet zone
    sticker_kind: str = "qr"  # one of `stickers.KINDS`
    language: str = "en"
    labels: LabelSheet | None = None  # for stickers; None: plain paper

    @property
    def cards(self) -> Mapping[Card, int]:
        return load_edition(self.edition).deck

    def __post_init__(self) -> None:
        low, high = SIZES_MM
        if self.kind == "stickers" and not low <= self.size_mm <= high:
            raise Problem(
                "A sticker must be %(low)s to %(high)s mm wide, not %(size)s mm: no camera reads smaller ones, and a"
                " card is %(high)s mm wide.",
                low=f"{low:g}",
                high=f"{high:g}",
                size=self.size_mm,
            )
        if self.labels is not None:
            self.labels.check(self.size_mm)


def write_sheets(
    kind: str,
    edition: str,
    *,
    out: Path,
    format: str = "pdf",  # noqa: A002 – the command's own word
    sides: int = 2,
    size_mm: float | None = None,
    sticker_kind: str = "qr",
    dpi: int = 300,
    language: str = "en",
    labels: str | None = None,
) -> list[Path]:
    """Write the files of `companion print` into `out`, a new folder if needed; return their paths.

    `pdf` gives sheets; `png` and `svg` give a file per item and an index, `<kind>.json`. Raise Problem for unsuitable
    options or an unwritable folder.
    """
    if size_mm is not None and kind != "stickers":
        raise Problem(say("Only stickers have a choice of sizes; omit --size-mm."))
    if sticker_kind != "qr" and kind != "stickers":
        raise Problem(say("Only stickers have kinds; omit --kind."))
    if labels is not None and (kind != "stickers" or format != "pdf"):
        raise Problem(say("Label sheets are only for stickers, as PDF; omit --labels."))
    width_mm, sheet = STICKER_MM if size_mm is None else size_mm, label_sheet(labels) if labels else None
    wanted = Wanted(kind, edition, sides, width_mm, sticker_kind, language, sheet)
    files = pdf_files(wanted) if format == "pdf" else _item_files(wanted, format, dpi)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (out / name).write_bytes(content)
    except OSError as error:
        raise Problem(
            "%(path)s cannot be written to (%(error)s): choose another folder with --out.",
            path=out,
            error=cause(error),
        ) from error
    return [out / name for name in files]


def pdf_files(wanted: Wanted) -> dict[str, bytes]:
    """Return the sheets as PDF files by name."""
    # imported late: listing sheets needs only names
    from companion.printing import pdf

    return {name: pdf.write(pages) for name, pages in _pages(wanted)}


def first_pages(wanted: Wanted, dpi: float) -> dict[str, bytes]:
    """Return each PDF file's first page as PNG, by name."""
    return {name: render.to_png(pages[0], dpi) for name, pages in _pages(wanted)}


def about_size(size_mm: float | None) -> Said | None:
    """Return advice on an unusual sticker width, or None."""
    if size_mm is None or READABLE_MM <= size_mm <= LARGEST_STICKER_MM:
        return None
    if size_mm < READABLE_MM:
        return say(
            "Stickers of %(size)s mm can be read only close up: for 1.2 m of table, a camera of 1920 × 1080"
            " pixels needs at least %(least)s mm, and %(usual)s mm to be sure.",
            size=f"{size_mm:g}",
            least=f"{READABLE_MM:g}",
            usual=f"{STICKER_MM:g}",
        )
    width, height = CARD_MM
    return say(
        "Stickers of %(size)s mm hide most of a card of %(width)s × %(height)s mm: for 1.2 m of table"
        " %(usual)s mm is enough, or 28 mm with a poor camera.",
        size=f"{size_mm:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        usual=f"{STICKER_MM:g}",
    )


def _items(wanted: Wanted) -> Iterator[Item]:
    if wanted.kind == "stickers":
        size_mm, kind = wanted.size_mm, wanted.sticker_kind
        for card_id in card_ids(wanted.cards):
            says = {"face": face_of(card_id).value, "kind": kind}
            drawing = stickers.sticker_svg(card_id, size_mm, kind, wanted.language, wanted.edition)
            yield card_id, drawing, says
    elif wanted.kind in ("mats", ROBOT):
        for layout in _mats(wanted.sides) if wanted.kind == "mats" else [robot_mat()]:
            zones = {name: rect.as_list() for name, rect in layout.zones.items()}
            yield layout.id, mats.mat_svg(layout, wanted.language), {"zones": zones}
        for name, parts in SCREENS.items() if wanted.kind == ROBOT else ():
            folds = {"folds_mm": sheets.SCREEN_FOLDS_MM, "parts": parts}
            yield name, sheets.screen_svg(parts, wanted.language), folds
    else:
        for card, copies in wanted.cards.items():
            yield (
                card.value,
                deck.face_svg(card, wanted.language, wanted.edition),
                {"face": card.value, "copies": copies},
            )
        yield "back", deck.back_svg(), {}


def _mats(sides: int) -> list[MatLayout]:
    return [*(side_mat(number) for number in range(1, sides + 1)), table_mat()]


def _item_files(wanted: Wanted, format: str, dpi: int) -> dict[str, bytes]:  # noqa: A002
    files, lines = {}, []
    for name, drawing, says in _items(wanted):
        file = f"{name}.{format}"
        files[file] = drawing.encode() if format == "svg" else render.to_png(drawing, dpi)
        entry = {"file": file, **says, "size_mm": list(svg.size_mm(drawing))}
        lines.append(f" {json.dumps(name)}: {json.dumps(entry)}")
    joined = ",\n".join(lines)
    return files | {f"{wanted.kind}.json": f"{{\n{joined}\n}}\n".encode()}


def _pages(wanted: Wanted) -> Iterator[tuple[str, list[str]]]:
    language = wanted.language
    name = f"{mat_word(wanted.kind, language)} · {wanted.edition}" if wanted.kind != "mats" else ""
    if wanted.kind == ROBOT:
        screens = [sheets.screen_svg(parts, language) for parts in SCREENS.values()]
        yield "robot.pdf", [*sheets.mat_halves(robot_mat(), language), *screens]
    elif wanted.kind == "stickers":
        yield "stickers.pdf", _sticker_pages(wanted, name)
    elif wanted.kind == "mats":
        *side_mats, table = _mats(wanted.sides)
        last = mats.mat_svg(table, language)
        yield "mats.pdf", [*(mats.mat_svg(mat, language) for mat in side_mats), last]
        halves = [half for mat in side_mats for half in sheets.mat_halves(mat, language)]
        yield "mats-a4.pdf", [*halves, last]
    else:
        drawn = {card: deck.face_svg(card, language, wanted.edition) for card in wanted.cards}
        cards = [drawn[card] for card, copies in wanted.cards.items() for _ in range(copies)]
        yield "deck.pdf", sheets.tiled(cards, CARD_MM, name, language)
        backs = [deck.back_svg()] * sheets.each_sheet(CARD_MM)
        yield "deck-backs.pdf", sheets.tiled(backs, CARD_MM, f"{name} · {mat_word('backs', language)}", language)


def _sticker_pages(wanted: Wanted, name: str) -> list[str]:
    kind, size_mm, language = wanted.sticker_kind, wanted.size_mm, wanted.language
    parts = [name, "QR" if kind == "qr" else kind, f"{size_mm:g} mm", mat_word("sleeve", language)]
    if wanted.labels is None:
        drawings = [drawing for _name, drawing, _says in _items(wanted)]
        return sheets.tiled(drawings, stickers.sticker_size_mm(size_mm), " · ".join(parts), language)
    drawn = [
        stickers.label_svg(card, wanted.labels, size_mm, kind, language, wanted.edition)
        for card in card_ids(wanted.cards)
    ]
    return sheets.labelled(drawn, wanted.labels, " · ".join([*parts, wanted.labels.title]), language)
