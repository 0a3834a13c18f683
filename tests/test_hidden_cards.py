"""Hands that the program deals: no card is lost or seen, and the same key gives the same cards."""

import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from robot_games import PAIRS, TWO, any_seating, chance_hand, dealt, done

from companion.common.errors import Problem
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.hidden_cards import Deal, DealError, deal, read_deal, shuffled
from companion.rules.moves import candidates
from companion.rules.play import Play, Verb
from companion.rules.record import notation
from companion.rules.table import Team

EDITIONS = edition_names()


def random_steps(edition: str, seed: int, most: int = 600):
    """A hand of players by chance; house rules by chance may leave one without anything that he may do."""
    with suppress(Problem):
        yield from chance_hand(any_seating(edition, seed, 3), seed, most)


def begun(edition: str = "bsd-mille", teams=TWO, top: str = "") -> Deal:
    """A hand whose pile has those cards on top, the topmost first: the first seat gets the first of them."""
    table = referee.new_hand(load_edition(edition), teams, teams[0].players[0])
    cards = list(map(Card, top.split()))
    rest = Counter(table.deck) - Counter(cards)
    return deal(table, [*rest.elements(), *reversed(cards)], "key")


def played(at: Deal, *lines: str) -> Deal:
    teams = tuple(Team(side.name, side.players) for side in at.table.sides)
    for line in lines:
        at = at.play(notation.parse_play(line, teams))
    return at


def against(at: Deal, line: str) -> list[str]:
    teams = tuple(Team(side.name, side.players) for side in at.table.sides)
    return [str(why) for why in at.objections(notation.parse_play(line, teams))]


ANN, BOB = "roll 25 50 100 stop driving-ace", "roll 25 50 100 accident right-of-way"


@pytest.mark.parametrize("edition", EDITIONS)
@given(st.integers(0, 10**9))
@settings(max_examples=4, deadline=None)
def test_every_card_is_somewhere_whatever_is_played(edition, seed):
    for step in random_steps(edition, seed):
        at = step.after.deal
        hidden = Counter(chain(at.pile, *at.hands))

        assert hidden + at.table.lying == Counter(at.table.deck)
        assert tuple(map(len, at.hands)) == at.table.hands
        assert len(at.pile) == at.table.draw_pile


@pytest.mark.parametrize("edition", EDITIONS)
@given(st.integers(0, 10**9))
@settings(max_examples=3, deadline=None)
def test_a_deal_follows_from_the_first_one_and_the_plays_and_can_be_written_down(edition, seed):
    again = None
    for step in random_steps(edition, seed):
        again = again or step.hand.deal
        again = again if step.play is None else again.play(step.play)

        assert again == step.after.deal
        for at in (again, again.draw()):
            assert read_deal(at.table, json.loads(json.dumps(at.as_json()))) == at


@pytest.mark.parametrize("edition", EDITIONS)
@given(st.integers(0, 10**9))
@example(356351)  # In Rush a stolen card is kept, and one like it held, when the turn's card has been drawn.
@settings(max_examples=2, deadline=None)
def test_what_nothing_speaks_against_can_be_played(edition, seed):
    for number, step in enumerate(random_steps(edition, seed, most=150)):
        for at in (step.after.deal, step.after.deal.draw()) if number % 5 == 0 else ():
            for seat in at.table.seats:
                plays = [play for play in candidates(at.table, seat.player) if not at.objections(play)]
                assert all(at.play(play).checked() for play in plays)


def test_the_key_settles_the_order():
    cards = tuple(Counter(load_edition("classic").deck).elements())

    assert shuffled(cards, "one") == shuffled(cards, "one") != shuffled(cards, "two")
    assert Counter(shuffled(cards, "one")) == Counter(cards)


def test_each_card_comes_to_each_place_as_often():
    cards = (Card.ROLL, Card.STOP, Card.ACCIDENT)
    seen = Counter(shuffled(cards, str(number)) for number in range(6000))

    assert len(seen) == 6
    assert all(abs(count - 1000) < 150 for count in seen.values())


def test_the_hands_come_from_the_top_of_the_pile_and_the_draws_after_them():
    at = begun(top=f"{ANN} {BOB} 75 200")

    assert [" ".join(hand) for hand in at.hands] == [ANN, BOB]
    assert at.draw().hands[0][-1] == Card.KM_75
    assert played(at, "Ann roll").draw().hands[1][-1] == Card.KM_200


def test_drawing_twice_is_drawing_once_and_the_play_draws_where_nobody_has():
    at = begun(top=f"{ANN} {BOB}")

    assert at.draw().draw() == at.draw()
    assert at.draw().has_drawn
    assert not at.has_drawn
    assert played(at, "Ann roll") == played(at.draw(), "Ann roll")


@pytest.mark.parametrize(
    ("before", "line", "codes"),
    [
        ([], "Ann roll", []), ([], "Ann 200", ["not-driving"]), ([], "Ann gasoline", ["nothing-to-remedy"]),
        ([], "Ann extra-tank", ["no-such-card-there"]), ([], "Ann discard 200", ["no-such-card-there"]),
        ([], "Bob discard 200", ["not-your-turn"]),
        (["Ann roll", "Bob roll", "Ann stop > Bob"], "Bob right-of-way !", []),
        (["Ann roll", "Bob roll", "Ann stop > Bob"], "Ann driving-ace !", ["no-attack-to-answer"]),
    ],
)  # fmt: skip
def test_what_is_not_held_cannot_be_played(before, line, codes):
    assert against(played(begun(top=f"{ANN} {BOB}"), *before), line) == codes


def test_after_the_draw_it_is_too_late_for_what_comes_before_it():
    attacked = played(begun(top=f"{ANN} {BOB}"), "Ann roll", "Bob roll", "Ann stop > Bob").draw()
    at = played(begun("asmodee-2014", top=f"{ANN} {BOB}"), "Ann discard 25").draw()

    assert against(attacked, "Bob right-of-way !") == ["coup-fourre-window-closed"]
    assert against(at, "Bob take") == ["cannot-take-discard"]
    with pytest.raises(DealError):
        played(at, "Bob take")


def test_a_partner_answers_until_anybody_draws():
    hands = "roll 25 50 100 stop 75 roll 25 50 100 200 75 50 25 50 100 75 75 right-of-way 25 50 100 100 75"
    lines = ("Ann roll", "Bob roll", "Cid discard 50", "Dee discard 25", "Ann stop > Blues")
    at = played(begun("classic", PAIRS, hands), *lines)

    assert against(at, "Dee right-of-way !") == []
    assert against(at.draw(), "Dee right-of-way !") == ["coup-fourre-window-closed"]


def test_in_rush_nothing_is_discarded_while_a_card_can_be_laid():
    at = begun("rush", top="100 50 roll stop repairs mirror roll repairs recharge mirror u-turn end-of-limit recharge")

    assert against(at, "Ann discard roll") == ["discard-only-when-stuck"]
    assert against(played(at, "Ann stop > Bob"), "Bob discard recharge") == ["discard-only-when-stuck"]


def test_a_card_that_nobody_holds_is_a_fault():
    with pytest.raises(DealError, match="no 200 in the hand"):
        played(begun(top=f"{ANN} {BOB}"), "Ann discard 200")


@pytest.mark.parametrize("play", [Play(Verb.EXHAUSTED), Play(Verb.PENALTY, "Ann", Card.KM_50)])
def test_where_a_program_deals_no_pile_is_seen_empty_and_no_mistake_costs_a_card(play):
    at = begun("rush", top="50")
    with pytest.raises(DealError):
        at.play(play)


def test_a_pile_with_other_cards_than_the_deck_is_refused():
    table = referee.new_hand(load_edition("classic"), TWO, "Ann")

    with pytest.raises(DealError):
        deal(table, [Card.ROLL] * sum(table.deck.values()), "key")


def damaged(change) -> dict:
    written = begun(top=f"{ANN} {BOB}").as_json()
    change(written)
    return written


@pytest.mark.parametrize(
    "change",
    [
        lambda written: written.pop("pile"), lambda written: written["pile"].pop(),
        lambda written: written.update(pile=7), lambda written: written.update(pile=[["roll"]]),
        lambda written: written["hands"].pop(), lambda written: written["hands"][0].append(written["hands"][1].pop()),
        lambda written: written["pile"].append(written["hands"][1].pop()),
        lambda written: written["hands"][0].__setitem__(1, "roll"),
        lambda written: written["hands"][0].__setitem__(0, "wheel"),
    ],
)  # fmt: skip
def test_a_written_deal_that_does_not_fit_its_table_is_refused(change):
    with pytest.raises(DealError):
        read_deal(begun(top=f"{ANN} {BOB}").table, damaged(change))


def test_after_the_discards_became_the_draw_pile_they_come_in_another_order_than_they_lay():
    at = dealt("asmodee-2014", 1)
    while at.deal.pile:
        player = at.deal.table.player_to_move
        at = done(at.drawn(), player, Play(Verb.DISCARD, player, at.drawn().deal.hands[at.deal.table.to_move][0]))
    discards = at.deal.table.discards

    pile = at.deal.draw().pile

    assert len(pile) == len(discards) - 1
    assert pile != discards[:-1]
    assert replace(at.deal, key="another").draw().pile != pile
