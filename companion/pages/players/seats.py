"""Seats and the host's role.

A phone joins by scanning the code and tapping a name, or by typing the table's code for the host to admit it.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for

from companion.common.errors import Problem
from companion.common.text import say
from companion.match.phones import Asked, Wish
from companion.match.state import MatchState, Outcome
from companion.pages.context import AnyResponse, go, has_camera, match, service, state
from companion.pages.limits import RequestKind, network
from companion.pages.players import phone_identity, preferences
from companion.pages.players.names import check_names, clean
from companion.pages.players.permissions import HOSTS_ONLY, NO_HOSTS_NAME
from companion.pages.players.phone_identity import NotYours, phone, phones
from companion.pages.words import N_, Names, _, many

bp = Blueprint("seats", __name__)

TOO_MANY_ASK = N_("Too many phones are waiting for an answer: try again in a minute.")
_TAKEN = say(
    "Another phone has that seat. To take it over, send “take”: allowed for the host, or once that phone has been"
    " silent for two minutes."
)
_A_ROBOTS = say("A robot has that seat: choose another one.")
_PHONE_IS_GONE = N_("That phone is gone: choose another.")


@bp.get("/seats")
def show() -> str:
    """Show the seats."""
    now, seats, names = state(), phones().party.seats, Names.of(state().game)
    watching = len(set(phones().present()) & set(phones().party.watching))
    return render_template(
        "seats.html",
        sides=[
            (names.side(team.name), [_seat(names, player, now.robots.get(player)) for player in team.players])
            for team in now.game.teams
        ],
        host_say=host_say(now),
        may_take=not phone_identity.is_host() and _may_become_host(now),
        may_ask=phone_identity.takes_part() and not phone_identity.may_host(),
        has_asked=phones().waiting(phone(), Wish.HOST) is not None,
        unseated=_unseated(now),
        free_first=[(player, names.player(player)) for player in sorted(now.people, key=lambda one: one in seats)],
        watching=many("%(count)d phone is watching.", "%(count)d phones are watching.", watching) if watching else None,
        asks=list(asked_here(now)),
    )


def _seat(names: Names, player: str, level: int | None) -> dict[str, object]:
    party = phones().party
    whose = party.seats.get(player) if level is None else None
    mine = whose is not None and whose == phone()
    if level is not None:
        says = _("robot of level %(level)d", level=level)
    elif whose is None:
        says = _("free")
    elif mine:
        says = _("this phone")
    else:
        says = _("on a phone that is asleep") if phones().has_left(player) else _("on a phone")
    host = whose is not None and whose == party.host
    return {"player": player, "shown": names.player(player), "says": says, "phone": whose, "mine": mine, "host": host}


def _unseated(now: MatchState) -> list[dict[str, object]]:
    party = phones().party
    seated = {whose for player, whose in party.seats.items() if player in now.people}
    others = set(phones().present()) - seated - set(party.watching) - {phone()}
    return [
        {"phone": one, "called": _called(now, one), "device": _(phones().device(one)), "host": one == party.host}
        for one in sorted(others, key=lambda one: phones().number(one) or 0)
    ]


def host_say(now: MatchState) -> str:
    """Return the sentence that names the host."""
    if phones().party.host is None:
        return _("There is no host yet: the first phone to scan the code becomes the host.")
    if phone_identity.is_host():
        return _("This phone is the host’s.")
    if phones().host_has_left():
        return _("%(who)s is the host but has been away for some minutes.", who=host_name(now))
    return _("%(who)s is the host.", who=host_name(now))


def host_name(now: MatchState) -> str:
    """Return the host's displayed name."""
    return _called(now, phones().party.host)


def _called(now: MatchState, whose: str | None) -> str:
    """Return a phone's player, else its typed name or number."""
    names, player = Names.of(now.game), phones().party.seat_of(whose)
    if names.is_player(player):
        return names.player(player)
    return phone_identity.called(whose) or _("A phone without a seat")


# Requests


_ASKS = {
    Wish.JOIN: (N_("%(who)s has the table’s code and wants to join."), N_("Let in")),
    Wish.SEAT: (N_("%(who)s asks for the seat of %(seat)s."), N_("Hand it over")),
    Wish.HOST: (N_("%(who)s asks to be the host."), N_("Hand it on")),
}


def asked_here(now: MatchState) -> Iterator[dict[str, object]]:
    """Yield the requests this phone may answer, with button labels."""
    for asked in filter(_may_answer, phones().asked):
        (say, yes), seat = _ASKS[asked.wish], Names.of(now.game).player(asked.player)
        who = asked.name or _called(now, asked.phone)
        strangers = len(phones().strangers) if asked.wish is Wish.JOIN else 1
        yield {"id": asked.id, "say": _(say, who=who, seat=seat), "yes": _(yes), "no": _("No"), "strangers": strangers}


def _may_answer(asked: Asked) -> bool:
    """True for the host and the phone whose seat is requested."""
    if asked.phone == phone():
        return False
    gives = asked.player is not None and phones().party.seats.get(asked.player) == phone()
    return phone_identity.may_host() or (gives and phone_identity.takes_part())


@bp.post("/seats/asked/<int:asked_id>")
def answer(asked_id: int) -> AnyResponse:
    """Answer a request; with `none` the host refuses all that entered the code."""
    found = next((asked for asked in phones().asked if asked.id == asked_id), None)
    if found is not None and not _may_answer(found):
        raise NotYours(only_host())
    if request.form.get("answer") == "none" and phone_identity.may_host():
        phones().refuse_strangers()
        return _back()
    yes = request.form.get("answer") == "yes"
    if found is None or phones().answer(asked_id, yes=yes, by=phone()) is None:
        flash(_("That is already settled."))
    elif yes and found.wish is Wish.HOST:
        flash(_handed_on())
    return _back()


# The host


def only_host() -> str:
    """Return the refusal that names the host."""
    party = phones().party
    named = party.seat_of(party.host) is not None or party.host in party.names
    return _(HOSTS_ONLY, who=host_name(state()) if named else _(NO_HOSTS_NAME))


def _may_become_host(now: MatchState) -> bool:
    """True if this phone may become host unasked: there is none, or the host has left."""
    if not phone_identity.takes_part():
        return False
    follows = phone_identity.seat(now) is not None or not phone_identity.seated(now)
    return phone_identity.may_host() or (phones().host_has_left() and follows)


@bp.post("/seats/host")
def hand_on() -> AnyResponse:
    """Make another seated or present phone the host's."""
    chosen = request.form.get("phone", "")
    if chosen in {*phones().party.seats.values(), *phones().present()}:
        phones().make_host(chosen, by=phone())
        flash(_handed_on())
    else:
        flash(_(_PHONE_IS_GONE))
    return _back()


def _handed_on() -> str:
    return _("%(who)s is the host now.", who=host_name(state()))


@bp.post("/seats/host/take")
def take() -> AnyResponse:
    """Make this phone the host's."""
    if not _may_become_host(state()):
        raise NotYours(only_host())
    mine = phone_identity.known_phone()
    phones().make_host(mine, by=mine)
    return _back()


@bp.post("/seats/host/ask")
def ask() -> AnyResponse:
    """Ask for the host's role."""
    if not phones().ask(Wish.HOST, phone_identity.known_phone()):
        flash(_(TOO_MANY_ASK))
    return _back()


# Seats


@bp.post("/seats/free")
def free() -> AnyResponse:
    """Free the seat of a lost phone."""
    player = _player()
    phones().free(player, by=phone())
    who = Names.of(state().game).player(player)
    flash(_("%(who)s’s seat is free: scan the code and tap the name.", who=who))
    return _back()


@bp.post("/seats/give")
def give() -> AnyResponse:
    """Give a seat to a present phone."""
    chosen, player = request.form.get("phone", ""), _player()
    if chosen in phones().present():
        phones().give(chosen, player, by=phone())
    else:
        flash(_(_PHONE_IS_GONE))
    return _back()


def _player() -> str:
    player = request.form.get("player", "")
    return player if player in state().people else abort(400)


def _back() -> AnyResponse:
    return redirect(url_for("table.show" if request.form.get("from") == "table" else "seats.show"), 303)


# Joining


@bp.get("/join")
def join() -> AnyResponse | str:
    """Admit a phone with a join link; show the seats to choose."""
    if phone_identity.let_in(request.args.get("t", ""), service().token):
        return redirect(url_for("seats.join"))
    if phone_identity.takes_part() and not phone_identity.is_machine():
        # Only now: link previews keep no cookie and must not become host.
        phones().arrive(phone_identity.known_phone())
    return _page()


def _page(asks_for: str | None = None, asker: str | None = None) -> str:
    """Return the page for the taken seat of `asks_for`; `asker` is a name typed with a code."""
    now, party = state(), phones().party
    asked = phones().waiting(phone(), Wish.SEAT)
    return render_template(
        "join.html",
        teams=now.game.teams,
        chooses=phone_identity.takes_part() and bool(now.game.teams) and asks_for is None,
        taken={player for player, whose in party.seats.items() if whose != phone()},
        asks_for=asks_for,
        asker=asker,
        typed=clean(request.args.get("name", "")),
        may_take=asks_for is not None and _may_take(asks_for),
        has_asked=asked is not None and asked.player == asks_for,
        knocking=phones().waiting(phone(), Wish.JOIN) if not phone_identity.takes_part() else None,
        waits_at=request.path if asks_for else url_for("seats.waiting") if _waits() else None,
        host=host_name(now) if party.host else None,
        nobody_hosts=party.host is None,
        has_camera=has_camera(),
    )


@bp.get("/join/seat/<player>")
def taken(player: str) -> AnyResponse | str:
    """Show a taken seat, to request it or take it over."""
    whose = phones().party.seats.get(player)
    if not phone_identity.takes_part() or player not in state().people or whose is None:
        return go(url_for("seats.join"))
    return go(url_for("table.show")) if whose == phone() else _page(player)


@bp.get("/join/waiting")
def waiting() -> AnyResponse | str:
    """Show that the phone waits for admission or a game."""
    if _waits():
        return _page()
    if not phone_identity.takes_part() and not phones().news.of(phone()):
        flash(_("No answer: ask the host, then try again."))
    return go(url_for("seats.join"))


def _waits() -> bool:
    if phone_identity.takes_part():
        return not state().game.teams and not phone_identity.may_host()
    return phones().waiting(phone(), Wish.JOIN) is not None


@bp.post("/join")
def sit() -> AnyResponse:
    """Take a seat, or go on without."""
    player, name = request.form.get("player", ""), clean(request.form.get("name", "")) or None
    if "sound" in request.form:
        preferences.turn_on_sound()
    names = Names.of(state().game)
    if player not in state().people:
        return _without_a_seat(stale=bool(player))
    if name:
        others = (other for players in names.sides.values() for other in players if other != player)
        check_names([name, *map(names.player, others)])
    mine, over = phone_identity.known_phone(), "take" in request.form and _may_take(player)
    if not phones().sit(mine, player, over=over, by=mine):
        if "ask" in request.form and not phones().ask(Wish.SEAT, mine, player=player):
            flash(_(TOO_MANY_ASK))
        return redirect(url_for("seats.taken", player=player), 303)
    if not match().sit(player, player, name).done:
        return _without_a_seat(stale=True)
    return redirect(url_for("table.show"), 303)


def seated(player: str, *, takes: bool) -> Outcome:
    """Give a seat to the requesting phone; with `takes` also another phone's, if permitted.

    The caller holds the party's lock. Raises Problem for an unknown player.
    """
    now, mine = match().state, phone_identity.known_phone()
    if player in now.robots:
        return Outcome(done=False, say=_A_ROBOTS, is_void=True)
    if player not in now.people:
        raise Problem(say("%(player)s is not one of the players.", player=player))
    if not phones().sit(mine, player, over=takes and _may_take(player), by=mine):
        return Outcome(done=False, say=_TAKEN, is_void=True)
    return match().sit(player, player)


def _without_a_seat(*, stale: bool) -> AnyResponse:
    """Let a phone watch or, if asked, act for all players; show the seats again if its choice is gone (`stale`)."""
    if stale:
        flash(_("This table has no such seat: tap your name."))
        return redirect(url_for("seats.join"), 303)
    phones().stand_up(phone_identity.known_phone(), watches="everybody" not in request.form)
    return redirect(url_for("table.show"), 303)


def _may_take(player: str) -> bool:
    """True if this phone may take a seat over: as host, or from a silent phone."""
    return phone_identity.may_host() or phones().has_left(player)


@bp.post("/join/code")
def knock() -> AnyResponse | tuple[str, int]:
    """Ask the host to admit a phone with the table's code."""
    (address, proxy), name = phone_identity.places(), clean(request.form.get("name", ""))
    letters = "".join(request.form.get("code", "").split()).upper().encode()
    if service().limits.wait_s(RequestKind.CODE, address, phone_identity.known_phone(), proxy):
        return _refused(_("Too many codes: wait a minute, then try again."), 429)
    if not hmac.compare_digest(letters, service().code.encode()):
        return _refused(_("That is not this table’s code: find it on the big screen, next to the join code."), 403)
    if not name:
        return _refused(_("Type your name too: the host will see it."), 400)
    if not phones().ask(Wish.JOIN, phone_identity.known_phone(), name, address=network(address)):
        return _refused(_("Too many phones are waiting to be let in: try again in a minute."), 429)
    return redirect(url_for("seats.join"), 303)


def _refused(sentence: str, code: int) -> tuple[str, int]:
    flash(sentence)
    return _page(asker=clean(request.form.get("name", ""))), code
