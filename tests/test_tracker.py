"""The tracker, driven with views written by hand: what lies where, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from companion.labels import face_of
from companion.proposal import Mismatch, Proposal
from companion.rules import judge, notation, referee
from companion.rules.cards import Card
from companion.rules.play import lay
from companion.rules.table import Table
from companion.tracker import GONE_S, PILE_EMPTY_S, Cleared, Settled, Tracker, Withdrawn
from companion.vision.view import MatSeen, Sighting, View

MATS = {"side-1": "Ann", "side-2": "Bob"}
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
SEEN = tuple(MatSeen(mat, SQUARE, 2.0) for mat in (*MATS, "table"))
STEP_S = 0.1


def table_after(*lines: str) -> Table:
    """The table after some lines of a hand between Ann and Bob."""
    game = judge.NEW_GAME
    for number, text in enumerate(("side Ann", "side Bob", "hand first Ann", *lines)):
        game, items = judge.step(game, notation.Line(number, text))
        assert all(item.verdict == "legal" for item in items if isinstance(item, judge.JudgedLine))
    assert game.table is not None
    return game.table


def _centre_px(number: int, zone: str) -> tuple[float, float]:
    """Piles lie on one spot, distance cards side by side."""
    return (150.0 * number, 0.0) if zone.endswith("distance") else (0.0, 0.0)


@dataclass
class Sim:
    """A table seen frame by frame; legal proposals are confirmed at once unless told otherwise."""

    table: Table
    confirm: bool = True
    t_s: float = 0.0
    cards: dict[str, tuple[str, bool]] = field(default_factory=dict)
    events: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tracker = Tracker(MATS, self.table)

    def lay(self, card: str, zone: str, *, sideways: bool = False) -> None:
        self.cards = {c: p for c, p in self.cards.items() if p[0] != zone or zone.endswith(("distance", "safety"))}
        self.cards[card] = (zone, sideways)

    def see(self, seconds: float = 1.0, *, unknown: tuple[str, ...] = (), pile_empty: bool = False) -> list[object]:
        """Lets time pass; gives the events of that time."""
        events: list[object] = []
        for _ in range(round(seconds / STEP_S)):
            self.t_s += STEP_S
            for event in self.tracker.update(self._view(unknown, pile_empty), self.table):
                events.append(event)
                self._take(event)
        self.events += events
        return events

    def _view(self, unknown: tuple[str, ...], pile_empty: bool) -> View:
        sightings = tuple(
            Sighting(
                face_of(card),
                card,
                (100.0 * i, 0.0) if "distance" in zone else (0.0, 0.0),
                None,
                zone,
                side,
                0.98,
                "sticker",
            )
            for i, (card, (zone, side)) in enumerate(self.cards.items())
            if zone not in unknown
        )
        return View(self.t_s, SEEN, sightings, frozenset(unknown), pile_empty)

    def _take(self, event: object) -> None:
        if self.confirm and isinstance(event, Proposal) and not referee.objections(self.table, event.play):
            self.table = referee.apply(self.table, event.play)
            self.tracker.resolve(event.id, confirmed=True)


def plays(events: list[object]) -> list[str]:
    return [str(event.play) for event in events if isinstance(event, Proposal)]


def test_a_card_that_lies_still_is_proposed_once():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see(2.0)) == ["Ann roll"]


def test_a_proposal_comes_within_four_frames():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see(4 * STEP_S)) == ["Ann roll"]


def test_one_sighting_is_no_proposal():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")

    assert table.see(STEP_S) == []


def test_a_hazard_before_somebody_is_an_attack_by_the_player_to_move():
    table = Sim(table_after("Ann roll"))
    table.lay("stop-01", "side-1/battle")

    assert plays(table.see()) == ["Bob stop > Ann"]


def test_a_speed_limit_in_the_speed_zone_is_an_attack():
    table = Sim(table_after("Ann roll"))
    table.lay("speed-limit-01", "side-1/speed")

    assert plays(table.see()) == ["Bob speed-limit > Ann"]


def test_a_card_on_the_discard_pile_is_discarded_by_the_player_to_move():
    table = Sim(table_after("Ann roll"))
    table.lay("25-07", "table/discard")

    assert plays(table.see()) == ["Bob discard 25"]


def test_a_safety_laid_sideways_on_a_fresh_attack_is_a_coup_fourre():
    table = Sim(table_after("Ann roll", "Bob stop > Ann"))
    table.lay("right-of-way-01", "side-1/safety", sideways=True)

    assert plays(table.see()) == ["Ann right-of-way !"]


def test_a_safety_laid_upright_on_a_fresh_attack_is_asked_about():
    table = Sim(table_after("Ann roll", "Bob stop > Ann"))
    table.lay("right-of-way-01", "side-1/safety")

    proposal = next(event for event in table.see() if isinstance(event, Proposal))
    assert str(proposal.play) == "Ann right-of-way"
    assert not proposal.sure


def test_a_card_laid_out_of_turn_is_proposed_as_the_play_of_whose_side_it_is():
    table = Sim(table_after("Ann roll"))
    table.lay("100-01", "side-1/distance")

    assert plays(table.see()) == ["Ann 100"]


def test_nothing_is_proposed_from_a_zone_that_something_covers():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")

    assert table.see(3.0, unknown=("side-1/battle",)) == []


def test_a_card_taken_back_withdraws_its_proposal():
    table = Sim(table_after(), confirm=False)
    table.lay("roll-03", "side-1/battle")
    proposal = table.see()[0]
    table.cards.clear()

    assert table.see(GONE_S + 0.5) == [Withdrawn(proposal.id)]


def test_a_card_moved_before_it_is_confirmed_is_proposed_where_it_lies_now():
    table = Sim(table_after(), confirm=False)
    table.lay("roll-03", "side-2/battle")
    table.see()
    table.cards = {"roll-03": ("side-1/battle", False)}

    first, second = table.see()
    assert isinstance(first, Withdrawn)
    assert str(second.play) == "Ann roll"


def test_a_covered_card_is_not_missed():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.lay("stop-01", "side-1/battle")

    assert plays(table.see(5.0)) == ["Bob stop > Ann"]
    assert not [event for event in table.events if isinstance(event, Mismatch)]


def test_a_confirmed_card_that_vanishes_from_the_top_is_a_difference():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()

    (mismatch,) = table.see(4.0)
    assert isinstance(mismatch, Mismatch)
    assert mismatch.expected == "roll"


def test_a_difference_is_settled_when_the_card_lies_there_again():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()
    mismatch = table.see(4.0)[0]
    table.lay("roll-03", "side-1/battle")

    assert table.see() == [Settled(mismatch.id)]


def test_a_hand_over_a_zone_is_no_reason_to_miss_its_card():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()

    assert table.see(10.0, unknown=("side-1/battle",)) == []


@pytest.mark.parametrize("hazard_first", [True, False])
def test_the_hazard_of_a_coup_fourre_may_go_to_the_discard_pile(hazard_first: bool):
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.lay("stop-01", "side-1/battle")
    table.see()
    if hazard_first:
        table.lay("stop-01", "table/discard")
        table.see(1.0)
    table.lay("right-of-way-01", "side-1/safety", sideways=True)
    table.see(1.0)
    table.lay("stop-01", "table/discard")
    table.lay("roll-03", "side-1/battle")
    table.see(6.0)

    assert plays(table.events) == ["Ann roll", "Bob stop > Ann", "Ann right-of-way !"]
    assert not [event for event in table.events if isinstance(event, Mismatch)]


def test_cards_that_lay_there_before_we_looked_are_not_proposed():
    table = Sim(table_after("Ann roll", "Bob roll", "Ann 100"))
    table.lay("roll-01", "side-1/battle")
    table.lay("roll-02", "side-2/battle")
    table.lay("100-04", "side-1/distance")

    assert table.see(3.0) == []


def test_a_card_laid_on_one_that_lay_there_before_is_proposed():
    table = Sim(table_after("Ann roll", "Bob roll", "Ann 100"))
    table.lay("roll-01", "side-1/battle")
    table.see()
    table.lay("roll-09", "side-1/battle")

    assert plays(table.see()) == ["Ann roll"]


def test_a_play_entered_by_hand_is_not_proposed_when_its_card_appears():
    table = Sim(table_after())
    play = lay("Ann", Card.ROLL)
    table.tracker.expect(play, table.table)
    table.table = referee.apply(table.table, play)
    table.lay("roll-01", "side-1/battle")

    assert table.see(2.0) == []


def test_an_empty_draw_pile_is_told_only_when_the_count_is_far_from_it():
    table = Sim(table_after())

    assert plays(table.see(PILE_EMPTY_S + 1, pile_empty=True)) == ["exhausted"]


def test_after_the_hand_empty_mats_mean_that_the_next_can_begin():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.table = referee.apply(table.table, notation.parse_play("end", []))
    table.cards.clear()

    assert [type(event) for event in table.see(3.0)] == [Cleared]


def test_while_the_extension_is_undecided_nothing_is_proposed():
    near = ["Ann roll", "Bob roll"] + ["Ann 100", "Bob discard 25"] * 6 + ["Ann 100"]
    table = Sim(table_after(*near))
    table.lay("25-01", "side-2/distance")

    assert table.table.extension_offered_to == 0
    assert table.see(2.0) == []


def test_cards_left_over_from_the_hand_before_mean_nothing():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.table = table_after()
    table.tracker.new_hand()

    assert table.see(3.0) == []


def test_a_card_of_the_hand_before_is_new_once_it_was_taken_away():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.table = table_after()
    table.tracker.new_hand()
    table.cards.clear()
    table.see(GONE_S + 0.5)
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see()) == ["Ann roll"]


def test_a_play_that_the_record_took_back_may_be_laid_again():
    table = Sim(table_after())
    table.lay("roll-03", "side-1/battle")
    table.see()
    table.cards.clear()
    mismatch = table.see(4.0)[0]
    table.table = table_after()
    table.tracker.leave(mismatch.id, table.table)
    table.lay("roll-03", "side-1/battle")

    assert plays(table.see()) == ["Ann roll"]


def test_a_confirmed_card_put_right_at_once_is_told_at_once():
    table = Sim(table_after())
    table.lay("roll-03", "table/discard")
    table.see()
    table.cards = {"roll-03": ("side-1/battle", False)}

    (mismatch,) = table.see(4 * STEP_S)
    assert isinstance(mismatch, Mismatch)
    assert "discard pile" in mismatch.say


def test_of_two_cards_laid_at_once_the_legal_one_comes_first():
    table = Sim(table_after("Ann roll"))
    table.cards = {"100-01": ("side-1/distance", False), "roll-02": ("side-2/battle", False)}

    assert plays(table.see()) == ["Bob roll", "Ann 100"]
