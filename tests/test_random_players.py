"""Players by chance in every edition and with every house rule: what holds whatever they lay."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from players import all_cards, legal_hand, random_play, random_table

from companion.common.languages import LANGUAGES
from companion.rules import referee
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import edition_names
from companion.rules.moves import candidates
from companion.rules.play import Play, Verb
from companion.rules.reasons import instead, rule, say
from companion.rules.record import judge, notation
from companion.rules.scoring import score
from companion.rules.table import Request, Table

SEEDS = st.integers(0, 10**9)
A_FEW = settings(max_examples=6, deadline=None)
EDITIONS = edition_names()


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS)
@A_FEW
def test_no_card_is_ever_lost_or_made(edition, seed):
    chance = random.Random(seed)
    table = random_table(chance, edition)
    cards = sum(table.deck.values())

    for play, after in legal_hand(table, chance):
        assert all_cards(after) == cards, play
        assert min(*after.hands, after.draw_pile, after.unaccounted) >= 0


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS)
@A_FEW
def test_legal_play_keeps_every_side_within_the_rules(edition, seed):
    chance = random.Random(seed)
    table = random_table(chance, edition)
    allowed = table.edition.two_hundreds_max

    for play, after in legal_hand(table, chance):
        for side in after.sides:
            assert side.hazard is None or SAFETY_OF[side.hazard] not in side.safeties, play
            assert allowed is None or side.distances.count("200") <= allowed, play
            assert after.edition.overshoot == "allowed" or after.race_km(side) <= after.target, play
            assert len(set(side.safeties)) == len(side.safeties), play
            assert set(side.coups_fourres) <= set(side.safeties), play
        assert not (after.is_over and after.attacks)


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS)
@A_FEW
def test_a_total_is_the_sum_of_its_lines_and_in_a_race_the_distance(edition, seed):
    chance = random.Random(seed)
    table = random_table(chance, edition)

    for _, after in legal_hand(table, chance):
        table = after
    for side, sheet in zip(table.sides, score(table), strict=True):
        assert sheet.total == sum(points for _, points in sheet.lines)
        if edition in ("asmodee-2014", "rush") and table.edition.safeties_count_as_distance == "yes":
            assert sheet.total == table.race_km(side)


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS)
@A_FEW
def test_any_line_is_judged_and_can_lie_as_it_lies(edition, seed):
    chance = random.Random(seed)
    table = random_table(chance, edition)
    for _ in range(120):
        play = random_play(table, chance)
        for why in (*referee.objections(table, play), *referee.remarks(table, play)):
            for language in LANGUAGES:
                assert say(why, language)
                assert rule(why, table.edition, language)
                instead(why, language)
        lies = referee.apply(table, play)

        assert min(*lies.hands, lies.draw_pile, lies.unaccounted) >= 0
        assert 0 <= lies.to_move < len(lies.seats)
        if not referee.objections(table, play) or chance.random() < 0.2:
            table = lies


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS)
@A_FEW
def test_a_play_reads_back_from_its_notation(edition, seed):
    chance = random.Random(seed)
    table = random_table(chance, edition)
    sides = teams_of(table)
    for play, after in legal_hand(table, chance):
        assert notation.parse_play(str(play), sides) == play
        stray = random_play(after, chance)
        assert notation.parse_play(str(stray), sides) == stray


def teams_of(table: Table) -> list:
    return [judge.Team(side.name, side.players) for side in table.sides]


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS)
@settings(max_examples=4, deadline=None)
def test_a_play_is_legal_exactly_when_it_is_among_the_legal_plays(edition, seed):
    chance = random.Random(seed)
    table = random_table(chance, edition)
    for _, after in legal_hand(table, chance, most=chance.randint(5, 60)):
        table = after
    player = chance.choice(table.seats).player
    listed = set(map(str, referee.legal_plays(table, player)))

    assert all(not referee.objections(table, notation.parse_play(text, teams_of(table))) for text in listed)
    for _ in range(40):
        play = random_play(table, chance)
        if play.player == player and len(play.cards) < 2 and is_written_once(table, play):
            assert (str(play) in listed) == (not referee.objections(table, play)), play


def is_written_once(table: Table, play: Play) -> bool:
    """Whether the list has the play in this form: nobody is spoken to of a request that there is not."""
    return not referee.objections(table, play) or play.times < 3


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS, st.integers(0, 300))
@settings(max_examples=6, deadline=None)
def test_a_record_replayed_in_two_parts_is_the_record_replayed_at_once(edition, seed, cut):
    chance = random.Random(seed)
    table = random_table(chance, edition)
    header = [f"edition {edition}", *(f"option {name}={value}" for name, value in table.edition.house_rules)]
    header += [f"side {s.name} = {', '.join(s.players)}" for s in table.sides] + [f"target {table.target}"]
    lines = [*header, f"hand first {table.player_to_move}"]
    for play, after in legal_hand(table, chance):
        lines.append(str(play))
        table = after
    game, games = judge.NEW_GAME, []
    for number, text in enumerate(lines, start=1):
        game, items = judge.step(game, notation.Line(number, text))
        assert all(item.verdict == "legal" for item in items if isinstance(item, judge.JudgedLine)), (text, items)
        games.append(game)

    assert game.table == table
    again = games[min(cut, len(games) - 1)]
    for number, text in list(enumerate(lines, start=1))[min(cut, len(games) - 1) + 1 :]:
        again, _ = judge.step(again, notation.Line(number, text))
    assert again == game


@pytest.mark.parametrize("edition", EDITIONS)
@given(SEEDS)
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
