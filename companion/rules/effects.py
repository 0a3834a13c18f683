"""What a play does to the table.

The laws, kept whatever is laid:
1. A card that is laid leaves a hand and lies somewhere on the table; none vanishes.
2. Turns run clockwise; a safety keeps the turn, a coup fourré takes it to the claimer.
3. Each turn draws by itself unless the player has drawn already or has forgotten to.
4. An attack can be answered until the next applied play, `take` or `skip-draw`.

A play changes several things, so it works on a draft and hands back one new table.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.dealing import EXTENDED_KM
from companion.rules.objections import answered, card_of
from companion.rules.play import Play, Verb
from companion.rules.table import Attack, Ending, HowEnded, Side, Table, is_driving


def apply(table: Table, play: Play) -> Table:
    """The table after a play. Does not ask whether it is legal: the cards lie where they lie.

    After the hand's end nothing changes any more.
    """
    if table.ending is not None:
        return table
    draft = Draft(table)
    _APPLY[play.verb](draft, play)
    draft.attacks = _attacks_after(draft, play)
    return draft.table()


class Draft:
    """A table while a play changes it. What is not here stays as it was."""

    __slots__ = (
        "attacks",
        "before",
        "discards",
        "draw_pile",
        "drawn",
        "ending",
        "extended_by",
        "extension_offered_to",
        "hands",
        "may_extend",
        "may_pass",
        "new_attacks",
        "sides",
        "target",
        "to_move",
        "unaccounted",
    )

    def __init__(self, table: Table) -> None:
        self.before = table
        self.sides = table.sides
        self.hands = list(table.hands)
        self.draw_pile = table.draw_pile
        self.unaccounted = table.unaccounted
        self.discards = table.discards
        self.to_move = table.to_move
        self.drawn = table.drawn
        self.target = table.target
        self.may_extend = table.may_extend
        self.extension_offered_to = table.extension_offered_to
        self.extended_by = table.extended_by
        self.attacks = table.attacks
        self.may_pass = table.may_pass
        self.ending = table.ending
        self.new_attacks: tuple[Attack, ...] = ()

    def table(self) -> Table:
        """The table as the draft has it now."""
        return Table(
            edition=self.before.edition,
            sides=self.sides,
            seats=self.before.seats,
            deck=self.before.deck,
            hands=tuple(self.hands),
            draw_pile=self.draw_pile,
            unaccounted=self.unaccounted,
            discards=self.discards,
            to_move=self.to_move,
            drawn=self.drawn,
            target=self.target,
            may_extend=self.may_extend,
            extension_offered_to=self.extension_offered_to,
            extended_by=self.extended_by,
            attacks=self.attacks,
            may_pass=self.may_pass,
            ending=self.ending,
        )

    def change_side(self, index: int, **changes: Any) -> None:
        """A side with some of its fields changed."""
        side = self.sides[index]
        fields = dict(zip(_SIDE_FIELDS, _side_values(side), strict=True)) | changes
        self.sides = (*self.sides[:index], Side(**fields), *self.sides[index + 1 :])

    def discard(self, *cards: Card) -> None:
        """Cards on the discard pile, the last on top."""
        self.discards += cards

    def draw(self, seat: int) -> None:
        """One card from the draw pile into a hand, reshuffling the discards where the edition does."""
        if self.draw_pile == 0 and self.before.edition.empty_pile == "reshuffle":
            self.draw_pile, self.discards = len(self.discards), ()
        if self.draw_pile:
            self.draw_pile -= 1
            self.hands[seat] += 1

    def draw_for_turn(self, seat: int) -> None:
        """The draw that comes with a play, unless the player to move has drawn already."""
        if not (self.drawn and seat == self.to_move):
            self.draw(seat)

    def leave_hand(self, seat: int) -> None:
        """One card fewer in a hand; from a hand that should be empty, one of the unaccounted cards."""
        if self.hands[seat]:
            self.hands[seat] -= 1
        elif self.unaccounted:
            self.unaccounted -= 1

    def take(self, seat: int) -> None:
        """The top of the discard pile into a hand."""
        if self.discards:
            self.discards = self.discards[:-1]
            self.hands[seat] += 1


_SIDE_FIELDS = tuple(Side.__dataclass_fields__)
_side_values = attrgetter(*_SIDE_FIELDS)


# Plays


def _play(draft: Draft, play: Play) -> None:
    attack = answered(draft.before, play) if play.at_once else None
    family = card_of(play).family
    if attack is not None:
        answer = _coup_fourre if family is Family.SAFETY else _fast_remedy
        answer(draft, play, attack)
    elif play.at_once and family is Family.SAFETY and play.player != draft.before.player_to_move:
        _safety_out_of_turn(draft, play)
    else:
        _play_in_turn(draft, play)


def _play_in_turn(draft: Draft, play: Play) -> None:
    seat, card = draft.before.seat_of(play.player or ""), card_of(play)
    index = draft.before.seats[seat].side
    draft.draw_for_turn(seat)
    draft.leave_hand(seat)
    if card.family is Family.HAZARD:
        _lay_hazard(draft, seat, card, play.target)
    else:
        _lay_own(draft, index, card)
        _complete(draft, index)
    _settle(draft, seat if card.family is Family.SAFETY else _next(draft, seat))


def _lay_own(draft: Draft, index: int, card: Card) -> None:
    """A card on the own side's pile; one that has no pile there goes to the discards."""
    side = draft.sides[index]
    if card.family is Family.DISTANCE:
        draft.change_side(index, distances=(*side.distances, card))
    elif card is Card.END_OF_LIMIT:
        draft.change_side(index, speed=(*side.speed, card))
    elif card.family is Family.REMEDY:
        draft.change_side(index, battle=(*side.battle, card), shows_roll=False)
    elif card.family is Family.SAFETY:
        _lay_safety(draft, index, card)
    else:
        draft.discard(card)


def _lay_safety(draft: Draft, index: int, card: Card) -> None:
    """A safety in its place; an older hazard of its own stays and counts as remedied, or is taken away."""
    side = draft.sides[index]
    draft.change_side(index, safeties=(*side.safeties, card))
    if draft.before.edition.roll_after_late_safety == "needed":
        return
    if side.limited and card is Card.RIGHT_OF_WAY:
        draft.change_side(index, speed=side.speed[:-1])
        draft.discard(Card.SPEED_LIMIT)
    if side.hazard is not None and SAFETY_OF[side.hazard] is card:
        draft.discard(side.hazard)
        draft.change_side(index, battle=side.battle[:-1])
        _drive_on(draft, index)


def _drive_on(draft: Draft, index: int) -> None:
    """A side whose hazard was taken away drives, whatever comes to light: its pile counts as showing a roll."""
    edition = draft.before.edition
    if edition.roll_after_remedy == "needed" or not is_driving(edition, draft.sides[index]):
        draft.change_side(index, shows_roll=True)


def _lay_hazard(draft: Draft, seat: int, card: Card, target: str | None) -> None:
    """A hazard on its victim; aimed at nobody it goes to the only opponent, or to the discards."""
    own, index = draft.before.seats[seat].side, draft.before.side_index(target or "")
    if index is None:
        others = [i for i in range(len(draft.sides)) if i != own]
        if len(others) != 1:
            draft.discard(card)
            return
        index = others[0]
    side = draft.sides[index]
    if card is Card.SPEED_LIMIT:
        draft.change_side(index, speed=(*side.speed, card))
    else:
        draft.change_side(index, battle=(*side.battle, card), shows_roll=False)
    if index != own:
        draft.new_attacks = (Attack(card, seat, index, side.shows_roll),)


def _coup_fourre(draft: Draft, play: Play, attack: Attack) -> None:
    """The hazard goes to the discards, the claimer refills one card and has a whole turn."""
    seat = draft.before.seat_of(play.player or "")
    _lift(draft, attack)
    _lay_safety(draft, attack.side, card_of(play))
    side = draft.sides[attack.side]
    draft.change_side(attack.side, coups_fourres=(*side.coups_fourres, card_of(play)))
    draft.leave_hand(seat)
    draft.draw(seat)
    _complete(draft, attack.side)
    _settle(draft, seat)


def _fast_remedy(draft: Draft, play: Play, attack: Attack) -> None:
    """Hazard and remedy go to the discards; the claimer has the turn without drawing, or passes it on."""
    seat = draft.before.seat_of(play.player or "")
    _lift(draft, attack)
    draft.discard(card_of(play))
    draft.leave_hand(seat)
    _settle(draft, seat, drawn=True)
    draft.may_pass = draft.ending is None and draft.to_move == seat


def _lift(draft: Draft, attack: Attack) -> None:
    """Takes an attack's hazard off its pile; what lay under it shows again."""
    side = draft.sides[attack.side]
    if attack.hazard is Card.SPEED_LIMIT:
        draft.change_side(attack.side, speed=side.speed[:-1])
    else:
        draft.change_side(attack.side, battle=side.battle[:-1], shows_roll=attack.on_roll)
    draft.discard(attack.hazard)


def _safety_out_of_turn(draft: Draft, play: Play) -> None:
    """A safety claimed too late lies there all the same, as a plain one; the turn stays where it was."""
    seat = draft.before.seat_of(play.player or "")
    index = draft.before.seats[seat].side
    _lay_safety(draft, index, card_of(play))
    draft.leave_hand(seat)
    draft.draw(seat)
    _complete(draft, index)
    _settle(draft, draft.to_move, drawn=draft.drawn)


def _discard(draft: Draft, play: Play) -> None:
    seat = draft.before.seat_of(play.player or "")
    draft.draw_for_turn(seat)
    draft.leave_hand(seat)
    draft.discard(card_of(play))
    _settle(draft, _next(draft, seat))


def _exchange(draft: Draft, play: Play) -> None:
    """The exchange is the whole turn: as many cards are drawn as are laid down, and no other."""
    seat = draft.before.seat_of(play.player or "")
    for card in play.cards:
        draft.leave_hand(seat)
        draft.discard(card)
    for _ in play.cards:
        draft.draw(seat)
    _settle(draft, _next(draft, seat))


def _pass(draft: Draft, play: Play) -> None:
    _settle(draft, _next(draft, draft.before.seat_of(play.player or "")))


def _take(draft: Draft, play: Play) -> None:
    draft.to_move = draft.before.seat_of(play.player or "")
    draft.take(draft.to_move)
    draft.drawn = True


def _skip_draw(draft: Draft, play: Play) -> None:
    draft.to_move = draft.before.seat_of(play.player or "")
    draft.drawn = True


def _extend(draft: Draft, _: Play) -> None:
    draft.target, draft.may_extend = EXTENDED_KM, False
    draft.extended_by, draft.extension_offered_to = draft.extension_offered_to, None
    _settle(draft, draft.to_move)


def _finish(draft: Draft, _: Play) -> None:
    draft.ending = Ending(HowEnded.COMPLETED, draft.extension_offered_to)
    draft.extension_offered_to = None


def _exhausted(draft: Draft, _: Play) -> None:
    """The pile is seen empty, whatever the count says: hands are as large as draws and plays make them."""
    draft.unaccounted += draft.draw_pile
    draft.draw_pile = 0
    if draft.before.edition.empty_pile == "reshuffle":
        draft.draw_pile, draft.discards = len(draft.discards), ()
    _settle(draft, draft.to_move, drawn=draft.drawn)


def _end(draft: Draft, play: Play) -> None:
    if draft.extension_offered_to is not None:
        _finish(draft, play)
        return
    draft.draw_for_turn(draft.to_move)
    can_reshuffle = draft.before.edition.empty_pile == "reshuffle" and draft.discards
    how = HowEnded.AGREED if draft.draw_pile or can_reshuffle else HowEnded.EXHAUSTED
    draft.ending = Ending(how)


_APPLY: dict[Verb, Callable[[Draft, Play], None]] = {
    Verb.PLAY: _play,
    Verb.DISCARD: _discard,
    Verb.EXCHANGE: _exchange,
    Verb.PASS: _pass,
    Verb.TAKE: _take,
    Verb.SKIP_DRAW: _skip_draw,
    Verb.EXTEND: _extend,
    Verb.FINISH: _finish,
    Verb.EXHAUSTED: _exhausted,
    Verb.END: _end,
}


# What follows from a play


def _next(draft: Draft, seat: int) -> int:
    return (seat + 1) % len(draft.hands)


def _complete(draft: Draft, index: int) -> None:
    """Ends the hand, or offers the extension, when a side has reached the target."""
    km = draft.before.race_km(draft.sides[index])
    passed = km > draft.target and draft.before.edition.overshoot == "allowed"
    if km != draft.target and not passed:
        return
    if draft.may_extend:
        draft.extension_offered_to = index
    else:
        draft.ending = Ending(HowEnded.COMPLETED, index)


def _settle(draft: Draft, seat: int, *, drawn: bool = False) -> None:
    """Gives the turn to a seat, or to the next after it that has a card; with no cards left the hand ends."""
    draft.to_move, draft.drawn, draft.may_pass = seat, drawn, False
    if draft.draw_pile or draft.hands[seat] or draft.before.edition.empty_pile == "reshuffle":
        return
    seats = len(draft.hands)
    following = ((seat + step) % seats for step in range(1, seats))
    holder = next((other for other in following if draft.hands[other]), None)
    if holder is not None:
        draft.to_move, draft.drawn = holder, False
    elif draft.ending is None and draft.extension_offered_to is None:
        draft.ending = Ending(HowEnded.EXHAUSTED)


def _attacks_after(draft: Draft, play: Play) -> tuple[Attack, ...]:
    """Which attacks can still be answered: any play shuts all, or only those on the side that played."""
    if draft.ending is not None:
        return ()
    if play.verb in (Verb.EXHAUSTED, Verb.EXTEND):
        return draft.attacks
    if not draft.attacks or draft.before.edition.coup_fourre_window == "next-draw-or-play":
        return draft.new_attacks
    acting = draft.before.side_index(play.player or "")
    still = (attack for attack in draft.attacks if attack.side != acting and _shows(draft, attack))
    return (*still, *draft.new_attacks)


def _shows(draft: Draft, attack: Attack) -> bool:
    side = draft.sides[attack.side]
    return attack.hazard in (side.speed_top, side.battle_top)
