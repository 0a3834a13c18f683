"""Measure what a confidence means: the share of right proposals among those of the same confidence.

python -m tests.bench.confidence --hands 50 [--eye scene] [any option of tests.bench.hands]

The film follower proposes. A proposal is right if player, verb, face, target and zone are those of the play, and if its
verdict (legal or illegal) is right. A card that was first put into a wrong zone and reported there is counted as
*astray*, neither right nor wrong.
"""

import argparse
import math
from collections.abc import Iterator, Sequence

from bench import hands, page
from bench.following import TOLERANCE_S, follow_film
from bench.views import TruePlay

parsed = hands.parsed  # the options are those of `tests.bench.hands`
BINS = (0.99, 0.97, 0.95, 0.9, 0.8, 0.5, 0.0)
ASKING = 0.9


def judged(told: list[dict], plays: Sequence[TruePlay]) -> Iterator[tuple[dict, bool | None]]:
    """Yield each proposal and whether it was right; None: astray. Plays taken back are illegal, all others legal."""
    left = list(plays)
    for item in told:
        if "proposal" not in item:
            continue
        play = next((play for play in left if _fits(play, item)), None)
        if play is not None:
            left.remove(play)
        yield item, None if play is None and _is_astray(item, plays) else play is not None


def _fits(play: TruePlay, item: dict) -> bool:
    first_s = min((from_s for _, from_s in play.early), default=play.lies_s or 0.0)
    until_s = math.inf if play.gone_s is None else play.gone_s + TOLERANCE_S * (not play.is_legal)
    there = play.zone in (None, item["zone"]) or item["zone"] in dict(play.early)
    called = "legal" if play.is_legal else "illegal"
    is_same = (play.text, called) == (item["proposal"], item["verdict"])
    return is_same and there and first_s <= item["t_s"] < until_s


def _is_astray(item: dict, plays: Sequence[TruePlay]) -> bool:
    """Return whether a card that belongs to another zone was in this one at this time."""
    strays = ((from_s, play.lies_s) for play in plays for zone, from_s in play.early if zone == item["zone"])
    return any(from_s <= item["t_s"] < (until_s or 0.0) + TOLERANCE_S for from_s, until_s in strays)


def table(found: list[tuple[dict, bool | None]]) -> str:
    """Return the share of right proposals by confidence, as Markdown."""
    by_edge = {edge: [] for edge in BINS}
    for one in found:
        by_edge[next(edge for edge in BINS if one[0]["confidence"] >= edge)].append(one)
    rows = [_row(f"{edge:.2f}", some) for edge, some in by_edge.items() if some]
    sure = [one for edge, some in by_edge.items() if edge >= ASKING for one in some]
    return "\n".join([HEAD, *rows, _row("**0.90 and more**", sure)])


HEAD = "| confidence from | proposals | confirmed | right | astray | wrong | share |\n|---|---|---|---|---|---|---|"


def _row(name: str, some: list[tuple[dict, bool | None]]) -> str:
    made, confirmed = len(some), sum(item["confirmed"] for item, _ in some)
    right, astray, wrong = (sum(is_right is said for _, is_right in some) for said in (True, None, False))
    share = f"{right / (made - astray):.2%}" if made > astray else "–"
    return f"| {name} | {made} | {confirmed} | {right} | {astray} | {wrong} | {share} |"


def main(arguments: Sequence[str] | None = None) -> None:
    given, found = parsed(arguments), []
    figures = page.Figures("confidence", arguments) if given.write else None
    for job in hands.jobs_of(given):
        hand = job.hand()
        here = list(judged(follow_film(hand)[1], hand.plays))
        found += here
        for item, is_right in here:
            if is_right is False:
                what = f"{item['proposal']} ({item['verdict']}, in {item['zone']})"
                print(f"    {job.name}, {item['t_s']:.1f} s: {what}", flush=True)
    print(table(found))
    if figures:
        figures.write(page.READING, given.eye, table(found).splitlines(), measured(given))


def measured(given: argparse.Namespace) -> str:
    seen = "no pictures, true sightings followed" if given.eye == "scene" else "`companion/vision/eye.py`, followed"
    return f"{seen} by the film follower `companion/tracking/film.py`, not the live follower"


if __name__ == "__main__":
    main()
