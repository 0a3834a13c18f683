"""Unplug, hang, freeze or garble a camera repeatedly while plays are entered by hand.

    PYTHONPATH=tests:. python tests/trust/camera_cycles.py --cycles 100 --seed 1

Pages, match, watch and capture run in real time with a faulty camera (`tests/moody.py`). The eye knows the truth of
every picture. `--virtual` does the same in simulated time.

The exit code is 0 if every fault is shown within 3 s, pictures return within 5 s and every play entered by hand
counts. Also, no proposal may come from an old picture, and no thread or file may leak. Otherwise it is 1.
"""

import json
import random
import sys
import tempfile
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from moody import SIDES, Mood, MoodyCamera, Table
from serving import running
from trust.fuzzing import arguments
from virtual_time import VirtualTime

from companion.common.text import say
from companion.match.match import Match
from companion.match.questions import Answer, Kind, Question
from companion.match.state import MatchState
from companion.pages import Camera, create_app
from companion.storage.event_store import Store
from companion.tracking.handling import BARS
from companion.tracking.live import TableWatch
from companion.vision.capture.sources import FRESH_S, Notice, Timing, frames

MATS = dict(zip(SIDES, ("Ann", "Bob"), strict=True))
SHOWN_S, BACK_S = 3.0, 5.0
STEP_S = 0.05
TROUBLE_S = (3.2, 7.0)
HAND_S = 0.3
"""Interval between plays entered by hand, in seconds."""

HAND_PLAYS = 40
TROUBLES = tuple(mood for mood in Mood if mood is not Mood.FINE)


class RealTime:
    sleep = staticmethod(time.sleep)

    def __call__(self) -> float:
        return time.monotonic()

    def start(self, run: Callable[[], object]) -> None:
        threading.Thread(target=run, daemon=True).start()


@dataclass
class Figures:
    shown_s: list[float] = field(default_factory=list)
    back_s: list[float] = field(default_factory=list)
    by_hand_s: list[float] = field(default_factory=list)
    proposals: int = 0
    wrong: list[str] = field(default_factory=list)
    """A sentence for each broken promise."""

    def line(self) -> str:
        counts = f"{len(self.shown_s)} troubles, {self.proposals} proposals, {len(self.by_hand_s)} plays by hand"
        times = (("shown", self.shown_s), ("back", self.back_s), ("a tap", self.by_hand_s))
        said = "; ".join(f"{name} max {max(s):.2f} s, p95 {_p95(s):.2f} s" for name, s in times if s)
        return f"{counts}; {said}; promises broken: {len(self.wrong)}"


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


class WatchedMatch(Match):
    """A match that records questions about cards that are not on the table."""

    table: Table
    figures: Figures
    known: set[str]

    def look(self, derive: Callable[[MatchState], tuple[Question, ...]]) -> None:
        before = {question.id for question in self.state.questions}
        for question in derive(self.state):
            if question.id not in before and question.id not in self.known:
                self.known.add(question.id)
                self._note_question(question)
        super().look(derive)

    def _note_question(self, question: Question) -> None:
        """Record a question about a missing card, or one too early after a gap."""
        if question.kind is Kind.DIFFERS:
            if question.expected is not None:
                self._check(str(question.say), since_s=BARS.moment_s - 0.1)
            self._check(str(question.say), looks=2)
            return
        self.figures.proposals += 1
        card = question.plays[0].card
        lying = {(name.rpartition("-")[0], zone) for name, zone in self.table.seen.cards.items()}
        if question.kind is Kind.PLAY and card is not None and (card.value, question.zone) not in lying:
            self._note(f"{question.plays[0]} does not lie on {question.zone}")
        self._check(f"{question.plays[0]}", looks=2)

    def _check(self, what: str, looks: int = 0, since_s: float = 0.0) -> None:
        table = self.table
        if table.since_gap < looks or table.looked_s - table.gap_s < since_s:
            self._note(f"{what} after {table.since_gap} pictures since a gap")

    def _note(self, what: str) -> None:
        self.figures.wrong.append(f"{what} at {self.table.looked_s:.2f} s")


class Hand:
    def __init__(self, match: Match, figures: Figures) -> None:
        self._match = match
        self._figures = figures
        self._count = 0

    def play(self, send: Callable[[str], int]) -> None:
        """Enter a play, and begin the next hand if needed."""
        if self._match.state.game.hand_is_open and self._count % HAND_PLAYS == HAND_PLAYS - 1:
            self._match.enter("end", "Ann", anyway=True)
        if not self._match.state.game.hand_is_open:
            self._match.next_hand("Ann")
        for question in self._match.state.questions:
            self._match.answer(question.id, Answer.NO, "Ann")
        self._count += 1
        before, began_s = self._match.state.seq, time.perf_counter()
        status = send(f"{('Ann', 'Bob')[self._count % 2]} discard 25")
        self._figures.by_hand_s.append(time.perf_counter() - began_s)
        if status != 200 or self._match.state.seq <= before:
            self._figures.wrong.append(f"a play by hand was answered with {status}")


def _entered(match: Match) -> Callable[[str], int]:
    def send(text: str) -> int:
        return 200 if match.enter(text, "Ann", anyway=True).done else 500

    return send


def _posted(url: str) -> Callable[[str], int]:
    def send(text: str) -> int:
        body = json.dumps({"text": text, "anyway": True}).encode()
        headers = {"Content-Type": "application/json", "Origin": url}
        request = urllib.request.Request(f"{url}/api/plays", body, headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)

    return send


class Cycles:
    """A table, its camera and the service, in real or virtual time."""

    def __init__(self, match: WatchedMatch, clock: RealTime | VirtualTime, seed: int) -> None:
        self.figures = match.figures = Figures()
        match.known = set()
        self.table = match.table = Table(clock, seed)
        self.match = match
        self._clock = clock
        self._rng = random.Random(seed)
        self._camera = MoodyCamera(clock, self.table, seed)
        self.watch = TableWatch(match, self.table.look, lambda _: dict(MATS))
        self._troubles: deque[Mood] = deque()

    def start(self) -> None:
        """Start the watch in a thread, with a camera opened as by `companion up`."""
        pictures = frames(
            "0",
            fps=10.0,
            wait=self._wait,
            tell=self._tell,
            open_device=self._camera.open,
            patient=True,
            timing=Timing(self._clock, self._clock.sleep, self._clock.start),
        )
        self._clock.start(lambda: deque(map(self.watch.take, pictures), maxlen=0))

    def stop(self) -> None:
        self.watch.stopping.set()
        self._clock.sleep(1.0)

    def run(self, cycles: int, hand: Callable[[], None] = lambda: None) -> None:
        """Cause this many faults, each kind equally often; `hand` is called all the time."""
        self._until(lambda: self.table.since_gap > 100, 5.0, hand)
        for _ in range(cycles):
            self._until(lambda: False, self._rng.uniform(1.0, 3.0), hand)
            if not self._troubles:
                self._troubles.extend(self._rng.sample(TROUBLES, len(TROUBLES)))
            self._trouble(self._troubles.popleft(), hand)
        self.figures.wrong += self.table.wrong

    def _trouble(self, mood: Mood, hand: Callable[[], None]) -> None:
        began_s, lasts_s = self._clock(), self._rng.uniform(*TROUBLE_S)
        self._camera.mood = mood
        shown_s = self._until(self._is_shown, lasts_s, hand)
        self._keep(self.figures.shown_s, shown_s, SHOWN_S, f"{mood}: shown")
        self._until(lambda: False, lasts_s - (self._clock() - began_s), hand)
        self._look_at_the_page(mood)
        fine_s, self._camera.mood = self._clock(), Mood.FINE
        back_s = self._until(lambda: self.table.seen.t_s > fine_s and not self._is_shown(), 3 * BACK_S, hand)
        self._keep(self.figures.back_s, back_s, BACK_S, f"{mood}: back")

    def _look_at_the_page(self, mood: Mood) -> None:
        is_old = self._clock() - self.table.looked_s > FRESH_S + STEP_S
        if is_old and self.watch.picture() is not None:
            self.figures.wrong.append(f"{mood}: an old picture on the page")
        if self._clock() - self.table.looked_s > SHOWN_S and not self._is_shown():
            self.figures.wrong.append(f"{mood}: shown no more")

    def _keep(self, kept: list[float], took_s: float, most_s: float, what: str) -> None:
        kept.append(took_s)
        if took_s > most_s:
            self.figures.wrong.append(f"{what} after {took_s:.2f} s")

    def _is_shown(self) -> bool:
        return self.match.state.trouble is not None

    def _until(self, is_so: Callable[[], bool], most_s: float, hand: Callable[[], None]) -> float:
        """Move cards until a condition holds; return the time it took, in seconds."""
        began_s = self._clock()
        while not is_so() and self._clock() - began_s < most_s:
            if self._rng.random() < STEP_S:
                self.table.move()
            hand()
            self._clock.sleep(STEP_S)
        return self._clock() - began_s

    def _wait(self, seconds: float) -> bool:
        self._clock.sleep(seconds)
        return self.watch.stopping.is_set()

    def _tell(self, notice: Notice) -> None:
        by_hand = say("%(notice)s You can enter plays by hand.", notice=notice.sentence)
        self.match.trouble(by_hand if notice.blind else None)


def virtual(cycles: int, seed: int) -> Figures:
    """Run in virtual time; plays are entered directly at the match."""
    clock = VirtualTime(ends_s=60.0 * cycles + 60.0)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as left:
        world = Cycles(_match(Path(folder), left), clock, seed)
        hand, send, rng = Hand(world.match, world.figures), _entered(world.match), random.Random(seed)
        world.start()
        world.run(cycles, lambda: hand.play(send) if rng.random() < STEP_S / HAND_S / 5 else None)
        world.stop()
    return world.figures


def real(cycles: int, seed: int) -> Figures:
    """Run in real time; plays are entered on the pages."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as left:
        world = Cycles(_match(Path(folder), left), RealTime(), seed)
        watch = world.watch
        app = create_app(world.match, secret=b"0123456789abcdef" * 2, camera=Camera(watch.picture, watch.image))
        url = left.enter_context(running(app))
        hand, send, is_over = Hand(world.match, world.figures), _posted(url), threading.Event()

        def plays() -> None:
            while not is_over.wait(HAND_S):
                hand.play(send)

        plays_by_hand = threading.Thread(target=plays)
        hand.play(send)
        before = _left_open()
        world.start()
        plays_by_hand.start()
        try:
            world.run(cycles)
        finally:
            is_over.set()
            plays_by_hand.join()
            world.stop()
        _check_growth(before, world.figures)
    return world.figures


def _match(folder: Path, left: ExitStack) -> WatchedMatch:
    store = Store.open(folder / "log.sqlite3")
    left.callback(store.close)
    match = WatchedMatch(store)
    match.start(["side Ann", "side Bob", "hand first Ann"])
    return match


def _left_open() -> tuple[int, int]:
    return threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))


def _check_growth(before: tuple[int, int], figures: Figures) -> None:
    for _ in range(100):
        threads, files = _left_open()
        if threads <= before[0] and files <= before[1] + 2:
            return
        time.sleep(0.1)
    figures.wrong.append(f"{before[0]} threads and {before[1]} files have become {threads} and {files}")


def main() -> int:
    asked = arguments(__doc__, "cycles", 100, virtual=False)
    figures = (virtual if asked.virtual else real)(asked.cycles, asked.seed)
    for wrong in figures.wrong:
        print(wrong)
    print(figures.line())
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
