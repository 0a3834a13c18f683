"""Seats: who sits where and who is host; a lost phone's seat freed, the host's role handed on, what is asked."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match.match import MatchState
from companion.match.phones import Asked, Wish
from companion.pages.context import service, state
from companion.pages.players import phone_identity
from companion.pages.players.permissions import HOSTS_ONLY, NO_HOSTS_NAME
from companion.pages.players.phone_identity import NotYours
from companion.pages.words import N_, Names, _, many

bp = Blueprint("seats", __name__)

TOO_MANY_ASK = N_("Too many phones wait for an answer: try again in a minute.")


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat as it is shown."""

    player: str
    shown: str
    says: str
    """Whose phone has it, in a few words."""

    phone: str | None
    mine: bool
    host: bool


@dataclass(frozen=True, slots=True)
class UnseatedView:
    """A phone without a seat, as the host sees it."""

    phone: str
    called: str
    """The name typed at the door, else the number that its own pages show."""

    device: str
    host: bool


@dataclass(frozen=True, slots=True)
class AskView:
    """Something that is asked, to be answered here."""

    id: int
    say: str
    yes: str
    no: str


@bp.get("/seats")
def show() -> str:
    """Who sits where."""
    now = state()
    phones = phone_identity.phones()
    return render_template(
        "seats.html",
        sides=[(Names.of(now.game).side(team.name), [_seat(now, p) for p in team.players]) for team in now.game.teams],
        host_say=host_say(now),
        may_host=phone_identity.may_host(),
        may_take=not phone_identity.is_host() and _may_become_host(now),
        may_ask=phone_identity.takes_part() and not phone_identity.may_host(),
        has_asked=phones.waiting(phone_identity.phone(), Wish.HOST) is not None,
        unseated=_unseated(now),
        free_first=_free_first(now),
        watching=_watching_say(),
        asks=asked_here(now),
        code=service().code if phone_identity.takes_part() else None,
    )


def _seat(now: MatchState, player: str) -> SeatView:
    party, phones = phone_identity.phones().party, phone_identity.phones()
    phone = party.seats.get(player)
    mine = phone is not None and phone == phone_identity.phone()
    hosts = phone is not None and phone == party.host
    if phone is None:
        says = _("free")
    elif mine:
        says = _("this phone")
    else:
        says = _("on a phone that is asleep") if phones.has_left(player) else _("on a phone")
    return SeatView(player, Names.of(now.game).player(player), says, phone, mine, hosts)


def host_say(now: MatchState) -> str:
    """Who is host, in a sentence."""
    phones = phone_identity.phones()
    if phones.party.host is None:
        return _("Nobody is host yet: the first phone that scans the code will be.")
    if phone_identity.is_host():
        return _("This phone is the host’s.")
    who = host_name(now)
    if phones.host_has_left():
        return _("%(who)s is the host, and has been away for some minutes.", who=who)
    return _("%(who)s is the host.", who=who)


def host_name(now: MatchState) -> str:
    """How the host is called at the beginning of a sentence."""
    return _called(now, phone_identity.phones().party.host)


def _called(now: MatchState, phone: str | None) -> str:
    """Who holds a phone, as far as it is known; else the number that its own pages show."""
    party = phone_identity.phones().party
    player = party.seat_of(phone)
    if player is not None and any(player in team.players for team in now.game.teams):
        return Names.of(now.game).player(player)
    return phone_identity.called(phone) or _("A phone without a seat")


def _unseated(now: MatchState) -> list[UnseatedView]:
    """The phones here that have no seat in this match and did not choose to watch."""
    party = phone_identity.phones().party
    players = {player for team in now.game.teams for player in team.players}
    seated = {phone for player, phone in party.seats.items() if player in players}
    others = set(phone_identity.phones().present()) - seated - set(party.watching) - {phone_identity.phone()}
    return [
        _unseated_view(now, phone) for phone in sorted(others, key=lambda one: phone_identity.phones().number(one) or 0)
    ]


def _unseated_view(now: MatchState, phone: str) -> UnseatedView:
    device = phone_identity.phones().device(phone)
    return UnseatedView(
        phone, _called(now, phone), _(device) if device else "", phone == phone_identity.phones().party.host
    )


def _free_first(now: MatchState) -> list[tuple[str, str]]:
    """The seats to choose from, with how they are called: those that are free come first."""
    seats, names = phone_identity.phones().party.seats, Names.of(now.game)
    players = [player for team in now.game.teams for player in team.players]
    return [(player, names.player(player)) for player in sorted(players, key=lambda player: player in seats)]


def _watching_say() -> str | None:
    """How many watch."""
    phones = phone_identity.phones()
    count = len(set(phones.present()) & set(phones.party.watching))
    return many("%(count)d phone watches.", "%(count)d phones watch.", count) if count else None


# What is asked


def asked_here(now: MatchState) -> list[AskView]:
    """What is asked and may be answered by this phone."""
    return [_ask_view(now, asked) for asked in phone_identity.phones().asked if _may_answer(asked)]


def _may_answer(asked: Asked) -> bool:
    """The host answers; whoever has a seat may hand it over himself."""
    if asked.phone == phone_identity.phone():
        return False
    gives = asked.player is not None and phone_identity.phones().party.seats.get(asked.player) == phone_identity.phone()
    return phone_identity.may_host() or (gives and phone_identity.takes_part())


def _ask_view(now: MatchState, asked: Asked) -> AskView:
    if asked.wish is Wish.JOIN:
        say = _("%(who)s has the code of the table and wants to take part.", who=asked.name)
        return AskView(asked.id, say, _("Let in"), _("No"))
    if asked.wish is Wish.SEAT:
        seat = Names.of(now.game).player(asked.player)
        say = _("%(who)s asks for the seat of %(seat)s.", who=_called(now, asked.phone), seat=seat)
        return AskView(asked.id, say, _("Hand it over"), _("No"))
    say = _("%(who)s asks to be the host.", who=_called(now, asked.phone))
    return AskView(asked.id, say, _("Hand it on"), _("No"))


@bp.post("/seats/asked/<int:asked_id>")
def answer(asked_id: int) -> AnyResponse:
    """The answer to what was asked."""
    found = next((asked for asked in phone_identity.phones().asked if asked.id == asked_id), None)
    if found is not None and not _may_answer(found):
        raise NotYours(_only_host())
    yes = request.form.get("answer") == "yes"
    if found is None or phone_identity.phones().answer(asked_id, yes=yes, by=phone_identity.phone()) is None:
        flash(_("That was settled already."))
    elif yes and found.wish is Wish.HOST:
        flash(_handed_on())
    return _back()


# The host


def only_for_the_host() -> None:
    """Raises NotYours where this phone is not the host's."""
    if not phone_identity.may_host():
        raise NotYours(_only_host())


def _only_host() -> str:
    host = phone_identity.phones().party.host
    now = state()
    named = phone_identity.phones().party.seat_of(host) is not None or host in phone_identity.phones().party.names
    return _(HOSTS_ONLY, who=_called(now, host) if named else _(NO_HOSTS_NAME))


def _may_become_host(now: MatchState) -> bool:
    """Whether this phone may be host without being asked: nobody is, it is handed on, or the host has left."""
    if not phone_identity.takes_part():
        return False
    nobody_seated = not phone_identity.holder(now).seated
    follows = phone_identity.seat(now) is not None or nobody_seated
    return phone_identity.may_host() or (phone_identity.phones().host_has_left() and follows)


@bp.post("/seats/host")
def hand_on() -> AnyResponse:
    """The host's role goes to another phone."""
    phone = request.form.get("phone", "")
    if phone not in _known():
        flash(_("That phone is gone: choose another."))
        return _back()
    phone_identity.phones().make_host(phone, by=phone_identity.phone())
    flash(_handed_on())
    return _back()


def _handed_on() -> str:
    return _("The role is handed on: %(who)s is the host now.", who=host_name(state()))


@bp.post("/seats/host/take")
def take() -> AnyResponse:
    """Makes this phone the host's."""
    if not _may_become_host(state()):
        raise NotYours(_only_host())
    phone = phone_identity.known_phone()
    phone_identity.phones().make_host(phone, by=phone)
    return _back()


@bp.post("/seats/host/ask")
def ask() -> AnyResponse:
    """Asks the host to hand his role on to this phone."""
    if not phone_identity.phones().ask(Wish.HOST, phone_identity.known_phone()):
        flash(_(TOO_MANY_ASK))
    return _back()


# The seats


@bp.post("/seats/free")
def free() -> AnyResponse:
    """A seat's phone was lost."""
    now, player = state(), _player()
    phone_identity.phones().free(player, by=phone_identity.phone())
    flash(_("%(who)s’s seat is free: scan the code and tap the name.", who=Names.of(now.game).player(player)))
    return _back()


@bp.post("/seats/give")
def give() -> AnyResponse:
    """A seat goes to a phone that has none."""
    phone, player = request.form.get("phone", ""), _player()
    if phone not in phone_identity.phones().present():
        flash(_("That phone is gone: choose another."))
        return _back()
    phone_identity.phones().give(phone, player, by=phone_identity.phone())
    return _back()


def _player() -> str:
    """The player that a form names."""
    player = request.form.get("player", "")
    return player if any(player in team.players for team in state().game.teams) else abort(400)


def _known() -> set[str]:
    """The phones that may become host: those with a seat and those that are here."""
    phones = phone_identity.phones()
    return {*phones.party.seats.values(), *phones.present()}


def _back() -> AnyResponse:
    """The page where it was tapped."""
    return redirect(url_for("table.show" if request.form.get("from") == "table" else "seats.show"), 303)
