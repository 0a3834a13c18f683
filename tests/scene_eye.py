"""An eye that reads the simulated scene directly, so that a hundred hands take the time of one.

It reports what a camera could see. A covered card is hidden. A zone under a hand is unknown, and remains so briefly
after the hand leaves.
"""

import math
from collections.abc import Iterator

from troubles.rough_studio import RoughScene
from troubles.things import THINGS, is_card

from companion.rules.play import Verb
from companion.simulate import arrange, frame_source
from companion.simulate.animation import Tempo
from companion.simulate.arrange import MatPlace, Point, TablePlan
from companion.simulate.scene import BACK, Arm, Lying, Scene
from companion.simulate.script import Script
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import CARD_MM, Rect
from companion.tracking.film import Watcher
from companion.vision.capture.sources import Frame
from companion.vision.view import MatSeen, Sighting, View

ARM_MM = 60.0
STICKER_MM = 36.0
FRAMES_TO_SETTLE = 2
FRAMES_TO_KNOW_A_THING = 12
FRAMES_TO_KNOW_AN_ARM = 12
FPS = 10.0
JUMP = 1.2
BLINDED = "The light or the camera has changed."


class SceneEye:
    """Turns scenes into views; its pixels are millimeters on the table."""

    def __init__(self, script: Script) -> None:
        plan: TablePlan = arrange.plan(len(script.teams), len(script.players))
        self._first = plan.mats
        self._unsettled: dict[str, int] = {}
        self._before: Scene | None = None
        self._seen: tuple[Sighting, ...] = ()
        self._known: tuple[Sighting, ...] = ()
        """The last sightings of every zone."""

        self._rest: dict[Arm, int] = {}
        """Number of frames without movement, per arm."""

        self._shown: frozenset[str] = frozenset()

    def view(self, scene: Scene, t_s: float) -> View:
        """Return the view of a scene at a time."""
        mats = scene.mats or self._first
        before, self._before = self._before or scene, scene
        blinded = _has_jumped(before, scene)
        self._rest = {arm: self._rest.get(arm, 0) + 1 for arm in scene.arms}
        resting = tuple(arm for arm, frames in self._rest.items() if frames > FRAMES_TO_KNOW_AN_ARM)
        self._unsettled |= dict.fromkeys(self._touched(scene, before, mats, resting), FRAMES_TO_SETTLE + 1)
        self._unsettled |= dict.fromkeys(_put_upon(scene, before, mats), FRAMES_TO_KNOW_A_THING)
        if blinded:
            zones = (f"{place.layout.id}/{name}" for place in mats for name in place.layout.zones)
            self._unsettled = dict.fromkeys(zones, FRAMES_TO_SETTLE + 1)
        unknown = frozenset(self._unsettled)
        self._unsettled = {zone: left - 1 for zone, left in self._unsettled.items() if left > 1}
        if (scene is not before and (scene.lying, scene.mats) != (before.lying, before.mats)) or not self._seen:
            self._seen = tuple(seen for card in in_sight(scene.lying) if (seen := _sighting(card, mats)))
        known = tuple(s for s in self._seen if s.zone not in unknown and self._shows(s, resting))
        known += tuple(self._remembered(known, unknown, resting))
        self._known = (*(s for s in self._known if s.zone in unknown), *known)
        self._shown = frozenset(s.card for s in self._seen if s.zone in unknown and s.card in self._shown) | {
            s.card for s in known if s.card
        }
        empty = None if "table/draw" in unknown else all(card.picture != BACK for card in scene.lying)
        seen = tuple(MatSeen(place.layout.id, place.corners, 1.0) for place in mats)
        return View(t_s, seen, known, unknown, empty, BLINDED if blinded else None)

    def _remembered(
        self, known: tuple[Sighting, ...], unknown: frozenset[str], resting: tuple[Arm, ...]
    ) -> Iterator[Sighting]:
        """Yield cards seen before an arm came to rest over them; what it put down shows once it leaves."""
        seen = {s.card for s in known}
        for s in self._known:
            if s.card not in seen and s.zone not in unknown and any(_along(a, s.centre_px) < ARM_MM for a in resting):
                yield s

    def _shows(self, sighting: Sighting, resting: tuple[Arm, ...]) -> bool:
        """True if a card is visible beside the resting arms, or was before they came to rest over it."""
        hidden = any(_along(arm, sighting.centre_px) < ARM_MM for arm in resting)
        return not hidden or sighting.card in self._shown

    @staticmethod
    def _touched(scene: Scene, before: Scene, mats: tuple[MatPlace, ...], resting: tuple[Arm, ...]) -> Iterator[str]:
        """Yield the zones under moving hands and carried cards, and all zones of a moving mat."""
        was = {place.layout.id: place for place in before.mats or mats}
        for place in mats:
            moved = was[place.layout.id] != place
            for name, rect in place.layout.zones.items():
                held = _holds_any(place, rect, scene.carried)
                if moved or held or any(_reaches(place, rect, arm) for arm in scene.arms if arm not in resting):
                    yield f"{place.layout.id}/{name}"


def _put_upon(scene: Scene, before: Scene, mats: tuple[MatPlace, ...]) -> Iterator[str]:
    """Yield the zones in which an object was just put down."""
    if scene.lying == before.lying:
        return
    new = tuple(card for card in scene.lying if card.picture in THINGS and card not in before.lying)
    for place in mats:
        yield from (f"{place.layout.id}/{name}" for name, r in place.layout.zones.items() if _holds_any(place, r, new))


def _has_jumped(before: Scene, now: Scene) -> bool:
    """True if the light or camera changed too much to compare two frames."""
    if not (isinstance(before, RoughScene) and isinstance(now, RoughScene)):
        return False
    was, light = before.light, now.light
    brighter = (light.lamp + light.sky) * light.exposure / max(0.1, (was.lamp + was.sky) * was.exposure)
    return before.push != now.push or not 1 / JUMP < brighter < JUMP


def _sighting(card: Lying, mats: tuple[MatPlace, ...]) -> Sighting | None:
    """Return the sighting of a card, or None if it is outside the zones."""
    middle = sticker_middle(card)
    found = ((place, place.layout.zone_at(*place.on_mat(*middle))) for place in mats)
    place, zone = next(((place, zone) for place, zone in found if zone), (None, None))
    if place is None:
        return None
    turn_deg = (card.pose.turn_deg - place.middle.turn_deg) % 180
    sideways = 45 < turn_deg < 135
    face = face_of(card.picture)
    return Sighting(face, card.picture, middle, None, f"{place.layout.id}/{zone}", sideways, 0.99, "sticker")


def in_sight(lying: tuple[Lying, ...]) -> Iterator[Lying]:
    """Yield the face-up cards whose sticker no later card covers; cards under objects are remembered."""
    for number, card in enumerate(lying):
        later = lying[number + 1 :]
        if is_card(card) and not any(
            _covers(other, sticker_middle(card)) for other in later if other.picture not in THINGS
        ):
            yield card


def sticker_middle(card: Lying) -> Point:
    """Return the center of a card's sticker on the table."""
    dx, dy = arrange.turned(0.0, -CARD_MM[1] / 2 + STICKER_MM / 2 + 3.5, card.pose.turn_deg)
    return card.pose.x_mm + dx, card.pose.y_mm + dy


def _covers(card: Lying, point: Point) -> bool:
    x, y = arrange.turned(point[0] - card.pose.x_mm, point[1] - card.pose.y_mm, -card.pose.turn_deg)
    return abs(x) < CARD_MM[0] / 2 + STICKER_MM / 2 and abs(y) < CARD_MM[1] / 2 + STICKER_MM / 2


def _reaches(place: MatPlace, rect: Rect, arm: Arm) -> bool:
    """True if an arm is over a zone, sampled every 3 cm."""
    length = math.dist(arm.tip, arm.seat)
    steps = max(2, round(length / 30.0))
    points = (
        (arm.tip[0] + (arm.seat[0] - arm.tip[0]) * n / steps, arm.tip[1] + (arm.seat[1] - arm.tip[1]) * n / steps)
        for n in range(steps + 1)
    )
    return any(_near(rect, *place.on_mat(*point), ARM_MM) for point in points)


def _along(arm: Arm, point: Point) -> float:
    """Return the distance from a point to an arm's center line."""
    dx, dy = arm.seat[0] - arm.tip[0], arm.seat[1] - arm.tip[1]
    share = ((point[0] - arm.tip[0]) * dx + (point[1] - arm.tip[1]) * dy) / max(1.0, dx * dx + dy * dy)
    share = min(1.0, max(0.0, share))
    return math.dist(point, (arm.tip[0] + dx * share, arm.tip[1] + dy * share))


def _holds_any(place: MatPlace, rect: Rect, cards: tuple[Lying, ...]) -> bool:
    return any(_near(rect, *place.on_mat(card.pose.x_mm, card.pose.y_mm), CARD_MM[1] / 2) for card in cards)


def _near(rect: Rect, x_mm: float, y_mm: float, reach_mm: float) -> bool:
    dx = max(rect.x_mm - x_mm, 0.0, x_mm - rect.x_mm - rect.width_mm)
    dy = max(rect.y_mm - y_mm, 0.0, y_mm - rect.y_mm - rect.height_mm)
    return math.hypot(dx, dy) <= reach_mm


def watched(script: Script, *, speed: float = 8.0, seed: int = 0) -> list[dict]:
    """Return what `companion watch --confirm legal` would report for a script, without rendering pictures."""
    from companion.app import demo as simulated

    eye = SceneEye(script)
    scenes = iter(frame_source.followed_scenes(script, seed, Tempo(FPS, speed)))
    watcher = Watcher(
        simulated.setup_of(script), lambda frame: eye.view(frame.image, frame.t_s), confirm=True, extension=Verb.FINISH
    )
    return list(watcher.items(Frame(scene, number / FPS) for number, scene in enumerate(scenes)))
