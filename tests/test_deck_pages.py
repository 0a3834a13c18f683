"""The deck pages: choosing a deck, export and import, enrollment."""

import io
import re
import threading
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from client import HOME, SECRET, run, text_of
from evening import Evening
from photos import face_of
from sheet import scenes

from companion.common.errors import Problem
from companion.pages import Camera, create_app
from companion.pages.table_camera import decks as deck_pages
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.tabletop.template_decks import BACK, load_deck
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.sources import Frame
from companion.vision.enrol import enrolment
from companion.vision.enrol.enrolment import as_png, begin
from companion.vision.enrol.guided import Command, Guide, TerminalKeys, guided
from companion.vision.enrol.rectify import PictureFault, Rectified
from companion.vision.faces import deck_in_use
from companion.vision.faces.deck_in_use import DeckInUse, choose_deck, chosen_deck

CLASSIC = list(load_edition("classic").deck)
FIRST, SECOND = CLASSIC[:2]
SIZE = (342, 528)
EMPTY = np.full((600, 800, 3), 90, np.uint8)
MARKED = re.compile(r'<img class="marked" src="([^"]+)"')
LAMP = np.array([(330.0, 80), (410, 80), (370, 180)])


def card_picture(slug: str) -> np.ndarray:
    """Return a single card, as from a scanner."""
    return cv2.resize(face_of("own", slug), SIZE, interpolation=cv2.INTER_AREA)


def on_table(slug: str, left: int = 200) -> np.ndarray:
    """Return a card on the table, as seen by the camera."""
    table = EMPTY.copy()
    table[36:564, left : left + SIZE[0]] = card_picture(slug)
    return table


def told_by_place(image: np.ndarray, _size_mm: tuple[float, float]) -> Rectified:
    """Return what `rectified` returns for these pictures, faster: the card's position is known."""
    columns = np.flatnonzero((image[300] != 90).any(axis=1))
    if len(columns) < 50:
        return Rectified(None, PictureFault.NO_CARD if not len(columns) else PictureFault.NOT_WHOLE)
    left = int(columns[0])
    return Rectified(np.ascontiguousarray(image[36:564, left : left + SIZE[0]]), None)


@pytest.fixture
def quick_eye(monkeypatch):
    """Skip the search for the card, which has its own tests and takes seconds."""
    monkeypatch.setattr(enrolment, "rectified", told_by_place)


@pytest.fixture
def camera():
    """The camera's current picture."""
    return SimpleNamespace(image=EMPTY)


@pytest.fixture
def app(match, camera):
    jpeg = lambda: None if camera.image is None else jpeg_of(camera.image)  # noqa: E731
    return create_app(match, secret=SECRET, camera=Camera(jpeg, lambda: camera.image))


@pytest.fixture
def ours(tmp_path):
    """A deck without faces."""
    return begin("ours", "classic", tmp_path)


def post(page, path: str, **fields: object):
    return page.post(path, data=fields, headers=HOME, content_type="multipart/form-data")


def a_file(content: bytes, name: str = "IMG_1.JPG") -> tuple[io.BytesIO, str]:
    return io.BytesIO(content), name


def deck_with(data: Path, *slugs: str, name: str = "ours") -> None:
    """Create a deck with some faces in the data folder."""
    enrolment = begin(name, "classic", data)
    for slug in slugs:
        enrolment.keep(None if slug == BACK else Card(slug), [card_picture(slug)])


EVENINGS = """
# --- Which cards are played with

the page chooses the cards on this table and says what they lack
    has 25 roll; machine taps /decks/use deck=ours; machine at /decks | markup value="ours" checked
    machine reads | lacks 17 faces: their cards are not recognized, and you are asked about similar ones.
    machine taps /decks/use deck=grandma -> 400; machine reads | There is no deck “grandma”
    machine reads | markup value="ours" checked
decks are listed with what they hold
    has roll stop back; machine at /decks | 2 of 19 faces | With stickers | Add the missing cards
a deck is removed only after asking and is chosen no longer
    has roll; machine taps /decks/use deck=ours; machine at /decks | Remove “ours”
    machine reads | markup <details><summary>Remove this deck</summary>; machine taps /decks/ours/remove
    machine at /decks | “ours” is removed. | There is no deck yet | markup value="" checked
    machine taps /decks/own/remove -> 400

# --- A new deck

a deck is called as people like and kept under a plain name
    machine taps /decks title=Grandma’s deck & edition=classic & width=57 & height=88 -> /decks/grandmas-deck/enrol
    machine taps /decks title=Własna Été & edition=classic -> /decks/wasna-ete/enrol
    machine taps /decks title=牌 & edition=classic -> /decks/deck/enrol
    machine taps /decks title=own & edition=classic -> /decks/own-2/enrol
    machine taps /decks title=../x & edition=classic -> /decks/x/enrol
    machine at /decks | Grandma’s deck no face yet | Własna Été no face yet | 牌 no face yet | ../x no face yet
what is typed wrong is told and stays
    machine taps /decks title=  & edition=classic & width=57 & height=88 -> 400; machine reads | has no name yet
    machine taps /decks title=Ours & edition=classic & width=88 & height=57 -> 400
    machine reads | width and height in millimeters | markup value="Ours" | markup value="88"
    machine taps /decks title=Ours & edition=classic & width=nan & height=88 -> 400
    machine reads | width and height in millimeters; machine taps /decks title=Ours & edition=none -> 400

# --- Card by card

the first card is asked for with the live picture
    begun; machine at /decks/ours/enrol | 1 of 19 | Lay “25 km” alone | markup src="/camera.jpg"
    machine taps /decks title=Fast & edition=rush -> /decks/fast/enrol; machine at /decks/fast/enrol | of 24
a card is taken, shown and the next one asked for
    begun; lies 25; machine taps /decks/ours/enrol card=25 -> /decks/ours/enrol?card=50&got=25
    machine at /decks/ours/enrol?card=50&got=25 | Got it: 25 km | 2 of 19 | markup src="/decks/ours/25-1.jpg"
a card that is there as another is named
    begun; lies 25; machine taps /decks/ours/enrol card=25; machine taps /decks/ours/enrol card=50 -> 400
    machine reads | This is the card that is kept as “25 km”
again takes the picture anew and more adds one
    begun; lies 25; machine taps /decks/ours/enrol card=25
    lies 25 300; machine taps /decks/ours/enrol card=25 & how=more
    machine at /decks/ours/enrol?card=25 | There are 2 pictures of it | Take another
    machine at /decks/ours/enrol?card=25&again=1 | Use this picture | not Take another
    machine taps /decks/ours/enrol card=25 & how=first & again=1
    machine at /decks/ours/enrol?card=25 | There is one picture of it | not There are 2 pictures
back and skip lead along the deck
    begun; machine at /decks/ours/enrol?card=50 | markup href="/decks/ours/enrol?card=25"
    machine reads | markup href="/decks/ours/enrol?card=75"
the back comes last and then the deck is there
    begun; has all; machine at /decks/ours/enrol | Turn any card over
    lies back; machine taps /decks/ours/enrol card=back -> /decks/ours/enrol?card=done&got=back
    machine at /decks/ours/enrol?card=done&got=back | The deck is complete. | markup href="/snap?deck=ours"
    machine at /decks | markup href="/snap?deck=ours"
what was skipped is named at the end
    begun; has all but 25; machine at /decks/ours/enrol?card=done | Still missing: 25 km. The camera cannot recogni
    machine reads | no picture of the back. The app may ask about face-down cards
a hand being played is warned of
    begun; machine at /decks/ours/enrol | not A hand is being played; anew
    machine at /decks/ours/enrol | A hand is being played and watched
what is not there is not found
    machine at /decks/none/enrol -> 404; machine at /decks/own/enrol -> 404
    machine at /decks/none.zip -> 404; machine at /decks/own/x-1.jpg -> 404
"""


class Enrolling(Evening):
    """Steps with a deck that is `begun` and `has` faces, and a card that `lies` before the camera.

    A number gives the card's distance from the left.
    """

    def __init__(self, app, match, camera, setting: str) -> None:
        super().__init__(app, match, f"fresh; {setting}")
        self.camera = camera

    def do(self, step: str) -> None:
        word, *rest = step.split()
        if word == "begun":
            self.do("machine taps /decks title=Ours & edition=classic")
        elif word == "has":
            every = [card.value for card in CLASSIC if card.value not in rest]
            deck_with(self.match.store.path.parent, *(every if rest[0] == "all" else rest))
        elif word == "lies":
            self.camera.image = on_table(rest[0], *map(int, rest[1:]))
        else:
            super().do(step)


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, camera, quick_eye, setting, rows):
    Enrolling(app, match, camera, setting).play(rows)


# --- Choosing a deck ------------------------------------------------------------------------------------------


def test_the_chosen_deck_is_saved_until_another_is_chosen(tmp_path):
    assert chosen_deck(tmp_path) is None

    choose_deck(tmp_path, "own")
    with pytest.raises(Problem, match="There is no deck 'grandma'"):
        choose_deck(tmp_path, "grandma")
    assert chosen_deck(tmp_path) == "own"

    choose_deck(tmp_path, None)
    assert chosen_deck(tmp_path) is None


def test_templates_are_reloaded_only_after_a_change_and_a_broken_deck_is_reported(tmp_path, monkeypatch):
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


# --- The list -------------------------------------------------------------------------------------------------


def test_a_damaged_deck_is_listed_with_its_problem_and_can_be_removed(page, tmp_path):
    (tmp_path / "decks/bad").mkdir(parents=True)
    (tmp_path / "decks/bad/deck.toml").write_text("nonsense")

    shown = page.get("/decks")
    assert "is damaged" in text_of(shown)
    assert 'value="bad"' not in shown.text

    post(page, "/decks/bad/remove")
    assert not (tmp_path / "decks/bad").exists()


def test_a_deck_is_exported_and_imported_under_another_name(page, tmp_path):
    deck_with(tmp_path, "roll", "stop")
    file = page.get("/decks/ours.zip")
    assert file.headers["Content-Disposition"] == 'attachment; filename="ours.zip"'

    there_already = post(page, "/decks/import", file=a_file(file.data, "ours.zip"))
    answer = post(page, "/decks/import", file=a_file(file.data, "ours.zip"), title="Aunt Zoë’s")

    assert (there_already.status_code, answer.status_code) == (400, 303)
    assert "give this one another name" in text_of(there_already)
    assert "Choose the file of an exported deck" in text_of(post(page, "/decks/import"))
    assert sorted(load_deck("aunt-zoes", tmp_path).faces) == sorted([Card.ROLL, Card.STOP])


def test_a_file_that_is_not_a_deck_is_reported(page, tmp_path):
    answer = post(page, "/decks/import", file=a_file(b"PK\x03\x04", "../../x.zip"))

    assert answer.status_code == 400
    assert "x.zip is not a usable deck" in text_of(answer)
    assert not (tmp_path / "decks").exists() or not list((tmp_path / "decks").iterdir())


def test_one_deck_is_imported_at_a_time(page, tmp_path, monkeypatch):
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


# --- Card by card ---------------------------------------------------------------------------------------------


@pytest.fixture
def begun(page, tmp_path, quick_eye):
    """The path of a new deck's page."""
    post(page, "/decks", title="Ours", edition="classic")
    return "/decks/ours/enrol"


CUT_OFF = EMPTY.copy()
CUT_OFF[200:500, :45] = 255


@pytest.mark.parametrize(
    ("fields", "shown", "says"),
    [
        ({}, CUT_OFF, "The card is cut off at the edge of the picture: move the camera a little farther away."),
        ({}, None, "There is no current picture"),
        ({"photo": b"GIF89a...."}, EMPTY, "or not a JPEG, PNG, WebP or BMP file"),
        ({"photo": b"\xff\xd8 nothing"}, EMPTY, "The picture you sent"),
        *(({"card": card}, EMPTY, "") for card in ("", "nonsense", "unknown", "theft")),
    ],
)
def test_an_unusable_picture_is_explained_and_not_saved(page, begun, camera, tmp_path, fields, shown, says):
    camera.image = shown
    sent = {name: a_file(value) if name == "photo" else value for name, value in fields.items()}

    answer = post(page, begun, **{"card": FIRST.value, **sent})

    assert answer.status_code == 400
    assert says in text_of(answer)
    assert not list((tmp_path / "decks/ours").glob("*.png"))


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [
        (PictureFault.REFLECTION, 400, "A lamp is reflected at the top of the card: tilt the card or move the lamp."),
        (
            None,
            303,
            "Kept, but a lamp is reflected at the top of the card: if that hides print, take the picture again.",
        ),
    ],
)
def test_a_picture_with_a_lamps_reflection_is_shown_with_its_outline(
    page, begun, monkeypatch, camera, fault, code, says
):
    corners = np.array([(200.0, 36), (541, 36), (541, 563), (200, 563)])
    found = Rectified(card_picture(FIRST.value), fault, corners, reflections=(LAMP,))
    monkeypatch.setattr(enrolment, "rectified", lambda *_: found)

    answer = post(page, begun, card=FIRST.value, photo=a_file(as_png(on_table(FIRST.value))))
    shown = page.get(answer.location) if code == 303 else answer

    assert answer.status_code == code
    assert says in text_of(shown)
    drawn = page.get(MARKED.search(shown.text)[1])
    assert drawn.mimetype == "image/jpeg"
    assert drawn.data[:2] == b"\xff\xd8"


def test_a_reflection_before_the_camera_is_shown_with_its_outline(page, begun, monkeypatch, camera, app):
    app.extensions["companion"].guide._clock = count(1.0).__next__
    corners = np.array([(200.0, 36), (541, 36), (541, 563), (200, 563)])
    found = Rectified(card_picture(FIRST.value), PictureFault.REFLECTION, corners, reflections=(LAMP,))
    monkeypatch.setattr(enrolment, "rectified", lambda *_: found)
    camera.image = on_table(FIRST.value)

    said = [post(page, f"{begun}/watch", card=FIRST.value) for _ in range(2)][1]

    assert text_of(said).startswith("A lamp is reflected at the top of the card")
    assert page.get(MARKED.search(said.text)[1]).status_code == 200


def test_removing_a_cards_last_picture_makes_the_card_missing(page, begun, camera, tmp_path):
    for left, how in ((200, "first"), (300, "more")):
        camera.image = on_table(FIRST.value, left)
        post(page, begun, card=FIRST.value, how=how)
    ours = begin("ours", "classic", tmp_path)
    second = ours.pictures(FIRST)[1].read_bytes()
    shown = page.get(f"{begun}?card={FIRST.value}").text
    small = page.get(f"/decks/ours/{FIRST.value}-2.jpg").data

    went = [post(page, f"/decks/ours/{FIRST.value}-1/remove", of="2") for _ in "taps"]
    kept = [path.read_bytes() for path in ours.pictures(FIRST)]
    post(page, f"/decks/ours/{FIRST.value}-1/remove", of="1")

    assert shown.count("Remove this picture") == 2
    assert f'src="/decks/ours/{FIRST.value}-2.jpg"' in shown
    assert small.startswith(b"\xff\xd8")
    assert {answer.location for answer in went} == {f"{begun}?card={FIRST.value}"}
    assert kept == [second]
    assert FIRST in ours.wanted


def test_without_a_camera_the_page_asks_for_all_cards_until_one_is_chosen(page, begun, camera):
    camera.image = None
    every, one = page.get(begun), page.get(f"{begun}?card={SECOND.value}")
    bare = {"photo": a_file(as_png(EMPTY)), "card": FIRST.value}

    refused = text_of(post(page, begun, **bare, all="1"))
    alone = text_of(post(page, begun, **bare | {"photo": a_file(as_png(EMPTY))}))

    assert "1 of 19" not in text_of(every)
    assert "are used in the order of their file names, IMG_9 before IMG_10" in text_of(every)
    assert "A single picture is used for “25 km”" in text_of(every)
    assert 'name="all"' in every.text
    assert "All decks" in text_of(every)
    assert "2 of 19" in text_of(one)
    assert "Lay “50 km” alone" in text_of(one)
    assert "No card found in the picture: lay the cards in rows" in refused
    assert "put one whole card" not in refused
    assert "No card found: put one whole card" in alone


def test_the_number_of_pictures_per_card_is_limited(page, begun, camera, tmp_path, monkeypatch):
    camera.image = on_table(FIRST.value)
    for _ in range(9):
        post(page, begun, card=FIRST.value, how="more")

    answer = post(page, begun, card=FIRST.value, how="more")

    assert answer.status_code == 400
    assert "There are already 9 pictures of 25 km" in text_of(answer)


def test_a_photograph_can_replace_the_camera(page, begun, camera, tmp_path):
    camera.image = None

    shown = text_of(page.get(begun))
    answer = post(page, begun, card=FIRST.value, photo=a_file(as_png(on_table(FIRST.value)), "../../evil.png"))
    camera.image = EMPTY

    assert "Or photograph each card alone, in that order, and choose all pictures at once." in shown
    assert answer.status_code == 303
    assert "<details open>" in page.get(answer.location).text
    assert [path.name for path in (tmp_path / "decks/ours").glob("*.png")] == [f"{FIRST.value}.png"]


# --- Automatic capture ----------------------------------------------------------------------------------------


@pytest.fixture
def guide(quick_eye):
    return Guide(count(1.0).__next__)


def test_a_card_is_saved_once_it_lies_still(ours, guide):
    image = on_table(FIRST.value)

    assert guide.watch(ours, FIRST, image) is None
    assert guide.watch(ours, FIRST, image).is_good
    assert ours.pictures(FIRST)


def test_a_card_left_on_the_table_is_not_saved_as_the_next_one(ours, guide):
    for image in 2 * [on_table(FIRST.value)]:
        guide.watch(ours, FIRST, image)

    said = [guide.watch(ours, SECOND, on_table(FIRST.value, left)) for left in (200, 200, 320, 320, 320)]

    assert said == [None] * 5
    assert not ours.pictures(SECOND)


def test_an_empty_table_is_ignored_and_a_cropped_card_reported(guide, ours, page, begun, camera, app):
    assert [guide.watch(ours, FIRST, EMPTY) for _ in range(3)] == [None] * 3
    assert guide.watch(ours, FIRST, CUT_OFF) is None
    assert guide.watch(ours, FIRST, CUT_OFF).fault is PictureFault.NOT_WHOLE

    app.extensions["companion"].guide._clock = count(1.0).__next__
    camera.image = CUT_OFF
    said = [post(page, f"{begun}/watch", card=FIRST.value) for _ in range(2)]

    assert text_of(said[1]).startswith("The card is cut off at the edge of the picture")


def test_a_card_saved_by_a_tap_is_not_saved_again_automatically(ours, guide):
    image = on_table(FIRST.value)
    guide.take(ours, FIRST, image)
    guide.seen(image)

    assert [guide.watch(ours, SECOND, image) for _ in range(4)] == [None] * 4


def test_the_page_says_that_a_picture_was_kept_as_a_scan(page, begun, monkeypatch):
    whole = "Kept whole, as a scan."

    photographed = post(page, begun, card=SECOND.value, photo=a_file(as_png(on_table(SECOND.value))))
    monkeypatch.setattr(enrolment, "rectified", lambda image, _size_mm: Rectified(image, is_scan=True))
    scanned = post(page, begun, card=FIRST.value, photo=a_file(as_png(card_picture(FIRST.value))))

    assert whole in page.get(scanned.headers["Location"]).text
    assert whole not in page.get(photographed.headers["Location"]).text


def test_the_page_advances_automatically(page, begun, camera, app):
    app.extensions["companion"].guide._clock = count(1.0).__next__
    camera.image = on_table(FIRST.value)
    asks = {"data": {"card": FIRST.value, "auto": "1"}, "headers": HOME | {"HX-Request": "true"}}

    assert page.post(f"{begun}/watch", **asks).status_code == 204
    went, again = (page.post(f"{begun}/watch", **asks) for _ in range(2))

    there = f"{begun}?card={SECOND.value}&got={FIRST.value}&auto=1"
    assert went.headers["HX-Redirect"] == again.headers["HX-Redirect"] == there
    assert "every 800ms" in page.get(there).text


def test_moving_cards_are_not_examined(ours, guide):
    assert [guide.watch(ours, FIRST, on_table(FIRST.value, left)) for left in (100, 200, 300)] == [None] * 3
    assert not ours.pictures(FIRST)


# --- In the terminal ------------------------------------------------------------------------------------------


def film(*images: np.ndarray, each: int = 10) -> list[Frame]:
    """Yield each picture for a second."""
    return [Frame(image, number / 10) for number, image in enumerate(i for i in images for _ in range(each))]


def test_cards_shown_one_by_one_are_enrolled_in_the_editions_order(ours, quick_eye):
    shown = (EMPTY, on_table(FIRST.value), on_table(FIRST.value, 300), EMPTY, on_table(SECOND.value))

    said = [one.sentence for one in guided(ours, film(*shown))]

    assert said[:2] == ["25: got it", "50: got it"]
    assert said[2].startswith("There is no picture yet of 75, ")
    assert said[3] == "There is no picture yet of the back: the app may ask about face-down cards."


def test_guided_enrollment_asks_for_each_card_and_allows_skipping_and_quitting(ours, quick_eye):
    typed = iter([Command.SKIP, *[None] * 25, Command.QUIT])

    said = [one.sentence for one in guided(ours, film(*6 * [on_table(SECOND.value)]), lambda: next(typed))]

    assert said[:5] == [
        "1 of 20: put 25 km alone in front of the camera.",
        "25: skipped",
        "2 of 20: put 50 km alone in front of the camera.",
        "50: got it",
        "3 of 20: put 75 km alone in front of the camera.",
    ]
    assert "There is no picture yet of 25, 75, " in said[5]


def test_photographs_without_a_card_are_reported_without_interaction(ours, quick_eye):
    said = [one.sentence for one in guided(ours, film(EMPTY, on_table("25"), each=1), still_s=0.0)]

    assert said[0].startswith("25: no card found")
    assert said[1] == "25: got it"
    assert said[2].startswith("If a card was missed, the ones after it have wrong names")


def test_a_complete_deck_is_reported(ours):
    for card in (*CLASSIC, None):
        ours.keep(card, [card_picture(BACK if card is None else card.value)])

    with pytest.raises(Problem, match="is complete: to start over"):
        list(guided(ours, []))


def test_enter_skips_and_q_ends():
    keys = TerminalKeys(io.StringIO("\nQ\n"))
    for thread in threading.enumerate():
        if thread.name == "keys":
            thread.join(5)

    assert [keys(), keys(), keys()] == [Command.SKIP, Command.QUIT, None]


def test_the_command_enrolls_a_folder_of_photographs(quick_eye, tmp_path, capsys):
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
def test_the_command_requires_exactly_one_source(where, tmp_path):
    with pytest.raises(Problem, match="Name the pictures of the cards"):
        run("enroll", "ours", "--edition", "classic", *where, "--data", tmp_path)
