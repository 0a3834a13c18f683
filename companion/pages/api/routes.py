"""JSON API: state, matches, plays, answers and undo."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NoReturn

from flask import Blueprint, Response, abort, make_response, request

from companion.common import clock, parsing
from companion.common.errors import Problem
from companion.common.spelling import composed
from companion.match.archive import FORMS
from companion.match.dealer import Seen
from companion.match.history import history
from companion.match.questions import Answer, Question
from companion.match.state import MatchState, Outcome, Policy
from companion.pages import words
from companion.pages.api import openapi
from companion.pages.api.openapi import MOST_NUMBER, Schema
from companion.pages.context import AnyResponse, download, forget_state, is_demo, match, service, state
from companion.pages.game import own_hand, prompts, views
from companion.pages.players import permissions, phone_identity, seats
from companion.pages.players.phone_identity import NotYours
from companion.pages.words import N_, Names, _
from companion.rules.record import notation
from companion.rules.record.judge import state_json
from companion.rules.record.notation import HandLine, PlayerLine, SideLine
from companion.storage.event_store import NotSaved
from companion.storage.events import EventKind

bp = Blueprint("api", __name__)

Asked = Mapping[str, Any]  # fields of the request
Act = Callable[[str], Outcome]  # makes a person's change
View = Callable[..., AnyResponse]
Change = Callable[..., Act]

_JOINERS = str.maketrans("", "", "\u200c\u200d")  # zero-width joiners, needed in some names
MOST_MATCHES, USUAL_MATCHES = 100, 20


def read(rule: str, of: Schema, *query: str, name: str | None = None) -> Callable[[View], View]:
    """Register and document a GET route; `of` are its responses."""

    def declare(view: View) -> View:
        bp.add_url_rule(rule, name, view)
        openapi.describe(rule, "get", name or view.__name__, view.__doc__, of, query)
        return view

    return declare


def change(
    rule: str, fields: openapi.Fields, *, needs_match: bool = True, of_phone: bool = False
) -> Callable[[Change], Change]:
    """Register and document a POST route, whose function returns the change to make.

    With `of_phone`, identical requests from two phones are different changes.
    """
    sent = openapi.object_of(fields) | {"additionalProperties": False}

    def declare(view: Change) -> Change:
        def answer(**place: str) -> Response:
            asked = _asked(sent["properties"], sent["required"], needs_match=needs_match)
            act = view(asked, **place)
            if not of_phone:
                return _done(asked, act)
            with phone_identity.phones().held():
                return _done(asked, act, phone_identity.known_phone())

        bp.add_url_rule(rule, view.__name__, answer, methods=["POST"])
        openapi.describe(rule, "post", view.__name__, view.__doc__, openapi.changed(sent))
        return view

    return declare


@read("/api/openapi.json", openapi.answered("OpenAPI 3.1.", None))
def document() -> Response:
    """Return this document."""
    return make_response(openapi.document())


@read("/api/matches", openapi.answered("As they were set up.", {"matches": ["Match"]}, 422), "limit", "before")
def matches() -> Response:
    """Return the matches, the latest first."""
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
        _refuse(_("“%(name)s” must be a number from %(low)d to %(high)d.", name=name, low=low, high=high))
    return number


def _brief(number: int) -> dict[str, Any]:
    """Describe a match without judging its plays."""
    events = match().store.events(number)
    texts = [line.text for line in history(events).lines]
    headers = list(notation.headers(texts))
    # The edition's file may be gone.
    editions = (name for name in map(notation.edition_named, events[0].body.get("lines", ())) if name)
    shown = {header.player: header.shown for header in headers if isinstance(header, PlayerLine)}
    teams = [header.team for header in headers if isinstance(header, SideLine)]
    began = clock.moment(events[0].at_s)
    return {
        "match": number,
        "began": began.isoformat(timespec="seconds").replace("+00:00", "Z") if began else None,
        "edition": next(editions, "classic"),
        "sides": {team.name: list(team.players) for team in teams},
        "names": {player: shown.get(player, player) for team in teams for player in team.players},
        "hands": sum(isinstance(header, HandLine) for header in headers),
        "playing": number == state().match,
    }


@read("/api/matches/<int:number>", openapi.answered("It.", "Played", 404), name="match")
def one(number: int) -> Response:
    """Return a match: its record, counted hands and totals."""
    past = service().archive.past(match().store, number) or abort(404)
    totals = {
        "record": list(past.lines),
        "played_hands": [result.as_json("") for result in past.game.hands],
        "totals": dict(past.game.totals),
        "winner": past.game.winner,
    }
    return make_response(_brief(number) | totals)


# Changes


@change("/api/plays", openapi.NEW_PLAY)
def play(asked: Asked) -> Act:
    """Enter a play. A legal one counts at once; an illegal one waits for the table’s answer."""
    anyway, vouched = asked.get("anyway", False), permissions.vouched()
    return lambda by: match().enter(asked["text"], by, anyway=anyway, vouched=vouched)


@read("/api/hand", openapi.answered("It.", "OwnHand", 401, 403))
def hand() -> Response:
    """Return the hand of this phone’s seat, if the companion deals the cards."""
    own = own_hand.seen(state()) or Seen("", ())
    shown = {"player": own.player or None, "hand": list(own.hand), "asked": own.is_asked, "may_wait": own.may_wait}
    return make_response(shown | {"plays": [str(play) for play in own.plays]})


@change("/api/seat", openapi.SEAT, of_phone=True)
def seat(asked: Asked) -> Act:
    """Take a seat for this phone or script, which is recognized by the cookie in the response."""
    return lambda _by: seats.seated(asked["player"], takes=asked.get("take", False))


@change("/api/policy", openapi.POLICY)
def policy(asked: Asked) -> Act:
    """Set what counts without a tap. For the host."""
    return lambda by: match().set_policy(Policy(asked["policy"]), by)


@change("/api/waive", openapi.WAIVER)
def waive(_asked: Asked) -> Act:
    """Let a chance to respond pass; on your turn, draw."""
    return lambda by: match().waive(by)


@change("/api/questions/<question_id>", openapi.NEW_ANSWER, needs_match=False)
def answer(asked: Asked, question_id: str) -> Act:
    """Answer a question to the table."""
    if state().question(question_id) is None and not match().was_asked(question_id):
        abort(404)
    said, play = Answer(asked["answer"]), asked.get("play")
    anyway, vouched = asked.get("anyway", False), permissions.vouched()
    return lambda by: match().answer(question_id, said, by, play=play, anyway=anyway, vouched=vouched)


@change("/api/correct", openapi.CORRECTION)
def correct(asked: Asked) -> Act:
    """Change a line of the record."""
    vouched = permissions.vouched()
    return lambda by: match().correct(asked["seq"], asked["text"], by, vouched=vouched)


@change("/api/next-hand", openapi.NEXT_HAND)
def next_hand(asked: Asked) -> Act:
    """Begin the next hand."""
    return lambda by: match().next_hand(by, asked.get("first"))


@change("/api/matches", openapi.NEW_MATCH, needs_match=False)
def begin(asked: Asked) -> Act:
    """Begin a match in place of the current one."""
    lines = [line for line in map(notation.without_comment, asked["record"].splitlines()) if line]
    robots = asked.get("robots", {}) if asked.keys() & {"cards", "robots"} else None
    return lambda by: match().start(lines, by, robots=robots)


@change("/api/undo", openapi.STEP)
def undo(asked: Asked) -> Act:
    """Undo the last change of the record."""
    return lambda by: permissions.take_back(EventKind.UNDO, by, asked.get("seq"))


@change("/api/redo", openapi.STEP)
def redo(asked: Asked) -> Act:
    """Redo the last undo."""
    return lambda by: permissions.take_back(EventKind.REDO, by, asked.get("seq"))


def _done(asked: Asked, act: Act, phone: str = "") -> Response:
    what = {name: value for name, value in asked.items() if name != "id"}
    change, by = f"{request.path} {json.dumps(what, sort_keys=True)}{phone}", phone_identity.who(state())
    try:
        outcome = match().once(asked.get("id"), change, lambda: act(by))
    except (NotSaved, NotYours):
        raise
    except Problem as problem:
        _refuse(_(problem.sentence))
    forget_state()
    names, edition = Names.of(state().game), state().game.edition
    said = {
        "done": outcome.done,
        "say": _(outcome.say) if outcome.say else None,
        "reasons": [asdict(why) for why in words.whys(outcome.reasons, edition, names)],
        "questions": list(outcome.asked),
        "seq": outcome.seq,
        "version": outcome.version,
        "saved": outcome.saved,
    }
    waits = not outcome.saved if outcome.done else not outcome.is_void
    return make_response(said, 202 if waits else 200 if outcome.done else 409)


# Request validation


def _asked(known: Schema, required: list[str], *, needs_match: bool) -> Asked:
    """Return the request's JSON without nulls; abort if a field is unknown, missing or invalid."""
    if request.mimetype != "application/json":
        abort(415)
    try:
        sent = json.loads(request.get_data() or b"{}")
    except (ValueError, RecursionError):
        abort(400)
    if not isinstance(sent, dict):
        _refuse(_("Send a JSON object, such as {}."))
    if not known.keys() >= sent.keys():
        _refuse(_("Unknown field; the fields are: %(known)s.", known=", ".join(known)))
    asked = {name: _composed(value) for name, value in sent.items() if value is not None}
    for name in required:
        if name not in asked:
            _refuse(_("“%(name)s” is missing.", name=name))
    for name, value in asked.items():
        _check(name, value, known[name])
    if needs_match and state().match is None:
        _refuse(_("No game has been set up yet: choose the players first."), 409)
    return asked


def _composed(value: Any) -> Any:
    if isinstance(value, dict):
        return {composed(key): one for key, one in value.items()}
    return composed(value) if isinstance(value, str) else value


_KINDS = {
    "string": (str, N_("“%(name)s” must be a string.")),
    "boolean": (bool, N_("“%(name)s” must be true or false.")),
    "integer": (int, N_("“%(name)s” must be an integer.")),
    "object": (dict, N_("“%(name)s” must be an object of integers.")),
}
"""Python type and error message, by JSON Schema type."""


def _check(name: str, value: object, schema: Schema) -> None:
    named = schema.get("type", "string")
    kind, sentence = _KINDS[named if isinstance(named, str) else named[0]]
    if type(value) is not kind or (isinstance(value, int) and abs(value) > MOST_NUMBER):
        _refuse(_(sentence, name=name))
    if isinstance(value, dict) and any(type(one) is not int for one in value.values()):
        _refuse(_(sentence, name=name))
    if not isinstance(value, str):
        return
    if "enum" in schema and value not in schema["enum"]:
        _refuse(_("“%(name)s” must be one of: %(known)s.", name=name, known=", ".join(schema["enum"])))
    most = schema.get("maxLength", len(value))
    lines = value.splitlines() if name == "record" else [value]
    if not 0 < len(value) <= most or not all(line.translate(_JOINERS).isprintable() for line in lines):
        sentence = N_("“%(name)s” must be one line of at most %(most)d characters.")
        if name == "record":
            sentence = N_("“%(name)s” must be a string of at most %(most)d characters.")
        _refuse(_(sentence, name=name, most=most))


def _refuse(sentence: str, code: int = 422) -> NoReturn:
    abort(make_response({"say": sentence}, code))


# State and version

BOOT = secrets.token_hex(4)  # one per run


@read("/api/state", openapi.answered("Everything a page shows.", "State"), name="state")
def table_now() -> Response:
    """Return the table now."""
    now = state()
    table, trouble = now.game.table, phone_identity.trouble(now)
    shown = {
        "version": now.version,
        "seq": now.seq,
        "match": now.match,
        "edition": now.game.edition_name,
        "dealt": now.is_dealt,
        "robots": dict(now.robots),
        "hand": now.game.hand_number,
        "names": {seat.player: now.game.shown.get(seat.player, seat.player) for seat in table.seats} if table else {},
        "table": state_json(table) if table else None,
        "questions": [_question_json(now, question) for question in now.questions],
        "trouble": words.said(trouble) if trouble else None,
        "unsaved": words.said(now.unsaved) if now.unsaved else None,
        "policy": now.policy.value,
        "log": [
            {
                "seq": line["id"],
                "text": line["text"],
                "say": line["say"],
                "verdict": "legal" if line["legal"] else "illegal",
                "applied": line["applied"],
            }
            for line in reversed(views.log_view(now))
        ],
        "hands": [result.as_json("") for result in now.game.hands],
        "totals": dict(now.game.totals),
        "winner": now.game.winner,
    }
    return make_response(shown)


def _question_json(now: MatchState, question: Question) -> dict[str, Any]:
    view = prompts.view(now, question)
    verdict = ("legal" if question.is_legal else "illegal") if question.asks_play else None
    return {
        "id": question.id,
        "kind": question.kind.value,
        "zone": question.zone,
        "plays": [str(play) for play in question.plays],
        "verdict": verdict,
        "reasons": [asdict(why) for why in view["whys"]],
        "say": view["say"],
    }


_VERSION = openapi.answered("The version of the state.", {"version": openapi.VERSION})
_VERSION["responses"]["304"] = {"description": "It is the one that is known."}


@read("/version", _VERSION)
def version() -> AnyResponse:
    """Return the version, which changes with anything a page could show. Send the last `ETag` as `If-None-Match`."""
    now = state()
    answer = make_response({"version": now.version})
    answer.set_etag(mark(now))
    return answer.make_conditional(request)


def mark(now: MatchState) -> str:
    """Return a state's ETag; the demo has its own."""
    club = service().club
    clocks = "".join(f".{one['seq']}{'' if one['left_s'] else '-out'}" for one in club.clocks) if club else ""
    return f"{BOOT}{'-demo' if is_demo() else ''}.{now.version}{clocks}"


@read("/export.mbn", openapi.file("The record.", ["text/plain"], 404), name="record")
def export() -> Response:
    """Return the match being played as a record: see docs/records.md."""
    now = state()
    if now.match is None:
        abort(404)
    return download(match().record(), "text/plain", f"match-{now.match}.mbn")


# Files of past matches, served by their pages

for _rule, _name, _kinds, _about in (
    ("/past/<number>.<form>", "export", [*FORMS.values()], "Return a match as a file."),
    ("/past/<number>/bg-stats.json", "bg_stats", ["application/json"], "Return a match as a play for BG Stats."),
):
    openapi.describe(_rule, "get", _name, _about, openapi.file("It.", _kinds, 404))
