"""Map plays to zones of the mats, and cards in zones to plays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from companion.common.text import Said, Term, say
from companion.rules.card_names import card_term
from companion.rules.cards import HAZARD_OF, Card, Family
from companion.rules.legality import answers_to
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.table import PILE_OF, Side, Table
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile, kind_of, mat_of


@dataclass(frozen=True, slots=True)
class Guess:
    """The play meant by a card in a zone; `clear` if no other is as likely."""

    play: Play
    clear: bool


@dataclass(frozen=True, slots=True)
class Places:
    """Zones of a table; maps mat ids to side names."""

    mats: Mapping[str, str]

    def mat_of(self, side: str) -> str | None:
        return next((mat for mat, name in self.mats.items() if name == side), None)

    def lying(self, table: Table) -> Iterator[tuple[str, Card]]:
        """Yield zone and card for each card on the table by the record."""
        for side in table.sides:
            mat = self.mat_of(side.name)
            yield from ((f"{mat}/{kind}", card) for kind in side.piles for card in _lying(side, kind))
        yield from ((DISCARD_ZONE, card) for card in table.discards)

    def cards(self, table: Table, zone: str) -> tuple[Card, ...]:
        """Return a zone's cards by the record, newest last."""
        if zone == DISCARD_ZONE:
            return table.discards
        side = self._side(table, zone)
        return _lying(side, kind_of(zone)) if side else ()

    def is_beneath(self, table: Table, card: Card, zone: str) -> bool:
        """True if, by the record, this card is covered in the zone (a hazard: beaten)."""
        return card in self.cards(table, zone)[:-1]

    def zone_of(self, play: Play, table: Table) -> str | None:
        """Return the zone that gets a play's card; None for a play without a card."""
        if play.verb is Verb.DISCARD:
            return DISCARD_ZONE
        if play.verb is not Verb.PLAY or play.card is None:
            return None
        thrown = play.at_once and play.card.family is Family.REMEDY
        if play.card.family is Family.SPECIAL or (thrown and table.edition.pile_after_remedy == "card-beneath"):
            return DISCARD_ZONE
        index = table.side_index(play.target or play.player)
        mat = None if index is None else self.mat_of(table.sides[index].name)
        return f"{mat}/{PILE_OF[play.card]}" if mat else None

    def play_at(self, face: Card, zone: str, sideways: bool, table: Table) -> Guess | None:
        """Return the play, legal or not, of a new card in a zone; None for the draw pile or an unused mat.

        Prefers the player who is up.
        """
        if zone == DISCARD_ZONE:
            # It may be one of several discarded together.
            alone = table.edition.pair_for_discard == "no" and table.edition.exchange == "no"
            return Guess(discard(table.player_up, face), clear=alone)
        side = self._side(table, zone)
        if side is None:
            return None
        if face.family is Family.HAZARD:
            return _attack(table, side, face)
        if face.family is Family.SAFETY:
            return _safety(table, side, face, sideways)
        is_up = table.player_up in side.players
        at_once = not is_up and _is_answer(table, side, face)
        return Guess(lay(_player_of(table, side), face, at_once=at_once), clear=is_up)

    def question(self, face: Card, zone: str, table: Table) -> Said | None:
        """Return what to ask about a new card that no picture can explain, else None."""
        name = card_term(face, table.edition.name)
        if face.family is Family.SPECIAL:
            return say("%(card)s was played: enter the play it belongs to.", card=name)
        answers = any(_is_answer(table, side, face) for side in table.sides) or _is_thrown(table, face)
        if zone == DISCARD_ZONE and face.family is Family.REMEDY and answers:
            return say(
                "%(card)s was discarded or counters the attack: enter the play.",
                card=name,
            )
        return None

    def is_beaten(self, table: Table, hazard: Card, zone: str) -> bool:
        """True if, by the record, a hazard in a side's pile is no longer active."""
        side, there = self._side(table, zone), self.cards(table, zone)
        if side is None:
            return False
        return hazard not in (side.hazard, Card.SPEED_LIMIT if side.limited else None) or there[-1:] != (hazard,)

    def within_reach(self, table: Table) -> frozenset[str]:
        """Return the zones where the player who is up may play."""
        own = self.mat_of(table.side_of(table.player_up).name)
        attacked = {f"{mat}/{kind}" for mat in self.mats for kind in ("battle", "speed")}
        return frozenset({f"{own}/distance", f"{own}/safety", DISCARD_ZONE} | attacked)

    @staticmethod
    def belongs(face: Card, zone: str) -> bool:
        """True if the rules allow a card in a zone."""
        kind = kind_of(zone)
        return zone == DISCARD_ZONE or kind == ("distance" if face is Card.ACCELERATOR else PILE_OF[face])

    def _side(self, table: Table, zone: str) -> Side | None:
        name = self.mats.get(mat_of(zone))
        return next((side for side in table.sides if side.name == name), None)


def where(zone: str) -> Term:
    """Return a zone's name without its side."""
    return Term(f"the {kind_of(zone)} {'pile' if is_pile(zone) else 'area'}", "zone", zone)


def _lying(side: Side, kind: str) -> tuple[Card, ...]:
    """Return a side's cards of a zone kind; an accelerator per doubled distance card."""
    return side.piles[kind] + (Card.ACCELERATOR,) * (len(side.doubled) if kind == "distance" else 0)


def _player_of(table: Table, side: Side) -> str:
    """Return the side's player who is up now or next."""
    order = (table.seats[(table.to_move + step) % len(table.seats)].player for step in range(len(table.seats)))
    return next(player for player in order if player in side.players)


def _attack(table: Table, victim: Side, hazard: Card) -> Guess:
    """Guess the attacker: the player who is up; if a partner, the last opponent to move."""
    if table.player_up not in victim.players:
        return Guess(lay(table.player_up, hazard, victim.name), clear=True)
    order = (table.seats[(table.to_move - step) % len(table.seats)].player for step in range(1, len(table.seats)))
    attacker = next((player for player in order if player not in victim.players), table.player_up)
    return Guess(lay(attacker, hazard, victim.name), clear=False)


def _is_answer(table: Table, side: Side, card: Card) -> bool:
    index = table.sides.index(side)
    return any(attack.side == index and card in answers_to(table.edition, attack.hazard) for attack in table.attacks)


def _is_thrown(table: Table, remedy: Card) -> bool:
    """True if this remedy ends a hazard of the player who is up, and both are discarded."""
    side = table.side_of(table.player_up)
    in_force = (side.hazard, Card.SPEED_LIMIT if side.limited else None)
    return table.edition.pile_after_remedy == "card-beneath" and HAZARD_OF.get(remedy) in in_force


def _safety(table: Table, side: Side, safety: Card, sideways: bool) -> Guess:
    """Guess a safety's play: a coup fourré if sideways after a fresh attack; otherwise plain.

    That is unclear after an attack, sideways, or out of turn.
    """
    answers, player = _is_answer(table, side, safety), _player_of(table, side)
    if answers and sideways:
        return Guess(lay(player, safety, at_once=True), clear=True)
    return Guess(lay(player, safety), clear=table.player_up in side.players and not (answers or sideways))
