"""Pieces of SVG in millimeters, limited to shapes that all renderers draw alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

from companion.printing import lettering

PAPER = "#FBF6E9"
WHITE = "#FFFFFF"
INK = "#23262B"
BLACK = "#000000"
RED = "#C62828"
GREEN = "#1B7F4B"
BLUE = "#0B4EA2"
YELLOW = "#F0B400"

_ROOT = re.compile(r'<svg xmlns="[^"]+" width="([\d.]+)mm" height="([\d.]+)mm" viewBox="[^"]+"')


def num(value: float) -> str:
    """Format a number with at most three decimals."""
    return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")


def document(width_mm: float, height_mm: float, body: Iterable[str]) -> str:
    """Return a complete SVG file."""
    size = f'width="{num(width_mm)}mm" height="{num(height_mm)}mm" viewBox="0 0 {num(width_mm)} {num(height_mm)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(body)}</svg>'


def size_mm(svg: str) -> tuple[float, float]:
    """Return a `document`'s width and height. Raise ValueError for other text."""
    found = _ROOT.match(svg)
    if found is None:
        raise ValueError("not a drawing of ours: its root says no size in millimetres")
    return float(found[1]), float(found[2])


def inner(svg: str) -> str:
    """Return the body of a `document`."""
    return svg[svg.index(">") + 1 : svg.rindex("</svg>")]


def placed(svg: str, x: float, y: float) -> str:
    """Return a `document` for use in another, clipped, with its top left at (x, y)."""
    return window([inner(svg)], x, y, *size_mm(svg), shows=(0, 0))


def window(
    body: Iterable[str], x: float, y: float, width: float, height: float, shows: tuple[float, float] | None = None
) -> str:
    """Return the body clipped to a rectangle at (x, y); it shows the body from `shows`, by default (x, y)."""
    left, top = shows or (x, y)
    box = f"{num(left)} {num(top)} {num(width)} {num(height)}"
    frame = f'x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"'
    return f'<svg {frame} viewBox="{box}">{"".join(body)}</svg>'


def paint(fill: str = "none", stroke: str = "none", width: float = 0.0, *, join: str = "miter") -> str:
    """Return color attributes for a shape's `look`."""
    if stroke == "none":
        return f'fill="{fill}"'
    corners = f' stroke-linejoin="{join}"' if join != "miter" else ""
    return f'fill="{fill}" stroke="{stroke}" stroke-width="{num(width)}"{corners}'


def rect(x: float, y: float, width: float, height: float, look: str, *, radius: float = 0.0) -> str:
    """Return a rectangle with its top left at (x, y)."""
    rounded = f' rx="{num(radius)}" ry="{num(radius)}"' if radius else ""
    return f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"{rounded} {look}/>'


def circle(x: float, y: float, radius: float, look: str) -> str:
    """Return a circle around (x, y)."""
    return f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(radius)}" {look}/>'


def path(data: str, look: str) -> str:
    """Return a path; the PDF writer reads only M L H V Q C Z."""
    return f'<path d="{data}" {look}/>'


def line(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    """Return a straight line; `look` needs a stroke."""
    return path(f"M{num(x1)} {num(y1)}L{num(x2)} {num(y2)}", look)


def polygon(points: Iterable[tuple[float, float]], look: str) -> str:
    """Return a closed polygon."""
    return path("M" + "L".join(f"{num(x)} {num(y)}" for x, y in points) + "Z", look)


def group(body: Iterable[str], *, x: float = 0.0, y: float = 0.0, scale: float = 1.0, turn: float = 0.0) -> str:
    """Return the body scaled, rotated clockwise by `turn` degrees, then moved to (x, y)."""
    steps = [f"translate({num(x)} {num(y)})"]
    steps += [f"rotate({num(turn)})"] if turn else []
    steps += [f"scale({scale:.5g})"] if scale != 1.0 else []
    return f'<g transform="{" ".join(steps)}">{"".join(body)}</g>'


def text(
    words: str,
    x: float,
    y: float,
    size: float,
    *,
    anchor: float = 0.0,
    weight: int = 600,
    fill: str = INK,
    track: float = 0.0,
) -> str:
    """Return outlined words with baseline y; `anchor` 0 starts at x, 0.5 centers, 1 ends there.

    `size` is the em in millimeters (capitals: 0.7 of it), `track` the extra space per letter in ems.
    """
    outline = lettering.outline(words, weight, track)
    return group([path(outline.data, paint(fill))], x=x - anchor * outline.width_em * size, y=y, scale=size / 1000)


def fitted(words: str, x: float, middle: float, size: float, room: float, *, weight: int = 800, fill: str = INK) -> str:
    """Return capitals or digits centered at (x, middle), with em up to `size` and width up to `room`."""
    fit = min(size, room / lettering.outline(words, weight).width_em)
    baseline = middle + fit * lettering.CAP_HEIGHT_EM / 2
    return text(words, x, baseline, fit, anchor=0.5, weight=weight, fill=fill)


def name(words: str, x: float, middle: float, size: float, room: float, *, fill: str = INK) -> str:
    """Return a card's name like `fitted`, in two lines if that makes letters larger."""
    parts = words.split(" ")
    ways = [(" ".join(parts[:at]), " ".join(parts[at:])) for at in range(1, len(parts))]
    lines = min(ways, key=lambda way: _width_em(*way), default=(words, ""))
    fit = min(_SIZE_IN_TWO_LINES * size, room / _width_em(*lines))
    if len(parts) == 1 or fit <= room / _width_em(words):
        return fitted(words, x, middle, size, room, fill=fill)
    away = fit * _LINE_EM / 2
    return "".join(
        fitted(line, x, middle + at, fit, room, fill=fill) for line, at in zip(lines, (-away, away), strict=True)
    )


_SIZE_IN_TWO_LINES, _LINE_EM = 0.47, 0.92
"""Letter size in two lines relative to one line; line distance in ems."""


def _width_em(*lines: str) -> float:
    return max(lettering.outline(line, 800).width_em for line in lines)
