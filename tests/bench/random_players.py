"""Players by chance for as long as one likes: `python -m tests.bench.random_players --steps 1000000`.

Plays hands in every edition with house rules by chance, one line in three against the rules, and checks after every
line what must always hold. Prints how many plays were judged in each edition, and how often each reason spoke.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from players import all_cards, legal_play, random_play, random_table

from companion.rules import referee
from companion.rules.cards import SAFETY_OF
from companion.rules.editions.edition import edition_names
from companion.rules.play import Play
from companion.rules.reasons import Code, say
from companion.rules.record import notation
from companion.rules.scoring import score
from companion.rules.table import Table, Team
from companion.rules.validity import problems

MOST_LINES = 900
PROBLEMS_EVERY = 25
"""Looking at a whole table takes as long as judging twenty lines."""


def main() -> None:
    """Plays, checks, and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000, help="how many lines are judged")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    steps, spoken, ends = run(options.steps, options.seed)
    for edition in edition_names():
        ended = ", ".join(f"{how} {count}" for (name, how), count in sorted(ends.items()) if name == edition)
        print(f"{edition:15} {steps[edition]:9,} lines  hands: {ended}")
    print(f"{'all':15} {steps.total():9,} lines, no exception, every invariant held")
    for code in Code:
        print(f"  {code:28} {spoken[code]:9,}")


def run(most: int, seed: int) -> tuple[Counter[str], Counter[Code], Counter[tuple[str, str]]]:
    """The lines judged by edition, the reasons given, and how hands ended by edition."""
    steps: Counter[str] = Counter()
    spoken: Counter[Code] = Counter()
    ends: Counter[tuple[str, str]] = Counter()
    chance, start_s = random.Random(seed), time.monotonic()
    while steps.total() < most:
        edition = edition_names()[sum(ends.values()) % len(edition_names())]
        table = random_table(chance, edition)
        for play, before in lines_of(table, chance):
            steps[edition] += 1
            spoken.update(why.code for why in referee.objections(before, play))
            spoken.update(why.code for why in referee.remarks(before, play))
            table = before
        ends[edition, table.ending.how if table.ending else "open"] += 1
    print(f"{steps.total() / (time.monotonic() - start_s):,.0f} lines a second, checks and players included")
    return steps, spoken, ends


def lines_of(table: Table, chance: random.Random) -> Iterator[tuple[Play, Table]]:
    """Each line of a hand and the table before it; illegal lines are judged and not applied."""
    cards, teams = all_cards(table), [Team(side.name, side.players) for side in table.sides]
    for number in range(MOST_LINES):
        stray = random_play(table, chance)
        yield stray, table
        check_line(table, stray, teams)
        play = legal_play(table, chance)
        if play is None:
            return
        yield play, table
        check_line(table, play, teams)
        table = referee.apply(table, play)
        check_table(table, cards, thorough=number % PROBLEMS_EVERY == 0)


def check_line(table: Table, play: Play, teams: list[Team]) -> None:
    """A line reads back from its notation, every reason has its sentence, and the cards may lie as they lie."""
    assert notation.parse_play(str(play), teams) == play, play
    for why in (*referee.objections(table, play), *referee.remarks(table, play)):
        assert all(say(why, language) for language in ("en", "fr", "pl"))
    lies = referee.apply(table, play)
    assert min(*lies.hands, lies.draw_pile, lies.unaccounted) >= 0, play


def check_table(table: Table, cards: int, *, thorough: bool) -> None:
    """No card is lost, no rule is broken on the table, and every sheet adds up."""
    assert all_cards(table) == cards
    assert min(*table.hands, table.draw_pile, table.unaccounted) >= 0
    for side, sheet in zip(table.sides, score(table), strict=True):
        assert side.hazard is None or SAFETY_OF[side.hazard] not in side.safeties
        assert table.edition.overshoot == "allowed" or table.race_km(side) <= table.target
        assert sheet.total == sum(points for _, points in sheet.lines)
    assert not thorough or problems(table) == (), problems(table)


if __name__ == "__main__":
    main()
