"""Layout of the printed mats, in millimeters from the player's top left corner; y points down.

Markers are from the dictionary MIP_36h12. Side n (1 … 8) has ids 4(n-1) … 4(n-1)+3, the table mat 32 … 35, the robot's
mat the last four. Marker 36 shows when the draw pile is empty. Card tags begin at 37.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

MAX_SIDES = 8
CARD_MM = (57.0, 88.0)  # width and height in our own deck and most others
MARKER_CELLS = 8  # per side, with black rim
MARKER_MM = 28.0  # black square: 5.6 px per cell at 1080p over 1.2 m
MARKER_EDGE_MM = 12.0  # to the black square: two white cells and a printer's margin
DRAW_MARKER_ID = 36
ROBOT_MARKER_IDS = range(246, 250)
TABLE, ROBOT = "table", "robot"
SLOTS = 7  # maximum cards in a robot's hand

DRAW_ZONE, DISCARD_ZONE = f"{TABLE}/draw", f"{TABLE}/discard"
_SPREAD = ("distance", "safety")  # cards side by side or in columns
DISTANCE_COLUMNS = ("25", "50", "75", "100", "200")


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle on a mat."""

    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float

    def contains(self, x_mm: float, y_mm: float) -> bool:
        """True if the point is inside, edges included."""
        return self.x_mm <= x_mm <= self.x_mm + self.width_mm and self.y_mm <= y_mm <= self.y_mm + self.height_mm

    @property
    def centre_mm(self) -> tuple[float, float]:
        return self.x_mm + self.width_mm / 2, self.y_mm + self.height_mm / 2

    def as_list(self) -> list[float]:
        return [self.x_mm, self.y_mm, self.width_mm, self.height_mm]


@dataclass(frozen=True, slots=True)
class Marker:
    """A printed marker with its black square."""

    id: int
    square: Rect


@dataclass(frozen=True, slots=True)
class MatLayout:
    """A mat: zones by name, corner markers clockwise from the top left."""

    id: str
    size_mm: tuple[float, float]
    markers: tuple[Marker, ...]
    zones: Mapping[str, Rect]
    columns: tuple[Rect, ...] = ()  # of the distance zone, in the order of `DISTANCE_COLUMNS`
    draw_marker: Marker | None = None  # under the draw pile

    def zone_at(self, x_mm: float, y_mm: float) -> str | None:
        return next((name for name, rect in self.zones.items() if rect.contains(x_mm, y_mm)), None)


def _corner_markers(first_id: int, width_mm: float, height_mm: float) -> tuple[Marker, ...]:
    near, right, bottom = MARKER_EDGE_MM, width_mm - MARKER_EDGE_MM - MARKER_MM, height_mm - MARKER_EDGE_MM - MARKER_MM
    corners = ((near, near), (right, near), (right, bottom), (near, bottom))
    return tuple(Marker(first_id + i, Rect(x, y, MARKER_MM, MARKER_MM)) for i, (x, y) in enumerate(corners))


def side_mat(number: int) -> MatLayout:
    """Return the mat of side `number`, A3 landscape; it splits into two A4 sheets at x = 210 mm.

    Raise ValueError outside 1 … 8.
    """
    if not 1 <= number <= MAX_SIDES:
        raise ValueError(f"there are mats for sides 1 to {MAX_SIDES}, not {number}")
    columns = tuple(Rect(48.0 + 64.8 * i, 158.0, 64.8, 131.0) for i in range(5))
    return MatLayout(
        id=f"side-{number}",
        size_mm=(420.0, 297.0),
        markers=_corner_markers(4 * (number - 1), 420.0, 297.0),
        zones=MappingProxyType(
            {
                "battle": Rect(50.0, 12.0, 74.0, 136.0),
                "speed": Rect(130.0, 12.0, 74.0, 136.0),
                "safety": Rect(216.0, 12.0, 156.0, 136.0),
                "distance": Rect(48.0, 158.0, 324.0, 131.0),
            }
        ),
        columns=columns,
    )


def table_mat() -> MatLayout:
    """Return the mat with draw pile (left) and discard pile, A4 landscape."""
    draw = Rect(52.0, 40.0, 90.0, 130.0)
    x_mm, y_mm = draw.centre_mm
    hidden = Rect(x_mm - MARKER_MM / 2, y_mm - MARKER_MM / 2, MARKER_MM, MARKER_MM)
    return MatLayout(
        id=TABLE,
        size_mm=(297.0, 210.0),
        markers=_corner_markers(32, 297.0, 210.0),
        zones=MappingProxyType({"draw": draw, "discard": Rect(155.0, 40.0, 90.0, 130.0)}),
        draw_marker=Marker(DRAW_MARKER_ID, hidden),
    )


def robot_mat() -> MatLayout:
    """Return the mat for a robot's hand, two A4 landscape sheets, with slots `1` to `7`."""
    slots = {str(n): Rect(54.0 + 70.0 * (n - 1), 46.0, 66.0, 148.0) for n in range(1, SLOTS + 1)}
    markers = _corner_markers(ROBOT_MARKER_IDS.start, 594.0, 210.0)
    return MatLayout(ROBOT, (594.0, 210.0), markers, MappingProxyType(slots))


def all_mats() -> tuple[MatLayout, ...]:
    """Return all mats: sides, table, robot."""
    return (*(side_mat(n) for n in range(1, MAX_SIDES + 1)), table_mat(), robot_mat())


def mat_of(zone: str) -> str:
    """Return the mat of a zone: `side-1` for `side-1/battle`."""
    return zone.partition("/")[0]


def kind_of(zone: str) -> str:
    """Return the kind of a zone: `battle` for `side-1/battle`."""
    return zone.partition("/")[2]


def is_pile(zone: str) -> bool:
    """True if only the top card of a zone shows."""
    return kind_of(zone) not in _SPREAD


@dataclass(frozen=True, slots=True)
class SideMark:
    """A side's color and shape on its mat, car and lines."""

    shape: str  # path data around (0, 0), about 45 units in radius
    colour: str


_DISC = "M-39 0C-39 -21.5 -21.5 -39 0 -39C21.5 -39 39 -21.5 39 0C39 21.5 21.5 39 0 39C-21.5 39 -39 21.5 -39 0Z"
_TRIANGLE = "M0 -43L43 34L-43 34Z"
_SQUARE = "M-35 -35L35 -35L35 35L-35 35Z"
_STAR = "M0 -46L12.6 -17.3L43.7 -14.2L20.4 6.6L27 37.2L0 21.4L-27 37.2L-20.4 6.6L-43.7 -14.2L-12.6 -17.3Z"
_DIAMOND = "M0 -47L40 0L0 47L-40 0Z"
_HEART = "M0 42C-58 0 -44 -40 -20 -38C-8 -37 -2 -29 0 -22C2 -29 8 -37 20 -38C44 -40 58 0 0 42Z"
_CROSS = "M-15 -42L15 -42L15 -15L42 -15L42 15L15 15L15 42L-15 42L-15 15L-42 15L-42 -15L-15 -15Z"
_MOON = "M14 -43C-30 -46 -52 -4 -32 24C-14 48 24 46 41 18C12 28 -8 12 -8 -10C-8 -26 2 -38 14 -43Z"

SIDE_MARKS = (
    SideMark(_DISC, "#0C61F0"),
    SideMark(_TRIANGLE, "#DB4500"),
    SideMark(_SQUARE, "#13C8AC"),
    SideMark(_STAR, "#8D166E"),
    SideMark(_DIAMOND, "#FFFFFF"),
    SideMark(_HEART, "#580900"),
    SideMark(_CROSS, "#A7DAFF"),
    SideMark(_MOON, "#D6C531"),
)
"""Marks of sides 1 to 8. A search found these colors for color-blind eyes, the first four the most distinct.

Any two are at least 0.11 apart in OKLab, whichever kind of cone is missing.
"""
