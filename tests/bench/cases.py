"""Whole hands for the benches: which hand, table, light and mishaps, and which card was where on which frame."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import decks
import enrolled
from card_photos import STYLES as STYLES
from troubles import looks
from troubles.company import hides
from troubles.mishaps import Mishaps
from troubles.pictured_cards import PicturedCards
from troubles.rough_studio import RoughStudio
from troubles.scenes import troubled_scenes
from troubles.things import is_card

from companion.rules import referee
from companion.rules.play import Verb
from companion.rules.table import Team
from companion.simulate import arrange, camera_model
from companion.simulate.animation import Tempo
from companion.simulate.art import PX_PER_MM, Cards
from companion.simulate.players import random_script
from companion.simulate.scene import Lying, Scene
from companion.simulate.script import Script, zone_of

NAMES = ("Ann", "Bob", "Cid", "Dee")
EDITIONS = {2: "classic", 3: "classic", 4: "dujardin-2014"}
"""Four sides exist only in later editions."""

LOOKS = {"typical": looks.household_look, "hard": looks.hard_look, "demo": camera_model.typical_look}
FPS = 10.0


# The hand that is played ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One hand at one table, in one light."""

    seed: int
    sides: int
    look_name: str
    mishaps: Mishaps
    km: int | None = None
    speed: float = 4.0
    faces: str | None = None
    """The deck of cards without stickers: `own`, or a style of tests/decks.py."""

    @property
    def script(self) -> Script:
        teams = tuple(Team(name, (name,)) for name in NAMES[: self.sides])
        return random_script(EDITIONS[self.sides], teams=teams, seed=self.seed, target=self.km)

    @property
    def look(self) -> camera_model.Look:
        return LOOKS[self.look_name](self.seed)

    @property
    def plan(self) -> arrange.TablePlan:
        return arrange.plan(self.sides, self.sides)

    @property
    def size(self) -> camera_model.Size:
        return looks.size_for(self.plan.corners, self.look)

    @property
    def cards(self) -> Cards:
        return Cards() if self.faces is None else bare_cards(self.faces)

    def studio(self) -> RoughStudio:
        return RoughStudio(self.plan, self.look, self.size, self.cards, self.seed)

    def scenes(self, room_px: float) -> Iterator[Scene]:
        return troubled_scenes(self.script, self.seed, Tempo(FPS, self.speed), self.mishaps, room_px)


@cache
def bare_cards(deck: str) -> Cards:
    """Return the cards of a deck of tests/enrolled.py, without stickers."""
    return PicturedCards(None, enrolled.faces_of(deck, PX_PER_MM), decks.size_mm(deck))


# The truth: which card was where -------------------------------------------------------------------------------


@dataclass(eq=False)
class Stay:
    """A card in a zone: its first and last frame, and the first without a hand over it."""

    card: str
    zone: str
    first: int
    clear: int | None = None
    last: int | None = None


class Diary:
    """Records where each card is, scene by scene."""

    def __init__(self, plan: arrange.TablePlan) -> None:
        self._plan = plan
        self._lying: tuple[Lying, ...] | None = None
        self._open: dict[str, tuple[Stay, Lying]] = {}
        self.stays: list[Stay] = []
        self.frames = 0

    def write(self, scene: Scene) -> Scene:
        if scene.lying is not self._lying and scene.lying != self._lying:
            self._changed(scene)
            self._lying = scene.lying
        for stay, card in self._open.values():
            if stay.clear is None and not hides(scene, card.pose):
                stay.clear = self.frames
        self.frames += 1
        return scene

    def _changed(self, scene: Scene) -> None:
        mats = scene.mats or self._plan.mats
        now = {card.picture: card for card in scene.lying if is_card(card)}
        zones = {picture: _zone(mats, card) for picture, card in now.items()}
        for picture, (stay, _) in list(self._open.items()):
            if zones.get(picture) != stay.zone:
                stay.last = self.frames - 1
                del self._open[picture]
        for picture, card in now.items():
            if picture in self._open:
                self._open[picture] = self._open[picture][0], card
            elif zones[picture] is not None:
                self.stays.append(Stay(picture, zones[picture], self.frames))
                self._open[picture] = self.stays[-1], card


def _zone(mats: tuple[arrange.MatPlace, ...], card: Lying) -> str | None:
    for place in mats:
        name = place.layout.zone_at(*place.on_mat(card.pose.x_mm, card.pose.y_mm))
        if name is not None:
            return f"{place.layout.id}/{name}"
    return None


@dataclass(frozen=True)
class Truth:
    """A play of the script, and where its card was; all places but the last are wrong zones."""

    text: str
    stays: list[Stay]
    taken_back: bool


def truths(script: Script, stays: list[Stay]) -> list[Truth]:
    """Return the plays of one hand of the script with the stays of their cards."""
    left, found, since = list(stays), [], 0
    (hand,) = script.hands
    table = referee.new_hand(script.edition, script.teams, hand.first, script.target)
    for action in hand.actions:
        zone, own = zone_of(table, action.play), []
        for stay in [stay for stay in left if action.card_id == stay.card and stay.first >= since]:
            own.append(stay)
            left.remove(stay)
            if stay.zone == zone:
                break
        if action.card_id is not None or action.play.verb is Verb.TAKE:
            found.append(Truth(str(action.play), own, action.taken_back))
        since = own[0].first if own else since
        table = table if action.taken_back else referee.apply(table, action.play)
    return found
