"""Score page: sheets, totals and next hand; phones are sent here and back."""

from __future__ import annotations

from collections import Counter

from flask import Blueprint, abort, render_template, request, session, url_for

from companion.common import clock
from companion.match import season
from companion.match.archive import hands_of
from companion.match.state import MatchState, last_result, next_first
from companion.match.statistics import key_of
from companion.pages import words
from companion.pages.context import AnyResponse, go, match, service, state
from companion.pages.game import offers, views
from companion.pages.players import phone_identity
from companion.pages.scores import charts, score_sheets
from companion.pages.words import Names, _
from companion.rules.record.judge import HandResult

bp = Blueprint("score", __name__)


@bp.get("/score")
def show() -> AnyResponse | str:
    """Show the match's score sheets, latest first; phones sent here return for the next hand."""
    now = state()
    if lead_back(now) and "HX-Request" in request.headers:
        return go(url_for("table.show"))
    names, hands = Names.of(now.game), list(hands_of(now.record, now.entries))
    ended = [hand for hand in hands if not hand.is_open]
    newest = hands[-1] if hands else None
    table = now.game.table
    last = last_result(now)
    return render_template(
        "score.html",
        sheets=[score_sheets.explained(hand, names) for hand in reversed(ended)],
        open_sheet=score_sheets.explained(newest, names) if newest and newest.is_open else None,
        is_new=last is not None and is_new(now.match, last),
        race=charts.race(newest, names) if newest else None,
        totals=charts.totals([hand.result for hand in ended], names),
        sides=views.side_views(now.game, None),
        next_first=next_first(now) if table is not None and not now.game.hand_is_open else None,
        wins=score_sheets.wins(now.game),
        year=_this_year(now) if now.game.winner is not None else "",
        turns_back=table is not None and offers.may_be_answered(table),
    )


def _this_year(now: MatchState) -> str:
    """Return the matches that these sides won against each other this year, the most first; empty for one match."""
    game, month = now.game, season.month_of(clock.now_s())
    teams = {tuple(sorted(key_of(game.shown.get(one, one)) for one in team.players)): team.name for team in game.teams}
    won = Counter(dict.fromkeys(teams.values(), 0))
    for one in service().archive.figures(match().store):
        if one.month and month and one.month[0] == month[0]:
            same = (each for each in one.decided if {players for players, _points in each.sides} == teams.keys())
            won.update(teams[each.winner] for each in same)
    if won.total() < 2:
        return ""
    names = Names.of(game)
    return _(
        "This year: %(score)s", score=", ".join(f"{names.side(name)} {count}" for name, count in won.most_common())
    )


@bp.get("/score/<int:number>/plays")
def plays(number: int) -> str:
    """Show a hand's plays for correction, also after its end."""
    now = state()
    entries = [entry for entry in now.entries if entry.hand == number and entry.judged is not None]
    if not entries:
        abort(404)
    return render_template(
        "plays.html",
        heading=words.hand_title(now.game.edition, number),
        lines=[views.entry_view(now.game, entry) for entry in entries],
    )


_SEEN = "sheet"
_LED = "led"


def lead_to_score(now: MatchState) -> bool:
    """True once per ended hand without open questions: the phone should show its score.

    False without cookies, which prevent repetition.
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
    """True once if a phone sent to the score should return: at the next hand or an undo."""
    if not now.game.hand_is_open or _LED not in session:
        return False
    led = session.pop(_LED)
    if not now.game.hands or led != _mark(now.match, now.game.hands[-1]):
        session.pop(_SEEN, None)
    return True


def _mark(match: int | None, result: HandResult) -> str:
    return f"{match}.{result.number}"


def is_new(match: int | None, result: HandResult) -> bool:
    """True the first time this phone sees a hand's sheet; mark it as seen."""
    mark = _mark(match, result)
    seen = session.get(_SEEN) == mark
    session[_SEEN] = mark
    return not seen
