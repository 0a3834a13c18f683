"""Printing: stickers, mats and a deck as PDF files, with previews."""

from __future__ import annotations

from functools import lru_cache, partial

from flask import Blueprint, Response, abort, render_template, request

from companion.common import parsing
from companion.common.errors import Problem
from companion.pages import words
from companion.pages.context import editions, state
from companion.pages.limits import Queue
from companion.pages.words import N_, _, many
from companion.printing.label_sheets import known_sheets, label_sheet
from companion.printing.sheets import sheets_for
from companion.printing.stickers import sticker_size_mm
from companion.printing.write import Wanted, first_pages, pdf_files
from companion.rules.editions.edition import EditionError, load_edition
from companion.tabletop import translation
from companion.tabletop.card_ids import card_ids
from companion.tabletop.mat_layout import CARD_MM, MAX_SIDES
from companion.tabletop.sticker_codes import STICKER_MM

bp = Blueprint("printed", __name__)

SIZES_MM = (
    (16.0, N_("for a camera close above the table")),
    (20.0, N_("for most cameras")),
    (28.0, N_("for a large table or an old camera")),
)
"""Sticker widths in mm, with purposes."""

PREVIEW_DPI = 64
KIND_OF = {name: name.partition("-")[0] for name in ("stickers", "mats", "mats-a4", "deck", "deck-backs", "robot")}


MOST_WAITING = 24  # a page shows five sheets
_drawing = Queue(MOST_WAITING)  # phones asking for one sheet share its drawing


_files = lru_cache(maxsize=8)(pdf_files)
_pictures = lru_cache(maxsize=24)(partial(first_pages, dpi=PREVIEW_DPI))


@bp.get("/print")
def show() -> str:
    """Show what can be printed, and on how many sheets."""
    sentence = ""
    try:
        order = _order("stickers", request.args.get("labels", "").strip())
    except Problem as problem:
        order, sentence = _order("stickers"), words.said(problem.sentence)
    edition = load_edition(order.edition)
    stickers, cards = len(card_ids(edition.deck)), sum(edition.deck.values())
    labels = order.labels
    if labels is None:
        sticker_sheets = _sheets_say(sheets_for(stickers, sticker_size_mm(order.size_mm)))
    else:
        count = labels.sheets_for(stickers)
        sticker_sheets = many("%(count)d sheet of labels", "%(count)d sheets of labels", count)
    mats = many("%(count)d mat for a side", "%(count)d mats for the sides", order.sides)
    return render_template(
        "print.html",
        order=order,
        query={
            "edition": order.edition,
            "sides": order.sides,
            "size": f"{order.size_mm:g}",
            "kind": order.sticker_kind,
            "labels": labels.name if labels else "",
        },
        sentence=sentence,
        labels=known_sheets().values(),
        typed=request.args.get("labels", "").strip(),
        edition=edition,
        editions=editions(),
        sizes=SIZES_MM,
        most_sides=MAX_SIDES,
        stickers=_(
            "%(stickers)d stickers, one for each card, on %(papers)s.", stickers=stickers, papers=sticker_sheets
        ),
        mats=_("%(mats)s and one for the draw pile. On A4 a side’s mat is two sheets, laid edge to edge.", mats=mats),
        deck=_(
            "%(cards)d cards on %(papers)s, and a sheet of backs for their other side.",
            cards=cards,
            papers=_sheets_say(sheets_for(cards, CARD_MM)),
        ),
    )


def _sheets_say(count: int) -> str:
    return many("%(count)d sheet of A4", "%(count)d sheets of A4", count)


@bp.get("/print/<any(stickers,mats,'mats-a4',deck,'deck-backs',robot):name>.<any(pdf,png):form>")
def sheet(name: str, form: str) -> Response:
    """Return a PDF to print, or its first sheet as PNG; the query has edition, sides and sizes."""
    kind = KIND_OF[name]
    order = _order(kind, request.args.get("labels", "") if kind == "stickers" else "")
    with _drawing.turn(_("Other sheets are being drawn: try again in a moment.")):
        files = _files(order) if form == "pdf" else _pictures(order)
    response = Response(files[f"{name}.pdf"], mimetype="application/pdf" if form == "pdf" else "image/png")
    response.headers["Cache-Control"] = "private, max-age=3600"
    if form == "pdf":
        file_name = name if kind in ("mats", "robot") else f"{name}-{order.edition}"
        response.headers["Content-Disposition"] = f'attachment; filename="{file_name}.pdf"'
    return response


def _order(sheets: str, labels: str = "") -> Wanted:
    """Return the URL's order, completed from the match.

    Raises Problem for invalid numbers, and for `labels` unknown or too small.
    """
    game, asked = state().game, request.args
    try:
        edition = load_edition(asked.get("edition", game.edition_name)).name
    except EditionError:
        abort(404)
    sides = parsing.whole(asked.get("sides", str(len(game.teams) or 2)), 1, MAX_SIDES)
    if sides is None:
        raise Problem(_("There are mats for 1 to %(most)d sides: choose one of these numbers.", most=MAX_SIDES))
    typed = asked.get("size", f"{STICKER_MM:g}")
    size_mm = next((size for size, _why in SIZES_MM if f"{size:g}" == typed), None)
    if size_mm is None:
        raise Problem(_("Stickers are 16, 20 or 28 mm wide: choose one of these sizes."))
    kind = "tag" if asked.get("kind") == "tag" else "qr"
    return Wanted(sheets, edition, sides, size_mm, kind, translation.spoken(), label_sheet(labels) if labels else None)
