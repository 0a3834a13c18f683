"""The colour and the shape of each side: on its mat, its car, its panel and its line in a chart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SideMark:
    """What tells a side from the others: a colour, and a shape that does without it."""

    shape: str  # the shape as path data about (0, 0), some 45 units from the middle to its edge
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
"""The marks of sides 1 to 8. Found by a search for colours that stay apart in the eyes of the colour-blind, the first
four most of all: two of them are at least 0.11 apart in OKLab, whichever kind of cone is missing."""
