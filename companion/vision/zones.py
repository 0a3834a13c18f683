"""What happens in each zone over time: moving, changed, or covered by something that is no card.

Every mat is looked at from straight above on a small picture of its own, one pixel for `MM_PER_PX` millimetres, with
a rim of table around it. Two pictures are remembered: the last one (does anything move?) and the one last accepted,
zone by zone (what has changed since?). Three cues keep a hand that is held still from looking like an empty zone:

* what has changed reaches from the zone over the mat's rim: an arm;
* what has changed is neither near a sticker that is read nor like the bare mat: a hand, a cup, a card face down;
* what has changed is larger than the cards that are read there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from companion.tabletop.mat_layout import CARD_MM, DRAW_ZONE, MAX_SIDES, MatLayout, Rect
from companion.vision.boxes import Box, Floats, Image, Mask, around
from companion.vision.mats.homography import Fit, as_quad, corners_mm
from companion.vision.mats.localization import Mats
from companion.vision.opencv import cv2
from companion.vision.view import FACE, Quad, Sighting

MM_PER_PX = 4.0
RIM_MM = 32.0  # width of the table around a mat that is looked at: more than a card over its edge covers
STILL_FRAMES = 2  # number of frames without movement that settle a zone
FIRST_STILL_FRAMES = 2 * STILL_FRAMES  # the same for a zone never accepted: there is nothing to compare it with
MOVING_LEVELS = 14
CHANGED_LEVELS = 24
SAME_LIGHT = 0.04  # difference of light, as a share, below which it is the same
LIT_LEVELS = 40  # grey level below which a place tells nothing of how the light has changed
MIN_PATCH_PX = 4  # minimum size of a patch, 64 mm²: a smaller one is noise or a sticker's edge
SHADE = (0.6, 1.6)  # range of brightness of one surface in shadow or in more light, all colours alike
BRIGHT = 1.25  # maximum brightness of bare ground where something lay, against the ground around it
SHADE_LEVELS = 12
SHINE_LEVELS = 25  # maximum difference of colour beyond brightness: of a surface, and of a lamp's reflection on it
REACH_MM = 95.0  # maximum distance from the middle of a sticker to its card's farthest corner, wherever it is stuck
FACE_REACH_MM = 62.0  # the same from the middle of a card, with a little room
CARD_PX = CARD_MM[0] * CARD_MM[1] / MM_PER_PX**2
CARD_SHARES = (0.35, 1.4)  # range of what something that may be a card changes, as a share of what a card covers
REACHED_SHARE, LARGER = 0.9, 1.5  # least share of a patch within reach of cards that are its own, and size against them
INSIDE_SHARE = 0.85  # minimum share of a zone within the picture for it to be judged
ARM_PX = 5  # minimum width of an arm where it crosses the sheet's edge, counted on its outermost strip of two pixels
LEAST_ARM_PX = 150  # minimum size of a hand with its arm on a sheet; the dark corner of a badly lit one is smaller
MARKER_ROUND_MM = 8.0
MOVED_PX = 6.0
ENOUGH_GROUND_PX = 20
MOST_PRINT_PX = 60  # largest word or sign printed on a zone; what is larger and not of the ground's colour lies on it
CLEARED_SHARE = 0.25
"""Minimum share of a sticker's place on which bare ground shows once the card has gone. What covers a card shows none;
where one was taken from beside the figure 50 of a distance area, 0.6 of its sticker's place was bare."""

Slices = tuple[slice, slice]
Colours = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class MatMemory:
    """What is remembered of one mat, and what follows from it."""

    fit: Fit
    last: Image  # the mat when anything last moved on it, or its light had changed, `(h, w, 3) uint8 BGR`, with its rim
    accepted: Image  # the same as last accepted, zone by zone
    bare: Image  # the look of the mat where no card lies, as far as it has been seen
    bare_known: Mask
    still: Mapping[str, int]  # number of frames for which nothing has moved in each zone, as `side-1/battle`
    settled: frozenset[str] = frozenset()  # zones that have been accepted at least once

    @cached_property
    def zones(self) -> Mapping[str, Slices]:
        """Rows and columns of each zone on these pictures."""
        return _zones_of(self.fit.layout)

    @cached_property
    def accepted_now(self) -> Colours:
        """What was accepted, in the light of now."""
        return _evened(self, self.accepted)

    @cached_property
    def bare_now(self) -> Colours:
        """The bare mat in the light of now."""
        return _evened(self, self.bare)

    @cached_property
    def different(self) -> Mask:
        """Where the mat looks other than when it was accepted, the light of the whole evened out."""
        return _apart(self.last, self.accepted_now) > CHANGED_LEVELS

    @cached_property
    def other_surface(self) -> Mask:
        """Where it shows another surface than when it was accepted, not the same one in other light."""
        return self.different & ~self.is_as_accepted

    @cached_property
    def foreign(self) -> npt.NDArray[np.int32]:
        """Patches of something new, numbered from 1: changed, not only in shade, and not like the bare mat."""
        # Where the bare mat was seen, its print must show again: a pale sleeve has the ground's colour, but no print.
        like_ground = _like_ground(self, self.bare_now, _never_seen_bare(self))
        # Near cards the sheet between the zones may never have been seen bare.
        like_paper = _between_zones(self.fit.layout) & _same_surface(self.last, _paper(self))
        like_bare = np.where(self.bare_known, _same_surface(self.last, self.bare_now), like_ground | like_paper)
        return cv2.connectedComponents((self.other_surface & ~like_bare).astype(np.uint8), connectivity=8)[1]

    @cached_property
    def arms(self) -> Mask:
        """Where something new goes on over the mat's rim to the edge of what is looked at."""
        first, last, left, right = self.foreign[0], self.foreign[-1], self.foreign[:, 0], self.foreign[:, -1]
        edge = np.concatenate((first, last, left, right))
        return np.isin(self.foreign, edge[edge > 0])

    @cached_property
    def cleared(self) -> Mask:
        """Where something lay when the mat was accepted and its bare ground shows now."""
        return self.other_surface & self.ground

    @cached_property
    def ground(self) -> Mask:
        """Where zones have the colour of their bare ground, and shine no brighter, as a telephone's screen does."""
        return _like_ground(self, self.bare_now, self.zones.values(), brightest=BRIGHT)

    @cached_property
    def is_as_accepted(self) -> Mask:
        """Where the mat shows the surface that was accepted, in shadow or in more light."""
        return _same_surface(self.last, self.accepted_now)

    @cached_property
    def reaching_in(self) -> npt.NDArray[np.int32]:
        """Patches that are not of the sheet's colours and reach in over its edge, numbered: an arm, before all else."""
        layout = self.fit.layout
        on_ground = _like_ground(self, self.last.astype(np.float32), self.zones.values())
        strange = _between_zones(layout) | (_in_zones(layout) & ~on_ground)
        # White paper, or a lamp mirrored in it, brighter still: hands and sleeves are darker.
        paper = _paper(self)
        shade, left = _shade(self.last, paper)
        strange &= ~_same_surface(self.last, paper) & ~((shade >= 1) & (left <= SHINE_LEVELS))
        strange &= ~_on(layout, *(_slices(_grown(marker.square, MARKER_ROUND_MM)) for marker in layout.markers))
        labels = cv2.connectedComponents(strange.astype(np.uint8), connectivity=8)[1]
        sheet = Rect(0, 0, *layout.size_mm)
        edge = _on(layout, _slices(sheet)) & ~_on(layout, _slices(_grown(sheet, -2 * MM_PER_PX)))
        label, count = np.unique(labels[edge], return_counts=True)
        large = np.bincount(labels.ravel())[label] >= LEAST_ARM_PX
        return np.where(np.isin(labels, label[(label > 0) & (count >= ARM_PX) & large]), labels, 0)


ZoneWatch = Mapping[str, MatMemory]  # what is remembered of every mat, by its id


@dataclass(frozen=True, slots=True)
class ZoneChanges:
    """What a frame changes, zones named `side-1/battle`."""

    moving: frozenset[str] = frozenset()  # zones in which something moves, or did until a moment ago
    changed: frozenset[str] = frozenset()  # still zones that differ from what was last accepted, or were never accepted
    touched_border: frozenset[str] = frozenset()  # those where what is new reaches over the mat's rim: an arm
    cut_off: frozenset[str] = frozenset()  # zones that lie partly outside the picture


def update(state: ZoneWatch, image: Image, mats: Mats) -> tuple[ZoneWatch, ZoneChanges]:
    """Return what a frame `(H, W, 3) uint8 BGR` changes in every zone of the mats that are found."""
    small, scale = _reduced(image)
    sheets = {fit.layout.id: _next_sheet(state.get(fit.layout.id), fit, small, scale) for fit in mats.fits}
    return sheets, _changes(sheets.values(), image)


def accept(
    state: ZoneWatch, zones: Iterable[str], sightings: Sequence[Sighting], hidden: Collection[str] = ()
) -> ZoneWatch:
    """Accept zones as they look now: that is what later frames are compared with.

    Where none of a mat's zones is `hidden`, so are its margins and the table around it: what was put there stays.
    """
    sheets = dict(state)
    for mat_id, sheet in state.items():
        if good := sheet.zones.keys() & zones:
            sheets[mat_id] = _accepted(sheet, good, sightings, margins=sheet.zones.keys().isdisjoint(hidden))
    return sheets


def unexplained(state: ZoneWatch, zones: Iterable[str], sightings: Sequence[Sighting]) -> frozenset[str]:
    """Return those settled zones in which something is neither a card that is read nor the bare mat."""
    # The face-down draw pile is never read.
    there = ((sheet, zone) for sheet in state.values() for zone in (sheet.zones.keys() & zones) - {DRAW_ZONE})
    return frozenset(zone for sheet, zone in there if not _is_explained(sheet, zone, sightings))


def lies_like_a_card(state: ZoneWatch, zone: str, sightings: Sequence[Sighting]) -> bool:
    """True if something that is no card read there covers about as much of a zone as a card does."""
    sheet = _settled_sheet(state, zone)
    covered = sum(_strange(sheet, sheet.foreign, sheet.foreign[sheet.zones[zone]], sightings)) if sheet else 0
    return CARD_SHARES[0] * CARD_PX <= covered <= CARD_SHARES[1] * CARD_PX


def outlines(state: ZoneWatch, zones: Iterable[str]) -> list[Quad]:
    """Return the corners on the picture of boxes round what is new in settled zones, where a card may just have come.

    They are about as large as a card, and turned as it is.
    """
    found = []
    for sheet in state.values():
        labels = {int(n) for zone in sheet.settled & set(zones) for n in np.unique(sheet.foreign[sheet.zones[zone]])}
        for label in sorted(labels - {0}):
            rows, columns = np.nonzero(sheet.foreign == label)
            if CARD_SHARES[0] * CARD_PX <= len(rows) <= CARD_SHARES[1] * CARD_PX:
                box = cv2.boxPoints(cv2.minAreaRect(np.column_stack((columns, rows)).astype(np.float32)))
                found.append(as_quad(sheet.fit.to_px(_to_mm(box))))
    return found


def changed_parts(state: ZoneWatch, zone: str) -> list[Box]:
    """Return boxes of the picture round what has changed in a settled zone, none where it is more than a card.

    Each of them holds the whole of a card of which anything has come to show, or has gone.
    """
    sheet = _settled_sheet(state, zone)
    if sheet is None:
        return []
    (rows, columns), reach = sheet.zones[zone], math.hypot(*CARD_MM) / MM_PER_PX
    changed = sheet.different[rows, columns].astype(np.uint8)
    count, _, stats, middles = cv2.connectedComponentsWithStats(changed, connectivity=8)
    parts = []
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] < MIN_PATCH_PX:
            continue
        if max(stats[number, cv2.CC_STAT_WIDTH], stats[number, cv2.CC_STAT_HEIGHT]) > reach:
            return []
        x, y = middles[number] + (columns.start, rows.start)
        corners = [(x - reach, y - reach), (x + reach, y - reach), (x + reach, y + reach), (x - reach, y + reach)]
        parts.append(around(sheet.fit.to_px(_to_mm(np.array(corners)))))
    return parts


def is_under_a_thing(state: ZoneWatch, sighting: Sighting, found: Sequence[Sighting]) -> bool:
    """True if something that is no card read or found covers the place of a card told there: a cup, a sleeve."""
    sheet, box = _place(state, sighting)
    if sheet is None or np.count_nonzero(box.of(sheet.cleared)) > CLEARED_SHARE * box.area_px:
        # The print of a mat that has never been seen bare is new as well once a card has gone.
        return False
    return any(_strange(sheet, sheet.foreign, box.of(sheet.foreign), found))


def is_hidden(state: ZoneWatch, mat: str, corners_mm: Floats) -> bool:
    """True if no bare ground shows where a card with these corners `(4, 2)` lay on a mat, or not where it changed."""
    sheet = state.get(mat)
    if sheet is None:
        return False
    mask = np.zeros(sheet.last.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.int32(np.round(_on_sheet(corners_mm) * 16)), 1, shift=4)
    place = mask > 0
    bare = sheet.ground | (sheet.bare_known & _same_surface(sheet.last, sheet.bare_now))
    # A card may have the ground's colour itself: then it shows where nothing but the light has changed.
    parts = (place, place & sheet.other_surface)
    return any(np.count_nonzero(bare & part) < CLEARED_SHARE * np.count_nonzero(part) for part in parts)


def is_settled(state: ZoneWatch, zone: str) -> bool:
    """True if a zone has been accepted before."""
    return _settled_sheet(state, zone) is not None


def looks_the_same(state: ZoneWatch, sighting: Sighting) -> bool:
    """True if the place of a card told there looks as it did when its zone was last accepted."""
    sheet, box = _place(state, sighting)
    return sheet is not None and box.area_px > 0 and not bool(box.of(sheet.different).any())


def _place(state: ZoneWatch, sighting: Sighting) -> tuple[MatMemory | None, Box]:
    """Return the mat of a card told there, if its zone has been accepted before, and the box of its place there."""
    sheet = _settled_sheet(state, sighting.zone)
    if sheet is None or sighting.corners_px is None:
        return None, Box(0, 0, 0, 0)
    return sheet, _box_on_sheet(sheet, sheet.fit.to_mm(sighting.corners_px))


def _settled_sheet(state: ZoneWatch, zone: str | None) -> MatMemory | None:
    """Return the mat of a zone that has been accepted before."""
    return next((sheet for sheet in state.values() if zone in sheet.settled), None)


def _box_on_sheet(sheet: MatMemory, corners_mm: Floats) -> Box:
    """Return the box round corners on a mat, on its small picture; empty where they lie outside."""
    return around(_on_sheet(corners_mm)).within(sheet.last.shape[1], sheet.last.shape[0])


def zone_px(mats: Mats, zone: str, pad_mm: float = 0.0) -> Floats | None:
    """Return a zone's corners on the picture `(4, 2)`, padded; None if the mat or the zone is not found."""
    mat_id, _, name = zone.partition("/")
    fit = mats.of(mat_id)
    rect = fit.layout.zones.get(name) if fit is not None else None
    return fit.quad_px(_grown(rect, pad_mm)) if fit is not None and rect is not None else None


# --- The mat from straight above ------------------------------------------------------------------------------


def _reduced(image: Image) -> tuple[Image, float]:
    """Return the frame averaged down to about 240 pixels across, and by which factor."""
    factor = max(1, image.shape[1] // 240)
    size = (image.shape[1] // factor, image.shape[0] // factor)
    part, left = image[: size[1] * factor, : size[0] * factor], factor
    while left % 2 == 0:
        # Three halvings take less than half the time of an eighth.
        left //= 2
        part = cv2.resize(part, (size[0] * left, size[1] * left), interpolation=cv2.INTER_AREA)
    return (cv2.resize(part, size, interpolation=cv2.INTER_AREA) if left > 1 else part), float(factor)


@lru_cache(maxsize=4 * (MAX_SIDES + 1))
def _sheet_on_picture(fit: Fit, scale: float) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.uint16]]:
    """Return where on the reduced frame each pixel of a mat's small picture lies, as `cv2.remap` likes it best."""
    width, height = _sheet_size(fit.layout)
    area = Rect(-RIM_MM, -RIM_MM, width * MM_PER_PX, height * MM_PER_PX)
    at = (fit.grid_px(area, MM_PER_PX) + 0.5) / scale - 0.5
    return cv2.convertMaps(at[..., 0], at[..., 1], cv2.CV_16SC2)


def _on_sheet(points_mm: Floats) -> Floats:
    """Return millimetres on the mat as pixels of its small picture."""
    return (points_mm + RIM_MM) / MM_PER_PX - 0.5


def _to_mm(points_px: Floats) -> Floats:
    """Return pixels of a mat's small picture as millimetres on it."""
    return (points_px + 0.5) * MM_PER_PX - RIM_MM


def _sheet_size(layout: MatLayout) -> tuple[int, int]:
    width, height = layout.size_mm
    return round((width + 2 * RIM_MM) / MM_PER_PX), round((height + 2 * RIM_MM) / MM_PER_PX)


def _zones_of(layout: MatLayout) -> Mapping[str, Slices]:
    return {f"{layout.id}/{name}": _slices(rect) for name, rect in layout.zones.items()}


def _slices(zone: Rect) -> Slices:
    """Return rows and columns of a rectangle on its mat's small picture."""
    x, y = (zone.x_mm + RIM_MM) / MM_PER_PX, (zone.y_mm + RIM_MM) / MM_PER_PX
    return slice(round(y), round(y + zone.height_mm / MM_PER_PX)), slice(round(x), round(x + zone.width_mm / MM_PER_PX))


def _next_sheet(old: MatMemory | None, fit: Fit, small: Image, scale: float) -> MatMemory:
    now = cv2.remap(small, *_sheet_on_picture(fit, scale), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # Moved on the picture, or another one: it is looked at as if for the first time.
    if old is None or fit.layout != old.fit.layout or np.abs(fit.outline_px - old.fit.outline_px).max() > MOVED_PX:
        return MatMemory(fit, now, now, now, np.zeros(now.shape[:2], bool), dict.fromkeys(_zones_of(fit.layout), 0))
    moved = _largest(cv2.absdiff(now, old.last)) > MOVING_LEVELS
    calm = min(old.still.values()) >= FIRST_STILL_FRAMES and np.count_nonzero(moved) < MIN_PATCH_PX
    if calm and fit is old.fit:
        return old
    still = {
        zone: 0 if np.count_nonzero(moved[where]) >= MIN_PATCH_PX else frames + 1
        for (zone, where), frames in zip(old.zones.items(), old.still.values(), strict=True)
    }
    return replace(old, fit=fit, last=now, still=still)


# --- What has changed -----------------------------------------------------------------------------------------


def _changes(sheets: Iterable[MatMemory], image: Image) -> ZoneChanges:
    moving, changed, touching, cut_off = (set[str]() for _ in range(4))
    for sheet in sheets:
        cut_off |= _cut_off(sheet.fit, image.shape[1::-1])
        new = []
        for zone, where in sheet.zones.items():
            if sheet.still[zone] < (STILL_FRAMES if zone in sheet.settled else FIRST_STILL_FRAMES):
                moving.add(zone)
            elif zone not in sheet.settled or np.count_nonzero(sheet.different[where]) >= MIN_PATCH_PX:
                new.append(zone)
        changed.update(new)
        known = sheet.settled.intersection(new)
        touching.update(z for z in known if np.count_nonzero(sheet.arms[sheet.zones[z]]) >= MIN_PATCH_PX)
    return ZoneChanges(frozenset(moving), frozenset(changed), frozenset(touching), frozenset(cut_off))


@lru_cache(maxsize=4 * (MAX_SIDES + 1))
def _cut_off(fit: Fit, size_px: tuple[int, int]) -> frozenset[str]:
    """Return the zones of a mat that lie partly outside a picture of `size_px`, width and height."""
    frame = corners_mm(Rect(0, 0, *size_px)).astype(np.float32)
    quads = {name: fit.quad_px(rect).astype(np.float32) for name, rect in fit.layout.zones.items()}
    inside = {name: cv2.intersectConvexConvex(quad, frame)[0] for name, quad in quads.items()}
    return frozenset(
        f"{fit.layout.id}/{name}" for name, quad in quads.items() if inside[name] < INSIDE_SHARE * cv2.contourArea(quad)
    )


def _apart(one: Image, other: Colours) -> Colours:
    """Return the largest difference of the three colours, pixel by pixel, `(h, w)`."""
    return _largest(cv2.absdiff(one.astype(np.float32), other))


def _largest(colours: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Return the largest of three colours, pixel by pixel; many times as quick as a maximum along the last axis."""
    first, second, third = cv2.split(colours)
    return cv2.max(cv2.max(first, second), third)


def _evened(sheet: MatMemory, reference: Image) -> Colours:
    """Return a remembered picture in the light of now: most of a mat is always as it was."""
    return reference.astype(np.float32) * _lighter(sheet, reference)


def _relit(sheet: MatMemory, reference: Image) -> Image:
    """Return the same as a picture to be remembered, unchanged if the light is the same."""
    is_same = np.abs(_lighter(sheet, reference) - 1).max() < SAME_LIGHT
    return reference if is_same else np.rint(_evened(sheet, reference)).clip(0, 255).astype(np.uint8)


def _lighter(sheet: MatMemory, reference: Image) -> Colours:
    """Return how many times as bright a mat is as on a remembered picture, `(3,)`, place by place.

    On a white sheet on a black table one card more moves the middle of a whole picture to the other half.
    """
    now, then = (picture[::3, ::3].reshape(-1, 3) for picture in (sheet.last, reference))
    bright = then.max(axis=1) >= LIT_LEVELS
    if np.count_nonzero(bright) < ENOUGH_GROUND_PX:
        return np.ones(3, np.float32)
    share = np.median(now[bright] / np.maximum(then[bright], 1).astype(np.float32), axis=0)
    return np.clip(share, 0.5, 2.0).astype(np.float32)


def _shade(now: Image, then: Colours) -> tuple[Colours, Colours]:
    """Return the ratio of brightness at each place, and how many levels a colour differs beyond it, `(h, w)` each."""
    here, total = now.astype(np.float32), np.ones((1, 3), np.float32)
    shade = cv2.transform(here, total) / np.maximum(cv2.transform(then, total), 1)
    return shade, _largest(cv2.absdiff(here, then * shade[:, :, None]))


def _same_surface(now: Image, then: Colours, brightest: float = SHADE[1]) -> Mask:
    """Return where both show the same surface, brighter or darker by a shadow's worth."""
    shade, left = _shade(now, then)
    return (shade >= SHADE[0]) & (shade <= brightest) & (left <= SHADE_LEVELS)


def _paper(sheet: MatMemory) -> Colours:
    """Return the colour of the sheet between its zones in the light of now, as a picture of that alone."""
    colour = np.median(sheet.last[_between_zones(sheet.fit.layout)], axis=0).astype(np.float32)
    return np.broadcast_to(colour, sheet.last.shape).copy()


def _like_ground(sheet: MatMemory, bare: Colours, zones: Iterable[Slices], brightest: float = SHADE[1]) -> Mask:
    """Return where zones have the colour of their printed ground, which shows when a card is taken away."""
    like = np.zeros(sheet.last.shape[:2], bool)
    for where in zones:
        part = sheet.last[where]
        like[where] = _same_surface(part, np.broadcast_to(_ground(sheet, bare, where), part.shape).copy(), brightest)
    return like


def _ground(sheet: MatMemory, bare: Colours, where: Slices) -> Colours:
    """Return the colour of a zone's ground: as seen bare there, else in any zone, else the sheet's own."""
    elsewhere = sheet.bare_known & _in_zones(sheet.fit.layout)
    known = (bare[where][sheet.bare_known[where]], bare[elsewhere], sheet.last[_between_zones(sheet.fit.layout)])
    colour = np.median(next(seen for seen in known if len(seen) >= ENOUGH_GROUND_PX), axis=0)
    return colour.astype(np.float32)


def _never_seen_bare(sheet: MatMemory) -> list[Slices]:
    """Return the zones of which some part has always been covered."""
    return [where for where in sheet.zones.values() if not sheet.bare_known[where].all()]


def _in_zones(layout: MatLayout) -> Mask:
    return _on(layout, *_zones_of(layout).values())


def _between_zones(layout: MatLayout) -> Mask:
    """Return the sheet without its zones and rim."""
    return _on(layout, _slices(Rect(0, 0, *layout.size_mm))) & ~_in_zones(layout)


def _on(layout: MatLayout, *parts: Slices) -> Mask:
    """Return parts of the mat's small picture as a mask of it."""
    inside = np.zeros(_sheet_size(layout)[::-1], bool)
    for where in parts:
        inside[where] = True
    return inside


def _grown(rect: Rect, by_mm: float) -> Rect:
    return Rect(rect.x_mm - by_mm, rect.y_mm - by_mm, rect.width_mm + 2 * by_mm, rect.height_mm + 2 * by_mm)


# --- What explains it -----------------------------------------------------------------------------------------


def _is_explained(sheet: MatMemory, zone: str, sightings: Sequence[Sighting]) -> bool:
    labels = sheet.foreign if zone in sheet.settled else sheet.reaching_in
    return all(size < MIN_PATCH_PX for size in _strange(sheet, labels, labels[sheet.zones[zone]], sightings))


def _strange(
    sheet: MatMemory, labels: npt.NDArray[np.int32], part: npt.NDArray[np.int32], sightings: Sequence[Sighting]
) -> Iterator[int]:
    """Yield how much of a part of a mat each patch of its `labels` covers that no card of these sightings explains."""
    cards, patches = _cards_on(sheet, sightings), zip(*np.unique(part, return_counts=True), strict=True)
    return (int(size) for label, size in patches if label and not _is_of_cards(labels == label, cards))


def _cards_on(sheet: MatMemory, sightings: Sequence[Sighting]) -> Floats:
    """Return each card told on this mat, `(n, 3)`: middle in pixels of the small picture, reach from there in mm."""
    own = [s for s in sightings if s.corners_px and s.zone in sheet.zones]
    if not own:
        return np.empty((0, 3))
    reach_mm = [FACE_REACH_MM if s.by == FACE else REACH_MM for s in own]
    return np.column_stack((_on_sheet(sheet.fit.to_mm([s.centre_px for s in own])), reach_mm))


def _is_of_cards(patch: Mask, cards: Floats) -> bool:
    """True if a patch lies within reach of cards that are read, as `_cards_on` returns them, and is no larger."""
    rows, columns = np.nonzero(patch)
    x, y, reach_mm = cards.T
    reached = np.hypot(columns[:, None] - x, rows[:, None] - y) * MM_PER_PX < reach_mm
    near = int(reached.any(axis=0).sum())
    return bool(reached.any(axis=1).mean() > REACHED_SHARE) and len(rows) <= LARGER * CARD_PX * near


# --- Accepting ------------------------------------------------------------------------------------------------


def _accepted(sheet: MatMemory, zones: Collection[str], sightings: Sequence[Sighting], *, margins: bool) -> MatMemory:
    where = _on(sheet.fit.layout, *(sheet.zones[zone] for zone in zones)) | (~_in_zones(sheet.fit.layout) & margins)
    bare = where & ~_near_cards(sheet, sightings) & _may_be_bare(sheet)
    # The parts of what is remembered must stay comparable with each other: all of it is kept in one light.
    return replace(
        sheet,
        accepted=np.where(where[:, :, None], sheet.last, _relit(sheet, sheet.accepted)),
        bare=np.where(bare[:, :, None], sheet.last, _relit(sheet, sheet.bare)),
        bare_known=sheet.bare_known | bare,
        settled=sheet.settled | frozenset(zones),
    )


def _may_be_bare(sheet: MatMemory) -> Mask:
    """Return where the look of the mat may be learnt: it is as known, or nothing large lies on the ground.

    In shadow it is not as known: an arm that rests on the mat may have the colour of paper in shadow.
    """
    unseen = _never_seen_bare(sheet)
    strange = _on(sheet.fit.layout, *unseen) & ~_like_ground(sheet, sheet.bare_now, unseen)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(strange.astype(np.uint8), connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] > MOST_PRINT_PX
    large[0] = False
    return np.where(sheet.bare_known, _apart(sheet.last, sheet.bare_now) <= CHANGED_LEVELS, ~large[labels])


def _near_cards(sheet: MatMemory, sightings: Sequence[Sighting]) -> Mask:
    """Return where a card that is read may lie."""
    near = np.zeros(sheet.last.shape[:2], np.uint8)
    for x, y, reach_mm in _cards_on(sheet, sightings):
        cv2.circle(near, (round(x), round(y)), round(reach_mm / MM_PER_PX), 255, -1)
    return near > 0
