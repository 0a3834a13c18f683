"""Is there something new to look at, and does it lie still? For cards laid before the camera one after the other."""

from __future__ import annotations

from companion.vision.boxes import Image
from companion.vision.motion import Gate, Motion, update

STILL_S = 0.6
"""Seconds without movement after which a card counts as laid down."""


class Stillness:
    """Follows pictures, `still_s` seconds of which must be the same before one is worth a look; 0: each by itself."""

    def __init__(self, still_s: float = STILL_S) -> None:
        self._still_s = still_s
        self._gate = Gate()
        self._since_s: float | None = None
        self._looked: Gate | None = None
        self._again_s: float | None = None

    def is_worth_a_look(self, image: Image, t_s: float) -> bool:
        """True if a picture `(H, W, 3) uint8 BGR` of time `t_s` lies still and is news.

        It is news where it shows other things than the last one that was looked at.
        """
        self._gate = update(self._gate, image)
        if self._since_s is None or self._gate.motion is not Motion.STILL or t_s < self._since_s:
            self._since_s = t_s
        if t_s - self._since_s < self._still_s:
            return False
        is_due = self._again_s is not None and t_s >= self._again_s
        return is_due or self._looked is None or update(self._looked, image).motion is not Motion.STILL

    def lost_sight(self) -> None:
        """The pictures had broken off: nothing is known to have lain still meanwhile."""
        self._since_s = None

    def looked(self, again_s: float | None = None) -> None:
        """What it shows now has been looked at; where nothing changes, it is worth another look from `again_s` on."""
        self._looked, self._again_s = self._gate, again_s
