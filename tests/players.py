"""Random players, legal or not, for every edition and house rule."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition, edition_names, load_edition
from companion.rules.editions.switches import contradictions, switches
from companion.rules.legality import is_extra
from companion.rules.moves import laying
from companion.rules.play import Play, Verb
from companion.rules.table import Table, Team

NAMES = ("Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal")
SIDES = ("Reds", "Blues", "Greens", "Golds")
MOST_TRIES = 60


_CARDLESS = (Verb.TAKE, Verb.SKIP_DRAW, Verb.PASS)
_LIKING = {Verb.DISCARD: 0.3, Verb.SKIP_DRAW: 0.03, Verb.END: 0.01, Verb.EXHAUSTED: 0.02, Verb.PENALTY: 0.1}


def random_teams(edition: Edition, chance: random.Random) -> tuple[Team, ...]:
    players, each = chance.choice(edition.seatings)
    sides = players // each
    if each == 1:
        return tuple(Team(name, (name,)) for name in NAMES[:players])
    return tuple(Team(SIDES[i], NAMES[i:players:sides]) for i in range(sides))


def random_options(sheet: Edition, chance: random.Random, most: int = 4) -> tuple[tuple[str, str], ...]:
    """Return random house rules that the sheet allows and that do not contradict each other."""
    options: list[tuple[str, str]] = []
    for name in chance.sample(list(switches()), chance.randint(0, most)):
        option = (name, chance.choice(list(switches()[name])))
        if name not in sheet.fixed and not any(contradictions(dict([*options, option]))):
            options.append(option)
    return tuple(options)


def random_table(chance: random.Random, edition: str | None = None, most_options: int = 4) -> Table:
    """Return a dealt hand with a random edition, seating, target and house rules."""
    sheet = load_edition(edition or chance.choice(edition_names()))
    rules = sheet.with_options(random_options(sheet, chance, most_options))
    teams = random_teams(rules, chance)
    target = chance.choice((None, None, 700, 1000, 400))
    return referee.new_hand(rules, teams, chance.choice(teams[0].players), target)


def legal_hand(table: Table, chance: random.Random, most: int = 600) -> Iterator[tuple[Play, Table]]:
    """Yield each play of a hand of legal plays, and the table after it."""
    for _ in range(most):
        play = legal_play(table, chance)
        if play is None:
            return
        table = referee.apply(table, play)
        yield play, table


def legal_play(table: Table, chance: random.Random) -> Play | None:
    """Return a random legal play, or None if the hand is over."""
    for _ in range(MOST_TRIES):
        play = random_play(table, chance)
        if not referee.objections(table, play) and holds(table, play) and chance.random() < _LIKING.get(play.verb, 1.0):
            return play
    if table.is_over:
        return None
    rest = [play for play in referee.legal_plays(table, table.player_up) if holds(table, play)]
    assert rest or not any(table.hands), table
    return chance.choice(rest) if rest else None


def holds(table: Table, play: Play) -> bool:
    """True if the player can hold the card and has enough cards.

    Counts can be wrong at a real table, but not here.
    """
    if play.player is None:
        return True
    seat = table.seat_of(play.player)
    left = max(0, table.copies_left(play.card)) if play.card and table.edition.counts_verified else 99
    lays = {Verb.PAIR: 2, Verb.PLAY: play.times, Verb.EXCHANGE: len(play.cards)}.get(play.verb, 1)
    lays = 0 if play.verb in (*_CARDLESS, Verb.EXTEND, Verb.FINISH, Verb.NAME) else lays
    if table.window.taken is not None and play.verb is Verb.PENALTY:
        return False  # It might be the card that must be played.
    extra = is_extra(table, play)
    return table.hands[seat] + (0 if extra else _drawn(table, play, seat)) >= lays and (lays == 0 or left > 0)


def _drawn(table: Table, play: Play, seat: int) -> int:
    """Return the number of cards drawn before the play."""
    on_the_spot = play.verb is Verb.GIVE and table.window.asked is not None
    draws_none = play.at_once or on_the_spot or play.verb in (Verb.EXCHANGE, Verb.PENALTY, Verb.NAME)
    if draws_none or seat != table.to_move:
        return 0
    return min(table.to_draw, table.draw_pile + len(table.discards) * table.edition.reshuffles)


def random_play(table: Table, chance: random.Random) -> Play:
    """Return any play, likely to fit the moment: an answer to an open question, or a card in turn."""
    if table.extension_offered_to is not None and chance.random() < 0.8:
        player = chance.choice(table.sides[table.extension_offered_to].players)
        return Play(chance.choice((Verb.EXTEND, Verb.FINISH)), player)
    if chance.random() < 0.3:
        return _answer(table, chance)
    others = chance.random() < 0.05
    player = chance.choice(table.seats).player if others else table.player_up
    makers: tuple[tuple[float, Callable[[Table, str, random.Random], Play]], ...] = (
        (0.72, _lay),
        (0.12, lambda table, player, chance: Play(Verb.DISCARD, player, _card(table, chance))),
        (0.04, _cardless),
        (0.12, _special),
    )
    (make,) = chance.choices([make for _, make in makers], [weight for weight, _ in makers])
    return make(table, player, chance)


def _card(table: Table, chance: random.Random) -> Card:
    oftener = [card for card in table.deck if card.family in (Family.DISTANCE, Family.SAFETY)]
    return chance.choice([*table.deck, *oftener])


def _lay(table: Table, player: str, chance: random.Random) -> Play:
    card = _wanted(table, player, chance) or _card(table, chance)
    if chance.random() < 0.01:
        return Play(Verb.PLAY, player, card)  # A hazard without a target, or an accelerator alone.
    if card in (Card.THEFT, Card.CONTROL):
        return chance.choice(list(laying(table, player, card)))
    if card is Card.ACCELERATOR:
        distances = [c for c in table.deck if c.family is Family.DISTANCE]
        return Play(Verb.PLAY, player, chance.choice(distances), times=chance.choice((2, 2, 2, 3)))
    target = chance.choice(table.sides).name if card.family is Family.HAZARD else None
    return Play(Verb.PLAY, player, card, target, at_once=chance.random() < 0.02)


def _wanted(table: Table, player: str, chance: random.Random) -> Card | None:
    """Return a useful card: an answer to the active hazard, or the card just taken."""
    side, taken = table.side_of(player), table.window.taken
    if taken is not None and chance.random() < 0.7:
        return taken.card
    if side.hazard is not None and chance.random() < 0.4:
        return chance.choice((REMEDY_OF[side.hazard], SAFETY_OF[side.hazard]))
    if side.limited and chance.random() < 0.2:
        return Card.END_OF_LIMIT
    return Card.ROLL if side.battle_top is not Card.ROLL and chance.random() < 0.2 else None


def _cardless(table: Table, player: str, chance: random.Random) -> Play:
    verb = chance.choice((*_CARDLESS, Verb.EXHAUSTED, Verb.END, Verb.EXTEND))
    return Play(verb) if verb in (Verb.EXHAUSTED, Verb.END) else Play(verb, player)


def _special(table: Table, player: str, chance: random.Random) -> Play:
    """Return a play that only some editions have."""
    verb = chance.choice((Verb.EXCHANGE, Verb.PAIR, Verb.THEFT, Verb.CONTROL, Verb.GIVE, Verb.NAME, Verb.PENALTY))
    card, someone = _card(table, chance), chance.choice(table.seats)
    if verb is Verb.EXCHANGE:
        return Play(verb, player, cards=tuple(chance.sample(list(table.deck), chance.randint(1, 3))))
    if verb is Verb.PAIR:
        return Play(verb, player, card, wanted=chance.choice(table.discards or (card,)))
    if verb is Verb.THEFT:
        side = table.sides[someone.side]
        stolen = chance.choice(side.distances or (card,))
        return Play(verb, player, stolen, side.name, times=1 + (stolen in side.doubled))
    if verb is Verb.GIVE and table.requests:
        request = chance.choice(table.requests)
        giver, asker = table.seats[request.of_seat].player, table.seats[request.by_seat].player
        return Play(verb, giver, request.card, asker)
    return Play(verb, player, card, None if verb is Verb.PENALTY else someone.player)


def _answer(table: Table, chance: random.Random) -> Play:
    """Return a play out of turn if there is something to answer."""
    laid = table.window.laid
    if laid is not None and chance.random() < 0.3:
        return Play(Verb.PLAY, chance.choice(table.seats).player, Card.U_TURN, at_once=True)
    if not table.attacks:
        return _lay(table, table.player_to_move, chance)
    attack = chance.choice(table.attacks)
    player = chance.choice(table.sides[attack.side].players)
    card = chance.choice((SAFETY_OF[attack.hazard], SAFETY_OF[attack.hazard], REMEDY_OF[attack.hazard], Card.MIRROR))
    play = Play(Verb.PLAY, player, card, at_once=True)
    return replace(play, under=card.family is Family.REMEDY and chance.random() < 0.3)


def all_cards(table: Table) -> int:
    """Count the cards in hands, piles and tableaux."""
    laid = sum(len(pile) for s in table.sides for pile in (s.battle, s.speed, s.distances, s.doubled, s.safeties))
    return sum(table.hands) + table.draw_pile + len(table.discards) + len(table.requests) + laid
