"""Counting only: a photograph is uploaded, its cards are confirmed, and the score sheet is shown."""

import html
import io
import re
from dataclasses import replace

import cv2
import numpy as np
import pytest
import tableaux
from client import HOME, SECRET, form_of, stranger, text_of

from companion.pages import Camera, create_app, limits
from companion.pages.limits import Body
from companion.pages.scores import photo_form
from companion.pages.scores import photo_score as page_of_snaps
from companion.rules.cards import Card
from companion.rules.dealing import SeatingError
from companion.rules.editions.edition import load_edition
from companion.vision.capture import sandbox
from companion.vision.counting import photographs as snapping
from companion.vision.counting.photographs import Snap, Snaps, read_photo
from companion.vision.counting.tally import Photo, tally
from companion.vision.enrol.enrolment import begin
from companion.vision.faces.deck_in_use import choose_deck
from companion.vision.view import FACE, Sighting, View

CLASSIC = load_edition("classic")
DOUBTS = {"75-04": ("75-04", "25-02"), "extra-tank-01": ()}


def send(page, path: str = "/snap", content: bytes | None = b"a picture", **fields: object):
    photo = {} if content is None else {"photo": (io.BytesIO(content), "IMG_0001.JPG")}
    sent = {"edition": "classic"} | fields | photo
    return page.post(path, data=sent, headers=HOME, content_type="multipart/form-data")


def kept(app, shot: Photo | None = None, edition: str = "classic", deck: str = "") -> str:
    """Return the path of a photograph's lines."""
    return "/snap/" + app.extensions["companion"].snaps.keep(Snap(edition, deck, (shot or tableaux.shot(),)))


def counted(page, address: str, **typed: str):
    """Submit a page's own form with some fields changed, and return the score sheet.

    The fields of the two uncertain cards are called `c-km` and `c-safety`. Every card of a side is visible.
    """
    shown = page.get(address)
    visible = dict.fromkeys(re.findall(r'name="(all-[^"]+)"', shown.text), "yes")
    asked = dict(zip(("km", "safety"), dict.fromkeys(re.findall(r'name="c-([\d-]+)"', shown.text)), strict=False))
    said = {f"{field[:2]}{asked.get(field[2:], field[2:])}": value for field, value in typed.items()}
    return page.post(address, data=form_of(shown) | visible | said, headers=HOME, follow_redirects=True)


BARE = Photo("photograph 1", (640, 480), View(0.0, (), ()))


def doubtful() -> Photo:
    return tableaux.in_doubt(tableaux.shot(), DOUBTS)


def likely(doubts=DOUBTS) -> Photo:
    """Return the same with a likely guess: Side 1 has 625 km, with the guess 700."""
    return tableaux.in_doubt(tableaux.shot(), doubts, 0.8)


def one_side() -> Photo:
    """Return the photograph as if it showed a single mat."""
    shot, mat = tableaux.shot(), "side-1"
    seen = View(0.0, tuple(m for m in shot.view.mats if m.id == mat),
                tuple(s for s in shot.view.sightings if (s.zone or "").startswith(mat)))  # fmt: skip
    return replace(shot, view=seen)


@pytest.fixture
def read(monkeypatch):
    """Replace reading; return the list of requests: file, deck and file name."""
    asked: list[tuple[bytes, str, str]] = []

    def read_photo(data, _name, deck, _folder, file):
        asked.append((data, deck, file))
        return replace(tableaux.shot(), file=data)

    monkeypatch.setattr(page_of_snaps, "read_photo", read_photo)
    return asked


def lines_of(response) -> dict[str, list[str]]:
    shown = response.text
    rows = re.findall(r'<th scope="row">([^<]*?) ?(?:<small>.*?)?</th>((?:<td[^>]*>[^<]*</td>)+)', shown)
    return {title.strip(): re.findall(r"<td[^>]*>([^<]*)</td>", cells) for title, cells in rows}


# --- Uploading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/join", "/setup", "/more"])
def test_counting_only_is_linked_from(path, page):
    assert 'href="/snap"' in page.get(path).text


def test_a_photograph_is_confirmed_line_by_line_and_scored(page):
    sent = send(page, content=tableaux.file_of())
    shown = page.get(sent.location)
    sheet = counted(page, sent.location)

    assert sent.status_code == 303
    assert "Battle pile: Roll · Speed pile: End of Limit" in text_of(shown)
    assert "Side 1 completed 700 km" in text_of(sheet)
    assert lines_of(sheet) == {
        "Distance": ["700", "475"], "Safeties": ["200", "100"], "Coups fourrés": ["300", "–"],
        "Trip completed": ["400", "–"], "Safe trip": ["300", "–"], "This hand": ["1900", "575"],
    }  # fmt: skip


def _image(file: bytes) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_COLOR)


def strip(width: int, height: int) -> bytes:
    """Return an empty picture of any shape."""
    return cv2.imencode(".png", np.full((height, width, 3), 128, np.uint8))[1].tobytes()


NONE = "There is no photograph yet: take or choose one."


@pytest.mark.parametrize(
    ("content", "given", "stays", "say"),
    [
        (b"GIF89a" + b"\0" * 400, {}, {}, "The picture IMG_0001.JPG is damaged, or not a JPEG, PNG, WebP or BMP file"),
        (strip(70_000, 40), {}, {}, "has 70000 × 40 pixels; the limit is 16000 per side: save it smaller"),
        (strip(40, 16_001), {}, {}, "has 40 × 16001 pixels; the limit is 16000 per side: save it smaller"),
        (b"", {}, {}, NONE),
        (None, {}, {}, NONE),
        (
            b"x",
            {"deck": "../x"},
            {"deck": ""},
            "There is no deck “../x” to recognize cards with: choose again under Cards.",
        ),
        (b"x", {"edition": "../../etc"}, {"edition": "classic"}, "There is no edition ’../../etc’: the editions are"),
    ],
    ids=["gif", "wide", "high", "empty", "none", "deck", "edition"],
)
def test_an_unreadable_photograph_is_explained_on_the_form_which_keeps_its_values(content, given, stays, say, page):
    answer = send(page, content=content, **{"edition": "parker", "deck": "own"} | given)

    assert answer.status_code == 400
    assert say in text_of(answer)
    assert 'type="file"' in answer.text
    assert form_of(answer) == {"edition": "parker", "deck": "own"} | stays


@pytest.mark.parametrize(("width", "height"), [(16_000, 40), (40, 16_000), (16_000, 1), (1, 16_000), (1, 1), (3, 900)])
def test_a_photograph_of_any_shape_is_read(width, height, page):
    answer = send(page, content=strip(width, height))

    assert answer.status_code == 303 or "No mat" in text_of(answer)


def test_a_file_that_is_far_too_large_is_refused_before_it_is_read(page, monkeypatch):
    monkeypatch.setattr(page_of_snaps, "MOST_BYTES", 50_000)

    answer = send(page, content=b"\xff\xd8" + b"\0" * 90_000)

    assert answer.status_code == 413
    assert "take the photograph with fewer pixels" in text_of(answer)


@pytest.mark.parametrize("most", ["of a photograph", "of a body"])
def test_another_photograph_that_is_too_large_leaves_the_lines_unchanged(most, app, page, monkeypatch):
    address = kept(app)
    typed = form_of(page.get(address)) | {"n-side-1-200": "1"}
    if most == "of a body":
        monkeypatch.setitem(limits.BODIES, "snap.count", Body(50_000, 600))
    else:
        monkeypatch.setattr(page_of_snaps, "MOST_BYTES", 50_000)

    answer = send(page, address, content=b"\xff\xd8" + b"\0" * 90_000, add="1", **typed)

    assert answer.status_code == 413
    assert "take the photograph with fewer pixels" in text_of(answer)
    assert form_of(answer)["n-side-1-200"] == ("0" if most == "of a body" else "1")


def test_one_photograph_is_read_at_a_time(page, monkeypatch):
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0.01)

    with snapping._reading:
        answer = send(page, content=tableaux.file_of())

    assert answer.status_code == 503
    assert "Another picture is being processed: try again in a moment." in text_of(answer)


def test_a_phone_that_was_not_admitted_neither_sends_nor_sees_photographs(app):
    phone, address = stranger(app), kept(app)

    assert send(phone, content=tableaux.file_of()).status_code == 401
    assert [phone.get(f"{address}{path}").status_code for path in ("", "/1.jpg")] == [401, 401]
    assert 'type="file"' not in phone.get("/snap").text


def test_pictures_are_served_reduced_and_only_the_latest_are_kept(app, page):
    first = kept(app)

    picture = page.get(f"{first}/1.jpg")
    for _ in range(snapping.MOST_PHOTOS):
        kept(app)

    assert picture.mimetype == "image/jpeg"
    assert max(_image(picture.data).shape) <= snapping.SHOWN_PX
    assert page.get(f"{first}/1.jpg").status_code == 404
    assert page.get(first).location == "/snap"
    assert "That photograph is gone" in text_of(page.get("/snap"))


def test_a_deck_can_be_chosen_and_applies_to_every_photograph(page, read, monkeypatch):
    monkeypatch.setattr(page_of_snaps, "deck_choices", lambda _folder: (("grandma", "Grandma’s"),))

    sent = send(page, deck="grandma")
    send(page, sent.location, b"another", add="1")

    assert "With our stickers Grandma’s" in text_of(page.get("/snap"))
    assert [deck for _file, deck, _name in read] == ["grandma", "grandma"]


def test_photographs_uploaded_together_are_read_in_the_order_of_their_names(app, page, read):
    files = [(io.BytesIO(b"a picture"), name) for name in ("IMG_10.JPG", "IMG_9.JPG")]

    sent = page.post("/snap", data={"edition": "classic", "photo": files}, headers=HOME)
    many = [(io.BytesIO(b"%d" % number), f"{number}.jpg") for number in range(7)]
    refused = page.post(sent.location, data={"add": "1", "photo": many}, headers=HOME)

    assert [name for _file, _deck, name in read] == ["IMG_9.JPG", "IMG_10.JPG"]
    assert len(app.extensions["companion"].snaps.get(sent.location.rpartition("/")[2]).photos) == 2
    assert "At most 8 photographs of one tableau are possible." in text_of(refused)


def test_the_tables_deck_or_the_one_given_at_the_start_is_preselected(page, match, tmp_path):
    choose_deck(tmp_path, "own")
    chosen = form_of(page.get("/snap"))["deck"]
    choose_deck(tmp_path, None)
    named = create_app(match, secret=SECRET, camera=Camera(deck="own")).test_client()

    assert (chosen, form_of(named.get("/snap"))["deck"]) == ("own", "own")


def test_a_phone_keeps_its_chosen_deck_until_the_tables_deck_changes(page, tmp_path):
    for name in ("ours", "theirs"):
        begin(name, "parker", tmp_path).keep(Card.ROLL, [np.zeros((88, 57, 3), np.uint8)])
    send(page, deck="ours")
    again = form_of(page.get("/snap"))
    choose_deck(tmp_path, "theirs")

    assert again == {"edition": "parker", "deck": "ours"}
    assert form_of(page.get("/snap"))["deck"] == "theirs"


def test_cards_without_stickers_are_recognized_by_a_decks_faces(tmp_path):
    shot = read_photo(tableaux.bare_file(), "photograph 1", "own", tmp_path)

    assert {s.face for s in shot.view.sightings} == {Card.KM_75, Card.KM_100, Card.DRIVING_ACE}
    assert read_photo(tableaux.bare_file(), "photograph 1").view.sightings == ()


def test_a_damaged_deck_cannot_be_chosen(tmp_path):
    (tmp_path / "decks" / "torn").mkdir(parents=True)
    (tmp_path / "decks" / "torn" / "deck.toml").write_text("edition =")

    assert [name for name, _title in snapping.deck_choices(tmp_path)] == ["own"]


# --- Lines -----------------------------------------------------------------------------------------------------


def test_the_lines_are_filled_from_the_photograph_and_number_their_cards(app, page):
    shown = page.get(kept(app))
    form = form_of(shown)

    assert {name: value for name, value in form.items() if name.startswith("n-side-1")} == {
        "n-side-1-200": "0", "n-side-1-100": "5", "n-side-1-75": "1", "n-side-1-50": "2", "n-side-1-25": "1",
    }  # fmt: skip
    assert form["s-side-1-right-of-way"] == "coup-fourre"
    assert form["s-side-1-extra-tank"] == ""
    assert "100 km cards 1, 2, 3, 4, 5" in text_of(shown)


def test_cards_are_numbered_on_the_picture_as_in_the_lines(app, page):
    shown = page.get(kept(app)).text

    assert len(re.findall('<polygon class="" ', shown)) == 17
    rims, frames = (re.findall(f'<polygon class="{look}" points="([^"]*)"', shown) for look in ("rim", ""))
    assert rims == frames
    assert re.findall(r"<text[^>]*>(\d+)</text>", shown) == [str(number) for number in range(1, 18)]
    assert f'href="{re.search(r"/snap/[^/]+/1.jpg", shown)[0]}"' in shown


def test_the_sides_of_a_match_have_their_names(app, page, match):
    match.start(("side Ann", "side Bob", "hand first Ann"))
    form = form_of(page.get(kept(app)))

    assert (form["name-side-1"], form["name-side-2"]) == ("Ann", "Bob")


def column(*faces: str, step_px: float = 24.0) -> Photo:
    """Return a photograph of overlapping cards, 114 pixels wide."""
    seen = []
    for number, slug in reversed(list(enumerate(faces))):
        top = 100 + number * step_px
        corners = ((300.0, top), (414.0, top), (414.0, top + 176), (300.0, top + 176))
        seen.append(Sighting(Card(slug), None, (357.0, top + 88), corners, None, False, 0.9, FACE))
    return Photo("photograph 1", (1000, 800), View(0.0, (), tuple(seen)))


def test_numbers_on_an_overlapping_column_are_in_their_cards_frames_and_in_list_order(app, page):
    shown = page.get(kept(app, column(*["100"] * 6), deck="own")).text
    frames = [
        np.array([point.split(",") for point in points.split()], np.float32)
        for points in re.findall(r'<polygon class="" points="([^"]*)"', shown)
    ]
    discs = np.array(re.findall(r'<circle [^>]*cx="([^"]*)" cy="([^"]*)" r="([^"]*)"', shown), float)
    apart = np.hypot(*(discs[:, None, :2] - discs[None, :, :2]).T)

    assert apart[~np.eye(6, dtype=bool)].min() > 2 * discs[0, 2]
    assert list(discs[:, 1]) == sorted(discs[:, 1])
    assert re.findall(r"<text[^>]*>(\d+)</text>", shown) == list("123456")
    inside = [[cv2.pointPolygonTest(frame, tuple(at), False) > 0 for at in discs[:, :2]] for frame in frames]
    assert np.array_equal(inside, np.eye(6))


def test_an_unidentified_card_is_asked_about_with_its_picture_and_likely_cards(app, page):
    shown = page.get(kept(app, doubtful()))
    picture = re.search(r'<svg viewBox="([^"]*)" role="img" aria-label="Card 6 on', shown.text)[1]
    left, top, width, height = map(int, picture.split())
    x, y = next(s.centre_px for s in doubtful().view.sightings if s.rivals and s.rivals[0][0] == "75-04")

    assert "Which card is number 6? 75 km 25 km Other:" in text_of(shown)
    assert (left < x < left + width < left + 200, top < y < top + height < top + 200) == (True, True)


def test_the_next_hand_is_counted_with_the_same_deck(app, page):
    (anew,) = re.findall(r'href="([^"]*)">Score another hand', counted(page, kept(app, deck="own")).text)

    assert form_of(page.get(html.unescape(anew)))["deck"] == "own"


@pytest.mark.parametrize("answer", [{}, {"c-km": "other", "c-safety": "nothing"}])
def test_an_open_question_prevents_counting(answer, app, page):
    shown = counted(page, kept(app, doubtful()), **{"n-side-1-200": "1"} | answer)

    assert shown.status_code == 400
    assert "Card 6 is still unknown: choose the card, or that it does not count." in text_of(shown)
    assert form_of(shown)["n-side-1-200"] == "1"
    assert '<a href="#card-6">Card 6 is still unknown' in shown.text
    assert '<fieldset class="card doubtful" id="card-6">' in shown.text


def test_a_line_shows_differing_counts_and_what_answers_add(app, page):
    shown = text_of(counted(page, kept(app, doubtful()), change="1", **{"n-side-1-100": "3", "c-km": "25"}))

    assert "100 km cards 1, 2, 3, 4, 5, counted: 3" in shown
    assert "50 km cards 7, 8 25 km card 9 plus 1 answered above Driving Ace card 10" in shown


def test_changing_returns_to_the_lines_with_all_values(app, page):
    address = kept(app, doubtful())
    before, typed = form_of(page.get(address)), {"name-side-1": "Zoë", "n-side-2-50": "3", "ended": "stopped"}

    sheet = counted(page, address, **typed, **{"c-km": "nothing", "c-safety": "nothing"})
    again = form_of(page.post(address, data=form_of(sheet) | {"change": "1"}, headers=HOME, follow_redirects=True))
    answered = {field: value for field, value in again.items() if value == "nothing"}

    assert len(answered) == 2
    assert again == before | typed | answered | {"all-side-1": "yes", "all-side-2": "yes"}


EXTRA_TANK, KM_200 = ({"c-safety": "other", "o-safety": slug} for slug in ("extra-tank", "200"))
NOT_COMPLETED = {"ended": "played-out"}
EXTENDED = {"n-side-1-100": "8", "trip": "1000 side-1"}
PHOTOS = {"all": tableaux.shot, "in doubt": doubtful, "one side": one_side, "no card": lambda: BARE}


@pytest.mark.parametrize(
    ("shot", "typed", "lines"),
    [
        ("in doubt", {"c-km": "75", "c-safety": "nothing"}, {"Distance": ["700", "475"], "Safeties": ["200", "–"]}),
        (
            "in doubt",
            {"c-km": "25", **EXTRA_TANK, **NOT_COMPLETED},
            {"Distance": ["650", "475"], "Safeties": ["200", "100"]},
        ),
        (
            "in doubt",
            {"c-km": "nothing", **KM_200, **NOT_COMPLETED},
            {"Distance": ["625", "675"], "Safeties": ["200", "–"]},
        ),
        (
            "in doubt",
            {"c-km": "other", "o-km": "stop", "c-safety": "nothing"} | NOT_COMPLETED,
            {"Distance": ["625", "475"]},
        ),
        ("all", {"pile": "yes"}, {"Delayed action": ["300", "–"]}),
        ("all", {"ended": "stopped"}, {"Trip completed": None}),
        ("all", {"ended": "side-2"}, {"Trip completed": ["–", "400"]}),
        ("all", EXTENDED, {"Extension": ["200", "–"], "Trip completed": ["400", "–"]}),
        ("one side", {}, {"Shut-out": None}),
        ("one side", {"drove-unseen-2": "no"}, {"Shut-out": ["500", "–"]}),
        ("one side", {"n-unseen-2-100": "4"}, {"Distance": ["700", "400"]}),
        ("no card", {"n-unseen-1-100": "7"}, {"Distance": ["700", "0"]}),
    ],
)
def test_detected_and_answered_cards_count(shot, typed, lines, app, page):
    rows = lines_of(counted(page, kept(app, PHOTOS[shot]()), **typed))

    assert {name: rows.get(name) for name in lines} == lines


TOO_MANY = {"n-side-1-200": "3", "n-side-2-200": "2"} | NOT_COMPLETED
UNFINISHED = {"n-side-1-100": "2"}
RACE = {"edition": "asmodee-2014"}


@pytest.mark.parametrize(
    ("how", "typed", "code", "says"),
    [
        ({"shot": BARE}, {}, 400, "Nothing is counted yet: enter the distance cards and safeties of each side"),
        ({}, {"n-side-1-200": "-2"}, 400, "How many 200 km does Side 1 have? Enter a number from 0 to 99."),
        ({}, {"n-side-1-200": "x" * 60}, 400, "How many 200 km does Side 1 have?"),
        ({}, {"name-side-2": "side 1"}, 400, "Two sides are called Side 1: give one of them another name."),
        ({}, TOO_MANY, 200, "5 × 200 km is too many: the deck has only 4. Count these cards again."),
        ({}, TOO_MANY, 200, "Side 1 has more than 2 cards of 200 km."),
        ({}, UNFINISHED | NOT_COMPLETED, 200, "all cards were played"),
        ({}, UNFINISHED | {"ended": "stopped"}, 200, "not all cards were played"),
        ({}, UNFINISHED, 400, "Who completed it? No side is at the target: add hidden cards, or choose below."),
        (RACE, {"n-side-1-100": "8", "n-side-1-200": "1"}, 200, "Side 1 wins the race!"),
        (RACE, {"n-side-1-100": "8", "n-side-1-200": "1"}, 200, "This race miles 1500 575"),
        ({}, {}, 200, "Add to a match"),
        (RACE, {}, 200, "not Add to a match"),
    ],
)
def test_a_count_shows_its_oddities_its_ending_or_why_it_is_refused(how, typed, code, says, app, page):
    answer = counted(page, kept(app, **how), **typed)

    assert answer.status_code == code
    assert (says.removeprefix("not ") in text_of(answer)) is not says.startswith("not ")
    assert 'href="#card-' not in answer.text


def test_typed_values_never_become_markup(app, page):
    typed = {"name-side-1": "<b>Ann</b>", "ended": "<i>", "trip": "<i>", "c-9-9": "<i>", "whose-x": "<i>"}
    shown = counted(page, kept(app), **typed).text

    assert "<b>Ann" not in shown
    assert "<i>" not in shown


def test_undetected_cards_are_folded_until_one_is_counted(app, page):
    address = kept(app)
    folded, typed = page.get(address).text, counted(page, address, change="1", **{"n-side-1-200": "1"})

    first = re.findall(r"<details( open)?>\s*<summary>(Not in the picture: [^<]*)", folded)[0]
    assert first == ("", "Not in the picture: 200 km, Extra Tank, Puncture Proof")
    assert first[1] in text_of(typed)
    assert "<details open>" in typed.text


# --- Guesses, and cards that may be hidden --------------------------------------------------------------------


def test_no_guess_is_preselected_however_likely(app, page):
    address = kept(app, likely({"75-04": ("75-04",)}))
    answer = counted(page, address)

    assert not [field for field in form_of(page.get(address)) if field[:2] == "c-"]
    assert (answer.status_code, "Card 6 is still unknown" in text_of(answer)) == (400, True)


def test_all_likely_guesses_can_be_accepted_at_once_and_are_reported(app, page):
    address = kept(app, likely({"75-01": ("75-01",), "100-07": ("100-07",), "extra-tank-01": ()}))
    assert "Use the best guesses for 2 unclear cards" in text_of(page.get(address))

    taken = counted(page, address, guess="1")
    (safety,) = set(re.findall(r'name="(c-[^"]*)"', taken.text)) - form_of(taken).keys()
    again = form_of(taken) | {safety: "nothing"}
    sheet, added = (page.post(address, data=again | how, headers=HOME, follow_redirects=True)
                    for how in ({}, {"add_up": "1"}))  # fmt: skip

    assert "Score it, with 2 guesses" in text_of(taken)
    assert "Take the guesses for" not in text_of(taken)
    assert lines_of(sheet)["Distance"] == ["700", "475"]
    assert "2 cards are guesses. The hand" in text_of(sheet)
    assert "Hand 1 2 cards are guesses. 1900 475" in text_of(added)
    assert "One hand scored from photos on this phone · 2 cards are guesses." in text_of(page.get("/past"))


def test_an_answered_guess_is_no_longer_a_guess(app, page):
    address = kept(app, likely({"75-01": ("75-01",)}))

    sheet = counted(page, address, **{"c-km": "75"})

    assert lines_of(sheet)["Distance"] == ["700", "475"]
    assert "guess" not in text_of(sheet)


NOT_SURE = {"c-km": "guess", "c-safety": "nothing"}


@pytest.mark.parametrize(
    ("typed", "asks"),
    [
        ({}, "Did Side 1 really finish at 700 km?"),
        ({"n-side-1-50": "3"}, "How far was the trip?"),
        ({"n-side-1-75": "1", "trip": "700"}, "Who completed it?"),
    ],
    ids=["a trip completed", "an extension", "a trip that sure cards complete"],
)
def test_results_that_depend_on_a_guess_need_a_persons_answer(typed, asks, app, page):
    asked = counted(page, kept(app, likely()), **NOT_SURE | typed)

    assert asked.status_code == 400
    assert f"{asks} The answer depends on guesses: choose it below." in text_of(asked)
    assert re.search(r'href="#ask-(\w+)".*id="ask-\1"><b>[^<]*</b><select [^>]* required', asked.text, re.DOTALL)


@pytest.mark.parametrize(("ended", "points"), [("side-1", ["400", "–"]), ("stopped", None)])
def test_a_trip_completed_only_by_guesses_needs_a_persons_answer(ended, points, app, page):
    sheet = counted(page, kept(app, likely()), **NOT_SURE, ended=ended)

    assert lines_of(sheet).get("Trip completed") == points


def test_a_certain_trip_is_not_questioned_for_another_sides_guess(app, page):
    sheet = counted(page, kept(app, likely({"75-01": ("75-01",)})), **{"c-km": "guess"})

    assert lines_of(sheet)["Trip completed"] == ["400", "–"]


@pytest.mark.parametrize("deck", ["", "own"], ids=["stickers", "faces"])
@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ({}, "Side 1: is every card visible? 700 km counted, and equal cards may hide each other."),
        ({"trip": "700"}, "Side 2: is every card visible? 475 km counted, and equal cards may hide each other."),
        ({"trip": "700", "all-side-2": "yes"}, None),
        ({"trip": "700", "n-side-2-75": "5", "ended": "side-1"}, None),
        ({"trip": "1000", "all-side-2": "yes"}, "Side 1: is every card visible? 700 km counted"),
        ({"all-side-1": "yes", "all-side-2": "yes"}, None),
        ({"n-side-1-100": "8", "all-side-2": "yes"}, None),
        ({"n-side-1-100": "1", "all-side-2": "yes"}, "Side 1: is every card visible? 300 km counted"),
        (
            {"trip": "700"} | {f"n-side-2-{card}": "0" for card in (200, 100, 75, 25)},
            "Side 2: is every card visible? 0 km counted",
        ),
    ],
    ids=[
        "at 700 with an extension", "short of the target", "a person has looked", "hidden cards added",
        "at 700 of 1000", "a person has looked at both", "at the end of the extension", "nobody finished", "shut out",
    ],
)  # fmt: skip
def test_a_side_that_may_have_driven_farther_needs_a_confirmation_that_no_card_is_hidden(deck, typed, asked, app, page):
    address = kept(app, deck=deck)
    shown = page.get(address)
    answer = page.post(address, data=form_of(shown) | typed, headers=HOME, follow_redirects=True)

    assert answer.status_code == (400 if asked else 200)
    assert re.findall(r'name="(all-[^"]*)" [^>]*required', shown.text) == ["all-side-1", "all-side-2"]
    if asked:
        assert asked in text_of(answer)
        name = re.search(r'href="#(all-[^"]*)"', answer.text)[1]
        assert f'id="{name}"' in answer.text


def test_with_two_sides_at_the_target_a_person_chooses_which_completed_the_trip(app, page):
    address = kept(app)
    typed = form_of(page.get(address)) | {"n-side-2-75": "5", "all-side-1": "yes", "all-side-2": "yes"}

    asked = page.post(address, data=typed, headers=HOME)
    sheet = counted(page, address, **typed | {"ended": "side-2"})

    assert asked.status_code == 400
    assert "Who completed it? Several sides are at the target: choose one below." in text_of(asked)
    assert 'href="#ask-ended"' in asked.text
    assert "Side 2 completed 700 km" in text_of(sheet)


def test_the_question_about_hidden_cards_states_the_kilometers_of_all_the_sides_heaps(app, page):
    snap = Snap("classic", "own", (column("100", "75"), column("200")))
    address = "/snap/" + app.extensions["companion"].snaps.keep(snap)

    shown = page.post(address, data={"change": "1", "whose-heap-2-1": "heap-1-1", "n-heap-1-1-100": "1",
                                     "n-heap-1-1-75": "1", "n-heap-2-1-200": "1"}, headers=HOME)  # fmt: skip

    assert re.search(r'name="all-heap-1-1" [^>]*required.*?<b[^>]*>(.*?)</b>', shown.text)[1] == (
        "Yes, all cards are visible: 375 km"
    )


def test_after_another_photograph_hidden_cards_are_asked_about_again(app, page, read):
    address = kept(app, one_side())
    typed = form_of(page.get(address)) | {"n-side-1-75": "0", "all-side-1": "yes"}

    shown = send(page, address, add="1", **typed)

    assert re.findall(r'name="(all-[^"]*)" value="yes" +(checked)? +required', shown.text) == [
        ("all-side-1", ""), ("all-side-2", ""),
    ]  # fmt: skip


def test_the_picture_of_a_side_shows_all_of_its_mat(app, page):
    shot = tableaux.shot()
    boxes = re.findall(r'<svg viewBox="([^"]*)"', page.get(kept(app, shot)).text)

    for box, mat in zip(boxes, sorted(shot.view.mats, key=lambda mat: mat.id), strict=True):
        left, top, width, height = map(float, box.split())
        corners, (right, bottom) = np.array(mat.corners_px), shot.size_px
        assert left <= max(corners[:, 0].min(), 0)
        assert top <= max(corners[:, 1].min(), 0)
        assert left + width >= min(corners[:, 0].max(), right)
        assert top + height >= min(corners[:, 1].max(), bottom)


# --- Without mats, and several photographs -------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_heaps():
    return read_photo(tableaux.file_of(mats=False), "photograph 1")


@pytest.mark.long
def test_without_mats_separate_heaps_are_sides_until_changed(app, page, two_heaps):
    address = kept(app, two_heaps)
    apart = lines_of(counted(page, address))
    one = counted(page, address, **{"whose-heap-1-2": "heap-1-1"})
    left_out = counted(page, address, **{"whose-heap-1-2": "nobody"})

    assert apart["Distance"] == ["700", "475"]
    shown = page.get(address).text
    assert shown.index("Whose are these cards?") < shown.index('<figure class="spots">')
    assert lines_of(one)["Distance"] == ["1175", "0"]
    assert lines_of(left_out)["Distance"] == ["700", "0"]
    assert "Shut-out" not in lines_of(left_out)


def test_a_missing_side_is_requested_on_another_photograph(app, page):
    shown = page.get(kept(app, one_side())).text

    assert '<a href="#add">Another photo of this table</a>' in shown
    assert '<details id="add" open>' in shown
    assert '<details id="add">' in page.get(kept(app)).text


def test_another_photograph_adds_its_side_and_keeps_typed_values(app, page, read):
    address = kept(app, one_side())
    typed = form_of(page.get(address)) | {"n-side-1-75": "2", "pile": "yes", "name-side-1": "Ann"}

    shown = send(page, address, add="1", **typed)
    form = form_of(shown)

    assert (form["n-side-1-75"], form["pile"], form["name-side-1"]) == ("2", "yes", "Ann")
    assert form["n-side-2-75"] == "2"
    assert "Side 1 is on 2 photos" in text_of(shown)


def test_a_photograph_sent_twice_counts_once(app, page, read):
    address = send(page).location

    for _ in range(2):
        answer = send(page, address, b"another", add="1")

    files = [photo.file for photo in app.extensions["companion"].snaps.get(address.rpartition("/")[2]).photos]
    assert files == [b"a picture", b"another"]
    assert answer.status_code == 303


def test_adding_without_a_photograph_is_reported_and_keeps_the_lines(app, page):
    address = kept(app)

    answer = send(page, address, None, add="1", **form_of(page.get(address)))

    assert answer.status_code == 400
    assert "There is no photograph yet" in text_of(answer)


def test_a_photograph_without_cards_is_reported(app, page):
    shown = text_of(page.get(kept(app, BARE)))

    assert "No sticker could be read. If your cards have none" in shown
    assert "No photograph shows this side" not in shown
    assert "Read the same photograph again" in shown
    of_a_deck = text_of(page.get(kept(app, BARE, deck="own")))
    assert "No card of this deck could be read. If they are from another deck" in of_a_deck


def test_photographs_and_mats_without_detected_cards_are_still_shown(app, page):
    one = one_side()
    mats = replace(one, view=replace(one.view, sightings=()))

    shown, plain = (page.get(kept(app, shot)).text for shot in (mats, BARE))

    assert len(re.findall("<svg viewBox", shown)) == 1
    assert re.search(r'<img src="/snap/[^/]+/1.jpg" alt="Photograph 1">', plain)


def test_the_same_photograph_can_be_read_again_with_another_deck_and_edition(app, page, read):
    address = kept(app, replace(doubtful(), file=b"as it was sent"))
    typed = form_of(page.get(address)) | {"name-side-1": "Oma", "c-1-1": "nothing", "edition": "parker", "deck": "own"}

    shown = page.post(address, data=typed | {"again": "1"}, headers=HOME)
    form = form_of(shown)

    assert read == [(b"as it was sent", "own", "")]
    assert (form["name-side-1"], form["n-side-1-100"], form["edition"], form["deck"]) == ("Oma", "5", "parker", "own")
    assert "still open" not in text_of(counted(page, address))


def test_reading_unchanged_lines_again_redirects_to_their_page(app, page, read):
    address = kept(app, BARE)
    answer = page.post(address, data={"edition": "classic", "deck": "own", "again": "1"}, headers=HOME)

    assert (answer.status_code, answer.location) == (303, address)
    assert form_of(page.get(address))["n-side-1-100"] == "5"


def test_reading_again_with_an_unknown_deck_keeps_the_lines(app, page, read):
    address = kept(app)
    answer = page.post(address, data=form_of(page.get(address)) | {"deck": "?", "again": "1"}, headers=HOME)

    assert "There is no deck “?” to recognize cards with: choose again under Cards." in text_of(answer)
    assert (answer.status_code, form_of(answer)["n-side-1-100"], read) == (400, "5", [])


def test_with_too_many_heaps_the_number_of_sides_is_checked_first():
    own = tableaux.shot().view.sightings[0]
    far = []
    for number in range(1, 6):
        at = (2000.0 * number, 0.0)
        corners = tuple((at[0] + dx, dy) for dx, dy in ((0.0, 0.0), (30.0, 0.0), (30.0, 30.0), (0.0, 30.0)))
        card = f"100-{number:02d}"
        far.append(replace(own, face=Card.KM_100, card=card, centre_px=at, corners_px=corners, zone=None))
    found = tally(CLASSIC, [Photo("a", (12_000, 100), View(0.0, (), tuple(far)))])

    with pytest.raises(SeatingError, match="these are 5 sides"):
        photo_form.table_sent(CLASSIC, found, photo_form.fields(CLASSIC, found, {}))


def test_only_the_newest_of_large_photographs_are_kept(monkeypatch):
    monkeypatch.setattr(snapping, "MOST_KEPT_BYTES", 100)
    snaps, large = Snaps(), Snap("classic", "", (replace(BARE, file=b"x" * 60),))
    first, second = snaps.keep(large), snaps.keep(large)

    snaps.keep(replace(large, photos=large.photos * 2), second)

    assert snaps.get(first) is None
    assert len(snaps.get(second).photos) == 2


# --- Several hands ---------------------------------------------------------------------------------------------


def test_counted_hands_add_up_to_a_match_until_it_is_won(app, page):
    first = text_of(counted(page, kept(app), add_up="1", **{"name-side-1": "Oma", "name-side-2": "Leo"}))
    for _ in range(2):
        last = text_of(counted(page, kept(app), add_up="1"))

    assert "All hands so far, on this phone Oma Leo Hand 1 1900 575 Match First to 5000 points wins. 1900 575" in first
    assert "Oma wins the match! Oma Leo Hand 1 1900 575 Hand 2 1900 575 Hand 3 1900 575" in last
    assert "Hand 1 1900 575 Match" in text_of(counted(page, kept(app), add_up="1"))
    assert "Oma – Leo 1900 – 575 One hand scored" in text_of(page.get("/past"))
    assert "guess" not in text_of(page.get("/past"))


def test_adding_a_hand_again_corrects_it_and_other_sides_start_a_new_total(app, page):
    address = kept(app)
    counted(page, address, add_up="1")
    again = text_of(counted(page, address, add_up="1", **{"n-side-2-50": "3"}))
    others = text_of(counted(page, kept(app), add_up="1", **{"name-side-2": "Zoë"}))

    assert "Hand 2" not in again
    assert "1900 575" not in again
    assert "Side 1 Zoë Hand 1" in others
    assert 'value="Zoë"' in page.get(kept(app)).text
