"""Locate the mats and their zones by markers.

One marker locates a mat; all together locate it exactly, and give the lens distortion (`calibration.py`). Positions are
medians of several looks. A mat has moved if its markers are over `DRIFT_PX` away and agree (`outliers.py`), or all
shifted alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from companion.tabletop.drawn_zones import Drawing
from companion.tabletop.mat_layout import MatLayout, all_mats
from companion.vision.boxes import Box, Floats, Image, around, merged
from companion.vision.mats import outliers
from companion.vision.mats.calibration import CORNER_PX, Calibration, similarity, survey
from companion.vision.mats.drawn import fits_of, without_mats
from companion.vision.mats.homography import Corners, Fit, Lens, as_quad, corners_mm, through
from companion.vision.mats.markers import THOROUGH_WINDOWS, Candidates, find_all, find_soft, side_px, united
from companion.vision.mats.outliers import ENOUGH_MARKERS, SAME_SCALE, SAME_SCALE_BENT, Group, marks_of, on_one_table
from companion.vision.opencv import cv2
from companion.vision.view import MatSeen, Point

DRIFT_PX = 3.0
CHECK_EVERY_S = 2.0  # between checks of known markers
SEARCH_EVERY_S = 5.0  # between searches of the whole picture
SEARCH_BESIDE_DRAWN_S = 20.0  # with drawn zones: other sides may use mats
THOROUGH_EVERY = 6  # after two vain searches, one in this many is thorough (slow)
REMEMBERED = 5  # looks in a marker's median
CREPT_PX = 0.35  # drift of the median that updates a mat
NUDGED_PX = 1.0  # minimum common shift of a nudged mat's markers
SURE_AFTER_S = 1.0  # until a single marker elsewhere moves its mat
ODD_SURE_AFTER_S = 15.0  # until a lone mat may change size: more likely a photo
NEAR_SHARE = 0.25  # maximum error of a new marker's position, in its sides
UNSURE_MM = 3.0  # maximum error in visible zones of a known mat
WARPED_PX = 0.5  # RMS lead of a bent mat's own plane
SAME_LEVELS = 2.0
"""Mean difference below which a box is unchanged and not searched again.

On three films 75 to 95 % of boxes at rest had less. Of boxes shifted by half a pixel 99 % had at least 1.6,
by a whole pixel 3.1.
"""
_NINE = np.array([((1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y) for y in (0, 0.5, 1) for x in (0, 0.5, 1)])


class Looked(NamedTuple):
    """A box around markers, blurred, and its markers."""

    blurred: Image
    seen: Candidates


@dataclass(frozen=True, slots=True, eq=False)
class Mats:
    """State of the mats on a camera's picture."""

    fits: tuple[Fit, ...] = ()
    draw_marker_seen: bool | None = None  # marker under the draw pile visible; None if not searched
    moved: frozenset[str] = field(default_factory=frozenset)  # relocated last: they or the camera moved
    searched_s: float | None = None
    checked_s: float | None = None
    lens: Lens | None = None  # None without known distortion
    drawing: Drawing | None = None  # zones drawn, for missing mats
    places: Mapping[int, tuple[Floats, ...]] = field(default_factory=dict)  # of markers at the last looks
    looked: Mapping[Box, Looked] = field(default_factory=dict)  # boxes of the last check
    showing: frozenset[str] = field(default_factory=frozenset)  # mats with a visible marker
    doubtful: Mapping[int, tuple[float, Floats]] = field(default_factory=dict)  # away from mats, since when
    evidence: int = 0  # marker looks that determined the lens
    in_vain: int = 0  # consecutive searches without a find

    @property
    def printed(self) -> tuple[Fit, ...]:
        """Mats found, without drawn zones."""
        return tuple(fit for fit in self.fits if fit.is_measured)

    def of(self, mat_id: str) -> Fit | None:
        return next((fit for fit in self.fits if fit.layout.id == mat_id), None)

    def at(self, point_px: Point) -> Fit | None:
        """Return the mat with a zone at a pixel, else with its sheet there."""
        under = [fit for fit in self.fits if fit.holds(point_px)]
        return next((fit for fit in under if fit.zone_at(point_px)), under[0] if under else None)

    def seen(self) -> tuple[MatSeen, ...]:
        return tuple(MatSeen(fit.layout.id, as_quad(fit.outline_px), fit.px_per_mm) for fit in self.fits)


def look(gray: Image, mats: Mats, t_s: float, layouts: Sequence[MatLayout] | None = None) -> Mats:
    """Return the mats after a search or check of a picture `(H, W) uint8`, if due.

    `layouts` are the mats to look for (None: all).
    """
    wanted = tuple(layouts) if layouts is not None else all_mats()
    every_s = SEARCH_EVERY_S if mats.printed == mats.fits else SEARCH_BESIDE_DRAWN_S
    if _due(mats.searched_s, every_s, t_s):
        return search(gray, mats, wanted, t_s)
    if mats.fits and _due(mats.checked_s, CHECK_EVERY_S, t_s):
        return check(gray, mats, wanted, t_s)
    return replace(mats, moved=frozenset())


def is_due(mats: Mats, t_s: float) -> bool:
    """True if `look` would act, apart from searching for missing mats."""
    return mats.searched_s is None or _due(mats.checked_s if mats.fits else mats.searched_s, CHECK_EVERY_S, t_s)


def search(gray: Image, mats: Mats, layouts: Sequence[MatLayout], t_s: float) -> Mats:
    """Return the mats after a search for all markers, thorough if some are missing."""
    ids = marker_ids(layouts)
    seen = find_all(gray, ids)
    complete = all(marker.id in seen for layout in layouts for marker in layout.markers)
    if not complete and (mats.in_vain < 2 or mats.in_vain % THOROUGH_EVERY == 0):
        seen = united((seen, find_all(gray, ids, THOROUGH_WINDOWS), find_soft(gray, ids)))
    found = _joined(mats, seen, layouts, gray.shape[1::-1], t_s)
    more = len(found.places) > len(mats.places) or found.moved
    return replace(found, searched_s=t_s, checked_s=t_s, in_vain=0 if more else mats.in_vain + 1)


def check(gray: Image, mats: Mats, layouts: Sequence[MatLayout], t_s: float) -> Mats:
    """Return the mats after checking known markers; search everywhere if a visible mat now shows none."""
    places = [fit.quad_px(marker.square) for fit in mats.printed for marker in marks_of(fit.layout)]
    boxes = merged([_box_of(place, gray) for place in (*places, *(corners for _, corners in mats.doubtful.values()))])
    large = [box for box in boxes if min(box.right - box.left, box.bottom - box.top) > 8]
    looked = {box: _looked_into(gray, box, mats, marker_ids(layouts)) for box in large}
    seen = united(box.seen for box in looked.values())
    lost = {fit.layout.id for fit in mats.printed if not any(marker.id in seen for marker in marks_of(fit.layout))}
    if lost & mats.showing or (lost and _due(mats.searched_s, SEARCH_EVERY_S, t_s)):
        return search(gray, mats, layouts, t_s)
    if not mats.doubtful and all(looked[box] is mats.looked.get(box) for box in large):
        return replace(mats, moved=frozenset(), checked_s=t_s)
    return replace(_joined(mats, seen, layouts, gray.shape[1::-1], t_s), checked_s=t_s, looked=looked)


# --- When and where to look -----------------------------------------------------------------------------------


def marker_ids(layouts: Sequence[MatLayout]) -> tuple[int, ...]:
    """Return all marker ids."""
    return tuple(sorted(marker.id for layout in layouts for marker in marks_of(layout)))


def _box_of(corners: Floats, gray: Image) -> Box:
    box = around(corners)
    return box.padded((box.right - box.left) * 2 // 5 + 8).within(gray.shape[1], gray.shape[0])


def _looked_into(gray: Image, box: Box, mats: Mats, ids: Sequence[int]) -> Looked:
    """Return a box's markers; search only if it changed, or positions are not settled."""
    blurred, before = cv2.blur(box.of(gray), (3, 3)), mats.looked.get(box)
    if before is None or any(len(mats.places.get(marker, ())) < REMEMBERED for marker in before.seen):
        return Looked(blurred, find_all(gray, ids, box=box))
    is_same = cv2.norm(blurred, before.blurred, cv2.NORM_L1) <= SAME_LEVELS * box.area_px
    return before if is_same else Looked(blurred, find_all(gray, ids, box=box))


def _due(last_s: float | None, every_s: float, t_s: float) -> bool:
    return last_s is None or not 0 <= t_s - last_s < every_s


# --- From markers to places -----------------------------------------------------------------------------------


def _joined(mats: Mats, seen: Candidates, layouts: Sequence[MatLayout], size_px: tuple[int, int], t_s: float) -> Mats:
    """Return the mats updated with the markers seen."""
    old = {fit.layout.id: fit for fit in mats.printed}
    home = {mat: _at_home(fit, seen) for mat, fit in old.items()}
    strange = {
        layout.id: outliers.groups_of(layout, seen, mats.lens)
        for layout in layouts
        if any(marker.id in seen and marker.id not in home.get(layout.id, {}) for marker in marks_of(layout))
    }
    # Unmoved mats are the reference, preferably those with enough markers.
    known = [fit for mat, fit in old.items() if home[mat] and len(home[mat]) * 2 >= len(fit.markers)]
    anchors = [fit for fit in known if len(fit.markers) >= ENOUGH_MARKERS] or known
    agreed = outliers.agreeing(strange, anchors, SAME_SCALE if mats.evidence else SAME_SCALE_BENT)
    taken = {mat: group for mat, fit in old.items() if (group := _nudged(fit, home[mat])) is not None}
    taken |= {m: g for m, g in agreed.items() if m not in old or len(g.markers) > len(home[m])}
    wait_s = {m: _doubt_s(group, old[m], bool(anchors)) if m in old else 0.0 for m, group in taken.items()}
    taken, doubtful = _without_doubtful(mats, taken, wait_s, t_s)
    moved = frozenset(taken.keys() & old.keys())
    stayed = {mat: markers for mat, markers in home.items() if mat not in moved}
    now = {**stayed, **{mat: group.markers for mat, group in taken.items()}}
    places = _remembered(mats, now, taken)
    markers = {layout.id: _markers_now(layout, old.get(layout.id), now, places, moved) for layout in layouts}
    joined = replace(
        mats,
        moved=moved,
        places=places,
        doubtful=doubtful,
        showing=frozenset(mat for mat, seen_now in now.items() if seen_now),
    )
    fits = tuple(old.values())
    if any(_is_news(markers[layout.id], old.get(layout.id)) for layout in layouts):
        joined, fits = _surveyed(joined, layouts, markers, old, size_px)
    drawn = without_mats(fits_of(mats.drawing, size_px), fits) if mats.drawing else ()
    return replace(joined, fits=(*fits, *drawn), draw_marker_seen=_draw_marker(fits, seen))


def _at_home(fit: Fit, seen: Candidates) -> dict[int, Floats]:
    """Return the mat's markers found in place, with new ones nearby."""
    home: dict[int, Floats] = {}
    for marker in marks_of(fit.layout):
        expected = fit.markers.get(marker.id)
        room = DRIFT_PX
        if expected is None:
            expected = fit.quad_px(marker.square)
            room = max(DRIFT_PX, NEAR_SHARE * side_px(expected))
        near = [corners for corners in seen.get(marker.id, ()) if np.abs(corners - expected).mean() <= room]
        if near:
            home[marker.id] = min(near, key=lambda corners, at=expected: float(np.abs(corners - at).mean()))
    return home


def _nudged(fit: Fit, home: Corners) -> Group | None:
    """Return the markers' new places `home` if all shifted alike; None for jitter or disagreement."""
    both = fit.markers.keys() & home.keys()
    if len(both) < ENOUGH_MARKERS:
        return None
    off_px = np.array([(home[marker] - fit.markers[marker]).mean(axis=0) for marker in both])
    middle = np.median(off_px, axis=0)
    is_alike = np.abs(off_px - middle).max() <= NUDGED_PX / 2
    return outliers.group_of(fit.layout, home, fit.lens) if is_alike and np.hypot(*middle) > NUDGED_PX else None


def _doubt_s(group: Group, old: Fit, is_on_table: bool) -> float:
    """Return how long a group must persist to move its mat."""
    change = group.px_per_mm / old.px_per_mm
    if not is_on_table and not 1 / SAME_SCALE <= change <= SAME_SCALE and not on_one_table(old, group, SAME_SCALE):
        return ODD_SURE_AFTER_S
    return 0.0 if len(group.markers) > 1 else SURE_AFTER_S


def _without_doubtful(
    mats: Mats, taken: Mapping[str, Group], wait_s: Mapping[str, float], t_s: float
) -> tuple[dict[str, Group], dict[int, tuple[float, Floats]]]:
    """Return the groups that persisted; for each other, a marker: since when, and where."""
    sure, doubtful = {}, {}
    for mat, group in taken.items():
        marker, corners = min(group.markers.items())
        since, before = mats.doubtful.get(marker, (t_s, corners))
        since = since if np.abs(corners - before).mean() <= DRIFT_PX else t_s
        if t_s - since >= wait_s[mat]:
            sure[mat] = group
        else:
            doubtful[marker] = (since, corners)
    return sure, doubtful


def _remembered(mats: Mats, now: Mapping[str, Corners], taken: Mapping[str, Group]) -> dict[int, tuple[Floats, ...]]:
    """Return each marker's positions since its mat moved."""
    gone = {marker.id for group in taken.values() for marker in marks_of(group.layout)}
    places = {marker: seen for marker, seen in mats.places.items() if marker not in gone}
    for markers in now.values():
        for marker, corners in markers.items():
            before = places.get(marker, ())
            # An unchanged box adds no information.
            if not before or corners is not before[-1]:
                places[marker] = (*before, corners)[-REMEMBERED:]
    return places


def _markers_now(
    layout: MatLayout, old: Fit | None, now: Mapping[str, Corners], places: Candidates, moved: frozenset[str]
) -> dict[int, Floats]:
    """Return the marker positions to use: medians, unless they hardly changed."""
    before = old.markers if old is not None and layout.id not in moved else {}
    markers = dict(before)
    for marker in now.get(layout.id, {}):
        middle = np.median(places[marker], axis=0) if len(places[marker]) > 2 else places[marker][-1]
        known = before.get(marker)
        full = len(places[marker]) == REMEMBERED - 1
        if known is None or full or np.abs(middle - known).mean() > CREPT_PX:
            markers[marker] = middle
    return markers


def _is_news(markers: Corners, old: Fit | None) -> bool:
    before = old.markers if old else {}
    return markers.keys() != before.keys() or any(markers[m] is not before[m] for m in markers)


def _surveyed(
    mats: Mats,
    layouts: Sequence[MatLayout],
    known: Mapping[str, Corners],
    old: Mapping[str, Fit],
    size_px: tuple[int, int],
) -> tuple[Mats, tuple[Fit, ...]]:
    """Return the mats with an updated lens, and their positions."""
    # If the camera moved, mats without visible markers do not count.
    heard = [layout for layout in layouts if known[layout.id] and (not mats.moved or layout.id in mats.showing)]
    heard.sort(key=lambda layout: (-len(known[layout.id]), -sum(map(side_px, known[layout.id].values()))))
    evidence = sum(len(mats.places.get(marker, ())) for layout in heard for marker in known[layout.id])
    seek = evidence > mats.evidence
    points = {layout.id: outliers.points_of(layout, known[layout.id]) for layout in heard}
    told = survey(points, size_px, mats.lens, seek_lens=seek, watched={layout.id: _watched(layout) for layout in heard})
    made = {layout.id: _fitted(layout, known[layout.id], told, old.get(layout.id), size_px) for layout in heard}
    still = {mat: fit for mat, fit in old.items() if mat not in mats.moved}
    fits = tuple(fit for layout in layouts if (fit := made.get(layout.id) or still.get(layout.id)))
    return replace(mats, lens=told.lens, evidence=max(evidence, mats.evidence)), fits


def _watched(layout: MatLayout) -> Floats:
    """Return the zones' corners, edge middles and centers, `(N, 2)` mm."""
    corners = [corners_mm(rect) for rect in layout.zones.values()]
    return np.concatenate([_NINE @ four for four in corners])


def _fitted(
    layout: MatLayout, markers: Corners, told: Calibration, old: Fit | None, size_px: tuple[int, int]
) -> Fit | None:
    """Return a mat's new position; None if too uncertain."""
    matrix, spread_mm = told.matrices[layout.id], told.spread_mm[layout.id]
    own = outliers.group_of(layout, markers, told.lens) if len(markers) >= ENOUGH_MARKERS else None
    if own is not None and _left_px(own, matrix) > 2 * _left_px(own, own.matrix) + WARPED_PX:
        matrix, spread_mm = _alone(own, size_px)
    if len(markers) == 1 and len(told.matrices) == 1 and old is not None:
        matrix, spread_mm = _pushed(layout, markers, told, old)
    if spread_mm > UNSURE_MM or not outliers.is_sound(layout, matrix):
        return None
    fit = Fit(layout, matrix, dict(markers), told.lens)
    if old is None or np.abs(fit.outline_px - old.outline_px).max() > CORNER_PX:
        return fit
    return replace(old, markers=fit.markers) if _is_news(fit.markers, old) else old


def _left_px(group: Group, matrix: Floats) -> float:
    """Return a group's RMS error in pixels."""
    mm, straight = outliers.straight_points(group.layout, group.markers, group.lens)
    return float(np.sqrt(((through(matrix, mm) - straight) ** 2).mean()))


def _alone(group: Group, size_px: tuple[int, int]) -> tuple[Floats, float]:
    """Return a mat's matrix by its own markers, and its error in mm."""
    mat = group.layout.id
    points, watched = outliers.points_of(group.layout, group.markers), _watched(group.layout)
    told = survey({mat: points}, size_px, group.lens, seek_lens=False, watched={mat: watched})
    return told.matrices[mat], told.spread_mm[mat]


def _pushed(layout: MatLayout, markers: Corners, told: Calibration, old: Fit) -> tuple[Floats, float]:
    """Return a shifted mat's matrix by its only visible marker, and its error in mm."""
    mm, straight = outliers.straight_points(layout, markers, told.lens)
    middle, on_table = mm.mean(axis=0), through(old.inverse, straight)
    a, b, _, _ = similarity(mm, on_table)
    cos, sin = np.array([a, b]) / np.hypot(a, b)
    turn = np.array([[cos, -sin], [sin, cos]])
    shift = on_table.mean(axis=0) - turn @ middle
    moved: Floats = old.matrix @ np.block([[turn, shift[:, None]], [np.zeros((1, 2)), np.ones((1, 1))]])
    off_mm = float(np.sqrt(((mm @ turn.T + shift - on_table) ** 2).mean()))
    usual_mm = max(off_mm, CORNER_PX / old.px_per_mm)
    reach = np.hypot(*(_watched(layout) - middle).T).max() / np.hypot(*(mm - middle).T).mean()
    return moved, usual_mm * float(reach) / 2


def _draw_marker(fits: Iterable[Fit], seen: Candidates) -> bool | None:
    """True if the draw pile's marker is visible; None without its mat."""
    for fit in fits:
        if (marker := fit.layout.draw_marker) is not None:
            expected = fit.quad_px(marker.square)
            off_px = [corners.mean(axis=0) - expected.mean(axis=0) for corners in seen.get(marker.id, ())]
            return any(np.hypot(*off) < side_px(expected) / 2 for off in off_px)
    return None
