"""Unread cards on a photographed table: each strip of them is asked about, and nothing else."""

from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np
import pytest

from companion.printing import render
from companion.printing.stickers import sticker_svg
from companion.rules.cards import Card
from companion.simulate.art import mat_image
from companion.tabletop.mat_layout import Rect, side_mat
from companion.vision.counting.photographs import read_photo
from companion.vision.counting.tally import LIKELY
from companion.vision.counting.unread_cards import with_unread
from companion.vision.faces.deck_in_use import faces_of
from companion.vision.mats.localization import Mats, look
from companion.vision.read import gray_of
from companion.vision.view import FACE, STICKER, Sighting

PX_PER_MM = 3.0
MARGIN_MM = 20
LAYOUT = side_mat(1)
FIFTIES, HUNDREDS = LAYOUT.columns[1], LAYOUT.columns[3]
ZONES = LAYOUT.zones.values()
WHITE, NEARLY_WHITE = (250, 250, 250), (236, 240, 243)


@cache
def noise(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).normal(0, 2, shape)


@dataclass
class Table:
    """A table seen from straight above, with or without a mat."""

    image: np.ndarray
    has_mat: bool = True

    def at(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        margin_mm = MARGIN_MM if self.has_mat else 0
        return (x_mm + margin_mm) * PX_PER_MM, (y_mm + margin_mm) * PX_PER_MM

    def lay(
        self, x_mm: float, y_mm: float, name: str = "", colour: tuple[int, ...] = WHITE, size_mm=(57, 88)
    ) -> Sighting:
        """Draw a card with its name in two corners; return the sighting of a reader that knows it."""
        wide, high = size_mm
        corners = [self.at(x_mm + dx, y_mm + dy) for dx, dy in ((0, 0), (wide, 0), (wide, high), (0, high))]
        left, top, right, bottom = (round(v) for v in (*corners[0], *corners[2]))
        cv2.rectangle(self.image, (left, top), (right, bottom), colour, -1)
        cv2.line(self.image, (left, top), (right, top), tuple(0.92 * np.array(colour)), 2)
        for place in ((left + 12, top + 24), (right - 48, bottom - 10)):
            cv2.putText(self.image, name, place, cv2.FONT_HERSHEY_DUPLEX, 0.6, (40, 40, 40), 1)
        face = Card(name) if name else Card.UNKNOWN
        centre = ((left + right) / 2, (top + bottom) / 2)
        zone = "side-1/distance" if self.has_mat else None
        return Sighting(face, None, centre, tuple(corners), zone, False, 0.9, FACE)

    def unread(self, *seen: Sighting) -> list[Sighting]:
        """Return the unread cards found in addition to those seen."""
        return [card for card in self.seen(*seen) if card not in seen]

    def seen(self, *seen: Sighting) -> list[Sighting]:
        """Return the confirmed sightings and the unread cards found."""
        image = np.uint8(np.clip(cv2.GaussianBlur(self.image, (0, 0), 0.8) + noise(self.image.shape), 0, 255))
        mats = look(gray_of(image), Mats(), 0.0, (LAYOUT,)) if self.has_mat else Mats()
        return list(with_unread(image, mats, seen, faces_of("own", None)))

    def shade(self, up_to_px: int) -> None:
        """Add a shadow on the left."""
        soft = cv2.GaussianBlur(np.where(np.arange(self.image.shape[1]) < up_to_px, 0.7, 1.0)[None], (61, 1), 12)
        self.image = np.uint8(self.image * soft[..., None])


@pytest.fixture
def table() -> Table:
    edges = [round(MARGIN_MM * PX_PER_MM)] * 4
    mat = mat_image(LAYOUT, PX_PER_MM)
    return Table(cv2.copyMakeBorder(mat, *edges, cv2.BORDER_CONSTANT, value=(120, 70, 30)))


def faces(card: Sighting) -> list[str]:
    return [name.rpartition("-")[0] for name, _ in card.rivals]


def test_an_empty_mat_has_no_unread_cards(table):
    assert table.unread() == []


@pytest.mark.parametrize("colour", [WHITE, NEARLY_WHITE])
def test_strips_of_a_pale_column_are_asked_about_with_the_face_of_the_top_card(table, colour):
    column = [table.lay(FIFTIES.x_mm + 4 + dx, 162 + 13 * n, "50", colour) for n, dx in enumerate((0, 3, 1))]
    strips = table.unread(column[-1])
    assert [(strip.face, faces(strip), strip.zone) for strip in strips] == 2 * [
        (Card.UNKNOWN, ["50"], "side-1/distance")
    ]
    tops = [strip.corners_px[0][1] for strip in strips]
    assert tops == pytest.approx([table.at(0, y)[1] for y in (162, 175)], abs=4 * PX_PER_MM)


def test_strips_of_a_column_laid_towards_the_middle_are_asked_about(table):
    column = [table.lay(HUNDREDS.x_mm + 4, 196 - 14 * n, "100") for n in range(3)]
    assert len(table.unread(column[-1])) == 2


@pytest.mark.parametrize(("elsewhere", "is_likely"), [(None, False), ("50", True), ("75", False)])
def test_an_unread_whole_card_is_likely_its_columns_distance_if_others_are(table, elsewhere, is_likely):
    told = [table.lay(FIFTIES.x_mm + 4, 190, elsewhere)] if elsewhere else []
    table.lay(HUNDREDS.x_mm + 4, 190)
    (card,) = table.unread(*told)
    assert (faces(card), card.rivals[0][1] >= LIKELY) == (["100"], is_likely)


def test_an_unknown_card_on_visible_ground_is_dropped(table):
    told = table.lay(FIFTIES.x_mm + 4, 180, "50")
    beside = replace(
        told,
        face=Card.UNKNOWN,
        centre_px=table.at(FIFTIES.x_mm + 40, 224),
        corners_px=tuple((x + 10 * PX_PER_MM, y) for x, y in told.corners_px),
    )
    assert table.seen(told, beside) == [told]


def test_an_unknown_dark_card_on_a_columns_heading_is_asked_about(table):
    below, top = (FIFTIES.y_mm + y_mm for y_mm in (2, 26))
    unknown = table.lay(FIFTIES.x_mm + 8, below, colour=(30, 30, 30))
    told = table.lay(FIFTIES.x_mm + 8, top, "50", colour=(32, 32, 32))
    assert unknown.corners_px in [card.corners_px for card in table.seen(told, unknown)]


def test_an_unknown_card_with_a_picture_in_the_grounds_color_is_asked_about(table):
    left, top = table.at(FIFTIES.x_mm + 8, 180)
    ground = tuple(float(level) for level in table.image[round(top) + 60, round(left) + 60])
    unknown = table.lay(FIFTIES.x_mm + 8, 180, colour=ground)
    houses = (round(left), round(top) + 150), (round(left) + 171, round(top) + 200)
    cv2.rectangle(table.image, *houses, (60, 60, 120), -1)
    assert table.seen(unknown) == [unknown]


def test_an_unread_card_among_safeties_is_one_not_seen_yet(table):
    zone = LAYOUT.zones["safety"]
    ace = replace(table.lay(zone.x_mm + 8, 40, "driving-ace"), zone="side-1/safety")
    table.lay(zone.x_mm + 70, 40)
    (card,) = table.unread(ace)
    assert card.zone == "side-1/safety"
    assert "driving-ace" not in faces(card)
    assert {"right-of-way", "extra-tank"} <= set(faces(card))


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_shadow_on_the_mat_is_no_card(table, share):
    told = table.lay(FIFTIES.x_mm + 4, 180, "50")
    table.shade(round(share * table.image.shape[1]))
    assert table.unread(told) == []


@pytest.mark.parametrize(("names", "doubted"), [
    (("25", "50", "75", "100", "25"), ["25"]), (("25", "50", "75", "25", "25"), []), (("25", "50", "75"), []),
])  # fmt: skip
def test_a_single_distance_in_the_wrong_column_is_doubted(table, names, doubted):
    columns = zip(names, LAYOUT.columns[: len(names)], strict=True)
    told = [table.lay(column.x_mm + 4, 190, name) for name, column in columns]
    asked = [card for card in table.seen(*told) if card.face is Card.UNKNOWN]
    assert [faces(card) for card in asked] == [[name, "200"] for name in doubted]


def test_no_card_is_likely_where_a_plate_reaches_onto_the_mat(table):
    told = table.lay(FIFTIES.x_mm + 4, 180, "50")
    middle = tuple(round(v) for v in table.at(HUNDREDS.centre_mm[0], LAYOUT.size_mm[1] + 15))
    cv2.circle(table.image, middle, round(34 * PX_PER_MM), (235, 235, 235), -1)
    (card,) = table.unread(told)
    assert card.rivals[0][1] < LIKELY


def test_nothing_is_asked_beyond_the_pictures_edge(table):
    cut = round(FIFTIES.y_mm + 60) * round(PX_PER_MM)
    table.image = np.ascontiguousarray(table.image[: cut + round(MARGIN_MM * PX_PER_MM)])
    table.image[-3:] = 20  # something dark at the very edge
    assert table.unread() == []


def test_nothing_is_asked_without_visible_ground(table):
    told = table.lay(FIFTIES.x_mm + 4, 180, "50")
    corners = [[(x, y), (x + w, y), (x + w, y + h), (x, y + h)] for x, y, w, h in map(Rect.as_list, ZONES)]
    whole = [replace(told, corners_px=tuple(table.at(*corner) for corner in zone)) for zone in corners]
    assert table.unread(*whole) == []


@pytest.mark.parametrize("kind", ["table", "plain", "checked"])
def test_no_strips_are_sought_around_cards_with_stickers(request, kind):
    table = request.getfixturevalue("table") if kind == "table" else Table(CLOTHS[kind](), has_mat=False)
    table.lay(FIFTIES.x_mm + 4, 162)
    sticker = replace(table.lay(FIFTIES.x_mm + 4, 180, "50"), by=STICKER, card="50-01")
    assert table.unread(sticker) == []


def glued(table: Table, x_mm: float, y_mm: float, card: str) -> Sighting:
    """Draw a card with a sticker at the top left; return the sticker's sighting."""
    face = card.rpartition("-")[0]
    table.lay(x_mm, y_mm, face)
    corners = [table.at(x_mm + dx, y_mm + dy) for dx, dy in ((5, 5), (22, 5), (22, 22), (5, 22))]
    cv2.fillPoly(table.image, [np.int32(corners)], (90, 90, 90))
    centre = tuple(np.mean(corners, axis=0).tolist())
    return Sighting(Card(face), card, centre, tuple(corners), "side-1/distance", False, 0.9, STICKER)


def test_a_card_above_one_with_a_sticker_is_asked_about_once_another_card_lies_alone(table):
    table.lay(FIFTIES.x_mm + 4, 162)
    told = glued(table, FIFTIES.x_mm + 4, 180, "50-01")
    assert table.unread(told) == []
    alone = glued(table, HUNDREDS.x_mm + 4, 180, "100-01")
    (strip,) = table.unread(told, alone)
    assert (strip.face, faces(strip)) == (Card.UNKNOWN, ["50"])
    assert strip.centre_px[1] < told.centre_px[1]


def test_an_unreadable_sticker_on_the_mats_own_print_is_dropped(table):
    alone = glued(table, HUNDREDS.x_mm + 4, 180, "100-01")
    number = [table.at(FIFTIES.x_mm + dx, FIFTIES.y_mm + dy) for dx, dy in ((4, 4), (22, 4), (22, 22), (4, 22))]
    doubtful = replace(
        alone, face=Card.UNKNOWN, card=None, corners_px=tuple(number), centre_px=tuple(np.mean(number, axis=0).tolist())
    )
    assert table.seen(alone, doubtful) == [alone]


@pytest.mark.parametrize("rivals", [(("25-00", 0.4), ("50-00", 0.2)), (("50-00", 0.4), ("75-00", 0.3))])
def test_a_columns_distance_is_likelier_for_a_doubtful_card(table, rivals):
    doubtful = replace(table.lay(FIFTIES.x_mm + 4, 180), rivals=rivals)  # unknown, as it has no name
    (seen,) = table.seen(doubtful)
    assert seen.rivals[0][0] == "50-00"
    assert sum(sure for _, sure in seen.rivals) == pytest.approx(sum(sure for _, sure in rivals), abs=0.01)


def test_unread_cards_are_found_when_a_deck_is_read_by_faces(table):
    table.lay(HUNDREDS.x_mm + 4, 190)
    shot = read_photo(cv2.imencode(".png", table.image)[1].tobytes(), "photograph 1", "own")
    assert [(card.face, faces(card)) for card in shot.view.sightings] == [(Card.UNKNOWN, ["100"])]


# --- Without mats ---------------------------------------------------------------------------------------------


BARE_PX = (780, 990)


def checked() -> np.ndarray:
    y, x = np.indices(BARE_PX) // round(15 * PX_PER_MM)
    return np.uint8(np.array((60, 50, 90)) + 45 * (x % 2 + y % 2)[..., None])


CLOTHS = {"plain": lambda: np.full((*BARE_PX, 3), (60, 90, 40), np.uint8), "checked": checked}


@pytest.fixture(params=CLOTHS.values(), ids=CLOTHS)
def bare(request) -> Table:
    return Table(request.param(), has_mat=False)


@pytest.mark.parametrize("apart_mm", [14, -14])
def test_strips_of_a_column_without_a_mat_are_asked_about(bare, apart_mm):
    column = [bare.lay(120 + dx, 85 + apart_mm * n, "50") for n, dx in enumerate((0, 3, 1))]
    strips = bare.unread(column[-1])
    assert [(strip.face, faces(strip), strip.rivals[0][1]) for strip in strips] == 2 * [(Card.UNKNOWN, ["50"], LIKELY)]
    ys = sorted(strip.centre_px[1] for strip in strips)
    assert ys == pytest.approx(sorted(card.centre_px[1] for card in column[:-1]), abs=3 * PX_PER_MM)


def test_a_card_partly_under_another_is_asked_about(bare):
    beneath, told = bare.lay(100, 80, "50"), bare.lay(116, 80, "50")
    (card,) = bare.unread(told)
    assert card.centre_px == pytest.approx(beneath.centre_px, abs=3 * PX_PER_MM)


def test_an_unread_whole_card_without_a_mat_is_asked_about(bare):
    told, other = bare.lay(60, 80, "50"), bare.lay(180, 90, "50")
    (card,) = bare.unread(told)
    assert card.face is Card.UNKNOWN
    assert card.centre_px == pytest.approx(other.centre_px, abs=3 * PX_PER_MM)


def test_a_lone_card_another_sheet_and_a_shadow_are_not_asked_about(bare):
    bare.lay(200, 60, "50", size_mm=(75, 150))
    told = bare.lay(60, 80, "50")
    bare.shade(270)
    assert bare.unread(told) == []


def test_no_face_is_proposed_in_mixed_columns(bare):
    told = [bare.lay(40, 80, "25"), bare.lay(40, 105, "50")]
    column = [bare.lay(180, 60 + 20 * n, "75") for n in range(2)]
    (card,) = bare.unread(told[1], told[0], column[-1])
    assert card.rivals[0][1] < LIKELY


def test_the_distance_on_top_is_likelier_for_an_unknown_card(bare):
    beneath, told = bare.lay(120, 80, "50"), bare.lay(120, 105, "50")
    unknown = replace(beneath, face=Card.UNKNOWN, confidence=0.0, rivals=(("200-00", 0.4), ("50-00", 0.2)))
    (seen,) = bare.unread(told, unknown)
    assert faces(seen) == ["50", "200"]


def test_covered_cards_are_also_asked_about_when_stickers_are_read(table):
    table.lay(FIFTIES.x_mm + 4, 162)
    for x_mm, y_mm, card in ((FIFTIES.x_mm + 4, 180, "50-01"), (HUNDREDS.x_mm + 4, 180, "100-01")):
        table.lay(x_mm, y_mm)
        code = render.to_image(sticker_svg(card, 20.0), PX_PER_MM)
        left, top = (round(value) for value in table.at(x_mm + 3, y_mm + 3))
        table.image[top : top + code.shape[0], left : left + code.shape[1]] = code
    shot = read_photo(cv2.imencode(".png", table.image)[1].tobytes(), "photograph 1")
    told = [(card.card, faces(card)) for card in shot.view.sightings]
    assert sorted(told, key=str) == [("100-01", []), ("50-01", []), (None, ["50"])]
