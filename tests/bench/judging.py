"""How many plays a second are judged in each edition: `python -m tests.bench.judging [--plays N] [--rounds N]`.

Replays generated records, about one line in twenty against the rules, from their text to the verdicts. In the same
run a fixed loop of plain Python is timed, round about with the records: how many of its steps a play costs can be
compared between machines, and on one that has other things to do as well.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=3000, help="lines of play in each edition's records")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    chance, all_plays, all_s = random.Random(1), 0, 0.0
    for name in edition_names():
        texts = list(records_of(load_edition(name), options.plays, chance))
        plays = sum(map(judged, texts))
        # A round is the loop and then the records, so that both meet the same noise.
        rounds = [(seconds(plain_loop), seconds(lambda t=texts: [*map(judged, t)])) for _ in range(options.rounds)]
        least_s = min(time_s for _, time_s in rounds)
        steps = statistics.median(time_s / plays / (loop_s / STEPS) for loop_s, time_s in rounds)
        print(f"{name:<14} {plays / least_s:9,.0f} plays/s  {steps:6,.0f} steps  {plays:7,}")
        all_plays, all_s = all_plays + plays, all_s + least_s
    print(
        f"{'all':<14} {all_plays / all_s:9,.0f} plays/s; the goal is {GOAL:,}; a step is a turn of plain Python's loop"
    )


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


if __name__ == "__main__":
    main()
