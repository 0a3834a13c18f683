"""What goes wrong at a real table, as it is seen look by look: pushed, bumped, covered, mislaid, left lying, unread."""

from __future__ import annotations

import pytest
from test_reconcile_views import asmodee
from viewed import STEP_S, Viewed, differences, plays

from companion.match.questions import SURE_CONFIDENCE, Answer, Kind, Question
from companion.rules.cards import Card
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.clearing import dealt
from companion.tracking.track import DOUBTFUL_CONFIDENCE, MOMENT_S, PUT_RIGHT_S, TURN_S
from companion.vision.view import MatSeen, Point, Quad, Sighting, View

PX_PER_MM = 2.0
BATTLE, DISTANCE, SAFETY = "side-1/battle", "side-1/distance", "side-1/safety"
ROLLING = ("Ann roll", "Bob roll")


def sheet(x: float, y: float) -> Quad:
    return ((x, y), (x + 840, y), (x + 840, y + 594), (x, y + 594))


class Table(Viewed):
    """A table whose cards lie somewhere, in millimetres."""

    def __init__(self, *lines: str, edition: str = "classic", confirm: bool = True, sure: float = 0.98) -> None:
        super().__init__(*lines, edition=edition, confirm=confirm)
        self.sure = sure
        self.at_mm: dict[str, Point] = {}
        self.codes: dict[str, tuple[str, Point, tuple[tuple[str, float], ...]]] = {}
        """Codes that cannot be read, by any name: zone, place, and what they may be."""

        self.camera_px: Point = (0.0, 0.0)
        self.trouble: str | None = None
        self.corners: dict[str, Quad] = {}

    def put(self, card: str, zone: str, x: float = 0.0, y: float = 0.0, *, sideways: bool = False) -> None:
        """Let a card come to lie there; nothing else is changed."""
        self.cards[card], self.at_mm[card] = (zone, sideways), (x, y)

    def laid(self, card: str, zone: str, x: float = 0.0, y: float = 0.0) -> None:
        """Lay a card, and let it be seen."""
        self.put(card, zone, x, y)
        assert plays(self.see(0.6)) != []

    def cover(self, card: str) -> None:
        """Let a card be seen no more."""
        del self.cards[card]

    def code(self, name: str, zone: str, x: float = 0.0, y: float = 0.0, **rivals: float) -> None:
        """Let a code come to lie there that cannot be read."""
        said = tuple((card.replace("_", "-").removeprefix("km-"), sure) for card, sure in rivals.items())
        self.codes[name] = (zone, (x, y), said)

    def begin_next(self) -> None:
        """Begin the next hand after one that is over."""
        self.tracks = dealt(self.tracks, self.record.lines[-1].seq)
        self.next_hand()

    def _view(self, unknown: tuple[str, ...], pile_empty: bool) -> View:
        read = [self._sighting(card, zone, self.at_mm[card], side) for card, (zone, side) in self.cards.items()]
        unread = [
            Sighting(Card.UNKNOWN, None, self._px(at), None, zone, False, 0.0, "sticker", rivals)
            for zone, at, rivals in self.codes.values()
        ]
        shown = tuple(sighting for sighting in read + unread if sighting.zone not in unknown)
        mats = tuple(MatSeen(mat.id, sheet(*self.camera_px), PX_PER_MM) for mat in self.mats)
        return View(self.t_s, mats, shown, frozenset(unknown), pile_empty, self.trouble)

    def _sighting(self, card: str, zone: str, at: Point, sideways: bool) -> Sighting:
        corners = self.corners.get(card)
        return Sighting(face_of(card), card, self._px(at), corners, zone, sideways, self.sure, "sticker")

    def _px(self, at: Point) -> Point:
        return self.camera_px[0] + 420 + at[0] * PX_PER_MM, self.camera_px[1] + 297 + at[1] * PX_PER_MM


def driving(*, edition: str = "classic") -> Table:
    """Ann and Bob drive; both rolls are seen lying there."""
    table = Table(edition=edition)
    table.laid("roll-01", BATTLE)
    table.laid("roll-02", "side-2/battle")
    assert plays(table.ever) == ["Ann roll", "Bob roll"]
    table.ever.clear()
    return table


def doubts(questions: list[Question]) -> list[Question]:
    """The questions about cards that cannot be told."""
    return [question for question in questions if question.kind is Kind.WHICH]


# Bumps and turns


def test_a_card_that_is_turned_before_it_is_confirmed_stays_the_same_proposal():
    table = Table(confirm=False)
    table.put("roll-01", BATTLE)
    table.see()
    table.put("roll-01", BATTLE, sideways=True)

    assert table.see(2.0) == []


def test_a_card_bumped_within_its_zone_says_nothing():
    table = driving()
    table.put("roll-01", BATTLE, 14, -9, sideways=True)

    assert table.see(4.0) == []


def test_a_card_turned_to_and_fro_while_it_is_looked_at_says_nothing():
    table = driving()
    for turn in range(12):
        table.put("roll-01", BATTLE, sideways=bool(turn % 2))
        assert table.see(STEP_S) == []


def diagonal(x: float, y: float) -> Quad:
    return ((x, y), (x + 30, y + 30), (x, y + 60), (x - 30, y + 30))


def test_a_safety_that_lies_neither_upright_nor_sideways_is_not_sure():
    table = Table(*ROLLING, "Ann 25", "Bob stop > Ann", confirm=False)
    table.put("right-of-way-01", SAFETY, sideways=True)
    table.corners["right-of-way-01"] = diagonal(0, 0)

    (proposal,) = table.see()
    assert proposal.confidence < SURE_CONFIDENCE
    assert not proposal.sure


# Fans pushed together


def fan(table: Table, *cards: str) -> None:
    """So many of Ann's distance cards side by side, 70 mm apart; Bob discards in between."""
    for number, card in enumerate(cards):
        table.laid(card, DISTANCE, 70.0 * number)
        table.put(f"25-{number + 5:02d}", DISCARD_ZONE, 0, 0)
        table.see(0.6)
        if number:
            table.cards.pop(f"25-{number + 4:02d}", None)
    table.ever.clear()


def test_a_fan_that_is_pushed_together_loses_none_of_its_cards():
    table = driving()
    fan(table, "100-01", "75-01", "50-01")
    table.see(0.5, unknown=(DISTANCE,))
    table.cover("75-01")
    table.cover("50-01")
    table.put("100-01", DISTANCE, 100)

    assert table.see(6.0) == []


def test_a_fan_that_is_spread_again_shows_what_it_always_showed():
    table = driving()
    fan(table, "100-01", "75-01")
    table.cover("75-01")
    table.put("100-01", DISTANCE, 60)
    assert table.see(4.0) == []
    table.put("100-01", DISTANCE, 0)
    table.put("75-01", DISTANCE, 90)

    assert table.see(4.0) == []


def test_a_card_taken_from_a_fan_whose_other_cards_stay_is_missed():
    table = driving()
    fan(table, "100-01", "75-01", "50-01")
    table.cover("100-01")

    assert [question.expected for question in differences(table.see(3.0))] == [Card.KM_100]


# Light and camera


def test_a_moved_camera_does_not_uncover_what_lies_beneath():
    table = driving()
    table.put("stop-01", BATTLE, 8, 8)
    table.cover("roll-01")
    table.see()
    table.camera_px = (160.0, -90.0)

    assert differences(table.see(4.0)) == []


def test_what_was_out_of_sight_while_the_picture_could_not_be_trusted_has_not_been_missing():
    table = driving()
    table.cover("roll-01")
    table.see(MOMENT_S - 0.5)
    table.trouble = "The light has changed."
    assert table.see(5.0) == []
    table.trouble = None
    table.see(0.4)
    table.put("roll-01", BATTLE)

    assert table.see(3.0) == []


def test_a_play_made_while_the_picture_could_not_be_trusted_is_seen_once_afterwards():
    table = driving()
    table.trouble = "The light has changed."
    table.put("100-01", DISTANCE)
    table.see(2.0)
    table.trouble = None

    assert plays(table.see(3.0)) == ["Ann 100"]


# Hands that are still over the mat


def test_while_the_arm_is_over_the_mat_a_card_just_laid_is_waited_for():
    table = Table()
    table.put("roll-01", BATTLE)

    assert table.see(MOMENT_S - 0.2, unknown=(DISTANCE,)) == []
    assert plays(table.see(0.2)) == ["Ann roll"]


def test_an_arm_that_stays_is_not_waited_for_for_ever():
    table = Table()
    table.put("roll-01", BATTLE)

    assert plays(table.see(MOMENT_S + 0.3, unknown=(DISTANCE,))) == ["Ann roll"]


def test_a_cup_on_the_mat_holds_no_card_up():
    table = Table()
    table.see(TURN_S + 1.0, unknown=(DISTANCE,))
    table.put("roll-01", BATTLE)

    assert plays(table.see(4 * STEP_S, unknown=(DISTANCE,))) == ["Ann roll"]


def test_a_card_put_down_in_the_wrong_zone_and_moved_by_the_same_arm_is_one_play():
    table = Table("Ann roll")
    table.put("stop-01", "side-2/battle")
    table.see(0.5, unknown=("side-2/distance",))
    table.see(0.3, unknown=("side-2/battle", "side-2/distance"))
    table.put("stop-01", BATTLE)

    assert plays(table.see(2.0)) == ["Bob stop > Ann"]


def test_a_card_seen_before_the_one_that_was_laid_first_waits_for_it():
    table = Table(*ROLLING)
    table.put("50-01", "side-2/distance")
    early = table.see(TURN_S - 0.5, unknown=(DISTANCE, BATTLE))
    table.put("100-01", DISTANCE)

    assert early == []
    assert plays(table.see(1.0)) == ["Ann 100", "Bob 50"]


def test_a_card_out_of_turn_is_told_though_a_hand_lies_on_the_table():
    table = Table(*ROLLING)
    table.put("50-01", "side-2/distance")

    assert plays(table.see(TURN_S + 0.5, unknown=(DISTANCE, BATTLE))) == ["Bob 50"]


def test_a_discard_seen_before_the_play_of_whoever_was_to_move_is_the_next_players():
    table = driving()
    table.put("25-01", DISCARD_ZONE)
    table.see(0.3, unknown=(DISTANCE,))
    table.put("100-01", DISTANCE)

    assert plays(table.see(1.0)) == ["Ann 100", "Bob discard 25"]


def test_a_hazard_seen_before_the_play_of_whoever_was_to_move_is_the_next_players():
    table = driving()
    table.put("stop-01", BATTLE)
    table.cover("roll-01")
    table.see(0.2, unknown=(DISCARD_ZONE,))
    table.put("25-01", DISCARD_ZONE)

    assert plays(table.see(1.0)) == ["Ann discard 25", "Bob stop > Ann"]


def test_a_play_refused_only_because_the_one_before_was_out_of_sight_is_proposed_anew_when_that_counts():
    table = Table(*ROLLING)
    table.see(0.2, unknown=(DISTANCE,))
    table.put("stop-01", BATTLE)
    early = table.see(TURN_S + 0.5, unknown=(DISTANCE,))
    table.put("100-01", DISTANCE)
    table.see(1.0)

    assert [question.is_legal for question in early] == [False]
    assert table.played == [*ROLLING, "Ann 100", "Bob stop > Ann"]
    assert table.asked == []


def test_a_play_out_of_turn_stays_refused_when_the_player_before_lays_his_card_only_then():
    table = Table(*ROLLING)
    table.put("50-01", "side-2/distance")
    table.see(1.0)
    table.put("100-01", DISTANCE)

    assert plays(table.see(3.0)) == ["Ann 100"]


def test_a_discard_does_not_overtake_a_play_that_is_waited_with():
    table = driving()
    table.see(STEP_S, unknown=("side-2/distance",))
    table.put("stop-01", "side-2/battle")
    table.put("25-01", DISCARD_ZONE)
    table.cover("roll-02")

    assert plays(table.see(1.0, unknown=("side-2/distance",)) + table.see(0.5)) == ["Ann stop > Bob", "Bob discard 25"]


def test_a_discard_that_is_waited_with_and_covered_by_the_next_is_not_lost():
    table = driving()
    table.see(0.2, unknown=("side-2/battle",))
    table.put("25-01", DISCARD_ZONE)
    table.see(0.4, unknown=("side-2/battle",))
    table.see(0.3, unknown=("side-2/battle", DISCARD_ZONE))
    table.cover("25-01")
    table.put("50-01", DISCARD_ZONE, 5, 5)

    assert plays(table.see(1.0)) == ["Ann discard 25", "Bob discard 50"]


def test_a_discard_seen_but_once_before_the_next_was_laid_upon_it_is_not_lost():
    table = driving()
    table.put("25-01", DISCARD_ZONE)
    table.see(STEP_S)
    table.see(0.3, unknown=(DISCARD_ZONE,))
    table.cover("25-01")
    table.put("50-01", DISCARD_ZONE, 5, 5)

    assert plays(table.see(1.0)) == ["Ann discard 25", "Bob discard 50"]


def test_a_card_seen_but_once_and_taken_away_again_is_no_play():
    table = driving()
    table.put("25-01", DISCARD_ZONE)
    table.see(STEP_S)
    table.see(0.3, unknown=(DISCARD_ZONE,))
    table.cover("25-01")

    assert table.see(4.0) == []


def test_of_two_plays_that_may_be_either_way_round_the_one_comes_first_that_came_into_sight_first():
    table = Table(*ROLLING, "Ann 25", "Bob 25")
    table.put("stop-01", "side-2/battle")
    table.see(STEP_S)
    table.put("25-01", DISCARD_ZONE)

    assert plays(table.see(1.0)) == ["Ann stop > Bob", "Bob discard 25"]


def test_of_a_play_and_a_discard_that_come_into_sight_together_the_one_comes_first_that_makes_both_legal():
    table = driving()
    table.put("25-01", DISCARD_ZONE)
    table.put("stop-01", "side-2/battle")
    table.cover("roll-02")

    assert plays(table.see(1.0)) == ["Ann stop > Bob", "Bob discard 25"]


def test_an_arm_over_a_mat_where_nothing_can_have_been_laid_by_the_player_to_move_holds_no_discard_up():
    table = driving()
    table.put("25-01", DISCARD_ZONE)

    assert plays(table.see(4 * STEP_S, unknown=("side-2/distance", "table/draw"))) == ["Ann discard 25"]


# Discards that are taken and covered at once


def test_a_discard_that_was_never_seen_to_go_lies_under_the_next():
    table = asmodee()
    table.see(0.4, unknown=(DISCARD_ZONE,))
    table.lay("50-01", DISCARD_ZONE)

    assert plays(table.see(4.0)) == ["Ann discard 50"]
    assert differences(table.ever) == []


def test_a_beaten_hazard_that_is_held_for_a_while_before_it_is_discarded_is_no_new_discard():
    table = driving()
    table.laid("100-01", DISTANCE)
    table.put("stop-01", BATTLE, 3, 3)
    table.cover("roll-01")
    table.see()
    table.put("right-of-way-01", SAFETY, sideways=True)
    table.see()
    table.cover("stop-01")
    table.put("roll-01", BATTLE)
    table.see(4.0)
    table.put("stop-01", DISCARD_ZONE)

    assert table.see(3.0) == []
    assert plays(table.ever) == ["Ann 100", "Bob stop > Ann", "Ann right-of-way !"]


# What people said is not what lies there


def test_a_card_that_was_changed_into_another_is_that_one_for_people_and_is_not_asked_about():
    table = Table(confirm=False)
    table.put("roll-01", BATTLE)
    (question,) = table.see()
    table.enter("Ann right-of-way", question.serial)

    assert table.see(20.0) == []
    assert table.asked == []


def test_a_card_that_was_changed_into_what_it_is_is_not_asked_about():
    table = Table("Ann roll", confirm=False)
    table.put("stop-01", BATTLE)
    (question,) = table.see()
    table.enter("Bob roll", question.serial)
    table.correct("Bob stop > Ann")

    assert table.see(20.0) == []
    assert table.asked == []


def test_a_card_that_was_to_be_taken_back_and_lies_on_is_asked_about():
    table = Table(confirm=False)
    table.put("100-01", DISTANCE)
    (question,) = table.see()
    table.answer(question, Answer.TAKEN_BACK)
    assert table.see(4.0) == []
    table.enter("Ann discard 25")

    (question,) = table.see(1.0)
    assert "was to be taken back" in str(question.say)
    table.cover("100-01")
    assert table.see(3.0) == []
    assert table.asked == []


def test_a_card_that_people_said_means_nothing_is_left_alone():
    table = Table(confirm=False)
    table.put("100-01", DISTANCE)
    (question,) = table.see()
    table.answer(question, Answer.NO)

    assert table.see(20.0) == []
    assert table.asked == []


def test_a_special_card_that_was_no_play_is_not_asked_about_again_while_it_lies_there():
    table = Table(edition="rush")
    table.put("mirror-01", DISCARD_ZONE)
    (question,) = table.see()
    table.answer(question, Answer.IGNORE)

    assert table.see(20.0) == []
    assert table.asked == []


def test_a_dismissed_card_whose_play_is_entered_later_counts_as_that():
    table = Table(confirm=False)
    table.put("roll-01", BATTLE)
    (question,) = table.see()
    table.answer(question, Answer.NO)
    table.enter("Ann roll")
    table.see(1.0)
    table.cover("roll-01")

    assert [question.expected for question in differences(table.see(3.0))] == [Card.ROLL]


# The table is cleared between hands


def over() -> Table:
    """A hand that is over, its cards still lying there: three of Ann's, three of Bob's."""
    table = driving()
    for number, (card, zone) in enumerate(
        (("100-01", DISTANCE), ("75-01", "side-2/distance"), ("50-01", DISTANCE), ("25-01", "side-2/distance"))
    ):
        table.laid(card, zone, 70.0 * number)
    table.enter("end")
    table.see(1.0)
    table.ever.clear()
    return table


def clear(table: Table, *, but: tuple[str, ...]) -> None:
    table.cards = {card: place for card, place in table.cards.items() if card in but}


@pytest.mark.parametrize("left", [("roll-02",), ("75-01", "25-01")])
def test_a_card_or_two_left_lying_do_not_keep_the_next_hand_from_beginning(left: tuple[str, ...]):
    table = over()
    clear(table, but=left)

    assert table.see(PUT_RIGHT_S + MOMENT_S + 1.0) == []
    assert table.is_cleared


def test_a_hand_that_is_over_and_lies_there_is_not_cleared():
    table = over()

    assert table.see(20.0) == []
    assert not table.is_cleared


def test_while_a_side_still_clears_the_next_hand_has_not_begun():
    table = over()
    clear(table, but=("roll-02", "75-01", "25-01"))

    assert table.see(20.0) == []
    assert not table.is_cleared


def test_one_side_that_clears_late_does_not_keep_the_next_hand_from_beginning():
    table = over()
    clear(table, but=("roll-02", "75-01", "25-01"))
    table.see(4.0)
    table.put("roll-07", BATTLE)
    table.see(1.0)

    assert table.is_cleared
    table.begin_next()
    assert plays(table.see(1.0)) == ["Ann roll"]
    clear(table, but=("roll-07",))
    assert table.see(4.0) == []


def test_a_card_laid_again_in_the_next_hand_while_a_side_clears_late_is_a_new_one():
    table = over()
    clear(table, but=("roll-02", "75-01", "25-01"))
    table.see(6.0)
    table.put("roll-01", BATTLE, 5, 5)
    table.see(1.0)

    assert table.is_cleared
    table.begin_next()
    assert plays(table.see(2.0)) == ["Ann roll"]


def test_a_card_left_lying_that_is_covered_and_uncovered_is_still_no_play():
    table = over()
    clear(table, but=("roll-01",))
    table.see(PUT_RIGHT_S + MOMENT_S + 1.0)
    table.begin_next()
    table.cover("roll-01")
    table.put("roll-09", BATTLE, 3, 3)
    assert plays(table.see(4.0)) == ["Ann roll"]
    table.cards = {"roll-01": (BATTLE, False)}

    assert plays(table.see(4.0)) == []


# Codes that cannot be told


def test_a_code_that_cannot_be_told_is_asked_about_after_a_second():
    table = Table()
    table.code("a", BATTLE, roll_03=0.5, stop_02=0.45, gasoline_01=0.3)

    assert table.see(MOMENT_S - 0.2) == []
    (doubt,) = table.see(1.0)
    assert doubt.kind is Kind.WHICH
    assert [str(play) for play in doubt.plays] == ["Ann roll", "Bob stop > Ann", "Ann gasoline"]
    assert (doubt.zone, doubt.confidence) == (BATTLE, pytest.approx(0.5))


def test_of_plays_that_are_about_as_likely_the_legal_one_comes_first_and_none_twice():
    table = Table()
    table.code("a", BATTLE, gasoline_01=0.5, roll_03=0.45, roll_04=0.44)

    (doubt,) = table.see(2.0)
    assert [str(play) for play in doubt.plays] == ["Ann roll", "Ann gasoline"]


def test_the_rules_never_put_a_play_before_a_much_likelier_one():
    table = Table()
    table.code("a", BATTLE, gasoline_01=0.6, gasoline_02=0.55, roll_03=0.3)

    (doubt,) = table.see(2.0)
    assert [str(play) for play in doubt.plays] == ["Ann gasoline", "Ann roll"]


def test_a_card_that_lies_elsewhere_is_no_candidate():
    table = driving()
    table.code("a", DISTANCE, roll_02=0.5, km_100_01=0.45)

    (doubt,) = table.see(2.0)
    assert [str(play) for play in doubt.plays] == ["Ann 100"]


def test_a_doubt_is_settled_when_the_card_can_be_read_and_its_play_proposed():
    table = Table()
    table.code("a", BATTLE, roll_03=0.5, stop_02=0.45)
    (doubt,) = table.see(2.0)
    assert doubt.kind is Kind.WHICH
    table.codes.clear()
    table.put("roll-03", BATTLE)

    assert plays(table.see(1.0)) == ["Ann roll"]
    assert table.asked == []


def test_a_doubt_is_settled_when_the_card_is_taken_back():
    table = Table()
    table.code("a", BATTLE, roll_03=0.5, stop_02=0.45)
    assert len(doubts(table.see(2.0))) == 1
    table.codes.clear()

    assert table.see(MOMENT_S + 0.5) == []
    assert table.asked == []


def test_an_answered_doubt_is_not_asked_again_and_its_card_is_known_once_it_is_read():
    table = Table()
    table.code("a", BATTLE, roll_03=0.5, stop_02=0.45)
    (doubt,) = table.see(2.0)
    table.yes(doubt)
    assert table.see(5.0) == []
    assert table.asked == []
    table.codes.clear()
    table.put("roll-03", BATTLE)

    assert table.see(3.0) == []
    assert table.asked == []


def test_a_known_card_whose_code_is_hard_to_read_for_a_while_is_still_that_card():
    table = driving()
    table.cover("roll-01")
    table.code("a", BATTLE, roll_01=0.4, stop_02=0.35)

    assert table.see(5.0) == []


def test_a_card_that_cannot_be_read_hides_what_it_lies_on():
    table = driving()
    table.cover("roll-01")
    table.code("a", BATTLE, 6, 6, stop_02=0.45, stop_03=0.4, accident_01=0.4)

    events = table.see(5.0)
    assert differences(events) == []
    assert [question.kind for question in events] == [Kind.WHICH]


def test_a_code_that_every_reading_puts_first_by_far_is_proposed_and_never_sure():
    table = Table(confirm=False)
    table.code("a", BATTLE, roll_03=0.95, stop_02=0.3)

    (question,) = table.see(3.0)
    assert question.kind is Kind.PLAY
    assert question.confidence <= DOUBTFUL_CONFIDENCE < SURE_CONFIDENCE
    assert not question.sure
    assert [str(play) for play in question.plays] == ["Ann roll", "Bob stop > Ann"]


def test_a_code_taken_for_a_card_that_it_is_not_withdraws_its_proposal():
    table = Table(confirm=False)
    table.code("a", BATTLE, roll_03=0.95, stop_02=0.3)
    assert plays(table.see(3.0)) == ["Ann roll"]
    table.codes.clear()
    table.put("gasoline-02", BATTLE)

    assert plays(table.see(2.0)) == ["Ann gasoline"]
    assert table.asked == ["Ann gasoline"]


def test_what_depends_on_the_turn_waits_until_a_doubt_is_answered():
    table = driving()
    table.code("a", DISTANCE, km_100_01=0.5, km_75_01=0.45)
    table.see(0.5)
    table.put("25-01", DISCARD_ZONE)
    (doubt,) = table.see(3.0)
    assert doubt.kind is Kind.WHICH
    table.yes(doubt)

    assert plays(table.see(1.0)) == ["Bob discard 25"]


def test_a_code_that_showed_for_a_moment_holds_nothing_up():
    table = driving()
    table.code("a", DISTANCE, km_50_09=0.44)
    table.see(0.1)
    table.codes.clear()
    table.see(0.1)
    table.put("25-01", DISCARD_ZONE)

    assert plays(table.see(1.0)) == ["Ann discard 25"]


def test_a_code_that_nobody_tells_holds_up_the_others_for_a_while_only():
    table = driving()
    table.code("a", DISTANCE, km_100_01=0.5, km_75_01=0.45)
    table.see(0.5)
    table.put("25-01", DISCARD_ZONE)

    assert plays(table.see(3.0)) == []
    assert plays(table.see(TURN_S)) == ["Ann discard 25"]


def test_a_code_without_any_candidate_is_not_asked_about():
    table = Table()
    table.code("a", BATTLE)

    assert table.see(5.0) == []


# How sure


def test_a_card_whose_sightings_do_not_agree_is_less_sure():
    steady, unsteady = Table(), Table()
    for table in (steady, unsteady):
        table.put("roll-01", BATTLE)
    (sure,) = steady.see(1.0)
    unsteady.see(STEP_S)
    unsteady.put("roll-01", "side-1/speed")
    unsteady.see(STEP_S)
    unsteady.put("roll-01", BATTLE)
    (less,) = unsteady.see(STEP_S)

    assert less.confidence < sure.confidence


def test_a_play_out_of_turn_is_never_sure_for_the_one_before_may_have_been_missed():
    table = Table(*ROLLING, confirm=False)
    table.put("50-01", "side-2/distance")

    (proposal,) = table.see()
    assert proposal.confidence < SURE_CONFIDENCE
    assert not proposal.sure


@pytest.mark.parametrize(("reader", "sure"), [(0.95, True), (0.89, False)])
def test_what_the_reader_is_not_sure_of_never_confirms_itself(reader: float, sure: bool):
    table = Table(confirm=False, sure=reader)
    table.put("roll-01", BATTLE)

    (proposal,) = table.see()
    assert proposal.sure is sure


# Cards laid in the wrong zone


def test_a_card_on_a_pile_where_it_does_not_belong_is_given_time_to_be_put_right():
    table = Table(*ROLLING, "Ann 25", "Bob stop > Ann")
    table.put("right-of-way-01", "side-1/speed")
    early = table.see(PUT_RIGHT_S - 0.5)
    table.put("right-of-way-01", SAFETY, sideways=True)

    assert early == []
    assert plays(table.see(1.0)) == ["Ann right-of-way !"]


def test_a_card_that_stays_where_it_does_not_belong_is_a_play_all_the_same():
    table = Table()
    table.put("roll-01", "side-1/speed")

    assert plays(table.see(PUT_RIGHT_S + 0.5)) == ["Ann roll"]
