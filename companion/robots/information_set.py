"""What a player knows: table, past plays, match totals, own cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from companion.common.errors import Problem
from companion.common.text import plain
from companion.rules.card_names import card_name
from companion.rules.cards import Card, Family
from companion.rules.hidden_cards import Deal, gained
from companion.rules.legality import can_turn_back, is_extra, lays_taken, objections
from companion.rules.moves import laying
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.record.judge import NO_POINTS, Game, JudgedLine, JudgedRecord
from companion.rules.table import How, Side, Table


class PastPlay(NamedTuple):
    """A play and the table before it."""

    table: Table
    play: Play


@dataclass(frozen=True, slots=True)
class Position:
    """A hand as one player sees it."""

    table: Table
    player: str
    hand: tuple[Card, ...]
    totals: Mapping[str, int] = field(default_factory=lambda: NO_POINTS)  # of the match by side, before this hand
    past: tuple[PastPlay, ...] = ()  # oldest first

    @property
    def seat(self) -> int:
        return self.table.seat_of(self.player)

    @property
    def own(self) -> int:
        return self.table.seats[self.seat].side

    @property
    def side(self) -> Side:
        return self.table.sides[self.own]

    @property
    def is_in_turn(self) -> bool:
        return not self.table.is_over and self.table.to_move == self.seat

    @property
    def has_drawn(self) -> bool:
        """True if no draw precedes the player's play."""
        nothing_left = not self.table.draw_pile and not (self.table.edition.reshuffles and self.table.discards)
        return not self.table.to_draw or nothing_left or len(self.hand) != self.table.hands[self.seat]

    @property
    def lying(self) -> Counter[Card]:
        table = self.table
        if self.is_in_turn and self.has_drawn and table.draw_reshuffles:
            # Unknown to the record.
            table = table._replace(discards=())
        return table.lying

    @property
    def unseen(self) -> Counter[Card]:
        """Cards in the draw pile and other hands."""
        return Counter(self.table.deck) - self.lying - Counter(self.hand)


def position_of(record: JudgedRecord, player: str, hand: Iterable[Card]) -> Position:
    """Return a player's position. Raises Problem for an impossible hand."""
    table = record.game.table
    if table is None:
        raise Problem("No hand has started: add a line `hand first` with a player's name to the record.")
    if all(seat.player != player for seat in table.seats):
        names = ", ".join(seat.player for seat in table.seats)
        raise Problem(f"{plain(player)} does not play in this record: its players are {names}.")
    position = Position(table, player, tuple(hand), record.game.totals, past_of(record))
    _check_hand(position)
    return position


def past_of(record: JudgedRecord) -> tuple[PastPlay, ...]:
    """Return the plays of the record's last hand."""
    past: list[PastPlay] = []
    before: Game | None = None
    for game, items in zip(record.games, record.given, strict=True):
        if before is None or before.table is None or game.hand_number != before.hand_number:
            past = []
        else:
            lines = (item for item in items if isinstance(item, JudgedLine))
            past += [PastPlay(before.table, line.play) for line in lines if line.play and line.applied]
        before = game
    return tuple(past)


def _check_hand(position: Position) -> None:
    table, lying = position.table, position.lying
    for card, count in Counter(position.hand).items():
        called = card_name(card, edition=table.edition.name)
        if card not in table.deck:
            raise Problem(f"There is no {called} in this edition.")
        if count > table.deck[card] - lying[card] and table.edition.counts_verified:
            left = table.deck[card] - lying[card]
            raise Problem(f"The hand holds more of {called} than the {left} that are not on the table.")


def known_cards(position: Position) -> dict[int, Counter[Card]]:
    """Return each hand's publicly known cards, by seat."""
    known: dict[int, Counter[Card]] = {seat: Counter() for seat in range(len(position.table.seats))}
    for table, play in position.past:
        if play.player is None:
            continue
        seat = table.seat_of(play.player)
        known[seat] = known[seat] - Counter(play.out_of_hand)
        for to, card in gained(table, play):
            known[to][card] += 1
    return known


class Options(NamedTuple):
    """A player's choices."""

    plays: tuple[Play, ...]
    may_wait: bool  # doing nothing is allowed


def options(position: Position) -> Options:
    """Return what the player may do. Raises Problem if there is nothing to decide."""
    table, player = position.table, position.player
    offered = table.extension_offered_to
    if offered == position.own:
        return Options((Play(Verb.EXTEND, player), Play(Verb.FINISH, player)), may_wait=False)
    taken, has_more = table.window.taken, len(position.hand) > table.hands[position.seat]
    keeps = has_more and position.is_in_turn and taken is not None and taken.how is How.STOLEN
    if taken is not None and taken.seat == position.seat and not keeps:
        lays = _legal(position, (play for play in _in_turn(position) if lays_taken(table, play)))
        may_wait = taken.how is How.STOLEN
        if lays or (may_wait and not position.is_in_turn):
            return Options(lays, may_wait)
    answers = _legal(position, _answers(position))
    in_turn = position.is_in_turn and offered is None and table.handed_to in (None, position.seat)
    if in_turn and (position.has_drawn or not (_may_answer(position) or _may_take(position))):
        late = () if has_more else answers
        # After the draw, an equal card would pass for the stolen one.
        plays = (play for play in _in_turn(position) if not (keeps and is_extra(table, play)))
        plays = _without_needless_discards(position, _legal(position, plays))
        if not (plays or late):
            raise Problem(f"{player} has no card to play or discard.")
        return Options((*late, *plays), may_wait=False)
    if in_turn:
        take = (Play(Verb.TAKE, player),) if _may_take(position) else ()
        return Options((*answers, *take), may_wait=True)
    if _may_answer(position):
        return Options(answers, may_wait=True)
    if table.is_over:
        raise Problem("The hand is over: start the next one with `hand first` and a player's name.")
    turn = table.player_up if offered is None else table.sides[offered].name
    raise Problem(f"It is {turn}'s turn, and {player} has no attack to counter.")


def _legal(position: Position, plays: Iterable[Play]) -> tuple[Play, ...]:
    return tuple(dict.fromkeys(play for play in plays if not objections(position.table, play)))


def _may_take(position: Position) -> bool:
    return not objections(position.table, Play(Verb.TAKE, position.player))


def _may_answer(position: Position, *, turn_back: bool = True) -> bool:
    """True if some card could be an answer now."""
    table, window = position.table, position.table.window
    if turn_back and window.laid is not None and table.seats[window.laid.seat].side != position.own:
        return table.ending is None or can_turn_back(table, lay(position.player, Card.U_TURN, at_once=True))
    if window.asked is not None and window.asked.of_seat == position.seat:
        return True
    return any(attack.side == position.own for attack in table.attacks)


def _answers(position: Position) -> Iterator[Play]:
    for card in dict.fromkeys(position.hand):
        if card.family in (Family.SAFETY, Family.REMEDY) or card in (Card.MIRROR, Card.U_TURN):
            yield lay(position.player, card, at_once=True)
    if position.table.window.asked is not None:
        yield from _gifts(position)


def _gifts(position: Position) -> Iterator[Play]:
    """Yield requested cards, but none drawn since: the record would take it for held."""
    just_asked = position.table.window.asked if len(position.hand) > position.table.hands[position.seat] else None
    for request in position.table.requests:
        if request is just_asked:
            continue
        if request.of_seat == position.seat and request.card in position.hand:
            asker = position.table.seats[request.by_seat].player
            yield Play(Verb.GIVE, position.player, request.card, asker)


def _in_turn(position: Position) -> Iterator[Play]:
    table, player, hand = position.table, position.player, position.hand
    yield from _gifts(position)
    for card in dict.fromkeys(hand):
        for play in laying(table, player, card):
            if card is not Card.ACCELERATOR or play.card in hand:
                yield play
        if hand.count(card) > 1 and table.edition.pair_for_discard == "yes":
            yield from (Play(Verb.PAIR, player, card, wanted=wanted) for wanted in dict.fromkeys(table.discards))
        yield discard(player, card)
    if table.may_pass:
        yield Play(Verb.PASS, player)


def _without_needless_discards(position: Position, plays: tuple[Play, ...]) -> tuple[Play, ...]:
    """Drop discards that `discard=when-stuck` forbids."""
    if position.table.edition.discard != "when-stuck":
        return plays
    if any(play.verb in (Verb.PLAY, Verb.THEFT, Verb.CONTROL) for play in plays):
        return tuple(play for play in plays if play.verb is not Verb.DISCARD)
    return plays


@dataclass(frozen=True, slots=True)
class DealtHand:
    """A hand with its hidden cards; `asked` and `answered` play it."""

    deal: Deal
    totals: Mapping[str, int] = field(default_factory=lambda: NO_POINTS)
    past: tuple[PastPlay, ...] = ()
    waived: frozenset[int] = frozenset()  # seats that declined to answer

    def position(self, seat: int) -> Position:
        table = self.deal.table
        return Position(table, table.seats[seat].player, self.deal.hands[seat], self.totals, self.past)

    def asked(self) -> Position | None:
        """Return who decides next, in turn after their draw; None at the end.

        Players who may act out of turn come first, the player to move last. They may decline; so may a player who can
        take a discard.
        """
        table, first = self.deal.table, next(self.out_of_turn(), None)
        if first is not None or table.is_over:
            return first
        undrawn = self.position(table.to_move)
        may_take = not (undrawn.has_drawn or self.deal.objections(Play(Verb.TAKE, undrawn.player)))
        if may_take and table.to_move not in self.waived:
            return undrawn
        return self.drawn().position(table.to_move)

    def out_of_turn(self) -> Iterator[Position]:
        """Yield positions of players who may act before the draw and have not declined."""
        table = self.deal.table
        seats = [] if self.deal.ahead else [*range(table.to_move + 1, len(table.seats)), *range(table.to_move + 1)]
        positions = (self.position(seat) for seat in seats if seat not in self.waived)
        return (position for position in positions if _may_act_out_of_turn(position))

    def answered(self, position: Position, play: Play | None) -> DealtHand:
        """Return the hand after a play by the player of `position`; None declines."""
        if play is None:
            return replace(self, waived=self.waived | {position.seat})
        return replace(
            self,
            deal=self.deal.play(play),
            past=(*self.past, PastPlay(self.deal.table, play)),
            waived=frozenset(),
        )

    def drawn(self) -> DealtHand:
        return replace(self, deal=self.deal.draw())


def _may_act_out_of_turn(position: Position) -> bool:
    """True if the player may decide before the turn goes on."""
    table, taken = position.table, position.table.window.taken
    if table.extension_offered_to == position.own:
        return position.player == position.side.players[0]
    if table.extension_offered_to is None and position.is_in_turn and position.has_drawn:
        return False
    has_taken = taken is not None and taken.seat == position.seat and taken.how is not How.FETCHED
    return has_taken or _may_answer(position, turn_back=Card.U_TURN in position.hand)
