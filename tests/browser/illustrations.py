"""Makes the pictures of docs/, from the program's own pages, sheets and simulated table.

PYTHONPATH=tests:. python tests/browser/illustrations.py [NAME …]

Each lands in docs/pictures/ as NAME.webp. `evening` is the film: the table as the camera sees it, the phone beside it.
A picture of a page gets a line in `PAGES`, any other a function in `DRAWN`.
"""

import argparse
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile, islice, takewhile
from pathlib import Path

import card_photos
import cv2
import numpy as np
import photos
import tableaux
from decks import BACK, CLASSIC
from laid import Glued, Laid, Table
from playwright.sync_api import Page, sync_playwright
from serving import running
from webcam import Pose

from browser.screens import ALL_DRAWN, CHROMIUM, PHONE, SITS, WALL, Stage, Wanted, app_of, match_of, opened_stage
from companion.app import demo
from companion.app.demo_players import DemoPlayers, frames_of_players
from companion.match.match import Match
from companion.printing import render
from companion.printing import svg as draw
from companion.simulate import frame_source
from companion.simulate.animation import Tempo
from companion.simulate.scene import Scene
from companion.simulate.script import shipped_script
from companion.tabletop.card_ids import payload
from companion.tracking.live import TableWatch
from companion.vision.eye import Eye

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
QUALITY = 50

# --- Pages ----------------------------------------------------------------------------------------------------

WIDTH = 480
"""Width of a phone's page in the docs, in pixels: sharp on a phone, and not too large beside the words on a desk."""

WIDE = 800
MARGIN = 6


@dataclass(frozen=True)
class Cut:
    """A piece of a scene's page: from one element down to another, by their selectors."""

    scene: str
    last: str
    first: str = "header"


PAGES: Mapping[str, Cut] = {
    "camera": Cut("camera-trial", ".todo"),
    "camera-badly": Cut("camera-trial-badly", ".todo"),
    "print": Cut("print", ".printouts > article", ".printouts > article"),
    "enrol-done": Cut("enrol-done", ".faces li:nth-child(3)", "h1"),
    "setup": Cut("setup", ".seats"),
    "join": Cut("join", "#seat-Bob"),
    "play-confirm": Cut("legal", ".proposal .row", ".sky"),
    "play-illegal": Cut("illegal", ".proposal", ".proposal"),
    "play-doubt": Cut("doubt", ".proposal", ".proposal"),
    "play-at-once": Cut("table", ".chance", ".sky"),
    "correct": Cut("line", ".picker form fieldset:nth-of-type(2)", "h1"),
    "score": Cut("score", ".sheetbox", "h1"),
    "differ": Cut("differ", ".question", ".question"),
    "count-doubt": Cut("snap-doubts", ".told .doubtful", ".told .doubtful"),
    "count-sheet": Cut("snap-score", ".sheetbox", "h1"),
}


def cut_out(stage: Stage, cut: Cut) -> np.ndarray:
    """The piece of the page, BGR; the bar that sticks to a page's end lies behind it."""
    with stage.shows(cut.scene) as path:
        page = stage.studio.loaded("en", 2, path, SITS.get(cut.scene))
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="light")
        page.evaluate("document.querySelectorAll('.dock').forEach(dock => { dock.style.position = 'static'; })")
        page.evaluate(ALL_DRAWN)
        top, bottom = (
            page.evaluate("([which, end]) => document.querySelector(which).getBoundingClientRect()[end]", [which, end])
            for which, end in ((cut.first, "top"), (cut.last, "bottom"))
        )
        top = max(0, top - MARGIN)
        clip = {"x": 0, "y": top, "width": PHONE["width"], "height": bottom + MARGIN - top}
        image = decoded(page.screenshot(clip=clip, full_page=True, animations="disabled"))
    return narrowed(image, WIDTH)


def wall(stage: Stage) -> np.ndarray:
    with stage.shows("wall") as path:
        page = stage.studio.loaded("en", 1, path, None)
        page.set_viewport_size(WALL)
        page.emulate_media(color_scheme="light")
        page.evaluate(ALL_DRAWN)
        return narrowed(decoded(page.screenshot(animations="disabled")), WIDE)


# --- What the program draws and renders -------------------------------------------------------------------------


def mount() -> np.ndarray:
    """The table from the side, with the camera on an arm above it: as high as one of 65° must hang for two mats."""
    wide, high = 160.0, 110.0
    ink, thin = draw.paint("none", draw.INK, 2.2, join="round"), draw.paint("none", draw.YELLOW, 0.8)
    middle, top, board = 74.0, 20.0, 93.5  # a centimetre is a millimetre here
    body = [
        draw.rect(0, 0, wide, high, draw.paint(draw.PAPER)),
        draw.polygon([(middle, top), (middle - 44, board), (middle + 44, board)], draw.paint("#F7E3A1")),
        draw.line(middle, top, middle - 44, board, thin),
        draw.line(middle, top, middle + 44, board, thin),
        draw.rect(10, board, 128, 4, draw.paint("#8A6A48")),
        draw.rect(18, board + 4, 5, high, draw.paint("#8A6A48")),
        draw.rect(125, board + 4, 5, high, draw.paint("#8A6A48")),
        draw.rect(middle - 42.5, board - 1.2, 42, 1.2, draw.paint(draw.BLUE)),
        draw.rect(middle + 0.5, board - 1.2, 42, 1.2, draw.paint(draw.RED)),
        draw.path(f"M134 {board - 1}L134 12L{middle} 12L{middle} 17", ink),
        draw.rect(128, board - 3, 12, 6, draw.paint(draw.INK), radius=1),
        draw.rect(middle - 7, 14, 14, 6, draw.paint(draw.INK), radius=1.5),
        draw.circle(middle, 20.5, 1.8, draw.paint(draw.BLUE)),
        draw.line(146, top, 146, board, draw.paint("none", draw.INK, 0.5)),
        draw.line(144, top, 148, top, draw.paint("none", draw.INK, 0.5)),
        draw.line(144, board, 148, board, draw.paint("none", draw.INK, 0.5)),
        draw.rect(140, 52, 14, 9, draw.paint(draw.PAPER)),
        draw.text("75 cm", 147, 58.5, 6, anchor=0.5),
        draw.text("85 cm of mats", middle, board - 4, 6, anchor=0.5),
    ]
    return render.to_image(draw.document(wide, high, body), 4.0)


def laid_out() -> np.ndarray:
    """The mats on the table, as the camera sees them."""
    return narrowed(at_the_table(0), WIDE)


def in_play() -> np.ndarray:
    """A hand in play, with somebody laying a card."""
    return narrowed(at_the_table(12), WIDE)


def at_the_table(plays: int) -> np.ndarray:
    """The simulated table: bare, or while that play of the shipped hand is made."""
    script = shipped_script("two-players")
    studio = frame_source.table_studio(script)
    if not plays:
        return studio.picture(Scene(), random.Random(1))
    scenes = frame_source.followed_scenes(script, 0, Tempo(), plays_done=plays, settling_s=0.1)
    laying = takewhile(lays_a_card, dropwhile(lambda scene: not lays_a_card(scene), scenes))
    *_, last = laying
    return studio.picture(last, random.Random(1))


def lays_a_card(scene: Scene) -> bool:
    """True while somebody carries a card face up."""
    return any(card.picture != BACK for card in scene.carried)


def glued() -> np.ndarray:
    """Cards with their stickers, one beside another and one over another."""
    places = {"roll-03": (-78, 0), "stop-02": (-10, 0), "100-01": (68, -22), "100-02": (68, 0), "100-05": (68, 22)}
    cards = [
        Laid(x, y, 0, Glued(payload(card), 0, -30), look=f"own {card.rpartition('-')[0]}", corner_mm=3)
        for card, (x, y) in places.items()
    ]
    return photos.photograph(Table(tuple(cards), cloth="wood"), Pose(2.8, (800, 420)), seed=4).image


def in_rows() -> np.ndarray:
    """A deck laid out to be photographed: one of each face, and a back."""
    photo = card_photos.sheet_photo(3, "vintage", (*CLASSIC, BACK), "felt", columns=7, long_px=1600, tilt=4)
    left, top = photo.corners.min((0, 1)).astype(int) - 30
    right, bottom = photo.corners.max((0, 1)).astype(int) + 30
    return narrowed(photo.image[top:bottom, left:right], WIDE)


def tableau() -> np.ndarray:
    """Two sides at the end of a hand, photographed by a telephone."""
    image = decoded(tableaux.file_of())
    return narrowed(image[image.shape[0] // 4 : image.shape[0] * 5 // 6], WIDE)


DRAWN: Mapping[str, Callable[[], np.ndarray]] = {
    "mount": mount, "mats": laid_out, "stickers": glued, "enrol": in_rows, "play": in_play, "count": tableau,
}  # fmt: skip


def decoded(file: bytes) -> np.ndarray:
    """The pixels of a picture in a file, BGR."""
    return cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_COLOR)


def narrowed(image: np.ndarray, width: int) -> np.ndarray:
    return cv2.resize(image, (width, round(image.shape[0] * width / image.shape[1])), interpolation=cv2.INTER_AREA)


# --- The film ---------------------------------------------------------------------------------------------------

HEIGHT, TABLE_WIDTH, GAP = 400, 700, 12
EVERY = 4
"""Frames of the camera from one picture of the film to the next."""

PICTURE_MS = 250
FILMED, READ_PICTURES = 80, 5
"""Pictures of the film, and those for which a question stands before it is answered: people read it."""

BUTTON = ".proposal .go, .proposal .primary, [value='Ann finish'] ~ button"


def beside(table: np.ndarray, page: Page, tap: tuple[float, float] | None) -> np.ndarray:
    """A picture of the film, BGR: the table with the phone to its right; `tap`: where a finger is, in CSS pixels."""
    phone = decoded(page.screenshot(type="png"))
    scale = HEIGHT / phone.shape[0]
    phone = cv2.resize(phone, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    if tap:
        at = (round(tap[0] * scale), round(tap[1] * scale))
        cv2.circle(phone, at, 13, (60, 60, 60), 3, cv2.LINE_AA)
    film = np.full((HEIGHT, TABLE_WIDTH + GAP + phone.shape[1], 3), 24, np.uint8)
    table = cv2.resize(table, (TABLE_WIDTH, TABLE_WIDTH * 9 // 16), interpolation=cv2.INTER_AREA)
    top = (HEIGHT - table.shape[0]) // 2
    film[max(top, 0) : max(top, 0) + table.shape[0], :TABLE_WIDTH] = table[:HEIGHT]
    film[:, TABLE_WIDTH + GAP :] = phone
    return film


def pictures(page: Page, match: Match, watch: TableWatch, players: DemoPlayers) -> Iterator[np.ndarray]:
    """Yield the film's pictures; whatever the table asks is answered on the phone once it has been read."""
    standing = 0
    for number, frame in enumerate(frames_of_players(players)):
        watch.take(frame)
        if number % EVERY:
            continue
        page.wait_for_timeout(1100 if match.state.questions and not standing else 50)
        box = page.evaluate(
            """selector => { const b = document.querySelector(selector)?.getBoundingClientRect();
            return b && b.width ? [b.x + b.width / 2, b.y + b.height / 2] : null; }""",
            BUTTON,
        )
        standing = standing + 1 if box else 0
        tapping = standing > READ_PICTURES
        yield beside(frame.image, page, tuple(box) if tapping else None)
        if tapping:
            page.mouse.click(*box)
            page.wait_for_timeout(1100)
            standing = 0


def film() -> list[np.ndarray]:
    """Return the first pictures of the evening."""
    script = shipped_script("two-players")
    with match_of(None, []) as match, running(app_of(match)) as url, sync_playwright() as playwright:
        demo.start_or_go_on(match, script)
        mats = dict(demo.setup_of(script).mats)
        watch = TableWatch(match, Eye(), lambda _state: mats)
        players = DemoPlayers(match, script, tempo=Tempo(), is_stopped=lambda: False)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport=PHONE).new_page()
        page.goto(url)
        kept = list(islice(pictures(page, match, watch, players), FILMED))
        browser.close()
    return kept


# --- All of them ------------------------------------------------------------------------------------------------


NAMES = ("evening", "wall", *PAGES, *DRAWN)


def still(name: str, stage: Stage) -> np.ndarray:
    """One of the pictures that do not move, BGR."""
    if name == "wall":
        return wall(stage)
    return DRAWN[name]() if name in DRAWN else cut_out(stage, PAGES[name])


def write_film() -> None:
    animation = cv2.Animation()
    animation.frames = film()
    animation.durations = [PICTURE_MS] * len(animation.frames)
    cv2.imwriteanimation(str(FOLDER / "evening.webp"), animation, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])


def write_stills(names: Iterable[str]) -> None:
    """Write those pictures; one server serves all pages."""
    with opened_stage(FOLDER, Wanted()) as stage:
        for name in names:
            cv2.imwrite(str(FOLDER / f"{name}.webp"), still(name, stage), [cv2.IMWRITE_WEBP_QUALITY, QUALITY])


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the pictures of docs/.")
    parser.add_argument("name", nargs="*", choices=[[], *NAMES], metavar="NAME", help="which pictures (default: all)")
    names = parser.parse_args().name or NAMES
    write_stills(name for name in names if name != "evening")
    if "evening" in names:
        write_film()


if __name__ == "__main__":
    main()
