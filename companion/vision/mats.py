"""Mats: from the markers on the picture to where every zone lies.

One marker of a mat gives its place, all of them give it well. A mat found once stays where it was while something
covers it; where its markers show up more than `DRIFT_PX` away, its place is taken anew.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from companion.layout import Marker, MatLayout, Rect, all_mats
from companion.vision.boxes import Box, Image, around, merged, whole
from companion.vision.opencv import cv2
from companion.vision.view import MatSeen, Point, Quad

Floats = npt.NDArray[np.float64]
Corners = Mapping[int, Floats]
"""Markers by id: their corners `(4, 2)` in pixels, in the order of `MatLayout.markers`' squares."""

DRIFT_PX = 3.0
CHECK_EVERY_S = 2.0
"""How often the known markers are looked at again where they were."""

SEARCH_EVERY_S = 5.0
"""How often the whole picture is searched while a mat is missing."""

ENOUGH_MARKERS = 3
"""From this many on a mat's own markers tell its place better than those of its neighbours."""

SCALES_PX_PER_MM = (0.3, 40.0)
RANSAC_PX = 3.0
FAST_WINDOWS = (15, 15, 10)
"""Smallest and largest threshold window of the marker search and its step, in pixels: one window only."""

THOROUGH_WINDOWS = (3, 23, 10)
_LOCAL = threading.local()


@dataclass(frozen=True, eq=False)
class Fit:
    """Where one mat lies on the picture."""

    layout: MatLayout
    matrix: Floats
    """From millimetres on the mat to pixels, `(3, 3)`."""

    markers: Corners
    """Its markers where they were last seen."""

    @cached_property
    def inverse(self) -> Floats:
        return np.linalg.inv(self.matrix)

    def to_px(self, points_mm: npt.ArrayLike) -> Floats:
        """Points `(N, 2)` on the mat, in pixels of the picture."""
        return through(self.matrix, points_mm)

    def to_mm(self, points_px: npt.ArrayLike) -> Floats:
        """Points `(N, 2)` of the picture, in millimetres on the mat."""
        return through(self.inverse, points_px)

    def quad_px(self, rect: Rect) -> Floats:
        """The corners of a rectangle of the mat on the picture, `(4, 2)`."""
        return self.to_px(corners_mm(rect))

    def zone_at(self, point_px: Point) -> str | None:
        """The zone under a point of the picture, as `side-1/battle`."""
        x_mm, y_mm = self.to_mm([point_px])[0]
        name = self.layout.zone_at(float(x_mm), float(y_mm))
        return None if name is None else f"{self.layout.id}/{name}"

    @property
    def outline_px(self) -> Floats:
        """The corners of the printed sheet on the picture, `(4, 2)`."""
        return self.quad_px(Rect(0.0, 0.0, *self.layout.size_mm))

    @property
    def px_per_mm(self) -> float:
        """The scale at the mat's middle: the root of what a square millimetre covers."""
        x, y = self.layout.size_mm[0] / 2, self.layout.size_mm[1] / 2
        (ax, ay), (bx, by), (cx, cy) = self.to_px([(x, y), (x + 1, y), (x, y + 1)])
        return float(abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))) ** 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Mats:
    """The mats as far as they are known."""

    fits: tuple[Fit, ...] = ()
    draw_marker_seen: bool | None = None
    """Whether the marker under the draw pile showed when last looked for; None before."""

    moved: frozenset[str] = field(default_factory=frozenset)
    """Mats whose place was taken anew on the last look because they, or the camera, had moved."""

    searched_s: float | None = None
    checked_s: float | None = None

    def of(self, mat_id: str) -> Fit | None:
        """Where that mat lies, or None while it has not been found."""
        return next((fit for fit in self.fits if fit.layout.id == mat_id), None)

    def zone_at(self, point_px: Point) -> str | None:
        """The zone under a point of the picture, as `side-1/battle`, or None off the zones."""
        return next((zone for fit in self.fits if (zone := fit.zone_at(point_px))), None)

    def seen(self) -> tuple[MatSeen, ...]:
        """The mats as a view tells them."""
        return tuple(MatSeen(fit.layout.id, as_quad(fit.outline_px), fit.px_per_mm) for fit in self.fits)


def look(
    gray: Image, mats: Mats, t_s: float, layouts: Sequence[MatLayout] | None = None, *, anew: bool = False
) -> Mats:
    """The mats after a picture `(H, W) uint8` taken at `t_s`: searched, checked, or left alone when neither is due.

    `layouts` are the mats in play (None: all there are). `anew` forces a search of the whole picture.
    """
    wanted = tuple(layouts) if layouts is not None else all_mats()
    if anew or _search_due(mats, wanted, t_s):
        return search(gray, mats, wanted, t_s)
    if mats.fits and _due(mats.checked_s, CHECK_EVERY_S, t_s):
        return check(gray, mats, wanted, t_s)
    return replace(mats, moved=frozenset())


def is_due(mats: Mats, t_s: float) -> bool:
    """Whether `look` would do more than nothing at that time, were every mat in play found."""
    return mats.searched_s is None or _due(mats.checked_s if mats.fits else mats.searched_s, CHECK_EVERY_S, t_s)


def search(gray: Image, mats: Mats, layouts: Sequence[MatLayout], t_s: float) -> Mats:
    """Looks for every marker on the whole picture, a second time more thoroughly where a mat has not all of its."""
    ids = _ids(layouts)
    seen = find_markers(gray, ids)
    if any(marker.id not in seen for layout in layouts for marker in layout.markers):
        seen = {**find_markers(gray, ids, THOROUGH_WINDOWS), **seen}
    return replace(_joined(mats, seen, layouts), searched_s=t_s, checked_s=t_s)


def check(gray: Image, mats: Mats, layouts: Sequence[MatLayout], t_s: float) -> Mats:
    """Looks for the known mats' markers where they must be; searches everywhere where none of a mat's is there."""
    boxes = merged([_box_of(fit, marker, gray) for fit in mats.fits for marker in _all_markers(fit.layout)])
    seen: dict[int, Floats] = {}
    for box in boxes:
        if min(box.right - box.left, box.bottom - box.top) > 8:
            seen |= find_markers(gray, _ids(layouts), box=box)
    lost = [fit for fit in mats.fits if not any(marker.id in seen for marker in fit.layout.markers)]
    if lost and _due(mats.searched_s, SEARCH_EVERY_S, t_s):
        return search(gray, mats, layouts, t_s)
    return replace(_joined(mats, seen, layouts), checked_s=t_s)


def find_markers(
    gray: Image, ids: Sequence[int], windows: tuple[int, int, int] = FAST_WINDOWS, box: Box | None = None
) -> dict[int, Floats]:
    """The markers with these ids on a grey picture (or in a box of it). An id seen twice tells nothing: left out."""
    part = box or whole(gray)
    corners, found, _ = _detector(tuple(ids), windows).detectMarkers(np.ascontiguousarray(part.of(gray)))
    if found is None:
        return {}
    named = [ids[int(index)] for index in found.ravel()]
    once = {marker_id for marker_id, times in Counter(named).items() if times == 1}
    shift = np.array([part.left, part.top], np.float64)
    return {m: c.reshape(4, 2) + shift for m, c in zip(named, corners, strict=True) if m in once}


def through(matrix: Floats, points: npt.ArrayLike) -> Floats:
    """Points `(N, 2)` through a homography `(3, 3)`."""
    flat = np.asarray(points, np.float64).reshape(-1, 2)
    moved = np.column_stack((flat, np.ones(len(flat)))) @ matrix.T
    result: Floats = moved[:, :2] / moved[:, 2:]
    return result


def corners_mm(rect: Rect) -> Floats:
    """A rectangle's corners, top left first, then clockwise, `(4, 2)`."""
    left, top, right, bottom = rect.x_mm, rect.y_mm, rect.x_mm + rect.width_mm, rect.y_mm + rect.height_mm
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)])


def as_quad(corners: Floats) -> Quad:
    """Corners `(4, 2)` as plain numbers."""
    a, b, c, d = ((float(x), float(y)) for x, y in corners)
    return a, b, c, d


# --- Finding markers ------------------------------------------------------------------------------------------


def _detector(ids: tuple[int, ...], windows: tuple[int, int, int]) -> cv2.aruco.ArucoDetector:
    """One detector a thread for a set of ids: its dictionary holds those alone, so it is quicker and surer."""
    made: dict[object, cv2.aruco.ArucoDetector] = _LOCAL.__dict__.setdefault("detectors", {})
    if (ids, windows) not in made:
        full = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12)
        few = cv2.aruco.Dictionary(full.bytesList[list(ids)], full.markerSize, full.maxCorrectionBits)
        made[ids, windows] = cv2.aruco.ArucoDetector(few, _parameters(windows))
    return made[ids, windows]


def _parameters(windows: tuple[int, int, int]) -> cv2.aruco.DetectorParameters:
    parameters = cv2.aruco.DetectorParameters()
    smallest, largest, step = windows
    parameters.adaptiveThreshWinSizeMin = smallest
    parameters.adaptiveThreshWinSizeMax = largest
    parameters.adaptiveThreshWinSizeStep = step
    parameters.minMarkerPerimeterRate = 0.015
    parameters.perspectiveRemoveIgnoredMarginPerCell = 0.2
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return parameters


def _ids(layouts: Sequence[MatLayout]) -> tuple[int, ...]:
    return tuple(sorted(marker.id for layout in layouts for marker in _all_markers(layout)))


def _all_markers(layout: MatLayout) -> tuple[Marker, ...]:
    return (*layout.markers, layout.draw_marker) if layout.draw_marker else layout.markers


def _box_of(fit: Fit, marker: Marker, gray: Image) -> Box:
    box = around(fit.quad_px(marker.square))
    return box.padded((box.right - box.left) * 2 // 5 + 8).within(gray.shape[1], gray.shape[0])


def _due(last_s: float | None, every_s: float, t_s: float) -> bool:
    return last_s is None or not 0 <= t_s - last_s < every_s


def _search_due(mats: Mats, layouts: Sequence[MatLayout], t_s: float) -> bool:
    return mats.searched_s is None or (len(mats.fits) < len(layouts) and _due(mats.searched_s, SEARCH_EVERY_S, t_s))


# --- From markers to places -----------------------------------------------------------------------------------


def _joined(mats: Mats, seen: Corners, layouts: Sequence[MatLayout]) -> Mats:
    """What is known of the mats after these markers were seen."""
    old = {fit.layout.id: fit for fit in mats.fits}
    kept = {layout.id: _kept_markers(layout, old.get(layout.id), seen) for layout in layouts}
    moved = frozenset(fit.layout.id for fit in mats.fits if _has_moved(fit, seen))
    good = [fit for layout in layouts if (fit := _own_fit(layout, kept[layout.id], old.get(layout.id), moved))]
    fits = [fit for layout in layouts if (fit := _best_fit(layout, kept[layout.id], good, old.get(layout.id)))]
    return replace(mats, fits=tuple(fits), moved=moved, draw_marker_seen=_draw_marker(fits, seen))


def _draw_marker(fits: Iterable[Fit], seen: Corners) -> bool | None:
    markers = [fit.layout.draw_marker.id for fit in fits if fit.layout.draw_marker]
    return markers[0] in seen if markers else None


def _has_moved(fit: Fit, seen: Corners) -> bool:
    """Whether most of the mat's markers that show are not where they were."""
    shifts = [np.abs(seen[m] - fit.markers[m]).mean() for m in fit.markers if m in seen]
    return bool(shifts) and float(np.median(shifts)) > DRIFT_PX


def _kept_markers(layout: MatLayout, old: Fit | None, seen: Corners) -> dict[int, Floats]:
    """The mat's markers: those seen now, and those covered now where they were unless the mat has moved."""
    now = {marker.id: seen[marker.id] for marker in layout.markers if marker.id in seen}
    if old is None or _has_moved(old, seen):
        return now
    steady = {m: old.markers[m] for m in old.markers if m not in now or np.abs(now[m] - old.markers[m]).mean() < 0.5}
    return {**now, **steady}


def _own_fit(layout: MatLayout, markers: Corners, old: Fit | None, moved: frozenset[str]) -> Fit | None:
    """The mat's place from its own markers where they are enough; the old one where nothing new was seen."""
    if old is not None and layout.id not in moved and markers.keys() == old.markers.keys():
        same = all(markers[m] is old.markers[m] for m in markers)
        return old if same else _fitted(layout, markers)
    return _fitted(layout, markers) if len(markers) >= ENOUGH_MARKERS else None


def _best_fit(layout: MatLayout, markers: Corners, good: Sequence[Fit], old: Fit | None) -> Fit | None:
    """The mat's place: its own, else by the plane that a well seen neighbour shares, else from few markers."""
    own = next((fit for fit in good if fit.layout.id == layout.id), None)
    if own is not None:
        return own
    if not markers:
        return old
    neighbours = [fit for fit in good if len(fit.markers) >= ENOUGH_MARKERS]
    return (_beside(layout, markers, neighbours[0]) if neighbours else None) or _fitted(layout, markers) or old


def _fitted(layout: MatLayout, markers: Corners) -> Fit | None:
    mm, px = _points(layout, markers)
    matrix, _ = cv2.findHomography(mm, px, cv2.RANSAC if len(mm) > 4 else 0, RANSAC_PX)
    return _sound(Fit(layout, matrix, dict(markers))) if matrix is not None else None


def _beside(layout: MatLayout, markers: Corners, neighbour: Fit) -> Fit | None:
    """The place of a mat that lies on the same table: only a turn and a shift from its neighbour are to be found."""
    mm, px = _points(layout, markers)
    matrix = neighbour.matrix @ _turn_and_shift(mm, neighbour.to_mm(px))
    return _sound(Fit(layout, matrix, dict(markers)))


def _turn_and_shift(points: Floats, onto: Floats) -> Floats:
    """The turn and shift that best carries points onto others (both `(N, 2)`), as a `(3, 3)` matrix."""
    middle, target = points.mean(axis=0), onto.mean(axis=0)
    u, _, vt = np.linalg.svd((points - middle).T @ (onto - target))
    mirror = np.diag([1.0, float(np.sign(np.linalg.det(vt.T @ u.T)))])
    turn = vt.T @ mirror @ u.T
    matrix = np.eye(3)
    matrix[:2, :2], matrix[:2, 2] = turn, target - turn @ middle
    return matrix


def _points(layout: MatLayout, markers: Corners) -> tuple[Floats, Floats]:
    """The markers' corners on the mat and on the picture, `(4n, 2)` each."""
    shown = [marker for marker in layout.markers if marker.id in markers]
    mm = np.concatenate([corners_mm(marker.square) for marker in shown])
    return mm, np.concatenate([markers[marker.id] for marker in shown])


def _sound(fit: Fit) -> Fit | None:
    """The fit if a sheet on a table can look like that: whole in front of the camera, face up, of a sane size."""
    corners = np.column_stack((corners_mm(Rect(0, 0, *fit.layout.size_mm)), np.ones(4))) @ fit.matrix.T
    depth = corners[:, 2] / fit.matrix[2, 2]
    if (depth < 0.2).any() or np.linalg.det(fit.matrix) * fit.matrix[2, 2] <= 0:
        return None
    low, high = SCALES_PX_PER_MM
    return fit if low <= fit.px_per_mm <= high else None
