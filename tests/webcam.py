"""A webcam for the tests: where it stands, and how its lens, its light, its sensor and its software spoil a picture.

A clean picture is linear light, `(H, W, 3) uint16 BGR`, 65535 the brightest white; what comes out is `uint8 BGR`.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy as np

FULL = 65535
GRAIN_SHIFTS = 97
INK = 0.03  # the light of black ink
_MID_GREY = 0.2158
_LEVELS_PER_LIGHT = 267.0
"""Grey levels of a picture a unit of light, at mid grey."""


# --- Where it stands ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pose:
    """A camera over the table: `px_per_mm` in the picture's middle, tilted towards `lean_deg` (0: away from below).

    `barrel` is how much farther from the middle the picture's corners look than without distortion.
    """

    px_per_mm: float = 1.6
    size_px: tuple[int, int] = (1920, 1080)
    tilt_deg: float = 0.0
    lean_deg: float = 0.0
    turn_deg: float = 0.0
    focal: float = 0.85
    barrel: float = 0.0
    at_mm: tuple[float, float] = (0.0, 0.0)

    def px(self, points_mm: object) -> np.ndarray:
        """Points of the table in pixels, (N, 2); a pixel's middle is a whole number."""
        points = np.asarray(points_mm, np.float64).reshape(-1, 2)
        x, y, w = self._matrix() @ np.column_stack([points, np.ones(len(points))]).T
        return self._bent(np.column_stack([x / w, y / w]))

    def table_mm(self) -> tuple[float, float]:
        """The table that this camera is said to look over: the picture's size at the scale of its middle."""
        return self.size_px[0] / self.px_per_mm, self.size_px[1] / self.px_per_mm

    def _middle(self) -> np.ndarray:
        return np.array([self.size_px[0] / 2 - 0.5, self.size_px[1] / 2 - 0.5])

    def _matrix(self) -> np.ndarray:
        focal_px = self.focal * self.size_px[0]
        middle = self._middle()
        intrinsic = np.array([[focal_px, 0, middle[0]], [0, focal_px, middle[1]], [0, 0, 1]])
        turn = _about_z(self.lean_deg) @ _about_x(self.tilt_deg) @ _about_z(self.turn_deg - self.lean_deg)
        shift = -turn @ np.array([*self.at_mm, 0.0]) + np.array([0, 0, focal_px / self.px_per_mm])
        return intrinsic @ np.column_stack([turn[:, 0], turn[:, 1], shift])

    def _bent(self, straight: np.ndarray) -> np.ndarray:
        """Where a lens with barrel distortion shows points: u = d (1 + barrel · r²), solved for d."""
        if not self.barrel:
            return straight
        middle = self._middle()
        reach = float(np.hypot(*middle))
        wanted = (straight - middle) / reach
        bent = wanted.copy()
        for _ in range(12):
            bent = wanted / (1 + self.barrel * (bent**2).sum(1, keepdims=True))
        return bent * reach + middle


def _about_x(angle_deg: float) -> np.ndarray:
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return np.array([[1, 0, 0], [0, c, s], [0, -s, c]])


def _about_z(angle_deg: float) -> np.ndarray:
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


# --- What spoils its picture ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Glare:
    """A lamp mirrored in the table: a bright ellipse, place and radii in parts of the picture's width."""

    x: float
    y: float
    radii: tuple[float, float]
    turn_deg: float = 0.0
    strength: float = 1.0


@dataclass(frozen=True)
class Shadow:
    """A shadow with corners in parts of the picture's width; it takes `depth` of the light."""

    outline: tuple[tuple[float, float], ...]
    depth: float = 0.4
    soft: float = 0.004


@dataclass(frozen=True)
class Shot:
    """Lens, light, sensor and software of one picture, in the order in which they act on it."""

    optics_px: float = 0.5
    """Standard deviation of the sharpest point that the lens makes."""

    defocus_px: float = 0.0
    """Radius of the disc that a point out of focus becomes."""

    motion_px: float = 0.0
    motion_deg: float = 0.0
    exposure: float = 0.9
    """1: white paper just does not burn out; 0.1 is a dark room."""

    uneven: float = 0.1
    uneven_deg: float = 0.0
    vignette: float = 0.1
    colour: tuple[float, float, float] = (1.0, 1.0, 1.0)
    shadows: tuple[Shadow, ...] = ()
    glares: tuple[Glare, ...] = ()
    veil: float = 0.0
    """Stray light over the whole picture."""

    noise: float = 2.0
    """Standard deviation at mid grey, in grey levels."""

    bayer: bool = True
    gamma: float = 2.2
    contrast: float = 1.0
    halo: float = 0.0
    """How much the software sharpens (unsharp mask)."""

    halo_px: float = 1.0
    jpeg: int | None = 90


def developed(clean: np.ndarray, shot: Shot, seed: int = 0) -> np.ndarray:
    """What the camera hands over of a clean picture."""
    image = _sensed(_through_the_lens(clean, shot), shot, seed)
    if shot.halo:
        soft = cv2.GaussianBlur(image, (0, 0), shot.halo_px)
        image = cv2.addWeighted(image, 1 + shot.halo, soft, -shot.halo, 0)
    if shot.jpeg is None:
        return image
    return cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, shot.jpeg])[1], cv2.IMREAD_COLOR)


def burnt_out(shot: Shot, size_px: tuple[int, int]) -> np.ndarray:
    """Where even black ink shows white, `(H, W) bool`: nothing can be read there."""
    gain, glow = _light_of(shot, size_px)
    brightest = np.minimum(gain * np.array(shot.colour, np.float32).min() * INK + glow, 1)
    shown_white = float(np.clip((0.93 - 0.5) / shot.contrast + 0.5, 0, 1) ** shot.gamma)
    return brightest > shown_white


def _through_the_lens(clean: np.ndarray, shot: Shot) -> np.ndarray:
    image = clean
    if shot.optics_px > 0.2:
        image = cv2.GaussianBlur(image, (0, 0), shot.optics_px)
    if shot.defocus_px > 0.3:
        image = cv2.filter2D(image, -1, disc(shot.defocus_px))
    if shot.motion_px > 0.3:
        image = cv2.filter2D(image, -1, streak(shot.motion_px, shot.motion_deg))
    return image


@cache
def disc(radius_px: float) -> np.ndarray:
    """The kernel of a lens out of focus, its edge as smooth as the pixels cut it."""
    half = int(np.ceil(radius_px))
    return _gathered(half, lambda x, y: np.hypot(x, y) <= radius_px)


@cache
def streak(length_px: float, angle_deg: float) -> np.ndarray:
    """The kernel of a motion during the exposure."""
    half = int(np.ceil(length_px / 2 + 0.5))
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return _gathered(half, lambda x, y: (np.abs(x * c + y * s) <= length_px / 2) & (np.abs(y * c - x * s) <= 0.5))


def _gathered(half: int, inside: object) -> np.ndarray:
    """A kernel of 2·half + 1 pixels, each counting how much of it lies inside."""
    fine, side = 16, 2 * half + 1
    at = (np.arange(side * fine) + 0.5) / fine - side / 2
    x, y = np.meshgrid(at, at)
    kernel = inside(x, y).reshape(side, fine, side, fine).mean((1, 3))
    return (kernel / kernel.sum()).astype(np.float32)


@lru_cache(maxsize=2)
def _light_of(shot: Shot, size_px: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """How much of the table's light arrives at each pixel, and what is added to it, both `(H, W) float32`."""
    width, height = size_px
    size = (width // 2, height // 2)
    x, y = np.meshgrid(*(np.linspace(-0.5, 0.5, n, dtype=np.float32) * (n / size[0]) for n in size))
    turn = np.radians(shot.uneven_deg)
    gain = shot.exposure * (1 + 2 * shot.uneven * (x * np.cos(turn) + y * np.sin(turn)))
    gain *= 1 - shot.vignette * (x**2 + y**2) / 0.33
    for shadow in shot.shadows:
        gain *= 1 - shadow.depth * _shade(shadow, size)
    glow = np.full(size[::-1], shot.veil, np.float32)
    for glare in shot.glares:
        glow += glare.strength * _spot(glare, x + 0.5, y + 0.5 * size[1] / size[0])
    return tuple(cv2.resize(np.maximum(field, 0), size_px) for field in (gain, glow))


def _shade(shadow: Shadow, size: tuple[int, int]) -> np.ndarray:
    mask = np.zeros(size[::-1], np.float32)
    cv2.fillPoly(mask, [np.int32(np.array(shadow.outline) * size[0])], 1.0)
    return cv2.blur(mask, (int(shadow.soft * size[0]) * 2 + 1,) * 2)


def _spot(glare: Glare, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    c, s = np.cos(np.radians(glare.turn_deg)), np.sin(np.radians(glare.turn_deg))
    dx, dy = x - glare.x, y - glare.y
    along, across = (dx * c + dy * s) / glare.radii[0], (dy * c - dx * s) / glare.radii[1]
    return np.exp(-(along**2 + across**2) / 2, dtype=np.float32)


# --- The sensor -----------------------------------------------------------------------------------------------


_BAYER = ((2, np.s_[0::2, 0::2]), (1, np.s_[0::2, 1::2]), (1, np.s_[1::2, 0::2]), (0, np.s_[1::2, 1::2]))
"""Which colour which pixels see: red, green over green, blue."""


def _sensed(image: np.ndarray, shot: Shot, seed: int) -> np.ndarray:
    raw = _grainy(_lit(image, shot), shot.noise, seed)
    levels = np.clip(raw, 0, 1, out=raw)
    shown = _tone(shot.gamma, shot.contrast)[(levels * 4095).astype(np.uint16)]
    return cv2.demosaicing(shown, cv2.COLOR_BayerRGGB2BGR) if shot.bayer else shown


def _lit(image: np.ndarray, shot: Shot) -> np.ndarray:
    """The light that the sensor's pixels see, `float32`, 1 burns out: `(H, W)` of one colour each, else `(H, W, 3)`."""
    gain, glow = _light_of(shot, image.shape[1::-1])
    if not shot.bayer:
        gains = np.dstack([gain * (tint / FULL) for tint in shot.colour])
        return (image * gains).astype(np.float32) + glow[..., None]
    light = np.empty(image.shape[:2], np.float32)
    for channel, at in _BAYER:
        light[at] = image[at][..., channel] * (gain[at] * (shot.colour[channel] / FULL))
    return light + glow


def _grainy(raw: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """Shot noise grows with the light, read noise is everywhere."""
    if not noise:
        return raw
    y, x = np.random.default_rng(seed).integers(0, GRAIN_SHIFTS, 2)
    height, width = raw.shape[:2]
    grain = _grain(height, width, 1 if raw.ndim == 2 else 3)[y : y + height, x : x + width]
    strength = raw * (0.7 / _MID_GREY)
    strength += 0.3
    cv2.sqrt(strength, strength)
    strength *= grain
    strength *= noise / _LEVELS_PER_LIGHT
    return np.add(raw, strength, out=strength)


@lru_cache(maxsize=4)
def _grain(height: int, width: int, channels: int) -> np.ndarray:
    shape = (height + GRAIN_SHIFTS, width + GRAIN_SHIFTS, channels)
    grain = np.random.default_rng(0).standard_normal(shape, np.float32)
    return grain[..., 0] if channels == 1 else grain


@cache
def _tone(gamma: float, contrast: float) -> np.ndarray:
    """From 4096 levels of light to what is shown, `(4096,) uint8`."""
    shown = np.linspace(0, 1, 4096) ** (1 / gamma)
    return np.clip(255 * ((shown - 0.5) * contrast + 0.5), 0, 255).round().astype(np.uint8)
