"""How many plays a second are judged in each edition: `python -m tests.bench.judging [--profile]`.

Replays generated records, about one line in twenty against the rules, from their text to the verdicts. In the same
run a fixed loop of plain Python is timed, round about with the records: how many of its steps a play costs can be
compared between machines, and on one that has other things to do as well.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from players import NAMES, SIDES, legal_play, random_play

from companion.rules import referee
from companion.rules.editions.edition import Edition, edition_names, load_edition
from companion.rules.play import Play
from companion.rules.reasons import Code
from companion.rules.record import judge, notation
from companion.rules.table import Table, Team

GOAL = 50_000
"""Plays a second, over all editions."""

STRAY = 1 / 20
STEPS = 100_000
TURNED_BACK = 1 / 10
MOST_TRIES = 20


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured of an edition's records."""

    edition: str
    plays: int
    time_s: float
    """The processor's seconds of the quickest round."""

    steps: float
    """What a play costs in steps of the plain loop, the median over the rounds."""

    def __str__(self) -> str:
        return f"{self.edition:<14} {self.plays / self.time_s:9,.0f} plays/s  {self.steps:6,.0f} steps  {self.plays:7,}"


def main() -> None:
    """Prints the figures, and where the time goes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("editions", nargs="*", metavar="EDITION", help="all of them without one")
    parser.add_argument("--plays", type=int, default=3000, help="lines of play in each edition's records")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    editions = options.editions or edition_names()
    records = {name: tuple(records_of(load_edition(name), options.plays, chance)) for name in editions}
    figures = measured(records, options.rounds)
    for figure in (*figures, total(figures)):
        print(figure)
    print(f"goal           {GOAL:9,.0f} plays/s; a step is one turn of a loop of plain Python")
    if options.profile:
        profile([text for texts in records.values() for text in texts])


# Records


def records_of(edition: Edition, plays: int, chance: random.Random) -> Iterator[str]:
    """A record for each seating that the sheet allows, together at least so many lines of play."""
    for players, each in edition.seatings:
        sides = players // each
        teams = [Team(SIDES[i] if each > 1 else NAMES[i], NAMES[i:players:sides]) for i in range(sides)]
        lines = notation.header_text(teams, edition.name, None, {})
        enough = len(lines) + plays / len(edition.seatings)
        while len(lines) < enough:
            table = referee.new_hand(edition, teams, NAMES[0])
            lines += [f"hand first {NAMES[0]}", *map(str, lines_of(table, chance))]
        yield "\n".join(lines) + "\n"


def lines_of(table: Table, chance: random.Random) -> Iterator[Play]:
    """Legal plays until the hand is over, and among them some that are refused. Few races that are won go on."""
    while not table.is_over or chance.random() < TURNED_BACK:
        stray = random_play(table, chance)
        if chance.random() < STRAY and referee.objections(table, stray):
            yield stray
        play = printed_play(table, chance)
        if play is None:
            return
        yield play
        table = referee.apply(table, play)


def printed_play(table: Table, chance: random.Random) -> Play | None:
    """A legal play of a card that the deck has left: in an unverified one nobody would see any other."""
    for _ in range(MOST_TRIES):
        play = legal_play(table, chance)
        if play is None or all(why.code is not Code.TOO_MANY_COPIES for why in referee.remarks(table, play)):
            break
    return play


# Measuring


def measured(records: dict[str, tuple[str, ...]], rounds: int) -> list[Figure]:
    """Each edition's figure; a round is the loop and then an edition's records, so that both meet the same noise."""
    return [figure_of(name, texts, rounds) for name, texts in records.items()]


def figure_of(name: str, texts: Sequence[str], rounds: int) -> Figure:
    times_s, steps = [], []
    plays = sum(map(judged, texts))
    for _ in range(rounds):
        step_s = seconds(plain_loop) / STEPS
        time_s = seconds(lambda: [judged(text) for text in texts])
        times_s.append(time_s)
        steps.append(time_s / plays / step_s)
    return Figure(name, plays, min(times_s), statistics.median(steps))


def total(figures: Sequence[Figure]) -> Figure:
    """All editions together, each line counting the same."""
    plays = sum(figure.plays for figure in figures)
    steps = sum(figure.steps * figure.plays for figure in figures) / plays
    return Figure("all", plays, sum(figure.time_s for figure in figures), steps)


def seconds(call: Callable[[], object]) -> float:
    """The processor's seconds of a call."""
    start_s = time.process_time()
    call()
    return time.process_time() - start_s


def judged(text: str) -> int:
    """How many lines of play a record has, each of them judged."""
    return sum(isinstance(item, judge.JudgedLine) for item in judge.judge(notation.lines(text)))


def plain_loop() -> int:
    """Something that takes as long in every version of this project."""
    cards = {"25": 25, "50": 50, "75": 75, "100": 100}
    km = 0
    for number in range(STEPS):
        km += cards["50"] if number & 1 else len(cards)
    return km


def profile(texts: Sequence[str]) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    for text in texts:
        judged(text)
    profiler.disable()
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
