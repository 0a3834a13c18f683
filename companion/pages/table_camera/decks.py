"""Decks by whose faces cards are recognized: list, choose, import, export, remove, create."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from flask import Blueprint, Response, abort, flash, redirect, render_template, request, url_for
from werkzeug.exceptions import RequestEntityTooLarge

from companion.common.errors import Busy, Problem
from companion.pages import words
from companion.pages.context import AnyResponse, download, editions, folder, sent_files, state
from companion.pages.limits import MOST_DECK_BYTES, Queue
from companion.pages.players import phone_identity
from companion.pages.words import _, many
from companion.rules.editions.edition import EditionError, load_edition
from companion.tabletop import deck_archive, template_decks
from companion.tabletop.mat_layout import CARD_MM
from companion.tabletop.template_decks import Deck, load_deck, own_names, titles
from companion.vision.capture.sandbox import BUSY
from companion.vision.enrol.enrolment import Enrolment, begin, recoded
from companion.vision.faces.deck_in_use import choose_deck, chosen_deck

bp = Blueprint("decks", __name__)

_LONGEST_NAME = 32
_taking_in = Queue(1)


@bp.post("/decks")
def start() -> AnyResponse | tuple[str, int]:
    """Create a deck and go to the page for its faces."""
    try:
        enrolment = _begun()
        template_decks.write_description(enrolment.folder, enrolment.description)
    except Problem as problem:
        return _page(str(problem), asks="new"), 400
    return redirect(url_for("enrolling.show", name=enrolment.description.name), 303)


@bp.post("/decks/use")
def use() -> AnyResponse | tuple[str, int]:
    """Choose the cards on this table."""
    name = request.form.get("deck") or None
    try:
        choose_deck(folder(), name)
    except Problem as problem:
        return _page(str(problem)), 400
    flash(_told_by(name) if name else _("Cards are recognized by their stickers."))
    return redirect(url_for("decks.show"), 303)


def _told_by(name: str) -> str:
    title, lacks = title_of(name), len(load_deck(name, folder()).missing)
    if not lacks:
        return _("Cards are recognized by the faces of “%(title)s”, and by stickers if they have any.", title=title)
    return many(
        "“%(title)s” lacks %(count)d face: its cards are not recognized, and you are asked about similar ones.",
        "“%(title)s” lacks %(count)d faces: their cards are not recognized, and you are asked about similar ones.",
        lacks,
        title=title,
    )


@bp.get("/decks/<name>.zip")
def take_away(name: str) -> Response:
    """Return a deck as a file."""
    deck = known(name)
    with tempfile.TemporaryDirectory() as there:
        content = deck_archive.export_deck(deck, Path(there)).read_bytes()
    return download(content, "application/zip", f"{deck.name}.zip")


@bp.post("/decks/import")
def take_in() -> AnyResponse | tuple[str, int]:
    """Import a deck. One at a time: unpacked decks are large."""
    try:
        content, called = next(iter(sent_files("file")), (b"", ""))
        with _taking_in.turn(BUSY):
            deck = _taken_in(content, Path(called or "deck.zip").name)
    except RequestEntityTooLarge:
        say = _("That file is larger than %(mb)d MB, too large for a deck.", mb=MOST_DECK_BYTES // 1_000_000)
        return _page(say, asks="file"), 413
    except Problem as problem:
        return _page(str(problem), asks="file"), 503 if isinstance(problem, Busy) else 400
    say = many(
        "“%(title)s” is imported, with %(count)d face.",
        "“%(title)s” is imported, with %(count)d faces.",
        len(deck.faces),
        title=title_of(deck.name),
    )
    flash(say)
    return redirect(url_for("decks.show"), 303)


def _taken_in(content: bytes, called: str) -> Deck:
    if not content:
        raise Problem(_("Choose the file of an exported deck first."))
    title = " ".join(request.form.get("title", "").split())
    name = _free_name(title) if title else None
    return deck_archive.import_deck(Path(called), folder(), recoded, name, title=title, sent=content)


@bp.post("/decks/<name>/remove")
def remove(name: str) -> AnyResponse | tuple[str, int]:
    """Remove one of the user's decks."""
    title = title_of(name)
    try:
        if chosen_deck(folder()) == name:
            choose_deck(folder(), None)
        template_decks.remove_deck(name, folder())
    except Problem as problem:
        return _page(str(problem)), 400
    flash(_("“%(title)s” is removed.", title=title))
    return redirect(url_for("decks.show"), 303)


def known(name: str) -> Deck:
    """Return a deck by name, or abort with 404."""
    try:
        return load_deck(name, folder())
    except Problem:
        abort(404)


def title_of(name: str) -> str:
    """Return a deck's title."""
    return words.said(titles(folder()).get(name, name))


@bp.get("/decks", endpoint="show")
def _page(sentence: str = "", *, asks: str = "") -> str:
    """Show the decks; `asks` opens the form `new` or `file`."""
    return render_template(
        "decks.html",
        decks=list(_listed()) if phone_identity.may_act() else (),
        chosen=chosen_deck(folder()),
        editions=editions(),
        edition=request.form.get("edition") or state().game.edition_name,
        size_mm=CARD_MM,
        sentence=sentence,
        asks=asks,
    )


def _listed() -> Iterator[dict[str, object]]:
    own = own_names(folder())
    for name, title in titles(folder()).items():
        listed = {"name": name, "title": words.said(title), "is_own": name in own, "is_usable": True, "problem": ""}
        listed["waiting"] = len(template_decks.waiting_in(template_decks.folder_of(name, folder())))
        try:
            deck = load_deck(name, folder())
            yield listed | {"facts": _facts(deck), "missing": len(deck.missing)}
        except Problem as problem:
            facts = [_("no face yet")] if template_decks.is_begun(name, folder()) else []
            unusable = {"is_own": True, "is_usable": False, "problem": "" if facts else str(problem)}
            yield listed | unusable | {"facts": facts, "missing": 1}


def _facts(deck: Deck) -> list[str]:
    there, missing = len(deck.faces), len(deck.missing)
    if missing:
        count = many("%(there)d of %(count)d face", "%(there)d of %(count)d faces", there + missing, there=there)
    else:
        count = many("all %(count)d faces", "all %(count)d faces", there)
    try:
        edition = _(load_edition(deck.edition).title)
    except EditionError:
        edition = deck.edition
    back = "" if deck.back else _("no back")
    # no line break within a date
    made = _("made on %(day)s", day=deck.made.replace("-", "\u2011")) if deck.made else ""
    return [fact for fact in (edition, count, back, made, deck.maker) if fact]


def _begun() -> Enrolment:
    title, edition = " ".join(request.form.get("title", "").split()), request.form.get("edition", "")
    if not title:
        raise Problem(_("Give the deck a name, such as Grandma’s deck."))
    typed = [request.form.get(side, "").strip().replace(",", ".") for side in ("width", "height")]
    try:
        load_edition(edition)
        size_mm = template_decks.checked_size([float(side) for side in typed]) if any(typed) else CARD_MM
    except EditionError:
        raise
    except ValueError as error:
        wrong = _(
            "Enter the card’s width and height in millimeters, the shorter first, each from 30 to 150, such "
            "as 57 and 88."
        )
        raise Problem(wrong) from error
    enrolment = begin(_free_name(title), edition, folder(), size_mm=size_mm)
    return replace(enrolment, description=replace(enrolment.description, title=title))


def _free_name(title: str) -> str:
    """Return an unused file name for a title: letters, digits and dashes."""
    plain = unicodedata.normalize("NFKD", re.sub("['’]", "", title)).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME].strip("-") or "deck"
    taken = {other.lower() for other in template_decks.deck_names(folder())}
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 2))) if one not in taken)
