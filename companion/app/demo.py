"""The service on the simulated table; only this file loads the room `simulate/`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from companion.app.demo_players import EVEN, DemoPlayers, frames_of_players, script_from
from companion.app.mqtt import broker_of, telling
from companion.app.service import Serve, closed_at_the_end, eye_for, in_play, opened_match, until_the_end
from companion.common import parsing
from companion.common.errors import Problem
from companion.common.small_file import text_of
from companion.common.terminal import typed
from companion.common.text import say
from companion.match.history import DEMO
from companion.match.match import Match, mats_in_order
from companion.match.setup_file import Setup
from companion.match.state import Policy
from companion.pages import Camera, run_service
from companion.pages.server.address import announced, base_url
from companion.simulate.animation import Tempo
from companion.simulate.art import BARE, STICKERED, Cards
from companion.simulate.frame_source import demo_pictures
from companion.simulate.players import PAIRS, TWO_PLAYERS, random_script
from companion.simulate.script import Script, plays_that_stay, read_script, shipped_script, shipped_scripts
from companion.storage.data_folder import DEMO_NAME, data_dir
from companion.storage.events import EventKind
from companion.tracking.live import TableWatch
from companion.vision.capture.sources import Frame, paced
from companion.vision.faces.deck_in_use import faces_of
from companion.vision.quality.live_survey import Lookout

DEFAULT_SCRIPT = "two-players"
MOST_SEED = 10**18
PRINTED = "own"  # template deck of simulated cards without stickers
TELLING_PLAYS = 3  # first plays that identify a script
DEMO_OVER = say(
    "The simulation is over. Start the next hand, or restart with other hands: %(command)s",
    command=typed("demo --seed 1"),
)


# The service


LOOKS = {"stickers": STICKERED, "faces": BARE}  # drawing style by how cards are recognized


def demo(
    script: Script,
    policy: str,
    *,
    host: str,
    port: int,
    data: Path | None,
    speed: float = 1.0,
    cards: str = "stickers",
    mqtt: str | None = None,
    address: str | None = None,
) -> None:
    """Run the service on the simulated table until it is stopped.

    `policy` is a `Policy` value, `cards` a key of LOOKS; the log is in a subfolder of `data`. `mqtt` and `address`: see
    `up`.
    """
    given, broker = announced(address) if address is not None else "", broker_of(mqtt) if mqtt is not None else None
    store, match = opened_match(data_dir(data_dir(data) / DEMO_NAME))
    with closed_at_the_end(store), telling(match, broker, lambda: given or base_url(host, port)):
        serve = partial(run_service, match, host, port, announced=given)
        simulate(match, script, Policy(policy), serve, speed=speed, cards=LOOKS[cards], data=data)


def demo_script(edition: str, players: int, hands: int, seed: int) -> Script:
    """Return a script for 2 or 4 players, otherwise raise Problem.

    Hands are random, except that classic seed 0 begins with the shipped short hand.
    """
    seats = {2: ("two-players", TWO_PLAYERS), 4: ("pairs", PAIRS)}.get(players)
    if seats is None:
        raise Problem(say("The simulated table is for 2 or 4 players."))
    shipped, teams = seats
    by_chance = random_script(edition, teams=teams, hands=hands, seed=seed)
    if seed or edition != "classic":
        return by_chance
    first = script_for(shipped)
    return replace(first, hands=(*first.hands, *by_chance.hands[1:]))


def simulate(
    match: Match,
    script: Script,
    policy: Policy,
    serve: Serve,
    *,
    speed: float = 1.0,
    cards: Cards = STICKERED,
    data: Path | None = None,
) -> None:
    """Serve a match at the simulated table, continuing from its state."""
    done = start_or_go_on(match, script)
    if match.state.is_demo:
        match.set_policy(policy, DEMO)
    deck = PRINTED if cards == BARE else None
    faces = faces_of(deck, data)
    lookout = Lookout(eye_for(setup_of(script), faces), lambda: in_play(match.state))
    # In people's match, simulated cards belong to no side.
    watch = TableWatch(match, lookout, lambda now: mats_in_order(now) if now.is_demo else {}, lookout.begin_afresh)

    def lay_anew(now_played: Script) -> None:
        """Reset the watch, with an eye for the new script's deck."""
        lookout.look_with(eye_for(setup_of(now_played), faces))
        watch.begin_anew()

    players = DemoPlayers(
        match,
        script,
        plays_done=done,
        tempo=Tempo(speed=speed),
        cut=lay_anew,
        is_stopped=watch.stopping.is_set,
        at_the_end=DEMO_OVER,
    )
    thread = watch.start(paced(frames_of_players(players, cards=cards)), at_the_end=DEMO_OVER)
    with until_the_end(match, watch, thread) as looks_after:
        camera = Camera(watch.picture, watch.image, lookout.survey, watch.robot_hand, deck=deck, is_simulated=True)
        serve(camera, looks_after=looks_after)


# What is played


def script_for(what: str, setup: Setup | None = None) -> Script:
    """Return the script of `demo:WHAT`. Raises Problem if there is none.

    WHAT: seed of a random hand, name of a shipped hand, or record file. Empty: the shipped short hand, or a random one
    for a setup's players.
    """
    seed = parsing.whole(what, 0, MOST_SEED)
    if seed is not None or (not what and setup is not None):
        return _random(seed or 0, setup)
    if not what or what in shipped_scripts():
        return shipped_script(what or DEFAULT_SCRIPT)
    try:
        return read_script(text_of(Path(what).read_bytes()))
    except (OSError, UnicodeDecodeError) as error:
        names = ", ".join(shipped_scripts())
        raise Problem(
            "demo:%(name)s is not a record file, a number or one of %(known)s.", name=what, known=names
        ) from error


def _random(seed: int, setup: Setup | None) -> Script:
    if setup is None:
        return random_script(seed=seed)
    return random_script(
        setup.edition_name, teams=setup.teams, seed=seed, options=setup.options, target=setup.target, first=setup.first
    )


def setup_of(script: Script) -> Setup:
    """Return the setup of a script's table."""
    sides = {f"side-{number}": team for number, team in enumerate(script.teams, start=1)}
    return Setup(script.edition_name, sides, script.hands[0].first, script.target, script.options)


def filmed(what: str, setup: Setup | None, *, has_stickers: bool) -> tuple[Setup, Iterator[Frame]]:
    """Return the setup (given or the script's) and frames of `demo:WHAT`."""
    script = script_for(what, setup)
    drawn = demo_pictures(script, cards=STICKERED if has_stickers else BARE)
    return setup or setup_of(script), (Frame(image, number / EVEN.fps) for number, image in enumerate(drawn))


def start_or_go_on(match: Match, script: Script) -> int:
    """Start the script's match unless it is being played; return how many of its plays are done.

    A match that has left the script continues, with 0. So does people's own, while the pages offer the demo.
    """
    lines = script.record().splitlines()
    played = match.lines()
    same = [_plain(line) for line in played] == lines[: len(played)]
    if played and same:
        stay = {str(play) for hand in script.hands for play in plays_that_stay(hand)}
        return sum(_plain(line) in stay for line in played)
    if played and _is_going_on(match, script):
        return 0
    begins = lines[: len(script.header) + 1]
    if match.state.is_under_way and not match.state.is_demo:
        match.offer(begins)
    else:
        match.start(begins, by=DEMO)
    return 0


def _is_going_on(match: Match, script: Script) -> bool:
    """True if the players can continue the script's unfinished match although it differs by now."""
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
    """True if a match began with the script's header and first plays, even if undone since."""
    lines, first = script.record().splitlines(), len(script.header)
    events = match.store.events(match.state.match or 0)
    written = [_plain(event.body["text"]) for event in events if event.kind == EventKind.LINE][: 1 + TELLING_PLAYS]
    return match.lines()[:first] == lines[:first] and written == lines[first:][: len(written)]


def _plain(line: str) -> str:
    return line.removesuffix(" anyway")
