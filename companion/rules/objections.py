"""What speaks against a play, and what is worth a word about a legal one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from companion.rules import special_objections as special
from companion.rules.cards import HAZARD_OF, REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition
from companion.rules.grounds import (
    against_card,
    against_owed,
    against_turn,
    answered,
    answers_to,
    can_turn_back,
    card_of,
    copies_left,
    is_u_turn,
    laid_from_hand,
    lays_taken,
)
from companion.rules.moves import laying
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import COUP_FOURRE_KM, FULL_HAND, SAFETY_KM, HowEnded, Side, Table, Taken, is_driving

SLOW_KM = 50
"""The most that may be driven under a speed limit."""

MOST_TIMES = 2
"""One accelerator a card."""


def objections(table: Table, play: Play) -> tuple[Reason, ...]:
    """Every reason against a play at once; none means that it is legal. The play's names must be known."""
    if table.ending is not None and not can_turn_back(table, play):
        # A hand that ended by itself, all cards played out, may be written down as ended.
        says_so_again = play.verb is Verb.END and table.ending.how is HowEnded.EXHAUSTED
        return () if says_so_again else (reason(Code.HAND_OVER),)
    if table.extension_offered_to is not None and play.verb not in _WHILE_OFFERED and not is_u_turn(play):
        return (reason(Code.HAND_OVER),)
    return tuple(_AGAINST[play.verb](table, play))


def remarks(table: Table, play: Play) -> tuple[Reason, ...]:
    """What is worth a word about a legal play."""
    if not table.edition.counts_verified:
        return tuple(_remarks(table, play)) + tuple(_over_the_count(table, play))
    return tuple(_remarks(table, play))


def _remarks(table: Table, play: Play) -> Iterator[Reason]:
    if play.verb is Verb.DISCARD:
        if table.edition.discard == "when-stuck" and not lays_taken(table, play):
            yield reason(Code.DISCARD_ONLY_WHEN_STUCK)
    elif _is_late_safety(table, play):
        yield reason(Code.LATE_SAFETY)


def _is_late_safety(table: Table, play: Play) -> bool:
    """A safety laid on the own turn that would have been a coup fourré at once."""
    in_turn = play.verb is Verb.PLAY and not play.at_once
    return in_turn and card_of(play).family is Family.SAFETY and answered(table, play) is not None


def _over_the_count(table: Table, play: Play) -> Iterator[Reason]:
    """More of a card than an unverified deck should have: the deck may be counted wrong, so this is a remark."""
    out = laid_from_hand(play)
    for card in dict.fromkeys(out):
        if card in table.deck and copies_left(table, card, play) < out.count(card):
            yield reason(Code.TOO_MANY_COPIES, case="unverified", card=card, count=table.deck.get(card, 0))


def _can_be_laid(table: Table, taken: Taken) -> bool:
    """Whether a card that has just been handed over or fetched could be laid in any way.

    An accelerator also takes a distance card from the hand, and nobody sees whether there is one.
    """
    if taken.card is Card.ACCELERATOR:
        return False
    player = table.seats[taken.seat].player
    return any(not objections(table, play) for play in laying(table, player, taken.card))


# The acts of a turn


def _against_take(table: Table, play: Play) -> Iterator[Reason]:
    yield from against_turn(table, play)
    if table.edition.take_discard == "forbidden":
        yield reason(Code.CANNOT_TAKE_DISCARD)
    elif table.drawn:
        yield reason(Code.CANNOT_TAKE_DISCARD, case="drawn")
    elif table.edition.draw == "to-seven" and table.hands[table.seat_of(play.player or "")] >= FULL_HAND:
        yield reason(Code.CANNOT_TAKE_DISCARD, case="full")
    elif not table.discards:
        yield reason(Code.CANNOT_TAKE_DISCARD, case="empty")


def _against_pass(table: Table, play: Play) -> Iterator[Reason]:
    yield from against_turn(table, play)
    if not table.may_pass:
        yield reason(Code.NO_PASSING)


def _against_answer(table: Table, play: Play) -> Iterator[Reason]:
    if table.extension_offered_to is None or table.side_index(play.player or "") != table.extension_offered_to:
        yield reason(Code.EXTENSION_NOT_OFFERED, player=play.player)


def _against_nothing(_table: Table, _play: Play) -> Iterator[Reason]:
    yield from ()


# Discarding


def _against_discarding(table: Table, card: Card, play: Play) -> Iterator[Reason]:
    if card is not Card.UNKNOWN:
        yield from against_card(table, card, play)
    if card.family is Family.SAFETY and table.edition.discard_safety == "forbidden":
        yield reason(Code.SAFETY_DISCARD)


def _against_discard(table: Table, play: Play) -> Iterator[Reason]:
    yield from against_turn(table, play)
    yield from _against_discarding(table, card_of(play), play)
    yield from against_owed(table, play)
    taken = table.window.taken
    if taken is not None and lays_taken(table, play) and _can_be_laid(table, taken):
        yield reason(Code.MUST_PLAY_IT, card=taken.card)


def _against_exchange(table: Table, play: Play) -> Iterator[Reason]:
    yield from against_turn(table, play)
    if table.edition.exchange == "no":
        yield reason(Code.NO_EXCHANGE)
    yield from against_owed(table, play)
    for card in dict.fromkeys(play.cards):
        yield from _against_discarding(table, card, play)
        if table.edition.counts_verified and play.cards.count(card) > copies_left(table, card, play) > 0:
            yield reason(Code.TOO_MANY_COPIES, card=card, count=table.deck.get(card, 0))


def _against_play(table: Table, play: Play) -> Iterator[Reason]:
    card, side = card_of(play), table.side_of(play.player or "")
    if not play.at_once:
        yield from against_turn(table, play)
    yield from against_card(table, card, play)
    if play.times > 1:
        yield from _against_doubling(table, play)
    if table.requests:
        yield from against_owed(table, play)
    if card not in table.deck:
        return
    if play.at_once:
        yield from _against_at_once(table, play, side)
    if table.edition.first_card == "roll-or-right-of-way" and not side.has_begun:
        yield from _against_first_card(side, play)
    against = _AGAINST_FAMILY.get(card.family)
    if against is not None and not play.at_once:
        yield from against(table, play, side)
    if card.family is Family.SAFETY:
        yield from _against_safety(table, play, side)


def _against_doubling(table: Table, play: Play) -> Iterator[Reason]:
    yield from against_card(table, Card.ACCELERATOR, play)
    if play.times > MOST_TIMES:
        yield reason(Code.ALREADY_DOUBLED)


def _against_first_card(side: Side, play: Play) -> Iterator[Reason]:
    """Mirrors and u-turns answer the others' cards and begin nothing."""
    begins = card_of(play).family is not Family.SPECIAL
    if begins and card_of(play) not in (Card.ROLL, Card.RIGHT_OF_WAY):
        yield reason(Code.FIRST_CARD, side=side.name)


# On the own side


def _against_distance(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    edition, card = table.edition, card_of(play)
    if side.hazard is not None:
        yield _under(side, side.hazard)
    elif not is_driving(edition, side):
        yield reason(Code.NOT_DRIVING, side=side.name, **_why_not_driving(side.battle_top))
    if side.limited:
        yield from _against_speed(edition, card, play.times)
    yield from _against_passing(table, side, card, card.km * play.times)
    allowed = edition.two_hundreds_max
    if card is Card.KM_200 and allowed is not None and side.distances.count(card) >= allowed:
        yield reason(Code.THIRD_200, side=side.name, count=allowed)


def _why_not_driving(top: Card | None) -> dict[str, str]:
    """Which roll is missing: the first, the one after a remedy, or the one after a late safety."""
    if top is None:
        return {}
    return {"case": "late-safety" if top.family is Family.HAZARD else "remedied"}


def _against_speed(edition: Edition, card: Card, times: int) -> Iterator[Reason]:
    """Nothing fast under a limit; whether a doubled card is fast, the edition says."""
    if card.km > SLOW_KM:
        yield reason(Code.SPEED_LIMIT, **({} if Card.KM_25 in edition.deck else {"case": "fifty"}))
    elif card.km * times > SLOW_KM and edition.limit_on_doubled == "doubled":
        yield reason(Code.SPEED_LIMIT, case="doubled", card=card)


def _against_passing(table: Table, side: Side, card: Card, km: int) -> Iterator[Reason]:
    left = table.target - table.race_km(side)
    if km > left and table.edition.overshoot == "forbidden":
        case = {"case": "discard"} if table.edition.past_target_card == "discarded" else {}
        yield reason(Code.PAST_TARGET, card=card, left=max(0, left), **case)


def _against_safety(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    if table.edition.safeties_count_as_distance == "yes":
        km = SAFETY_KM + COUP_FOURRE_KM * play.at_once
        yield from _against_passing(table, side, card_of(play), km)


def _under(side: Side, hazard: Card) -> Reason:
    return reason(Code.UNDER_HAZARD, side=side.name, hazard=hazard, remedy=REMEDY_OF[hazard], safety=SAFETY_OF[hazard])


def _against_remedy(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    card = card_of(play)
    if card is Card.ROLL:
        yield from _against_roll(table.edition, side)
    elif card is Card.END_OF_LIMIT:
        if not side.limited:
            yield reason(Code.NOT_LIMITED, side=side.name)
    elif side.hazard is not HAZARD_OF[card]:
        yield reason(Code.NOTHING_TO_REMEDY, card=card, hazard=HAZARD_OF[card], side=side.name)


def _against_roll(edition: Edition, side: Side) -> Iterator[Reason]:
    if side.hazard is not None:
        if side.hazard is not Card.STOP:
            yield _under(side, side.hazard)
    elif side.battle_top is Card.ROLL:
        yield reason(Code.ALREADY_ROLLING, side=side.name)
    elif side.has_right_of_way and edition.roll_with_right_of_way == "forbidden":
        yield reason(Code.ALREADY_ROLLING, case="right-of-way", side=side.name)
    elif edition.roll_on_remedy == "forbidden" and _has_no_use_for_roll(edition, side.battle_top):
        yield reason(Code.NOTHING_TO_REMEDY, card=Card.ROLL, hazard=Card.STOP, side=side.name)


def _has_no_use_for_roll(edition: Edition, top: Card | None) -> bool:
    """Where a roll is laid only on a stop or to start: a remedy shows, or nothing is needed to start."""
    return edition.roll_to_start == "not-needed" if top is None else top.family is Family.REMEDY


# On an opponent


def _against_hazard(table: Table, play: Play, own: Side) -> Iterator[Reason]:
    card, index = card_of(play), table.side_index(play.target or "")
    if index is None:
        yield reason(Code.NEEDS_TARGET, card=card)
        return
    victim = table.sides[index]
    if victim is own:
        yield reason(Code.OWN_SIDE)
        return
    if SAFETY_OF[card] in victim.safeties:
        yield reason(Code.PROTECTED, side=victim.name, card=card, safety=SAFETY_OF[card])
    if card is not Card.SPEED_LIMIT:
        yield from _against_attack(table.edition, victim)
    elif victim.limited:
        yield reason(Code.ALREADY_LIMITED, side=victim.name)


def _against_attack(edition: Edition, victim: Side) -> Iterator[Reason]:
    """A hazard on the battle pile: may this side be attacked now?"""
    if victim.hazard is not None:
        if edition.hazard_on_hazard == "forbidden":
            yield reason(Code.ALREADY_ATTACKED, side=victim.name, hazard=victim.hazard)
        return
    top = victim.battle_top
    if top is Card.ROLL:
        return
    switch = edition.hazard_on_empty_pile if top is None else edition.hazard_on_remedy
    if switch == "forbidden" or (switch == "with-right-of-way" and not victim.has_right_of_way):
        yield reason(Code.OPPONENT_NOT_DRIVING, side=victim.name, case="empty" if top is None else "remedied")


# Out of turn


def _against_at_once(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    card = card_of(play)
    if card is Card.MIRROR:
        yield from special.against_mirror(table, play, side)
        return
    if card is Card.U_TURN:
        yield from special.against_u_turn(table, side)
        return
    if answered(table, play) is not None:
        return
    showing = _answerable(table.edition, side, card)
    if showing is not None:
        case = {} if card.family is Family.SAFETY else {"case": "remedy"}
        yield reason(Code.COUP_FOURRE_WINDOW_CLOSED, hazard=showing, card=card, **case)
    elif _can_answer(table.edition, card) or play.player == table.player_to_move:
        yield reason(Code.NO_ATTACK_TO_ANSWER, card=card, side=side.name)
    else:
        yield reason(Code.NOT_YOUR_TURN, player=play.player, turn=table.player_to_move)


def _can_answer(edition: Edition, card: Card) -> bool:
    """Whether such a card ever answers an attack out of turn."""
    return card.family is Family.SAFETY or (card.family is Family.REMEDY and edition.fast_remedy == "yes")


def _answerable(edition: Edition, side: Side, card: Card) -> Card | None:
    """The hazard in force that the card would have answered in time."""
    limit = Card.SPEED_LIMIT if side.limited else None
    in_force = (hazard for hazard in (side.hazard, limit) if hazard is not None)
    return next((hazard for hazard in in_force if card in answers_to(edition, hazard)), None)


_WHILE_OFFERED = frozenset({Verb.EXTEND, Verb.FINISH, Verb.END, Verb.EXHAUSTED})

_AGAINST: dict[Verb, Callable[[Table, Play], Iterator[Reason]]] = {
    Verb.PLAY: _against_play,
    Verb.DISCARD: _against_discard,
    Verb.EXCHANGE: _against_exchange,
    Verb.PAIR: special.against_pair,
    Verb.THEFT: special.against_theft,
    Verb.CONTROL: special.against_control,
    Verb.NAME: special.against_name,
    Verb.GIVE: special.against_give,
    Verb.PENALTY: special.against_penalty,
    Verb.PASS: _against_pass,
    Verb.TAKE: _against_take,
    Verb.SKIP_DRAW: against_turn,
    Verb.EXTEND: _against_answer,
    Verb.FINISH: _against_answer,
    Verb.EXHAUSTED: _against_nothing,
    Verb.END: _against_nothing,
}

_AGAINST_FAMILY: dict[Family, Callable[[Table, Play, Side], Iterator[Reason]]] = {
    Family.DISTANCE: _against_distance,
    Family.REMEDY: _against_remedy,
    Family.HAZARD: _against_hazard,
    Family.SPECIAL: special.against_special_in_turn,
}
