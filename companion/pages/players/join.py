"""Joining: scan the code and tap a name. Who cannot scan types the code of the table and is let in by the host."""

from __future__ import annotations

import hmac

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match.phones import Wish
from companion.pages.context import go, has_camera, match, service, state
from companion.pages.limits import Kind, network
from companion.pages.players import phone_identity, preferences, seats
from companion.pages.players.names import check_names, clean
from companion.pages.words import Names, _

bp = Blueprint("join", __name__)


@bp.get("/join")
def show() -> AnyResponse | str:
    """Ask whose seat is this phone’s."""
    if phone_identity.let_in(request.args.get("t", ""), service().token):
        return redirect(url_for("join.show"))
    if phone_identity.takes_part() and not phone_identity.is_machine():
        # Only now: what previews a link keeps no cookie, and must not become host.
        phone_identity.phones().arrive(phone_identity.known_phone())
    return _page()


def _page(asks_for: str | None = None, asker: str | None = None) -> str:
    """Return the page; `asks_for`: the player whose seat another phone has; `asker`: the name typed with a code."""
    now, phones, phone = state(), phone_identity.phones(), phone_identity.phone()
    asked = phones.waiting(phone, Wish.SEAT)
    return render_template(
        "join.html",
        teams=now.game.teams,
        chooses=phone_identity.takes_part() and bool(now.game.teams) and asks_for is None,
        taken={player for player, whose in phones.party.seats.items() if whose != phone},
        asks_for=asks_for,
        asker=asker,
        typed=clean(request.args.get("name", "")),
        may_take=asks_for is not None and _may_take(asks_for),
        has_asked=asked is not None and asked.player == asks_for,
        knocking=phones.waiting(phone, Wish.JOIN) if not phone_identity.takes_part() else None,
        waits_at=request.path if asks_for else url_for("join.waiting") if _waits() else None,
        host=seats.host_name(now) if phones.party.host else None,
        nobody_hosts=phones.party.host is None,
        has_camera=has_camera(),
    )


@bp.get("/join/seat/<player>")
def taken(player: str) -> AnyResponse | str:
    """Show a seat that another phone has: it is asked for, or taken once that phone has been silent."""
    whose = phone_identity.phones().party.seats.get(player)
    if not phone_identity.takes_part() or player not in state().people or whose is None:
        return go(url_for("join.show"))
    return go(url_for("table.show")) if whose == phone_identity.phone() else _page(player)


@bp.get("/join/waiting")
def waiting() -> AnyResponse | str:
    """Show a phone that it waits to be let in, or for a game to be set up; its page then goes on by itself."""
    if _waits():
        return _page()
    if not phone_identity.takes_part() and not phone_identity.phones().news.of(phone_identity.phone()):
        flash(_("Nobody has answered: ask the host, then try again."))
    return go(url_for("join.show"))


def _waits() -> bool:
    if phone_identity.takes_part():
        return not state().game.teams and not phone_identity.may_host()
    return phone_identity.phones().waiting(phone_identity.phone(), Wish.JOIN) is not None


@bp.post("/join")
def sit() -> AnyResponse:
    """Take a seat, or none."""
    player, name = request.form.get("player", ""), clean(request.form.get("name", "")) or None
    if "sound" in request.form:
        preferences.turn_on("sound")
    names = Names.of(state().game)
    if player not in state().people:
        return _without_a_seat(stale=bool(player))
    if name:
        others = (other for players in names.sides.values() for other in players if other != player)
        check_names([name, *map(names.player, others)])
    phone, over = phone_identity.known_phone(), "take" in request.form and _may_take(player)
    if not phone_identity.phones().sit(phone, player, over=over, by=phone):
        if "ask" in request.form and not phone_identity.phones().ask(Wish.SEAT, phone, player=player):
            flash(_(seats.TOO_MANY_ASK))
        return redirect(url_for("join.taken", player=player), 303)
    if not match().sit(player, player, name).done:
        return _without_a_seat(stale=True)
    return redirect(url_for("table.show"), 303)


def _without_a_seat(*, stale: bool) -> AnyResponse:
    """Let a phone watch, or serve the whole table; `stale`: the seat that was tapped is no longer there."""
    if stale:
        flash(_("That seat is not at this table: tap your name."))
        return redirect(url_for("join.show"), 303)
    phone_identity.phones().stand_up(phone_identity.known_phone(), watches="everybody" not in request.form)
    return redirect(url_for("table.show"), 303)


def _may_take(player: str) -> bool:
    """True if a seat that another phone has may be taken here: by the host, or once that phone has been silent."""
    return phone_identity.may_host() or phone_identity.phones().has_left(player)


@bp.post("/join/code")
def knock() -> AnyResponse | tuple[str, int]:
    """Ask the host to let in a phone on which the code of the table was typed."""
    address, name = network(request.remote_addr or ""), clean(request.form.get("name", ""))
    letters = "".join(request.form.get("code", "").split()).upper().encode()
    if service().pace.wait_s(Kind.CODE, request.remote_addr or "", None):
        return _refused(_("Too many codes: wait a minute, then try again."), 429)
    if not hmac.compare_digest(letters, service().code.encode()):
        return _refused(
            _("That is not the code of this table: it stands on the big screen, beside the join code."), 403
        )
    if not name:
        return _refused(_("Type your name too: the host sees it."), 400)
    if not phone_identity.phones().ask(Wish.JOIN, phone_identity.known_phone(), name, address=address):
        return _refused(_("Too many phones wait to be let in: try again in a minute."), 429)
    return redirect(url_for("join.show"), 303)


def _refused(sentence: str, code: int) -> tuple[str, int]:
    flash(sentence)
    return _page(asker=clean(request.form.get("name", ""))), code
