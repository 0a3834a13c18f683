"""Questions to a phone: coups fourrés, plays to confirm, differences of table and record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from companion.match.questions import Kind, Question
from companion.match.state import MatchState
from companion.pages import words
from companion.pages.context import match
from companion.pages.game import offers, views
from companion.pages.game.offers import Offer
from companion.pages.players import permissions
from companion.pages.words import Names, _
from companion.rules import referee
from companion.rules.cards import card_of_slug
from companion.rules.play import Play
from companion.rules.reasons import Code
from companion.rules.table import Table
from companion.tabletop.mat_layout import mat_of


def chances(state: MatchState, table: Table, seat: str | None) -> dict[str, object]:
    """Return the coups fourrés possible now, for the phone of `seat`, if any.

    `key` identifies the attack, so that each screen shrinks its window once. `own` are the player's plays; `others` may
    be entered for a partner or, without a seat, for anyone. `hints` are sentences about other sides.
    """
    asked = [question.plays for question in state.questions if question.kind is Kind.PLAY]
    waiting = {(play.player, play.card) for plays in asked for play in plays}
    names = Names.of(state.game)
    plays = [play for play in offers.coups_fourres(table) if (play.player, play.card) not in waiting]
    side = table.side_of(seat) if seat else None
    near = [play for play in plays if side is None or play.player in side.players]
    far = dict.fromkeys(table.side_of(play.player or "").name for play in plays if play not in near)
    attacks = (e for e in reversed(state.hand_entries) if not e.needs_attention and e.play and e.play.is_attack)
    last = next(attacks, None)
    return {
        "key": f"{state.match}.{last.seq}" if last else "",
        "own": [Offer(words.title(play.card), str(play)) for play in near if play.player == seat],
        "others": [offers.coup_fourre(play, names) for play in near if play.player != seat],
        "hints": [_("%(who)s may counter with a coup fourré.", who=names.side(side)) for side in far],
    }


MOST_SHOWN = 3  # waiting plays; the others are counted


def asked(state: MatchState) -> dict[str, Any]:
    """Return the open questions.

    `full` have buttons: the first difference and `head`, the first waiting play. `later` are the next few of `behind`
    waiting plays. `together` is the last of `legal` plays that one tap confirms.
    """
    differing = [question for question in state.questions if not question.asks_play][:1]
    waiting = [question for question in state.questions if question.asks_play]
    legal = len(list(takewhile(lambda question: question.may_count_untapped, waiting)))
    if legal < len(waiting) and waiting[legal].kind is Kind.PLAY and waiting[legal].is_legal:
        legal += 1
    shown = [view(state, question) for question in (*differing, *waiting[: MOST_SHOWN + 1])]
    return {
        "full": shown[: len(differing) + 1],
        "head": shown[len(differing)] if waiting else None,
        "later": shown[len(differing) + 1 :],
        "behind": len(waiting) - 1,
        "together": view(state, waiting[legal - 1]) if legal > 1 else None,
        "legal": legal,
    }


def view(state: MatchState, question: Question) -> dict[str, Any]:
    """Return a question's template values; `text` is the play that "yes" confirms."""
    names, edition = Names.of(state.game), state.game.edition
    table = question.table or state.game.table
    play = question.plays[0] if question.plays else None
    one = play if question.kind is Kind.PLAY else None
    against = next((dict(why.details) for why in question.reasons if why.code is Code.PROTECTED), {})
    remarks = referee.remarks(table, one) if one and question.is_legal and table is not None else ()
    return {
        "asked": question,
        "say": sentence(state, question),
        "text": str(play) if play else "",
        "card": words.sign_of(one) if one else None,
        "side": names.number(play.player) if play else 0,
        # target side, and its safety against the play
        "whom": names.number(play.target) if play else 0,
        "meant": card_of_slug(str(against.get("safety", ""))),
        "whys": words.whys(question.reasons, edition, names),
        "remarks": [words.why(reason, edition, names) for reason in remarks],
        # likeliest first; all plays if none is likely enough
        "choices": _choices(question.plays[1:] if one else question.plays, table, names, one),
        "is_lost": views.is_lost(edition, question.reasons),
        "zone": words.zone_name(question.zone, _side_at(state, question.zone)) if question.zone else "",
    }


def sentence(state: MatchState, question: Question) -> str:
    """Return a question's subject as a sentence."""
    if question.kind is Kind.PLAY:
        return words.play_say(question.plays[0], Names.of(state.game))
    if question.kind is Kind.WHICH:
        return words.laid_in(question.zone or "", _side_at(state, question.zone or ""))
    if question.kind is Kind.UNDO and state.undoable is not None:
        who, what = words.doer(question.by, Names.of(state.game)), permissions.undo_say(state, state.undoable)
        return words.capital(_("%(who)s asks all others: “%(what)s”?", who=who, what=what))
    return words.said(question.say or "")


def _side_at(state: MatchState, zone: str) -> str | None:
    side = match().mats(state).get(mat_of(zone))
    return Names.of(state.game).side(side) if side else None


def _choices(plays: Sequence[Play], table: Table | None, names: Names, was: Play | None) -> tuple[Offer, ...]:
    """Return buttons for alternatives to `was`, with sentences if cards alone are ambiguous."""
    ways = {replace(play, card=None, times=1) for play in (*plays, was or plays[0])} if plays else set()
    return tuple(
        Offer(
            words.doubled(play.card, play.times) or words.play_say(play, names),
            note=words.play_say(play, names) if len(ways) > 1 and play.card else "",
            text=str(play),
            card=words.sign_of(play),
            legal=table is not None and offers.legal_now(table, play),
        )
        for play in plays
    )
