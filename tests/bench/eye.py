"""Compare our sticker reader with general readers on the same pictures: what each reads, and at what cost.

python -m tests.bench.eye [--only sizes,tilts,lights,covered,times,idle,memory] [--photos 4] [--write]
"""

import argparse
import itertools
import math
import multiprocessing
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import photos
from laid import CARD_MM, Laid, Sheet, Table, in_rows, laid_by_hand, scattered
from photos import Photo, Score, Shot, compared, mat
from webcam import Pose

from bench import page
from bench.readers import READERS
from companion.tabletop.card_ids import payload
from companion.tabletop.mat_layout import all_mats
from companion.tabletop.sticker_codes import CARDS
from companion.vision.capture.sources import Frame
from companion.vision.eye import Eye
from companion.vision.mats.localization import Mats, search

STICKER_MM = 20.0
MODULE_PX = (1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 2.45, 2.6, 3.1, 4.0)
SIZES = {"20 mm, 1080p over 1.2 m (1.28 px)": 1.28, "2.0 px": 2.0, "3.1 px": 3.1}
"""Sizes at which tilts and lights are compared, in pixels a module in the middle of the picture."""

TILTS = (0.0, 30.0, 45.0)
LIGHTS = ("typical", "dim", "soft", "moving", "glare")
COVERED = (0.3, 0.4, 0.5, 0.6)
STEP_MM = (90.0, 150.0)  # distance of the partly covered cards, across and down
LEAST_STICKERS = 60
"""Minimum stickers a row, for each photo asked for."""


# --- What is read ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A row of a table: pixels a module in the picture's middle, the camera's tilt, the light.

    With `covered`, the edge of another card lies over that share of each code.
    """

    module_px: float
    tilt_deg: float | None = None
    light: str = "typical"
    covered: float | None = None


def shots(condition: Condition, seed: int) -> tuple[Photo, Photo, Mats]:
    """Return two photos (QR stickers, tags) of up to 60 cards in rows or scattered, and the mats."""
    rng = np.random.default_rng(seed)
    tilt = (0.0, 8.0) if condition.tilt_deg is None else (condition.tilt_deg, condition.tilt_deg)
    pose = photos.some_pose(rng, tilt, px_per_mm=condition.module_px / (STICKER_MM / 25))
    area = pose.table_mm()
    if condition.covered is None:
        cards = some_cards(rng, int(np.clip(area[0] * area[1] / 8500, 4, 60)))
        way = (in_rows, scattered)[int(rng.integers(2))]
        laid = way(cards, area, rng)
    else:
        laid = tuple(partly_covered(condition.covered, area, rng))
    table = Table(laid, cloth=str(rng.choice(photos.CLOTHS)), seed=int(rng.integers(1000)))
    shot = photos.typical_shot(rng) if condition.light == "typical" else photos.hard_shot(rng, condition.light)
    codes, tags, mats = photographed(table, pose, shot, seed)
    if condition.covered is None:
        return codes, tags, mats
    # What is compared are the covered stickers.
    codes, tags = (
        replace(photo, stickers=tuple(replace(each, hidden=0.0) for each in photo.stickers if each.hidden < 1))
        for photo in (codes, tags)
    )
    return codes, tags, mats


def partly_covered(share: float, area_mm: tuple[float, float], rng: np.random.Generator) -> Iterator[Laid]:
    """Yield cards side by side, each with another one over this share of its code."""
    (right, down), (wide, high) = STEP_MM, area_mm
    places = list(itertools.product(np.arange(right - wide / 2, wide / 2 - right / 2, right),
                                    np.arange(down - high / 2, high / 2 - down / 2, down)))  # fmt: skip
    turn = float(rng.choice((0, 180)))
    for text, (x, y) in zip(some_cards(rng, len(places)), places, strict=False):
        card = laid_by_hand(text, x, y, turn + rng.normal(0, 3), rng)
        yield card
        code, way = card.sticker_mm("code"), math.radians(card.turn_deg)
        side = float(np.hypot(*(code[1] - code[0])))
        off_mm = CARD_MM[1] / 2 + (0.5 - share) * side
        at = code.mean(axis=0) + off_mm * np.array([-math.sin(way), math.cos(way)])
        yield Laid(float(at[0]), float(at[1]), card.turn_deg + rng.normal(0, 2), look=card.look)


def some_cards(rng: np.random.Generator, count: int) -> list[str]:
    """Return the texts of this many random stickers."""
    return [payload(str(card)) for card in rng.permutation(CARDS)[:count]]


def photographed(table: Table, pose: Pose, shot: Shot, seed: int) -> tuple[Photo, Photo, Mats]:
    """Return a table with QR stickers, the same with tags of equal size (quiet zone included), and its mats."""
    tags = tuple(
        card if card.sticker is None else replace(card, sticker=replace(card.sticker, kind="tag"))
        for card in table.cards
    )
    codes, with_tags = (photos.photograph(one, pose, shot, seed) for one in (table, replace(table, cards=tags)))
    return codes, with_tags, known_mats(pose)


def known_mats(pose: Pose) -> Mats:
    """Return the mats as found on the empty table."""
    empty, sheets = empty_table(pose)
    layouts = [layout for layout in all_mats() if layout.id in {sheet.name for sheet in sheets}]
    return search(empty, Mats(), layouts, 0.0)


TWO_MATS = (mat("side-1", -225, 0, 0), mat("side-2", 225, 0, 180))


def empty_table(pose: Pose) -> tuple[np.ndarray, Sequence[Sheet]]:
    """Return a gray picture of two sides' mats, or of the table's mat if they do not fit; and the sheets."""
    width, height = pose.table_mm()
    sheets = TWO_MATS if width >= 920 and height >= 320 else (mat("table", 0, 0, 0),)
    return photos.photograph(Table(sheets=sheets), pose, Shot(bayer=False)).gray, sheets


def scores(condition: Condition, count: int, seed: int) -> dict[str, Score]:
    """Return the score of each reader on the same photos."""
    total = {reader.name: Score() for reader in READERS}
    number = 0
    while number < count or total[READERS[0].name].in_sight < min(count, 4) * LEAST_STICKERS:
        codes, tags, mats = shots(condition, seed + number)
        for reader in READERS:
            photo = tags if reader.of_tags else codes
            total[reader.name] += compared(photo.stickers, reader(photo.gray, mats))
        number += 1
    return total


# --- Tables ---------------------------------------------------------------------------------------------------


def heading(*columns: str) -> list[str]:
    """Return the first two lines of a Markdown table."""
    return [line_of(*columns), "|" + "---|" * len(columns)]


def line_of(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def share(score: Score) -> str:
    """Return `98.3 %`, and the number of wrong readings if there are any."""
    said = f"{100 * score.read / max(1, score.in_sight):.1f} %"
    if score.read == score.in_sight:
        said = "**100 %**"
    wrong = len(score.wrong) + len(score.ghosts)
    return f"{said}, {wrong} wrong" if wrong else said


Say = Callable[[str], None]


def by_size(count: int, say: Say) -> list[str]:
    return shares("px a module", {f"{px}": Condition(px) for px in MODULE_PX}, 0, count, say)


def by_tilt(count: int, say: Say) -> list[str]:
    rows = {f"{tilt:.0f}°, {name}": Condition(px, tilt) for name, px in SIZES.items() for tilt in TILTS}
    return shares("tilt", rows, 1000, count, say)


def by_cover(count: int, say: Say) -> list[str]:
    rows = {
        f"{100 * share:.0f} %, {light}": Condition(2.0, None, light, share)
        for light in ("typical", "dim") for share in COVERED
    }  # fmt: skip
    return shares("of the code covered, light", rows, 3000, count, say)


def by_light(count: int, say: Say) -> list[str]:
    rows = {f"{light}, {name}": Condition(px, 10.0, light) for name, px in SIZES.items() for light in LIGHTS}
    return shares("light", rows, 2000, count, say)


def shares(title: str, rows: Mapping[str, Condition], seed: int, count: int, say: Say) -> list[str]:
    """Return a table: the share of the stickers in sight that each reader reads, and how many it reads wrongly."""
    names = [reader.name for reader in READERS]
    lines = heading(title, "stickers", *names)
    for at, (label, condition) in enumerate(rows.items()):
        row = scores(condition, count, seed + 100 * at)
        lines.append(line_of(label, row[names[0]].in_sight, *map(share, row.values())))
        say(lines[-1])
    return lines


# --- What it costs --------------------------------------------------------------------------------------------

FRAMES = {"1080p": ((1920, 1080), 1.6), "4K": ((3840, 2160), 3.2)}
COUNTS = (10, 30, 60)  # of stickers
ROUNDS, IDLE_ROUNDS = 3, 200


def pose_for(name: str) -> Pose:
    size_px, px_per_mm = FRAMES[name]
    return Pose(px_per_mm, size_px, tilt_deg=12)


@cache
def frame_for(name: str, stickers: int) -> tuple[Photo, Photo, Mats]:
    """Return a table with this many 20 mm stickers over 1.2 m, as codes and as tags, and its mats."""
    rng, pose = np.random.default_rng(5), pose_for(name)
    table = Table(in_rows(some_cards(rng, stickers), pose.table_mm(), rng), cloth="wood")
    return photographed(table, pose, Shot(), 5)


def milliseconds(call: Callable[[], object], rounds: int) -> float:
    """Return the median processor time of a call."""
    spent = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return 1000 * statistics.median(spent)


def times(_count: int, say: Say) -> list[str]:
    """Return the table of milliseconds a frame; all readers get the same frames."""
    columns = {}
    for name, count in itertools.product(FRAMES, COUNTS):
        codes, tags, mats = frame_for(name, count)
        grays = {reader.name: (tags if reader.of_tags else codes).gray for reader in READERS}
        columns[f"{name}, {count}"] = {
            reader.name: milliseconds(lambda r=reader, g=grays, m=mats: r(g[r.name], m), ROUNDS) for reader in READERS
        }
        say(f"{name}, {count}: {columns[f'{name}, {count}']}")
    names = [reader.name for reader in READERS]
    lines = [line_of(name, *(f"{column[name]:.1f}" for column in columns.values())) for name in names]
    return [*heading("ms a frame, by stickers", *columns), *lines]


def idle(_count: int, _say: Say) -> list[str]:
    """Return the table of idle frames, compared with a whole picture read by zxing-cpp."""
    lines = heading("idle frame", "ms", "of zxing-cpp, 2×")
    zxing = next(reader for reader in READERS if reader.name == "zxing-cpp, 2×")
    for name in FRAMES:
        frames = watched_frames(pose_for(name))
        spent = idle_ms(frames)
        whole = milliseconds(lambda f=frames: zxing(cv2.cvtColor(f[0], cv2.COLOR_BGR2GRAY)), 3)
        lines.append(line_of(f"{name}, 30 stickers on two mats", f"{spent:.2f}", f"1/{whole / spent:.0f}"))
    return lines


def watched_frames(pose: Pose) -> list[np.ndarray]:
    """Return a frame of the empty mats, then eight of a still table, each with other noise."""
    rng = np.random.default_rng(3)
    cards = in_rows(some_cards(rng, 30), (900.0, 297.0), rng)
    bare, clean = (photos.painted(Table(laid, TWO_MATS, cloth="wood"), pose) for laid in ((), cards))
    return [photos.developed(bare, Shot(), 0), *(photos.developed(clean, Shot(), seed) for seed in range(8))]


def idle_ms(frames: Sequence[np.ndarray]) -> float:
    """Return the mean time of a settled eye, with its checks of the markers."""
    eye = Eye()
    bare, *laid = frames
    for number in range(24):
        eye(Frame(bare if number < 6 else laid[number % len(laid)], number / 10))
    start = time.process_time()
    for number in range(24, 24 + IDLE_ROUNDS):
        eye(Frame(laid[number % len(laid)], number / 10))
    return 1000 * (time.process_time() - start) / IDLE_ROUNDS


# --- What it needs --------------------------------------------------------------------------------------------


def memory(_count: int, _say: Say) -> list[str]:
    """Return the table of peak memory: one new process reads one frame of 30 stickers."""
    names = ["nothing, the frame alone", *(reader.name for reader in READERS)]
    lines = [line_of(name, *(f"{peak_mb(name, frame):.0f}" for frame in FRAMES)) for name in names]
    return [*heading("peak memory, MB", *FRAMES), *lines]


def peak_mb(name: str, frame: str) -> float:
    """Return the peak of a new process. The picture is made before it starts."""
    codes, tags, _ = frame_for(frame, 30)
    reader = next((reader for reader in READERS if reader.name == name), None)
    gray = (tags if reader and reader.of_tags else codes).gray
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_of, (name, gray, empty_table(pose_for(frame))[0]))


def _peak_of(name: str, gray: np.ndarray, empty: np.ndarray) -> float:
    for reader in READERS:
        if reader.name == name:
            reader(gray, search(empty, Mats(), all_mats(), 0.0) if reader.with_mats else None)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


# --- The pages ------------------------------------------------------------------------------------------------

WHOLE = "`companion/vision/stickers/reader.py` on whole pictures, not the eye that follows a table"
TABLES: dict[str, tuple[Callable[[int, Say], list[str]], Path, str]] = {
    "sizes": (by_size, page.READING, WHOLE),
    "tilts": (by_tilt, page.READING, WHOLE),
    "lights": (by_light, page.READING, WHOLE),
    "covered": (by_cover, page.READING, WHOLE),
    "times": (times, page.SPEED, f"{WHOLE}; one thread, processor time"),
    "idle": (
        idle,
        page.SPEED,
        "`companion/vision/eye.py` on a still table; one thread, processor time",
    ),
    "memory": (memory, page.SPEED, f"{WHOLE}, each in a process of its own"),
}
"""By name: what makes the table, the page it goes into, and which code it measures."""


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(TABLES), help="tables, divided by commas: " + ", ".join(TABLES))
    parser.add_argument("--photos", type=int, default=4, help="photos a row of the tables at least")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    given = parsed(arguments)
    figures = page.Figures("eye", arguments) if given.write else None
    cv2.setNumThreads(1)
    for name in given.only.split(","):
        measure, where, measured = TABLES[name]
        lines = measure(given.photos, lambda line: print(line, file=sys.stderr, flush=True))
        if figures:
            figures.write(where, name, lines, measured)
        print("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
