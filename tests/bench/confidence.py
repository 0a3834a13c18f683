"""Measure what a confidence means: the share of right proposals among those of the same confidence.

python -m tests.bench.confidence --hands 50 [--eye scene] [--host] [any option of tests.bench.hands]

The film follower proposes. A proposal is right if player, verb, face, target and zone are those of the play, and if its
verdict (legal or illegal) is right. A card that was first put into a wrong zone and reported there is counted as
*astray*, neither right nor wrong.

With `--host`, the table proposes, and people answer truthfully and enter what it misses. Each question about a play
counts with the confidence that it had when it appeared. It is right if its first play was made and is not recorded yet.
"""

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence

from bench import hands, page
from bench.following import TOLERANCE_S, Journal, Truth, follow_film, follow_live, texts_of
from bench.views import TruePlay
from companion.match.questions import Kind, Question
from companion.rules.play import Play

BINS = (0.98, 0.95, 0.9, 0.8, 0.5, 0.0)
ASKING = 0.9
SIMULATED = "simulated"

Judged = tuple[dict, bool | None]  # a proposal, and whether it was right; None: astray


def judged(told: list[dict], plays: Sequence[TruePlay]) -> Iterator[Judged]:
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


def table(found: Sequence[Judged]) -> str:
    """Return the share of right proposals by confidence, as Markdown, and by how much the confidences are off."""
    by_edge: dict[float, list[Judged]] = {edge: [] for edge in BINS}
    for one in found:
        by_edge[next(edge for edge in BINS if one[0]["confidence"] >= edge)].append(one)
    rows = [_row(f"{edge:.2f}", some) for edge, some in by_edge.items() if some]
    sure = [one for edge, some in by_edge.items() if edge >= ASKING for one in some]
    return "\n".join(
        [HEAD, *rows, _row("**0.90 and more**", sure), "", f"Expected calibration error: {_error(by_edge):.3f}"]
    )


COLUMNS = ("confidence from", "mean", "proposals", "counted", "right", "astray", "wrong", "share right")
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def _row(name: str, some: Sequence[Judged]) -> str:
    made, counted = len(some), sum(item["confirmed"] for item, _ in some)
    right, astray, wrong = (sum(is_right is said for _, is_right in some) for said in (True, None, False))
    mean, share = _mean_and_share(some)
    return f"| {name} | {mean:.3f} | {made} | {counted} | {right} | {astray} | {wrong} | {share:.2%} |"


def _mean_and_share(some: Sequence[Judged]) -> tuple[float, float]:
    """Return the mean confidence and the share of right proposals, leaving out astray ones."""
    there = [(item["confidence"], is_right) for item, is_right in some if is_right is not None]
    count = max(1, len(there))
    return sum(sure for sure, _ in there) / count, sum(is_right for _, is_right in there) / count


def _error(by_edge: Mapping[float, Sequence[Judged]]) -> float:
    """Return the expected calibration error: the mean distance of confidence and share, weighted by proposals."""
    total = sum(is_right is not None for some in by_edge.values() for _, is_right in some)
    off = ((sum(r is not None for _, r in some), *_mean_and_share(some)) for some in by_edge.values())
    return sum(count * abs(mean - share) for count, mean, share in off) / max(1, total)


class Proposals(Journal):
    """Notes each proposal when it appears."""

    def __init__(self, truth: Truth) -> None:
        super().__init__(truth)
        self.found: list[Judged] = []
        self._met: set[str] = set()

    def note(self, t_s: float, questions: Sequence[Question], plays: tuple[Play, ...], ms: float) -> None:
        for question in questions:
            if question.kind is Kind.PLAY and texts_of(question.plays[:1]) and question.id not in self._met:
                self._met.add(question.id)
                self.found.append(self._judged(question, texts_of(plays), t_s))
        super().note(t_s, questions, plays, ms)

    def _judged(self, question: Question, record: Sequence[str], t_s: float) -> Judged:
        (text,) = texts_of(question.plays[:1])
        verdict = "legal" if question.is_legal else "illegal"
        is_right = text in self._truth.missing(record, t_s) if question.is_legal else self._truth.slip(text, t_s)
        is_astray = not is_right and self._truth.is_disturbed(question.zone, t_s)
        item = {"proposal": text, "verdict": verdict, "zone": question.zone, "t_s": t_s, "confirmed": False}
        return item | {"confidence": question.confidence}, None if is_astray else bool(is_right)


def found_with_host(job: hands.Job) -> tuple[str, list[Judged]]:
    """Return what was proposed at a table where people answer, and whether it was right."""
    made: list[Proposals] = []

    def noted(truth: Truth) -> Proposals:
        made.append(Proposals(truth))
        return made[0]

    follow_live(job.hand(), is_hosted=True, noted=noted)
    return job.name, made[0].found


def found_in(job: hands.Job) -> tuple[str, list[Judged]]:
    """Return what was proposed in a hand, and whether it was right."""
    hand = job.hand()
    return job.name, list(judged(follow_film(hand)[1], hand.plays))


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = hands.options(__doc__)
    parser.add_argument("--host", action="store_true", help="proposals to people who answer")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    given, found = parsed(arguments), []
    figures = page.Figures("confidence", arguments) if given.write else None
    for name, here in hands.each(found_with_host if given.host else found_in, hands.jobs_of(given), given.jobs):
        found += here
        for item, is_right in here:
            if is_right is False:
                what = f"{item['proposal']} ({item['verdict']}, in {item['zone']}, {item['confidence']})"
                print(f"    {name}, {item['t_s']:.1f} s: {what}", flush=True)
    print(table(found))
    if figures:
        figures.write(page.READING, _of(given), table(found).splitlines(), measured(given))


def measured(given: argparse.Namespace) -> str:
    return f"{SEEN[_seen(given)]}, followed by `companion/tracking/{'live' if given.host else 'film'}.py`"


def _seen(given: argparse.Namespace) -> str:
    return SIMULATED if given.set == [SIMULATED] else given.eye


def _of(given: argparse.Namespace) -> str:
    """Return the name of the table in docs/ that the options measure."""
    return f"{_seen(given)} host" if given.host else _seen(given)


SEEN = {
    SIMULATED: "no pictures, simulated views with errors",
    "scene": "no pictures, true sightings",
    "stored": "`companion/vision/eye.py`",
    "pictures": "`companion/vision/eye.py`",
}


if __name__ == "__main__":
    main()
