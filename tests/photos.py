"""Render photographs of tables with stickers, and the truth about them: visible stickers and their places.

`typical_photo(seed)` and `hard_photo(seed)` show a whole table, reproducible by seed. `laid` places the cards, `webcam`
simulates the camera, and this module paints in linear light at twice the resolution. `face_photos` has cards without
stickers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Self

import cv2
import decks
import foreign
import laid as lay
import numpy as np
from laid import Laid, Sheet, Table
from webcam import FULL, Glare, Pose, Shadow, Shot, burnt_out, developed

from companion.printing import deck, mats, render, stickers
from companion.rules.cards import Card
from companion.tabletop.card_ids import card_id_of, payload
from companion.tabletop.mat_layout import all_mats
from companion.tabletop.sticker_codes import CARDS

SUPER = 2  # canvas pixels per picture pixel; 1 for a phone's large pictures
_LARGE_PX = 10_000_000

_CARD_TEXELS = 8
_MODULE_TEXELS = 12


@dataclass(frozen=True)
class Shown:
    """The truth about one sticker."""

    card: str
    corners_px: np.ndarray  # `(4, 2)`, the code without its quiet zone, from the top left of the print
    module_px: float  # mean side of a module
    hidden: float  # share of code and quiet zone that is covered or cut off
    burnt: float  # share of the code where a reflection turns ink white

    @property
    def centre_px(self) -> tuple[float, float]:
        x, y = self.corners_px.mean(0)
        return float(x), float(y)

    @property
    def in_sight(self) -> bool:
        """True if no card, edge or reflection hides it."""
        return self.hidden == 0 and self.burnt < 0.02


@dataclass(frozen=True)
class Photo:
    """A picture `(H, W, 3) uint8 BGR` and its stickers."""

    image: np.ndarray
    stickers: tuple[Shown, ...]
    pose: Pose
    shot: Shot

    @property
    def gray(self) -> np.ndarray:
        return cv2.cvtColor(self.image, cv2.COLOR_BGR2GRAY)


def photograph(table: Table, pose: Pose, shot: Shot | None = None, seed: int = 0) -> Photo:
    """Render a table through the camera, with the truth about its stickers."""
    shot = shot or Shot()
    image = developed(painted(table, pose), shot, seed)
    return Photo(image, tuple(_truth(table, pose, shot)), pose, shot)


# --- The truth ------------------------------------------------------------------------------------------------


def _truth(table: Table, pose: Pose, shot: Shot) -> list[Shown]:
    burnt = burnt_out(shot, pose.size_px) if shot.glares else None
    hidden = lay.covered_share(table)
    return [
        _shown(card, hidden[at], pose, burnt)
        for at, card in enumerate(table.cards)
        if card.sticker and card.sticker.kind in PRINTED_KINDS and card_id_of(card.sticker.text) in CARDS
    ]


def _shown(card: Laid, hidden: float, pose: Pose, burnt: np.ndarray | None) -> Shown:
    corners = pose.px(card.sticker_mm("code"))
    quiet = pose.px(card.sticker_mm("quiet"))
    side = np.hypot(*(corners - np.roll(corners, 1, 0)).T).mean()
    return Shown(
        card=card_id_of(card.sticker.text),
        corners_px=corners,
        module_px=float(side / lay.MODULES),
        hidden=max(hidden, _cut_off(quiet, pose.size_px)),
        burnt=share_inside(burnt, corners) if burnt is not None else 0.0,
    )


def _cut_off(quiet: np.ndarray, size_px: tuple[int, int]) -> float:
    """Return the share of a square outside the picture; the outermost pixels count as outside."""
    low, high = np.array([1.0, 1.0]), np.array(size_px) - 2.0
    if (quiet >= low).all() and (quiet <= high).all():
        return 0.0
    inside = np.float32([low, (high[0], low[1]), high, (low[0], high[1])])
    square = quiet.astype(np.float32)
    return max(0.001, 1 - cv2.intersectConvexConvex(square, inside)[0] / cv2.contourArea(square))


def share_inside(field: np.ndarray, corners: np.ndarray) -> float:
    low = np.maximum(corners.min(0).astype(int), 0)
    high = np.maximum(corners.max(0).astype(int) + 2, 0)
    part = field[low[1] : high[1], low[0] : high[0]]
    if not part.size:
        return 0.0
    mask = np.zeros(part.shape, np.uint8)
    cv2.fillConvexPoly(mask, np.int32(corners.round() - low), 1)
    return float(part[mask > 0].mean()) if mask.any() else 0.0


# --- How well it was read -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """The result for the stickers of one photo; `read` and `unknown` count only those `in_sight`."""

    in_sight: int = 0
    read: int = 0
    unknown: int = 0  # in sight and found, but not identified: harmless
    wrong: tuple[str, ...] = ()  # `stop-01 as roll-02`: misread
    ghosts: tuple[str, ...] = ()  # a card was named where there is none
    strays: tuple[str, ...] = ()  # an unknown card was reported where there is none: a needless question

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def compared(truth: Sequence[Shown], found: Sequence[tuple[str | None, tuple[float, float]]]) -> Score:
    """Score a reader; `found` are cards (None if unknown) and the centers of their codes in pixels."""
    named: dict[str, set[str | None]] = {}
    wrong, ghosts, strays = [], [], []
    for card, middle in found:
        here = _meant(truth, card, middle)
        if here is None:
            (ghosts if card else strays).append(f"{card} at {middle[0]:.0f}, {middle[1]:.0f}")
            continue
        named.setdefault(here.card, set()).add(card)
        if card not in (None, here.card):
            wrong.append(f"{here.card} as {card}")
    cards = [sticker.card for sticker in truth if sticker.in_sight]
    said = [named.get(card, set()) for card in cards]
    read = sum(card in names for card, names in zip(cards, said, strict=True))
    unknown = sum(names == {None} for names in said)
    return Score(len(cards), read, unknown, tuple(wrong), tuple(ghosts), tuple(strays))


def _meant(truth: Sequence[Shown], card: str | None, middle: tuple[float, float]) -> Shown | None:
    """Return the visible sticker near a point: this card's, or else the most visible one."""
    near = [s for s in truth if s.hidden < 0.95 and math.dist(s.centre_px, middle) < 7 * s.module_px]
    return min(near, key=lambda s: (s.card != card, s.hidden, math.dist(s.centre_px, middle)), default=None)


# --- Painting -------------------------------------------------------------------------------------------------


def painted(table: Table, pose: Pose) -> np.ndarray:
    """Return the table before lens and sensor effects, `(H, W, 3) uint16 BGR`, linear light."""
    width, height = pose.size_px
    canvas = cloth(table.cloth, (width * finer(pose), height * finer(pose)), table.seed).copy()
    for sheet in table.sheets:
        _paint_sheet(canvas, sheet, pose)
    for card in table.cards:
        _paint_card(canvas, card, pose, table)
    for cover in table.covers:
        outline = _on_canvas(pose, np.array(cover.outline_mm))
        cv2.fillPoly(canvas, [np.int32(outline * 16)], _TO_LINEAR[list(cover.colour)].tolist(), shift=4)
    for thing in table.things:
        _paint_sheet(canvas, thing, pose)
    return cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA)


def finer(pose: Pose) -> int:
    """Return the canvas pixels per picture pixel."""
    return SUPER if pose.size_px[0] * pose.size_px[1] < _LARGE_PX else 1


def _on_canvas(pose: Pose, points_mm: np.ndarray) -> np.ndarray:
    """Return points of the table on the canvas, whose first pixel's center is (0, 0)."""
    return (pose.px(points_mm) + 0.5) * finer(pose) - 0.5


def _paint_sheet(canvas: np.ndarray, sheet: Sheet, pose: Pose) -> None:
    """Paint a sheet in tiles, because the lens bends large ones."""
    tiles = sheet_tiles(sheet.name)
    for row, across in enumerate(tiles):
        for column, texture in enumerate(across):
            ends = [(at / count, (at + 1) / count) for at, count in ((column, len(across)), (row, len(tiles)))]
            paste(canvas, texture, _on_canvas(pose, sheet.tile_mm(*ends)))


def _paint_card(canvas: np.ndarray, card: Laid, pose: Pose, table: Table) -> None:
    corners = _on_canvas(pose, card.corners_mm())
    if (corners.max(0) < 0).any() or (corners.min(0) > canvas.shape[1::-1]).any():
        return
    if table.shadow:
        _paint_shadow(canvas, corners, table)
    if card.sleeve_rim_mm:
        _paint_sleeve(canvas, _on_canvas(pose, card.sleeve_mm()))
    paste(canvas, card_texture(_look_of(card)), corners, _on_canvas(pose, card.outline_mm()))
    if card.sticker:
        part = "paper" if card.sticker.kind in PRINTED_KINDS else "quiet"
        paste(canvas, sticker_texture(card.sticker.kind, card.sticker.text), _on_canvas(pose, card.sticker_mm(part)))
    if card.sheen:
        _paint_sheen(canvas, card, corners)


def _look_of(card: Laid) -> str:
    """Return the look's name, including the face for cards of our own deck."""
    if card.look != "own":
        return card.look
    card_id = card_id_of(card.sticker.text) if card.sticker else None
    return f"own {card_id.rpartition('-')[0] if card_id else 'roll'}"


def paste(canvas: np.ndarray, texture: Texture, corners: np.ndarray, outline: np.ndarray | None = None) -> None:
    """Draw a texture with its corners at these points, optionally cut along an outline."""
    part, low = _part(canvas, corners, 2)
    if part.size:
        image = texture.for_size(np.hypot(*(corners[1] - corners[0])), np.hypot(*(corners[2] - corners[1])))
        mask = _mask((corners if outline is None else outline) - low, part)
        cv2.copyTo(_warped(image, corners - low, part), mask, part)


def edges(width: float, height: float) -> np.ndarray:
    """Return the corners of a picture of this size, whose first pixel's center is (0, 0)."""
    return np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32) - 0.5


def _part(canvas: np.ndarray, corners: np.ndarray, margin: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of the canvas around some points, and its origin."""
    low = np.maximum(np.floor(corners.min(0)).astype(int) - margin, 0)
    high = np.maximum(np.ceil(corners.max(0)).astype(int) + margin + 1, low)
    return canvas[low[1] : high[1], low[0] : high[0]], low


def _warped(image: np.ndarray, corners: np.ndarray, part: np.ndarray, **how: int) -> np.ndarray:
    """Return a picture warped to these corners, as large as a part of the canvas."""
    matrix = cv2.getPerspectiveTransform(edges(*image.shape[1::-1]), corners.astype(np.float32))
    how = {"borderMode": cv2.BORDER_REPLICATE} | how
    return cv2.warpPerspective(image, matrix, part.shape[1::-1], flags=cv2.INTER_LINEAR, **how)


def _mask(corners: np.ndarray, part: np.ndarray) -> np.ndarray:
    mask = np.zeros(part.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.int32((corners * 16).round()), 255, shift=4)
    return mask


def _paint_shadow(canvas: np.ndarray, corners: np.ndarray, table: Table) -> None:
    """Paint the dark line beside a card's edge, away from the lamp."""
    size = np.hypot(*(corners[1] - corners[0])) / lay.CARD_MM[0]
    turn = np.radians(37 * table.seed)
    thrown = corners + 1.0 * size * np.array([np.cos(turn), np.sin(turn)])
    soft = max(3, int(1.6 * size)) | 1
    part, low = _part(canvas, thrown, soft)
    if part.size:
        keep = 1 - cv2.blur(_mask(thrown - low, part), (soft, soft)).astype(np.float32) * (table.shadow / 255)
        cv2.multiply(part, cv2.merge([keep] * 3), dst=part, dtype=cv2.CV_16U)


def _paint_sleeve(canvas: np.ndarray, corners: np.ndarray) -> None:
    """Paint the clear rim of a sleeve: slightly brighter and grayer than the ground."""
    part, low = _part(canvas, corners, 1)
    if part.size:
        cv2.copyTo(cv2.addWeighted(part, 0.8, np.full_like(part, FULL), 0.09, 0), _mask(corners - low, part), part)


def _paint_sheen(canvas: np.ndarray, card: Laid, corners: np.ndarray) -> None:
    """Paint the band of light across a sleeve."""
    part, low = _part(canvas, corners, 1)
    if part.size:
        band = _warped(_band(round(card.sheen_at, 2)), corners - low, part, borderMode=cv2.BORDER_CONSTANT)
        part[:] = np.minimum(part.astype(np.float32) + band[..., None] * (card.sheen * FULL), FULL).astype(np.uint16)


@lru_cache(maxsize=128)
def _band(at: float) -> np.ndarray:
    y, x = np.mgrid[0:72, 0:48].astype(np.float32)
    return np.exp(-((((x + 0.5 * y) / 84 - at) / 0.09) ** 2)) + np.float32(0.12)


MATS = {layout.id: layout for layout in all_mats()}


def mat(name: str, x_mm: float, y_mm: float, turn_deg: float) -> Sheet:
    """Return one of our mats, placed by its center."""
    return Sheet(name, x_mm, y_mm, turn_deg, MATS[name].size_mm)


# --- What things look like ------------------------------------------------------------------------------------


class Texture:
    """A picture in linear light at several sizes, each half the one before."""

    def __init__(self, image: np.ndarray) -> None:
        self._sizes = [_TO_LINEAR[image]]
        while min(self._sizes[-1].shape[:2]) >= 24:
            last = self._sizes[-1]
            self._sizes.append(cv2.resize(last, (last.shape[1] // 2, last.shape[0] // 2), interpolation=cv2.INTER_AREA))

    def for_size(self, width_px: float, height_px: float) -> np.ndarray:
        """Return the smallest size that is not much coarser than this."""
        fine = [image for image in self._sizes if min(image.shape[1] / width_px, image.shape[0] / height_px) > 0.85]
        return fine[-1] if fine else self._sizes[0]


_TO_LINEAR = np.round(FULL * (np.arange(256) / 255) ** 2.2).astype(np.uint16)


PRINTED_KINDS = {"ours": "qr", "tag": "tag"}


@cache
def sticker_texture(kind: str, text: str) -> Texture:
    """Return a sticker as printed; ours has its name strip, as from `print stickers`."""
    if kind in PRINTED_KINDS:
        size_mm = float(lay.MODULES + 2 * lay.QUIET)
        drawing = stickers.sticker_svg(card_id_of(text), size_mm, PRINTED_KINDS[kind])
        return Texture(_printed(render.to_image(drawing, _MODULE_TEXELS)))
    return Texture(_printed(cv2.cvtColor(foreign.code(kind, text), cv2.COLOR_GRAY2BGR)))


def _printed(image: np.ndarray, ink: int = 38, paper: int = 238) -> np.ndarray:
    return np.round(ink + image.astype(np.float32) * ((paper - ink) / 255)).astype(np.uint8)


@cache
def sheet_tiles(name: str) -> list[list[Texture]]:
    """Return a mat or foreign object, cut into rows of tiles of about 8 cm."""
    if name in MATS:
        image = render.to_image(mats.mat_svg(MATS[name]), 5)
        return _tiles(image, 4, 6)
    return _tiles(foreign.thing(name), 3, 3)


def _tiles(image: np.ndarray, rows: int, columns: int) -> list[list[Texture]]:
    return [
        [Texture(np.ascontiguousarray(part)) for part in np.array_split(row, columns, 1)]
        for row in np.array_split(image, rows, 0)
    ]


@lru_cache(maxsize=160)
def card_texture(look: str) -> Texture:
    """Return a card's face: `own roll`, `deck vintage roll`, `thing playing-card 2`, `white`, `photo 3`, …"""
    return Texture(_card_image(look))


def _card_image(look: str) -> np.ndarray:
    width, height = (round(side * _CARD_TEXELS) for side in lay.CARD_MM)
    kind, _, which = look.partition(" ")
    if kind == "own":
        return face_of("own", which)
    if kind == "deck":
        return _printed(face_of(*which.split()), 22, 244)
    if kind == "thing":
        return foreign.thing(which)
    if kind == "photo":
        return photo_like((width, height), int(which))
    if kind == "lines":
        return _lines((width, height))
    if kind == "checks":
        return _checks((width, height))
    return np.full((height, width, 3), {"dark": (40, 34, 30)}.get(kind, (236, 240, 240)), np.uint8)


@cache
def face_of(style: str, slug: str, px_per_mm: float = _CARD_TEXELS) -> np.ndarray:
    """Return a face or back of our own deck or one of `decks`, as printed; read-only."""
    if style == "own":
        return render.to_image(deck.back_svg() if slug == decks.BACK else deck.face_svg(Card(slug)), px_per_mm)
    return decks.back(style, px_per_mm) if slug == decks.BACK else decks.face(style, slug, px_per_mm)


def photo_like(size: tuple[int, int], seed: int) -> np.ndarray:
    """Return a picture as busy as a photograph: colors vary at every scale, with hard edges."""
    rng = np.random.default_rng(1000 + seed)
    field = np.zeros((size[1], size[0], 3), np.float32)
    for octave in range(2, 8):
        coarse = rng.normal(0, 1, (2**octave, 2**octave, 3)).astype(np.float32)
        field += cv2.resize(coarse, size, interpolation=cv2.INTER_CUBIC) * 0.8 ** (octave - 2)
    field = np.where(field[..., :1] > 0.2, field, -0.6 * field[..., ::-1])
    gray = field.mean(2, keepdims=True)
    return np.clip(120 + 70 * gray + 28 * (field - gray), 0, 255).astype(np.uint8)


def _lines(size: tuple[int, int]) -> np.ndarray:
    rng = np.random.default_rng(77)
    image = np.full((size[1], size[0], 3), 232, np.uint8)
    for y in range(16, size[1] - 12, 20):
        x = 14
        while x < size[0] - 20:
            word = int(rng.integers(12, 60))
            cv2.rectangle(image, (x, y), (min(x + word, size[0] - 14), y + 8), (50, 45, 45), -1)
            x += word + 10
    return image


def _checks(size: tuple[int, int]) -> np.ndarray:
    """Return a back of small squares, some with rings like a finder pattern."""
    y, x = np.mgrid[0 : size[1], 0 : size[0]] // 13
    image = np.where(((x + y) % 2)[..., None], (60, 40, 160), (235, 235, 235)).astype(np.uint8)
    for left in range(40, size[0] - 120, 140):
        for top in range(330, size[1] - 110, 140):
            for inset, ink in ((0, 30), (12, 235), (24, 30)):
                corner = (left + 84 - inset, top + 84 - inset)
                cv2.rectangle(image, (left + inset, top + inset), corner, (ink,) * 3, -1)
    return image


CLOTHS = ("felt", "dark", "wood", "plaid", "white", "print")


@lru_cache(maxsize=4)
def cloth(kind: str, size: tuple[int, int], seed: int = 0) -> np.ndarray:
    """Return the table's surface, `(H, W, 3) uint16`, linear light."""
    small = _cloth_image(kind, (size[0] // SUPER, size[1] // SUPER), seed % 4)
    return cv2.resize(_TO_LINEAR[small], size, interpolation=cv2.INTER_LINEAR)


def _cloth_image(kind: str, size: tuple[int, int], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    width, height = size
    grain = rng.normal(0, 1, (height, width, 1)).astype(np.float32)
    if kind == "wood":
        rings = cv2.resize(rng.normal(0, 1, (64, 6)).astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
        fibre = cv2.blur(rng.normal(0, 1, size[::-1]).astype(np.float32), (61, 1)) * 6
        shade = (14 * np.sin(rings * 9) + 9 * fibre)[..., None]
        return np.clip(np.array([62, 96, 140], np.float32) + shade + 2 * grain, 0, 255).astype(np.uint8)
    if kind == "plaid":
        x, y = np.arange(width) // 22 % 4, np.arange(height) // 22 % 4
        bands = (30 * (x == 0) + 60 * (x == 2))[None, :] + (30 * (y == 0) + 60 * (y == 2))[:, None]
        return np.clip(np.array([60, 50, 90], np.float32) + bands[..., None] + 3 * grain, 0, 255).astype(np.uint8)
    if kind == "print":
        return np.clip(photo_like(size, 50 + seed).astype(np.float32) * 0.7 + 60, 0, 255).astype(np.uint8)
    tone = {"felt": (58, 84, 46), "dark": (34, 30, 28), "white": (222, 226, 228)}[kind]
    return np.clip(np.array(tone, np.float32) + 5 * cv2.blur(grain, (2, 2))[..., None], 0, 255).astype(np.uint8)


# --- Random pictures ------------------------------------------------------------------------------------------


def typical_shot(rng: np.random.Generator) -> Shot:
    """Return typical light, as after one look at the set-up page.

    Focused (σ 0.40–0.65 px), even within ±25 %, noise 1–3 gray levels, JPEG 80–95, no overexposed paper, mild
    sharpening. Half of the pictures have a soft shadow (10–35 %). White balance within ±8 %, corners up to 25 % darker.
    """
    return Shot(
        optics_px=rng.uniform(0.4, 0.65),
        exposure=rng.uniform(0.55, 1.05),
        uneven=rng.uniform(0, 0.25),
        uneven_deg=rng.uniform(0, 360),
        vignette=rng.uniform(0, 0.25),
        colour=tuple(float(v) for v in rng.uniform(0.92, 1.08, 3)),
        shadows=tuple(_some_shadow(rng, (0.1, 0.35), (0.004, 0.02)) for _ in range(int(rng.integers(0, 2)))),
        noise=rng.uniform(1, 3),
        bayer=bool(rng.random() < 0.6),
        gamma=rng.uniform(2.0, 2.4),
        contrast=rng.uniform(0.9, 1.1),
        halo=rng.uniform(0, 0.7),
        halo_px=rng.uniform(0.8, 1.4),
        jpeg=int(rng.integers(80, 96)),
    )


TROUBLES = ("soft", "moving", "dim", "glare", "shadow", "over", "colored", "poor camera")


def hard_shot(rng: np.random.Generator, trouble: str | None = None) -> Shot:
    """Return hard light: everything slightly worse than typical, and one of `TROUBLES` severe.

    Everywhere: noise 2–5 grey levels, JPEG 65–90, uneven to ±40 %, a shadow (20–50 %) with a harder edge.
    soft: out of focus by a disc of 0.8–1.7 px radius · moving: 1.5–3.5 px in any direction · dim: 6–20 % of the light,
    noise 5–10 · glare: one to three lamps' reflections and a line of sheen · shadow: two or three sharp ones of
    40–65 % · over: 1.15–1.6 times the light that burns out paper, stray light · colored: lamp light out of balance
    (0.45–1) · poor camera: JPEG 40–65, sharpening 1–1.8 with wide halos, contrast 1.1–1.35.
    """
    trouble = trouble or str(rng.choice(TROUBLES))
    shot = replace(
        typical_shot(rng),
        uneven=rng.uniform(0, 0.4),
        noise=rng.uniform(2, 5),
        jpeg=int(rng.integers(65, 91)),
        shadows=(_some_shadow(rng, (0.2, 0.5), (0.001, 0.01)),),
    )
    return replace(shot, **_badly(trouble, rng))


def _badly(trouble: str, rng: np.random.Generator) -> dict[str, object]:
    between = rng.uniform
    if trouble == "soft":
        return {"defocus_px": between(0.8, 1.7)}
    if trouble == "moving":
        return {"motion_px": between(1.5, 3.5), "motion_deg": between(0, 180)}
    if trouble == "dim":
        return {"exposure": between(0.06, 0.2), "noise": between(5, 10), "halo": between(0, 0.4)}
    if trouble == "glare":
        spots = [_some_glare(rng) for _ in range(int(rng.integers(1, 4)))]
        sheen = replace(_some_glare(rng), radii=(between(0.15, 0.4), between(0.006, 0.02)), strength=between(0.1, 0.5))
        return {"glares": (*spots, sheen), "veil": between(0, 0.03)}
    if trouble == "shadow":
        count = int(rng.integers(2, 4))
        return {"shadows": tuple(_some_shadow(rng, (0.4, 0.65), (0.0005, 0.002)) for _ in range(count))}
    if trouble == "over":
        return {"exposure": between(1.15, 1.6), "veil": between(0.01, 0.05)}
    if trouble == "colored":
        return {"colour": (between(0.45, 0.7), between(0.75, 0.95), 1.0)}
    return {"jpeg": int(rng.integers(40, 66)), "halo": between(1.0, 1.8), "halo_px": between(1.2, 2.2),
            "contrast": between(1.1, 1.35)}  # fmt: skip


def _some_shadow(rng: np.random.Generator, depth: tuple[float, float], soft: tuple[float, float]) -> Shadow:
    """Return a shadowed band or corner of the table, possibly over stickers."""
    x, y, turn = rng.uniform(0, 1), rng.uniform(0, 0.56), rng.uniform(0, 2 * np.pi)
    length, width = 1.2, rng.uniform(0.05, 0.5)
    u, v = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    corners = [np.array([x, y]) + a * u * length + b * v for a, b in ((-1, 0), (1, 0), (1, width), (-1, width))]
    return Shadow(tuple((float(p[0]), float(p[1])) for p in corners), rng.uniform(*depth), rng.uniform(*soft))


def _some_glare(rng: np.random.Generator) -> Glare:
    radius = rng.uniform(0.02, 0.06)
    return Glare(
        x=rng.uniform(0.05, 0.95),
        y=rng.uniform(0.05, 0.5),
        radii=(radius, radius * rng.uniform(0.4, 1)),
        turn_deg=rng.uniform(0, 180),
        strength=rng.uniform(0.4, 2.0),
    )


def some_table(rng: np.random.Generator, area_mm: tuple[float, float], cards: Sequence[str], **how: object) -> Table:
    """Return these cards on a table: scattered, in rows, or in piles, fans and columns."""
    way = (lay.scattered, lay.in_rows, lay.in_groups)[int(rng.integers(3))]
    return Table(
        cards=way([payload(card) for card in cards], area_mm, rng, **how),
        sheets=_two_mats(rng) if min(area_mm[0] / 900, area_mm[1] / 320) > 1 and rng.random() < 0.4 else (),
        cloth=str(rng.choice(CLOTHS)),
        seed=int(rng.integers(1000)),
        shadow=rng.uniform(0, 0.5),
    )


def _two_mats(rng: np.random.Generator) -> tuple[Sheet, ...]:
    """Return two sides' mats next to each other, the second turned around."""
    y, turn = rng.normal(0, 8), rng.normal(0, 1.5)
    return (mat("side-1", -225, y, turn), mat("side-2", 225, -y, 180 - turn))


def some_pose(rng: np.random.Generator, tilt_deg: tuple[float, float], **how: object) -> Pose:
    """Return a camera on a stand: slightly tilted, with up to 8 % lens distortion."""
    return Pose(
        tilt_deg=rng.uniform(*tilt_deg),
        lean_deg=rng.normal(0, 12),
        turn_deg=rng.normal(0, 3),
        focal=rng.uniform(0.7, 1.05),
        barrel=rng.uniform(0, 0.08),
        **how,
    )


def typical_photo(seed: int, kind: str = "ours") -> Photo:
    """Return a table of 60 to 106 cards with 20 mm stickers, 1080p over 1.2 m, in typical light."""
    rng = np.random.default_rng((seed, 0))
    return _photo(seed, rng, typical_shot(rng), kind)


def hard_photo(seed: int, kind: str = "ours") -> Photo:
    """Return the same in hard light, with each of `TROUBLES` in turn."""
    rng = np.random.default_rng((seed, 1))
    return _photo(seed, rng, hard_shot(rng, TROUBLES[seed % len(TROUBLES)]), kind)


def wild_photo(seed: int, kind: str = "ours") -> Photo:
    """Return an extreme picture, which may be unreadable but must not be misread.

    Two troubles at once, any scale, tilt and lean, stickers of 16 to 28 mm, a fifth of them foreign codes.
    """
    rng = np.random.default_rng((seed, 2))
    first, second = rng.choice(TROUBLES, 2, replace=False)
    shot = replace(hard_shot(rng, str(first)), **_badly(str(second), rng))
    pose = Pose(
        px_per_mm=rng.uniform(0.9, 3.0),
        tilt_deg=rng.uniform(0, 50),
        lean_deg=rng.uniform(0, 360),
        turn_deg=rng.uniform(0, 360),
        focal=rng.uniform(0.6, 1.1),
        barrel=rng.uniform(0, 0.12),
    )
    area = pose.table_mm()
    count = int(np.clip(area[0] * area[1] / 8000, 6, 120))
    cards = [str(card) for card in rng.permutation(CARDS)[:count]]
    table = some_table(rng, area, cards, size_mm=float(rng.choice((16, 18, 20, 20, 24, 28))), kind=kind)
    return photograph(with_codes_of_others(table, rng, 0.2), pose, shot, seed)


def empty_photo(seed: int, **_: object) -> Photo:
    """Return a picture without our stickers, in which no card may be named.

    Cards have foreign codes or none; other objects are around; the scale varies.
    """
    rng = np.random.default_rng((seed, 3))
    size_px = (1280, 720)
    pose = some_pose(rng, (0, 40), px_per_mm=float(np.exp(rng.uniform(np.log(0.8), np.log(6)))), size_px=size_px)
    shot = typical_shot(rng) if rng.random() < 0.5 else hard_shot(rng)
    area = pose.table_mm()
    count = int(np.clip(area[0] * area[1] / 12000, 3, 60))
    table = with_codes_of_others(some_table(rng, area, ["roll-01"] * count), rng, 1.0)
    bare = tuple(replace(card, sticker=None) if rng.random() < 0.6 else card for card in table.cards)
    sheets = (*table.sheets, *litter(rng, area, 4, 50))
    return photograph(replace(table, cards=bare, sheets=sheets), pose, shot, seed)


def litter(rng: np.random.Generator, area_mm: tuple[float, float], count: int, kinds: int) -> tuple[Sheet, ...]:
    """Return foreign objects scattered on a table; `kinds` is the number of variants per object."""
    names = [str(name) for name in rng.permutation(list(foreign.THINGS))[:count]]
    return tuple(
        Sheet(f"{name} {rng.integers(kinds)}", *somewhere(rng, area_mm), rng.uniform(0, 360), foreign.SIZES_MM[name])
        for name in names
    )


def somewhere(rng: np.random.Generator, area_mm: tuple[float, float], share: float = 0.4) -> tuple[float, float]:
    """Return a random place, up to this share of the table's size from its center."""
    x, y = (rng.uniform(-share, share, 2) * area_mm).tolist()
    return x, y


def with_codes_of_others(table: Table, rng: np.random.Generator, share: float) -> Table:
    """Return the table with this share of the stickers replaced by foreign codes."""
    kinds = [foreign.CODES[int(rng.integers(len(foreign.CODES)))] for _ in table.cards]
    cards = tuple(
        replace(card, sticker=replace(card.sticker, kind=kind, text=text)) if rng.random() < share else card
        for card, (kind, text) in zip(table.cards, kinds, strict=True)
    )
    return replace(table, cards=cards)


def _photo(seed: int, rng: np.random.Generator, shot: Shot, kind: str) -> Photo:
    cards = [str(card) for card in rng.permutation(CARDS)[: int(rng.integers(60, 107))]]
    pose = some_pose(rng, (0, 30))
    return photograph(some_table(rng, pose.table_mm(), cards, kind=kind), pose, shot, seed)
