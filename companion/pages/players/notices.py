"""What a phone is told of what others did: with it, until its holder has read that, and to the lines of its side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flask import Blueprint, redirect, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match.history import CAMERA, Change
from companion.match.match import MatchState
from companion.match.phone_notices import OF_SEATS, Kind, Told
from companion.pages import words
from companion.pages.players import permissions, phone_identity, seats
from companion.pages.words import N_, Names, _
from companion.rules.play import Play
from companion.rules.record import notation
from companion.rules.record.notation import Unreadable

bp = Blueprint("told", __name__)


@dataclass(frozen=True, slots=True)
class TellView:
    """Something to be told, with where it leads and the button that puts it away."""

    id: int
    say: str
    done: str
    to: str = ""
    go: str = ""
    """The words of the way there; empty where it leads nowhere."""

    lost: bool = False
    """Its seat is lost: to take one is what there is to do."""


@dataclass(frozen=True, slots=True)
class _Saying:
    say: str
    to: str = ""
    go: str = ""
    done: str = N_("All right")


_SEAT_LOST = ("join.show", N_("Take a seat"), N_("Go on without a seat"))
_SAYINGS: Mapping[Kind, _Saying] = {
    Kind.FREED: _Saying(N_("The host freed %(who)s’s seat: this phone has none now."), *_SEAT_LOST),
    Kind.TAKEN: _Saying(N_("Another phone has %(who)s’s seat now: this one has none."), *_SEAT_LOST),
    Kind.GIVEN: _Saying(N_("The host gave this phone %(who)s’s seat.")),
    Kind.JOIN_REFUSED: _Saying(
        N_("The host said no: this phone was not let in. Watch along; or talk to the host, then ask again."),
        "join.show",
        N_("Ask again"),
    ),
    Kind.SEAT_REFUSED: _Saying(
        N_("The host said no: %(who)s’s seat stays with the other phone. Take a free one, or talk to the host."),
        "join.show",
        N_("Choose a seat"),
    ),
    Kind.SEAT_KEPT: _Saying(
        N_("The other phone keeps %(who)s’s seat. Take a free one, or talk to the host."),
        "join.show",
        N_("Choose a seat"),
    ),
    Kind.HOST_REFUSED: _Saying(N_("The host said no. What only the host may do, ask for at the table.")),
    Kind.HOST: _Saying(
        N_("You are the host now: you set up matches, undo further back, let phones in and free lost seats."),
        "seats.show",
        N_("To the seats"),
    ),
    Kind.FOLLOWED: _Saying(N_("This phone is the host’s no longer. %(host)s")),
}


def here(now: MatchState) -> list[TellView]:
    """What this phone has to be told."""
    known = phone_identity.phones().news.of(phone_identity.phone())
    return [_view(now, told) for told in known if _is_of(now, told)]


def _is_of(now: MatchState, told: Told) -> bool:
    """Whether it is about this match: a seat of the one before concerns nobody any more."""
    return told.kind not in OF_SEATS or any(told.player in team.players for team in now.game.teams)


def _view(now: MatchState, told: Told) -> TellView:
    saying = _SAYINGS[told.kind]
    say = _(saying.say, who=Names.of(now.game).player(told.player), host=seats.host_say(now))
    if not saying.to or request.endpoint == saying.to:
        return TellView(told.id, say, _(saying.done))
    lost = told.kind in (Kind.FREED, Kind.TAKEN)
    return TellView(told.id, say, _(saying.done), url_for(saying.to), _(saying.go), lost)


@bp.post("/told/<int:told_id>")
def put_away(told_id: int) -> AnyResponse:
    """It has been read."""
    phone = phone_identity.phone()
    if phone is not None:
        phone_identity.phones().news.put_away(phone, told_id)
    return redirect(url_for(_PAGES.get(request.form.get("from", ""), "table.show")), 303)


_PAGES = {"join": "join.show", "seats": "seats.show", "plain": "plain.show"}
"""Where a form may lead back to; the table otherwise."""


_SEEN = "changed"
MOST_TOLD = 5
"""Who comes late is not told of all that was ever changed: it stands in the log."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A line of this phone's side that somebody of another side changed."""

    seq: int
    """What was done, to say that it was seen."""

    say: str
    line: int | None
    """The line, where it still stands."""

    undo: int | None
    """What undo would take back, where it is just this and this phone may."""


def changed_line(now: MatchState, seat: str | None) -> Changed | None:
    """The first change of another side to a line of whoever holds this phone that was not yet seen."""
    if seat is None:
        return None
    unseen = (change for change in now.changes[-MOST_TOLD:] if change.seq > _last_seen(now))
    return next((told for change in unseen if (told := _told(now, change, seat)) is not None), None)


def _told(now: MatchState, change: Change, seat: str) -> Changed | None:
    """A change as a side is told of it; None where it is not another side's to a line of this one."""
    if change.by == CAMERA:
        return None
    before, after = _play(now, change.before), _play(now, change.after)
    whose = permissions.sides(now).get(before.player or "") if before is not None else None
    if before is None or whose != permissions.sides(now)[seat] or whose == permissions.sides(now).get(change.by):
        return None
    if after is not None and replace(after, anyway=before.anyway) == before:
        return None
    may_undo = now.undoable is not None and now.undoable.seq == change.seq
    undo = change.seq if may_undo and permissions.why_no_undo(now, phone_identity.holder(now)) is None else None
    return Changed(change.seq, _say(now, change, before, after), change.line if after else None, undo)


def _say(now: MatchState, change: Change, before: Play, after: Play | None) -> str:
    names = Names.of(now.game)
    who, was = words.capital(words.doer(change.by, names)), words.play_say(before, names).removesuffix(".")
    if after is None:
        return _("%(who)s took out your line “%(before)s”.", who=who, before=was)
    now_says = words.play_say(after, names).removesuffix(".")
    return _("%(who)s changed your line “%(before)s” to “%(after)s”.", who=who, before=was, after=now_says)


def _play(now: MatchState, text: str | None) -> Play | None:
    try:
        return notation.parse_play(text, now.game.teams) if text else None
    except Unreadable:
        return None


def _last_seen(now: MatchState) -> int:
    match, _dot, seq = str(session.get(_SEEN, "")).partition(".")
    return int(seq) if match == str(now.match) else 0


def mark_seen(now: MatchState, seq: str | None) -> None:
    """What this phone was told was seen."""
    for change in now.changes:
        if str(change.seq) == seq:
            session[_SEEN] = f"{now.match}.{change.seq}"
