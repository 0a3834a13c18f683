"""Whole hands made on the fly, by name: `simulated-1-0007`, or `simulated-reserved-1-0007` with reserved habits.

Even hands have stickers, odd ones are read by their faces. The tables take turns. The same name gives the same hand.
"""

import random
import re
from collections.abc import Mapping

import films
from bench.views import FilmedHand

from companion.rules.table import Team
from companion.simulate.players import PAIRS, random_script
from companion.simulate.script import Script
from companion.vision.view import FACE, STICKER
from habits.acted_hand import Acting, Habits
from habits.noisy_eye import Noise, NoisyEye
from habits.ranges import HABITS, NOISE, Range

NAME = "simulated"
ALONE = tuple(Team(name, (name,)) for name in ("Ann", "Bob", "Cid", "Dee"))
TABLES: tuple[tuple[str, tuple[Team, ...]], ...] = (
    ("classic", ALONE[:2]), ("dujardin-2014", ALONE), ("parker", ALONE[:2]), ("asmodee-2014", ALONE[:2]),
    ("classic", ALONE[:3]), ("bsd-mille", ALONE[:2]), ("dujardin-2014", ALONE[:2]), ("classic", PAIRS),
    ("asmodee-2014", ALONE[:3]), ("parker", ALONE[:3]), ("dujardin-2014", ALONE[:3]), ("asmodee-2014", ALONE),
)  # fmt: skip
"""Each comes twice in 24 hands. Rush is missing: `random_script` cannot play its special cards."""


def names(seed: int, hands: int, *, is_reserved: bool = False) -> list[str]:
    half = "reserved-" if is_reserved else ""
    return [f"{NAME}-{half}{seed}-{number:04d}" for number in range(hands)]


def made(name: str) -> FilmedHand:
    """Return the hand of a name. Exit if no hand has such a name."""
    found = re.fullmatch(rf"{NAME}-(reserved-)?(\d+)-(\d+)", name)
    if found is None:
        raise SystemExit(f"{name} is no simulated hand: name it as in `{NAME}-1-0007`.")
    luck, number = random.Random(name), int(found[3])
    habits = Habits(**drawn(HABITS, luck, is_reserved=bool(found[1])))
    noise = Noise(**drawn(NOISE, luck, is_reserved=bool(found[1])))
    return hand_of(script_of(number // 2 % len(TABLES), name), habits, noise, FACE if number % 2 else STICKER, name)


def drawn(ranges: Mapping[str, Range], luck: random.Random, *, is_reserved: bool) -> dict[str, float]:
    """Return a value for each field, from one half of its range."""
    halves = {field: (middle, high) if is_reserved else (low, middle) for field, (low, middle, high) in ranges.items()}
    return {field: luck.uniform(*half) for field, half in halves.items()}


def script_of(table: int, seed: str) -> Script:
    edition, teams = TABLES[table]
    return random_script(edition, teams=teams, seed=random.Random(f"script {seed}").randrange(10**9))


def hand_of(script: Script, habits: Habits, noise: Noise, by: str, name: str) -> FilmedHand:
    """Return a hand that people with these habits play, as this eye sees it."""
    acted = Acting(script, habits, name).acted()
    # The bench groups hands by `light`.
    made_of = {"light": "by faces" if by == FACE else "with stickers", "deck": None}
    views = tuple(NoisyEye(acted, noise, by, name).looks())
    return FilmedHand(name, films.setup_of(script), acted.plays, films.sheets(script), made_of, views)
