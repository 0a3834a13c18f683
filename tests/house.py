"""An app with data on every page, for tests that visit all pages; names and titles can be any text."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

import cv2
import numpy as np
import tableaux
from client import HOME, SECRET, scanned, stranger
from flask import Flask
from flask.testing import FlaskClient
from seen import Seen

from companion.common.text import say
from companion.match.match import Match
from companion.match.phones import Wish
from companion.pages import Camera, create_app
from companion.pages.players import phone_identity
from companion.pages.scores import statistics_pages
from companion.pages.table_camera.camera_settings import KeptTurn, OtherCameras
from companion.rules.cards import Card
from companion.storage.event_store import Store
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.template_decks import put_waiting
from companion.vision.counting.photographs import Snap
from companion.vision.counting.tally import Photo
from companion.vision.enrol.enrolment import begin

WON = ["Ann roll", "Bob roll", *["Ann 200", "Bob 100"] * 2, "Ann 100", "Bob 100", "Ann 100", "Bob 50", "Ann 100"]
PICTURE = b"\xff\xd8 a picture of the camera \xff\xd9"


@dataclass(frozen=True)
class House:
    """The app, its log, and the addresses of its pages."""

    app: Flask
    match: Match
    folder: Path
    addresses: Mapping[str, tuple[str, ...]]
    """Addresses with existing content, by endpoint, of each route that is visited."""

    def phone(self, number: int, **seat: str) -> FlaskClient:
        """Return a phone that has joined: in the seat `player`, or watching if none is given."""
        return scanned(self.app, number, **(seat or {"player": ""}))

    def stranger(self, number: int = 77) -> FlaskClient:
        return stranger(self.app, number)

    def machine(self) -> FlaskClient:
        return self.app.test_client()


@cache
def doubtful() -> Photo:
    """Return a photograph with an unidentified card."""
    return tableaux.in_doubt(tableaux.shot(), {"75-04": ("75-04", "25-02")})


@contextmanager
def furnished(folder: Path, text: str = "Zoe", typed: str | None = None) -> Iterator[House]:
    """Provide an app in which all people and things are called `text`.

    `text` is written to the log unchecked, as from an imported record or an older version. `typed` replaces it in
    forms.
    """
    store = Store.open(folder / "log.sqlite3")
    match = Match(store)
    camera = Camera(
        lambda: PICTURE,
        lambda: np.zeros((90, 160, 3), np.uint8),
        zones=DrawnZones(folder),
        turn=KeptTurn(folder),
        others=OtherCameras(folder),
    )
    app = create_app(match, secret=SECRET, base_url="http://192.168.1.20:8080", camera=camera)
    _played(match, text)
    _asked(match, text)
    app.extensions["companion"].limits._clock = count(0, 60).__next__  # Visiting all pages must not exceed the limits.
    house = House(app, match, folder, _addresses(app, folder, text))
    _people(house, text if typed is None else typed)
    yield house
    store.close()


def _played(match: Match, text: str) -> None:
    """Play a finished hand and part of another, with an undo."""
    shown = text.replace('"', "'").replace("\n", " ").replace("\r", " ")[:60]
    match.start(
        (f'player Ann "{shown}"', "side Ann", "side Bob", f'player Bob "B{shown[:59]}"', "hand first Ann"), shown
    )
    for line in WON:
        match.enter(line, shown)
    match.enter("end", shown)
    match.next_hand(shown, "Bob")
    for line in ("Bob roll", "Ann roll", "Bob 100", "Ann 50"):
        match.enter(line, shown)
    match.undo(shown)
    match.enter("Ann stop > Bob", shown)


def _asked(match: Match, text: str) -> None:
    """Ask about a legal play, an illegal one, a doubtful card, a difference, and report camera trouble."""
    seen = Seen(match)
    seen.play(901, "Bob roll", zone="side-2/battle", crop=PICTURE)
    seen.play(902, "Ann accident > Bob", zone="side-2/battle", crop=PICTURE)
    seen.which(903, "Ann 75", zone="side-1/distance", crop=PICTURE)
    sentence = say("A sticker says “%(text)s”.", text=text)
    seen.differs(904, "side-1/battle", "roll", None, sentence=sentence)
    match.trouble(say("The camera “%(name)s” does not answer.", name=text))


def _addresses(app: Flask, folder: Path, text: str) -> dict[str, tuple[str, ...]]:
    enrolment = begin("ours", "classic", folder, maker=text)
    enrolment = replace(enrolment, description=replace(enrolment.description, title=text))
    enrolment.keep(Card("roll"), [np.full((88, 57, 3), 200, np.uint8)])
    put_waiting(enrolment.folder, 0, cv2.imencode(".png", np.full((88, 57, 3), 90, np.uint8))[1].tobytes())
    shot = replace(doubtful(), name=text)
    asked = tuple(f"/question/{question.id}" for question in app.extensions["companion"].match.state.questions)
    token = app.extensions["companion"].snaps.keep(Snap("classic", "", (shot,)))
    app.extensions["companion"].marked.get(("ours", "lamp"), lambda: b"a picture")
    (counted,) = app.extensions["companion"].archive.figures(app.extensions["companion"].match.store)
    key, year = next(iter(counted.players)), counted.month[0]
    someone = statistics_pages.address_of(key)
    return {
        "static": ("/static/companion.css", "/static/signs.svg"), "entry.new": ("/play", "/play?side=Ann&card=stop"),
        "entry.change": ("/line/8",), "entry.instead": asked, "seats.join": ("/join", "/join?name=Zoe"),
        "how.one": ("/how/rush",), "how.card": ("/how/card/stop",),
        "how.try_it": ("/try", "/try?step=2&card=25", "/try?step=6"), "seats.taken": ("/join/seat/Bob",),
        "past.show": ("/past", "/past?page=1", "/past?when=year"),
        "statistics.show": ("/past/players", f"/past/players?when=month&edition=classic&with={quote(key)}"),
        "statistics.one": (someone, f"{someone}?with=nobody"), "statistics.card": (f"{someone}/{year}.png",),
        "past.one": ("/past/1",), "past.picture": ("/past/1/1.png",),
        "past.export": ("/past/1.mbn", "/past/1.csv", "/past/1.jsonl"),
        "past.bg_stats": ("/past/1/bg-stats", "/past/1/bg-stats.json"),
        "past.replay": ("/past/1/1", "/past/1/1?step=3", "/past/1/2?step=2"), "score.plays": ("/score/1/plays",),
        "api.match": ("/api/matches/1",), "camera.crop": tuple(f"{path}.jpg" for path in asked),
        "enrolling.show": ("/decks/ours/enrol", "/decks/ours/enrol?card=roll"),
        "enrolling.picture": ("/decks/ours/roll-1.jpg",), "enrolling.name_them": ("/decks/ours/enrol/names",),
        "enrolling.waiting": ("/decks/ours/waiting/1.jpg",), "enrolling.marked": ("/decks/ours/marked/lamp.jpg",),
        "decks.take_away": ("/decks/ours.zip",),
        "printed.sheet": ("/print/mats.png",), "snap.confirm": (f"/snap/{token}",),
        "snap.score": (f"/snap/{token}/score",), "snap.picture": (f"/snap/{token}/1.jpg",),
    }  # fmt: skip


def _people(house: House, text: str) -> None:
    """Add a host, seated and watching phones, and requests to join, for a seat, and for the host's role."""
    house.phone(10, player="Ann")
    lost = house.phone(11, player="Bob")
    house.phone(12)
    house.stranger(13).post("/join/code", data={"code": phone_identity.table_code(SECRET), "name": text}, headers=HOME)
    phones = house.app.extensions["companion"].phones
    phones.ask(Wish.SEAT, "another phone", text, "Bob")
    phones.ask(Wish.HOST, "yet another phone", text)
    with lost.session_transaction() as session:
        phones.make_host(phones.party.seats["Ann"], by=session["phone"])


def looked_at(house: House) -> list[tuple[str, str]]:
    """Return endpoint and address of every GET route, with addresses that have content."""
    found = []
    for rule in house.app.url_map.iter_rules():
        if "GET" in (rule.methods or ()):
            found += [(rule.endpoint, path) for path in house.addresses.get(rule.endpoint, (rule.rule,))]
    return found
