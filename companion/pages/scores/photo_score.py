"""Counting only: a photograph of the finished tableau, confirmed line by line, becomes the score sheet of the hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, flash, redirect, render_template, request, session, url_for
from werkzeug.exceptions import RequestEntityTooLarge

from companion.common.errors import Busy, Problem
from companion.common.spelling import shown
from companion.common.text import say
from companion.pages import language
from companion.pages.context import AnyResponse, editions, folder, match, sent_files, service, state
from companion.pages.limits import too_many_pixels
from companion.pages.scores import photo_form, score_sheets
from companion.pages.scores.score_sheets import SheetView
from companion.pages.words import Names, _
from companion.rules.editions.edition import Edition, EditionError, load_edition
from companion.rules.table import Table
from companion.tabletop.template_decks import load_deck
from companion.vision.counting.photographs import MOST_BYTES, MOST_PHOTOS, Snap, deck_choices, read_photo
from companion.vision.counting.tally import Photo, Tally, tally
from companion.vision.faces.deck_in_use import chosen_deck

bp = Blueprint("snap", __name__)

_WITH = "counts_with"  # in a phone's cookie: the deck that it has counted with last, and the table's at that time
_REFUSED = (Problem, RequestEntityTooLarge)


@bp.get("/snap")
def show() -> str:
    """Show the form that a photograph is sent with."""
    return _asking(request.args)[0]


@bp.post("/snap")
def send() -> AnyResponse | str | tuple[str, int]:
    """Read a photograph; what lies on it is asked about on a page of its own."""
    given: Mapping[str, str] = {}
    try:
        given = request.form
        edition, deck = _chosen(given)
        token = service().snaps.keep(Snap(edition, deck, _read(_sent(), deck)))
    except _REFUSED as error:
        return _asking(given, *_refused(error))
    return redirect(url_for("snap.confirm", token=token), 303)


@bp.get("/snap/<token>")
def confirm(token: str) -> str:
    """Show what lies there, line by line."""
    return _confirming(token, _snap(token))


@bp.post("/snap/<token>")
def count(token: str) -> AnyResponse | str | tuple[str, int]:
    """Lead to the score of what was confirmed.

    With `change` the lines again, with `guess` all likely guesses taken there, with `add` one more photograph, with
    `again` the same read with other cards.
    """
    snap, form = _snap(token), None
    edition, found = _found(snap)
    try:
        form = request.form.to_dict()
        if "change" in form:
            return _confirming(token, snap, form)
        if "guess" in form:
            return _confirming(token, snap, form | photo_form.open_guesses(edition, found, form))
        if "add" in form:
            photos = _read(_sent(snap.photos), snap.deck, len(snap.photos))
            return _lines_of(token, snap, form, replace(snap, photos=(*snap.photos, *photos)))
        if "again" in form:
            name, deck = _chosen(form)
            photos = _read([(photo.file, "") for photo in snap.photos], deck)
            # The cards in question are others now.
            kept = {field: value for field, value in form.items() if field[:2] not in ("c-", "o-")}
            return _lines_of(token, snap, kept, Snap(name, deck, photos))
        table = photo_form.table_sent(edition, found, form)
    except _REFUSED as error:
        return _confirming(token, snap, form, error), _refused(error)[1]
    if "add_up" in form:
        guesses = photo_form.guesses(found, form)
        add_up(token, edition.name, edition.match_points, _sheet(table, form), guesses)
    # An address of its own: “back” in the browser leads to it again.
    return redirect(f"{url_for('snap.score', token=token)}?{urlencode(form)}", 303)


@bp.get("/snap/<token>/score")
def score(token: str) -> AnyResponse | str:
    """Show the score of the lines that the address says, with `add_up` that of the match too."""
    snap = _snap(token)
    edition, found = _found(snap)
    form = request.args.to_dict()
    try:
        table = photo_form.table_sent(edition, found, form)
    except Problem:
        return redirect(url_for("snap.confirm", token=token), 303)
    return render_template(
        "snapped.html",
        token=token,
        anew=url_for("snap.show", edition=snap.edition, deck=snap.deck),
        sheet=_sheet(table, form),
        total=running_total() if "add_up" in form else None,
        goal=edition.match_points,
        odd=[one.say for one in photo_form.odd(table)],
        guesses=photo_form.guesses(found, form),
        form={field: value for field, value in form.items() if field not in ("change", "add_up")},
    )


def _sheet(table: Table, form: photo_form.Form) -> SheetView:
    """Return the score sheet; how a hand ended that nobody completed nobody may have said."""
    sheet = score_sheets.counted_sheet(table)
    return sheet if form.get("ended") or sheet.winner else replace(sheet, how="")


@bp.get("/snap/<token>/<int:number>.jpg")
def picture(token: str, number: int) -> Response:
    """Return a photograph, small."""
    snap = service().snaps.get(token)
    if snap is None or not 0 < number <= len(snap.photos):
        abort(404)
    return Response(snap.photos[number - 1].jpeg, mimetype="image/jpeg")


def _asking(given: Mapping[str, str], sentence: str = "", code: int = 200) -> tuple[str, int]:
    """Return the form that a photograph is sent with, as it was filled in; else as the table and the deck say."""
    counted, then = session.get(_WITH, ("", ""))
    deck = given.get("deck", counted if then == _table_deck() else _table_deck())
    name = state().game.edition_name
    with suppress(Problem):
        name = load_deck(deck, folder()).edition if deck and (state().match is None or state().is_demo) else name
    chosen = _choices(given.get("edition", name), deck)
    return render_template("snap.html", **chosen, sentence=sentence), code


def _table_deck() -> str:
    return service().camera.deck or chosen_deck(folder()) or ""


def _choices(edition: str, deck: str) -> dict[str, object]:
    return {"editions": editions(), "rules": edition, "decks": deck_choices(folder()), "deck": deck}


def _chosen(given: Mapping[str, str]) -> tuple[str, str]:
    """Return the names of the edition and the deck that were chosen. Raises Problem where there is no such one.

    The phone counts with that deck until the table plays with another.
    """
    edition, deck = _edition(given.get("edition", "")), given.get("deck", "")
    if deck and deck not in dict(deck_choices(folder())):
        wrong = _("There is no deck “%(name)s” to tell cards by: choose again under Cards.", name=shown(deck))
        raise Problem(wrong)
    session[_WITH] = deck, _table_deck()
    return edition.name, deck


def _confirming(token: str, snap: Snap, form: photo_form.Form | None = None, error: Exception | None = None) -> str:
    """Return the page with the lines, as they were typed or as the photographs have them."""
    edition, found = _found(snap)
    form = photo_form.fields(edition, found, _named()) if form is None else form
    odd = photo_form.odd(photo_form.table_so_far(edition, found, form))
    return render_template(
        "snap_lines.html",
        token=token,
        lots=photo_form.lot_forms(edition, found, form, odd),
        asked=photo_form.asked(edition, found, form),
        odd=[one.say for one in odd if one.is_of_hand],
        guesses=photo_form.guesses(found, form),
        open_guesses=len(photo_form.open_guesses(edition, found, form)),
        notes=found.notes,
        bare=[n for n, photo in enumerate(found.photos, start=1) if not (photo.view.sightings or photo.view.mats)],
        faces=list(edition.deck),
        anew=url_for("snap.show", edition=snap.edition, deck=snap.deck),
        may_add=len(found.photos) < MOST_PHOTOS,
        shows_all=all(lot.is_seen for lot in found.lots) or found.is_blank,
        is_blank=found.is_blank,
        sentence=_refused(error)[0] if error else "",
        about=error.about if isinstance(error, photo_form.OpenQuestionError) else "",
        **_choices(snap.edition, snap.deck),
    )


def _lines_of(token: str, before: Snap, form: photo_form.Form, now: Snap) -> AnyResponse | str:
    service().snaps.keep(now, token)
    read_before, read_now = (photo_form.fields(*_found(one), _named()) for one in (before, now))
    kept = photo_form.kept(read_before, form, read_now)
    return redirect(url_for("snap.confirm", token=token), 303) if kept == read_now else _confirming(token, now, kept)


def _sent(there: Sequence[Photo] = ()) -> list[tuple[bytes, str]]:
    """Return the files that were sent and are not there, with their names. Raises Problem for none, or too many.

    A phone that did not hear the answer sends a photograph again.
    """
    sent = sent_files("photo")
    if not sent:
        raise Problem(_("There is no photograph yet: take one, or choose one."))
    known = [photo.file for photo in there]
    new = [one for one in sent if one[0] not in known]
    if len(there) + len(new) > MOST_PHOTOS:
        raise Problem(_("These are photographs enough: %(most)d of one tableau.", most=MOST_PHOTOS))
    if any(len(data) > MOST_BYTES for data, _file in new):
        raise RequestEntityTooLarge
    return new


def _read(files: Sequence[tuple[bytes, str]], deck: str, before: int = 0) -> tuple[Photo, ...]:
    """Return these photographs read, after so many. Raises Problem where one cannot be read."""
    return tuple(
        read_photo(data, say("photograph %(number)d", number=number), deck, folder(), shown(file))
        for number, (data, file) in enumerate(files, start=before + 1)
    )


def _refused(error: Exception) -> tuple[str, int]:
    if isinstance(error, RequestEntityTooLarge):
        return too_many_pixels(), 413
    return str(error), 503 if isinstance(error, Busy) else 400


def _snap(token: str) -> Snap:
    """Return what was sent; where that is gone, lead to the form."""
    snap = service().snaps.get(token)
    if snap is not None:
        return snap
    flash(
        _("That photograph is gone: photographs are kept in memory only, and newer ones took its place. Take it again.")
    )
    return abort(redirect(url_for("snap.show"), 303))


def _found(snap: Snap) -> tuple[Edition, Tally]:
    try:
        edition = _edition(snap.edition)
    except EditionError:
        abort(400)
    language.name_cards_of(edition.name)
    return edition, tally(edition, snap.photos)


def _edition(name: str) -> Edition:
    """Return an edition by name, the match's own with its house rules. Raises EditionError for none."""
    game = state().game
    if state().match is not None and name == game.edition_name:
        return game.edition
    return load_edition(name)


def _named() -> dict[str, str]:
    """Return the names of the sides, by their mats: those of the match, or else those that were counted last."""
    now = state()
    names = Names.of(now.game)
    if now.match is None or now.is_demo:
        return {f"side-{number}": name for number, name in enumerate(running_total().sides, start=1)}
    return {mat: names.side(side) for mat, side in match().mats(now).items()}


# The running total of counted hands, kept on the phone that counts them, in its cookie

_COUNTED = "counted"
MOST_HANDS = 20  # maximum number of hands of a total: a cookie is small
_TOKEN = 8  # length of what a photograph's hand is known by


@dataclass(frozen=True, slots=True)
class Total:
    """The hands that were added up, each with its points a side."""

    edition: str = ""
    sides: tuple[str, ...] = ()
    hands: tuple[tuple[int, ...], ...] = ()
    guesses: tuple[int, ...] = ()  # how many cards of each hand are guesses

    @property
    def sums(self) -> tuple[int, ...]:
        return tuple(map(sum, zip(*self.hands, strict=True)))

    def winner(self, goal: int | None) -> str | None:
        """Return who has won a match to so many points; None for nobody, or several level."""
        best = max(self.sums, default=0)
        is_won = goal is not None and best >= goal and self.sums.count(best) == 1
        return self.sides[self.sums.index(best)] if is_won else None


def running_total() -> Total:
    """Return what this phone has added up last."""
    kept = session.get(_COUNTED, {})
    hands, guesses = kept.get("hands", ()), kept.get("guesses", {})
    return Total(
        edition=kept.get("edition", ""),
        sides=tuple(kept.get("sides", ())),
        hands=tuple(tuple(points) for _token, *points in hands),
        guesses=tuple(guesses.get(token, 0) for token, *_points in hands),
    )


def add_up(token: str, edition: str, goal: int | None, sheet: SheetView, guesses: int) -> None:
    """Add a counted hand, or correct it where it was added; other sides, or a match that is won, begin a new total."""
    before, name = running_total(), token[:_TOKEN]
    goes_on = (before.edition, before.sides) == (edition, sheet.sides)
    hands = {other: points for other, *points in session[_COUNTED]["hands"]} if goes_on else {}
    if name not in hands and before.winner(goal) is not None:
        hands = {}
    hands[name] = list(sheet.totals)
    last = [[other, *points] for other, points in hands.items()][-MOST_HANDS:]
    guessed = {**session.get(_COUNTED, {}).get("guesses", {}), name: guesses}
    kept = {other: guessed[other] for other, *_points in last if guessed.get(other)}
    session[_COUNTED] = {"edition": edition, "sides": sheet.sides, "hands": last, "guesses": kept}
