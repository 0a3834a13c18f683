"""What others did to the lines of a side: its phones are told once, with the way back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flask import session

from companion.match.history import CAMERA, Change
from companion.match.match import MatchState
from companion.pages import words
from companion.pages.players import permissions, phone_identity
from companion.pages.words import Names, _
from companion.rules.play import Play
from companion.rules.record import notation
from companion.rules.record.notation import Unreadable

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


def here(now: MatchState, seat: str | None) -> Changed | None:
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


def put_away(now: MatchState, seq: str | None) -> None:
    """What this phone was told was seen."""
    for change in now.changes:
        if str(change.seq) == seq:
            session[_SEEN] = f"{now.match}.{change.seq}"
