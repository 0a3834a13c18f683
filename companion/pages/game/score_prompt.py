"""The way of a phone at the table to the score of a hand that has ended, and back to the next hand."""

from __future__ import annotations

from flask import session

from companion.match.match import MatchState
from companion.pages.players import phone_identity
from companion.rules.record.judge import HandResult

_SEEN = "sheet"
_LED = "led"


def lead_to_score(now: MatchState) -> bool:
    """True if a phone at the table is to show the score of a hand that has ended: once, and with no question open.

    A browser that keeps no cookie stays: it would be led there again and again.
    """
    if now.game.hand_is_open:
        lead_back(now)
        return False
    seat = phone_identity.seat(now)
    is_asked = now.dealt is not None and now.dealt.asks(seat) is not None
    if is_asked or now.questions or now.attention or not now.game.hands or not (session or phone_identity.is_machine()):
        return False
    mark = _mark(now.match, now.game.hands[-1])
    if session.get(_SEEN) == mark or session.get(_LED) == mark:
        return False
    session[_LED] = mark
    return True


def lead_back(now: MatchState) -> bool:
    """True if a phone that was led to the score is to go back: to the next hand, or the same after an undo."""
    if not now.game.hand_is_open or _LED not in session:
        return False
    led = session.pop(_LED)
    if not now.game.hands or led != _mark(now.match, now.game.hands[-1]):
        session.pop(_SEEN, None)
    return True


def _mark(match: int | None, result: HandResult) -> str:
    return f"{match}.{result.number}"


def is_new(match: int | None, result: HandResult) -> bool:
    """True if this phone is shown the sheet of a hand for the first time; remembers that it was."""
    mark = _mark(match, result)
    seen = session.get(_SEEN) == mark
    session[_SEEN] = mark
    return not seen
