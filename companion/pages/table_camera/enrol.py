"""Enrolling a deck: card by card before the camera, or many on a photograph."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from flask import Blueprint, Response, abort, flash, redirect, render_template, request, url_for
from werkzeug.exceptions import RequestEntityTooLarge

from companion.common import parsing
from companion.common.errors import Busy, Problem
from companion.common.text import listed
from companion.pages import words
from companion.pages.context import AnyResponse, folder, go, has_picture, sent_files, service
from companion.pages.limits import too_many_pixels
from companion.pages.players import phone_identity
from companion.pages.table_camera.decks import known, title_of
from companion.pages.words import _, many
from companion.rules.cards import card_of_slug
from companion.tabletop import template_decks, translation
from companion.tabletop.template_decks import BACK, MOST_PICTURES, Subject, drop_waiting, waiting_in
from companion.vision.boxes import Image, shrunk
from companion.vision.capture import sandbox
from companion.vision.capture.image_io import jpeg_of, read_picture
from companion.vision.counting.photographs import MOST_BYTES
from companion.vision.enrol import sheet_enrolment
from companion.vision.enrol.enrolment import Enrolment, FaceVerdict, begin, subject_name
from companion.vision.enrol.rectify import PictureFault, Rectified
from companion.vision.enrol.sheet_enrolment import FaceGuess, SheetResult
from companion.vision.opencv import cv2

bp = Blueprint("enrolling", __name__)

PATH = "/decks/<name>/enrol"
_NONE = "none"  # form value: no card of the deck
DONE = "done"  # card parameter when no more are wanted
_MAY_BE_MANY = (
    PictureFault.SEVERAL,
    PictureFault.NO_CARD,
    PictureFault.UNCLEAR,
    PictureFault.TOO_SMALL,
)  # possible for pictures of many cards
_taking = threading.Lock()  # a repeated upload waits for the first
THUMB_PX = 240  # height
_MARKED_PX = 1000  # longer side of photographs with outlined reflections
_MARKS = (((43, 38, 35), 12), ((0, 180, 240), 6))  # BGR and width in px of their lines; under them, a dark rim


@bp.get(PATH)
def show(name: str) -> str:
    """Show the page of the requested card, or of the next without a picture."""
    if not phone_identity.may_act():
        return render_template("enrol.html", deck=None)
    enrolment = _enrolment(name)
    return _page(enrolment, _asked(enrolment, request.args.get("card")))


@bp.post(PATH)
def take(name: str) -> AnyResponse | tuple[str, int]:
    """Save a card's picture, or photographs of many cards, for deck `name`; redirect to the next step.

    Show the page again for an unusable one.
    """
    enrolment = _enrolment(name)
    try:
        subject = _subject(enrolment, request.form.get("card", ""))
        photos = [content for content, _name in sent_files("photo")]
        with sandbox.one_at_a_time(_taking):
            return _taken(enrolment, subject, photos)
    except RequestEntityTooLarge:
        return _page(enrolment, _asked(enrolment, request.args.get("card")), too_many_pixels()), 413
    except Problem as problem:
        asked = _asked(enrolment, request.form.get("card"))
        return _page(enrolment, asked, str(problem)), 503 if isinstance(problem, Busy) else 400


def _taken(enrolment: Enrolment, subject: Subject, photos: list[bytes]) -> AnyResponse | tuple[str, int]:
    """Save the upload or camera picture; return the next page. Raises Problem without a usable one."""
    number = parsing.whole(request.form.get("number"), 1, 999)
    new = [photo for photo in photos if not _mark(enrolment, photo).exists()]
    if photos and not new:
        return go(url_for("enrolling.name_them", name=enrolment.description.name))
    if number or len(new) > 1:
        return _taken_together(enrolment, new or [b""], number)
    image = _decoded(new[0]) if new else _image()
    if image is None:
        raise Problem(_("There is no current picture: plug in a camera, or send a photo."))
    verdict = service().guide.take(enrolment, subject, image, more=request.form.get("how") == "more")
    if not new:
        service().guide.seen(image)
    elif verdict.fault in _MAY_BE_MANY and (taken := _cut_out(enrolment, new[0], image)).count:
        _tell(enrolment, taken, image, 1)
        return redirect(url_for("enrolling.name_them", name=enrolment.description.name), 303)
    if not verdict.is_good:
        return _page(enrolment, subject_name(subject), _said(verdict), _marked(enrolment, image, [verdict.found])), 400
    return redirect(_after(enrolment, subject, verdict, image), 303)


def _cut_out(enrolment: Enrolment, sent: bytes, image: Image) -> SheetResult:
    taken = service().guide.take_many(enrolment, image)
    if taken.count:
        _note(enrolment, sent)
    return taken


def _note(enrolment: Enrolment, sent: bytes) -> None:
    """Mark a photograph so that a repeated upload adds nothing."""
    with suppress(OSError):
        _mark(enrolment, sent).touch()


def _mark(enrolment: Enrolment, sent: bytes) -> Path:
    """Return a photograph's mark: a file that exists while its cards wait for names."""
    return enrolment.folder / template_decks.WAITING / hashlib.sha256(sent).hexdigest()


def _image() -> Image | None:
    return service().camera.image() if _can_look() else None


def _can_look() -> bool:
    """True if there is a fresh picture of a real table."""
    return has_picture() and not service().camera.is_simulated


def _decoded(photo: bytes) -> Image:
    """Decode an upload. Raises Problem if unreadable or too large."""
    if not 0 < len(photo) <= MOST_BYTES:
        raise Problem(too_many_pixels())
    return sandbox.decode(photo, _("you sent"))


def _taken_together(enrolment: Enrolment, photos: list[bytes], number: int | None) -> AnyResponse:
    """Cut cards out of photographs and redirect to their names; unusable photographs leave gaps.

    Scripts upload one at a time, with its `number`. Raises Busy if it must be sent again.
    """
    for at, photo in enumerate(photos, start=number or 1):
        is_seen, image = bool(photo), None
        try:
            image = _decoded(photo)
            taken = _cut_out(enrolment, photo, image)
        except Problem as problem:
            if number and isinstance(problem, Busy):
                raise
            is_seen = is_seen and not isinstance(problem, Busy)
            taken = SheetResult(0, (words.said(problem.sentence).rstrip("."),))
        if not taken.count:
            sheet_enrolment.leave_gap(enrolment)
            if is_seen:
                _note(enrolment, photo)
        _tell(enrolment, taken, image, at)
    return go(url_for("enrolling.name_them", name=enrolment.description.name))


def _tell(enrolment: Enrolment, taken: SheetResult, image: Image | None, number: int) -> None:
    """Flash what to know about photograph `number`, its reflections outlined."""
    called = words.capital(_("photograph %(number)d", number=number))
    if taken.is_scan:
        whole = _("Kept whole, as a scan. If it shows more than the card, take it again.")
        flash(f"{called}: {whole}")
    said = [f"{called}: {words.said(one)}." for one in (*taken.faults, *taken.notes)]
    picture = _marked(enrolment, image, taken.cards)
    for at, sentence in enumerate(said, start=1):
        flash(sentence, picture if at == len(said) and picture else "message")


def _marked(enrolment: Enrolment, image: Image | None, cards: Iterable[Rectified]) -> str:
    """Keep a photograph with its reflections outlined, and refused cards; return its path, or empty without any."""
    shining = [card for card in cards if card.reflections]
    if image is None or not shining:
        return ""
    shrink = min(1.0, _MARKED_PX / max(image.shape[:2]))
    drawn = shrunk(image, shrink).copy()
    lines = [outline for card in shining for outline in card.reflections]
    lines += [card.corners for card in shining if card.fault and card.corners is not None]
    for colour, width_px in _MARKS:
        for line in lines:
            cv2.polylines(drawn, [np.round(line * shrink).astype(np.int32)], True, colour, width_px, cv2.LINE_AA)
    jpeg = jpeg_of(drawn) or b""
    token = hashlib.sha256(jpeg).hexdigest()[:16]
    name = enrolment.description.name
    service().marked.get((name, token), lambda: jpeg)
    return url_for("enrolling.marked", name=name, token=token)


@bp.get("/decks/<name>/marked/<token>.jpg")
def marked(name: str, token: str) -> Response:
    """Return one of the last photographs with outlined reflections."""
    return Response(service().marked.get((name, token), partial(abort, 404)), mimetype="image/jpeg")


@bp.get(f"{PATH}/names")
def name_them(name: str) -> AnyResponse | str:
    """Show the cut-out cards with likely or unsaved names; `ordered` means they were in order."""
    enrolment = _enrolment(name)
    if not waiting_in(enrolment.folder):
        drop_waiting(enrolment.folder)
        return redirect(url_for("enrolling.show", name=name), 303)
    found = sheet_enrolment.named(enrolment, folder(), in_order=request.args.get("ordered") == "1")
    cards = [
        _waiting_card(enrolment, place, guess, request.args.get(f"card-{place + 1}", ""))
        for place, guess in sorted(found.items())
    ]
    steps = [_step(enrolment, subject) for subject in (*enrolment.cards, None)]
    return render_template(
        "enrol_names.html",
        deck=enrolment.description,
        title=title_of(name),
        cards=cards,
        every=sorted(steps, key=lambda step: step["pictures"] > 0),
        is_by_place=any(guess.is_by_place for guess in found.values()),
        order=[_step(enrolment, subject)["title"] for subject in enrolment.wanted[:3]],
    )


def _waiting_card(enrolment: Enrolment, place: int, guess: FaceGuess, given: str) -> dict[str, Any]:
    likely = [*guess.likely, *([_subject(enrolment, given)] if given else [])]
    is_told = guess.is_sure or guess.is_by_place
    return {
        "number": place + 1,
        "likely": [_step(enrolment, subject) for subject in dict.fromkeys(likely)],
        "is_sure": guess.is_sure and not given,
        "is_settled": is_told and not given,
        "name": given or (subject_name(guess.likely[0]) if is_told else ""),
    }


@bp.post(f"{PATH}/names")
def keep_them(name: str) -> AnyResponse:
    """Save the named cards. Others keep waiting; with `anew` all are dropped."""
    enrolment = _enrolment(name)
    if "anew" in request.form:
        drop_waiting(enrolment.folder)
        return redirect(url_for("enrolling.show", name=name), 303)
    given: dict[str, list[int]] = {}
    for place in waiting_in(enrolment.folder):
        # Without scripts, the list's choice wins.
        slug = request.form.get(f"other-{place + 1}", "") or request.form.get(f"card-{place + 1}", "")
        slug = "" if slug == "other" else slug
        if slug == _NONE:
            sheet_enrolment.forget(enrolment, place)
        elif slug:
            given.setdefault(slug, []).append(place)
    names = {places[0]: _subject(enrolment, slug) for slug, places in given.items() if len(places) == 1}
    twice = [_step(enrolment, _subject(enrolment, slug))["title"] for slug, places in given.items() if len(places) > 1]
    if twice:
        flash(_("More than one card is named %(cards)s: give each its own name.", cards=listed(twice)))
    try:
        for place, twin in sheet_enrolment.keep(enrolment, names):
            flash(f"{place + 1}: {_said(FaceVerdict(twin=twin))}")
    except Problem as problem:
        flash(str(problem))
    left = waiting_in(enrolment.folder)
    if not left:
        is_whole = not any(enrolment.wanted)  # the back hardly matters
        return redirect(url_for("enrolling.show", name=name, card=DONE if is_whole else None), 303)
    flash(many("%(count)d card has no name yet.", "%(count)d cards have no name yet.", len(left)))
    in_vain: dict[str, Any] = {
        f"card-{place + 1}": slug for slug, places in given.items() for place in places if place in left
    }
    return redirect(url_for("enrolling.name_them", name=name, **in_vain), 303)


@bp.get("/decks/<name>/waiting/<int:number>.jpg")
def waiting(name: str, number: int) -> Response:
    """Return a waiting card's reduced picture."""
    path = waiting_in(_enrolment(name).folder).get(number - 1)
    if path is None:
        abort(404)
    return Response(_thumb(path, path.stat().st_mtime_ns), mimetype="image/jpeg")


@bp.post(f"{PATH}/watch")
def watch(name: str) -> AnyResponse | tuple[str, int]:
    """Save a card once it lies still. Respond with the next page, a sentence or nothing."""
    enrolment = _enrolment(name)
    subject = _subject(enrolment, request.form.get("card", ""))
    image = _image()
    if enrolment.pictures(subject):
        # saved by another phone
        return go(_after(enrolment, subject, FaceVerdict(), None))
    try:
        verdict = service().guide.watch(enrolment, subject, image) if image is not None else None
    except Problem as problem:
        return render_template("enrol_said.html", sentence=str(problem)), 200
    if verdict is None:
        return "", 204
    if verdict.is_good:
        return go(_after(enrolment, subject, verdict, image))
    picture = _marked(enrolment, image, [verdict.found])
    return render_template("enrol_said.html", sentence=_said(verdict), marked=picture), 200


@bp.get("/decks/<name>/<slug>-<int:number>.jpg")
def picture(name: str, slug: str, number: int) -> Response:
    """Return a reduced picture of a deck's card."""
    deck = known(name)
    card = card_of_slug(slug)
    paths = deck.back if slug == BACK else deck.faces.get(card, ()) if card else ()
    if not 0 < number <= len(paths):
        abort(404)
    path = paths[number - 1]
    return Response(_thumb(path, path.stat().st_mtime_ns), mimetype="image/jpeg")


@bp.post("/decks/<name>/<slug>-<int:number>/remove")
def remove_picture(name: str, slug: str, number: int) -> AnyResponse | tuple[str, int]:
    """Remove a card's picture, if `of` is still its number of pictures."""
    enrolment = _enrolment(name)
    subject = _subject(enrolment, slug)
    there = enrolment.pictures(subject)
    if request.form.get("of") == f"{len(there)}" and 0 < number <= len(there):
        try:
            enrolment.keep(subject, [read_picture(path) for path in there if path != there[number - 1]])
        except Problem as problem:
            return _page(enrolment, slug, str(problem)), 400
    return redirect(url_for("enrolling.show", name=name, card=slug), 303)


@lru_cache(maxsize=64)
def _thumb(path: Path, _written_ns: int) -> bytes:
    image = read_picture(path)
    return jpeg_of(shrunk(image, THUMB_PX / image.shape[0])) or b""


def _enrolment(name: str) -> Enrolment:
    """Return a user's deck to enroll; abort with 404 if missing or damaged."""
    if name not in template_decks.own_names(folder()):
        abort(404)
    try:
        described = template_decks.read_description(folder() / template_decks.DECKS_NAME / name)
        translation.name_cards_of(described.edition)
        return begin(name, described.edition, folder())
    except Problem:
        abort(404)


def _subject(enrolment: Enrolment, slug: str) -> Subject:
    """Return a slug's card, None for the back; abort with 400 if unknown."""
    card = card_of_slug(slug)
    if slug != BACK and card not in enrolment.cards:
        abort(400)
    return None if slug == BACK else card


def _asked(enrolment: Enrolment, slug: str | None) -> str:
    if slug == DONE or (slug and subject_name(_subject(enrolment, slug))):
        return slug
    return subject_name(enrolment.wanted[0]) if enrolment.wanted else DONE


def _after(enrolment: Enrolment, subject: Subject, verdict: FaceVerdict, image: Image | None) -> str:
    """Return the next page's path; flash what to check on the picture that was saved."""
    if verdict.found.note:
        note = words.capital(words.said(verdict.found.note))
        flash(f"{note}.", _marked(enrolment, image, [verdict.found]) or "message")
    order = (*enrolment.cards, None)
    later = order[order.index(subject) + 1 :]
    return url_for(
        "enrolling.show",
        name=enrolment.description.name,
        card=next((subject_name(card) for card in (*later, *order) if card in enrolment.wanted), DONE),
        got=subject_name(subject),
        scan="1" if verdict.found.is_scan else None,
        auto="1" if request.form.get("auto") else None,
        photo="1" if request.files else None,
    )


def _said(verdict: FaceVerdict) -> str:
    if verdict.fault is PictureFault.NO_CARD and _is_of_all():
        return _("No card found in the picture: lay the cards in rows, with gaps, on a plain surface of another color.")
    if verdict.twin:
        other = card_of_slug(verdict.twin)
        called = words.title(other) if other else _("the back")
        return _("This card is already saved as “%(card)s”: put down another, or retake that one.", card=called)
    return words.capital(words.said(verdict.sentence)) + "."


def _step(enrolment: Enrolment, card: Subject) -> dict[str, Any]:
    return {
        "slug": subject_name(card),
        "title": words.title(card) if card else _("Back"),
        "card": card,
        "pictures": len(enrolment.pictures(card)),
    }


def _page(enrolment: Enrolment, slug: str, sentence: str = "", marked: str = "") -> str:
    steps = [_step(enrolment, card) for card in (*enrolment.cards, None)]
    at = next((number for number, step in enumerate(steps) if step["slug"] == slug), len(steps))
    now = steps[at] if at < len(steps) else None
    has_picture = _can_look()
    return render_template(
        "enrol.html",
        deck=enrolment.description,
        title=title_of(enrolment.description.name),
        steps=steps,
        now=now,
        number=at + 1,
        count=len(enrolment.cards),
        missing=[step for step in steps if not step["pictures"]],
        before=steps[at - 1] if at else None,
        after=steps[at + 1]["slug"] if at + 1 < len(steps) else DONE,
        by_photo="photo" in request.args or bool(request.files),
        waiting=len(waiting_in(enrolment.folder)),
        is_of_all=now is not None and not has_picture and _is_of_all(),
        is_full=now is not None and now["pictures"] >= MOST_PICTURES,
        got=next((step for step in steps if step["slug"] == request.args.get("got") and step["pictures"]), None),
        has_picture=has_picture,
        is_scan="scan" in request.args,
        sentence=sentence,
        marked=marked,
    )


def _is_of_all() -> bool:
    return "all" in request.form if request.method == "POST" else not request.args.get("card")
