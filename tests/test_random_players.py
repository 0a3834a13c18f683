"""Players by chance in every edition; what must hold whatever they lay, `tests/trust/fuzz_engine.py` looks at."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from players import legal_hand, random_table

from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names
from companion.rules.moves import candidates
from companion.rules.play import Play, Verb
from companion.rules.table import Request


@pytest.mark.parametrize("edition", edition_names())
@given(st.integers(0, 10**9))
@settings(max_examples=4, deadline=None)
def test_a_hand_by_the_sheet_comes_to_its_end(edition, seed):
    chance = random.Random(seed)
    table = random_table(chance, edition, most_options=0)
    for _, after in legal_hand(table, chance, most=3000):
        table = after

    assert table.is_over


def test_two_alike_may_fetch_one_of_themselves_and_the_list_says_so():
    table = random_table(random.Random(1), "rush", most_options=0)
    player = table.player_to_move
    play = Play(Verb.PAIR, player, Card.ROLL, wanted=Card.ROLL)

    assert not referee.objections(table, play)
    assert play in list(referee.legal_plays(table, player))


def test_two_requests_of_the_same_player_are_listed_once():
    table = random_table(random.Random(1), "rush", most_options=0)
    asked = tuple(Request(card, by_seat=1, of_seat=0) for card in (Card.ROLL, Card.STOP))
    table = table._replace(requests=asked)
    listed = list(candidates(table, table.seats[0].player))

    assert len(set(listed)) == len(listed)
