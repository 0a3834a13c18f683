"""The table as data: a snapshot as JSON, the stream of snapshots, the record, the camera's pictures."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextvars import copy_context
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response, abort, make_response, request
from werkzeug.wrappers import Response as AnyResponse

from companion.common import parsing
from companion.match.match import Match, MatchState
from companion.match.questions import Question
from companion.pages import language, words
from companion.pages.context import match, service, state
from companion.pages.error_pages import SENTENCES
from companion.pages.game import prompts, views
from companion.pages.limits import network
from companion.pages.players import phone_identity
from companion.pages.table_camera import zone_image
from companion.pages.words import _
from companion.rules.record.judge import state_json

bp = Blueprint("live", __name__)

MOST_STREAMS = 100
MOST_STREAMS_EACH = 4
"""For a phone that takes part, and for all others of an address together."""

MOST_STREAMS_AN_ADDRESS = 80
LOOK_S = 0.5
"""How often a quiet stream looks whether its phone is still there."""

HEARTBEAT_S = 10.0
RETRY_AFTER_S = 10
MOST_VERSION = 10**11
BOOT = secrets.token_hex(4)
"""Tells this run of the service from the one before: versions start again with each."""


class Streams:
    """Counts the open streams, so that phones cannot use up the server's threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()
        self._addresses: Counter[str] = Counter()
        self.are_over = False
        """Whether the service ends, and with it every stream."""

    def take(self, address: str, phone: str | None = None) -> bool:
        """Whether one more stream may be opened; if so, it counts: for a phone that takes part, else for its address.

        A whole room may come by one address: behind a router of its own, or by a proxy.
        """
        whose = _whose(address, phone)
        with self._lock:
            full = self._open.total() >= MOST_STREAMS or self._open[whose] >= MOST_STREAMS_EACH
            full |= self._addresses[address] >= MOST_STREAMS_AN_ADDRESS
            if full or self.are_over:
                return False
            self._open[whose] += 1
            self._addresses[address] += 1
            return True

    def give_back(self, address: str, phone: str | None = None) -> None:
        with self._lock:
            self._open[_whose(address, phone)] -= 1
            self._addresses[address] -= 1
            self._open, self._addresses = +self._open, +self._addresses

    def end(self) -> None:
        """Lets every stream come to its end, and no other begin."""
        self.are_over = True

    def count(self) -> int:
        """How many are open."""
        return self._open.total()


def _whose(address: str, phone: str | None) -> str:
    return f"phone {phone}" if phone else f"strangers at {address}"


streams = Streams()


@bp.get("/api/state")
def snapshot() -> Response:
    """The state now."""
    return make_response(snapshot_json(state(), match().mats(state())))


def snapshot_json(now: MatchState, mats: Mapping[str, str]) -> dict[str, Any]:
    """Everything a page shows, as JSON; `mats` are the sides by their mats."""
    table = now.game.table
    return {
        "version": now.version,
        "seq": now.seq,
        "match": now.match,
        "edition": now.game.edition_name,
        "hand": now.game.hand_number,
        "names": {seat.player: now.game.shown.get(seat.player, seat.player) for seat in table.seats} if table else {},
        "table": state_json(table) if table else None,
        "questions": [_question_json(now, question, mats) for question in now.questions],
        "trouble": words.said(now.trouble) if now.trouble else None,
        "unsaved": words.said(now.unsaved) if now.unsaved else None,
        "policy": now.policy.value,
        "log": [_line_json(line) for line in reversed(views.log_view(now))],
        "hands": [result.as_json("") for result in now.game.hands],
        "totals": dict(now.game.totals),
        "winner": now.game.winner,
    }


def _question_json(now: MatchState, question: Question, mats: Mapping[str, str]) -> dict[str, Any]:
    view = prompts.view(now, question, mats)
    verdict = ("legal" if question.is_legal else "illegal") if question.asks_play else None
    return {
        "id": question.id,
        "kind": question.kind.value,
        "zone": question.zone,
        "plays": [str(play) for play in question.plays],
        "verdict": verdict,
        "reasons": [asdict(why) for why in view.whys],
        "say": view.say,
    }


def _line_json(line: views.PlayView) -> dict[str, Any]:
    verdict = "legal" if line.legal else "illegal"
    return {"seq": line.id, "text": line.text, "say": line.say, "verdict": verdict, "applied": line.applied}


@bp.get("/version")
def version() -> AnyResponse:
    """The number of the state now; 304 as long as it is the one that is known."""
    now = state()
    answer = make_response({"version": now.version})
    answer.set_etag(mark(now))
    return answer.make_conditional(request)


@bp.get("/events")
def events() -> Response:
    """The stream: the whole state on connecting and after every change, numbered."""
    address = network(request.remote_addr or "")
    phone = phone_identity.phone() if phone_identity.takes_part() else None
    if not streams.take(address, phone):
        abort(make_response((_(SENTENCES[503]), 503, {"Retry-After": str(RETRY_AFTER_S)})))
    known = _known_version(request.headers.get("Last-Event-ID", ""))
    gone: Callable[[], bool] = request.environ.get("waitress.client_disconnected", lambda: False)
    stream = _stream(match(), known, language.spoken(), gone, _here())
    response = Response(stream, mimetype="text/event-stream")
    response.call_on_close(lambda: streams.give_back(address, phone))
    response.headers["X-Accel-Buffering"] = "no"
    return response


def mark(now: MatchState) -> str:
    """Names a state: the stream's event ids, and what a page says it shows."""
    return f"{BOOT}.{now.version}"


class Snapshots:
    """The last state as a stream's event, written once a language however many phones get it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: MatchState | None = None
        self._events: dict[str, str] = {}

    def event(self, now: MatchState, spoken: str, mats: Mapping[str, str]) -> str:
        """A state as an event of the stream, in a language; `mats` are the sides by their mats."""
        with self._lock:
            if self._state is not now:
                self._state, self._events = now, {}
            if spoken not in self._events:
                self._events[spoken] = copy_context().run(_event, now, spoken, mats)
            return self._events[spoken]


def _event(now: MatchState, spoken: str, mats: Mapping[str, str]) -> str:
    language.speak(spoken)
    words.speak_of(now.game, mats)
    data = json.dumps(snapshot_json(now, mats), ensure_ascii=False, separators=(",", ":"))
    return f"id: {mark(now)}\nevent: state\ndata: {data}\n\n"


_snapshots = Snapshots()


def _known_version(event_id: str) -> int:
    boot, _, version = event_id.partition(".")
    number = parsing.whole(version, 0, MOST_VERSION)
    return number if boot == BOOT and number is not None else -1


def _here() -> Callable[[], None]:
    """Tells, as long as a stream is open, that its phone is there."""
    phones, phone, inside = phone_identity.phones(), phone_identity.phone(), phone_identity.takes_part()
    return (lambda: None) if phone is None else lambda: phones.seen(phone, inside=inside)


def _stream(
    source: Match, known: int, spoken: str, gone: Callable[[], bool], here: Callable[[], None]
) -> Iterator[str]:
    yield "retry: 1000\n\n"
    said_s = time.monotonic()
    while not (gone() or streams.are_over):
        here()
        now = source.wait(known, LOOK_S)
        if now.version != known:
            known, said_s = now.version, time.monotonic()
            yield _snapshots.event(now, spoken, source.mats(now))
        elif time.monotonic() - said_s >= HEARTBEAT_S:
            said_s = time.monotonic()
            yield ": still here\n\n"


@bp.get("/export.mbn")
def export() -> Response:
    """The match as a record to keep."""
    now = state()
    if now.match is None:
        abort(404)
    response = Response(match().record(), mimetype="text/plain")
    response.headers["Content-Disposition"] = f'attachment; filename="match-{now.match}.mbn"'
    return response


@bp.get("/camera.jpg")
def camera() -> Response:
    """The latest camera picture."""
    return _jpeg(service().camera.jpeg())


@bp.get("/question/<question_id>.jpg")
def crop(question_id: str) -> Response:
    """The card that a question is about, as the camera saw it; where table and record differ, the zone as it is now."""
    question = state().question(question_id)
    if question is None or question.asks_play or question.zone is None:
        return _jpeg(question.crop if question else None)
    return _jpeg(zone_image.zone_jpeg(question.zone))


def _jpeg(picture: bytes | None) -> Response:
    if picture is None:
        abort(404)
    return Response(picture, mimetype="image/jpeg")
