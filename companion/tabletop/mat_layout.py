"""Where everything is printed on the mats, in millimetres: the one plan that printing and vision share.

A mat's origin is its top left corner as its player sees it; x runs right, y runs down.
Marker ids belong to the dictionary MIP_36h12. Side n (1 … 8) owns the ids 4(n-1) … 4(n-1)+3, the table
mat 32 … 35, and 36 lies under the draw pile: it shows when the pile is used up. From 37 on they are the cards' tags;
the robot's mat has the last four of the dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

MAX_SIDES = 8
CARD_MM = (57.0, 88.0)  # width and height of a card of the project's own deck and of most printed decks
MARKER_CELLS = 8  # cells along the side of a marker or tag, its black rim included
MARKER_MM = 28.0  # side of a marker's black square: cells of 3.5 mm, 5.6 px a cell at 1080p over 1.2 m
MARKER_EDGE_MM = 12.0  # distance from the mat's edge to a marker's black: two cells of white and a printer's margin
DRAW_MARKER_ID = 36
ROBOT_MARKER_IDS = range(246, 250)
TABLE, ROBOT = "table", "robot"  # the ids of the mat of the table's middle, and of that for a robot's hand, face up
SLOTS = 7  # number of slots of the robot's mat: no edition's hand has more cards

DRAW_ZONE, DISCARD_ZONE = f"{TABLE}/draw", f"{TABLE}/discard"
_SPREAD = ("distance", "safety")  # zones where cards lie side by side, or in columns that leave a strip of each
DISTANCE_COLUMNS = ("25", "50", "75", "100", "200")


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle on a mat, in millimetres."""

    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float

    def contains(self, x_mm: float, y_mm: float) -> bool:
        """True if the point lies inside, edges included."""
        return self.x_mm <= x_mm <= self.x_mm + self.width_mm and self.y_mm <= y_mm <= self.y_mm + self.height_mm

    @property
    def centre_mm(self) -> tuple[float, float]:
        return self.x_mm + self.width_mm / 2, self.y_mm + self.height_mm / 2

    def as_list(self) -> list[float]:
        return [self.x_mm, self.y_mm, self.width_mm, self.height_mm]


@dataclass(frozen=True, slots=True)
class Marker:
    """A printed MIP_36h12 marker: its id and its black square."""

    id: int
    square: Rect


@dataclass(frozen=True, slots=True)
class MatLayout:
    """One mat: its size, corner markers (top left, top right, bottom right, bottom left) and zones."""

    id: str
    size_mm: tuple[float, float]
    markers: tuple[Marker, ...]
    zones: Mapping[str, Rect]
    columns: tuple[Rect, ...] = ()  # on a side's mat those of the distance zone, in the order of `DISTANCE_COLUMNS`
    draw_marker: Marker | None = None  # on the table mat the marker that the draw pile hides

    def zone_at(self, x_mm: float, y_mm: float) -> str | None:
        return next((name for name, rect in self.zones.items() if rect.contains(x_mm, y_mm)), None)


def _corner_markers(first_id: int, width_mm: float, height_mm: float) -> tuple[Marker, ...]:
    near, right, bottom = MARKER_EDGE_MM, width_mm - MARKER_EDGE_MM - MARKER_MM, height_mm - MARKER_EDGE_MM - MARKER_MM
    corners = ((near, near), (right, near), (right, bottom), (near, bottom))
    return tuple(Marker(first_id + i, Rect(x, y, MARKER_MM, MARKER_MM)) for i, (x, y) in enumerate(corners))


def side_mat(number: int) -> MatLayout:
    """Return the mat of side `number` (1 … 8), A3 landscape; it splits into two A4 sheets at x = 210 mm.

    Battle, speed and safety lie in the upper row between the markers, the distance zone below them.
    Raises ValueError for a number outside 1 … 8.
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
    """Return the mat of the table's middle, A4 landscape: draw pile on the left, discard pile on the right."""
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
    """Return the mat for a robot's hand, two sheets of A4 landscape side by side: a row of slots, `1` the leftmost."""
    slots = {str(n): Rect(54.0 + 70.0 * (n - 1), 46.0, 66.0, 148.0) for n in range(1, SLOTS + 1)}
    markers = _corner_markers(ROBOT_MARKER_IDS.start, 594.0, 210.0)
    return MatLayout(ROBOT, (594.0, 210.0), markers, MappingProxyType(slots))


def all_mats() -> tuple[MatLayout, ...]:
    """Return every mat there is: eight sides, the table, and a robot's hand."""
    return (*(side_mat(n) for n in range(1, MAX_SIDES + 1)), table_mat(), robot_mat())


def mat_of(zone: str) -> str:
    """Return the mat that a zone is on: `side-1` for `side-1/battle`."""
    return zone.partition("/")[0]


def kind_of(zone: str) -> str:
    """Return what a zone is for: `battle` for `side-1/battle`."""
    return zone.partition("/")[2]


def is_pile(zone: str) -> bool:
    """True if cards lie on each other in a zone, so that only the top one shows."""
    return kind_of(zone) not in _SPREAD
