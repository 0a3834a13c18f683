"""A robot's seat at the real table: its hand read behind the screen, what its helper is told, and who learns of it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from companion.match.match import Match
from companion.match.state import RobotSeat
from companion.rules.cards import Card
from companion.simulate import animation, arrange
from companion.simulate.animation import Tempo
from companion.simulate.arrange import Pose
from companion.simulate.camera_model import typical_look
from companion.simulate.card_faces import STICKERED
from companion.simulate.choreography import AFTER_LAYING, Movement
from companion.simulate.scene import BACK, Lying, Scene
from companion.simulate.studio import Studio
from companion.tabletop.card_ids import face_of
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
PLAN = arrange.with_robot(arrange.plan(2, 2))


class Table:
    """The simulated table of Ann and Robo, and what the camera over it makes of cards that are carried."""

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
        """Where a card comes to lie in a zone, somewhat askew."""
        mat, _, name = zone.partition("/")
        place = PLAN.mat(mat)
        rect = place.layout.zones[name]
        if name == "safety":
            return arrange.safety_spot(place, rect, (), sideways, self._chance)
        return arrange.pile_spot(place, rect, self._chance)

    def deal(self, *cards: str) -> None:
        """Lay cards into Robo's slots, from the left."""
        self._cards |= {card: self.spot(f"robot/{slot}") for slot, card in enumerate(cards, start=1)}
        self.film(2.0)

    def carry(self, card: str, zone: str, *, sideways: bool = False, player: int = 1) -> None:
        """Carry a card to a zone, from the draw pile where it does not lie yet."""
        start, before = self._cards.pop(card, None), self.lying
        during, end = self.lying, self.spot(zone, sideways=sideways)
        self._cards[card] = end
        begin = start or self.spot("table/draw")
        move = Movement(player, (card,), begin, end, before if start else during, during, self.lying, AFTER_LAYING)
        self._film(animation.scenes(move, PLAN, Tempo()))

    def film(self, seconds: float) -> None:
        self._film(animation.resting(self.lying, round(10 * seconds)))

    def _film(self, scenes: Iterator[Scene]) -> None:
        for scene in scenes:
            self._frames += 1
            self.watch.take(Frame(self._studio.picture(scene, self._chance), self._frames / 10))

    def picture(self) -> np.ndarray:
        return self._studio.picture(Scene(self.lying), self._chance)


def seen_on(image: np.ndarray) -> tuple[Sighting, ...]:
    return read(Frame(image, 0.0), look(gray_of(image), Mats(), 0.0)).sightings


def seen(*slugs: str, hidden: str = "", mat: str = "robot") -> View:
    """A look at a mat with cards in its slots."""
    told = {"corners_px": None, "sideways": False, "confidence": 1.0, "by": FACE}
    cards = [Sighting(Card(s), None, (9.0, 9.0), zone=f"{mat}/{n}", **told) for n, s in enumerate(slugs, start=1)]
    corners = ((0.0, 0.0), (59.0, 0.0), (59.0, 21.0), (0.0, 21.0))
    return View(1.0, (MatSeen(mat, corners, 0.1),), tuple(cards), frozenset(hidden.split()))


def begun(match: Match) -> Match:
    match.start(["edition classic", "side Ann", "side Robo", "hand first Ann"])
    match.seat_robot(ROBO, "Ann")
    return match


def test_seven_slots_are_read_from_pictures_and_nobody_else_sees_them(match):
    table = Table(begun(match))

    assert table.watch.robot_hand() == (None,) * 7

    table.deal(*HAND)
    frame = table.picture()
    served = table.watch.image()

    assert table.watch.robot_hand() == tuple(map(face_of, HAND))
    assert {s.card for s in seen_on(frame)} == set(HAND)
    assert not seen_on(served)
    assert (table.watch._tracks.cards, match.state.questions, match.state.trouble) == ((), (), None)


def test_a_slot_tells_what_three_looks_agree_on(match):
    hand = RobotHand()
    views = [seen("roll"), seen("roll"), seen("stop"), seen("roll"), seen("roll"), seen("roll"), seen(hidden="robot/1")]
    told = []
    for view in views:
        hand = hand.after(view)
        told.append(hand.cards[0])

    assert told == [None] * 5 + [Card.ROLL] * 2


def test_without_the_robot_s_mat_in_sight_there_is_no_picture(match):
    watch = TableWatch(begun(match), lambda frame: seen("roll", mat="side-1"), lambda _state: MATS)
    watch.take(Frame(np.zeros((90, 160, 3), np.uint8), 1.0))

    assert (watch.image(), watch.picture(), watch.robot_hand()) == (None, None, None)

    match.seat_robot(None, "Ann")

    assert watch.image() is not None
