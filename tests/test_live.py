"""The table watched live for a match that people confirm: views in, taps in between."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.questions import Answer, Kind, Question
from companion.match.state import Policy
from companion.rules.cards import Card
from companion.storage.event_store import Store
from companion.tabletop.card_ids import face_of
from companion.tracking.handling import BARS
from companion.tracking.live import NOT_THIS_DECK, TableWatch
from companion.vision.capture.sources import Frame
from companion.vision.view import Blindness, MatSeen, Sighting, View

MATS = {"side-1": "Ann", "side-2": "Bob"}
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
SEEN = tuple(MatSeen(mat, SQUARE, 2.0) for mat in (*MATS, "table"))
PICTURE = np.full((90, 160, 3), 80, np.uint8)


class Filmed:
    """A match, what watches its table, and a table whose cards the test lays."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.watch = TableWatch(match, self._look, lambda _state: dict(MATS))
        self.cards: dict[str, str] = {}
        self.codes: dict[str, tuple[tuple[str, float], ...]] = {}
        """Codes that cannot be told, by zone: what they may be."""

        self.told: dict[str, Sighting] = {}  # cards told by their faces, by zone
        self.trouble: str | None = None
        self.things: frozenset[str] = frozenset()
        self.blind: dict[str, Blindness] = {}
        self.hidden: frozenset[str] = frozenset()
        self.t_s = 0.0

    def go(self, story: str) -> None:
        """Follow steps: `lay CARD ZONE`, `take CARD`, `gather` all, `enter PLAY`, an answer, or seconds to film."""
        for step in story.split("; "):
            match step.split(" ", 1):
                case ["lay", what]:
                    card, zone = what.split()
                    self.cards[card] = zone
                case ["take", card]:
                    del self.cards[card]
                case ["gather"]:
                    self.cards.clear()
                case ["enter", play]:
                    self.match.enter(play, "Ann")
                case [word, *play] if word in list(Answer):
                    question = self.match.state.questions[0].id
                    self.match.answer(question, Answer(word), "Ann", play=play[0] if play else None)
                case [seconds]:
                    self.film(float(seconds))

    def film(self, seconds: float = 0.5) -> None:
        for _ in range(round(seconds * 10)):
            self.t_s += 0.1
            self.watch.take(Frame(PICTURE, self.t_s))

    def _look(self, frame: Frame) -> View:
        sightings = tuple(
            Sighting(face_of(card), card, (40.0, 40.0), None, zone, False, 0.99, "sticker")
            for card, zone in self.cards.items()
        )
        unread = tuple(
            Sighting(Card.UNKNOWN, None, (40.0, 40.0), None, zone, False, 0.0, "sticker", rivals)
            for zone, rivals in self.codes.items()
        )
        sightings += tuple(self.told.values())
        return View(
            frame.t_s,
            SEEN,
            sightings + unread,
            unknown_zones=self.hidden,
            trouble=self.trouble,
            things=self.things,
            blind=self.blind,
        )

    def waiting(self) -> list[str]:
        return [str(question.plays[0]) for question in self.of(Kind.PLAY)]

    def of(self, kind: Kind) -> list[Question]:
        return [question for question in self.match.state.questions if question.kind is kind]

    def played(self) -> list[str]:
        return [str(entry.play) for entry in self.match.state.hand_entries]


@pytest.fixture
def opened(store: Store) -> Callable[..., Filmed]:
    """Opens a table whose match has begun, and that has been seen empty for a moment: whatever comes is new."""

    def make(edition: str = "classic", policy: Policy = Policy.AUTO, seen_s: float = BARS.moment_s + 0.2) -> Filmed:
        match = Match(store)
        match.start([f"edition {edition}", "side Ann", "side Bob", "hand first Ann"])
        match.set_policy(policy, "Ann")
        table = Filmed(match)
        table.film(seen_s)
        return table

    return make


@pytest.fixture
def table(opened: Callable[..., Filmed]) -> Filmed:
    return opened(policy=Policy.TAP)


LAID = "lay roll-01 side-1/battle; 0.5"


@pytest.mark.parametrize("hidden_s", [0.0, 2.0])
def test_cards_that_lie_there_when_the_match_begins_ask_nothing_until_taken_up(
    opened: Callable[..., Filmed], hidden_s: float
):
    table = opened(policy=Policy.TAP, seen_s=0)
    table.hidden = frozenset({"side-1/battle"})
    table.film(hidden_s)
    table.hidden = frozenset()
    table.go(f"{LAID}; 3")
    assert table.waiting() == []

    table.go(f"gather; {BARS.moment_s + 0.5}; {LAID}")

    assert table.waiting() == ["Ann roll"]


def test_a_proposal_carries_a_picture_of_its_card_and_one_that_vanished_is_asked_about(table: Filmed):
    table.go(LAID)

    assert (table.match.state.questions[0].crop or b"").startswith(b"\xff\xd8")

    table.go("yes; gather; 3")

    assert len(table.of(Kind.DIFFERS)) == 1


@pytest.mark.parametrize(
    ("edition", "story", "how"),
    [
        ("classic", f"{LAID}; enter end; 0.5", "agreed"),
        (
            "bsd-mille",
            f"{LAID}; 0.5; lay roll-02 side-2/battle; 1; lay 100-01 side-1/distance; 1; enter exhausted",
            "exhausted",
        ),
    ],
)
def test_by_itself_the_next_hand_begins_when_the_cards_are_gathered(opened, edition: str, story: str, how: str):
    table = opened(edition)
    table.go(f"{story}; gather; 4")

    assert [hand.how for hand in table.match.state.game.hands] == [how]
    assert table.match.state.game.hand_number == 2


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

    assert "Enter plays by hand" in str(table.match.state.trouble)
    assert table.played() == ["Ann roll"]


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


@pytest.mark.parametrize("story", ["yes Ann roll; 3", "no; 5"])
def test_an_answered_doubt_is_not_asked_again_while_the_card_lies_there(table: Filmed, story: str):
    unread(table)
    table.go(story)

    assert table.match.state.questions == ()


def test_after_a_picture_that_cannot_be_taken_in_the_table_is_followed_on(table: Filmed):
    forgotten = []

    def frames() -> Iterator[Frame]:
        for number in range(40):
            table.fails = number == 10
            if number == 20:
                table.go("lay roll-01 side-1/battle")
            yield Frame(PICTURE, number / 10)

    def look(frame: Frame) -> View:
        if table.fails:
            raise IndexError
        return table._look(frame)

    watch = TableWatch(table.match, look, lambda _state: dict(MATS), lambda: forgotten.append(True))
    watch.start(frames()).join()

    assert forgotten == [True]
    assert table.waiting() == ["Ann roll"]


@pytest.mark.parametrize(
    ("frame", "shown"), [(Frame(PICTURE, 0.1, is_fresh=lambda: False), False), (Frame(PICTURE, 0.1), True)]
)
def test_a_picture_that_is_not_fresh_any_more_is_not_shown_but_the_last_of_a_film_is(table: Filmed, frame, shown):
    watch = TableWatch(table.match, table._look, lambda _state: dict(MATS))
    watch.take(frame)

    assert (watch.picture() is not None, watch.image() is not None) == (shown, shown)


def test_a_newer_picture_than_the_one_that_is_looked_at_is_shown(table: Filmed):
    newer = PICTURE + 1
    watch = TableWatch(table.match, table._look, lambda _state: dict(MATS))
    watch.take(Frame(PICTURE, 0.1, newest=lambda: newer))

    assert watch.image() is newer


def test_a_card_seen_before_a_gap_is_proposed_only_when_it_is_seen_after_it(table: Filmed):
    table.go("lay roll-01 side-1/battle; 0.1")
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

    table.film(BARS.put_right_s + 0.1)
    assert "cannot be read" in table.match.state.trouble


@pytest.mark.parametrize(
    ("frames", "failing", "says"),
    [(1500, range(149, 1500, 150), "The recording has ended"), (40, range(40), "Enter plays by hand")],
)
def test_a_camera_is_given_up_when_no_picture_can_be_taken_in_not_for_one_now_and_then(table, frames, failing, says):
    def look(frame: Frame) -> View:
        if round(frame.t_s * 10) in failing:
            raise IndexError
        return table._look(frame)

    table.go("lay roll-01 side-1/battle")
    watch = TableWatch(table.match, look, lambda _state: dict(MATS))
    watch.start(Frame(PICTURE, n / 10) for n in range(frames)).join()

    assert says in table.match.state.trouble


def test_what_may_be_a_card_without_a_sticker_is_spoken_of_while_it_lies_there(table: Filmed):
    table.things = frozenset({"side-1/battle"})
    table.film(BARS.put_right_s - 0.5)
    early = table.match.state.trouble
    table.film(1.0)
    said = table.match.state.trouble
    table.things = frozenset()
    table.film(0.1)

    assert (early, table.match.state.trouble) == (None, None)
    assert said == "Something in Ann's battle pile cannot be read: if it is a card, enter the play."


@pytest.mark.parametrize(
    ("zone", "why", "says"),
    [
        (
            "side-1/distance",
            Blindness.LIGHT,
            "Too much light on Ann's distance area: turn the lamp, or tilt the mat.",
        ),
        (
            "table/discard",
            Blindness.OUTSIDE,
            "Part of the discard pile is outside the picture: move the camera or the mat.",
        ),
        ("side-4/distance", Blindness.LIGHT, None),  # nobody plays there
    ],
)
def test_a_zone_that_cannot_be_seen_for_five_seconds_is_named_with_what_helps(table: Filmed, zone, why, says):
    table.blind = {zone: why}
    table.film(BARS.blind_s - 0.5)
    early = table.match.state.trouble
    table.film(1.0)
    said = table.match.state.trouble
    table.blind = {}
    table.film(0.1)

    assert (early, said, table.match.state.trouble) == (None, says, None)


def test_a_table_full_of_cards_none_of_which_can_be_read_is_said_to_play_with_another_deck(table: Filmed):
    table.things = frozenset({"side-1/battle", "side-2/battle", "table/discard"})

    table.film(BARS.put_right_s + 0.5)

    assert table.match.state.trouble == NOT_THIS_DECK


def test_two_cards_with_one_sticker_are_asked_about_and_the_page_says_which_sticker(table: Filmed):
    for zone in ("side-1/battle", "side-2/battle"):
        at = (40.0, 40.0) if zone == "side-1/battle" else (90.0, 40.0)
        table.told[zone] = Sighting(Card.UNKNOWN, None, at, None, zone, False, 0.0, "sticker", twice="roll-03")

    table.film(3.0)

    assert table.match.state.trouble == "Two cards have the sticker Roll 3: replace one of the stickers."
    assert table.played() == []
    table.told.clear()
    table.film(0.1)
    assert table.match.state.trouble is None


def test_a_card_that_may_lie_just_upon_one_like_it_troubles_nobody(table: Filmed):
    corners = ((30.0, 25.0), (50.0, 25.0), (50.0, 55.0), (30.0, 55.0))
    roll = Sighting(Card.ROLL, None, (40.0, 40.0), corners, "side-1/battle", False, 0.97, "face", stay=1)
    table.told["side-1/battle"] = roll
    table.film()
    table.told["side-1/battle"] = replace(roll, stay=2, is_double=True)
    table.film()
    assert table.waiting() == ["Ann roll"]
    assert table.match.state.trouble is None


def test_after_a_restart_a_card_is_not_taken_for_one_that_told_a_line_before(opened: Callable[..., Filmed]):
    """Covered cards are not seen, so fewer cards are in sight than the record has."""
    table = opened()
    table.go("lay roll-01 side-1/battle; 3; lay roll-02 side-2/battle; 3; lay stop-01 side-2/battle; 3")
    restarted = Filmed(Match(table.match.store))
    restarted.cards = {card: table.cards[card] for card in ("roll-01", "stop-01")}
    restarted.film(3.0)

    restarted.go("lay roll-03 side-2/battle; 3; lay 100-01 side-1/distance; 3")

    assert restarted.played() == ["Ann roll", "Bob roll", "Ann stop > Bob", "Bob roll", "Ann 100"]
    assert restarted.match.state.questions == ()


def test_after_a_restart_a_card_that_is_taken_back_is_not_missed_for_one_that_lies_covered(
    opened: Callable[..., Filmed],
):
    table = opened()
    table.go("lay roll-01 side-1/battle; 3; lay roll-02 side-2/battle; 3; lay 200-01 side-1/distance; 3")
    table.go("lay 25-01 side-2/distance; 3; lay 200-02 side-1/distance; 3; lay 25-02 side-2/distance; 3")
    restarted = Filmed(Match(table.match.store))
    restarted.cards = {card: zone for card, zone in table.cards.items() if card != "200-01"}
    restarted.film(3.0)

    restarted.go("lay 200-03 side-1/distance; 2; take 200-03; 5")

    assert restarted.match.state.questions == ()


def test_a_card_whose_line_was_let_stand_and_then_put_right_after_all_counts_once(table: Filmed):
    table.go("enter Ann roll; enter Bob roll; lay 100-01 side-1/distance; 0.5; yes")
    first = table.match.state.hand_entries[0].seq

    table.match.correct(first, "Ann discard roll", "Ann")
    table.go("0.5; table")
    let_stand = table.played()
    table.match.correct(first, "Ann roll", "Ann")
    table.go("0.5")

    assert let_stand == ["Ann discard roll", "Bob roll", "Ann 100 anyway"]
    assert table.played() == ["Ann roll", "Bob roll", "Ann 100 anyway"]
    assert table.match.state.questions == ()


def test_an_answer_that_comes_before_the_camera_has_looked_again_is_not_called_settled(table: Filmed):
    table.go(LAID)
    asked = table.match.state.questions[0].id

    said = Match(table.match.store).answer(asked, Answer.YES, "Ann")

    assert str(said.say).startswith("The camera has not read the table since the start")
