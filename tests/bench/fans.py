"""Count recognized, asked and overlooked cards on phone photographs of finished tableaux, without stickers.

python -m tests.bench.fans [--decks own,vintage] [--seeds 5,6] [--without] [--bare] [--write]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import photos
from face_photos import FacePhoto, beset, face_photo, game, lying, photograph, truth_of
from laid import Table

from bench import page
from bench.eye import heading, line_of
from bench.faces import templates
from companion.rules.editions.edition import load_edition
from companion.tabletop.mat_layout import all_mats
from companion.vision.capture.sources import Frame
from companion.vision.counting.tally import Lot, Photo, tally
from companion.vision.counting.unread_cards import with_unread
from companion.vision.mats.localization import Mats, look
from companion.vision.read import gray_of, read

DECKS = "own,vintage,twofold,old,cartoon,scenes,painted,dark,pastel,minimal"
SHOWS = 0.03  # visible share of a card below which it is not there
TAPS = 2  # in addition to the one that takes all likely guesses
SIDE = "side-1"
NEAR_PX, NEAR_MM = (4032, 3024), (560.0, 850.0)  # size of a phone's picture, and the range of table widths on it
SCORING = ("distance", "safety")


def bare_photo(seed: int, deck: str, *, things: float) -> FacePhoto:
    """Return one side's tableau without its mat, but with known zones. The seed decides the cloth."""
    rng = np.random.default_rng((seed, 77))
    whole = game(deck, rng, (1000.0, 800.0))
    sheet = next(sheet for sheet in whole.sheets if sheet.name == SIDE)
    cards = [card for card in whole.cards if lying(card, [sheet])[0]]
    cards = [replace(card, x_mm=card.x_mm - sheet.x_mm, y_mm=card.y_mm - sheet.y_mm) for card in cards]
    px_per_mm = NEAR_PX[0] / rng.uniform(*NEAR_MM)
    pose = photos.some_pose(rng, (0, 15), px_per_mm=px_per_mm, size_px=NEAR_PX)
    table = beset(Table(tuple(cards), (replace(sheet, x_mm=0.0, y_mm=0.0),)), rng, (700.0, 500.0), things)
    table = replace(table, cloth=photos.CLOTHS[seed % len(photos.CLOTHS)], seed=int(rng.integers(1000)),
                    shadow=rng.uniform(0.1, 0.5))  # fmt: skip
    shot = photos.typical_shot(rng)
    photo = photograph(replace(table, sheets=()), deck, pose, shot, seed)
    return replace(photo, faces=tuple(truth_of(table, pose, shot)))


def lots(photo: FacePhoto, *, fans: bool) -> dict[str, Lot]:
    """Return the counted cards by side; without mats all belong to one side."""
    mats = look(gray_of(photo.image), Mats(), 0.0, all_mats())
    view = read(Frame(photo.image, 0.0), mats, templates=templates(photo.style), fans=fans)
    if fans:
        view = replace(view, sightings=with_unread(photo.image, mats, view.sightings, templates(photo.style)))
    counted = tally(load_edition("classic"), [Photo("", photo.image.shape[1::-1], view)])
    if not photo.table.sheets:
        return {SIDE: Lot(SIDE, tuple(spot for lot in counted.lots for spot in lot.spots))}
    return {lot.key: lot for lot in counted.lots}


def truth(photo: FacePhoto) -> dict[str, Counter[str]]:
    """Return the cards that count, by side."""
    cards: dict[str, Counter[str]] = {}
    for card in photo.ours:
        side, _, zone = (card.zone or "").partition("/")
        if side.startswith("side-") and zone in SCORING and card.visible > SHOWS:
            cards.setdefault(side, Counter())[card.face] += 1
    return cards


def compared(cards: Counter[str], lot: Lot) -> Counter[str]:
    """Return the counts of a side's cards."""
    sure = Counter(spot.card.value for spot in lot.scoring if spot.is_sure)
    left, offered, likely = cards - sure, 0, 0
    for spot in lot.unsure:
        answer = next((guess.value for guess in spot.guesses if left[guess.value]), None)
        left -= Counter([answer])
        offered += answer is not None
        likely += answer is not None and spot.proposed is not None and spot.proposed.value == answer
    taps = len(lot.unsure) - likely + left.total()
    return Counter(
        tableaux=1, in_two_taps=int(not sure - cards and taps <= TAPS), cards=cards.total(),
        told=(sure & cards).total(), wrong=(sure - cards).total(),
        asked=len(lot.unsure), offered=offered, likely=likely, passed_over=left.total(), in_silence=bool(left),
    )  # fmt: skip


COLUMNS = {"cards that count": "cards", "recognized": "told", "recognized wrongly": "wrong", "asked": "asked",
           "with the right answer": "offered", "likely": "likely", "passed over": "passed_over",
           "tableaux with a card passed over": "in_silence", "right in two taps": "in_two_taps"}  # fmt: skip


def row(deck: str, found: Counter[str]) -> str:
    return line_of(deck, found["tableaux"], *(found[key] for key in COLUMNS.values()))


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--decks", default=DECKS)
    parser.add_argument("--seeds", default="5,6,11,12,21")
    parser.add_argument("--without", action="store_true", help="without following columns and fans")
    parser.add_argument("--bare", action="store_true", help="on cloths, without mats")
    parser.add_argument("--things", type=float, default=0.0, help="how likely a hand, a cup, a telephone are each")
    parser.add_argument("--write", action="store_true", help="write the table into docs/")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    given = parsed(arguments)
    figures = page.Figures("fans", arguments) if given.write else None
    cv2.setNumThreads(1)
    lines = heading("deck", "tableaux", *COLUMNS)
    every: Counter[str] = Counter()
    for deck in given.decks.split(","):
        found: Counter[str] = Counter()
        for seed in map(int, given.seeds.split(",")):
            photo = bare_photo(seed, deck, things=given.things) if given.bare else face_photo(
                seed, deck, camera="phone", tilt_deg=(0, 15), sleeves=False, things=0, foreigners=0
            )  # fmt: skip
            seen = lots(photo, fans=not given.without)
            for side, cards in truth(photo).items():
                found += compared(cards, seen.get(side, Lot(side, ())))
        lines.append(row(deck, found))
        print(lines[-1], flush=True)
        every += found
    lines.append(row("all", every))
    print("\n".join(lines))
    if figures:
        measured = "`companion/vision/read.py` and `companion/vision/counting/` on one photograph each"
        figures.write(page.READING, "cloths" if given.bare else "mats", lines, measured)


if __name__ == "__main__":
    main()
