"""Texts on printed sheets: in every language they fit the page and do not overlap."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from companion.common.languages import LANGUAGES
from companion.printing import deck, lettering, sheets, stickers, write
from companion.printing import svg as draw
from companion.printing.label_sheets import label_sheet
from companion.printing.sheets import A4_MM, MARGIN_MM
from companion.printing.write import Wanted
from companion.rules.editions.edition import edition_names, load_edition
from companion.tabletop.card_ids import card_ids
from companion.tabletop.mat_layout import CARD_MM

WANTED = {
    "stickers": Wanted("stickers", "classic"),
    "small stickers": Wanted("stickers", "rush", size_mm=12.0),
    "large tags": Wanted("stickers", "rush", size_mm=57.0, sticker_kind="tag"),
    **{
        f"labels {name}": Wanted("stickers", "rush", labels=label_sheet(name))
        for name in ("L7651", "L7120", "4608", "6570")
    },
    "mats": Wanted("mats", "classic"),
    "robot": Wanted("robot", "classic"),
    **{f"deck of {edition}": Wanted("deck", edition) for edition in edition_names()},
}


@dataclass(frozen=True)
class Inked:
    """A text's extent on its page in mm: left, top, right, bottom."""

    words: str
    box: tuple[float, float, float, float]

    def overlaps(self, other: "Inked") -> bool:
        """True if the texts share more than a hair's breadth."""
        (left, top, right, bottom), (left2, top2, right2, bottom2) = self.box, other.box
        return min(right, right2) - max(left, left2) > 0.05 and min(bottom, bottom2) - max(top, top2) > 0.05

    def is_within(self, width_mm: float, height_mm: float) -> bool:
        left, top, right, bottom = self.box
        return left >= 0 and top >= 0 and right <= width_mm and bottom <= height_mm

    def is_beside(self, width_mm: float, height_mm: float) -> bool:
        """True if the whole text is off the page, as on a mat's other half."""
        left, top, right, bottom = self.box
        return right <= 0 or bottom <= 0 or left >= width_mm or top >= height_mm


@pytest.fixture
def outlined(monkeypatch):
    """Collect all words outlined during a test, by path data."""
    words_of, outline = {}, lettering.outline

    def noted(words: str, *how: float) -> lettering.Lettering:
        found = outline(words, *how)
        words_of[found.data] = words
        return found

    monkeypatch.setattr(lettering, "outline", noted)
    for drawn in (stickers.sticker_svg, stickers.label_svg, deck.face_svg, deck.back_svg):
        drawn.cache_clear()
    return words_of


def texts_of(page: str, words_of: dict[str, str]) -> list[Inked]:
    return list(_inked(ElementTree.fromstring(page), np.eye(3), words_of))


def _inked(element: ElementTree.Element, placing: np.ndarray, words_of: dict[str, str]) -> Iterator[Inked]:
    placing = placing @ _placed(element)
    data = element.get("d", "")
    if data and data in words_of:
        points = _points(data) @ placing[:2, :2].T + placing[:2, 2]
        yield Inked(words_of[data], (*points.min(axis=0), *points.max(axis=0)))
    for child in element:
        yield from _inked(child, placing, words_of)


def _placed(element: ElementTree.Element) -> np.ndarray:
    """Return an element's own transformation, (3, 3)."""
    placing = np.eye(3)
    if element.tag.endswith("svg"):
        left, top, *_ = map(float, element.get("viewBox").split())
        placing[:2, 2] = float(element.get("x", 0)) - left, float(element.get("y", 0)) - top
    for name, numbers in re.findall(r"(\w+)\(([^)]+)\)", element.get("transform", "")):
        values, step = [float(number) for number in numbers.split()], np.eye(3)
        if name == "translate":
            step[:2, 2] = values
        elif name == "scale":
            step[:2, :2] *= values[0]
        else:
            turn = np.radians(values[0])
            step[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        placing = placing @ step
    return placing


@cache
def _points(data: str) -> np.ndarray:
    """Return the points of path data, (N, 2), control points included."""
    x, y, found = 0.0, 0.0, []
    for step, numbers in re.findall(r"([MLHVQCZ])([^MLHVQCZ]*)", data):
        values = [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", numbers)]
        if step == "H":
            points = [(value, y) for value in values]
        elif step == "V":
            points = [(x, value) for value in values]
        else:
            points = list(zip(values[::2], values[1::2], strict=True))
        found += points
        x, y = found[-1]
    return np.array(found)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sheet", WANTED)
def test_texts_fit_their_page_and_do_not_overlap(outlined, sheet, language):
    wanted = WANTED[sheet]
    pages = [page for _, pages in write._pages(replace(wanted, language=language)) for page in pages]

    assert pages
    for page in dict.fromkeys(pages):
        size_mm = draw.size_mm(page)
        texts = [text for text in texts_of(page, outlined) if not text.is_beside(*size_mm)]
        assert [text for text in texts if not text.is_within(*size_mm)] == []
        assert [(one.words, other.words) for one, other in combinations(texts, 2) if one.overlaps(other)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_two_texts_at_the_foot_of_a_sheet_have_room_between_them(outlined, language):
    page = sheets.tiled([deck.back_svg()], CARD_MM, "cards", language)[0]
    ruler, remark = (text.box for text in texts_of(page, outlined) if text.box[1] > A4_MM[1] - MARGIN_MM)

    assert remark[0] - ruler[2] >= 4
    assert remark[2] <= A4_MM[0] - MARGIN_MM
    assert ruler[3] - ruler[1] > 3


@pytest.mark.parametrize("edition", edition_names())
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_stays_between_the_quiet_zone_and_the_edges_of_its_sticker(outlined, language, edition):
    for card_id in card_ids(load_edition(edition).deck):
        (name,) = texts_of(stickers.sticker_svg(card_id, 20.0, "qr", language, edition), outlined)
        left, top, right, bottom = name.box

        assert 0.7 < left < right < 19.3, name
        assert 20 <= top < bottom < 22.2, name
        assert bottom - top > 1, name
