"""Why a robot plays what it plays: a sentence with the numbers that decided."""

from __future__ import annotations

from companion.common.text import Said, all_of, say, say_many
from companion.robots.information_set import Position
from companion.robots.search import Found
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family, card_name
from companion.rules.play import Play, Verb


def reason_for(position: Position, play: Play | None) -> Said:
    """Return why a play was chosen by its worth."""
    table, side = position.table, position.side
    who = all_of(side.players)
    if play is None:
        return say_many(
            "The card in the hand is not worth laying now.",
            "Nothing in the hand is worth laying now: %(count)d cards wait.",
            len(position.hand),
        )
    card = play.card or Card.UNKNOWN
    if play.verb in (Verb.EXTEND, Verb.FINISH):
        most = max(table.race_km(other) for other in table.sides if other is not side)
        return say("The nearest opponent has %(km)d km; cards left to draw: %(left)d.", km=most, left=table.draw_pile)
    if play.verb is Verb.DISCARD:
        return say_many(
            "%(card)s is the last card.",
            "Of the %(count)d cards %(card)s is missed least.",
            len(position.hand),
            card=card_name(card),
        )
    if play.verb is Verb.PLAY and card.family is Family.DISTANCE:
        km = table.race_km(side) + card.km * play.times
        return say("It brings %(side)s to %(km)d of %(target)d km.", side=who, km=km, target=table.target)
    if play.is_attack and card.family is Family.HAZARD:
        return _attack_reason(position, play, card)
    if play.verb is Verb.PLAY and card.family is Family.SAFETY:
        return _safety_reason(position, card)
    lacks = position.table.target - table.race_km(side)
    return say("It helps %(side)s on, with %(km)d km still to go.", side=who, km=lacks)


def _attack_reason(position: Position, play: Play, card: Card) -> Said:
    victim = position.table.sides[position.table.side_index(play.target or "") or 0]
    return say(
        "It holds up %(side)s at %(km)d km; unseen cards that help: %(left)d.",
        side=all_of(victim.players),
        km=position.table.race_km(victim),
        left=position.unseen[REMEDY_OF[card]] + position.unseen[SAFETY_OF[card]],
    )


def _safety_reason(position: Position, card: Card) -> Said:
    to_come = sum(position.unseen[hazard] for hazard, safety in SAFETY_OF.items() if safety is card)
    return say("Hazards that it keeps off: %(count)d unseen.", count=to_come)


def search_reason(position: Position, found: Found) -> Said:
    """Return why a play was chosen by a search."""
    return say(
        "In %(worlds)d dealt worlds it wins %(share)d%%, `%(other)s` %(less)d%%: %(why)s",
        worlds=found.worlds,
        share=round(100 * found.share),
        other=found.other or "–",
        less=round(100 * found.other_share),
        why=reason_for(position, found.play),
    )
