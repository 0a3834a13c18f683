"""No robot chooses a discard that another legal play beats whatever cards are hidden."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice

import pytest
from robot_games import any_seating, chance_hand
from sheet import scenes
from test_robot_positions import position

from companion.robots.dominance import undominated
from companion.robots.information_set import Position, options
from companion.robots.robot import Level, choose
from companion.robots.search import Effort
from companion.rules import referee
from companion.rules.cards import HAZARD_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import edition_names
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.table import is_driving

NOISY = Effort(playouts=24)  # few enough that luck decides wherever it can
FREE = [name for name in edition_names() if name not in ("parker", "rush")]  # free discards
SEEDS = range(10)
TIRES = "spare-tire spare-tire spare-tire 25 25 end-of-limit"
FLAT = "Ann roll; Bob roll; Ann 100; Bob flat-tire > Ann"


def beaten_discards(at: Position) -> set[Play]:
    """Return the discards that playing the same card beats, by the rules alone."""
    plays = [play for play in options(at).plays if play.verb is Verb.PLAY and not play.at_once and play.times == 1]
    return {discard(at.player, play.card) for play in plays if is_better_played(at, play)}


def is_better_played(at: Position, play: Play) -> bool:
    table, card = at.table, play.card
    if card.family is Family.REMEDY:
        after = referee.apply(table, play).sides[at.own]
        freed = (at.side.hazard is not None and after.hazard is None) or (at.side.limited and not after.limited)
        starts = not is_driving(table.edition, at.side) and is_driving(table.edition, after)
        return (freed or starts) and SAFETY_OF[HAZARD_OF[card]] not in at.hand
    if card.family is Family.HAZARD:
        victim = table.sides[table.side_index(play.target)]
        hurts = not victim.limited if card is Card.SPEED_LIMIT else victim.hazard is None
        fast = table.edition.fast_remedy == "yes" or Card.MIRROR in table.deck
        return hurts and not fast and len(table.sides) == 2 and SAFETY_OF[card] in at.hand
    counts = table.edition.safeties_count_as_distance == "yes"
    return card.family is Family.SAFETY and not counts and table.draw_pile > 0


def random_positions(edition: str) -> Iterator[tuple[Position, set[Play]]]:
    """Yield positions of random hands, also with house rules, that have a dominated discard; a few per hand."""
    for seed in range(10_000):
        steps = (step.position for step in chance_hand(any_seating(edition, seed, seed % 4), seed, most=120))
        turns = (at for at in steps if at.is_in_turn and at.has_drawn and at.table.edition.discard == "free")
        found = ((at, beaten_discards(at) & set(options(at).plays)) for at in turns)
        yield from islice((one for one in found if one[1]), seed % 3, seed % 3 + 2)


@pytest.mark.parametrize("edition", FREE)
@pytest.mark.parametrize("count", [5, pytest.param(50, marks=pytest.mark.long)])
def test_no_robot_discards_a_card_that_is_better_played(edition, count):
    for at, beaten in islice(random_positions(edition), count):
        for level in Level:
            for seed in SEEDS if count > 5 else SEEDS[:3]:
                assert choose(at, level, random.Random(seed), NOISY).play not in beaten, (level, seed, at.hand)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_flat_tire_is_fixed_even_with_spare_tires_to_discard(seed):
    at = position(f"right-of-way {TIRES}", FLAT)

    assert choose(at, Level.SEARCHING, random.Random(seed), Effort(playouts=1000)).play == lay("Ann", Card.SPARE_TIRE)


CASES = """
a needed remedy beats every discard if the remedied car is not open to new attacks
    spare-tire 25 stop | FLAT = spare-tire 25 stop
with right of way the remedied car is open to attacks: only its remedy is not discarded
    spare-tire 25 stop | Ann right-of-way; Ann discard 25; Bob flat-tire > Ann = spare-tire
a roll exposes the car: only the roll is not discarded
    roll 25 stop | = roll
an end of limit may wait for the next limit: only this card is not discarded
    end-of-limit 50 repairs | Ann roll; Bob speed-limit > Ann = end-of-limit
with the safety in the hand the remedy may be discarded
    spare-tire puncture-proof 25 | FLAT =
a hazard is not discarded while its safety is in the same hand
    flat-tire puncture-proof 25 | Ann roll; Bob roll = flat-tire
a hazard that a coup fourre can answer may be discarded
    flat-tire 25 50 | Ann roll; Bob roll =
a distance card may be discarded: driving it may miss the target
    25 50 200 | Ann roll; Bob discard 25 =
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(CASES))
def test_which_discards_are_dominated(setting, rows):
    for row in rows:
        hand, lines, beaten = re.fullmatch(r"(.*?) \|(.*)=(.*)", row).groups()
        at = position(hand, lines.strip().replace("FLAT", FLAT))
        plays = options(at).plays
        left_out = [play for play in plays if play not in undominated(at, plays)]
        assert left_out == [discard("Ann", Card(card)) for card in beaten.split()], setting


STOPPED = "Ann roll; Bob roll; Ann 100; Bob stop > Ann"


@pytest.mark.parametrize(
    ("edition", "hand", "lines", "beaten"),
    [
        ("classic", "roll 25 200", STOPPED, "roll 25 200"),
        ("classic", "roll 25 200", f"{STOPPED}; exhausted", "roll"),
        (
            "bsd-mille",
            "spare-tire 25 speed-limit speed-limit speed-limit",
            f"{FLAT}; exhausted",
            "spare-tire 25 speed-limit",
        ),
    ],
    ids=["cards left to draw", "the opponent may have to spend a last Stop", "no attack is left"],
)
def test_with_an_empty_draw_pile_a_remedy_may_wait_for_the_last_attack(edition, hand, lines, beaten):
    at = position(hand, lines, edition)
    plays = options(at).plays

    left_out = [play for play in plays if play not in undominated(at, plays)]
    assert left_out == [discard("Ann", Card(card)) for card in beaten.split()]


def test_a_playable_safety_is_not_discarded():
    at = position("puncture-proof 25 50", "Ann roll; Bob roll", edition="classic")
    plays = options(at).plays

    assert [play for play in plays if play not in undominated(at, plays)] == [discard("Ann", Card.PUNCTURE_PROOF)]


@pytest.mark.parametrize("edition", edition_names())
def test_every_position_keeps_at_least_one_play(edition):
    for seed in range(4):
        for step in chance_hand(any_seating(edition, seed, seed % 4), seed, most=80):
            plays = options(step.position).plays
            assert bool(undominated(step.position, plays)) == bool(plays)
