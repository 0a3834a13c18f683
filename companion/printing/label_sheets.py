from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from companion.common import toml_text
from companion.common.errors import Problem
from companion.common.spelling import shown
from companion.tabletop.mat_layout import CARD_MM

Lengths = tuple[float, float]  # across, down
PAPERS_MM: Mapping[str, Lengths] = {"A4": (210.0, 297.0), "Letter": (215.9, 279.4)}

BESIDE_MM, BELOW_MM = 12.0, 5.0  # minimum room for sign and name
SLACK_MM = 0.5  # of that room may be missing; a fifth of it for a code
_MEASURED = re.compile(
    r"([0-9]{1,2})x([0-9]{1,2})"
    + r",([0-9]{1,3}(?:\.[0-9]{1,3})?)x([0-9]{1,3}(?:\.[0-9]{1,3})?)" * 2
    + "(,letter|,a4)?"
)


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """A sheet of adhesive labels."""

    name: str
    paper: str  # one of `PAPERS_MM`
    grid: tuple[int, int]  # labels across, down
    margin_mm: Lengths  # to the first label
    pitch_mm: Lengths  # from one label to the next
    label_mm: Lengths
    maker: str = ""
    also: tuple[str, ...] = ()  # other numbers for the same geometry

    @property
    def title(self) -> str:
        return f"{self.maker} {self.name}".strip()

    @property
    def each(self) -> int:
        """Labels per sheet."""
        return self.grid[0] * self.grid[1]

    def sheets_for(self, count: int) -> int:
        return -(-count // self.each)

    def is_name_below(self, code_mm: float) -> bool:
        """True if a card's name goes below its code, as on square labels."""
        width, height = self.label_mm
        return height + SLACK_MM >= code_mm + BELOW_MM and (width <= height or width < code_mm + BESIDE_MM)

    def check(self, code_mm: float) -> None:
        """Raise Problem unless a code of this width and a name fit a label, and the label a card."""
        width, height = self.label_mm
        this = {"sheet": self.title, "width": f"{width:g}", "height": f"{height:g}"}
        has_room = width + SLACK_MM >= code_mm + BESIDE_MM and height + SLACK_MM / 5 >= code_mm
        if not has_room and not (self.is_name_below(code_mm) and width + SLACK_MM / 5 >= code_mm):
            raise Problem(
                "The labels of %(sheet)s are %(width)s × %(height)s mm, and a sticker of %(code)s mm with its name"
                " takes %(beside)s × %(code)s mm or %(code)s × %(below)s mm: choose another sheet or smaller stickers.",
                **this,
                code=f"{code_mm:g}",
                beside=f"{code_mm + BESIDE_MM:g}",
                below=f"{code_mm + BELOW_MM:g}",
            )
        if width > CARD_MM[0] or height > CARD_MM[1]:
            raise Problem(
                "The labels of %(sheet)s are %(width)s × %(height)s mm, too large for a card of %(card)s mm: "
                "choose another sheet.",
                **this,
                card=f"{CARD_MM[0]:g} × {CARD_MM[1]:g}",
            )


@cache
def known_sheets() -> Mapping[str, LabelSheet]:
    """Return the sheets of `label_sheets.toml` by number."""
    tables = toml_text.load((Path(__file__).parent / "label_sheets.toml").read_text("utf-8"))
    return {name: LabelSheet(name, **_values(table)) for name, table in tables.items()}


def _values(table: Mapping[str, object]) -> dict[str, object]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items() if key != "source"}


def label_sheet(text: str) -> LabelSheet:
    """Return the sheet with a manufacturer's number, or with measurements like `5x13,4.7x10.7,40.6x21.2`.

    These are columns × rows, left and upper margin, and steps between labels in millimeters. Opposite margins are
    assumed equal. Append `,letter` for that paper. Raise Problem for unknown numbers and labels that do not fit.
    """
    plain = re.sub(r"\s", "", text).replace("×", "x")
    by_number = {number.upper(): sheet for sheet in known_sheets().values() for number in (sheet.name, *sheet.also)}
    if plain.upper() in by_number:
        return by_number[plain.upper()]
    found = _MEASURED.fullmatch(plain.lower())
    if found is None:
        raise Problem(
            "Unknown label sheet '%(text)s': choose one of %(known)s, or give columns × rows, margins and steps "
            "in millimeters, such as %(example)s.",
            text=shown(text),
            known=", ".join(known_sheets()),
            example="5x13,4.7x10.7,40.6x21.2",
        )
    columns, rows, left, top, across, down = (float(number) for number in found.groups()[:6])
    paper = "Letter" if found[7] == ",letter" else "A4"
    width_mm, height_mm = PAPERS_MM[paper]
    # Labels do not overlap.
    width = min(round(width_mm - 2 * left - (columns - 1) * across, 2), across)
    height = min(round(height_mm - 2 * top - (rows - 1) * down, 2), down)
    # Labels under half a step mean a wrong measurement.
    is_cramped = (columns > 1 and width < across / 2) or (rows > 1 and height < down / 2)
    if min(columns, rows, width, height) <= 0 or is_cramped:
        raise Problem(
            "%(columns)d × %(rows)d labels in steps of %(across)s × %(down)s mm do not fit on %(paper)s: measure the"
            " steps from one label's edge to the next one's.",
            columns=int(columns),
            rows=int(rows),
            across=f"{across:g}",
            down=f"{down:g}",
            paper=paper,
        )
    return LabelSheet(plain.lower(), paper, (int(columns), int(rows)), (left, top), (across, down), (width, height))
