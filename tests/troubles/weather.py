"""Changes of the whole picture: the lamp, clouds, the camera's exposure, and its position."""

import math
import random
from collections.abc import Iterator

from companion.simulate.animation import Tempo
from companion.simulate.scene import Scene
from troubles.acting import part_way
from troubles.mishaps import Mishaps
from troubles.rough_studio import LAMP_SHARE, Light, Push, RoughScene

_ADAPTS_IN_S = 0.7
_LONGEST_EXPOSURE, _SHORTEST_EXPOSURE = 2.2, 0.7
_HUNTING_SHARE, _HUNTING_HZ, _HUNTING_FADES_HZ = 0.13, 1.8, 2.5
_NUDGE_PX = (2.0, 6.0)
_PUSH_PX = (15.0, 90.0)


class Weather:
    """The light and the camera, frame by frame."""

    def __init__(self, mishaps: Mishaps, tempo: Tempo, seed: int, room_px: float) -> None:
        """`room_px` is how far the camera can be pushed before a mat leaves the picture."""
        self._mishaps, self._tempo, self._room_px = mishaps, tempo, room_px
        self._luck = random.Random(f"weather {seed}")
        self._lamp: Iterator[float] = iter(())
        self._sky: Iterator[float] = iter(())
        self._pushes: Iterator[Push] = iter(())
        self._light, self._push = Light(), Push()
        self._swings_since: int | None = None
        self._hands_before = False

    def stir(self) -> None:
        """With a play, randomly start a change, at most one of each kind at a time."""
        shares = self._mishaps
        if self._happens(shares.lamp):
            self._lamp = self._switched()
        elif self._happens(shares.dimming):
            self._lamp = self._dimmed()
        if self._happens(shares.clouds):
            self._sky = self._clouded()
        if self._happens(shares.nudge):
            self._pushes = self._pushed(self._luck.uniform(*_NUDGE_PX))
        elif self._happens(shares.push):
            self._pushes = self._pushed(self._luck.uniform(*_PUSH_PX))

    def over(self, scene: Scene) -> Scene:
        """Return a frame's scene with the current light and camera position."""
        self._push = next(self._pushes, self._push)
        lamp, sky = next(self._lamp, self._light.lamp), next(self._sky, self._light.sky)
        exposure = self._exposed(lamp, sky)
        self._light = Light(lamp, sky, exposure)
        # Rounded to invisible steps, so that equal frames are drawn identically.
        light = Light(round(lamp, 2), round(sky, 2), round(exposure * self._swing(bool(scene.arms)), 2))
        return RoughScene(scene.lying, scene.carried, scene.arms, scene.mats, light, self._push)

    def _happens(self, share: float) -> bool:
        return share > 0.0 and self._luck.random() < share

    def _frames(self, least_s: float, most_s: float) -> int:
        return round(self._luck.uniform(least_s, most_s) * self._tempo.fps)

    def _switched(self) -> Iterator[float]:
        yield from [0.0] * self._frames(3.0, 10.0)
        yield 1.0

    def _dimmed(self) -> Iterator[float]:
        to = 0.35 if self._light.lamp > 0.6 else 1.0
        yield from self._ramp(self._light.lamp, to, self._frames(1.5, 5.0))

    def _clouded(self) -> Iterator[float]:
        to = self._luck.choice((0.6, 0.75, 1.3, 1.5))
        yield from self._ramp(self._light.sky, to, self._frames(1.0, 4.0))
        yield from [to] * self._frames(1.0, 5.0)
        yield from self._ramp(to, 1.0, self._frames(1.0, 4.0))

    @staticmethod
    def _ramp(start: float, end: float, count: int) -> Iterator[float]:
        return (start + (end - start) * (n + 1) / count for n in range(count))

    def _pushed(self, far_px: float) -> Iterator[Push]:
        """Yield the camera's movement; it usually stays, but sometimes swings back."""
        old, far_px = self._push, min(far_px, self._room_px / 2)
        towards = self._luck.uniform(0.0, 2 * math.pi)
        new = Push(
            far_px * math.cos(towards),
            far_px * math.sin(towards),
            math.degrees(self._luck.uniform(-0.5, 0.5) * far_px / 1100.0),
        )
        end = old if self._luck.random() < 0.3 else new
        for from_, to, count in ((old, new, 2), (new, end, 3)):
            yield from (part_way(from_, to, (n + 1) / count) for n in range(count))

    def _exposed(self, lamp: float, sky: float) -> float:
        """Return the exposure, which follows the light with a delay, within limits."""
        bright = LAMP_SHARE * lamp + (1.0 - LAMP_SHARE) * sky
        wanted = min(_LONGEST_EXPOSURE, max(_SHORTEST_EXPOSURE, bright**-0.8))
        step = 1.0 - math.exp(-1.0 / (_ADAPTS_IN_S * self._tempo.fps))
        exposure = self._light.exposure + (wanted - self._light.exposure) * step
        return wanted if abs(exposure - wanted) < 0.01 else exposure

    def _swing(self, hands: bool) -> float:
        """Return the exposure error factor while the camera hunts after a hand appears."""
        if hands and not self._hands_before and self._happens(self._mishaps.hunting):
            self._swings_since = 0
        self._hands_before = hands
        if self._swings_since is None:
            return 1.0
        passed_s = self._swings_since / self._tempo.fps
        self._swings_since = None if passed_s > 1.5 else self._swings_since + 1
        fading = _HUNTING_SHARE * math.exp(-_HUNTING_FADES_HZ * passed_s)
        return 1.0 + fading * math.sin(2 * math.pi * _HUNTING_HZ * (passed_s + 0.1))
