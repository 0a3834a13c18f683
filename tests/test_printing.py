"""Printed sheets: exact sizes, readable codes and markers, distinct faces."""

import json
import struct
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path

import cv2
import numpy as np
import own_deck
import pypdfium2
import pytest
import zxingcpp
from fontTools.ttLib import TTFont

from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.common.resources import shipped
from companion.printing import deck, lettering, mats, pdf, printed_words, render, sheets, stickers
from companion.printing import svg as draw
from companion.printing.write import Wanted, about_size, pdf_files, write_sheets
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import load_edition
from companion.rules.table import FULL_HAND
from companion.tabletop.card_ids import card_ids, payload
from companion.tabletop.mat_layout import CARD_MM, all_mats, robot_mat, side_mat, table_mat
from companion.tabletop.sticker_codes import card_of_tag

CLASSIC = load_edition("classic")
IDS = card_ids(CLASSIC.deck)
FACES = tuple(card for card in Card if card is not Card.UNKNOWN)
PX_PER_MM = 8.0


def dark(image: np.ndarray) -> np.ndarray:
    """Return where a picture is nearly black, `(H, W) bool`."""
    return image.max(axis=2) < 100


def page_image(pdf_bytes: bytes, page: int, px_per_mm: float, *, row_mm: float | None = None) -> np.ndarray:
    """Return a rendered page, `(H, W, 3) uint8 BGR`, or only the millimeter below `row_mm`."""
    shown = pypdfium2.PdfDocument(pdf_bytes)[page]
    point = 72 / 25.4
    crop = (0, 0, 0, 0) if row_mm is None else (0, shown.get_height() - (row_mm + 1) * point, 0, row_mm * point)
    return shown.render(scale=px_per_mm / point, crop=crop).to_numpy()[:, :, :3].copy()


def page_sizes_mm(path: Path) -> list[tuple[float, float]]:
    document = pypdfium2.PdfDocument(path)
    return [tuple(round(side / 72 * 25.4, 2) for side in page.get_size()) for page in document]


@pytest.fixture(scope="module")
def sticker_sheet() -> bytes:
    return pdf_files(Wanted("stickers", "classic"))["stickers.pdf"]


# --- Stickers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size_mm", [12.0, 20.0, 28.0, 57.0])
def test_a_code_and_its_quiet_zone_fill_the_sticker_width(size_mm):
    code = dark(render.to_image(stickers.sticker_svg("stop-02", size_mm), PX_PER_MM))[: round(size_mm * PX_PER_MM)]
    ys, xs = np.nonzero(code)
    quiet_mm = size_mm * 2 / 25

    assert xs.min() / PX_PER_MM == pytest.approx(quiet_mm, abs=0.13)
    assert (xs.max() + 1) / PX_PER_MM == pytest.approx(size_mm - quiet_mm, abs=0.13)
    assert ys.min() / PX_PER_MM == pytest.approx(quiet_mm, abs=0.13)


def test_the_card_name_is_below_the_quiet_zone_and_inside_the_sticker():
    ink = render.to_image(stickers.sticker_svg("gasoline-06"), 20.0).max(axis=2) < 250
    quiet_zone, strip, bottom_edge = ink[round(18.4 * 20) + 1 : 400], ink[400:440], ink[444:]

    assert not quiet_zone.any()
    assert strip.any()
    assert not bottom_edge.any()


@pytest.mark.parametrize("kind", stickers.KINDS)
def test_a_code_and_its_quiet_zone_are_the_same_in_every_language(kind):
    drawn = [render.to_image(stickers.sticker_svg("out-of-gas-01", 20.0, kind, each), 20.0) for each in LANGUAGES]

    assert all((image[:400] == drawn[0][:400]).all() for image in drawn)
    assert len({image[400:].tobytes() for image in drawn}) == len(LANGUAGES)


@pytest.mark.parametrize(
    ("card_id", "language", "edition", "words"),
    [
        ("out-of-gas-01", "en", "classic", "Out of Gas 1"), ("out-of-gas-01", "fr", "classic", "Panne d’essence 1"),
        ("roll-03", "en", "bsd-mille", "Go 3"), ("25-10", "fr", "classic", "25 bornes 10"),
    ],
)  # fmt: skip
def test_a_sticker_names_its_card_and_copy_in_the_words_of_the_edition(card_id, language, edition, words):
    assert stickers.sticker_words(card_id, language, edition) == words


def test_cut_out_stickers_have_names_in_the_chosen_language(tmp_path):
    index_of(tmp_path, "stickers", language="fr")

    assert (tmp_path / "flat-tire-02.svg").read_text() == stickers.sticker_svg(
        "flat-tire-02", language="fr", edition="classic"
    )


def test_opencv_reads_the_right_card_from_every_tag():
    for card_id in IDS:
        image = render.to_image(stickers.sticker_svg(card_id, 20.0, "tag"), 4.0)
        around = cv2.copyMakeBorder(image, 8, 8, 8, 8, cv2.BORDER_CONSTANT, value=(255, 255, 255))

        _, ids, _ = detector().detectMarkers(cv2.cvtColor(around, cv2.COLOR_BGR2GRAY))

        assert [card_of_tag(int(tag)) for tag in ids.ravel()] == [card_id]


def test_a_tag_has_a_white_border_and_the_same_id_as_a_code():
    code, tag = (render.to_image(stickers.sticker_svg("roll-03", 20.0, kind), 10.0) for kind in stickers.KINDS)

    inside = dark(tag)[:200]
    ys, xs = np.nonzero(inside)
    assert (xs.min(), xs.max() + 1, ys.min(), ys.max() + 1) == (20, 180, 20, 180)
    assert (dark(tag)[200:] == dark(code)[200:]).all()


# --- Mats ------------------------------------------------------------------------------------------------------


def detector() -> cv2.aruco.ArucoDetector:
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12))


@pytest.mark.variants(3)
@pytest.mark.parametrize("layout", all_mats(), ids=lambda layout: layout.id)
def test_opencv_finds_every_marker_at_its_place_in_the_mat_layout(layout):
    corners, ids, _ = detector().detectMarkers(render.to_image(mats.mat_svg(layout), 3.0))
    found = {int(id_): quad.reshape(4, 2) / 3.0 for id_, quad in zip(ids.ravel(), corners, strict=True)}
    planned = [*layout.markers, *([layout.draw_marker] if layout.draw_marker else [])]

    assert set(found) == {marker.id for marker in planned}
    for marker in planned:
        square = marker.square
        assert found[marker.id][0] == pytest.approx((square.x_mm, square.y_mm), abs=0.4)
        assert found[marker.id][2] == pytest.approx(
            (square.x_mm + square.width_mm, square.y_mm + square.height_mm), abs=0.4
        )


@pytest.mark.parametrize("layout", [side_mat(1), table_mat()], ids=lambda layout: layout.id)
def test_a_marker_has_a_white_border_of_two_cells(layout):
    image = render.to_image(mats.mat_svg(layout), 4.0)

    for marker in layout.markers:
        x, y, side = (round(4 * value) for value in (marker.square.x_mm, marker.square.y_mm, marker.square.width_mm))
        ring = image[y - 28 : y + side + 28, x - 28 : x + side + 28].copy()
        ring[28:-28, 28:-28] = 255
        assert (ring == 255).all()


def test_the_seam_of_a_mat_has_no_words():
    image = render.to_image(mats.mat_svg(side_mat(3)), 4.0)
    seam = image[:, round(4 * 204.5) : round(4 * 215.5)]
    colours = Counter(map(tuple, seam.reshape(-1, 3)))

    assert sum(count for _, count in colours.most_common(2)) > 0.97 * seam.shape[0] * seam.shape[1]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("layout", "xs_mm", "ys_mm"),
    [
        (side_mat(1), (124.7, 129.3), (13, 147)), (side_mat(1), (204.7, 215.3), (13, 147)),
        (robot_mat(), (292, 302), (0, 45)),
    ],
    ids=["beside battle", "beside speed", "a robot's seam"],
)  # fmt: skip
def test_words_stay_inside_their_zone_in_every_language(layout, xs_mm, ys_mm, language):
    (left, right), (top, bottom) = ([round(3 * at_mm) for at_mm in ends] for ends in (xs_mm, ys_mm))
    image = render.to_image(mats.mat_svg(layout, language), 3.0)

    assert not dark(image[top:bottom, left:right]).any()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_mat_has_a_milestone_beside_its_title(language):
    layout = table_mat()
    image = render.to_image(mats.mat_svg(layout, language), 3.0)
    at = round(3 * layout.size_mm[0] / 2)
    columns = dark(image[3 * 16 : 3 * 32, at - 3 * 40 : at + 3 * 40]).any(axis=0)
    first = columns.argmax()

    assert 0 < columns[first:].argmin() < 3 * 13


# --- The deck --------------------------------------------------------------------------------------------------


def thumbnail(svg: str) -> np.ndarray:
    return cv2.GaussianBlur(render.to_image(svg, 40 / CARD_MM[0]), (0, 0), 0.8)


@pytest.mark.parametrize("colour", [True, False], ids=["in colour", "in grey"])
def test_all_faces_look_different_at_40_pixels(colour):
    faces = {card.value: thumbnail(deck.face_svg(card)) for card in FACES}
    faces["back"] = thumbnail(deck.back_svg())
    seen = {
        name: (image if colour else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)).astype(float)
        for name, image in faces.items()
    }

    for (one, a), (other, b) in combinations(seen.items(), 2):
        likeness = np.corrcoef(a.ravel(), b.ravel())[0, 1]
        assert likeness < 0.95, f"{one} and {other} look alike"


@pytest.mark.parametrize("card", FACES, ids=str)
def test_a_card_has_a_plain_edge_and_its_index_in_opposite_corners(card):
    image = render.to_image(deck.face_svg(card), PX_PER_MM)
    paper = np.array([0xE9, 0xF6, 0xFB])
    near, far = (side[28:125, 28:125].astype(int) for side in (image, image[::-1, ::-1]))

    assert (image[:8] == paper).all()
    assert (image[:, -8:] == paper).all()
    assert np.abs(near - far).mean() < 3


def test_the_back_looks_the_same_upside_down():
    image = render.to_image(deck.back_svg(), PX_PER_MM).astype(int)

    assert np.abs(image - image[::-1, ::-1]).mean() < 1


def test_card_words_differ_within_a_language_and_exist_in_the_font():
    for language in LANGUAGES:
        named = [
            printed_words.card_word(card, language)
            for card in Card
            if card.family is not Family.UNKNOWN and not card.km
        ]

        assert len(set(named)) == len(named)
        assert all(lettering.outline(word.upper(), 800).width_em > 0 for word in named)


@pytest.fixture
def hasty():
    """Make threads take turns as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("_attempt", range(5))
@pytest.mark.usefixtures("hasty")
def test_threads_can_draw_words_at_the_same_time(monkeypatch, _attempt):
    """The first thread that needs a font parses it."""
    drawn = lettering.outline("AVATAR 50", 800)
    monkeypatch.setattr(lettering, "_kern", lettering._kern.__wrapped__)

    with TTFont(lettering.FONTS / "barlow-condensed-800.ttf", lazy=True) as font, ThreadPoolExecutor(8) as threads:
        monkeypatch.setattr(lettering, "_font", lambda weight: font)
        again = list(threads.map(lambda _: lettering.outline.__wrapped__("AVATAR 50", 800), range(8)))

    assert again == 8 * [drawn]


def test_a_card_is_printed_in_polish():
    assert deck.face_svg(Card.GASOLINE, "pl") != deck.face_svg(Card.GASOLINE, "en")


def test_shipped_templates_match_the_drawings_and_the_photographs():
    folder = shipped("card_templates") / "own"
    drawn = dict(own_deck.pictures())

    assert {path.stem for path in folder.glob("*.png")} == set(drawn)
    assert (folder / "deck.toml").read_text(encoding="utf-8") == own_deck.description()
    for name, png in drawn.items():
        there = cv2.imread(str(folder / f"{name}.png")).astype(int)
        face = cv2.imdecode(np.frombuffer(png, np.uint8), 1)
        photographed = cv2.resize(cv2.imread(str(folder / f"{name}-2.jpg")), face.shape[1::-1])
        assert np.abs(there - face).mean() < 1, name
        assert cv2.matchTemplate(photographed, face, cv2.TM_CCOEFF_NORMED)[0, 0] > 0.85, name


# --- Pixels and paper ------------------------------------------------------------------------------------------


def index_of(folder: Path, kind: str, **how) -> dict:
    """Write the items of a kind into a folder, and return their index."""
    files = write_sheets(kind, "classic", **{"out": folder, "format": "svg", **how})
    index = json.loads((folder / f"{kind}.json").read_text())
    assert {path.name for path in files} == {f"{kind}.json", *(entry["file"] for entry in index.values())}
    return index


@pytest.mark.variants(1)
@pytest.mark.parametrize("dpi", [150, 300])
def test_a_png_has_the_right_size_and_resolution(tmp_path, dpi):
    index = index_of(tmp_path, "stickers", format="png", size_mm=23.5, dpi=dpi)

    for entry in index.values():
        png = (tmp_path / entry["file"]).read_bytes()
        wide, high = struct.unpack(">II", png[16:24])
        assert [wide, high] == [round(side * dpi / 25.4) for side in entry["size_mm"]]
        assert png[37:41] == b"pHYs"
        assert struct.unpack(">IIB", png[41:50]) == (round(dpi / 0.0254), round(dpi / 0.0254), 1)


def test_mats_are_written_to_a_new_folder_with_the_right_page_sizes(tmp_path):
    whole, halves = write_sheets("mats", "classic", out=tmp_path / "new" / "folder", sides=3)

    assert (whole.name, halves.name) == ("mats.pdf", "mats-a4.pdf")
    assert page_sizes_mm(whole) == [(420.0, 297.0)] * 3 + [(297.0, 210.0)]
    assert page_sizes_mm(halves) == [(210.0, 297.0)] * 6 + [(297.0, 210.0)]


def test_two_halves_joined_make_the_mat():
    layout = side_mat(1)
    halves = pdf.write(sheets.mat_halves(layout))
    whole = render.to_image(mats.mat_svg(layout), 4.0)
    joined = np.hstack([page_image(halves, page, 4.0)[:1188, :840] for page in (0, 1)])
    seam_sign = slice(4 * 149, 4 * 157)
    difference = np.abs(joined.astype(int) - whole)
    difference[seam_sign] = 0

    assert difference.mean() < 1.5


def test_the_printed_ruler_is_50_mm_long(sticker_sheet):
    row = dark(page_image(sticker_sheet, 0, 12.0, row_mm=290.5))[6]
    inked = np.flatnonzero(row[: 12 * 66])

    assert (inked.max() + 1 - inked.min()) / 12 == pytest.approx(50.0, abs=0.1)


def test_cut_marks_are_a_card_apart():
    cards = sheets.tiled([deck.face_svg(Card.ROLL)] * 9, CARD_MM, "cards", "en")
    strip = page_image(pdf.write(cards), 0, 20.0, row_mm=14)
    row = dark(cv2.threshold(strip, 200, 255, cv2.THRESH_BINARY)[1])[0]
    starts = np.flatnonzero(np.diff(row.astype(int)) == 1) / 20

    assert np.diff(starts) == pytest.approx([57.0] * 3, abs=0.06)


def test_every_code_on_the_printed_sheet_can_be_read(sticker_sheet):
    page = page_image(sticker_sheet, 0, 6.0)
    rows = [page[round(6 * (14.1 + 22.4 * row)) :][: round(6 * 22.4)] for row in range(12)]
    stickers_seen = [row[:, 90 + 120 * column : 210 + 120 * column] for row in rows for column in range(9)]
    texts = [code.text for image in stickers_seen for code in zxingcpp.read_barcodes(np.ascontiguousarray(image))]

    assert texts == [payload(card_id) for card_id in IDS]


def test_pdf_and_png_show_the_same_picture():
    drawing = deck.face_svg(Card.KM_200)
    difference = page_image(pdf.write([drawing]), 0, 6.0)[:528, :342].astype(int) - render.to_image(drawing, 6.0)

    assert np.abs(difference).mean() < 3


@pytest.mark.parametrize("body", ["<text>hello</text>", '<image href="card.png"/>'])
def test_the_pdf_writer_refuses_shapes_it_cannot_draw(body):
    with pytest.raises(ValueError, match="does not draw"):
        pdf.write([draw.document(10, 10, [body])])


def test_an_svg_without_a_size_in_millimeters_is_refused():
    with pytest.raises(ValueError, match="no size"):
        render.to_image('<svg xmlns="http://www.w3.org/2000/svg"/>', 4.0)


# --- Files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", ["png", "svg"])
def test_the_index_of_the_mats_lists_sizes_and_zones(tmp_path, format_):
    index = index_of(tmp_path, "mats", format=format_, sides=2, dpi=100)

    assert set(index) == {"side-1", "side-2", "table"}
    assert index["side-2"]["size_mm"] == [420.0, 297.0]
    assert set(index["side-1"]["zones"]) == {"battle", "speed", "distance", "safety"}
    assert index["table"]["zones"]["draw"] == table_mat().zones["draw"].as_list()
    assert all((tmp_path / entry["file"]).is_file() for entry in index.values())


@pytest.mark.parametrize("kind", stickers.KINDS)
def test_each_card_has_a_sticker_and_all_fit_on_one_sheet(tmp_path, kind):
    index = index_of(tmp_path, "stickers", sticker_kind=kind)
    write_sheets("stickers", "classic", out=tmp_path, sticker_kind=kind)

    assert tuple(index) == IDS
    assert index["roll-03"] == {"file": "roll-03.svg", "face": "roll", "kind": kind, "size_mm": [20.0, 22.4]}
    assert (tmp_path / "roll-03.svg").read_text() == stickers.sticker_svg("roll-03", 20.0, kind)
    assert page_sizes_mm(tmp_path / "stickers.pdf") == [(210.0, 297.0)]


def test_the_index_of_the_deck_counts_copies(tmp_path):
    index = index_of(tmp_path, "deck")

    assert sum(entry.get("copies", 0) for entry in index.values()) == 106
    assert index["back"]["size_mm"] == [57.0, 88.0]


def test_a_robot_gets_a_mat_with_slots_for_cards_and_a_screen_of_the_same_width(tmp_path):
    index = index_of(tmp_path, "robot")
    slots = [zone[2:] for zone in index["robot"]["zones"].values()]

    assert len(slots) == FULL_HAND
    assert all(width > CARD_MM[0] and height > CARD_MM[1] for width, height in slots)
    assert index["screen-left"]["size_mm"][0] + index["screen-right"]["size_mm"][0] == index["robot"]["size_mm"][0]
    assert index["screen-ends"]["parts"] == 2

    write_sheets("robot", "classic", out=tmp_path)
    assert page_sizes_mm(tmp_path / "robot.pdf") == [(297.0, 210.0)] * 5


@pytest.mark.parametrize(
    ("kind", "wrong", "says"),
    [
        ("stickers", {"size_mm": 11.0}, "12 to 57 mm"), ("stickers", {"size_mm": float("nan")}, "12 to 57 mm"),
        ("mats", {"size_mm": 20.0}, "Only stickers"), ("mats", {"sticker_kind": "tag"}, "Only stickers"),
    ],
)  # fmt: skip
def test_unsuitable_options_are_refused_and_nothing_is_written(tmp_path, kind, wrong, says):
    with pytest.raises(Problem, match=says):
        write_sheets(kind, "classic", out=tmp_path / "out", **wrong)

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("size_mm", [None, 16.0, 20.0, 28.0, 40.0])
def test_usual_sticker_sizes_need_no_advice(size_mm):
    assert about_size(size_mm) is None


@pytest.mark.parametrize(
    ("size_mm", "says"), [(12.0, "only close up"), (15.5, "at least 16 mm"), (50.0, "hide most of a card")]
)
def test_very_small_and_very_large_stickers_come_with_advice(size_mm, says):
    sentence = about_size(size_mm)

    assert says in sentence
    assert sentence.startswith(f"Stickers of {size_mm:g} mm ")
    assert sentence.endswith(".")


def test_an_unusable_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(Problem, match="choose another folder with --out"):
        write_sheets("mats", "classic", out=tmp_path / "file")
