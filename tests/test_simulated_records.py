"""The simulated players continue any record that the referee accepts, or refuse with a reason."""

import random
from contextlib import suppress

import pytest

from companion.common.errors import Problem
from companion.rules import referee
from companion.rules.record import judge
from companion.rules.record.judge import Game
from companion.rules.record.notation import RecordLine, header_text
from companion.rules.table import Table, Team
from companion.simulate import arrange
from companion.simulate.choreography import Choreographer
from companion.simulate.players import PAIRS, TWO_PLAYERS, played_on
from companion.simulate.script import Hand, Script

EDITIONS = ("classic", "asmodee-2014", "bsd-mille", "parker", "dujardin-2014")


def after(game: Game, *lines: str) -> Game:
    for line in lines:
        game = judge.step(game, RecordLine(0, line))[0]
    return game


def begun(edition: str, teams: tuple[Team, ...]) -> Game:
    return after(judge.NEW_GAME, *header_text(teams, edition, None, {}), "hand first Ann")


def any_line(table: Table, chance: random.Random) -> str:
    """Return a line that may be entered, sometimes one that no camera could see."""
    mover = table.player_to_move
    if table.extension_offered_to is not None:
        return f"{table.sides[table.extension_offered_to].players[0]} {chance.choice(['finish', 'extend'])}"
    if chance.random() < 0.2:
        return chance.choice(["exhausted", f"{mover} discard unknown", f"{mover} take", f"{mover} skip"])
    plays = list(referee.legal_plays(table, mover))
    return f"{chance.choice(plays)}{chance.choice(['', '', ' anyway'])}" if plays else "exhausted"


def movements_from(game: Game, seed: int) -> int:
    """Return how many movements the players make to continue a game."""
    assert game.table is not None
    script = Script(game.teams, (Hand("Ann", ()),), game.edition_name, game.target, game.options)
    script = played_on(script, game.table, hands=2, seed=seed)
    plan = arrange.plan(len(script.teams), len(script.players))
    return sum(1 for _ in Choreographer(script, plan, seed).movements())


@pytest.mark.variants(8)
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", range(8))
def test_the_simulated_players_can_continue_any_record(edition: str, seed: int):
    chance = random.Random(f"record {edition} {seed}")
    game = begun(edition, TWO_PLAYERS if edition == "bsd-mille" else chance.choice([TWO_PLAYERS, PAIRS]))
    for _ in range(chance.randint(0, 40)):
        assert game.table is not None
        game = after(game, any_line(game.table, chance))

    with suppress(Problem):
        assert movements_from(game, seed) > 0


def test_play_goes_on_with_an_empty_draw_pile_and_no_discards():
    game = after(begun("asmodee-2014", TWO_PLAYERS), "Ann roll", "Bob roll", "Ann 100", "Bob 100", "exhausted")
    assert game.table is not None
    assert not game.table.draw_pile

    assert movements_from(game, 1) > 0


@pytest.mark.parametrize("seed", range(12))
def test_players_do_not_take_an_unknown_discard(seed: int):
    game = after(begun("asmodee-2014", TWO_PLAYERS), "Ann discard unknown")

    assert movements_from(game, seed) > 0
