"""The table for scripts: matches as JSON, and plays, answers and undo by JSON. `openapi.py` documents it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from flask import Blueprint, Response, abort, make_response, request

from companion.common import clock, parsing
from companion.common.errors import Problem
from companion.match.history import history
from companion.match.match import GONE, Fate, MatchState, Outcome
from companion.pages import words
from companion.pages.api import openapi
from companion.pages.context import forget_state, match, service, state
from companion.pages.players import permissions, phone_identity
from companion.pages.words import N_, Names, _
from companion.rules.record import notation
from companion.rules.record.notation import EditionLine, HandLine, PlayerLine, SideLine
from companion.storage.event_store import Event, NotSaved

bp = Blueprint("api", __name__, url_prefix="/api")

MOST_LETTERS = 200
"""A longer text was never a play."""

MOST_MATCHES, USUAL_MATCHES = 100, 20
MOST_NUMBER = 2**53
"""Larger numbers are not the same in every program that reads JSON."""


@bp.get("/openapi.json")
def document() -> Response:
    """What can be asked here, as OpenAPI."""
    return make_response(openapi.document())


# What there is


@bp.get("/matches")
def matches() -> Response:
    """The matches, the latest first."""
    most = _number("limit", USUAL_MATCHES, 1, MOST_MATCHES)
    before = _number("before", MOST_NUMBER, 0, MOST_NUMBER)
    known = [number for number in reversed(match().store.matches()) if number < before]
    return make_response({"matches": [_brief(number) for number in known[:most]]})


def _number(name: str, usual: int, low: int, high: int) -> int:
    said = request.args.get(name)
    if said is None:
        return usual
    number = parsing.whole(said, low, high)
    if number is None:
        _refuse(_("“%(name)s” is a number from %(low)d to %(high)d.", name=name, low=low, high=high))
    return number


def _brief(number: int) -> dict[str, Any]:
    """A match as it was set up, without judging its plays."""
    events = match().store.events(number)
    headers = [notation.parse_header(line.text) for line in history(events).lines if _is_header(line.text)]
    shown = {header.player: header.shown for header in headers if isinstance(header, PlayerLine)}
    teams = [header.team for header in headers if isinstance(header, SideLine)]
    return {
        "match": number,
        "began": _at(events[0]),
        "edition": next((header.name for header in headers if isinstance(header, EditionLine)), "classic"),
        "sides": {team.name: list(team.players) for team in teams},
        "names": {player: shown.get(player, player) for team in teams for player in team.players},
        "hands": sum(isinstance(header, HandLine) for header in headers),
        "playing": number == state().match,
    }


def _is_header(text: str) -> bool:
    return text.startswith(("edition ", "side ", "player ", "hand "))


def _at(event: Event) -> str | None:
    read = clock.moment(event.at_s)
    return read.isoformat(timespec="seconds").replace("+00:00", "Z") if read else None


@bp.get("/matches/<int:number>")
def one(number: int) -> Response:
    """A match: its record, its hands as they were counted, its totals."""
    past = service().archive.past(match().store, number) or abort(404)
    totals = {
        "record": list(past.lines),
        "played_hands": [result.as_json("") for result in past.game.hands],
        "totals": dict(past.game.totals),
        "winner": past.game.winner,
    }
    return make_response(_brief(number) | totals)


# What can be done


@bp.post("/plays")
def play() -> Response:
    """A play in the words of a record."""
    asked = _asked({"text": str, "anyway": bool}, needed=("text",))
    _need_match()
    anyway = asked.get("anyway", False)
    return _done(lambda by: match().enter(asked["text"], by, anyway=anyway, vouched=permissions.vouched()))


@bp.post("/proposals/<int(signed=True):number>/confirm")
def confirm(number: int) -> Response:
    """A proposal counts."""
    asked = _asked({"anyway": bool})
    _need_proposal(number)
    anyway = asked.get("anyway", False)
    return _done(lambda by: match().confirm(number, by, anyway=anyway, vouched=permissions.vouched()))


@bp.post("/proposals/<int(signed=True):number>/dismiss")
def dismiss(number: int) -> Response:
    """A proposal was no play, or was taken back."""
    asked = _asked({"why": str})
    reasons = {fate.value: fate for fate in (Fate.NOT_A_PLAY, Fate.TAKEN_BACK)}
    fate = reasons.get(asked.get("why", Fate.NOT_A_PLAY.value))
    if fate is None:
        _refuse(_("“why” is %(one)s or %(other)s.", one=Fate.NOT_A_PLAY.value, other=Fate.TAKEN_BACK.value))
    _need_proposal(number)
    return _done(lambda by: match().dismiss(number, by, fate))


@bp.post("/undo")
def undo() -> Response:
    """The last change of the record is taken back."""
    asked = _asked({"seq": int})
    _need_match()
    now = state()
    seq = asked.get("seq", now.undoable.seq if now.undoable else None)
    why_not = permissions.why_no_undo(now, phone_identity.holder(now))
    if why_not is not None and now.undoable is not None and seq == now.undoable.seq:
        _refuse(why_not, 403)
    return _done(lambda by: match().undo(by, seq) if seq is not None else GONE)


def _done(act: Callable[[str], Outcome]) -> Response:
    """Does what was asked, and says what came of it."""
    try:
        outcome = act(phone_identity.who(state()))
    except NotSaved:
        raise
    except Problem as problem:
        _refuse(_(problem.sentence))
    forget_state()
    return make_response(_outcome_json(outcome, state()), _code(outcome, state()))


def _code(outcome: Outcome, now: MatchState) -> int:
    if outcome.done:
        return 200 if now.unsaved is None else 202
    return 409 if outcome == GONE else 202


def _outcome_json(outcome: Outcome, now: MatchState) -> dict[str, Any]:
    names = Names.of(now.game)
    whys = [words.why(reason, now.game.edition, names) for reason in outcome.reasons]
    return {
        "done": outcome.done,
        "say": _(outcome.say) if outcome.say else None,
        "reasons": [{"say": why.say, "rule": why.rule, "instead": why.instead} for why in whys],
        "pending": [pending.id for pending in now.pending],
        "seq": now.seq,
        "version": now.version,
        "saved": now.unsaved is None,
    }


def _need_match() -> None:
    if state().match is None:
        _refuse(_("No game has been set up yet: choose the players first."), 409)


def _need_proposal(number: int) -> None:
    """Refuses what nobody ever proposed; what was settled already is told by the match."""
    now = state()
    if now.waiting(number) is None and number not in now.fates:
        abort(404)


# What was sent


def _asked(fields: Mapping[str, type], needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON object that was sent, with these fields and no others; fields that are null are left out."""
    if request.mimetype != "application/json":
        abort(415)
    sent = _object()
    unknown = [name for name in sent if name not in fields]
    if unknown:
        _refuse(_("There are no other fields than these: %(known)s.", known=", ".join(fields)))
    asked = {name: value for name, value in sent.items() if value is not None}
    for name in needed:
        if name not in asked:
            _refuse(_("“%(name)s” is missing.", name=name))
    for name, value in asked.items():
        _check(name, value, fields[name])
    return asked


def _object() -> dict[str, Any]:
    try:
        sent = json.loads(request.get_data() or b"{}")
    except (ValueError, RecursionError):
        abort(400)
    if not isinstance(sent, dict):
        _refuse(_("What is sent is a JSON object, such as {}."))
    return sent


_KINDS = {
    str: N_("“%(name)s” is a text."),
    bool: N_("“%(name)s” is true or false."),
    int: N_("“%(name)s” is a whole number."),
}
"""What a field is, by its type."""


def _check(name: str, value: object, kind: type) -> None:
    if type(value) is not kind:
        _refuse(_(_KINDS[kind], name=name))
    if isinstance(value, str) and not _is_text(value):
        _refuse(_("“%(name)s” is one line of at most %(most)d letters.", name=name, most=MOST_LETTERS))
    if isinstance(value, int) and abs(value) > MOST_NUMBER:
        _refuse(_(_KINDS[int], name=name))


def _is_text(value: str) -> bool:
    """One line that can be written down: no half of a letter, no sign that controls anything."""
    return 0 < len(value) <= MOST_LETTERS and value.isprintable()


def _refuse(sentence: str, code: int = 422) -> NoReturn:
    abort(make_response({"say": sentence}, code))
