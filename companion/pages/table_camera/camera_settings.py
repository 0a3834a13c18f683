"""Camera settings in the data folder: rotation, additional cameras."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import cv2

from companion.common.addresses import shown
from companion.common.errors import Problem, file_problem
from companion.common.small_file import read_json
from companion.common.text import say
from companion.storage.data_folder import TURN_NAME, write_whole
from companion.vision.boxes import Image
from companion.vision.capture.devices import is_stream, lasting_name, video_devices
from companion.vision.capture.sources import Frame, is_device

OTHERS_NAME = "other-cameras.json"
QUARTERS = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}
LEFT_AND_RIGHT = 1
MOST_OTHERS = 3  # each costs as much computing as the first


def _keep(path: Path, value: object) -> None:
    with file_problem(
        "%(path)s cannot be written (%(error)s): check the folder's permissions and the free disk space.", path=path
    ):
        write_whole(path, json.dumps(value))


def _kept(path: Path) -> Any:
    try:
        return read_json(path)
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Turn:
    """Clockwise rotation in degrees, then mirroring."""

    degrees: int = 0
    mirrored: bool = False

    def of(self, image: Image) -> Image:
        turned = cv2.rotate(image, QUARTERS[self.degrees]) if self.degrees else image
        return cast(Image, cv2.flip(turned, LEFT_AND_RIGHT) if self.mirrored else turned)


AS_IT_IS = Turn()


class KeptTurn:
    """Saved rotation and mirroring of pictures. Thread-safe.

    Only for viewers: cards are read upside down too, and `companion.vision.mirrored` handles mirrored pictures.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / TURN_NAME
        self.current = _turn(_kept(self._path))

    def keep(self, turn: Turn) -> None:
        """Apply and save a turn. Raises Problem if it cannot be saved."""
        _keep(self._path, asdict(turn))
        self.current = turn

    def turned(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        for frame in frames:
            yield frame if self.current == AS_IT_IS else _turned(frame, self.current)


def _turned(frame: Frame, turn: Turn) -> Frame:
    def newest() -> Image | None:
        image = frame.newest()
        return None if image is None else turn.of(image)

    return replace(frame, image=turn.of(frame.image), newest=newest)


def _turn(kept: Any) -> Turn:
    if not isinstance(kept, dict) or not {"degrees", "mirrored"} <= kept.keys():
        return AS_IT_IS
    return Turn(kept["degrees"] if kept["degrees"] in tuple(QUARTERS) else 0, kept["mirrored"] is True)


class OtherCameras:
    """Additional cameras, given at the start or saved; `first` returns the main one. Thread-safe."""

    def __init__(
        self,
        folder: Path,
        given: Sequence[str] | None = None,
        first: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._path, self._first = folder / OTHERS_NAME, first
        self.are_given = given is not None
        self.sources = _sources(_kept(self._path)) if given is None else tuple(given)

    def choices(self) -> list[str]:
        """Return the devices that can be added."""
        used = {lasting_name(source) for source in (*self.sources, self._first() or "")}
        return [device for device in video_devices() if lasting_name(device) not in used]

    def add(self, source: str) -> None:
        """Add and save a camera. Raises Problem for an invalid one."""
        if not (source in self.choices() or (is_stream(source) and source not in self.sources)):
            none = say(
                "“%(source)s” is not a camera that can be added: choose one, or type an address such as %(example)s.",
                source=shown(source),
                example="http://192.168.1.30:8080/video",
            )
            raise Problem(none)
        if len(self.sources) >= MOST_OTHERS:
            raise Problem(say("No more cameras can be used at once: remove one first."))
        self._use(*self.sources, lasting_name(source))

    def leave_out(self, number: int) -> None:
        """Remove a camera by index. Raises Problem if that cannot be saved."""
        self._use(*(source for n, source in enumerate(self.sources) if n != number))

    def _use(self, *sources: str) -> None:
        _keep(self._path, sources)
        self.sources = sources


def _sources(kept: Any) -> tuple[str, ...]:
    sources = kept if isinstance(kept, list) else []
    return tuple(source for source in sources if isinstance(source, str) and is_device(source))[:MOST_OTHERS]
