"""The eye: frame after frame to views. It does as little as the table allows.

An idle table costs the gate alone. Where something moves, its zones are unknown; when they are still again they are
read, and what is there must be a card that is read, the bare mat, or what was there before; else they stay unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from companion.common.text import say
from companion.rules.cards import Card
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.mat_layout import DRAW_ZONE, MatLayout
from companion.vision import motion, zones
from companion.vision.boxes import Box, Image
from companion.vision.capture.sources import Frame
from companion.vision.code import side_of
from companion.vision.faces.face_templates import Templates
from companion.vision.faces.occlusion import Lain, look_again, look_at_faces
from companion.vision.fusion import together
from companion.vision.mats import localization, zone_borders
from companion.vision.mats.localization import Mats
from companion.vision.motion import Gate, Motion
from companion.vision.patch import Patch
from companion.vision.read import gray_of, missing_zones, read
from companion.vision.stickers.reader import boxes_to_read
from companion.vision.view import FACE, Sighting, View
from companion.vision.zones import ZoneChanges, ZoneWatch

READS = 3
"""A zone that something has moved in is read on so many frames once it is still."""

READ_AGAIN_S = 1.0
"""How long a zone that cannot be explained waits until it is read again."""

REACH_OUT_MM = 25.0
"""So much around a zone is read with it: a card may lie over its edge."""

HAND_RESTS_S = 20.0
"""What reaches over a mat from the first for longer is no arm that rests there."""

RESTS_S = 0.9
"""The same of what comes to rest later, an arm or a cup: the cards beside it can be followed."""

LIGHT_OR_CAMERA = say("The light or the camera has changed: nothing is followed until the picture is steady again.")
NO_MATS = say("No mat is seen: lay the printed mats so that the camera sees their corners.")
NO_ZONES = say("The zones were drawn on a picture of other proportions than the camera's: draw them anew.")


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """All that the eye remembers."""

    gate: Gate = field(default_factory=Gate)
    mats: Mats = field(default_factory=Mats)
    zones: ZoneWatch = field(default_factory=ZoneWatch)
    view: View | None = None
    reads_left: Mapping[str, int] = field(default_factory=dict)
    """How often each zone is still to be read once it is still."""

    unexplained: frozenset[str] = frozenset()
    """Still zones with something in them that is neither a card that is read nor the bare mat."""

    odd_since_s: Mapping[str, float] = field(default_factory=dict)
    """Since when each of them has been so."""

    things: frozenset[str] = frozenset()
    """Zones in which something lies that may be a card without a sticker."""

    unread: frozenset[str] = frozenset()
    """Zones with a code in them that cannot be told."""

    unaccepted: frozenset[str] = frozenset()
    """Zones that were read last while something was over them: they are read again, whatever they look like."""

    patches: Mapping[str, Patch] = field(default_factory=dict)
    """How each zone looked when it was read last with nothing over it."""

    restless: bool = True
    """Something moved or is to be read: the next frame is looked at even if the gate finds it still."""

    read_s: float | None = None
    """When anything was last read."""

    read_now: frozenset[str] = frozenset()
    """The zones that were read on this very frame; elsewhere the view repeats what was read before."""

    lain: tuple[Lain, ...] = ()
    """The cards that were told by their faces."""

    under: frozenset[int | None] = frozenset()
    """The numbers of those that something was put upon."""

    looks: int = 1
    """So many times anything has been read, and once more."""


class Eye:
    """Turns the frames of one source into views. Not for two threads at once.

    `allowed` are the physical cards of the deck (None: any), `layouts` the mats in play (None: all that are found),
    `drawn` the zones drawn for mats that are not there; they may be drawn anew at any time. `templates` gives the
    faces that cards are told by besides stickers (None: by stickers alone); it may give others at any time.
    """

    def __init__(
        self,
        *,
        allowed: Collection[str] | None = None,
        layouts: Sequence[MatLayout] | None = None,
        drawn: DrawnZones | None = None,
        templates: Callable[[], Templates | None] = lambda: None,
    ) -> None:
        self._allowed = None if allowed is None else frozenset(allowed)
        self._layouts = None if layouts is None else tuple(layouts)
        self._drawn = drawn or DrawnZones()
        self._templates = templates
        self._faces: Templates | None = None
        self.begin_afresh()

    def begin_afresh(self) -> None:
        """Forgets all that was seen."""
        self.sight = Sight()
        self._size: tuple[int, ...] | None = None

    def __call__(self, frame: Frame) -> View:
        """What a frame shows, given all frames before it."""
        size = frame.image.shape[:2]
        if size != self._size:
            # Where mats and cards lay on a picture of another size says nothing about this one.
            self._size, self.sight = size, Sight(mats=Mats(drawing=self.sight.mats.drawing), looks=self.sight.looks)
        drawing = self._drawn.current
        if drawing is not self.sight.mats.drawing:
            # Other zones, and other names of them: nothing that was remembered of the old ones holds.
            self.sight = Sight(gate=self.sight.gate, mats=Mats(drawing=drawing), looks=self.sight.looks)
        faces = self._templates()
        if faces is not self._faces:
            # What was told by other faces means nothing any more: all zones are read anew.
            kept = Sight(gate=self.sight.gate, mats=self.sight.mats, looks=self.sight.looks)
            self._faces, self.sight = faces, kept
        known = Known(self._allowed, self._layouts, faces)
        self.sight, view = look(self.sight, frame, known)
        return view


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the eye knows of the table before it looks."""

    allowed: Collection[str] | None = None
    """The physical cards of the deck; None: any."""

    layouts: Sequence[MatLayout] | None = None
    """The mats in play; None: all that are found."""

    templates: Templates | None = None
    """The faces that cards are told by besides stickers."""


def look(sight: Sight, frame: Frame, known: Known | None = None) -> tuple[Sight, View]:
    """The eye's memory after a frame, and what the frame shows."""
    known = known or Known()
    sight = _after_gap(sight) if frame.after_gap else sight
    sight = replace(sight, gate=motion.update(sight.gate, frame.image), read_now=frozenset())
    before = sight.view
    if before is not None and sight.gate.motion is Motion.EVERYTHING:
        return _blinded(sight, before, frame, known.layouts)
    if before is not None and _is_idle(sight, frame.t_s):
        view = replace(before, t_s=frame.t_s, read_zones=frozenset())
        return replace(sight, view=view), view
    return _looked(sight, frame, known)


def _after_gap(sight: Sight) -> Sight:
    """What still holds when the pictures have broken off: nothing is compared, and nothing has lasted, across that."""
    return replace(sight, gate=Gate(), odd_since_s={}, mats=replace(sight.mats, doubtful={}))


def _is_idle(sight: Sight, t_s: float) -> bool:
    """Whether nothing has moved and nothing is due."""
    return (
        sight.gate.motion is Motion.STILL
        and not sight.restless
        and not localization.is_due(sight.mats, t_s)
        and not ((sight.unexplained or sight.unread) and _read_again(sight, t_s))
    )


def _read_again(sight: Sight, t_s: float) -> bool:
    return sight.read_s is None or not 0 <= t_s - sight.read_s < READ_AGAIN_S


def _blinded(sight: Sight, before: View, frame: Frame, layouts: Sequence[MatLayout] | None) -> tuple[Sight, View]:
    """A frame that cannot be compared with the one before: everything is looked for anew.

    In other light no zone looks as it did when it was accepted, so none is compared with that: all begin afresh.
    """
    every = _every_zone(sight.mats) | missing_zones(sight.mats, layouts or ())
    view = replace(
        before,
        t_s=frame.t_s,
        unknown_zones=every,
        draw_pile_empty=None,
        trouble=LIGHT_OR_CAMERA,
        read_zones=frozenset(),
        things=frozenset(),
    )
    lost = replace(sight.mats, searched_s=None, checked_s=None)
    anew = dict.fromkeys(every, READS)
    left = replace(sight, mats=lost, zones=ZoneWatch(), things=frozenset(), patches={})
    return replace(left, view=view, restless=True, reads_left=anew), view


def _looked(sight: Sight, frame: Frame, known: Known) -> tuple[Sight, View]:
    gray = gray_of(frame.image)
    watch, changes = zones.update(sight.zones, frame.image, sight.mats)
    settling = {zone for zone, left in sight.reads_left.items() if left == READS} - changes.moving
    former = replace(sight.mats, checked_s=None) if settling else sight.mats
    placed = localization.look(gray, former, frame.t_s, known.layouts)
    if placed.fits != sight.mats.fits:
        watch, changes = zones.update(sight.zones, frame.image, placed)
    left = _to_read(sight, changes, placed)
    untouched = _untouched(sight, left, changes, gray)
    left = {zone: reads for zone, reads in left.items() if zone not in untouched}
    sight = replace(sight, mats=placed, zones=watch, reads_left=left)
    due = _due(sight, changes, frame.t_s)
    view, lain = sight.view, sight.lain
    if due or view is None:
        view, lain = _read(sight, frame, gray, due, known)
    sight, view = _judged(sight, view, lain, frame, changes, due, known.layouts)
    boxes = {zone: zones.zone_box(placed, zone, 0.0) for zone in due - view.unknown_zones}
    patches = {zone: Patch.of(gray, box) for zone, box in boxes.items() if box is not None}
    return replace(sight, patches={**sight.patches, **patches}), view


def _to_read(sight: Sight, changes: ZoneChanges, placed: Mats) -> Mapping[str, int]:
    """How often each zone is to be read: all over again after movement, once after a change that crept in."""
    moved = {zone for zone in _every_zone(placed) if zone.partition("/")[0] in placed.moved}
    crept = dict.fromkeys(changes.changed - sight.unexplained, 1)
    left = {zone: reads for zone, reads in sight.reads_left.items() if reads}
    return {**crept, **left, **dict.fromkeys(changes.moving | moved, READS)}


def _untouched(sight: Sight, left: Mapping[str, int], changes: ZoneChanges, gray: Image) -> frozenset[str]:
    """The zones that look as they did when they were read last, now that what moved over them has gone."""
    still = {zone for zone, reads in left.items() if reads == READS} - changes.moving - changes.changed
    known = sight.unexplained | sight.unread | sight.things | sight.unaccepted
    return frozenset(zone for zone in still - known if zone in sight.patches and sight.patches[zone].is_in(gray))


def _due(sight: Sight, changes: ZoneChanges, t_s: float) -> frozenset[str]:
    again = sight.unexplained | sight.unread if _read_again(sight, t_s) else frozenset()
    return (again | {zone for zone, left in sight.reads_left.items() if left}) - changes.moving


def _read(sight: Sight, frame: Frame, gray: Image, due: frozenset[str], known: Known) -> tuple[View, tuple[Lain, ...]]:
    """The view with the due zones read; a sticker that is missed in a place that looks the same still counts."""
    boxes = [box for zone in due if (box := zones.zone_box(sight.mats, zone, REACH_OUT_MM))]
    # What cannot be explained may be a sticker larger or smaller than the others.
    view = read(
        frame,
        sight.mats,
        layouts=known.layouts,
        allowed=known.allowed,
        where=boxes,
        before=sight.view,
        gray=gray,
        every_size=bool(due & (sight.unexplained | sight.unread)),
        stickers=known.templates is None or _may_have_stickers(sight, due),
    )
    faces, lain = _faces(sight, frame, boxes_to_read(gray, boxes), due, known.templates)
    old = {id(s) for s in sight.view.sightings} if sight.view else set()
    read_before = [s for s in view.sightings if id(s) in old and s.by != FACE]
    read_now = together([s for s in view.sightings if id(s) not in old], faces)
    placed = (s if s.by == FACE else zone_borders.settled(sight.mats, s) for s in read_now)
    found = [s for s in (*read_before, *_faces_elsewhere(sight, due), *placed) if s.zone is not None]
    cards = {s.card for s in found if s.card}
    missed = [s for s in (sight.view.sightings if sight.view else ()) if s.card and s.card not in cards]
    kept = [s for s in missed if not _taken(s, found) and _still_lies(sight, s, found)]
    return replace(view, sightings=(*found, *kept)), lain


def _may_have_stickers(sight: Sight, due: frozenset[str]) -> bool:
    """Whether stickers are worth looking for beside faces: some were read, or a zone has not been seen before."""
    read_before = any(s.card for s in (sight.view.sightings if sight.view else ()))
    return read_before or not all(zones.is_settled(sight.zones, zone) for zone in due)


def _faces_elsewhere(sight: Sight, due: frozenset[str]) -> Iterator[Sighting]:
    """What was told by its face in zones that are not read now."""
    return (s for s in _by_face(sight) if s.zone not in due)


def _by_face(sight: Sight) -> Iterator[Sighting]:
    return (s for s in (sight.view.sightings if sight.view else ()) if s.by == FACE)


def _read_again_now(sight: Sight, due: frozenset[str]) -> frozenset[str]:
    """Those of the due zones that have been read since they are still: they are read several times to be sure."""
    hidden = sight.view.unknown_zones if sight.view else frozenset()
    return frozenset(zone for zone in due - hidden if 0 < sight.reads_left.get(zone, 0) < READS)


def _faces(
    sight: Sight, frame: Frame, boxes: Sequence[Box], due: frozenset[str], templates: Templates | None
) -> tuple[tuple[Sighting, ...], tuple[Lain, ...]]:
    """The cards in the due zones by their faces, and all that are to be remembered."""
    if templates is None:
        return (), ()
    here = [lain for lain in sight.lain if lain.sighting.zone in due]
    elsewhere = [lain for lain in sight.lain if lain.sighting.zone not in due]
    untouched = _read_again_now(sight, due)
    again = look_again(frame.image, sight.mats, templates, here) if here and untouched == due else None
    if again is not None:
        unread = (s for s in _by_face(sight) if s.zone in due and s.face is Card.UNKNOWN)
        return (*(card.sighting for card in again if not card.missed), *unread), (*elsewhere, *again)
    # A card that was never seen whole lies there from before we looked: later ones are read when they are laid.
    first = not here and not all(zones.is_settled(sight.zones, zone) for zone in due)
    faces, lain = look_at_faces(
        frame.image, sight.mats, templates, boxes, here, look=sight.looks, beneath=first, untouched=untouched
    )
    return tuple(s for s in faces if s.zone in due), (*elsewhere, *(card for card in lain if card.sighting.zone in due))


def _still_lies(sight: Sight, missed: Sighting, found: Sequence[Sighting]) -> bool:
    """Whether a card that is not read must still lie there: its place looks the same, or a thing was put upon it.

    What lies upon it is no thing where a card that has come to lie there explains it; one that lay there before and
    looks as it did explains nothing.
    """
    new = [s for s in found if not zones.looks_the_same(sight.zones, s)]
    return zones.looks_the_same(sight.zones, missed) or zones.is_under_a_thing(sight.zones, missed, new)


def _taken(missed: Sighting, found: Sequence[Sighting]) -> bool:
    """Whether another code is read where a missed one was."""
    return any(math.dist(missed.centre_px, s.centre_px) < side_of(s.corners_px) for s in found if s.corners_px)


def _judged(
    sight: Sight,
    view: View,
    lain: tuple[Lain, ...],
    frame: Frame,
    changes: ZoneChanges,
    due: frozenset[str],
    layouts: Sequence[MatLayout] | None,
) -> tuple[Sight, View]:
    """Which zones may be spoken of, after the due ones were read."""
    open_to_doubt = (changes.changed | due) - changes.touched_border
    odd = zones.unexplained(sight.zones, open_to_doubt, view.sightings) | changes.touched_border
    odd_since_s = {zone: sight.odd_since_s.get(zone, frame.t_s) for zone in odd}
    things = {zone for zone in odd & due if frame.t_s - odd_since_s[zone] >= _patience_s(sight, zone)}
    odd -= things
    under = _faces_under(sight, view, things, due)
    view = replace(view, sightings=(*view.sightings, *under))
    lying = _things(sight, view, due) | (sight.things - changes.moving)
    hidden = changes.moving | changes.cut_off | odd | missing_zones(sight.mats, layouts or ())
    view = replace(
        view,
        t_s=frame.t_s,
        mats=sight.mats.seen(),
        unknown_zones=hidden,
        draw_pile_empty=None if DRAW_ZONE in hidden else sight.mats.draw_marker_seen,
        trouble=_trouble(sight.mats),
        read_zones=due,
        things=frozenset(lying),
    )
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
            unaccepted=(sight.unaccepted - due) | (due & hidden),
            things=view.things,
            unread=frozenset(s.zone for s in view.sightings if s.face is Card.UNKNOWN and s.zone is not None),
            lain=tuple(_not_missed(lain, hidden, {s.stay for s in under}, sight.lain)),
            restless=bool(left or changes.moving),
            under=frozenset(elsewhere | {s.stay for s in under}),
            looks=sight.looks + 1,
            read_s=frame.t_s if due else sight.read_s,
            read_now=due,
        ),
        view,
    )


def _faces_under(sight: Sight, view: View, things: Collection[str], due: Collection[str]) -> tuple[Sighting, ...]:
    """The cards that were told by their faces before something was put upon them: just now in a zone with `things`.

    Or earlier, where their place looks as it did then.
    """
    told = {s.stay for s in view.sightings if s.by == FACE}
    new = [s for s in view.sightings if s.zone in things and not zones.looks_the_same(sight.zones, s)]
    missed = (lain for lain in sight.lain if lain.sighting.zone in due and lain.order not in told)
    return tuple(
        replace(lain.sighting, stay=lain.order)
        for lain in missed
        if _is_under(sight, lain, new, is_new=lain.sighting.zone in things)
    )


def _is_under(sight: Sight, lain: Lain, found: Sequence[Sighting], *, is_new: bool) -> bool:
    if is_new:
        return not lain.is_buried and zones.is_under_a_thing(sight.zones, lain.sighting, found)
    return lain.order in sight.under and zones.looks_the_same(sight.zones, lain.sighting)


def _not_missed(
    lain: Iterable[Lain], hidden: Collection[str], under: Collection[int | None], before: Iterable[Lain]
) -> Iterator[Lain]:
    """What is remembered of cards; that one is not seen in a zone or `under` a thing out of sight says nothing.

    Nor does a card that is seen there for the first time: it may be in a hand.
    """
    missed = {card.order: card.missed for card in before}
    for card in lain:
        is_hidden = card.sighting.zone in hidden or card.order in under
        if not is_hidden:
            yield card
        elif card.order in missed:
            yield replace(card, missed=min(card.missed, missed[card.order]))


def _things(sight: Sight, view: View, due: frozenset[str]) -> frozenset[str]:
    """Of the due zones those where something lies that may be a card, and none is read that would explain it."""
    remembered = {id(s) for s in sight.view.sightings} if sight.view else set()
    read_now = [s for s in view.sightings if id(s) not in remembered]
    return frozenset(zone for zone in due if zones.lies_like_a_card(sight.zones, zone, read_now))


def _patience_s(sight: Sight, zone: str) -> float:
    """How long something has to lie still in a zone until it counts as a thing that was put there.

    The cards beneath it are remembered as they were, and what happens beside it can be followed.
    """
    return RESTS_S if zones.is_settled(sight.zones, zone) else HAND_RESTS_S


def _trouble(placed: Mats) -> str | None:
    if not placed.fits:
        return NO_MATS if placed.drawing is None else NO_ZONES
    printed = sum(fit.is_measured for fit in placed.fits)
    return LIGHT_OR_CAMERA if printed and len(placed.moved) == printed else None


def _every_zone(placed: Mats) -> frozenset[str]:
    return frozenset(f"{fit.layout.id}/{zone}" for fit in placed.fits for zone in fit.layout.zones)
