"""Count what is read on many random photos: how many stickers were read, unknown, wrong.

python -m tests.bench.readings --readings 100000 [--seed N] [--light hard] [--photos N] [--out FOLDER] [--write]

20 mm stickers with their quiet zone, 1080p over 1.2 m (1.6 px a millimetre in the picture's middle), tilt 0 to 30°.
*unknown*: found but not named; *ghosts*: named where there is none; *strays*: found where there is none.
A reading is one visible sticker: nothing covers it or its quiet zone, and no reflection has burnt it out.
`typical_shot` and `hard_shot` in `tests/photos.py` define the light. `wild_photo` there is harder than any supported
picture, and `empty_photo` shows no sticker of ours.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import cv2
import numpy as np
import photos
from photos import Photo, Score, Shown, compared

from bench import page
from bench.eye import heading, known_mats, line_of
from bench.readers import Found, our_tags, ours

MAKERS = {
    "typical": photos.typical_photo,
    "hard": photos.hard_photo,
    "wild": photos.wild_photo,
    "empty": photos.empty_photo,
}
TILT_BANDS = ((0, 10), (10, 20), (20, 30), (30, 50))
MODULE_BANDS = (0.0, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 9.0)


@dataclass(frozen=True)
class Trial:
    """One photo, defined by its number."""

    seed: int
    light: str
    kind: str  # `ours` or `tag`: what is on the stickers

    @property
    def mats_known(self) -> bool:
        return self.seed // len(photos.TROUBLES) % 2 == 1

    def labels(self, photo: Photo) -> Iterator[str]:
        yield "all"
        yield "mats known" if self.mats_known else "no mats"
        yield next(f"tilt {low} to {high}°" for low, high in TILT_BANDS if photo.pose.tilt_deg <= high)
        if self.light == "hard":
            yield photos.TROUBLES[self.seed % len(photos.TROUBLES)]

    def read(self, photo: Photo) -> tuple[Found, float]:
        """Read the photo; return what was found, and the processor time in seconds."""
        mats = known_mats(photo.pose) if self.mats_known else None
        gray = photo.gray
        start = time.process_time()
        found = our_tags(gray) if self.kind == "tag" else ours(gray, mats)
        return found, time.process_time() - start


class Tally:
    """Scores by properties of the photos and stickers."""

    def __init__(self) -> None:
        self.by: dict[str, dict[str, Score]] = defaultdict(lambda: defaultdict(Score))
        self.modules: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
        self.burnt = 0

    def add(self, trial: Trial, photo: Photo, found: Found) -> Score:
        """Count a photo."""
        score = compared(photo.stickers, found)
        for label in trial.labels(photo):
            self.by[trial.light][label] += score
        named = {card for card, _ in found}
        for sticker in photo.stickers:
            self.burnt += sticker.hidden == 0 and not sticker.in_sight
            if sticker.in_sight:
                counts = self.modules[trial.light][_module_band(sticker)]
                counts[0] += 1
                counts[1] += sticker.card in named
        return score

    def lines(self) -> Iterator[str]:
        yield from heading("light", "", "readings", "read", "unknown", "wrong", "ghosts", "strays")
        for light, rows in self.by.items():
            for label, score in sorted(rows.items(), key=lambda row: (row[0] != "all", row[0])):
                shares = (f"{100 * count / max(1, score.in_sight):.2f} %" for count in (score.read, score.unknown))
                faults = map(len, (score.wrong, score.ghosts, score.strays))
                yield line_of(light, label, score.in_sight, *shares, *faults)
        yield ""
        yield from heading(
            "px a module", *(title for light in self.modules for title in (f"{light}: readings", "read"))
        )
        for band in sorted({band for bands in self.modules.values() for band in bands}):
            counts = (bands[band] for bands in self.modules.values())
            yield line_of(band, *(cell for n, r in counts for cell in (n, f"{100 * r / max(1, n):.2f} %")))
        yield ""
        yield f"Burnt out by a reflection and not counted: {self.burnt}."


def _module_band(sticker: Shown) -> str:
    at = int(np.searchsorted(MODULE_BANDS, sticker.module_px)) - 1
    low, high = MODULE_BANDS[at], MODULE_BANDS[at + 1]
    return f"up to {high}" if low == 0 else f"above {low}" if high == 9 else f"{low} to {high}"


def keep(trial: Trial, photo: Photo, score: Score, out: Path | None) -> str:
    """Save the picture to `out`; return what went wrong and the command that repeats it."""
    name = f"{trial.kind}-{trial.light}-{trial.seed}.png"
    if out:
        out.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(out / name), photo.image)
    again = f"python -m tests.bench.readings --seed {trial.seed} --light {trial.light} --photos 1"
    return f"{name}: wrong {score.wrong}, ghosts {score.ghosts}, strays {score.strays}; {again}"


def run(readings: int, most: int, some: Iterator[Trial], out: Path | None, say: Callable[[str], None]) -> Tally:
    """Read photos until this many readings or photos are done."""
    tally, done, spent = Tally(), 0, 0.0
    for number, trial in enumerate(some):
        photo = MAKERS[trial.light](trial.seed, kind=trial.kind)
        found, seconds = trial.read(photo)
        spent += seconds
        score = tally.add(trial, photo, found)
        done += score.in_sight
        if score.wrong or score.ghosts or score.strays:
            say(keep(trial, photo, score, out))
        if number % 50 == 49:
            say(f"{done} readings in {number + 1} photos, {1000 * spent / (number + 1):.0f} ms each")
        if done >= readings or number + 1 >= most:
            break
    return tally


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=100_000)
    parser.add_argument("--photos", type=int, default=10**9, help="so many photos at most")
    parser.add_argument("--seed", type=int, default=0, help="the first photo's number")
    parser.add_argument("--light", choices=tuple(MAKERS), action="append", help="typical and hard without it")
    parser.add_argument("--tags", action="store_true", help="tags in the place of QR codes")
    parser.add_argument("--out", type=Path, help="where photos with wrong readings go")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    given = parsed(arguments)
    figures = page.Figures("readings", arguments) if given.write else None
    cv2.setNumThreads(1)
    lights, kind = given.light or ("typical", "hard"), "tag" if given.tags else "ours"
    some = (Trial(seed, light, kind) for seed in count(given.seed) for light in lights)
    tally = run(given.readings, given.photos, some, given.out, lambda line: print(line, file=sys.stderr, flush=True))
    lines = list(tally.lines())
    if figures:
        measured = "`companion/vision/stickers/reader.py` on whole pictures, not the eye that follows a table"
        figures.write(page.READING, "stickers", lines, measured)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
