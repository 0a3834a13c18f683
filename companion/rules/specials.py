"""What the special cards of Rush do to the table."""

from __future__ import annotations

from companion.rules.cards import Card
from companion.rules.draft import Draft
from companion.rules.grounds import card_of, is_extra, mirrored
from companion.rules.play import Play
from companion.rules.table import Attack, Due, How, Laid, Request, Taken, Window

# Out of turn


def answer(draft: Draft, play: Play) -> None:
    """A mirror or a u-turn; one that answers nothing lies on the discard pile, and the turn stays where it was."""
    seat = draft.before.seat_of(play.player or "")
    draft.leave_hand(seat)
    attack, laid = mirrored(draft.before, play.player or ""), draft.before.window.laid
    if play.card is Card.MIRROR and attack is not None:
        _mirror(draft, seat, attack)
    elif play.card is Card.U_TURN and laid is not None:
        _turn_back(draft, laid)
    draft.discard(card_of(play))
    draft.settle(draft.to_move, draft.due)


def _mirror(draft: Draft, seat: int, attack: Attack) -> None:
    """The attack lands on the attacker; the turn order goes on as if it had just been laid (chosen)."""
    draft.lift(attack.side, attack.hazard, attack.before)
    index = draft.before.seats[attack.by_seat].side
    before = draft.sides[index].shows
    draft.put_hazard(index, attack.hazard)
    draft.new_attacks = (Attack(attack.hazard, seat, index, before, attack.mirrors + 1),)


def _turn_back(draft: Draft, laid: Laid) -> None:
    """The card goes back to its player's hand, its accelerator to the discards; a race it had won goes on."""
    _take_off(draft, draft.before.seats[laid.seat].side, laid.card, doubled=laid.times > 1)
    if laid.times > 1:
        draft.discard(Card.ACCELERATOR)
    draft.hands[laid.seat] += 1
    draft.ending, draft.extension_offered_to = None, None


def _take_off(draft: Draft, index: int, card: Card, *, doubled: bool) -> None:
    """A distance card off a side's table, the one laid last of its kind."""
    side = draft.sides[index]
    changes = {"distances": _without(side.distances, card)}
    if doubled:
        changes["doubled"] = _without(side.doubled, card)
    draft.change_side(index, **changes)


def _without(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    """The cards without the last one of a kind."""
    for at in range(len(cards) - 1, -1, -1):
        if cards[at] is card:
            return (*cards[:at], *cards[at + 1 :])
    return cards


# On the own turn


def _begin(draft: Draft, play: Play, cards: int = 1) -> int:
    """The player's seat, after the turn's draw and with the cards out of his hand."""
    seat = draft.before.seat_of(play.player or "")
    if not is_extra(draft.before, play):
        draft.draw_for_turn(seat)
    draft.leave_hand(seat, cards)
    return seat


def _pass_on(draft: Draft, play: Play, seat: int) -> None:
    if is_extra(draft.before, play):
        draft.settle(draft.to_move, draft.due)
    else:
        draft.settle(draft.next(seat))


def theft(draft: Draft, play: Play) -> None:
    """A distance card from an opponent's table into the thief's hand, with its accelerator if it had one."""
    seat = _begin(draft, play)
    draft.discard(Card.THEFT)
    index, card = draft.before.side_index(play.target or ""), card_of(play)
    _pass_on(draft, play, seat)
    if index is None or card not in draft.sides[index].distances:
        return
    side = draft.sides[index]
    doubled = play.times > 1 or side.distances.count(card) == side.doubled.count(card)
    _take_off(draft, index, card, doubled=doubled)
    draft.hands[seat] += 1 + doubled
    draft.window = Window(taken=Taken(seat, card, How.STOLEN))


def control(draft: Draft, play: Play) -> None:
    """A request beside a player, until he hands the card over."""
    seat = _begin(draft, play)
    draft.discard(Card.CONTROL)
    _pass_on(draft, play, seat)
    of_seat = _seat_of(draft, play.target)
    if of_seat is not None:
        asked = Request(card_of(play), seat, of_seat)
        draft.requests = (*draft.requests, asked)
        draft.window = Window(asked=asked)


def name_another(draft: Draft, play: Play) -> None:
    """Another card for an open request of one's own; the turn, whose card has been drawn, goes on."""
    seat, of_seat = draft.before.seat_of(play.player or ""), _seat_of(draft, play.target)
    draft.draw_for_turn(seat)
    draft.to_move, draft.due = seat, Due.NOTHING
    if of_seat is None:
        return
    another = Request(card_of(play), seat, of_seat)
    draft.requests = tuple(another if (r.by_seat, r.of_seat) == (seat, of_seat) else r for r in draft.requests)


def give(draft: Draft, play: Play) -> None:
    """The card goes to whoever asked. Drawn later, it ends the giver's turn; the asker lays it at once."""
    seat, by_seat = draft.before.seat_of(play.player or ""), _seat_of(draft, play.target)
    request = next((r for r in draft.requests if (r.of_seat, r.by_seat, r.card) == (seat, by_seat, play.card)), None)
    on_the_spot = request is not None and draft.before.window.asked is request
    if not on_the_spot and not is_extra(draft.before, play):
        draft.draw_for_turn(seat)
        draft.settle(draft.next(seat))
    draft.leave_hand(seat)
    if by_seat is None:
        return
    draft.hands[by_seat] += 1
    draft.requests = tuple(other for other in draft.requests if other is not request)
    draft.window = Window(taken=Taken(by_seat, card_of(play), How.HANDED))


def pair(draft: Draft, play: Play) -> None:
    """Two alike on the discard pile, and a card of that pile in the hand: it is played this turn."""
    seat = _begin(draft, play, 2)
    draft.discard(card_of(play), card_of(play))
    wanted = play.wanted or Card.UNKNOWN
    draft.fetch(seat, wanted)
    draft.to_move, draft.due, draft.may_pass = seat, Due.NOTHING, False
    draft.window = Window(taken=Taken(seat, wanted, How.FETCHED))


def penalty(draft: Draft, play: Play) -> None:
    """A mistake costs a card; nobody's turn changes, and what could be answered still can."""
    draft.leave_hand(draft.before.seat_of(play.player or ""))
    draft.discard(card_of(play))
    draft.window = draft.before.window


def _seat_of(draft: Draft, player: str | None) -> int | None:
    return next((index for index, seat in enumerate(draft.before.seats) if seat.player == player), None)
