"""A robot's seat at a table with real cards, and its helper's instructions."""

from __future__ import annotations

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for

from companion.common.errors import Problem
from companion.match.state import MatchState, RobotSeat, table_of
from companion.match.zone_plays import Places
from companion.pages import words
from companion.pages.context import AnyResponse, match, once, service, state
from companion.pages.game import card_picker
from companion.pages.players import permissions, phone_identity, seats
from companion.pages.words import N_, Names, _
from companion.robots.robot import Level
from companion.robots.robot_seat import Instruction, Step
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.play import Verb
from companion.tabletop.mat_layout import SLOTS, mat_of

bp = Blueprint("robot", __name__)

NOTHING = "nothing"  # form value of an empty slot
_CARDS = (
    N_("first card from the left"),
    N_("second card from the left"),
    N_("third card from the left"),
    N_("fourth card from the left"),
    N_("fifth card from the left"),
    N_("sixth card from the left"),
    N_("seventh card from the left"),
)


@bp.get("/robot")
def show() -> AnyResponse | str:
    """Show the helper the next instruction; with `hand=1` the robot's cards."""
    now = state()
    if now.game.table is None or now.is_dealt:
        return redirect(url_for("setting_up.show" if now.game.table is None else "table.show"))
    helps = _helps(now)
    step, says = None, None
    try:
        step = _next_step(now) if helps else None
        says = _sentence(step, now) if step else None
    except Problem:
        says = _("This deck has no such hand: show it again, and correct the cards that the camera reads wrong.")
    return render_template(
        "robot.html",
        levels=words.ROBOT_LEVELS,
        helps=helps,
        may_help=_may_help(),
        says=says,
        step=step,
        hand=service().robot.slots(_seen()) if helps and "hand" in request.args else None,
        families=card_picker.FAMILIES,
        is_seen=service().camera.robot_hand() is not None,
    )


@bp.post("/robot/seat")
def choose() -> AnyResponse:
    """Choose the robot's player and level; no player means no robot."""
    player, level = request.form.get("player", ""), request.form.get("level", "2")
    chosen = RobotSeat.of(f"{player} {level}", state().side_of)
    match().seat_robot(chosen, phone_identity.who(state()))
    return redirect(url_for("robot.show"), 303)


@bp.post("/robot/help")
def begin() -> AnyResponse:
    """Make this phone the robot's helper; later only the host may change that."""
    if not _may_help():
        raise phone_identity.NotYours(seats.only_host())
    service().robot.helper = phone_identity.known_phone()
    return redirect(url_for("robot.show"), 303)


@bp.post("/robot/hand")
def tap_in() -> AnyResponse:
    """Record the cards tapped by the helper."""
    seen, now = _seen(), _helped()
    typed = {n: request.form.get(f"slot-{n}") for n in range(1, SLOTS + 1)}
    said = {n: None if slug == NOTHING else card_of_slug(slug) for n, slug in typed.items() if slug}
    known = {n: card for n, card in said.items() if card is None or card in table_of(now).deck}
    changed = {n: card for n, card in known.items() if card is not service().robot.slots(seen)[n - 1]}
    service().robot.tap(changed, (now.match, now.hand_seq), seen)
    return redirect(url_for("robot.show"), 303)


@bp.post("/robot/done")
def done() -> AnyResponse:
    """Enter the robot's play, if no camera saw it."""
    step, by = _next_step(_helped()), phone_identity.who(state())
    if step is not None and str(step.play) == request.form.get("text"):
        outcome = once(lambda: match().enter(str(step.play), by, vouched=permissions.vouched()))
        if outcome.say:
            flash(_(outcome.say))
    return redirect(url_for("robot.show"), 303)


def _helps(now: MatchState) -> bool:
    return now.robot_seat is not None and service().robot.helper == (phone_identity.phone() or "")


def _may_help() -> bool:
    return service().robot.helper is None or phone_identity.may_host()


def _helped() -> MatchState:
    return state() if _helps(state()) else abort(403)


def _seen() -> tuple[Card | None, ...]:
    return service().camera.robot_hand() or (None,) * SLOTS


def _next_step(now: MatchState) -> Instruction | None:
    """Return the helper's next instruction. The instructed play counts without a tap."""
    if now.robot_seat is None:
        return None
    player, level = now.robot_seat
    step = service().robot.next_step(now.record, player, Level(level), (now.match, now.hand_seq), _seen())
    match().instructed = (step.table, step.play) if step and step.play else None
    return step


def _sentence(step: Instruction, now: MatchState) -> str:
    names = Names.of(now.game)
    robot = names.player(now.robot_seat.player if now.robot_seat else None)
    slot, play = step.slots[0] if step.slots else 0, step.play
    if step.step is Step.DRAW:
        return _("Draw a card for %(robot)s and put it in slot %(slot)d without looking at it.", robot=robot, slot=slot)
    if step.step is Step.SHOW:
        return _("The card in slot %(slot)d cannot be read: straighten it, or choose it by hand.", slot=slot)
    if play is None:
        return _("%(robot)s has one card too many: put the last one back, or enter the missing play.", robot=robot)
    if play.verb is Verb.TAKE:
        return _("Take the top of the discard pile for %(robot)s and put it in slot %(slot)d.", robot=robot, slot=slot)
    cards = [_(_CARDS[number - 1]) for number in step.slots]
    if step.step is Step.DO:
        said = words.play_say(play, names)
        return f"{said} ({', '.join(cards)})" if cards else said
    places = Places(match().mats(now))
    zone = places.zone_of(play, step.table) or ""
    side = places.mats.get(mat_of(zone))
    put = N_("Put %(robot)s’s %(card)s on %(zone)s.")
    if play.at_once:
        is_safety = play.card is not None and play.card.family is Family.SAFETY
        coup_fourre = N_("At once, coup fourré: put %(robot)s’s %(card)s sideways on %(zone)s.")
        put = coup_fourre if is_safety else N_("At once: put %(robot)s’s %(card)s on %(zone)s.")
    lies = words.zone_in_sentence(zone, names.side(side) if side else None)
    return _(put, robot=robot, card=cards[0], zone=lies)
