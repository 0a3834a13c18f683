"""Form for zones drawn on the camera's picture, in percent of width and height."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from companion.common.errors import Problem
from companion.pages import words
from companion.pages.words import N_, Names, _
from companion.tabletop.drawn_zones import NEEDED, Drawing, PictureEdge, parse_drawing
from companion.tabletop.mat_layout import TABLE, MatLayout, all_mats, kind_of, mat_of

Form = Mapping[str, str]
NUMBERS = ("x", "y", "w", "h")
USUAL_SIZE = (1920, 1080)
SEATS = (
    (PictureEdge.BOTTOM, N_("below the picture")),
    (PictureEdge.LEFT, N_("left of the picture")),
    (PictureEdge.TOP, N_("above the picture")),
    (PictureEdge.RIGHT, N_("right of the picture")),
)
MOST_HIGH, TABLE_HIGH = 40.0, 16.0  # suggested heights of a side's mat and the table's, in percent
MOST_NAMED = 4
WIDE_SCREEN = 9 / 16


def layout_of(mat: str) -> MatLayout:
    """Return the layout of the printed mat with this ID (`side-1`)."""
    return next(layout for layout in all_mats() if layout.id == mat)


@dataclass(frozen=True, slots=True)
class Called:
    """Displayed names and numbers of mats and zones."""

    names: Names
    mats: Mapping[str, str]  # sides by mat

    def numbers(self, *seen: str) -> dict[str, int]:
        """Number the needed zones from 1, then other visible ones."""
        needed = (f"{mat}/{zone}" for mat in (*self.mats, TABLE) for zone in layout_of(mat).zones)
        return {zone: number for number, zone in enumerate(dict.fromkeys((*needed, *seen)), start=1)}

    def title(self, mat: str) -> str:
        return words.side_at(mat, self.names, self.mats) or _("Middle of the table")

    def whole(self, zone: str) -> str:
        """Return a zone with its side: `Ann: battle pile`."""
        return words.zone_name(zone, words.side_at(zone, self.names, self.mats))


def mats_forms(form: Form, called: Called) -> list[dict[str, object]]:
    """Return the mats' zones with typed values; the middle mat has no seat."""
    numbers, what = called.numbers(), (_("Left"), _("Top"), _("Width"), _("Height"))
    return [
        {
            "title": called.title(mat),
            "seat_field": f"seat-{mat}",
            "seat": "" if mat == TABLE else form.get(f"seat-{mat}") or _usual_seat(mat, called.mats),
            "zones": [
                {
                    "name": zone,
                    "number": numbers[zone],
                    "title": words.zone_name(zone, None),
                    "whole": called.whole(zone),
                    "is_needed": kind_of(zone) in NEEDED,
                    "box": _typed_box(form, zone),
                    "fields": [f"{letter}-{zone}" for letter in NUMBERS],
                    "what": what,
                }
                for zone in _zones(mat)
            ],
        }
        for mat in (*called.mats, TABLE)
    ]


def missing(form: Form, called: Called) -> tuple[str, ...]:
    """Return the zones still to be drawn; none if all sides use printed mats."""
    if _has_zones(form, TABLE) and not any(_has_zones(form, mat) for mat in called.mats):
        return ()
    needed = (f"{mat}/{zone}" for mat in called.mats for zone in NEEDED)
    return tuple(zone for zone in needed if not any(_typed_box(form, zone)))


def still_to_draw(zones: Iterable[str], called: Called) -> str:
    """Return the sentence that lists missing zones with their numbers."""
    numbers = called.numbers()
    named = [f"{numbers[zone]} {called.whole(zone)}" for zone in zones]
    more = ["…"] * (len(named) > MOST_NAMED)
    return _("Still to be drawn: %(zones)s.", zones=" · ".join(named[:MOST_NAMED] + more)).replace("….", "…")


def _typed_box(form: Form, zone: str) -> list[str]:
    return [form.get(f"{letter}-{zone}", "").strip() for letter in NUMBERS]


def _has_zones(form: Form, mat: str) -> bool:
    return any(any(_typed_box(form, zone)) for zone in _zones(mat))


def _zones(mat: str) -> Iterator[str]:
    return (f"{mat}/{zone}" for zone in layout_of(mat).zones)


def drawing_of(form: Form, called: Called) -> Drawing:
    """Return the submitted drawing. Raises Problem for invalid numbers, no zones, or a side lacking some zones."""
    found = re.fullmatch(r"(\d{2,5})x(\d{2,5})", form.get("picture", ""), re.ASCII)
    size = (int(found[1]), int(found[2])) if found else USUAL_SIZE
    tables = [table for mat in (*called.mats, TABLE) for table in _tables(form, mat, size, called)]
    lacking = missing(form, called)
    if tables and any(_has_zones(form, mat_of(zone)) for zone in lacking):
        raise Problem(still_to_draw(lacking, called))
    empty = (mat for mat in called.mats if not _has_zones(form, mat))
    seats = {mat: form[f"seat-{mat}"] for mat in empty if f"seat-{mat}" in form}
    try:
        drawing = parse_drawing({"picture": list(size), "zone": tables, "seats": seats} if tables else {})
    except ValueError as error:
        raise Problem(words.capital(words.said(str(error)))) from error
    if drawing is None:
        raise Problem(_("No zone is drawn yet: choose a zone, then draw it on the picture."))
    return drawing


def undrawn(form: Form, called: Called) -> tuple[str, ...]:
    """Return the mats of sides without zones while others have some: they use printed mats."""
    lacking = dict.fromkeys(map(mat_of, missing(form, called)))
    return tuple(mat for mat in lacking if not _has_zones(form, mat))


def _tables(form: Form, mat: str, size: tuple[int, int], called: Called) -> Iterator[dict[str, object]]:
    """Yield a mat's drawn zones for the zone file. Raises Problem for invalid numbers."""
    seat = {} if mat == TABLE else {"seat": form.get(f"seat-{mat}", str(PictureEdge.BOTTOM))}
    for zone in _zones(mat):
        typed = _typed_box(form, zone)
        if not any(typed):
            continue
        if not all(re.fullmatch(r"\d{1,3}([.,]\d{1,3})?", number, re.ASCII) for number in typed):
            wrong = _(
                "%(zone)s: left, top, width and height must be from 0 to 100, in percent of the picture.",
                zone=called.whole(zone),
            )
            raise Problem(wrong)
        shares = [float(number.replace(",", ".")) / 100 for number in typed]
        yield {"name": zone, "rect": [share * size[axis % 2] for axis, share in enumerate(shares)], **seat}


def as_typed(drawing: Drawing) -> dict[str, str]:
    """Return a drawing as form values."""
    typed = {f"seat-{mat}": str(seat) for mat, seat in drawing.seats}
    for zone in drawing.zones:
        (left, right), (top, bottom) = (
            (100 * min(places) / drawing.picture[axis], 100 * max(places) / drawing.picture[axis])
            for axis, places in enumerate(zip(*zone.corners, strict=True))
        )
        typed |= _typed(zone.name, (left, top, right - left, bottom - top))
        typed[f"seat-{zone.mat}"] = str(zone.seat)
    return typed


def _typed(zone: str, box: tuple[float, ...]) -> dict[str, str]:
    return {f"{letter}-{zone}": f"{share:.1f}" for letter, share in zip(NUMBERS, box, strict=True)}


def suggested(mats: Mapping[str, str]) -> dict[str, str]:
    """Return form values for zones as on printed mats, half of the sides above."""
    typed: dict[str, str] = {}
    for seat in (PictureEdge.BOTTOM, PictureEdge.TOP):
        here = [mat for mat in mats if _usual_seat(mat, mats) == seat]
        for place, mat in enumerate(here):
            typed[f"seat-{mat}"] = str(seat)
            typed |= _put_down(layout_of(mat), (place + 0.5) * 100 / len(here), 100 / len(here), seat)
    return typed | _put_down(layout_of(TABLE), 50.0, 100.0, None)


def _usual_seat(mat: str, mats: Mapping[str, str]) -> str:
    return str(PictureEdge.TOP if list(mats).index(mat) % 2 else PictureEdge.BOTTOM)


def _put_down(layout: MatLayout, middle: float, width: float, seat: PictureEdge | None) -> dict[str, str]:
    across, down = layout.size_mm
    high = min(TABLE_HIGH if seat is None else MOST_HIGH, width * down / across / WIDE_SCREEN)
    wide = high * across / down * WIDE_SCREEN
    typed: dict[str, str] = {}
    for name, rect in layout.zones.items():
        w, h = rect.width_mm / across * wide, rect.height_mm / down * high
        x, y = middle - wide / 2 + rect.x_mm / across * wide, rect.y_mm / down * high
        top = {PictureEdge.BOTTOM: 100 - high + y, PictureEdge.TOP: high - y - h}.get(
            seat or PictureEdge.LEFT, 50 - high / 2 + y
        )
        typed |= _typed(f"{layout.id}/{name}", (2 * middle - x - w if seat is PictureEdge.TOP else x, top, w, h))
    return typed
