"""An eye that sees a hand which people acted, with the errors of a camera.

A sticker is in the upper left corner of its card and names it. A card recognized by its face has a number, `stay`, that
continues while the card is untouched. As in `companion/vision/faces/occlusion.py`, the numbers rise with time, and from
the lowest card to the top.
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from companion.rules.cards import Card
from companion.simulate.arrange import Point, Pose, turned
from companion.simulate.scene import Lying
from companion.tabletop.card_ids import any_copy, card_ids, face_of
from companion.tabletop.mat_layout import CARD_MM, DRAW_ZONE, is_pile
from companion.vision.view import AGREED, STICKER, MatSeen, Quad, Sighting, View, centre_of
from habits.acted_hand import ActedHand, HiddenZone, Moment, distance_mm

PX_PER_MM = 1.8
STICKER_MM, STICKER_AT = 16.6, (-17.0, -28.5)  # side of the code; its center from the card's
SAME_MM, SAME_DEG = 1.2, 2.0  # a card seen within this of an equal one is the same to the eye
BESIDE_MM = 24.0  # an equal card that vanishes within this may be below, or be this one
READABLE_SHARE = 0.2  # of a face that has to show: the strip of a fanned card is enough
TOP_CARDS = 8  # of a pile that may show
STAYS_A_LOOK = 1000
SPREAD = 30.0  # of the beta distributions: the more, the narrower
FACE_POINTS = tuple((x, y) for x in (-20.0, -7.0, 7.0, 20.0) for y in (-35.0, -17.0, 0.0, 17.0, 35.0))
CODE_POINTS = tuple((STICKER_AT[0] + x, STICKER_AT[1] + y) for x in (-8.0, 8.0) for y in (-8.0, 8.0))


@dataclass(frozen=True)
class Noise:
    """How the eye errs: probabilities, but for the fields with a unit and `doubt`."""

    jitter_mm: float = 0.0
    jitter_deg: float = 0.0
    doubt: float = 0.0  # mean of 1 - confidence of a right reading
    misread: float = 0.0  # a reading names another card
    unreadable: float = 0.0  # a card is seen and not read
    flicker: float = 0.0  # a card in an untouched zone is read anew on a look
    missed: float = 0.0  # a look does not see a card
    phantom: float = 0.0  # a look sees a card where there is none
    beside_hand: float = 0.0  # a card in a hidden zone shows all the same
    covered_lost: float = 0.0  # a covered card is not reported any more, although its edges show
    unsure: float = 0.0  # a card recognized by its face may be two to the eye, once it was moved
    covers: float = 0.0  # something is put over a zone during ten seconds
    cover_s: float = 4.0
    gap: float = 0.0  # the film has a gap
    gap_s: float = 5.0
    settle_s: float = 0.2  # a zone stays hidden after a hand has left
    fps: float = 5.0


class Numbered(NamedTuple):
    """A card as the eye numbered it."""

    pose: Pose
    stay: int
    is_double: bool


class NoisyEye:
    """Sees one hand, by stickers or by faces."""

    def __init__(self, acted: ActedHand, noise: Noise, by: str, seed: object) -> None:
        self._acted, self._noise, self._by = acted, noise, by
        self._luck = random.Random(f"eye {seed}")
        self._deck = card_ids(acted.script.edition.deck)
        self._mats = tuple(MatSeen(place.layout.id, _quad(place.corners), PX_PER_MM) for place in acted.plan.mats)
        hands = (one._replace(until_s=one.until_s + noise.settle_s) for one in acted.hidden)
        self._hidden = sorted((*hands, *self._under_things()), key=lambda one: one.from_s)
        self._read: dict[str, tuple[tuple[Lying, ...], dict[str, Sighting]]] = {}  # by zone: its cards; by card
        self._beside_hand: dict[str, frozenset[str]] = {}  # by hidden zone: the cards that show
        self._known: dict[str, Numbered] = {}  # by card
        self._kept: dict[str, bool] = {}  # by covered card: whether it is still reported
        self._stays = itertools.count()

    def _under_things(self) -> Iterator[HiddenZone]:
        """Yield zones under a cup, a phone or a resting arm."""
        zones = [f"{place.layout.id}/{name}" for place in self._acted.plan.mats for name in place.layout.zones]
        for n in range(int(self._acted.end_s / 10.0)):
            if self._happens(self._noise.covers):
                from_s = self._luck.uniform(10.0 * n, 10.0 * n + 10.0)
                lasts_s = self._noise.cover_s * self._luck.uniform(0.5, 1.5)
                yield HiddenZone(self._luck.choice(zones), from_s, from_s + lasts_s)

    def _happens(self, share: float) -> bool:
        return share > 0.0 and self._luck.random() < share

    def looks(self) -> Iterator[tuple[View, bool]]:
        """Yield the views, each with whether pictures were missing before it."""
        moments, end_s, at, after_gap = self._acted.moments, self._acted.end_s, 0, False
        gap_from_s = end_s * self._luck.uniform(0.2, 0.8) if self._happens(self._noise.gap) else math.inf
        for n in range(math.ceil(end_s * self._noise.fps)):
            t_s = n / self._noise.fps
            while at + 1 < len(moments) and moments[at + 1].t_s <= t_s:
                at += 1
            if gap_from_s <= t_s < gap_from_s + self._noise.gap_s:
                after_gap = True
                continue
            self._stays = itertools.count(STAYS_A_LOOK * (n + 1), -1)
            yield self._look(moments[at], t_s), after_gap
            after_gap = False

    def _look(self, moment: Moment, t_s: float) -> View:
        while self._hidden and self._hidden[0].until_s < t_s:
            del self._hidden[0]
        unknown = frozenset(one.zone for one in self._hidden if one.from_s <= t_s <= one.until_s)
        seen: list[Sighting] = []
        for zone, cards in moment.zones.items():
            seen += self._partly_hidden(zone, cards) if zone in unknown else self._in_sight(zone, cards)
        if self._happens(self._noise.phantom):
            seen += self._phantom(unknown)
        is_empty = None if DRAW_ZONE in unknown else moment.draw_pile == 0
        return View(t_s, self._mats, tuple(seen), unknown, is_empty)

    def _partly_hidden(self, zone: str, cards: Sequence[Lying]) -> Iterator[Sighting]:
        """Yield the cards of a hidden zone that show all the same, as they were read before."""
        before, read = self._read.get(zone, ((), {}))
        if zone not in self._beside_hand:
            self._beside_hand[zone] = frozenset(card for card in read if self._happens(self._noise.beside_hand))
        still = self._beside_hand[zone].intersection(card.picture for card in cards if card in before)
        return (sighting for card, sighting in read.items() if card in still)

    def _in_sight(self, zone: str, cards: tuple[Lying, ...]) -> Iterator[Sighting]:
        was_hidden = self._beside_hand.pop(zone, None) is not None
        before, read = self._read.get(zone, ((), {}))
        if was_hidden or cards != before:
            read = self._read_zone(zone, cards, before, read)
            self._read[zone] = cards, read
        for card in cards if read else ():
            if card.picture in read:
                if self._happens(self._noise.flicker):
                    read[card.picture] = self._reading(zone, card, self._known.get(card.picture))
                if not self._happens(self._noise.missed):
                    yield read[card.picture]

    def _read_zone(
        self, zone: str, cards: tuple[Lying, ...], before: Sequence[Lying], read: dict[str, Sighting]
    ) -> dict[str, Sighting]:
        """Read all cards of a zone that show, from the top down."""
        shown = [card for n, card in enumerate(cards) if self._is_reported(zone, cards, n)]
        # An equal card that was reported, and is not any more, may be below a new one.
        gone = [old for old in before[1 - TOP_CARDS :] if old.picture in read and old not in shown]
        found: dict[str, Sighting] = {}
        for card in reversed(shown):
            known = None
            if self._by != STICKER:
                known = self._same(card, cards) or Numbered(card.pose, next(self._stays), self._may_be_two(card, gone))
                self._known[card.picture] = known
            # A card exactly under an equal one cannot be distinguished from it.
            if known is None or all(known.stay != one.stay for one in found.values()):
                found[card.picture] = self._reading(zone, card, known)
        return found

    def _is_reported(self, zone: str, cards: Sequence[Lying], n: int) -> bool:
        """True if enough of a card shows, or it was recognized before and its edges still show."""
        card, upper, by_sticker = cards[n], cards[n + 1 :], self._by == STICKER
        if is_pile(zone) and len(upper) >= TOP_CARDS:
            return False
        near = [one.pose for one in upper if distance_mm(one.pose, card.pose) < math.hypot(*CARD_MM)]
        points = CODE_POINTS if by_sticker else FACE_POINTS
        shows = [not any(_covers(one, point) for one in near) for point in _on(card.pose, points)] if near else [True]
        if all(shows) or (not by_sticker and sum(shows) >= READABLE_SHARE * len(shows)):
            self._kept.pop(card.picture, None)
            return True
        if by_sticker or self._same(card, cards) is None:
            return False
        if card.picture not in self._kept:
            self._kept[card.picture] = not self._happens(self._noise.covered_lost)
        return self._kept[card.picture]

    def _same(self, card: Lying, cards: Sequence[Lying]) -> Numbered | None:
        """Return what the eye takes a card for: itself untouched, or an equal one that it now covers exactly."""
        equal = (one for one in cards if one != card and face_of(one.picture) is face_of(card.picture))
        known = filter(None, (self._known.get(one.picture) for one in (card, *equal)))
        near = (one for one in known if distance_mm(one.pose, card.pose) <= SAME_MM)
        return next((one for one in near if abs(one.pose.turn_deg - card.pose.turn_deg) <= SAME_DEG), None)

    def _may_be_two(self, card: Lying, gone: Sequence[Lying]) -> bool:
        equal = [old for old in gone if face_of(old.picture) is face_of(card.picture)]
        near = [old.picture for old in equal if distance_mm(old.pose, card.pose) <= BESIDE_MM]
        return near not in ([], [card.picture]) or (bool(near) and self._happens(self._noise.unsure))

    def _reading(self, zone: str, card: Lying, known: Numbered | None) -> Sighting:
        noise, luck, by_sticker = self._noise, self._luck, self._by == STICKER
        name, sure, rivals = card.picture, self._sure(1.0 - noise.doubt), dict[str, float]()
        stay = known.stay if known else None
        if self._happens(noise.unreadable):
            rivals = {name: self._sure(0.5), self._another(card): self._sure(0.3)}
            sure = 0.0
        elif self._happens(noise.misread):
            name, sure = self._another(card), self._sure(0.6)
            rivals = {name: sure, card.picture: AGREED - sure}
            stay = next(self._stays) if known else None
        face = Card.UNKNOWN if sure == 0.0 else face_of(name)
        ranked = sorted(rivals.items(), key=lambda rival: -rival[1])
        x, y = (luck.gauss(at, noise.jitter_mm) for at in (card.pose.x_mm, card.pose.y_mm))
        measured = Pose(x, y, luck.gauss(card.pose.turn_deg, noise.jitter_deg))
        (dx, dy), (w, h) = (STICKER_AT, (STICKER_MM, STICKER_MM)) if by_sticker else ((0.0, 0.0), CARD_MM)
        corners = ((dx + w * sx / 2, dy + h * sy / 2) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
        quad = _quad(_on(measured, tuple(corners)))
        against_deg = (card.pose.turn_deg - self._acted.plan.mat(zone.partition("/")[0]).middle.turn_deg) % 180.0
        return Sighting(
            face, name if by_sticker and sure else None, centre_of(quad), quad, zone, 45.0 < against_deg < 135.0, sure,
            self._by, tuple((one if by_sticker else any_copy(face_of(one)), share) for one, share in ranked),
            bool(known and known.is_double), stay,
        )  # fmt: skip

    def _sure(self, mean: float) -> float:
        """Return a random confidence, in proportion to this mean."""
        return AGREED * (1.0 if mean >= 1.0 else self._luck.betavariate(mean * SPREAD, (1.0 - mean) * SPREAD))

    def _another(self, card: Lying) -> str:
        """Return a card of the same family that this one may be mistaken for."""
        face = face_of(card.picture)
        same = [one for one in self._deck if face_of(one).family is face.family and face_of(one) is not face]
        return self._luck.choice(same)

    def _phantom(self, unknown: frozenset[str]) -> Iterator[Sighting]:
        """Yield a card that is not there, in a visible zone."""
        place = self._luck.choice(self._acted.plan.mats)
        name, rect = self._luck.choice(list(place.layout.zones.items()))
        zone = f"{place.layout.id}/{name}"
        if zone not in unknown and zone != DRAW_ZONE:
            pose = Pose(*place.on_table(*rect.centre_mm), place.middle.turn_deg)
            known = None if self._by == STICKER else Numbered(pose, next(self._stays), is_double=False)
            sighting = self._reading(zone, Lying(self._luck.choice(self._deck), pose), known)
            yield replace(sighting, confidence=min(sighting.confidence, self._sure(0.4)))


def _on(pose: Pose, points: Sequence[Point]) -> list[Point]:
    """Return points of a card, from its center and along its edges, on the table."""
    return [(pose.x_mm + x, pose.y_mm + y) for x, y in (turned(*point, pose.turn_deg) for point in points)]


def _covers(pose: Pose, point: Point) -> bool:
    x, y = turned(point[0] - pose.x_mm, point[1] - pose.y_mm, -pose.turn_deg)
    return abs(x) <= CARD_MM[0] / 2 and abs(y) <= CARD_MM[1] / 2


def _quad(points: Sequence[Point]) -> Quad:
    a, b, c, d = ((x * PX_PER_MM, y * PX_PER_MM) for x, y in points)
    return a, b, c, d
