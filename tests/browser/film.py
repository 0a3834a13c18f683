"""Films an evening: the simulated table as the camera sees it, and the phone beside it, as one picture that moves.

PYTHONPATH=tests:. python tests/browser/film.py docs/evening.webp
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import Page, sync_playwright
from serving import running

from browser.screens import CHROMIUM, PHONE, app_of
from companion.app import demo
from companion.app.demo_players import DemoPlayers, frames_of_players
from companion.match.match import Match
from companion.simulate.animation import Tempo
from companion.simulate.script import shipped_script
from companion.storage.event_store import Store
from companion.tracking.live import TableWatch
from companion.vision.eye import Eye

HEIGHT, TABLE_WIDTH, GAP = 600, 1064, 12
EVERY = 4
"""Frames of the camera from one picture of the film to the next."""

PICTURE_MS = 250
READ_PICTURES = 5
"""Pictures for which a question stands before it is answered: people read it."""

BUTTON = ".proposal .go, .proposal .primary, [value='Ann finish'] ~ button"


def beside(table: np.ndarray, page: Page, tap: tuple[float, float] | None) -> np.ndarray:
    """A picture of the film, BGR: the table with the phone to its right; `tap`: where a finger is, in CSS pixels."""
    phone = cv2.imdecode(np.frombuffer(page.screenshot(type="png"), np.uint8), cv2.IMREAD_COLOR)
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


def film(seconds: float, skipped_s: float, script_name: str) -> list[np.ndarray]:
    """Return so many seconds of the evening, from when `skipped_s` of it are over."""
    script = shipped_script(script_name)
    count, skipped = (round(s * 1000 / PICTURE_MS) for s in (seconds, skipped_s))
    kept: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        match = Match(Store.open(Path(folder) / "log.sqlite3"))
        demo.start_or_go_on(match, script)
        mats = dict(demo.setup_of(script).mats)
        watch = TableWatch(match, Eye(), lambda _state: mats)
        players = DemoPlayers(match, script, tempo=Tempo(), is_stopped=lambda: False)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with running(app_of(match)) as url:
            page = browser.new_context(viewport=PHONE).new_page()
            page.goto(url)
            for number, picture in enumerate(pictures(page, match, watch, players)):
                if number >= skipped:
                    kept.append(picture)
                if len(kept) == count:
                    break
        browser.close()
        match.store.close()
    return kept


def main() -> None:
    """Write the film as an animated picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--skip", type=float, default=0.0, help="seconds of the evening before the film begins")
    parser.add_argument("--script", default="two-players", help="the hand that is played")
    asked = parser.parse_args()
    frames = film(asked.seconds, asked.skip, asked.script)
    animation = cv2.Animation()
    animation.frames = frames
    animation.durations = [PICTURE_MS] * len(frames)
    cv2.imwriteanimation(str(asked.file), animation, [cv2.IMWRITE_WEBP_QUALITY, 60])


if __name__ == "__main__":
    main()
