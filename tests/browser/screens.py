"""Makes pictures of every page from matches fed by record lines, to be looked at.

PYTHONPATH=tests python tests/browser/screens.py [FOLDER] [SCENE …] [--languages en,fr] [--sizes 360,1920]

A page gets its pictures by a line in `SCENES`: the header of a match, its plays, what happens then, and the address.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path

import cv2
import decks
import enrolled
import numpy as np
import tableaux
from flask import Flask
from logs import refuse
from photos import face_of
from playwright.sync_api import Browser, Page, sync_playwright
from seen import camera
from serving import running
from webcam import Pose

from companion.app import demo
from companion.app.service import WATCHES_NO_MORE, eye_for
from companion.common.text import say
from companion.match.match import Match
from companion.match.state import RobotSeat
from companion.match.zone_plays import where
from companion.pages import Camera, create_app
from companion.pages.table_camera.camera_settings import KeptTurn, OtherCameras
from companion.printing import deck
from companion.printing.render import to_image
from companion.rules.card_names import card_term
from companion.rules.cards import Card
from companion.rules.record.notation import parse_play
from companion.simulate.frame_source import demo_pictures
from companion.storage.event_store import Store
from companion.storage.recovery import Mended
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.template_decks import own_folder, put_waiting, write_description
from companion.vision.capture.image_io import decode
from companion.vision.capture.sources import Frame
from companion.vision.counting.photographs import Snap
from companion.vision.enrol.enrolment import as_png, begin
from companion.vision.quality.live_survey import Lookout

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
PHONE = {"width": 390, "height": 844}
SMALL = {"width": 360, "height": 740}
LYING = {"width": 844, "height": 390}
TABLET = {"width": 820, "height": 1180}
WALL = {"width": 1920, "height": 1080}
SIZES_BY_NAME = {str(size["width"]): size for size in (SMALL, PHONE, LYING, TABLET, WALL)}
LONG = ("attention", "camera-trial", "snap", "decks", "enrol", "setup", "print")
"""Scenes of pages that are looked at from top to bottom."""

TWO = ["edition classic", "side Ann", "side Bob", 'player Ann "Ann"', "hand first Ann"]
LONG_NAMES = ["side Ann", "side Bob", 'player Ann "Bartholomäus"', 'player Bob "Grandma Josephine"', "hand first Ann"]
THREE = ["side Ann", "side Bob", "side Cid", 'player Cid "Cid-Étienne"', "hand first Ann"]
PAIRS = ["side Ann-Cid = Ann, Cid", "side Bob-Dee = Bob, Dee", "hand first Ann"]
SIX = [
    "side Bartholomäus-Dee = Bartholomäus, Dee",
    "side Bob-Eve = Bob, Eve",
    "side Cid-Fay = Cid, Fay",
    'player Bartholomäus "Bartholomäus von Zitzewi"',
    "hand first Bartholomäus",
]
SIX_PLAYS = [
    "Bartholomäus roll", "Bob right-of-way", "Bob 200", "Cid roll", "Dee speed-limit > Cid", "Eve 200",
    "Fay driving-ace", "Fay 50", "Bartholomäus 100", "Bob accident > Bartholomäus",
]  # fmt: skip
OPENING = ["Ann roll", "Bob roll", "Ann 100", "Bob 75", "Ann speed-limit > Bob", "Bob 50", "Ann 200"]
ATTACK = [*OPENING, "Bob stop > Ann"]
FINISH = [*OPENING, "Bob 25", "Ann 100", "Bob 25", "Ann 100", "Bob 50", "Ann 200"]
RUSH = ["edition rush", "side Ann", "side Bob", "hand first Ann"]
RUSH_PAIRS = ["edition rush", "side Reds = Ann, Cid", "side Blues = Bob, Dee", "hand first Ann"]
RUSH_THREE = ["edition rush", "side Ann", "side Bob", "side Cid", "hand first Ann"]
RUSH_FIVE = ["edition rush", *(f"side {name}" for name in ("Ann", "Bob", "Cid", "Dee", "Eve")), "hand first Ann"]
EIGHT = ("Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gil", "Hal")
RUSH_EIGHT = ["edition rush", *(f"side {name}" for name in EIGHT), "hand first Ann"]
EIGHT_PLAYS = ["Ann 100*2", "Bob 75", "Cid control roll > Bob", "Dee stop > Ann", "Eve 200*2", "Fay 200"]
RUSH_PLAYS = ["Ann 100*2", "Bob 75", "Ann control roll > Bob", "Bob 100*2", "Ann 200", "Bob stop > Ann"]
RUSH_WON = ["Ann 200*2", "Bob 50", "Ann 200*2", "Bob 100*2", "Ann driving-ace", "Ann 100"]


@contextlib.contextmanager
def match_of(header: list[str] | None, plays: list[str]) -> Iterator[Match]:
    """A match fed by record lines."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "log.sqlite3")
        match = Match(store)
        feed(match, header, plays)
        yield match
        store.close()


def feed(match: Match, header: list[str] | None, plays: Iterable[str] = ()) -> None:
    """Enter record lines, also such as wait because they are illegal; without a header nobody has set up a game."""
    if header:
        match.start(header)
    for play in plays:
        match.enter(play, "Ann")


def app_of(
    match: Match,
    zones: DrawnZones | None = None,
    *,
    sees: bool = False,
    badly: bool = False,
    camera: Callable[[], bytes] | None = None,
) -> Flask:
    """The pages of a match, with an address like one at home; a camera sees the simulated table, or is `camera`."""
    film = filmed(badly=badly) if sees else None
    picture = camera or ((lambda: film[0]) if film else None)
    looks = {"picture": picture, "image": lambda: decode(picture(), "screen")} if picture else {}
    looks |= {"survey": film[1].survey} if film else {}
    folder = match.store.path.parent
    looks |= {"zones": zones or DrawnZones(), "turn": KeptTurn(folder), "others": OtherCameras(folder)}
    return create_app(match, secret=b"screens" * 5, base_url="http://192.168.1.20:8080", camera=Camera(**looks))


@cache
def filmed(*, badly: bool = False) -> tuple[bytes, Lookout]:
    """A picture of the simulated table, and what is to be said of it; `badly`: small, soft, with a lamp in it."""
    script = demo.script_for("")
    lookout = Lookout(eye_for(demo.setup_of(script)), lambda: ("side-1", "side-2", "table"))
    for number, image in enumerate(islice(demo_pictures(script, speed=4.0), 60)):
        frame = Frame(image, number / 10)
        if badly:
            small = cv2.GaussianBlur(cv2.resize(frame.image, (960, 540), interpolation=cv2.INTER_AREA), (0, 0), 0.8)
            frame = replace(frame, image=cv2.circle(small, (620, 440), 40, (255, 255, 255), -1))
        lookout(frame)
    return cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes(), lookout


@cache
def card_before_camera(slug: str, style: str = "own", seed: int = 0) -> bytes:
    """One card on a table as the camera shows it, JPEG."""
    rng = np.random.default_rng((seed, 3))
    face = face_of(style, slug)
    pose = Pose(px_per_mm=6.0, size_px=(1280, 720), tilt_deg=8, lean_deg=40, turn_deg=float(rng.normal(0, 4)))
    image = enrolled.photograph(face, decks.size_mm(style), pose, enrolled.evening(rng), "dark", seed)
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()


def with_decks(match: Match, faces: int = 6) -> None:
    """A deck of one's own with the first faces of its edition, another that is only begun."""
    data = match.store.path.parent
    grandmas = begin("grandma", "classic", data, maker="A shop in Lyon")
    grandmas = replace(grandmas, description=replace(grandmas.description, title="Grandma’s deck"))
    for card in (*grandmas.cards, None)[:faces]:
        grandmas.keep(card, [face_of("vintage", card.value if card else "back", 6)])
    if faces < len(grandmas.cards):
        begun = begin("summer", "rush", data)
        write_description(begun.folder, begun.description)


def with_waiting(match: Match) -> None:
    """The same decks; three cards of the first, cut out of one photograph, wait for their names."""
    with_decks(match)
    for place, face in enumerate(("roll", "stop", "75")):
        put_waiting(own_folder("grandma", match.store.path.parent), place, as_png(face_of("vintage", face, 6)))


def propose(match: Match, text: str, number: int = 1) -> None:
    """A play as the camera proposes it."""
    camera(match).play(number, text, zone="side-1/distance")


def differ(match: Match, *plays: str, line: int | None = None) -> None:
    zone = "side-1/distance"
    sentence = say("%(card)s is no longer on %(zone)s.", card=card_term(Card.KM_100), zone=where(zone))
    camera(match).differs(1, zone, "100", None, *plays, line=line, sentence=sentence)


def crop_of(face: Card) -> bytes:
    """A card as a camera might see it, JPEG."""
    ground = np.full((320, 320, 3), (58, 74, 62), np.uint8)
    picture = to_image(deck.face_svg(face), 2.7)
    top, left = (320 - picture.shape[0]) // 2, (320 - picture.shape[1]) // 2
    ground[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    turned = cv2.warpAffine(ground, cv2.getRotationMatrix2D((160, 160), 8, 1.0), (320, 320), borderValue=(58, 74, 62))
    return cv2.imencode(".jpg", cv2.GaussianBlur(turned, (0, 0), 3))[1].tobytes()


def unsure(match: Match, zone: str, *plays: str, number: int = 1) -> None:
    """A card that the camera cannot tell."""
    card = parse_play(plays[0], match.state.game.teams).card
    camera(match).which(number, *plays, zone=zone, crop=crop_of(card))


def perhaps(match: Match) -> None:
    """A play that the camera is not sure of."""
    camera(match).play(1, "Bob 25", "Bob 75", "Bob 200", sure=False, zone="side-2/distance", crop=crop_of(Card.KM_25))


def special(match: Match) -> None:
    sentence = say("%(card)s was played: enter the play it belongs to.", card=card_term(Card.THEFT))
    camera(match).differs(1, "table/discard", None, "theft", sentence=sentence)


def no_camera(match: Match) -> None:
    match.trouble(WATCHES_NO_MORE)


def full_disk(match: Match) -> None:
    """The disk refuses what is played last."""
    refuse(match.store)
    match.sit("Ann", "Ann")
    match.sit("Bob", "Bob")


def mended(match: Match) -> None:
    """The log was damaged, and something is missing."""
    note = Mended("damaged/1-companion.sqlite3", 320, 12, 7, (301,)).sentence
    with match._changed:
        match._show(note=note)


def spoil(match: Match) -> None:
    """A change of the first line that the later ones do not survive."""
    match.correct(match.state.hand_entries[0].seq, "Ann discard 25", "Ann")


def played_before(match: Match) -> None:
    """Other players have had a match on this table since."""
    for header in (SIX, ["side Ann", "side Zoé", "hand first Zoé"]):
        match.start(header)


def with_robots(match: Match) -> None:
    """Two of three are robots, where the program deals."""
    match.start(["side Ann", "side Axle", "side Bumper", "hand first Ann"], robots={"Axle": 1, "Bumper": 2})


def seat_robot(match: Match) -> None:
    """A robot plays with Bob's cards; the last play has been undone."""
    match.seat_robot(RobotSeat("Bob", 2), "Ann")
    match.undo("Ann")


def changed_twice(match: Match) -> None:
    """A line was changed, and changed once more, which was undone."""
    for text in ("Ann 50", "Ann 25"):
        match.correct(match.state.hand_entries[2].seq, text, "Ann")
    match.undo("Ann")


def win(match: Match) -> None:
    """Play hands until a side has won the match."""
    plays = ("roll", "200", "200", "100", "100", "100", "finish")
    while match.state.game.winner is None:
        if not match.state.game.hand_is_open:
            match.next_hand("Ann", "Ann")
        number = match.state.game.hand_number
        for play in plays:
            match.enter(f"Ann {play}", "Ann")
            if match.state.game.hand_is_open and match.state.game.table.extension_offered_to is None:
                match.enter("Bob roll" if play == "roll" else "Bob 50" if number % 2 else "Bob 25", "Ann")


def nothing(match: Match) -> None:
    del match


SCENES = {
    "join-empty": (None, [], nothing, "/join"),
    "setup": (None, [], nothing, "/setup"),
    "setup-known": (PAIRS, [], played_before, "/setup?edition=dujardin-2014&seating=4x1&first=3"),
    "print": (TWO, [], nothing, "/print"),
    "join": (PAIRS, [], nothing, "/join"),
    "start": (TWO, [], nothing, "/"),
    "table": (TWO, ATTACK, nothing, "/"),
    "table-long": (LONG_NAMES, ["Ann roll", "Bob roll", "Ann speed-limit > Bob", "Bob 50", "Ann 25"], seat_robot, "/"),
    "table-robot": (TWO, ATTACK, seat_robot, "/"),
    "table-robots": (None, [], with_robots, "/"),
    "wall-robot": (TWO, ATTACK, seat_robot, "/wall"),
    "wall-robots": (None, [], with_robots, "/wall"),
    "table-three": (THREE, ["Ann roll", "Bob roll", "Cid roll", "Ann 100", "Bob stop > Cid"], nothing, "/"),
    "table-pairs": (PAIRS, ["Ann roll", "Bob discard 25", "Cid 100", "Dee roll"], nothing, "/"),
    "table-six": (SIX, SIX_PLAYS, nothing, "/"),
    "wall-six": (SIX, SIX_PLAYS, nothing, "/wall"),
    "legal": (TWO, OPENING, lambda m: (propose(m, "Bob 25"), propose(m, "Ann 100", 2)), "/"),
    "illegal": (TWO, OPENING, lambda m: propose(m, "Bob 100"), "/"),
    "doubt": (TWO, OPENING, lambda m: unsure(m, "side-2/distance", "Bob 75", "Bob 25", "Bob 200"), "/"),
    "doubt-three": (THREE, ["Ann roll"], lambda m: unsure(m, "side-2/battle", "Bob roll", "Bob gasoline"), "/"),
    "doubt-pick": (TWO, OPENING, lambda m: unsure(m, "side-2/distance", "Bob 75"), "/question/1-2-camera.1-which"),
    "perhaps": (TWO, OPENING, perhaps, "/"),
    "special": (RUSH, RUSH_PLAYS[:2], special, "/"),
    "camera": (TWO, OPENING, nothing, "/camera"),
    "camera-badly": (TWO, OPENING, nothing, "/camera?badly"),
    "camera-trial": (None, [], nothing, "/camera/trial"),
    "camera-trial-badly": (None, [], nothing, "/camera/trial?badly"),
    "zones": (TWO, OPENING, nothing, "/camera/zones?suggest=1"),
    "zones-none": (RUSH_FIVE, [], nothing, "/camera/zones"),
    "wall-doubt": (TWO, OPENING, lambda m: unsure(m, "side-2/distance", "Bob 75", "Bob 25"), "/wall"),
    "differ": (TWO, OPENING, differ, "/"),
    "trouble": (TWO, OPENING, no_camera, "/"),
    "extension": (TWO, FINISH, nothing, "/"),
    "entry": (TWO, OPENING, nothing, "/play"),
    "setup-rush": (None, [], nothing, "/setup?edition=rush&option-fast-remedy=no"),
    "rush": (RUSH, RUSH_PLAYS, nothing, "/"),
    "rush-pairs": (RUSH_PAIRS, ["Ann 100*2", "Bob speed-limit > Reds"], nothing, "/"),
    "rush-three": (RUSH_THREE, ["Ann stop > Bob", "Bob right-of-way !"], nothing, "/"),
    "rush-five": (RUSH_FIVE, ["Ann 100", "Bob 200*2", "Cid control stop > Bob", "Dee 100"], nothing, "/"),
    "rush-stolen": (RUSH, [*RUSH_PLAYS[:2], "Ann theft 75 > Bob"], nothing, "/"),
    "rush-pass": (RUSH, [*RUSH_PLAYS, "Ann right-of-way !"], nothing, "/"),
    "rush-won": (RUSH, RUSH_WON, nothing, "/"),
    "rush-score": (RUSH, RUSH_WON, nothing, "/score"),
    "rush-entry": (RUSH, RUSH_PLAYS, nothing, "/play"),
    "rush-at-once": (RUSH, RUSH_PLAYS, nothing, "/play?tab=at-once"),
    "rush-other": (RUSH, RUSH_PLAYS, nothing, "/play?tab=other"),
    "rush-control": (RUSH_FIVE, [], nothing, "/play?player=Ann&card=control"),
    "rush-theft": (RUSH, RUSH_PLAYS, nothing, "/play?player=Ann&card=theft"),
    "rush-penalty": (RUSH, RUSH_PLAYS, nothing, "/play?player=Ann&ask=penalty"),
    "rush-eight": (RUSH_EIGHT, EIGHT_PLAYS, nothing, "/"),
    "wall-eight": (RUSH_EIGHT, EIGHT_PLAYS, nothing, "/wall"),
    "wall-five": (RUSH_FIVE, EIGHT_PLAYS[:5], nothing, "/wall"),
    "wall-eight-score": (RUSH_EIGHT, [*EIGHT_PLAYS, "end"], nothing, "/wall"),
    "rush-eight-score": (RUSH_EIGHT, [*EIGHT_PLAYS, "end"], nothing, "/score"),
    "wall-rush": (RUSH, RUSH_PLAYS, nothing, "/wall"),
    "entry-six": (SIX, SIX_PLAYS, nothing, "/play"),
    "changed": (TWO, OPENING, changed_twice, "/"),
    "attention": (TWO, OPENING, spoil, "/"),
    "entry-target": (THREE, ["Ann roll", "Bob roll"], nothing, "/play?player=Cid&card=stop"),
    "line": (TWO, ATTACK, nothing, "/line/9"),
    "line-other": (TWO, ATTACK, nothing, "/line/9?player=Ann"),
    "line-misfits": (TWO, ATTACK, nothing, "/line/4?text=Ann%20discard%2025&refused=1"),
    "score": (TWO, [*FINISH, "Ann finish"], nothing, "/score"),
    "score-match": (LONG_NAMES, [], win, "/score"),
    "score-open": (TWO, ATTACK, nothing, "/score"),
    "mine-start": (TWO, [], nothing, "/"),
    "mine": (TWO, ATTACK, nothing, "/"),
    "mine-legal": (TWO, OPENING, lambda m: propose(m, "Bob 25"), "/"),
    "mine-illegal": (TWO, OPENING, lambda m: propose(m, "Bob 100"), "/"),
    "mine-three": (THREE, ["Ann roll", "Bob roll", "Cid roll", "Ann 100", "Bob stop > Cid"], nothing, "/"),
    "mine-eight": (RUSH_EIGHT, EIGHT_PLAYS, nothing, "/"),
    "may": (TWO, OPENING, nothing, "/may"),
    "plain": (TWO, ATTACK, nothing, "/plain"),
    "phone": (TWO, [], nothing, "/phone"),
    "past": (PAIRS, [], played_before, "/past"),
    "past-unfinished": (TWO, ATTACK, played_before, "/past"),
    "past-match-open": (TWO, ATTACK, played_before, "/past/1"),
    "past-match": (TWO, [*FINISH, "Ann finish"], nothing, "/past/1"),
    "players": (TWO, [*FINISH, "Ann finish"], nothing, "/past/players"),
    "replay": (TWO, [*FINISH, "Ann finish"], nothing, "/past/1/1?step=7"),
    "more": (TWO, ATTACK, nothing, "/more"),
    "seats": (PAIRS, [], nothing, "/seats"),
    "wall": (TWO, ATTACK, nothing, "/wall"),
    "wall-fresh": (TWO, [], nothing, "/wall"),
    "wall-fresh-six": (SIX, [], nothing, "/wall"),
    "wall-fresh-eight": (RUSH_EIGHT, [], nothing, "/wall"),
    "wall-start": (TWO, ["Ann roll"], nothing, "/wall"),
    "wall-target": (TWO, FINISH, nothing, "/wall"),
    "wall-extended": (TWO, [*FINISH, "Ann extend"], nothing, "/wall"),
    "wall-three": (THREE, ["Ann roll", "Bob roll", "Cid roll", "Ann 100", "Bob stop > Cid"], nothing, "/wall"),
    "wall-illegal": (PAIRS, ["Ann roll"], lambda m: propose(m, "Bob 100"), "/wall"),
    "wall-legal": (TWO, OPENING, lambda m: propose(m, "Bob 25"), "/wall"),
    "wall-score": (TWO, [*FINISH, "Ann finish"], nothing, "/wall"),
    "wall-match": (LONG_NAMES, [], win, "/wall"),
    "wall-trouble": (TWO, ATTACK, no_camera, "/wall"),
    "wall-trouble-three": (THREE, ["Ann roll", "Bob roll", "Cid roll", "Bob stop > Cid"], no_camera, "/wall"),
    "unsaved": (TWO, ATTACK, full_disk, "/"),
    "unsaved-score": (TWO, [*FINISH, "Ann finish"], full_disk, "/score"),
    "unsaved-entry": (TWO, ATTACK, full_disk, "/play"),
    "wall-unsaved": (TWO, ATTACK, full_disk, "/wall"),
    "wall-unsaved-three": (THREE, ["Ann roll", "Bob roll", "Cid roll", "Bob stop > Cid"], full_disk, "/wall"),
    "mended": (TWO, ATTACK, mended, "/"),
    "how": (TWO, OPENING, nothing, "/how"),
    "how-card": (TWO, OPENING, nothing, "/how/card/stop"),
    "try": (None, [], nothing, "/try"),
    "oops": (TWO, [], nothing, "/nowhere"),
    "decks": (TWO, [], with_decks, "/decks"),
    "decks-new": (None, [], nothing, "/decks"),
    "enrol": (None, [], lambda m: with_decks(m, 5), "/decks/grandma/enrol?card=accident&got=200"),
    "enrol-more": (TWO, OPENING, with_decks, "/decks/grandma/enrol?card=25"),
    "enrol-done": (None, [], lambda m: with_decks(m, 20), "/decks/grandma/enrol?card=done&got=back"),
    "enrol-names": (None, [], with_waiting, "/decks/grandma/enrol/names"),
    "enrol-photo": (None, [], with_decks, "/decks/grandma/enrol?blind"),
    "snap": (None, [], nothing, "/snap"),
    "snap-lines": (None, [], nothing, "/snap/TOKEN"),
    "snap-doubts": (TWO, [], nothing, "/snap/TOKEN?doubts=likely"),
    "snap-score": (TWO, [], nothing, "/snap/TOKEN?count"),
    "wall-empty": (None, [], nothing, "/wall"),
}

SITS = {
    "mine-start": "Ann", "mine": "Ann", "mine-legal": "Bob", "mine-illegal": "Bob", "mine-three": "Cid",
    "mine-eight": "Ann", "may": "Bob",
}  # fmt: skip
"""Scenes on the phone of a player; the others are seen by one without a seat."""

DOUBTS = {"100-07": ("100-07", "25-01", "200-01"), "75-04": ("75-04", "25-02"), "extra-tank-01": ()}


def count(page: Page) -> None:
    """Say of each side that is asked about that every card is visible, and count."""
    for box in page.locator(".visible :required").all():
        box.check()
    page.click(".dock .primary")


def photographed(app: Flask, path: str) -> str:
    """The address of a tableau's lines once its photograph has been sent."""
    if "TOKEN" not in path:
        return path
    confidence = 0.8 if "likely" in path else 0.4
    shot = tableaux.in_doubt(tableaux.shot(), DOUBTS, confidence) if "doubts" in path else tableaux.shot()
    return path.replace("TOKEN", app.extensions["companion"].snaps.keep(Snap("classic", "", (shot,))))


@dataclass(frozen=True)
class Wanted:
    """Which pictures are taken of a scene."""

    languages: tuple[str, ...] = ("en",)
    sizes: tuple[str, ...] = tuple(SIZES_BY_NAME)
    themes: tuple[str, ...] = ("light", "dark")


class Studio:
    """One server and one browser for all scenes: only the app behind the address changes."""

    def __init__(self, browser: Browser, url: str, folder: Path, wanted: Wanted) -> None:
        self.browser, self.url, self.folder, self.wanted = browser, url, folder, wanted
        self._pages: dict[tuple[str, int], Page] = {}

    def shoot(self, name: str, path: str) -> int:
        """A page in every language, size and theme; gives how many pictures that makes."""
        for language in self.wanted.languages:
            for scale in sorted({_scale(size) for size in self.wanted.sizes}):
                self._shoot_loaded(self.loaded(language, scale, path, SITS.get(name)), name, language, scale)
        return len(self.wanted.languages) * len(self.wanted.sizes) * len(self.wanted.themes)

    def loaded(self, language: str, scale: int, path: str, seat: str | None) -> Page:
        """The page as a phone opens it that reads that language, in the sizes of one sharpness; `seat`: whose it is."""
        page = self._pages.get((language, scale)) or self._opened(language, scale)
        page.context.clear_cookies()
        if seat:
            seated = {"player": seat, "take": "1"}
            page.context.request.post(f"{self.url}/join", form=seated, headers={"Origin": self.url})
        page.goto("about:blank")  # what the last page was about to load would break this one off
        page.goto(self.url + path)
        if "count" in path:
            count(page)
        page.evaluate("document.fonts.ready.then(() => null)")
        return page

    def _opened(self, language: str, scale: int) -> Page:
        context = self.browser.new_context(viewport=SMALL, device_scale_factor=scale, locale=language)
        self._pages[language, scale] = context.new_page()
        return self._pages[language, scale]

    def _shoot_loaded(self, page: Page, name: str, language: str, scale: int) -> None:
        for size in (size for size in self.wanted.sizes if _scale(size) == scale):
            page.set_viewport_size(SIZES_BY_NAME[size])
            for theme in self.wanted.themes:
                page.emulate_media(color_scheme=theme)
                page.evaluate(ALL_DRAWN)
                if name.startswith(LONG):
                    _show_all(page, SIZES_BY_NAME[size])
                said = "" if self.wanted.languages == ("en",) else f"-{language}"
                width = SIZES_BY_NAME[size]["width"]
                file = self.folder / f"{name}-{width}-{theme}{said}.png"
                page.screenshot(path=file, animations="disabled")


ALL_DRAWN = """() => {
    for (const image of document.images) image.loading = "eager";
    const late = new Promise(done => setTimeout(() => done(null), 5000));
    const drawn = Promise.all([...document.images].map(image => image.decode().catch(() => null)));
    return Promise.race([drawn, late])
        .then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))));
}"""
"""Pictures are there and the page is painted; one that does not come holds nothing up."""


def _show_all(page: Page, size: Mapping[str, int]) -> None:
    """Makes the window as high as the page: what sticks to its end would lie in the middle of a long picture."""
    page.set_viewport_size({**size})
    high = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({**size, "height": max(size["height"], high)})


def _scale(size: str) -> int:
    """How many dots a pixel has: phones are sharp."""
    return 2 if SIZES_BY_NAME[size]["width"] < 600 else 1


@contextlib.contextmanager
def staged(name: str) -> Iterator[tuple[Flask, str]]:
    """The app of a scene, and the page that it is about."""
    header, plays, prepare, path = SCENES[name]
    with match_of(header, plays) as match:
        prepare(match)
        lies = partial(card_before_camera, "accident", "vintage")
        laid = lies if path.startswith("/decks/") and "blind" not in path else None
        app = app_of(match, sees=path.startswith("/camera"), badly="badly" in path, camera=laid)
        yield app, photographed(app, path)


@dataclass(frozen=True)
class Stage:
    """One server and one browser, before which one scene after the other is set up."""

    studio: Studio
    apps: list[Flask]

    @contextlib.contextmanager
    def shows(self, name: str) -> Iterator[str]:
        """Serves a scene meanwhile, and gives the page that it is about."""
        with staged(name) as (app, path):
            self.apps[:] = [app]
            yield path


@contextlib.contextmanager
def opened_stage(folder: Path, wanted: Wanted) -> Iterator[Stage]:
    """A stage whose pictures go to that folder."""
    apps: list[Flask] = []
    with sync_playwright() as playwright, running(lambda environ, start: apps[-1](environ, start)) as url:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--font-render-hinting=none"]
        )
        yield Stage(Studio(browser, url, folder, wanted), apps)
        browser.close()


def main(folder: Path, scenes: list[str], wanted: Wanted) -> int:
    """The scenes named, or all; gives how many pictures were taken."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = 0
    with opened_stage(folder, wanted) as stage:
        for name in scenes or SCENES:
            with stage.shows(name) as path:
                taken += stage.studio.shoot(name, path)
    return taken


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Takes pictures of every page.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("screens"), help="where they go")
    parser.add_argument("scene", nargs="*", choices=[[], *SCENES], metavar="scene", help="which pages (default: all)")
    for name, every in (("languages", ("en",)), ("sizes", tuple(SIZES_BY_NAME)), ("themes", ("light", "dark"))):
        parser.add_argument(f"--{name}", type=lambda typed: tuple(typed.split(",")), default=every, metavar="A,B")
    return parser.parse_args()


if __name__ == "__main__":
    asked = _asked()
    shot = main(asked.folder, asked.scene, Wanted(asked.languages, asked.sizes, asked.themes))
    print(f"{shot} pictures in {asked.folder}")
