"""Pictures of a `laid.Table` in a room, with the truth about each card, as `face_photos` describes it.

Visible shares come from a second picture in which every card has a color of its own, so props and hands count as
covering. `burnt` is the share of a card's visible pixels that are saturated in the final picture.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import cv2
import numpy as np
import photos
from decks import BACK
from face_photos import FacePhoto, ShownFace, lying
from laid import CARD_RASTER, Laid, Table
from webcam import Pose, Shot

from companion.printing import mats, render, stickers
from companion.tabletop.card_ids import card_id_of
from rendered.rooms import SKINS, SURFACES, WIDTH_MM, Room
from rendered.studio import CACHE, SCENE, Render, Studio

SHEET_MM = 0.3  # thickness of a card; the first back is the draw pile
MAT_PX_PER_MM = 6
STICKER_PX_PER_MM = 12
PASSES = 8  # renders of one picture, each with shifted lamps and pixels: soft shadows and smooth edges
PAPER = 0.88  # linear brightness of well lit paper at an exposure of 1
SATURATED = 250


def texture(name: str) -> bytes:
    """Return the PNG of a card's face (`own roll`, `deck vintage roll`), a sticker or a mat."""
    kind, _, which = name.partition(" ")
    if kind == "mat":
        image = render.to_image(mats.mat_svg(photos.MATS[which]), MAT_PX_PER_MM)
    elif kind == "sticker":
        image = render.to_image(stickers.sticker_svg(which), STICKER_PX_PER_MM)
    else:
        image = photos.face_of(*(which.split() if kind == "deck" else (kind, which)))
    return cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1].tobytes()


# --- What scene.js needs --------------------------------------------------------------------------------------


def described(table: Table, room: Room, size_px: tuple[int, int], width_mm: float) -> dict[str, Any]:
    """Return the table as JSON for `scene.js`."""
    rng = np.random.default_rng((room.seed, 32))
    kind, color, roughness = SURFACES[room.surface]
    wide = [math.ceil(side * (1 + room.barrel) / 2) * 2 for side in size_px]
    fov = 2 * math.atan(math.tan(math.radians(room.fov_deg) / 2) * wide[1] / size_px[1])
    distance = width_mm / 2 / (math.tan(math.radians(room.fov_deg) / 2) * size_px[0] / size_px[1])
    camera = {"at": [0, 0], "distance": distance, "tilt": math.radians(room.tilt_deg), "fov": math.degrees(fov),
              "lean": math.radians(room.lean_deg), "turn": math.radians(room.turn_deg), "size": wide}  # fmt: skip
    sheets = [
        {"name": f"mat {sheet.name}", "size": list(sheet.size_mm), "x": sheet.x_mm, "y": sheet.y_mm,
         "turn": sheet.turn_deg, "roughness": room.mat_gloss, "curl": rng.uniform(0, 6),
         "corner": int(rng.integers(4))}
        for sheet in table.sheets
    ]  # fmt: skip
    return {
        "surface": {"kind": kind, "color": color, "roughness": roughness, "seed": room.seed % 5},
        "sheets": sheets,
        "cards": list(_sheets(table, room, rng)),
        "things": [_thing(kind, rng, width_mm) for kind in room.things],
        "lamps": list(room.lamps),
        "room": room.around,
        "camera": camera,
        "passes": PASSES,
    }


def _sheets(table: Table, room: Room, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    middles = np.array([(card.x_mm, card.y_mm) for card in table.cards]).reshape(-1, 2)
    backs = [number for number, card in enumerate(table.cards) if card.look.endswith(BACK)]
    for number, card in enumerate(table.cards):
        is_under = bool((np.hypot(*(middles[number + 1 :] - middles[number]).T) < 45).any())
        limp = 0.3 if is_under else 1.0  # what lies on a card presses it flat
        yield {
            "name": _look(card), "size": list(card.size_mm), "x": card.x_mm, "y": card.y_mm, "turn": card.turn_deg,
            "roughness": room.gloss, "rounded": True, "bend": limp * room.bend_mm * rng.uniform(-1, 1),
            "along": float(rng.choice((0, math.pi / 2, rng.uniform(0, math.pi)), p=(0.4, 0.4, 0.2))),
            "curl": limp * room.bend_mm * max(0.0, rng.uniform(-1, 1)), "corner": int(rng.integers(4)),
            "sticker": _sticker(card), "thick": rng.uniform(1, 20) if number in backs[:1] else SHEET_MM,
        }  # fmt: skip


def _look(card: Laid) -> str:
    if card.look != "own":
        return card.look
    card_id = card_id_of(card.sticker.text) if card.sticker else None
    return f"own {card_id.rpartition('-')[0] if card_id else 'roll'}"


def _sticker(card: Laid) -> dict[str, Any] | None:
    glued = card.sticker
    if glued is None:
        return None
    return {"name": f"sticker {card_id_of(glued.text)}", "x": glued.x_mm, "y": glued.y_mm, "turn": glued.turn_deg,
            "size": glued.size_mm}  # fmt: skip


def _thing(kind: str, rng: np.random.Generator, width_mm: float) -> dict[str, Any]:
    x, y = (rng.uniform(-0.5, 0.5, 2) * (width_mm, 0.56 * width_mm)).tolist()
    turn, color = rng.uniform(0, 360), rng.uniform(0.1, 0.9, 3).tolist()
    if kind == "hand":
        color = list(SKINS[int(rng.integers(len(SKINS)))])
    return {"kind": kind, "x": x, "y": y, "turn": turn, "color": color, "seed": int(rng.integers(1000))}


# --- The camera -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scenery:
    """A rendered table before its sensor: linear light through the lens, ids, and corners in pixels."""

    light: np.ndarray  # (H, W, 3) float32 RGB; 1 burns out
    ids: np.ndarray
    corners_px: np.ndarray


def through_the_lens(drawn: Render, room: Room, size_px: tuple[int, int]) -> Scenery:
    """Bend a render as the lens does, and expose and balance it for its paper."""
    width, height = size_px
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    middle, wide = (np.array(size_px) - 1) / 2, (np.array(drawn.ids.shape[::-1]) - 1) / 2
    reach = float(np.hypot(*middle))
    dx, dy = (x - middle[0]) / reach, (y - middle[1]) / reach
    grown = (1 + room.barrel * (dx**2 + dy**2)) * reach
    to_x, to_y = np.float32(dx * grown + wide[0]), np.float32(dy * grown + wide[1])
    light = cv2.remap(drawn.light, to_x, to_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    ids = cv2.remap(drawn.ids, to_x, to_y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
    straight = (drawn.corners_px - wide) / reach
    bent = straight.copy()
    for _ in range(12):
        bent = straight / (1 + room.barrel * (bent**2).sum(-1, keepdims=True))
    paper = light[(ids >= 1) & (ids < 2000)]
    white = np.percentile(paper, 80, axis=0) if len(paper) else np.ones(3)
    balanced = (white.mean() / white) ** room.balance
    light *= np.float32(room.exposure * PAPER / white.mean() * balanced)
    return Scenery(np.maximum(light, 0), ids, bent * reach + middle)


def developed(scenery: Scenery, room: Room, seed: int = 0) -> np.ndarray:
    """Return the picture that the camera delivers, `(H, W, 3) uint8 BGR`."""
    rng = np.random.default_rng((room.seed, seed, 33))
    light = cv2.GaussianBlur(np.minimum(scenery.light, 8), (0, 0), room.blur_px) * np.float32(room.cast)
    grain = rng.standard_normal(light.shape, np.float32)
    light += grain * (room.noise * np.sqrt(light + 0.02))
    image = np.clip(light, 0, 1) ** np.float32(1 / 2.2) * 255
    if room.sharpen:
        image += room.sharpen * (image - cv2.GaussianBlur(image, (0, 0), 1.1))
    bgr = np.clip(image[..., ::-1], 0, 255).round().astype(np.uint8)
    return cv2.imdecode(cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, room.jpeg])[1], cv2.IMREAD_COLOR)


# --- The truth ------------------------------------------------------------------------------------------------


def truth(table: Table, scenery: Scenery, image: np.ndarray) -> Iterator[ShownFace]:
    """Yield the truth about each card, in the order they were put down."""
    white = (image >= SATURATED).all(-1)
    for number, (card, corners) in enumerate(zip(table.cards, scenery.corners_px, strict=True), start=2):
        kind, *rest = _look(card).split()
        deck, face = rest if kind == "deck" else (kind, rest[0])
        zone, sideways = lying(card, table.sheets)
        own = scenery.ids == number
        yield ShownFace(deck, face, corners, _seen(own, corners), float(white[own].mean()) if own.any() else 0.0,
                        zone, sideways)  # fmt: skip


def _seen(own: np.ndarray, corners: np.ndarray) -> np.ndarray:
    rows, columns = CARD_RASTER
    matrix = cv2.getPerspectiveTransform(photos.edges(columns, rows), np.float32(corners))
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    points = cv2.perspectiveTransform(np.dstack([x, y]).reshape(-1, 1, 2), matrix)[:, 0].round().astype(int)
    inside = ((points >= 0) & (points < own.shape[::-1])).all(1)
    points[~inside] = 0
    return (own[points[:, 1], points[:, 0]] & inside).reshape(CARD_RASTER)


# --- Rendering, once ------------------------------------------------------------------------------------------


class Darkroom:
    """Renders tables, or takes them from a folder where they were rendered before."""

    def __init__(self, folder: Path = CACHE / "pictures") -> None:
        self._folder, self._studio = folder, None
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._studio is not None:
            self._studio.__exit__()

    def picture(
        self, table: Table, style: str, room: Room, size_px: tuple[int, int] = (1920, 1080), width_mm: float = WIDTH_MM
    ) -> tuple[FacePhoto, Scenery]:
        """Return a table's picture with its truth, and what `developed` needs for another picture of it.

        `width_mm` is the table's width in the middle of the picture.
        """
        scenery = through_the_lens(self._drawn(described(table, room, size_px, width_mm)), room, size_px)
        image = developed(scenery, room)
        pose = Pose(px_per_mm=size_px[0] / width_mm, size_px=size_px)
        return FacePhoto(image, style, tuple(truth(table, scenery, image)), table, pose, Shot()), scenery

    def _drawn(self, scene: dict[str, Any]) -> Render:
        text = json.dumps(scene, sort_keys=True) + SCENE.read_text("utf-8")
        path = self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.npz"
        if not path.exists():
            if self._studio is None:
                self._studio = Studio(texture).__enter__()
            drawn = self._studio.render(scene)
            part = path.with_suffix(".part.npz")
            np.savez_compressed(part, light=drawn.light.astype(np.float16), ids=drawn.ids, corners_px=drawn.corners_px)
            part.rename(path)
        with np.load(path) as kept:
            return Render(kept["light"].astype(np.float32), kept["ids"], kept["corners_px"])
