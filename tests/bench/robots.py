"""Let robots play against each other: `python -m tests.bench.robots 2 1 --matches 100`.

Two players play matches. Each deal is played twice, with the seats changed. A player is a level, `greedy`, or the
command of a program that answers questions as `companion robot` does; it is started for each match. Prints the share of
matches won by the first player and their lead in points a hand, with 95 % intervals. With `--out FILE` a run can be
stopped and continued: results are added to the file, and all results with the same settings are counted. `--matches 0`
only counts.

Luck decides most matches. A third figure leaves it out. Wherever the first player does something else than level 2,
level 2 plays out both plays, with the real hands and the same shuffled piles. The gains are summed over a match. The
sum says how much more the first player wins than level 2 would in the same seat.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import shlex
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from copy import copy
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np
from robot_games import TWO, Player, Step, play_match

from bench import page
from bench.eye import heading, line_of
from companion.robots import search
from companion.robots.information_set import Position, options
from companion.robots.lanes import Lanes, deck_of, joined
from companion.robots.robot import Level, choose
from companion.robots.search import Effort
from companion.robots.worlds import Ends, play_out
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import edition_names
from companion.rules.play import Play, Verb

CERTAIN = 1.96
MIXES = 100
"""Number of orders of the draw pile in which two plays are compared."""

AT_ONCE = 16
"""Number of deals played at the same time."""

NAMES = ("greedy", *(str(level.value) for level in Level))


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("one", help=f"{', '.join(NAMES)}, or a command")
    parser.add_argument("other", help=f"{', '.join(NAMES)}, or a command")
    parser.add_argument("--matches", type=int, default=100, help="how many, half of them with the seats changed")
    parser.add_argument("--edition", default="bsd-mille", choices=edition_names())
    parser.add_argument("--playouts", type=int, default=Effort().playouts, help="of level 3, a move")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a file of results, of any seed, to go on from and to add to")
    parser.add_argument("--write", action="store_true", help="write the table into docs/")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Play, and print who wins."""
    asked = parsed(arguments)
    figures = page.Figures("robots", arguments) if asked.write else None
    known = read(asked)
    begun, had = time.process_time(), {result.deal for result in known}
    deals = (f"{asked.seed} {number}" for number in itertools.count())
    new = itertools.islice((deal for deal in deals if deal not in had), asked.matches // 2)
    for result in played(asked, new):
        known.append(result)
        if asked.out:
            with asked.out.open("a") as file:
                file.write(json.dumps(result._asdict()) + "\n")
    took_s = time.process_time() - begun
    print(f"{asked.one} against {asked.other}, {asked.edition}, {2 * len(known)} matches; {took_s:.0f} s of one core")
    if known:
        won, ahead = (interval(getattr(result, name) for result in known) for name in ("won_percent", "ahead"))
        print(f"matches won: {won} %    points more a hand: {ahead}")
        gained = interval(result.worth_percent - 50 for result in known)
        print(f"matches won more than by level 2, by what his plays are worth: {gained} %")
        if figures:
            name = f"{asked.one} {asked.other} {asked.edition}"
            lines = heading("players", "matches", "won by the first", "luck left out", "points a hand ahead")
            pair = f"{asked.one} against {asked.other}, `{asked.edition}`"
            worth = f"{interval(result.worth_percent for result in known)} %" if asked.other == "2" else ""
            lines.append(line_of(pair, 2 * len(known), f"{won} %", worth, ahead))
            figures.write(page.ROBOTS, name, lines, "`companion/robots/`, without a table or a camera")


class Result(NamedTuple):
    """Means of both matches of one deal."""

    settings: str
    deal: str  # the seed, and its number
    won_percent: float
    ahead: float  # points a hand
    worth_percent: float  # share of matches won against level 2, luck left out


def settings(asked: argparse.Namespace) -> str:
    """Return what results must share to be counted together."""
    return f"{asked.one} {asked.other} {asked.edition} {asked.playouts}"


def read(asked: argparse.Namespace) -> list[Result]:
    """Return the results of these settings so far."""
    lines = asked.out.read_text().splitlines() if asked.out and asked.out.exists() else []
    results = (Result(**json.loads(line)) for line in lines)
    return [result for result in results if result.settings == settings(asked)]


def played(asked: argparse.Namespace, deals: Iterable[str]) -> Iterator[Result]:
    """Yield the result of each deal. Several run at once: their searches share batches, which is faster."""
    batch = Batch()
    search.play_out = batch.play_out

    def play(deal: str) -> Result:
        with batch:
            matches = [play_once(asked, deal, seat) for seat in (0, 1)]
        won, gained = (mean(match[at] for match in matches) for at in (0, 2))
        ahead = mean(lead for _, leads, _ in matches for lead in leads)
        return Result(settings(asked), deal, 100 * won, ahead, 50 + 100 * gained)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for deal in as_completed(pool.submit(play, deal) for deal in deals):
            yield deal.result()


class Batch:
    """Searches of several games that wait for each other and are played out together."""

    def __init__(self) -> None:
        self.players, self._changed = 0, threading.Condition()
        self._asked: list[tuple[Lanes, list[Ends]]] = []

    def play_out(self, lanes: Lanes, rng: np.random.Generator) -> Ends:
        ends: list[Ends] = []
        with self._changed:
            self._asked.append((lanes, ends))
            self._play_when_all_wait(rng)
            self._changed.wait_for(lambda: ends)
        return ends[0]

    def __enter__(self) -> None:
        with self._changed:
            self.players += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self.players -= 1
            self._play_when_all_wait(np.random.default_rng(1))

    def _play_when_all_wait(self, rng: np.random.Generator) -> None:
        if not self._asked or len(self._asked) < self.players:
            return
        together = play_out(joined([lanes for lanes, _ in self._asked]), rng)
        at = 0
        for lanes, ends in self._asked:
            ends.append(part(together, slice(at, at + len(lanes))))
            at += len(lanes)
        self._asked = []
        self._changed.notify_all()


def part(ends: Ends, lanes: slice) -> Ends:
    """Return the ends of some lanes."""
    some = copy(ends)
    for name in ("totals", "points", "by", "km"):
        setattr(some, name, getattr(ends, name)[lanes])
    return some


def play_once(asked: argparse.Namespace, seed: str, seat: int) -> tuple[float, list[int], float]:
    """Return the first player's share of the match, lead in each hand, and gain by plays other than level 2's."""
    record = Record(asked.edition)
    one, other, good = (player(name, seed, asked.playouts, record) for name in (asked.one, asked.other, "2"))
    names = ("Ann", "Bob") if seat == 0 else ("Bob", "Ann")
    rng, gains = np.random.default_rng([asked.seed, seat]), []

    def watch(step: Step) -> None:
        record.add(step)
        if step.position.player == names[0]:
            instead = good(step.position)
            if instead != step.play:
                gains.append(gain(step, instead, rng))

    winner, hands = play_match(asked.edition, seed, dict(zip(names, (one, other), strict=True)), watch)
    for program in (one, other):
        if isinstance(program, Program):
            program.close()
    share = 0.5 if winner is None else float(winner == names[0])
    return share, [hand[seat] - hand[1 - seat] for hand in hands], sum(gains)


def gain(step: Step, instead: Play | None, rng: np.random.Generator) -> float:
    """Return the gain in the chance to win the match over another play, with the real hands."""
    position, deal = step.position, step.hand.deal
    deck = deck_of(tuple(deal.table.deck))
    hands = np.tile(np.array([deck.counts(hand) for hand in deal.hands]), (MIXES, 1, 1))
    piles = rng.permuted(np.tile(np.array([deck.number[card] for card in deal.pile], np.int8), (MIXES, 1)), axis=1)
    both = [search.Candidate(position, play) for play in (step.play, instead)]
    lanes = joined([search.lanes_after(position, candidate, hands, piles, rng) for candidate in both])
    played, other = np.split(search.play_out(lanes, rng).shares(position.own), 2)
    return float((played - other).mean())


def interval(values: Iterable[float]) -> str:
    """Return a mean with its 95 % interval."""
    listed = list(values)
    error = CERTAIN * stdev(listed) / math.sqrt(len(listed)) if len(listed) > 1 else math.inf
    return f"{mean(listed):.1f} ± {error:.1f}"


class Record:
    """The lines of a match as they are played."""

    def __init__(self, edition: str) -> None:
        self._lines = [f"edition {edition}", *(f"side {side.name}" for side in TWO)]

    def add(self, step: Step) -> None:
        if not step.position.past and "hand first" not in self._lines[-1]:
            self._lines.append(_hand_first(step.position))
        if step.play is not None:
            self._lines.append(str(step.play))

    def text(self, position: Position) -> str:
        begins = [_hand_first(position)] if not position.past and "hand first" not in self._lines[-1] else []
        return "\n".join([*self._lines, *begins])


def _hand_first(position: Position) -> str:
    return f"hand first {position.table.player_to_move}"


class Program:
    """A player that is another program: one line of input a question, one line of output an answer."""

    def __init__(self, command: str, record: Record) -> None:
        self._record = record
        self._process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, position: Position) -> Play | None:
        question = {"record": self._record.text(position), "player": position.player, "hand": position.hand}
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        except (OSError, ValueError) as error:
            raise SystemExit(f"`{self._process.args}` gives no line of JSON: {error}") from error
        plays = {str(play): play for play in options(position).plays}
        if "error" in answer or answer["play"] not in (None, *plays):
            raise SystemExit(f"To {question} the program answers {answer}; it could play {', '.join(plays)}.")
        return plays.get(answer["play"])

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def player(name: str, seed: str, playouts: int, record: Record) -> Player:
    """Return a player by name or command."""
    if name == "greedy":
        return greedy
    if name not in NAMES:
        return Program(name, record)
    chance = random.Random(f"player {seed}")
    return lambda position: choose(position, Level(int(name)), chance, Effort(playouts)).play


def greedy(position: Position) -> Play | None:
    """Play the longest distance, else a remedy, hazard or safety; else discard the card of fewest km."""
    order = (Family.SPECIAL, Family.SAFETY, Family.HAZARD, Family.REMEDY, Family.DISTANCE)

    def liking(play: Play) -> tuple[int, int]:
        card = play.card or Card.UNKNOWN
        if play.verb is Verb.PLAY:
            return 2 + play.at_once, order.index(card.family) * 1000 + card.km
        return play.verb is not Verb.DISCARD, -card.km

    asked = options(position)
    return max(asked.plays, key=liking, default=None)


if __name__ == "__main__":
    main()
