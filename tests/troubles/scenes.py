"""Play a script's hands with mishaps and changing light."""

from collections.abc import Iterator
from dataclasses import replace

from companion.simulate import animation, arrange
from companion.simulate.animation import Tempo
from companion.simulate.frame_source import SETTLING_S
from companion.simulate.scene import Scene
from companion.simulate.script import Script
from troubles import acting
from troubles.acting import TroubledMovement
from troubles.clumsy import ClumsyChoreographer
from troubles.company import Company
from troubles.mishaps import Mishaps
from troubles.rough_studio import RoughScene
from troubles.weather import Weather


def troubled_scenes(
    script: Script, seed: int, tempo: Tempo, mishaps: Mishaps, room_px: float = 12.0
) -> Iterator[Scene]:
    """Yield the script's hands with mishaps, one scene per frame.

    The camera is pushed by at most `room_px` (see `RoughStudio.room_px`).
    """
    plan = arrange.plan(len(script.teams), len(script.players))
    company, weather = Company(plan, mishaps, tempo, seed), Weather(mishaps, tempo, seed, room_px)
    settling = round(SETTLING_S * tempo.fps)
    movement: TroubledMovement | None = None
    for movement in ClumsyChoreographer(script, plan, seed, mishaps).movements():
        yield from [RoughScene(movement.before)] * settling
        settling, waited = 0, 0
        while company.waits(movement, waited):
            waited += 1
            yield weather.over(company.around(Scene(movement.before, mats=movement.mats)))
        company.join(movement)
        if movement.is_play:
            weather.stir()
        for scene in acting.scenes(movement, plan, tempo):
            yield weather.over(company.around(scene))
    after, mats = (movement.last.after, movement.mats_after) if movement else ((), ())
    for scene in animation.resting(after, round(SETTLING_S * tempo.fps)):
        yield weather.over(company.around(replace(scene, mats=mats)))
