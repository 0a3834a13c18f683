"""What is wrong with a table as it lies, however it came about: everything at once, for any edition and house rules.

A table that legal plays lead to has no problem. Of a pile only the order is known, not when which safety came out;
so a pile is wrong only if no order of legal plays leads to it. `Card.UNKNOWN` may be anything: a pile of which
only the top was seen is written `(Card.UNKNOWN, top)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from companion.rules.cards import HAZARD_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition
from companion.rules.table import PILE_OF, Side, Table


class Wrong(NamedTuple):
    """One thing that is wrong with a table: a word for it, and what it is about."""

    code: str
    details: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.code


def wrong(code: str, **details: object) -> Wrong:
    return Wrong(code, tuple((key, str(value)) for key, value in details.items()))


def problems(table: Table) -> tuple[Wrong, ...]:
    """Return everything that is wrong with a table; nothing for one that legal plays lead to.

    Any cards may lie anywhere.
    """
    found = [*_wrong_cards(table), *_wrong_sum(table)]
    for look in (_Look.at(table, side) for side in table.sides):
        for wrongs in (_wrong_piles, _wrong_battle_pile, _wrong_speed_pile, _wrong_distances, _wrong_coups_fourres):
            found += wrongs(look)
    return tuple(dict.fromkeys(found))


# The cards of the whole table


def _lying(table: Table) -> Counter[Card]:
    """Return how many of each card lie on the table, an accelerator with each doubled card."""
    lying = Counter(table.discards)
    for side in table.sides:
        lying.update(chain(*side.piles.values(), [Card.ACCELERATOR] * len(side.doubled)))
    return lying


def _wrong_cards(table: Table) -> Iterator[Wrong]:
    """Cards that this deck has not, or not so often."""
    for card, count in _lying(table).items():
        if card not in table.deck:
            if card is not Card.UNKNOWN:
                yield wrong("unknown-card", card=card)
        elif count > table.deck[card] and (table.edition.counts_verified or card.family is Family.SAFETY):
            yield wrong("too-many-copies", card=card, count=table.deck[card])


def _wrong_sum(table: Table) -> Iterator[Wrong]:
    """The cards that lie there, in the hands and in the pile are the deck."""
    deck = sum(table.deck.values())
    count = _lying(table).total() + sum(table.hands) + table.draw_pile + table.unaccounted
    if count != deck:
        code = "too-many-copies" if count > deck else "missing-cards"
        yield wrong(code, count=count, deck=deck)


# In front of one side


@dataclass(frozen=True, slots=True)
class _Look:
    """A side's piles with the cards alone that belong there, and what the edition lets lie on them."""

    table: Table
    edition: Edition
    side: Side
    battle: tuple[Card, ...]
    speed: tuple[Card, ...]
    right_of_way: bool
    mirrors: bool
    """A mirror puts a hazard on a pile that nobody could have attacked."""

    stays: bool
    """A hazard whose safety is laid late stays on its pile."""

    thrown: bool
    """A remedy goes to the discard pile with its hazard."""

    forgets: bool
    """After a safety a pile may show a roll, or nothing, whatever lies there."""

    @classmethod
    def at(cls, table: Table, side: Side) -> _Look:
        return cls(
            table,
            table.edition,
            side,
            battle=tuple(card for card in side.battle if _belongs(table, "battle", card)),
            speed=tuple(card for card in side.speed if _belongs(table, "speed", card)),
            right_of_way=Card.RIGHT_OF_WAY in side.safeties,
            mirrors=Card.MIRROR in table.deck,
            stays=table.edition.roll_after_late_safety == "needed",
            thrown=table.edition.pile_after_remedy == "card-beneath",
            forgets=table.edition.pile_after_safety == "roll",
        )

    def why(self, code: str, **details: object) -> Wrong:
        """Return a reason that concerns this side."""
        return wrong(code, side=self.side.name, **details)


def _wrong_piles(look: _Look) -> Iterator[Wrong]:
    for pile, cards in look.side.piles.items():
        for card in cards:
            if card in look.table.deck and not _belongs(look.table, pile, card):
                yield look.why("wrong-pile", card=card, pile=pile)


def _belongs(table: Table, pile: str, card: Card) -> bool:
    """True if a card of this deck lies on that pile when it is laid. An unread card may belong anywhere."""
    if card is Card.UNKNOWN:
        return True
    if card.family is Family.SPECIAL:
        return card is Card.ACCELERATOR and card in table.deck and pile == "distance"
    return card in table.deck and pile == PILE_OF[card]


# The battle pile, card on card


def _wrong_battle_pile(look: _Look) -> Iterator[Wrong]:
    spare = _rolls_to_spare(look)
    for below, card in zip((None, *look.battle), look.battle, strict=False):
        if Card.UNKNOWN in (below, card):
            continue
        why = _LIES_ON[(Card.ROLL if card is Card.ROLL else card.family)](look, below, card)
        if why is not None and why.code == "already-rolling" and spare:
            spare -= 1
        elif why is not None:
            yield why
    top = look.battle[-1] if look.battle else None
    if top is not None and top.family is Family.HAZARD and _is_out(look, top) and not _may_lie_on(look, top):
        yield look.why("protected", card=top, safety=SAFETY_OF[top])


def _is_out(look: _Look, hazard: Card) -> bool:
    """True if the hazard's safety is out."""
    return SAFETY_OF[hazard] in look.side.safeties


def _may_lie_on(look: _Look, hazard: Card) -> bool:
    """True if a hazard may lie on under its safety: a late one leaves it there, or it was covered by another then.

    A coup fourré takes its hazard away, and right of way takes a stop away that shows.
    """
    if look.edition.hazard_on_hazard == "allowed":
        return True
    return look.stays and hazard is not Card.STOP and SAFETY_OF[hazard] not in look.side.coups_fourres


def _rolls_to_spare(look: _Look) -> int:
    """Return how many rolls may lie on a roll: one where right of way made the pile show nothing; and where the hazard
    between them was put away, as may be done after a late safety although it might stay.
    """
    spare = int(look.forgets and look.right_of_way)
    if not look.stays:
        return spare
    late = Counter(look.side.safeties) - Counter(look.side.coups_fourres)
    gone = {SAFETY_OF[card] for card in look.table.discards if card in SAFETY_OF} - {Card.RIGHT_OF_WAY}
    return spare + len(late.keys() & gone)


def _remedy_on(look: _Look, below: Card | None, card: Card) -> Wrong | None:
    fits = below is HAZARD_OF[card] and not look.thrown
    return None if fits else look.why("nothing-under-remedy", card=card, hazard=HAZARD_OF[card])


def _roll_on(look: _Look, below: Card | None, _roll: Card) -> Wrong | None:
    if below is Card.STOP and not look.thrown:
        return None
    if below is Card.ROLL:
        return look.why("already-rolling")
    nothing_shown = look.forgets and look.right_of_way
    if below is None:
        useful = look.edition.roll_on_remedy == "allowed" or look.edition.roll_to_start == "needed"
    elif below.family is Family.HAZARD:
        useful = _may_lie_on(look, below) and (_is_out(look, below) or nothing_shown)
    else:
        useful = look.edition.roll_on_remedy == "allowed" or nothing_shown
    return None if useful else look.why("nothing-under-remedy", card=Card.ROLL, hazard=Card.STOP)


def _hazard_on(look: _Look, below: Card | None, card: Card) -> Wrong | None:
    if below is None:
        allowed = _may_attack(look, look.edition.hazard_on_empty_pile, card)
        return None if allowed else look.why("opponent-not-driving")
    if below is Card.ROLL:
        return None
    may_attack = _may_attack(look, look.edition.hazard_on_remedy, card)
    if below.family is Family.REMEDY:
        return None if may_attack else look.why("opponent-not-driving")
    if look.edition.hazard_on_hazard == "allowed":
        return None
    if may_attack and card is not below and _is_out(look, below) and _may_lie_on(look, below):
        return None
    return look.why("already-attacked", hazard=below)


def _may_attack(look: _Look, switch: str, hazard: Card) -> bool:
    """True if a hazard may have come onto a pile that shows no roll. Right of way lets others in, but no stop."""
    if switch == "allowed" or look.mirrors:
        return True
    lets_in = switch == "with-right-of-way" or look.forgets
    return lets_in and look.right_of_way and hazard is not Card.STOP


_LIES_ON = {Card.ROLL: _roll_on, Family.REMEDY: _remedy_on, Family.HAZARD: _hazard_on}


# The speed pile


def _wrong_speed_pile(look: _Look) -> Iterator[Wrong]:
    for below, card in zip((None, *look.speed), look.speed, strict=False):
        if card is Card.SPEED_LIMIT and below is Card.SPEED_LIMIT:
            yield look.why("already-limited")
        elif card is Card.END_OF_LIMIT and (look.thrown or below in (None, Card.END_OF_LIMIT)):
            yield look.why("not-limited")
    if look.speed[-1:] == (Card.SPEED_LIMIT,) and look.right_of_way:
        yield look.why("protected", card=Card.SPEED_LIMIT, safety=Card.RIGHT_OF_WAY)


# The distances


def _wrong_distances(look: _Look) -> Iterator[Wrong]:
    side, table, edition = look.side, look.table, look.edition
    yield from _wrong_start(look)
    allowed = edition.two_hundreds_max
    if allowed is not None and side.distances.count(Card.KM_200) > allowed:
        yield look.why("third-200", count=allowed)
    if edition.overshoot == "forbidden" and table.race_km(side) > table.target:
        yield look.why("past-target", km=table.race_km(side), target=table.target)
    if Counter(side.doubled) - Counter(side.distances):
        yield look.why("needs-distance")


def _wrong_start(look: _Look) -> Iterator[Wrong]:
    """A side that has driven, or laid other cards first, with no roll and no right of way."""
    edition, side = look.edition, look.side
    if Card.ROLL in look.battle or Card.UNKNOWN in look.battle:
        return
    if look.right_of_way:
        first_was_another = Card.END_OF_LIMIT in look.speed and not _attacked_before_start(look)
    elif side.km and edition.roll_to_start == "needed" and not _may_have_driven(look):
        yield look.why("never-rolled")
        return
    else:
        first_was_another = side.has_begun and not side.coups_fourres
    if first_was_another and edition.first_card == "roll-or-right-of-way":
        yield look.why("first-card")


def _attacked_before_start(look: _Look) -> bool:
    """True if a side may be attacked on an empty pile, without right of way."""
    return look.edition.hazard_on_empty_pile == "allowed" or look.mirrors


def _may_have_driven(look: _Look) -> bool:
    """True if the car may drive without any roll: it was attacked where it stood, and got over that."""
    edition = look.edition
    if not _attacked_before_start(look):
        return False
    remedied = any(card.family is Family.REMEDY for card in look.battle)
    if remedied and edition.roll_after_remedy == "not-needed":
        return True
    uncovered = not look.stays and edition.hazard_on_hazard == "allowed"
    return bool(look.side.safeties) and (look.forgets or uncovered)


# The safeties


def _wrong_coups_fourres(look: _Look) -> Iterator[Wrong]:
    """Coups fourrés without a safety, or on a side that nobody can have attacked."""
    out = set(look.side.safeties)
    for card in dict.fromkeys(look.side.coups_fourres):
        never_attacked = not look.battle and not any(
            _may_attack(look, look.edition.hazard_on_empty_pile, hazard) or hazard is Card.SPEED_LIMIT
            for hazard in SAFETY_OF
            if SAFETY_OF[hazard] is card
        )
        if card not in out or never_attacked:
            yield look.why("not-a-coup-fourre", card=card)
