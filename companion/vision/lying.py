"""Cards told by their faces, frame after frame: read when they are laid, remembered while others lie over them.

Two cards with one face look alike. When a card is told a little beside where one like it lay, what shows of the old one
around it tells whether there are two by now or one was pushed: it is compared with how it looked before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from companion.rules.cards import Card
from companion.vision.borders import settled
from companion.vision.boxes import Box, Image
from companion.vision.faces import FaceSeen, read_faces, told_again
from companion.vision.mats import Floats, Mats, as_quad
from companion.vision.opencv import cv2
from companion.vision.rims import Borders, borders_of
from companion.vision.templates import Templates
from companion.vision.view import Quad, Sighting

FACE = "face"
SAME_MM, SAME_DEG = 1.0, 1.5
"""A card of one face that is seen so near to where one like it lay, and turned so nearly alike, is that card."""

UNTOUCHED_MM, UNTOUCHED_DEG = 5.0, 8.0
"""The same where nothing has moved: noise alone lets it be seen a little elsewhere."""

LOOKS = 3
"""A card that was not seen on so many looks is forgotten: before that a hand may have been over it."""

OVER_MM = 12.0
"""What cannot be told and lies so near to a remembered card is that card, half hidden."""


@dataclass(frozen=True, slots=True, eq=False)
class Lain:
    """A card that was told by its face, as it was seen last."""

    sighting: Sighting
    mat: str
    corners_mm: Floats
    """On its mat, `(4, 2)`."""

    borders: Borders
    """How its borders looked."""

    is_whole: bool
    """Nothing covered it."""

    missed: int = 0
    """On so many looks one after the other it was not seen where it lay."""


def look_at_faces(
    image: Image,
    mats: Mats,
    templates: Templates,
    where: Sequence[Box] | None,
    before: Sequence[Lain],
    *,
    beneath: bool,
    untouched: bool = False,
) -> tuple[tuple[Sighting, ...], tuple[Lain, ...]]:
    """The cards in boxes of a picture (None: all of it), and what is to be remembered of them.

    `before` are those that lay there; the ones that are partly covered by now are still seen where what shows of them
    looks as it did. With `beneath` cards that were never seen whole are looked for too; `untouched` says that nothing
    has moved since.
    """
    told = read_faces(image, templates, mats, where=where, beneath=beneath)
    above: list[Quad] = [seen.corners_px for seen in told]
    now = [settled(mats, sighted(seen, mats)) for seen in told]
    old = [lain for lain in before if not any(_is_same(lain, s, mats, untouched) for s in now)]
    kept = [still for lain in old if (still := _still(lain, image, mats, above)) is not None]
    now = [s for s in now if s.face is not Card.UNKNOWN or not any(_is_over(card, s, mats) for card in kept)]
    now = [replace(s, is_double=_may_be_double(s, image, mats, above, old, kept)) for s in now]
    lain = [_lain(image, mats, s, above[: above.index(s.corners_px)]) for s in now if s.corners_px is not None]
    still = {id(card.borders) for card in kept}
    missed = [replace(card, missed=card.missed + 1) for card in old if id(card.borders) not in still]
    waited_for = [card for card in missed if card.missed < LOOKS]
    return (*now, *(card.sighting for card in kept)), (*(c for c in lain if c is not None), *kept, *waited_for)


def look_again(image: Image, mats: Mats, templates: Templates, before: Sequence[Lain]) -> tuple[Lain, ...] | None:
    """The same cards told once more where they lie; None where some does not show what it did.

    What is partly covered was not told by this frame, and stays as it was.
    """
    if any(lain.missed for lain in before):
        return None
    quads = [lain.sighting.corners_px for lain in before if lain.is_whole and lain.sighting.corners_px is not None]
    again = iter(told_again(image, templates, mats, quads))
    lain: list[Lain] = []
    for card in before:
        seen = next(again) if card.is_whole and card.sighting.corners_px is not None else None
        if card.is_whole and (seen is None or seen.face is not card.sighting.face):
            return None
        confidence = card.sighting.confidence if seen is None else seen.confidence
        lain.append(replace(card, sighting=replace(card.sighting, confidence=confidence)))
    return tuple(lain)


def sighted(seen: FaceSeen, mats: Mats) -> Sighting:
    """A card that was told as a sighting: its zone, and whether it lies sideways on its mat, or else on the picture."""
    fit = mats.at(seen.centre_px)
    corners = fit.to_mm(seen.corners_px) if fit else np.array(seen.corners_px)
    up = corners[0] + corners[1] - corners[2] - corners[3]
    return Sighting(
        face=seen.face,
        card=None,
        centre_px=seen.centre_px,
        corners_px=seen.corners_px,
        zone=fit.zone_at(seen.centre_px) if fit else None,
        sideways=bool(abs(up[0]) > abs(up[1])),
        confidence=seen.confidence,
        by=FACE,
        rivals=tuple((any_copy(face), confidence) for face, confidence in seen.rivals),
    )


def any_copy(face: Card) -> str:
    """A physical card of which only the face is known, where its name is asked for."""
    return f"{face.value}-00"


def _is_same(lain: Lain, sighting: Sighting, mats: Mats, untouched: bool) -> bool:
    """Whether a card that is told now lies exactly where one like it lay."""
    fit = mats.of(lain.mat)
    if fit is None or sighting.corners_px is None or sighting.face is not lain.sighting.face:
        return False
    now = fit.to_mm(sighting.corners_px)
    off_deg = abs((_turn_deg(now) - _turn_deg(lain.corners_mm) + 180) % 360 - 180)
    most_mm, most_deg = (UNTOUCHED_MM, UNTOUCHED_DEG) if untouched else (SAME_MM, SAME_DEG)
    return bool(np.hypot(*(now - lain.corners_mm).mean(axis=0)) <= most_mm and off_deg <= most_deg)


def _turn_deg(corners: Floats) -> float:
    right, down = corners[1] - corners[0]
    return math.degrees(math.atan2(down, right))


def _may_be_double(
    sighting: Sighting, image: Image, mats: Mats, above: Sequence[Quad], old: Sequence[Lain], kept: Sequence[Lain]
) -> bool:
    """Whether one like it lay a little beside, and it cannot be told whether that one is beneath it now."""
    still = {id(card.borders) for card in kept}
    alike = (card for card in old if card.sighting.face is sighting.face and id(card.borders) not in still)
    near = (card for card in alike if _is_over(card, sighting, mats))
    fits = ((card, mats.of(card.mat)) for card in near)
    return any(
        fit is not None and card.borders.still_there(borders_of(image, fit, card.corners_mm, above)) is None
        for card, fit in fits
    )


def _is_over(lain: Lain, sighting: Sighting, mats: Mats) -> bool:
    """Whether what cannot be told is a remembered card of which less shows than before."""
    fit = mats.of(lain.mat)
    if fit is None or sighting.corners_px is None:
        return False
    return bool(np.hypot(*(fit.to_mm([sighting.centre_px])[0] - lain.corners_mm.mean(axis=0))) <= OVER_MM)


def _lain(image: Image, mats: Mats, sighting: Sighting, above: Sequence[Quad]) -> Lain | None:
    fit = mats.at(sighting.centre_px)
    if fit is None or sighting.corners_px is None or sighting.face is Card.UNKNOWN:
        return None
    corners_mm = fit.to_mm(sighting.corners_px)
    borders = borders_of(image, fit, corners_mm, above)
    return Lain(sighting, fit.layout.id, corners_mm, borders, not any(_overlap(sighting.corners_px, q) for q in above))


def _still(lain: Lain, image: Image, mats: Mats, above: Sequence[Quad]) -> Lain | None:
    """A card that was not told again, where its borders look as they did; None where they do not, or are covered."""
    fit = mats.of(lain.mat)
    if fit is None or not lain.borders.still_there(borders_of(image, fit, lain.corners_mm, above)):
        return None
    corners = as_quad(fit.to_px(lain.corners_mm))
    x, y = np.mean(corners, axis=0)
    sighting = replace(lain.sighting, centre_px=(float(x), float(y)), corners_px=corners)
    is_whole = lain.is_whole and not any(_overlap(corners, quad) for quad in above)
    return replace(lain, missed=0, sighting=sighting, is_whole=is_whole)


def _overlap(one: Quad, other: Quad) -> bool:
    shared, _ = cv2.intersectConvexConvex(np.float32(one), np.float32(other))
    return bool(shared > 0)
