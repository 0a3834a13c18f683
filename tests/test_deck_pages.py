"""The pages of the decks: which cards are played with, decks carried as files, and one enrolled card by card."""

import io
import re
import threading
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from client import HOME, SECRET, TWO, run, text_of
from photos import face_of

from companion.common.errors import Problem
from companion.pages import Camera, create_app
from companion.pages.table_camera import decks as deck_pages
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.tabletop.template_decks import BACK, load_deck
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.sources import Frame
from companion.vision.enrol import enrolment
from companion.vision.enrol.enrolment import begin
from companion.vision.enrol.guided import Command, Guide, TerminalKeys, guided
from companion.vision.enrol.rectify import PictureFault, Rectified
from companion.vision.faces import deck_in_use
from companion.vision.faces.deck_in_use import DeckInUse, choose_deck, chosen_deck
from companion.vision.opencv import cv2 as opencv

CLASSIC = list(load_edition("classic").deck)
FIRST, SECOND = CLASSIC[:2]
SIZE = (342, 528)
EMPTY = np.full((600, 800, 3), 90, np.uint8)


def card_picture(slug: str) -> np.ndarray:
    """A card alone, as a scanner sees it."""
    return cv2.resize(face_of("own", slug), SIZE, interpolation=cv2.INTER_AREA)


def on_table(slug: str, left: int = 200) -> np.ndarray:
    """A card on the table, as the camera sees it."""
    table = EMPTY.copy()
    table[36:564, left : left + SIZE[0]] = card_picture(slug)
    return table


def told_by_place(image: np.ndarray, _size_mm: tuple[float, float]) -> Rectified:
    """What `rectified` says of the pictures here, at once: where the card lies is known."""
    columns = np.flatnonzero((image[300] != 90).any(axis=1))
    if len(columns) < 50:
        return Rectified(None, PictureFault.NO_CARD if not len(columns) else PictureFault.NOT_WHOLE)
    left = int(columns[0])
    return Rectified(np.ascontiguousarray(image[36:564, left : left + SIZE[0]]), None)


@pytest.fixture
def quick_eye(monkeypatch):
    """Cards are found without looking for them: that is another room's test, and takes seconds."""
    monkeypatch.setattr(enrolment, "rectified", told_by_place)


@pytest.fixture
def camera():
    """What the camera shows now."""
    return SimpleNamespace(image=EMPTY)


@pytest.fixture
def app(match, camera):
    jpeg = lambda: None if camera.image is None else jpeg_of(camera.image)  # noqa: E731
    return create_app(match, secret=SECRET, camera=Camera(jpeg, lambda: camera.image))


@pytest.fixture
def ours(tmp_path):
    """A deck of which nothing is enrolled yet."""
    return begin("ours", "classic", tmp_path)


def post(page, path: str, **fields: object):
    return page.post(path, data=fields, headers=HOME, content_type="multipart/form-data")


def a_file(content: bytes, name: str = "IMG_1.JPG") -> tuple[io.BytesIO, str]:
    return io.BytesIO(content), name


def png_of(image: np.ndarray) -> bytes:
    return opencv.imencode(".png", image)[1].tobytes()


def deck_with(data: Path, *slugs: str, name: str = "ours") -> None:
    """A deck in the data folder with some faces."""
    enrolment = begin(name, "classic", data)
    for slug in slugs:
        enrolment.keep(None if slug == BACK else Card(slug), [card_picture(slug)])


# --- Which cards are played with ------------------------------------------------------------------------------


def test_the_chosen_deck_is_kept_until_another_is_chosen(tmp_path):
    assert chosen_deck(tmp_path) is None

    choose_deck(tmp_path, "own")
    with pytest.raises(Problem, match="There is no deck 'grandma'"):
        choose_deck(tmp_path, "grandma")
    assert chosen_deck(tmp_path) == "own"

    choose_deck(tmp_path, None)
    assert chosen_deck(tmp_path) is None


def test_the_templates_stay_the_same_until_the_deck_changes_or_breaks_which_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(deck_in_use, "LOOK_AGAIN_S", 0.0)
    deck_with(tmp_path, "roll")
    choose_deck(tmp_path, "ours")
    in_use = DeckInUse(tmp_path)

    first = in_use.templates()
    assert first is not None
    assert in_use.templates() is first

    deck_with(tmp_path, "stop")
    assert in_use.templates() not in (first, None)
    (tmp_path / "decks/ours/roll.png").write_bytes(b"nothing")
    assert in_use.templates() is None
    assert "roll.png" in in_use.problem
    choose_deck(tmp_path, None)
    assert (in_use.templates(), in_use.problem) == (None, None)


def test_the_page_chooses_the_cards_on_this_table_and_says_what_they_lack(page, tmp_path):
    deck_with(tmp_path, "25", "roll")

    answer = post(page, "/decks/use", deck="ours")
    shown = page.get("/decks").text
    gone = post(page, "/decks/use", deck="grandma")

    assert (answer.status_code, gone.status_code) == (303, 400)
    assert "There is no deck “grandma”" in text_of(gone)
    assert chosen_deck(tmp_path) == "ours"
    assert 'value="ours" checked' in shown
    assert "lacks 17 faces: cards of these are not told, and others are asked about." in shown


# --- The list -------------------------------------------------------------------------------------------------


def test_decks_are_listed_with_what_they_hold(page, tmp_path):
    deck_with(tmp_path, "roll", "stop", BACK)

    shown = text_of(page.get("/decks"))

    assert "2 of 19 faces" in shown
    assert "With stickers" in shown
    assert "Go on with the missing cards" in shown
    assert re.search("made on [0-9]{4}\u2011[0-9]{2}\u2011[0-9]{2}", shown), "no line ends within the day"


def test_a_damaged_deck_is_listed_with_what_is_wrong_and_can_be_removed(page, tmp_path):
    (tmp_path / "decks/bad").mkdir(parents=True)
    (tmp_path / "decks/bad/deck.toml").write_text("nonsense")

    shown = page.get("/decks")
    assert "is damaged" in text_of(shown)
    assert 'value="bad"' not in shown.get_data(as_text=True)

    post(page, "/decks/bad/remove")
    assert not (tmp_path / "decks/bad").exists()


def test_a_chosen_deck_that_is_removed_is_chosen_no_longer(page, tmp_path):
    deck_with(tmp_path, "roll")
    choose_deck(tmp_path, "ours")

    post(page, "/decks/ours/remove")

    assert chosen_deck(tmp_path) is None
    assert "There is none yet" in text_of(page.get("/decks"))
    assert post(page, "/decks/own/remove").status_code == 400


def test_a_deck_is_carried_as_a_file_under_a_name_of_its_own(page, tmp_path):
    deck_with(tmp_path, "roll", "stop")
    file = page.get("/decks/ours.zip")
    assert file.headers["Content-Disposition"] == 'attachment; filename="ours.zip"'

    there_already = post(page, "/decks/import", file=a_file(file.data, "ours.zip"))
    answer = post(page, "/decks/import", file=a_file(file.data, "ours.zip"), title="Aunt Zoë’s")

    assert (there_already.status_code, answer.status_code) == (400, 303)
    assert "give this one another name" in text_of(there_already)
    assert "There is no file yet" in text_of(post(page, "/decks/import"))
    assert sorted(load_deck("aunt-zoes", tmp_path).faces) == sorted([Card.ROLL, Card.STOP])


def test_a_file_that_is_no_deck_is_told(page, tmp_path):
    answer = post(page, "/decks/import", file=a_file(b"PK\x03\x04", "../../x.zip"))

    assert answer.status_code == 400
    assert "x.zip is no deck that can be used" in text_of(answer)
    assert not (tmp_path / "decks").exists() or not list((tmp_path / "decks").iterdir())


def test_one_deck_is_taken_in_at_a_time(page, tmp_path, monkeypatch):
    deck_with(tmp_path, "roll")
    file = page.get("/decks/ours.zip").data
    answers = []

    def meanwhile(content: bytes, name: str) -> bytes:
        answers.append(post(page, "/decks/import", file=a_file(file, "ours.zip"), title="Second"))
        return enrolment.recoded(content, name)

    monkeypatch.setattr(deck_pages, "recoded", meanwhile)

    assert post(page, "/decks/import", file=a_file(file, "ours.zip"), title="First").status_code == 303
    assert [answer.status_code for answer in answers] == [503]
    assert "try again in a moment" in text_of(answers[0])
    monkeypatch.undo()
    assert post(page, "/decks/import", file=a_file(file, "ours.zip"), title="Second").status_code == 303


# --- A new deck -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "name"),
    [("Grandma’s deck", "grandmas-deck"), ("Własna Été", "wasna-ete"), ("牌", "deck"), ("own", "own-2"), ("../x", "x")],
)
def test_a_deck_is_called_as_people_like_and_kept_under_a_plain_name(title, name, page, tmp_path):
    answer = post(page, "/decks", title=title, edition="classic", width="57", height="88")

    assert answer.headers["Location"] == f"/decks/{name}/enrol"
    assert begin(name, "classic", tmp_path).description.title == title
    assert "no face yet" in text_of(page.get("/decks"))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"title": " "}, "The deck has no name yet"),
        ({"width": "88", "height": "57"}, "width and height are millimetres"),
        ({"width": "nan"}, "width and height are millimetres"),
        ({"edition": "none"}, "none"),
    ],
)
def test_what_is_typed_wrong_is_told_and_stays(fields, sentence, page):
    typed = {"title": "Ours", "edition": "classic", "width": "57", "height": "88"}

    answer = post(page, "/decks", **(typed | fields))

    assert answer.status_code == 400
    assert sentence in text_of(answer)


# --- Card by card ---------------------------------------------------------------------------------------------


@pytest.fixture
def begun(page, tmp_path, quick_eye):
    """The address of a new deck's page."""
    post(page, "/decks", title="Ours", edition="classic")
    return "/decks/ours/enrol"


def test_the_first_card_is_asked_for_with_the_live_picture(page, begun):
    shown = page.get(begun)
    post(page, "/decks", title="Fast", edition="rush")

    assert "1 of 19" in text_of(shown)
    assert "Lay the card “25 km” alone" in text_of(shown)
    assert 'src="/camera.jpg"' in shown.get_data(as_text=True)
    assert "of 24" in text_of(page.get("/decks/fast/enrol"))


def test_a_card_is_taken_shown_and_the_next_one_asked_for(page, begun, camera, tmp_path):
    camera.image = on_table(FIRST.value)

    answer = post(page, begun, card=FIRST.value)

    assert answer.headers["Location"] == f"{begun}?card={SECOND.value}&got={FIRST.value}"
    shown = page.get(answer.headers["Location"])
    assert "Got it: 25 km" in text_of(shown)
    assert "2 of 19" in text_of(shown)
    assert page.get(f"/decks/ours/{FIRST.value}-1.jpg").data[:2] == b"\xff\xd8"
    assert load_deck("ours", tmp_path).faces


CUT_OFF = EMPTY.copy()
CUT_OFF[200:500, :45] = 255


@pytest.mark.parametrize(
    ("fields", "shown", "says"),
    [
        ({}, CUT_OFF, "The card is cut off by the picture’s edge: take the picture from a little farther away."),
        ({}, None, "There is no fresh picture"),
        ({"photo": b"GIF89a...."}, EMPTY, "is no JPEG, PNG, WebP or BMP picture"),
        ({"photo": b"\xff\xd8 nothing"}, EMPTY, "The picture that you have sent"),
        *(({"card": card}, EMPTY, "") for card in ("", "nonsense", "unknown", "theft")),
    ],
)
def test_a_picture_that_will_not_do_says_why_and_is_not_kept(page, begun, camera, tmp_path, fields, shown, says):
    camera.image = shown
    sent = {name: a_file(value) if name == "photo" else value for name, value in fields.items()}

    answer = post(page, begun, **{"card": FIRST.value, **sent})

    assert answer.status_code == 400
    assert says in text_of(answer)
    assert not list((tmp_path / "decks/ours").glob("*.png"))


def test_a_card_that_is_there_as_another_is_named(page, begun, camera):
    camera.image = on_table(FIRST.value)
    post(page, begun, card=FIRST.value)

    answer = post(page, begun, card=SECOND.value)

    assert "This is the card that is kept as “25 km”" in text_of(answer)


def test_again_takes_the_picture_anew_and_more_adds_one(page, begun, camera, tmp_path):
    camera.image = on_table(FIRST.value)
    post(page, begun, card=FIRST.value)
    pictures = lambda: load_deck("ours", tmp_path).faces[FIRST]  # noqa: E731

    camera.image = on_table(FIRST.value, left=300)
    post(page, begun, card=FIRST.value, how="more")
    assert len(pictures()) == 2
    shown = text_of(page.get(f"{begun}?card={FIRST.value}"))
    assert "There are 2 pictures of it; more make it better" in shown
    assert "Take one more" in shown

    assert "Take it" in text_of(page.get(f"{begun}?card={FIRST.value}&again=1"))
    post(page, begun, card=FIRST.value, how="first", again="1")
    assert len(pictures()) == 1


def test_one_picture_of_a_card_is_removed_and_with_its_last_the_card_is_missing(page, begun, camera, tmp_path):
    for left, how in ((200, "first"), (300, "more")):
        camera.image = on_table(FIRST.value, left)
        post(page, begun, card=FIRST.value, how=how)
    ours = begin("ours", "classic", tmp_path)
    second = ours.pictures(FIRST)[1].read_bytes()
    shown = page.get(f"{begun}?card={FIRST.value}").get_data(as_text=True)

    went = [post(page, f"/decks/ours/{FIRST.value}-1/remove", of="2") for _ in "taps"]
    kept = [path.read_bytes() for path in ours.pictures(FIRST)]
    post(page, f"/decks/ours/{FIRST.value}-1/remove", of="1")

    assert shown.count("Remove this picture") == 2
    assert f'src="/decks/ours/{FIRST.value}-2.jpg"' in shown
    assert {answer.location for answer in went} == {f"{begun}?card={FIRST.value}"}
    assert kept == [second]
    assert FIRST in ours.wanted


def test_without_a_camera_the_page_is_about_all_cards_until_one_is_chosen(page, begun, camera):
    camera.image = None
    every, one = page.get(begun), page.get(f"{begun}?card={SECOND.value}")
    bare = {"photo": a_file(png_of(EMPTY)), "card": FIRST.value}

    refused = text_of(post(page, begun, **bare, all="1"))
    alone = text_of(post(page, begun, **bare | {"photo": a_file(png_of(EMPTY))}))

    assert "1 of 19" not in text_of(every)
    assert "count in the order of their file names, IMG_9 before IMG_10" in text_of(every)
    assert "A single picture of one card is taken for “25 km”" in text_of(every)
    assert 'name="all"' in every.get_data(as_text=True)
    assert "All decks" in text_of(every)
    assert "2 of 19" in text_of(one)
    assert "Lay the card “50 km” alone" in text_of(one)
    assert "No card is found on the picture: lay all cards in rows" in refused
    assert "lay the card alone" not in refused
    assert "No card is found on the picture: lay the card alone" in alone


def test_no_more_pictures_are_kept_than_are_of_use(page, begun, camera, tmp_path, monkeypatch):
    camera.image = on_table(FIRST.value)
    for _ in range(9):
        post(page, begun, card=FIRST.value, how="more")

    answer = post(page, begun, card=FIRST.value, how="more")

    assert answer.status_code == 400
    assert "There are 9 pictures of 25 km already" in text_of(answer)


def test_back_and_skip_lead_along_the_deck(page, begun):
    shown = page.get(f"{begun}?card={SECOND.value}").get_data(as_text=True)

    assert f'href="{begun}?card={FIRST.value}"' in shown
    assert f'href="{begun}?card={CLASSIC[2].value}"' in shown


def test_the_back_comes_last_and_then_the_deck_is_there(page, begun, camera, tmp_path):
    deck_with(tmp_path, *(card.value for card in CLASSIC))
    assert "Turn any card over" in text_of(page.get(begun))
    camera.image = on_table(BACK)

    answer = post(page, begun, card=BACK)

    assert answer.headers["Location"] == f"{begun}?card=done&got=back"
    assert "The deck is all there." in text_of(page.get(answer.headers["Location"]))
    for address in (answer.headers["Location"], "/decks"):
        assert 'href="/snap?deck=ours"' in page.get(address).get_data(as_text=True)


def test_what_was_skipped_is_named_at_the_end(page, begun, tmp_path):
    deck_with(tmp_path, *(card.value for card in CLASSIC[1:]))

    said = text_of(page.get(f"{begun}?card=done"))
    assert "Still missing: 25 km. Cards of these faces" in said
    assert "no picture of the back: a card that lies face down may be asked about" in said


def test_a_photograph_does_as_well(page, begun, camera, tmp_path):
    camera.image = None

    shown = text_of(page.get(begun))
    answer = post(page, begun, card=FIRST.value, photo=a_file(png_of(on_table(FIRST.value)), "../../evil.png"))
    camera.image = EMPTY

    assert "Or photograph each card alone, in that order, and choose all the pictures at once." in shown
    assert answer.status_code == 303
    assert "<details open>" in page.get(answer.location).get_data(as_text=True)
    assert [path.name for path in (tmp_path / "decks/ours").glob("*.png")] == [f"{FIRST.value}.png"]


def test_a_hand_being_played_is_warned_of(page, begun, match):
    before = text_of(page.get(begun))
    match.start(TWO)

    assert "A hand is being played" not in before
    assert "A hand is being played, and the table is watched" in text_of(page.get(begun))


@pytest.mark.parametrize("path", ["/decks/none/enrol", "/decks/own/enrol", "/decks/none.zip", "/decks/own/x-1.jpg"])
def test_what_is_not_there_is_not_found(path, page):
    assert page.get(path).status_code == 404


# --- By itself ------------------------------------------------------------------------------------------------


@pytest.fixture
def guide(quick_eye):
    return Guide(count(1.0).__next__)


def test_a_card_is_taken_once_it_lies_still(ours, guide):
    image = on_table(FIRST.value)

    assert guide.watch(ours, FIRST, image) is None
    assert guide.watch(ours, FIRST, image).is_good
    assert ours.pictures(FIRST)


def test_a_card_that_is_left_lying_is_not_taken_for_the_next(ours, guide):
    for image in 2 * [on_table(FIRST.value)]:
        guide.watch(ours, FIRST, image)

    said = [guide.watch(ours, SECOND, on_table(FIRST.value, left)) for left in (200, 200, 320, 320, 320)]

    assert said == [None] * 5
    assert not ours.pictures(SECOND)


def test_an_empty_table_is_no_news_and_a_card_cut_off_is(guide, ours, page, begun, camera, app):
    assert [guide.watch(ours, FIRST, EMPTY) for _ in range(3)] == [None] * 3
    assert guide.watch(ours, FIRST, CUT_OFF) is None
    assert guide.watch(ours, FIRST, CUT_OFF).fault is PictureFault.NOT_WHOLE

    app.extensions["companion"].guide._clock = count(1.0).__next__
    camera.image = CUT_OFF
    said = [post(page, f"{begun}/watch", card=FIRST.value) for _ in range(2)]

    assert text_of(said[1]).startswith("The card is cut off by the picture’s edge")


def test_a_card_taken_with_a_tap_is_not_taken_once_more_by_itself(ours, guide):
    image = on_table(FIRST.value)
    guide.take(ours, FIRST, image)
    guide.seen(image)

    assert [guide.watch(ours, SECOND, image) for _ in range(4)] == [None] * 4


def test_the_page_goes_on_by_itself(page, begun, camera, app):
    app.extensions["companion"].guide._clock = count(1.0).__next__
    camera.image = on_table(FIRST.value)
    asks = {"data": {"card": FIRST.value, "auto": "1"}, "headers": HOME | {"HX-Request": "true"}}

    assert page.post(f"{begun}/watch", **asks).status_code == 204
    went, again = (page.post(f"{begun}/watch", **asks) for _ in range(2))

    there = f"{begun}?card={SECOND.value}&got={FIRST.value}&auto=1"
    assert went.headers["HX-Redirect"] == again.headers["HX-Redirect"] == there
    assert "every 800ms" in page.get(there).get_data(as_text=True)


def test_what_moves_is_not_looked_at(ours, guide):
    assert [guide.watch(ours, FIRST, on_table(FIRST.value, left)) for left in (100, 200, 300)] == [None] * 3
    assert not ours.pictures(FIRST)


# --- In the terminal ------------------------------------------------------------------------------------------


def film(*images: np.ndarray, each: int = 10) -> list[Frame]:
    """Every picture for a second."""
    return [Frame(image, number / 10) for number, image in enumerate(i for i in images for _ in range(each))]


def test_cards_laid_one_after_the_other_are_enrolled_in_the_order_of_the_edition(ours, quick_eye):
    shown = (EMPTY, on_table(FIRST.value), on_table(FIRST.value, 300), EMPTY, on_table(SECOND.value))

    said = [one.sentence for one in guided(ours, film(*shown))]

    assert said[:2] == ["25: got it", "50: got it"]
    assert said[2].startswith("There is no picture yet of 75, ")
    assert said[3] == "There is no picture yet of the back: a card that lies face down may be asked about."


def test_people_are_told_what_to_lay_and_may_skip_and_end(ours, quick_eye):
    typed = iter([Command.SKIP, *[None] * 25, Command.QUIT])

    said = [one.sentence for one in guided(ours, film(*6 * [on_table(SECOND.value)]), lambda: next(typed))]

    assert said[:5] == [
        "1 of 20: lay the 25 km card alone before the camera.",
        "25: skipped",
        "2 of 20: lay the 50 km card alone before the camera.",
        "50: got it",
        "3 of 20: lay the 75 km card alone before the camera.",
    ]
    assert "There is no picture yet of 25, 75, " in said[5]


def test_photographs_without_a_card_are_told_where_nobody_can_be_asked(ours, quick_eye):
    said = [one.sentence for one in guided(ours, film(EMPTY, on_table("25"), each=1), still_s=0.0)]

    assert said[0].startswith("25: no card is found on the picture")
    assert said[1] == "25: got it"
    assert said[2].startswith("If a card was lost that way, those after it are kept as another's")


def test_a_deck_that_lacks_nothing_is_told(ours):
    for card in (*CLASSIC, None):
        ours.keep(card, [card_picture(BACK if card is None else card.value)])

    with pytest.raises(Problem, match="has a picture of every face"):
        list(guided(ours, []))


def test_enter_skips_and_q_ends():
    keys = TerminalKeys(io.StringIO("\nQ\n"))
    for thread in threading.enumerate():
        if thread.name == "keys":
            thread.join(5)

    assert [keys(), keys(), keys()] == [Command.SKIP, Command.QUIT, None]


def test_the_command_enrols_from_a_folder_of_photographs(quick_eye, tmp_path, capsys):
    shots = tmp_path / "shots"
    shots.mkdir()
    for number, card in enumerate(CLASSIC[:3]):
        cv2.imwrite(str(shots / f"IMG_{number}.png"), on_table(card.value))

    code = run("enroll", "ours", "--edition", "classic", "--source", shots, "--data", tmp_path)

    said = capsys.readouterr()
    assert said.out.splitlines()[:3] == ["25: got it", "50: got it", "75: got it"]
    assert "There is no picture yet of 100, " in said.err
    assert code == 1
    assert list(load_deck("ours", tmp_path).faces) == CLASSIC[:3]


@pytest.mark.parametrize("where", [(), ("--from", "x", "--source", "0")])
def test_the_command_wants_one_place_where_the_cards_are(where, tmp_path):
    with pytest.raises(Problem, match="Say where the cards are"):
        run("enroll", "ours", "--edition", "classic", *where, "--data", tmp_path)
