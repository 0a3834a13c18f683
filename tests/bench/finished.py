"""Count how many taps a family needs for a right score sheet from one photograph of a finished table.

python -m tests.bench.finished [--decks stickers,own,vintage] [--seeds 3] [--kept FOLDER] [--write]

A table has two sides' mats. `LAID` says how the cards lie, `LIGHTS` in which light. The answerer knows the table:
they take the likely guesses at once, correct each card that the page asks about, and add the cards that are missing.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import cv2
import laid as lay
import numpy as np
import photos
from face_photos import FacePhoto, card_of, off_sheet, photograph
from laid import Laid, Sheet, Table

from bench import page
from bench.eye import heading, line_of
from bench.faces import templates
from companion.common.errors import Problem
from companion.pages.scores import photo_form
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import load_edition
from companion.tabletop.card_ids import payload
from companion.tabletop.mat_layout import DISTANCE_COLUMNS
from companion.vision.counting.photographs import view_of
from companion.vision.counting.tally import Photo, Spot, Tally, tally

CLASSIC = load_edition("classic")
STICKERS = "stickers"  # our own deck with stickers; the other decks are read by their faces
LAID = ("fanned", "squared", "sloppy", "covering")
LIGHTS = ("typical", "hard")
SIZE_PX, WIDTH_MM = (2400, 1350), (900.0, 1000.0)  # of the picture, and of the table on it
SIDES = ("side-1", "side-2")
TAPS = 2
TARGET_KM = 700
SHOWS = 0.03  # visible share of a card below which no picture can tell that it is there
NEAR_PX = 6.0  # of a card's edge, to show a part of it
SCORING = ("distance", "safety")
Counts = tuple[str, bool]


# --- The table -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One finished table: its deck, how the cards lie, the light and a seed."""

    deck: str
    laid: str
    light: str
    seed: int

    @property
    def style(self) -> str:
        return "own" if self.deck == STICKERS else self.deck

    def photo(self) -> FacePhoto:
        rng = np.random.default_rng((self.seed, LAID.index(self.laid), LIGHTS.index(self.light), len(self.deck)))
        pose = photos.some_pose(rng, (0, 18), px_per_mm=SIZE_PX[0] / rng.uniform(*WIDTH_MM), size_px=SIZE_PX)
        shot = photos.typical_shot(rng) if self.light == "typical" else photos.hard_shot(rng)
        return photograph(self.table(rng), self.style, pose, shot, self.seed)

    def table(self, rng: np.random.Generator) -> Table:
        return Table(tuple(self._cards(rng)), _mats(rng), cloth=str(rng.choice(photos.CLOTHS)), seed=self.seed,
                     shadow=rng.uniform(0.1, 0.5))  # fmt: skip

    def _cards(self, rng: np.random.Generator) -> Iterator[Laid]:
        left = Counter({card.value: count for card, count in CLASSIC.deck.items()})
        totals = (TARGET_KM, int(rng.integers(4, 27)) * 25) if rng.random() < 0.7 else rng.integers(8, 27, 2) * 25
        glue = rng.choice((-16.0, 0.0))
        for sheet, km in zip(_mats(np.random.default_rng(self.seed)), totals, strict=True):
            for slug, at, turn in self._places(sheet, int(km), left, rng):
                card = card_of(self.style, slug, off_sheet(sheet, at), sheet.turn_deg + turn)
                copy = left[slug]
                left[slug] -= 1
                if self.deck == STICKERS:
                    off = rng.uniform(-2, 2, 2)
                    glued = lay.Glued(payload(f"{slug}-{copy:02}"), glue + off[0], -30 + off[1], rng.uniform(-5, 5))
                    card = replace(card, sticker=glued)
                yield card

    def _places(
        self, sheet: Sheet, km: int, left: Counter[str], rng: np.random.Generator
    ) -> Iterator[tuple[str, np.ndarray, float]]:
        """Yield a side's cards with their place on the mat in mm, and their turn."""
        zones = photos.MATS[sheet.name].zones
        off, askew = {"fanned": (1.2, 1.5), "squared": (0.3, 0.4), "sloppy": (4.0, 5.0), "covering": (1.5, 2.0)}[
            self.laid
        ]
        for name, slug in (("battle", "roll"), ("speed", "end-of-limit")):
            yield slug, np.array(zones[name].centre_mm) + rng.normal(0, off, 2), rng.normal(0, askew)
        out = [card.value for card in Card if card.family is Family.SAFETY and left[card.value]]
        for place, slug in enumerate(rng.permutation(out)[: int(rng.choice((0, 1, 1, 2)))].tolist()):
            turn = 90.0 if rng.random() < 0.4 else 0.0
            at = np.array([zones["safety"].x_mm + 40 + 66 * place, zones["safety"].centre_mm[1]])
            yield slug, at + rng.normal(0, off, 2), turn + rng.normal(0, askew)
        distance = zones["distance"]
        width = distance.width_mm / len(DISTANCE_COLUMNS)
        kms = _dealt(km, left, rng)
        for column, slug in enumerate(DISTANCE_COLUMNS):
            count = kms[slug]
            step = min(rng.uniform(14, 24), 70 / max(count - 1, 1))
            aside = 0.0
            if self.laid == "covering" and column:
                aside = rng.uniform(-0.45, 0.1) * width
            y = 0.0
            for row in range(count):
                is_on_top = self.laid == "squared" and row and rng.random() < 0.35
                y += 0.0 if not row or is_on_top else step
                at = np.array([distance.x_mm + (column + 0.5) * width + aside, distance.y_mm + 46 + y])
                spread = 0.05 if is_on_top else off
                yield slug, at + rng.normal(0, spread, 2), rng.normal(0, 0.1 if is_on_top else askew)


def _mats(rng: np.random.Generator) -> tuple[Sheet, ...]:
    (x, y), turn = rng.normal(0, 4, 2), rng.normal(0, 1)
    return photos.mat("side-1", -220, x, turn), photos.mat("side-2", 220, y, 180 - turn)


def _dealt(km: int, left: Counter[str], rng: np.random.Generator) -> Counter[str]:
    """Return distance cards of the deck that add up to `km`, with at most two 200s."""
    while True:
        kms: Counter[str] = Counter()
        rest = km
        while rest:
            fits = [
                slug
                for slug in DISTANCE_COLUMNS
                if int(slug) <= rest and kms[slug] < min(left[slug], 2 if slug == "200" else 99)
            ]
            if not fits:
                break
            slug = str(rng.choice(fits))
            kms[slug] += 1
            rest -= int(slug)
        if not rest:
            return kms


# --- The truth, and the answerer -------------------------------------------------------------------------------


def truth(photo: FacePhoto) -> dict[str, Counter[Counts]]:
    """Return the cards that count, by side; a safety with True is a Coup Fourré."""
    sides: dict[str, Counter[Counts]] = {side: Counter() for side in SIDES}
    for card in photo.ours:
        side, _, zone = (card.zone or "").partition("/")
        if side in sides and zone in SCORING:
            sides[side][card.face, zone == "safety" and card.sideways] += 1
    return sides


def counted(case: Case, photo: FacePhoto) -> Tally:
    """Read a photograph as *Score a finished hand* does."""
    view = view_of(photo.image, None if case.deck == STICKERS else templates(photo.style))
    return tally(CLASSIC, [Photo("", photo.image.shape[1::-1], view)])


def found(tallied: Tally, photo: FacePhoto) -> Counter[str]:
    """Return what the answerer did for the right sheet of one photograph."""
    told, lots = truth(photo), {lot.key: lot for lot in tallied.lots}
    form = photo_form.fields(CLASSIC, tallied, {})
    form |= photo_form.open_guesses(CLASSIC, tallied, form)
    seen: Counter[str] = Counter(tables=1, hidden=sum(one.visible <= SHOWS for one in photo.ours))
    for side, want in told.items():
        spots = lots[side].scoring if side in lots else ()
        left = want.copy()
        for spot in (spot for spot in spots if spot.is_sure):
            one = _counts(spot, spot.card)
            seen["misread"] += not left[one]
            left -= Counter([one])
        for spot in (spot for spot in spots if not spot.is_sure):
            answer = _answer(spot, photo, left)
            left -= Counter([answer])
            seen += Counter(asked=1, needless=answer is None)
            if (
                answer is None
                or form.get(f"c-{spot.key}") != photo_form.GUESS
                or _counts(spot, spot.proposed) != answer
            ):
                is_listed = answer is None or any(_counts(spot, guess) == answer for guess in spot.guesses)
                seen["taps"] += 1 if is_listed else 2
                form[f"c-{spot.key}"] = answer[0] if answer else photo_form.NOTHING
        seen["missing"] += left.total()
        seen["taps"] += left.total()
        form[f"all-{side}"] = photo_form.YES
    is_right, taps = not seen["misread"], seen["taps"]
    seen += Counter(
        at_once=is_right and not taps, in_two=is_right and 0 < taps <= TAPS, in_more=is_right and taps > TAPS,
        unasked=bool(seen["missing"]) and not _is_noticed(tallied, form, told), wrong=not is_right,
    )  # fmt: skip
    return seen


def _counts(spot: Spot, card: Card) -> Counts:
    return card.value, card.family is Family.SAFETY and spot.sighting.sideways


def _answer(spot: Spot, photo: FacePhoto, left: Counter[Counts]) -> Counts | None:
    """Return the uncounted card that a spot shows a part of; None if it shows none."""
    corners = spot.sighting.corners_px
    at = spot.centre_px if corners is None else tuple(np.mean(corners, axis=0).tolist())
    under = [one for one in photo.ours if cv2.pointPolygonTest(np.float32(one.corners_px), at, True) > -NEAR_PX]
    here = [_counts(spot, Card(one.face)) for one in under]
    likeliest = _counts(spot, spot.likeliest)
    return next((one for one in (likeliest, *reversed(here)) if one in here and left[one]), None)


def _is_noticed(tallied: Tally, form: dict[str, str], told: dict[str, Counter[Counts]]) -> bool:
    """True if the page asks about the hand or reports a contradiction, although nobody looks for missing cards."""
    km = {side: sum(int(slug) * n for (slug, _), n in cards.items() if slug.isdigit()) for side, cards in told.items()}
    ended = next((side for side in SIDES if km[side] == TARGET_KM), photo_form.PLAYED_OUT)
    try:
        photo_form.table_sent(CLASSIC, tallied, form)
    except Problem:
        form = form | {"ended": ended}
    try:
        return bool(photo_form.odd(photo_form.table_sent(CLASSIC, tallied, form)))
    except Problem:
        return True


COLUMNS = {"right at once": "at_once", "after two taps": "in_two", "after more": "in_more", "misread": "wrong",
           "cards missing unnoticed": "unasked", "questions": "asked", "needless": "needless",
           "cards missing": "missing", "completely hidden": "hidden"}  # fmt: skip


def row(name: str, seen: Counter[str]) -> str:
    return line_of(name, seen["tables"], *(seen[key] for key in COLUMNS.values()))


def kept_photo(case: Case, folder: Path | None) -> FacePhoto:
    """Return a case's photograph, from a folder if it was rendered before."""
    if folder is None:
        return case.photo()
    path = folder / f"{case.deck}-{case.laid}-{case.light}-{case.seed}.pickle"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        photo = case.photo()
        path.write_bytes(pickle.dumps(replace(photo, table=Table())))
    return pickle.loads(path.read_bytes())


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--decks", default=f"{STICKERS},own,vintage")
    parser.add_argument("--laid", default=",".join(LAID))
    parser.add_argument("--seeds", type=int, default=3, help="tables of each kind")
    parser.add_argument("--kept", type=Path, help="folder of rendered photographs, to read them again")
    parser.add_argument("--each", action="store_true", help="print every table")
    parser.add_argument("--write", action="store_true", help="write the table into docs/")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    given = parsed(arguments)
    figures = page.Figures("finished", arguments) if given.write else None
    cv2.setNumThreads(1)
    lines = heading("deck, laid", "tables", *COLUMNS)
    every: Counter[str] = Counter()
    for deck, laid in product(given.decks.split(","), given.laid.split(",")):
        seen: Counter[str] = Counter()
        for light, seed in product(LIGHTS, range(given.seeds)):
            case = Case(deck, laid, light, seed)
            photo = kept_photo(case, given.kept)
            one = found(counted(case, photo), photo)
            seen += one
            if given.each:
                print(row(f"{deck} {laid} {light} {seed}", one), flush=True)
        lines.append(row(f"{deck}, {laid}", seen))
        print(lines[-1], flush=True)
        every += seen
    lines.append(row("all", every))
    print("\n".join(lines))
    if figures:
        figures.write(page.READING, "tables", lines, "`companion/vision/counting/` on one photograph each")


if __name__ == "__main__":
    main()
