"""Follow whole hands three ways, as `tests.bench.following` says, and count what comes of them.

python -m tests.bench.hands [--set stickers faces film NAME …] [--hands N] [--jobs 2]     the hands in `.views/`
python -m tests.bench.hands --set stickers --hands 50 --eye pictures     hands that are not there are rendered first
python -m tests.bench.hands --set stickers --hands 50 --eye scene     without pictures: what a camera would see
python -m tests.bench.hands --set simulated --hands N [--reserved]     hands of `tests/habits/`, made on the fly
python -m tests.bench.hands --set faces-7-03 --only cup --save FOLDER     one hand; saves its frames, truth and faults

A hand is named by its cards, its seed and its number. `--seed` chooses another fifty, `--only` the mishaps in them.
"""

import argparse
import json
import multiprocessing
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from habits import simulated_hands
from troubles import mishaps

from bench import following, page, views
from bench.eye import heading, line_of
from bench.following import Result

SETS = ("stickers", "faces", "film")
EYES = ("stored", "pictures", "scene")
T = TypeVar("T")
TABLES = {"stickers": "stickers", "faces": "faces", "film": "films"}  # by set: the name of its table


@dataclass(frozen=True)
class Job:
    """A hand by its name, and where its views come from."""

    name: str
    eye: str = "stored"
    only: tuple[str, ...] = ()  # kinds of mishaps; all of them if empty
    save: Path | None = None

    def hand(self) -> views.FilmedHand:
        """Return the hand; one without stored views is made."""
        if self.name.startswith(simulated_hands.NAME):
            return simulated_hands.made(self.name)
        if self.eye == "scene":
            return views.of_scenes(views.case_of(self.name, self.only), self.name)
        if self.save is not None or self.only:
            return views.of_case(views.case_of(self.name, self.only), self.name, self.save)
        if self.name not in views.names():
            views.make(self.name)
        return views.load(self.name)


def jobs_of(given: argparse.Namespace) -> list[Job]:
    """Return the hands that the options choose. Exits if none of them has views."""
    eye = "pictures" if given.save and given.eye == "stored" else given.eye
    sets = given.set or (SETS if eye == "stored" else SETS[:1])
    names = [name for one in sets for name in _names(one, eye, given)]
    if not names:
        raise SystemExit("No views are stored: make some with `python -m tests.bench.views`.")
    only = tuple(given.only.split(",")) if given.only else ()
    return [Job(name, eye, only, given.save) for name in names]


def _names(of: str, eye: str, given: argparse.Namespace) -> list[str]:
    if of == simulated_hands.NAME:
        return simulated_hands.names(given.seed, given.hands or 1, is_reserved=given.reserved)
    if of not in SETS:
        return [of]
    if of != "film" and eye != "stored":
        return [f"{of}-{given.seed}-{number:02d}" for number in range(given.hands or 1)]
    begin = "film-" if of == "film" else f"{of}-{given.seed}-"
    return [name for name in views.names() if name.startswith(begin)][: given.hands]


@dataclass(frozen=True)
class Followed:
    """What each follower made of a hand."""

    name: str
    light: str
    results: Mapping[str, Result]

    @property
    def of(self) -> str:
        """The set that the hand belongs to."""
        return self.name.partition("-")[0]


def followed(job: Job) -> Followed:
    hand = job.hand()
    found = Followed(job.name, hand.made.get("light") or "", following.follow(hand))
    if job.save is not None:
        _save(job.save, hand, found)
    return found


def _save(folder: Path, hand: views.FilmedHand, found: Followed) -> None:
    """Write beside the frames what was played, what the film follower told, and how each record differs."""
    _, told = following.follow_film(hand)
    for name, rows in {"truth": map(asdict, hand.plays), "told": told}.items():
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    faults = [f"{who}: {fault}\n" for who, result in found.results.items() for fault in result.faults]
    (folder / "faults.txt").write_text("".join(faults), encoding="utf-8")


# The report ----------------------------------------------------------------------------------------------------

COUNTS = ("plays", "right", "missed", "wrong", "invented")
HEADS = (*COUNTS, "illegal plays flagged", "score sheets right", "false questions", "taps, typed plays a hand",
         "frames until proposed: median, 95 %", "ms a frame, slowest")  # fmt: skip


def cells(result: Result) -> list[str]:
    """Return what the columns say of one hand, or of several."""
    per_hand = [f"{count / max(1, result.hands):.1f}" for count in (result.taps, result.typed)]
    return [
        *(f"{getattr(result, name):,}" for name in COUNTS),
        f"{result.flagged} of {result.slips}",
        f"{result.sheets_right} of {result.sheets}",
        str(result.false_questions),
        ", ".join(per_hand) if result.taps or result.typed else "–",
        f"{_share(result.delays, 50)}, {_share(result.delays, 95)}",
        f"{result.ms / max(1, result.views):.1f}, {result.slowest_ms:,.0f}",
    ]


def _share(delays: Sequence[int], percent: int) -> str:
    if len(delays) < 2:
        return "".join(map(str, delays)) or "–"
    return f"{statistics.quantiles(delays, n=100, method='inclusive')[percent - 1]:.0f}"


def grouped(found: Sequence[Followed]) -> Iterator[tuple[str, list[Followed]]]:
    """Yield the hands of each light, where there are several, and all of them."""
    lights = sorted({one.light for one in found}, reverse=True)
    for light in lights if len(lights) > 1 else ():
        yield light, [one for one in found if one.light == light]
    yield "all", list(found)


def summary(found: Sequence[Followed]) -> list[str]:
    """Return the table for docs/: a row a follower, for each light and for all."""
    lines = heading("light", "follower", "hands", *HEADS)
    for light, some in grouped(found):
        for follower in some[0].results:
            total = sum((one.results[follower] for one in some), Result())
            lines.append(line_of(light, follower, total.hands, *cells(total)))
    return lines


def options(said: str | None = __doc__) -> argparse.ArgumentParser:
    """Return the parser of the options that say which hands are meant."""
    parser = argparse.ArgumentParser(description=said, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="+", metavar="SET|NAME", help="stickers, faces, film, simulated, or hands")
    parser.add_argument("--hands", type=int, help="only the first of each set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reserved", action="store_true", help="simulated hands that nothing is estimated on")
    parser.add_argument("--only", help=f"only these kinds of mishap: {', '.join(mishaps.KINDS)}")
    parser.add_argument("--eye", choices=EYES, default="stored")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="a folder for one hand's frames, setup, truth, faults, deck")
    parser.add_argument("--write", action="store_true", help="write the figures where they belong")
    return parser


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    return options().parse_args(arguments)


def each(work: Callable[[Job], T], jobs: Sequence[Job], beside: int) -> Iterator[T]:
    """Yield what comes of each hand, in order; `beside`: how many are followed at the same time."""
    if beside == 1:
        yield from map(work, jobs)
        return
    with multiprocessing.get_context("spawn").Pool(beside) as pool:
        yield from pool.imap(work, jobs)


FOLLOWED = "views of `companion/vision/eye.py`, followed by `companion/tracking/film.py` and `live.py`"


def main(arguments: Sequence[str] | None = None) -> None:
    given, found = parsed(arguments), []
    figures = page.Figures("hands", arguments) if given.write else None
    print("\n".join(heading("hand", "follower", *HEADS)), flush=True)
    for one in each(followed, jobs_of(given), given.jobs):
        found.append(one)
        for follower, result in one.results.items():
            print(line_of(one.name, follower, *cells(result)), flush=True)
    for of in dict.fromkeys(one.of for one in found):
        some = [one for one in found if one.of == of]
        print(f"\n{of}\n" + "\n".join(summary(some)))
        if figures and of in (given.set or SETS) and of in TABLES:
            figures.write(page.READING, TABLES[of], summary(some), FOLLOWED)


if __name__ == "__main__":
    main()
