"""Cards without stickers from frame to frame: identified when laid, kept while others lie over them.

Two cards with one face look alike. When one is seen a little beside where its like lay, the part of the old one that
still shows, compared with how it looked before, tells whether there are two now or one was pushed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import any_copy
from companion.vision.boxes import Box, Floats, Image, around
from companion.vision.faces.border_profile import OUTSIDE_MM, Borders, borders_of
from companion.vision.faces.face_detector import face_at, read_faces
from companion.vision.faces.face_templates import Templates
from companion.vision.faces.remembered_cards import (
    ANY_DEG,
    EXACT_MM,
    LOOKS,
    OVER_MM,
    PUSHED_DEG,
    PUSHED_MM,
    SAME_DEG,
    SAME_MM,
    UNTOUCHED_MM,
    UNTOUCHED_PILE_MM,
    UPON_SHARE,
    Lain,
    apart,
    ends_alike,
    is_like_upon,
    lies_upon,
    overhang_mm,
    overlap,
    quad_of,
    share_covered,
    sides_shared,
)
from companion.vision.mats.homography import Fit, as_quad
from companion.vision.mats.localization import Mats
from companion.vision.mats.zone_borders import settled
from companion.vision.view import Quad, Sighting

MISREAD_SHARE, MISREAD_BORDERS = 0.5, 6
"""Minimum share of a card over which its like is read wrongly, and the votes of its borders if it is: three of them
whole and just as before. A round sign was read 4° askew, a card on another 16 mm too far up."""

A_CORNER = 2
"""Number of borders that show a card beyond doubt, and that have to where its like covers it on a pile: its like is
seldom laid next there, and a single border may well be another card's. Distances are often laid on their likes."""

LEAST_LEAD = 0.1
"""Least lead of what shows of a card in likeness to it over cards of its pile that are out of sight: in 150 drawn piles
-0.3 to 0.08 where it had been pushed off, but for one, and 0.14 or more where it lay still, but for 9 of 49."""

BESIDE_MM = 24.0  # most between a card and its like that was pushed when it was laid: laid 12 mm beside, pushed by 12
MOST_LIFTED = 3  # number of cards that a hand takes off another between two looks: hazard, remedy and Roll, say
MOST_BURIED = 60
MOST_AT_ONCE = 1000  # cards identified on one look

MAT_MOVED_MM, DRIFT_MM = SAME_MM / 2, 6.0  # least and most that cards move together with their mat before it is located
DRIFT_AGREES_MM = 0.8
LEAST_DRIFTING, DRIFTING_SHARE = 2, 2 / 3  # of a mat's cards that have moved alike if all of it was pushed


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
    outlines: Sequence[Quad] = (),
) -> tuple[tuple[Sighting, ...], tuple[Lain, ...]]:
    """Return the cards in boxes of a picture (None: all of it), and what to remember of them.

    `before` are the cards that lay there; those partly covered by now count as seen while the rest of them looks as it
    did. `look` is higher on each call. `beneath` searches for cards never seen whole too. In the zones `untouched`
    nothing has moved since. `outlines` are boxes where a card may lie.
    """
    seen = read_faces(image, templates, mats, where=where, beneath=beneath, outlines=outlines)
    told = [settled(mats, each) for each in seen]
    return _FaceLook(image, mats, templates, before, told, untouched).result(look)


class _FaceLook:
    """One look at cards: those seen now against those that lay there before."""

    def __init__(
        self,
        image: Image,
        mats: Mats,
        templates: Templates,
        before: Sequence[Lain],
        told: Sequence[Sighting],
        untouched: Collection[str],
    ) -> None:
        """`told` are the cards seen, from the top down."""
        self._image, self._mats, self._templates, self._untouched = image, mats, templates, untouched
        self._fits = {fit.layout.id: fit for fit in reversed(mats.fits)}
        self._out_of_sight = [lain for lain in before if lain.mat not in self._fits]
        self._before = _pushed_with_mats([lain for lain in before if lain.mat in self._fits], told, mats)
        self._located = _located(self._before, told, mats)
        as_read = [quad_of(s) for s in told]
        self._told = [self._put_right(s, as_read[:at]) for at, s in enumerate(told)]
        self._above = [quad_of(s) for s in self._told]
        self._votes: dict[int, bool | None] = {}
        self._now: dict[int, Borders] = {}

    def result(self, look: int) -> tuple[tuple[Sighting, ...], tuple[Lain, ...]]:
        """Return the cards that lie there, and what to remember of them."""
        same = self._same()
        # One that shows whole again where others lay upon it has nothing on it now: those were taken off.
        bared = [lain for lain in same.values() if lain.missed or not lain.is_whole]
        old = [
            lain
            for lain in self._before
            if lain not in same.values() and not any(lies_upon(lain, low) for low in bared)
        ]
        kept = self._kept(old, list(same.values()))
        pushed = {
            at: card
            for at in range(len(self._told))
            if at not in same and (card := self._pushed_beneath(at, old, kept))
        }
        kept += pushed.values()
        still = {card.order for card in kept}
        shown: list[Sighting] = []
        here: list[Lain] = []
        for at, s in enumerate(self._told):
            if s.face is Card.UNKNOWN and any(self._is_over(card, s) for card in kept):
                continue
            if at not in same:
                is_double = at in pushed or self._may_be_double(s, old, still)
                order = MOST_AT_ONCE * look - at
            else:
                is_double, order = same[at].sighting.is_double, same[at].order
                if s.zone in self._untouched:
                    # Nothing has moved: its place was found as well the first time.
                    s = replace(self._as_it_lies_now(same[at]), confidence=s.confidence)
            shown.append(replace(s, is_double=is_double, stay=order))
            fit = self._mats.at(s.centre_px)
            if fit is not None and s.face is not Card.UNKNOWN:
                here.append(self._lain(shown[-1], fit, self._above[:at], order))
        here += kept
        upon = {card.order: card.upon for card in self._before}
        over = {card.order: {upper.order for upper in here if lies_upon(upper, card)} for card in here}
        gone = {card.order for at, s in enumerate(self._told) if at not in same for card in self._pushed_from(s, old)}
        missed = [card for card in old if card.order not in still | gone] + self._out_of_sight
        return (*shown, *(card.sighting for card in kept)), (
            *(replace(card, upon=upon.get(card.order, card.upon) | over[card.order]) for card in here),
            *(replace(card, missed=card.missed + 1) for card in missed[-MOST_BURIED:]),
        )

    def _put_right(self, sighting: Sighting, above: Sequence[Quad]) -> Sighting:
        """Return a sighting below others as the card lies there that was seen before, where it was read wrongly.

        Its like shows whole just as it did; or exactly there a card was read more surely as another, and a cup hides
        half of it now.
        """
        for lain in self._before:
            if sighting.face is not lain.sighting.face:
                if self._was_surer(lain, sighting):
                    return self._as_it_lies_now(lain)
            elif not self._is_same(lain, sighting) and self._is_misread(lain, sighting, above):
                return replace(self._as_it_lies_now(lain), confidence=sighting.confidence)
        return sighting

    def _is_misread(self, lain: Lain, sighting: Sighting, above: Sequence[Quad]) -> bool:
        """True if the card lies where it lay, just as before, and not where it is read now.

        On a pile borders alone do not tell: white rims of other cards are all around them. So what the card showed must
        show rather there than here.
        """
        fit, here = self._fits[lain.mat], quad_of(sighting)
        if share_covered(fit.to_px(lain.corners_mm), here) < MISREAD_SHARE:
            return False
        there = borders_of(self._image, fit, lain.corners_mm, above)
        if not lain.borders.still_there(there, least=MISREAD_BORDERS):
            return False
        read = borders_of(self._image, fit, fit.to_mm(here), above)
        return lain.borders.likeness_to(there) >= lain.borders.likeness_to(read)

    def _was_surer(self, lain: Lain, sighting: Sighting) -> bool:
        """True if a card that lay exactly there, with none upon it, was recognised with more confidence."""
        if sighting.face is Card.UNKNOWN or sighting.confidence >= lain.sighting.confidence:
            return False
        off_mm, off_deg = self._off(lain, sighting)
        if off_mm > EXACT_MM or off_deg > SAME_DEG:  # half hidden, a card's turn is found less well than its place
            return False
        return not any(lies_upon(card, lain) and not card.missed for card in self._before)

    def _same(self) -> dict[int, Lain]:
        """Return which of the cards of before are seen now, by their places among those seen."""
        same: dict[int, Lain] = {}
        for at, s in enumerate(self._told):
            left = (lain for lain in self._before if lain not in same.values())
            found = next((lain for lain in left if self._is_same(lain, s)), None)
            if found is not None and not self._lies_upon_it(at, found):
                same[at] = found
        return same

    def _lies_upon_it(self, at: int, lain: Lain) -> bool:
        """True if a card with nothing on it cannot be the one that lay just there, since others lie on that one.

        They have to be more than a hand lifts, or to show, by borders that no card beneath shares, and beyond doubt.
        Where it does not lie exactly there it is enough that nobody has seen them leave.
        """
        if any(share_covered(self._above[at], quad) >= UPON_SHARE for quad in self._above[:at]):
            return False
        covered = [card for card in self._before if lies_upon(card, lain)]
        if sum(not card.missed for card in covered) > MOST_LIFTED:
            return True
        alone = (c for c in covered if not any(ends_alike(c, other) for other in self._before if other is not c))
        off_mm, off_deg = self._off(lain, self._told[at])
        if off_mm <= EXACT_MM and off_deg <= SAME_DEG:
            return any(card.borders.still_there(self._borders_now(card), least=A_CORNER) for card in alone)
        return any(not card.missed for card in covered) or any(self._still_there(card) is not False for card in alone)

    def _kept(self, old: Sequence[Lain], same: Sequence[Lain]) -> list[Lain]:
        """Return the cards not seen again that still lie there: what is below an unmoved card has not moved either."""
        firm, kept = {card.order for card in same}, []
        hidden = [card for card in old if not card.missed]
        for card in sorted(old, key=lambda card: -card.order):
            if card.missed and any(is_like_upon(upper, card) for upper in hidden):
                # It may have been pushed to where that one lies, and now neither shows.
                continue
            if card.sighting.face.family is Family.SAFETY and any(self._is_like_over(card, s) for s in self._told):
                # There is one of each safety: it has been pushed.
                continue
            is_out = card.may_be_drawn_out and not self._still_there(card)
            if (card.upon & firm and not is_out) or (not card.is_buried and self._still_there(card)):
                firm.add(card.order)
                sighting = self._as_it_lies_now(card)
                is_whole = card.is_whole and not any(overlap(quad_of(sighting), quad) for quad in self._above)
                kept.append(replace(card, missed=0, sighting=sighting, is_whole=is_whole))
        return kept

    def _still_there(self, lain: Lain) -> bool | None:
        """True if a card's borders look as they did; None where too little shows to tell."""
        if lain.order not in self._votes:
            is_on_a_pile = lain.is_on_a_pile
            # Where a card on which it lay may show again, or it may have been drawn out from beneath one that hides it,
            # those borders are not its own that other cards share.
            is_bared = is_on_a_pile and any(lies_upon(lain, low) and self._is_dragged(low) for low in self._before)
            is_hidden = lain.may_be_drawn_out and any(self._off(lain, s)[0] <= PUSHED_MM for s in self._told)
            alike = any(self._is_like_over(lain, s) for s in self._told)
            alike = alike or is_bared or is_hidden
            least = 0 if not alike else A_CORNER if is_on_a_pile else 1
            vote = lain.borders.still_there(self._borders_now(lain), least=least)
            if alike and is_on_a_pile and vote is not False:
                vote = self._own_vote(lain, vote)
            elif (
                vote
                and is_on_a_pile
                and lain.is_whole
                and any(self._is_like_over(lain, s, BESIDE_MM) for s in self._told)
            ):
                # Laid beside it, or this one, pushed so far that the borders of others show where its own were.
                firm = lain.borders.still_there(self._borders_now(lain), least=A_CORNER)
                vote = (firm is not False and self._own_vote(lain, firm)) or None
                vote = False if any(self._is_rather(low, lain) for low in self._before) else vote
            self._votes[lain.order] = vote and not self._shows_one_below(lain)
        return self._votes[lain.order]

    def _is_dragged(self, lain: Lain) -> bool:
        """True if its like is seen where it lay, or it may have been dragged along."""
        alike = (self._off(lain, s) for s in self._told if s.face is lain.sighting.face)
        return any(off_mm <= PUSHED_MM and off_deg <= PUSHED_DEG for off_mm, off_deg in alike)

    def _shows_one_below(self, lain: Lain) -> bool:
        """True if borders show that it would cover, of one below that ends nearly as it does, rather than its own."""
        seen = (low for low in self._before if not low.missed and low.order < lain.order)
        for low in (low for low in seen if ends_alike(lain, low, OVER_MM)):
            beyond_mm = overhang_mm(low, lain)
            is_confused = (beyond_mm >= SAME_MM) & (beyond_mm <= OUTSIDE_MM)
            if is_confused.any():
                own, shown = (each.borders.agreement(self._borders_now(each)) for each in (lain, low))
                both = is_confused & ~np.isnan(own) & ~np.isnan(shown)
                if both.any() and shown[both].sum() > own[both].sum() and self._still_there(low):
                    return True
        return False

    def _is_rather(self, low: Lain, lain: Lain) -> bool:
        """True if what shows is drawn on a card below rather than on the one that lay upon it: two may be drawn alike.

        The lower's likeness was greater by 0.2 to 0.33 where the upper had been pushed off it, in 5 photographs, and
        less by 0.12 to 0.33 where it lay still, in 7.
        """
        if low.missed or low.sighting.face is lain.sighting.face or not lies_upon(lain, low):
            return False
        now, below = self._borders_now(lain), self._borders_now(low)
        may_be_both = lain.borders.shows_the_same(now) and low.borders.shows_the_same(below)
        return may_be_both and low.borders.likeness_to(below) > lain.borders.likeness_to(now)

    def _own_vote(self, lain: Lain, vote: bool | None) -> bool | None:
        """Return a vote that it lies there still, or may, less what borders say along which a card below it ends too.

        It may have been pushed aside, and those that show are the other card's. What is drawn on it tells that it lies
        there. A like may be the card itself, as it lay before. Once a pile was made neat, so that a card has gone from
        where it would show, those out of sight may all end just here, and the drawing alone tells.
        """
        beneath = (low for low in self._before if low.missed and lies_upon(lain, low))
        astray = [low for low in beneath if low.sighting.face is not lain.sighting.face]
        if all(self._still_there(low) is not False for low in astray):
            astray = []
        shared = sides_shared(lain, self._before) | bool(astray)
        if not shared.any():
            return vote
        now = self._borders_now(lain)
        own = replace(now, profiles=np.where(shared[:, None, None], np.nan, now.profiles))
        if vote is None:
            return False if lain.borders.still_there(own, least=A_CORNER) is False else None
        likeness = lain.borders.likeness_to(now) - LEAST_LEAD
        is_drawn = lain.borders.shows_the_same(now) and all(low.borders.likeness_to(now) < likeness for low in astray)
        return True if is_drawn or lain.borders.still_there(own, least=1) else None

    def _borders_now(self, lain: Lain) -> Borders:
        """Return what shows along the borders of a card that lay there, below all that are seen."""
        if lain.order not in self._now:
            self._now[lain.order] = borders_of(self._image, self._fits[lain.mat], lain.corners_mm, self._above)
        return self._now[lain.order]

    def _as_it_lies_now(self, lain: Lain) -> Sighting:
        """A remembered card as a sighting, where its mat has it now."""
        corners = as_quad(self._fits[lain.mat].to_px(lain.corners_mm))
        x, y = np.mean(corners, axis=0)
        return replace(lain.sighting, centre_px=(float(x), float(y)), corners_px=corners)

    def _is_same(self, lain: Lain, sighting: Sighting) -> bool:
        """True if a card seen now lies exactly where its like lay."""
        if sighting.face is not lain.sighting.face:
            return False
        fit = self._fits[lain.mat]
        off_mat = fit.to_px(lain.corners_mm) - np.asarray(quad_of(lain.sighting))
        has_moved = float(np.hypot(*off_mat.mean(axis=0))) > MAT_MOVED_MM * fit.px_per_mm
        if has_moved and lain.mat not in self._located:
            most_mm, most_deg = PUSHED_MM, PUSHED_DEG
        elif (lain.sighting.zone or "") in self._untouched:
            most_mm, most_deg = UNTOUCHED_PILE_MM if lain.is_on_a_pile else UNTOUCHED_MM, ANY_DEG
        else:
            most_mm, most_deg = SAME_MM, SAME_DEG
        off_mm, off_deg = self._off(lain, sighting)
        return off_mm <= most_mm and off_deg <= most_deg

    def _off(self, lain: Lain, sighting: Sighting) -> tuple[float, float]:
        """Return how far a card is from where another was, in millimetres and degrees, on its mat.

        Of a mat with no other card nothing tells that it was pushed before it is located again: there, what is in the
        same place of the picture has not moved either.
        """
        fit = self._fits[lain.mat]
        off_mm, off_deg = apart(fit.to_mm(quad_of(sighting)), lain.corners_mm)
        if sum(other.mat == lain.mat for other in self._before) < LEAST_DRIFTING:
            off_mm = min(off_mm, math.dist(lain.sighting.centre_px, sighting.centre_px) / fit.px_per_mm)
        return off_mm, off_deg

    def _is_over(self, lain: Lain, sighting: Sighting, most_mm: float = OVER_MM) -> bool:
        """True if a card seen is near enough to a remembered one to be that one, half hidden."""
        middle = self._fits[lain.mat].to_mm([sighting.centre_px])[0]
        return bool(np.hypot(*(middle - lain.corners_mm.mean(axis=0))) <= most_mm)

    def _is_like_over(self, lain: Lain, sighting: Sighting, most_mm: float = OVER_MM) -> bool:
        return sighting.face is lain.sighting.face and self._is_over(lain, sighting, most_mm)

    def _may_be_double(self, sighting: Sighting, old: Sequence[Lain], still: Collection[int]) -> bool:
        """True if its like lay there or nearly, and may be below it now.

        Where a like card that lay on top has gone, it is that one, pushed.
        """
        alike = [
            card
            for card in old
            if card.sighting.face is sighting.face
            and card.order not in still
            and not card.is_buried
            and self._is_over(card, sighting, BESIDE_MM if card.is_whole else OVER_MM)
        ]
        if any(card.is_whole and self._still_there(card) is False for card in alike):
            return False
        return any(self._still_there(card) is None for card in alike)

    def _pushed_beneath(self, at: int, old: Sequence[Lain], kept: Sequence[Lain]) -> Lain | None:
        """Return the like that lay about where a new card does, as it lies now, pushed when that one was laid on it.

        A strip of it is enough, if there is one for each of those that lay there and showed, and no card that lies
        there still explains it: else the new one is one.
        """
        new = self._told[at]
        alike = [lain for lain in self._before if lain.sighting.face is new.face]
        near = (lain for lain in alike if self._is_over(lain, new, BESIDE_MM) and not lain.is_buried)
        still = {lain.order for lain in kept}
        gone = [lain for lain in near if lain in old and lain.order not in still]
        card = next((lain for lain in gone if lain.is_whole and self._still_there(lain) is False), None)
        if card is None:
            return None
        others = [lain for lain in (*alike, *kept) if lain not in gone and lain.mat == card.mat]
        strips: list[Sighting] = []
        for one in self._strips_beneath(new, card):
            is_told = any(math.dist(one.centre_px, strip.centre_px) <= self._same_px(card) for strip in strips)
            is_other = self._was_pushed_along(one, card, new) or any(self._may_be(lain, one) for lain in others)
            if not is_told and not is_other:
                strips.append(one)
        if len(strips) < len(gone):
            return None
        strip = min(strips, key=lambda one: self._off(card, one))
        here = replace(card.sighting, centre_px=strip.centre_px, corners_px=strip.corners_px)
        return self._lain(here, self._fits[card.mat], self._above[: at + 1], card.order)

    def _strips_beneath(self, new: Sighting, card: Lain) -> Iterator[Sighting]:
        """Yield the cards like a new one of which a strip shows beneath it, not far from where another lay."""
        fit = self._fits[card.mat]
        quad = as_quad(fit.to_px(card.corners_mm))
        box = around((*quad, *quad_of(new))).padded(round(BESIDE_MM * fit.px_per_mm))
        for one in read_faces(self._image, self._templates, self._mats, where=[box], fans=True, outlines=[quad]):
            is_new = math.dist(one.centre_px, new.centre_px) <= self._same_px(card)
            if _likeliest(one) == any_copy(new.face) and not is_new and self._is_over(card, one):
                yield one

    def _was_pushed_along(self, strip: Sighting, card: Lain, new: Sighting) -> bool:
        """True if a strip may be another card's, were both pushed alike and the new one the card that lay there."""
        fit = self._fits[card.mat]
        here, there = (fit.to_mm(quad_of(each)).mean(axis=0) for each in (strip, new))
        before = here - there + card.corners_mm.mean(axis=0)
        others = (lain for lain in self._before if lain.mat == card.mat and lain.sighting.face is not new.face)
        return any(math.dist(before, lain.corners_mm.mean(axis=0)) <= PUSHED_MM for lain in others)

    def _same_px(self, lain: Lain) -> float:
        """Return how far the middles of two sightings of one card lie apart at most, on the picture."""
        return SAME_MM * self._fits[lain.mat].px_per_mm

    def _may_be(self, lain: Lain, sighting: Sighting) -> bool:
        """True if a card seen may be a remembered one, pushed if that has not been seen of late."""
        off_mm, off_deg = self._off(lain, sighting)
        return off_mm <= (OVER_MM if lain.is_buried else PUSHED_MM) and off_deg <= 2 * PUSHED_DEG

    def _pushed_from(self, sighting: Sighting, old: Sequence[Lain]) -> Iterator[Lain]:
        """Yield its likes that lay there with nothing on them and have gone: it is one of them, pushed.

        A single look is not enough: the hand that lays a card hides what is under it.
        """
        for card in old:
            alike = card.sighting.face is sighting.face and card.is_whole and 0 < card.missed < LOOKS
            overlaps = alike and overlap(quad_of(card.sighting), quad_of(sighting))
            if overlaps and self._still_there(card) is False:
                yield card

    def _lain(self, sighting: Sighting, fit: Fit, above: Sequence[Quad], order: int) -> Lain:
        corners_mm = fit.to_mm(quad_of(sighting))
        borders = borders_of(self._image, fit, corners_mm, above)
        is_whole = not any(overlap(quad_of(sighting), quad) for quad in above)
        return Lain(sighting, fit.layout.id, corners_mm, borders, is_whole, order)


def _pushed_with_mats(before: Sequence[Lain], told: Sequence[Sighting], mats: Mats) -> list[Lain]:
    """Return what is remembered, moved along with mats that were pushed with all that lies on them."""
    drifts = {
        mat: _drift_mm([lain for lain in before if lain.mat == mat], told, mats) for mat in {b.mat for b in before}
    }
    return [replace(lain, corners_mm=lain.corners_mm + drifts[lain.mat]) for lain in before]


def _located(before: Sequence[Lain], told: Sequence[Sighting], mats: Mats) -> frozenset[str]:
    """Return the mats whose place is certain: at least half of the cards seen on them lie just where they lay."""
    of_mats = {mat: [lain for lain in before if lain.mat == mat] for mat in {lain.mat for lain in before}}
    return frozenset(mat for mat, lain in of_mats.items() if _most_within(_shifts_mm(lain, told, mats), SAME_MM))


def _drift_mm(before: Sequence[Lain], told: Sequence[Sighting], mats: Mats) -> Floats:
    """Return how far the cards of one mat have all moved alike, to the right and down; zeros where they have not."""
    shifts = _shifts_mm(before, told, mats)
    if _most_within(shifts, MAT_MOVED_MM):
        return np.zeros(2)
    middle = np.median(shifts, axis=0) if len(shifts) else np.zeros(2)
    agreeing = np.hypot(*(shifts - middle).T) <= DRIFT_AGREES_MM
    is_pushed = agreeing.sum() >= max(LEAST_DRIFTING, DRIFTING_SHARE * len(shifts))
    drift: Floats = shifts[agreeing].mean(axis=0) if is_pushed else np.zeros(2)
    return drift if np.hypot(*drift) > MAT_MOVED_MM else np.zeros(2)


def _most_within(shifts: Floats, most_mm: float) -> bool:
    """True if at least half of some ways `(n, 2)` are no longer than that; False without any."""
    return len(shifts) > 0 and float(np.mean(np.hypot(*shifts.T) <= most_mm)) >= 0.5


def _shifts_mm(before: Sequence[Lain], told: Sequence[Sighting], mats: Mats) -> Floats:
    """Return the ways `(n, 2)` to the cards seen from where their likes of one mat lay."""
    shifts = (_shift_mm(before, s, mats) for s in told)
    return np.array([shift for shift in shifts if shift is not None]).reshape(-1, 2)


def _shift_mm(before: Sequence[Lain], sighting: Sighting, mats: Mats) -> Floats | None:
    """Return the way to a card from where its like lay nearest, None where that is too far for a push of the mat."""
    fit = mats.at(sighting.centre_px)
    if fit is None:
        return None
    now = fit.to_mm(quad_of(sighting))
    alike = (lain for lain in before if lain.sighting.face is sighting.face and lain.mat == fit.layout.id)
    near = (lain for lain in alike if not lain.missed and apart(now, lain.corners_mm)[1] <= PUSHED_DEG)
    shifts = [(now - lain.corners_mm).mean(axis=0) for lain in near]
    nearest: Floats | None = min(shifts, key=lambda shift: float(np.hypot(*shift)), default=None)
    return nearest if nearest is not None and np.hypot(*nearest) <= DRIFT_MM else None


def look_again(image: Image, mats: Mats, templates: Templates, before: Sequence[Lain]) -> tuple[Lain, ...] | None:
    """Return the same cards identified once more where they lie; None where some does not show what it did.

    Partly covered cards stay as they were.
    """
    if any(lain.missed and not lain.is_buried for lain in before):
        return None
    lain: list[Lain] = []
    for card in before:
        if card.is_whole and not card.missed:
            seen = face_at(image, templates, mats, quad_of(card.sighting))
            if seen is None or seen.face is not card.sighting.face:
                return None
            card = replace(card, sighting=replace(card.sighting, confidence=seen.confidence))
        lain.append(card)
    return tuple(lain)


def _likeliest(sighting: Sighting) -> str:
    """Return the card that it is, or the likeliest one of which only a strip shows, as any copy of its face."""
    return any_copy(sighting.face) if not sighting.rivals else sighting.rivals[0][0]
