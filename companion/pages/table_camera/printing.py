"""Printing from the page: stickers, mats and a deck as PDF files, with a small picture of each sheet."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from flask import Blueprint, Response, abort, render_template, request

from companion.common import parsing
from companion.common.errors import Problem
from companion.pages import error_pages, language
from companion.pages.context import state
from companion.pages.words import N_, _, many
from companion.printing.printed_words import LANGUAGES
from companion.printing.sheets import sheets_for
from companion.printing.stickers import DEFAULT_SIZE_MM, sticker_size_mm
from companion.printing.write import StickerStyle, Wanted, first_pages, missing_faces, pdf_files
from companion.rules.editions.edition import Edition, EditionError, edition_names, load_edition
from companion.tabletop.card_ids import card_ids
from companion.tabletop.mat_layout import CARD_MM, MAX_SIDES

bp = Blueprint("printed", __name__)

SIZES_MM = (
    (16.0, N_("for a camera close above the table")),
    (20.0, N_("for most cameras")),
    (28.0, N_("for a large table or an old camera")),
)
"""The widths of stickers to choose from, and what they are for."""

PREVIEW_DPI = 64
KIND_OF = {"stickers": "stickers", "mats": "mats", "mats-a4": "mats", "deck": "deck", "deck-backs": "deck"}
"""What the files are of, by their names."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be printed, as the form says it; the same order gives the same files."""

    edition: str
    sides: int = 2
    size_mm: float = DEFAULT_SIZE_MM
    sticker_kind: str = "qr"
    language: str = "en"

    def wanted(self, kind: str) -> Wanted:
        """The sheets of one kind."""
        style = StickerStyle(self.size_mm, self.sticker_kind)
        return Wanted(kind, load_edition(self.edition), self.sides, style, self.language)

    def query(self) -> dict[str, str | int]:
        """The order as an address says it."""
        return {
            "edition": self.edition,
            "sides": self.sides,
            "size": f"{self.size_mm:g}",
            "kind": self.sticker_kind,
        }


MOST_WAITING = 24
"""So many may wait for a drawing; a page shows five sheets."""

_places, _one_at_a_time = threading.BoundedSemaphore(MOST_WAITING), threading.Lock()
"""Drawing takes a small computer seconds: two phones that ask for the same wait for one drawing of it."""


@lru_cache(maxsize=8)
def _files(order: Order, kind: str) -> Mapping[str, bytes]:
    return pdf_files(order.wanted(kind))


@lru_cache(maxsize=24)
def _pictures(order: Order, kind: str) -> Mapping[str, bytes]:
    return first_pages(order.wanted(kind), PREVIEW_DPI)


@bp.get("/print")
def show() -> str:
    """The page."""
    order = _order()
    edition = load_edition(order.edition)
    stickers = len(card_ids(edition.deck))
    return render_template(
        "print.html",
        order=order,
        query=order.query(),
        edition=edition,
        editions=[load_edition(name) for name in edition_names()],
        sizes=SIZES_MM,
        most_sides=MAX_SIDES,
        stickers=_stickers_say(stickers, sheets_for(stickers, sticker_size_mm(order.size_mm))),
        mats=_mats_say(order.sides),
        deck=_deck_say(sum(edition.deck.values())),
        can_draw=not missing_faces(edition),
    )


@bp.get("/print/<any(stickers,mats,'mats-a4',deck,'deck-backs'):name>.<any(pdf,png):form>")
def sheet(name: str, form: str) -> Response:
    """A file to print, or a small picture of its first sheet."""
    order, kind = _order(), KIND_OF[name]
    if not _places.acquire(blocking=False):
        abort(error_pages.say(_("Other sheets are being drawn: try again in a moment."), 503))
    try:
        with _one_at_a_time:
            files = _files(order, kind) if form == "pdf" else _pictures(order, kind)
    finally:
        _places.release()
    response = Response(files[f"{name}.pdf"], mimetype="application/pdf" if form == "pdf" else "image/png")
    response.headers["Cache-Control"] = "private, max-age=3600"
    if form == "pdf":
        response.headers["Content-Disposition"] = f'attachment; filename="{_file_name(order, name)}"'
    return response


def _file_name(order: Order, name: str) -> str:
    return f"{name}.pdf" if KIND_OF[name] == "mats" else f"{name}-{order.edition}.pdf"


def _order() -> Order:
    """What the address asks for; what it does not say is as the match has it. Raises Problem for no number."""
    here = state().game
    said = language.spoken()
    return Order(
        edition=_edition(request.args.get("edition", here.edition_name)).name,
        sides=_sides(request.args.get("sides", str(len(here.teams) or 2))),
        size_mm=_size(request.args.get("size", f"{DEFAULT_SIZE_MM:g}")),
        sticker_kind="tag" if request.args.get("kind") == "tag" else "qr",
        language=said if said in LANGUAGES else "en",
    )


def _edition(name: str) -> Edition:
    try:
        return load_edition(name)
    except EditionError:
        abort(404)


def _sides(said: str) -> int:
    sides = parsing.whole(said, 1, MAX_SIDES)
    if sides is None:
        raise Problem(_("There are mats for 1 to %(most)d sides: choose one of these.", most=MAX_SIDES))
    return sides


def _size(said: str) -> float:
    size = next((size for size, _why in SIZES_MM if f"{size:g}" == said), None)
    if size is None:
        raise Problem(_("A sticker is 16, 20 or 28 mm wide: choose one of these."))
    return size


# How much there is of it, in words


def _stickers_say(stickers: int, sheets: int) -> str:
    papers = many("%(count)d sheet of A4", "%(count)d sheets of A4", sheets)
    return _("%(stickers)d stickers, one for each card, on %(papers)s.", stickers=stickers, papers=papers)


def _mats_say(sides: int) -> str:
    mats = many("%(count)d mat for a side", "%(count)d mats for the sides", sides)
    return _("%(mats)s and one for the draw pile. On A4 a side’s mat is two sheets, laid edge to edge.", mats=mats)


def _deck_say(cards: int) -> str:
    papers = many("%(count)d sheet of A4", "%(count)d sheets of A4", sheets_for(cards, CARD_MM))
    return _("%(cards)d cards on %(papers)s, and a sheet of backs for their other side.", cards=cards, papers=papers)
