"""Compare our way of naming cards by their faces with others on the same crops; and measure how cards are found.

python -m tests.bench.faces [--only widths,light] [--seeds 1] [--styles own,dark] [--write]
"""

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import cv2
import decks
import enrolled
import face_photos
import numpy as np
import photos
from card_photos import STYLES
from face_photos import FacePhoto, FaceScore, card_of, compared, cut_out
from laid import Laid, Sheet, Table, in_sight
from webcam import Pose

from bench import page
from bench.eye import heading, line_of, milliseconds
from bench.namers import MARGIN_MM, PX_PER_MM, WAYS, Answer, Crop, Namer, Rule
from companion.rules.cards import Card
from companion.vision.faces.face_detector import read_faces
from companion.vision.faces.face_templates import Templates
from companion.vision.mats.localization import Mats, search

WIDTHS_PX = (40, 50, 60, 75, 90, 120, 180)
COVERS = {"nothing": 0.0, "20 %": 0.2, "35 %": 0.35, "50 %": 0.5, "60 %": 0.6, "all but 20 mm": 1 - 20 / 88}
CORNERS_OFF = (0.0, 0.015, 0.03, 0.06)  # error of the corners, as a standard deviation in card widths
WIDTH_PX = 90.0
OFF = 0.015  # the usual error; the usual width is that of 57 mm at 1.6 px/mm (1080p over 1.2 m)


# --- Decks and crops ------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def pictures_of(style: str, source: str = "photograph") -> dict[str, np.ndarray]:
    """Return an enrolled deck: its drawings, or one photograph of each face in another light, cut out."""
    drawn = enrolled.faces_of(style)
    if source == "drawing":
        return drawn
    rng = np.random.default_rng((STYLES.index(style), 5))
    shot, floor, size_mm = enrolled.evening(rng), str(rng.choice(enrolled.FLOORS)), decks.size_mm(style)
    shots = {slug: (enrolled.by_hand(rng), face) for slug, face in drawn.items()}
    return {
        slug: _enrolled(enrolled.photograph(face, size_mm, pose, shot, floor, number), pose, size_mm, rng)
        for number, (slug, (pose, face)) in enumerate(shots.items())
    }


def _enrolled(image: np.ndarray, pose: Pose, size_mm: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
    corners = pose.px(np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * np.array(size_mm) / 2)
    corners += rng.normal(0, 0.005 * pose.px_per_mm * size_mm[0], (4, 2))
    return cut_out(image, corners, tuple(round(6 * side) for side in size_mm))


@dataclass(frozen=True)
class Condition:
    """How cards are photographed."""

    width_px: float = WIDTH_PX
    covered: float = 0.0
    off: float = OFF
    light: str = "typical"
    source: str = "photograph"


Truth = tuple[str | None, Crop]  # the face (None: not a card of the deck) and the crop


def photo_of(style: str, condition: Condition, seed: int) -> FacePhoto:
    """Return a photo of all faces of a deck next to each other, turned a little and partly covered if asked."""
    rng = np.random.default_rng((seed, STYLES.index(style)))
    px_per_mm = condition.width_px / decks.size_mm(style)[0]
    size_px = (round(5.4 * 100 * px_per_mm), round(4.4 * 130 * px_per_mm))
    pose = photos.some_pose(rng, (0, 18), px_per_mm=px_per_mm, size_px=size_px)
    cards: list[Laid] = []
    for number, slug in enumerate(rng.permutation(decks.CLASSIC)):
        at = np.array([(number % 5 - 2) * 100.0, (number // 5 - 1.5) * 130.0]) + rng.normal(0, 2, 2)
        card = card_of(style, str(slug), at, float(rng.choice((0, 180)) + rng.normal(0, 5)))
        cards += [card, *_lid(card, style, condition.covered, rng)]
    table = Table(tuple(cards), cloth=str(rng.choice(photos.CLOTHS)), seed=seed, shadow=rng.uniform(0.1, 0.5))
    typical = condition.light == "typical"
    shot = photos.typical_shot(rng) if typical else photos.hard_shot(rng, condition.light)
    return face_photos.photograph(table, style, pose, shot, seed)


def _lid(card: Laid, style: str, share: float, rng: np.random.Generator) -> Iterator[Laid]:
    """Yield a card of the same deck that covers this share of another, from below or from one side."""
    if share <= 0:
        return
    width, height = card.size_mm
    off = np.array([0.0, height * (1 - share)]) if share > 0.7 or rng.random() < 0.6 else np.array(
        [width * (1 - share), 0.0])  # fmt: skip
    turn = np.radians(card.turn_deg)
    x, y = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ off
    yield card_of(
        style, str(rng.choice(decks.CLASSIC)), (card.x_mm + x, card.y_mm + y), card.turn_deg + rng.normal(0, 2)
    )


def crops_of(style: str, condition: Condition, seed: int) -> list[Truth]:
    """Return every face of a deck, cut out, about half of them upside down."""
    photo = photo_of(style, condition, seed)
    rng = np.random.default_rng((seed, 99))
    step = 2 if condition.covered else 1
    bare = in_sight(photo.table)[::step]
    return [
        (card.face, crop_at(photo, card.corners_px, photo.table.cards[step * at], bare[at], condition.off, rng))
        for at, card in enumerate(photo.faces[::step])
        if card.burnt < face_photos.BURNT_AT_MOST
    ]


def crop_at(
    photo: FacePhoto, corners_px: np.ndarray, card: Laid, bare: np.ndarray | None, off: float, rng: np.random.Generator
) -> Crop:
    """Cut out a place with its margin, with the corners slightly off."""
    size_mm = card.size_mm
    scale = np.hypot(*(corners_px[1] - corners_px[0]))
    corners = corners_px + rng.normal(0, 1, (4, 2)) * off * scale
    flip = int(rng.integers(2))
    wide = widened(np.roll(corners, 2 * flip, axis=0), size_mm)
    size = tuple(round((side + 2 * MARGIN_MM) * PX_PER_MM) for side in size_mm)
    image = cut_out(photo.image, wide, size)
    seen = None
    if bare is not None and not bare.all():
        inner = tuple(round(side * PX_PER_MM) for side in size_mm)
        part = cv2.resize(bare.astype(np.float32), inner, interpolation=cv2.INTER_LINEAR)
        seen = np.pad(part[::-1, ::-1] if flip else part, round(MARGIN_MM * PX_PER_MM), mode="edge")
        seen = np.ascontiguousarray(cv2.resize(seen, size))
    return Crop(image, size_mm, seen)


def widened(corners_px: np.ndarray, size_mm: tuple[float, float]) -> np.ndarray:
    """Return the corners of a card with its margin, from those of the card."""
    own = photos.edges(*size_mm) + np.float32(0.5)
    matrix = cv2.getPerspectiveTransform(own, corners_px.astype(np.float32))
    margin = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float32) * MARGIN_MM
    return cv2.perspectiveTransform((own + margin)[None], matrix)[0]


# --- What is no face ------------------------------------------------------------------------------------------

KINDS = ("mat", "cloth", "hand", "telephone", "cup", "thing", "own back", "other deck", "playing card")


def strangers_of(style: str, seed: int) -> list[tuple[str, Crop]]:
    """Return four of each kind of thing that is not a card of the deck, cut out as if it were one."""
    rng = np.random.default_rng((seed, STYLES.index(style), 3))
    pose = photos.some_pose(rng, (0, 18), px_per_mm=1.6, size_px=(1920, 1080))
    columns = (-520.0, *np.linspace(-310, 530, len(KINDS) - 1))
    at = {kind: [(float(x), -200.0 + 130 * n) for n in range(4)] for x, kind in zip(columns, KINDS, strict=True)}
    covers = [c for x, y in at["hand"] for c in face_photos.hand((x, y - 50.0), 90 + rng.normal(0, 15), rng)]
    covers += [cover for place in at["cup"] for cover in face_photos.cup(place, rng)]
    sheets = [photos.mat("side-1", columns[0], 0.0, 90.0)]
    things = [str(name) for name in rng.choice(("page", "newspaper", "packaging", "rug", "crossword", "dominoes"), 4)]
    sheets += [Sheet(f"{n} {seed}", *place, 0.0, (120, 120)) for n, place in zip(things, at["thing"], strict=True)]
    others = [other for other in STYLES if other != style]
    cards = [card_of(style, decks.BACK, place) for place in at["own back"]]
    cards += [card_of(str(rng.choice(others)), str(rng.choice(decks.CLASSIC)), place, rng.normal(0, 4))
              for place in at["other deck"]]  # fmt: skip
    cards += [Laid(x, y, look=f"thing playing-card {rng.integers(40)}") for x, y in at["playing card"]]
    phones = tuple(replace(face_photos.telephone(place, rng), turn_deg=0.0) for place in at["telephone"])
    table = Table(tuple(cards), tuple(sheets), tuple(covers), str(rng.choice(photos.CLOTHS)), seed, things=phones)
    photo = face_photos.photograph(table, style, pose, photos.typical_shot(rng), seed)
    return list(_cut_strangers(photo, style, at, rng))


def _cut_strangers(
    photo: FacePhoto, style: str, at: Mapping[str, Sequence[tuple[float, float]]], rng: np.random.Generator
) -> Iterator[tuple[str, Crop]]:
    for kind, places in at.items():
        for x, y in places:
            is_card = kind in KINDS[-3:]
            near = (x, y) if is_card else np.array((x, y)) + rng.normal(0, 8, 2)
            card = card_of(style, decks.CLASSIC[0], near, 0.0 if is_card else rng.uniform(-20, 20))
            yield kind, crop_at(photo, photo.pose.px(card.corners_mm()), card, None, OFF, rng)


# --- Naming ---------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Counts of answers under a condition."""

    cards: int = 0
    first: int = 0  # the guess was right, sure or not
    told: int = 0  # sure, and right
    among_two: int = 0  # not sure, and asked about, with the right face among the first two
    wrong: int = 0  # sure, and wrong

    def count(self, answer: Answer, truth: str | None, rule: Rule) -> None:
        sure = rule.accepts(answer)
        self.cards += 1
        self.first += answer.face == truth
        self.told += sure and answer.face == truth
        self.wrong += sure and answer.face != truth
        self.among_two += not sure and truth in answer.offered

    def __str__(self) -> str:
        told, asked, first = (100 * value / max(1, self.cards) for value in (self.told, self.among_two, self.first))
        shares = f"{told:.1f} + {asked:.1f} ({first:.1f})" if asked else f"{told:.1f} ({first:.1f})"
        return shares + (f", **{self.wrong} wrong**" if self.wrong else "")


class Contest:
    """All ways on all decks, made on demand; their rules were calibrated on other pictures."""

    def __init__(self, styles: Sequence[str], ways: Sequence[str]) -> None:
        self.styles = styles
        self.ways = [way for way in WAYS if way.name in ways] if ways else list(WAYS)
        self.rules = {way.name: way.rule for way in self.ways}

    @cache  # noqa: B019
    def namers(self, style: str, source: str) -> dict[str, Namer]:
        pictures, size_mm = pictures_of(style, source), decks.size_mm(style)
        return {way.name: way.made(pictures, size_mm) for way in self.ways}

    def tallies(self, condition: Condition, seeds: Sequence[int], styles: Sequence[str] = ()) -> dict[str, Tally]:
        """Return the counts of each way under a condition, over these decks or all."""
        totals = {way.name: Tally() for way in self.ways}
        for style, seed in itertools.product(styles or self.styles, seeds):
            crops = crops_of(style, condition, seed)
            for name, namer in self.namers(style, condition.source).items():
                for truth, crop in crops:
                    totals[name].count(namer(crop), truth, self.rules[name])
        return totals


# --- Tables ---------------------------------------------------------------------------------------------------

Say = Callable[[str], None]


def varied(title: str, conditions: Mapping[str, Condition]) -> Callable[[Contest, Sequence[int], Say], list[str]]:
    def table(contest: Contest, seeds: Sequence[int], say: Say) -> list[str]:
        rows = ((label, contest.tallies(condition, seeds)) for label, condition in conditions.items())
        return in_markdown(title, rows, contest, say)

    return table


def in_markdown(title: str, rows: Iterable[tuple[str, Mapping[str, Tally]]], contest: Contest, say: Say) -> list[str]:
    names = [way.name for way in contest.ways]
    lines = heading(title, "cards", *names)
    for label, row in rows:
        lines.append(line_of(label, row[names[0]].cards, *(row[name] for name in names)))
        say(lines[-1])
    return lines


def by_deck(contest: Contest, seeds: Sequence[int], say: Say) -> list[str]:
    """Return the table by deck."""
    rows = ((style, contest.tallies(Condition(75.0), seeds, [style])) for style in contest.styles)
    return in_markdown("deck, cards 75 px wide", rows, contest, say)


def open_set(contest: Contest, seeds: Sequence[int], say: Say) -> list[str]:
    """Return the table of things that are not cards and were named as one."""
    counts: dict[str, dict[str, list[bool]]] = {kind: {way.name: [] for way in contest.ways} for kind in KINDS}
    for style, seed in itertools.product(contest.styles, seeds):
        for kind, crop in strangers_of(style, 500 + seed):
            for name, namer in contest.namers(style, "photograph").items():
                counts[kind][name].append(contest.rules[name].accepts(namer(crop)))
    names = [way.name for way in contest.ways]
    rows = [line_of(kind, len(row[names[0]]), *(sum(row[name]) for name in names)) for kind, row in counts.items()]
    return [*heading("not a card, but named as one", "crops", *names), *rows]


def cost(contest: Contest, seeds: Sequence[int], say: Say) -> list[str]:
    style = contest.styles[0]
    crops = [crop for _, crop in crops_of(style, Condition(), seeds[0])][:12]
    spent = {
        name: statistics.median(milliseconds(lambda n=namer, c=crop: n(c), 1) for crop in crops)
        for name, namer in contest.namers(style, "photograph").items()
    }
    return [*heading("", *spent), line_of("ms a card", *(f"{ms:.1f}" for ms in spent.values()))]


# --- Finding --------------------------------------------------------------------------------------------------


def known_mats(photo: FacePhoto) -> Mats:
    """Return the mats as found on the empty table; none if there are no mats."""
    if not photo.table.sheets:
        return Mats()
    layouts = [layout for layout in photos.MATS.values() if layout.id in {s.name for s in photo.table.sheets}]
    bare = replace(photo.table, cards=(), covers=(), things=())
    empty = face_photos.photograph(bare, photo.style, photo.pose)
    return search(cv2.cvtColor(empty.image, cv2.COLOR_BGR2GRAY), Mats(), layouts, 0.0)


@lru_cache(maxsize=4)
def templates(style: str) -> Templates:
    """Return a deck enrolled from one photograph of each face."""
    return enrolled.prepared(pictures_of(style), style)


def found_on(photo: FacePhoto) -> tuple[FaceScore, float]:
    """Read a whole picture; return the score and the processor time in milliseconds."""
    mats, known = known_mats(photo), templates(photo.style)
    start = time.process_time()
    seen = read_faces(photo.image, known, mats)
    spent = 1000 * (time.process_time() - start)
    said = [(None if card.face is Card.UNKNOWN else card.face.value, card.centre_px) for card in seen]
    return compared(photo, said), spent


FINDINGS = {
    "game on mats, typical": {},
    "game on mats, hard": {"hard": True},
    "game on mats, 720p": {"camera": "720p"},
    "game on mats, phone of 12 MP": {"camera": "phone"},
    "game on mats, in sleeves": {"sleeves": True},
}
"""Arguments of `face_photos.face_photo` for each row."""


def finding(contest: Contest, seeds: Sequence[int], say: Say) -> list[str]:
    """Return the table of whole pictures."""
    lines = heading("whole pictures", "cards in sight", "recognized", "asked", "partly covered", "recognized", "wrong",
                    "none there", "ms")  # fmt: skip
    for label, how in FINDINGS.items():
        total, spent = FaceScore(), []
        for style, seed in itertools.product(contest.styles, seeds):
            score, ms = found_on(face_photos.face_photo(700 + seed, style, **how))
            total, spent = total + score, [*spent, ms]
            if score.wrong or score.ghosts:
                say(f"{label}, {style}, seed {700 + seed}: {score.wrong} {score.ghosts}")
        told, partly = total.read / max(1, total.in_sight), total.partly_read / max(1, total.partly)
        lines.append(line_of(label, total.in_sight, f"{100 * told:.1f} %", total.unknown, total.partly,
                             f"{100 * partly:.1f} %", len(total.wrong), len(total.ghosts),
                             f"{statistics.median(spent):.0f}"))  # fmt: skip
        say(lines[-1])
    return lines


TABLES: dict[str, Callable[[Contest, Sequence[int], Say], list[str]]] = {
    "widths": varied("card’s width, px", {f"{w}": Condition(float(w)) for w in WIDTHS_PX}),
    "covered": varied("covered by another card", {name: Condition(covered=share) for name, share in COVERS.items()}),
    "corners": varied("corners off by, of a width", {f"{100 * off:.1f} %": Condition(off=off) for off in CORNERS_OFF}),
    "light": varied("light", {light: Condition(light=light) for light in ("typical", *photos.TROUBLES)}),
    "enrolled": varied("enrolled from", {
        "one photograph in another light": Condition(), "the drawing": Condition(source="drawing"),
        "one photograph, cards of 60 px": Condition(60.0), "the drawing, 60 px": Condition(60.0, source="drawing")}),
    "decks": by_deck,
    "open": open_set,
    "cost": cost,
    "finding": finding,
}  # fmt: skip


# --- The pages ------------------------------------------------------------------------------------------------

CUT_OUT = "`companion/vision/faces/matching.py` on cards cut out beforehand, not the eye that follows a table"
PLACES = dict.fromkeys(TABLES, (page.READING, CUT_OUT)) | {
    "cost": (page.SPEED, f"{CUT_OUT}; one thread, processor time"),
    "finding": (page.READING, "`companion/vision/faces/face_detector.py` on whole pictures, mats known; one thread"),
}
"""The page of each table, and which code it measures."""


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(TABLES), help="tables, divided by commas: " + ", ".join(TABLES))
    parser.add_argument("--styles", default=",".join(STYLES), help="decks, divided by commas")
    parser.add_argument("--ways", default="", help="ways to name, divided by commas (all)")
    parser.add_argument("--seeds", type=int, default=1, help="photographs a deck and row")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    given = parsed(arguments)
    figures = page.Figures("faces", arguments) if given.write else None
    cv2.setNumThreads(1)
    contest = Contest(given.styles.split(","), [way for way in given.ways.split(",") if way])
    for name in given.only.split(","):
        lines = TABLES[name](contest, range(given.seeds), lambda line: print(line, file=sys.stderr, flush=True))
        if figures:
            where, measured = PLACES[name]
            figures.write(where, name, lines, measured)
        print("\n".join([*lines, ""]), flush=True)


if __name__ == "__main__":
    main()
