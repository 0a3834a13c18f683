"""Count photographed cards by side, and list what to ask.

Zones of mats assign cards to sides. Without mats, cards form heaps, which people assign.
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

APART_MM = 150.0  # minimum distance between card centers of different heaps
SAME_PLACE_MM = 5.0  # two equal faces closer than this are one card
FEWEST_ALIKE = 3  # this many equal cards in two photographs are hardly chance
MOST_GUESSES = 3
LIKELY = 0.6  # minimum confidence to propose a guess
FEWEST_SIDES = 2
HEAP, UNSEEN = "heap", "unseen"
PILES = ("battle", "speed")  # zones whose cards do not score
_FITS = {"distance": (Family.DISTANCE, Family.SPECIAL), "safety": (Family.SAFETY,)}  # per scoring zone


@dataclass(frozen=True, slots=True)
class Photo:
    """A photograph and its view."""

    name: str
    size_px: tuple[int, int]
    view: View
    jpeg: bytes = b""  # reduced picture for the page
    file: bytes = b""  # as uploaded, to read again with another deck


@dataclass(frozen=True, slots=True)
class Spot:
    """A detected card, and its zone, on a photograph."""

    photo: int  # photograph index
    at: int  # index among its sightings, faces topmost first
    lot: str  # `Lot.key`
    pile: str  # zone: `battle`, `speed`, `distance`, `safety`, or empty
    sighting: Sighting
    is_beside: bool = False  # beside the mats
    number: int = 0  # on the picture, from 1 across photographs, cards that may score first

    @property
    def key(self) -> str:
        """Identifier (`1-7`), stable unless earlier photographs are removed."""
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
        """An unknown card's candidates by fit to the zone, then likelihood."""
        if self.is_sure:
            return ()
        cards, fits = dict.fromkeys(face_of(name) for name, _ in self.sighting.rivals), _FITS.get(self.pile, ())
        return tuple(sorted(cards, key=lambda card: card.family not in fits))[:MOST_GUESSES]

    @property
    def proposed(self) -> Card | None:
        """The first guess if likely enough to propose."""
        likely = [face_of(name) for name, confidence in self.sighting.rivals[:1] if confidence >= LIKELY]
        return next((card for card in likely if self.guesses[:1] == (card,)), None)

    @property
    def likeliest(self) -> Card:
        """The face read, else the first guess or UNKNOWN."""
        return self.card if self.is_sure else next(iter(self.guesses), Card.UNKNOWN)

    @property
    def matters(self) -> bool:
        """True if the card, or a guess for it, can score."""
        if self.is_sure:
            return scores(self.card)
        return self.pile not in PILES and (not self.guesses or any(map(scores, self.guesses)))


def scores(card: Card) -> bool:
    """True for distances, safeties and accelerators."""
    return card.family in (Family.DISTANCE, Family.SAFETY) or card is Card.ACCELERATOR


@dataclass(frozen=True, slots=True)
class Lot:
    """The cards of a side, or a heap without a mat."""

    key: str  # `side-1` for a mat, `heap-PHOTO-NUMBER`, or `unseen-2`
    spots: tuple[Spot, ...]
    is_beside: bool = False  # beside the mats; counts only on request
    number: int = 0  # of its side, or possible side

    @property
    def name(self) -> str:
        return say("Side %(number)d", number=self.number)

    @property
    def has_mat(self) -> bool:
        return self.key.startswith("side-")

    @property
    def is_seen(self) -> bool:
        return not self.key.startswith(UNSEEN)

    @property
    def scoring(self) -> tuple[Spot, ...]:
        """The cards that may score, numbered on the page."""
        return tuple(spot for spot in self.spots if spot.matters)

    @property
    def unsure(self) -> tuple[Spot, ...]:
        """The cards to ask about."""
        return tuple(spot for spot in self.scoring if not spot.is_sure)

    @property
    def doubled(self) -> Counter[Card]:
        """The distances doubled by accelerators: the nearest to each, used once."""
        free, chosen = list(self.of(Family.DISTANCE)), []
        for fast in (spot for spot in self.spots if spot.card is Card.ACCELERATOR):
            nearest = min(free, key=lambda spot: math.dist(spot.centre_px, fast.centre_px), default=None)
            if nearest is not None:
                free.remove(nearest)
                chosen.append(nearest.card)
        return Counter(chosen)

    def shows(self, pile: str) -> tuple[Card, ...]:
        """Return the known cards in `battle` or `speed`."""
        return tuple(spot.card for spot in self.spots if spot.pile == pile and spot.is_sure)

    def of(self, family: Family) -> tuple[Spot, ...]:
        return tuple(spot for spot in self.spots if spot.card.family is family)


@dataclass(frozen=True, slots=True)
class Tally:
    """All photographs together."""

    photos: tuple[Photo, ...]
    lots: tuple[Lot, ...]  # sides on mats in order, then heaps
    draw_pile_empty: bool | None = None  # None if not visible
    notes: tuple[str, ...] = ()  # sentences about cards that do not count

    @property
    def is_blank(self) -> bool:
        """True if photographs show no card."""
        return bool(self.photos) and not any(photo.view.sightings for photo in self.photos)


# --- From sightings to lots -----------------------------------------------------------------------------------


def tally(edition: Edition, photos: Sequence[Photo]) -> Tally:
    """Count cards by side, each sticker and mat once."""
    seen = [card for number, photo in enumerate(photos) for card in _on_photo(number, photo)]
    ours = [card for card in seen if card.sighting.face in (*edition.deck, Card.UNKNOWN)]
    once = list(_once(ours))
    told = [photo.view.draw_pile_empty for photo in photos if photo.view.draw_pile_empty is not None]
    mats = {mat.id for photo in photos for mat in photo.view.mats if mat.id.startswith("side-")}
    lots = tuple(_lots(_certain(once, edition), mats))
    notes = (*_notes(seen, ours, once, photos, edition), *_twice(lots, photos, edition))
    return Tally(tuple(photos), tuple(_numbered(lots)), any(told) if told else None, notes)


def _on_photo(number: int, photo: Photo) -> Iterator[Spot]:
    """Yield a photograph's cards, except those on the shared mat."""
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
    """Yield indices and sightings, without duplicates of a face in one place."""
    for index, sighting in enumerate(sightings):
        near = SAME_PLACE_MM * _px_per_mm(sighting)
        same = [s for s in sightings[:index] if s.by == sighting.by == FACE and s.face is sighting.face]
        if not any(math.dist(sighting.centre_px, earlier.centre_px) < near for earlier in same):
            yield index, sighting


def _heaps(spots: Sequence[Spot]) -> list[list[Spot]]:
    """Return cards grouped into heaps, left to right or top to bottom."""
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
    """Return the scale at a card, 0 if unknown."""
    if sighting.corners_px is None:
        return 0.0
    if sighting.by == FACE:
        return min(math.dist(a, b) for a, b in pairwise((*sighting.corners_px, sighting.corners_px[0]))) / CARD_MM[0]
    # Assume a sticker of standard width.
    return side_of(sighting.corners_px) / (STICKER_MM * MODULES / STICKER_MODULES)


def _once(seen: Sequence[Spot]) -> Iterator[Spot]:
    """Yield each card once: a mat's from the photograph with most, new stickers from others."""
    shows = Counter((card.lot, card.photo) for card in seen)
    first: dict[str, int] = {}
    for card in sorted(seen, key=lambda card: (card.lot.startswith(HEAP), -shows[card.lot, card.photo], card.photo)):
        main, sticker = first.setdefault(card.lot, card.photo), card.sighting.card
        if card.photo == (main if sticker is None else first.setdefault(sticker, card.photo)):
            yield card


def _certain(seen: Sequence[Spot], edition: Edition) -> Iterator[Spot]:
    """Yield cards with rivals of the deck; of a unique card, only the clearest per photograph stays known."""
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
    """Return the sticker, or the face if unique in the deck, or empty."""
    return card.sighting.card or (card.card.value if edition.deck.get(card.card) == 1 else "")


def _lots(cards: Iterable[Spot], mats: Iterable[str]) -> Iterator[Lot]:
    """Yield a lot per mat, and per heap with scoring cards; number the cards, those first that may score."""
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
    """Yield distances from the longest down, safeties, then others; equal cards by position."""
    for _face, alike in groupby(sorted(spots, key=_rank), _rank):
        row = list(alike)
        along = max((0, 1), key=lambda axis: float(np.ptp([spot.centre_px[axis] for spot in row])))
        yield from sorted(row, key=lambda spot: spot.centre_px[along])


def _rank(spot: Spot) -> tuple[object, ...]:
    card = spot.likeliest
    return not spot.matters, card.family is not Family.DISTANCE, -card.km, list(Card).index(card), spot.photo


def _numbered(lots: Sequence[Lot]) -> Iterator[Lot]:
    """Yield at least two lots with side numbers; a mat keeps its own."""
    unseen = (Lot(UNSEEN, ()) for _ in range(FEWEST_SIDES - sum(not lot.is_beside for lot in lots)))
    mats = {lot: int(lot.key.rpartition("-")[2]) for lot in lots if lot.has_mat}
    free = (number for number in count(1) if number not in mats.values())
    for lot in sorted((*lots, *unseen), key=lambda lot: lot.is_beside):
        number = mats.get(lot) or next(free)
        yield replace(lot, number=number, key=lot.key if lot.is_seen else f"{UNSEEN}-{number}")


def _upright(lot: Lot) -> Lot:
    """Return a heap, turned if most cards are sideways: photographs have no fixed top."""
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
        yield say("Not counted, because %(edition)s has no such cards: %(cards)s.", edition=title, cards=listed(named))
    for lot in sorted({card.lot for card in ours if card.lot.startswith("side-")}):
        shown = sorted({card.photo for card in ours if card.lot == lot})
        if len(shown) > 1:
            main = Counter(card.photo for card in once if card.lot == lot).most_common(1)[0][0]
            yield say_many(
                "%(side)s is on %(count)d photo: %(photo)s shows most of it and counts.",
                "%(side)s is on %(count)d photos: only %(photo)s counts, which shows most of it.",
                len(shown),
                side=Lot(lot, (), number=int(lot.rpartition("-")[2])).name,
                photo=photos[main].name,
            )
    yield from dict.fromkeys(said for photo in photos if (said := photo.view.about_same_stickers))
    again = [card for card in ours if card not in once and not card.lot.startswith("side-")]
    if again:
        yield say_many(
            "One card is also on an earlier photo and is counted only once.",
            "%(count)d cards are also on an earlier photo and are counted only once.",
            len(again),
        )
    bare = [photo.name for photo in photos if not photo.view.sightings]
    for name in bare if len(bare) < len(photos) else ():
        yield say(
            "No card could be read on %(photo)s: if it shows cards, take it again closer up and with more light.",
            photo=name,
        )


def _twice(lots: Sequence[Lot], photos: Sequence[Photo], edition: Edition) -> Iterator[str]:
    """Yield a sentence per pair of photographs with the same cards, unless both are on mats."""
    for one, other in combinations([lot for lot in lots if lot.scoring and not lot.is_beside], 2):
        first, second = (photos[lot.scoring[0].photo].name for lot in (one, other))
        cards, others = (Counter(spot.likeliest for spot in lot.scoring) for lot in (one, other))
        # They share a unique card, or are the same three or more cards.
        shares_one = any(edition.deck[card] == 1 for card in cards & others if card is not Card.UNKNOWN)
        is_alike = shares_one or (cards == others and cards.total() >= FEWEST_ALIKE)
        if first != second and not (one.has_mat and other.has_mat) and is_alike:
            yield say(
                "%(first)s and %(second)s seem to show the same cards: count them only once.",
                first=first,
                second=second,
            )
