"""Render scenes as the camera sees them, over a cached still picture."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.simulate import arrange, art, camera_model
from companion.simulate.arrange import MatPlace, Point, Pose, TablePlan
from companion.simulate.art import Cards
from companion.simulate.camera_model import NOISE_SLACK_PX, Image, Look, Matrix, Size
from companion.simulate.scene import Arm, Lying, Scene

_BENEATH_PX_PER_MM = 3.0


@dataclass(frozen=True, slots=True)
class _Patch:
    """A lit thing: pixels to add, and share of those below to keep (255 = all)."""

    x: int
    y: int
    add: Image
    keep: Image

    @property
    def box(self) -> tuple[int, int, int, int]:
        height, width = self.add.shape[:2]
        return self.x, self.y, self.x + width, self.y + height


class Studio:
    """A camera over a table."""

    def __init__(self, plan: TablePlan, look: Look, size: Size, cards: Cards, seed: int) -> None:
        """`size` is (width, height) in pixels."""
        self.matrix = camera_model.camera(plan.corners, size, look.tilt_deg, look.roll_deg, look.px_per_mm)
        self._plan, self._look, self._size, self._cards = plan, look, size, cards
        self._light = self._light_there()
        self._coarse_light = (self._light * 128.0).clip(0, 255).astype(np.uint8)
        self._noise = camera_model.noise(look.noise, size, seed)
        left, top, right, bottom = _bounds(np.linalg.inv(self.matrix), *size)
        self._wood, self._wood_at = art.wood(right - left, bottom - top, _BENEATH_PX_PER_MM, seed), (left, top)
        self._set_up(plan.mats)

    def _light_there(self) -> NDArray[np.float32]:
        return camera_model.light(self._look, self._size)

    def _set_up(self, mats: tuple[MatPlace, ...]) -> None:
        """Start again after mats or camera moved."""
        self._mats = mats
        self._bare = self._taken(mats)
        self._still, self._lying = self._bare.copy(), ()
        self._patches: dict[Lying, _Patch | None] = {}

    def picture(self, scene: Scene, chance: random.Random) -> Image:
        """Return a scene's picture, `(H, W, 3) uint8 BGR`, with noise from `chance`."""
        mats = scene.mats or self._plan.mats
        if mats is not self._mats and mats != self._mats:
            self._set_up(mats)
        frame = self._at_rest(scene)
        for card in scene.carried:
            lay(frame, self._card_patch(card))
        for arm in scene.arms:
            lay(frame, self._warped(art.hand_sprite(arm.player), arm_pose(arm), fine=False))
        return self._developed(frame, chance)

    def _at_rest(self, scene: Scene) -> Image:
        self._touch_up(scene.lying)
        return self._still.copy()

    def _developed(self, frame: Image, chance: random.Random) -> Image:
        x, y = chance.randrange(NOISE_SLACK_PX), chance.randrange(NOISE_SLACK_PX)
        piece = self._noise[y : y + frame.shape[0], x : x + frame.shape[1]]
        return cv2.add(frame, piece, dst=frame, dtype=cv2.CV_8U)

    def _taken(self, places: tuple[MatPlace, ...]) -> Image:
        width, height = self._size
        twice = np.diag((2.0, 2.0, 1.0)) @ self.matrix
        picture = cv2.warpPerspective(
            self._wood,
            twice @ _scaled(*self._wood_at, _BENEATH_PX_PER_MM),
            (2 * width, 2 * height),
            borderMode=cv2.BORDER_REFLECT,
        )
        for place in places:
            _print_mat(picture, place, twice)
        small = cv2.resize(picture, self._size, interpolation=cv2.INTER_AREA)
        return self._lit(self._blurred(small), np.s_[:, :])

    def _touch_up(self, lying: tuple[Lying, ...]) -> None:
        """Repaint the still picture where cards came or went."""
        if lying == self._lying:
            return
        before = self._patches
        self._patches = {card: before[card] if card in before else self._card_patch(card) for card in lying}
        changed = {card: {**before, **self._patches}[card] for card in before.keys() ^ self._patches.keys()}
        for patch in changed.values():
            if patch is not None:
                self._repaint(patch.box)
        self._lying = lying

    def _repaint(self, box: tuple[int, int, int, int]) -> None:
        left, top, right, bottom = box
        self._still[top:bottom, left:right] = self._bare[top:bottom, left:right]
        for patch in self._patches.values():
            lay(self._still, patch, box)

    def _card_patch(self, card: Lying) -> _Patch | None:
        return self._warped(art.card_sprite(card.picture, self._cards), card.pose, fine=True)

    def _warped(self, sprite: art.Sprite, pose: Pose, fine: bool) -> _Patch | None:
        """Return a sprite as the camera sees it, or None outside; `fine` is for print."""
        left_px, top_px = sprite.anchor_px
        flat = _scaled(-left_px / sprite.px_per_mm, -top_px / sprite.px_per_mm, sprite.px_per_mm)
        onto = self.matrix @ _posed(pose) @ flat
        box = self._box_of(sprite.pixels, onto)
        if box is None:
            return None
        left, top, right, bottom = box
        here = np.array([[1.0, 0.0, -left], [0.0, 1.0, -top], [0.0, 0.0, 1.0]]) @ onto
        pixels = _warp(sprite.pixels, here, (right - left, bottom - top), fine)
        if fine:
            pixels = self._blurred(pixels)
        add = self._lit(pixels, np.s_[top:bottom, left:right], fine)
        keep = cv2.cvtColor(cv2.bitwise_not(pixels[..., 3]), cv2.COLOR_GRAY2BGR)
        return _Patch(left, top, add, keep)

    def _box_of(self, pixels: Image, onto: Matrix) -> tuple[int, int, int, int] | None:
        x, y, far_x, far_y = _bounds(onto, *pixels.shape[1::-1])
        left, top = max(0, math.floor(x) - 1), max(0, math.floor(y) - 1)
        right, bottom = min(self._size[0], math.ceil(far_x) + 1), min(self._size[1], math.ceil(far_y) + 1)
        return (left, top, right, bottom) if left < right and top < bottom else None

    def _blurred(self, pixels: Image) -> Image:
        return cv2.GaussianBlur(pixels, (5, 5), self._look.blur_px) if self._look.blur_px > 0 else pixels

    def _lit(self, pixels: Image, where: tuple[slice, slice], fine: bool = True) -> Image:
        """Return BGR(A) pixels as BGR in the light at `where`; without `fine`, faster in 8 bits."""
        if not fine:
            return cv2.multiply(np.ascontiguousarray(pixels[..., :3]), self._coarse_light[where], scale=1.0 / 128.0)
        return np.rint(pixels[..., :3] * self._light[where]).clip(0, 255).astype(np.uint8)


def _bounds(matrix: Matrix, width: int, height: int) -> tuple[float, float, float, float]:
    """Return a picture's bounds after a homography."""
    return arrange.bounds(project(matrix, corner) for corner in ((0, 0), (width, 0), (width, height), (0, height)))


def project(matrix: Matrix, point: Point) -> Point:
    """Apply a homography to a point."""
    x, y, w = matrix @ (point[0], point[1], 1.0)
    return float(x / w), float(y / w)


def arm_pose(arm: Arm) -> Pose:
    """Return an arm's pose, pointing away from the seat."""
    return Pose(*arm.tip, math.degrees(math.atan2(arm.seat[1] - arm.tip[1], arm.seat[0] - arm.tip[0])))


def _scaled(left_mm: float, top_mm: float, px_per_mm: float) -> Matrix:
    """Return the matrix from a picture's pixels to mm."""
    return np.array([[1.0 / px_per_mm, 0.0, left_mm], [0.0, 1.0 / px_per_mm, top_mm], [0.0, 0.0, 1.0]])


def _posed(pose: Pose) -> Matrix:
    cos, sin = math.cos(math.radians(pose.turn_deg)), math.sin(math.radians(pose.turn_deg))
    return np.array([[cos, -sin, pose.x_mm], [sin, cos, pose.y_mm], [0.0, 0.0, 1.0]])


def _print_mat(picture: Image, place: MatPlace, matrix: Matrix) -> None:
    sheet = art.mat_image(place.layout, _BENEATH_PX_PER_MM)
    width, height = place.layout.size_mm
    onto = matrix @ _posed(place.middle) @ _scaled(-width / 2, -height / 2, _BENEATH_PX_PER_MM)
    cv2.warpPerspective(sheet, onto, picture.shape[1::-1], dst=picture, borderMode=cv2.BORDER_TRANSPARENT)


def _warp(pixels: Image, onto: Matrix, size: Size, fine: bool) -> Image:
    if not fine:
        return cv2.warpPerspective(pixels, onto, size)
    twice = np.diag((2.0, 2.0, 1.0)) @ onto
    large = cv2.warpPerspective(pixels, twice, (2 * size[0], 2 * size[1]))
    return cv2.resize(large, size, interpolation=cv2.INTER_AREA)


def lay(frame: Image, patch: _Patch | None, within: tuple[int, int, int, int] | None = None) -> None:
    """Draw a patch in place, optionally only within a box."""
    if patch is None:
        return
    left, top, right, bottom = patch.box
    if within is not None:
        left, top = map(max, patch.box[:2], within[:2])
        right, bottom = map(min, patch.box[2:], within[2:])
        if left >= right or top >= bottom:
            return
    here = frame[top:bottom, left:right]
    part = np.s_[top - patch.y : bottom - patch.y, left - patch.x : right - patch.x]
    frame[top:bottom, left:right] = cv2.add(cv2.multiply(here, patch.keep[part], scale=1.0 / 255.0), patch.add[part])
