"""The stills of this folder, made again by one command: pictures, truth, and floors a little below what is read now.

python -m tests.stills.render [--only angle] [--floors-alone]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

import foreign  # noqa: E402
import laid as lay  # noqa: E402
import photos  # noqa: E402
from laid import Cover, Laid, Sheet, Table  # noqa: E402
from photos import Photo, Score, Shown, compared  # noqa: E402
from webcam import Glare, Pose, Shadow, Shot  # noqa: E402

from companion.tabletop.card_ids import payload  # noqa: E402
from companion.vision.read import read_pictures  # noqa: E402

TRUTH = "truth.json"
PART_PX = (928, 522)
"""The size of most stills: a part of what a webcam sees, at the webcam's scale."""

BEST_JPEG = 85
"""The folders are to stay small."""

MARGIN = 0.02
"""How far below the share that is read now a floor is set."""


@dataclass(frozen=True)
class Still:
    """One picture to be made."""

    name: str
    table: Table
    pose: Pose
    shot: Shot
    seed: int

    def photo(self) -> Photo:
        """The photo before the camera's JPEG."""
        return photos.photograph(self.table, self.pose, replace(self.shot, jpeg=None), self.seed)


def cards_for(rng: np.random.Generator, pose: Pose, way: object = None, count: int | None = None) -> tuple[Laid, ...]:
    """Cards for all that the camera sees."""
    area = pose.table_mm()
    count = count or max(3, int(area[0] * area[1] / 8500))
    texts = [payload(str(card)) for card in rng.permutation(photos.all_cards())[:count]]
    return (way or lay.in_rows)(texts, area, rng)


def plain(seed: int, name: str, pose: Pose, shot: Shot, way: object = None, **more: object) -> Still:
    """A table by chance, seen as told."""
    rng = np.random.default_rng((seed, len(name)))
    table = Table(cards_for(rng, pose, way), cloth=str(rng.choice(photos.CLOTHS)), seed=seed, **more)
    return Still(name, table, pose, shot, seed)


def pose_for(px_per_mm: float, size_px: tuple[int, int] = PART_PX, **how: object) -> Pose:
    """A camera whose picture is cut to a part: as far away as a whole webcam picture asks for."""
    return Pose(px_per_mm=px_per_mm, size_px=size_px, focal=0.85 * 1920 / size_px[0], **how)


# --- The folders ----------------------------------------------------------------------------------------------


def angle() -> Iterator[Still]:
    """Tilted every way, 15 to 45 degrees, the table turned in the picture."""
    for at, (tilt, lean, turn, px) in enumerate(
        [(15, 0, 0, 1.7), (30, 0, 8, 1.9), (30, 90, 33, 2.1), (45, 0, -5, 2.6), (45, 200, 60, 2.8), (20, 45, 171, 1.8)]
    ):
        pose = pose_for(px, tilt_deg=tilt, lean_deg=lean, turn_deg=turn)
        yield plain(10 + at, f"tilt-{tilt}-lean-{lean}", pose, Shot(halo=0.3))


def light() -> Iterator[Still]:
    """A dark room, too much light, shadows across stickers, a coloured lamp, a window at one side."""
    bands = tuple(
        Shadow(((x, -0.1), (x + 0.12, -0.1), (x + 0.3, 0.7), (x + 0.18, 0.7)), 0.6, 0.001) for x in (0.1, 0.5)
    )
    shots = {
        "dim": Shot(exposure=0.1, noise=8, jpeg=80),
        "very-dim": Shot(exposure=0.05, noise=11, jpeg=75),
        "over": Shot(exposure=1.5, veil=0.04, halo=0.5),
        "shadows": Shot(shadows=bands),
        "lamp": Shot(colour=(0.45, 0.8, 1.0), exposure=0.7, noise=4),
        "window": Shot(uneven=0.8, exposure=0.7, noise=3),
    }
    for at, (name, shot) in enumerate(shots.items()):
        yield plain(20 + at, name, pose_for(1.8, tilt_deg=12), shot)


def size() -> Iterator[Still]:
    """From 1.1 to 2.5 px a module, straight from above; 2.5 px is a large sticker near the camera."""
    for at, module_px in enumerate((1.1, 1.2, 1.3, 1.5, 1.8, 2.5)):
        pose = pose_for(module_px / 0.8, tilt_deg=4, turn_deg=2)
        yield plain(30 + at, f"{module_px}-px", pose, Shot(halo=0.3), lay.scattered if at % 2 else lay.in_rows)


def glare() -> Iterator[Still]:
    """Lamps mirrored in the table and in sleeves."""
    spots = (Glare(0.3, 0.3, (0.05, 0.03), 20, 1.5), Glare(0.75, 0.2, (0.08, 0.02), 70, 1.2))
    line = Glare(0.5, 0.25, (0.6, 0.012), 15, 0.45)
    pose = pose_for(1.9, tilt_deg=15)
    yield plain(40, "lamps", pose, Shot(glares=spots))
    yield plain(41, "line", pose, Shot(glares=(line,)))
    yield plain(42, "veil", pose, Shot(veil=0.12, glares=(spots[0],), exposure=0.8))
    sleeved = plain(43, "sleeves", pose, Shot())
    cards = tuple(replace(card, sheen=0.2 + 0.5 * (at % 4) / 3) for at, card in enumerate(sleeved.table.cards))
    yield replace(sleeved, table=replace(sleeved.table, cards=cards))


def covered() -> Iterator[Still]:
    """Piles, fans and columns; a hand, a cup and a sheet of paper on top."""
    pose = pose_for(1.8, tilt_deg=14, turn_deg=3)
    for at in range(3):
        yield plain(50 + at, f"piles-and-fans-{at + 1}", pose, Shot(halo=0.2), lay.in_groups)
    hand = Cover(((-60, -30), (-20, -60), (25, -55), (45, -10), (30, 60), (60, 300), (-20, 300), (-40, 50)))
    cup = Cover(
        tuple((-150 + 42 * math.cos(a), -60 + 42 * math.sin(a)) for a in np.linspace(0, 6.2, 40)), (205, 215, 220)
    )
    yield plain(53, "hand-and-cup", pose, Shot(), lay.scattered, covers=(hand, cup))
    yield plain(
        54, "paper", pose, Shot(), covers=(Cover(((40, -90), (250, -60), (236, 90), (26, 60)), (240, 244, 246)),)
    )


def focus() -> Iterator[Still]:
    """Out of focus, and moved during the exposure."""
    pose = pose_for(1.8, tilt_deg=10)
    yield plain(60, "soft", pose, Shot(defocus_px=1.1))
    yield plain(61, "softer", pose, Shot(defocus_px=1.5))
    yield plain(62, "moved-across", pose, Shot(motion_px=2.5, motion_deg=5))
    yield plain(63, "moved-aslant", pose, Shot(motion_px=3.0, motion_deg=50))
    yield plain(64, "soft-and-moved", pose_for(2.1), Shot(defocus_px=0.9, motion_px=2.0, motion_deg=100, noise=4))


def camera() -> Iterator[Still]:
    """What cheap cameras do: blown up pictures, coarse JPEG, haloes, bent lines; and parts of large pictures."""
    small = pose_for(1.35, (619, 348), tilt_deg=8)
    yield plain(70, "720p-blown-up", small, Shot(scaled_to=PART_PX, halo=0.8, jpeg=75))
    yield plain(71, "jpeg-40", pose_for(1.9, tilt_deg=8), Shot(jpeg=40))
    yield plain(72, "haloes", pose_for(1.8, tilt_deg=8), Shot(halo=1.8, halo_px=2.0, contrast=1.3, jpeg=70))
    yield plain(73, "bent", Pose(1.7, PART_PX, tilt_deg=12, barrel=0.12, focal=0.7), Shot())
    yield plain(74, "4k", pose_for(3.2, (1280, 720), tilt_deg=20), Shot(jpeg=85, noise=3))
    yield plain(75, "12-mp", pose_for(3.4, (1400, 1050), tilt_deg=28), Shot(optics_px=0.9, noise=4, jpeg=80))


def table() -> Iterator[Still]:
    """Whole pictures of 1080p over 1.2 m, with mats and without: typical light, and the worst of hard."""
    rng = np.random.default_rng(80)
    pose = Pose(1.6, tilt_deg=15, lean_deg=5, barrel=0.05)
    mats = (Sheet("side-1", -225, 5, 1, (420, 297)), Sheet("side-2", 225, -5, 180, (420, 297)))
    groups = cards_for(rng, pose, lay.in_groups, 70)
    yield Still("mats", Table(groups, mats, cloth="wood"), pose, Shot(halo=0.4, jpeg=88), 80)
    poor = Shot(optics_px=0.6, exposure=0.4, noise=4, defocus_px=0.7, uneven=0.3, halo=0.8, jpeg=65)
    yield plain(81, "plain-and-poor", Pose(1.6, tilt_deg=25, lean_deg=-8), poor, lay.scattered)


def unrelated() -> Iterator[Still]:
    """Codes of others and things: nothing of ours lies on any of these."""
    rng = np.random.default_rng(90)
    for at, px_per_mm in enumerate((1.6, 2.6, 5.0)):
        pose = pose_for(px_per_mm, tilt_deg=8 * at, turn_deg=7 * at)
        yield Still(f"codes-{at + 1}", Table(_codes(pose, rng), cloth="felt"), pose, Shot(), 90 + at)
    for at, names in enumerate(_by_room(list(foreign.THINGS), 3)):
        pose = pose_for((1.3, 1.8, 2.4)[at % 3], tilt_deg=10, turn_deg=float(rng.uniform(-9, 9)))
        yield Still("-and-".join(names), Table((), _spread(names, pose, rng), cloth="wood"), pose, Shot(), 93 + at)
    for at, cloth in enumerate(("plaid", "print")):
        pose = pose_for(1.6)
        yield Still(cloth, Table((), cloth=cloth), pose, Shot(halo=0.8), 98 + at)


def _codes(pose: Pose, rng: np.random.Generator) -> tuple[Laid, ...]:
    """Codes of others as stickers on cards, and on their own."""
    cards = lay.in_rows(["MB1:ROLL-01"] * max(8, int(np.prod(pose.table_mm()) / 8500)), pose.table_mm(), rng)
    order = rng.permutation(len(foreign.CODES))
    codes = [foreign.CODES[order[at % len(order)]] for at in range(len(cards))]
    return tuple(
        replace(card, sticker=replace(card.sticker, kind=kind, text=text), look=card.look.replace("own", "white"))
        for card, (kind, text) in zip(cards, codes, strict=True)
    )


def _by_room(names: Sequence[str], groups: int) -> list[list[str]]:
    return [list(names[at::groups]) for at in range(groups)]


def _spread(names: Sequence[str], pose: Pose, rng: np.random.Generator) -> tuple[Sheet, ...]:
    """Things beside each other, the large ones first."""
    width, height = pose.table_mm()
    ordered = sorted(names, key=lambda name: -math.prod(foreign.SIZES_MM[name]))
    at = np.linspace(-0.36, 0.36, len(ordered)) * width
    return tuple(
        Sheet(f"{name} {rng.integers(9)}", float(x), float(rng.uniform(-0.12, 0.12) * height),
              float(rng.uniform(-20, 20)), foreign.SIZES_MM[name])
        for name, x in zip(ordered, at, strict=True)
    )  # fmt: skip


FOLDERS: dict[str, Callable[[], Iterator[Still]]] = {
    "angle": angle,
    "light": light,
    "size": size,
    "glare": glare,
    "covered": covered,
    "focus": focus,
    "camera": camera,
    "table": table,
    "unrelated": unrelated,
}


# --- Writing --------------------------------------------------------------------------------------------------


def truth_of(photo: Photo) -> list[dict[str, object]]:
    """The stickers of a photo that show at all, for the folder's JSON."""
    return [sticker_json(sticker) for sticker in photo.stickers if sticker.hidden < 0.95]


def sticker_json(sticker: Shown) -> dict[str, object]:
    """A sticker's truth in plain numbers."""
    return {
        "card": sticker.card,
        "centre_px": [round(at, 1) for at in sticker.centre_px],
        "corners_px": [[round(float(x), 1), round(float(y), 1)] for x, y in sticker.corners_px],
        "module_px": round(sticker.module_px, 3),
        "hidden": round(sticker.hidden, 3),
        "burnt": round(sticker.burnt, 3),
    }


def shown(truth: dict[str, object]) -> Shown:
    """A sticker's truth as it was written."""
    corners = np.array(truth["corners_px"])
    return Shown(truth["card"], corners, truth["module_px"], truth["hidden"], truth["burnt"])


def render(name: str) -> None:
    """Draws a folder's pictures and writes their truth; the floor stays what it was."""
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.jpg"):
        old.unlink()
    pictures = {}
    for still in FOLDERS[name]():
        photo = still.photo()
        file = f"{still.name}.jpg"
        cv2.imwrite(str(folder / file), photo.image, [cv2.IMWRITE_JPEG_QUALITY, min(still.shot.jpeg, BEST_JPEG)])
        pictures[file] = truth_of(photo)
    old = read_truth(folder) if (folder / TRUTH).exists() else {}
    write(folder, {"read_floor": old.get("read_floor", 0.0), "misread_ceiling": 0, "pictures": pictures})


def write(folder: Path, truth: dict[str, object]) -> None:
    """The folder's truth, a sticker a line."""
    text = json.dumps(truth).replace('"read_floor', '\n"read_floor').replace(', "', ',\n"', 2)
    text = text.replace('{"card"', '\n  {"card"').replace('}], "', '}],\n "')
    (folder / TRUTH).write_text(text + "\n", encoding="utf-8")


def read_truth(folder: Path) -> dict[str, object]:
    return json.loads((folder / TRUTH).read_text(encoding="utf-8"))


def score_of(folder: Path) -> Score:
    """How `companion read` does on a folder's pictures."""
    pictures = read_truth(folder)["pictures"]
    total = Score()
    for said, truth in zip(read_pictures([folder / file for file in pictures]), pictures.values(), strict=True):
        found = [(card["card"], tuple(card["centre_px"])) for card in said["cards"]]
        total += compared([shown(one) for one in truth], found)
    return total


def set_floor(name: str) -> None:
    """The share that is read now, less a little, becomes the folder's floor."""
    folder = HERE / name
    truth = read_truth(folder)
    score = score_of(folder)
    share = score.read / score.in_sight if score.in_sight else 0.0
    truth["read_floor"] = max(0.0, math.floor((share - MARGIN) * 100) / 100)
    write(folder, truth)
    mistaken = f"wrong {score.wrong}, ghosts {score.ghosts}, strays {score.strays}"
    print(f"{name}: {score.read} of {score.in_sight} read, {mistaken}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Draws and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=tuple(FOLDERS), action="append", help="this folder alone")
    parser.add_argument("--floors-alone", action="store_true", help="the pictures stay as they are")
    given = parser.parse_args(arguments)
    for name in given.only or FOLDERS:
        if not given.floors_alone:
            render(name)
        set_floor(name)


if __name__ == "__main__":
    main()
