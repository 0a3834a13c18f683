"""The grounds that objections and effects share: whose turn it is, which card it is, what is still open."""

from __future__ import annotations

from collections.abc import Iterator

from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import Attack, How, HowEnded, Table

_BY_VERB = {Verb.THEFT: Card.THEFT, Verb.CONTROL: Card.CONTROL}


def card_of(play: Play) -> Card:
    """The card of a play; a card that was not said is an unknown one."""
    return play.card if play.card is not None else Card.UNKNOWN


def laid_from_hand(play: Play) -> tuple[Card, ...]:
    """The cards that a play takes out of its player's hand."""
    if play.verb in _BY_VERB:
        return (_BY_VERB[play.verb],)
    if play.verb is Verb.PAIR:
        return (card_of(play),) * 2
    if play.verb is Verb.EXCHANGE:
        return play.cards
    if play.verb in (Verb.PLAY, Verb.DISCARD):
        return (card_of(play), Card.ACCELERATOR) if play.times > 1 else (card_of(play),)
    return ()


# What is still open


def answered(table: Table, play: Play) -> Attack | None:
    """The attack that the play's card answers, the latest first, while its window is open."""
    index = table.side_index(play.player or "") if table.attacks else None
    for attack in reversed(table.attacks):
        if attack.side == index and play.card in answers_to(table.edition, attack.hazard):
            return attack
    return None


def answers_to(edition: Edition, hazard: Card) -> tuple[Card, ...]:
    """The cards that answer a hazard at once."""
    return (SAFETY_OF[hazard], REMEDY_OF[hazard]) if edition.fast_remedy == "yes" else (SAFETY_OF[hazard],)


def mirrored(table: Table, player: str) -> Attack | None:
    """The attack on a player's side that he could send back with a mirror, the latest."""
    index = table.side_index(player)
    return next((attack for attack in reversed(table.attacks) if attack.side == index), None)


def is_u_turn(play: Play) -> bool:
    """Whether the play turns the last distance card back."""
    return play.at_once and play.card is Card.U_TURN and play.verb is Verb.PLAY


def can_turn_back(table: Table, play: Play) -> bool:
    """Whether a hand that has ended by a distance card is opened again by this u-turn."""
    ended = table.ending is not None and table.ending.how is HowEnded.COMPLETED
    return ended and table.window.laid is not None and is_u_turn(play)


def lays_taken(table: Table, play: Play) -> bool:
    """Whether a play lays the card that its player has just stolen, been handed or fetched.

    A handed or fetched card may also be discarded, where it cannot be laid, or given to who has asked for it.
    """
    taken = table.window.taken
    if taken is None or table.seats[taken.seat].player != play.player or play.at_once:
        return False
    if play.verb in (Verb.DISCARD, Verb.GIVE):
        return taken.how is not How.STOLEN and play.card is taken.card
    return taken.card in laid_from_hand(play) and play.verb not in (Verb.PAIR, Verb.EXCHANGE)


def is_extra(table: Table, play: Play) -> bool:
    """Whether a play lays a stolen or a handed card: it takes nobody's turn."""
    taken = table.window.taken
    return taken is not None and taken.how is not How.FETCHED and lays_taken(table, play)


# Whose turn it is


def against_turn(table: Table, play: Play) -> Iterator[Reason]:
    """It is somebody else's turn, or the player has to lay the card that he has fetched."""
    taken = table.window.taken
    if taken is not None:
        if is_extra(table, play):
            return
        if taken.how is How.FETCHED and table.seats[taken.seat].player == play.player and not lays_taken(table, play):
            yield reason(Code.MUST_PLAY_IT, card=taken.card)
    if play.player != table.player_to_move:
        yield reason(Code.NOT_YOUR_TURN, player=play.player, turn=table.player_to_move)


# Which card it is


def against_card(table: Table, card: Card, play: Play) -> Iterator[Reason]:
    """The edition has no such card, or all of them are out. Only safeties of an unverified deck are counted."""
    if card not in table.deck:
        yield reason(Code.UNKNOWN_CARD, card=card)
    elif (table.edition.counts_verified or card.family is Family.SAFETY) and copies_left(table, card, play) <= 0:
        yield reason(Code.TOO_MANY_COPIES, card=card, count=table.deck.get(card, 0))


def copies_left(table: Table, card: Card, play: Play) -> int:
    """How many of a card can be in the player's hand or yet to come, once he has drawn for his play."""
    left = table.copies_left(card)
    if reshuffles(table) and _draws_first(table, play):
        return left + table.discards.count(card)
    return left


def _draws_first(table: Table, play: Play) -> bool:
    return not play.at_once and play.verb not in (Verb.EXCHANGE, Verb.PENALTY) and not is_extra(table, play)


def reshuffles(table: Table) -> bool:
    """Whether the draw before the next play turns the discard pile into the draw pile."""
    return table.edition.empty_pile == "reshuffle" and table.to_draw > table.draw_pile


def against_owed(table: Table, play: Play) -> Iterator[Reason]:
    """A card that somebody has asked for is handed over, and neither laid nor discarded."""
    if not table.requests:
        return
    seat = table.seat_of(play.player or "")
    out = laid_from_hand(play)
    for request in table.requests:
        if request.of_seat == seat and request.card in out:
            asker = table.seats[request.by_seat].player
            yield reason(Code.REQUEST_PENDING, case="owed", player=play.player, card=request.card, asker=asker)
