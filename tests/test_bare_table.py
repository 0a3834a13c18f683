"""Cards passed over on a table without mats: where a card's edge comes again, and what has a card's outline."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.rules.cards import Card
from companion.vision.counting.tally import LIKELY
from companion.vision.counting.unread_cards import with_unread
from companion.vision.faces.deck_in_use import faces_of
from companion.vision.mats.localization import Mats
from companion.vision.view import FACE, STICKER, Sighting

PX_PER_MM = 3.0
SIZE_MM = (330, 260)
WHITE = (240, 243, 245)


def plain() -> np.ndarray:
    return np.full((round(SIZE_MM[1] * PX_PER_MM), round(SIZE_MM[0] * PX_PER_MM), 3), (60, 90, 40), np.uint8)


def checked() -> np.ndarray:
    y, x = np.mgrid[: round(SIZE_MM[1] * PX_PER_MM), : round(SIZE_MM[0] * PX_PER_MM)] // round(15 * PX_PER_MM)
    return np.uint8(np.array((60, 50, 90)) + 45 * (x % 2 + y % 2)[..., None])


class BareTable:
    """A table seen from straight above."""

    def __init__(self, cloth: np.ndarray) -> None:
        self.image = cloth

    def lay(self, x_mm: float, y_mm: float, name: str = "50", size_mm: tuple[int, int] = (57, 88)) -> Sighting:
        """Lay a card with a frame and its name in two corners; returned is what a reader that knows it says."""
        wide, high = size_mm
        corners = [(x_mm + dx, y_mm + dy) for dx, dy in ((0, 0), (wide, 0), (wide, high), (0, high))]
        corners = [(x * PX_PER_MM, y * PX_PER_MM) for x, y in corners]
        left, top, right, bottom = (round(v) for v in (*corners[0], *corners[2]))
        cv2.rectangle(self.image, (left, top), (right, bottom), WHITE, -1)
        cv2.line(self.image, (left, top), (right, top), tuple(0.92 * np.array(WHITE)), 2)
        for place in ((left + 12, top + 24), (right - 48, bottom - 10)):
            cv2.putText(self.image, name, place, cv2.FONT_HERSHEY_DUPLEX, 0.6, (40, 40, 40), 1)
        centre = ((left + right) / 2, (top + bottom) / 2)
        return Sighting(Card(name), None, centre, tuple(corners), None, False, 0.9, FACE)

    def unread(self, *seen: Sighting) -> list[Sighting]:
        """What lies there besides what was read."""
        noise = np.random.default_rng(1).normal(0, 2, self.image.shape)
        image = np.uint8(np.clip(cv2.GaussianBlur(self.image, (0, 0), 0.8) + noise, 0, 255))
        return [card for card in with_unread(image, Mats(), seen, faces_of("own", None)) if card not in seen]


@pytest.fixture(params=[plain, checked])
def table(request) -> BareTable:
    return BareTable(request.param())


def faces(card: Sighting) -> list[str]:
    return [name.rpartition("-")[0] for name, _ in card.rivals]


@pytest.mark.parametrize("apart_mm", [14, -14])
def test_each_strip_of_a_column_is_asked_about_as_what_lies_upon_it(table, apart_mm):
    column = [table.lay(120 + dx, 85 + apart_mm * n) for n, dx in enumerate((0, 3, 1))]
    strips = table.unread(column[-1])
    assert [(strip.face, faces(strip), strip.rivals[0][1]) for strip in strips] == 2 * [(Card.UNKNOWN, ["50"], LIKELY)]
    ys = sorted(strip.centre_px[1] for strip in strips)
    assert ys == pytest.approx(sorted(card.centre_px[1] for card in column[:-1]), abs=3 * PX_PER_MM)


def test_a_card_beneath_the_side_of_another_is_asked_about(table):
    beneath, told = table.lay(100, 80), table.lay(116, 80)
    (card,) = table.unread(told)
    assert card.centre_px == pytest.approx(beneath.centre_px, abs=3 * PX_PER_MM)


def test_a_whole_card_that_was_not_read_is_asked_about(table):
    told, other = table.lay(60, 80), table.lay(180, 90)
    (card,) = table.unread(told)
    assert card.face is Card.UNKNOWN
    assert card.centre_px == pytest.approx(other.centre_px, abs=3 * PX_PER_MM)


def test_a_lone_card_a_sheet_of_another_size_and_a_shadow_are_none_to_ask_about(table):
    table.lay(200, 60, size_mm=(75, 150))
    told = table.lay(60, 80)
    soft = cv2.GaussianBlur(np.where(np.arange(table.image.shape[1]) < 270, 0.7, 1.0)[None], (61, 1), 12)
    table.image = np.uint8(table.image * soft[..., None])
    assert table.unread(told) == []


def test_where_distances_lie_on_others_none_is_filled_in(table):
    told = [table.lay(40, 80, "25"), table.lay(40, 105, "50")]
    column = [table.lay(180, 60 + 20 * n, "75") for n in range(2)]
    (card,) = table.unread(told[1], told[0], column[-1])
    assert card.rivals[0][1] < LIKELY


def test_an_unknown_card_is_likelier_the_distance_upon_it(table):
    beneath, told = table.lay(120, 80), table.lay(120, 105)
    unknown = replace(beneath, face=Card.UNKNOWN, confidence=0.0, rivals=(("200-00", 0.4), ("50-00", 0.2)))
    (seen,) = table.unread(told, unknown)
    assert faces(seen) == ["50", "200"]


def test_stickers_do_not_tell_how_far_their_cards_reach(table):
    table.lay(120, 80)
    sticker = replace(table.lay(120, 105), by=STICKER, card="50-01")
    assert table.unread(sticker) == []
