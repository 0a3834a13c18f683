"""Zones drawn on the camera's picture, as the form shows and sends them: in hundredths of its width and height."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from companion.common.errors import Problem
from companion.pages.table_camera.survey_view import TABLE, Called, layout_of
from companion.pages.words import N_, _
from companion.tabletop.drawn_zones import NEEDED, Drawing, DrawnZone, Seat, parse_drawing
from companion.tabletop.mat_layout import MatLayout

Form = Mapping[str, str]
NUMBERS = ("x", "y", "w", "h")
USUAL_SIZE = (1920, 1080)
SEATS = (
    (Seat.BOTTOM, N_("below the picture")),
    (Seat.LEFT, N_("left of the picture")),
    (Seat.TOP, N_("above the picture")),
    (Seat.RIGHT, N_("right of the picture")),
)
MOST_HIGH, TABLE_HIGH = 40.0, 16.0
"""How high a side's mat and the table's would be on the picture that zones are put on to begin with, in hundredths."""

MOST_NAMED = 4
"""As many zones as are named at once: more would be a list longer than the page."""

WIDE_SCREEN = 9 / 16


@dataclass(frozen=True, slots=True)
class ZoneForm:
    """A zone of the list."""

    name: str
    number: int
    title: str
    whole: str
    is_needed: bool
    numbers: tuple[tuple[str, str, str], ...]
    """Field, what it is, and what is typed: left edge, top edge, width and height."""

    @property
    def is_drawn(self) -> bool:
        return all(typed for _field, _what, typed in self.numbers)

    @property
    def box(self) -> tuple[str, ...]:
        return tuple(typed for _field, _what, typed in self.numbers)


@dataclass(frozen=True, slots=True)
class MatForm:
    """The zones of a side, or of the table's middle."""

    title: str
    seat_field: str
    seat: str
    """Empty for the table's middle, where nobody sits."""

    zones: tuple[ZoneForm, ...]


def mats_forms(form: Form, called: Called) -> tuple[MatForm, ...]:
    """The list of the zones that the match needs, with what is typed."""
    numbers = called.numbers()
    forms = []
    for mat in (*called.mats, TABLE):
        zones = tuple(_zone_form(form, name, numbers[name], called) for name in _zones(mat))
        seat = "" if mat == TABLE else form.get(_seat_field(mat)) or _usual_seat(mat, called.mats)
        forms.append(MatForm(called.title(mat), _seat_field(mat), seat, zones))
    return tuple(forms)


def missing(form: Form, called: Called) -> tuple[str, ...]:
    """The zones that still have to be drawn, as they are typed; none where all sides play on printed mats."""
    sides = [mat for mat in called.mats if any(_is_typed(form, zone) for zone in _zones(mat))]
    if not sides and any(_is_typed(form, zone) for zone in _zones(TABLE)):
        return ()
    needed = (f"{mat}/{zone}" for mat in called.mats for zone in NEEDED)
    return tuple(zone for zone in needed if not _is_typed(form, zone))


def still_to_draw(zones: Iterable[str], called: Called) -> str:
    """Zones that are missing, in a sentence: with their numbers, as they stand in the list."""
    numbers = called.numbers()
    named = [f"{numbers[zone]} {called.whole(zone)}" for zone in zones]
    more = ["…"] * (len(named) > MOST_NAMED)
    return _("Still to be drawn: %(zones)s.", zones=" · ".join(named[:MOST_NAMED] + more)).replace("….", "…")


def _is_typed(form: Form, zone: str) -> bool:
    return any(form.get(_field(letter, zone), "").strip() for letter in NUMBERS)


def _zone_form(form: Form, name: str, number: int, called: Called) -> ZoneForm:
    what = (_("Left"), _("Top"), _("Width"), _("Height"))
    fields = [_field(letter, name) for letter in NUMBERS]
    return ZoneForm(
        name=name,
        number=number,
        title=called.zone(name),
        whole=called.whole(name),
        is_needed=name.partition("/")[2] in NEEDED,
        numbers=tuple((field, said, form.get(field, "").strip()) for field, said in zip(fields, what, strict=True)),
    )


def _zones(mat: str) -> Iterator[str]:
    return (f"{mat}/{zone}" for zone in layout_of(mat).zones)


def _field(letter: str, zone: str) -> str:
    return f"{letter}-{zone}"


def _seat_field(mat: str) -> str:
    return f"seat-{mat}"


# From the form to a drawing


def drawing_of(form: Form, called: Called) -> Drawing:
    """The drawing that was sent; a side may have all that it needs or nothing. Raises Problem for what is wrong."""
    size = _size(form.get("picture", ""))
    tables = [table for mat in (*called.mats, TABLE) for table in _tables(form, mat, size, called)]
    lacking = missing(form, called)
    if tables and _half_drawn(form, lacking):
        raise Problem(still_to_draw(lacking, called))
    try:
        drawing = parse_drawing(
            {"picture": list(size), "zone": tables, "seats": _seats(form, called)} if tables else {}
        )
        if drawing is None:
            raise Problem(_("Nothing is drawn yet: choose a zone, and draw it on the picture."))
    except ValueError as error:
        raise Problem(_sentence(called.in_sentence(str(error)))) from error
    return drawing


def _seats(form: Form, called: Called) -> dict[str, str]:
    """What was chosen for sides that have no zone yet."""
    mats = (mat for mat in called.mats if not any(_is_typed(form, zone) for zone in _zones(mat)))
    return {mat: form[_seat_field(mat)] for mat in mats if _seat_field(mat) in form}


def undrawn(form: Form, called: Called) -> tuple[str, ...]:
    """The mats of sides that have no zone where others have: they play on printed mats."""
    lacking = dict.fromkeys(zone.partition("/")[0] for zone in missing(form, called))
    return tuple(mat for mat in lacking if not any(_is_typed(form, zone) for zone in _zones(mat)))


def _half_drawn(form: Form, lacking: Iterable[str]) -> bool:
    """Whether a side has some of its zones and lacks others: such a drawing is none."""
    mats = {zone.partition("/")[0] for zone in lacking}
    return any(_is_typed(form, zone) for mat in mats for zone in _zones(mat))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{2,5})x(\d{2,5})", text, re.ASCII)
    return (int(found[1]), int(found[2])) if found else USUAL_SIZE


def _tables(form: Form, mat: str, size: tuple[int, int], called: Called) -> Iterator[dict[str, object]]:
    for zone in _zones(mat):
        typed = [form.get(_field(letter, zone), "").strip() for letter in NUMBERS]
        if any(typed):
            seat = {} if mat == TABLE else {"seat": form.get(_seat_field(mat), str(Seat.BOTTOM))}
            yield {"name": zone, "rect": _rect(typed, size, called.whole(zone)), **seat}


def _rect(typed: list[str], size: tuple[int, int], whole: str) -> list[float]:
    if not all(re.fullmatch(r"\d{1,3}([.,]\d{1,3})?", number, re.ASCII) for number in typed):
        wrong = _(
            "%(zone)s: left, top, width and height are numbers from 0 to 100, in hundredths of the picture.", zone=whole
        )
        raise Problem(wrong)
    shares = [float(number.replace(",", ".")) / 100 for number in typed]
    return [share * size[axis % 2] for axis, share in enumerate(shares)]


# From a drawing to the form


def as_typed(drawing: Drawing) -> dict[str, str]:
    """A drawing as the form would send it."""
    typed = {_seat_field(mat): str(seat) for mat, seat in drawing.seats}
    for zone in drawing.zones:
        typed |= _typed(zone.name, _box(zone, drawing.picture))
        typed[_seat_field(zone.mat)] = str(zone.seat)
    return typed


def _box(zone: DrawnZone, size: tuple[int, int]) -> tuple[float, float, float, float]:
    """Left, top, width and height, in hundredths."""
    (left, right), (top, bottom) = (
        (100 * min(places) / size[axis], 100 * max(places) / size[axis])
        for axis, places in enumerate(zip(*zone.corners, strict=True))
    )
    return left, top, right - left, bottom - top


def _typed(zone: str, box: tuple[float, ...]) -> dict[str, str]:
    return {_field(letter, zone): f"{share:.1f}" for letter, share in zip(NUMBERS, box, strict=True)}


def suggested(mats: Mapping[str, str]) -> dict[str, str]:
    """All zones as on printed mats to begin with, to be drawn to where they are: half of the sides sit above."""
    typed: dict[str, str] = {}
    for seat in (Seat.BOTTOM, Seat.TOP):
        here = [mat for mat in mats if _usual_seat(mat, mats) == seat]
        for place, mat in enumerate(here):
            typed[_seat_field(mat)] = str(seat)
            typed |= _put_down(layout_of(mat), (place + 0.5) * 100 / len(here), 100 / len(here), seat)
    return typed | _put_down(layout_of(TABLE), 50.0, 100.0, None)


def _usual_seat(mat: str, mats: Mapping[str, str]) -> str:
    """The sides sit below and above the picture in turn."""
    return str(Seat.TOP if list(mats).index(mat) % 2 else Seat.BOTTOM)


def _put_down(layout: MatLayout, middle: float, width: float, seat: Seat | None) -> dict[str, str]:
    """A mat's zones round the middle of a part of the picture, at the edge of who sits there or half way up."""
    across, down = layout.size_mm
    high = min(TABLE_HIGH if seat is None else MOST_HIGH, width * down / across / WIDE_SCREEN)
    wide = high * across / down * WIDE_SCREEN
    typed: dict[str, str] = {}
    for name, rect in layout.zones.items():
        w, h = rect.width_mm / across * wide, rect.height_mm / down * high
        x, y = middle - wide / 2 + rect.x_mm / across * wide, rect.y_mm / down * high
        top = {Seat.BOTTOM: 100 - high + y, Seat.TOP: high - y - h}.get(seat or Seat.LEFT, 50 - high / 2 + y)
        typed |= _typed(f"{layout.id}/{name}", (2 * middle - x - w if seat is Seat.TOP else x, top, w, h))
    return typed
