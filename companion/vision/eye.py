"""Turn a camera's frames into views, reading only zones that changed.

While nothing moves, only the motion gate runs. Moving zones are unknown and read afterwards. A still zone is known if
it shows read cards, bare mat, or what it showed before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from companion.common.text import say
from companion.rules.cards import Card
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.mat_layout import DRAW_ZONE, is_pile, kind_of, mat_of
from companion.vision import motion, zones
from companion.vision.boxes import Box, Image, around, boxes_within
from companion.vision.capture.sources import Frame
from companion.vision.faces.face_templates import Templates
from companion.vision.faces.occlusion import look_again, look_at_faces
from companion.vision.faces.remembered_cards import FACE_UP_PILES, LOOKS, Lain, lies_over
from companion.vision.mats import localization, zone_borders
from companion.vision.mats.localization import Mats
from companion.vision.motion import Gate, Motion, Patch
from companion.vision.read import gray_of, read, together
from companion.vision.stickers.card_place import StickerPlace, covering
from companion.vision.stickers.reader import are_there
from companion.vision.view import FACE, Blindness, Hidden, Sighting, View, side_of
from companion.vision.zones import ZoneChanges, ZoneWatch

READS = LOOKS  # reads of a zone after movement; a card missed in all is gone
READ_AGAIN_S = 1.0  # pause between reads of an unexplained zone
REACH_OUT_MM = 25.0  # margin read around a zone: cards may cross its edge
HAND_RESTS_S = 20.0  # until an obstruction of a zone never accepted counts as an object
RESTS_S = 0.9  # the same on an accepted zone, to follow the cards beside it
LIGHT_OR_CAMERA = say("The light or the camera has changed: plays are not detected until the picture is steady again.")
NO_MATS = say("No mat found: place the printed mats so that the camera sees their corners.")
NO_ZONES = say("The zones were drawn on a picture with other proportions than the camera's: draw them again.")


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """State of the eye between frames."""

    gate: Gate = field(default_factory=Gate)
    mats: Mats = field(default_factory=Mats)
    zones: ZoneWatch = field(default_factory=dict)
    view: View | None = None
    reads_left: Mapping[str, int] = field(default_factory=dict)  # due per zone
    unexplained: frozenset[str] = frozenset()  # still zones that show more than read cards and bare mat
    odd_since_s: Mapping[str, float] = field(default_factory=dict)  # by unexplained zone
    unaccepted: frozenset[str] = frozenset()  # zones hidden at their last read; always read again
    patches: Mapping[str, Patch] = field(default_factory=dict)  # zones at their last unhidden read
    restless: bool = True  # movement or pending reads
    read_s: float | None = None
    lain: tuple[Lain, ...] = ()  # cards recognized by face
    under: frozenset[int | None] = frozenset()  # `Lain.order` of those under an object
    covered: Mapping[str, str] = field(default_factory=dict)  # card → card of another zone on its sticker
    told: frozenset[str] = frozenset()  # zones fully explained at the last read
    looks: int = 1  # number of the next read
    glued: StickerPlace = field(default_factory=StickerPlace)

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        return self.view.sightings if self.view else ()

    @property
    def unread(self) -> frozenset[str]:
        """Zones with an unrecognized card."""
        return frozenset(s.zone for s in self.sightings if s.face is Card.UNKNOWN and s.zone is not None)

    @property
    def read_once(self) -> frozenset[str]:
        """Zones with some, not all, of their reads done."""
        return frozenset(zone for zone, left in self.reads_left.items() if 0 < left < READS)

    @property
    def things(self) -> frozenset[str]:
        """Zones with an object that may be a card."""
        return self.view.things if self.view else frozenset()


class Eye:
    """Callable that turns the frames of one source into views. Not thread-safe.

    `allowed` are the deck's physical cards (None: any), `drawn` the zones where no mats are. `templates` returns the
    faces to recognize, or None for stickers alone. `drawn` and `templates` may change any time.
    """

    def __init__(
        self,
        *,
        allowed: Collection[str] | None = None,
        drawn: DrawnZones | None = None,
        templates: Callable[[], Templates | None] = lambda: None,
    ) -> None:
        self._allowed = allowed
        self._faces: Templates | None = None
        self._drawn = drawn or DrawnZones()
        self._templates = templates
        self.sight = Sight()
        self._size: tuple[int, ...] | None = None

    def begin_afresh(self) -> None:
        # Cards recognized by face need new numbers.
        self.sight = Sight(looks=self.sight.looks, glued=self.sight.glued)
        self._size = None

    def __call__(self, frame: Frame) -> View:
        """Return the view of the next frame."""
        size, drawing, faces = frame.image.shape[:2], self._drawn.current, self._templates()
        gate, mats = self.sight.gate, self.sight.mats
        if size != self._size:
            gate, mats = Gate(), Mats(drawing=drawing)
        if drawing is not mats.drawing:
            mats = Mats(drawing=drawing)
        if mats is not self.sight.mats or faces is not self._faces:
            self._size, self._faces = size, faces
            self.sight = Sight(gate=gate, mats=mats, looks=self.sight.looks, glued=self.sight.glued)
        self.sight, view = self._look(self.sight, frame)
        return view

    def _look(self, sight: Sight, frame: Frame) -> tuple[Sight, View]:
        if frame.after_gap:
            # Comparisons and durations do not span gaps.
            sight = replace(sight, gate=Gate(), odd_since_s={}, mats=replace(sight.mats, doubtful={}))
        sight = replace(sight, gate=motion.update(sight.gate, frame.image))
        before = sight.view
        if before is not None and sight.gate.motion is Motion.EVERYTHING:
            return self._without_comparison(sight, before, frame)
        if before is not None and _is_idle(sight, frame.t_s):
            view = replace(before, t_s=frame.t_s)
            return replace(sight, view=view), view
        return self._looked(sight, frame)

    def _without_comparison(self, sight: Sight, before: View, frame: Frame) -> tuple[Sight, View]:
        """Return state and view after a change of light or camera: all zones unknown and due."""
        every = _every_zone(sight.mats)
        view = replace(
            before,
            t_s=frame.t_s,
            unknown_zones=every,
            draw_pile_empty=None,
            trouble=LIGHT_OR_CAMERA,
            things=frozenset(),
        )
        lost = replace(sight.mats, searched_s=None, checked_s=None)
        due = dict.fromkeys(every, READS)
        blind = replace(sight, mats=lost, zones={}, patches={}, told=frozenset(), restless=True, reads_left=due)
        return replace(blind, view=view), view

    def _looked(self, sight: Sight, frame: Frame) -> tuple[Sight, View]:
        gray = gray_of(frame.image)
        watch, changes = zones.update(sight.zones, frame.image, sight.mats)
        settling = {zone for zone, left in sight.reads_left.items() if left == READS} - changes.moving
        former = replace(sight.mats, checked_s=None) if settling else sight.mats
        placed = localization.look(gray, former, frame.t_s)
        if placed.fits != sight.mats.fits:
            watch, changes = zones.update(sight.zones, frame.image, placed)
        left = _to_read(sight, changes, placed, gray)
        sight = replace(sight, mats=placed, zones=watch, reads_left=left)
        again = sight.unexplained | sight.unread if _read_again(sight, frame.t_s) else frozenset()
        due = (again | left.keys()) - changes.moving
        # Half a face beside a hand may be taken for one further on.
        movement = changes.moving if self._faces is None else ()
        parts = {zone: zones.parts_at_rest(watch, zone, READS) for zone in sorted(movement)}
        beside = {zone: boxes for zone, boxes in parts.items() if boxes}
        view, lain = sight.view, sight.lain
        if due or beside or view is None:
            sight, view, lain = self._read(sight, frame, gray, due, beside, changes)
            sight = replace(sight, zones=zones.with_read(sight.zones, beside, READS))
        sight, view = self._judged(sight, view, lain, frame, changes, due)
        quads = {zone: zones.zone_px(placed, zone) for zone in due - view.unknown_zones}
        patches = {zone: Patch.of(gray, corners) for zone, corners in quads.items() if corners is not None}
        return replace(sight, patches={**sight.patches, **patches}), view

    def _read(
        self,
        sight: Sight,
        frame: Frame,
        gray: Image,
        due: frozenset[str],
        beside: Mapping[str, Sequence[Box]],
        changes: ZoneChanges,
    ) -> tuple[Sight, View, tuple[Lain, ...]]:
        """Read `due` zones, and stickers in boxes `beside` movement; return state, view and the cards to remember.

        Missed stickers in unchanged places stay in the view.
        """
        once_more = (due - changes.changed) & sight.told & sight.read_once
        before = sight.sightings
        faces, lain = self._read_faces(sight, frame, gray, due, once_more)
        if self._faces is None:
            boxes = _boxes_round(due - _stickers_in_place(sight, gray, once_more), sight.mats)
        elif any(s.card for s in before):
            # A card's sticker and face belong together.
            boxes = _boxes_round(due, sight.mats)
        else:
            # A change across the mat's border is an arm.
            rest = _first_sticker_zones(sight, due - changes.touched_border, faces)
            boxes = [box for zone in sorted(rest) for box in _boxes_in(sight, zone, gray)]
        boxes += [box for parts in beside.values() for box in parts]
        view = read(
            frame,
            sight.mats,
            allowed=self._allowed,
            where=boxes,
            before=sight.view,
            gray=gray,
            # An unexplained object may be a sticker of another size.
            every_size=bool(due & (sight.unexplained | sight.unread)),
        )
        old = {id(s) for s in before}
        read_before = [s for s in view.sightings if id(s) in old and s.by != FACE]
        read_now = together([s for s in view.sightings if id(s) not in old], faces)
        placed = (
            s if s.by == FACE else zone_borders.settled(sight.mats, sight.glued.placed(sight.mats, s)) for s in read_now
        )
        elsewhere = (s for s in before if s.by == FACE and s.zone not in due)
        found = [s for s in (*read_before, *elsewhere, *placed) if s.zone is not None]
        cards = {s.card for s in found if s.card}
        missed = [s for s in before if s.card and s.card not in cards]
        hidden = (s for s in missed if s.zone in beside and not zones.is_in_sight(sight.zones, s))
        lying = (s for s in missed if s.zone not in beside and _still_lies(sight, s, found))
        covered = dict(covering(missed, found, before, sight.covered))
        under = (s for s in missed if s.card in covered)
        view = replace(view, sightings=tuple(dict.fromkeys((*found, *hidden, *lying, *under))))
        return replace(sight, covered=covered, glued=sight.glued.after(found, sight.mats)), view, lain

    def _read_faces(
        self, sight: Sight, frame: Frame, gray: Image, due: frozenset[str], once_more: frozenset[str]
    ) -> tuple[tuple[Sighting, ...], tuple[Lain, ...]]:
        """Return the sightings by face in `due` zones, and all cards to remember."""
        templates = self._faces
        if templates is None:
            return (), ()
        elsewhere = [lain for lain in sight.lain if lain.sighting.zone not in due]
        hidden = sight.view.unknown_zones if sight.view else frozenset()
        untouched = (due - hidden) & sight.read_once
        still = [lain for lain in sight.lain if lain.sighting.zone in untouched]
        as_before = untouched if still else untouched & once_more
        again = look_again(frame.image, sight.mats, templates, still)
        if again is None:
            as_before, again = frozenset(), ()
        unread = (s for s in sight.sightings if s.by == FACE and s.zone in as_before and s.face is Card.UNKNOWN)
        told = (*(card.sighting for card in again if not card.missed), *unread)
        rest = due - as_before
        if not rest:
            return told, (*elsewhere, *again)
        here = [lain for lain in sight.lain if lain.sighting.zone in rest]
        # After the first look, partly hidden cards are known.
        first = not here and not all(zones.is_settled(sight.zones, zone) for zone in rest)
        boxes = boxes_within(frame.image, [box for zone in sorted(rest) for box in _boxes_in(sight, zone, gray)])
        beside = [s for s in sight.sightings if s.by == FACE and s.zone in rest and _lies_beside(sight, s, boxes)]
        far = [lain for lain in here if _lies_beside(sight, lain.sighting, boxes)]
        here = [lain for lain in here if lain not in far]
        faces, lain = look_at_faces(
            frame.image,
            sight.mats,
            templates,
            boxes,
            here,
            look=sight.looks,
            beneath=first,
            untouched=untouched,
            outlines=zones.outlines(sight.zones, rest),
        )
        anew = (card for card in lain if card.sighting.zone in rest)
        return (*told, *beside, *(s for s in faces if s.zone in rest)), (*elsewhere, *again, *far, *anew)

    def _judged(
        self,
        sight: Sight,
        view: View,
        lain: tuple[Lain, ...],
        frame: Frame,
        changes: ZoneChanges,
        due: frozenset[str],
    ) -> tuple[Sight, View]:
        """Return state and view after `due` zones were read: each accepted or unknown."""
        open_to_doubt = (changes.changed | due) - changes.touched_border
        # Zones unexplained at their last read still are.
        hidden_faces = tuple(_faces_hidden(sight, view, lain, due | (sight.unexplained - changes.moving)))
        explaining = (*view.sightings, *beneath(view, lain))
        odd = zones.unexplained(sight.zones, open_to_doubt, explaining) | changes.touched_border
        odd |= {s.zone for s in hidden_faces if s.zone is not None and s.stay not in sight.under}
        odd_since_s = {zone: sight.odd_since_s.get(zone, frame.t_s) for zone in odd}
        # Remember the cards under an object that stays.
        patience_s = {zone: RESTS_S if zones.is_settled(sight.zones, zone) else HAND_RESTS_S for zone in odd}
        things = {zone for zone in odd & due if frame.t_s - odd_since_s[zone] >= patience_s[zone]}
        odd -= things
        under = [s for s in hidden_faces if s.zone in things or s.stay in sight.under]
        stays = {s.stay for s in under}
        view = replace(view, sightings=(*view.sightings, *under))
        old = {id(s) for s in sight.sightings}
        read_now = [s for s in view.sightings if id(s) not in old]
        lying = {zone for zone in due if zones.lies_like_a_card(sight.zones, zone, read_now)}
        hidden = changes.moving | changes.cut_off | odd
        view = replace(
            view,
            t_s=frame.t_s,
            mats=sight.mats.seen(),
            unknown_zones=hidden,
            draw_pile_empty=None if DRAW_ZONE in hidden else sight.mats.draw_marker_seen,
            trouble=_trouble(sight.mats),
            things=frozenset(lying | (sight.things - changes.moving)),
            hidden=_hidden_places(sight, view, changes, odd),
            blind=zones.too_bright(sight.zones) | dict.fromkeys(changes.cut_off - {DRAW_ZONE}, Blindness.OUTSIDE),
        )
        told = {zone for zone in due - hidden - lying - things if _is_explained(sight, view, zone, changes.changed)}
        left = {zone: reads - (zone in due) for zone, reads in sight.reads_left.items() if reads > (zone in due)}
        elsewhere = {card.order for card in sight.lain if card.sighting.zone not in due - hidden} & sight.under
        return (
            replace(
                sight,
                zones=zones.accept(sight.zones, due - hidden, view.sightings, hidden),
                view=view,
                reads_left=left,
                unexplained=odd,
                odd_since_s=odd_since_s,
                told=(sight.told - due - changes.moving) | told,
                unaccepted=(sight.unaccepted - due) | (due & hidden),
                lain=tuple(remembered(lain, hidden, stays, sight.lain)),
                restless=bool(left or changes.moving),
                under=frozenset(elsewhere | stays),
                looks=sight.looks + 1,
                read_s=frame.t_s if due else sight.read_s,
            ),
            view,
        )


def _is_idle(sight: Sight, t_s: float) -> bool:
    return (
        sight.gate.motion is Motion.STILL
        and not sight.restless
        and not localization.is_due(sight.mats, t_s)
        and not ((sight.unexplained or sight.unread) and _read_again(sight, t_s))
    )


def _read_again(sight: Sight, t_s: float) -> bool:
    return sight.read_s is None or not 0 <= t_s - sight.read_s < READ_AGAIN_S


def _to_read(sight: Sight, changes: ZoneChanges, placed: Mats, gray: Image) -> Mapping[str, int]:
    """Return reads due per zone: `READS` after movement, none if unchanged since last read."""
    moved = {zone for zone in _every_zone(placed) if mat_of(zone) in placed.moved}
    crept = dict.fromkeys(changes.changed - sight.unexplained, 1)
    left = {**crept, **sight.reads_left, **dict.fromkeys(changes.moving | moved, READS)}
    still = {zone for zone, reads in left.items() if reads == READS} - changes.moving - changes.changed
    still -= sight.unexplained | sight.unread | sight.things | sight.unaccepted
    untouched = {zone for zone in still if zone in sight.patches and sight.patches[zone].is_in(gray)}
    return {zone: reads for zone, reads in left.items() if zone not in untouched}


def _boxes_round(these: Iterable[str], mats: Mats) -> list[Box]:
    """Return the boxes to read for zones, none for the face-down draw pile."""
    quads = (zones.zone_px(mats, zone, REACH_OUT_MM) for zone in sorted(these) if zone != DRAW_ZONE)
    return [around(corners) for corners in quads if corners is not None]


def _boxes_in(sight: Sight, zone: str, gray: Image) -> list[Box]:
    """Return boxes to search for faces: the changed parts of a wide zone, else the whole zone.

    Changed parts suffice only if the print around them is unchanged.
    """
    changed = [] if kind_of(zone) in FACE_UP_PILES else zones.changed_parts(sight.zones, zone)
    if changed and zone in sight.patches and sight.patches[zone].is_in(gray, changed):
        return changed
    return _boxes_round([zone], sight.mats)


def _hidden_places(sight: Sight, view: View, changes: ZoneChanges, odd: Collection[str]) -> Mapping[str, Hidden]:
    """Return what of each mat cannot be judged; a mat that is not all in the picture is left out."""
    unknown = changes.moving | odd | zones.partly_white(sight.zones)
    mats = {mat_of(zone) for zone in unknown} - {mat_of(zone) for zone in changes.cut_off}
    found = {mat: zones.hidden_on(sight.zones, mat, changes.moving, odd, view.sightings) for mat in sorted(mats)}
    return {mat: hidden for mat, hidden in found.items() if hidden is not None}


def _lies_beside(sight: Sight, sighting: Sighting, boxes: Sequence[Box]) -> bool:
    """True if a card is outside the boxes and looks unchanged."""
    place = around(sighting.corners_px or ())
    return not any(place.touches(box) for box in boxes) and zones.looks_the_same(sight.zones, sighting)


def _stickers_in_place(sight: Sight, gray: Image, zones_told: frozenset[str]) -> frozenset[str]:
    """Return those of `zones_told` with all stickers still in place."""
    there = [s for s in sight.sightings if s.zone in zones_told]
    seen = are_there(gray, [(s.card, s.corners_px) for s in there])
    return zones_told - {s.zone for s, is_there in zip(there, seen, strict=True) if not is_there}


def _first_sticker_zones(sight: Sight, due: frozenset[str], faces: Sequence[Sighting]) -> frozenset[str]:
    """Return the due zones to search for a first sticker: new, or not explained by faces."""
    unseen = {zone for zone in due if not zones.is_settled(sight.zones, zone)}
    unread = {s.zone for s in faces if s.face is Card.UNKNOWN and s.zone is not None}
    return (unseen | unread | zones.unexplained(sight.zones, due, faces)) & due


def _still_lies(sight: Sight, missed: Sighting, found: Sequence[Sighting]) -> bool:
    """True if a missed card is still there: its place looks unchanged, or an object that is no new card covers it."""
    if any(math.dist(missed.centre_px, s.centre_px) < side_of(s.corners_px) for s in found if s.corners_px):
        return False
    new = [s for s in found if not zones.looks_the_same(sight.zones, s)]
    return zones.looks_the_same(sight.zones, missed) or zones.is_under_a_thing(sight.zones, missed, new)


def _is_explained(sight: Sight, view: View, zone: str, changed: Collection[str]) -> bool:
    """True if stickers explain a zone: no card changed, or one was added and only cards under it are missed."""
    before, now = ({s.card for s in sightings if s.zone == zone} for sightings in (sight.sightings, view.sightings))
    if None in now or not zones.is_settled(sight.zones, zone):
        return False
    if zone not in changed or zone == DRAW_ZONE:
        return now == before
    return now > before or (kind_of(zone) in FACE_UP_PILES and bool(now - before))


def _faces_hidden(sight: Sight, view: View, lain: Iterable[Lain], those: Collection[str | None]) -> Iterator[Sighting]:
    """Yield hidden cards in zones `those`: their places show neither ground nor a later card."""
    told = {s.stay for s in view.sightings}
    for card in lain:
        seen = replace(card.sighting, stay=card.order)
        is_out_of_sight = seen.zone in those and not card.is_buried and card.order not in told
        if is_out_of_sight and zones.is_hidden(sight.zones, card.mat, card.corners_mm):
            later = (s for s in view.sightings if s.stay is None or s.stay > card.order)
            if not any(lies_over(s, seen) for s in later):
                yield seen


def beneath(view: View, lain: Iterable[Lain]) -> Iterator[Sighting]:
    """Yield missed cards of piles whose top card is recognized; they explain the pile's edges."""
    piles = {s.zone for s in view.sightings if s.by == FACE and s.face is not Card.UNKNOWN and is_pile(s.zone or "")}
    yield from (card.sighting for card in lain if card.missed and card.sighting.zone in piles)


def remembered(
    lain: Iterable[Lain], hidden: Collection[str], under: Collection[int | None], before: Iterable[Lain]
) -> Iterator[Lain]:
    """Yield the cards to remember: as `before` in a hidden zone or `under` an object, else as now."""
    known = {card.order: card for card in before}
    for card in lain:
        if card.sighting.zone not in hidden and card.order not in under:
            yield card
        elif card.order in known:
            was = known[card.order]
            # It moves with its mat.
            yield replace(was, missed=min(card.missed, was.missed), corners_mm=card.corners_mm)


def _trouble(placed: Mats) -> str | None:
    if not placed.fits:
        return NO_MATS if placed.drawing is None else NO_ZONES
    printed = sum(fit.is_measured for fit in placed.fits)
    return LIGHT_OR_CAMERA if printed and len(placed.moved) == printed else None


def _every_zone(placed: Mats) -> frozenset[str]:
    return frozenset(f"{fit.layout.id}/{zone}" for fit in placed.fits for zone in fit.layout.zones)
