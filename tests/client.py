"""Use the pages as people do, and read what they show."""

import html
import re

from seen import camera

from companion.app.cli import companion
from companion.match.match import Match
from companion.pages.players.phone_identity import join_token

TWO = ("side Ann", "side Bob", "hand first Ann")
SECRET = b"0123456789abcdef" * 2
HOME = {"Origin": "http://localhost"}
STRANGER = {"REMOTE_ADDR": "192.168.1.77"}


def tap(client, path: str, **fields):
    """Submit a form of one of our own pages."""
    return client.post(path, data=fields, headers=HOME)


def stranger(app, number: int = 77):
    """Return a phone on the network that has not scanned the code."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = f"192.168.1.{number}"
    return client


def scanned(app, number: int = 10, **seat: str):
    """Return a phone that has scanned the code and taken the given seat."""
    client = stranger(app, number)
    client.get(f"/join?t={join_token(SECRET)}", follow_redirects=True)
    if seat:
        tap(client, "/join", **seat)
    return client


def run(*words: object) -> int:
    """Run a command of the program; problems are raised."""
    return companion.main([str(word) for word in words], standalone_mode=False) or 0


def text_of(response) -> str:
    words = re.sub(r"<[^>]+>", " ", response.text)
    return " ".join(html.unescape(words).split())


def seen(match: Match, number: int, *plays: str, **how) -> str:
    """Put down a card in front of the camera; return the address of its question."""
    return f"/question/{camera(match).play(number, *plays, zone='side-1/battle', **how)}"


def played(match: Match, *plays: str) -> Match:
    """Enter plays, which must be accepted; return the match."""
    for play in plays:
        assert match.enter(play, "Ann").done, play
    return match


def lines(match: Match) -> list[str]:
    """Return the recorded plays of the hand as text."""
    return [entry.written.text for entry in match.state.hand_entries]


def values(response) -> list[str]:
    """Return the plays that the page's buttons enter."""
    return [*map(html.unescape, re.findall(r'name="text" value="([^"]*)"', response.text))]


def form_of(response) -> dict[str, str]:
    """Return the fields that a browser would send for the page's forms."""
    shown = response.text
    form: dict[str, str] = {}
    for tag in re.findall(r"<input [^>]*>", shown):
        said = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        is_sent = re.search(r"\bchecked\b", tag) or said.get("type") not in ("radio", "checkbox", "file")
        if said.get("name") and is_sent:
            form[said["name"]] = html.unescape(said.get("value", ""))
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', shown, re.DOTALL):
        form[name] = (re.findall(r'value="([^"]*)" selected', options) or re.findall(r'value="([^"]*)"', options))[0]
    return form
