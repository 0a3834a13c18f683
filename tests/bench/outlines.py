"""How well a card is cut out of a photograph to enrol it: `python -m tests.bench.outlines --photos 200`.

Cards of every deck of `tests/decks.py` and our own on every ground of `tests/card_photos.py`, tilted up to 32°, turned
up to 30°, 18 to 92 % of the picture's height; the error is the worst corner's, in millimetres of the card. With
`--ordinary` photographs as people take them: tilted up to 20° (or by `--tilt`), a lamp mirrored anywhere in six of ten,
some too bright. One that a reflection really spoils, on the print, is counted apart.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import card_photos

from companion.vision.enrol.rectify import rectified

WRONG_MM = 2.0
"""A corner that is off by more makes another picture of the card."""

HIDDEN = 0.02
"""Share of a card's print under a reflection from which on it had better be photographed again."""


def main() -> None:
    """Prints what was refused, what was found wrong, and how exact the others are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="The first photograph's number.")
    parser.add_argument("--ordinary", action="store_true", help="Photographs as people take them.")
    parser.add_argument("--tilt", type=float, help="The tilt of ordinary ones, in degrees (default 0 to 20).")
    options = parser.parse_args()
    said: Counter[str] = Counter()
    errors = []
    for seed in range(options.first, options.first + options.photos):
        photo = (
            card_photos.ordinary_card_photo(seed, options.tilt)
            if options.ordinary
            else card_photos.some_card_photo(seed)
        )
        found = rectified(photo.image, photo.size_mm)
        off_mm = photo.error_mm(found.corners) if found.corners is not None else np.nan
        what = str(found.fault) if found.fault else "wrong" if off_mm > WRONG_MM else "right"
        if photo.hidden > HIDDEN:
            what += " (print burnt out)"
        said[what] += 1
        if what.startswith("right"):
            errors.append(off_mm)
        if what != "right":
            print(f"{seed:5} {photo.style:9}{photo.slug:16}{photo.ground:8}{what}  {off_mm:.1f} mm  {photo.hidden:.3f}")
    print(", ".join(f"{what} {100 * count / options.photos:.1f} %" for what, count in said.most_common()))
    print(f"right: median {np.median(errors):.2f} mm, 95 % within {np.percentile(errors, 95):.2f} mm")


if __name__ == "__main__":
    main()
