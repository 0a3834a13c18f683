"""Which track a sighting belongs to: one assignment, one cost.

A sticker names its card. A card told by its face alone looks like every other of that face: where it lies, how it is
turned and what else the zone shows decide. Costs are negative log-likelihoods, so that they add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from companion.rules.cards import Card
from companion.tabletop.card_ids import any_copy
from companion.tabletop.mat_layout import DISCARD_ZONE, is_pile, mat_of
from companion.tracking.hint import Hint
from companion.tracking.track import Place, State, Track, distance_mm, turned_deg
from companion.vision.view import FACE, Sighting

NEVER = 1e6
"""Cost of what cannot be."""

SAME_MM, SAME_DEG = 2.0, 2.0
"""Measuring error: a card that nobody has touched is seen within this of where it was."""

UNDISTURBED_SLACK = 4.0
"""Factor of that error where nothing has moved in the zone."""

MM_PER_NAT, DEG_PER_NAT = 3.0, 4.0
"""Distance and turn beyond that which make it less likely by a factor of e that a card was merely nudged."""

PUSHED_MM = 130.0
"""Maximum distance that a card is pushed within its zone."""

PUSHED_COST, NUDGED_COST = 6.0, 2.0
"""Maximum cost of a card having been pushed: where the picture leaves it open whether another like it lies below, and
where it shows that none does."""

UNTOUCHED_COST = 6.0
"""Cost of a new card where nothing has moved since the last look."""

NEW_NAMED = 2.0
"""Cost of a new card that its sticker names, or that cannot be read."""

NEW_LEGAL, NEW_ILLEGAL = 1.2, 5.0
"""Cost of a new card where a play may have laid it, and where none may."""

EXACT_COST = 4.0
"""Cost of a new card that lies exactly as one like it did: no hand lays a card so."""

GONE_COST, UNEXPECTED_GONE_COST = 2.5, 0.5
"""Cost of a card that is no longer there though nothing covers its place: one that the record has, and another."""

BENEATH_COST = 5.0
"""Cost of a card having come out from under others that still lie on it."""

LIFTED_COST = 2.5
"""Cost of each card that lay on this one being gone although the record has it."""

BARED_COST = 3.0
"""Cost of a new card where one like it lay near and nothing of that one shows around it: that one was nudged."""

DOUBLE_BONUS = 0.6
"""Reduction of the cost of a new card where the edge of another like it shows around it."""

UNREAD_COST = 0.5
"""Minimum cost of a card that cannot be read being a known one."""

UNREAD_MM = 20.0
"""Maximum distance between a code that cannot be read and the known card whose code it is."""

HALF_HIDDEN_MM = 12.0
"""Maximum distance between a half hidden face that cannot be read and the known card that it is."""

COVERING_MM = 60.0
"""Maximum distance between the middles of two cards of which one hides the other."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A sighting with its place."""

    sighting: Sighting
    place: Place


def assign(
    detections: Sequence[Detection],
    tracks: Sequence[Track],
    hint: Hint,
    disturbed: frozenset[str],
    px_per_mm: Mapping[str, float],
) -> dict[int, Track | None]:
    """Return the track of each sighting by its index, None for a card that is new.

    `tracks` are those that have not gone and whose zones are in sight; in the zones `disturbed` something has moved
    since they were last in sight; `px_per_mm` is the scale by mat.
    """
    found: dict[int, Track | None] = {}
    for zone in {one.place.zone for one in detections}:
        here = {n: one for n, one in enumerate(detections) if one.place.zone == zone}
        there = [track for track in tracks if track.zone == zone]
        known = {n: track for n, one in here.items() if (track := _recognised(one, there)) is not None}
        rows = [n for n in here if n not in known]
        left = [track for track in there if track not in known.values()] if rows else []
        scale = px_per_mm.get(mat_of(zone), 1.0)
        costs = _Costs(list(here.values()), there, hint, zone in disturbed, scale)
        columns = _cheapest(costs.matrix([here[n] for n in rows], left))
        found |= known
        found |= {n: left[column] if column < len(left) else None for n, column in zip(rows, columns, strict=True)}
    return found


def _recognised(one: Detection, tracks: Sequence[Track]) -> Track | None:
    """The track of a card that its sticker names, or that lies just where it lay at the last look."""
    card, stay = one.sighting.card, one.sighting.stay
    if card is not None:
        return next((t for t in tracks if t.card == card), None)
    return next((t for t in tracks if stay is not None and t.card is None and t.stay == stay), None)


class _Costs:
    """The costs of one zone."""

    def __init__(
        self,
        detections: Sequence[Detection],
        tracks: Sequence[Track],
        hint: Hint,
        disturbed: bool,
        px_per_mm: float,
    ) -> None:
        self._detections, self._tracks, self._hint = detections, tracks, hint
        self._disturbed, self._px_per_mm = disturbed, px_per_mm

    def matrix(self, unmatched: Sequence[Detection], free: Sequence[Track]) -> list[list[float]]:
        """Return a row a sighting; columns are the free tracks, then a column for each sighting to be a new card."""
        rows = []
        for n, one in enumerate(unmatched):
            new = [NEVER] * len(unmatched)
            new[n] = self._new(one)
            # A track that nobody is costs as well, so being it is cheaper by that.
            rows.append([self._same(one, track) - self._unseen(track) for track in free] + new)
        return rows

    def _same(self, one: Detection, track: Track) -> float:
        sighting = one.sighting
        if sighting.card is not None and track.card is not None:
            return NEVER
        off_mm = self._off_mm(one, track)
        lifted = LIFTED_COST * self._lifted_from(track) + BENEATH_COST * self._lies_beneath(track)
        if sighting.face is Card.UNKNOWN or track.face is Card.UNKNOWN:
            return self._unread(one, track, off_mm) + (lifted if sighting.by == FACE else 0.0)
        if sighting.face is not track.face or sighting.card is not None or track.card is not None:
            return NEVER
        off_deg = turned_deg(one.place, track.place)
        if off_mm > PUSHED_MM:
            return NEVER
        slack = 1.0 if self._disturbed else UNDISTURBED_SLACK
        nudge = max(0.0, off_mm - SAME_MM * slack) / MM_PER_NAT + max(0.0, off_deg - SAME_DEG * slack) / DEG_PER_NAT
        clear = not one.sighting.is_double and self._would_show(one, track)
        most = NUDGED_COST if clear else PUSHED_COST
        return min(nudge, most) + lifted

    def _off_mm(self, one: Detection, track: Track) -> float:
        """How far apart they lie: on the mat, or on the picture, for a mat is told anew after each push."""
        on_picture_mm = math.dist(one.sighting.centre_px, track.centre_px) / self._px_per_mm
        return min(distance_mm(one.place, track.place), on_picture_mm)

    def _unread(self, one: Detection, track: Track, off_mm: float) -> float:
        """The cost of a code that cannot be read, now or before, being the same card."""
        if off_mm > UNREAD_MM:
            return NEVER
        if one.sighting.by == FACE and off_mm <= HALF_HIDDEN_MM:
            return UNREAD_COST
        # A code that is read at last may be none of those that it was taken for.
        is_read_at_last = track.face is Card.UNKNOWN and off_mm <= SAME_MM
        if not is_read_at_last and not _may_be_one(one.sighting, track):
            return NEVER
        return UNREAD_COST + off_mm / UNREAD_MM

    def _new(self, one: Detection) -> float:
        face = one.sighting.face
        if one.sighting.card is not None or face is Card.UNKNOWN:
            return NEW_NAMED
        legal = self._hint.is_legal(face, one.place)
        cost = NEW_LEGAL if legal else NEW_ILLEGAL
        if not self._disturbed:
            cost += UNTOUCHED_COST
        alike = [t for t in self._tracks if t.face is face]
        if any(self._is_exact(one, t) for t in alike):
            cost += EXACT_COST
        stays = {other.sighting.stay for other in self._detections}
        if not one.sighting.is_double and any(t.stay not in stays and self._would_show(one, t) for t in alike):
            cost += BARED_COST
        return cost - DOUBLE_BONUS * one.sighting.is_double

    def _is_exact(self, one: Detection, track: Track) -> bool:
        off_deg = turned_deg(one.place, track.place)
        return self._off_mm(one, track) <= SAME_MM and off_deg <= SAME_DEG

    def _unseen(self, track: Track) -> float:
        """The cost of a track being none of the sightings."""
        if track.state is State.COVERED or any(self._covers(one, track) for one in self._detections):
            return 0.0
        return GONE_COST if self._hint.has(track.face, track.zone) else UNEXPECTED_GONE_COST

    def _would_show(self, one: Detection, track: Track) -> bool:
        """True if a card that lay under this one would show, as the eye tells of those that nobody has touched."""
        return track.stay is not None and not self._is_buried(track) and self._covers(one, track)

    def _is_buried(self, track: Track) -> bool:
        """True if another card came to lie on it."""
        return any(self._lying_on(track))

    def _lies_beneath(self, track: Track) -> bool:
        """True if another card still lies just where it came to lie on this one, in a pile."""
        stays = {one.sighting.stay for one in self._detections if one.sighting.stay is not None}
        return is_pile(track.zone) and any(t.stay in stays for t in self._lying_on(track))

    def _lying_on(self, track: Track) -> Iterator[Track]:
        """The cards that came to lie on it later."""
        newer = (t for t in self._tracks if t.serial > track.serial)
        return (t for t in newer if distance_mm(t.place, track.place) <= COVERING_MM)

    def _covers(self, one: Detection, track: Track) -> bool:
        return distance_mm(one.place, track.place) <= COVERING_MM

    def _lifted_from(self, track: Track) -> int:
        """How many cards must have been lifted off a covered one that the record still has there."""
        if track.state is not State.COVERED and not self._is_buried(track):
            return 0
        faces = {one.sighting.face for one in self._detections}
        on = (t for t in self._lying_on(track) if t.face not in faces)
        lifted = [t.face for t in on if self._hint.has(t.face, t.zone) > 0]
        is_taken = track.zone == DISCARD_ZONE and lifted == [self._hint.may_be_taken]
        return 0 if is_taken else len(lifted)


def _may_be_one(sighting: Sighting, track: Track) -> bool:
    """True if what one reading made of a card may be what another could not tell."""
    may_be = {card for card, _ in sighting.rivals}
    could_be = {card for read in track.readings for card in read}
    if sighting.face is Card.UNKNOWN:
        return track.face is Card.UNKNOWN or bool(may_be & {track.card, any_copy(track.face)})
    return bool(could_be & {sighting.card, any_copy(sighting.face)})


def _cheapest(costs: Sequence[Sequence[float]]) -> list[int]:
    """Return the column of each row so that the sum is least; there are at least as many columns as rows.

    The Hungarian method with potentials (Kuhn 1955, Munkres 1957), one row after the other.
    """
    rows, columns = len(costs), len(costs[0]) if costs else 0
    u, v = [0.0] * (rows + 1), [0.0] * (columns + 1)
    row_of = [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0], column = row, 0
        least, way = [math.inf] * (columns + 1), [0] * (columns + 1)
        done = [False] * (columns + 1)
        while row_of[column]:
            done[column], here, step, after = True, row_of[column], math.inf, 0
            for j in range(1, columns + 1):
                if done[j]:
                    continue
                reduced = costs[here - 1][j - 1] - u[here] - v[j]
                if reduced < least[j]:
                    least[j], way[j] = reduced, column
                if least[j] < step:
                    step, after = least[j], j
            for j in range(columns + 1):
                if done[j]:
                    u[row_of[j]] += step
                    v[j] -= step
                else:
                    least[j] -= step
            column = after
        while column:
            row_of[column], column = row_of[way[column]], way[column]
    found = [0] * rows
    for j in range(1, columns + 1):
        if row_of[j]:
            found[row_of[j] - 1] = j - 1
    return found
