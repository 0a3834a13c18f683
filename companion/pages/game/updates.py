"""The table as data: the state as JSON and its version, the record, the camera's pictures."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response, abort, make_response, request
from werkzeug.wrappers import Response as AnyResponse

from companion.match.match import MatchState
from companion.match.questions import Question
from companion.pages import words
from companion.pages.context import download, is_demo, match, service, state
from companion.pages.game import prompts, views
from companion.pages.players import phone_identity
from companion.rules.record.judge import state_json
from companion.vision.boxes import Image, shrunk
from companion.vision.capture.image_io import jpeg_of
from companion.vision.view import Quad

bp = Blueprint("live", __name__)

ZONE_ROOM = 0.15
"""Margin shown around a zone, as a share of its size: cards may stick out."""

MOST_ZONE_PX = 480
"""Longest side of a zone's picture, in pixels."""

BOOT = secrets.token_hex(4)
"""Name of this run of the service: versions start again with each."""


@bp.get("/api/state")
def snapshot() -> Response:
    """Return everything a page shows, as JSON."""
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


@bp.get("/version")
def version() -> AnyResponse:
    """Return the number of the state; 304 as long as it is the one that is known."""
    now = state()
    answer = make_response({"version": now.version})
    answer.set_etag(mark(now))
    return answer.make_conditional(request)


def mark(now: MatchState) -> str:
    """Return the name of a state, the demo's another: the ETag of `/version`, and what a page says it shows."""
    return f"{BOOT}{'-demo' if is_demo() else ''}.{now.version}"


@bp.get("/export.mbn")
def export() -> Response:
    """Return the match as a record to keep."""
    now = state()
    if now.match is None:
        abort(404)
    return download(match().record(), "text/plain", f"match-{now.match}.mbn")


@bp.get("/camera.jpg")
def camera() -> Response:
    """Return the latest camera picture."""
    return _jpeg(service().camera.picture())


@bp.get("/question/<question_id>.jpg")
def crop(question_id: str) -> Response:
    """Return the card of a question as the camera saw it; where table and record differ, the zone as it is now."""
    question = state().question(question_id)
    if question is None or question.asks_play or question.zone is None:
        return _jpeg(question.crop if question else None)
    return _jpeg(_zone_jpeg(question.zone))


def _jpeg(picture: bytes | None) -> Response:
    return Response(picture or abort(404), mimetype="image/jpeg")


def _zone_jpeg(zone: str) -> bytes | None:
    """Return what lies in a zone, as JPEG; the whole picture for a zone that is not known; None without a picture."""
    image, survey = service().camera.image(), service().camera.survey()
    if image is None:
        return None
    quad = None if survey is None else {**survey.printed, **survey.drawn}.get(zone)
    part = image if survey is None or quad is None else _part(image, quad, survey.size_px)
    return jpeg_of(shrunk(part, MOST_ZONE_PX / max(part.shape[:2])))


def _part(image: Image, quad: Quad, size_px: tuple[int, int]) -> Image:
    """Return the piece round a zone, whose corners are those on a picture of `size_px`."""
    height, width = image.shape[:2]
    spans = []
    for axis, (most, was) in enumerate(zip((width, height), size_px, strict=True)):
        places = [corner[axis] * most / was for corner in quad]
        room = ZONE_ROOM * (max(places) - min(places))
        spans.append(slice(max(0, int(min(places) - room)), min(most, int(max(places) + room) + 1)))
    part: Image = image[spans[1], spans[0]]
    return part if part.size else image
