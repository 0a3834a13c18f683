"""Whether something new lies still before the camera, for cards laid one after the other."""

from __future__ import annotations

from companion.vision.boxes import Image
from companion.vision.motion import Gate, Motion, update

STILL_S = 0.6  # seconds without movement after which a card counts as laid down


class Stillness:
    """Follows pictures; one is worth a look after `still_s` seconds without movement; 0 for separate photographs."""

    def __init__(self, still_s: float = STILL_S) -> None:
        self._still_s = still_s
        self._gate = Gate()
        self._since_s: float | None = None
        self._looked: Gate | None = None
        self._again_s: float | None = None

    def is_worth_a_look(self, image: Image, t_s: float) -> bool:
        """True if a picture `(H, W, 3) uint8 BGR` of time `t_s` is still and differs from the last one looked at."""
        self._gate = update(self._gate, image)
        if self._since_s is None or self._gate.motion is not Motion.STILL or t_s < self._since_s:
            self._since_s = t_s
        if t_s - self._since_s < self._still_s:
            return False
        is_due = self._again_s is not None and t_s >= self._again_s
        return is_due or self._looked is None or update(self._looked, image).motion is not Motion.STILL

    def lost_sight(self) -> None:
        """Forget what was still: the pictures were interrupted."""
        self._since_s = None

    def looked(self, again_s: float | None = None) -> None:
        """Mark the present picture as looked at; unchanged, it is worth another look from `again_s` on."""
        self._looked, self._again_s = self._gate, again_s
