"""Robot players of a match without cards; they enter plays like people."""

from __future__ import annotations

import logging
import threading
import time

from companion.match.match import Match
from companion.robots.robot import Level

PAUSE_S = 1.5  # lets people see the last play
ANSWER_S = 10.0  # for answers out of turn, even if no player holds one
_LOOK_S = 1.0  # longest wait for a change
log = logging.getLogger(__name__)


def decide(match: Match) -> bool:
    """Make one play for a robot; return False if none is due."""
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
    """Pass for everyone who may answer out of turn but need not."""
    dealt = match.state.dealt
    for position in dealt.waiting if dealt else ():
        if not position.is_in_turn:
            match.waive(position.player)


class RobotPlayers:
    """Thread that plays for the robots."""

    def __init__(self, match: Match, pause_s: float = PAUSE_S, answer_s: float = ANSWER_S) -> None:
        self._match, self._pause_s, self._answer_s = match, pause_s, answer_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._play, name="robots", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current decision; wait at most a second."""
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
