from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, dropwhile

from companion.simulate import animation, arrange
from companion.simulate.animation import Tempo
from companion.simulate.art import STICKERED, Cards
from companion.simulate.camera_model import Image, Size, typical_look
from companion.simulate.choreography import Choreographer
from companion.simulate.scene import Scene
from companion.simulate.script import Script, plays_that_stay
from companion.simulate.studio import Studio

SETTLING_S = 2.5  # without movement at both ends


def demo_pictures(
    script: Script, *, seed: int = 0, speed: float = 1.0, size: Size = (1920, 1080), cards: Cards = STICKERED
) -> Iterator[Image]:
    """Yield a script as camera pictures `(H, W, 3) uint8 BGR`, `Tempo.fps` per second.

    Equal arguments give equal pictures; (W, H) = `size`.
    """
    studio = table_studio(script, seed=seed, size=size, cards=cards)
    return filmed(studio, followed_scenes(script, seed, Tempo(speed=speed)), seed)


def filmed(studio: Studio, scenes: Iterable[Scene], seed: int) -> Iterator[Image]:
    """Yield scenes as camera pictures with seeded noise."""
    chance = random.Random(f"noise {seed}")  # noqa: S311
    return (studio.picture(scene, chance) for scene in scenes)


def table_studio(script: Script, *, seed: int = 0, size: Size = (1920, 1080), cards: Cards = STICKERED) -> Studio:
    """Return the camera over a script's table."""
    plan = arrange.plan(len(script.teams), len(script.players))
    return Studio(plan, typical_look(seed), size, cards, seed)


def followed_scenes(
    script: Script,
    seed: int,
    tempo: Tempo,
    may_begin: Callable[[int], bool] = lambda _number: True,
    plays_done: int = 0,
    settling_s: float = SETTLING_S,
) -> Iterator[Scene]:
    """Yield a script as scenes, one per frame, after its first `plays_done` plays.

    Players wait until `may_begin` is true for the next play's number, from 1 without those taken back. It is also
    called for the number after the last.
    """
    plan = arrange.plan(len(script.teams), len(script.players))
    players = Choreographer(script, plan, seed)
    to_come = dropwhile(lambda movement: movement.play_number <= plays_done, players.movements())
    first = next(to_come, None)
    yield from animation.resting(first.before if first else players.lying(), round(settling_s * tempo.fps))
    begun = plays_done
    for movement in chain([first] if first else [], to_come):
        if movement.play_number > begun:
            begun = movement.play_number
            while not may_begin(begun):
                yield Scene(movement.before)
        yield from animation.scenes(movement, plan, tempo)
    plays = sum(1 for hand in script.hands for _ in plays_that_stay(hand))
    while not may_begin(plays + 1):
        yield Scene(players.lying())
    yield from animation.resting(players.lying(), round(SETTLING_S * tempo.fps))
