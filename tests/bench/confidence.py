"""What a confidence means: of the proposals with so much of it, how many were right.

python -m tests.bench.confidence --hands 50 --seed 1 [--eye scene] [any option of tests.bench.hands]

Right is a proposal whose player, verb, face and target are what was played, in the zone where it lay, and that was
called legal when it was and illegal when it was not. A card that was first laid in a wrong zone and told as what it
means there is counted as *astray*, neither right nor wrong: it lay there.
"""

import sys
from collections import Counter
from collections.abc import Iterator

from tests.bench import hands

BINS = (0.99, 0.97, 0.95, 0.9, 0.8, 0.5, 0.0)
ASKING = 0.9


def judged(told: list[tuple[int, dict]], plays: list[hands.Truth]) -> Iterator[tuple[dict, bool | None]]:
    """Every proposal and whether it was right, None: astray. A play taken back is illegal, every other is legal."""
    left = list(plays)
    for frame, item in told:
        if "proposal" not in item:
            continue
        fits = (truth for truth in left if _fits(truth, item, frame))
        truth = next(fits, None)
        if truth is not None:
            left.remove(truth)
        yield item, None if truth is None and _lay_astray(plays, item, frame) else truth is not None


def _lay_astray(plays: list[hands.Truth], item: dict, frame: int) -> bool:
    """Whether a card lay in that zone then that was moved to its own afterwards."""
    return any(
        stay.zone == item["zone"] and stay.is_at(frame, hands.TOLERANCE_FRAMES)
        for truth in plays
        for stay in truth.stays[:-1]
    )


def _fits(truth: hands.Truth, item: dict, frame: int) -> bool:
    slack = hands.TOLERANCE_FRAMES if truth.taken_back else 0
    there = not truth.stays or any(stay.zone == item["zone"] for stay in truth.stays)
    called = "illegal" if truth.taken_back else "legal"
    return truth.text == item["proposal"] and there and item["verdict"] == called and truth.is_at(frame, slack)


def table(found: list[tuple[dict, bool | None]]) -> str:
    """The share that was right by confidence, as Markdown."""
    made, right, confirmed, astray = Counter(), Counter(), Counter(), Counter()
    for item, is_right in found:
        edge = next(edge for edge in BINS if item["confidence"] >= edge)
        made[edge] += 1
        right[edge] += is_right is True
        astray[edge] += is_right is None
        confirmed[edge] += item["confirmed"]
    lines = [
        "| confidence from | proposals | confirmed | right | astray | wrong | share |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        _row(f"{edge:.2f}", made[edge], confirmed[edge], right[edge], astray[edge]) for edge in BINS if made[edge]
    ]
    sure = [edge for edge in BINS if edge >= ASKING]
    lines.append(
        _row("**0.90 and more**", *(sum(count[edge] for edge in sure) for count in (made, confirmed, right, astray)))
    )
    return "\n".join(lines)


def _row(name: str, made: int, confirmed: int, right: int, astray: int) -> str:
    share = f"{right / (made - astray):.2%}" if made > astray else "–"
    return f"| {name} | {made} | {confirmed} | {right} | {astray} | {made - right - astray} | {share} |"


def main() -> None:
    given, found = hands.parsed(), []
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


if __name__ == "__main__":
    main()
