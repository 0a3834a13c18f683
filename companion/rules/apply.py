"""The effect of a play on the table.

These rules hold for every play, legal or not:
1. A played card leaves a hand and stays somewhere on the table.
2. Turns run clockwise. A safety keeps the turn; a coup fourré moves it to its player, and a fast remedy may.
3. A play includes the turn's draw, unless that was made or forgotten.
4. An attack can be answered until the next applied play, `take` or `skip-draw`.
"""

from __future__ import annotations

from collections.abc import Callable

from companion.rules.cards import HAZARD_OF, SAFETY_OF, Card, Family
from companion.rules.dealing import EXTENDED_KM
from companion.rules.draft import Draft, without_last
from companion.rules.legality import answered, attacks_on, can_turn_back, is_extra, request_met
from companion.rules.play import Play, Verb, card_of
from companion.rules.table import Attack, Due, Ending, How, HowEnded, Laid, Request, Shows, Table, Taken, Window


def apply(table: Table, play: Play) -> Table:
    """Return the table after a play, legal or not.

    A finished hand changes only by a u-turn on the card that ended it.

    >>> from companion.rules.editions.edition import load_edition
    >>> from companion.rules.play import lay
    >>> from companion.rules.referee import new_hand
    >>> from companion.rules.table import Team
    >>> table = new_hand(load_edition("classic"), [Team("Ann", ("Ann",)), Team("Bob", ("Bob",))], first="Ann")
    >>> after = apply(table, lay("Ann", Card.ROLL))
    >>> after.sides[0].battle, after.player_to_move
    ((<Card.ROLL: 'roll'>,), 'Bob')
    >>> table.draw_pile, after.draw_pile  # the draw before the play
    (94, 93)
    """
    if table.ending is not None and not can_turn_back(table, play):
        return table
    draft = Draft(table, play.player)
    _APPLY[play.verb](draft, play)
    draft.attacks = _attacks_after(draft, play)
    return draft.table()


# Playing a card


def _play(draft: Draft, play: Play) -> None:
    if play.at_once and _play_at_once(draft, play):
        if draft.before.handed_to is not None:
            # A handed card must still be played.
            draft.window = Window(taken=draft.before.window.taken)
        return
    _begin(draft, play, play.times)
    card, index = card_of(play), draft.before.seats[draft.seat].side
    if card.family is Family.HAZARD:
        _lay_hazard(draft, card, play.target)
    else:
        _lay_own(draft, index, play)
        draft.complete(index)
    if card.family is Family.SAFETY and not is_extra(draft.before, play):
        draft.settle(draft.seat, Due.ONE)
    else:
        _pass_on(draft, play)


def _begin(draft: Draft, play: Play, cards: int = 1) -> None:
    if not is_extra(draft.before, play):
        draft.draw_for_turn(draft.seat)
    draft.leave_hand(draft.seat, cards)


def _pass_on(draft: Draft, play: Play) -> None:
    if is_extra(draft.before, play):
        draft.settle(draft.to_move, draft.due)
        draft.may_pass = draft.before.may_pass and draft.ending is None
    else:
        draft.settle(draft.next(draft.seat))


def _lay_own(draft: Draft, index: int, play: Play) -> None:
    card = card_of(play)
    if card.family is Family.DISTANCE:
        _lay_distance(draft, index, play)
    elif card.family is Family.REMEDY:
        _lay_remedy(draft, index, play)
    elif card.family is Family.SAFETY:
        _lay_safety(draft, index, card)
    else:
        draft.discard(card)


def _lay_distance(draft: Draft, index: int, play: Play) -> None:
    side, card, edition = draft.sides[index], card_of(play), draft.before.edition
    doubled = play.times > 1
    passes = draft.before.race_km(side) + card.km * play.times > draft.target and edition.overshoot == "forbidden"
    if passes and edition.past_target_card == "discarded":
        draft.discard(card, *[Card.ACCELERATOR] * doubled)
        return
    draft.change_side(index, distances=(*side.distances, card), doubled=side.doubled + (card,) * doubled)
    if Card.U_TURN in draft.before.deck:
        draft.window = Window(laid=Laid(draft.seat, card, 2 if doubled else 1))


def _lay_remedy(draft: Draft, index: int, play: Play, before: Shows = Shows.TOP) -> None:
    """Put a remedy on its hazard, or discard both (`pile-after-remedy=card-beneath`)."""
    side, card = draft.sides[index], card_of(play)
    hazard = HAZARD_OF[card]
    in_force = side.limited if hazard is Card.SPEED_LIMIT else side.hazard is hazard
    if in_force and draft.before.edition.pile_after_remedy == "card-beneath":
        draft.lift(index, hazard, before)
        draft.discard(*((card, hazard) if play.under else (hazard, card)))
    elif card is Card.END_OF_LIMIT:
        draft.change_side(index, speed=(*side.speed, card), speed_cleared=False)
    else:
        draft.change_side(index, battle=(*side.battle, card), shows=Shows.TOP)


def _lay_hazard(draft: Draft, card: Card, target: str | None) -> None:
    """Put a hazard on its target, else on the only opponent or the discard pile."""
    own, index = draft.before.seats[draft.seat].side, draft.before.side_index(target)
    if index is None:
        others = [i for i in range(len(draft.sides)) if i != own]
        if len(others) != 1:
            draft.discard(card)
            return
        index = others[0]
    before = draft.sides[index].shows
    draft.put_hazard(index, card)
    if index != own:
        draft.new_attacks = (Attack(card, draft.seat, index, before),)


# Safeties


def _lay_safety(draft: Draft, index: int, card: Card, lifted: Card | None = None) -> None:
    """Play a safety and resolve its hazards on the piles.

    `lifted`: hazard that a coup fourré removed; an equal card below it stays. Right of Way removes Stop and Speed
    Limit; other hazards count as remedied or are removed, by edition.
    """
    side, edition = draft.sides[index], draft.before.edition
    draft.change_side(index, safeties=(*side.safeties, card))
    takes_away = card is Card.RIGHT_OF_WAY or edition.roll_after_late_safety == "not-needed"
    limit = card is Card.RIGHT_OF_WAY and side.limited
    is_next = takes_away and lifted in (None, Card.SPEED_LIMIT)
    hazard = side.hazard if is_next and side.hazard is not None and SAFETY_OF[side.hazard] is card else None
    if limit:
        draft.change_side(index, speed=side.speed[:-1])
        draft.discard(Card.SPEED_LIMIT)
    if hazard is not None:
        draft.change_side(index, battle=side.battle[:-1], shows=Shows.TOP)
        draft.discard(hazard)
    if edition.pile_after_safety == "roll":
        gone = hazard or (lifted if lifted is not Card.SPEED_LIMIT else None)
        _show_after(draft, index, gone, limit=limit or lifted is Card.SPEED_LIMIT)


def _show_after(draft: Draft, index: int, gone: Card | None, *, limit: bool) -> None:
    """Set what the piles count as showing (`pile-after-safety=roll`)."""
    top = draft.sides[index].battle_top
    if limit:
        draft.change_side(index, speed_cleared=True)
    if gone is not None:
        draft.change_side(index, shows=Shows.NOTHING if gone is Card.STOP else Shows.ROLL)
    elif limit and (top is None or top.family is Family.REMEDY):
        draft.change_side(index, shows=Shows.ROLL)


# Out of turn


def _play_at_once(draft: Draft, play: Play) -> bool:
    """Apply a play out of turn; return False if it answers nothing: an ordinary play."""
    card, attack = card_of(play), answered(draft.before, play)
    if attack is not None:
        (_coup_fourre if card.family is Family.SAFETY else _fast_remedy)(draft, play, attack)
    elif card is Card.MIRROR or card is Card.U_TURN:
        _answer(draft, play)
    elif card.family is Family.SAFETY and play.player != draft.before.player_to_move:
        _safety_out_of_turn(draft, play)
    else:
        return False
    return True


def _coup_fourre(draft: Draft, play: Play, attack: Attack) -> None:
    """Play a coup fourré; its player has a whole turn, or plays without drawing."""
    seat = draft.seat
    draft.lift(attack.side, attack.hazard, attack.before)
    draft.discard(attack.hazard)
    _lay_safety(draft, attack.side, card_of(play), attack.hazard)
    side = draft.sides[attack.side]
    draft.change_side(attack.side, coups_fourres=(*side.coups_fourres, card_of(play)))
    draft.leave_hand(seat)
    is_whole = draft.before.edition.coup_fourre_turn == "whole"
    if is_whole:
        draft.draw(seat)
    draft.complete(attack.side)
    draft.settle(seat, Due.TURN if is_whole else Due.NOTHING)
    draft.may_pass = not is_whole and draft.ending is None and draft.to_move == seat


def _fast_remedy(draft: Draft, play: Play, attack: Attack) -> None:
    """Play a remedy out of turn; the turn stays, or moves to its player, who does not draw."""
    seat = draft.seat
    _lay_remedy(draft, attack.side, play, attack.before)
    draft.leave_hand(seat)
    if draft.before.edition.fast_remedy_turn == "goes-on":
        draft.settle(draft.to_move, draft.due)
        return
    draft.settle(seat, Due.NOTHING)
    draft.may_pass = draft.ending is None and draft.to_move == seat


def _safety_out_of_turn(draft: Draft, play: Play) -> None:
    """Play a safety too late for a coup fourré; the turn stays."""
    seat, index = draft.seat, draft.before.seats[draft.seat].side
    _lay_safety(draft, index, card_of(play))
    draft.leave_hand(seat)
    draft.draw(seat)
    draft.complete(index)
    draft.settle(draft.to_move, draft.due)


# Other acts in turn


def _discard(draft: Draft, play: Play) -> None:
    _begin(draft, play)
    draft.discard(card_of(play))
    _pass_on(draft, play)


def _exchange(draft: Draft, play: Play) -> None:
    draft.leave_hand(draft.seat, len(play.cards))
    draft.discard(*play.cards)
    for _ in play.cards:
        draft.draw(draft.seat)
    draft.settle(draft.next(draft.seat))


def _pass(draft: Draft, _: Play) -> None:
    draft.settle(draft.next(draft.seat))


def _take(draft: Draft, _: Play) -> None:
    """Take the top discard; hands filled up to seven may take more."""
    seat = draft.seat
    due = draft.due if seat == draft.to_move else Due.TURN
    if draft.discards:
        draft.fetch(seat, draft.discards[-1])
    fills_up = due is Due.TURN and draft.before.edition.draw == "to-seven" and draft.before.draws(draft.hands[seat])
    draft.to_move, draft.due = seat, due if fills_up else Due.NOTHING
    draft.window = Window(drew=True)


def _skip_draw(draft: Draft, _: Play) -> None:
    draft.to_move, draft.due = draft.seat, Due.NOTHING


def _extend(draft: Draft, _: Play) -> None:
    draft.target = EXTENDED_KM
    draft.extended_by, draft.extension_offered_to = draft.extension_offered_to, None
    draft.settle(draft.to_move)


def _finish(draft: Draft, _: Play) -> None:
    draft.ending = Ending(HowEnded.COMPLETED, draft.extension_offered_to)
    draft.extension_offered_to = None


def _exhausted(draft: Draft, _: Play) -> None:
    """Empty the draw pile, whatever its count."""
    draft.window = draft.before.window
    draft.draw_pile = 0
    if draft.before.edition.reshuffles:
        draft.draw_pile, draft.discards = len(draft.discards), ()
    draft.settle(draft.to_move, draft.due)
    draft.may_pass = draft.before.may_pass and draft.ending is None


def _end(draft: Draft, play: Play) -> None:
    if draft.extension_offered_to is not None:
        _finish(draft, play)
        return
    draft.draw_for_turn(draft.to_move)
    can_reshuffle = draft.before.edition.reshuffles and draft.discards
    draft.ending = Ending(HowEnded.AGREED if draft.draw_pile or can_reshuffle else HowEnded.EXHAUSTED)


# Special cards of Rush, out of turn


def _answer(draft: Draft, play: Play) -> None:
    """Play a mirror or u-turn, or discard one that answers nothing; the turn stays."""
    draft.leave_hand(draft.seat)
    attack, laid = next(attacks_on(draft.before, play.player), None), draft.before.window.laid
    if play.card is Card.MIRROR and attack is not None:
        # Our reading of the rules: as if just played on the attacker.
        draft.lift(attack.side, attack.hazard, attack.before)
        index = draft.before.seats[attack.by_seat].side
        before = draft.sides[index].shows
        draft.put_hazard(index, attack.hazard)
        draft.new_attacks = (Attack(attack.hazard, draft.seat, index, before, attack.mirrors + 1),)
    elif play.card is Card.U_TURN and laid is not None:
        _take_off(draft, draft.before.seats[laid.seat].side, laid.card, doubled=laid.times > 1)
        if laid.times > 1:
            draft.discard(Card.ACCELERATOR)
        draft.hands[laid.seat] += 1
        draft.ending, draft.extension_offered_to = None, None
    draft.discard(card_of(play))
    draft.settle(draft.to_move, draft.due)


def _take_off(draft: Draft, index: int, card: Card, *, doubled: bool) -> None:
    side = draft.sides[index]
    draft.change_side(index, distances=without_last(side.distances, card))
    if doubled:
        draft.change_side(index, doubled=without_last(side.doubled, card))


# Special cards of Rush, in turn


def _theft(draft: Draft, play: Play) -> None:
    _begin(draft, play)
    draft.discard(Card.THEFT)
    index, card = draft.before.side_index(play.target), card_of(play)
    _pass_on(draft, play)
    if index is None or card not in draft.sides[index].distances:
        return
    side = draft.sides[index]
    doubled = side.goes_doubled(card, play.times)
    _take_off(draft, index, card, doubled=doubled)
    draft.hands[draft.seat] += 1 + doubled
    draft.window = Window(taken=Taken(draft.seat, card, How.STOLEN))


def _control(draft: Draft, play: Play) -> None:
    """Put the Control card beside the player who is asked."""
    _begin(draft, play)
    of_seat = draft.before.seat_named(play.target)
    if of_seat is None:
        draft.discard(Card.CONTROL)
        _pass_on(draft, play)
        return
    asked = Request(card_of(play), draft.seat, of_seat)
    draft.requests = (*draft.requests, asked)
    _pass_on(draft, play)
    draft.window = Window(asked=asked)


def _name_another(draft: Draft, play: Play) -> None:
    """Change the card of the player's open request; the turn goes on."""
    seat, of_seat = draft.seat, draft.before.seat_named(play.target)
    draft.draw_for_turn(seat)
    draft.window = Window(drew=True)
    draft.to_move, draft.due = seat, Due.NOTHING
    if of_seat is None:
        return
    another = Request(card_of(play), seat, of_seat)
    draft.requests = tuple(another if (r.by_seat, r.of_seat) == (seat, of_seat) else r for r in draft.requests)


def _give(draft: Draft, play: Play) -> None:
    """Hand a card to the player who asked, who plays it at once.

    A card drawn later uses up the giver's turn. The Control card goes under the discard pile.
    """
    seat, by_seat = draft.seat, draft.before.seat_named(play.target)
    request = request_met(draft.before, play)
    on_the_spot = request is not None and draft.before.window.asked is request
    takes_turn = not on_the_spot and not is_extra(draft.before, play)
    if takes_turn:
        draft.draw_for_turn(seat)
    pending = tuple(other for other in draft.requests if other is not request)
    draft.discard(*[Card.CONTROL] * (len(draft.requests) - len(pending)))
    draft.requests = pending
    if takes_turn:
        draft.settle(draft.next(seat))
    draft.leave_hand(seat)
    if by_seat is None:
        return
    draft.hands[by_seat] += 1
    draft.window = Window(taken=Taken(by_seat, card_of(play), How.HANDED))


def _pair(draft: Draft, play: Play) -> None:
    _begin(draft, play, 2)
    draft.discard(card_of(play), card_of(play))
    wanted = play.wanted or Card.UNKNOWN
    draft.fetch(draft.seat, wanted)
    draft.to_move, draft.due, draft.may_pass = draft.seat, Due.NOTHING, False
    draft.window = Window(taken=Taken(draft.seat, wanted, How.FETCHED))


def _penalty(draft: Draft, play: Play) -> None:
    """Discard a card; nothing else changes."""
    draft.leave_hand(draft.seat)
    draft.discard(card_of(play))
    draft.window = draft.before.window


_APPLY: dict[Verb, Callable[[Draft, Play], None]] = {
    Verb.PLAY: _play,
    Verb.DISCARD: _discard,
    Verb.EXCHANGE: _exchange,
    Verb.PAIR: _pair,
    Verb.THEFT: _theft,
    Verb.CONTROL: _control,
    Verb.NAME: _name_another,
    Verb.GIVE: _give,
    Verb.PENALTY: _penalty,
    Verb.PASS: _pass,
    Verb.TAKE: _take,
    Verb.SKIP_DRAW: _skip_draw,
    Verb.EXTEND: _extend,
    Verb.FINISH: _finish,
    Verb.EXHAUSTED: _exhausted,
    Verb.END: _end,
}

_SHUTS_NOTHING = frozenset({Verb.EXHAUSTED, Verb.EXTEND, Verb.PENALTY})


def _attacks_after(draft: Draft, play: Play) -> tuple[Attack, ...]:
    """Return the attacks still open after a play, which closes all or its own side's."""
    if draft.ending is not None:
        return ()
    if play.verb in _SHUTS_NOTHING:
        return draft.attacks
    if not draft.attacks or draft.before.edition.coup_fourre_window == "next-draw-or-play":
        return draft.new_attacks
    keeps_open = play.verb is Verb.PLAY and play.card in (Card.MIRROR, Card.U_TURN)
    acting = None if keeps_open else draft.before.side_index(play.player)
    others = ((attack, draft.sides[attack.side]) for attack in draft.attacks if attack.side != acting)
    still = (attack for attack, side in others if attack.hazard in (side.speed_top, side.battle_top))
    return (*still, *draft.new_attacks)
