"""Replaying the log gives the state after any actions, and a prefix gives the state of its time."""

import contextlib
import random
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from trust.deeds import DEEDS, SET_UPS, Deeds, logged

from companion.match.match import Match
from companion.rules.record import judge, notation
from companion.storage.event_store import Event, Store

WALL_CLOCKS_S = (0.0, -1.0, 1.8e9, 4.2e9, 1e300, float("inf"))


@dataclass
class Part:
    """A prefix of the log."""

    whole: Store
    last: int
    changed: Any = None
    unsaved: None = None
    note: None = None

    @property
    def path(self) -> Path:
        return self.whole.path

    def matches(self) -> tuple[int, ...]:
        return tuple(match for match in self.whole.matches() if match <= self.last)

    def latest(self) -> dict[int, int]:
        return {match: self.events(match)[-1].seq for match in self.matches()}

    def events(self, match: int) -> tuple[Event, ...]:
        return tuple(event for event in self.whole.events(match) if event.seq <= self.last)


class Table(RuleBasedStateMachine):
    """Random actions at a table, with any clock."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="replay-"))
        self.chance = random.Random(0)
        self.store = self.opened()
        self.deeds = Deeds(Match(self.store), self.chance)
        self.states: dict[int, dict[str, Any]] = {}

    def opened(self) -> Store:
        return Store.open(self.folder / "log.sqlite3", clock=lambda: self.chance.choice(WALL_CLOCKS_S))

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @initialize(lines=st.sampled_from(SET_UPS))
    def begin(self, lines: tuple[str, ...]) -> None:
        self.deeds.match.start(lines)

    @rule(deed=st.sampled_from(list(DEEDS)), seed=st.integers(0, 2**16))
    def do(self, deed: Any, seed: int) -> None:
        self.deeds.chance = random.Random(seed)
        self.deeds.do(deed)

    @rule(seed=st.integers(0, 2**16))
    def play_for_a_while(self, seed: int) -> None:
        self.deeds.chance = random.Random(seed)
        for _ in range(8):
            self.deeds.do_something()

    @rule()
    def stop_and_start_again(self) -> None:
        before = self.deeds.match.state.version
        self.store.close()
        self.store = self.opened()
        self.deeds.match = Match(self.store)

        assert before < self.deeds.match.state.version < 2**31

    @precondition(lambda self: self.states)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        """Check that a prefix gives the state shown then."""
        seq = data.draw(st.sampled_from(list(self.states)))

        assert logged(Match(Part(self.store, seq)).state) == self.states[seq]

    @invariant()
    def the_log_replayed_is_the_state(self) -> None:
        shown = logged(self.deeds.match.state)
        self.states[shown["seq"]] = shown
        with self.another() as match:
            assert logged(match.state) == shown

    @invariant()
    def the_record_judged_by_itself_has_the_same_score(self) -> None:
        match = self.deeds.match
        if match.state.match is None:
            return
        items = list(judge.judge(notation.lines(match.record())))
        last = {item.number: item for item in items if isinstance(item, judge.HandResult)}

        assert {number: last[number] for number in match.state.record.hands} == match.state.record.hands

    @contextlib.contextmanager
    def another(self) -> Iterator[Match]:
        """Open the match read-only, beside the service."""
        reader = Store.open(self.folder / "log.sqlite3", read_only=True)
        yield Match(reader)
        reader.close()


TestTable = Table.TestCase
TestTable.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
