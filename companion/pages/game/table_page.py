"""The table on a phone, and taps to confirm, change and undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, abort, make_response, redirect, render_template, request, url_for

from companion.common.errors import Problem
from companion.match.questions import Answer, Kind, Question
from companion.match.state import MatchState, Outcome, Policy
from companion.pages.context import AnyResponse, forget_state, go, has_camera, has_picture, match, once, service, state
from companion.pages.game import card_picker, house_rules, offers, own_hand, prompts, views
from companion.pages.game.card_picker import Tab
from companion.pages.players import notices, permissions, phone_identity, seats
from companion.pages.players.phone_identity import NotYours
from companion.pages.scores import score
from companion.pages.words import N_, Names
from companion.rules.table import Table
from companion.storage.event_store import NotSaved
from companion.storage.events import EventKind

bp = Blueprint("table", __name__)

MOST_SHOWN_AGAIN = 200
"""Longest unreadable text shown again for correction, in letters."""

POLICIES = (
    (Policy.TAP, N_("A player taps to confirm"), ""),
    (Policy.PLAY_ON, N_("The next play confirms"), N_("The next player’s card confirms the previous play.")),
    (Policy.AUTO, N_("Plays count at once"), N_("The app asks only about doubtful and illegal plays.")),
)


@bp.get("/")
def show() -> AnyResponse | str:
    """Show the table."""
    now = state()
    table, seat = now.game.table, phone_identity.seat(now)
    if now.match is None or table is None:
        return redirect(url_for("setting_up.show"))
    if "HX-Request" in request.headers and score.lead_to_score(now):
        return go(url_for("score.show"))
    head = next((question for question in now.questions if question.kind is Kind.PLAY), None)
    return render_template(
        "table.html",
        sides=views.side_views(now.game, seat, views.robots_of(now)),
        asked=prompts.asked(now),
        shows_zones=service().camera.can_look(),
        log=views.log_view(now),
        last=views.last_play(now),
        asks=list(seats.asked_here(now)),
        changed=notices.changed_line(now, seat),
        attention=[views.entry_view(now.game, entry) for entry in now.attention],
        **({"chances": {}} if now.is_dealt else _offered(now, table, seat)),
        hand=own_hand.view(now),
        by_tap=_by_tap(now, table),
        watched=has_camera(),
        by_hand=phone_identity.may_act() and not now.is_dealt,
        waits=permissions.waits_for(now, head.plays[0]) if head else None,
        **permissions.steps(now),
        extension=offers.extension(table) if permissions.decides(now) else [],
        somebody_sits=bool(phone_identity.seated(now)),
    )


def _offered(now: MatchState, table: Table, seat: str | None) -> dict[str, object]:
    names, lays_now = Names.of(now.game), offers.who_lays_now(table)
    mine = lays_now is not None and lays_now[0] == seat
    first = [offer for _who, offer in offers.laying_taken(table, names)] if mine else []
    beside = [*offers.beside(table, names), *offers.answers(table, names, seat)]
    return {
        "chances": prompts.chances(now, table, seat),
        "lay_now": lays_now[1] if mine and lays_now and table.handed_to is None else None,
        "first": first,
        "beside": [offer for offer in beside if offer not in first],
    }


def _by_tap(now: MatchState, table: Table) -> dict[str, object] | None:
    """Return tiles for a table without camera: `use` enters a play, `out` a discard."""
    waits = (
        any(question.kind is not Kind.DIRECTOR for question in now.questions)
        or now.attention
        or table.is_over
        or table.extension_offered_to is not None
        or table.handed_to is not None
    )
    if waits or now.is_dealt or has_camera() or not phone_identity.may_act():
        return None
    who = table.player_to_move
    return {
        "who": who,
        "early": [*offers.taking(table, who), *offers.pairing(table, who)],
        "use": card_picker.groups(table, who, Tab.MY_TURN),
        "out": card_picker.groups(table, who, Tab.DISCARD),
    }


@bp.get("/more")
def more() -> str:
    """Show seats, wall screen, settings and camera picture."""
    game = state().game
    return render_template(
        "more.html",
        policies=POLICIES,
        has_camera=has_camera(),
        has_picture=has_picture(),
        rules=house_rules.rules_in_force(game) if game.table is not None else None,
    )


@bp.post("/club")
def go_on_at_club() -> AnyResponse:
    """Continue at the club as a new table."""
    club = service().club or abort(404)
    club.begin_anew()
    return go("/more")


@bp.post("/play")
def enter() -> AnyResponse:
    """Enter a play, chosen when line `after` was the last."""
    after = request.form.get("after", type=int)
    return _write(
        "entry.new",
        lambda text, by: notices.told(match().enter(text, by, vouched=permissions.vouched(), after=after), text),
    )


@bp.post("/question/<question_id>")
def answer(question_id: str) -> AnyResponse:
    """Answer a question with the play `text`; `anyway` accepts an illegal one."""
    said, text = request.form.get("answer", Answer.YES.value), request.form.get("text")
    chosen = Answer(said) if said in tuple(Answer) else abort(400)
    anyway, vouched = "anyway" in request.form, permissions.vouched()
    question = state().question(question_id)
    culprit = _who_pays(state(), question) if chosen is Answer.TAKEN_BACK else None
    if text and chosen in (Answer.YES, Answer.TABLE):
        is_other = question is not None and (question.kind is not Kind.PLAY or text != str(question.plays[0]))
        return _write(
            "entry.instead",
            lambda play, by: match().answer(question_id, chosen, by, play=play, anyway=anyway, vouched=vouched),
            refused=url_for("entry.instead", question_id=question_id, text=text, refused=1) if is_other else None,
            question_id=question_id,
        )
    tapped = _tap(lambda by: match().answer(question_id, chosen, by, anyway=anyway, vouched=vouched))
    return go(url_for("entry.new", player=culprit, ask="penalty")) if culprit else tapped


def _who_pays(now: MatchState, question: Question | None) -> str | None:
    """Return the player who loses a card (penalty) if the question's illegal play is taken back, if any."""
    table = now.game.table
    if question is None or question.is_legal or table is None or table.is_over or not question.plays:
        return None
    return question.plays[0].player if table.edition.mistake_penalty == "yes" else None


@bp.post("/line/<int:seq>/correct")
def correct(seq: int) -> AnyResponse:
    """Correct a line of the log."""
    return _rewrite(seq, EventKind.CORRECT)


@bp.post("/line/<int:seq>/before")
def insert(seq: int) -> AnyResponse:
    """Insert a forgotten play, the form's `text`, before a line of the log."""
    return _rewrite(seq, EventKind.LINE, before=1)


@bp.post("/line/<int:seq>/retract")
def retract(seq: int) -> AnyResponse:
    """Remove a line from the log."""
    why_not = permissions.why_no_retract(state(), seq)
    if why_not is not None:
        raise NotYours(why_not)
    return _rewrite(seq, EventKind.RETRACT, out=1)


def _rewrite(seq: int, kind: EventKind, **which: Any) -> AnyResponse:
    """Change a line; ask first if others would become illegal, unless accepted.

    Redirect to the score of a counted hand.
    """
    entry, asks, vouched = state().entry(seq), "anyway" not in request.form, permissions.vouched()
    was_over = entry is not None and state().was_counted(entry)
    answer = _write(
        "entry.change",
        lambda text, by: match().rewrite(
            kind, seq, None if kind is EventKind.RETRACT else text, by, vouched=vouched, asks=asks
        ),
        refused=url_for("entry.change", seq=seq, text=request.form.get("text"), refused=1, **which),
        seq=seq,
        **which,
    )
    leads_to = answer.headers.get("HX-Redirect", answer.location)
    return go(url_for("score.show")) if was_over and leads_to == url_for("table.show") else answer


def _write(page: str, act: Callable[[str, str], Outcome], *, refused: str | None = None, **which: Any) -> AnyResponse:
    """Return the page after `act(text, player)`, with the form's `text`; `refused` as in `_tap`.

    Unreadable text is shown again on `page`, with URL values `which`.
    """
    text = request.form.get("text", "")
    try:
        return _tap(lambda by: act(text, by), refused)
    except Problem as problem:
        if isinstance(problem, (NotSaved, NotYours)) or "HX-Request" in request.headers or len(text) > MOST_SHOWN_AGAIN:
            raise
        return redirect(url_for(page, tab="other", player=request.form.get("player"), text=text, **which), 303)


def _tap(act: Callable[..., Outcome], refused: str | None = None, **which: int) -> AnyResponse:
    """Apply a tap; return the table, or the URL `refused` for an illegal play."""
    by = phone_identity.who(state())
    outcome = once(lambda: act(by, **which))
    own_hand.tell(state(), outcome)
    if outcome.reasons and refused is not None and not outcome.say:
        return go(refused)
    return back()


def back() -> AnyResponse:
    """Return the table for htmx, else redirect to it or a new score."""
    forget_state()
    is_on_table = urlsplit(request.headers.get("HX-Current-URL", "")).path in ("", url_for("table.show"))
    if "HX-Request" in request.headers and is_on_table:
        return make_response(show())
    if request.form.get("page") == "plain":
        return redirect(url_for("plain.show"), 303)
    return go(url_for("score.show" if score.lead_to_score(state()) else "table.show"))


def _call_director(by: str) -> Outcome:
    if service().club is None:
        abort(404)  # only clubs' tables show the button
    return match().call_director(by, is_over=request.form.get("call") == "over")


TAPS: Mapping[str, tuple[str, Callable[..., Outcome]]] = {
    "call_director": ("/director", _call_director),
    "let_stand": ("/line/<int:seq>/stand", lambda by, seq: match().let_stand(seq, by, vouched=permissions.vouched())),
    "let_all_stand": ("/lines/stand", lambda by: match().let_all_stand(by, vouched=permissions.vouched())),
    "waive": ("/waive", lambda by: match().waive(by)),
    "undo": ("/undo", lambda by: permissions.take_back(EventKind.UNDO, by, request.form.get("seq"))),
    "redo": ("/redo", lambda by: permissions.take_back(EventKind.REDO, by, request.form.get("seq"))),
    "next_hand": ("/hand", lambda by: match().next_hand(by, request.form.get("first"))),
}
"""Address and action of taps that change the record, by endpoint.

Undo and redo apply only while the change shown is the last.
"""

CHOICES: Mapping[str, tuple[str, Callable[[], object]]] = {
    "advise": ("/advice", lambda: own_hand.advise(state())),
    "sort": ("/sort", own_hand.sort),
    "hear": ("/changed", lambda: notices.mark_seen(state(), request.form.get("seq"))),
    "set_policy": (
        "/policy",
        lambda: match().set_policy(request.form.get("policy", Policy.TAP, type=Policy), phone_identity.who(state())),
    ),
    "set_without_camera": (
        "/without-camera",
        lambda: match().play_without_camera(on=request.form.get("camera") == "no"),
    ),
    "set_verifying": (
        "/verify",
        lambda: match().set_verifying(phone_identity.who(state()), on=request.form.get("verify") == "yes"),
    ),
}
"""Address and action of taps that change settings, by endpoint."""


def _choose(act: Callable[[], object]) -> AnyResponse:
    act()
    return back()


for _name, (_rule, _act) in TAPS.items():
    bp.add_url_rule(_rule, _name, partial(_tap, _act), methods=["POST"])
for _name, (_rule, _chosen) in CHOICES.items():
    bp.add_url_rule(_rule, _name, partial(_choose, _chosen), methods=["POST"])
