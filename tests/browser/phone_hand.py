"""A whole hand watched by the camera of a phone's browser: a film in place of the room, the real service, and gaps.

    PYTHONPATH=tests:. python tests/browser/phone_hand.py [--seed 0]

While the table rests the phone loses the Wi-Fi once, its page is loaded anew once, and it falls asleep once. Ends with
1 unless the plays and the score sheet are those of the script. The film takes 3 GB of the disk meanwhile.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import cv2
import films
import numpy as np
from playwright.sync_api import BrowserContext, Page, sync_playwright
from trust.real_service import Service, asked, service

from browser.screens import CHROMIUM, PHONE, SMALL
from companion.pages.server.secure_port import PORT_ABOVE
from companion.simulate.animation import Tempo
from companion.simulate.frame_source import filmed, followed_scenes, table_studio
from companion.simulate.scene import Scene
from companion.simulate.script import Script, plays_that_stay, shipped_script
from companion.vision.capture.devices import PHONE_SILENT

SIZE_PX = (1920, 1080)
TEMPO = Tempo(fps=5.0, speed=1.5)
NO_WIFI, LOADED_ANEW, ASLEEP = "no Wi-Fi", "page loaded anew", "asleep"
GAPS = {5: NO_WIFI, 10: LOADED_ANEW, 15: ASLEEP}
"""Before which play what happens to the phone."""

OPENING = {LOADED_ANEW, ASLEEP}
"""What makes the phone open its camera again."""

REST_S = 16.0
"""How long the table rests for a gap, and at the end."""

GAP_S = 6.0
"""Longer than `SENDING_S`, after which the service says that the phone is silent."""

MOST_S = 600.0
LOOK_MS = 50
FALL_ASLEEP = """() => {
  document.getElementById("own").srcObject.getTracks().forEach((track) => track.stop());
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
}"""
WAKE_UP = """() => {
  delete document.hidden;
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""What a page notices of a phone that is locked, and opened again: a browser without a screen locks none."""

FILM_POSITION = "document.getElementById('own').getVideoPlaybackQuality().totalVideoFrames"


class Film:
    """The script's hand in several files: a browser that opens its camera again begins with a file's first picture."""

    def __init__(self, script: Script, seed: int, folder: Path) -> None:
        self._folder = folder
        self.begins = [0]
        """With which picture of the hand each file begins."""

        self.laid: dict[int, int] = {}
        """The picture from which on the card of a play lies with no hand over it."""

        self._arm = self._rested = self._number = 0
        self._last = sum(1 for _ in plays_that_stay(script.hands[0]))
        self._write(filmed(table_studio(script, seed=seed), self._scenes(script, seed), seed))

    def file(self, part: int) -> Path:
        return self._folder / f"{part}.y4m"

    def _scenes(self, script: Script, seed: int) -> Iterator[Scene]:
        for number, scene in enumerate(followed_scenes(script, seed, TEMPO, self._may_begin)):
            self._number = number
            if scene.arms:
                self._arm = number
            yield scene

    def _may_begin(self, play: int) -> bool:
        """True once the table has rested before a play for as long as a gap needs."""
        self.laid.setdefault(play - 1, self._arm + 1)
        if play not in GAPS and play <= self._last:
            return True
        self._rested = self._rested % round(REST_S * TEMPO.fps) + 1
        if GAPS.get(play) in OPENING and self._rested == round(REST_S * TEMPO.fps) // 2:
            self.begins.append(self._number + 1)
        return self._rested == round(REST_S * TEMPO.fps)

    def _write(self, pictures: Iterator[np.ndarray]) -> None:
        begin = f"YUV4MPEG2 W{SIZE_PX[0]} H{SIZE_PX[1]} F{TEMPO.fps:.0f}:1 Ip A1:1 C420\n".encode()
        for part, of_part in groupby(pictures, lambda _picture: len(self.begins) - 1):
            with self.file(part).open("wb") as file:
                file.write(begin)
                for picture in of_part:
                    file.write(b"FRAME\n" + cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420).tobytes())


@dataclass
class Figures:
    """What came of it."""

    sent: int = 0
    silences: int = 0
    """How often the table said that the phone sends nothing."""

    delays_s: list[float] = field(default_factory=list)
    """From when a card lies with no hand over it until it is in the record, in seconds of the film."""

    gaps: dict[str, float] = field(default_factory=dict)
    """Seconds from the end of a gap until the first picture after it has come."""


class Evening:
    """The service, the phone that is its camera, and the phone of a player."""

    def __init__(self, running: Service, phone: Page, film: Film, current: Path) -> None:
        self.figures = Figures()
        self._running, self._phone, self._film, self._current = running, phone, film, current
        self._part = 0
        phone.on("response", self._answered)

    def _answered(self, response: Any) -> None:
        self.figures.sent += response.ok and "/camera/phone/frame" in response.url

    def state(self) -> dict[str, Any]:
        return read(self._running.port, "/api/state")

    def watch(self, player: Page) -> dict[str, Any]:
        """Follow the hand to its end, which the player's phone answers for; gives the last state."""
        until_s, known, due = time.monotonic() + MOST_S, 0, deque(sorted(GAPS))
        while not (state := self.state())["hands"] and time.monotonic() < until_s:
            count = len(state["log"])
            if count > known:
                at = self._film.begins[self._part] + self._phone.evaluate(FILM_POSITION)
                laid = [self._film.laid[play] for play in range(known + 1, count + 1) if play in self._film.laid]
                self.figures.delays_s += [(at - first) / TEMPO.fps for first in laid]
                known = count
            if due and count == due[0] - 1:
                self._gap(GAPS[due.popleft()])
            if (finish := player.locator("[value='Ann finish'] ~ button")).count():
                finish.click()
            self._phone.wait_for_timeout(LOOK_MS)
        return state

    def _gap(self, kind: str) -> None:
        if kind in OPENING:
            self._part += 1
            self._current.unlink()
            self._current.symlink_to(self._film.file(self._part))
        if kind == NO_WIFI:
            self._phone.context.set_offline(True)
            self._stay_silent()
            self._phone.context.set_offline(False)
        elif kind == ASLEEP:
            self._phone.evaluate(FALL_ASLEEP)
            self._stay_silent()
            self._phone.evaluate(WAKE_UP)
        else:
            self._phone.reload()
        before, began_s = self.figures.sent, time.monotonic()
        while self.figures.sent == before and time.monotonic() < began_s + REST_S:
            self._phone.wait_for_timeout(LOOK_MS)
        self.figures.gaps[kind] = time.monotonic() - began_s

    def _stay_silent(self) -> None:
        self._phone.wait_for_timeout(1000 * GAP_S)
        self.figures.silences += str(PHONE_SILENT) in (self.state()["trouble"] or "")


def read(port: int, path: str) -> Any:
    return json.loads(asked(port, path)[1])


def opened(context: BrowserContext, running: Service) -> Page:
    """The camera's page on the phone, which has been tapped to begin."""
    asked(running.port, "/camera/phone/open", {})
    page = context.new_page()
    page.goto(f"https://127.0.0.1:{running.port + PORT_ABOVE}/camera/phone?t={running.token}")
    page.get_by_role("button", name=re.compile("Use this phone")).click()
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="draws the light, the spots of the cards and the noise")
    seed = parser.parse_args().seed
    script = shipped_script("two-players")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        began_s = time.monotonic()
        film = Film(script, seed, folder)
        size = sum(path.stat().st_size for path in folder.glob("*.y4m"))
        print(f"Filmed in {time.monotonic() - began_s:.0f} s, {size / 1e9:.1f} GB")
        current = folder / "current.y4m"
        current.symlink_to(film.file(0))
        (folder / "table.toml").write_text(films.setup_of(script), encoding="utf-8")
        flags = ("fake-ui-for-media-stream", "fake-device-for-media-stream", f"file-for-fake-video-capture={current}")
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", *(f"--use-{flag}" for flag in flags)],
        )
        with service(folder, "up", "--setup", str(folder / "table.toml")) as running:
            asked(running.port, "/policy", {"policy": "auto"})
            player = browser.new_context(viewport=PHONE).new_page()
            player.goto(f"http://127.0.0.1:{running.port}/")
            began_s = time.monotonic()
            phone = opened(browser.new_context(viewport=SMALL, ignore_https_errors=True), running)
            evening = Evening(running, phone, film, current)
            state = evening.watch(player)
            took_s = time.monotonic() - began_s
            record = read(running.port, f"/api/matches/{state['match']}")["record"]
        browser.close()
    return told(evening.figures, script, state, record, took_s)


def told(figures: Figures, script: Script, state: dict[str, Any], record: list[str], took_s: float) -> int:
    """Print what came of it; 0 where the plays and the sheet are right and all gaps have passed."""
    wanted = [str(play) for play in plays_that_stay(script.hands[0])]
    played = [line for line in record if line.split()[0] in script.players]
    is_sheet_right = [hand["sides"] for hand in state["hands"]] == films.sheets(script)
    right = sum(a == b for a, b in zip(wanted, played, strict=False))
    print(f"{right} of {len(wanted)} plays right, {len(played)} noted")
    print(f"Sheet {'right' if is_sheet_right else 'WRONG'}; {figures.sent} pictures in {took_s:.0f} s")
    for kind, seconds in figures.gaps.items():
        print(f"{kind}: {seconds:.1f} s until the next picture")
    print(f"The table said {figures.silences} times that the phone is silent")
    if figures.delays_s:
        median, longest = statistics.median(figures.delays_s), max(figures.delays_s)
        print(f"A card is in the record {median:.1f} s after the hand has left, at most {longest:.1f} s")
    are_gaps_noticed = len(figures.gaps) == len(GAPS) and figures.silences == len({NO_WIFI, ASLEEP})
    return 0 if is_sheet_right and played == wanted and are_gaps_noticed else 1


if __name__ == "__main__":
    sys.exit(main())
