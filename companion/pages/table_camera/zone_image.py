"""A zone of the table as the camera sees it now, cut out of its latest picture."""

from __future__ import annotations

from companion.pages.context import service
from companion.vision.boxes import Image, shrunk
from companion.vision.capture.image_io import jpeg_of
from companion.vision.view import Quad

ROOM = 0.15
"""Margin shown around a zone, as a share of its size: cards may stick out."""

MOST_PX = 480
"""Longest side of the picture, in pixels."""


def zone_jpeg(zone: str) -> bytes | None:
    """Return what lies in a zone, as JPEG; the whole picture for a zone that is not known; None without a picture."""
    image, survey = service().camera.image(), service().camera.survey()
    if image is None:
        return None
    quad = None if survey is None else {**survey.printed, **survey.drawn}.get(zone)
    part = image if survey is None or quad is None else _part(image, quad, survey.size_px)
    return jpeg_of(shrunk(part, MOST_PX / max(part.shape[:2])))


def _part(image: Image, quad: Quad, size_px: tuple[int, int]) -> Image:
    """Return the piece round a zone, whose corners are those on a picture of `size_px`."""
    height, width = image.shape[:2]
    spans = []
    for axis, (most, was) in enumerate(zip((width, height), size_px, strict=True)):
        places = [corner[axis] * most / was for corner in quad]
        room = ROOM * (max(places) - min(places))
        spans.append(slice(max(0, int(min(places) - room)), min(most, int(max(places) + room) + 1)))
    part: Image = image[spans[1], spans[0]]
    return part if part.size else image
