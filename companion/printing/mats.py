"""Draw the mats, clear of markers and of the seam between two A4 sheets."""

from __future__ import annotations

from functools import cache

import cv2

from companion.printing import lettering, pictograms
from companion.printing import svg as draw
from companion.printing.printed_words import mat_word
from companion.rules.cards import Card
from companion.tabletop.mat_layout import CARD_MM, DISTANCE_COLUMNS, MARKER_CELLS, ROBOT, TABLE, Marker, MatLayout, Rect

SAND = "#E6DBC1"  # of zones; darker than a card's rim, to show its edge
SHADE = "#D6C8A6"  # of card outlines
_FRAME = draw.paint(SAND, draw.INK, 0.5)
_PLACE = draw.paint("none", SHADE, 1.2)
_PILES = ("draw", "discard")
BESIDE_RULER_MM = 53.0  # from a ruler's start to words right of it
_SIGN_OF = {"battle": Card.ROLL, "speed": Card.SPEED_LIMIT, "safety": Card.RIGHT_OF_WAY}


def mat_svg(layout: MatLayout, language: str = "en") -> str:
    """Return the SVG of a mat, labeled in a language of `common.languages`."""
    width, height = layout.size_mm
    body = [draw.rect(0, 0, width, height, draw.paint(draw.PAPER))]
    for name, rect in layout.zones.items():
        body += _zone(name, rect, layout, language)
    body += [marker_svg(marker) for marker in layout.markers]
    body += [marker_svg(layout.draw_marker)] if layout.draw_marker else []
    margins = {TABLE: _table_margin, ROBOT: _robot_margins}
    margin = margins.get(layout.id, _side_margins)(layout, language)
    return draw.document(width, height, [*body, *margin])


def _zone(name: str, rect: Rect, layout: MatLayout, language: str) -> list[str]:
    frame = draw.rect(rect.x_mm, rect.y_mm, rect.width_mm, rect.height_mm, _FRAME, radius=4)
    if name == "distance":
        return [frame, *_columns(layout.columns, rect, mat_word(name, language))]
    number = [draw.text(name, rect.x_mm + 5, rect.y_mm + 30, 34, weight=800)]
    return [frame, *(number if layout.id == ROBOT else _heading(name, rect, language)), *_places(name, rect)]


def _heading(name: str, rect: Rect, language: str) -> list[str]:
    x, y = rect.x_mm + 6, rect.y_mm + 16
    sign = [draw.group(pictograms.sign(_SIGN_OF[name]), x=x + 6.5, y=y - 1.5, scale=0.13)] if name in _SIGN_OF else []
    x += 17 if sign else 0
    room = rect.x_mm + rect.width_mm - x - 4
    word, hint = mat_word(name, language).upper(), mat_word(f"{name}-hint", language)
    title = draw.text(word, x, y, min(15, room / lettering.outline(word, 800).width_em), weight=800)
    size = min(5.6, room / lettering.outline(hint).width_em)
    hint_y = rect.y_mm + rect.height_mm - 7 if name in _PILES else y + 7
    return [*sign, title, draw.text(hint, x, hint_y, size)]


def _places(name: str, rect: Rect) -> list[str]:
    """Draw card outlines: two for safeties, else one."""
    count = 2 if name == "safety" else 1
    width, height = CARD_MM
    gap = (rect.width_mm - count * width) / (count + 1)
    y = rect.centre_mm[1] - height / 2 if name in _PILES else rect.y_mm + rect.height_mm - height - 8
    return [draw.rect(rect.x_mm + gap + i * (width + gap), y, width, height, _PLACE, radius=3) for i in range(count)]


def _columns(columns: tuple[Rect, ...], zone: Rect, word: str) -> list[str]:
    bottom = zone.y_mm + zone.height_mm
    shapes = [draw.text(f"{word.upper()} · km", zone.x_mm + 2, zone.y_mm - 2.6, 7.5, weight=800)]
    for rect, figure in zip(columns, DISTANCE_COLUMNS, strict=True):
        x, y = rect.x_mm, rect.y_mm
        line = draw.line(x, y, x, bottom, draw.paint("none", draw.INK, 0.3))
        place = draw.rect(x + (rect.width_mm - CARD_MM[0]) / 2, bottom - CARD_MM[1] - 6, *CARD_MM, _PLACE, radius=3)
        number = draw.text(figure, x + 5, y + 20.2, 20, weight=800)
        stone = draw.group(pictograms.milestone(draw.INK), x=x + rect.width_mm - 10, y=y + 13.2, scale=1.85)
        shapes += [place, number, stone, *([line] if x > zone.x_mm else [])]
    return shapes


def _side_margins(layout: MatLayout, language: str) -> list[str]:
    width, height = layout.size_mm
    number = layout.id.rpartition("-")[2]
    mark = draw.group(pictograms.badge(int(number)), x=26, y=92, scale=0.36)
    left = [mark, draw.fitted(f"{mat_word('side', language).upper()} {number}", 26, 121, 12, 31)]
    ways = _ways(layout, mat_word("up", language), 70, mat_word("edge", language), height - 66)
    rulers = [draw.group(ruler(language), x=x, y=205, turn=-90) for x in (25, width - 27)]
    return [*left, *ways, *rulers]


def _ways(layout: MatLayout, beyond: str, beyond_y: float, edge: str, edge_y: float) -> list[str]:
    """Draw arrows away from the player (right, labeled `beyond`) and toward them (left, `edge`)."""
    width, height = layout.size_mm
    return [
        draw.group(pictograms.drawing("roll"), x=width - 26, y=beyond_y, scale=0.26),
        draw.fitted(beyond, width - 26, beyond_y + 17, 5.2, 32, weight=600),
        draw.fitted(edge, 26, height - 56, 5.2, 32, weight=600),
        draw.group(pictograms.drawing("roll"), x=26, y=edge_y, scale=0.12, turn=180),
    ]


def _table_margin(layout: MatLayout, language: str) -> list[str]:
    width, height = layout.size_mm
    word, size = mat_word("table", language).upper(), 15
    beside = lettering.outline(word, 800).width_em * size / 2 + 7
    name = draw.fitted(word, width / 2 + 5, 24, size, 80)
    stone = draw.group(pictograms.milestone(draw.INK), x=width / 2 + 5 - beside, y=23.8, scale=1.7)
    return [name, stone, draw.group(ruler(language), x=width / 2 - 25, y=height - 21)]


def _robot_margins(layout: MatLayout, language: str) -> list[str]:
    width, height = layout.size_mm
    slots = layout.zones.values()
    x, room = min(rect.x_mm for rect in slots), min(rect.width_mm for rect in slots)
    face = draw.group(pictograms.drawing("robot"), x=x + 8, y=29, scale=2.4)
    name = draw.text(mat_word("robot-hand", language).upper(), x + 20, 35, 19, weight=800)
    # right of the seam
    hint = mat_word("robot-hint", language)
    size = min(7, 3.2 * room / lettering.outline(hint).width_em)
    ways = _ways(layout, mat_word("people", language), 66, mat_word("helper", language), height - 68)
    scale = draw.group(ruler(language), x=width - 27, y=150, turn=-90)
    return [face, name, draw.text(hint, width - x, 35, size, anchor=1), *ways, scale]


def ruler_words(language: str) -> str:
    """Return the request to check a ruler's length."""
    return f"{mat_word('scale', language)}: {mat_word('scale-ask', language)}"


def ruler(language: str, *, beside_mm: float | None = None) -> list[str]:
    """Draw a 50 mm line from (0, 0), and `ruler_words` below it or, in letters of `beside_mm`, right of it."""
    look = draw.paint("none", draw.INK, 0.3)
    ends = [draw.line(x, -2, x, 0, look) for x in (0.15, 49.85)]
    ticks = [*ends, *(draw.line(x, -1, x, 0, look) for x in range(10, 50, 10))]
    words = ruler_words(language)
    if beside_mm is None:
        said = draw.text(words, 25, 4.6, min(4.2, 52 / lettering.outline(words).width_em), anchor=0.5)
    else:
        said = draw.text(words, BESIDE_RULER_MM, 0, beside_mm)
    return [draw.line(0, 0, 50, 0, look), *ticks, said]


def marker_svg(marker: Marker) -> str:
    """Draw a marker with a white border of two cells."""
    x, y, side = marker.square.x_mm, marker.square.y_mm, marker.square.width_mm
    cell = side / MARKER_CELLS
    white = draw.rect(x - 2 * cell, y - 2 * cell, side + 4 * cell, side + 4 * cell, draw.paint(draw.WHITE))
    return white + draw.group([draw.path(marker_cells(marker.id), draw.paint(draw.BLACK))], x=x, y=y, scale=cell)


@cache
def marker_cells(marker_id: int) -> str:
    """Return a marker's black cells as path data, one unit per cell."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12)
    bits = cv2.aruco.generateImageMarker(dictionary, marker_id, MARKER_CELLS)
    # Holes run the other way round: the non-zero rule leaves them empty.
    holes = [f"M{x} {y}v1h1v-1z" for y in range(MARKER_CELLS) for x in range(MARKER_CELLS) if bits[y, x]]
    return f"M0 0h{MARKER_CELLS}v{MARKER_CELLS}h-{MARKER_CELLS}z" + "".join(holes)
