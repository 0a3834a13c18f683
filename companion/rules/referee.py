"""The referee: may this be played (`objections`), what does it do (`apply`), what else could be (`legal_plays`).

The laws of the state, kept by `apply` whatever is laid:
1. A card that is laid leaves a hand and lies somewhere on the table; none vanishes.
2. Turns run clockwise; a safety keeps the turn, a coup fourré takes it to the claimer.
3. Each turn draws by itself unless the player has drawn already or has forgotten to.
4. An attack can be answered until the next applied play, `take` or `skip-draw`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from companion.rules.cards import HAZARD_OF, REMEDY_OF, SAFETY_OF, Card, Family, card_name
from companion.rules.edition import Edition, EditionError
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import Attack, Ending, HowEnded, Seat, Side, Table, Team

EXTENDABLE_KM = 700
EXTENDED_KM = 1000
SLOW_KM = 50
"""The most that may be driven under a speed limit."""


# Starting a hand


def seating(teams: Sequence[Team]) -> tuple[Seat, ...]:
    """The seats clockwise, going round the sides: partners sit opposite each other."""
    rounds = max((len(team.players) for team in teams), default=0)
    return tuple(
        Seat(team.players[place], side)
        for place in range(rounds)
        for side, team in enumerate(teams)
        if place < len(team.players)
    )


def target_for(edition: Edition, players: int) -> int:
    """The edition's own target in km for a number of players."""
    return edition.target_km[players]


def check_seating(edition: Edition, teams: Sequence[Team]) -> None:
    """Raises EditionError, with a sentence, when the edition is not played by these sides."""
    sizes = {len(team.players) for team in teams}
    players = sum(len(team.players) for team in teams)
    if len(sizes) != 1 or (players, *sizes) not in edition.seatings:
        ways = ", ".join(f"{n} in pairs" if each > 1 else f"{n} alone" for n, each in edition.seatings)
        raise EditionError(f"{edition.title} is played by {ways}; this record seats {players}.")


def new_hand(edition: Edition, teams: Sequence[Team], first: str, target: int | None = None) -> Table:
    """A table with the hands dealt and `first` to move.

    Raises EditionError when the edition is not played by these sides, KeyError for a strange first player.
    """
    check_seating(edition, teams)
    seats = seating(teams)
    deck = edition.deck_for(len(seats))
    km = target or target_for(edition, len(seats))
    table = Table(
        edition=edition,
        sides=tuple(Side(team.name, team.players) for team in teams),
        seats=seats,
        deck=deck,
        hands=(edition.hand_size,) * len(seats),
        draw_pile=sum(deck.values()) - edition.hand_size * len(seats),
        unaccounted=0,
        discards=(),
        to_move=0,
        drawn=False,
        target=km,
        may_extend=edition.extension == "yes" and km == EXTENDABLE_KM,
    )
    return replace(table, to_move=table.seat_of(first))


# What speaks against a play


def objections(table: Table, play: Play) -> tuple[Reason, ...]:
    """Every reason against a play at once; none means that it is legal. The play's names must be known."""
    if table.is_over:
        return (reason(Code.HAND_OVER),)
    if play.verb in (Verb.EXTEND, Verb.FINISH):
        return tuple(_against_answer(table, play))
    if play.verb is Verb.END:
        return ()
    if table.extension_offered_to is not None:
        return (reason(Code.HAND_OVER),)
    return tuple(_AGAINST[play.verb](table, play))


def _against_answer(table: Table, play: Play) -> Iterator[Reason]:
    if table.extension_offered_to is None or table.side_index(str(play.player)) != table.extension_offered_to:
        yield reason(Code.EXTENSION_NOT_OFFERED, player=play.player)


def _against_nothing(_table: Table, _play: Play) -> Iterator[Reason]:
    yield from ()


def _against_turn(table: Table, play: Play) -> Iterator[Reason]:
    if play.player != table.player_to_move:
        yield reason(Code.NOT_YOUR_TURN, player=play.player, turn=table.player_to_move)


def _against_take(table: Table, play: Play) -> Iterator[Reason]:
    yield from _against_turn(table, play)
    if table.edition.take_discard == "forbidden" or not table.discards or table.drawn:
        yield reason(Code.CANNOT_TAKE_DISCARD)


def _against_card(table: Table, card: Card) -> Iterator[Reason]:
    if card not in table.edition.deck:
        yield reason(Code.UNKNOWN_CARD, card=card_name(card))
    elif table.edition.counts_verified and table.copies_left(card) <= 0:
        yield reason(Code.TOO_MANY_COPIES, card=card_name(card), count=table.deck.get(card, 0))


def _against_discard(table: Table, play: Play) -> Iterator[Reason]:
    card = _card(play)
    yield from _against_turn(table, play)
    if card is not Card.UNKNOWN:
        yield from _against_card(table, card)
    if card.family is Family.SAFETY and table.edition.discard_safety == "forbidden":
        yield reason(Code.SAFETY_DISCARD)


def _against_play(table: Table, play: Play) -> Iterator[Reason]:
    card, side = _card(play), table.side_of(str(play.player))
    if card not in table.edition.deck:
        yield reason(Code.UNKNOWN_CARD, card=card_name(card))
        return
    yield from _against_card(table, card)
    if play.at_once:
        yield from _against_at_once(table, play, side)
        return
    yield from _against_turn(table, play)
    yield from _against_first_card(table, side, card)
    if card.family is Family.DISTANCE:
        yield from _against_distance(table, side, card)
    elif card.family is Family.REMEDY:
        yield from _against_remedy(table.edition, side, card)
    elif card.family is Family.HAZARD:
        yield from _against_hazard(table, play, side)


def _against_first_card(table: Table, side: Side, card: Card) -> Iterator[Reason]:
    laid_nothing = not (side.battle or side.speed or side.distances or side.safeties)
    opens = card in (Card.ROLL, Card.RIGHT_OF_WAY)
    if table.edition.first_card == "roll-or-right-of-way" and laid_nothing and not opens:
        yield reason(Code.FIRST_CARD, side=side.name)


def _against_distance(table: Table, side: Side, card: Card) -> Iterator[Reason]:
    edition = table.edition
    if side.hazard is not None:
        yield _under(side, side.hazard)
    elif not is_driving(edition, side):
        yield reason(Code.NOT_DRIVING, side=side.name)
    if side.limited and card.km > SLOW_KM:
        yield reason(Code.SPEED_LIMIT)
    left = table.target - table.race_km(side)
    if card.km > left and edition.overshoot == "forbidden":
        yield reason(Code.PAST_TARGET, card=card_name(card), left=left)
    allowed = edition.two_hundreds_max
    if card is Card.KM_200 and side.distances.count(card) >= allowed:
        yield reason(Code.THIRD_200, side=side.name, count=allowed)


def is_driving(edition: Edition, side: Side) -> bool:
    """Whether the side's car moves: nothing stops it, and a roll shows where one is needed."""
    if side.hazard is not None:
        return False
    top = side.battle_top
    if top is Card.ROLL or side.has_right_of_way:
        return True
    if top is None:
        return edition.roll_to_start == "not-needed"
    if top.family is Family.HAZARD:
        return edition.roll_after_late_safety == "not-needed"
    return edition.roll_after_remedy == "not-needed"


def _under(side: Side, hazard: Card) -> Reason:
    remedy, safety = card_name(REMEDY_OF[hazard]), card_name(SAFETY_OF[hazard])
    return reason(Code.UNDER_HAZARD, side=side.name, hazard=card_name(hazard), remedy=remedy, safety=safety)


def _against_remedy(edition: Edition, side: Side, card: Card) -> Iterator[Reason]:
    if card is Card.ROLL:
        yield from _against_roll(edition, side)
    elif card is Card.END_OF_LIMIT:
        if not side.limited:
            yield reason(Code.NOT_LIMITED, side=side.name)
    elif side.hazard is not HAZARD_OF[card]:
        yield reason(Code.NOTHING_TO_REMEDY, card=card_name(card), hazard=card_name(HAZARD_OF[card]), side=side.name)


def _against_roll(edition: Edition, side: Side) -> Iterator[Reason]:
    top = side.battle_top
    if side.hazard is not None and side.hazard is not Card.STOP:
        yield _under(side, side.hazard)
    elif side.hazard is Card.STOP:
        return
    elif top is Card.ROLL or (side.has_right_of_way and edition.roll_with_right_of_way == "forbidden"):
        yield reason(Code.ALREADY_ROLLING, side=side.name)
    elif top is None:
        if edition.roll_to_start == "not-needed":
            yield _no_stop(side)
    elif top.family is Family.REMEDY and edition.roll_on_remedy == "forbidden":
        yield _no_stop(side)


def _no_stop(side: Side) -> Reason:
    return reason(Code.NOTHING_TO_REMEDY, card=card_name(Card.ROLL), hazard=card_name(Card.STOP), side=side.name)


def _against_hazard(table: Table, play: Play, own: Side) -> Iterator[Reason]:
    card, index = _card(play), table.side_index(play.target or "")
    if index is None:
        yield reason(Code.NEEDS_TARGET, card=card_name(card))
        return
    victim = table.sides[index]
    if victim is own:
        yield reason(Code.OWN_SIDE)
        return
    if SAFETY_OF[card] in victim.safeties:
        yield reason(Code.PROTECTED, side=victim.name, card=card_name(card), safety=card_name(SAFETY_OF[card]))
    elif card is Card.SPEED_LIMIT:
        if victim.limited:
            yield reason(Code.ALREADY_LIMITED, side=victim.name)
    else:
        yield from _against_attack(table.edition, victim)


def _against_attack(edition: Edition, victim: Side) -> Iterator[Reason]:
    """A hazard on the battle pile: may this side be attacked now?"""
    if victim.hazard is not None:
        if edition.hazard_on_hazard == "forbidden":
            yield reason(Code.ALREADY_ATTACKED, side=victim.name, hazard=card_name(victim.hazard))
        return
    top = victim.battle_top
    if top is Card.ROLL:
        return
    switch = edition.hazard_on_empty_pile if top is None else edition.hazard_on_remedy
    if not _permits(switch, victim):
        why = "nothing lies on its battle pile" if top is None else "it has not rolled again"
        yield reason(Code.OPPONENT_NOT_DRIVING, side=victim.name, why=why)


def _permits(switch: str, side: Side) -> bool:
    return switch == "allowed" or (switch == "with-right-of-way" and side.has_right_of_way)


def _against_at_once(table: Table, play: Play, side: Side) -> Iterator[Reason]:
    card = _card(play)
    if card.family is not Family.SAFETY:
        yield reason(Code.NOT_YOUR_TURN, player=play.player, turn=table.player_to_move)
    elif not _answers(table, play):
        stopped_by = next((h for h in reversed(side.battle + side.speed) if SAFETY_OF.get(h) is card), None)
        if stopped_by is None:
            yield reason(Code.NO_ATTACK_TO_ANSWER, card=card_name(card), side=side.name)
        else:
            yield reason(Code.COUP_FOURRE_WINDOW_CLOSED, hazard=card_name(stopped_by), card=card_name(card))


def _answers(table: Table, play: Play) -> bool:
    """Whether a safety laid at once answers the attack that has just been made."""
    return _answered(table, play) is not None


def _answered(table: Table, play: Play) -> Attack | None:
    index = table.side_index(str(play.player))
    for attack in reversed(table.attacks):
        if attack.side == index and SAFETY_OF[attack.hazard] is play.card:
            return attack
    return None


_AGAINST = {
    Verb.PLAY: _against_play,
    Verb.DISCARD: _against_discard,
    Verb.TAKE: _against_take,
    Verb.SKIP_DRAW: _against_turn,
    Verb.EXHAUSTED: _against_nothing,
}


def remarks(table: Table, play: Play) -> tuple[Reason, ...]:
    """What is worth a word about a legal play."""
    if play.verb is Verb.DISCARD and table.edition.discard == "when-stuck":
        return (reason(Code.DISCARD_ONLY_WHEN_STUCK),)
    if play.verb is Verb.PLAY and not play.at_once and _card(play).family is Family.SAFETY and _answers(table, play):
        return (reason(Code.LATE_SAFETY),)
    return ()


# What a play does


def apply(table: Table, play: Play) -> Table:
    """The table after a play. Does not ask whether it is legal: the cards lie where they lie.

    After the hand's end nothing changes any more.
    """
    if table.is_over:
        return table
    after = _APPLY[play.verb](table, play)
    return replace(after, attacks=_attacks_after(table, play, after))


def _attacks_after(before: Table, play: Play, after: Table) -> tuple[Attack, ...]:
    """Which attacks can still be answered: any play shuts all, or only those on the side that played."""
    if after.is_over:
        return ()
    if play.verb is Verb.EXHAUSTED:
        return before.attacks
    new = () if after.attacks is before.attacks else after.attacks
    if before.edition.coup_fourre_window == "next-draw-or-play":
        return new
    acting = before.side_index(str(play.player))
    return (*(a for a in before.attacks if a.side != acting and _shows(after, a)), *new)


def _shows(table: Table, attack: Attack) -> bool:
    side = table.sides[attack.side]
    return attack.hazard in (side.speed_top, side.battle_top)


def _apply_play(table: Table, play: Play) -> Table:
    if play.at_once and _card(play).family is Family.SAFETY:
        return _coup_fourre(table, play) if _answers(table, play) else _safety_out_of_turn(table, play)
    seat = table.seat_of(str(play.player))
    table = _leaves_hand(_drawn_for(table, seat), seat)
    card = _card(play)
    if card.family is Family.HAZARD:
        table = _lay_hazard(table, seat, card, play.target)
    else:
        table = _lay_own(table, table.seats[seat].side, card)
    following = seat if card.family is Family.SAFETY else _next(table, seat)
    return _settle(_completed(table, table.seats[seat].side), following)


def _lay_own(table: Table, index: int, card: Card) -> Table:
    """A card on the own side's pile; one that has no pile there goes to the discards."""
    side = table.sides[index]
    if card.family is Family.DISTANCE:
        return _with_side(table, index, replace(side, distances=(*side.distances, card)))
    if card is Card.END_OF_LIMIT:
        return _with_side(table, index, replace(side, speed=(*side.speed, card)))
    if card.family is Family.REMEDY:
        return _with_side(table, index, replace(side, battle=(*side.battle, card), shows_roll=False))
    if card.family is Family.SAFETY:
        return _with_side(table, index, replace(side, safeties=(*side.safeties, card)))
    return replace(table, discards=(*table.discards, card))


def _lay_hazard(table: Table, seat: int, card: Card, target: str | None) -> Table:
    """A hazard on its victim; aimed at nobody it goes to the only opponent, or to the discards."""
    index = table.side_index(target or "")
    if index is None:
        others = [i for i in range(len(table.sides)) if i != table.seats[seat].side]
        if len(others) != 1:
            return replace(table, discards=(*table.discards, card))
        index = others[0]
    side = table.sides[index]
    if card is Card.SPEED_LIMIT:
        side = replace(side, speed=(*side.speed, card))
    else:
        side = replace(side, battle=(*side.battle, card), shows_roll=False)
    return replace(_with_side(table, index, side), attacks=(Attack(card, seat, index),))


def _coup_fourre(table: Table, play: Play) -> Table:
    """The hazard goes to the discards, the claimer refills one card and has a whole turn."""
    attack, card, seat = _answered(table, play), _card(play), table.seat_of(str(play.player))
    if attack is None:
        raise ValueError("a coup fourré needs an attack")
    side = table.sides[attack.side]
    if attack.hazard is Card.SPEED_LIMIT:
        side = replace(side, speed=side.speed[:-1])
    else:
        side = replace(side, battle=side.battle[:-1])
    side = replace(side, safeties=(*side.safeties, card), coups_fourres=(*side.coups_fourres, card))
    table = replace(_with_side(table, attack.side, side), discards=(*table.discards, attack.hazard))
    table = _draw(_leaves_hand(table, seat), seat)
    return _settle(_completed(table, attack.side), seat)


def _safety_out_of_turn(table: Table, play: Play) -> Table:
    """A safety claimed too late lies there all the same, as a plain one; the turn stays where it was."""
    seat = table.seat_of(str(play.player))
    table = _lay_own(table, table.seats[seat].side, _card(play))
    table = _draw(_leaves_hand(table, seat), seat)
    return _completed(table, table.seats[seat].side)


def _apply_discard(table: Table, play: Play) -> Table:
    seat = table.seat_of(str(play.player))
    table = _leaves_hand(_drawn_for(table, seat), seat)
    table = replace(table, discards=(*table.discards, _card(play)))
    return _settle(table, _next(table, seat))


def _apply_take(table: Table, play: Play) -> Table:
    seat = table.seat_of(str(play.player))
    hands = _changed(table.hands, seat, table.hands[seat] + bool(table.discards))
    return replace(table, discards=table.discards[:-1], hands=hands, to_move=seat, drawn=True)


def _apply_skip_draw(table: Table, play: Play) -> Table:
    return replace(table, to_move=table.seat_of(str(play.player)), drawn=True)


def _apply_extend(table: Table, _play: Play) -> Table:
    index = table.extension_offered_to
    table = replace(table, target=EXTENDED_KM, may_extend=False, extension_offered_to=None, extended_by=index)
    return _settle(table, table.to_move)


def _apply_finish(table: Table, _play: Play) -> Table:
    ending = Ending(HowEnded.COMPLETED, table.extension_offered_to)
    return replace(table, extension_offered_to=None, ending=ending)


def _apply_exhausted(table: Table, _play: Play) -> Table:
    """The pile is seen empty, whatever the count says: the cards that should be there are in somebody's hand."""
    if table.edition.empty_pile == "reshuffle":
        return replace(table, draw_pile=len(table.discards), discards=())
    table = replace(table, draw_pile=0, unaccounted=table.unaccounted + table.draw_pile)
    return _settle(table, table.to_move, drawn=table.drawn)


def _apply_end(table: Table, _play: Play) -> Table:
    if table.extension_offered_to is not None:
        return _apply_finish(table, _play)
    table = _drawn_for(table, table.to_move)
    how = HowEnded.AGREED if table.draw_pile else HowEnded.EXHAUSTED
    return replace(table, ending=Ending(how))


_APPLY = {
    Verb.PLAY: _apply_play,
    Verb.DISCARD: _apply_discard,
    Verb.TAKE: _apply_take,
    Verb.SKIP_DRAW: _apply_skip_draw,
    Verb.EXTEND: _apply_extend,
    Verb.FINISH: _apply_finish,
    Verb.EXHAUSTED: _apply_exhausted,
    Verb.END: _apply_end,
}


def _card(play: Play) -> Card:
    return play.card if play.card is not None else Card.UNKNOWN


def _with_side(table: Table, index: int, side: Side) -> Table:
    return replace(table, sides=(*table.sides[:index], side, *table.sides[index + 1 :]))


def _changed(numbers: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*numbers[:index], value, *numbers[index + 1 :])


def _draw(table: Table, seat: int) -> Table:
    """One card from the draw pile into a hand, reshuffling the discards where the edition does."""
    if table.draw_pile == 0 and table.edition.empty_pile == "reshuffle":
        table = replace(table, draw_pile=len(table.discards), discards=())
    if table.draw_pile == 0:
        return table
    return replace(table, draw_pile=table.draw_pile - 1, hands=_changed(table.hands, seat, table.hands[seat] + 1))


def _drawn_for(table: Table, seat: int) -> Table:
    """The draw that comes with a play, unless the player to move has drawn already."""
    return table if table.drawn and seat == table.to_move else _draw(table, seat)


def _leaves_hand(table: Table, seat: int) -> Table:
    """One card fewer in a hand; from a hand that should be empty, one of the unaccounted cards."""
    if table.hands[seat] > 0:
        return replace(table, hands=_changed(table.hands, seat, table.hands[seat] - 1))
    return replace(table, unaccounted=max(0, table.unaccounted - 1))


def _next(table: Table, seat: int) -> int:
    return (seat + 1) % len(table.seats)


def _completed(table: Table, index: int) -> Table:
    """Ends the hand, or offers the extension, when a side has reached the target."""
    km = table.race_km(table.sides[index])
    passed = km > table.target and table.edition.overshoot == "allowed"
    if km != table.target and not passed:
        return table
    if table.may_extend:
        return replace(table, extension_offered_to=index)
    return replace(table, ending=Ending(HowEnded.COMPLETED, index))


def _settle(table: Table, seat: int, *, drawn: bool = False) -> Table:
    """Gives the turn to a seat, or to the next after it that has a card; with no cards left the hand ends."""
    if table.draw_pile or table.unaccounted or table.edition.empty_pile == "reshuffle" or table.hands[seat]:
        return replace(table, to_move=seat, drawn=drawn)
    for step in range(1, len(table.seats)):
        other = (seat + step) % len(table.seats)
        if table.hands[other]:
            return replace(table, to_move=other, drawn=False)
    if table.is_over or table.extension_offered_to is not None:
        return replace(table, to_move=seat, drawn=drawn)
    return replace(table, ending=Ending(HowEnded.EXHAUSTED))


# What may be played


class LegalPlays:
    """The plays that a player may make now; answers `in`, iteration and truth."""

    def __init__(self, table: Table, player: str) -> None:
        self._table = table
        self._player = player

    def __contains__(self, play: object) -> bool:
        return isinstance(play, Play) and play.player == self._player and not objections(self._table, play)

    def __iter__(self) -> Iterator[Play]:
        return (play for play in _candidates(self._table, self._player) if not objections(self._table, play))

    def __bool__(self) -> bool:
        return any(True for _ in self)


def legal_plays(table: Table, player: str) -> LegalPlays:
    """What a player may play, whatever his hand holds."""
    return LegalPlays(table, player)


def _candidates(table: Table, player: str) -> Iterator[Play]:
    """Every play that the notation can write for a player with this deck."""
    for verb in (Verb.EXTEND, Verb.FINISH, Verb.TAKE, Verb.SKIP_DRAW):
        yield Play(verb, player)
    for card in table.deck:
        yield from _candidates_with(table, player, card)
        yield Play(Verb.DISCARD, player, card)


def _candidates_with(table: Table, player: str, card: Card) -> Iterator[Play]:
    if card.family is Family.HAZARD:
        yield from (Play(Verb.PLAY, player, card, side.name) for side in table.sides)
        return
    yield Play(Verb.PLAY, player, card)
    if card.family is Family.SAFETY:
        yield Play(Verb.PLAY, player, card, at_once=True)
