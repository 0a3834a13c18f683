"""Camera pages: pictures, advice, drawn zones, and a phone as the camera."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, cast

import numpy as np
from flask import Blueprint, Response, abort, current_app, flash, redirect, render_template, request, session, url_for

from companion.common import parsing
from companion.common.addresses import shown
from companion.common.errors import Problem
from companion.common.terminal import typed
from companion.pages import words
from companion.pages.context import AnyResponse, has_camera, match, service, state
from companion.pages.players import phone_identity
from companion.pages.server.address import join_url, qr_path
from companion.pages.table_camera import zone_form
from companion.pages.table_camera.camera_settings import QUARTERS, Turn
from companion.pages.table_camera.zone_form import Called
from companion.pages.words import N_, Names, _
from companion.tabletop import translation
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.mat_layout import mat_of
from companion.vision.boxes import around, shrunk
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.phone_frames import PhoneFrames
from companion.vision.quality.advice import NO_MATS
from companion.vision.quality.live_survey import Survey
from companion.vision.quality.measure import ZoneSight
from companion.vision.quality.verdict import Aspect, light, sharpness, verdict_on

bp = Blueprint("camera", __name__)


@bp.get("/camera")
def show() -> str:
    """Show the camera's picture and advice."""
    seen, kept = _seen() if phone_identity.takes_part() else None, service().camera.turn
    return render_template(
        "camera.html",
        sights=sights(seen, _called()) if seen else None,
        turn=kept.current if kept else None,
        others=_others(can_add=seen is not None),
        is_one=not _is_several(),
        undrawn=_undrawn() if service().camera.zones else "",
    )


_TRIED = "camera-tried"  # cookie key


@bp.get("/camera/trial")
def trial() -> AnyResponse | str:
    """Show whether the picture is good enough, and the next improvement."""
    seen = _seen()
    if seen and "waiting" in request.args:
        return Response(status=204, headers={"HX-Refresh": "true"})
    return render_template(
        "camera_trial.html",
        sights=sights(seen, _called()) if seen else None,
        verdict=verdict_on(seen.advice, seen.pace) if seen else None,
        aspects=ASPECTS,
    )


@bp.post("/camera/trial")
def go_on() -> AnyResponse:
    """Finish the camera trial and set up the game."""
    session[_TRIED] = True
    return redirect(url_for("setting_up.show", tried=1), 303)


def is_trial_due() -> bool:
    """True if the host should try the camera: once, before the first match."""
    return state().match is None and has_camera() and phone_identity.may_host() and not session.get(_TRIED)


@bp.post("/camera/turn")
def turn() -> AnyResponse:
    """Rotate or mirror the picture."""
    kept = service().camera.turn or abort(404)
    degrees = parsing.whole(request.form.get("degrees", str(kept.current.degrees)), 0, 359)
    if degrees is None or degrees not in (0, *QUARTERS):
        abort(400)
    kept.keep(Turn(degrees, request.form.get("mirrored", "yes" if kept.current.mirrored else "no") == "yes"))
    if service().camera.zones is not None and _zones().current is not None:
        flash(_("The picture is rotated. Draw the zones again: they did not rotate with it."))
    return redirect(url_for("camera.show"), 303)


@bp.post("/camera/others")
def add() -> AnyResponse:
    """Add a camera, or remove the one numbered `without`."""
    others, number = service().camera.others, parsing.whole(request.form.get("without", ""), 0, 99)
    if others is None or others.are_given:
        abort(404)
    try:
        if number is not None:
            others.leave_out(number)
        elif "without" not in request.form:
            others.add(request.form.get("address", "").strip() or request.form.get("device", ""))
    except Problem as problem:
        flash(words.said(problem.sentence))
    return redirect(url_for("camera.show") + "#others", 303)


def _others(*, can_add: bool) -> dict[str, Any] | None:
    """Return the additional cameras' template values; None if unchangeable here.

    Without a picture, an added one would become the main camera.
    """
    others = service().camera.others
    if others is None or others.are_given or not phone_identity.may_host():
        return None
    return {
        "used": [shown(source) for source in others.sources],
        "choices": others.choices(),
        "can_add": can_add or bool(others.sources),
    }


def _is_several() -> bool:
    others = service().camera.others
    return others is not None and bool(others.sources)


@bp.get("/camera/zones")
def draw() -> AnyResponse | str:
    """Show the form for drawing a single camera's zones."""
    current = _zones().current
    if not phone_identity.may_act() or _is_several():
        return redirect(url_for("camera.show"))
    if "suggest" in request.args:
        return _form(zone_form.suggested(_called().mats))
    return _form(zone_form.as_typed(current) if current else {})


@bp.post("/camera/zones")
def save() -> AnyResponse | str | tuple[str, int]:
    """Save the drawn zones; with `clear` only empty one in the form."""
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
    """Delete all drawn zones."""
    _zones().forget()
    flash(_("Drawn zones removed. The printed mats are used again."))
    return redirect(url_for("camera.show"), 303)


def _kept() -> str:
    seen, undrawn = _seen(), _undrawn()
    if undrawn:
        return _("Saved, but not complete yet. %(undrawn)s", undrawn=undrawn)
    if seen is None:
        return _("Zones saved. They are used as soon as the camera sends pictures.")
    if seen.is_last:
        return _("Zones saved. The recording has ended: they are used when the companion restarts.")
    return _("Zones saved. They are used from the next picture on.")


def _undrawn() -> str:
    """Return the sentence that names sides without drawn zones or a visible mat."""
    current, called, seen = _zones().current, _called(), _seen()
    found = {mat_of(zone.zone) for zone in seen.advice.zones} if seen else set()
    lacking = zone_form.undrawn(zone_form.as_typed(current), called) if current else ()
    sides = " · ".join(called.title(mat) for mat in lacking if mat not in found)
    return _("No zones for %(sides)s: draw them, or put down the printed mat.", sides=sides) if sides else ""


def _seen() -> Survey | None:
    seen, zones = service().camera.survey(), service().camera.zones
    return without_drawn(seen) if seen and zones and zones.current is None else seen


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
    return service().camera.zones or abort(404)


def _called() -> Called:
    now = state()
    mats = match().mats(now) or {"side-1": "", "side-2": ""}
    return Called(Names.of(now.game), mats)


ASPECTS = {
    Aspect.PICTURE: N_("Picture"),
    Aspect.MATS: N_("Mats"),
    Aspect.GLARE: N_("Glare"),
    Aspect.FOCUS: N_("Focus"),
    Aspect.LIGHT: N_("Lighting"),
    Aspect.STICKERS: N_("Stickers"),
    Aspect.FACES: N_("Faces"),
    Aspect.PACE: N_("Pace"),
}


def sights(survey: Survey, called: Called) -> dict[str, Any]:
    """Return a survey's template values."""
    advice = survey.advice
    well = _("All good: every zone can be read.")
    if advice.is_guessed:
        well = _(
            "All good, judging by the cards: without mats, this assumes stickers %(mm)s mm wide.",
            mm=float(advice.sticker_mm),
        )
    brief = [_("%(width)d × %(height)d pixels", width=survey.size_px[0], height=survey.size_px[1])]
    if survey.pace is not None:
        brief = [words.said(survey.pace.says(survey.size_px))]
    if advice.distance_cm is not None:
        brief.append(_("about %(cm)d cm away", cm=advice.distance_cm))
    if advice.tilt_deg is not None:
        brief.append(_("tilt %(degrees)d°", degrees=advice.tilt_deg))
    return {
        "size_px": survey.size_px,
        # Drawn zones alone give no scale.
        "is_measured": advice.smallest_mm is not None,
        "brief": " · ".join(brief),
        "all_well": well,
        "faces": advice.faces,
        "todo": advice.hints,
        "outlines": list(_outlines(survey, called)),
        "mats": list(_by_mat(survey, called)),
    }


def without_drawn(survey: Survey) -> Survey:
    """Return a survey without its drawn zones and their hints."""
    if not survey.drawn:
        return survey
    zones = tuple(zone for zone in survey.advice.zones if zone.zone not in survey.drawn)
    hints = tuple(hint for hint in survey.advice.hints if not hint.zones or set(hint.zones) - set(survey.drawn))
    advice = replace(survey.advice, zones=zones, hints=hints if zones else (NO_MATS,))
    return replace(survey, advice=advice, drawn={})


def _outlines(survey: Survey, called: Called) -> Iterator[dict[str, object]]:
    """Yield the zones: corners in pixels for SVG, center in percent of the picture."""
    width, height = survey.size_px
    good = {zone.zone: zone.good for zone in survey.advice.zones}
    numbers = called.numbers(*survey.zones)
    for zone, quad in survey.zones.items():
        x, y = (sum(corner[axis] for corner in quad) / len(quad) for axis in (0, 1))
        yield {
            "number": numbers[zone],
            "points": " ".join(f"{corner[0]:.0f},{corner[1]:.0f}" for corner in quad),
            "at": (round(100 * x / width, 1), round(100 * y / height, 1)),
            "is_drawn": zone in survey.drawn,
            "is_good": good.get(zone, False) is not False,
        }


def _by_mat(survey: Survey, called: Called) -> Iterator[dict[str, object]]:
    numbers = called.numbers(*survey.zones)
    shown = (zone for zone in survey.advice.zones if zone.zone in survey.zones)
    seen = sorted(shown, key=lambda zone: numbers[zone.zone])
    for mat, zones in groupby(seen, key=lambda zone: mat_of(zone.zone)):
        figures = [
            {
                "number": numbers[zone.zone],
                "name": words.zone_name(zone.zone, None),
                "is_good": zone.good is not False,
                "stickers": _("%(mm)s mm or larger", mm=zone.smallest_mm) if zone.smallest_mm else _("drawn"),
                "facts": [words.said(fact) for fact in (_scale(zone), sharpness(zone), light(zone)) if fact],
            }
            for zone in zones
        ]
        yield {"title": called.title(mat), "zones": figures}


def _scale(zone: ZoneSight) -> str:
    if zone.px_per_mm is None:
        return ""
    scale = "–".join(dict.fromkeys(map(translation.decimal, zone.px_per_mm)))
    return _("about %(scale)s px/mm", scale=scale) if zone.is_guessed else _("%(scale)s px/mm", scale=scale)


# A phone as the camera

PATH = "camera/phone"
PACE_MS = 200  # cards stay for seconds; Wi-Fi is shared
BUSY_PACE_MS = 400  # while pictures arrive faster than they are read


@bp.get(f"/{PATH}")
def phone() -> AnyResponse:
    """Show the camera page on a secure connection, otherwise the link to it."""
    if phone_identity.let_in(request.args.get("t", ""), service().token):
        return redirect(url_for("camera.phone"))
    frames, secure, turn = service().camera.phone, service().secure, service().camera.turn
    by_proxy = service().announced if service().announced.startswith("https:") else None
    url = by_proxy or (secure.base_url() if secure else None)
    link = join_url(url, service().token, PATH) if url and phone_identity.takes_part() else None
    page = render_template(
        "phone_camera.html",
        frames=frames,
        is_camera=frames is not None and frames.sender is not None and frames.sender == phone_identity.phone(),
        link=link,
        code=qr_path(link) if link else None,
        warns=by_proxy is None,
        is_turned=_is_several() or (turn is not None and bool(turn.current.degrees or turn.current.mirrored)),
        pace_ms=PACE_MS,
        safe_address=f"{url}/join",
        up=typed("up"),
    )
    return Response(page, headers={"Permissions-Policy": "camera=(self)"} if request.is_secure else {})


@bp.post(f"/{PATH}/open")
def open_port() -> AnyResponse:
    """Open the TLS port for a phone's camera; redirect to its page, with any error."""
    secure = service().secure or abort(404)
    try:
        secure.open(cast(Any, current_app)._get_current_object())
    except Problem as problem:
        flash(words.said(problem.sentence))
    return redirect(url_for("camera.phone"), 303)


@bp.post(f"/{PATH}/begin")
def begin() -> tuple[str, int]:
    """Make this phone the camera."""
    _frames().choose(phone_identity.known_phone())
    return "", 204


@bp.post(f"/{PATH}/end")
def end() -> AnyResponse:
    """Stop using a phone as the camera."""
    _frames().choose(None)
    return redirect(url_for("camera.phone"), 303)


@bp.post(f"/{PATH}/frame")
def frame() -> dict[str, int] | tuple[dict[str, int], int]:
    """Receive a JPEG; return the milliseconds until the next. 409 if another phone is the camera."""
    battery = parsing.whole(request.args.get("battery", ""), 0, 100)
    is_kept_up_with = _frames().put(phone_identity.known_phone(), request.get_data(), battery)
    if is_kept_up_with is None:
        return {}, 409
    return {"wait_ms": PACE_MS if is_kept_up_with else BUSY_PACE_MS}


def _frames() -> PhoneFrames:
    return service().camera.phone or abort(404)


# Pictures

ZONE_ROOM = 0.15  # margin, as share of the zone, for cards that stick out
MOST_ZONE_PX = 480  # longest side


@bp.get("/camera.jpg")
def picture() -> Response:
    """Return the latest camera picture."""
    return _jpeg(service().camera.picture())


@bp.get("/question/<question_id>.jpg")
def crop(question_id: str) -> Response:
    """Return the picture of a question's card or, if table and record differ, of its zone."""
    question = state().question(question_id)
    if question is None or question.asks_play or question.zone is None:
        return _jpeg(question.crop if question else None)
    return _jpeg(_zone_jpeg(question.zone))


def _jpeg(picture: bytes | None) -> Response:
    return Response(picture or abort(404), mimetype="image/jpeg")


def _zone_jpeg(zone: str) -> bytes | None:
    """Return a zone's JPEG; the whole picture for an unknown zone; None without a picture."""
    image, survey = service().camera.image(), service().camera.survey()
    if image is None:
        return None
    part = image
    if survey is not None and zone in survey.zones:
        height, width = image.shape[:2]
        corners = np.array(survey.zones[zone]) * (width, height) / survey.size_px
        room = ZONE_ROOM * np.ptp(corners, axis=0)
        box = around([corners.min(axis=0) - room, corners.max(axis=0) + room]).within(width, height)
        part = box.of(image) if box.area_px else image
    return jpeg_of(shrunk(part, MOST_ZONE_PX / max(part.shape[:2])))
