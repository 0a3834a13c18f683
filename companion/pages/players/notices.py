"""Notices about changes to a phone's seat, role or lines, and about unsaved data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flask import Blueprint, redirect, request, session, url_for

from companion.match.history import CAMERA, Change
from companion.match.phones import OF_SEATS, NoticeKind, PhoneNotice
from companion.match.state import MatchState, Outcome
from companion.pages import words
from companion.pages.context import AnyResponse, match
from companion.pages.players import permissions, phone_identity, seats
from companion.pages.words import N_, Names, _
from companion.rules.play import Play
from companion.rules.record import notation
from companion.storage.events import EventKind

bp = Blueprint("told", __name__)


_ALL_RIGHT = N_("All right")
_READ = ("", "", _ALL_RIGHT)
_SEAT_LOST = ("seats.join", N_("Take a seat"), N_("Continue without a seat"))
_CHOOSE_A_SEAT = ("seats.join", N_("Choose a seat"), _ALL_RIGHT)
_SAYINGS: Mapping[NoticeKind, tuple[str, str, str, str]] = {
    NoticeKind.FREED: (N_("The host freed %(who)s’s seat: this phone no longer has a seat."), *_SEAT_LOST),
    NoticeKind.TAKEN: (N_("Another phone has %(who)s’s seat now: this phone no longer has a seat."), *_SEAT_LOST),
    NoticeKind.GIVEN: (N_("The host gave this phone %(who)s’s seat."), *_READ),
    NoticeKind.JOIN_REFUSED: (
        N_("The host did not let this phone in. You can watch, or talk to the host and ask again."),
        "seats.join",
        N_("Ask again"),
        _ALL_RIGHT,
    ),
    NoticeKind.SEAT_REFUSED: (
        N_("The host said no: the other phone keeps %(who)s’s seat. Take a free one, or talk to the host."),
        *_CHOOSE_A_SEAT,
    ),
    NoticeKind.SEAT_KEPT: (
        N_("The other phone keeps %(who)s’s seat. Take a free one, or talk to the host."),
        *_CHOOSE_A_SEAT,
    ),
    NoticeKind.HOST_REFUSED: (N_("The host said no. Ask the host at the table to do it."), *_READ),
    NoticeKind.HOST: (
        N_("You are the host now: you can set up matches, undo several steps, let phones in and free lost seats."),
        "seats.show",
        N_("Go to the seats"),
        _ALL_RIGHT,
    ),
    NoticeKind.FOLLOWED: (N_("This phone is no longer the host’s. %(host)s"), *_READ),
}
"""Sentence, link's endpoint (may be empty), labels of link and dismiss button."""


def here(now: MatchState) -> list[dict[str, object]]:
    """Return this phone's notices as template values, except about seats of an earlier match."""
    names = Names.of(now.game)
    known = phone_identity.phones().news.of(phone_identity.phone())
    return [_view(now, names, told) for told in known if told.kind not in OF_SEATS or names.is_player(told.player)]


def _view(now: MatchState, names: Names, told: PhoneNotice) -> dict[str, object]:
    say, to, go, done = _SAYINGS[told.kind]
    leads = bool(to) and request.endpoint != to
    return {
        "id": told.id,
        "say": _(say, who=names.player(told.player), host=seats.host_say(now)),
        "done": _(done),
        "to": url_for(to) if leads else "",
        "go": _(go) if leads else "",
        "lost": leads and told.kind in (NoticeKind.FREED, NoticeKind.TAKEN),
    }


def told(outcome: Outcome, text: str) -> Outcome:
    """Return the outcome with a sentence that names the play `text` and the line entered instead of it."""
    now = match().state
    entry, play = now.entry(outcome.line or 0), notation.read_play(text, now.game.teams)
    if entry is None or entry.play is None or play is None:
        return outcome
    names = Names.of(now.game)
    entered = words.play_say(entry.play, names)
    if replace(entry.play, anyway=False) == replace(play, anyway=False):
        return replace(outcome, say=_("That was already entered: %(play)s", play=entered))
    return replace(
        outcome,
        say=_(
            "Not entered: %(late)s Meanwhile this was entered: %(play)s",
            late=words.play_say(play, names),
            play=entered,
        ),
    )


_TABLES = ("table.show", "plain.show")  # show a damaged log to all; the host sees it everywhere


def of_saving(now: MatchState) -> dict[str, str | None]:
    """Return messages about unsaved data and a damaged log."""
    unsaved = now.unsaved or phone_identity.phones().unkept
    note = now.note if phone_identity.may_host() or request.endpoint in _TABLES else None
    return {"unsaved": words.said(unsaved) if unsaved else None, "note": words.said(note) if note else None}


@bp.post("/mended")
def put_note_away() -> AnyResponse:
    """Dismiss the note about a damaged log."""
    match().put_note_away()
    return redirect(url_for("table.show"), 303)


_PUT_AWAY_ON = {"join": "seats.join", "seats": "seats.show", "plain": "plain.show"}
"""Endpoints to return to, by form value."""


@bp.post("/told/<int:told_id>")
def put_away(told_id: int) -> AnyResponse:
    """Dismiss a notice."""
    phone = phone_identity.phone()
    if phone is not None:
        phone_identity.phones().news.put_away(phone, told_id)
    return redirect(url_for(_PUT_AWAY_ON.get(request.form.get("from", ""), "table.show")), 303)


_SEEN = "changed"
MOST_TOLD = 5  # recent changes considered; the log shows all


def changed_line(now: MatchState, seat: str | None) -> dict[str, object] | None:
    """Return the first unseen change by another side to a line of this phone's side."""
    if seat is None:
        return None
    known, _dot, seq = str(session.get(_SEEN, "")).partition(".")
    last_seen = int(seq) if known == str(now.match) else 0
    unseen = (change for change in now.past.changes[-MOST_TOLD:] if change.seq > last_seen)
    return next((told for change in unseen if (told := _told(now, change, seat)) is not None), None)


def _told(now: MatchState, change: Change, seat: str) -> dict[str, object] | None:
    if change.by == CAMERA and change.after is None:
        # Whoever took the card back knows.
        return None
    before, after = (notation.read_play(text or "", now.game.teams) for text in (change.before, change.after))
    whose = now.side_of.get(before.player or "") if before is not None else None
    if before is None or whose != now.side_of[seat] or whose == now.side_of.get(change.by):
        return None
    if after is not None and replace(after, anyway=before.anyway) == before:
        return None
    is_last = now.undoable is not None and now.undoable.seq == change.seq
    may_undo = is_last and permissions.why_not(now, EventKind.UNDO) is None
    return {
        "seq": change.seq,
        "say": _say(now, change, before, after),
        "line": change.line if after else None,
        "undo": change.seq if may_undo else None,
    }


def _say(now: MatchState, change: Change, before: Play, after: Play | None) -> str:
    names = Names.of(now.game)
    who, was = words.capital(words.doer(change.by, names)), words.play_say(before, names).removesuffix(".")
    if after is None:
        return _("%(who)s removed your line “%(before)s”.", who=who, before=was)
    now_says = words.play_say(after, names).removesuffix(".")
    return _("%(who)s changed your line “%(before)s” to “%(after)s”.", who=who, before=was, after=now_says)


def mark_seen(now: MatchState, seq: str | None) -> None:
    """Mark a change as seen on this phone."""
    for change in now.past.changes:
        if str(change.seq) == seq:
            session[_SEEN] = f"{now.match}.{change.seq}"
