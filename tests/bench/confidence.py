"""Measure what a confidence means: the share of right proposals among those of the same confidence.

python -m tests.bench.confidence --hands 50 --seed 1 [--eye scene] [any option of tests.bench.hands]

A proposal is right if player, verb, face, target and zone are those of the play, and if its verdict (legal or illegal)
is right. A card that was first put into a wrong zone and reported there is counted as *astray*, neither right nor
wrong.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence

from bench import hands, page

parsed = hands.parsed  # the options are those of `tests.bench.hands`
BINS = (0.99, 0.97, 0.95, 0.9, 0.8, 0.5, 0.0)
ASKING = 0.9


def judged(told: list[tuple[int, dict]], plays: list[hands.Truth]) -> Iterator[tuple[dict, bool | None]]:
    """Yield each proposal and whether it was right; None: astray. Plays taken back are illegal, all others legal."""
    left = list(plays)
    for frame, item in told:
        if "proposal" not in item:
            continue
        fits = (truth for truth in left if _fits(truth, item, frame))
        truth = next(fits, None)
        if truth is not None:
            left.remove(truth)
        yield item, None if truth is None and hands.is_astray(item["zone"], frame, plays) else truth is not None


def _fits(truth: hands.Truth, item: dict, frame: int) -> bool:
    slack = hands.TOLERANCE_FRAMES if truth.taken_back else 0
    there = not truth.stays or any(stay.zone == item["zone"] for stay in truth.stays)
    called = "illegal" if truth.taken_back else "legal"
    return truth.text == item["proposal"] and there and item["verdict"] == called and truth.is_at(frame, slack)


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
    for case, number, eye in hands.cases(given):
        watch = hands.Watch(case, eye, None)
        told = watch.told()
        here = list(judged(told, hands.truths(watch.script, watch.diary.stays)))
        found += here
        for item, is_right in here:
            if is_right is False:
                print(
                    f"    hand {number}, {item['t_s']:.1f} s: {item['proposal']} ({item['verdict']}, in {item['zone']})"
                )
        sys.stdout.flush()
    print(table(found))
    if figures:
        figures.write(page.READING, given.eye, table(found).splitlines(), measured(given))


def measured(given: argparse.Namespace) -> str:
    seen = "no pictures, true sightings followed" if given.eye == "scene" else "`companion/vision/eye.py`, followed"
    return f"{seen} by the film follower `companion/tracking/offline.py`, not the live follower"


if __name__ == "__main__":
    main()
