"""The table watched live for a match that people confirm: views in, taps in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.questions import Answer, Kind, Question
from companion.match.state import Policy
from companion.rules.cards import Card
from companion.storage.event_store import Store
from companion.tabletop.card_ids import face_of
from companion.tracking.live import NOT_THIS_DECK, TableWatch
from companion.tracking.track import MOMENT_S, PUT_RIGHT_S
from companion.vision.capture.sources import Frame
from companion.vision.view import MatSeen, Sighting, View

MATS = {"side-1": "Ann", "side-2": "Bob"}
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
SEEN = tuple(MatSeen(mat, SQUARE, 2.0) for mat in (*MATS, "table"))
PICTURE = np.full((90, 160, 3), 80, np.uint8)


class Filmed:
    """A match, what watches its table, and a table whose cards the test lays."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.watch = TableWatch(match, self._look, lambda _state: dict(MATS))
        self.cards: dict[str, tuple[str, bool]] = {}
        self.codes: dict[str, tuple[tuple[str, float], ...]] = {}
        """Codes that cannot be told, by zone: what they may be."""

        self.told: dict[str, Sighting] = {}
        """Cards told by their faces, by zone."""

        self.trouble: str | None = None
        self.things: frozenset[str] = frozenset()
        self.hidden: frozenset[str] = frozenset()
        self.t_s = 0.0

    def lay(self, card: str, zone: str, *, sideways: bool = False) -> None:
        self.cards[card] = (zone, sideways)

    def film(self, seconds: float = 0.5) -> None:
        for _ in range(round(seconds * 10)):
            self.t_s += 0.1
            self.watch.take(Frame(PICTURE, self.t_s))

    def _look(self, frame: Frame) -> View:
        sightings = tuple(
            Sighting(face_of(card), card, (40.0, 40.0), None, zone, sideways, 0.99, "sticker")
            for card, (zone, sideways) in self.cards.items()
        )
        unread = tuple(
            Sighting(Card.UNKNOWN, None, (40.0, 40.0), None, zone, False, 0.0, "sticker", rivals)
            for zone, rivals in self.codes.items()
        )
        sightings += tuple(self.told.values())
        return View(
            frame.t_s, SEEN, sightings + unread, unknown_zones=self.hidden, trouble=self.trouble, things=self.things
        )

    def waiting(self) -> list[str]:
        return [str(question.plays[0]) for question in self.of(Kind.PLAY)]

    def of(self, kind: Kind) -> list[Question]:
        return [question for question in self.match.state.questions if question.kind is kind]

    def say(self, answer: Answer, play: str | None = None) -> None:
        """Answers the first question."""
        self.match.answer(self.match.state.questions[0].id, answer, "Ann", play=play)

    def played(self) -> list[str]:
        return [str(entry.play) for entry in self.match.state.hand_entries]


def begun(match: Match) -> Filmed:
    """A table that has been seen empty for a moment, so that whatever comes is new."""
    table = Filmed(match)
    table.film(MOMENT_S + 0.2)
    return table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Filmed]:
    store = Store.open(tmp_path / "log.sqlite3")
    match = Match(store)
    match.start(["side Ann", "side Bob", "hand first Ann"])
    yield begun(match)
    store.close()


def test_a_laid_card_waits_for_a_tap_and_counts_once_tapped(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    assert table.waiting() == ["Ann roll"]

    table.say(Answer.YES)
    table.film(3.0)

    assert table.played() == ["Ann roll"]
    assert table.waiting() == []


@pytest.mark.parametrize("hidden_s", [0.0, 2.0])
def test_cards_that_lie_there_when_the_match_begins_ask_nothing_until_taken_up(tmp_path: Path, hidden_s: float):
    store = Store.open(tmp_path / "log.sqlite3")
    match = Match(store)
    match.start(["side Ann", "side Bob", "hand first Ann"])
    table = Filmed(match)
    table.hidden = frozenset({"side-1/battle"})
    table.film(hidden_s)
    table.hidden = frozenset()
    table.lay("roll-01", "side-1/battle")
    table.film(3.0)
    assert table.waiting() == []

    table.cards.clear()
    table.film(MOMENT_S + 0.5)
    table.lay("roll-01", "side-1/battle")
    table.film()

    assert table.waiting() == ["Ann roll"]
    store.close()


def test_a_proposal_carries_a_picture_of_its_card(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()

    crop = table.match.state.questions[0].crop
    assert crop is not None
    assert crop.startswith(b"\xff\xd8")


def test_what_was_no_play_is_not_proposed_again_while_it_lies_there(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.say(Answer.NO)
    table.film(5.0)

    assert table.waiting() == []
    assert table.played() == []


def test_a_play_entered_by_hand_before_its_card_is_laid_counts_once(table: Filmed):
    table.match.enter("Ann roll", "Ann")
    table.film()
    table.lay("roll-01", "side-1/battle")
    table.film(2.0)

    assert table.played() == ["Ann roll"]
    assert table.waiting() == []


def test_a_play_entered_by_hand_while_its_card_waits_counts_once(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.match.enter("Ann roll", "Ann")
    table.film(2.0)

    assert table.played() == ["Ann roll"]
    assert table.waiting() == []


def test_after_a_change_the_next_card_of_the_changed_face_is_still_proposed(table: Filmed):
    table.lay("25-01", "table/discard")
    table.film()
    table.say(Answer.YES, "Ann discard 50")
    table.film()
    table.cards = {"50-01": ("table/discard", False)}
    table.film(1.0)

    assert table.played() == ["Ann discard 50"]
    assert table.waiting() == ["Bob discard 50"]


def test_a_card_taken_back_before_the_tap_leaves_the_queue(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.cards.clear()
    table.film(MOMENT_S + 0.5)

    assert table.waiting() == []


def test_an_illegal_card_does_not_take_the_turn_away(table: Filmed):
    table.lay("100-01", "side-1/distance")
    table.film()
    table.cards.clear()
    table.film(0.5)
    table.lay("25-01", "table/discard")
    table.film()

    assert "Ann discard 25" in table.waiting()


def test_a_vanished_card_raises_a_question_and_the_table_may_be_right(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.say(Answer.YES)
    table.cards.clear()
    table.film(3.0)
    table.say(Answer.TABLE)
    table.film()
    table.lay("roll-01", "side-1/battle")
    table.film()

    assert table.of(Kind.DIFFERS) == []
    assert table.played() == []
    assert table.waiting() == ["Ann roll"]


def test_a_vanished_card_may_be_left_to_the_record(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.say(Answer.YES)
    table.cards.clear()
    table.film(3.0)
    table.say(Answer.RECORD)
    table.film(5.0)

    assert table.of(Kind.DIFFERS) == []
    assert table.played() == ["Ann roll"]


def test_the_question_goes_when_the_card_is_back(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.say(Answer.YES)
    table.cards.clear()
    table.film(3.0)
    table.lay("roll-01", "side-1/battle")
    table.film()

    assert table.of(Kind.DIFFERS) == []


def test_after_a_restart_the_cards_on_the_table_are_known(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.say(Answer.YES)
    restarted = Filmed(Match(table.match.store))
    restarted.cards = dict(table.cards)
    restarted.film(3.0)

    assert restarted.waiting() == []
    assert restarted.played() == ["Ann roll"]


def test_by_itself_a_hand_is_followed_and_the_next_begins_when_the_cards_are_gathered(table: Filmed):
    table.match.set_policy(Policy.AUTO, "Ann")
    table.lay("roll-01", "side-1/battle")
    table.film()
    table.match.enter("end", "Ann")
    table.film()
    table.cards.clear()
    table.film(3.0)

    assert table.match.state.game.hand_number == 2
    assert table.match.state.game.hand_is_open


def test_trouble_with_the_picture_is_said_and_goes_again(table: Filmed):
    table.trouble = "The light has changed."
    table.film()
    assert table.match.state.trouble == "The light has changed."

    table.trouble = None
    table.film()

    assert table.match.state.trouble is None


def test_a_camera_that_cannot_be_opened_is_said_on_the_page(table: Filmed):
    def no_camera() -> Iterator[Frame]:
        raise Problem("There is no camera /dev/video97.")
        yield

    table.watch.start(no_camera()).join(5)

    assert "no camera /dev/video97" in str(table.match.state.trouble)


def test_a_fault_in_the_camera_thread_leaves_the_match_playable(table: Filmed, caplog: pytest.LogCaptureFixture):
    def broken() -> Iterator[Frame]:
        yield Frame(np.zeros((0, 0), np.uint8), 0.0)
        raise RuntimeError("broken")

    table.watch.start(broken()).join(5)
    table.match.enter("Ann roll", "Ann")

    assert "entered by hand" in str(table.match.state.trouble)
    assert table.played() == ["Ann roll"]


def test_by_itself_a_card_moved_to_the_right_zone_is_put_right_in_the_record(table: Filmed):
    table.match.set_policy(Policy.AUTO, "Ann")
    table.lay("roll-01", "table/discard")
    table.film()
    assert table.played() == ["Ann discard roll"]

    table.lay("roll-01", "side-1/battle")
    table.film(1.0)

    assert table.played() == ["Ann roll"]
    assert table.of(Kind.DIFFERS) == []


@pytest.fixture
def rush(tmp_path: Path) -> Iterator[Filmed]:
    store = Store.open(tmp_path / "log.sqlite3")
    match = Match(store)
    match.start(["edition rush", "side Ann", "side Bob", "hand first Ann"])
    match.set_policy(Policy.AUTO, "Ann")
    yield begun(match)
    store.close()


def test_rush_is_followed_and_a_special_card_is_asked(rush: Filmed):
    rush.lay("100-01", "side-1/distance")
    rush.film(1.0)
    rush.lay("u-turn-01", "table/discard")
    rush.film(1.0)

    assert rush.played() == ["Ann 100"]
    assert [question.seen for question in rush.of(Kind.DIFFERS)] == [Card.U_TURN]
    assert rush.waiting() == []


def test_a_special_card_entered_by_hand_answers_its_question(rush: Filmed):
    rush.lay("100-01", "side-1/distance")
    rush.film(1.0)
    rush.lay("u-turn-01", "table/discard")
    del rush.cards["100-01"]
    rush.film(1.0)
    rush.match.enter("Bob u-turn !", "Bob")
    rush.film(3.0)
    rush.lay("pollution-01", "side-1/battle")
    rush.film(1.0)

    assert rush.of(Kind.DIFFERS) == []
    assert rush.played() == ["Ann 100", "Bob u-turn !", "Bob pollution > Ann"]


def test_a_special_card_that_is_ignored_stands_in_the_way_no_more(rush: Filmed):
    for card in ("mirror-01", "mirror-02"):
        rush.lay(card, "table/discard")
        rush.film(1.0)
        rush.say(Answer.IGNORE)
        rush.film(1.0)
        del rush.cards[card]
        rush.film(MOMENT_S + 0.5)
    rush.lay("pollution-01", "side-2/battle")
    rush.film(1.0)

    assert rush.played() == ["Ann pollution > Bob"]


def test_a_taken_discard_counts_by_itself_only_where_it_is_sure(tmp_path: Path):
    store = Store.open(tmp_path / "log.sqlite3")
    match = Match(store)
    match.start(["edition asmodee-2014", "side Ann", "side Bob", "hand first Ann"])
    match.set_policy(Policy.AUTO, "Ann")
    table = begun(match)
    for card, zone in (("roll-01", "side-1/battle"), ("25-01", "table/discard")):
        table.lay(card, zone)
        table.film(1.0)
    del table.cards["25-01"]
    table.film(3.0)
    table.lay("100-01", "side-1/distance")
    table.film(1.0)
    assert table.played() == ["Ann roll", "Bob discard 25", "Ann take", "Ann 100"]

    table.lay("50-01", "table/discard")
    table.film(1.0)
    del table.cards["50-01"]
    table.film(3.0)
    table.lay("75-01", "table/discard")
    table.film(1.0)
    store.close()

    assert table.played()[4:] == ["Bob discard 50"]
    assert table.waiting() == ["Ann take", "Ann discard 75"]


def test_cards_gathered_in_where_nobody_can_go_on_end_the_hand_and_begin_the_next(tmp_path: Path):
    store = Store.open(tmp_path / "log.sqlite3")
    match = Match(store)
    match.start(["edition bsd-mille", "side Ann", "side Bob", "hand first Ann"])
    match.set_policy(Policy.AUTO, "Ann")
    table = begun(match)
    for card, zone in (("roll-01", "side-1/battle"), ("roll-02", "side-2/battle"), ("100-01", "side-1/distance")):
        table.lay(card, zone)
        table.film(1.0)
    match.enter("exhausted", "Ann")
    table.cards.clear()
    table.film(4.0)
    store.close()

    assert [hand.how for hand in match.state.game.hands] == ["exhausted"]
    assert match.state.game.hand_number == 2


# Codes that cannot be told


def unread(table: Filmed) -> None:
    table.codes["side-1/battle"] = (("roll-01", 0.5), ("stop-02", 0.45))
    table.film(2.0)


def test_a_card_that_cannot_be_read_is_asked_about_with_its_picture(table: Filmed):
    unread(table)

    (doubt,) = table.of(Kind.WHICH)
    assert [str(play) for play in doubt.plays] == ["Ann roll", "Bob stop > Ann"]
    assert doubt.crop is not None
    assert table.waiting() == []


def test_an_answered_doubt_counts_once_also_when_its_card_is_read_later(table: Filmed):
    unread(table)
    table.say(Answer.YES, "Ann roll")
    table.film(3.0)
    table.codes.clear()
    table.lay("roll-01", "side-1/battle")
    table.film(3.0)

    assert table.played() == ["Ann roll"]
    assert table.match.state.questions == ()


def test_a_doubt_that_was_no_play_is_not_asked_again_while_the_card_lies_there(table: Filmed):
    unread(table)
    table.say(Answer.NO)
    table.film(5.0)

    assert table.match.state.questions == ()


def test_a_doubt_goes_when_its_card_can_be_read(table: Filmed):
    unread(table)
    table.codes.clear()
    table.lay("roll-01", "side-1/battle")
    table.film(1.0)

    assert table.of(Kind.WHICH) == []
    assert table.waiting() == ["Ann roll"]


def test_after_a_picture_that_cannot_be_taken_in_the_table_is_followed_on(table: Filmed):
    forgotten = []

    def frames() -> Iterator[Frame]:
        for number in range(40):
            table.fails = number == 10
            if number == 20:
                table.lay("roll-01", "side-1/battle")
            yield Frame(PICTURE, number / 10)

    def look(frame: Frame) -> View:
        if table.fails:
            raise IndexError
        return table._look(frame)

    watch = TableWatch(table.match, look, lambda _state: dict(MATS), lambda: forgotten.append(True))
    watch.start(frames()).join()

    assert forgotten == [True]
    assert table.waiting() == ["Ann roll"]


def test_a_picture_that_is_not_fresh_any_more_is_not_shown(table: Filmed):
    now = [10.0]
    watch = TableWatch(table.match, table._look, lambda _state: dict(MATS), clock=lambda: now[0])
    watch.take(Frame(PICTURE, 0.1, fresh_s=4.0))

    now[0] += 3.9
    assert watch.picture() is not None
    now[0] += 0.2
    assert (watch.picture(), watch.image()) == (None, None)


def test_the_last_picture_of_a_film_is_shown_on(table: Filmed):
    now = [10.0]
    watch = TableWatch(table.match, table._look, lambda _state: dict(MATS), clock=lambda: now[0])
    watch.take(Frame(PICTURE, 0.1))

    now[0] += 3600.0
    assert watch.picture() is not None


def test_a_card_seen_before_a_gap_is_proposed_only_when_it_is_seen_after_it(table: Filmed):
    table.lay("roll-01", "side-1/battle")
    table.film(0.1)
    table.t_s += 60.0
    table.watch.take(Frame(PICTURE, table.t_s, after_gap=True))
    assert table.waiting() == []

    table.film(0.2)
    assert table.waiting() == ["Ann roll"]


def test_what_lies_there_before_a_gap_is_not_spoken_of_as_lying_there_ever_since(table: Filmed):
    table.things = frozenset({"side-1/battle"})
    table.film(1.0)
    table.t_s += 60.0
    table.watch.take(Frame(PICTURE, table.t_s, after_gap=True))
    assert table.match.state.trouble is None

    table.film(PUT_RIGHT_S + 0.1)
    assert "cannot be read" in table.match.state.trouble


def test_a_picture_now_and_then_that_cannot_be_taken_in_ends_nothing(table: Filmed):
    def look(frame: Frame) -> View:
        if round(frame.t_s * 10) % 150 == 149:
            raise IndexError
        return table._look(frame)

    table.lay("roll-01", "side-1/battle")
    watch = TableWatch(table.match, look, lambda _state: dict(MATS))
    watch.start(Frame(PICTURE, n / 10) for n in range(1500)).join()

    assert "have come to an end" in table.match.state.trouble


def test_a_camera_of_which_no_picture_can_be_taken_in_is_given_up_with_a_sentence(table: Filmed):
    def look(frame: Frame) -> View:
        raise IndexError

    TableWatch(table.match, look, lambda _state: dict(MATS)).start(Frame(PICTURE, n / 10) for n in range(40)).join()

    assert "Plays can be entered by hand" in table.match.state.trouble


def test_what_may_be_a_card_without_a_sticker_is_spoken_of_while_it_lies_there(table: Filmed):
    table.things = frozenset({"side-1/battle"})
    table.film(PUT_RIGHT_S - 0.5)
    early = table.match.state.trouble
    table.film(1.0)
    said = table.match.state.trouble
    table.things = frozenset()
    table.film(0.1)

    assert (early, table.match.state.trouble) == (None, None)
    assert said == "Something on Ann's battle pile cannot be read: if it is a card, enter the play."


def test_a_table_full_of_cards_none_of_which_can_be_read_is_said_to_play_with_another_deck(table: Filmed):
    table.things = frozenset({"side-1/battle", "side-2/battle", "table/discard"})

    table.film(PUT_RIGHT_S + 0.5)

    assert table.match.state.trouble == NOT_THIS_DECK


def test_a_card_that_may_lie_just_upon_one_like_it_troubles_nobody(table: Filmed):
    corners = ((30.0, 25.0), (50.0, 25.0), (50.0, 55.0), (30.0, 55.0))
    roll = Sighting(Card.ROLL, None, (40.0, 40.0), corners, "side-1/battle", False, 0.97, "face", stay=1)
    table.told["side-1/battle"] = roll
    table.film()
    table.told["side-1/battle"] = replace(roll, stay=2, is_double=True)
    table.film()
    assert table.waiting() == ["Ann roll"]
    assert table.match.state.trouble is None
