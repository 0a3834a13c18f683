"""Measure how well a card is cut out of a photograph to enrol it: `python -m tests.bench.outlines --photos 200`.

Cards of every deck of `tests/decks.py` and our own, on every ground of `tests/card_photos.py`. They are tilted by up to
32°, turned by up to 30° and 18 to 92 % of the picture's height. The error is that of the worst corner, in millimeters
of the card. With `--ordinary`, photographs as people take them: tilted by up to 20° (or `--tilt`), six of ten with a
lamp's reflection somewhere, some too bright. A reflection that spoils the print is counted separately. With `--close`,
cards that nearly fill the picture: upright 2 : 3 pictures, pictures cropped to the card, and white cards with a dark
edge. With `--sheets 10`, this many photographs of twenty cards in rows, each of another deck; `--near-mm` is the
distance between every fourth card and the one before it.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import card_photos
import cv2
import decks
import numpy as np

from bench import page
from bench.eye import heading, line_of
from companion.vision.enrol import sheet
from companion.vision.enrol.rectify import rectified

WRONG_MM = 2.0  # corner error above which the picture of the card is wrong
HIDDEN = 0.02  # share of the print under a reflection above which the photograph should be repeated


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="The first photograph's number.")
    parser.add_argument("--ordinary", action="store_true", help="Photographs as people take them.")
    parser.add_argument("--close", action="store_true", help="Measure cards that nearly fill the picture instead.")
    parser.add_argument("--tilt", type=float, help="The tilt of ordinary ones, in degrees (default 0 to 20).")
    parser.add_argument("--sheets", type=int, default=0, help="Measure photographs of many cards instead.")
    parser.add_argument("--near-mm", type=float, help="Distance of cards that almost touch on sheets.")
    parser.add_argument("--write", action="store_true", help="Write the table into docs/.")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parsed(arguments)
    figures = page.Figures("outlines", arguments) if options.write else None
    if options.sheets:
        lines = list(_sheets(range(options.first, options.first + options.sheets), options.near_mm))
        name, measured = "sheets", "`companion/vision/enrol/sheet.py`; one thread, processor time"
    elif options.close:
        lines = list(_close(range(options.first, options.first + options.photos)))
        name, measured = "close", "`companion/vision/enrol/rectify.py`"
    else:
        lines = _single(options)
        name, measured = "single", "`companion/vision/enrol/rectify.py`"
    if figures:
        figures.write(page.READING, name, lines, measured)


def _single(options: argparse.Namespace) -> list[str]:
    """Print what was refused and what was found wrong; return the table."""
    said: Counter[str] = Counter()
    errors = []
    for seed in range(options.first, options.first + options.photos):
        photo = (
            card_photos.ordinary_card_photo(seed, options.tilt)
            if options.ordinary
            else card_photos.some_card_photo(seed)
        )
        what, off_mm = _result(photo)
        if photo.hidden > HIDDEN:
            what += " (print burnt out)"
        said[what] += 1
        if what.startswith("right"):
            errors.append(off_mm)
        if what != "right":
            print(f"{seed:5} {photo.style:9}{photo.slug:16}{photo.ground:8}{what}  {off_mm:.1f} mm  {photo.hidden:.3f}")
    print(", ".join(f"{what} {100 * count / options.photos:.1f} %" for what, count in said.most_common()))
    print(f"right: median {np.median(errors):.2f} mm, 95 % within {np.percentile(errors, 95):.2f} mm")
    rows = [line_of(what, count) for what, count in said.most_common()]
    return [*heading("photographs of one card", str(options.photos)), *rows,
            line_of("worst corner of those right: median, 95 % within",
                    f"{np.median(errors):.2f} mm, {np.percentile(errors, 95):.2f} mm")]  # fmt: skip


def _result(photo: card_photos.CardPhoto) -> tuple[str, float]:
    """Return `right`, `with table`, `cut` or the fault, and the error in mm."""
    found = rectified(photo.image, photo.size_mm)
    if found.corners is None or found.fault:
        return found.fault.name.lower(), np.nan
    off_mm = photo.error_mm(found.corners)
    inside = photo.inside_mm(found.corners)
    return "right" if off_mm <= WRONG_MM else "cut" if inside > -WRONG_MM else "with table", off_mm


def _close(seeds: range) -> Iterator[str]:
    """Yield a row for each way in which a card can nearly fill a picture."""
    kinds = {
        "2 : 3, 6 to 12 mm of table around": card_photos.close_card_photo,
        "cropped to 1 to 6 mm around": card_photos.tight_card_photo,
        "white card with a dark edge": card_photos.edged_card_photo,
    }
    yield from heading("photographs", "number", "right", "kept with table", "cut", "refused")
    for name, kind in kinds.items():
        said = Counter(_result(kind(seed))[0] for seed in seeds)
        right, table, cut = (said.pop(what, 0) for what in ("right", "with table", "cut"))
        row = line_of(name, len(seeds), right, table, cut, said.total())
        print(row, dict(said), flush=True)
        yield row


def _sheets(seeds: range, near_mm: float | None) -> Iterator[str]:
    """Yield a row for each photograph of twenty cards."""
    cv2.setNumThreads(1)
    yield from heading("deck", "ground", "found", "kept", "kept wrong", "worst corner", "processor time")
    slugs = (*decks.CLASSIC, decks.BACK)
    for seed in seeds:
        style, ground = card_photos.STYLES[seed % 10], card_photos.ORDINARY_GROUNDS[seed // 2 % 5]
        ground = "wood" if ground == style else ground
        photo = card_photos.sheet_photo(seed, style, slugs, ground, **({"near_mm": near_mm} if near_mm else {}))
        began_s = time.process_time()
        rows = sheet.cut_out(photo.image, photo.size_mm)
        took_s = time.process_time() - began_s
        found = [card for row in rows for card in row if card is not None and card.corners is not None]
        errors = [card_photos.error_mm(card.corners, _nearest(card.corners, photo), photo.size_mm) for card in found]
        kept = [error for card, error in zip(found, errors, strict=True) if card.fault is None]
        wrong, worst_mm = sum(error > WRONG_MM for error in kept), max(errors, default=0)
        shares = f"{len(found)} of {len(slugs)}", len(kept), wrong
        row = line_of(style, ground, *shares, f"{worst_mm:.1f} mm", f"{took_s:.1f} s")
        print(row, flush=True)
        yield row


def _nearest(corners: np.ndarray, photo: card_photos.SheetPhoto) -> np.ndarray:
    """Return the true corners of the card nearest to those found."""
    return photo.corners[np.linalg.norm(photo.corners.mean(axis=1) - corners.mean(axis=0), axis=1).argmin()]


if __name__ == "__main__":
    main()
