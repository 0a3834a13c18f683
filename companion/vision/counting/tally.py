"""Photographs of a finished tableau: each side's cards that count, and what has to be asked.

Pure: views come in, values go out. With mats the zones say whose a card is; without them the cards form heaps that lie
clearly apart, and people say whose they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, count, groupby, pairwise

import numpy as np

from companion.common.text import Said, listed, say, say_many
from companion.rules.card_names import card_term
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import Edition
from companion.tabletop.card_ids import any_copy, face_of
from companion.tabletop.mat_layout import CARD_MM
from companion.tabletop.sticker_codes import MODULES, STICKER_MM, STICKER_MODULES
from companion.vision.opencv import cv2
from companion.vision.view import FACE, Point, Sighting, View, side_of

APART_MM = 150.0  # minimum distance between the middles of neighbouring cards of different heaps
SAME_PLACE_MM = 5.0  # distance below which two of one face are one card: of two so exactly in place one would show
FEWEST_ALIKE = 3  # minimum number of cards that two photographs share if it is hardly chance
MOST_GUESSES = 3
LIKELY = 0.6  # minimum confidence of a guess that people may take without looking
FEWEST_SIDES = 2
HEAP, UNSEEN = "heap", "unseen"
PILES = ("battle", "speed")  # the zones whose cards do not score
_FITS = {"distance": (Family.DISTANCE, Family.SPECIAL), "safety": (Family.SAFETY,)}  # by zone that scores


@dataclass(frozen=True, slots=True)
class Photo:
    """A photograph, what was seen on it, and what the page shows of it."""

    name: str
    size_px: tuple[int, int]
    view: View
    jpeg: bytes = b""  # the reduced picture
    file: bytes = b""  # as it was sent, to be read again with another deck


@dataclass(frozen=True, slots=True)
class Spot:
    """A card on a photograph."""

    photo: int  # the index of its photograph
    at: int  # its index among the photograph's sightings: of faces from the top down
    lot: str  # the key of the lot that it belongs to
    pile: str  # the mat's zone: `battle`, `speed`, `distance`, `safety`; empty for none
    sighting: Sighting
    is_beside: bool = False  # True if it lies beside the mats
    number: int = 0  # its number on the picture, from 1 over all photographs; those that score, or may, come first

    @property
    def key(self) -> str:
        """Its name as long as no earlier photograph is removed: `1-7`."""
        return f"{self.photo + 1}-{self.at + 1}"

    @property
    def card(self) -> Card:
        return self.sighting.face

    @property
    def centre_px(self) -> Point:
        return self.sighting.centre_px

    @property
    def is_sure(self) -> bool:
        return self.card is not Card.UNKNOWN

    @property
    def guesses(self) -> tuple[Card, ...]:
        """The candidates for an unknown card: first what fits the zone, then the likeliest."""
        if self.is_sure:
            return ()
        cards, fits = dict.fromkeys(face_of(name) for name, _ in self.sighting.rivals), _FITS.get(self.pile, ())
        return tuple(sorted(cards, key=lambda card: card.family not in fits))[:MOST_GUESSES]

    @property
    def proposed(self) -> Card | None:
        """The guess that people may take where they cannot tell: likely, but not certain."""
        likely = [face_of(name) for name, confidence in self.sighting.rivals[:1] if confidence >= LIKELY]
        return next((card for card in likely if self.guesses[:1] == (card,)), None)

    @property
    def likeliest(self) -> Card:
        """Its face until somebody says otherwise."""
        return self.card if self.is_sure else next(iter(self.guesses), Card.UNKNOWN)

    @property
    def matters(self) -> bool:
        """True if it scores, or may."""
        if self.is_sure:
            return scores(self.card)
        return self.pile not in PILES and (not self.guesses or any(map(scores, self.guesses)))


def scores(card: Card) -> bool:
    """True if a card in front of a side is counted at the end."""
    return card.family in (Family.DISTANCE, Family.SAFETY) or card is Card.ACCELERATOR


@dataclass(frozen=True, slots=True)
class Lot:
    """The cards of one side, or a heap that no mat assigns to a side."""

    key: str  # `side-1` for a mat, `heap-` with the numbers of its photograph and of itself there, else `unseen-2`
    spots: tuple[Spot, ...]
    is_beside: bool = False  # True if it lies beside the mats: it does not count unless somebody says so
    number: int = 0  # of the side that it is, or would be

    @property
    def name(self) -> str:
        return say("Side %(number)d", number=self.number)

    @property
    def has_mat(self) -> bool:
        return self.key.startswith("side-")

    @property
    def is_seen(self) -> bool:
        """True if a photograph shows it."""
        return not self.key.startswith(UNSEEN)

    @property
    def scoring(self) -> tuple[Spot, ...]:
        """The cards that score, or may: the page draws their numbers."""
        return tuple(spot for spot in self.spots if spot.matters)

    @property
    def unsure(self) -> tuple[Spot, ...]:
        """The cards that people are asked about."""
        return tuple(spot for spot in self.scoring if not spot.is_sure)

    @property
    def doubled(self) -> Counter[Card]:
        """The distance nearest to each accelerator, none of them twice."""
        free, chosen = list(self.of(Family.DISTANCE)), []
        for fast in (spot for spot in self.spots if spot.card is Card.ACCELERATOR):
            nearest = min(free, key=lambda spot: math.dist(spot.centre_px, fast.centre_px), default=None)
            if nearest is not None:
                free.remove(nearest)
                chosen.append(nearest.card)
        return Counter(chosen)

    def shows(self, pile: str) -> tuple[Card, ...]:
        """Return what shows of the battle or the speed pile."""
        return tuple(spot.card for spot in self.spots if spot.pile == pile and spot.is_sure)

    def of(self, family: Family) -> tuple[Spot, ...]:
        """Return the cards of a family that are sure."""
        return tuple(spot for spot in self.spots if spot.card.family is family)


@dataclass(frozen=True, slots=True)
class Tally:
    """All photographs together."""

    photos: tuple[Photo, ...]
    lots: tuple[Lot, ...]  # the sides, those on mats first, in order; then what lies beside the mats
    draw_pile_empty: bool | None = None  # None where no photograph shows it
    notes: tuple[str, ...] = ()  # sentences about cards that do not count

    @property
    def is_blank(self) -> bool:
        """True if there are photographs, and no card was read on any of them."""
        return bool(self.photos) and not any(photo.view.sightings for photo in self.photos)


# --- From sightings to lots -----------------------------------------------------------------------------------


def tally(edition: Edition, photos: Sequence[Photo]) -> Tally:
    """Return the cards by side, each sticker and each mat once."""
    seen = [card for number, photo in enumerate(photos) for card in _on_photo(number, photo)]
    ours = [card for card in seen if card.sighting.face in (*edition.deck, Card.UNKNOWN)]
    once = list(_once(ours))
    told = [photo.view.draw_pile_empty for photo in photos if photo.view.draw_pile_empty is not None]
    mats = {mat.id for photo in photos for mat in photo.view.mats if mat.id.startswith("side-")}
    lots = tuple(_lots(_certain(once, edition), mats))
    notes = (*_notes(seen, ours, once, photos, edition), *_twice(lots, photos, edition))
    return Tally(tuple(photos), tuple(_numbered(lots)), any(told) if told else None, notes)


def _on_photo(number: int, photo: Photo) -> Iterator[Spot]:
    """Yield the cards of a photograph that are some side's, or may be; not those in the middle of the table."""
    loose, mats = [], photo.view.mats
    for index, sighting in _distinct(photo.view.sightings):
        mat, _, pile = (sighting.zone or "").partition("/")
        quads = ((other.id, np.float32(other.corners_px)) for other in mats)
        under = (other for other, quad in quads if cv2.pointPolygonTest(quad, sighting.centre_px, False) >= 0)
        mat = mat or next(under, "")
        spot = Spot(number, index, mat, pile, sighting)
        if mat.startswith("side-"):
            yield spot
        elif not mat:
            loose.append(spot)
    is_beside = any(mat.id.startswith("side-") for mat in mats)
    for heap, spots in enumerate(_heaps(loose), start=1):
        for spot in spots:
            yield replace(spot, lot=f"{HEAP}-{number + 1}-{heap}", is_beside=is_beside)


def _distinct(sightings: Sequence[Sighting]) -> Iterator[tuple[int, Sighting]]:
    """Yield the sightings with their indices; those of one face in the same place once."""
    for index, sighting in enumerate(sightings):
        near = SAME_PLACE_MM * _px_per_mm(sighting)
        same = [s for s in sightings[:index] if s.by == sighting.by == FACE and s.face is sighting.face]
        if not any(math.dist(sighting.centre_px, earlier.centre_px) < near for earlier in same):
            yield index, sighting


def _heaps(spots: Sequence[Spot]) -> list[list[Spot]]:
    """Return the cards by heap, from left to right, or from the top down where that is farther."""
    scales = [scale for spot in spots if (scale := _px_per_mm(spot.sighting))]
    reach = APART_MM * float(np.median(scales)) if scales else math.inf
    heaps: list[list[Spot]] = []
    for spot in spots:
        near = [heap for heap in heaps if any(math.dist(spot.centre_px, other.centre_px) <= reach for other in heap)]
        heaps = [*(heap for heap in heaps if heap not in near), [*chain(*near), spot]]
    middles = [np.median([spot.centre_px for spot in heap], axis=0).tolist() for heap in heaps]
    along = int(np.argmax(np.ptp(middles, axis=0))) if middles else 0
    return [heap for _, heap in sorted(zip(middles, heaps, strict=True), key=lambda one: one[0][along])]


def _px_per_mm(sighting: Sighting) -> float:
    """Return the scale at a card; 0 where it is not known."""
    if sighting.corners_px is None:
        return 0.0
    if sighting.by == FACE:
        return min(math.dist(a, b) for a, b in pairwise((*sighting.corners_px, sighting.corners_px[0]))) / CARD_MM[0]
    # Without mats a code gives the scale, as part of a sticker of the usual width.
    return side_of(sighting.corners_px) / (STICKER_MM * MODULES / STICKER_MODULES)


def _once(seen: Sequence[Spot]) -> Iterator[Spot]:
    """Yield each card once: of a mat from the photograph that shows most of it, from others only further stickers."""
    shows = Counter((card.lot, card.photo) for card in seen)
    first: dict[str, int] = {}
    for card in sorted(seen, key=lambda card: (card.lot.startswith(HEAP), -shows[card.lot, card.photo], card.photo)):
        main, sticker = first.setdefault(card.lot, card.photo), card.sighting.card
        if card.photo == (main if sticker is None else first.setdefault(sticker, card.photo)):
            yield card


def _certain(seen: Sequence[Spot], edition: Edition) -> Iterator[Spot]:
    """Yield the cards as far as they are certain, with what else of the deck they may be.

    Of a card of which there is one, read in several places of a photograph, only the clearest is.
    """
    clearest: dict[tuple[int, str], Spot] = {}
    for card in sorted(seen, key=lambda card: -card.sighting.confidence):
        clearest.setdefault((card.photo, _only(card, edition)), card)
    for card in seen:
        rivals = tuple(rival for rival in card.sighting.rivals if face_of(rival[0]) in edition.deck)
        sighting, name = replace(card.sighting, rivals=rivals), _only(card, edition)
        if name and clearest[card.photo, name] is not card:
            sighting = replace(sighting, face=Card.UNKNOWN, rivals=((any_copy(card.card), 0.0), *rivals))
        yield replace(card, sighting=sighting)


def _only(card: Spot, edition: Edition) -> str:
    """Return the name of a card of which there is only one: its sticker, or its face; empty for others."""
    return card.sighting.card or (card.card.value if edition.deck.get(card.card) == 1 else "")


def _lots(cards: Iterable[Spot], mats: Iterable[str]) -> Iterator[Lot]:
    """Yield the lots with their cards numbered; an empty mat is one, a heap without scoring cards is none."""
    spots: dict[str, list[Spot]] = {mat: [] for mat in mats}
    for card in cards:
        spots.setdefault(card.lot, []).append(card)
    every = [Lot(key, tuple(_in_order(heap)), any(card.is_beside for card in heap)) for key, heap in spots.items()]
    counted = (lot for lot in every if lot.has_mat or lot.scoring)
    lots = sorted(counted, key=lambda lot: (lot.is_beside, not lot.has_mat, [*map(int, lot.key.split("-")[1:])]))
    in_order = sorted((spot for lot in lots for spot in lot.spots), key=lambda spot: not spot.matters)
    numbers = {spot.key: number for number, spot in enumerate(in_order, start=1)}
    for lot in lots:
        yield _upright(replace(lot, spots=tuple(replace(spot, number=numbers[spot.key]) for spot in lot.spots)))


def _in_order(spots: Iterable[Spot]) -> Iterator[Spot]:
    """Yield distances first, from the longest down, then the safeties, and last what does not count.

    Those of one face come as they lie, from the top down or from left to right.
    """
    for _face, alike in groupby(sorted(spots, key=_rank), _rank):
        row = list(alike)
        along = max((0, 1), key=lambda axis: float(np.ptp([spot.centre_px[axis] for spot in row])))
        yield from sorted(row, key=lambda spot: spot.centre_px[along])


def _rank(spot: Spot) -> tuple[object, ...]:
    card = spot.likeliest
    return not spot.matters, card.family is not Family.DISTANCE, -card.km, list(Card).index(card), spot.photo


def _numbered(lots: Sequence[Lot]) -> Iterator[Lot]:
    """Yield the lots with the numbers of their sides, of which there are two at least; a mat's is its own."""
    unseen = (Lot(UNSEEN, ()) for _ in range(FEWEST_SIDES - sum(not lot.is_beside for lot in lots)))
    mats = {lot: int(lot.key.rpartition("-")[2]) for lot in lots if lot.has_mat}
    free = (number for number in count(1) if number not in mats.values())
    for lot in sorted((*lots, *unseen), key=lambda lot: lot.is_beside):
        number = mats.get(lot) or next(free)
        yield replace(lot, number=number, key=lot.key if lot.is_seen else f"{UNSEEN}-{number}")


def _upright(lot: Lot) -> Lot:
    """Return a heap with the way up that most of its cards have: a photograph has none."""
    others = [spot.sighting.sideways for spot in lot.spots if spot.card.family is not Family.SAFETY]
    if lot.has_mat or 2 * sum(others) <= len(others):
        return lot
    turned = ((spot, replace(spot.sighting, sideways=not spot.sighting.sideways)) for spot in lot.spots)
    return replace(lot, spots=tuple(replace(spot, sighting=sighting) for spot, sighting in turned))


def _notes(
    seen: Sequence[Spot], ours: Sequence[Spot], once: Sequence[Spot], photos: Sequence[Photo], edition: Edition
) -> Iterator[str]:
    strange = Counter(card.sighting.face for card in seen if card not in ours)
    if strange:
        terms = {card_term(card, edition.name): count for card, count in strange.items()}
        named = [say("%(number)d × %(card)s", number=count, card=card) for card, count in terms.items()]
        title = Said(edition.title)
        yield say("Not in the deck of %(edition)s, and not counted: %(cards)s.", edition=title, cards=listed(named))
    for lot in sorted({card.lot for card in ours if card.lot.startswith("side-")}):
        shown = sorted({card.photo for card in ours if card.lot == lot})
        if len(shown) > 1:
            main = Counter(card.photo for card in once if card.lot == lot).most_common(1)[0][0]
            yield say_many(
                "%(side)s is on %(count)d photograph: %(photo)s shows most of it and counts.",
                "%(side)s is on %(count)d photographs: %(photo)s shows most of it and counts.",
                len(shown),
                side=Lot(lot, (), number=int(lot.rpartition("-")[2])).name,
                photo=photos[main].name,
            )
    yield from dict.fromkeys(said for photo in photos if (said := photo.view.about_same_stickers))
    again = [card for card in ours if card not in once and not card.lot.startswith("side-")]
    if again:
        yield say_many(
            "One card was on a photograph before and counted there.",
            "%(count)d cards were on a photograph before and counted there.",
            len(again),
        )
    bare = [photo.name for photo in photos if not photo.view.sightings]
    for name in bare if len(bare) < len(photos) else ():
        yield say(
            "No card was read on %(photo)s: if cards lie there, photograph them from nearer by and with more light.",
            photo=name,
        )


def _twice(lots: Sequence[Lot], photos: Sequence[Photo], edition: Edition) -> Iterator[str]:
    """Yield a sentence for each two photographs that show the same cards, not on the same mat."""
    for one, other in combinations([lot for lot in lots if lot.scoring and not lot.is_beside], 2):
        first, second = (photos[lot.scoring[0].photo].name for lot in (one, other))
        cards, others = (Counter(spot.likeliest for spot in lot.scoring) for lot in (one, other))
        # Alike are those that share a card of which the deck has only one, or have the same several cards.
        shares_one = any(edition.deck[card] == 1 for card in cards & others if card is not Card.UNKNOWN)
        is_alike = shares_one or (cards == others and cards.total() >= FEWEST_ALIKE)
        if first != second and not (one.has_mat and other.has_mat) and is_alike:
            yield say(
                "The same cards seem to lie on %(first)s and %(second)s: let them count once only.",
                first=first,
                second=second,
            )
