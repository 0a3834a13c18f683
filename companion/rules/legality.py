"""The reasons against a play, and remarks about a legal one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from companion.rules.cards import HAZARD_OF, REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition
from companion.rules.moves import laying
from companion.rules.play import Play, Verb, card_of
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import (
    COUP_FOURRE_KM,
    SAFETY_KM,
    Attack,
    Due,
    How,
    HowEnded,
    Request,
    Side,
    Table,
    is_driving,
)

SLOW_KM = 50  # most per card under a Speed Limit
MOST_TIMES = 2  # one accelerator a card
MOST_MIRRORS = 2  # the second returns a mirrored attack

# Open attacks and requests


def attacks_on(table: Table, player: str | None) -> Iterator[Attack]:
    """Yield attacks on a player's side that can still be answered, latest first."""
    index = table.side_index(player)
    return (attack for attack in reversed(table.attacks) if attack.side == index)


def answered(table: Table, play: Play) -> Attack | None:
    """Return the latest open attack that the play's card answers."""
    attacks = attacks_on(table, play.player)
    return next((attack for attack in attacks if play.card in answers_to(table.edition, attack.hazard)), None)


def answers_to(edition: Edition, hazard: Card) -> tuple[Card, ...]:
    """Return the cards that answer a hazard out of turn."""
    return (SAFETY_OF[hazard], REMEDY_OF[hazard]) if edition.fast_remedy == "yes" else (SAFETY_OF[hazard],)


def request_met(table: Table, play: Play) -> Request | None:
    """Return the request that a `give` fulfills."""
    asked_for = table.seat_of(play.player or ""), table.seat_named(play.target), play.card
    return next((r for r in table.requests if (r.of_seat, r.by_seat, r.card) == asked_for), None)


def can_turn_back(table: Table, play: Play) -> bool:
    """True if this u-turn reopens a completed hand."""
    ended = table.ending is not None and table.ending.how is HowEnded.COMPLETED
    return ended and table.window.laid is not None and play.is_u_turn


def lays_taken(table: Table, play: Play) -> bool:
    """True if the play uses a card just stolen, handed or fetched; stolen ones may only be played."""
    taken = table.window.taken
    if taken is None or table.seats[taken.seat].player != play.player or play.at_once:
        return False
    if play.verb in (Verb.DISCARD, Verb.GIVE):
        return taken.how is not How.STOLEN and play.card is taken.card
    return taken.card in play.out_of_hand and play.verb not in (Verb.PAIR, Verb.EXCHANGE)


def is_extra(table: Table, play: Play) -> bool:
    """True if the play uses a stolen or handed card, which takes no turn."""
    taken = table.window.taken
    return taken is not None and taken.how is not How.FETCHED and lays_taken(table, play)


# Turn and cards


def _against_turn(table: Table, play: Play) -> Iterator[Reason]:
    taken = table.window.taken
    if taken is not None:
        if is_extra(table, play):
            return
        if table.handed_to is not None:
            yield reason(Code.MUST_PLAY_IT, case="handed", card=taken.card, player=table.player_up)
        elif taken.how is How.FETCHED and table.seats[taken.seat].player == play.player and not lays_taken(table, play):
            yield reason(Code.MUST_PLAY_IT, card=taken.card)
    if play.player not in (table.player_to_move, table.player_up):
        yield reason(Code.NOT_YOUR_TURN, player=play.player, turn=table.player_to_move)


def _against_card(table: Table, card: Card, play: Play) -> Iterator[Reason]:
    if card not in table.deck:
        yield reason(Code.UNKNOWN_CARD, card=card)
    elif _is_counted(table, card) and copies_left(table, card, play) <= 0:
        yield _too_many(table, card)


def _is_counted(table: Table, card: Card) -> bool:
    """True if the number of copies is known, as of every safety."""
    return table.edition.counts_verified or card.family is Family.SAFETY


def _too_many(table: Table, card: Card) -> Reason:
    case = "removed" if table.deck[card] < table.edition.deck[card] else None
    return reason(Code.TOO_MANY_COPIES, case=case, card=card, count=table.deck[card])


def copies_left(table: Table, card: Card, play: Play) -> int:
    """Return a card's hidden copies when played, after the turn's draw."""
    left = table.copies_left(card)
    return left + table.discards.count(card) if draws_for(table, play) and table.draw_reshuffles else left


def draws_for(table: Table, play: Play) -> bool:
    """True if the turn's draw comes before a play."""
    return not (play.at_once or play.verb in (Verb.EXCHANGE, Verb.PENALTY) or is_extra(table, play))


def _against_size(table: Table, play: Play) -> Iterator[Reason]:
    """Object if more cards leave a hand than it holds.

    One may: players may have drawn more than recorded.
    """
    seat = table.seat_of(play.player or "")
    held = table.hands[seat]
    if draws_for(table, play):
        there = table.draw_pile + (len(table.discards) if table.edition.reshuffles else 0)
        held += min(table.draws(held, table.due if seat == table.to_move else Due.TURN), there)
    if len(play.out_of_hand) > max(1, held):
        yield reason(Code.NO_SUCH_CARD_THERE, case="hand-size", player=play.player, count=held)


def _against_owed(table: Table, play: Play) -> Iterator[Reason]:
    for request in table.requests:
        if table.seats[request.of_seat].player == play.player and request.card in play.out_of_hand:
            asker = table.seats[request.by_seat].player
            yield reason(Code.REQUEST_PENDING, case="owed", player=play.player, card=request.card, asker=asker)


def _against_cards(table: Table, play: Play) -> Iterator[Reason]:
    for card in dict.fromkeys(play.out_of_hand):
        yield from _against_card(table, card, play)
    if play.verb is Verb.PLAY and play.times > MOST_TIMES:
        yield reason(Code.ALREADY_DOUBLED)
    yield from _against_size(table, play)
    yield from _against_owed(table, play)


# Verdict


def objections(table: Table, play: Play) -> tuple[Reason, ...]:
    """Return all reasons against a play; none if it is legal.

    Names in the play must be known at the table. Hands are hidden: a player may hold any card not in view.

    >>> from companion.rules.editions.edition import load_edition
    >>> from companion.rules.play import lay
    >>> from companion.rules.referee import new_hand
    >>> from companion.rules.table import Team
    >>> table = new_hand(load_edition("classic"), [Team("Ann", ("Ann",)), Team("Bob", ("Bob",))], first="Ann")
    >>> objections(table, lay("Ann", Card.ROLL))
    ()
    >>> [str(why) for why in objections(table, lay("Bob", Card.KM_100))]
    ['not-your-turn', 'not-driving']
    """
    if table.ending is not None and not can_turn_back(table, play):
        # A record may note the `end` of an exhausted hand.
        says_so_again = play.verb is Verb.END and table.ending.how is HowEnded.EXHAUSTED
        return () if says_so_again else (reason(Code.HAND_OVER),)
    if table.extension_offered_to is not None and play.verb not in _WHILE_OFFERED and not play.is_u_turn:
        return (reason(Code.HAND_OVER, case="offered", side=table.sides[table.extension_offered_to].name),)
    return tuple(_against(table, play))


def _against(table: Table, play: Play) -> Iterator[Reason]:
    if play.verb in _IN_TURN and not play.at_once:
        yield from _against_turn(table, play)
    if play.verb in (Verb.PLAY, Verb.THEFT, Verb.CONTROL):
        yield from _against_cards(table, play)
        if play.out_of_hand[0] not in table.deck:
            return
    if play.verb in _AGAINST:
        yield from _AGAINST[play.verb](table, play)


def remarks(table: Table, play: Play) -> Iterator[Reason]:
    """Yield remarks about a legal play."""
    if play.verb is Verb.DISCARD and table.edition.discard == "when-stuck" and not lays_taken(table, play):
        yield reason(Code.DISCARD_ONLY_WHEN_STUCK)
    is_safety = play.verb is Verb.PLAY and card_of(play).family is Family.SAFETY
    if is_safety and not play.at_once and answered(table, play) is not None:
        # Out of turn, it would be a coup fourré.
        yield reason(Code.LATE_SAFETY)
    if table.edition.counts_verified or play.verb is Verb.GIVE:
        return
    # An unverified deck may have other counts.
    for card, count in Counter(play.out_of_hand).items():
        if card in table.deck and copies_left(table, card, play) < count:
            yield reason(Code.TOO_MANY_COPIES, case="unverified", card=card, count=table.deck[card])


# The acts of a turn


def _against_take(table: Table, play: Play) -> Iterator[Reason]:
    if table.edition.take_discard == "forbidden":
        yield reason(Code.CANNOT_TAKE_DISCARD)
    elif table.drawn:
        yield reason(Code.CANNOT_TAKE_DISCARD, case="no-draw" if table.may_pass else "drawn")
    elif not table.draws(table.hands[table.seat_of(play.player or "")]):
        yield reason(Code.CANNOT_TAKE_DISCARD, case="full")
    elif not table.discards:
        yield reason(Code.CANNOT_TAKE_DISCARD, case="empty")


def _against_pass(table: Table, _play: Play) -> Iterator[Reason]:
    if not table.may_pass:
        can_be = "without-drawing" in (table.edition.coup_fourre_turn, table.edition.fast_remedy_turn)
        yield reason(Code.NO_PASSING, case="out-of-turn" if can_be else None)


def _against_extension_answer(table: Table, play: Play) -> Iterator[Reason]:
    if table.extension_offered_to is None or table.side_index(play.player) != table.extension_offered_to:
        yield reason(Code.EXTENSION_NOT_OFFERED, player=play.player)


def _against_discarding(table: Table, card: Card, play: Play) -> Iterator[Reason]:
    if card is not Card.UNKNOWN:
        yield from _against_card(table, card, play)
    if card.family is Family.SAFETY and table.edition.discard_safety == "forbidden":
        yield reason(Code.SAFETY_DISCARD)


def _against_discard(table: Table, play: Play) -> Iterator[Reason]:
    yield from _against_discarding(table, card_of(play), play)
    yield from _against_owed(table, play)
    # It needs a distance card, which is hidden.
    if lays_taken(table, play) and play.card is not Card.ACCELERATOR:
        ways = laying(table, play.player or "", card_of(play))
        if any(not objections(table, way) for way in ways):
            yield reason(Code.MUST_PLAY_IT, card=play.card)


def _against_exchange(table: Table, play: Play) -> Iterator[Reason]:
    if table.edition.exchange == "no":
        yield reason(Code.NO_EXCHANGE)
    elif table.window.drew and play.player == table.player_to_move:
        yield reason(Code.NO_EXCHANGE, case="drawn")
    elif len(play.cards) > table.draw_pile and not table.edition.reshuffles:
        yield reason(Code.NO_EXCHANGE, case="pile", count=table.draw_pile)
    yield from _against_size(table, play)
    yield from _against_owed(table, play)
    for card in dict.fromkeys(play.cards):
        yield from _against_discarding(table, card, play)
        if _is_counted(table, card) and play.cards.count(card) > copies_left(table, card, play) > 0:
            yield _too_many(table, card)


def _against_play(table: Table, play: Play) -> Iterator[Reason]:
    card, side = card_of(play), table.side_of(play.player or "")
    if play.at_once:
        yield from _AGAINST_AT_ONCE.get(card, _against_at_once)(table, play, side)
    # Mirrors and u-turns answer cards of others.
    needs_start = card.family is not Family.SPECIAL and card not in (Card.ROLL, Card.RIGHT_OF_WAY)
    if needs_start and table.edition.first_card == "roll-or-right-of-way" and not side.has_begun:
        yield reason(Code.FIRST_CARD, side=side.name)
    against = _AGAINST_FAMILY.get(card.family)
    if against is not None and not play.at_once:
        yield from against(table, play, side)
    if card.family is Family.SAFETY and table.edition.safeties_count_as_distance == "yes":
        yield from _against_overshoot(table, side, card, SAFETY_KM + COUP_FOURRE_KM * play.at_once)


# On the player's own side


def _against_distance(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    edition, card = table.edition, card_of(play)
    if side.hazard is not None:
        yield _under(side, side.hazard)
    elif not is_driving(edition, side):
        # The first Roll is missing, or one after a remedy or late safety.
        top = side.battle_top
        after = "late-safety" if top is not None and top.family is Family.HAZARD else "remedied"
        yield reason(Code.NOT_DRIVING, case=after if top is not None else None, side=side.name)
    if side.limited:
        if card.km > SLOW_KM:
            yield reason(Code.SPEED_LIMIT, case=None if Card.KM_25 in edition.deck else "fifty")
        elif card.km * play.times > SLOW_KM and edition.limit_on_doubled == "doubled":
            yield reason(Code.SPEED_LIMIT, case="doubled", card=card)
    yield from _against_overshoot(table, side, card, card.km * play.times)
    allowed = edition.two_hundreds_max
    if card is Card.KM_200 and allowed is not None and side.distances.count(card) >= allowed:
        yield reason(Code.THIRD_200, side=side.name, count=allowed)


def _against_overshoot(table: Table, side: Side, card: Card, km: int) -> Iterator[Reason]:
    left = table.target - table.race_km(side)
    if km > left and table.edition.overshoot == "forbidden":
        case = "discard" if table.edition.past_target_card == "discarded" else None
        yield reason(Code.PAST_TARGET, case=case, card=card, left=max(0, left))


def _under(side: Side, hazard: Card, case: str | None = None) -> Reason:
    answers = {"remedy": REMEDY_OF[hazard], "safety": SAFETY_OF[hazard]}
    return reason(Code.UNDER_HAZARD, case=case, side=side.name, hazard=hazard, **answers)


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
            yield _under(side, side.hazard, case="roll")
    elif side.battle_top is Card.ROLL:
        yield reason(Code.ALREADY_ROLLING, side=side.name)
    elif side.has_right_of_way and edition.roll_with_right_of_way == "forbidden":
        yield reason(Code.ALREADY_ROLLING, case="right-of-way", side=side.name)
    elif edition.roll_on_remedy == "forbidden":
        # Without a Stop, Roll is useless on a remedy or if no start needs it.
        top = side.battle_top
        if edition.roll_to_start == "not-needed" if top is None else top.family is Family.REMEDY:
            yield reason(Code.NOTHING_TO_REMEDY, card=Card.ROLL, hazard=Card.STOP, side=side.name)


# On an opponent


def _against_hazard(table: Table, play: Play, own: Side) -> Iterator[Reason]:
    card, index = card_of(play), table.side_index(play.target)
    if index is None:
        yield reason(Code.NEEDS_TARGET, card=card)
    elif table.sides[index] is own:
        yield reason(Code.OWN_SIDE)
    else:
        yield from against_attack(table.edition, card, table.sides[index])


def against_attack(edition: Edition, hazard: Card, victim: Side, *, is_mirrored: bool = False) -> Iterator[Reason]:
    """Yield reasons against a hazard on a side; mirrors also hit one that is not driving."""
    top = victim.battle_top
    if SAFETY_OF[hazard] in victim.safeties:
        yield reason(Code.PROTECTED, side=victim.name, card=hazard, safety=SAFETY_OF[hazard])
    if hazard is Card.SPEED_LIMIT:
        if victim.limited:
            yield reason(Code.ALREADY_LIMITED, side=victim.name)
    elif victim.hazard is not None:
        if edition.hazard_on_hazard == "forbidden":
            yield reason(Code.ALREADY_ATTACKED, side=victim.name, hazard=victim.hazard)
    elif top is not Card.ROLL and not is_mirrored:
        switch = edition.hazard_on_empty_pile if top is None else edition.hazard_on_remedy
        if switch == "forbidden" or (switch == "with-right-of-way" and not victim.has_right_of_way):
            yield reason(Code.OPPONENT_NOT_DRIVING, side=victim.name, case="empty" if top is None else "remedied")


# Out of turn


def _against_at_once(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    card = card_of(play)
    if answered(table, play) is not None:
        return
    in_force = (side.hazard, Card.SPEED_LIMIT if side.limited else None)
    showing = next((hazard for hazard in in_force if hazard and card in answers_to(table.edition, hazard)), None)
    is_fast_remedy = card.family is Family.REMEDY and table.edition.fast_remedy == "yes"
    if showing is not None:
        case = None if card.family is Family.SAFETY else "remedy"
        yield reason(Code.COUP_FOURRE_WINDOW_CLOSED, case=case, hazard=showing, card=card)
    elif card.family is Family.SAFETY or is_fast_remedy or play.player == table.player_to_move:
        case = "remedy" if is_fast_remedy else "own-turn" if card.family is Family.REMEDY else None
        yield reason(Code.NO_ATTACK_TO_ANSWER, case=case, card=card, side=side.name)
    else:
        yield reason(Code.NOT_YOUR_TURN, player=play.player, turn=table.player_to_move)


# Special cards of Rush, and pairs


def _against_theft(table: Table, play: Play) -> Iterator[Reason]:
    index = table.side_index(play.target)
    if index is None:
        yield reason(Code.NEEDS_TARGET, card=Card.THEFT)
        return
    victim = table.sides[index]
    if victim is table.side_of(play.player or ""):
        yield reason(Code.OWN_SIDE, card=Card.THEFT)
    if card_of(play) not in (victim.doubled if play.times > 1 else victim.distances):
        yield reason(Code.NO_SUCH_CARD_THERE, card=card_of(play), side=victim.name)


def _against_control(table: Table, play: Play) -> Iterator[Reason]:
    yield from _against_naming(table, card_of(play))
    of_seat = table.seat_named(play.target)
    if of_seat is None:
        yield reason(Code.NEEDS_TARGET, card=Card.CONTROL)
        return
    if table.seats[of_seat].side == table.seats[table.seat_of(play.player or "")].side:
        yield reason(Code.OWN_SIDE, card=Card.CONTROL)
    if any(request.of_seat == of_seat for request in table.requests):
        yield reason(Code.REQUEST_PENDING, player=play.target)


def _against_name(table: Table, play: Play) -> Iterator[Reason]:
    """Object to changing the card of a request."""
    of_seat, by_seat = table.seat_named(play.target), table.seat_of(play.player or "")
    if of_seat is None:
        yield reason(Code.NEEDS_TARGET, card=Card.CONTROL)
        return
    own = next((r for r in table.requests if (r.of_seat, r.by_seat) == (of_seat, by_seat)), None)
    if own is None:
        yield reason(Code.NO_SUCH_CARD_THERE, case="unasked", asker=play.player, player=play.target)
        return
    if own.card is play.card:
        yield reason(Code.REQUEST_PENDING, player=play.target)
    yield from _against_naming(table, card_of(play))


def _against_give(table: Table, play: Play) -> Iterator[Reason]:
    """Object to an unrequested card, or one drawn later and given out of turn."""
    if play.target is None:
        yield reason(Code.NEEDS_TARGET, card=card_of(play))
        return
    asked = request_met(table, play)
    if asked is None:
        seat = table.seat_of(play.player or "")
        others = [table.seats[r.by_seat].player for r in table.requests if (r.of_seat, r.card) == (seat, play.card)]
        asker = {"asker": others[0]} if others else {}
        case = "other" if others else "request"
        yield reason(Code.NO_SUCH_CARD_THERE, case=case, player=play.player, card=card_of(play), **asker)
    elif table.window.asked is not asked:
        yield from _against_turn(table, play)


def _against_pair(table: Table, play: Play) -> Iterator[Reason]:
    if table.edition.pair_for_discard == "no":
        yield reason(Code.CANNOT_TAKE_DISCARD, case="pair")
        return
    card, wanted = card_of(play), play.wanted
    yield from _against_cards(table, play)
    if _is_counted(table, card) and 0 < copies_left(table, card, play) < 2:
        yield _too_many(table, card)
    # The turn's draw may have reshuffled the discards.
    there = () if table.draw_reshuffles else table.discards
    if wanted not in there and wanted is not card:
        yield reason(Code.NO_SUCH_CARD_THERE, case="discards", card=wanted)


def _against_penalty(table: Table, play: Play) -> Iterator[Reason]:
    if table.edition.mistake_penalty == "no":
        yield reason(Code.NO_PENALTY)
    elif play.card is not Card.UNKNOWN:
        yield from _against_card(table, card_of(play), play)


def _against_special_in_turn(_table: Table, play: Play, side: Side) -> Iterator[Reason]:
    card = card_of(play)
    if card is Card.ACCELERATOR:
        yield reason(Code.NEEDS_DISTANCE)
    elif card is Card.MIRROR:
        yield reason(Code.NO_ATTACK_TO_ANSWER, case="mirror", card=card, side=side.name)
    elif card is Card.U_TURN:
        yield reason(Code.NOTHING_TO_TURN_BACK)
    else:
        yield reason(Code.NEEDS_TARGET, card=card)


def _against_mirror(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    """Object if the attacker is immune or has a hazard on that pile (our reading of the rules)."""
    attack = next(attacks_on(table, play.player), None)
    if attack is None or attack.mirrors >= MOST_MIRRORS:
        yield reason(Code.NO_ATTACK_TO_ANSWER, case="mirrors" if attack else "mirror", card=play.card, side=side.name)
        return
    attacker = table.sides[table.seats[attack.by_seat].side]
    yield from against_attack(table.edition, attack.hazard, attacker, is_mirrored=True)


def _against_u_turn(table: Table, _play: Play, side: Side) -> Iterator[Reason]:
    laid = table.window.laid
    if laid is None:
        yield reason(Code.NOTHING_TO_TURN_BACK)
    elif table.sides[table.seats[laid.seat].side] is side:
        yield reason(Code.NOTHING_TO_TURN_BACK, case="own")
    elif table.ending is not None and table.edition.u_turn_on_winning_card == "forbidden":
        yield reason(Code.NOTHING_TO_TURN_BACK, case="winning")


def _against_naming(table: Table, card: Card) -> Iterator[Reason]:
    if card.family is Family.SAFETY:
        yield reason(Code.SAFETY_DEMANDED)
    elif card not in table.deck:
        yield reason(Code.UNKNOWN_CARD, card=card)


_WHILE_OFFERED = frozenset({Verb.EXTEND, Verb.FINISH, Verb.END, Verb.EXHAUSTED})
_IN_TURN = frozenset(Verb) - _WHILE_OFFERED - {Verb.GIVE, Verb.PENALTY}  # unless played at once

_AGAINST: dict[Verb, Callable[[Table, Play], Iterator[Reason]]] = {
    Verb.PLAY: _against_play,
    Verb.DISCARD: _against_discard,
    Verb.EXCHANGE: _against_exchange,
    Verb.PAIR: _against_pair,
    Verb.THEFT: _against_theft,
    Verb.CONTROL: _against_control,
    Verb.NAME: _against_name,
    Verb.GIVE: _against_give,
    Verb.PENALTY: _against_penalty,
    Verb.PASS: _against_pass,
    Verb.TAKE: _against_take,
    Verb.EXTEND: _against_extension_answer,
    Verb.FINISH: _against_extension_answer,
}

_AGAINST_AT_ONCE: dict[Card, Callable[[Table, Play, Side], Iterator[Reason]]] = {
    Card.MIRROR: _against_mirror,
    Card.U_TURN: _against_u_turn,
}

_AGAINST_FAMILY: dict[Family, Callable[[Table, Play, Side], Iterator[Reason]]] = {
    Family.DISTANCE: _against_distance,
    Family.REMEDY: _against_remedy,
    Family.HAZARD: _against_hazard,
    Family.SPECIAL: _against_special_in_turn,
}
