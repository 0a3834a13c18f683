"""Detect movement, changes and foreign objects (hands, cups, face-down cards) in each zone.

Each mat and its surroundings are rectified to a *top view*, `MM_PER_PX` mm per pixel. Movement is a difference from the
last view, change from the accepted view. A change is foreign if it crosses the mat's rim (an arm), is neither bare mat
nor near a read card, or is larger than those cards.
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
from companion.vision.ground import Colours, bare_mat, clipped, clipped_alike
from companion.vision.mats.homography import Fit, as_quad, corners_mm
from companion.vision.mats.localization import Mats
from companion.vision.opencv import cv2
from companion.vision.view import FACE, Blindness, Hidden, Quad, Sighting

MM_PER_PX = 4.0
RIM_MM = 32.0  # table shown around a mat, more than cards overhang
STILL_FRAMES = 2  # frames without movement until a zone is still
FIRST_STILL_FRAMES = 2 * STILL_FRAMES  # before the first acceptance
MOVING_LEVELS = 14
CHANGED_LEVELS = 24
SAME_LIGHT = 0.04  # maximum relative difference of equal light
LIT_LEVELS = 40  # minimum level to measure light
MIN_PATCH_PX = 4  # 64 mm²; smaller patches are noise or sticker edges
SHADE = (0.6, 1.6)  # brightness ratio of one surface in shadow and light
BRIGHT = 1.25  # maximum brightness ratio of bare ground
SHADE_LEVELS = 12
GROUND_NOISE, GROUND_LEVELS = 2.0, (4.0, SHADE_LEVELS)
"""Color difference of bare ground, brightness aside: in medians of all zones, and its range in levels."""
SHINE_LEVELS = 25  # maximum color difference of a reflection, brightness aside
REACH_MM = 95.0  # maximum distance from sticker center to card corner
FACE_REACH_MM = 62.0  # from card center, with slack
PLACE_SHARE = 1.5  # standard deviations of a card's place added to that
CARD_PX = CARD_MM[0] * CARD_MM[1] / MM_PER_PX**2
CARD_SHARES = (0.35, 1.4)  # area range of a possible card, in cards
LEAST_PART_PX = 12  # minimum area of a change read beside movement: half a sticker
REACHED_SHARE, LARGER = 0.9, 1.5  # a patch near read cards: minimum share, maximum relative area
INSIDE_SHARE = 0.85  # minimum visible share of a zone
ARM_PX = 5  # an arm's minimum area on the mat's outer two pixels
LEAST_ARM_PX = 150  # minimum total area; dark mat corners are smaller
MARKER_ROUND_MM = 8.0
HIDDEN_SHARE = 0.05  # maximum hidden share of a sticker in sight
WHITE_SHARE = 0.5  # minimum clipped share of a zone that is too bright
PART_ROUND_MM = 12.0  # margin read around a change
MOVED_PX = 6.0
ENOUGH_GROUND_PX = 20
MOST_PRINT_PX = 60  # area of the largest printed word or sign
CLEARED_SHARE = 0.25
"""Minimum share of bare ground in a removed card's place: 0.6 beside a printed 50, none under an object."""

Slices = tuple[slice, slice]


@dataclass(frozen=True, eq=False)
class MatMemory:
    """State of one mat and derived masks, all top views `(h, w)`."""

    fit: Fit
    last: Image  # at the last movement or change of light, `(h, w, 3) uint8 BGR`
    accepted: Image  # each zone as last accepted
    bare: Image  # the mat without cards, where `bare_known`
    bare_known: Mask
    age: Image  # frames since a pixel moved, at most 255, `(h, w) uint8`
    reads: Image  # how often a change was read beside movement, `(h, w) uint8`
    settled: frozenset[str] = frozenset()  # zones (`side-1/battle`) accepted at least once

    @cached_property
    def zones(self) -> Mapping[str, Slices]:
        return _zones_of(self.fit.layout)

    @cached_property
    def still(self) -> Mapping[str, int]:
        """Frames without movement, by zone."""
        return {zone: int(self.age[where].min()) for zone, where in self.zones.items()}

    @cached_property
    def hidden(self) -> Mask:
        """Pixels that cannot be judged: what moves, arms, and all of a change that either is part of."""
        busy = (self.age < STILL_FRAMES) | self.arms
        labels = cv2.connectedComponents((self.different | busy).astype(np.uint8), connectivity=8)[1]
        hidden = busy | np.isin(labels, np.unique(labels[busy]))
        return cv2.dilate(hidden.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0

    @cached_property
    def is_white(self) -> Mask:
        """Pixels whose channels are all clipped: a card there may not show."""
        return clipped_alike(self.last)

    @cached_property
    def accepted_now(self) -> Colours:
        """`accepted`, its colors scaled to the current light."""
        return _in_current_light(self, self.accepted)

    @cached_property
    def bare_now(self) -> Colours:
        return _in_current_light(self, self.bare)

    @cached_property
    def different(self) -> Mask:
        """Pixels that differ from `accepted_now`."""
        return _difference(self.last, self.accepted_now) > CHANGED_LEVELS

    @cached_property
    def other_surface(self) -> Mask:
        """Pixels whose surface changed, not only its light."""
        return self.different & ~self.is_as_accepted

    @cached_property
    def foreign(self) -> npt.NDArray[np.int32]:
        """Labels of changed patches other than bare mat; 0 elsewhere."""
        # A pale sleeve has the ground's color, but not its print.
        like_bare = np.where(self.bare_known, _same_surface(self.last, self.bare_now), self.is_like_ground)
        return cv2.connectedComponents((self.other_surface & ~like_bare).astype(np.uint8), connectivity=8)[1]

    @cached_property
    def arms(self) -> Mask:
        """Pixels of `foreign` patches at the view's edge: arms."""
        first, last, left, right = self.foreign[0], self.foreign[-1], self.foreign[:, 0], self.foreign[:, -1]
        edge = np.concatenate((first, last, left, right))
        return np.isin(self.foreign, edge[edge > 0])

    @cached_property
    def cleared(self) -> Mask:
        """Pixels of bare ground that showed another surface in `accepted`."""
        return self.other_surface & self.ground

    @cached_property
    def ground(self) -> Mask:
        """Zone pixels with the ground's color, no brighter: a phone's screen is."""
        likely = _same_surface(self.last, self.plain, brightest=BRIGHT, levels=self.ground_levels)
        return _in_zones(self.fit.layout) & likely

    @cached_property
    def ground_levels(self) -> float:
        """Maximum color difference of bare ground in this picture, brightness aside."""
        zones = _in_zones(self.fit.layout)
        return float(np.clip(GROUND_NOISE * np.median(_shade(self.last, self.plain)[1][zones]), *GROUND_LEVELS))

    @cached_property
    def plain(self) -> Colours:
        """The mat without cards and print in the current light."""
        return bare_mat(self.last, _in_zones(self.fit.layout), _on_mat(self.fit.layout))

    @cached_property
    def is_like_ground(self) -> Mask:
        """Pixels of the mat with the color of its paper or zones."""
        sheet = _on(self.fit.layout, _slices(self.fit.sheet))
        return sheet & _same_surface(self.last, self.plain)

    @cached_property
    def is_as_accepted(self) -> Mask:
        """Pixels of the accepted surface, in any light."""
        return _same_surface(self.last, self.accepted_now)

    @cached_property
    def reaching_in(self) -> npt.NDArray[np.int32]:
        """Labels of arms: patches across the mat's edge in other colors, even before zones are accepted."""
        layout = self.fit.layout
        # Hands and sleeves are darker than paper and its reflections.
        shade, left = _shade(self.last, self.plain)
        strange = ~self.is_like_ground & ~((shade >= 1) & (left <= SHINE_LEVELS)) & ~clipped(self.last)
        strange &= _on_mat(layout)
        labels = cv2.connectedComponents(strange.astype(np.uint8), connectivity=8)[1]
        sheet = self.fit.sheet
        edge = _on(layout, _slices(sheet)) & ~_on(layout, _slices(_grown(sheet, -2 * MM_PER_PX)))
        label, count = np.unique(labels[edge], return_counts=True)
        large = np.bincount(labels.ravel())[label] >= LEAST_ARM_PX
        return np.where(np.isin(labels, label[(label > 0) & (count >= ARM_PX) & large]), labels, 0)


ZoneWatch = Mapping[str, MatMemory]  # by mat id


@dataclass(frozen=True, slots=True)
class ZoneChanges:
    """Names of zones (`side-1/battle`) by their state in one frame."""

    moving: frozenset[str] = frozenset()  # now or a moment ago
    changed: frozenset[str] = frozenset()  # still, and different since acceptance or never accepted
    touched_border: frozenset[str] = frozenset()  # changed by an arm across the mat's rim
    cut_off: frozenset[str] = frozenset()  # partly outside the picture


def update(state: ZoneWatch, image: Image, mats: Mats) -> tuple[ZoneWatch, ZoneChanges]:
    """Return the state after a frame `(H, W, 3) uint8 BGR`, and the changes."""
    small, scale = _reduced(image)
    sheets = {fit.layout.id: _next_sheet(state.get(fit.layout.id), fit, small, scale) for fit in mats.fits}
    return sheets, _changes(sheets.values(), image)


def accept(
    state: ZoneWatch, zones: Iterable[str], sightings: Sequence[Sighting], hidden: Collection[str] = ()
) -> ZoneWatch:
    """Return the state with the current look of `zones` as reference for later frames.

    A mat without `hidden` zones is accepted outside its zones too.
    """
    sheets = dict(state)
    for mat_id, sheet in state.items():
        if good := sheet.zones.keys() & zones:
            sheets[mat_id] = _accepted(sheet, good, sightings, margins=sheet.zones.keys().isdisjoint(hidden))
    return sheets


def unexplained(state: ZoneWatch, zones: Iterable[str], sightings: Sequence[Sighting]) -> frozenset[str]:
    """Return the `zones`, except the draw pile, that show more than read cards and bare mat.

    Of zones never accepted, return those with an arm.
    """
    there = ((sheet, zone) for sheet in state.values() for zone in (sheet.zones.keys() & zones) - {DRAW_ZONE})
    return frozenset(zone for sheet, zone in there if not _is_explained(sheet, zone, sightings))


def lies_like_a_card(state: ZoneWatch, zone: str, sightings: Sequence[Sighting]) -> bool:
    """True if unread objects cover about a card's area of a settled zone."""
    sheet = _settled_sheet(state, zone)
    covered = sum(_unexplained_areas(sheet, sheet.foreign, sheet.foreign[sheet.zones[zone]], sightings)) if sheet else 0
    return CARD_SHARES[0] * CARD_PX <= covered <= CARD_SHARES[1] * CARD_PX


def outlines(state: ZoneWatch, zones: Iterable[str]) -> list[Quad]:
    """Return rotated boxes, in frame pixels, around new card-sized patches in settled zones."""
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
    """Return frame boxes around a settled zone's changes, each with room for a whole card.

    Empty if a change is larger than a card.
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


def parts_at_rest(state: ZoneWatch, zone: str, reads: int) -> list[Box]:
    """Return frame boxes around what has changed in a zone and is at rest, though something moves beside it.

    Empty if nothing moves there, or if the changes are smaller than a sticker or were read that often.
    """
    return [
        around(sheet.fit.quad_px(_grown(rect, PART_ROUND_MM)))
        for sheet in state.values()
        for rect, _ in _parts_at_rest(sheet, zone, reads)
    ]


def with_read(state: ZoneWatch, zones: Iterable[str], reads: int) -> ZoneWatch:
    """Return the state after another read of the `parts_at_rest` of zones."""
    sheets = dict(state)
    for zone in zones:
        for mat_id, sheet in sheets.items():
            for _, patch in _parts_at_rest(sheet, zone, reads):
                sheets[mat_id] = sheet = replace(sheet, reads=sheet.reads + patch)
    return sheets


def _parts_at_rest(sheet: MatMemory, zone: str, reads: int) -> Iterator[tuple[Rect, Mask]]:
    """Yield the place in mm and the pixels of each part."""
    is_known = zone in sheet.settled
    least = STILL_FRAMES if is_known else FIRST_STILL_FRAMES
    if zone not in sheet.zones or sheet.still[zone] >= least:
        return
    here = (sheet.age >= least) & (sheet.reads < reads) & ~sheet.hidden & _on(sheet.fit.layout, sheet.zones[zone])
    here &= sheet.different | (not is_known)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(here.astype(np.uint8), connectivity=8)
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] >= LEAST_PART_PX:
            left, top, width, height = (float(side) for side in stats[number, :4])
            x_mm, y_mm = _to_mm(np.array((left - 0.5, top - 0.5)))
            yield Rect(x_mm, y_mm, width * MM_PER_PX, height * MM_PER_PX), labels == number


def hidden_on(
    state: ZoneWatch, mat: str, moving: Collection[str], covered: Collection[str], sightings: Sequence[Sighting]
) -> Hidden | None:
    """Return where a mat cannot be judged; None if it can be everywhere.

    In zones where something is `moving`, changes must have been read; in `covered` zones, objects that no card explains
    hide what is below.
    """
    sheet = state.get(mat)
    if sheet is None:
        return None
    layout = sheet.fit.layout
    never_seen = _on(layout, *(sheet.zones[zone] for zone in sheet.zones.keys() - sheet.settled))
    in_motion = _on(layout, *(sheet.zones[zone] for zone in sheet.zones.keys() & moving))
    hidden = sheet.hidden | sheet.is_white
    hidden |= in_motion & (sheet.different | never_seen) & (sheet.reads == 0)
    cards = _cards_on(sheet, sightings)
    for zone in sheet.zones.keys() & covered:
        labels = sheet.foreign if zone in sheet.settled else sheet.reaching_in
        for label in np.unique(labels[sheet.zones[zone]]):
            if label and not _is_explained_by(labels == label, cards):
                hidden |= labels == label
    rim = round(RIM_MM / MM_PER_PX)
    return Hidden.of(hidden[rim:-rim, rim:-rim], layout.size_mm) if hidden.any() else None


def partly_white(state: ZoneWatch) -> frozenset[str]:
    """Return the zones of printed mats that are partly clipped to white."""
    return frozenset(
        zone
        for sheet in state.values()
        if sheet.fit.is_measured and sheet.is_white.any()
        for zone, where in sheet.zones.items()
        if np.count_nonzero(sheet.is_white[where]) >= MIN_PATCH_PX
    )


def too_bright(state: ZoneWatch) -> dict[str, Blindness]:
    """Return the zones of printed mats that are mostly clipped to white, except the draw pile.

    Drawn zones may lie on a white table, and their cards still show.
    """
    return {
        zone: Blindness.LIGHT
        for sheet in state.values()
        if sheet.fit.is_measured
        for zone, where in sheet.zones.items()
        if zone != DRAW_ZONE and sheet.is_white[where].mean() >= WHITE_SHARE
    }


def is_in_sight(state: ZoneWatch, sighting: Sighting) -> bool:
    """True if next to nothing of a sighting's place is hidden by movement or an arm."""
    sheet = next((sheet for sheet in state.values() if sighting.zone in sheet.zones), None)
    if sheet is None or sighting.corners_px is None:
        return False
    place = _pixels_in(sheet, sheet.fit.to_mm(sighting.corners_px))
    return np.count_nonzero(place & sheet.hidden) <= HIDDEN_SHARE * np.count_nonzero(place)


def is_under_a_thing(state: ZoneWatch, sighting: Sighting, found: Sequence[Sighting]) -> bool:
    """True if an object other than the found cards covers a card's place."""
    sheet, box = _place(state, sighting)
    if sheet is None or np.count_nonzero(box.of(sheet.cleared)) > CLEARED_SHARE * box.area_px:
        # Print never seen bare looks foreign without its card.
        return False
    return any(_unexplained_areas(sheet, sheet.foreign, box.of(sheet.foreign), found))


def is_hidden(state: ZoneWatch, mat: str, corners_mm: Floats) -> bool:
    """True if a missed card is hidden, not removed: its place `(4, 2)` shows too little bare ground."""
    sheet = state.get(mat)
    if sheet is None:
        return False
    place = _pixels_in(sheet, corners_mm)
    as_known = _same_surface(sheet.last, sheet.bare_now, levels=sheet.ground_levels)
    bare = sheet.ground | (sheet.bare_known & as_known)
    # A card of the ground's color still changes the surface.
    parts = (place, place & sheet.other_surface)
    return any(np.count_nonzero(bare & part) < CLEARED_SHARE * np.count_nonzero(part) for part in parts)


def _pixels_in(sheet: MatMemory, corners_mm: Floats) -> Mask:
    """True in a quad `(4, 2)`."""
    mask = np.zeros(sheet.last.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.int32(np.round(_on_sheet(corners_mm) * 16)), 1, shift=4)
    return mask > 0


def is_settled(state: ZoneWatch, zone: str) -> bool:
    """True if a zone was ever accepted."""
    return _settled_sheet(state, zone) is not None


def looks_the_same(state: ZoneWatch, sighting: Sighting) -> bool:
    """True if a card's place is unchanged since its zone was accepted."""
    sheet, box = _place(state, sighting)
    return sheet is not None and box.area_px > 0 and not bool(box.of(sheet.different).any())


def _place(state: ZoneWatch, sighting: Sighting) -> tuple[MatMemory | None, Box]:
    """Return a sighting's mat and top-view box; None unless its zone is settled."""
    sheet = _settled_sheet(state, sighting.zone)
    if sheet is None or sighting.corners_px is None:
        return None, Box(0, 0, 0, 0)
    return sheet, _box_on_sheet(sheet, sheet.fit.to_mm(sighting.corners_px))


def _settled_sheet(state: ZoneWatch, zone: str | None) -> MatMemory | None:
    return next((sheet for sheet in state.values() if zone in sheet.settled), None)


def _box_on_sheet(sheet: MatMemory, corners_mm: Floats) -> Box:
    return around(_on_sheet(corners_mm)).within(sheet.last.shape[1], sheet.last.shape[0])


def zone_px(mats: Mats, zone: str, pad_mm: float = 0.0) -> Floats | None:
    """Return a zone's corners `(4, 2)` in frame pixels, grown by `pad_mm`; None if not found."""
    mat_id, _, name = zone.partition("/")
    fit = mats.of(mat_id)
    rect = fit.layout.zones.get(name) if fit is not None else None
    return fit.quad_px(_grown(rect, pad_mm)) if fit is not None and rect is not None else None


# --- The mat from straight above ------------------------------------------------------------------------------


def _reduced(image: Image) -> tuple[Image, float]:
    """Return the frame averaged down to about 240 pixels across, and the factor."""
    factor = max(1, image.shape[1] // 240)
    size = (image.shape[1] // factor, image.shape[0] // factor)
    part, left = image[: size[1] * factor, : size[0] * factor], factor
    while left % 2 == 0:
        # Three halvings take under half the time of one step.
        left //= 2
        part = cv2.resize(part, (size[0] * left, size[1] * left), interpolation=cv2.INTER_AREA)
    return (cv2.resize(part, size, interpolation=cv2.INTER_AREA) if left > 1 else part), float(factor)


@lru_cache(maxsize=4 * (MAX_SIDES + 1))
def _sheet_on_picture(fit: Fit, scale: float) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.uint16]]:
    """Return fixed-point `cv2.remap` maps, the fastest, from top view to reduced frame."""
    width, height = _sheet_size(fit.layout)
    area = Rect(-RIM_MM, -RIM_MM, width * MM_PER_PX, height * MM_PER_PX)
    at = (fit.grid_px(area, MM_PER_PX) + 0.5) / scale - 0.5
    return cv2.convertMaps(at[..., 0], at[..., 1], cv2.CV_16SC2)


def _on_sheet(points_mm: Floats) -> Floats:
    """Convert mm on the mat to top-view pixels."""
    return (points_mm + RIM_MM) / MM_PER_PX - 0.5


def _to_mm(points_px: Floats) -> Floats:
    """Invert `_on_sheet`."""
    return (points_px + 0.5) * MM_PER_PX - RIM_MM


def _sheet_size(layout: MatLayout) -> tuple[int, int]:
    width, height = layout.size_mm
    return round((width + 2 * RIM_MM) / MM_PER_PX), round((height + 2 * RIM_MM) / MM_PER_PX)


def _zones_of(layout: MatLayout) -> Mapping[str, Slices]:
    return {f"{layout.id}/{name}": _slices(rect) for name, rect in layout.zones.items()}


def _slices(zone: Rect) -> Slices:
    """Return a zone's rows and columns in the top view."""
    x, y = (zone.x_mm + RIM_MM) / MM_PER_PX, (zone.y_mm + RIM_MM) / MM_PER_PX
    return slice(round(y), round(y + zone.height_mm / MM_PER_PX)), slice(round(x), round(x + zone.width_mm / MM_PER_PX))


def _next_sheet(old: MatMemory | None, fit: Fit, small: Image, scale: float) -> MatMemory:
    now = cv2.remap(small, *_sheet_on_picture(fit, scale), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # Start over.
    if old is None or fit.layout != old.fit.layout or np.abs(fit.outline_px - old.fit.outline_px).max() > MOVED_PX:
        nowhere = np.zeros(now.shape[:2], np.uint8)
        return MatMemory(fit, now, now, now, nowhere > 0, age=nowhere, reads=nowhere)
    moved = _max_channel(cv2.absdiff(now, old.last)) > MOVING_LEVELS
    calm = min(old.still.values()) >= FIRST_STILL_FRAMES and np.count_nonzero(moved) < MIN_PATCH_PX
    if calm and fit is old.fit:
        return old
    for where in old.zones.values():
        if np.count_nonzero(moved[where]) < MIN_PATCH_PX:
            moved[where] = False
    age = np.where(moved, 0, np.minimum(old.age, 254) + 1).astype(np.uint8)
    return replace(old, fit=fit, last=now, age=age, reads=np.where(moved, 0, old.reads).astype(np.uint8))


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
    frame = corners_mm(Rect(0, 0, *size_px)).astype(np.float32)
    quads = {name: fit.quad_px(rect).astype(np.float32) for name, rect in fit.layout.zones.items()}
    inside = {name: cv2.intersectConvexConvex(quad, frame)[0] for name, quad in quads.items()}
    return frozenset(
        f"{fit.layout.id}/{name}" for name, quad in quads.items() if inside[name] < INSIDE_SHARE * cv2.contourArea(quad)
    )


def _difference(one: Image, other: Colours) -> Colours:
    return _max_channel(cv2.absdiff(one.astype(np.float32), other))


def _max_channel(colours: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Return each pixel's maximum channel, faster than `max(axis=2)`."""
    first, second, third = cv2.split(colours)
    return cv2.max(cv2.max(first, second), third)


def _in_current_light(sheet: MatMemory, reference: Image) -> Colours:
    """Return a remembered view, its colors scaled to the current light."""
    return reference.astype(np.float32) * _light_ratio(sheet, reference)


def _relit(sheet: MatMemory, reference: Image) -> Image:
    """Return `_in_current_light` as `uint8`, or `reference` in unchanged light."""
    is_same = np.abs(_light_ratio(sheet, reference) - 1).max() < SAME_LIGHT
    return reference if is_same else np.rint(_in_current_light(sheet, reference)).clip(0, 255).astype(np.uint8)


def _light_ratio(sheet: MatMemory, reference: Image) -> Colours:
    """Return the median ratio of current to remembered light, `(3,)`.

    A ratio of medians can jump with a single card.
    """
    now, then = (picture[::3, ::3].reshape(-1, 3) for picture in (sheet.last, reference))
    bright = then.max(axis=1) >= LIT_LEVELS
    if np.count_nonzero(bright) < ENOUGH_GROUND_PX:
        return np.ones(3, np.float32)
    share = np.median(now[bright] / np.maximum(then[bright], 1).astype(np.float32), axis=0)
    return np.clip(share, 0.5, 2.0).astype(np.float32)


def _shade(now: Image, then: Colours) -> tuple[Colours, Colours]:
    """Return brightness ratio and remaining color difference in levels, `(h, w)` each."""
    here, total = now.astype(np.float32), np.ones((1, 3), np.float32)
    shade = cv2.transform(here, total) / np.maximum(cv2.transform(then, total), 1)
    return shade, _max_channel(cv2.absdiff(here, then * shade[:, :, None]))


def _same_surface(now: Image, then: Colours, brightest: float = SHADE[1], levels: float = SHADE_LEVELS) -> Mask:
    """True where both views show the same surface, in any light."""
    shade, left = _shade(now, then)
    return (shade >= SHADE[0]) & (shade <= brightest) & (left <= levels)


def _never_seen_bare(sheet: MatMemory) -> Mask:
    """True in zones that were never seen bare in full."""
    return _on(sheet.fit.layout, *(where for where in sheet.zones.values() if not sheet.bare_known[where].all()))


def _in_zones(layout: MatLayout) -> Mask:
    return _on(layout, *_zones_of(layout).values())


def _on_mat(layout: MatLayout) -> Mask:
    """True on the mat, except around its markers."""
    markers = (_slices(_grown(marker.square, MARKER_ROUND_MM)) for marker in layout.markers)
    return _on(layout, _slices(Rect(0, 0, *layout.size_mm))) & ~_on(layout, *markers)


def _on(layout: MatLayout, *parts: Slices) -> Mask:
    inside = np.zeros(_sheet_size(layout)[::-1], bool)
    for where in parts:
        inside[where] = True
    return inside


def _grown(rect: Rect, by_mm: float) -> Rect:
    return Rect(rect.x_mm - by_mm, rect.y_mm - by_mm, rect.width_mm + 2 * by_mm, rect.height_mm + 2 * by_mm)


# --- What explains it -----------------------------------------------------------------------------------------


def _is_explained(sheet: MatMemory, zone: str, sightings: Sequence[Sighting]) -> bool:
    labels = sheet.foreign if zone in sheet.settled else sheet.reaching_in
    return all(size < MIN_PATCH_PX for size in _unexplained_areas(sheet, labels, labels[sheet.zones[zone]], sightings))


def _unexplained_areas(
    sheet: MatMemory, labels: npt.NDArray[np.int32], part: npt.NDArray[np.int32], sightings: Sequence[Sighting]
) -> Iterator[int]:
    """Yield the area in pixels, within `part`, of each patch that no card explains; `part` crops `labels`."""
    cards, patches = _cards_on(sheet, sightings), zip(*np.unique(part, return_counts=True), strict=True)
    return (int(size) for label, size in patches if label and not _is_explained_by(labels == label, cards))


def _cards_on(sheet: MatMemory, sightings: Sequence[Sighting]) -> Floats:
    """Return the cards on this mat `(n, 3)`: center in top-view pixels, reach in mm."""
    own = [s for s in sightings if s.corners_px and s.zone in sheet.zones]
    if not own:
        return np.empty((0, 3))
    reach_mm = [
        FACE_REACH_MM + PLACE_SHARE * s.card_sd_mm if s.by == FACE or s.card_px is not None else REACH_MM for s in own
    ]
    return np.column_stack((_on_sheet(sheet.fit.to_mm([s.middle_px for s in own])), reach_mm))


def _is_explained_by(patch: Mask, cards: Floats) -> bool:
    """True if cards explain a patch: near, and hardly larger."""
    rows, columns = np.nonzero(patch)
    x, y, reach_mm = cards.T
    reached = np.hypot(columns[:, None] - x, rows[:, None] - y) * MM_PER_PX < reach_mm
    near = int(reached.any(axis=0).sum())
    return bool(reached.any(axis=1).mean() > REACHED_SHARE) and len(rows) <= LARGER * CARD_PX * near


# --- Accepting ------------------------------------------------------------------------------------------------


def _accepted(sheet: MatMemory, zones: Collection[str], sightings: Sequence[Sighting], *, margins: bool) -> MatMemory:
    where = _on(sheet.fit.layout, *(sheet.zones[zone] for zone in zones)) | (~_in_zones(sheet.fit.layout) & margins)
    bare = where & ~_near_cards(sheet, sightings) & _may_be_bare(sheet)
    # Parts of a remembered view are comparable only in one light.
    return replace(
        sheet,
        accepted=np.where(where[:, :, None], sheet.last, _relit(sheet, sheet.accepted)),
        bare=np.where(bare[:, :, None], sheet.last, _relit(sheet, sheet.bare)),
        bare_known=sheet.bare_known | bare,
        settled=sheet.settled | frozenset(zones),
    )


def _may_be_bare(sheet: MatMemory) -> Mask:
    """True where bare mat may be learned: it looks as known, or has no large object.

    Excludes shadows: a resting arm may look like shaded paper.
    """
    strange = _never_seen_bare(sheet) & ~sheet.is_like_ground
    _, labels, stats, _ = cv2.connectedComponentsWithStats(strange.astype(np.uint8), connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] > MOST_PRINT_PX
    large[0] = False
    return np.where(sheet.bare_known, _difference(sheet.last, sheet.bare_now) <= CHANGED_LEVELS, ~large[labels])


def _near_cards(sheet: MatMemory, sightings: Sequence[Sighting]) -> Mask:
    """True where read cards may be."""
    near = np.zeros(sheet.last.shape[:2], np.uint8)
    for x, y, reach_mm in _cards_on(sheet, sightings):
        cv2.circle(near, (round(x), round(y)), round(reach_mm / MM_PER_PX), 255, -1)
    return near > 0
