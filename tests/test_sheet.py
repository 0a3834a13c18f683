"""Many cards in one photograph: cut out in order, named by similarity or position, and stored until named."""

import re

import cv2
import numpy as np
import pytest
from card_photos import sheet_photo
from client import HOME, run
from photos import face_of
from test_deck_pages import EMPTY, MARKED, a_file, card_picture, post

from companion.common.errors import Problem
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.tabletop.template_decks import drop_waiting, load_deck, put_waiting, waiting_in, write_description
from companion.vision.capture import sandbox
from companion.vision.capture.image_io import decode
from companion.vision.enrol import sheet_enrolment
from companion.vision.enrol.enrolment import as_png, begin
from companion.vision.enrol.rectify import PX_PER_MM, PictureFault, Rectified
from companion.vision.enrol.sheet import cut_out, rows_of
from companion.vision.enrol.sheet_enrolment import guesses
from companion.vision.faces.face_templates import load_templates

CARD_MM = (57.0, 88.0)
FACES = (Card.KM_25, Card.KM_50, Card.KM_75, Card.STOP, Card.ROLL, Card.ACCIDENT)
SLUGS = tuple(face.value for face in FACES)
SCRIPT = HOME | {"HX-Request": "true"}

# --- Finding --------------------------------------------------------------------------------------------------


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    ("style", "ground"), [("cartoon", "felt"), ("own", "wood"), ("vintage", "dark"), ("minimal", "felt")]
)
def test_cards_in_rows_are_cut_out_in_reading_order(style, ground):
    photo = sheet_photo(3, style, SLUGS, ground, columns=3, long_px=1400)

    rows = cut_out(photo.image, photo.size_mm)

    assert [[card.fault for card in row] for row in rows] == [[None] * 3] * 2
    for card, slug in zip([card for row in rows for card in row], SLUGS, strict=True):
        drawn = cv2.resize(face_of(style, slug), card.picture.shape[1::-1], interpolation=cv2.INTER_AREA)
        # Compare the place of its edges, not its brightness.
        seen, wanted = (cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.float32) for image in (card.picture, drawn))
        shift, _ = cv2.phaseCorrelate(seen, wanted, cv2.createHanningWindow(seen.shape[::-1], cv2.CV_32F))
        assert np.hypot(*shift) < 1.0 * PX_PER_MM


def test_lamps_reflected_on_cards_in_rows_are_outlined_with_the_cards_places(tmp_path):
    photo = sheet_photo(3, "painted", SLUGS, "felt", columns=3, long_px=1400)
    lamps = {1: 45.0, 5: 28.0}  # radii in px
    y, x = np.mgrid[0 : photo.image.shape[0], 0 : photo.image.shape[1]]
    light = sum(
        500 * np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / lamps[number] ** 2)
        for number, at in enumerate(photo.corners.mean(axis=1))
        if number in lamps
    )
    image = np.clip(photo.image + light[..., None], 0, 255).astype(np.uint8)

    taken = sheet_enrolment.take(begin("ours", "classic", tmp_path), image)

    assert (taken.count, len(taken.cards)) == (5, 6)
    assert taken.faults == ("a lamp is reflected on card 2 in row 1: move the lamp, then photograph these cards again",)
    assert taken.notes == (
        "kept, but a lamp is reflected on card 3 in row 2: if that hides print, take the picture again",
    )
    assert [number for number, card in enumerate(taken.cards) if card.reflections] == list(lamps)
    for number in lamps:
        (outline,) = taken.cards[number].reflections
        assert cv2.pointPolygonTest(np.float32(outline), photo.corners[number].mean(axis=0), measureDist=False) > 0


def test_a_photograph_without_cards_is_one_row_with_a_fault():
    bare = np.full((400, 500, 3), 90, np.uint8)

    ((card,),) = cut_out(bare, CARD_MM)

    assert card.picture is None
    assert card.fault is PictureFault.NO_CARD


def test_cards_are_found_in_a_neat_row_with_aligned_edges():
    photo = sheet_photo(9, "scenes", SLUGS, "dark", columns=3, long_px=1400, neat=True, gap_mm=8)

    rows = cut_out(photo.image, photo.size_mm)

    assert [[card.fault for card in row] for row in rows] == [[None] * 3] * 2


def test_cards_that_almost_touch_are_each_cut_out():
    slugs = tuple(card.value for card in Card if card is not Card.UNKNOWN)[:9]
    photo = sheet_photo(2, "dark", slugs, "wood", columns=3, long_px=1200, near_mm=1, gap_mm=10)

    rows = cut_out(photo.image, photo.size_mm)

    assert [[card.fault for card in row] for row in rows] == [[None] * 3] * 3


def test_gaps_in_rows_keep_their_places_even_at_the_ends():
    first = [(0.0, 0.0), (70.0, 4.0), (140.0, -3.0), (210.0, 2.0)]
    second = [(212.0, 99.0), (1.0, 101.0), (72.0, 97.0)]
    third = [(3.0, 200.0), (72.0, 203.0), (141.0, 201.0)]
    last = [(70.0, 300.0)]

    rows = rows_of(np.array(first + second + third + last), CARD_MM)

    assert rows == [[0, 1, 2, 3], [5, 6, None, 4], [7, 8, 9, None], [None, 10]]


# --- Naming ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known():
    return [load_templates(load_deck("own"))]


def pictures(style: str, slugs: tuple[str, ...]) -> dict[int, np.ndarray]:
    return {place: cv2.resize(face_of(style, slug), (342, 528)) for place, slug in enumerate(slugs)}


def test_cards_of_a_known_edition_are_recognized_in_any_order(known):
    swapped = (SLUGS[1], SLUGS[0], *SLUGS[2:])

    found = guesses(pictures("own", swapped), known, FACES, (*FACES, None))

    assert {place: guess.likely[0] for place, guess in found.items()} == dict(enumerate(map(Card, swapped)))
    assert all(guess.is_sure for guess in found.values())


def test_cards_of_an_unknown_edition_are_never_named_for_certain(known):
    found = guesses(pictures("vintage", SLUGS), known, FACES, (*FACES, None))
    nowhere = guesses(pictures("vintage", SLUGS), known, (), (*FACES, None))

    assert [guess.likely[0] for _, guess in sorted(found.items())] == list(FACES)
    assert not any(guess.is_sure for guess in (*found.values(), *nowhere.values()))
    assert {guess.likely for guess in nowhere.values()} == {()}


def test_duplicate_faces_are_asked_about(known):
    found = guesses(pictures("own", (*SLUGS, SLUGS[0])), known, (), (*FACES, None))

    assert [place for place, guess in sorted(found.items()) if not guess.is_sure] == [0, 6]


def test_a_foreign_card_in_a_known_edition_is_asked_about(known):
    mixed = pictures("own", SLUGS) | {2: pictures("vintage", SLUGS)[2]}

    found = guesses(mixed, known, FACES, (*FACES, None))

    assert [place for place, guess in sorted(found.items()) if not guess.is_sure] == [2]
    assert not found[2].is_by_place


# --- Waiting --------------------------------------------------------------------------------------------------


@pytest.fixture
def on_photographs(monkeypatch):
    """Split photographs into adjacent cards; a black one has a reflection."""

    def split(image, _size_mm):
        image = cv2.resize(image, (max(342, image.shape[1]), 528))
        cards = [np.ascontiguousarray(image[:, left : left + 342]) for left in range(0, image.shape[1], 342)]
        return [[Rectified(card, None if card.any() else PictureFault.REFLECTION) for card in cards]]

    monkeypatch.setattr(sheet_enrolment, "cut_out", split)


def photograph(*slugs: str) -> np.ndarray:
    return np.hstack([card_picture(slug) if slug else np.zeros((528, 342, 3), np.uint8) for slug in slugs])


def test_unnamed_cards_keep_their_places_across_photographs_and_restarts(on_photographs, tmp_path):
    taken = sheet_enrolment.take(begin("ours", "classic", tmp_path), photograph("25", "", "75"))
    sheet_enrolment.take(begin("ours", "classic", tmp_path), photograph("100"))
    again = begin("ours", "classic", tmp_path)

    lamp = "a lamp is reflected on card 2 in row 1: move the lamp, then photograph these cards again"
    assert (taken.count, taken.faults) == (2, (lamp,))
    assert list(waiting_in(again.folder)) == [0, 2, 3]
    assert len(again.wanted) == 20


def test_rows_of_different_lengths_have_no_gaps_if_the_deck_is_complete(monkeypatch, tmp_path):
    ours = begin("ours", "classic", tmp_path)
    card = Rectified(card_picture("25"))
    laid = [[card] * 5, [card] * 4 + [None], [card] * 5, [card] * 5]
    monkeypatch.setattr(sheet_enrolment, "cut_out", lambda *_: laid)
    sheet_enrolment.take(ours, EMPTY)

    assert list(waiting_in(ours.folder)) == list(range(19))
    drop_waiting(ours.folder)
    laid[3] = [card] * 3

    sheet_enrolment.take(ours, EMPTY)

    assert list(waiting_in(ours.folder)) == [*range(9), *range(10, 18)]


def test_named_cards_are_enrolled_but_a_duplicate_waits(on_photographs, tmp_path):
    ours = begin("ours", "classic", tmp_path)
    sheet_enrolment.take(ours, photograph("25", "25", "stop"))

    refused = list(sheet_enrolment.keep(ours, {0: Card.KM_25, 1: Card.KM_50, 2: Card.STOP}))

    assert refused == [(1, "25")]
    assert set(load_deck("ours", tmp_path).faces) == {Card.KM_25, Card.STOP}
    sheet_enrolment.forget(ours, 1)
    assert not (ours.folder / "waiting").exists()


# --- The page -------------------------------------------------------------------------------------------------


def names_of(page, ordered: str = "") -> str:
    return page.get(f"/decks/ours/enrol/names{ordered}").get_data(as_text=True)


def test_cards_of_several_photographs_are_named_on_one_page(page, on_photographs, tmp_path):
    ours = begin("ours", "classic", tmp_path)
    sheet_enrolment.take(ours, photograph("25"))
    sheet_enrolment.forget(ours, 0)
    files = [
        a_file(as_png(photograph("stop", "roll")), "IMG_10.PNG"),
        a_file(as_png(photograph("25", "")), "IMG_9.PNG"),
    ]

    answer = page.post("/decks/ours/enrol", data={"photo": files, "card": "25"}, headers=HOME)
    shown = names_of(page)
    kept = post(page, "/decks/ours/enrol/names", **{"card-1": "25", "card-3": "stop", "card-4": "roll"})

    assert answer.location.endswith("/decks/ours/enrol/names")
    assert "Photograph 1: a lamp is reflected on card 2 in row 1: move the lamp, then" in shown
    assert 'name="card-1" value="25"' in shown
    assert kept.location.endswith("/decks/ours/enrol")
    assert set(load_deck("ours", tmp_path).faces) == {Card.KM_25, Card.STOP, Card.ROLL}
    assert page.get("/decks/ours/enrol/names").status_code == 303


def test_the_page_shows_a_photograph_of_rows_with_its_washed_out_cards_outlined(page, monkeypatch, begun):
    sent = photograph("25", "50")
    corners = np.array([(350.0, 8), (670, 8), (670, 518), (350, 518)])
    lamp = np.array([(400.0, 100), (500, 100), (450, 200)])
    washed_out = Rectified(sent[:, 342:], PictureFault.REFLECTION, corners, reflections=(lamp,))
    monkeypatch.setattr(sheet_enrolment, "cut_out", lambda *_: [[Rectified(sent[:, :342]), washed_out]])

    files = [a_file(as_png(sent), "1.png")]
    page.post("/decks/ours/enrol", data={"photo": files, "card": "25", "number": "1"}, headers=SCRIPT)
    path = MARKED.search(names_of(page))[1]
    drawn = decode(page.get(path).data, path)

    yellow = np.abs(drawn.astype(int) - (0, 180, 240)).max(axis=2) < 40
    for x, y in (*corners, *lamp):
        assert yellow[int(y) - 4 : int(y) + 5, int(x) - 4 : int(x) + 5].any()
    assert page.get("/decks/ours/marked/0123456789abcdef.jpg").status_code == 404


def test_a_name_from_the_list_overrides_a_suggestion(page, on_photographs, tmp_path):
    ours = begin("ours", "classic", tmp_path)
    sheet_enrolment.take(ours, photograph("25", "50"))

    post(page, "/decks/ours/enrol/names", **{"card-1": "25", "other-1": "stop", "card-2": "other", "other-2": ""})

    assert set(load_deck("ours", tmp_path).faces) == {Card.STOP}
    assert list(waiting_in(ours.folder)) == [1]


def test_duplicate_names_are_asked_again_and_all_cards_can_be_dropped(page, on_photographs, tmp_path):
    ours = begin("ours", "classic", tmp_path)
    sheet_enrolment.take(ours, photograph("25", "50"))

    post(page, "/decks/ours/enrol/names", **{"card-1": "50", "card-2": "other", "other-2": "50"})
    shown = names_of(page)
    small = page.get("/decks/ours/waiting/2.jpg")
    post(page, "/decks/ours/enrol/names", anew="1")

    assert "More than one card is named 50 km: give each its own name." in shown
    assert "2 cards have no name yet." in shown
    assert small.mimetype == "image/jpeg"
    assert not waiting_in(ours.folder)
    assert page.get("/decks/ours/waiting/2.jpg").status_code == 404


def foreign(*slugs: str) -> list[tuple[object, str]]:
    """Return photographs of single cards of an unknown edition, as files in order."""
    cards = pictures("vintage", slugs)
    files = {place: cv2.imencode(".jpg", cv2.resize(card, None, fx=0.5, fy=0.5)) for place, card in cards.items()}
    return [a_file(content.tobytes(), f"IMG_{100 + place}.JPG") for place, (_done, content) in files.items()]


@pytest.fixture
def begun(on_photographs, tmp_path):
    """Begin a deck without enrolled faces."""
    ours = begin("ours", "classic", tmp_path)
    write_description(ours.folder, ours.description)
    return ours


ORDER = [card.value for card in load_edition("classic").deck]


def names_checked(shown: str) -> dict[int, str]:
    """Return the names filled in, by card number."""
    found = re.findall(r'name="card-(\d+)" value="([^"]+)" checked', shown)
    return {int(number): slug for number, slug in found}


def test_single_photographs_in_order_are_named_despite_an_unreadable_one(page, begun):
    files = foreign(*ORDER)
    files[6] = a_file(b"nothing", "IMG_106.JPG")

    answer = page.post("/decks/ours/enrol", data={"photo": files, "card": "25"}, headers=HOME)
    shown = names_of(page)

    assert answer.location.endswith("/enrol/names")
    assert shown.count("Photograph 7: The picture you sent is damaged, or not a JPEG, PNG, WebP or BMP file") == 1
    assert names_checked(names_of(page, "?ordered=1")) == {
        number: slug for number, slug in enumerate(ORDER, 1) if number != 7
    }


def test_the_script_sends_photographs_one_by_one_and_is_redirected_to_the_names(page, begun):
    files, too_large = foreign(*ORDER[:3]), {}
    about = [{"photo": files[0]}, {"photo": a_file(b"nothing")}, too_large, {"photo": files[2]}]

    answers = [
        page.post("/decks/ours/enrol", data=sent | {"card": "25", "number": f"{number}"}, headers=SCRIPT)
        for number, sent in enumerate(about, start=1)
    ]
    shown = names_of(page)

    assert {answer.headers["HX-Redirect"] for answer in answers} == {"/decks/ours/enrol/names"}
    assert list(waiting_in(begun.folder)) == [0, 3]
    assert re.findall(r"Photograph (\d): [^<]*(?:BMP|24 MB)", shown) == ["2", "3"]


def test_a_photograph_sent_again_counts_once_until_its_cards_are_dropped(page, begun):
    def send() -> int:
        for file in foreign("25", "50"):
            page.post("/decks/ours/enrol", data={"photo": file, "card": "25", "number": "1"}, headers=SCRIPT)
        return len(waiting_in(begun.folder))

    assert [send(), send()] == [2, 2]

    drop_waiting(begun.folder)

    assert send() == 2


def test_an_unreadable_photograph_sent_again_leaves_one_gap(page, begun):
    card, other = foreign("25", "50")
    for number, file in ((1, card), (2, a_file(b"nothing")), (2, a_file(b"nothing")), (3, other)):
        page.post("/decks/ours/enrol", data={"photo": file, "card": "25", "number": f"{number}"}, headers=SCRIPT)

    assert list(waiting_in(begun.folder)) == [0, 2]


def test_the_script_must_retry_while_another_photograph_is_being_read(page, begun, app, monkeypatch):
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0.01)
    sent = {"photo": foreign("25")[0], "card": "25", "number": "1"}

    with app.extensions["companion"].guide._one_at_a_time:
        answer = page.post("/decks/ours/enrol", data=sent, headers=SCRIPT)

    assert answer.status_code == 503
    assert not waiting_in(begun.folder)


def test_an_incomplete_deck_is_named_by_order_only_on_request(page, begun):
    page.post("/decks/ours/enrol", data={"photo": foreign(*ORDER[:5]), "card": "25"}, headers=HOME)

    shown = names_of(page)
    ordered = names_of(page, "?ordered=1")

    assert "Cards found in the photographs: 5." in shown
    assert "They were in this order: 25 km, 50 km, 75 km …" in shown
    assert 'name="card-1" value="25"' not in shown
    assert names_checked(ordered) == dict(enumerate(ORDER[:5], start=1))


def test_a_complete_deck_is_named_by_order_only_on_request(page, begun):
    page.post("/decks/ours/enrol", data={"photo": foreign(*reversed(ORDER)), "card": "25"}, headers=HOME)

    shown, ordered = names_of(page), names_of(page, "?ordered=1")

    assert names_checked(shown) == {}
    assert "They were in this order" in shown
    assert names_checked(ordered) == dict(enumerate(ORDER, start=1))
    assert "They were in another order" in ordered


def test_a_deck_without_a_back_can_be_used_once_all_faces_are_named(page, begun):
    page.post("/decks/ours/enrol", data={"photo": foreign(*ORDER), "card": "25"}, headers=HOME)

    answer = post(page, "/decks/ours/enrol/names", **{f"card-{n}": slug for n, slug in enumerate(ORDER, start=1)})
    shown = page.get(answer.location).get_data(as_text=True)

    assert "There is no picture of the back" in shown
    assert "Play with these cards" in shown


def checked_and_doubtful(shown: str) -> list[str]:
    """Return the names filled in for the cards that are asked about."""
    return re.findall(r'value="([^"]+)" checked', "".join(re.findall(r'(?s)card doubtful"(.*?)</fieldset>', shown)))


def test_a_mistake_while_naming_keeps_the_other_names(page, begun):
    page.post("/decks/ours/enrol", data={"photo": foreign(*reversed(ORDER), "back"), "card": "25"}, headers=HOME)
    slugs = [*reversed(ORDER), "back"]
    slugs[2] = "back"
    names = {f"card-{number}": slug for number, slug in enumerate(slugs, start=1) if number != 6}

    answer = post(page, "/decks/ours/enrol/names", **names)
    shown = page.get(answer.location).get_data(as_text=True)
    again = names_of(page)

    assert len(begin("ours", "classic", begun.folder.parents[1]).wanted) == 3
    assert "They were in this order" in shown
    assert "If they lay in the order shown" not in shown + again
    assert checked_and_doubtful(shown) == ["back", "back"]
    assert names_checked(again) == {}


def test_names_already_in_the_deck_are_marked_and_listed_last(page, begun, tmp_path):
    page.post("/decks/ours/enrol", data={"photo": foreign("25", "50"), "card": "25"}, headers=HOME)
    post(page, "/decks/ours/enrol/names", **{"card-1": "25"})

    options = re.findall(r"<option value=[^>]+>([^<]+)</option>", names_of(page))

    assert options[-2:] == ["25 km (already there)", "none of these"]
    assert options[1] == "50 km"


def test_the_deck_list_shows_that_cards_wait_for_names(page, begun):
    page.post("/decks/ours/enrol", data={"photo": foreign(*ORDER), "card": "25"}, headers=HOME)

    listed = page.get("/decks").get_data(as_text=True)

    assert "19 cards need names" in listed
    assert 'href="/decks/ours/enrol/names"' in listed


def test_enrolled_cards_are_recognized_in_later_photographs_and_so_is_the_last_one(page, begun):
    page.post("/decks/ours/enrol", data={"photo": foreign(*ORDER[:-1]), "card": "25"}, headers=HOME)
    names = {f"card-{number}": slug for number, slug in enumerate(ORDER[:-1], start=1)}
    post(page, "/decks/ours/enrol/names", **names)

    page.post("/decks/ours/enrol", data={"photo": foreign("25", "stop", "200", ORDER[-1]), "card": "25"}, headers=HOME)
    found = sheet_enrolment.named(begin("ours", "classic", begun.folder.parents[1]), begun.folder.parents[1])

    assert [found[place].likely[0] for place in range(3) if found[place].is_sure] == [
        Card.KM_25,
        Card.STOP,
        Card.KM_200,
    ]
    assert found[3].likely[0] is Card(ORDER[-1])


def test_unusable_photographs_are_reported_on_the_deck_page_and_leave_no_gap(page, begun):
    files = [a_file(b"nothing", f"{number}.png") for number in range(2)]

    page.post("/decks/ours/enrol", data={"photo": files, "card": "25"}, headers=HOME)
    asked = page.get("/decks/ours/enrol/names", follow_redirects=True).get_data(as_text=True)

    assert "Photograph 2: The picture you sent" in asked
    assert not (begun.folder / "waiting").exists()


def test_the_number_of_unnamed_cards_is_limited(page, begun):
    for place in range(sheet_enrolment.MOST_WAITING - 1):
        put_waiting(begun.folder, place, as_png(card_picture("roll")))

    page.post("/decks/ours/enrol", data={"photo": foreign("25", "50"), "card": "25"}, headers=HOME)

    assert "Photograph 2: 60 cards have no name yet: name them first." in page.get("/decks/ours/enrol").get_data(
        as_text=True
    )
    assert len(waiting_in(begun.folder)) == sheet_enrolment.MOST_WAITING


# --- The command ----------------------------------------------------------------------------------------------


def test_the_command_enrolls_a_known_edition_from_one_photograph(on_photographs, tmp_path, capsys):
    cv2.imwrite(str(tmp_path / "all.png"), photograph("50", "25", "", *SLUGS[2:]))

    code = run("enroll", "ours", "--edition", "classic", "--photo", tmp_path / "all.png", "--data", tmp_path)

    said = capsys.readouterr()
    assert code == 1
    assert "25: got it (card 2)" in said.out
    assert "all.png: a lamp is reflected on card 3 in row 1" in said.err
    assert set(load_deck("ours", tmp_path).faces) == set(FACES)


def test_the_command_names_an_unknown_edition_by_place_only_with_in_order(on_photographs, tmp_path, capsys):
    order = [card.value for card in begin("ours", "classic", tmp_path).cards]
    cv2.imwrite(str(tmp_path / "all.png"), np.hstack(list(pictures("vintage", tuple(order)).values())))
    words = ("enroll", "ours", "--edition", "classic", "--photo", tmp_path / "all.png", "--data", tmp_path)

    with pytest.raises(Problem, match="No card of 'ours' was added"):
        run(*words)
    waited = capsys.readouterr().err
    run("decks", "remove", "ours", "--data", tmp_path)
    run(*words, "--in-order")

    assert "Card 1: name it" in waited
    assert len(load_deck("ours", tmp_path).faces) == 19
