"""How many plays a second are judged, replaying generated records: `python tests/bench/judging.py [--profile]`."""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import time
from collections.abc import Iterable, Sequence

from companion.rules import judge, notation, referee
from companion.rules.edition import load_edition
from companion.rules.play import Play, Verb
from companion.rules.table import Table, Team

GOAL = 50_000
SEATINGS: tuple[tuple[Team, ...], ...] = (
    (Team("Ann", ("Ann",)), Team("Bob", ("Bob",))),
    (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)), Team("Cid", ("Cid",))),
    (Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob", "Dee"))),
    (Team("Reds", ("Ann", "Dee")), Team("Blues", ("Bob", "Eve")), Team("Greens", ("Cid", "Fay"))),
)


def main() -> None:
    """Prints the figure for each number of players, and where the time goes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=60, help="hands in each record")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    options = parser.parse_args()
    texts = [record_of(teams, options.hands, random.Random(options.seed)) for teams in SEATINGS]
    for teams, text in zip(SEATINGS, texts, strict=True):
        plays, time_s = best_of(text)
        players = sum(len(team.players) for team in teams)
        print(f"{players} players: {plays / time_s:9,.0f} plays/s  ({plays:,} plays in {time_s:.3f} s)")
    measured = [best_of(text) for text in texts]
    figure = sum(plays for plays, _ in measured) / sum(time_s for _, time_s in measured)
    print(f"all:       {figure:9,.0f} plays/s  (goal {GOAL:,})")
    if options.profile:
        profile(texts)


def record_of(teams: Sequence[Team], hands: int, chance: random.Random) -> str:
    """A record of hands played by chance, about one line in twenty illegal or out of turn."""
    lines = notation.header_text(teams, "classic", None, {})
    for _ in range(hands):
        table = referee.new_hand(load_edition("classic"), teams, teams[0].players[0])
        lines += [f"hand first {teams[0].players[0]}", *map(str, plays_of(table, chance))]
    return "\n".join(lines) + "\n"


def plays_of(table: Table, chance: random.Random) -> Iterable[Play]:
    while not table.is_over:
        play = chosen(table, chance)
        yield play
        if not referee.objections(table, play):
            table = referee.apply(table, play)


def chosen(table: Table, chance: random.Random) -> Play:
    """A play that carries on where there is one; now and then any card at all."""
    if table.extension_offered_to is not None:
        player = table.sides[table.extension_offered_to].players[0]
        return Play(chance.choice((Verb.EXTEND, Verb.FINISH)), player)
    player = chance.choice(table.seats).player if chance.random() < 0.02 else table.player_to_move
    cards = [card for card in table.deck if table.copies_left(card) > 0]
    if chance.random() < 0.05 or player != table.player_to_move:
        return Play(Verb.PLAY, player, chance.choice(cards))
    laid = [play for play in referee.legal_plays(table, player) if play.verb is Verb.PLAY]
    if laid and chance.random() < 0.6:
        return chance.choice(laid)
    return Play(Verb.DISCARD, player, chance.choice(cards))


def best_of(text: str, rounds: int = 5) -> tuple[int, float]:
    """The lines of play in a record, and the processor's seconds of the quickest round from text to verdicts."""
    times_s = []
    for _ in range(rounds):
        start_s = time.process_time()
        plays = sum(isinstance(item, judge.JudgedLine) for item in judge.judge(notation.lines(text)))
        times_s.append(time.process_time() - start_s)
    return plays, min(times_s)


def profile(texts: Sequence[str]) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    for text in texts:
        for _ in judge.judge(notation.lines(text)):
            pass
    profiler.disable()
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(20)


if __name__ == "__main__":
    main()
