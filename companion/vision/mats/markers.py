"""Finding the printed markers on a picture."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from companion.vision.boxes import Box, Floats, Image, whole
from companion.vision.mats.corners import exact
from companion.vision.mats.tags import read_markers
from companion.vision.opencv import cv2

Candidates = Mapping[int, tuple[Floats, ...]]
"""By id every place where such a marker was seen, largest first: its corners `(4, 2)` in pixels."""

FAST_WINDOWS = (15, 15, 10)
"""Smallest and largest threshold window of the marker search and its step, in pixels: one window only."""

THOROUGH_WINDOWS = (3, 23, 10)
MOST_OF_ONE = 3
"""Maximum number of places of one id."""

_LOCAL = threading.local()


def find_all(
    gray: Image, ids: Sequence[int], windows: tuple[int, int, int] = FAST_WINDOWS, box: Box | None = None
) -> dict[int, tuple[Floats, ...]]:
    """Return every marker with one of these ids on a grey picture `(H, W) uint8`, or in a box of it."""
    part = box or whole(gray)
    corners, found, _ = _detector(tuple(ids), windows).detectMarkers(np.ascontiguousarray(part.of(gray)))
    if found is None:
        return {}
    shift = np.array([part.left, part.top], np.float64)
    rough = [corner.reshape(4, 2) + shift for corner in corners]
    placed = [{ids[int(at)]: (exact(gray, corner),)} for at, corner in zip(found.ravel(), rough, strict=True)]
    return united(placed)


def find_soft(gray: Image, ids: Sequence[int]) -> dict[int, tuple[Floats, ...]]:
    """Find the markers that are too small, soft or dim for `find_all`; it takes several times as long."""
    found = read_markers(gray)
    return united({marker: (exact(gray, corners.astype(np.float64)),)} for marker, corners in found if marker in ids)


def united(finds: Iterable[Candidates]) -> dict[int, tuple[Floats, ...]]:
    """Return what several looks have found; the same marker found by two of them is there once, as the first has it."""
    places: dict[int, list[Floats]] = {}
    for find in finds:
        for marker, seen in find.items():
            known = places.setdefault(marker, [])
            known += [corners for corners in seen if not any(_is_same(corners, other) for other in known)]
    return {m: tuple(sorted(known, key=side_px, reverse=True)[:MOST_OF_ONE]) for m, known in places.items()}


def side_px(corners: Floats) -> float:
    """Return the mean side of a marker on the picture."""
    return float(np.hypot(*(corners - np.roll(corners, 1, axis=0)).T).mean())


def _is_same(corners: Floats, other: Floats) -> bool:
    return bool(np.hypot(*(corners.mean(axis=0) - other.mean(axis=0))) < side_px(other) / 2)


def _detector(ids: tuple[int, ...], windows: tuple[int, int, int]) -> cv2.aruco.ArucoDetector:
    """Return one detector a thread for a set of ids: its dictionary holds those alone, so it is quicker and surer."""
    made: dict[object, cv2.aruco.ArucoDetector] = _LOCAL.__dict__.setdefault("detectors", {})
    if (ids, windows) not in made:
        full = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12)
        few = cv2.aruco.Dictionary(full.bytesList[list(ids)], full.markerSize, full.maxCorrectionBits)
        parameters = cv2.aruco.DetectorParameters()
        smallest, largest, step = windows
        parameters.adaptiveThreshWinSizeMin = smallest
        parameters.adaptiveThreshWinSizeMax = largest
        parameters.adaptiveThreshWinSizeStep = step
        parameters.minMarkerPerimeterRate = 0.015
        parameters.perspectiveRemoveIgnoredMarginPerCell = 0.2
        parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
        parameters.relativeCornerRefinmentWinSize = 0.8
        made[ids, windows] = cv2.aruco.ArucoDetector(few, parameters)
    return made[ids, windows]
