"""Which track a sighting belongs to: one assignment, one cost.

A sticker names its card. A card told by its face alone looks like every other of that face: where it lies, how it is
turned and what else the zone shows decide. Costs are negative log-likelihoods, so that they add up.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import any_copy
from companion.tabletop.mat_layout import DISCARD_ZONE, DRAW_ZONE, is_pile, mat_of
from companion.tracking.hand_record import Hint, Spot
from companion.tracking.track import NUDGE_MM, Place, State, Track, distance_mm
from companion.vision.view import FACE, Quad, Sighting, View

LIKELY, POSSIBLE, ODD, UNLIKELY = 0.5, 1.2, 2.5, 5.0  # costs of what happens at any time, often, seldom, hardly ever
SAME_MM, SAME_DEG = 1.2, 2.0  # measuring error: a card that nobody has touched is seen within this of where it was
UNDISTURBED_MM = UNDISTURBED_DEG = 8.0
"""The same where nothing has moved in the zone: whatever was measured, it has not been laid elsewhere."""

MM_PER_NAT = DEG_PER_NAT = 3.0
"""Distance and turn beyond that which make it less likely by a factor of e that a card was merely nudged."""

PUSHED_BESIDE_MM, TURNED_DEG = 8.0, 45.0
"""Most by which a hand that lays a card pushes others beside it, 7.8 mm in films, and by which any push turns a card:
20° in films."""

UNREAD_MM = 20.0  # maximum distance from a code or half hidden face that cannot be read to the known card that it is
COVERING_MM = 60.0  # maximum distance between the middles of two cards of which one hides the other
COVERING_ACROSS_MM = 45.0  # the same across the cards: neighbours of a spread lay 55 mm apart in a film
ALIKE_MM = 2 * SAME_MM  # most by which the ways of two cards differ that one push has moved: 1.8 mm in a film
SEVERAL = 2  # number of cards alike that were touched, or stand in other light, where none looks as it did
BID_STEP = 0.01  # difference of costs that decides nothing

Zones = Mapping[str, Sequence[Track]]  # the cards that have not gone, by their zones


class Detection(NamedTuple):
    """A sighting with its place."""

    sighting: Sighting
    place: Place
    px_per_mm: float  # the scale of its mat
    is_upset: bool = False  # True if none of several like it looks as it did: no picture shows which was nudged

    def off_mm(self, track: Track) -> float:
        """Return how far it lies from a card: on the mat, or on the picture, for a mat is told anew after each push."""
        on_picture_mm = math.dist(self.sighting.centre_px, track.centre_px) / self.px_per_mm
        return min(distance_mm(self.place, track.place), on_picture_mm)


def detections_in(view: View, in_sight: Zones) -> Iterator[Detection]:
    """Yield the cards that a view shows in zones it can tell of, but for the draw pile."""
    hidden = view.unknown_zones | {DRAW_ZONE}
    known = [(s, s.zone) for s in view.sightings if s.zone is not None and s.zone not in hidden]
    upset = _upset(in_sight, {sighting.stay for sighting, _ in known})
    middles = {mat.id: sum(complex(*corner) for corner in mat.corners_px) / 4 for mat in view.mats}
    mats = {mat.id: (middles[mat.id], _edge(mat.corners_px), mat.px_per_mm) for mat in view.mats}
    for sighting, zone in known:
        is_upset, mat = (zone, sighting.face) in upset, mats.get(mat_of(zone))
        seen = replace(sighting, is_double=True) if is_upset else sighting
        yield Detection(seen, _place(sighting, zone, mat), mat[2] if mat else 1.0, is_upset)


def _upset(in_sight: Zones, stays: set[int | None]) -> set[Spot]:
    """Return where cards alike lay of which none looks as it did: no picture shows which of them it was."""
    before: dict[Spot, list[int]] = defaultdict(list)
    for track in itertools.chain.from_iterable(in_sight.values()):
        if track.stay is not None and track.is_in_sight:
            before[track.zone, track.face].append(track.stay)
    return {spot for spot, were in before.items() if len(were) >= SEVERAL and stays.isdisjoint(were)}


def _place(sighting: Sighting, zone: str, mat: tuple[complex, complex, float] | None) -> Place:
    """Return where a sighting lies, along its mat's edges: it stays when the camera is moved.

    The mat is told by its middle, its upper edge's direction and its scale in px/mm.
    """
    # How a card is turned means something for safeties alone.
    sideways = sighting.sideways and sighting.face.family is Family.SAFETY
    if mat is None:
        return Place(zone, sideways, sighting.centre_px, 0.0)
    middle, along, px_per_mm = mat
    at_mm = (complex(*sighting.centre_px) - middle) / along / px_per_mm
    turn = 1.0 if sighting.corners_px is None else _edge(sighting.corners_px) / along
    return Place(zone, sideways, (at_mm.real, at_mm.imag), math.degrees(cmath.phase(turn)))


def _edge(corners: Quad) -> complex:
    """Return the direction of the upper edge, as a complex number of length 1."""
    edge = complex(*corners[1]) - complex(*corners[0])
    return edge / (abs(edge) or 1.0) or 1.0


def assign(
    detections: Sequence[Detection], in_sight: Zones, hint: Hint, disturbed: frozenset[str]
) -> dict[int, Track | None]:
    """Return the track of each sighting by its index, None for a card that is new.

    In the zones `disturbed` something has moved since they were last in sight.
    """
    found: dict[int, Track | None] = {}
    zones: dict[str, dict[int, Detection]] = defaultdict(dict)
    for n, one in enumerate(detections):
        zones[one.place.zone][n] = one
    for zone, here in zones.items():
        there = in_sight.get(zone, ())
        known = _recognised(here, there)
        found |= known
        rows = {n: one for n, one in here.items() if n not in known}
        if rows:
            told = {track.serial for track in known.values()}
            left = {track.serial: track for track in there if track.serial not in told}
            costs = _Costs(list(here.values()), there, hint, is_disturbed=zone in disturbed)
            same = [{s: costs.same(one, track) for s, track in left.items()} for one in rows.values()]
            serials = _cheapest(same, [costs.new(one) for one in rows.values()])
            found |= {n: None if s is None else left[s] for n, s in zip(rows, serials, strict=True)}
    return found


def _recognised(here: Mapping[int, Detection], tracks: Sequence[Track]) -> dict[int, Track]:
    """The tracks of the cards that their stickers name, or that lie just where they lay at the last look.

    One that comes to light just where it lay before its like was taken for it, nudged, is the older of the two.
    """
    by_card = {track.card: track for track in tracks if track.card is not None}
    by_stay: dict[int | None, Track] = {t.stay: t for t in tracks if t.card is None and t.stay is not None}
    seen = {n: one.sighting for n, one in here.items()}
    of = {n: by_card.get(s.card) if s.card is not None else by_stay.get(s.stay) for n, s in seen.items()}
    known = {n: track for n, track in of.items() if track is not None}
    for n in sorted(seen.keys() - known.keys()):
        alike = [track for track in tracks if track.face is seen[n].face and track.card is None]
        newer = [m for m, track in known.items() if track in alike and (seen[n].stay or math.inf) < (track.stay or 0)]
        # Where another like it is missed, it may be that one.
        if newer and all(track in known.values() for track in alike):
            known[n] = known.pop(min(newer, key=lambda m: here[n].off_mm(known[m])))
    return known


class _Costs:
    """The costs of one zone."""

    def __init__(
        self, detections: Sequence[Detection], tracks: Sequence[Track], hint: Hint, *, is_disturbed: bool
    ) -> None:
        self._detections, self._tracks, self._hint, self._is_disturbed = detections, tracks, hint, is_disturbed
        # The eye's numbers of the cards in sight that are told by their faces.
        self._stays = {one.sighting.stay for one in detections} - {None}
        self._known = {track.stay for track in tracks} - {None}
        # One that is seen where it was not before may be any card of its face.
        self._new_faces = {one.sighting.face for one in detections if one.sighting.stay not in self._known}

    def same(self, one: Detection, track: Track) -> float:
        """Return the cost of a sighting being this track."""
        sighting, is_unread = one.sighting, Card.UNKNOWN in (one.sighting.face, track.face)
        if sighting.card is not None and track.card is not None:
            return math.inf
        if not is_unread and (sighting.face is not track.face or sighting.card is not None or track.card is not None):
            return math.inf
        off_mm = one.off_mm(track)
        lifted = ODD * self._lifted_from(track) + UNLIKELY * self._lies_beneath(track)
        if is_unread:
            return self._unread(one, track, off_mm) + (lifted if sighting.by == FACE else 0.0)
        off_deg = abs(_moved(one, track)[1])
        most_mm, most_deg = (SAME_MM, SAME_DEG) if self._is_disturbed else (UNDISTURBED_MM, UNDISTURBED_DEG)
        nudge = max(0.0, off_mm - most_mm) / MM_PER_NAT + max(0.0, off_deg - most_deg) / DEG_PER_NAT
        if self._lies_farther(one):
            return UNLIKELY + lifted
        if self._was_pushed_along(one, track):
            nudge = min(nudge, LIKELY)
        is_pushed = off_deg <= TURNED_DEG or off_mm <= NUDGE_MM
        return min(nudge, ODD if is_pushed and self._would_show(one, track) else UNLIKELY) + lifted

    def _unread(self, one: Detection, track: Track, off_mm: float) -> float:
        """The cost of a card that cannot be read, now or before, being the same card."""
        # A code that is read at last may be none of those that it was taken for.
        is_read_at_last = track.face is Card.UNKNOWN and off_mm <= SAME_MM
        may_be = one.sighting.by == FACE or is_read_at_last or _may_be_one(one.sighting, track)
        return LIKELY + off_mm / UNREAD_MM if may_be and off_mm <= UNREAD_MM else math.inf

    def new(self, one: Detection) -> float:
        face = one.sighting.face
        if one.sighting.card is not None or face is Card.UNKNOWN:
            return POSSIBLE
        is_due = self._hint.is_legal(face, one.place, in_turn=True)
        cost = POSSIBLE if is_due else ODD if self._hint.is_legal(face, one.place) else UNLIKELY
        if not self._is_disturbed:
            cost += UNLIKELY
        unseen = (t for t in self._tracks if t.face is face and t.stay not in self._stays)
        if any(self._would_show(one, t) for t in unseen if not self._lies_beneath(t)):
            cost += ODD
        if one.sighting.is_double:
            # Over its like a card is laid by whoever is to move; at any other time that one was pushed, or all of them.
            is_other = is_due and not self._has_just_come(one) and not self._is_beside_the_play(one)
            cost += POSSIBLE if not is_other else -POSSIBLE * (not one.is_upset)
        return cost

    def _has_just_come(self, one: Detection) -> bool:
        """True if its like has only just come into sight in that very place: nobody lays two at once."""
        alike = (t for t in self._tracks if t.face is one.sighting.face and t.state is State.SEEN)
        return any(distance_mm(one.place, t.place) <= SAME_MM for t in alike)

    def _is_beside_the_play(self, one: Detection) -> bool:
        """True if a card that is no old one, moved, has come to this zone: a hand lays one, and may push others."""
        old = {one.sighting.face, *(t.face for t in self._tracks if t.stay not in self._stays)}
        new = (o for o in self._detections if o.sighting.stay not in self._known and o is not one)
        plays = (o for o in new if self._lies_farther(o) or not (o.sighting.is_double or o.sighting.face in old))
        return any(self._hint.is_legal(o.sighting.face, o.place, in_turn=True) for o in plays)

    def _lies_farther(self, one: Detection) -> bool:
        """True if its like lay farther away than a push has moved another card of a spread: that moves all alike."""
        way = self._way_mm(one)
        if way is None or abs(way) <= PUSHED_BESIDE_MM or is_pile(one.place.zone):
            return False
        pushes = (self._way_mm(other) for other in self._detections if other is not one)
        return any(push and abs(push) <= PUSHED_BESIDE_MM and abs(way - push) > NUDGE_MM for push in pushes)

    def _was_pushed_along(self, one: Detection, track: Track) -> bool:
        """True if another card was moved just as this one would have been: a hand pushes a pile as a whole."""
        new = [o for o in self._detections if o is not one and o.sighting.stay not in self._known]
        missed = [t for t in self._tracks if t is not track and t.stay not in self._stays]
        pairs = ((o, t) for o in new for t in missed if o.sighting.face is t.face is not track.face)
        way, turn = _moved(one, track)
        return any(abs(way - w) <= ALIKE_MM and abs(turn - d) <= SAME_DEG for w, d in itertools.starmap(_moved, pairs))

    def _way_mm(self, one: Detection) -> complex | None:
        """Return the way to a card from the nearest place where its like lay; None if none is missed there."""
        alike = (t for t in self._tracks if t.face is one.sighting.face and t.stay not in self._stays)
        at_mm = complex(*one.place.at_mm)
        ways = [at_mm - complex(*t.place.at_mm) for t in alike if one.sighting.stay not in self._known]
        return min(ways, key=abs, default=None)

    def _would_show(self, one: Detection, track: Track) -> bool:
        """True if a card that lay under this one would show, as the eye tells of those that nobody has touched."""
        # In a column of likes a strip may be any one's.
        column = [t for t in self._tracks if t.face is track.face and t.stay in self._stays and not is_pile(t.zone)]
        is_untold = one.sighting.is_double and (one.off_mm(track) < NUDGE_MM or len(column) >= SEVERAL)
        is_told = track.stay is not None and not is_untold
        return is_told and not any(self._lying_on(track)) and _is_near(one.place, track.place)

    def _lies_beneath(self, track: Track) -> bool:
        """True if another card still lies just where it came to lie on this one: in a pile, or close upon it."""
        if is_pile(track.zone):
            return any(t.stay in self._stays for t in self._lying_on(track))
        upon = (t for t in self._tracks if t is not track and distance_mm(t.place, track.place) < UNREAD_MM)
        return track.state is State.COVERED and any(t.stay in self._stays for t in upon)

    def _lying_on(self, track: Track) -> Iterator[Track]:
        """The cards that came to lie on it later."""
        newer = (t for t in self._tracks if t.serial > track.serial)
        return (t for t in newer if _is_near(t.place, track.place))

    def _lifted_from(self, track: Track) -> int:
        """How many cards must have been lifted off one that the record still has there."""
        on = (t for t in self._lying_on(track) if t.stay not in self._stays and t.face not in self._new_faces)
        lifted = [t.face for t in on if self._hint.has(t.face, t.zone)]
        is_taken = track.zone == DISCARD_ZONE and len(lifted) == 1 and self._hint.may_be_taken(lifted[0])
        return 0 if is_taken else len(lifted)


def _moved(one: Detection, track: Track) -> tuple[complex, float]:
    """Return the way from a card to a sighting of it on its mat, and the turn in degrees."""
    turn = (one.place.turn_deg - track.place.turn_deg + 180) % 360 - 180
    return complex(*one.place.at_mm) - complex(*track.place.at_mm), turn


def _is_near(one: Place, other: Place) -> bool:
    """True if one card may hide the other: those side by side in a spread do not."""
    way = complex(*other.at_mm) - complex(*one.at_mm)
    across_mm = abs((way / cmath.rect(1.0, math.radians(one.turn_deg))).real)
    return abs(way) <= COVERING_MM and across_mm <= COVERING_ACROSS_MM


def _may_be_one(sighting: Sighting, track: Track) -> bool:
    """True if what one reading made of a card may be what another could not tell."""
    may_be = {card for card, _ in sighting.rivals}
    could_be = {card for read in track.readings for card in read}
    if sighting.face is Card.UNKNOWN:
        return track.face is Card.UNKNOWN or bool(may_be & {track.card, any_copy(track.face)})
    return bool(could_be & {sighting.card, any_copy(sighting.face)})


def _cheapest(same: Sequence[Mapping[int, float]], new: Sequence[float]) -> list[int | None]:
    """Return the serial of each sighting's track, None for a new card, so that the sum of the costs is least.

    Bertsekas' auction (1981): each sighting bids for the track that it gains most by, until none is outbid.
    """
    prices: dict[int, float] = defaultdict(float)
    owners: dict[int, int] = {}
    bidders = list(range(len(new)))
    while bidders:
        n = bidders.pop()
        offers = sorted((cost + prices[serial], serial) for serial, cost in same[n].items())
        if offers and offers[0][0] <= new[n]:
            (best, serial), second = offers[0], min([new[n], *(cost for cost, _ in offers[1:])])
            prices[serial] += second - best + BID_STEP
            bidders += [owners[serial]] if serial in owners else []
            owners[serial] = n
    tracks = {n: serial for serial, n in owners.items()}
    return [tracks.get(n) for n in range(len(new))]
