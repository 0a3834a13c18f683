"""Photograph rendered decks for enrollment: one photograph per face, in ordinary home light.

`photographed("vintage", folder, seed)` writes `roll.jpg`, …, `back.jpg` for `companion enroll --from`. So does `python
tests/enrolled.py STYLE FOLDER [SEED]`. `own` is our own deck; the others are in decks.py. `--cut-out` writes the
cut-out cards as further pictures; those of `card_templates/own` were made that way.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import cv2
import decks
import numpy as np
import photos
from webcam import Pose, Shot, developed

from companion.rules.cards import Card
from companion.vision.enrol.rectify import rectified
from companion.vision.faces.face_templates import Templates, templates_of

OWN = "own"
FLOORS = ("felt", "dark", "wood")  # backgrounds that differ from a white card
SIZE_PX = (720, 960)
TRIES = 3  # maximum photographs of a card
_TEXELS_PER_MM = 8
_CORNER_MM = 3.2


def faces_of(style: str, px_per_mm: float = _TEXELS_PER_MM) -> dict[str, np.ndarray]:
    """Return every classic face of a deck by slug, and its back as `back`, as printed."""
    return {slug: photos.face_of(style, slug, px_per_mm) for slug in (*decks.CLASSIC, decks.BACK)}


def photographed(style: str, folder: Path, seed: int = 0) -> None:
    """Write one photograph per face, all in the same light and on the same floor."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng((seed, 77))
    shot, floor = evening(rng), str(rng.choice(FLOORS))
    for number, (slug, face) in enumerate(faces_of(style).items()):
        image = photograph(face, decks.size_mm(style), by_hand(rng), shot, floor, 100 * seed + number)
        cv2.imwrite(str(folder / f"{slug}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 92])


@lru_cache(maxsize=2)
def templates(style: str) -> Templates:
    """Return a deck enrolled from one photograph per face, retaking unusable ones."""
    return prepared(dict(_enrolled(style)), style)


def prepared(pictures: Mapping[str, np.ndarray], style: str) -> Templates:
    """Return templates from pictures of a deck's faces and back, by slug."""
    faces = [(None if slug == decks.BACK else Card(slug), picture) for slug, picture in pictures.items()]
    return templates_of(faces, decks.size_mm(style))


def _enrolled(style: str, seed: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng((seed, 77))
    shot, floor = evening(rng), str(rng.choice(FLOORS))
    for number, (slug, face) in enumerate(faces_of(style).items()):
        for attempt in range(TRIES):
            image = photograph(
                face, decks.size_mm(style), by_hand(rng), shot, floor, 100 * seed + number + 1000 * attempt
            )
            found = rectified(image, decks.size_mm(style))
            if found.picture is not None:
                yield slug, found.picture
                break
        else:
            print(f"{style}: {slug} cannot be enrolled: {found.fault}", file=sys.stderr)


def evening(rng: np.random.Generator) -> Shot:
    """Return warm light from one side, focused well enough; it differs from the light at the table."""
    return Shot(
        optics_px=rng.uniform(0.6, 1.2),
        exposure=rng.uniform(0.5, 0.9),
        uneven=rng.uniform(0.05, 0.3),
        uneven_deg=rng.uniform(0, 360),
        vignette=rng.uniform(0, 0.2),
        colour=(rng.uniform(0.7, 0.95), 1.0, rng.uniform(1.0, 1.15)),
        noise=rng.uniform(1, 3),
        gamma=rng.uniform(2.0, 2.4),
        contrast=rng.uniform(0.9, 1.1),
        halo=rng.uniform(0, 0.5),
        jpeg=None,
    )


def by_hand(rng: np.random.Generator) -> Pose:
    """Return a phone held over one card: almost vertical, the card at 50 to 72 % of the picture's height."""
    return Pose(
        px_per_mm=rng.uniform(0.5, 0.72) * SIZE_PX[1] / decks.CARD_MM[1],
        size_px=SIZE_PX,
        tilt_deg=rng.uniform(0, 15),
        lean_deg=rng.uniform(0, 360),
        turn_deg=rng.normal(0, 4),
        focal=rng.uniform(1.0, 1.4),
        at_mm=tuple(float(off) for off in rng.normal(0, 2.5, 2)),
    )


def photograph(
    face: np.ndarray, card_mm: tuple[float, float], pose: Pose, shot: Shot, floor: str, seed: int
) -> np.ndarray:
    """Return a card in the middle of a table, `(H, W, 3) uint8 BGR`; `face` is `(h, w, 3) uint8 BGR`."""
    width, height = (side * photos.SUPER for side in pose.size_px)
    canvas = photos.cloth(floor, (width, height), seed).copy()
    half = np.array(card_mm) / 2
    corners = (pose.px(np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half) + 0.5) * photos.SUPER - 0.5
    print_ = photos.Texture(face).for_size(*np.ptp(corners, axis=0))
    onto = cv2.getPerspectiveTransform(photos.edges(*print_.shape[1::-1]), corners.astype(np.float32))
    cut = cv2.warpPerspective(_cut(print_.shape, _CORNER_MM * print_.shape[1] / card_mm[0]), onto, (width, height))
    _darken(canvas, cut, pose)
    card = cv2.warpPerspective(print_, onto, (width, height), borderMode=cv2.BORDER_REPLICATE)
    cv2.copyTo(card, np.where(cut > 127, np.uint8(255), np.uint8(0)), canvas)
    return developed(cv2.resize(canvas, pose.size_px, interpolation=cv2.INTER_AREA), shot, seed)


def _cut(shape: tuple[int, ...], radius_px: float) -> np.ndarray:
    """Return a mask of a card with rounded corners: 255 inside."""
    height, width = shape[:2]
    x, y = np.arange(width), np.arange(height)
    past_x = np.maximum(radius_px - 0.5 - np.minimum(x, width - 1 - x), 0.0)
    past_y = np.maximum(radius_px - 0.5 - np.minimum(y, height - 1 - y), 0.0)
    return np.where(np.hypot(past_x[None, :], past_y[:, None]) <= radius_px, np.uint8(255), np.uint8(0))


def _darken(canvas: np.ndarray, card: np.ndarray, pose: Pose) -> None:
    """Paint the soft shadow beside a card's edge."""
    off_px = 0.7 * pose.px_per_mm * photos.SUPER
    thrown = cv2.warpAffine(card, np.float32([[1, 0, off_px], [0, 1, 0.8 * off_px]]), card.shape[::-1])
    soft = cv2.GaussianBlur(thrown, (0, 0), 0.6 * off_px)
    keep = 1.0 - soft.astype(np.float32) * (0.45 / 255)
    canvas[:] = (canvas * keep[..., None]).astype(np.uint16)


def cut_out(style: str, folder: Path, seed: int = 0) -> None:
    """Write each card, cut out of its photograph, as a second picture of its face: `roll-2.jpg`, …"""
    for slug, picture in _enrolled(style, seed):
        cv2.imwrite(str(folder / f"{slug}-2.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 85])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Photograph a rendered deck for enrollment, one picture per face.")
    parser.add_argument("style", choices=(OWN, *decks.STYLES))
    parser.add_argument("folder", type=Path)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--cut-out", action="store_true", help="write the cut-out cards instead of the photographs")
    given = parser.parse_args()
    (cut_out if given.cut_out else photographed)(given.style, given.folder, given.seed)
