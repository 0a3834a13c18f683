"""Which faces cards show that were cut out together: by likeness to decks known here, and by their places.

A card is named for sure only by its own edition: a deck by whose faces most of the others are identified too. Whatever
else is likely, another edition's picture or the place in the rows, is for people to confirm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from companion.rules.cards import Card
from companion.tabletop.template_decks import Subject
from companion.vision.boxes import Image, lab
from companion.vision.faces.face_detector import is_identified
from companion.vision.faces.face_templates import FINE_PX_PER_MM, Templates, pixels
from companion.vision.faces.matching import Closely, Lie, Named
from companion.vision.opencv import cv2

MOST_LIKELY = 3  # maximum number of names offered for a card
_FEWEST_ALIKE, _SHARE_ALIKE = 3, 0.5
"""Minimum number, and share, of the cards that a deck identifies if it is their edition."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a card may show."""

    likely: tuple[Subject, ...]  # faces, or None for a back, likeliest first
    is_sure: bool = False
    is_by_place: bool = False  # True if the first is only what should lie in its place, and nothing speaks against it


class _Told:
    """The cards compared with one deck, by their places."""

    def __init__(self, deck: Templates, named: Mapping[int, Named]) -> None:
        self.named = named
        self.sure = {place: one.face for place, one in named.items() if is_identified(one, deck)}


def guesses(
    pictures: Mapping[int, Image], decks: Sequence[Templates], order: Sequence[Subject], wanted: Sequence[Subject]
) -> dict[int, Guess]:
    """Return what each card shows, by its place; `order` is what should lie in each place, empty where none is known.

    `pictures` are `(H, W, 3) uint8 BGR`, each filled by one card; `wanted` are the faces that they may show.
    """
    told = [_Told(deck, {place: _named(picture, deck) for place, picture in pictures.items()}) for deck in decks]
    edition = max(told, key=lambda one: len(one.sure), default=None)
    is_theirs = edition is not None and len(edition.sure) >= max(_FEWEST_ALIKE, _SHARE_ALIKE * len(pictures))
    sources = [edition] if edition is not None and is_theirs else told
    sure = sources[0].sure if is_theirs else {}
    twice = {face for face, count in Counter(sure.values()).items() if count > 1}
    sure = {place: face for place, face in sure.items() if face not in twice and face in wanted}
    left = [subject for subject in wanted if subject not in sure.values()]
    found = {place: Guess((face,), is_sure=True) for place, face in sure.items()}
    for place in pictures.keys() - sure.keys():
        alike = _likeliest([one.named[place] for one in sources], left)
        by_place = order[place : place + 1]
        is_moved = is_theirs or any(place in one.sure and one.sure[place] not in by_place for one in told)
        here = [subject for subject in by_place if subject in left]
        likely = [*alike, *here] if is_moved else [*here, *alike]
        found[place] = Guess(tuple(dict.fromkeys(likely))[:MOST_LIKELY], is_by_place=bool(here) and not is_moved)
    return found


def _named(picture: Image, deck: Templates) -> Named:
    """Return a card's picture compared with every face of a deck."""
    size = pixels(deck.size_mm, FINE_PX_PER_MM)
    fine = lab(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
    return Closely(fine, deck).compared(Lie((size[0] - 1) / 2, (size[1] - 1) / 2, 0.0))


def _likeliest(told: Sequence[Named], left: Sequence[Subject]) -> list[Subject]:
    """Return the faces that a card is most like in any deck, the best first."""
    best: dict[Card | None, float] = {}
    for named in told:
        for face, score in named.ranking:
            best[face] = max(score, best.get(face, 0.0))
    return sorted((face for face in best if face in left), key=lambda face: -best[face])
