"""The table for scripts: matches as JSON, and plays, answers and undo by JSON. `openapi.py` documents it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NoReturn

from flask import Blueprint, Response, abort, make_response, request

from companion.common import clock, parsing
from companion.common.errors import Problem
from companion.match.history import history
from companion.match.match import Answer, Match, MatchState, Outcome
from companion.pages import words
from companion.pages.api import openapi
from companion.pages.context import forget_state, match, service, state
from companion.pages.players import permissions, phone_identity
from companion.pages.words import N_, Names, _
from companion.rules.record import notation
from companion.rules.record.notation import EditionLine, HandLine, Header, PlayerLine, SideLine, Unreadable
from companion.storage.event_store import Event, NotSaved

bp = Blueprint("api", __name__, url_prefix="/api")

MOST_LETTERS = {"text": 200, "play": 200, "id": 64, "record": 4000}
"""A longer text was never a play, nor the head of a record; others have room for a player's name."""

USUAL_LETTERS = 100
_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""What joins letters and parts them, in names of some languages."""

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
    texts = [line.text for line in history(events).lines if _is_header(line.text)]
    headers = [_header(text) for text in texts]
    shown = {header.player: header.shown for header in headers if isinstance(header, PlayerLine)}
    teams = [header.team for header in headers if isinstance(header, SideLine)]
    return {
        "match": number,
        "began": _at(events[0]),
        "edition": next((_edition(text) for text in texts if text.startswith("edition ")), "classic"),
        "sides": {team.name: list(team.players) for team in teams},
        "names": {player: shown.get(player, player) for team in teams for player in team.players},
        "hands": sum(isinstance(header, HandLine) for header in headers),
        "playing": number == state().match,
    }


def _is_header(text: str) -> bool:
    return text.startswith(("edition ", "side ", "player ", "hand "))


def _header(text: str) -> Header | None:
    """A header line; None for one that cannot be read."""
    try:
        return notation.parse_header(text)
    except Unreadable:
        return None


def _edition(text: str) -> str:
    """The edition that a line names, also where its file is gone."""
    header = _header(text)
    return header.name if isinstance(header, EditionLine) else text.removeprefix("edition ").strip()


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
    text, anyway, vouched = asked["text"], asked.get("anyway", False), permissions.vouched()
    return _done(asked, lambda by: match().enter(text, by, anyway=anyway, vouched=vouched))


@bp.post("/questions/<question_id>")
def answer(question_id: str) -> Response:
    """What the table says to a question."""
    asked = _asked({"answer": str, "play": str, "anyway": bool}, needed=("answer",))
    if asked["answer"] not in tuple(Answer):
        _refuse(_("“%(name)s” is one of these: %(known)s.", name="answer", known=", ".join(Answer)))
    if state().question(question_id) is None and not match().was_asked(question_id):
        abort(404)
    said, anyway, vouched = Answer(asked["answer"]), asked.get("anyway", False), permissions.vouched()
    text = asked.get("play")
    return _done(asked, lambda by: match().answer(question_id, said, by, play=text, anyway=anyway, vouched=vouched))


@bp.post("/correct")
def correct() -> Response:
    """A line of the record should have said something else."""
    asked = _asked({"seq": int, "text": str}, needed=("seq", "text"))
    _need_match()
    vouched = permissions.vouched()
    return _done(asked, lambda by: match().correct(asked["seq"], asked["text"], by, vouched=vouched))


@bp.post("/next-hand")
def next_hand() -> Response:
    """The next hand begins."""
    asked = _asked({"first": str})
    _need_match()
    return _done(asked, lambda by: match().next_hand(by, asked.get("first")))


@bp.post("/matches")
def begin() -> Response:
    """A match begins, as the head of a record says."""
    asked = _asked({"record": str}, needed=("record",))
    lines = [line for line in map(notation.without_comment, asked["record"].splitlines()) if line]
    return _done(asked, lambda by: match().start(lines, by))


@bp.post("/undo")
def undo() -> Response:
    """The last change of the record is taken back."""
    return _take_back(Match.undo, lambda now: now.undoable, permissions.why_no_undo)


@bp.post("/redo")
def redo() -> Response:
    """The last undo is taken back."""
    return _take_back(Match.redo, lambda now: now.redoable, permissions.why_no_redo)


def _take_back(
    take: Callable[[Match, str, int | None], Outcome],
    latest: Callable[[MatchState], Event | None],
    why_not: Callable[[MatchState, phone_identity.Holder], str | None],
) -> Response:
    asked = _asked({"seq": int})
    _need_match()
    holder = phone_identity.holder(state())

    def act(by: str) -> Outcome:
        now = match().state
        event = latest(now)
        refused = why_not(now, holder)
        if event is not None and asked.get("seq", event.seq) == event.seq and refused is not None:
            _refuse(refused, 403)
        return take(match(), by, asked.get("seq"))

    return _done(asked, act)


def _done(asked: Mapping[str, Any], act: Callable[[str], Outcome]) -> Response:
    """Does what was asked, and says what came of it."""
    what = {name: value for name, value in asked.items() if name != "id"}
    by = phone_identity.who(state())
    try:
        outcome = match().once(asked.get("id"), f"{request.path} {json.dumps(what, sort_keys=True)}", lambda: act(by))
    except NotSaved:
        raise
    except Problem as problem:
        _refuse(_(problem.sentence))
    forget_state()
    return make_response(_outcome_json(outcome, state()), _code(outcome))


def _code(outcome: Outcome) -> int:
    if outcome.done:
        return 200 if outcome.saved else 202
    return 409 if outcome.is_void else 202


def _outcome_json(outcome: Outcome, now: MatchState) -> dict[str, Any]:
    names = Names.of(now.game)
    return {
        "done": outcome.done,
        "say": _(outcome.say) if outcome.say else None,
        "reasons": [asdict(words.why(reason, now.game.edition, names)) for reason in outcome.reasons],
        "questions": list(outcome.asked),
        "seq": outcome.seq,
        "version": outcome.version,
        "saved": outcome.saved,
    }


def _need_match() -> None:
    if state().match is None:
        _refuse(_("No game has been set up yet: choose the players first."), 409)


# What was sent


def _asked(fields: Mapping[str, type], needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON object that was sent, with these fields, an `id` and no others; fields that are null are left out."""
    fields = {**fields, "id": str}
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
    if isinstance(value, str):
        _check_text(name, value)
    elif isinstance(value, int) and abs(value) > MOST_NUMBER:
        _refuse(_(_KINDS[int], name=name))


def _check_text(name: str, text: str) -> None:
    """Refuses what cannot be written down: no half of a letter, no sign that controls anything."""
    most = MOST_LETTERS.get(name, USUAL_LETTERS)
    lines = text.splitlines() if name == "record" else [text]
    if 0 < len(text) <= most and all(line.translate(_JOINERS).isprintable() for line in lines):
        return
    if name == "record":
        _refuse(_("“%(name)s” is a text of at most %(most)d letters.", name=name, most=most))
    _refuse(_("“%(name)s” is one line of at most %(most)d letters.", name=name, most=most))


def _refuse(sentence: str, code: int = 422) -> NoReturn:
    abort(make_response({"say": sentence}, code))
