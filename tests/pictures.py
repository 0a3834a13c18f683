"""Draw simple pictures of a table for tests of the eye: stickers and mats in mm, seen by a webcam.

`photos` makes harder ones. Our codes come from `companion.tabletop.sticker_codes`, foreign ones from `qrcode` and
`cv2.aruco`.
"""

from dataclasses import dataclass, field
from functools import cache, lru_cache

import cv2
import numpy as np
import qrcode

from companion.rules.editions.edition import load_edition
from companion.tabletop.card_ids import card_id_of, card_ids
from companion.tabletop.card_ids import payload as payload
from companion.tabletop.mat_layout import Marker, MatLayout
from companion.tabletop.sticker_codes import CARDS, modules

PAPER = (233, 246, 251)
CLOTH = (60, 80, 50)
SKIN = (120, 150, 205)
DECK = card_ids(load_edition("classic").deck)

MOST_KEPT = 16
_TAKEN: dict[str, np.ndarray] = {}


@dataclass(frozen=True)
class Sticker:
    """A sticker positioned by its code's center, with a clockwise turn; `card` is the color of a card below it."""

    text: str
    x_mm: float
    y_mm: float
    turn_deg: float = 0.0
    size_mm: float = 28.0
    card: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Mat:
    """A mat positioned by its top left corner, with a clockwise turn around it."""

    layout: MatLayout
    x_mm: float = 0.0
    y_mm: float = 0.0
    turn_deg: float = 0.0
    hidden: frozenset[int] = frozenset()

    def matrix(self) -> np.ndarray:
        """Return the transform from millimeters on the mat to millimeters on the table."""
        return placed(self.x_mm, self.y_mm, self.turn_deg)


@dataclass(frozen=True)
class Thing:
    """An object that is no card: an outline in mm, in one color."""

    outline_mm: tuple[tuple[float, float], ...]
    colour: tuple[int, int, int] = SKIN


@dataclass(frozen=True)
class Lens:
    """A webcam that shows `width_mm` of the table across the picture's center, tilted away from the viewer."""

    width_mm: float = 800.0
    size_px: tuple[int, int] = (1920, 1080)
    tilt_deg: float = 0.0
    turn_deg: float = 0.0
    focal: float = 0.9
    blur_px: float = 0.5
    noise: float = 3.0
    light: float = 0.85
    uneven: float = 0.15
    jpeg: int | None = 90
    at_mm: tuple[float, float] = (0.0, 0.0)

    def matrix(self) -> np.ndarray:
        """Return the transform from millimeters on the table to pixels, (3, 3) float64."""
        width, height = self.size_px
        focal = self.focal * width
        tilt = np.radians(self.tilt_deg)
        intrinsic = np.array([[focal, 0, width / 2 - 0.5], [0, focal, height / 2 - 0.5], [0, 0, 1]])
        distance = self.focal * self.width_mm
        pose = np.array([[1, 0, 0], [0, np.cos(tilt), 0], [0, -np.sin(tilt), distance]])
        return intrinsic @ pose @ placed(0, 0, self.turn_deg) @ placed(-self.at_mm[0], -self.at_mm[1], 0)


@dataclass(frozen=True)
class Scene:
    """The objects on the table, in the order they were put down."""

    mats: tuple[Mat, ...] = ()
    stickers: tuple[Sticker, ...] = ()
    things: tuple[Thing, ...] = ()
    cloth: tuple[int, int, int] = field(default=CLOTH)


def placed(x_mm: float, y_mm: float, turn_deg: float) -> np.ndarray:
    """Return the matrix of a clockwise turn (y is down), then a shift."""
    angle = np.radians(turn_deg)
    return np.array(
        [[np.cos(angle), -np.sin(angle), x_mm], [np.sin(angle), np.cos(angle), y_mm], [0, 0, 1]], np.float64
    )


def through(matrix: np.ndarray, points: object) -> np.ndarray:
    """Return points (N, 2) transformed by a homography."""
    return cv2.perspectiveTransform(np.asarray(points, np.float64).reshape(-1, 1, 2), matrix).reshape(-1, 2)


@cache
def code_image(text: str) -> np.ndarray:
    """Return a code with its quiet zone, `(S, S) uint8`.

    Ours is as printed. A foreign text has the highest error correction that fits version 1.
    """
    card = card_id_of(text)
    dark = np.pad(modules(card), 2) if card in CARDS else np.array(_fullest_code(text).get_matrix(), bool)
    return np.kron(np.where(dark, 25, 240).astype(np.uint8), np.ones((8, 8), np.uint8))


def _fullest_code(text: str) -> qrcode.QRCode:
    for level in (qrcode.ERROR_CORRECT_H, qrcode.ERROR_CORRECT_Q, qrcode.ERROR_CORRECT_M, qrcode.ERROR_CORRECT_L):
        code = qrcode.QRCode(version=1, error_correction=level, border=2)
        code.add_data(text, optimize=0)
        try:
            code.make(fit=level == qrcode.ERROR_CORRECT_L)
        except qrcode.exceptions.DataOverflowError:
            continue
        return code
    raise ValueError(text)


@cache
def marker_image(marker_id: int) -> np.ndarray:
    """Return a marker with a white margin of two cells, `(192, 192) uint8`."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12)
    cells = np.pad(cv2.aruco.generateImageMarker(dictionary, marker_id, 8) > 0, 2, constant_values=True)
    return np.kron(np.where(cells, 240, 25).astype(np.uint8), np.ones((16, 16), np.uint8))


def picture(scene: Scene, lens: Lens | None = None, seed: int = 0) -> np.ndarray:
    """Return the webcam's picture, `(H, W, 3) uint8 BGR`; cached, so read-only."""
    lens = lens or Lens()
    key = repr((scene, lens, seed))
    if key not in _TAKEN:
        if len(_TAKEN) == MOST_KEPT:
            del _TAKEN[next(iter(_TAKEN))]
        _TAKEN[key] = as_seen(clean(scene, lens), lens, seed)
        _TAKEN[key].flags.writeable = False
    return _TAKEN[key]


def clean(scene: Scene, lens: Lens) -> np.ndarray:
    """Return the scene before lens and sensor effects, as input to `as_seen` for many frames."""
    width, height = lens.size_px
    canvas = np.empty((height * 2, width * 2, 3), np.uint8)
    canvas[0] = scene.cloth
    canvas[1:] = canvas[0]  # Thirty times as fast as filling by pixel.
    to_px = np.array([[2, 0, 0.5], [0, 2, 0.5], [0, 0, 1]]) @ lens.matrix()
    for mat in scene.mats:
        _draw_mat(canvas, to_px @ mat.matrix(), mat)
    for sticker in scene.stickers:
        _draw_sticker(canvas, to_px, sticker)
    for thing in scene.things:
        cv2.fillPoly(canvas, [np.int32(through(to_px, thing.outline_mm))], thing.colour)
    return cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA)


def as_seen(clean_image: np.ndarray, lens: Lens, seed: int = 0) -> np.ndarray:
    """Return a clean picture after lens, light, sensor noise and JPEG."""
    image = grainy(lit(clean_image, lens), lens.noise, seed)
    if lens.jpeg is None:
        return image
    return cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, lens.jpeg])[1], cv2.IMREAD_COLOR)


def lit(clean_image: np.ndarray, lens: Lens) -> np.ndarray:
    """Return a clean picture after lens and light, without noise."""
    image = cv2.GaussianBlur(clean_image, (0, 0), lens.blur_px) if lens.blur_px else clean_image
    across = np.linspace(lens.light * (1 - lens.uneven), lens.light * (1 + lens.uneven), image.shape[1])
    light = np.multiply(image.reshape(len(image), -1), np.repeat(across.astype(np.float32), 3))
    return np.minimum(light, 255, out=light).astype(np.uint8).reshape(image.shape)


def grainy(image: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """Return the picture with one frame's noise."""
    if not noise:
        return image
    x, y = (int(at) for at in np.random.default_rng(seed).integers(0, GRAIN_SHIFTS, 2))
    height, width = image.shape[:2]
    return cv2.add(image, _grain(height, width, noise)[y : y + height, x : x + width], dtype=cv2.CV_8U)


GRAIN_SHIFTS = 97


@lru_cache(maxsize=4)
def _grain(height: int, width: int, noise: float) -> np.ndarray:
    """Return noise larger than a picture, so that each frame can take another part."""
    return np.rint(_scattered(height + GRAIN_SHIFTS, width + GRAIN_SHIFTS) * noise).astype(np.int16)


@lru_cache(maxsize=2)
def _scattered(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((height, width, 3), np.float32)


def arm(x_mm: float, y_mm: float, *, hand_mm: float = 90.0, colour: tuple[int, int, int] = SKIN) -> Thing:
    """Return a hand with its fingertips at a point, and an arm from the viewer's side."""
    half, wrist = hand_mm / 2, hand_mm / 4
    right = [(x_mm + half, y_mm), (x_mm + half, y_mm + 100), (x_mm + wrist, y_mm + 110), (x_mm + wrist, y_mm + 700)]
    return Thing((*right, *((2 * x_mm - x, y) for x, y in reversed(right))), colour)


def on_mat(mat: Mat, zone: str, text: str, dx_mm: float = 0.0, dy_mm: float = 0.0, **how: object) -> Sticker:
    """Return a sticker in a zone of a mat, offset from its center and turned against the mat."""
    x, y = mat.layout.zones[zone].centre_mm
    at = through(mat.matrix(), [(x + dx_mm, y + dy_mm)])[0]
    turn = mat.turn_deg + float(how.pop("turn_deg", 0.0))
    return Sticker(text, float(at[0]), float(at[1]), turn, **how)


def _draw_mat(canvas: np.ndarray, to_px: np.ndarray, mat: Mat) -> None:
    width, height = mat.layout.size_mm
    cv2.fillPoly(canvas, [np.int32(through(to_px, [(0, 0), (width, 0), (width, height), (0, height)]))], PAPER)
    for rect in mat.layout.zones.values():
        x, y, w, h = rect.as_list()
        corners = np.int32(through(to_px, [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]))
        cv2.polylines(canvas, [corners], True, (60, 50, 40), 2, cv2.LINE_AA)
    draw = mat.layout.draw_marker
    for marker in (*mat.layout.markers, *([draw] if draw else [])):
        if marker.id not in mat.hidden:
            _draw_marker(canvas, to_px, marker)


def _draw_marker(canvas: np.ndarray, to_px: np.ndarray, marker: Marker) -> None:
    image = marker_image(marker.id)
    cell = marker.square.width_mm / 8
    scale = 12 * cell / image.shape[0]
    corner = placed(marker.square.x_mm - 2 * cell, marker.square.y_mm - 2 * cell, 0)
    paste(canvas, cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), to_px @ corner @ np.diag([scale, scale, 1]))


def _draw_sticker(canvas: np.ndarray, to_px: np.ndarray, sticker: Sticker) -> None:
    at = to_px @ placed(sticker.x_mm, sticker.y_mm, sticker.turn_deg)
    if sticker.card:
        left, top = -sticker.size_mm / 2 - 2, -sticker.size_mm / 2 - 2
        card = [(left, top), (left + 57, top), (left + 57, top + 88), (left, top + 88)]
        cv2.fillPoly(canvas, [np.int32(through(at, card))], sticker.card)
    image = code_image(sticker.text)
    scale = sticker.size_mm / image.shape[0]
    own = placed(-sticker.size_mm / 2, -sticker.size_mm / 2, 0) @ np.diag([scale, scale, 1])
    paste(canvas, cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), at @ own)


def paste(canvas: np.ndarray, image: np.ndarray, matrix: np.ndarray) -> None:
    """Draw a picture through a homography from its pixels (edges at 0 and W) to the canvas."""
    height, width = image.shape[:2]
    outline = through(matrix, [(0, 0), (width, 0), (width, height), (0, height)])
    low = np.maximum(np.floor(outline.min(0)).astype(int) - 2, 0)
    high = np.minimum(np.ceil(outline.max(0)).astype(int) + 3, (canvas.shape[1], canvas.shape[0]))
    if (high <= low).any():
        return
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    shift = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1]])
    size = (int(high[0] - low[0]), int(high[1] - low[1]))
    warped = cv2.warpPerspective(
        image, shift @ matrix @ half, size, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE
    )
    mask = np.zeros(size[::-1], np.uint8)
    cv2.fillPoly(mask, [np.int32(np.round(outline - low))], 255)
    cv2.copyTo(warped, mask, canvas[low[1] : high[1], low[0] : high[0]])


def grid_of(texts: list[str], columns: int, step_mm: float, **how: object) -> tuple[Sticker, ...]:
    """Return stickers in rows around the table's center."""
    rows = (len(texts) + columns - 1) // columns
    return tuple(
        Sticker(text, (i % columns - (columns - 1) / 2) * step_mm, (i // columns - (rows - 1) / 2) * step_mm, **how)
        for i, text in enumerate(texts)
    )
