"""The table on a phone: what lies where, whose turn it is, and the taps that confirm, change and undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.common.errors import Problem
from companion.match.match import GONE, Answer, Fate, Match, MatchState, Outcome, Policy
from companion.pages.context import forget_state, go, has_camera, match, service, state
from companion.pages.game import house_rules, offers, prompts, score_prompt, views
from companion.pages.players import notices, permissions, phone_identity, seats
from companion.pages.players.phone_identity import NotYours
from companion.pages.table_camera import zone_image
from companion.pages.words import N_, Names, _
from companion.rules.table import Table
from companion.storage.event_store import Event, NotSaved

bp = Blueprint("table", __name__)

MOST_SHOWN_AGAIN = 200
"""A longer text was never a play."""

POLICIES = (
    (Policy.TAP, N_("Somebody taps to confirm"), ""),
    (Policy.PLAY_ON, N_("Playing on confirms"), N_("The next player’s card confirms the one before.")),
    (Policy.AUTO, N_("It counts at once"), N_("Only doubts and illegal plays are asked about.")),
)


@bp.get("/")
def show() -> AnyResponse | str:
    """The table page."""
    now = state()
    table, names, seat = now.game.table, Names.of(now.game), phone_identity.seat(now)
    if now.match is None or table is None:
        return redirect(url_for("setting_up.show"))
    if "HX-Request" in request.headers and score_prompt.lead_to_score(now):
        return go(url_for("score.show"))
    pending = views.pending_views(now)
    doubt = views.doubt_view(now, now.asks_first, match().mats(now)) if now.asks_first else None
    return render_template(
        "table.html",
        sides=views.side_views(now, seat),
        doubt=doubt,
        differences=prompts.differences(now, match().mats(now)),
        shows_zones=zone_image.is_there(),
        pending=pending,
        queue=prompts.queue(pending, after_doubt=doubt is not None),
        log=views.log_view(now),
        last=views.last_play(now),
        winner=names.side(now.game.winner) if now.game.winner else None,
        asks=seats.asked_here(now),
        changed=notices.changed_line(now, seat),
        attention=[views.entry_view(now, entry) for entry in now.attention],
        **_offered(now, table, seat),
        **_allowed(now, phone_identity.holder(now)),
    )


def _offered(now: MatchState, table: Table, seat: str | None) -> dict[str, object]:
    """What can be entered with one tap."""
    names, lays_now = Names.of(now.game), offers.who_lays_now(table)
    mine = lays_now is not None and lays_now[0] == seat
    first = [offer for _who, offer in offers.laying_taken(table, names)] if mine else []
    beside = [*offers.beside(table, names), *offers.answers(table, names, seat)]
    return {
        "chances": prompts.chances(now, table, seat),
        "lay_now": lays_now[1] if mine and lays_now else None,
        "first": first,
        "beside": [offer for offer in beside if offer not in first],
    }


def _allowed(now: MatchState, holder: phone_identity.Holder) -> dict[str, object]:
    """What whoever holds this phone may do, or whom he waits for."""
    return {
        "waits": _waits(now),
        "undoing": permissions.undoing(now, holder),
        "redoing": permissions.redoing(now, holder),
        "decides": permissions.decides(now, holder),
        "somebody_sits": bool(holder.seated),
    }


def _waits(now: MatchState) -> str | None:
    """For whom the play at the head of the queue waits, where this phone may not confirm it."""
    head = next(iter(now.pending), None)
    return (
        permissions.waits_for(now, phone_identity.holder(now), head.proposal.play, phone_identity.who(now))
        if head
        else None
    )


@bp.get("/more")
def more() -> str:
    """What is needed now and then: seats, the wall screen, settings, what the camera sees."""
    has_picture = service().camera.jpeg() is not None
    game = state().game
    rules = house_rules.rules_in_force(game) if game.table is not None else None
    host = seats.host_name(state())
    return render_template(
        "more.html",
        policies=POLICIES,
        host=host,
        has_camera=has_camera(),
        has_picture=has_picture,
        rules=rules,
    )


@bp.post("/play")
def enter() -> AnyResponse:
    """A play picked by hand."""
    return _write("entry.new", lambda m, text, by: m.enter(text, by, vouched=permissions.vouched()))


@bp.post("/proposal/<int(signed=True):proposal_id>/confirm")
def confirm(proposal_id: int) -> AnyResponse:
    """A proposal counts; with `anyway` although it is illegal."""
    anyway = "anyway" in request.form
    return _tap(lambda m, by: m.confirm(proposal_id, by, anyway=anyway, vouched=permissions.vouched()))


@bp.post("/proposal/<int(signed=True):proposal_id>/dismiss")
def dismiss(proposal_id: int) -> AnyResponse:
    """A proposal was no play, or an illegal one was taken back: that may cost a card."""
    fate = Fate.TAKEN_BACK if request.form.get("why") == "taken-back" else Fate.NOT_A_PLAY
    culprit = _who_pays(state(), proposal_id) if fate is Fate.TAKEN_BACK else None
    answer = _tap(lambda m, by: m.dismiss(proposal_id, by, fate))
    return go(url_for("entry.new", player=culprit, ask="penalty")) if culprit else answer


def _who_pays(now: MatchState, proposal_id: int) -> str | None:
    """The player whom taking that proposal back costs a card, where mistakes do."""
    pending, table = now.waiting(proposal_id), now.game.table
    if pending is None or pending.is_legal or table is None or table.is_over:
        return None
    return pending.proposal.play.player if table.edition.mistake_penalty == "yes" else None


@bp.post("/proposal/<int(signed=True):proposal_id>/amend")
def amend(proposal_id: int) -> AnyResponse:
    """A proposal was another play."""
    return _write(
        "entry.instead",
        lambda m, text, by: m.amend(proposal_id, text, by, vouched=permissions.vouched()),
        proposal_id=proposal_id,
    )


@bp.post("/doubt/<int:doubt_id>")
def tell(doubt_id: int) -> AnyResponse:
    """Which card it is that the camera cannot tell; with `no-play` none that was played."""
    if "no-play" in request.form:
        return _tap(lambda m, by: m.answer_doubt(doubt_id, None, by))
    return _write(
        "entry.which",
        lambda m, text, by: m.answer_doubt(doubt_id, text, by, vouched=permissions.vouched()),
        doubt_id=doubt_id,
    )


@bp.post("/line/<int:seq>/correct")
def correct(seq: int) -> AnyResponse:
    """A line of the log should have said something else."""
    was_over = _has_ended(seq)
    return _scored(
        was_over,
        _write("entry.change", lambda m, text, by: m.correct(seq, text, by, vouched=permissions.vouched()), seq=seq),
    )


@bp.post("/line/<int:seq>/before")
def insert(seq: int) -> AnyResponse:
    """A play was forgotten before a line of the log."""
    was_over = _has_ended(seq)
    return _scored(
        was_over,
        _write(
            "entry.change",
            lambda m, text, by: m.insert(seq, text, by, vouched=permissions.vouched()),
            seq=seq,
            before=1,
        ),
    )


@bp.post("/line/<int:seq>/retract")
def retract(seq: int) -> AnyResponse:
    """A line of the log never happened."""
    _check(permissions.why_no_retract(state(), phone_identity.holder(state()), seq))
    was_over = _has_ended(seq)
    return _scored(was_over, _tap(lambda m, by: m.retract(seq, by)))


def _has_ended(seq: int) -> bool:
    """Whether a line is of a hand that has been counted."""
    entry = state().entry(seq)
    return entry is not None and any(hand.number == entry.hand for hand in state().game.hands)


def _scored(was_over: bool, answer: AnyResponse) -> AnyResponse:
    """After a line of a hand that had ended the score is shown: it has followed."""
    if was_over and answer.location == url_for("table.show"):
        return redirect(url_for("score.show"), 303)
    return answer


@bp.post("/line/<int:seq>/stand")
def let_stand(seq: int) -> AnyResponse:
    """A line that became illegal counts all the same."""
    return _tap(lambda m, by: m.let_stand(seq, by, vouched=permissions.vouched()))


@bp.post("/undo")
def undo() -> AnyResponse:
    """The last change is taken back."""
    now = state()
    return _take_back(
        lambda m, by, seq: m.undo(by, seq), now.undoable, permissions.why_no_undo(now, phone_identity.holder(now))
    )


@bp.post("/redo")
def redo() -> AnyResponse:
    """The last undo is taken back."""
    now = state()
    return _take_back(
        lambda m, by, seq: m.redo(by, seq), now.redoable, permissions.why_no_redo(now, phone_identity.holder(now))
    )


def _take_back(act: Callable[[Match, str, int], Outcome], latest: Event | None, why_not: str | None) -> AnyResponse:
    """Takes back the last change, if it is still the one that the page showed."""
    if latest is None or request.form.get("seq") not in (None, str(latest.seq)):
        return _tap(lambda _m, _by: GONE)
    _check(why_not)
    return _tap(lambda m, by: act(m, by, latest.seq))


def _check(why_not: str | None) -> None:
    """Raises NotYours with the sentence of who may."""
    if why_not is not None:
        raise NotYours(why_not)


@bp.post("/changed")
def hear() -> AnyResponse:
    """What another side did to a line of this phone’s was seen."""
    notices.mark_seen(state(), request.form.get("seq"))
    return back()


@bp.post("/difference/<int:mismatch_id>")
def answer(mismatch_id: int) -> AnyResponse:
    """Which is right, the table or the record."""
    chosen = request.form.get("answer", type=Answer) or Answer.RECORD
    return _tap(lambda m, by: m.answer_mismatch(mismatch_id, chosen, by))


@bp.post("/hand")
def next_hand() -> AnyResponse:
    """The next hand begins."""
    return _tap(lambda m, by: m.next_hand(by, request.form.get("first")))


@bp.post("/policy")
def set_policy() -> AnyResponse:
    """How plays are confirmed."""
    match().set_policy(request.form.get("policy", Policy.TAP, type=Policy), phone_identity.who(state()))
    forget_state()
    return back()


@bp.post("/without-camera")
def set_without_camera() -> AnyResponse:
    """The table plays on without the camera, or with it again."""
    match().play_without_camera(on=request.form.get("camera") == "no")
    forget_state()
    return back()


@bp.post("/verify")
def set_verifying() -> AnyResponse:
    """Whether the other side confirms each play."""
    match().set_verifying(phone_identity.who(state()), on=request.form.get("verify") == "yes")
    forget_state()
    return back()


def _write(page: str, act: Callable[[Match, str, str], Outcome], **which: Any) -> AnyResponse:
    """Does what was written as in a record; what cannot be read is shown again, on the page where it was written."""
    text = request.form.get("text", "")
    try:
        return _tap(lambda m, by: act(m, text, by))
    except Problem as problem:
        if isinstance(problem, (NotSaved, NotYours)) or "HX-Request" in request.headers or len(text) > MOST_SHOWN_AGAIN:
            raise
        return redirect(url_for(page, tab="other", player=request.form.get("player"), text=text, **which), 303)


def _tap(act: Callable[[Match, str], Outcome]) -> AnyResponse:
    """Does what was tapped and shows the table as it is now."""
    outcome = act(match(), phone_identity.who(state()))
    forget_state()
    if outcome.say:
        flash(_(outcome.say))
    return back()


def back() -> AnyResponse:
    """The table: in place for a page that asked for a part, else by a new page; the score, where a hand has ended."""
    if "HX-Request" in request.headers:
        shown = show()
        return shown if isinstance(shown, AnyResponse) else Response(shown)
    if request.form.get("page") != "plain" and score_prompt.lead_to_score(state()):
        return redirect(url_for("score.show"), 303)
    return redirect(url_for("plain.show" if request.form.get("page") == "plain" else "table.show"), 303)
