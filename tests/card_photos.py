"""Photographs of single cards and sheets for enrollment, from a hand-held camera, with the true corners."""

from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import decks
import numpy as np
import photos
from photos import cloth, photo_like
from webcam import Glare, Pose, Shot, burnt_out, developed

from companion.printing import mats, render
from companion.tabletop.mat_layout import side_mat

GROUNDS = ("mat", "wood", "felt", "dark", "plaid", "print", "paper", "board", "linen", "checks")
ORDINARY_GROUNDS = ("linen", "wood", "felt", "dark", "plaid")
"""Common backgrounds at home; for a dark deck not the dark one."""

STYLES = ("own", *decks.STYLES)
_TABLE_PX_PER_MM = 4.0
_TABLE_MM = (420.0, 420.0)
_ROUND_MM = 3.2


@dataclass(frozen=True)
class CardPhoto:
    """A photograph and the true place of its card."""

    image: np.ndarray
    corners: np.ndarray
    """`(4, 2)` px, clockwise from the card's top left, where the edges would meet without rounding."""

    size_mm: tuple[float, float]
    ground: str
    style: str
    slug: str
    hidden: float  # share of the card's print lost in a reflection

    def error_mm(self, corners: np.ndarray) -> float:
        """Return the largest error of detected corners, in millimeters of the card."""
        return error_mm(corners, self.corners, self.size_mm)

    def inside_mm(self, corners: np.ndarray) -> float:
        """Return how far detected corners are inside the card's edges, in mm; negative if one is outside."""
        own = photos.edges(*self.size_mm) + np.float32(0.5)
        to_mm = cv2.getPerspectiveTransform(np.float32(self.corners), own).astype(np.float64)
        seen = cv2.perspectiveTransform(np.float64(corners).reshape(-1, 1, 2), to_mm).reshape(-1, 2)
        return float(np.minimum(seen, np.array(self.size_mm) - seen).min())


def error_mm(found: np.ndarray, corners: np.ndarray, size_mm: tuple[float, float]) -> float:
    """Return the largest error of a card's detected corners, in millimeters of the card."""
    own = photos.edges(*size_mm) + np.float32(0.5)
    to_mm = cv2.getPerspectiveTransform(np.float32(corners), own).astype(np.float64)
    seen = cv2.perspectiveTransform(np.float64(found).reshape(-1, 1, 2), to_mm).reshape(-1, 2)
    return float(np.hypot(*(seen - own).T).max())


@lru_cache(maxsize=24)
def ground_image(kind: str, seed: int) -> np.ndarray:
    """Return the background, `_TABLE_MM` large, `uint8 BGR`."""
    size = tuple(round(side * _TABLE_PX_PER_MM) for side in _TABLE_MM)
    rng = np.random.default_rng(seed)
    if kind == "mat":
        sheet = render.to_image(mats.mat_svg(side_mat(1 + seed % 3)), _TABLE_PX_PER_MM)
        image = cv2.resize(cloth("wood", size, seed) >> 8, size).astype(np.uint8)
        top = (size[1] - sheet.shape[0]) // 2
        image[top : top + sheet.shape[0], : sheet.shape[1]] = sheet[:, : size[0]]
        return np.minimum(image, 238)
    if kind in ("wood", "felt", "dark", "plaid", "print"):
        linear = cloth(kind, size, seed).astype(np.float32) / 65535
        return np.clip(255 * linear ** (1 / 2.2), 0, 255).astype(np.uint8)
    grain = rng.normal(0, 1, (size[1], size[0], 1)).astype(np.float32)
    if kind == "checks":
        y, x = np.mgrid[0 : size[1], 0 : size[0]] // round(rng.uniform(8, 30) * _TABLE_PX_PER_MM)
        tones = rng.uniform(60, 220, (2, 3))
        return np.clip(np.where(((x + y) % 2)[..., None], *tones) + 3 * grain, 0, 255).astype(np.uint8)
    tone = {"paper": (205, 212, 214), "board": (90, 120, 150), "linen": (150, 170, 180)}[kind]
    tone = np.array(tone) * rng.uniform(0.75, 1.05, 3)
    weave = 12 * np.sin(np.arange(size[0]) * 1.3)[None, :, None] * np.sin(np.arange(size[1]) * 1.3)[:, None, None]
    stains = (photo_like(size, seed).astype(np.float32).mean(2, keepdims=True) - 120) * 0.05
    return np.clip(tone + 2.5 * grain + stains + (weave if kind == "linen" else 0), 0, 255).astype(np.uint8)


def card_photo(seed: int, style: str, slug: str, ground: str, **how: object) -> CardPhoto:
    """Return a hand-held photograph of one card: tilt up to 32°, turn up to 30°, 18–92 % of the height."""
    rng = np.random.default_rng((seed, 11))
    face, size_mm = photos.face_of(style, slug), decks.size_mm(style)
    face = _edged(face, float(how.get("edge_mm", 0.0)))
    wide = bool(rng.random() < 0.3)
    long_px = int(rng.choice((1280, 1600, 2000)))
    long_px, shape = int(how.get("long_px", long_px)), float(how.get("shape", 0.75))
    size_px = (long_px, round(long_px * shape)) if wide and "shape" not in how else (round(long_px * shape), long_px)
    share = float(how.get("share", rng.uniform(0.18, 0.92)))
    tilt, turn = float(how.get("tilt", rng.uniform(0, 32))), float(how.get("turn", rng.uniform(-30, 30)))
    scale = share * size_px[1] / size_mm[1]
    for _ in range(40):
        focal = rng.uniform(0.75, 1.0) * (1 if wide else 4 / 3)
        off = float(how.get("off", 0.12))
        lean, at_mm = rng.uniform(0, 360), rng.uniform(-off, off, 2) * np.array(size_px) / scale
        pose = Pose(scale, size_px, tilt, lean, turn, focal=focal, at_mm=tuple(float(v) for v in at_mm))
        w, h = size_mm
        corners = pose.px([(-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2)])
        room = 0.012 * size_px[1]
        if (corners > room).all() and (corners < np.array(size_px) - room).all():
            break
        scale *= 0.96
    table = ground_image(ground, int(rng.integers(4)))
    shift = rng.uniform(-60, 60, 2)
    image = _rendered(table, face, _cut(face.shape[:2]), size_mm, pose, shift, rng)
    shot = _shot(rng, how)
    shot_image = developed((np.clip(image, 0, 1) * 65535).astype(np.uint16), shot, seed)
    hidden = _hidden(face, size_mm, corners, shot, size_px) if shot.glares else 0.0
    return CardPhoto(shot_image, corners, size_mm, ground, style, slug, hidden)


def _shot(rng: np.random.Generator, how: dict[str, object]) -> Shot:
    return Shot(
        optics_px=rng.uniform(0.5, 1.4),
        exposure=float(how.get("exposure", rng.uniform(0.5, 0.95))),
        uneven=rng.uniform(0, 0.3),
        uneven_deg=rng.uniform(0, 360),
        vignette=rng.uniform(0, 0.25),
        noise=rng.uniform(1, 4),
        colour=tuple(float(v) for v in rng.uniform(0.8, 1.1, 3)),
        halo=rng.uniform(0, 0.8),
        jpeg=int(rng.integers(72, 96)),
        glares=how.get("glares", ()),
    )


def ordinary_card_photo(seed: int, tilt: float | None = None) -> CardPhoto:
    """Return a typical photograph: tilt up to 20°, dim to overexposed, sometimes with a reflection."""
    rng = np.random.default_rng((seed, 13))
    glares = ()
    if rng.random() < 0.6:
        radii = tuple(float(r) for r in rng.uniform(0.02, 0.1, 2))
        place = (rng.uniform(0, 1), rng.uniform(0, 1.33))
        glares = (Glare(*place, radii, rng.uniform(0, 180), rng.uniform(0.3, 1.5)),)
    style, slug = str(rng.choice(STYLES)), str(rng.choice((*decks.CLASSIC, decks.BACK)))
    ground = ORDINARY_GROUNDS[seed % len(ORDINARY_GROUNDS)]
    return card_photo(
        seed,
        style,
        slug,
        "wood" if style == ground else ground,
        share=rng.uniform(0.4, 0.9),
        tilt=rng.uniform(0, 20) if tilt is None else tilt,
        turn=rng.uniform(-15, 15),
        exposure=rng.uniform(0.6, 1.4),
        glares=glares,
    )


def close_card_photo(seed: int) -> CardPhoto:
    """Return an upright 2 : 3 photograph that the card nearly fills, 6 to 12 mm from its border."""
    rng = np.random.default_rng((seed, 15))
    return _common_card_photo(
        seed,
        rng,
        shape=2 / 3,
        long_px=int(rng.choice((900, 1200, 1500, 1800, 2400))),
        off=0.01,
        share=rng.uniform(0.76, 0.85),
        tilt=rng.uniform(0, 8),
        turn=rng.uniform(-3, 3),
    )


def tight_card_photo(seed: int) -> CardPhoto:
    """Return a photograph cropped to 1 to 6 mm around the card."""
    rng = np.random.default_rng((seed, 16))
    photo = _common_card_photo(seed, rng, share=rng.uniform(0.5, 0.8), tilt=rng.uniform(0, 12), turn=rng.uniform(-4, 4))
    room = rng.uniform(1, 6, 4) * np.linalg.norm(photo.corners[3] - photo.corners[0]) / photo.size_mm[1]
    low = np.maximum(photo.corners.min(axis=0) - room[:2], 0).astype(int)
    right, bottom = (photo.corners.max(axis=0) + room[2:]).astype(int)
    image = np.ascontiguousarray(photo.image[low[1] : bottom, low[0] : right])
    return replace(photo, image=image, corners=photo.corners - low)


def edged_card_photo(seed: int) -> CardPhoto:
    """Return an ordinary photograph of a white card with a dark edge, 0.5 to 2 mm wide."""
    rng = np.random.default_rng((seed, 17))
    return _common_card_photo(
        seed,
        rng,
        styles=("minimal", "own"),
        edge_mm=rng.uniform(0.5, 2.0),
        share=rng.uniform(0.4, 0.8),
        tilt=rng.uniform(0, 12),
        turn=rng.uniform(-15, 15),
    )


def _common_card_photo(
    seed: int, rng: np.random.Generator, styles: tuple[str, ...] = STYLES, **how: object
) -> CardPhoto:
    style, slug = str(rng.choice(styles)), str(rng.choice((*decks.CLASSIC, decks.BACK)))
    ground = ORDINARY_GROUNDS[seed % len(ORDINARY_GROUNDS)]
    ground = "wood" if style == ground else ground
    return card_photo(seed, style, slug, ground, exposure=rng.uniform(0.6, 1.1), **how)


def _edged(face: np.ndarray, edge_mm: float) -> np.ndarray:
    """Return a face with a dark printed edge."""
    width = round(8 * edge_mm)
    if not width:
        return face
    inner = face[width:-width, width:-width]
    return cv2.copyMakeBorder(inner, *[width] * 4, cv2.BORDER_CONSTANT, value=(25, 22, 20))


def _hidden(
    face: np.ndarray, size_mm: tuple[float, float], corners: np.ndarray, shot: Shot, size_px: tuple[int, int]
) -> float:
    """Return the share of a card's print that is overexposed, counting what is within 1 mm of a printed edge."""
    size = (round(size_mm[0] * 2), round(size_mm[1] * 2))
    onto = cv2.getPerspectiveTransform(np.float32(corners), photos.edges(*size) + np.float32(0.5))
    burnt = cv2.warpPerspective(burnt_out(shot, size_px).astype(np.uint8), onto, size) > 0
    drawn = cv2.morphologyEx(cv2.resize(face, size, interpolation=cv2.INTER_AREA), cv2.MORPH_GRADIENT, np.ones((5, 5)))
    is_print = drawn.max(axis=2) > 40
    return float((burnt & is_print).sum() / max(is_print.sum(), 1))


def _rendered(table: np.ndarray, face: np.ndarray, cover: np.ndarray, size_mm: tuple[float, float], pose: Pose,
              shift_mm: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # fmt: skip
    """Return the picture in linear light, `(H, W, 3) float32`."""
    size_px, s = pose.size_px, _TABLE_PX_PER_MM
    square = np.float32([(-50, -50), (50, -50), (50, 50), (-50, 50)])
    over = 2
    seen = np.float32((pose.px(square) + 0.5) * over - 0.5)
    shape = tuple(side * over for side in size_px)
    on_table = np.float32((square + np.array(_TABLE_MM) / 2 + shift_mm) * s - 0.5)
    under = cv2.warpPerspective(table, cv2.getPerspectiveTransform(on_table, seen), shape, flags=cv2.INTER_LINEAR,
                                borderMode=cv2.BORDER_REFLECT)  # fmt: skip
    on_card = np.float32((square + np.array(size_mm) / 2) * 8 - 0.5)
    to_seen = cv2.getPerspectiveTransform(on_card, seen)
    card = cv2.warpPerspective(face, to_seen, shape, flags=cv2.INTER_AREA)
    alpha = cv2.warpPerspective(cover, to_seen, shape, flags=cv2.INTER_LINEAR)
    down = lambda a: cv2.resize(a, size_px, interpolation=cv2.INTER_AREA)  # noqa: E731
    under, card, alpha = down(under), down(card), down(alpha)
    mm = pose.px_per_mm
    move = rng.normal(0, 0.5, 2) * mm
    moved = cv2.warpAffine(alpha, np.float32([[1, 0, move[0]], [0, 1, move[1]]]), size_px)
    dark = cv2.GaussianBlur(moved, (0, 0), rng.uniform(0.25, 1.6) * mm).astype(np.float32) / 255
    light = _light(under) * (1 - rng.uniform(0.1, 0.45) * dark[..., None])
    a = alpha[..., None].astype(np.float32) / 255
    return light * (1 - a) + a * _light(card) * 0.9


def _cut(shape: tuple[int, int]) -> np.ndarray:
    """Return a mask of a card with rounded corners, 255 inside."""
    cover = np.zeros(shape, np.uint8)
    r = round(_ROUND_MM * 8)
    h, w = shape
    cv2.rectangle(cover, (r, 0), (w - 1 - r, h - 1), 255, -1)
    cv2.rectangle(cover, (0, r), (w - 1, h - 1 - r), 255, -1)
    for x in (r, w - 1 - r):
        for y in (r, h - 1 - r):
            cv2.circle(cover, (x, y), r, 255, -1)
    return cover


_LIGHT = (np.arange(256, dtype=np.float32) / 255) ** 2.2


def _light(image: np.ndarray) -> np.ndarray:
    return cv2.LUT(image, _LIGHT)


def some_card_photo(seed: int) -> CardPhoto:
    """Return a random card of a random deck on a random background."""
    rng = np.random.default_rng((seed, 12))
    slugs = (*decks.CLASSIC, decks.BACK)
    return card_photo(seed, str(rng.choice(STYLES)), str(rng.choice(slugs)), str(rng.choice(GROUNDS)))


@dataclass(frozen=True)
class SheetPhoto:
    """A photograph of cards in rows, and their true corners in reading order."""

    image: np.ndarray
    corners: np.ndarray  # `(n, 4, 2)` px
    size_mm: tuple[float, float]


def sheet_photo(seed: int, style: str, slugs: tuple[str, ...], ground: str, **how: object) -> SheetPhoto:
    """Return cards in rows of `columns`, slightly inaccurate unless `neat`; `tilt` is up to 12°.

    With `near_mm`, every fourth card is so far from the one before it.
    """
    rng = np.random.default_rng((seed, 14))
    columns, long_px = int(how.get("columns", 5)), int(how.get("long_px", 2400))
    w, h = decks.size_mm(style)
    gap = float(how.get("gap_mm", rng.uniform(5, 14)))
    rows = -(-len(slugs) // columns)
    sheet_mm = (columns * (w + gap) + 8, rows * (h + gap) + 8)
    layer = np.zeros((round(sheet_mm[1] * 8), round(sheet_mm[0] * 8), 4), np.uint8)
    quads, near = [], range(len(slugs))[1::4] if "near_mm" in how else ()
    for number, slug in enumerate(slugs):
        row, column = divmod(number, columns)
        middle = np.array([column - (columns - 1) / 2, row - (rows - 1) / 2]) * (w + gap, h + gap)
        loose = not how.get("neat")
        middle += rng.uniform(-2, 2, 2) * loose
        turn = np.radians(rng.normal(0, 2)) * loose
        if column and number in near:
            beside = np.mean(quads[-1], axis=0)
            middle = beside + (quads[-1][1] - quads[-1][0]) * (1 + float(how["near_mm"]) / w)
            turn = float(np.arctan2(*(quads[-1][1] - quads[-1][0])[::-1]))
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        quad = np.array([(-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2)]) @ spin + middle
        quads.append(quad)
        face = photos.face_of(style, slug)
        on_sheet = np.float32((quad + np.array(sheet_mm) / 2) * 8 - 0.5)
        onto = cv2.getPerspectiveTransform(photos.edges(*face.shape[1::-1]), on_sheet)
        cut = cv2.warpPerspective(np.dstack([face, _cut(face.shape[:2])]), onto, layer.shape[1::-1])
        layer = np.where(cut[..., 3:] > 127, cut, layer)
    size_px = (round(long_px * 0.75), long_px) if sheet_mm[1] > sheet_mm[0] else (long_px, round(long_px * 0.75))
    scale = 0.9 * min(size_px[0] / sheet_mm[0], size_px[1] / sheet_mm[1])
    tilt = float(how.get("tilt", rng.uniform(0, 12)))
    lean, turn = rng.uniform(0, 360), rng.uniform(-4, 4)
    pose = Pose(scale * (1 - 0.004 * tilt), size_px, tilt, lean, turn, focal=1.1)
    table = ground_image(ground, int(rng.integers(4)))
    image = _rendered(table, layer[..., :3], layer[..., 3], sheet_mm, pose, rng.uniform(-60, 60, 2), rng)
    shot = developed((np.clip(image, 0, 1) * 65535).astype(np.uint16), _shot(rng, how), seed)
    return SheetPhoto(shot, np.array([pose.px(quad) for quad in quads]), (w, h))
