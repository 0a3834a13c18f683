"""Languages: the catalogues are whole, pages are answered in the phone's language, and no text escapes translation."""

import ast
import gettext
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
import texts
from babel.dates import format_date
from babel.messages.catalog import Message
from client import HOME, SECRET, TWO, scanned, stranger
from seen import Seen

from companion.common import languages
from companion.common.errors import Problem
from companion.common.text import all_of, listed, one_of, say, say_many
from companion.match.questions import Answer
from companion.match.zone_plays import where
from companion.pages import Camera, create_app, words
from companion.pages.players import phone_identity
from companion.printing.label_sheets import known_sheets
from companion.rules import card_names, reasons
from companion.rules.card_names import card_term
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition, switches
from companion.tabletop import translation
from companion.tabletop.drawn_zones import DrawnZones
from companion.vision.counting.photographs import Snap
from companion.vision.counting.tally import Photo
from companion.vision.enrol.enrolment import begin
from companion.vision.enrol.rectify import PictureFault
from companion.vision.quality.advice import NO_MATS, Advice, Tip
from companion.vision.quality.live_survey import Survey
from companion.vision.quality.measure import ZoneSight
from companion.vision.view import MatSeen, Sighting, View

RUSH = ("edition rush", "side Reds = Ann, Cid", "side Blues = Bob, Dee", "hand first Ann")


def page_of(match, **camera: object):
    return create_app(match, secret=SECRET, base_url="http://192.168.1.20", camera=Camera(**camera)).test_client()


def entered(match, *plays: str) -> None:
    """Enter plays, also those that are illegal."""
    for play in plays:
        match.enter(play, "Ann", anyway=True)


# --- The catalogues ------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def known():
    return texts.texts()


def messages(of: str) -> list[Message]:
    return [message for message in texts.read(of) if message.id]


@pytest.mark.parametrize("of", texts.LANGUAGES)
def test_a_catalogue_has_exactly_the_texts_of_the_sources(of, known):
    assert texts.path_of(of).read_text(encoding="utf-8") == texts.updated(of, known, {}), "run python tests/texts.py"


def test_a_reworded_text_keeps_its_translations():
    before = ("Tap the card", ("%(n)d card waits", "%(n)d cards wait"), "Undo")
    known = ("Tap this card", ("%(n)d card waits here", "%(n)d cards wait here"), "Start over")

    earlier = texts.reworded(known, before)

    assert earlier == {known[0]: before[0], known[1]: before[1]}


@pytest.mark.parametrize("of", texts.LANGUAGES)
def test_everything_is_translated_in_as_many_forms_as_the_language_has(of):
    several = texts.read(of).num_plurals

    assert [message.id for message in messages(of) if message.fuzzy or not all(texts.forms(message.string))] == []
    assert [m.id for m in messages(of) if m.pluralizable and len(m.string) != several] == []


PLACE = re.compile(r"%\(([\w-]+)\)([\d.]*[a-z])|%%")


def places(text: str) -> set[tuple[str, str]]:
    return {(found[1], found[2]) for found in PLACE.finditer(text) if found[1]}


COUNTED = {("count", "d"), ("num", "d")}


@pytest.mark.parametrize("of", texts.LANGUAGES)
def test_a_translation_has_the_places_of_its_text(of):
    wrong = []
    for message in messages(of):
        wanted = places(texts.forms(message.id)[-1])
        # The form for one may do without the number, and without what the English one does without.
        spared = {*COUNTED, *(wanted - places(texts.forms(message.id)[0]))} if message.pluralizable else set()
        for said in filter(None, texts.forms(message.string)):
            if not wanted - spared <= places(said) <= wanted or re.search(r"(?<!%)%(?!\(|%)", said):
                wrong.append(said)

    assert wrong == []


@pytest.mark.parametrize("of", texts.LANGUAGES)
def test_a_translation_is_written_as_print_is(of):
    """Apostrophes and quotation marks are those of the language; the ends are as they were."""
    wrong = []
    for message in messages(of):
        one = texts.forms(message.id)[0]
        for said in filter(None, texts.forms(message.string)):
            straight = set("'\"") & set(said) - set(one)
            ends = said[:1].isspace() != one[:1].isspace() or said[-1:].isspace() != one[-1:].isspace()
            ends |= one[-1:] in tuple(".?!:…") and said[-1:] != one[-1:]
            if straight or ends:
                wrong.append(said)

    assert wrong == []


def test_no_text_is_there_both_alone_and_with_a_form_for_several(known):
    alone = {text for text in known if isinstance(text, str)}

    assert [text for text in known if not isinstance(text, str) and text[0] in alone] == []


# --- Sentences that remember ---------------------------------------------------------------------------------


@pytest.fixture
def speak():
    yield translation.speak
    translation.speak("en")


@pytest.fixture
def french(monkeypatch, speak):
    """Makes up a catalogue of French."""

    def make(**said: str) -> None:
        made_up = SimpleNamespace(gettext=lambda message: said.get(message, message))
        monkeypatch.setattr(translation, "catalogue", lambda _language: made_up)
        speak("fr")

    return make


def test_a_sentence_is_its_english_and_an_exception_keeps_what_it_remembers():
    sentence = say("%(card)s lies on %(zone)s.", card=card_term(Card.KM_75), zone=where("side-1/battle"))

    assert sentence == "75 km lies on the battle pile."
    assert str(Problem(sentence)) is sentence


def test_a_sentence_with_a_card_in_it_is_said_in_french(french):
    french(**{"%(card)s has been laid.": "Carte posée : %(card)s."})

    said = translation.translate(say("%(card)s has been laid.", card=card_term(Card.RIGHT_OF_WAY)))

    assert said == "Carte posée : Véhicule prioritaire."


def test_a_sentence_within_a_sentence_and_each_of_a_list_is_translated(french):
    french(**{"alone": "seul", "%(some)s or %(last)s": "%(some)s ou %(last)s", "Play %(how)s.": "Jouez %(how)s."})

    assert translation.translate(say("Play %(how)s.", how=one_of([say("alone"), 2, 3]))) == "Jouez seul, 2 ou 3."
    assert translation.translate(listed([card_term(Card.STOP), card_term(Card.ROLL)])) == "Feu rouge, Feu vert"


def test_a_sentence_begins_large_in_every_language_where_it_does_in_english(french):
    french(**{"%(zone)s: look at it.": "%(zone)s: popatrz."})
    translation.speak("pl")
    at_first = say("%(zone)s: look at it.", zone=where("side-1/battle").begun())
    within = say("%(zone)s: look at it.", zone=where("side-1/battle"))

    assert translation.translate(at_first)[0].isupper()
    assert translation.translate(within)[0].islower()


@pytest.mark.parametrize(
    ("spoken", "sentence", "said"),
    [
        ("es", one_of([5, 7, 8]), "5, 7 u 8"), ("es", all_of(["Ana", "Inés"]), "Ana e Inés"),
        ("es", all_of(["Ana", "Iago"]), "Ana y Iago"), ("es", one_of([2, 3]), "2 o 3"),
        ("it", all_of(["Anna", "Elena"]), "Anna ed Elena"), ("it", all_of(["Elena", "Anna"]), "Elena e Anna"),
        ("it", say("Pass the turn to %(who)s", who="Anna"), "Passa il turno ad Anna"),
        ("it", say("Pass the turn to %(who)s", who="Elena"), "Passa il turno a Elena"),
    ],
)  # fmt: skip
def test_small_words_give_way_to_their_own_sound(speak, spoken, sentence, said):
    speak(spoken)

    assert words.said(sentence) == said


def test_counts_and_lists_read_as_people_speak():
    one, two = (say_many("One card was there.", "%(count)d cards were there.", count) for count in (1, 2))

    assert (one, two) == ("One card was there.", "2 cards were there.")
    assert (translation.translate(one), translation.translate(two)) == (one, two)
    assert all_of(["Ann"]) == "Ann"
    assert all_of(["Ann", "Bob", "Cid"]) == "Ann, Bob and Cid"
    assert one_of(["100 %", "no"]) == "100 % or no"


def test_what_was_typed_is_never_taken_for_a_text(french):
    french(Table="Tisch")

    assert words.said("Table") == "Table"
    assert words.said(say("Table")) == "Tisch"


SPEAKERS = {"Problem", "NotSaved", "Unreadable", "UnreadableEdition", "UnknownWord", "SeatingError", "Notice"}
HEARD = """
match/match match/state match/zone_plays vision/counting/photographs vision/enrol/guided vision/faces/deck_in_use
vision/capture/image_io tracking/asking tracking/live tabletop/template_decks rules/record/notation rules/record/judge
rules/dealing rules/tableau rules/editions/switches
"""
"""Rooms whose sentences reach a page."""


def is_plain(sentence: ast.expr) -> bool:
    """True if a sentence is neither `say`'s nor a pattern with values, which the exception gives to `say`."""
    is_pattern = isinstance(sentence, ast.Constant) and "%(" in sentence.value
    return isinstance(sentence, ast.JoinedStr | ast.Constant) and not is_pattern


@pytest.mark.parametrize("room", HEARD.split())
def test_a_room_that_is_heard_on_a_page_says_nothing_that_cannot_be_translated(room):
    tree = ast.parse((texts.ROOT / "companion" / f"{room}.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]

    plain = [call.lineno for call in calls if call.func.id in SPEAKERS and is_plain(call.args[0])]

    assert plain == []


# --- Which language a page is in -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "chosen", "answered"),
    [
        ("fr-FR,fr;q=0.9,en;q=0.5", None, "fr"), ("pl", None, "pl"), ("fi,pl;q=0.4", None, "pl"), ("fi", None, "en"),
        ("de-CH,de;q=0.9", None, "de"), ("", None, "en"), ("*", None, "en"), ("fr", "pl", "pl"),
    ],
)  # fmt: skip
def test_a_page_is_in_the_language_that_was_chosen_or_that_the_phone_asks_for(match, wanted, chosen, answered):
    page = page_of(match)
    with page.session_transaction() as session:
        session.update({"language": chosen} if chosen else {})

    assert f'<html lang="{answered}">' in page.get("/setup", headers={"Accept-Language": wanted}).text
    assert (translation.spoken(), translation.printed_in()) == ("en", None)


def test_cards_are_called_by_their_french_names_on_a_french_page(match):
    match.start(TWO)
    entered(match, "Ann roll", "Bob roll", "Ann flat-tire > Bob")

    assert "Crevaison" in page_of(match).get("/", headers={"Accept-Language": "fr"}).text


def test_a_page_names_the_cards_as_its_edition_prints_them(match):
    match.start(("edition asmodee-2014", *TWO))
    entered(match, "Ann roll", "Bob roll", "Ann stop > Bob")

    shown = page_of(match).get("/play?player=Bob").text
    assert "<span>Go" in shown
    assert "Bob needs Go or Emergency Vehicle." in page_of(match).get("/").text


def test_an_earlier_match_keeps_the_names_of_its_edition(match):
    match.start(("edition asmodee-2014", *TWO))
    entered(match, "Ann roll")
    match.start(TWO)

    page = page_of(match)

    assert "Ann plays Go." in page.get("/past/1/1?step=1").text
    assert "You need a Roll card to drive." in page.get("/").text


# --- Nothing escapes ------------------------------------------------------------------------------------------
#
# In a language that has no words at all, only the places of each text, no word is left on a page but names, units
# and what is written as in a record.


class Wordless(gettext.NullTranslations):
    """Says every text that is collected without its words."""

    def __init__(self, known: Iterable[texts.Text]) -> None:
        super().__init__()
        self.known = {form for text in known for form in texts.forms(text)}

    def gettext(self, message: str) -> str:
        return wordless(message) if message in self.known else message

    def ngettext(self, one: str, several: str, count: int) -> str:
        return self.gettext(one if count == 1 else several)


def wordless(text: str) -> str:
    return "·".join(["", *(found[0] for found in re.finditer(r"%\([\w-]+\)[\d.]*[a-z]|%%|\{[\w-]+\}", text)), ""])


@pytest.fixture
def without_words(monkeypatch, known):
    catalogue = Wordless(known)
    spoken = reasons.catalogue
    mute = {table: {key: wordless(text) for key, text in entries.items()} for table, entries in spoken("fr").items()}
    monkeypatch.setattr(translation, "catalogue", lambda _language: catalogue)
    monkeypatch.setattr(reasons, "catalogue", lambda of="en": mute if of == "fr" else spoken(of))
    for module in (card_names, reasons):
        monkeypatch.setattr(module, "names", lambda _language, _edition: dict.fromkeys(Card, "·"))


NAMES = {"Ann", "Bob", "Cid", "Dee", "Reds", "Blues", "Grandma’s", "deck", "summer", "Mille", "Bornes", "Companion"}
NAMES |= {word for sheet in known_sheets().values() for word in sheet.title.split()}
UNITS = {"PDF", "PNG", "CSV", "JSON", "QR", "km", "mm", "cm", "px", "x", "http", "local", "localhost"}
OWN_NAMES = {*languages.OWN_NAMES.values(), *languages.OWN_WORDS.values(), phone_identity.table_code(SECRET)}
SPOKEN_ATTRIBUTES = {"aria-label", "title", "alt", "placeholder", "data-busy", "data-says", "data-say", "data-draw",
                     "data-drawn", "data-together", "content", "label"}  # fmt: skip
"""Attributes that people see or hear."""


class Words(HTMLParser):
    """Collects the words of a page that a person sees or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "code"):
            self._inside.append(tag)
        if tag != "meta":
            self.found += [f"[{tag} {name}] {value}" for name, value in attrs if name in SPOKEN_ATTRIBUTES and value]

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside and data.strip():
            self.found.append(data.strip())


def escaped(page: str) -> list[str]:
    """The texts of a page with a word in them that is nobody's name."""
    parser = Words()
    parser.feed(page)
    return [text for text in parser.found if set(_words(text)) - NAMES - UNITS - OWN_NAMES]


def _words(text: str) -> Iterator[str]:
    text = re.sub(r"\b\d+ \w+ \d{4}\b", "", text)
    addresses = r"https?://\S+|\b[\w-]+\.local(:\d+)?(/join)?|\b\d[\w.]*(/join)?"
    spoken = re.sub(r"^\[[\w -]+\]", "", re.sub(rf"\{{\w+\}}|{addresses}", "", text))
    return (
        found.removesuffix("’s") if found not in NAMES else found for found in re.findall(r"[^\W\d_][\w’-]*", spoken)
    )


def opened(page, path: str, **fields: str) -> list[str]:
    headers = {"Accept-Language": "fr", **HOME}
    answer = page.post(path, data=fields, headers=headers) if fields else page.get(path, headers=headers)
    while answer.location:
        answer = page.get(answer.location, headers=headers)
    assert answer.status_code < 500 or answer.status_code == 503, (path, answer.status_code)
    return [f"{path}: {text}" for text in escaped(answer.text)] if answer.mimetype == "text/html" else []


def test_words_that_escape_are_found(without_words):
    assert escaped('<p>·</p><p title="Hello">Ann 75 km</p>') == ["[p title] Hello"]
    assert escaped("<p>Ann’s turn</p>") == ["Ann’s turn"]


@pytest.mark.parametrize(
    "fields",
    [
        {"edition": "classic", "seating": "5x1"},
        {"edition": "classic", "seating": "2x1", "name1": "Ann", "name2": "ann"},
        {"edition": "rush", "seating": "2x1", "count-stop": "many"},
        {"edition": "rush", "seating": "2x1", "count-stop": "9"},
        {"edition": "classic", "seating": "2x1", "option-roll-on-remedy": "forbidden",
         "option-roll-after-remedy": "needed", "option-roll-after-late-safety": "needed"},
        {"edition": "asmodee-2014", "seating": "2x1", "option-first-card": "roll-or-right-of-way",
         "option-roll-to-start": "not-needed", "option-roll-on-remedy": "forbidden"},
    ],
)  # fmt: skip
def test_nothing_escapes_where_a_set_up_is_refused(match, without_words, fields):
    found = opened(page_of(match), "/setup", **fields)

    assert [text for text in found if not re.search(r"=|ann", text)] == []


PLAYED = ["Ann roll", "Bob roll", "Ann 100", "Bob 75", "Ann speed-limit > Bob", "Bob 50", "Ann 200", "Bob stop > Ann"]
RUSHED = ["Ann 100*2", "Bob stop > Reds", "Cid roll", "Dee 75", "Ann control roll > Bob", "Bob 50", "Cid discard stop"]
ASKED = ["", "?player=Ann&tab=at-once", "?player=Ann&tab=discard", "?player=Ann&tab=other&text=Ann+rolls",
         "?player=Ann&card=accident", "?player=Ann&ask=pair", "?player=Ann&ask=exchange", "?player=Ann&ask=penalty",
         "?player=Ann&ask=exchange&cards=25,50", "?player=Ann&card=theft", "?player=Ann&card=control",
         "?player=Ann&card=accelerator", "?player=Ann&ask=name&of=Bob", "?player=Ann&ask=pair&named=50"]  # fmt: skip


@pytest.mark.parametrize(("header", "plays"), [(TWO, PLAYED), (RUSH, RUSHED)], ids=["classic", "rush"])
def test_nothing_escapes_while_a_hand_is_played(match, without_words, header, plays):
    match.start(header)
    page = page_of(match, picture=lambda: b"a picture")
    found = opened(page, "/")
    for play in plays:
        entered(match, play)
        found += opened(page, "/")
    seq = match.state.hand_entries[0].seq

    steps = (f"/past/1/1?step={step}" for step in range(len(plays)))
    asked = (f"/play{query}" for query in ASKED)
    found += [text for path in (f"/line/{seq}?before=1", *steps, *asked) for text in opened(page, path)]

    assert [text for text in found if "text=" not in text or "rolls" not in text] == []


def test_nothing_escapes_of_what_is_asked_and_refused(match, without_words):
    match.start(TWO)
    page = page_of(match, picture=lambda: b"a picture")
    seen = Seen(match)
    which = seen.which(1, "Ann roll", "Ann stop > Bob")
    found = opened(page, "/") + opened(page, "/wall") + opened(page, f"/question/{which}")
    match.answer(which, Answer.NO, "Ann")
    far = seen.play(2, "Ann 100", "Ann roll", sure=False, crop=b"a card", zone="side-1/distance")
    roll = seen.play(3, "Ann roll", "Ann 100", sure=False, zone="side-1/battle")
    found += opened(page, "/") + opened(page, "/wall") + opened(page, f"/question/{far}")
    sentences = (
        say("%(card)s is no longer on %(zone)s.", card=card_term(Card.STOP), zone=where("side-2/battle")),
        say("%(card)s has moved from %(old)s to %(new)s.", card=card_term(Card.KM_75),
            old=where("side-1/distance"), new=where("table/discard")),
    )  # fmt: skip
    for number, sentence in enumerate(sentences, start=10):
        differs = seen.differs(number, "side-2/battle", "stop", None, sentence=sentence)
        found += opened(page, "/")
        for answer in ("table", "record"):
            found += opened(page, f"/question/{differs}", answer=answer) + opened(page, "/")
    for path, answer in ((roll, "yes"), (far, "yes"), (far, "no"), (far, "no")):
        found += opened(page, f"/question/{path}", answer=answer, anyway="1") + opened(page, "/")
    found += opened(page, "/undo") + opened(page, "/")
    zone = where("side-1/battle")
    match.trouble(say("Something in %(zone)s cannot be read: if it is a card, enter the play.", zone=zone))
    found += opened(page, "/") + opened(page, "/wall") + opened(page, "/join")

    assert found == []


NO_PAGES = ("/version", "/api", "/export", "/static")


def two_hands(match, header, plays) -> None:
    match.start(header)
    entered(match, *plays, "end")
    match.next_hand("Ann")
    entered(match, *plays)


def won(match) -> None:
    """A hand that was completed, and a line of it corrected since."""
    match.start(("target 200", "option extension=no", *TWO))
    entered(match, "Ann roll", "Bob roll", "Ann 100", "Bob 25", "Ann 100")
    match.correct(match.state.hand_entries[0].seq, "Ann discard 25", "Ann")


def offered(match) -> None:
    """An extension that waits for its answer."""
    match.start(TWO)
    entered(match, "Ann roll", *["Bob discard 25", "Ann 200"] * 2, *["Bob discard 25", "Ann 100"] * 3)
    assert match.state.game.table.extension_offered_to is not None


STAGES = {
    "before a match": lambda match: None,
    "classic": lambda match: two_hands(match, TWO, PLAYED),
    "rush": lambda match: two_hands(match, RUSH, RUSHED),
    "a hand is over": won,
    "an extension is offered": offered,
}


@pytest.mark.parametrize("stage", STAGES)
def test_nothing_escapes_on_any_page_there_is(match, without_words, stage):
    STAGES[stage](match)
    app = create_app(match, secret=SECRET, base_url="http://192.168.1.20", camera=Camera(picture=lambda: None))
    asked = [rule.rule for rule in app.url_map.iter_rules() if "GET" in rule.methods]
    paths = {re.sub(r"<int[^>]*>", "1", rule) for rule in asked}
    pages = sorted(path for path in paths if "<" not in path and not path.startswith(NO_PAGES))
    pages += ["/nowhere", *(f"/setup?edition={edition}" for edition in texts.edition_names())]

    found = [text for path in pages for text in opened(app.test_client(), path)]
    found += [text for path in ("/setup", "/join", "/wall", "/decks", "/snap") for text in opened(stranger(app), path)]

    assert len(pages) > 15
    month = format_date(date.today(), "MMMM", locale="fr")
    assert [text for text in found if month not in text] == []


def test_nothing_escapes_where_people_take_their_seats(match, without_words):
    match.start(RUSH)
    app = create_app(match, secret=SECRET, base_url="http://192.168.1.20")
    ann, bob, other, watcher = (scanned(app, number) for number in (10, 11, 12, 13))
    unknown = stranger(app)
    found = opened(ann, "/join", player="Ann") + opened(bob, "/join", player="Bob")
    found += opened(other, "/join/seat/Ann") + opened(other, "/join", player="Ann") + opened(other, "/join/waiting")
    found += opened(watcher, "/join", player="") + opened(unknown, "/join") + opened(unknown, "/join/code", code="nope")
    found += opened(unknown, "/join", player="Ann") + opened(unknown, "/play", text="Ann roll")
    found += opened(bob, "/seats/host/take", sure="1") + opened(bob, "/seats/host/ask", sure="1")
    pages = ("/", "/seats", "/phone", "/more", "/join", "/wall")
    found += [text for client in (ann, bob, other, watcher, unknown) for path in pages for text in opened(client, path)]
    found += opened(ann, "/seats/free", player="Bob") + opened(ann, "/seats/asked/1", answer="no")
    found += opened(ann, "/seats/free", player="Nobody") + opened(bob, "/setup", edition="classic", seating="2x1")

    assert found == []


def advice(*hints: Tip, **zone: object) -> Advice:
    usual = {"px_per_mm": (1.62, 1.78), "blur_px": 0.7, "white": 200.0, "contrast": 160.0, "saturated": 0.0}
    rest = {"dark": 0.0, "smallest_mm": 18.0, "good": True}
    sights = tuple(ZoneSight(f"side-1/{name}", **(usual | rest | zone)) for name in ("battle", "distance"))
    return Advice((1000, 600), 20.0, sights, hints, 104, 12)


def test_nothing_escapes_on_the_camera_pages(match, without_words, tmp_path):
    match.start(TWO)
    square = ((100.0, 100.0), (300.0, 100.0), (300.0, 500.0), (100.0, 500.0))
    found = []
    for seen in (
        advice(),
        advice(NO_MATS, blur_px=9.0, white=20.0, contrast=10.0, good=False),
        advice(smallest_mm=None, px_per_mm=None),
    ):
        survey = Survey(seen, {"side-1/battle": square, "side-1/distance": square}, {})
        zones = DrawnZones(tmp_path)
        page = page_of(match, picture=lambda: b"a picture", survey=lambda now=survey: now, zones=zones)
        found += [text for path in ("/camera", "/camera/zones") for text in opened(page, path)]
    box = {f"{letter}-side-1/battle": "1" for letter in "xywh"}
    whole = box | {f"{letter}-side-1/distance": "9" for letter in "xywh"}
    for sent in ({"picture": "1920x1080"}, box, whole, box | {"x-side-1/battle": "left"}):
        found += opened(page, "/camera/zones", **sent)

    assert found == []


def picture() -> bytes:
    return cv2.imencode(".jpg", np.full((600, 800, 3), 90, np.uint8))[1].tobytes()


def test_nothing_escapes_where_decks_are_kept_and_enrolled(match, without_words, tmp_path):
    match.start(TWO)
    grandmas = begin("grandma", "classic", tmp_path)
    grandmas = replace(grandmas, description=replace(grandmas.description, title="Grandma’s deck"))
    grandmas.keep(Card.ROLL, [np.full((528, 342, 3), 200, np.uint8)])
    page = page_of(match, picture=picture)
    here = "/decks/grandma/enrol"
    paths = ("/decks", here, f"{here}?card=back", f"{here}?card=roll", f"{here}?card=done", f"{here}?got=roll&auto=1")
    found = [text for path in paths for text in opened(page, path)]
    found += opened(page, "/decks/use", deck="grandma") + opened(page, "/decks")
    found += opened(page, "/decks/use", deck="nobody's")
    for title, width in (("", "57"), ("x", "9")):
        found += opened(page, "/decks", title=title, edition="classic", width=width)
    sent = {"card": "stop", "photo": (io.BytesIO(picture()), "a.jpg")}
    answer = page.post(here, data=sent, headers={"Accept-Language": "fr", **HOME}, content_type="multipart/form-data")
    found += escaped(answer.text)

    # How the program is called, and the decks that ship, keep their names in every language.
    assert [text for text in found if not re.search(r"companion|Printed|printed", text.partition(": ")[2])] == []


def sighting(slug: str, zone: str, at: float, **more: object) -> Sighting:
    corners = ((at, 10.0), (at + 60, 10.0), (at + 60, 100.0), (at, 100.0))
    return Sighting(Card(slug), None, (at + 30, 55.0), corners, zone, False, 0.9, "face", **more)


def test_nothing_escapes_where_a_photograph_is_counted(match, without_words):
    app = create_app(match, secret=SECRET)
    quad = ((0.0, 0.0), (900.0, 0.0), (900.0, 500.0), (0.0, 500.0))
    cards = (
        sighting("200", "side-1/distance", 10.0),
        sighting("200", "side-1/distance", 110.0),
        sighting("right-of-way", "side-1/safety", 210.0),
        sighting("stop", "side-1/battle", 310.0),
        sighting("unknown", "side-1/distance", 410.0, rivals=(("75-00", 0.4), ("25-00", 0.3))),
        sighting("mirror", "side-1/distance", 510.0),
    )
    seen = View(0.0, (MatSeen("side-1", quad, 2.0), MatSeen("side-2", quad, 2.0)), cards)
    shot = Photo(say("photograph %(number)d", number=1), (1000, 600), seen, picture())
    bare = Photo(say("photograph %(number)d", number=2), (1000, 600), View(0.0, (), ()), picture())
    page = app.test_client()
    found = []
    for shots in ((shot,), (bare,), (shot, bare)):
        path = "/snap/" + app.extensions["companion"].snaps.keep(Snap("classic", "", shots))
        found += opened(page, path) + opened(page, path, ended="side-1")
        found += opened(page, path, **{"ended": "side-1", "c-1-5": "75", "n-side-1-200": "2", "pile": "no"})
        found += opened(page, path, **{"c-1-5": "75", "n-side-1-25": "many"})
    found += opened(page, "/snap/gone") + opened(page, "/snap", edition="classic", deck="nobody")

    assert [re.sub("/snap/[^:]+", "/snap", text) for text in found if "nobody" not in text] == []


@pytest.mark.parametrize("fault", PictureFault)
def test_a_verdict_on_a_picture_is_translated(without_words, speak, fault):
    speak("fr")

    assert set(words.said(fault.value)) <= set("·0123456789")


@pytest.mark.parametrize(
    ("spoken", "quoted"),
    [
        ("en", "“it’s” “roll”"), ("fr", "«\u00a0it’s\u00a0» «\u00a0roll\u00a0»"), ("pl", "„it’s” „roll”"),
        ("de", "„it’s“ „roll“"), ("es", "«it’s» «roll»"), ("nl", "“it’s” “roll”"), ("it", "«it’s» «roll»"),
    ],
)  # fmt: skip
def test_quotation_marks_are_those_of_the_language(speak, spoken, quoted):
    speak(spoken)

    assert words.curly("`it's` 'roll'") == quoted


@pytest.mark.parametrize("of", [of for of in languages.LANGUAGES if of != translation.ENGLISH])
@pytest.mark.parametrize("name", texts.edition_names())
def test_where_a_rule_is_written_is_said_in_every_language(name, of):
    edition = load_edition(name)
    cited = {edition.sources[what] for what in (*switches(), "points")}

    assert cited <= set(reasons.catalogue(of)["sources"])
