"""How many plays a second are judged in each edition: `python -m tests.bench.judging [--plays N] [--rounds N]`.

Replays made-up records of legal plays, from their text to the verdicts. In the same run a fixed loop of plain Python is
timed, round about with the records: how many of its steps a play costs can be compared between machines, and on one
that has other things to do as well.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from players import legal_hand, random_table

from companion.rules.editions.edition import edition_names
from companion.rules.record import judge, notation

GOAL = 50_000
"""Plays a second, over all editions."""

STEPS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=3000, help="lines of play in each edition's records")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    chance, all_plays, all_s = random.Random(1), 0, 0.0
    for name in edition_names():
        texts, plays = [], 0
        while plays < options.plays:
            texts.append(record_of(name, chance))
            plays += judged(texts[-1])
        # A round is the loop and then the records, so that both meet the same noise.
        rounds = [(seconds(plain_loop), seconds(lambda t=texts: [*map(judged, t)])) for _ in range(options.rounds)]
        least_s = min(time_s for _, time_s in rounds)
        steps = statistics.median(time_s / plays / (loop_s / STEPS) for loop_s, time_s in rounds)
        print(f"{name:<14} {plays / least_s:9,.0f} plays/s  {steps:6,.0f} steps  {plays:7,}")
        all_plays, all_s = all_plays + plays, all_s + least_s
    print(f"all: {all_plays / all_s:,.0f} plays/s; the goal is {GOAL:,}; a step is a turn of plain Python's loop")


def record_of(edition: str, chance: random.Random) -> str:
    """A hand in any seating by the sheet."""
    table = random_table(chance, edition, most_options=0)
    plays = [str(play) for play, _ in legal_hand(table, chance)]
    header = notation.header_text(table.sides, edition, table.target, {})
    return "\n".join([*header, f"hand first {table.player_to_move}", *plays])


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
