"""An evening in the browser: the wall's code is scanned, and two phones play a hand to its score."""

import re
from urllib.parse import urlsplit

import cv2
import numpy as np
from client import TWO
from playwright.sync_api import Page, expect
from pyzbar import pyzbar

from browser.screens import PHONE, WALL, feed

COUP_FOURRE = "Coup fourré"
HAND = [
    ("Ann", "Roll"), ("Bob", "Roll"), ("Ann", "200 km"), ("Bob", "100 km"), ("Ann", "Stop"), ("Bob", "Roll"),
    ("Ann", "200 km"), ("Bob", "Flat Tire"), ("Ann", COUP_FOURRE), ("Ann", "100 km"), ("Bob", "100 km"),
    ("Ann", "100 km"), ("Bob", "75 km"), ("Ann", "100 km"),
]  # fmt: skip
"""Ann reaches 700 km with a coup fourré on the way; each player enters their own plays."""

WORTH = {"Ann": 1500, "Bob": 275}


class Fingers:
    """Taps on a page, counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.taps = page, 0

    def tap(self, role: str, name: str) -> None:
        self.page.get_by_role(role, name=name).first.click()
        self.taps += 1


def scanned(wall: Page, url: str) -> str:
    """Return the wall's code as a phone's camera reads it, with this machine's address."""
    shot = cv2.imdecode(np.frombuffer(wall.screenshot(), np.uint8), cv2.IMREAD_GRAYSCALE)
    (code,) = pyzbar.decode(shot)
    asked = urlsplit(code.data.decode())
    assert asked.netloc == "192.168.1.20:8080"
    return f"{url}{asked.path}?{asked.query}"


def lay(fingers: Fingers, card: str) -> int:
    """Enter a play; return the number of taps."""
    before = fingers.taps
    if card == COUP_FOURRE:
        fingers.tap("button", COUP_FOURRE)
    else:
        fingers.tap("link", "Other")
        fingers.tap("button", card)
    expect(fingers.page).to_have_url(re.compile(r"//[^/]+/$"))
    return fingers.taps - before


def test_two_phones_and_the_wall_from_joining_to_the_score(opened, strangers, app, url):
    token = app.extensions["companion"].token
    wall = opened(f"{url}/wall?t={token}", WALL)
    ann = Fingers(opened(scanned(wall, url), PHONE))
    ann.tap("link", "Set up a game")
    ann.page.get_by_label("Name of player 1").fill("Ann")
    ann.page.get_by_label("Name of player 2").fill("Bob")
    ann.tap("button", "Start the game")
    ann.tap("button", "Ann")
    expect(wall.get_by_role("heading", level=1)).to_have_text("Ann’s turn")

    bob = Fingers(opened(scanned(wall, url), PHONE))
    bob.tap("button", "Bob")
    assert bob.taps <= 3

    most = max(lay({"Ann": ann, "Bob": bob}[who], card) for who, card in HAND)
    assert most <= 2
    bob.page.get_by_text("Ann drove 700 km!").wait_for()
    ann.tap("button", "Finish here")
    for fingers in (ann, bob):
        expect(fingers.page).to_have_url(re.compile(r"/score$"))
        row = fingers.page.get_by_role("row", name="This hand").first
        for total in WORTH.values():
            expect(row).to_contain_text(str(total))
    expect(wall.get_by_role("row", name="This hand").first).to_contain_text(str(WORTH["Ann"]))

    ann.page.get_by_role("button", name="Next hand – Bob starts").click()
    for fingers in (ann, bob):
        expect(fingers.page).to_have_url(re.compile(r"//[^/]+/$"))


def test_the_other_phones_heading_changes_with_the_next_hand(opened, match, url):
    feed(match, TWO, ["end"])
    page = opened(url, PHONE)
    expect(page.locator("#heading")).to_have_text("Hand 1")

    match.next_hand("Bob")

    expect(page.locator("#heading")).to_have_text("Hand 2")
