"""What somebody does on the pages, and what stands there afterwards."""

from __future__ import annotations

import html
import re

from seen import camera

from companion.match.match import Match

TWO = ("side Ann", "side Bob", "hand first Ann")
SECRET = b"0123456789abcdef" * 2
HOME = {"Origin": "http://localhost"}
STRANGER = {"REMOTE_ADDR": "192.168.1.77"}


def tap(client, path: str, **fields):
    """Send a form of one of our own pages."""
    return client.post(path, data=fields, headers=HOME)


def text_of(response) -> str:
    """Return the words of a page."""
    words = re.sub(r"<[^>]+>", " ", response.get_data(as_text=True))
    return " ".join(html.unescape(words).split())


def seen(match: Match, number: int, *plays: str, **how) -> str:
    """Lay a card before the camera; return the address of the question about it."""
    return f"/question/{camera(match).play(number, *plays, zone='side-1/battle', **how)}"


def played(match: Match, *plays: str) -> Match:
    """Enter plays, each of them accepted; return the match."""
    for play in plays:
        assert match.enter(play, "Ann").done, play
    return match


def lines(match: Match) -> list[str]:
    """Return the lines of the hand as they are written."""
    return [entry.written.text for entry in match.state.hand_entries]
