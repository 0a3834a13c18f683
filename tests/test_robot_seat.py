"""A robot's seat at the real table: reading its hidden hand, its helper's instructions, and who may see them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from client import SECRET, lines, played, scanned, tap, text_of, values
from seen import camera

from companion.app.robot_match import begin
from companion.common.errors import Problem
from companion.match.history import CAMERA
from companion.match.match import Match
from companion.match.questions import Answer
from companion.match.state import RobotSeat
from companion.match.zone_plays import Places
from companion.pages import Camera, create_app
from companion.robots.information_set import options
from companion.robots.robot import ROBOT_NAMES, Level, choose
from companion.robots.robot_seat import Instruction, Step, instruct
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names
from companion.rules.play import lay
from companion.rules.record import judge, notation
from companion.simulate import animation, arrange
from companion.simulate.animation import Tempo
from companion.simulate.arrange import Pose
from companion.simulate.art import STICKERED
from companion.simulate.camera_model import typical_look
from companion.simulate.choreography import AFTER_LAYING, Movement
from companion.simulate.scene import BACK, Lying, Scene
from companion.simulate.studio import Studio
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import robot_mat
from companion.tracking.live import TableWatch
from companion.tracking.robot_hand import RobotHand
from companion.vision.capture.sources import Frame
from companion.vision.eye import Eye
from companion.vision.mats.localization import Mats, look
from companion.vision.read import gray_of, read
from companion.vision.view import FACE, MatSeen, Sighting, View

MATS = {"side-1": "Ann", "side-2": "Robo"}
ROBO = RobotSeat("Robo", 2)
HAND = ("roll-01", "25-01", "stop-01", "100-02", "puncture-proof-01", "gasoline-02", "200-01")
FPS = 5.0


def with_robot(table: arrange.TablePlan) -> arrange.TablePlan:
    """Return the table of two sides with a robot's mat beside the table mat, its helper on the far side."""
    *sides, middle = table.mats
    robot = robot_mat()
    width = robot.size_mm[0] + arrange.GAP_MM + middle.layout.size_mm[0]
    left, right = robot.size_mm[0] / 2 - width / 2, width / 2 - middle.layout.size_mm[0] / 2
    helped = arrange.MatPlace(robot, Pose(left, middle.middle.y_mm, 180.0))
    moved = arrange.MatPlace(middle.layout, Pose(right, middle.middle.y_mm))
    return arrange.TablePlan((*sides, helped, moved), table.seats)


PLAN = with_robot(arrange.plan(2, 2))


class Table:
    """The simulated table of Ann and Robo, with a camera that sees cards being moved."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.watch = TableWatch(match, Eye(), lambda _state: MATS)
        self._studio = Studio(PLAN, typical_look(3), (1920, 1080), STICKERED, 3)
        self._chance, self._frames, self._cards = random.Random(3), 0, dict[str, Pose]()
        self.film(2.0)

    @property
    def lying(self) -> tuple[Lying, ...]:
        pile = self.spot("table/draw")
        return (Lying(BACK, pile), *(Lying(card, pose) for card, pose in self._cards.items()))

    def spot(self, zone: str, *, sideways: bool = False) -> Pose:
        """Return the place of a card in a zone, slightly rotated."""
        mat, _, name = zone.partition("/")
        place = PLAN.mat(mat)
        rect = place.layout.zones[name]
        if name == "distance":
            return arrange.pile_spot(place, place.layout.columns[0], self._chance)
        if name == "safety":
            return arrange.safety_spot(place, rect, (), sideways, self._chance)
        return arrange.pile_spot(place, rect, self._chance)

    def deal(self, *cards: str) -> None:
        """Put cards into Robo's slots, from the left."""
        self._cards |= {card: self.spot(f"robot/{slot}") for slot, card in enumerate(cards, start=1)}
        self.film(2.0)

    def carry(self, card: str, zone: str, *, sideways: bool = False, player: int = 1) -> None:
        """Move a card to a zone, from the draw pile if it is not on the table yet."""
        start, before = self._cards.pop(card, None), self.lying
        during, end = self.lying, self.spot(zone, sideways=sideways)
        self._cards[card] = end
        begin = start or self.spot("table/draw")
        move = Movement(player, (card,), begin, end, before if start else during, during, self.lying, AFTER_LAYING)
        self._film(animation.scenes(move, PLAN, Tempo(FPS)))

    def in_slot(self, slot: int) -> str:
        """Return the card in one of Robo's slots."""
        place = PLAN.mat("robot")
        rect = place.layout.zones[str(slot)]
        return next(card for card, pose in self._cards.items() if rect.contains(*place.on_mat(pose.x_mm, pose.y_mm)))

    def film(self, seconds: float) -> None:
        self._film(animation.resting(self.lying, round(FPS * seconds)))

    def _film(self, scenes: Iterator[Scene]) -> None:
        for scene in scenes:
            self._frames += 1
            self.watch.take(Frame(self._studio.picture(scene, self._chance), self._frames / FPS))

    def picture(self) -> np.ndarray:
        return self._studio.picture(Scene(self.lying), self._chance)


def seen_on(image: np.ndarray) -> tuple[Sighting, ...]:
    return read(Frame(image, 0.0), look(gray_of(image), Mats(), 0.0)).sightings


def seen(*slugs: str, hidden: str = "", mat: str = "robot") -> View:
    """Return a view of a mat with cards in its slots."""
    told = {"corners_px": None, "sideways": False, "confidence": 1.0, "by": FACE}
    cards = [Sighting(Card(s), None, (9.0, 9.0), zone=f"{mat}/{n}", **told) for n, s in enumerate(slugs, start=1)]
    corners = ((0.0, 0.0), (59.0, 0.0), (59.0, 21.0), (0.0, 21.0))
    return View(1.0, (MatSeen(mat, corners, 0.1),), tuple(cards), frozenset(hidden.split()))


def begun(match: Match) -> Match:
    match.start(["edition classic", "side Ann", "side Robo", "hand first Ann"])
    match.seat_robot(ROBO, "Ann")
    return match


def test_seven_slots_are_read_from_pictures_and_hidden_from_others(match):
    table = Table(begun(match))

    assert table.watch.robot_hand() == (None,) * 7

    table.deal(*HAND)
    frame = table.picture()
    served = table.watch.image()

    assert table.watch.robot_hand() == tuple(map(face_of, HAND))
    assert {s.card for s in seen_on(frame)} == set(HAND)
    assert not seen_on(served)
    assert (table.watch._follower.last_serial, match.state.questions, match.state.trouble) == (0, (), None)


def test_a_slot_has_the_card_that_three_looks_agree_on(match):
    hand = RobotHand()
    views = [seen("roll"), seen("roll"), seen("stop"), seen("roll"), seen("roll"), seen("roll"), seen(hidden="robot/1")]
    told = []
    for view in views:
        hand = hand.after(view)
        told.append(hand.cards[0])

    assert told == [None] * 5 + [Card.ROLL] * 2


def test_there_is_no_picture_while_the_robots_mat_is_out_of_sight(match):
    watch = TableWatch(begun(match), lambda frame: seen("roll", mat="side-1"), lambda _state: MATS)
    watch.take(Frame(np.zeros((90, 160, 3), np.uint8), 1.0))

    assert (watch.image(), watch.picture(), watch.robot_hand()) == (None, None, None)

    match.seat_robot(None, "Ann")

    assert watch.image() is not None


# --- The helper's instructions ------------------------------------------------------------------------------------

HEADER = "edition classic\nside Ann\nside Robo\nhand first "


def told(lines: str, slots: str, before: Instruction | None = None, edition: str = "classic") -> Instruction | None:
    """Return the next instruction after a record; slots are cards, `-` if empty and `?` if unreadable."""
    text = HEADER.replace("classic", edition) + lines.replace("; ", "\n")
    record = judge.judge_on(judge.EMPTY_RECORD, tuple(notation.lines(text)))
    cards = [None if slug == "-" else Card.UNKNOWN if slug == "?" else Card(slug) for slug in slots.split()]
    return instruct(record, "Robo", Level.COUNTING, cards, random.Random(1), before)


def step(lines: str, slots: str, edition: str = "classic") -> str:
    """Return the instruction in short: `draw 7`, `lay 1 Robo roll`."""
    one = told(lines, slots, edition=edition)
    return "" if one is None else " ".join([one.step, *map(str, one.slots), *([str(one.play)] if one.play else [])])


@pytest.mark.parametrize(
    ("lines", "slots", "does"),
    [
        ("Ann", "- - - - - - -", "draw 1"),
        ("Ann", "roll 25 - 50 50 50 -", "draw 3"),
        ("Ann", "roll 25 25 50 50 50 -", ""),
        ("Robo", "roll 25 25 50 50 50 -", "draw 7"),
        ("Robo", "25 25 roll 50 50 50 75", "lay 3 Robo roll"),
        ("Robo", "25 25 roll 50 ? 50 75", "show 5"),
        ("Ann; Ann discard 25", "25 25 75 50 50 50 -", "draw 7"),
        ("Ann; Ann roll", "stop 25 75 50 50 50 25", "lay 1 Robo stop > Ann"),
        ("Ann; Ann roll; Robo roll; Ann stop > Robo", "25 25 right-of-way 50 50 50 -", "lay 3 Robo right-of-way !"),
        ("Ann; Ann roll; Robo roll; Ann stop > Robo; Robo right-of-way !", "25 25 - 50 50 50 -", "draw 3"),
        ("Ann; Ann roll; Robo roll; Ann stop > Robo; Robo right-of-way !", "25 25 75 50 50 50 -", "draw 7"),
        ("Ann; Ann roll; Robo roll; end", "25 25 - 50 50 50 -", ""),
    ],
)  # fmt: skip
def test_the_helper_is_told_what_to_draw_and_play(lines, slots, does):
    assert step(lines, slots) == does


def test_a_robot_of_rush_draws_up_to_seven():
    assert step("Robo", "100 50 - 75 200 50 -", "rush") == "draw 3"
    assert step("Robo", "100 50 75 75 200 50 -", "rush") == "draw 7"


def test_a_robot_goes_on_after_a_handed_card_was_played():
    handed = "Ann; Ann control stop > Robo; Robo give stop > Ann"
    assert step(handed, "100 50 - 75 200 50 -", "rush") == ""
    assert step(f"{handed}; Ann discard stop anyway", "100 50 - 75 200 50 -", "rush") == "do 3 Robo take"


def test_a_robots_play_does_not_change_while_its_card_is_moved():
    hand = "25 25 roll 50 50 50 75"
    said = told("Robo", hand)

    assert told("Robo", hand.replace("roll", "-"), said) is said
    assert told("Robo", hand.replace("roll", "stop"), said) is not said


def test_a_hand_that_the_deck_cannot_have_is_refused():
    with pytest.raises(Problem, match="more of Driving Ace"):
        step("Robo", "driving-ace driving-ace roll 50 50 50 75")


@pytest.mark.variants(2)
@pytest.mark.parametrize("edition", edition_names())
def test_a_helped_robot_always_has_a_next_step(edition):
    game = begin(edition, 2, Level.THUMB, seed=5, pairs=False)
    while (asked := game.hand.asked()) is not None:
        play = choose(asked, Level.THUMB, random.Random(5)).play
        if asked.player == ROBOT_NAMES[0]:
            slots = [*asked.hand, *[None] * (7 - len(asked.hand))]
            step = instruct(game.record, asked.player, Level.COUNTING, slots, random.Random(5), None)
            play = step.play if step else None
            assert play or options(asked).may_wait
        game = game.after(asked, play)

    assert game.table.is_over


# --- The helper's page ----------------------------------------------------------------------------------------


@pytest.fixture
def app(match):
    return create_app(begun(match), secret=SECRET)


def helping(app):
    """Return the phone of Robo's helper."""
    client = app.test_client()
    tap(client, "/robot/help")
    return client


def test_without_a_camera_the_helper_enters_the_hand_and_the_plays(app, match):
    played(match, "Ann roll")
    helper = helping(app)
    dealt = ["roll", "25", "25", "50", "50", "50"]
    tap(helper, "/robot/hand", **{f"slot-{n}": slug for n, slug in enumerate(dealt, start=1)})

    assert "Draw a card for Robo and put it in slot 7 without looking at it." in text_of(helper.get("/robot"))

    tap(helper, "/robot/hand", **{"slot-7": "stop"})
    page = helper.get("/robot")

    assert "Put Robo’s seventh card from the left on Ann’s battle pile." in text_of(page)

    tap(helper, "/robot/done", text=values(page)[0])

    assert lines(match) == ["Ann roll", "Robo stop > Ann"]
    assert "Robo waits." in text_of(helper.get("/robot"))
    assert "Slot 6 nothing" in text_of(helper.get("/robot?hand=1"))


def test_only_the_helper_sees_the_hand_and_the_next_play(app, match):
    helper, other = helping(app), app.test_client()
    paths = ("/", "/robot", "/robot?hand=1", "/api/state", "/more", "/plain", "/wall", "/may", "/export.mbn")
    before = [other.get(path).get_data(as_text=True).count("extra-tank") for path in paths]
    tap(helper, "/robot/hand", **{"slot-1": "extra-tank"})
    shown = [other.get(path).get_data(as_text=True) for path in paths]

    assert '"extra-tank" selected' in helper.get("/robot?hand=1").get_data(as_text=True)
    assert "put it in slot 2" in helper.get("/robot").get_data(as_text=True)
    assert [page.count("extra-tank") for page in shown] == before
    assert not any("lay it in slot" in page for page in shown)
    assert tap(other, "/robot/hand", **{"slot-1": "roll"}).status_code == 403


def test_only_the_host_changes_who_helps(app):
    host, helper, other = (scanned(app, 10 + n, player=name) for n, name in enumerate(("Ann", "Robo", "")))
    tap(helper, "/robot/help")

    assert tap(other, "/robot/help").status_code == 403
    assert "Show the hand" in text_of(helper.get("/robot"))

    tap(host, "/robot/help")

    assert "Show the hand" not in text_of(helper.get("/robot"))


def test_a_robot_takes_a_seat_on_its_page_and_keeps_it_for_the_next_match(match):
    match.start(["side Ann", "side Robo", "hand first Robo"])
    client = create_app(match, secret=SECRET).test_client()
    tap(client, "/robot/seat", player="Robo", level="3")

    assert match.state.robot_seat == ("Robo", 3)
    assert "Robo is thinking." in text_of(client.get("/"))

    match.start(["side Robo", "side Bob", "hand first Bob"])
    assert match.state.robot_seat == ("Robo", 3)

    match.start(["side Ann", "side Bob", "hand first Bob"])
    assert match.state.robot_seat is None


def test_an_unexpected_or_undone_play_waits_for_a_tap(match):
    played(begun(match), "Ann roll")
    match.instructed = match.state.game.table, lay("Robo", Card.ROLL)
    table = camera(match)

    table.lift(table.play(1, "Robo stop > Ann"))
    assert lines(match) == ["Ann roll"]

    table.play(2, "Robo roll", sure=False)
    assert lines(match) == ["Ann roll"]

    table.play(2, "Robo roll")
    assert lines(match) == ["Ann roll", "Robo roll"]

    match.undo("Ann")
    assert [str(question.plays[0]) for question in match.state.questions] == ["Robo roll"]


# --- A few turns at the simulated table -----------------------------------------------------------------------------

ANN = (("roll-02", "Ann roll"), ("100-01", "Ann 100"), ("stop-02", "Ann stop > Robo"), ("50-03", "Ann 50"))
TO_DRAW = """roll-01 25-01 repairs-01 right-of-way-01 50-01 gasoline-01 100-03 50-02 75-02 200-01 25-02 75-03"""


def test_a_play_as_instructed_counts_without_a_tap(match):
    table = Table(begun(match))
    app = create_app(match, secret=SECRET, camera=Camera(robot_hand=table.watch.robot_hand))
    helper, said = helping(app), []
    *dealt, pile = *TO_DRAW.split()[:6], iter(TO_DRAW.split()[6:])
    table.deal(*dealt)
    for card, play in ANN:
        help_robo(table, app, helper, pile, said)
        table.carry(
            card,
            Places(MATS).zone_of(notation.parse_play(play, match.state.game.teams), match.state.game.table),
            player=0,
        )
        question = match.state.questions[0]
        assert str(question.plays[0]) == play
        match.answer(question.id, Answer.YES, "Ann")
        said.append(play)
    help_robo(table, app, helper, pile, said)

    assert lines(match) == said
    assert {e.written.by for e in match.state.hand_entries if e.play.player == "Robo"} == {CAMERA}
    assert "Robo right-of-way !" in said
    assert match.state.questions == ()


def help_robo(table: Table, app, helper, pile: Iterator[str], said: list[str]) -> None:
    """Follow the page's instructions until Robo waits, and add the plays to `said`."""
    for _ in range(12):
        helper.get("/robot")
        now = app.extensions["companion"].robot._told
        if now is None:
            return
        if now.step == Step.DRAW:
            table.carry(next(pile), f"robot/{now.slots[0]}")
        else:
            zone = Places(MATS).zone_of(now.play, now.table)
            table.carry(table.in_slot(now.slots[0]), zone, sideways=now.play.at_once)
            said.append(str(now.play))
    raise AssertionError("Robo never waits")
