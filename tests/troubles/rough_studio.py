"""Simulate a camera in a real room: pushed, in changing light, with glare, shadows and JPEG pictures."""

import math
import random
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.simulate.arrange import Point, Pose, TablePlan
from companion.simulate.art import Cards, Sprite, hand_sprite
from companion.simulate.camera_model import Image, Look, Size, light, noise
from companion.simulate.scene import Lying, Scene
from companion.simulate.studio import Studio, _Patch, arm_pose, lay, project
from troubles.things import THINGS, thing_sprite

LAMP_SHARE = 0.65  # share of the light that comes from the lamp
_SHADE_REACH, _GLARE_REACH = 0.22, 0.07
_SHADOW_OFF_MM = 35.0
_SHADOW_PX_PER_MM, _SHADOW_RIM_MM = 0.5, 90.0
_GRAINY_FROM = 1.3  # the sensor is noisier from this exposure up


@dataclass(frozen=True, slots=True)
class RoughLook(Look):
    """The look of a mediocre camera and room."""

    jpeg_quality: int | None = None
    """JPEG quality of every frame, as from a webcam with MJPG; None for no compression."""

    shake_px: float = 0.0
    """Motion blur along `shake_deg`: a camera that trembles in dim light."""

    shake_deg: float = 0.0
    gamma: float = 1.0  # above 1, dark parts become brighter
    glare: float = 0.0  # peak brightness of a lamp's reflection, as a share of full scale
    glare_at: tuple[float, float] = (0.3, 0.4)
    """Center of the reflection (and in `shade_at`, of the shade), as shares of width and height."""

    shade: float = 0.0  # share of light missing at the center of a person's shadow
    shade_at: tuple[float, float] = (0.7, 0.8)
    arm_shadow: float = 0.0  # share of light that an arm takes from its surroundings


@dataclass(frozen=True, slots=True)
class Light:
    """Changes of light and exposure since the beginning, as factors."""

    lamp: float = 1.0
    sky: float = 1.0
    exposure: float = 1.0


@dataclass(frozen=True, slots=True)
class Push:
    """How far the camera was pushed, as seen in the picture."""

    right_px: float = 0.0
    down_px: float = 0.0
    turn_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class RoughScene(Scene):
    """A scene with the current light and camera position."""

    light: Light = Light()
    push: Push = Push()


class RoughStudio(Studio):
    """A camera that people push, in a room with lamps and windows."""

    def __init__(self, plan: TablePlan, look: Look, size: Size, cards: Cards, seed: int) -> None:
        self._rough = look if isinstance(look, RoughLook) else RoughLook()
        self._glare, self._smear = glare(self._rough, size), smear(self._rough)
        self._tones = tone_curve(self._rough.gamma)
        self._grainy = None if look.noise <= 0 else noise(1.6 * look.noise, size, seed + 1)
        self._push, self._now = Push(), Light()
        super().__init__(plan, look, size, cards, seed)
        self._first_matrix = self.matrix
        self._few_light = cv2.resize(self._light, None, fx=1 / 16, fy=1 / 16, interpolation=cv2.INTER_AREA)

    def picture(self, scene: Scene, chance: random.Random) -> Image:
        changed = scene if isinstance(scene, RoughScene) else RoughScene()
        self._now = changed.light
        if changed.push != self._push:
            self._push = changed.push
            self.matrix = _pushed(changed.push, self._size) @ self._first_matrix
            self._set_up(scene.mats or self._plan.mats)
        return super().picture(scene, chance)

    @property
    def room_px(self) -> float:
        """The smallest distance from a mat's corner to the picture's edge."""
        width, height = self._size
        corners = [project(self._first_matrix, corner) for corner in self._plan.corners]
        return min(min(x, y, width - x, height - y) for x, y in corners)

    def _light_there(self) -> NDArray[np.float32]:
        shade = np.float32(self._rough.shade) * _spot(self._rough.shade_at, self._size, _SHADE_REACH)
        return light(self._look, self._size) * (1.0 - shade)[..., None]

    def _at_rest(self, scene: Scene) -> Image:
        frame = super()._at_rest(scene)
        for arm in scene.arms if self._rough.arm_shadow else ():
            pose, away = arm_pose(arm), math.radians(self._look.light_from_deg + 180.0)
            off_x, off_y = _SHADOW_OFF_MM * math.cos(away), _SHADOW_OFF_MM * math.sin(away)
            beside = Pose(pose.x_mm + off_x, pose.y_mm + off_y, pose.turn_deg)
            lay(frame, self._warped(arm_shadow_sprite(self._rough.arm_shadow), beside, fine=False))
        return frame

    def _developed(self, frame: Image, chance: random.Random) -> Image:
        """Apply light, sensor and software to a frame."""
        if self._now != Light():
            few = changed_light(self._now, self._few_light)
            now = cv2.resize(few, self._size, interpolation=cv2.INTER_LINEAR)
            frame = cv2.multiply(frame, now, scale=1.0 / 64.0)
        if self._tones is not None:
            frame = cv2.LUT(frame, self._tones)
        usual = self._noise
        if self._grainy is not None and self._now.exposure > _GRAINY_FROM:
            self._noise = self._grainy
        frame = super()._developed(frame, chance)
        self._noise = usual
        if self._rough.jpeg_quality is None:
            return frame
        _, packed = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, self._rough.jpeg_quality])
        return cv2.imdecode(packed, cv2.IMREAD_COLOR)

    def _card_patch(self, card: Lying) -> _Patch | None:
        if card.picture in THINGS:
            return self._warped(thing_sprite(card.picture), card.pose, fine=True)
        return super()._card_patch(card)

    def _blurred(self, pixels: Image) -> Image:
        pixels = super()._blurred(pixels)
        return pixels if self._smear is None else cv2.filter2D(pixels, -1, self._smear)

    def _lit(self, pixels: Image, where: tuple[slice, slice], fine: bool = True) -> Image:
        if not fine or self._glare is None:
            return super()._lit(pixels, where, fine)
        shows = pixels[..., 3:] / np.float32(255.0) if pixels.shape[2] == 4 else np.float32(1.0)
        lit = pixels[..., :3] * self._light[where] + self._glare[where] * shows
        return np.rint(lit).clip(0, 255).astype(np.uint8)


def _pushed(push: Push, size: Size) -> NDArray[np.float64]:
    """Return the matrix of a camera push: a shift, and a turn around the center."""
    x, y = size[0] / 2, size[1] / 2
    cos, sin = math.cos(math.radians(push.turn_deg)), math.sin(math.radians(push.turn_deg))
    right, down = push.right_px + x - cos * x + sin * y, push.down_px + y - sin * x - cos * y
    return np.array([[cos, -sin, right], [sin, cos, down], [0.0, 0.0, 1.0]])


@lru_cache(maxsize=4)
def arm_shadow_sprite(depth: float) -> Sprite:
    """Return the wide soft shadow of an arm: black, with opacity `depth` at the center."""
    whole = hand_sprite(0)
    scale = _SHADOW_PX_PER_MM / whole.px_per_mm
    few = cv2.resize(whole.pixels[..., 3], None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    rim = round(_SHADOW_RIM_MM * _SHADOW_PX_PER_MM)
    framed = cv2.copyMakeBorder(few, rim, rim, rim, 0, cv2.BORDER_CONSTANT, value=0)
    soft = cv2.GaussianBlur(framed, (0, 0), rim / 2.5) * np.float32(depth)
    pixels = np.zeros((*soft.shape, 4), np.uint8)
    pixels[..., 3] = np.rint(soft)
    return Sprite(pixels, _SHADOW_PX_PER_MM, tuple(part * scale + rim for part in whole.anchor_px))


def glare(look: RoughLook, size: Size) -> NDArray[np.float32] | None:
    """Return the brightness a reflection adds, (H, W, 1) float32 on a scale of 255, or None."""
    if not look.glare:
        return None
    return (255.0 * np.float32(look.glare) * _spot(look.glare_at, size, _GLARE_REACH))[..., None]


def _spot(at: Point, size: Size, reach: float) -> NDArray[np.float32]:
    """Return a soft round spot, 1 at its center, (H, W) float32; `reach` is its radius as a share of the width."""
    width, height = size
    x = (np.arange(width, dtype=np.float32) - at[0] * width) / (reach * width)
    y = (np.arange(height, dtype=np.float32) - at[1] * height) / (reach * width)
    return np.exp(-y * y)[:, None] * np.exp(-x * x)[None, :]


def smear(look: RoughLook) -> NDArray[np.float32] | None:
    """Return the blur kernel of a trembling camera, or None if it is still."""
    if look.shake_px <= 0.0:
        return None
    reach, kernel = math.ceil(look.shake_px / 2) + 1, np.zeros((13, 13), np.float32)
    middle, along = 6.0, math.radians(look.shake_deg)
    for part in np.linspace(-0.5, 0.5, 16 * reach):
        x, y = middle + part * look.shake_px * math.cos(along), middle + part * look.shake_px * math.sin(along)
        left, top = int(x), int(y)
        kernel[top : top + 2, left : left + 2] += np.outer((1 - y + top, y - top), (1 - x + left, x - left))
    return kernel / kernel.sum()


def tone_curve(gamma: float) -> NDArray[np.uint8] | None:
    """Return the output level for each input level, (256,) uint8, or None for gamma 1."""
    if gamma == 1.0:
        return None
    return np.rint(255.0 * np.linspace(0.0, 1.0, 256) ** (1.0 / gamma)).astype(np.uint8)


def changed_light(now: Light, look_light: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the brightness factor of each pixel, (h, w, 3) uint8, where 64 means 1.

    Without the lamp, the light is even and bluer.
    """
    even = np.float32(look_light.mean()) * (1.0 - LAMP_SHARE)
    by_lamp = np.maximum(look_light - even, 0.0)
    blue = np.array((1.08, 1.0, 0.93), np.float32)
    dark = np.float32(1.0 - min(1.0, now.lamp))
    cast = 1.0 + (blue - 1.0) * dark
    bright = (now.sky * even + now.lamp * by_lamp) * now.exposure * cast
    return np.rint(64.0 * bright / np.maximum(look_light, 0.02)).clip(0, 255).astype(np.uint8)
