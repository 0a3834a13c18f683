"""The mats: zones with their names, markers at the corners, from the plan in `companion.layout`."""

from __future__ import annotations

from functools import cache

import cv2

from companion.layout import MARKER_MM, Marker, MatLayout
from companion.printing import svg as draw

MARKER_CELLS = 8
_DICTIONARY = cv2.aruco.DICT_ARUCO_MIP_36h12


def mat_svg(layout: MatLayout) -> str:
    """A whole mat, `layout.size_mm` large."""
    width, height = layout.size_mm
    body = [draw.rect(0, 0, width, height, draw.paint(draw.PAPER))]
    body += [
        draw.rect(r.x_mm, r.y_mm, r.width_mm, r.height_mm, draw.paint("none", draw.INK, 0.4), radius=3)
        for r in layout.zones.values()
    ]
    body += [marker_svg(marker) for marker in layout.markers]
    body += [marker_svg(layout.draw_marker)] if layout.draw_marker else []
    return draw.document(width, height, body)


def marker_svg(marker: Marker) -> str:
    """A marker in black cells on white, two cells of white around it."""
    cell = MARKER_MM / MARKER_CELLS
    x, y, side = marker.square.x_mm, marker.square.y_mm, marker.square.width_mm
    white = draw.rect(x - 2 * cell, y - 2 * cell, side + 4 * cell, side + 4 * cell, draw.paint(draw.WHITE))
    return white + draw.group([draw.path(_cells(marker.id), draw.paint(draw.BLACK))], x=x, y=y, scale=cell)


@cache
def _cells(marker_id: int) -> str:
    """The marker as one path, a unit a cell: the black square with its white cells cut out of it."""
    bits = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(_DICTIONARY), marker_id, MARKER_CELLS)
    # A hole runs the other way round than the square, so the non-zero rule leaves it empty.
    holes = [f"M{x} {y}v1h1v-1z" for y in range(MARKER_CELLS) for x in range(MARKER_CELLS) if bits[y, x]]
    return f"M0 0h{MARKER_CELLS}v{MARKER_CELLS}h-{MARKER_CELLS}z" + "".join(holes)
