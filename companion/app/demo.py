"""The simulated table as a source: which script `demo:` means, and where it goes on after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from companion.app.demo_players import script_from
from companion.common import parsing
from companion.common.errors import Problem
from companion.match.history import DEMO, Kind
from companion.match.match import Match
from companion.match.setup_file import Setup
from companion.simulate.card_faces import STICKERED, Cards
from companion.simulate.frame_source import demo_frames
from companion.simulate.players import random_script
from companion.simulate.script import Script, plays_that_stay, read_script, shipped_script, shipped_scripts
from companion.vision.capture.sources import Frame

DEFAULT_SCRIPT = "two-players"
MOST_SEED = 10**18
TELLING_PLAYS = 3
"""The first plays tell with which script a match began, whatever was taken back or corrected since."""


def script_for(what: str, setup: Setup | None = None) -> Script:
    """Return the script that `demo:WHAT` means.

    WHAT is empty (the short hand that ships, or a random one for the players of a setup file), the name of a
    shipped hand, a record file, or a number: the seed of a random hand. Raises Problem for anything else.
    """
    seed = parsing.whole(what, 0, MOST_SEED)
    if seed is not None or (not what and setup is not None):
        return _random(seed or 0, setup)
    if not what or what in shipped_scripts():
        return shipped_script(what or DEFAULT_SCRIPT)
    try:
        return read_script(Path(what).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        names = ", ".join(shipped_scripts())
        raise Problem(f"demo:{what} is no record file, no number and none of {names}.") from error


def _random(seed: int, setup: Setup | None) -> Script:
    if setup is None:
        return random_script(seed=seed)
    return random_script(
        setup.edition_name, teams=setup.teams, seed=seed, options=setup.options, target=setup.target, first=setup.first
    )


def setup_of(script: Script) -> Setup:
    """Return the setup that a script's table needs."""
    sides = {f"side-{number}": team for number, team in enumerate(script.teams, start=1)}
    return Setup(script.edition_name, sides, script.hands[0].first, script.target, script.options)


def frames_of(script: Script, *, speed: float = 1.0, cards: Cards = STICKERED) -> Iterator[Frame]:
    """Return the script's frames, as any camera gives them."""
    return (Frame(frame.image, frame.t_s) for frame in demo_frames(script, speed=speed, cards=cards))


def start_or_go_on(match: Match, script: Script) -> int:
    """Start the script's match, unless it is the one being played; return how many of its plays are done.

    One that was going on and has parted from the script stays, with none of them done; so does a match of people's own,
    and the pages ask whether the demo begins all the same.
    """
    lines = script.record().splitlines()
    played = match.lines()
    same = [_plain(line) for line in played] == lines[: len(played)]
    if played and same:
        stay = {str(play) for hand in script.hands for play in plays_that_stay(hand)}
        return sum(_plain(line) in stay for line in played)
    if played and _is_going_on(match, script):
        return 0
    first = next(index for index, line in enumerate(lines) if line.startswith("hand "))
    if match.state.is_under_way and not match.state.is_demo:
        match.offer(lines[: first + 1])
        return 0
    match.start(lines[: first + 1], by=DEMO)
    return 0


def _is_going_on(match: Match, script: Script) -> bool:
    """True if a match that has parted from a script can be taken up by its players, and is not at its end."""
    game, hands = match.state.game, len(script.hands)
    is_over = game.table is None or (game.table.is_over and game.hand_number >= hands)
    if is_over or game.winner is not None or not _began_with(match, script):
        return False
    try:
        script_from(match.state, hands, 0)
    except Problem:
        return False
    return True


def _began_with(match: Match, script: Script) -> bool:
    """True if the first lines of a match, as they were written at first, are those of a script."""
    lines = script.record().splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("hand "))
    events = match.store.events(match.state.match or 0)
    written = [_plain(event.body["text"]) for event in events if event.kind == Kind.LINE][: 1 + TELLING_PLAYS]
    return match.lines()[:first] == lines[:first] and written == lines[first:][: len(written)]


def _plain(line: str) -> str:
    return line.removesuffix(" anyway")
