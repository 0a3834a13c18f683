"""Detect pictures that a camera or video call app mirrored left to right, and flip them back.

Mirrored markers and stickers are unreadable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from companion.tabletop.mat_layout import all_mats
from companion.vision.boxes import Image
from companion.vision.capture.sources import Frame
from companion.vision.mats.localization import marker_ids
from companion.vision.mats.markers import THOROUGH_WINDOWS, find_all
from companion.vision.opencv import cv2
from companion.vision.stickers.reader import are_mirrored
from companion.vision.view import Point, Quad, View

ENOUGH = 2  # minimum markers on the flipped picture, none on the original; chance finds hardly one
LOOK_EVERY_S = 10.0  # while no marker is visible


def flipped(image: Image) -> Image:
    """Mirror a picture left to right."""
    return np.ascontiguousarray(image[:, ::-1])


def is_mirrored(image: Image) -> bool | None:
    """True if a picture `(H, W, 3) uint8 BGR` shows mirrored mats; None without mats."""
    gray, ids = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), marker_ids(all_mats())
    if find_all(gray, ids):
        return False
    return True if len(find_all(flipped(gray), ids, THOROUGH_WINDOWS)) >= ENOUGH else None


def is_mirrored_photo(image: Image) -> bool:
    """True if a picture `(H, W, 3) uint8 BGR` shows mirrored mats or, without mats, mirrored stickers.

    Do not use it for pictures with drawn zones: those were drawn on the mirrored picture.
    """
    by_mats = is_mirrored(image)
    return are_mirrored(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)) if by_mats is None else by_mats


def flipped_back(view: View, width_px: int) -> View:
    """Convert a flipped picture's view to pixels of the original."""

    def point(at: Point) -> Point:
        return width_px - 1 - at[0], at[1]

    def quad(corners: Quad) -> Quad:
        a, b, c, d = corners
        return point(a), point(b), point(c), point(d)

    mats = tuple(replace(mat, corners_px=quad(mat.corners_px)) for mat in view.mats)
    sightings = tuple(
        replace(s, centre_px=point(s.centre_px), corners_px=quad(s.corners_px) if s.corners_px else None)
        for s in view.sightings
    )
    return replace(view, mats=mats, sightings=sightings)


def unmirrored(frames: Iterable[Frame], turned: Callable[[], object] = lambda: None) -> Iterator[Frame]:
    """Yield frames, flipped if they show mirrored mats.

    Decided when mats appear, and again after a gap or a change of size or `turned()`.
    """
    is_flipped, is_decided, looked_s, before = False, False, 0.0, None
    for frame in frames:
        was_flipped, now = is_flipped, (frame.image.shape, turned())
        if frame.after_gap or now != before:
            is_decided, before, looked_s = False, now, frame.t_s - LOOK_EVERY_S
        if not is_decided and not 0 <= frame.t_s - looked_s < LOOK_EVERY_S:
            found, looked_s = is_mirrored(frame.image), frame.t_s
            is_decided, is_flipped = found is not None, is_flipped if found is None else found
        if is_flipped is not was_flipped:
            frame = replace(frame, after_gap=True)
        yield _flipped(frame) if is_flipped else frame


def _flipped(frame: Frame) -> Frame:
    def newest() -> Image | None:
        image = frame.newest()
        return None if image is None else flipped(image)

    return replace(frame, image=flipped(frame.image), newest=newest)
