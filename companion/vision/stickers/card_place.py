"""Learn where a deck's stickers are glued on its cards: a sticker then tells its card's rectangle.

Zones are little larger than cards. So the middle of a zone or distance column tells where the middle of a card in it
is: its x within a few mm, its y within 2 cm. The median over all cards seen is the place of the deck's stickers. It
needs no edges of cards, which burnt-out pictures do not show. It is not saved, as the first card already gives half.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from companion.tabletop.mat_layout import CARD_MM, Rect, kind_of, mat_of
from companion.vision.boxes import Floats
from companion.vision.faces.remembered_cards import share_covered
from companion.vision.mats.homography import Fit, as_quad, axes_of, lies_sideways
from companion.vision.mats.localization import Mats
from companion.vision.view import STICKER, Quad, Sighting


@dataclass(frozen=True)
class PlacePriors:
    """Standard deviations in mm, set by the sizes of cards, stickers and zones; and what is kept."""

    glued: tuple[float, float] = (10.0, 20.0)  # of a sticker's middle along its card's sides
    slack: float = 0.5  # of a card's middle in its zone, relative to the room on one side
    least: float = 3.0  # added to that
    habit: float = 4.0  # common to all cards: players do not aim at the middle
    moved: float = 15.0  # a card that has moved at least this far counts again
    most: int = 60  # cards kept, the last ones
    room: float = 2.0  # size of a code with its quiet zone and the error of a card's place, relative to the code


PRIORS = PlacePriors()
_KINDS = ("battle", "speed", "distance", "discard")  # zones with room for one card across, put there upright


class Sample(NamedTuple):
    """A card in a zone; pairs are along the sticker's x and y axis, in mm."""

    card: str
    zone: str
    at_mm: Floats  # the sticker's middle on its mat
    off_mm: Floats  # from there to the zone's middle
    precision: Floats  # 1/variance of the card's middle around the zone's
    is_sideways: bool


@dataclass(frozen=True)
class StickerPlace:
    """What is known about the place of stickers on their cards."""

    samples: tuple[Sample, ...] = ()

    def after(self, sightings: Iterable[Sighting], mats: Mats) -> StickerPlace:
        """Return what is known after another look."""
        known = {sample.card: sample for sample in self.samples}
        new = [one for one in _samples(sightings, mats) if not _lies_there(known.get(one.card), one)]
        return replace(self, samples=(*self.samples, *new)[-PRIORS.most :]) if new else self

    @cached_property
    def is_turned(self) -> bool:
        """True if stickers are glued on sideways: then most upright cards have sideways stickers."""
        return 2 * sum(sample.is_sideways for sample in self.samples) > len(self.samples)

    def _estimate(self, card: str | None) -> tuple[Floats, Floats]:
        """Return the way from a sticker's middle to its card's along its axes, and its deviation, in mm.

        A card says nothing about itself: between two zones it would be sure of the one it is first taken for.
        """
        prior = np.square(PRIORS.glued[::-1] if self.is_turned else PRIORS.glued)
        others = [sample for sample in self.samples if sample.card != card]
        if not others:
            return np.zeros(2), np.sqrt(prior)
        off = np.array([sample.off_mm for sample in others])
        precision = np.array([sample.precision for sample in others])
        total = precision.sum(axis=0) * 2 / np.pi  # a median's precision relative to a mean's
        share = total / (total + 1 / prior)
        middle = np.array([_weighted_median(off[:, axis], precision[:, axis]) for axis in (0, 1)])
        return middle * share, np.sqrt((1 - share) * prior + share * PRIORS.habit**2)

    def placed(self, mats: Mats, sighting: Sighting) -> Sighting:
        """Return a sticker's sighting with its card's corners, where a printed mat gives the scale."""
        fit = mats.at(sighting.centre_px)
        if sighting.by != STICKER or sighting.corners_px is None or fit is None or not fit.is_measured:
            return sighting
        (to_middle, deviation), (at_mm, axes) = self._estimate(sighting.card), axes_of(fit, sighting.corners_px)
        size = np.array(CARD_MM[::-1] if self.is_turned else CARD_MM)
        corners = to_middle + np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * size / 2
        return replace(
            sighting,
            card_px=as_quad(fit.to_px(at_mm + corners @ axes)),
            card_sd_mm=float(np.hypot(*deviation)),
            sideways=lies_sideways(sighting.corners_px, fit) is not self.is_turned,
        )


def covering(
    missed: Iterable[Sighting], found: Collection[Sighting], before: Iterable[Sighting], known: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the missed cards whose sticker another zone's card covers, and that card: new since `before`, or `known`.

    A play in another zone takes no card away. Covered cards of the same zone are left to the follower.
    """
    old = {(s.card, s.zone) for s in before}
    for lower, upper in product(missed, found):
        is_over = (upper.card, upper.zone) not in old or known.get(lower.card or "") == upper.card
        if is_over and lower.zone != upper.zone and lower.card and upper.card and lower.corners_px and upper.card_px:
            middle = np.array(lower.centre_px)
            room = middle + (np.array(lower.corners_px) - middle) * PRIORS.room
            if share_covered(room, upper.card_px) > 0:
                yield lower.card, upper.card


def _samples(sightings: Iterable[Sighting], mats: Mats) -> Iterator[Sample]:
    for s in sightings:
        if s.by == STICKER and s.card and s.corners_px and s.zone is not None and kind_of(s.zone) in _KINDS:
            fit = mats.of(mat_of(s.zone))
            sample = _sample(s.card, s.zone, fit, s.corners_px) if fit is not None and fit.is_measured else None
            if sample is not None:
                yield sample


def _sample(card: str, zone: str, fit: Fit, sticker: Quad) -> Sample | None:
    """Return what a card says; None if its sticker cannot be on a card in the middle of the zone."""
    at_mm, axes = axes_of(fit, sticker)
    rect, is_column = _slot(fit, zone, float(at_mm[0]))
    to_middle = rect.centre_mm - at_mm
    if (2 * np.abs(to_middle) > CARD_MM)[: 1 if is_column else 2].any():
        return None
    room = (np.array((rect.width_mm, rect.height_mm)) - CARD_MM) / 2
    precision = 1 / np.square(PRIORS.slack * room + PRIORS.least)
    if is_column:
        precision[1] = 0.0  # cards of a column lie one below the other
    is_sideways = lies_sideways(sticker, fit)
    return Sample(card, zone, at_mm, axes @ to_middle, precision[::-1] if is_sideways else precision, is_sideways)


def _slot(fit: Fit, zone: str, x_mm: float) -> tuple[Rect, bool]:
    """Return the rectangle for a card at x, a zone's or a distance column's, and if it is a column."""
    if kind_of(zone) == "distance" and fit.layout.columns:
        return min(fit.layout.columns, key=lambda column: abs(column.centre_mm[0] - x_mm)), True
    return fit.layout.zones[zone.partition("/")[2]], False


def _lies_there(before: Sample | None, now: Sample) -> bool:
    return (
        before is not None and before.zone == now.zone and float(np.hypot(*(before.at_mm - now.at_mm))) < PRIORS.moved
    )


def _weighted_median(values: Floats, weights: Floats) -> float:
    """Return the median of values with weights; 0 if all weights are 0."""
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(sums, sums[-1] / 2)]) if sums[-1] > 0 else 0.0
