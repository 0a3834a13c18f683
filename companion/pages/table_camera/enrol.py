"""Enrolling a deck, card by card: the card to lay, the live picture, what came of it, and how far one is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response as AnyResponse

from companion.common.errors import Problem
from companion.pages import words
from companion.pages.context import service, state
from companion.pages.players import phone_identity
from companion.pages.table_camera.decks import enrolment_of, known, title_of
from companion.pages.words import _
from companion.rules.cards import card_of_slug
from companion.tabletop.template_decks import BACK, MOST_PICTURES, Subject
from companion.vision.boxes import Image
from companion.vision.capture import sandbox
from companion.vision.capture.image_io import decode, read_picture
from companion.vision.capture.sandbox import BUSY
from companion.vision.counting.photographs import MOST_BYTES
from companion.vision.enrol.enrolment import Enrolment, Verdict, subject_name
from companion.vision.opencv import cv2

bp = Blueprint("enrolling", __name__)

PATH = "/decks/<name>/enrol"
DONE = "done"
"""In the place of a card: nothing more is wanted just now."""

THUMB_PX = 240
"""The height of a card's picture on the page."""

_QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 80]


@dataclass(frozen=True, slots=True)
class Step:
    """A card of the deck on its page."""

    slug: str
    title: str
    card: Subject
    pictures: int
    """How many there are of it."""


@bp.get(PATH)
def show(name: str) -> str:
    """The page for one card: the one that is asked for, else the next one that is wanted."""
    if not phone_identity.may_act():
        return render_template("enrol.html", deck=None)
    enrolment = _enrolment(name)
    return _page(enrolment, _asked(enrolment, request.args.get("card")))


@bp.post(PATH)
def take(name: str) -> AnyResponse | tuple[str, int]:
    """Takes the camera's picture, or the photograph that was sent, for a card."""
    enrolment = _enrolment(name)
    try:
        subject = _subject(enrolment, request.form.get("card", ""))
        photo = _photograph()
        image = _seen() if photo is None else photo
        if image is None:
            raise Problem(_("There is no fresh picture: plug in a camera, or send a photograph."))
        verdict = service().guide.take(enrolment, subject, image, more=request.form.get("how") == "more")
        if photo is None:
            service().guide.seen(image)
    except RequestEntityTooLarge:
        say = _(
            "That file is larger than %(mb)d MB: take the photograph with fewer pixels.", mb=MOST_BYTES // 1_000_000
        )
        return _page(enrolment, _asked(enrolment, request.args.get("card")), say), 413
    except Problem as problem:
        asked = _asked(enrolment, request.form.get("card"))
        return _page(enrolment, asked, str(problem)), 503 if str(problem) == BUSY else 400
    if not verdict.is_good:
        return _page(enrolment, subject_name(subject), _said(verdict)), 400
    return redirect(_after(enrolment, subject), 303)


@bp.post(f"{PATH}/watch")
def watch(name: str) -> AnyResponse | tuple[str, int]:
    """Asked again and again while cards are to be taken by themselves: the next page, a sentence, or nothing."""
    enrolment = _enrolment(name)
    subject, image = _subject(enrolment, request.form.get("card", "")), _seen()
    if enrolment.pictures(subject):
        # Another phone has taken it meanwhile.
        return _go(_after(enrolment, subject))
    try:
        verdict = service().guide.watch(enrolment, subject, image) if image is not None else None
    except Problem as problem:
        return render_template("enrol_said.html", sentence=str(problem)), 200
    if verdict is None:
        return "", 204
    return _go(_after(enrolment, subject)) if verdict.is_good else _say(verdict)


@bp.get("/decks/<name>/<slug>-<int:number>.jpg")
def picture(name: str, slug: str, number: int) -> Response:
    """A card's picture of a deck, small."""
    deck = known(name)
    card = card_of_slug(slug)
    paths = deck.back if slug == BACK else deck.faces.get(card, ()) if card else ()
    if not 0 < number <= len(paths):
        abort(404)
    path = paths[number - 1]
    return Response(_thumb(path, path.stat().st_mtime_ns), mimetype="image/jpeg")


@lru_cache(maxsize=64)
def _thumb(path: Path, _written_ns: int) -> bytes:
    image = read_picture(path)
    size = (max(1, round(THUMB_PX * image.shape[1] / image.shape[0])), THUMB_PX)
    return bytes(cv2.imencode(".jpg", cv2.resize(image, size, interpolation=cv2.INTER_AREA), _QUALITY)[1])


def _enrolment(name: str) -> Enrolment:
    try:
        return enrolment_of(name)
    except Problem:
        abort(404)


def _subject(enrolment: Enrolment, slug: str) -> Subject:
    """A card of the deck by its slug."""
    card = card_of_slug(slug)
    if slug != BACK and card not in enrolment.cards:
        abort(400)
    return None if slug == BACK else card


def _asked(enrolment: Enrolment, slug: str | None) -> str:
    """The card that the page is to be about, or `done`."""
    if slug == DONE or (slug and subject_name(_subject(enrolment, slug))):
        return slug
    return subject_name(enrolment.wanted[0]) if enrolment.wanted else DONE


def _seen() -> Image | None:
    """What the camera shows now, as it is; where only its picture for the page is to be had, that one."""
    camera = service().camera
    if camera.image is not None:
        return camera.image()
    jpeg = camera.jpeg()
    return None if jpeg is None else decode(jpeg, _("of the camera"))


def _photograph() -> Image | None:
    """The photograph that was sent, None where none was. Raises Problem for one that cannot be read."""
    sent = request.files.get("photo")
    content = sent.read() if sent else b""
    return sandbox.decode(content, _("that you have sent")) if content else None


def _after(enrolment: Enrolment, subject: Subject) -> str:
    """The page after a card was taken: the next one that is wanted, after this one if possible."""
    order = (*enrolment.cards, None)
    later = order[order.index(subject) + 1 :]
    wanted = enrolment.wanted
    following = next((subject_name(card) for card in (*later, *order) if card in wanted), DONE)
    auto = "1" if request.form.get("auto") else None
    photo = "1" if request.files else None
    got = subject_name(subject)
    return url_for("enrolling.show", name=enrolment.description.name, card=following, got=got, auto=auto, photo=photo)


def _go(url: str) -> Response:
    return Response(status=204, headers={"HX-Redirect": url})


def _say(verdict: Verdict) -> tuple[str, int]:
    return render_template("enrol_said.html", sentence=_said(verdict)), 200


def _said(verdict: Verdict) -> str:
    """A verdict as a sentence of its own, the other card called as the pages call it."""
    other = card_of_slug(verdict.twin) if verdict.twin else None
    if verdict.twin:
        called = words.title(other) if other else _("the back")
        return _("This is the card that is kept as “%(card)s”: lay another, or take that one again.", card=called)
    return words.capital(words.said(verdict.sentence or "")) + "."


def _page(enrolment: Enrolment, slug: str, sentence: str = "") -> str:
    """The page about a card, or with `done` about the deck as it is."""
    steps = tuple(_steps(enrolment))
    at = next((number for number, step in enumerate(steps) if step.slug == slug), len(steps))
    now = steps[at] if at < len(steps) else None
    return render_template(
        "enrol.html",
        deck=enrolment.description,
        title=title_of(enrolment.description.name),
        steps=steps,
        now=now,
        number=at + 1,
        count=len(enrolment.cards),
        missing=[step for step in steps if not step.pictures],
        before=steps[at - 1] if at else None,
        after=steps[at + 1].slug if at + 1 < len(steps) else DONE,
        is_again="again" in request.values,
        is_auto="auto" in request.values,
        by_photo="photo" in request.args or bool(request.files),
        is_full=now is not None and now.pictures >= MOST_PICTURES,
        got=next((step for step in steps if step.slug == request.args.get("got") and step.pictures), None),
        has_picture=service().camera.jpeg() is not None,
        is_played=state().game.table is not None,
        sentence=sentence,
    )


def _steps(enrolment: Enrolment) -> Iterator[Step]:
    for card in (*enrolment.cards, None):
        title = words.title(card) if card else _("Back")
        yield Step(subject_name(card), title, card, len(enrolment.pictures(card)))
