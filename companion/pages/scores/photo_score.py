"""Pages that count a finished hand from photographs and score it."""

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
from companion.pages.context import AnyResponse, editions, folder, match, sent_files, service, state
from companion.pages.limits import too_many_pixels
from companion.pages.scores import photo_form, score_sheets
from companion.pages.scores.score_sheets import SheetView
from companion.pages.words import Names, _
from companion.rules.editions.edition import Edition, EditionError, load_edition
from companion.rules.table import Table
from companion.tabletop import translation
from companion.tabletop.template_decks import load_deck
from companion.vision.counting.photographs import MOST_BYTES, MOST_PHOTOS, Snap, deck_choices, read_photo
from companion.vision.counting.tally import Photo, Tally, tally
from companion.vision.faces.deck_in_use import chosen_deck

bp = Blueprint("snap", __name__)

_WITH = "counts_with"  # cookie key: last deck counted with, and the table's deck then
_REFUSED = (Problem, RequestEntityTooLarge)


@bp.get("/snap")
def show() -> str:
    """Show the form for a photograph."""
    return _asking(request.args)[0]


@bp.post("/snap")
def send() -> AnyResponse | str | tuple[str, int]:
    """Read photographs and redirect to their confirmation."""
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
    """Show the detected cards, line by line."""
    return _confirming(token, _snap(token))


@bp.post("/snap/<token>")
def count(token: str) -> AnyResponse | str | tuple[str, int]:
    """Redirect to the score of the confirmed cards.

    Other buttons show the lines again: `change` unchanged, `guess` with guesses accepted, `add` with another
    photograph, `again` with another deck.
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
            # other cards are unidentified now
            kept = {field: value for field, value in form.items() if field[:2] not in ("c-", "o-")}
            return _lines_of(token, snap, kept, Snap(name, deck, photos))
        table = photo_form.table_sent(edition, found, form)
    except _REFUSED as error:
        return _confirming(token, snap, form, error), _refused(error)[1]
    if "add_up" in form:
        guesses = photo_form.guesses(found, form)
        add_up(token, edition.name, edition.match_points, _sheet(table, form), guesses)
    # a URL for the browser's "back"
    return redirect(f"{url_for('snap.score', token=token)}?{urlencode(form)}", 303)


@bp.get("/snap/<token>/score")
def score(token: str) -> AnyResponse | str:
    """Show the score of the URL's lines; with `add_up` also the match total."""
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
    """Return the score sheet; its ending only if answered or won."""
    sheet = score_sheets.counted_sheet(table)
    return sheet if form.get("ended") or sheet.winner else replace(sheet, how="")


@bp.get("/snap/<token>/<int:number>.jpg")
def picture(token: str, number: int) -> Response:
    """Return a reduced photograph."""
    snap = service().snaps.get(token)
    if snap is None or not 0 < number <= len(snap.photos):
        abort(404)
    return Response(snap.photos[number - 1].jpeg, mimetype="image/jpeg")


def _asking(given: Mapping[str, str], sentence: str = "", code: int = 200) -> tuple[str, int]:
    """Return the photograph form and its status code."""
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
    """Return the chosen edition and deck. Raises Problem for unknown ones.

    The phone's choice lasts until the table's deck changes.
    """
    edition, deck = _edition(given.get("edition", "")), given.get("deck", "")
    if deck and deck not in dict(deck_choices(folder())):
        wrong = _("There is no deck “%(name)s” to recognize cards with: choose again under Cards.", name=shown(deck))
        raise Problem(wrong)
    session[_WITH] = deck, _table_deck()
    return edition.name, deck


def _confirming(token: str, snap: Snap, form: photo_form.Form | None = None, error: Exception | None = None) -> str:
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
    """Return (content, name) of new uploads (phones may repeat some). Raises Problem for none or too many."""
    sent = sent_files("photo")
    if not sent:
        raise Problem(_("There is no photograph yet: take or choose one."))
    known = [photo.file for photo in there]
    new = [one for one in sent if one[0] not in known]
    if len(there) + len(new) > MOST_PHOTOS:
        raise Problem(_("At most %(most)d photographs of one tableau are possible.", most=MOST_PHOTOS))
    if any(len(data) > MOST_BYTES for data, _file in new):
        raise RequestEntityTooLarge
    return new


def _read(files: Sequence[tuple[bytes, str]], deck: str, before: int = 0) -> tuple[Photo, ...]:
    """Return photographs with the cards read, numbered after `before`; `files` are (content, name). Raises Problem."""
    return tuple(
        read_photo(data, say("photograph %(number)d", number=number), deck, folder(), shown(file))
        for number, (data, file) in enumerate(files, start=before + 1)
    )


def _refused(error: Exception) -> tuple[str, int]:
    if isinstance(error, RequestEntityTooLarge):
        return too_many_pixels(), 413
    return str(error), 503 if isinstance(error, Busy) else 400


def _snap(token: str) -> Snap:
    snap = service().snaps.get(token)
    if snap is not None:
        return snap
    flash(_("That photograph is gone: only the newest are kept in memory. Take it again."))
    return abort(redirect(url_for("snap.show"), 303))


def _found(snap: Snap) -> tuple[Edition, Tally]:
    try:
        edition = _edition(snap.edition)
    except EditionError:
        abort(400)
    translation.name_cards_of(edition.name)
    return edition, tally(edition, snap.photos)


def _edition(name: str) -> Edition:
    """Return an edition, with house rules if it is the match's. Raises EditionError if unknown."""
    game = state().game
    if state().match is not None and name == game.edition_name:
        return game.edition
    return load_edition(name)


def _named() -> dict[str, str]:
    """Return the sides' names by mat, from the match or the last count."""
    now = state()
    names = Names.of(now.game)
    if now.match is None or now.is_demo:
        return {f"side-{number}": name for number, name in enumerate(running_total().sides, start=1)}
    return {mat: names.side(side) for mat, side in match().mats(now).items()}


# Running total, saved in the phone's cookie

_COUNTED = "counted"
MOST_HANDS = 20  # a cookie is small
_TOKEN = 8  # of a token's prefix


@dataclass(frozen=True, slots=True)
class Total:
    """Counted hands: points per side."""

    edition: str = ""
    sides: tuple[str, ...] = ()
    hands: tuple[tuple[int, ...], ...] = ()
    guesses: tuple[int, ...] = ()  # guessed cards

    @property
    def sums(self) -> tuple[int, ...]:
        return tuple(map(sum, zip(*self.hands, strict=True)))

    def winner(self, goal: int | None) -> str | None:
        """Return the side that won with `goal` points; None if tied or not reached."""
        best = max(self.sums, default=0)
        is_won = goal is not None and best >= goal and self.sums.count(best) == 1
        return self.sides[self.sums.index(best)] if is_won else None


def running_total() -> Total:
    """Return this phone's running total."""
    kept = session.get(_COUNTED, {})
    hands, guesses = kept.get("hands", ()), kept.get("guesses", {})
    return Total(
        edition=kept.get("edition", ""),
        sides=tuple(kept.get("sides", ())),
        hands=tuple(tuple(points) for _token, *points in hands),
        guesses=tuple(guesses.get(token, 0) for token, *_points in hands),
    )


def add_up(token: str, edition: str, goal: int | None, sheet: SheetView, guesses: int) -> None:
    """Add or correct a counted hand. Other sides or a won match start a new total."""
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
