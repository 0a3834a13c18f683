"""Text version of the table, such as for screen readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for

from companion.common.errors import Problem
from companion.match.state import MatchState
from companion.pages import words
from companion.pages.context import AnyResponse, forget_state, match, once, state
from companion.pages.game import offers, own_hand, prompts, views
from companion.pages.players import notices, permissions, phone_identity
from companion.pages.words import Names, _, many
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.play import Play, Verb
from companion.rules.table import Table
from companion.storage.event_store import NotSaved

bp = Blueprint("plain", __name__)


@bp.get("/plain")
def show() -> AnyResponse | str:
    """Show the table in sentences."""
    now = state()
    table, names, seat = now.game.table, Names.of(now.game), phone_identity.seat(now)
    if now.match is None or table is None:
        return redirect(url_for("setting_up.show"))
    at_once = [offers.coup_fourre(play, names) for play in offers.coups_fourres(table)]
    beside = [*offers.beside(table, names), *offers.answers(table, names, seat)]
    return render_template(
        "plain.html",
        turn=_whose_turn(now, table, seat),
        spoken=[
            (_called(side), list(_sentences(side))) for side in views.side_views(now.game, seat, views.robots_of(now))
        ],
        last=views.last_play(now),
        log=views.log_view(now),
        asked=prompts.asked(now),
        chances=[] if now.is_dealt else [*at_once, *(offer for offer in beside if offer.text)],
        hand=own_hand.view(now),
        extension=offers.extension(table) if permissions.decides(now) else [],
        changed=notices.changed_line(now, seat),
        chosen=seat or table.player_up,
        cards=_cards(table),
        **permissions.steps(now),
    )


def _called(side: Mapping[str, Any]) -> str:
    if side["mine"]:
        return _("%(who)s (you)", who=side["shown"])
    return f"{side['shown']} ({_('robot')})" if side["robot"] else str(side["shown"])


def _whose_turn(now: MatchState, table: Table, seat: str | None) -> str:
    names = Names.of(now.game)
    if table.is_over:
        winner = now.game.winner
        return words.won(names.side(winner), table.edition) if winner else words.hand_is_over(table.edition)
    if table.extension_offered_to is not None:
        side = names.side(table.sides[table.extension_offered_to].name)
        return _("On to 1000 km? %(who)s decides.", who=side)
    if seat == table.player_up:
        return _("It is your turn.")
    return _("It is %(who)s’s turn.", who=names.player(table.player_up))


def _sentences(side: Mapping[str, Any]) -> Iterator[str]:
    yield _("%(km)d km driven, %(left)d km to go.", km=side["km"], left=side["left"])
    yield _("Car: %(state)s.", state=side["car"])
    if side["needs"]:
        yield side["needs"]
    if side["limited"]:
        yield _("%(speed-limit)s: only 25 and 50 km are allowed.")
    out = [
        _("%(card)s (coup fourré)", card=words.title(card)) if coup_fourre else words.title(card)
        for card, is_out, coup_fourre in side["safeties"]
        if is_out
    ]
    yield _("Safeties: %(cards)s.", cards=", ".join(out)) if out else _("No safeties yet.")
    yield from side["owes"]
    if not side["is_race"]:
        yield many("%(count)d point in the match so far.", "%(count)d points in the match so far.", side["points"])


def _cards(table: Table) -> Mapping[str, list[tuple[str, str]]]:
    return {
        _(title): [(card.value, words.title(card)) for card in table.deck if card.family is family]
        for family, title in words.FAMILY_TITLES.items()
        if family is not Family.SPECIAL
    }


@bp.post("/plain/play")
def enter() -> AnyResponse:
    """Enter a play, chosen from lists or typed in notation; return to the page, with any error."""
    text, by, vouched = request.form.get("text", "").strip(), phone_identity.who(state()), permissions.vouched()
    after = request.form.get("after", type=int)
    try:
        play = text or _chosen(state())
        outcome = once(lambda: notices.told(match().enter(play, by, vouched=vouched, after=after), play))
    except NotSaved:
        raise
    except Problem as problem:
        flash(_(problem.sentence))
        return redirect(url_for("plain.show", text=text[:200] or None, _anchor="enter"), 303)
    forget_state()
    own_hand.tell(state(), outcome)
    return redirect(url_for("plain.show", _anchor="now"), 303)


def _chosen(now: MatchState) -> str:
    table, form = now.game.table, request.form
    card = card_of_slug(form.get("card", ""))
    if table is None or card is None or card not in table.deck:
        raise Problem(_("Choose the card that was played."))
    how, player = form.get("how"), form.get("player", "")
    if not any(place.player == player for place in table.seats):
        raise Problem(_("Choose who played."))
    if how == "discard":
        return str(Play(Verb.DISCARD, player, card))
    return str(Play(Verb.PLAY, player, card, _target(table, player, card), at_once=how == "at-once"))


def _target(table: Table, player: str, card: Card) -> str | None:
    """Return a hazard's target: the chosen or only opponent. Raises Problem without one."""
    if card.family is not Family.HAZARD:
        return None
    asked, own = request.form.get("target", ""), table.side_of(player)
    others = [side.name for side in table.sides if side is not own]
    if asked in others or len(others) == 1:
        return asked if asked in others else others[0]
    raise Problem(_("Choose who gets the hazard."))
