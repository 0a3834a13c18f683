"""The turn of the camera's picture before people or the eye look at it; kept in the data folder.

A camera that hangs upside down is read all the same, but people want to see their table as they sit at it; one whose
own software mirrors the picture is not read at all until it is mirrored back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import cv2

from companion.common.errors import FileProblem
from companion.common.small_file import read_small
from companion.storage.files import write_whole
from companion.vision.boxes import Image
from companion.vision.capture.sources import Frame

KEPT_NAME = "picture-turn.json"
QUARTERS = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}
LEFT_AND_RIGHT = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """Degrees by which a picture is turned clockwise, and whether it is mirrored after that."""

    degrees: int = 0
    mirrored: bool = False

    def of(self, image: Image) -> Image:
        """Return a picture, turned so."""
        turned = cv2.rotate(image, QUARTERS[self.degrees]) if self.degrees else image
        return cast(Image, cv2.flip(turned, LEFT_AND_RIGHT) if self.mirrored else turned)


AS_IT_IS = Turn()


class KeptTurn:
    """The turn in force. Any thread may ask for it; without a folder it is forgotten with the service."""

    def __init__(self, folder: Path | None = None) -> None:
        self._path = folder / KEPT_NAME if folder else None
        self.current = _read(self._path) if self._path else AS_IT_IS

    def keep(self, turn: Turn) -> None:
        """Turn pictures so from now on. Raises Problem where that cannot be kept."""
        if self._path is not None:
            path = self._path
            with FileProblem(
                "%(path)s cannot be written (%(error)s): check the folder's rights and the disk's space.", path=path
            ):
                write_whole(path, json.dumps(asdict(turn)))
        self.current = turn

    def turned(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield frames, each turned as `current` says when it comes."""
        for frame in frames:
            turn = self.current
            yield frame if turn == AS_IT_IS else replace(frame, image=turn.of(frame.image))


def _read(path: Path) -> Turn:
    """Return what was kept; the picture as it is where nothing was, or nothing that can be used."""
    try:
        kept = json.loads(read_small(path))
        degrees, mirrored = kept["degrees"], kept["mirrored"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return AS_IT_IS
    return Turn(degrees if degrees in tuple(QUARTERS) else 0, mirrored is True)
