"""Getting in: scan, tap your name, done."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.pages import people
from companion.pages.context import match, service, state
from companion.pages.names import clean

bp = Blueprint("join", __name__)


@bp.get("/join")
def show() -> AnyResponse | str:
    """Whose seat is this phone’s?"""
    if people.let_in(request.args.get("t", ""), service().token):
        return redirect(url_for("join.show"))
    now = state()
    has_camera = service().camera_picture is not None
    return render_template("join.html", teams=now.game.teams, taken=now.seats, has_camera=has_camera)


@bp.post("/join")
def sit() -> AnyResponse:
    """A seat is taken, or none."""
    player = request.form.get("player") or None
    if player is None or not match().sit(player, player, clean(request.form.get("name", "")) or None).done:
        people.sit_down(None)
        return redirect(url_for("table.show"), 303)
    people.sit_down(player)
    return redirect(url_for("table.show"), 303)
