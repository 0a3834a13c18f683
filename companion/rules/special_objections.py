"""What speaks against the special cards of Rush: theft, control, mirror, u-turn, and two alike for a discarded card."""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.grounds import against_card, against_owed, against_turn, card_of, copies_left, mirrored, reshuffles
from companion.rules.play import Play
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import Side, Table

MOST_MIRRORS = 2
"""An attack that was mirrored comes back by a second mirror, and there is no third."""


def against_theft(table: Table, play: Play) -> Iterator[Reason]:
    """A distance card is stolen from an opponent's table, on the own turn, even under attack."""
    yield from _against_special(table, play, Card.THEFT)
    if Card.THEFT not in table.deck:
        return
    index = table.side_index(play.target or "")
    if index is None:
        yield reason(Code.NEEDS_TARGET, card=Card.THEFT)
        return
    victim = table.sides[index]
    if victim is table.side_of(play.player or ""):
        yield reason(Code.OWN_SIDE, card=Card.THEFT)
    if card_of(play) not in (victim.doubled if play.times > 1 else victim.distances):
        yield reason(Code.NO_SUCH_CARD_THERE, card=card_of(play), side=victim.name)


def against_control(table: Table, play: Play) -> Iterator[Reason]:
    """An opponent has to hand a named card over; one request on a player at a time."""
    yield from _against_special(table, play, Card.CONTROL)
    if Card.CONTROL not in table.deck:
        return
    yield from _against_demand(table, card_of(play))
    of_seat = _seat(table, play.target)
    if of_seat is None:
        yield reason(Code.NEEDS_TARGET, card=Card.CONTROL)
        return
    if table.seats[of_seat].side == table.seats[table.seat_of(play.player or "")].side:
        yield reason(Code.OWN_SIDE, card=Card.CONTROL)
    if any(request.of_seat == of_seat for request in table.requests):
        yield reason(Code.REQUEST_PENDING, player=play.target)


def against_name(table: Table, play: Play) -> Iterator[Reason]:
    """Who has drawn the card himself names another one."""
    yield from against_turn(table, play)
    of_seat, by_seat = _seat(table, play.target), table.seat_of(play.player or "")
    own = next((r for r in table.requests if (r.of_seat, r.by_seat) == (of_seat, by_seat)), None)
    if own is None:
        yield reason(Code.NO_SUCH_CARD_THERE, case="request", player=play.target, card=card_of(play))
        return
    if own.card is play.card:
        yield reason(Code.REQUEST_PENDING, player=play.target)
    yield from _against_demand(table, card_of(play))


def against_give(table: Table, play: Play) -> Iterator[Reason]:
    """A card that was asked for is handed over on the spot, or on the giver's own turn when he draws it."""
    if play.target is None:
        yield reason(Code.NEEDS_TARGET, card=card_of(play))
        return
    seat, by_seat = table.seat_of(play.player or ""), _seat(table, play.target)
    asked = next((r for r in table.requests if (r.of_seat, r.by_seat, r.card) == (seat, by_seat, play.card)), None)
    if asked is None:
        yield reason(Code.NO_SUCH_CARD_THERE, case="request", player=play.player, card=card_of(play))
    elif table.window.asked is not asked:
        yield from against_turn(table, play)


def against_pair(table: Table, play: Play) -> Iterator[Reason]:
    """Two identical cards are discarded for any card of the discard pile."""
    yield from against_turn(table, play)
    if table.edition.pair_for_discard == "no":
        yield reason(Code.CANNOT_TAKE_DISCARD, case="pair")
        return
    card, wanted = card_of(play), play.wanted
    yield from against_card(table, card, play)
    yield from against_owed(table, play)
    counts = table.edition.counts_verified or card.family is Family.SAFETY
    if counts and 0 < copies_left(table, card, play) < 2:
        yield reason(Code.TOO_MANY_COPIES, card=card, count=table.deck.get(card, 0))
    # None of the discard pile is left where the turn's draw has made it the draw pile.
    there = () if reshuffles(table) else table.discards
    if wanted not in there and wanted is not card:
        yield reason(Code.NO_SUCH_CARD_THERE, case="discards", card=wanted)


def against_penalty(table: Table, play: Play) -> Iterator[Reason]:
    """A mistake costs a card."""
    if table.edition.mistake_penalty == "no":
        yield reason(Code.NO_PENALTY)
    elif play.card is not Card.UNKNOWN:
        yield from against_card(table, card_of(play), play)


def against_special_in_turn(_table: Table, play: Play, side: Side) -> Iterator[Reason]:
    """A special card laid by itself on the own turn, as if it were any card."""
    card = card_of(play)
    if card is Card.ACCELERATOR:
        yield reason(Code.NEEDS_DISTANCE)
    elif card is Card.MIRROR:
        yield reason(Code.NO_ATTACK_TO_ANSWER, case="mirror", card=card, side=side.name)
    elif card is Card.U_TURN:
        yield reason(Code.NOTHING_TO_TURN_BACK)
    else:
        yield reason(Code.NEEDS_TARGET, card=card)


def against_mirror(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    """The attack lands on the attacker, unless he is immune or under a hazard of that pile already (chosen)."""
    attack = mirrored(table, play.player or "")
    if attack is None or attack.mirrors >= MOST_MIRRORS:
        case = "mirror" if attack is None else "mirrors"
        yield reason(Code.NO_ATTACK_TO_ANSWER, case=case, card=Card.MIRROR, side=side.name)
        return
    attacker, hazard = table.sides[table.seats[attack.by_seat].side], attack.hazard
    if SAFETY_OF[hazard] in attacker.safeties:
        yield reason(Code.PROTECTED, side=attacker.name, card=hazard, safety=SAFETY_OF[hazard])
    if hazard is Card.SPEED_LIMIT:
        if attacker.limited:
            yield reason(Code.ALREADY_LIMITED, side=attacker.name)
    elif attacker.hazard is not None and table.edition.hazard_on_hazard == "forbidden":
        yield reason(Code.ALREADY_ATTACKED, side=attacker.name, hazard=attacker.hazard)


def against_u_turn(table: Table, side: Side) -> Iterator[Reason]:
    """The last distance card goes back to its player's hand; the card that wins too, unless the table forbids it."""
    laid = table.window.laid
    if laid is None:
        yield reason(Code.NOTHING_TO_TURN_BACK)
    elif table.sides[table.seats[laid.seat].side] is side:
        yield reason(Code.NOTHING_TO_TURN_BACK, case="own")
    elif table.ending is not None and table.edition.u_turn_on_winning_card == "forbidden":
        yield reason(Code.NOTHING_TO_TURN_BACK, case="winning")


def _against_special(table: Table, play: Play, card: Card) -> Iterator[Reason]:
    yield from against_turn(table, play)
    yield from against_card(table, card, play)
    yield from against_owed(table, play)


def _against_demand(table: Table, card: Card) -> Iterator[Reason]:
    if card.family is Family.SAFETY:
        yield reason(Code.SAFETY_DEMANDED)
    elif card not in table.deck:
        yield reason(Code.UNKNOWN_CARD, card=card)


def _seat(table: Table, player: str | None) -> int | None:
    return next((index for index, seat in enumerate(table.seats) if seat.player == player), None)
