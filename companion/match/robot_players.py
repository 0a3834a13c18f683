"""The robots at a table without cards: whenever one is waited for it decides, and enters its play as people do."""

from __future__ import annotations

import logging
import threading
import time

from companion.match.match import Match
from companion.robots.robot import Level

PAUSE_S = 1.5  # seconds that a robot waits before it acts, so that people see what was played before
ANSWER_S = 10.0  # seconds that a hand waits for who may answer out of turn, whether he holds an answer or not
_LOOK_S = 1.0  # seconds between looks at a match in which nothing changes
log = logging.getLogger(__name__)


def decide(match: Match) -> bool:
    """Let a robot decide that is waited for; False where none is."""
    now = match.state
    dealt = now.dealt
    position = next((one for one in dealt.waiting if one.player in now.robots), None) if dealt else None
    if dealt is None or position is None:
        return False
    play = dealt.choice(position, Level(now.robots[position.player])).play
    outcome = match.decide(position.player, play, now.seq)
    if not (outcome.done or outcome.is_void):
        raise ValueError(f"{position.player} may not decide on {play}: {outcome}")
    return True


def let_pass(match: Match) -> None:
    """Go on without those who may answer out of turn, but need not."""
    dealt = match.state.dealt
    for position in dealt.waiting if dealt else ():
        if not position.is_in_turn:
            match.waive(position.player)


class RobotPlayers:
    """The thread that plays for the robots of a match, for as long as the service runs."""

    def __init__(self, match: Match, pause_s: float = PAUSE_S, answer_s: float = ANSWER_S) -> None:
        self._match, self._pause_s, self._answer_s = match, pause_s, answer_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._play, name="robots", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End, after the play that is being thought about."""
        self._ended.set()
        self._match.refresh()
        self._thread.join(_LOOK_S)

    def _play(self) -> None:
        seq, since_s = -1, 0.0
        while not self._ended.is_set():
            now = self._match.state
            if now.seq != seq:
                seq, since_s = now.seq, time.monotonic()
            is_late = time.monotonic() - since_s >= self._answer_s
            try:
                if now.dealt is not None and any(one.player in now.robots for one in now.dealt.waiting):
                    self._ended.wait(self._pause_s)
                    decide(self._match)
                    continue
                if is_late:
                    let_pass(self._match)
            except Exception:
                log.exception("a robot cannot play")
            self._match.wait(now.version, _LOOK_S)
