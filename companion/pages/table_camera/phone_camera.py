"""A phone as the camera: how it becomes one, and the pictures that its page sends."""

from __future__ import annotations

from typing import Any, cast

from flask import Blueprint, Flask, Response, abort, current_app, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.common import parsing
from companion.common.errors import Problem
from companion.common.program_name import typed
from companion.pages import words
from companion.pages.context import service
from companion.pages.players import phone_identity
from companion.pages.server.address import join_url, qr_path
from companion.vision.capture.phone_frames import PhoneFrames

bp = Blueprint("phone_camera", __name__)

PACE_MS = 200
"""Time from one picture to the next in milliseconds: a card lies for seconds, and the Wi-Fi is not for us alone."""

BUSY_PACE_MS = 400
"""The same while pictures come faster than they are read."""

PATH = "camera/phone"


@bp.get(f"/{PATH}")
def show() -> AnyResponse:
    """Show the camera's own page on a phone that came by TLS, elsewhere how a phone comes there."""
    if phone_identity.let_in(request.args.get("t", ""), service().token):
        return redirect(url_for("phone_camera.show"))
    frames, secure, turn = service().camera.phone, service().secure, service().camera.turn
    url = secure.base_url() if secure else None
    link = join_url(url, service().token, PATH) if url and phone_identity.takes_part() else None
    page = render_template(
        "phone_camera.html",
        frames=frames,
        is_camera=frames is not None and frames.sender is not None and frames.sender == phone_identity.phone(),
        comes_safely=request.is_secure,
        link=link,
        code=qr_path(link) if link else None,
        is_turned=turn is not None and bool(turn.current.degrees or turn.current.mirrored),
        pace_ms=PACE_MS,
        safe_address=f"{url}/join",
        table_code=service().code,
        command=typed("up --source http://…"),
    )
    return Response(page, headers={"Permissions-Policy": "camera=(self)"} if request.is_secure else {})


@bp.post(f"/{PATH}/open")
def open() -> AnyResponse:  # noqa: A001
    """Open the port that a phone's camera needs."""
    secure = service().secure or abort(404)
    try:
        secure.open(cast(Flask, cast(Any, current_app)._get_current_object()))
    except Problem as problem:
        flash(words.said(problem.sentence))
    return redirect(url_for("phone_camera.show"), 303)


@bp.post(f"/{PATH}/begin")
def begin() -> tuple[str, int]:
    """Make this phone the camera."""
    _frames().choose(phone_identity.known_phone())
    return "", 204


@bp.post(f"/{PATH}/end")
def end() -> AnyResponse:
    """Let no phone be the camera any more."""
    _frames().choose(None)
    return redirect(url_for("phone_camera.show"), 303)


@bp.post(f"/{PATH}/frame")
def frame() -> dict[str, int] | tuple[dict[str, int], int]:
    """Take in a picture, a JPEG; return when the next may come. 409 where another phone is the camera."""
    battery = parsing.whole(request.args.get("battery", ""), 0, 100)
    is_kept_up_with = _frames().put(phone_identity.known_phone(), request.get_data(), battery)
    if is_kept_up_with is None:
        return {}, 409
    return {"wait_ms": PACE_MS if is_kept_up_with else BUSY_PACE_MS}


def _frames() -> PhoneFrames:
    """Return what phones send; 404 for a service whose source was named at the start."""
    return service().camera.phone or abort(404)
