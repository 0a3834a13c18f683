"""Simulated players: greedy, forgetful about rules, fond of Coups Fourrés."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from companion.common.errors import Problem
from companion.common.text import Said, say
from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition, EditionError, load_edition
from companion.rules.moves import laying
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.table import SAFETY_KM, Due, Side, Table, Team
from companion.simulate.arrange import MOST_SIDES
from companion.simulate.script import Action, Hand, HandStart, Script, answered, position_of, zone_of
from companion.tabletop.card_ids import card_ids, face_of
from companion.tabletop.mat_layout import DISCARD_ZONE

Options = tuple[tuple[str, str], ...]  # house rules: switch, value
TWO_PLAYERS = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
PAIRS = (Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob", "Dee")))

STUCK = say("The simulated players cannot continue from here: undo the last play, or enter plays by hand.")
SLIPS_SHARE = 0.08  # turns with an illegal card that is taken back
CLAIMS_SHARE = 0.95  # hazards answered at once by a safety in hand
HOLDS_SHARE = 0.8  # turns in which a safety waits for a Coup Fourré if possible
TAKES_SHARE = 0.7  # turns in which a useful discard is taken
_PATIENCE_TURNS = 400  # more than any hand takes
_WORTH_TAKING = 170.0  # minimum for a play with a taken discard


def random_script(
    edition: str = "classic",
    *,
    teams: Sequence[Team] = TWO_PLAYERS,
    hands: int = 1,
    seed: int = 0,
    options: Options = (),
    target: int | None = None,
    first: str | None = None,
) -> Script:
    """Return random hands, begun by the players in turn from `first`.

    Raise Problem for an unsuitable edition, an unknown house rule, or too many sides.
    """
    rules = _playable(edition, teams, options)
    chance = random.Random(f"deal {seed}")  # noqa: S311
    players = [seat.player for seat in referee.seating(teams)]
    begins = players.index(first) if first in players else 0
    firsts = (players[(begins + n) % len(players)] for n in range(hands))
    played = (_Deal(referee.new_hand(rules, teams, one, target), chance).hand() for one in firsts)
    return Script(tuple(teams), tuple(played), edition, target, options)


def _playable(name: str, teams: Sequence[Team], options: Options) -> Edition:
    if len(teams) > MOST_SIDES:
        most, sides = MOST_SIDES, len(teams)
        raise Problem("The simulated table seats up to %(most)d sides, not %(sides)d.", most=most, sides=sides)
    try:
        edition = load_edition(name).with_options(options)
        referee.check_seating(edition, teams)
    except EditionError as error:
        raise Problem(str(error)) from error
    if any(card.family is Family.SPECIAL for card in edition.deck):
        raise Problem(
            "The simulated players cannot play %(edition)s yet: choose another edition for the demo.",
            edition=Said(edition.title),
        )
    return edition


def played_on(script: Script, table: Table, *, hands: int, seed: int) -> Script:
    """Continue a script's last hand from `table`, then add hands until there are `hands`.

    Raise Problem if players cannot go on.
    """
    _playable(script.edition_name, script.teams, script.options)
    chance = random.Random(f"go on {seed}")  # noqa: S311
    position = position_of(table, chance)
    hand = _Deal(table, chance, position).hand()
    after = random_script(
        script.edition_name,
        teams=script.teams,
        hands=max(0, hands - 1),
        seed=seed,
        options=script.options,
        target=script.target,
        first=script.players[(script.players.index(script.hands[-1].first) + 1) % len(script.players)],
    )
    return replace(script, hands=(replace(hand, first=script.hands[-1].first, begins=position), *after.hands))


class _Deal:
    """One hand in play; cards outside `position` are dealt at random."""

    def __init__(self, table: Table, chance: random.Random, position: HandStart | None = None) -> None:
        self._table, self._chance = table, chance
        self._first = table.player_to_move
        lying = position.lying if position else {}
        ids = position.not_lying if position else card_ids(table.deck)
        self._zones: defaultdict[str, list[str]] = defaultdict(list, {zone: list(ids) for zone, ids in lying.items()})
        self._pile = chance.sample(ids, len(ids))
        self._held = {
            seat.player: [self._pile.pop() for _ in range(min(count, len(self._pile)))]
            for seat, count in zip(table.seats, table.hands, strict=True)
        }

    def hand(self) -> Hand:
        actions: list[Action] = []
        for _ in range(_PATIENCE_TURNS):
            if self._table.is_over:
                break
            actions += self._next()
        return Hand(self._first, tuple(actions))

    def _next(self) -> Iterator[Action]:
        asked = self._table.extension_offered_to
        if asked is not None:
            yield self._do(Play(Verb.FINISH, self._table.sides[asked].players[0]))
            return
        claim = self._claim()
        if claim is not None:
            yield self._do(*claim)
        elif self._nobody_can_play():
            yield self._do(Play(Verb.END))
        else:
            yield from self._turn(self._table.player_to_move)

    def _nobody_can_play(self) -> bool:
        """True if the edition ends the hand: no draw pile, and only discards."""
        if self._table.draw_pile or self._table.edition.empty_pile != "stuck":
            return False
        turns = (self._table._replace(to_move=seat, due=Due.NOTHING) for seat in range(len(self._table.seats)))
        return not any(
            play.verb is Verb.PLAY and not referee.objections(turn, play)
            for turn in turns
            for play, _ in self._possible(turn.player_to_move)
        )

    def _do(self, play: Play, card_id: str | None = None) -> Action:
        before, self._table = self._table, referee.apply(self._table, play)
        if play.verb is Verb.TAKE:
            self._held[str(play.player)].append(self._zones[DISCARD_ZONE].pop())
        if play.player is not None and card_id is not None:
            self._held[play.player].remove(card_id)
            self._zones[zone_of(before, play)].append(card_id)
            for zone in answered(before, self._table):
                self._zones[DISCARD_ZONE].append(self._zones[zone].pop())
            if play.at_once:
                self._draw(play.player)
        return Action(play, card_id)

    def _draw(self, player: str) -> None:
        """Draw a card; first reshuffle the discards if needed and allowed."""
        if not self._pile and self._table.edition.reshuffles:
            self._pile = self._chance.sample(self._zones[DISCARD_ZONE], len(self._zones[DISCARD_ZONE]))
            self._zones[DISCARD_ZONE].clear()
        if self._pile:
            self._held[player].append(self._pile.pop())

    def _claim(self) -> tuple[Play, str] | None:
        """Return a Coup Fourré if the attacked side's next player has it and notices."""
        for attack in self._table.attacks:
            seats = self._table.seats
            clockwise = (seats[(attack.by_seat + step) % len(seats)] for step in range(1, len(seats) + 1))
            player = next(seat.player for seat in clockwise if seat.side == attack.side)
            safeties = (held for held in self._held[player] if face_of(held) is SAFETY_OF[attack.hazard])
            card_id = next(safeties, None)
            if card_id is None or self._chance.random() >= CLAIMS_SHARE:
                continue
            play = lay(player, SAFETY_OF[attack.hazard], at_once=True)
            if not referee.objections(self._table, play):
                return play, card_id
        return None

    def _turn(self, player: str) -> Iterator[Action]:
        if self._wants_discard(player):
            yield self._do(Play(Verb.TAKE, player))
        elif not self._table.drawn:
            self._draw(player)
        slip = self._slip(player)
        if slip is not None:
            yield slip
        yield self._do(*self._choice(player))

    def _wants_discard(self, player: str) -> bool:
        """True if the top discard may be taken and is useful."""
        take = Play(Verb.TAKE, player)
        if referee.objections(self._table, take) or self._chance.random() >= TAKES_SHARE:
            return False
        lying = self._zones[DISCARD_ZONE]
        if not lying or face_of(lying[-1]) is not self._table.discards[-1]:
            return False
        table, card_id = referee.apply(self._table, take), lying[-1]
        uses = (play for play, _ in self._ways(player, card_id) if not referee.objections(table, play))
        return any(play.verb is Verb.PLAY and self._worth(play) >= _WORTH_TAKING for play in uses)

    def _slip(self, player: str) -> Action | None:
        """Return an illegal play now and then."""
        if self._chance.random() >= SLIPS_SHARE:
            return None
        wrong = [
            (play, card_id)
            for play, card_id in self._possible(player)
            if play.verb is Verb.PLAY and referee.objections(self._table, play)
        ]
        return Action(*self._chance.choice(wrong), taken_back=True) if wrong else None

    def _choice(self, player: str) -> tuple[Play, str]:
        """Return the best legal play, discards last if only stuck players may discard."""
        legal = [(play, card) for play, card in self._possible(player) if not referee.objections(self._table, play)]
        if not legal:
            raise Problem(STUCK)
        laying = [option for option in legal if option[0].verb is Verb.PLAY]
        if laying and self._table.edition.discard == "when-stuck":
            legal = laying
        return max(legal, key=lambda option: (self._worth(option[0]), self._chance.random()))

    def _possible(self, player: str) -> Iterator[tuple[Play, str]]:
        """Yield every play, legal or not, except attacks on the own side."""
        return (way for card_id in self._held[player] for way in self._ways(player, card_id))

    def _ways(self, player: str, card_id: str) -> Iterator[tuple[Play, str]]:
        own, face = self._table.side_of(player).name, face_of(card_id)
        plays = (*laying(self._table, player, face), discard(player, face))
        return ((play, card_id) for play in plays if play.target != own)

    # What a play is worth

    def _worth(self, play: Play) -> float:
        own, card = self._table.side_of(str(play.player)), play.card or Card.UNKNOWN
        if play.verb is Verb.DISCARD:
            return -self._regret(own, card)
        if card.family is Family.DISTANCE:
            return 100.0 + card.km + (500.0 if self._wins(own, card.km) else 0.0)
        if card.family is Family.HAZARD:
            # attack the leading side
            index = self._table.side_index(play.target)
            return 150.0 + (float(self._table.sides[index].km) if index is not None else 0.0) / 10.0
        if card.family is Family.SAFETY:
            return self._safety_worth(own, card)
        return 400.0

    def _wins(self, own: Side, km: int) -> bool:
        return self._table.race_km(own) + km >= self._table.target

    def _safety_worth(self, own: Side, card: Card) -> float:
        """Return a high worth if the safety removes a hazard or time runs out."""
        if self._table.edition.safeties_count_as_distance == "yes" and self._wins(own, SAFETY_KM):
            return 600.0
        frees = own.hazard is not None and SAFETY_OF[own.hazard] is card
        if frees or self._table.draw_pile == 0:
            return 450.0
        return -200.0 if self._chance.random() < HOLDS_SHARE else 120.0

    def _regret(self, own: Side, card: Card) -> float:
        if card.family is Family.SAFETY:
            return 1000.0
        if card.family is Family.DISTANCE:
            too_far = self._table.race_km(own) + card.km > self._table.target
            useless = too_far and self._table.edition.overshoot == "forbidden"
            return 5.0 if useless else 20.0 + card.km / 10.0
        if card.family is Family.HAZARD:
            return 30.0
        idle = any(SAFETY_OF[hazard] in own.safeties for hazard, remedy in REMEDY_OF.items() if remedy is card)
        return 1.0 if idle and card is not Card.ROLL else 45.0
