"""Select a mat's genuine markers: they fit one homography of the sheet, face up, at the other mats' scale.

Others are misread, or on a photo of a mat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np

from companion.tabletop.mat_layout import Marker, MatLayout
from companion.vision.boxes import Floats
from companion.vision.mats.calibration import MarkerPoints, similarity
from companion.vision.mats.homography import Corners, Fit, Lens, corners_mm
from companion.vision.mats.markers import Candidates, side_px
from companion.vision.opencv import cv2

AGREE_SHARE = 0.06  # maximum RMS error of a group, in marker sides
SCALES_PX_PER_MM = (0.3, 40.0)
SAME_SCALE = 1.3  # maximum scale ratio of two mats on one table …
SAME_SCALE_BENT = 1.7  # … with an unknown lens
SHAPE_SHARE = 0.1  # maximum RMS error on another mat's plane, relative to its extent
ENOUGH_MARKERS = 3  # to determine a plane
Group = Fit  # agreeing markers of one mat, and its position


def marks_of(layout: MatLayout) -> tuple[Marker, ...]:
    """Return a mat's markers, including the one under the draw pile."""
    return (*layout.markers, layout.draw_marker) if layout.draw_marker else layout.markers


def points_of(layout: MatLayout, markers: Corners) -> MarkerPoints:
    """Return marker corners on mat and picture, ordered like `marks_of`."""
    shown = [marker for marker in marks_of(layout) if marker.id in markers]
    mm = np.concatenate([corners_mm(marker.square) for marker in shown])
    return MarkerPoints(mm, np.concatenate([markers[marker.id] for marker in shown]))


def straight_points(layout: MatLayout, markers: Corners, lens: Lens | None) -> tuple[Floats, Floats]:
    """Return marker corners in mm and undistorted px, `(4n, 2)` each."""
    points = points_of(layout, markers)
    return points.mm, lens.straighten(points.px) if lens else points.px


def groups_of(layout: MatLayout, candidates: Candidates, lens: Lens | None) -> list[Group]:
    """Return a mat's largest groups of agreeing markers; several if markers appear twice."""
    own = {marker.id: candidates[marker.id] for marker in marks_of(layout) if marker.id in candidates}
    for count in range(len(own), 0, -1):
        chosen = ((ids, places) for ids in combinations(own, count) for places in product(*map(own.get, ids)))
        markers = (dict(zip(ids, places, strict=True)) for ids, places in chosen)
        found = [group for some in markers if (group := group_of(layout, some, lens))]
        if found:
            return found
    return []


def group_of(layout: MatLayout, markers: Corners, lens: Lens | None) -> Group | None:
    """Return the markers as a group; None if they disagree or are not `is_sound`."""
    mm, straight = straight_points(layout, markers, lens)
    matrix, _ = cv2.findHomography(mm, straight, 0)
    if matrix is None or not is_sound(layout, matrix):
        return None
    off = np.hypot(*(cv2.perspectiveTransform(mm[None], matrix)[0] - straight).T)
    side = np.mean([side_px(corners) for corners in markers.values()])
    return Fit(layout, matrix, markers, lens) if np.sqrt((off**2).mean()) <= AGREE_SHARE * side else None


def is_sound(layout: MatLayout, matrix: Floats) -> bool:
    """True if a matrix can show a sheet: before the camera, face up, of plausible size."""
    fit = Fit(layout, matrix, {})
    corners = np.column_stack((corners_mm(fit.sheet), np.ones(4))) @ matrix.T
    depth = corners[:, 2] / matrix[2, 2]
    if (depth < 0.2).any() or np.linalg.det(matrix) * matrix[2, 2] <= 0:
        return False
    low, high = SCALES_PX_PER_MM
    return low <= fit.px_per_mm <= high


def agreeing(groups: Mapping[str, Sequence[Group]], known: Sequence[Group], room: float) -> dict[str, Group]:
    """Return one group per mat, all on one table; leave out mats with two equally good ones.

    The table is the plane of the `known` groups, else the one most mats agree on. `room` is the maximum scale ratio.
    """
    anchors = known or [group for found in groups.values() for group in found]
    if not anchors:
        return {}
    anchor = max(anchors, key=lambda group: _support(group, groups, room))
    chosen = {mat: [group for group in found if on_one_table(anchor, group, room)] for mat, found in groups.items()}
    # Groups without a common marker put a mat in two places.
    return {
        mat: found[0]
        for mat, found in chosen.items()
        if found and all(any(group.markers.get(m) is c for m, c in found[0].markers.items()) for group in found[1:])
    }


def on_one_table(anchor: Group, group: Group, room: float) -> bool:
    """True if a group has its printed size, within the factor `room`, on the anchor's plane."""
    if group is anchor:
        return True
    mm, straight = straight_points(group.layout, group.markers, group.lens)
    on_table = cv2.perspectiveTransform(straight[None], anchor.inverse)[0]
    a, b, x, y = similarity(mm, on_table)
    scale = float(np.hypot(a, b))
    off = float(np.sqrt(((mm @ np.array([[a, b], [-b, a]]) + (x, y) - on_table) ** 2).sum(axis=1).mean()))
    room **= 2 if len(anchor.markers) == 1 else 1
    return 1 / room <= scale <= room and off <= SHAPE_SHARE * scale * float(np.ptp(mm, axis=0).max()) * room


def _support(anchor: Group, groups: Mapping[str, Sequence[Group]], room: float) -> tuple[bool, int, int, float]:
    """Rank a group as reference: enough markers, agreeing mats, marker count, scale."""
    count = sum(any(on_one_table(anchor, group, room) for group in found) for found in groups.values())
    return len(anchor.markers) >= ENOUGH_MARKERS, count, len(anchor.markers), anchor.px_per_mm
