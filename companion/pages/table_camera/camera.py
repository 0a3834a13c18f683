"""The camera page: what can be read now and what would help; zones drawn where there are no mats."""

from __future__ import annotations

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.common import parsing
from companion.common.errors import Problem
from companion.pages.context import match, service, state
from companion.pages.players import phone_identity
from companion.pages.table_camera import survey_view, zone_form
from companion.pages.table_camera.survey_view import Called
from companion.pages.words import Names, _
from companion.tabletop.drawn_zones import DrawnZones
from companion.vision.capture.orientation import QUARTERS, Turn
from companion.vision.quality.live_survey import Survey

bp = Blueprint("camera", __name__)


@bp.get("/camera")
def show() -> str:
    """Show what the camera sees."""
    seen, kept = _seen() if phone_identity.takes_part() else None, service().camera.turn
    return render_template(
        "camera.html",
        sights=survey_view.sights(seen, _called()) if seen else None,
        zones=service().camera.zones,
        turn=kept.current if kept else None,
        has_camera=service().camera.can_look(),
        phone_may_be=service().camera.phone is not None,
        undrawn=_undrawn() if service().camera.zones else "",
    )


@bp.post("/camera/turn")
def turn() -> AnyResponse:
    """Turn the picture, or mirror it."""
    kept = service().camera.turn or abort(404)
    degrees = parsing.whole(request.form.get("degrees", str(kept.current.degrees)), 0, 359)
    if degrees is None or degrees not in (0, *QUARTERS):
        abort(400)
    kept.keep(Turn(degrees, request.form.get("mirrored", "yes" if kept.current.mirrored else "no") == "yes"))
    if service().camera.zones is not None and _zones().current is not None:
        flash(_("The picture is turned. Draw the zones anew: they lie where they were on the picture before."))
    return redirect(url_for("camera.show"), 303)


@bp.get("/camera/zones")
def draw() -> AnyResponse | str:
    """Show the form that zones are drawn in."""
    current = _zones().current
    if not phone_identity.may_act():
        return redirect(url_for("camera.show"))
    if "suggest" in request.args:
        return _form(zone_form.suggested(_called().mats))
    return _form(zone_form.as_typed(current) if current else {})


@bp.post("/camera/zones")
def save() -> AnyResponse | str | tuple[str, int]:
    """Keep what was drawn; with `clear` one zone is taken out of the form, and nothing is kept yet."""
    zones, form = _zones(), request.form.to_dict()
    if "clear" in form:
        return _form({field: typed for field, typed in form.items() if not field.endswith(f"-{form['clear']}")})
    try:
        if zones.given is None:
            zones.save(zone_form.drawing_of(form, _called()))
    except Problem as problem:
        return _form(form, str(problem)), 400
    flash(_kept())
    return redirect(url_for("camera.draw" if _undrawn() else "camera.show"), 303)


@bp.post("/camera/zones/forget")
def forget() -> AnyResponse:
    """Forget all drawn zones."""
    _zones().forget()
    flash(_("The drawn zones are gone: the printed mats count."))
    return redirect(url_for("camera.show"), 303)


def _kept() -> str:
    """Say from when on a drawing counts."""
    seen, undrawn = _seen(), _undrawn()
    if undrawn:
        return _("What is drawn is kept, and not yet complete. %(undrawn)s", undrawn=undrawn)
    if seen is None:
        return _("The zones are kept. They count as soon as there are pictures.")
    if seen.is_last:
        return _("The zones are kept. The pictures have come to their end: they count when the companion starts again.")
    return _("The zones are kept. They count from the next picture on.")


def _undrawn() -> str:
    """Say whose zones the drawing in force lacks while no printed mat of theirs is seen; empty for nobody's."""
    current, called, seen = _zones().current, _called(), _seen()
    found = {zone.zone.partition("/")[0] for zone in seen.advice.zones} if seen else set()
    lacking = zone_form.undrawn(zone_form.as_typed(current), called) if current else ()
    sides = " · ".join(called.title(mat) for mat in lacking if mat not in found)
    return _("Without zones: %(sides)s. Draw them, or lay down the printed mat.", sides=sides) if sides else ""


def _seen() -> Survey | None:
    seen, zones = service().camera.survey(), service().camera.zones
    return survey_view.without_drawn(seen) if seen and zones and zones.current is None else seen


def _form(typed: zone_form.Form, sentence: str = "") -> str:
    zones, called, seen = _zones(), _called(), _seen()
    current, lacking = zones.current, zone_form.missing(typed, called)
    return render_template(
        "zones.html",
        mats=zone_form.mats_forms(typed, called),
        seats=zone_form.SEATS,
        size=seen.size_px if seen else current.picture if current else zone_form.USUAL_SIZE,
        has_picture=seen is not None,
        is_given=zones.given is not None,
        is_kept=current is not None,
        sentence=sentence or zones.problem or "",
        most_named=zone_form.MOST_NAMED,
        missing=zone_form.still_to_draw(lacking, called) if lacking else "",
        chosen=request.form.get("chosen") or request.form.get("clear"),
    )


def _zones() -> DrawnZones:
    """Return the drawn zones; 404 for a service without a camera."""
    return service().camera.zones or abort(404)


def _called() -> Called:
    """Return how the mats in play are called; before a match those of two sides."""
    now = state()
    mats = match().mats(now) or {"side-1": "", "side-2": ""}
    return Called(Names.of(now.game), mats)
