"""Zones drawn on a picture of the table, instead of mats."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from companion.common.errors import Problem, file_problem
from companion.common.small_file import read_json
from companion.common.text import Said, Term, plain, say
from companion.storage.data_folder import write_whole
from companion.tabletop.mat_layout import ROBOT, TABLE, all_mats, mat_of

FILE_NAME = "drawn-zones.json"
ZONE_NAMES = tuple(f"{layout.id}/{zone}" for layout in all_mats() if layout.id != ROBOT for zone in layout.zones)
NEEDED = ("battle", "distance")  # for each side
SMALLEST_SHARE = 1 / 64  # minimum side / picture width
OVERLAP_SHARE = 0.05  # maximum share under another zone: drawing is inexact
PROPORTIONS = 0.02  # relative difference of aspect ratios
_KNOWN_NAMES = "side-1/battle, speed, safety and distance, so on to side-8, table/draw and table/discard"
_TABLE_KEYS = {"name", "rect", "corners", "seat", "zone_mm"}
Point = tuple[float, float]
Corners = tuple[Point, Point, Point, Point]


class PictureEdge(StrEnum):
    """Edge of the picture where a player sits."""

    BOTTOM = "bottom"
    LEFT = "left"
    TOP = "top"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class DrawnZone:
    """A zone on the picture."""

    name: str  # one of `ZONE_NAMES`: `side-1/battle`
    corners: Corners  # pixels, clockwise from the top left
    seat: PictureEdge = PictureEdge.BOTTOM
    size_mm: tuple[float, float] | None = None  # measured width and height, as the player sees them

    @property
    def mat(self) -> str:
        return mat_of(self.name)

    @property
    def seen_by_player(self) -> Corners:
        """Corners in pixels, clockwise from the player's top left."""
        first = list(PictureEdge).index(self.seat)
        a, b, c, d = (self.corners[(first + i) % 4] for i in range(4))
        return a, b, c, d


@dataclass(frozen=True, slots=True)
class Drawing:
    """Zones drawn on a picture of size `picture` (width, height)."""

    picture: tuple[int, int]
    zones: tuple[DrawnZone, ...]
    seats: tuple[tuple[str, PictureEdge], ...] = ()
    """Seats at mats without drawn zones: `(("side-2", PictureEdge.TOP),)`."""

    @property
    def mats(self) -> tuple[str, ...]:
        """The mats that these zones replace: `side-1`, `table`."""
        return tuple(dict.fromkeys(zone.mat for zone in self.zones))

    def of(self, mat: str) -> tuple[DrawnZone, ...]:
        return tuple(zone for zone in self.zones if zone.mat == mat)

    def fits(self, width_px: int, height_px: int) -> bool:
        """True if a picture has the drawing's aspect ratio."""
        ratio = (self.picture[0] * height_px) / (self.picture[1] * width_px)
        return abs(ratio - 1) <= PROPORTIONS

    def as_json(self) -> dict[str, object]:
        """Return the drawing for `parse_drawing`."""
        drawn = {"picture": list(self.picture), "zone": [_as_json(zone) for zone in self.zones]}
        return drawn | ({"seats": {mat: str(seat) for mat, seat in self.seats}} if self.seats else {})


class DrawnZones:
    """The current zones: `given`, else saved in `folder` (None: not saved). Thread-safe."""

    def __init__(self, folder: Path | None = None, given: Drawing | None = None) -> None:
        self._path = folder / FILE_NAME if folder else None
        self.given = given
        self.problem: str | None = None
        self._kept: Drawing | None = None
        try:
            self._kept = _load(self._path)
        except Problem as problem:
            self.problem = str(problem)

    @property
    def current(self) -> Drawing | None:
        return self.given or self._kept

    def save(self, drawing: Drawing) -> None:
        """Save a drawing, current at once unless the setup file has one. Raise Problem."""
        if self._path is not None:
            folder = self._path.parent
            with file_problem(
                "The zones cannot be saved in %(folder)s (%(error)s): free some disk space.", folder=folder
            ):
                write_whole(self._path, json.dumps(drawing.as_json()))
        self._kept, self.problem = drawing, None

    def forget(self) -> None:
        """Remove the saved drawing. Raise Problem."""
        if self._path is not None:
            where = self._path
            with file_problem("%(path)s cannot be removed (%(error)s): check the folder's permissions.", path=where):
                where.unlink(missing_ok=True)
        self._kept, self.problem = None, None


# --- Parsing --------------------------------------------------------------------------------------------------


def parse_drawing(data: Mapping[str, object]) -> Drawing | None:
    """Return the drawing of `picture = [width, height]`, `zone` tables and `seats`; None without zones.

    A zone has a `name`, `rect = [x, y, width, height]` or `corners = [[x, y] × 4]`, and optionally `seat = "left"` and
    `zone_mm = [width, height]`. Raise ValueError with a sentence.
    """
    tables = data.get("zone", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(say("each zone must be a [[zone]] table with name and rect."))
    if not tables:
        if "picture" in data:
            raise ValueError(say("'picture' is given, but no [[zone]] is drawn."))
        return None
    drawing = Drawing(_picture(data.get("picture")), tuple(_zone(table) for table in tables), _seats(data))
    for fault in _faults(drawing):
        raise ValueError(fault)
    return drawing


def check_sides(drawing: Drawing, sides: Mapping[str, str]) -> None:
    """Raise ValueError if zones are drawn for a mat that is not in `sides`, `{"side-1": "Ann"}`."""
    for mat in drawing.mats:
        if mat != TABLE and mat not in sides:
            raise ValueError(say("there are zones for %(side)s, but no such side plays.", side=_side(mat)))


def _picture(value: object) -> tuple[int, int]:
    numbers = _numbers(value, 2)
    if numbers is None or not all(n.is_integer() and 64 <= n <= 20_000 for n in numbers):
        raise ValueError(
            say(
                "'picture' must be the size of the picture that the zones are drawn on, such as picture = [1920, 1080]."
            )
        )
    return int(numbers[0]), int(numbers[1])


def _zone(table: Mapping[str, object]) -> DrawnZone:
    name = table.get("name")
    if name not in ZONE_NAMES:
        raise ValueError(f"unknown zone '{plain(name, 40)}'; the zones are {_KNOWN_NAMES}.")
    unknown = sorted(set(table) - _TABLE_KEYS)
    if unknown:
        known = ", ".join(sorted(_TABLE_KEYS))
        raise ValueError(f"the zone '{name}' has an unknown key '{plain(unknown[0], 40)}'; the keys are {known}.")
    size = _numbers(table["zone_mm"], 2) if "zone_mm" in table else None
    if "zone_mm" in table and (size is None or not all(20 <= length <= 2000 for length in size)):
        raise ValueError(f"'zone_mm' of '{name}' must be width and height in millimeters, such as zone_mm = [74, 136].")
    return DrawnZone(
        str(name), _corners(str(name), table), _seat(str(name), table), (size[0], size[1]) if size else None
    )


def _seats(data: Mapping[str, object]) -> tuple[tuple[str, PictureEdge], ...]:
    seats = data.get("seats", {})
    if not isinstance(seats, dict):
        raise ValueError("'seats' must say where the players of each mat sit.")
    return tuple((str(mat), _seat(str(mat), {"seat": seat})) for mat, seat in seats.items())


def _seat(name: str, table: Mapping[str, object]) -> PictureEdge:
    seat = table.get("seat", "bottom")
    if seat not in tuple(PictureEdge):
        raise ValueError(f"'seat' of '{name}' must be bottom, left, top or right, not '{plain(seat, 40)}'.")
    return PictureEdge(str(seat))


def _corners(name: str, table: Mapping[str, object]) -> Corners:
    if ("rect" in table) == ("corners" in table):
        raise ValueError(
            f"the zone '{name}' needs either rect = [x, y, width, height] or corners = [[x, y], …] (four)."
        )
    if "rect" in table:
        rect = _numbers(table["rect"], 4)
        if rect is None or min(rect[2:]) <= 0:
            raise ValueError(
                f"'rect' of '{name}' must be four numbers, x, y, width and height in pixels of the picture."
            )
        x, y, width, height = rect
        return (x, y), (x + width, y), (x + width, y + height), (x, y + height)
    return _four_corners(name, table["corners"])


def _four_corners(name: str, value: object) -> Corners:
    points = [_numbers(point, 2) for point in value] if isinstance(value, list) else []
    known = [(point[0], point[1]) for point in points if point]
    if len(points) != 4 or len(known) != 4:
        raise ValueError(f"'corners' of '{name}' must be four points [x, y] in pixels of the picture.")
    a, b, c, d = known
    if _area(known) < 0:
        b, d = d, b
    if any(_turn(*three) <= 0 for three in ((a, b, c), (b, c, d), (c, d, a), (d, a, b))):
        raise ValueError(
            say("the corners of %(zone)s must go around it once, clockwise, without crossing.", zone=_quoted(name))
        )
    return a, b, c, d


def _numbers(value: object, count: int) -> tuple[float, ...] | None:
    if not isinstance(value, (list, tuple)) or len(value) != count:
        return None
    if not all(isinstance(n, (int, float)) and not isinstance(n, bool) and abs(n) < 1e6 for n in value):
        return None
    return tuple(float(n) for n in value)


# --- Checking -------------------------------------------------------------------------------------------------


def _faults(drawing: Drawing) -> Iterator[Said]:
    names = [zone.name for zone in drawing.zones]
    yield from (say("%(zone)s is drawn twice.", zone=_the_zone(name)) for name in names if names.count(name) > 1)
    width, height = drawing.picture
    for zone in drawing.zones:
        if not all(-1 <= x <= width + 1 and -1 <= y <= height + 1 for x, y in zone.corners):
            yield say(
                "part of %(zone)s is outside the picture of %(width)d × %(height)d pixels: draw it smaller, or "
                "farther in.",
                zone=_the_zone(zone.name),
                width=width,
                height=height,
            )
    for zone in drawing.zones:
        if min(math.dist(zone.corners[i - 1], zone.corners[i]) for i in range(4)) < width * SMALLEST_SHARE:
            yield say("%(zone)s is too small: a whole card must fit in it.", zone=_the_zone(zone.name))
    yield from _overlaps(drawing.zones)
    for mat in drawing.mats:
        missing = next((zone for zone in NEEDED if f"{mat}/{zone}" not in names), None)
        if mat != TABLE and missing:
            values = {"side": _side(mat), "zone": _quoted(f"{mat}/{missing}")}
            if missing == "battle":
                yield say("%(side)s has no battle zone: draw %(zone)s too.", **values)
            yield say("%(side)s has no distance zone: draw %(zone)s too.", **values)


def _overlaps(zones: Sequence[DrawnZone]) -> Iterator[Said]:
    # OpenCV loads slowly, and most commands check no zones.
    import cv2
    import numpy as np

    polygons = {zone: np.array(zone.corners, np.float32) for zone in zones}
    for other, zone in itertools.combinations(zones, 2):
        common, _ = cv2.intersectConvexConvex(polygons[zone], polygons[other])
        if common > OVERLAP_SHARE * min(_area(zone.corners), _area(other.corners)):
            yield say(
                "the zones %(one)s and %(other)s overlap: draw them side by side.",
                one=_quoted(other.name),
                other=_quoted(zone.name),
            )


def _quoted(zone: str) -> Term:
    return Term(f"'{zone}'", "zone", zone)


def _the_zone(zone: str) -> Term:
    return Term(f"the zone '{zone}'", "zone", zone)


def _side(mat: str) -> Term:
    return Term(mat, "side", mat)


def _turn(a: Point, b: Point, c: Point) -> float:
    """Return a positive number if a–b–c turns clockwise (y down)."""
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def _area(polygon: Sequence[Point]) -> float:
    """Return the area, negative if counterclockwise."""
    pairs = ((polygon[i - 1], polygon[i]) for i in range(len(polygon)))
    return sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs) / 2


# --- Saving ---------------------------------------------------------------------------------------------------


def _as_json(zone: DrawnZone) -> dict[str, object]:
    table: dict[str, object] = {"name": zone.name, "corners": [list(point) for point in zone.corners]}
    table |= {} if zone.seat is PictureEdge.BOTTOM else {"seat": str(zone.seat)}
    return table | ({"zone_mm": list(zone.size_mm)} if zone.size_mm else {})


def _load(path: Path | None) -> Drawing | None:
    if path is None:
        return None
    try:
        with file_problem(
            "The drawn zones in %(path)s cannot be read (%(error)s): check the file's permissions.", path=path
        ):
            if not path.exists():
                return None
            data = read_json(path)
        if not isinstance(data, dict):
            raise ValueError(say("it contains no table."))
        return parse_drawing(data)
    except ValueError as error:
        raise Problem(
            "The drawn zones in %(path)s are damaged (%(error)s): draw them again.", path=path, error=str(error)
        ) from error
