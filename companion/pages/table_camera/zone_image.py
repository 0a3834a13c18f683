"""A zone of the table as the camera sees it now, cut out of its latest picture."""

from __future__ import annotations

from collections.abc import Mapping

from companion.common.errors import Problem
from companion.pages.context import service
from companion.vision.boxes import Image, shrunk
from companion.vision.capture.image_io import decode
from companion.vision.opencv import cv2
from companion.vision.view import Quad

ROOM = 0.15
"""How much of a zone's size is shown round it: what sticks out tells too."""

MOST_PX = 480
_QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 80]


def is_there() -> bool:
    """Whether there are pictures to cut zones out of."""
    camera = service().camera
    return camera.survey is not None and (camera.image is not None or camera.picture is not None)


def zone_jpeg(zone: str) -> bytes | None:
    """What lies in a zone, as JPEG; all of the picture where the zone is not known; None without a picture."""
    image, survey = _latest(), service().camera.seen()
    if image is None:
        return None
    if survey is not None:
        found: Mapping[str, Quad] = {**survey.printed, **survey.drawn}
        image = _part(image, found[zone], survey.size_px) if zone in found else image
    return _small_jpeg(image)


def _latest() -> Image | None:
    camera = service().camera
    if camera.image is not None:
        return camera.image()
    picture = camera.jpeg()
    try:
        return decode(picture, "camera.jpg") if picture else None
    except Problem:
        return None


def _part(image: Image, quad: Quad, size_px: tuple[int, int]) -> Image:
    """The piece round a zone, whose corners are those on a picture of `size_px`."""
    height, width = image.shape[:2]
    spans = []
    for axis, (most, was) in enumerate(zip((width, height), size_px, strict=True)):
        places = [corner[axis] * most / was for corner in quad]
        room = ROOM * (max(places) - min(places))
        spans.append(slice(max(0, int(min(places) - room)), min(most, int(max(places) + room) + 1)))
    part: Image = image[spans[1], spans[0]]
    return part if part.size else image


def _small_jpeg(image: Image) -> bytes | None:
    done, data = cv2.imencode(".jpg", shrunk(image, MOST_PX / max(image.shape[:2])), _QUALITY)
    return data.tobytes() if done else None
