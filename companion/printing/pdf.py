"""Convert SVG of `companion.printing.svg`, and no other, to PDF."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain
from math import radians
from xml.etree import ElementTree

from fontTools.misc.transform import Identity
from fontTools.pens.basePen import BasePen
from fontTools.svgLib.path import parse_path
from fontTools.svgLib.path.shapes import PathBuilder

from companion.printing.svg import size_mm

Point = tuple[float, float]
POINTS_PER_MM = 72 / 25.4
_STEP = re.compile(r"(\w+)\(([^)]*)\)")
_CAPS = {"butt": 0, "round": 1, "square": 2}
_JOINS = {"miter": 0, "round": 1, "bevel": 2}


def write(pages: Sequence[str]) -> bytes:
    """Return a vector PDF file with one page per drawing. Raise ValueError for other SVG."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for svg in pages:
        width_mm, height_mm = size_mm(svg)
        kids.append(f"{len(objects) + 1} 0 R")
        box = f"[0 0 {width_mm * POINTS_PER_MM:.4f} {height_mm * POINTS_PER_MM:.4f}]"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents {len(objects) + 2} 0 R >>".encode())
        # from millimeters (top left) to points (bottom left)
        frame = f"{POINTS_PER_MM:.7f} 0 0 {-POINTS_PER_MM:.7f} 0 {height_mm * POINTS_PER_MM:.4f} cm"
        content = "\n".join([frame, *_children(ElementTree.fromstring(svg))])  # noqa: S314 – our own text
        packed = zlib.compress(content.encode())
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
    """Place a drawing on a sheet, clipped."""
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
    builder, pen = PathBuilder(), _Pen()
    if not builder.add_path_from_element(element):
        raise ValueError(f"the PDF writer does not draw <{tag}>")
    # The builder leaves circles open.
    parse_path(builder.paths[0] + "z" * (tag == "circle"), pen)
    yield from pen.operators
    yield {(True, True): "B", (True, False): "f", (False, True): "S"}[fill != "none", stroke != "none"]


class _Pen(BasePen):
    """Collects PDF operators."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[str] = []

    def _moveTo(self, point: Point) -> None:  # noqa: N802
        self._start = _operator("l", *point)
        self.operators.append(_operator("m", *point))

    def _lineTo(self, point: Point) -> None:  # noqa: N802
        self.operators.append(_operator("l", *point))

    def _curveToOne(self, *points: Point) -> None:  # noqa: N802
        self.operators.append(_operator("c", *chain(*points)))

    def _closePath(self) -> None:  # noqa: N802
        if self.operators[-1] == self._start:
            self.operators.pop()
        self.operators.append("h")


def _operator(name: str, *numbers: float) -> str:
    return " ".join([*(f"{number:.4f}" for number in numbers), name])


def _transform(steps: str) -> Iterator[str]:
    for name, numbers in _STEP.findall(steps):
        values = [float(number) for number in numbers.split()]
        if name == "rotate":
            values = [radians(value) for value in values]
        matrix = getattr(Identity, name)(*values)
        yield " ".join(f"{value:.6f}" for value in matrix) + " cm"


def _colour(name: str) -> str:
    return " ".join(f"{int(name[i : i + 2], 16) / 255:.4f}" for i in (1, 3, 5))
