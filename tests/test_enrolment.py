"""Deck enrollment: finding a card in a photograph or scan, problems of pictures, and whole folders."""

from pathlib import Path

import card_photos
import cv2
import decks
import numpy as np
import pytest
from card_photos import card_photo
from client import run
from photos import face_of

from companion.common.errors import Problem
from companion.rules.cards import Card
from companion.tabletop.template_decks import Description, load_deck, own_folder, write_description
from companion.vision.enrol.enrolment import begin, enrol_folder, is_same_card, lacking, small
from companion.vision.enrol.printed_frames import strips
from companion.vision.enrol.quadrilaterals import oddity, upright
from companion.vision.enrol.rectify import PX_PER_MM, PictureFault, rectified, tilt_deg

CARD_MM = (57.0, 88.0)

# --- Photographs ----------------------------------------------------------------------------------------------


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    ("seed", "style", "slug", "ground"),
    [
        (1, "vintage", "roll", "wood"), (2, "cartoon", "25", "plaid"), (5, "dark", "right-of-way", "paper"),
        (3, "cartoon", "roll", "mat"),
    ],
)  # fmt: skip
def test_a_card_is_cut_out_along_its_outer_edge_on_any_ground(seed, style, slug, ground):
    photo = card_photo(seed, style, slug, ground, share=0.5)

    found = rectified(photo.image, photo.size_mm)

    assert found.fault is None
    assert photo.error_mm(found.corners) < 1.0
    assert found.picture.shape == (round(88 * PX_PER_MM), round(57 * PX_PER_MM), 3)


@pytest.mark.long
def test_a_card_is_cut_out_with_its_rim_around_a_printed_frame():
    # Two sides of the frame and two of the card also form a well-proportioned outline.
    photo = card_photo(1034, "cartoon", "extra-tank", "checks")

    assert photo.error_mm(rectified(photo.image, photo.size_mm).corners) < 1.0


def test_the_rim_around_a_printed_frame_is_measured_but_not_the_ground_around_a_card():
    card = np.full((240, 160, 3), 235, np.uint8)
    cv2.rectangle(card, (12, 12), (147, 227), (30, 120, 40), -1)
    image = np.full((400, 300, 3), (90, 60, 50), np.uint8)
    image[80:320, 70:230] = card
    lab = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    frame, outline = (np.array([(a, b), (299 - a, b), (299 - a, 399 - b), (a, 399 - b)], float) for a, b in
                      ((81.5, 91.5), (69.5, 79.5)))  # fmt: skip

    assert strips(lab, frame, (34, 54)) == pytest.approx((3, 3, 3, 3), abs=0.3)
    assert strips(lab, outline, (40, 60)) == (0, 0, 0, 0)


@pytest.fixture(scope="module")
def photo() -> card_photos.CardPhoto:
    return card_photo(5, "vintage", "roll", "wood", share=0.6, tilt=10, turn=5)


@pytest.mark.long
def test_a_landscape_photograph_is_rotated(photo):
    found = rectified(np.ascontiguousarray(np.rot90(photo.image)), CARD_MM)

    assert found.fault is None
    assert found.picture.shape[0] > found.picture.shape[1]


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    "seed", [2, 11, 29, 9], ids=["too bright", "glare on an edge", "lines of the cloth", "a frame"]
)
def test_an_ordinary_photograph_is_accepted(seed):
    photo = card_photos.ordinary_card_photo(seed)

    found = rectified(photo.image, photo.size_mm)

    assert found.fault is None
    assert photo.error_mm(found.corners) < 1.0


@pytest.mark.variants(1)
@pytest.mark.parametrize(("seed", "style", "slug", "turn"), [(2, "painted", "75", 2), (1, "old", "roll", 1)])
def test_a_card_that_nearly_fills_a_picture_is_kept_without_the_wood_around_it(seed, style, slug, turn):
    # 2 : 3 resembles a card's proportions, and the wood's grain a rim around a frame.
    how = {"shape": 2 / 3, "long_px": 900, "off": 0.008, "share": 0.8 if turn == 2 else 0.79}
    photo = card_photo(seed, style, slug, "wood", tilt=3, turn=turn, **how)

    found = rectified(photo.image, photo.size_mm)

    assert found.fault is None
    assert not found.is_scan
    assert photo.error_mm(found.corners) < 1.0


def test_camera_tilt_is_measured_and_reported_if_the_outline_is_uncertain():
    photo = card_photo(9, "own", "roll", "felt", tilt=30, share=0.5)
    aside = card_photos.ordinary_card_photo(344, tilt=30)

    assert 24 < tilt_deg(photo.corners, photo.image, CARD_MM) < 36
    assert rectified(aside.image, aside.size_mm).fault is PictureFault.TILTED


def cut_off(photo):
    return photo.image[:, int(photo.corners[:, 0].min() + 0.25 * np.ptp(photo.corners[:, 0])) :]


def with_glare(photo):
    y, x = np.mgrid[0 : photo.image.shape[0], 0 : photo.image.shape[1]]
    cx, cy = photo.corners.mean(axis=0)
    lamp = 400 * np.exp(-(((x - cx) / 90) ** 2 + ((y - cy) / 70) ** 2))
    return np.clip(photo.image + lamp[..., None], 0, 255).astype(np.uint8)


def lit(photo, right, down, size, power=500):
    """Return a photograph with a lamp's reflection, and its middle; place and size in card widths from the middle."""
    across = photo.corners[1] - photo.corners[0]
    at = photo.corners.mean(axis=0) + right * across + down * np.array([-across[1], across[0]])
    y, x = np.mgrid[0 : photo.image.shape[0], 0 : photo.image.shape[1]]
    lamp = power * np.exp(-(((x - at[0]) ** 2 + (y - at[1]) ** 2) / (size * np.linalg.norm(across)) ** 2))
    return np.clip(photo.image + lamp[..., None], 0, 255).astype(np.uint8), at


@pytest.fixture(scope="module")
def painted() -> card_photos.CardPhoto:
    return card_photo(5, "painted", "roll", "wood", share=0.6, tilt=10, turn=5)


@pytest.mark.variants(3)
@pytest.mark.parametrize(
    ("right", "down", "size", "says"),
    [
        (0.25, -0.5, 0.2, "a lamp is reflected in the upper right of the card: tilt the card or move the lamp"),
        (-0.25, 0.5, 0.2, "a lamp is reflected in the lower left of the card: tilt the card or move the lamp"),
        (0, 0, 0.25, "a lamp is reflected in the middle of the card: tilt the card or move the lamp"),
        (
            0.3,
            0,
            0.09,
            "kept, but a lamp is reflected on the right of the card: if that hides print, take the picture again",
        ),
        (1.1, 0, 0.2, ""),
        (-0.9, 0.5, 0.15, ""),
    ],
    ids=["upper right", "lower left", "middle", "small", "on the table", "on the table at the left"],
)
def test_a_lamps_reflection_on_print_is_outlined_and_named_but_not_one_beside_the_card(
    right, down, size, says, painted
):
    image, at = lit(painted, right, down, size)

    found = rectified(image, CARD_MM)

    assert found.sentence + found.note == says
    assert len(found.reflections) == bool(says)
    assert all(cv2.pointPolygonTest(np.float32(outline), at, measureDist=False) > 0 for outline in found.reflections)


def white_on_white(_photo):
    rng = np.random.default_rng(0)
    image = np.full((900, 700, 3), 228.0) + rng.normal(0, 2, (900, 700, 3))
    face = cv2.resize(face_of("minimal", "roll"), (285, 440), interpolation=cv2.INTER_AREA)
    image[200:640, 200:485] = face * 0.9 + rng.normal(0, 2, face.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def two_in_a_row(_photo):
    table = cv2.resize(card_photos.ground_image("wood", 1), (1680, 1680))[:630, :973].copy()
    for left, slug in ((128, "25"), (503, "stop")):
        table[51:579, left : left + 342] = cv2.resize(face_of("vintage", slug), (342, 528))
    return table


@pytest.mark.variants(2)
@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda photo: cv2.GaussianBlur(photo.image, (0, 0), 7), PictureFault.NOT_SHARP),
        (
            lambda photo: cv2.resize(photo.image, None, fx=0.16, fy=0.16, interpolation=cv2.INTER_AREA),
            PictureFault.TOO_SMALL,
        ),
        (cut_off, PictureFault.NOT_WHOLE),
        (lambda photo: np.hstack([photo.image, photo.image]), PictureFault.SEVERAL),
        (with_glare, PictureFault.REFLECTION),
        (white_on_white, PictureFault.LOW_CONTRAST),
        (lambda _photo: card_photos.ground_image("felt", 1)[:800, :600], PictureFault.NO_CARD),
        (lambda _photo: card_photos.ground_image("wood", 1)[:900, :600], PictureFault.NO_CARD),
        (lambda _photo: card_photos.ground_image("print", 1)[:600, :900], PictureFault.NO_CARD),
        (two_in_a_row, PictureFault.SEVERAL),
        (lambda _photo: card_photo(1232, "cartoon", "spare-tire", "checks").image, PictureFault.UNCLEAR),
    ],
    ids=[
        *("blurred", "far away", "cut off", "doubled", "glare", "white on white", "bare table", "of a card's shape"),
        *("across", "two in a row", "two sides of a frame and two of the card"),
    ],
)
def test_each_problem_of_a_picture_is_recognized(spoil, fault, photo):
    assert rectified(spoil(photo), CARD_MM).fault is fault


@pytest.mark.variants(8)
@pytest.mark.parametrize("texture", ["noise", "flat", "lines"])
@pytest.mark.parametrize(
    ("width", "height"), [(16_000, 40), (40, 16_000), (16_000, 1), (3, 900), (700, 5), (1, 1), (20, 20), (16_000, 220)]
)
def test_a_narrow_or_tiny_picture_has_no_card(width, height, texture):
    strip = np.full((height, width, 3), 200, np.uint8)
    if texture == "noise":
        strip[:] = np.random.default_rng(1).integers(0, 256, strip.shape)
    elif texture == "lines":
        strip[::5] = strip[:, ::7] = 0

    found = rectified(strip, CARD_MM)

    assert found.picture is None
    assert found.fault is not None


# --- Scans ----------------------------------------------------------------------------------------------------


@pytest.mark.variants(1)
@pytest.mark.parametrize(("style", "width"), [("own", 120), ("vintage", 600), ("scenes", 240), ("minimal", 150)])
def test_a_scan_of_only_the_card_is_used_whole(style, width):
    face, (w, h) = face_of(style, "25"), decks.size_mm(style)
    scan = cv2.resize(face, (width, round(width * h / w)), interpolation=cv2.INTER_AREA)

    found = rectified(scan, (w, h))

    assert found.fault is None
    assert found.is_scan
    assert np.array_equal(np.ptp(found.corners, axis=0), scan.shape[1::-1])


def test_a_black_border_around_a_scan_is_removed():
    scan = cv2.copyMakeBorder(cv2.resize(face_of("cartoon", "roll"), (400, 617)), *[14] * 4, cv2.BORDER_CONSTANT)

    found = rectified(scan, CARD_MM)

    assert found.fault is None
    assert np.abs(found.corners - np.array([(14, 14), (414, 14), (414, 631), (14, 631)]) + 0.5).max() < 15


# --- Geometry and comparison ----------------------------------------------------------------------------------


def test_a_card_has_card_proportions_in_any_perspective_but_a_square_has_not():
    photo = card_photo(9, "own", "roll", "felt", tilt=30)
    size = photo.image.shape[1::-1]
    square = np.array([[(100.0, 100), (300, 100), (300, 300), (100, 300)]])

    assert oddity(photo.corners[None], size, CARD_MM)[0] < 0.02
    assert oddity(square, size, CARD_MM)[0] > 0.3


@pytest.mark.parametrize("first", range(4))
def test_corners_in_any_order_are_sorted_upright(first):
    corners = np.array([(100.0, 100), (214, 104), (214, 280), (100, 276)])

    for given in (np.roll(corners, first, axis=0), np.roll(corners, first, axis=0)[::-1]):
        assert np.array_equal(upright(given, (400, 400), CARD_MM), corners)


def test_faces_that_share_artwork_are_different_cards():
    for style in ("vintage", "scenes", "pastel", "minimal"):
        pictures = [small(decks.face(style, slug)) for slug in ("25", "50", "75", "stop", "roll")]
        assert not any(is_same_card(a, b) for i, a in enumerate(pictures) for b in pictures[:i])


def test_one_picture_saved_twice_is_the_same_card():
    face = decks.face("scenes", "75")
    again = cv2.resize(face, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA)
    again = cv2.imdecode(cv2.imencode(".jpg", again, [cv2.IMWRITE_JPEG_QUALITY, 80])[1], cv2.IMREAD_COLOR)

    assert is_same_card(small(face), small(again))
    assert is_same_card(small(face), small(np.rot90(again, 2)))


# --- A folder -------------------------------------------------------------------------------------------------


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """Create a folder with three faces of a deck and its back."""
    folder = tmp_path / "scans"
    folder.mkdir()
    for name, slug in (("roll.png", "roll"), ("Right of Way.JPG", "right-of-way"), ("100km.jpg", "100")):
        cv2.imwrite(str(folder / name), small_face(slug))
    cv2.imwrite(str(folder / "back.jpg"), cv2.resize(decks.back("cartoon"), (132, 204)))
    return folder


def small_face(slug: str) -> np.ndarray:
    return cv2.resize(decks.face("cartoon", slug), (132, 204), interpolation=cv2.INTER_AREA)


def enrolled(scans: Path, data: Path, **how: object) -> tuple[list[str], list[str]]:
    """Enroll a folder; return the messages and the faults."""
    said = list(enrol_folder(begin("ours", "classic", data, **how), scans))
    return [s.sentence for s in said if not s.is_fault], [s.sentence for s in said if s.is_fault]


def test_every_face_in_a_folder_is_enrolled(scans, tmp_path):
    got, faults = enrolled(scans, tmp_path, maker="Dujardin")

    deck = load_deck("ours", tmp_path)
    assert "right-of-way: got it (from Right of Way.JPG)" in got
    assert "back: got it (from back.jpg)" in got
    whole = "100km.jpg, Right of Way.JPG, roll.png, back.jpg"
    assert f"Kept whole, as a scan: {whole}. If it shows more than the card, take it again." in got
    assert set(deck.faces) == {Card.ROLL, Card.RIGHT_OF_WAY, Card.KM_100}
    assert deck.back
    assert (deck.maker, deck.edition) == ("Dujardin", "classic")
    assert len(faults) == 1
    assert faults[0].startswith("There is no picture yet of 25, 50")


@pytest.fixture
def emptied(scans, tmp_path):
    """Enroll the folder, then remove its pictures."""
    enrolled(scans, tmp_path)
    for path in scans.iterdir():
        path.unlink()
    return scans


def test_a_folder_reports_where_a_lamp_is_reflected(scans, tmp_path, painted):
    cv2.imwrite(str(scans / "roll.png"), lit(painted, 0.25, -0.5, 0.2)[0])
    cv2.imwrite(str(scans / "stop.png"), lit(painted, 0.3, 0, 0.1)[0])

    got, faults = enrolled(scans, tmp_path)

    assert faults[0] == (
        "roll: a lamp is reflected in the upper right of the card: tilt the card or move the lamp (roll.png)."
    )
    assert (
        "stop.png: kept, but a lamp is reflected on the right of the card: if that hides print, take the picture again."
        in got
    )


def test_a_second_picture_of_a_face_is_saved_with_the_first(scans, tmp_path):
    cv2.imwrite(str(scans / "roll-2.png"), cv2.convertScaleAbs(small_face("roll"), alpha=0.8))

    got, _ = enrolled(scans, tmp_path)

    assert "roll: got it (from roll.png, roll-2.png)" in got
    assert [path.name for path in load_deck("ours", tmp_path).faces[Card.ROLL]] == ["roll.png", "roll-2.png"]


def test_enrolling_again_keeps_the_other_faces(emptied, tmp_path):
    cv2.imwrite(str(emptied / "stop.png"), small_face("stop"))

    enrolled(emptied, tmp_path)

    assert set(load_deck("ours", tmp_path).faces) == {Card.ROLL, Card.RIGHT_OF_WAY, Card.KM_100, Card.STOP}


def test_a_card_already_in_the_deck_under_another_name_is_refused(emptied, tmp_path):
    cv2.imwrite(str(emptied / "stop.png"), small_face("roll"))

    got, faults = enrolled(emptied, tmp_path)

    assert got == []
    assert "stop: its picture shows the same card as the deck's roll" in faults[0]


BOMB = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x40\0\0\0\x40\0\x08\x02\0\0\0" + bytes(20)


def test_all_problems_of_a_folder_are_reported_at_once(scans, tmp_path):
    (scans / "stop.jpg").write_bytes(b"GIF89a" + bytes(100))
    (scans / "50.png").write_bytes(BOMB)
    (scans / "75.jpg").write_bytes((scans / "100km.jpg").read_bytes()[:-400])
    (scans / "rol.png").write_bytes(b"")
    (scans / "pollution.png").write_bytes(b"")
    (scans / "gasoline.heic").write_bytes(b"")
    (scans / "roll.jpg").write_bytes((scans / "back.jpg").read_bytes())
    cv2.imwrite(str(scans / "repairs.png"), cv2.resize(small_face("repairs"), (40, 62)))
    cv2.imwrite(str(scans / "accident.png"), small_face("flat-tire"))
    cv2.imwrite(str(scans / "flat-tire.png"), small_face("flat-tire"))

    got, faults = enrolled(scans, tmp_path)

    said = "\n".join(faults)
    for words in ("stop: The picture", "save it as JPEG", "50: The picture", "pixels; the limit is", "75: The picture",
                  "incomplete or damaged", "did you mean 'roll'", "the edition classic has no Pollution",
                  "gasoline.heic: this kind of picture", "roll: both roll.jpg and roll.png exist",
                  "repairs: the card is too small", "accident and flat-tire: both pictures show"):  # fmt: skip
        assert words in said
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in faults)
    assert len([one for one in got if ": got it" in one]) == 3


def test_missing_faces_are_listed(tmp_path):
    enrolment = begin("ours", "classic", tmp_path)
    first = enrolment.wanted[0]

    verdict = enrolment.verdict(first, small_face(first.value))
    enrolment.keep(first, [verdict.picture])

    assert verdict.is_good
    assert enrolment.wanted[0] is not first
    assert len(enrolment.wanted) == 19
    again = enrolment.verdict(enrolment.wanted[0], small_face(first.value))
    assert again.sentence == f"it shows the same card as {first}: one of the two is another card's picture"


def test_a_deck_cannot_be_continued_with_another_edition_or_size(emptied, tmp_path):
    with pytest.raises(Problem, match="for the edition classic"):
        begin("ours", "rush", tmp_path)
    with pytest.raises(Problem, match="57 × 88"):
        begin("ours", "classic", tmp_path, size_mm=(60.0, 90.0))

    (own_folder("ours", tmp_path) / "deck.toml").write_text(f'edition = "{"a" * 5000}"')
    with pytest.raises(Problem, match=r"for the edition a{200}…: choose another name") as told:
        begin("ours", "classic", tmp_path)
    assert len(told.value.sentence) < 400


def test_a_missing_folder_or_one_without_pictures_is_reported(tmp_path):
    enrolment = begin("ours", "classic", tmp_path)
    (tmp_path / "empty").mkdir()

    with pytest.raises(Problem, match="has no pictures: put"):
        list(enrol_folder(enrolment, tmp_path / "empty"))
    with pytest.raises(Problem, match="nowhere not found"):
        list(enrol_folder(enrolment, tmp_path / "nowhere"))


# --- The command ----------------------------------------------------------------------------------------------


def test_the_command_reports_enrolled_faces_and_the_next_step(scans, tmp_path, capsys):
    code = run("enroll", "ours", "--edition", "classic", "--from", scans, "--size", "57x88", "--data", tmp_path)

    said = capsys.readouterr()
    assert code == 1
    assert "roll: got it (from roll.png)" in said.out
    assert said.out.endswith("companion read IMAGE --deck ours\n")
    assert str(own_folder("ours", tmp_path)) in said.out
    assert "There is no picture yet of" in said.err


def test_the_command_exits_with_2_if_nothing_was_enrolled(tmp_path):
    (tmp_path / "roll.jpg").write_bytes(b"nothing")

    with pytest.raises(Problem, match="No card of 'ours' was added") as caught:
        run("enroll", "ours", "--edition", "classic", "--from", tmp_path, "--data", tmp_path / "data")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("size", ["57", "88x57", "axb", "57x88x3", "nanx88"])
def test_an_invalid_size_is_reported(size, scans, tmp_path):
    with pytest.raises(Problem, match="--size is width and height"):
        run("enroll", "ours", "--edition", "classic", "--from", scans, "--size", size, "--data", tmp_path)


def test_decks_can_be_listed_shown_exported_and_imported(scans, tmp_path, capsys):
    enrolled(scans, tmp_path)

    run("decks", "--data", tmp_path)
    run("decks", "export", "ours", "--out", tmp_path / "x.zip", "--data", tmp_path)
    run("decks", "remove", "ours", "--data", tmp_path)
    run("decks", "import", tmp_path / "x.zip", "--as", "theirs", "--data", tmp_path)
    run("decks", "show", "theirs", "--data", tmp_path)

    said = capsys.readouterr().out
    assert "3 faces, 16 missing" in said
    assert "theirs: ours\nEdition: classic. Cards: 57 × 88 mm." in said


def test_all_pictures_of_a_deck_are_shown_on_one_sheet(tmp_path, capsys):
    begin("ours", "classic", tmp_path).keep(Card.KM_100, [small_face("100")])

    run("decks", "show", "ours", "--out", tmp_path / "sheet.png", "--data", tmp_path)

    sheet = cv2.imread(str(tmp_path / "sheet.png"))
    first = cv2.resize(
        cv2.imread(str(own_folder("ours", tmp_path) / "100.png")), (171, 264), interpolation=cv2.INTER_AREA
    )
    assert np.array_equal(sheet[18 : 18 + 264, 18 : 18 + 171], first)
    assert (sheet[18 + 264 :, 18 : 18 + 171] < 128).any()
    with pytest.raises(Problem, match=r"name the file sheet\.png"):
        run("decks", "show", "ours", "--out", tmp_path / "sheet.gif", "--data", tmp_path)


def test_a_new_deck_has_no_faces_yet(tmp_path, capsys):
    write_description(own_folder("ours", tmp_path), Description("ours", "classic"))
    write_description(own_folder("odd", tmp_path), Description("odd", "nonesuch"))

    run("decks", "--data", tmp_path)

    said = capsys.readouterr().out.splitlines()
    assert said[2].startswith("ours            no face yet")
    assert "no edition 'nonesuch'" in said[1]


def test_a_deck_without_a_back_is_complete_and_the_consequence_is_explained(tmp_path):
    enrolment = begin("ours", "classic", tmp_path)
    assert enrolment.description.title == "ours"
    for card in enrolment.cards:
        enrolment.keep(card, [small_face(card.value)])

    said = list(lacking(enrolment))

    assert not any(one.is_fault for one in said)
    assert said[-1].sentence == "There is no picture yet of the back: the app may ask about face-down cards."
