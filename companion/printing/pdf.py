"""Our drawings as PDF: a page's content is the same shapes in the same millimetres, only spelt differently.

It understands the SVG that `companion.printing.svg` writes – groups, placed drawings, paths, rectangles, circles,
flat colours – and nothing else, which is why it stays exact and small.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from math import cos, radians, sin
from xml.etree import ElementTree

POINTS_PER_MM = 72 / 25.4
_ROUND = 0.5522847498
"""How far a Bézier's handles reach, in radii, to draw a quarter of a circle."""

_TOKEN = re.compile(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
_STEP = re.compile(r"(\w+)\(([^)]*)\)")
_COUNT = {"M": 2, "L": 2, "H": 1, "V": 1, "Q": 4, "C": 6, "Z": 0}
_CAPS = {"butt": 0, "round": 1, "square": 2}
_JOINS = {"miter": 0, "round": 1, "bevel": 2}


def write(pages: Sequence[tuple[float, float, str]]) -> bytes:
    """Return a PDF file of pages given as width and height in millimetres and SVG text.

    Raises ValueError for SVG that holds anything else than this program draws.
    """
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for width_mm, height_mm, svg in pages:
        kids.append(f"{len(objects) + 1} 0 R")
        box = f"[0 0 {width_mm * POINTS_PER_MM:.4f} {height_mm * POINTS_PER_MM:.4f}]"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents {len(objects) + 2} 0 R >>".encode())
        packed = zlib.compress(_content(height_mm, svg).encode())
        objects.append(f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    out, offsets = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    count, start = len(objects) + 1, len(out)
    out += f"xref\n0 {count}\n0000000000 65535 f \n{table}".encode()
    out += f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def _content(height_mm: float, svg: str) -> str:
    """Return a page's operators; the first turns millimetres from the top left into points from the bottom left."""
    scale = POINTS_PER_MM
    frame = f"{scale:.7f} 0 0 {-scale:.7f} 0 {height_mm * scale:.4f} cm"
    return "\n".join([frame, *_children(ElementTree.fromstring(svg))])  # noqa: S314 – our own text


def _children(parent: ElementTree.Element) -> Iterator[str]:
    for element in parent:
        tag = element.tag.rpartition("}")[2]
        if tag == "g":
            yield from ("q", *_transform(element.get("transform", "")), *_children(element), "Q")
        elif tag == "svg":
            yield from ("q", *_window(element), *_children(element), "Q")
        else:
            yield from _shape(tag, element)


def _window(element: ElementTree.Element) -> Iterator[str]:
    """A drawing placed on a sheet: moved to its place, nothing painted outside it."""
    x, y = float(element.get("x", 0)), float(element.get("y", 0))
    left, top, width, height = (float(number) for number in element.get("viewBox", "").split())
    yield _operator("cm", 1, 0, 0, 1, x - left, y - top)
    yield f"{_operator('re', left, top, width, height)} W n"


def _shape(tag: str, element: ElementTree.Element) -> Iterator[str]:
    fill, stroke = element.get("fill", "none"), element.get("stroke", "none")
    if fill != "none":
        yield f"{_colour(fill)} rg"
    if stroke != "none":
        caps, joins = _CAPS[element.get("stroke-linecap", "butt")], _JOINS[element.get("stroke-linejoin", "miter")]
        yield f"{_colour(stroke)} RG {element.get('stroke-width')} w {caps} J {joins} j"
    yield from _outline(tag, element)
    yield {(True, True): "B", (True, False): "f", (False, True): "S"}[fill != "none", stroke != "none"]


def _outline(tag: str, element: ElementTree.Element) -> Iterable[str]:
    def size(name: str) -> float:
        return float(element.get(name, 0))

    if tag == "path":
        return _path(element.get("d", ""))
    if tag == "rect":
        return _box(size("x"), size("y"), size("width"), size("height"), size("rx"))
    if tag == "circle":
        radius = size("r")
        return _box(size("cx") - radius, size("cy") - radius, 2 * radius, 2 * radius, radius)
    raise ValueError(f"the PDF writer does not draw <{tag}>")


def _box(x: float, y: float, width: float, height: float, radius: float) -> Iterator[str]:
    """A rectangle with rounded corners; a circle is one that is all corners."""
    if not radius:
        yield f"{x:.4f} {y:.4f} {width:.4f} {height:.4f} re"
        return
    right, bottom, bend = x + width, y + height, radius * (1 - _ROUND)
    yield _operator("m", x + radius, y)
    yield _operator("l", right - radius, y)
    yield _operator("c", right - bend, y, right, y + bend, right, y + radius)
    yield _operator("l", right, bottom - radius)
    yield _operator("c", right, bottom - bend, right - bend, bottom, right - radius, bottom)
    yield _operator("l", x + radius, bottom)
    yield _operator("c", x + bend, bottom, x, bottom - bend, x, bottom - radius)
    yield _operator("l", x, y + radius)
    yield _operator("c", x, y + bend, x + bend, y, x + radius, y)
    yield "h"


def _operator(name: str, *numbers: float) -> str:
    return " ".join([*(f"{number:.4f}" for number in numbers), name])


def _path(data: str) -> Iterator[str]:
    x = y = start_x = start_y = 0.0
    for command, numbers in _commands(data):
        if command.islower():
            along = {"h": (x,), "v": (y,)}.get(command, (x, y))
            numbers = [number + along[i % len(along)] for i, number in enumerate(numbers)]
        kind = command.upper()
        if kind == "Z":
            x, y = start_x, start_y
            yield "h"
            continue
        points = {"H": [*numbers, y], "V": [x, *numbers], "Q": _cubic(x, y, numbers)}.get(kind, numbers)
        yield _operator({"M": "m", "Q": "c", "C": "c"}.get(kind, "l"), *points)
        x, y = points[-2:]
        if kind == "M":
            start_x, start_y = x, y


def _cubic(x: float, y: float, numbers: list[float]) -> list[float]:
    """Return a quadratic curve from (x, y) as the cubic one of the same shape; empty unless given four numbers."""
    if len(numbers) != 4:
        return []
    cx, cy, ex, ey = numbers
    return [x + 2 / 3 * (cx - x), y + 2 / 3 * (cy - y), ex + 2 / 3 * (cx - ex), ey + 2 / 3 * (cy - ey), ex, ey]


def _commands(data: str) -> Iterator[tuple[str, list[float]]]:
    """Path data as single commands, a repeated letter spelt out (after M comes L)."""
    tokens, command, at = _TOKEN.findall(data), "", 0
    while at < len(tokens):
        if tokens[at].isalpha():
            command, at = tokens[at], at + 1
        if command.upper() not in _COUNT:
            raise ValueError(f"the PDF writer does not draw the path command {command!r}")
        count = _COUNT[command.upper()]
        yield command, [float(token) for token in tokens[at : at + count]]
        at += count
        command = {"M": "L", "m": "l"}.get(command, command)


def _transform(steps: str) -> Iterator[str]:
    for name, numbers in _STEP.findall(steps):
        values = [float(number) for number in numbers.split()]
        yield " ".join(f"{value:.6f}" for value in _matrix(name, values)) + " cm"


def _matrix(name: str, values: list[float]) -> tuple[float, ...]:
    if name == "translate":
        return 1, 0, 0, 1, values[0], values[1]
    if name == "scale":
        return values[0], 0, 0, values[-1], 0, 0
    if name == "rotate":
        turn = radians(values[0])
        return cos(turn), sin(turn), -sin(turn), cos(turn), 0, 0
    raise ValueError(f"the PDF writer does not know the transform {name!r}")


def _colour(name: str) -> str:
    """`#RRGGBB` as three numbers from 0 to 1."""
    return " ".join(f"{int(name[i : i + 2], 16) / 255:.4f}" for i in (1, 3, 5))
