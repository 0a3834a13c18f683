"""Cards as people put them down: single, in piles and in fans; and which stickers and cards are covered.

Coordinates are millimeters on the table, with y down; turns are clockwise.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

CARD_MM = (57.0, 88.0)
OLDER_CARD_MM = (60.0, 90.0)
STICKER_MM = 20.0
NAME_STRIP = 0.12
MODULES, QUIET = 21, 2
LOOKS = ("own", "own", "white", "dark", "photo 1", "photo 2", "photo 3", "lines", "checks")


@dataclass(frozen=True)
class Glued:
    """A sticker on a card: its text, and its code's center relative to the card's center."""

    text: str
    x_mm: float = 0.0
    y_mm: float = -30.0
    turn_deg: float = 0.0
    size_mm: float = STICKER_MM
    kind: str = "ours"
    """`ours` is a sticker as printed by `print stickers`, `tag` the card's tag of the same size; others are codes of
    `foreign`."""


@dataclass(frozen=True)
class Laid:
    """A card on the table, positioned by its center."""

    x_mm: float
    y_mm: float
    turn_deg: float = 0.0
    sticker: Glued | None = None
    look: str = "white"
    sheen: float = 0.0
    """Brightness of the reflection across a sleeve; 0 without a sleeve."""

    sheen_at: float = 0.5
    size_mm: tuple[float, float] = CARD_MM
    corner_mm: float = 0.0
    """Radius of its corners."""

    sleeve_rim_mm: float = 0.0
    """Width of the sleeve beyond the card."""

    def corners_mm(self) -> np.ndarray:
        """Return the corners clockwise from the top left, (4, 2)."""
        return self._turned(_rectangle(self.size_mm))

    def outline_mm(self) -> np.ndarray:
        """Return the edge with its rounded corners, clockwise, (N, 2)."""
        if not self.corner_mm:
            return self.corners_mm()
        quarter = np.radians(np.linspace(0, 90, 6))
        arcs = [
            corner * (1 - self.corner_mm / np.abs(corner))
            + self.corner_mm * np.column_stack([np.cos(quarter + start), np.sin(quarter + start)])
            for corner, start in zip(_rectangle(self.size_mm), np.radians((180, 270, 0, 90)), strict=True)
        ]
        return self._turned(np.concatenate(arcs))

    def sleeve_mm(self) -> np.ndarray:
        """Return the corners of its sleeve, (4, 2)."""
        w, h = self.size_mm
        return self._turned(_rectangle((w + 2 * self.sleeve_rim_mm, h + 2 * self.sleeve_rim_mm)))

    def sticker_mm(self, part: str = "code") -> np.ndarray:
        """Return the corners of the sticker's `code`, `quiet` zone, or `paper` with the name strip, (4, 2)."""
        glued = self.sticker
        size = glued.size_mm
        code = size * MODULES / (MODULES + 2 * QUIET)
        own = _rectangle((code, code) if part == "code" else (size, size))
        if part == "paper":
            own[2:, 1] += NAME_STRIP * size
        return self._turned(_turned(own, glued.turn_deg) + np.array([glued.x_mm, glued.y_mm]))

    def _turned(self, points: np.ndarray) -> np.ndarray:
        return _turned(points, self.turn_deg) + np.array([self.x_mm, self.y_mm])


@dataclass(frozen=True)
class Cover:
    """An opaque object that is no card, such as a hand or a cup: outline and color (BGR)."""

    outline_mm: tuple[tuple[float, float], ...]
    colour: tuple[int, int, int] = (120, 150, 205)


@dataclass(frozen=True)
class Sheet:
    """A flat printed object, positioned by its center: one of our mats, or an object of `foreign`."""

    name: str
    x_mm: float
    y_mm: float
    turn_deg: float
    size_mm: tuple[float, float]

    def tile_mm(self, across: tuple[float, float], down: tuple[float, float]) -> np.ndarray:
        """Return the corners of a part, (4, 2); its ends are shares from 0 to 1."""
        w, h = self.size_mm
        (left, right), (top, bottom) = ([(end - 0.5) * side for end in ends] for ends, side in ((across, w), (down, h)))
        own = np.array([(left, top), (right, top), (right, bottom), (left, bottom)])
        return _turned(own, self.turn_deg) + np.array([self.x_mm, self.y_mm])


@dataclass(frozen=True)
class Table:
    """All objects in the order they were put down: `sheets` below the cards, `covers` and `things` on top."""

    cards: tuple[Laid, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    covers: tuple[Cover, ...] = ()
    cloth: str = "felt"
    seed: int = 0
    shadow: float = field(default=0.35)
    """Darkness of the shadow beside a card's edge."""

    things: tuple[Sheet, ...] = ()
    """Objects on top of cards, such as a phone or a book."""

    def lids_mm(self) -> list[np.ndarray]:
        """Return the outlines of the objects on top of the cards."""
        covers = [np.array(cover.outline_mm, np.float32) for cover in self.covers]
        return covers + [thing.tile_mm((0, 1), (0, 1)).astype(np.float32) for thing in self.things]


def _rectangle(size_mm: tuple[float, float]) -> np.ndarray:
    w, h = size_mm[0] / 2, size_mm[1] / 2
    return np.array([(-w, -h), (w, -h), (w, h), (-w, h)], np.float64)


def _turned(points: np.ndarray, angle_deg: float) -> np.ndarray:
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return points @ np.array([[c, s], [-s, c]])


# --- What is covered ------------------------------------------------------------------------------------------


_RASTER = 40


def covered_share(table: Table) -> list[float]:
    """Return for each card the covered share of its sticker and quiet zone, 0 (exactly) to 1."""
    cards = [card.corners_mm().astype(np.float32) for card in table.cards]
    middles = np.array([(card.x_mm, card.y_mm) for card in table.cards])
    covers = table.lids_mm()
    return [_covered(card, cards, middles, at, covers) if card.sticker else 0.0 for at, card in enumerate(table.cards)]


def _covered(card: Laid, cards: list[np.ndarray], middles: np.ndarray, at: int, covers: list[np.ndarray]) -> float:
    quiet = card.sticker_mm("quiet").astype(np.float32)
    far = np.hypot(*(middles[at + 1 :] - quiet.mean(0)).T)
    above = [*(cards[at + 1 + i] for i in np.flatnonzero(far < 80)), *covers]
    above = [other for other in above if cv2.intersectConvexConvex(quiet, cv2.convexHull(other)[:, 0])[0] > 0]
    # Even the smallest overlap is more than 0.
    return max(0.001, float(_hidden(quiet, (_RASTER, _RASTER), above).mean())) if above else 0.0


def _hidden(corners: np.ndarray, shape: tuple[int, int], above: list[np.ndarray]) -> np.ndarray:
    """Return a raster of a rectangle: 1 where an outline covers it, else 0."""
    rows, columns = shape
    own = np.array([(0, 0), (columns, 0), (columns, rows), (0, rows)], np.float32) - 0.5
    onto = cv2.getPerspectiveTransform(corners, own)
    mask = np.zeros(shape, np.uint8)
    for other in above:
        outline = cv2.perspectiveTransform(other.reshape(-1, 1, 2), onto)
        cv2.fillPoly(mask, [np.int32((outline * 16).round())], 1, shift=4)
    return mask


CARD_RASTER = (46, 30)
"""Rows and columns of the raster of a card's visible parts."""


def in_sight(table: Table) -> list[np.ndarray]:
    """Return the uncovered part of each card, bool of shape `CARD_RASTER`, from the top left of its print."""
    outlines = [card.outline_mm().astype(np.float32) for card in table.cards]
    middles = np.array([(card.x_mm, card.y_mm) for card in table.cards]).reshape(-1, 2)
    lids = table.lids_mm()
    shown = []
    for at, card in enumerate(table.cards):
        far = np.hypot(*(middles[at + 1 :] - middles[at]).T)
        above = [*(outlines[at + 1 + i] for i in np.flatnonzero(far < 130)), *lids]
        shown.append(_uncovered(card, above))
    return shown


def _uncovered(card: Laid, above: list[np.ndarray]) -> np.ndarray:
    """Return the uncovered cells: those that are at least half bare on a raster four times finer."""
    rows, columns = CARD_RASTER
    mask = _hidden(card.corners_mm().astype(np.float32), (4 * rows, 4 * columns), above)
    return cv2.resize(mask.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA) < 0.5


# --- Arrangements ---------------------------------------------------------------------------------------------


def glued_by_hand(
    text: str, rng: np.random.Generator, size_mm: float = STICKER_MM, spot: str | None = None, kind: str = "ours"
) -> Glued:
    """Return a sticker at the middle or corner of the card's top, up to 3 mm and 6 degrees off."""
    side = CARD_MM[0] / 2 - size_mm / 2 - 3
    x_mm = {"left": -side, "middle": 0.0, "right": side}[spot or str(rng.choice(("left", "middle")))]
    y_mm = -CARD_MM[1] / 2 + size_mm / 2 + 3.2
    off_x, off_y = rng.uniform(-3, 3, 2)
    return Glued(text, x_mm + off_x, y_mm + off_y, float(rng.uniform(-6, 6)), size_mm, kind)


def laid_by_hand(text: str, x_mm: float, y_mm: float, turn_deg: float, rng: np.random.Generator, **how: object) -> Laid:
    """Return a card near a place, with a random look, sometimes in a sleeve."""
    sleeve = rng.random() < 0.3
    return Laid(
        x_mm=x_mm,
        y_mm=y_mm,
        turn_deg=turn_deg,
        sticker=glued_by_hand(text, rng, **how),
        look=str(rng.choice(LOOKS)),
        sheen=float(rng.uniform(0.05, 0.35)) if sleeve else 0.0,
        sheen_at=float(rng.random()),
        size_mm=CARD_MM if rng.random() < 0.85 else OLDER_CARD_MM,
    )


def scattered(
    texts: Sequence[str], area_mm: tuple[float, float], rng: np.random.Generator, **how: object
) -> tuple[Laid, ...]:
    """Return cards at random places and turns, spread apart."""
    placed: list[tuple[float, float]] = []
    cards = []
    for text in texts:
        tries = _inside(area_mm, rng, 6)
        room = [min((np.hypot(*(np.subtract(at, p))) for p in placed), default=1e9) for at in tries]
        placed.append(tuple(tries[int(np.argmax(room))]))
        cards.append(laid_by_hand(text, *placed[-1], float(rng.uniform(0, 360)), rng, **how))
    return tuple(cards)


def _inside(area_mm: tuple[float, float], rng: np.random.Generator, count: int) -> np.ndarray:
    w, h = (max(10.0, side / 2 - 45) for side in area_mm)
    return np.column_stack([rng.uniform(-w, w, count), rng.uniform(-h, h, count)])


def in_rows(
    texts: Sequence[str], area_mm: tuple[float, float], rng: np.random.Generator, **how: object
) -> tuple[Laid, ...]:
    """Return cards in rows with one orientation, slightly inaccurate."""
    columns = max(1, int(area_mm[0] // 66))
    turn = float(rng.choice((0, 90, 180, 270))) if area_mm[1] > 700 else float(rng.choice((0, 180)))
    rows = -(-len(texts) // columns)
    step = min(96.0, (area_mm[1] - 92) / max(1, rows - 1))
    places = [
        ((i % columns - (columns - 1) / 2) * 66, (i // columns - (rows - 1) / 2) * step) for i in range(len(texts))
    ]
    return tuple(
        laid_by_hand(text, x + rng.normal(0, 1.5), y + rng.normal(0, 1.5), turn + rng.normal(0, 3), rng, **how)
        for text, (x, y) in zip(texts, places, strict=True)
    )


def in_groups(
    texts: Sequence[str], area_mm: tuple[float, float], rng: np.random.Generator, **how: object
) -> tuple[Laid, ...]:
    """Return cards as in a game: piles with only the top visible, fans, and columns."""
    cards: list[Laid] = []
    left = list(texts)
    taken: list[np.ndarray] = []
    while left:
        size = min(len(left), int(rng.choice((1, 2, 3, 4, 5, 6, 8))))
        tries = _inside((area_mm[0] - 60, area_mm[1] - 60), rng, 12)
        room = [min((np.hypot(*(at - p)) for p in taken), default=1e9) for at in tries]
        taken.append(tries[int(np.argmax(room))])
        shape = str(rng.choice(("pile", "fan", "column", "column")))
        cards += _group([left.pop() for _ in range(size)], taken[-1], shape, rng, **how)
    return tuple(cards)


def _group(texts: Sequence[str], at: np.ndarray, shape: str, rng: np.random.Generator, **how: object) -> Iterator[Laid]:
    """Yield one pile, fan or column, turned towards its player."""
    turn = float(rng.choice((0, 0, 90, 180, 270))) + rng.normal(0, 4)
    step = {"pile": (0.0, 0.0), "fan": (25.0, 1.5), "column": (0.5, 27.0)}[shape]
    loose = 2.5 if shape == "pile" else 1.2
    how = {**how, "spot": "left"} if shape == "fan" else how
    for number, text in enumerate(texts):
        along = number - (len(texts) - 1) / 2
        off = np.array([[step[0] * along, step[1] * along]]) + rng.normal(0, loose, (1, 2))
        x, y = _turned(off, turn)[0] + at
        bend = along * 4 if shape == "fan" else 0
        yield laid_by_hand(text, float(x), float(y), turn + bend + float(rng.normal(0, 2)), rng, **how)
