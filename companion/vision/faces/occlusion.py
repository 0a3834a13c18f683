"""Cards told by their faces, frame after frame: read when they are laid, remembered while others lie over them.

Two cards with one face look alike. When a card is told a little beside where one like it lay, what shows of the old one
around it tells whether there are two by now or one was pushed: it is compared with how it looked before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from companion.rules.cards import Card
from companion.tabletop.card_ids import any_copy
from companion.vision.boxes import Box, Image
from companion.vision.faces.border_profile import Borders, borders_of
from companion.vision.faces.face_detector import FaceSeen, read_faces, told_again
from companion.vision.faces.face_templates import Templates
from companion.vision.mats.homography import lies_sideways
from companion.vision.mats.localization import Floats, Mats, as_quad
from companion.vision.mats.zone_borders import settled
from companion.vision.opencv import cv2
from companion.vision.view import FACE, Quad, Sighting

SAME_MM, SAME_DEG = 1.0, 1.5
"""A card of one face that is seen so near to where one like it lay, and turned so nearly alike, is that card."""

TO_A_HAIR_MM, TO_A_HAIR_DEG = 0.25, 0.5
"""No hand lays a card so exactly upon one like it: that one has come to light."""

UNTOUCHED_MM, UNTOUCHED_PILE_MM = 5.0, 20.0
"""The same where nothing has moved, however it seems to be turned: a pale card's edges are found badly. On a pile
nothing like it can show so near."""

PILES = ("battle", "speed", "discard")

PUSHED_MM, PUSHED_DEG = 2.5, 3.0
"""The same where its mat has been pushed: where that lies now is told anew, and less surely at first."""

MAT_MOVED_MM = 0.5
DRIFT_MM = 6.0
"""So far at most cards are pushed together with their mat before it is told anew where that lies."""

DRIFT_AGREES_MM = 0.8
LEAST_DRIFTING, DRIFTING_SHARE = 2, 2 / 3
"""So many cards of a mat, and such a share of them, are seen moved alike where all of it has been pushed."""

LOOKS = 3
"""A card that was not seen on so many looks is beneath others, or gone: before that a hand may have been over it."""

MOST_BURIED = 60
MOST_AT_ONCE = 1000
"""No more cards than this are told on one look."""

UPON_SHARE = 0.3
"""A card lies upon another where it covers so much of it."""

NOWHERE: Quad = ((0.0, 0.0),) * 4

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

    order: int
    """Its own number, higher than those of all that lie beneath it."""

    upon: frozenset[int] = frozenset()
    """The orders of those that have been seen to lie on it."""

    missed: int = 0
    """On so many looks one after the other it was not seen where it lay."""

    @property
    def is_buried(self) -> bool:
        """Whether it counts as lying beneath others, or gone."""
        return self.missed >= LOOKS


def look_at_faces(
    image: Image,
    mats: Mats,
    templates: Templates,
    where: Sequence[Box] | None,
    before: Sequence[Lain],
    *,
    look: int,
    beneath: bool,
    untouched: Collection[str] = (),
) -> tuple[tuple[Sighting, ...], tuple[Lain, ...]]:
    """The cards in boxes of a picture (None: all of it), and what is to be remembered of them.

    `before` are those that lay there; the ones that are partly covered by now are still seen where what shows of them
    looks as it did. `look` is a higher number each time. With `beneath` cards that were never seen whole are looked for
    too; in the zones `untouched` nothing has moved since.
    """
    seen = read_faces(image, templates, mats, where=where, beneath=beneath)
    told = [settled(mats, sighted(each, mats)) for each in seen]
    return _Look(image, mats, before, told, untouched).made_out(look)


class _Look:
    """One look at cards: what is told now against what lay there before."""

    def __init__(
        self, image: Image, mats: Mats, before: Sequence[Lain], told: Sequence[Sighting], untouched: Collection[str]
    ) -> None:
        """`told` are those that lie on top first."""
        self._image, self._mats, self._told = image, mats, told
        self._before = _pushed_with_mats(before, told, mats)
        self._above = [s.corners_px or NOWHERE for s in told]
        self._untouched = untouched
        self._votes: dict[int, bool | None] = {}

    def made_out(self, look: int) -> tuple[tuple[Sighting, ...], tuple[Lain, ...]]:
        """The cards that lie there, and what is to be remembered of them."""
        same = self._same()
        old = _not_taken_off(self._before, list(same.values()))
        kept = self._kept(old, list(same.values()))
        still = {card.order for card in kept}
        shown: list[Sighting] = []
        lain: list[Lain] = []
        for at, s in enumerate(self._told):
            if s.face is Card.UNKNOWN and any(_is_over(card, s, self._mats) for card in kept):
                continue
            if at in same and s.zone in self._untouched:
                # Nothing has moved: where it lies was found as well the first time.
                s = replace(self._as_it_lies_now(same[at]).sighting, confidence=s.confidence)
            order = same[at].order if at in same else MOST_AT_ONCE * look - at
            is_double = same[at].sighting.is_double if at in same else self._may_be_double(s, old, still)
            shown.append(replace(s, is_double=is_double, stay=order))
            lain += self._lain(shown[-1], at, order)
        here = [*lain, *kept]
        upon = {card.order: card.upon for card in self._before}
        over = {c.order: {upper.order for upper in here if _lies_upon(upper, c)} for c in here}
        here = [replace(c, upon=upon.get(c.order, c.upon) | over[c.order]) for c in here]
        gone = {card.order for at, s in enumerate(self._told) if at not in same for card in self._pushed_from(s, old)}
        missed = [replace(card, missed=card.missed + 1) for card in old if card.order not in still | gone]
        return (*shown, *(card.sighting for card in kept)), (*here, *missed[-MOST_BURIED:])

    def _same(self) -> dict[int, Lain]:
        """Which of the cards that lay there before the told ones are, by their numbers."""
        same: dict[int, Lain] = {}
        for at, s in enumerate(self._told):
            left = (lain for lain in self._before if lain not in same.values())
            found = next((lain for lain in left if self._is_same(lain, s)), None)
            if found is None:
                continue
            off_mm, off_deg = self._off(found, s)
            is_to_a_hair = off_mm <= TO_A_HAIR_MM and off_deg <= TO_A_HAIR_DEG
            if is_to_a_hair or not self._lies_upon_it(at, found):
                same[at] = found
        return same

    def _lies_upon_it(self, at: int, lain: Lain) -> bool:
        """Whether a card with nothing on it cannot be the one that lay just there: others lie on that one."""
        on_top = not any(_overlap(self._above[at], quad) for quad in self._above[:at])
        covered = [card for card in self._before if _lies_upon(card, lain)] if on_top else []
        return any(self._still_there(card) is not False for card in covered)

    def _kept(self, old: Sequence[Lain], same: Sequence[Lain]) -> list[Lain]:
        """Of the cards that were not told again those that still lie there.

        What lies beneath a card that has not moved has not moved either.
        """
        firm, kept = {card.order for card in same}, []
        for card in sorted(old, key=lambda card: -card.order):
            if card.upon & firm or (not card.is_buried and self._still_there(card)):
                firm.add(card.order)
                kept.append(self._as_it_lies_now(card))
        return kept

    def _still_there(self, lain: Lain) -> bool | None:
        """Whether a card's borders look as they did; None where that cannot be told."""
        if lain.order not in self._votes:
            fit = self._mats.of(lain.mat)
            now = None if fit is None else borders_of(self._image, fit, lain.corners_mm, self._above)
            alike = any(s.face is lain.sighting.face and _is_over(lain, s, self._mats) for s in self._told)
            vote = None if now is None else lain.borders.still_there(now, all_agree=alike)
            self._votes[lain.order] = vote
        return self._votes[lain.order]

    def _as_it_lies_now(self, lain: Lain) -> Lain:
        fit = self._mats.of(lain.mat)
        if fit is None:
            return lain
        corners = as_quad(fit.to_px(lain.corners_mm))
        x, y = np.mean(corners, axis=0)
        sighting = replace(lain.sighting, centre_px=(float(x), float(y)), corners_px=corners)
        is_whole = lain.is_whole and not any(_overlap(corners, quad) for quad in self._above)
        return replace(lain, missed=0, sighting=sighting, is_whole=is_whole)

    def _is_same(self, lain: Lain, sighting: Sighting) -> bool:
        """Whether a card that is told now lies exactly where one like it lay."""
        fit = self._mats.of(lain.mat)
        if fit is None or sighting.face is not lain.sighting.face:
            return False
        off_mat = fit.to_px(lain.corners_mm) - np.asarray(lain.sighting.corners_px)
        was_moved = float(np.hypot(*off_mat.mean(axis=0))) > MAT_MOVED_MM * fit.px_per_mm
        zone = lain.sighting.zone or ""
        untouched_mm = UNTOUCHED_PILE_MM if zone.partition("/")[2] in PILES else UNTOUCHED_MM
        nearly = (untouched_mm, 180.0) if zone in self._untouched else (SAME_MM, SAME_DEG)
        most_mm, most_deg = (PUSHED_MM, PUSHED_DEG) if was_moved else nearly
        off_mm, off_deg = self._off(lain, sighting)
        return off_mm <= most_mm and off_deg <= most_deg

    def _off(self, lain: Lain, sighting: Sighting) -> tuple[float, float]:
        """By how many millimetres and degrees a card lies elsewhere than one did: on the mat, or on the picture.

        A mat is told anew after each push: what lies in the same place of the picture has not moved either.
        """
        fit = self._mats.of(lain.mat)
        if fit is None or sighting.corners_px is None:
            return math.inf, math.inf
        now = fit.to_mm(sighting.corners_px)
        on_picture_mm = math.dist(lain.sighting.centre_px, sighting.centre_px) / fit.px_per_mm
        on_mat_mm = float(np.hypot(*(now - lain.corners_mm).mean(axis=0)))
        return min(on_mat_mm, on_picture_mm), _turned_deg(now, lain.corners_mm)

    def _may_be_double(self, sighting: Sighting, old: Sequence[Lain], still: Collection[int]) -> bool:
        """Whether one like it lay there or nearly, and it cannot be told whether that one is beneath it now.

        Where one like it has gone that lay on top, it is that one, pushed.
        """
        alike = [
            card
            for card in old
            if card.sighting.face is sighting.face
            and card.order not in still
            and not card.is_buried
            and _is_over(card, sighting, self._mats)
        ]
        if any(card.is_whole and self._still_there(card) is False for card in alike):
            return False
        return any(self._still_there(card) is None for card in alike)

    def _pushed_from(self, sighting: Sighting, old: Sequence[Lain]) -> Iterator[Lain]:
        """Those like it that lay there with nothing on them and have gone: it is one of them, pushed.

        One look does not tell: the hand that lays a card hides what lies under it.
        """
        for card in old:
            alike = card.sighting.face is sighting.face and card.is_whole and 0 < card.missed < LOOKS
            quads = card.sighting.corners_px, sighting.corners_px
            if alike and quads[0] and quads[1] and _overlap(quads[0], quads[1]) and self._still_there(card) is False:
                yield card

    def _lain(self, sighting: Sighting, at: int, order: int) -> Iterator[Lain]:
        fit = self._mats.at(sighting.centre_px)
        if fit is None or sighting.corners_px is None or sighting.face is Card.UNKNOWN:
            return
        corners_mm = fit.to_mm(sighting.corners_px)
        borders = borders_of(self._image, fit, corners_mm, self._above[:at])
        is_whole = not any(_overlap(sighting.corners_px, quad) for quad in self._above[:at])
        yield Lain(sighting, fit.layout.id, corners_mm, borders, is_whole, order)


def _pushed_with_mats(before: Sequence[Lain], told: Sequence[Sighting], mats: Mats) -> list[Lain]:
    """What is remembered, moved with the mats that have been pushed with all that lies on them."""
    drifts = {
        mat: _drift_mm([lain for lain in before if lain.mat == mat], told, mats) for mat in {b.mat for b in before}
    }
    return [replace(lain, corners_mm=lain.corners_mm + drifts[lain.mat]) for lain in before]


def _drift_mm(before: Sequence[Lain], told: Sequence[Sighting], mats: Mats) -> Floats:
    """By how much the cards of one mat lie elsewhere than they did, all alike: nothing, or to the right and down."""
    shifts = np.array([shift for s in told if (shift := _shift_mm(before, s, mats)) is not None]).reshape(-1, 2)
    middle = np.median(shifts, axis=0) if len(shifts) else np.zeros(2)
    agreeing = np.hypot(*(shifts - middle).T) <= DRIFT_AGREES_MM
    is_pushed = agreeing.sum() >= max(LEAST_DRIFTING, DRIFTING_SHARE * len(shifts))
    drift: Floats = shifts[agreeing].mean(axis=0) if is_pushed else np.zeros(2)
    return drift if np.hypot(*drift) > MAT_MOVED_MM else np.zeros(2)


def _shift_mm(before: Sequence[Lain], sighting: Sighting, mats: Mats) -> Floats | None:
    """From where one like it lay nearest, as far as a mat is pushed, to where a card is seen."""
    fit = mats.at(sighting.centre_px)
    if fit is None or sighting.corners_px is None:
        return None
    now = fit.to_mm(sighting.corners_px)
    alike = (lain for lain in before if lain.sighting.face is sighting.face and lain.mat == fit.layout.id)
    near = (lain for lain in alike if not lain.missed and _turned_deg(now, lain.corners_mm) <= PUSHED_DEG)
    shifts = [(now - lain.corners_mm).mean(axis=0) for lain in near]
    nearest: Floats | None = min(shifts, key=lambda shift: float(np.hypot(*shift)), default=None)
    return nearest if nearest is not None and np.hypot(*nearest) <= DRIFT_MM else None


def _not_taken_off(before: Sequence[Lain], told: Sequence[Lain]) -> list[Lain]:
    """The remembered cards that were not told again, without those that must have been taken off one that was.

    A card that shows whole again where it lay beneath others lies there with nothing on it.
    """
    bared = [lain for lain in told if lain.missed or not lain.is_whole]
    return [lain for lain in before if lain not in told and not any(_lies_upon(lain, low) for low in bared)]


def _lies_upon(upper: Lain, lower: Lain) -> bool:
    """Whether a card was laid upon another, as they were seen last."""
    is_later = upper.order > lower.order and upper.mat == lower.mat
    return is_later and share_covered(lower.corners_mm, upper.corners_mm) >= UPON_SHARE


def look_again(image: Image, mats: Mats, templates: Templates, before: Sequence[Lain]) -> tuple[Lain, ...] | None:
    """The same cards told once more where they lie; None where some does not show what it did.

    What is partly covered was not told by this frame, and stays as it was.
    """
    if any(lain.missed and not lain.is_buried for lain in before):
        return None
    whole = {
        lain.order for lain in before if lain.is_whole and not lain.missed and lain.sighting.corners_px is not None
    }
    quads = [lain.sighting.corners_px for lain in before if lain.order in whole and lain.sighting.corners_px]
    again = iter(told_again(image, templates, mats, quads))
    lain: list[Lain] = []
    for card in before:
        seen = next(again) if card.order in whole else None
        if card.order in whole and (seen is None or seen.face is not card.sighting.face):
            return None
        confidence = card.sighting.confidence if seen is None else seen.confidence
        lain.append(replace(card, sighting=replace(card.sighting, confidence=confidence)))
    return tuple(lain)


def sighted(seen: FaceSeen, mats: Mats) -> Sighting:
    """A card that was told as a sighting: its zone, and whether it lies sideways on its mat, or else on the picture."""
    fit = mats.at(seen.centre_px)
    return Sighting(
        face=seen.face,
        card=None,
        centre_px=seen.centre_px,
        corners_px=seen.corners_px,
        zone=fit.zone_at(seen.centre_px) if fit else None,
        sideways=lies_sideways(seen.corners_px, fit),
        confidence=seen.confidence,
        by=FACE,
        rivals=tuple((any_copy(face), confidence) for face, confidence in seen.rivals),
    )


def share_covered(lower: npt.ArrayLike, upper: npt.ArrayLike) -> float:
    """How much of one card lies under another, both by their corners `(4, 2)`."""
    one, other = np.asarray(lower, np.float32), np.asarray(upper, np.float32)
    shared, _ = cv2.intersectConvexConvex(one, other)
    return float(shared) / max(float(cv2.contourArea(one)), 1.0)


def _turned_deg(one: Floats, other: Floats) -> float:
    """Return by how much two cards with these corners `(4, 2)` are turned against each other, 0 to 180 degrees."""
    tops = (corners[1] - corners[0] for corners in (one, other))
    now, then = (math.degrees(math.atan2(down, right)) for right, down in tops)
    return abs((now - then + 180) % 360 - 180)


def _is_over(lain: Lain, sighting: Sighting, mats: Mats) -> bool:
    """Whether what cannot be told is a remembered card of which less shows than before."""
    fit = mats.of(lain.mat)
    if fit is None or sighting.corners_px is None:
        return False
    return bool(np.hypot(*(fit.to_mm([sighting.centre_px])[0] - lain.corners_mm.mean(axis=0))) <= OVER_MM)


def _overlap(one: Quad, other: Quad) -> bool:
    return share_covered(one, other) > 0
