"""A match and its camera, with views instead of pictures: cards are put down and taken up by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from viewed import words, zone_of

from companion.match.match import Match
from companion.match.questions import Answer, Question
from companion.match.state import Policy
from companion.storage.event_store import Store
from companion.storage.events import EventKind
from companion.tabletop.card_ids import face_of
from companion.tracking.live import TableWatch
from companion.vision.capture.sources import Frame
from companion.vision.view import STICKER, MatSeen, Sighting, View

PICTURE = np.zeros((4, 4, 3), np.uint8)
PILES = ("battle", "speed", "discard")
MATS = ("side-1", "side-2", "side-3", "table")
CLASSIC = ("edition classic", "side Ann", "side Bob", "hand first Ann")
FRAME_S = 0.2


class Watched:
    """Views of the table follow from the cards on it; only the top card of a pile is visible."""

    def __init__(self, folder: Path, *lines: str, policy: Policy = Policy.TAP, by: str = STICKER) -> None:
        self.folder, self._by = folder, by
        self.match = Match(Store.open(folder / "companion.sqlite3"))
        self.t_s = 0.0
        self.lying: dict[str, tuple[str, float, bool]] = {}
        """Per card: its zone, its offset from the zone's center in mm, and whether it is sideways."""

        self.hidden: frozenset[str] = frozenset()
        self._watch()
        self.match.start(lines or CLASSIC)
        self.match.set_policy(policy, "test")
        # See the empty table first, so that later cards count as new.
        self.look()

    def _watch(self) -> None:
        self.watch = TableWatch(self.match, self._see, self.match.mats, memory=self.folder / "tracks.json")

    def restart(self) -> None:
        self.match.store.close()
        self.match = Match(Store.open(self.folder / "companion.sqlite3"))
        self._watch()

    # The table

    def lay(self, card: str, zone: str, at_mm: float = 0.0, *, sideways: bool = False) -> Watched:
        """Put a card on top of a zone."""
        self.lying.pop(card, None)
        self.lying[card] = (zone, at_mm, sideways)
        return self.look()

    def take_up(self, *cards: str) -> Watched:
        for card in cards:
            del self.lying[card]
        return self.look(12)

    def look(self, frames: int = 6, hidden: tuple[str, ...] = ()) -> Watched:
        self.hidden = frozenset(hidden)
        for _ in range(frames):
            self.t_s += FRAME_S
            self.watch.take(Frame(PICTURE, self.t_s))
        self.hidden = frozenset()
        return self

    def _see(self, frame: Frame) -> View:
        mats = tuple(
            MatSeen(mat, ((x, 0.0), (x + 900, 0.0), (x + 900, 300.0), (x, 300.0)), 1.0)
            for mat, x in ((mat, 1000.0 * n) for n, mat in enumerate(MATS))
        )
        tops = {zone: card for card, (zone, _, _) in self.lying.items() if zone.partition("/")[2] in PILES}
        seen = [c for c, (zone, _, _) in self.lying.items() if tops.get(zone, c) == c and zone not in self.hidden]
        sightings = tuple(self._sighting(card, n) for n, card in enumerate(seen))
        return View(frame.t_s, mats, sightings, self.hidden, draw_pile_empty=False)

    def _sighting(self, card: str, _n: int) -> Sighting:
        zone, at_mm, sideways = self.lying[card]
        mat, _, kind = zone.partition("/")
        x = 1000.0 * MATS.index(mat) + 100.0 + 150.0 * ["battle", "speed", "distance", "safety", "discard"].index(kind)
        x += at_mm
        if kind in ("distance", "safety"):
            x += 70.0 * (int(card.rpartition("-")[2]) % 3)
        corners = ((x - 9, 90.0), (x + 9, 90.0), (x + 9, 110.0), (x - 9, 110.0))
        is_sticker = self._by == STICKER
        face = face_of(card)
        stay = None if is_sticker else hash((card, zone, at_mm))
        return Sighting(
            face, card if is_sticker else None, (x, 100.0), corners, zone, sideways, 0.99, self._by, stay=stay
        )

    # Questions and answers

    @property
    def questions(self) -> tuple[Question, ...]:
        return self.match.state.questions

    @property
    def asked(self) -> list[str]:
        return [words(question) for question in self.questions]

    @property
    def played(self) -> list[str]:
        return [entry.written.text for entry in self.match.state.hand_entries]

    def yes(self, play: str | None = None, *, anyway: bool = False) -> Watched:
        """Confirm the first question's play, or another one instead."""
        return self.say(Answer.YES, play=play, anyway=anyway)

    def say(self, answer: Answer, *, play: str | None = None, anyway: bool = False, number: int = 0) -> Watched:
        self.match.answer(self.questions[number].id, answer, "Ann", play=play, anyway=anyway)
        return self

    def play(self, *turns: tuple[str, str]) -> Watched:
        """Put down and confirm cards one by one."""
        for card, zone in turns:
            self.lay(card, zone).yes()
        return self

    def perform(self, step: str) -> None:
        match step.split():
            case ["lay", card, zone, *how]:
                at_mm = next((float(mm) for mm in how if mm != "sideways"), 0.0)
                self.lay(card, zone_of(zone), at_mm, sideways="sideways" in how)
            case ["put", card, zone]:
                self.lying[card] = (zone_of(zone), 0.0, False)
            case ["up", *cards]:
                self.take_up(*cards)
            case ["look", *how]:
                frames = int(how.pop(0)) if how and how[0].isdigit() else 6
                self.look(frames, tuple(zone_of(zone) for zone in how[1:]))
            case ["yes", *play]:
                anyway = play == ["anyway"]
                self.yes(None if anyway else " ".join(play) or None, anyway=anyway)
            case ["say", answer, *number]:
                self.say(Answer(answer), number=int(number[0]) if number else 0)
            case ["enter", player, *play]:
                self.match.enter(" ".join([player, *play]), "Ann")
            case ["undo"]:
                self.match.undo("Ann")
            case ["redo"]:
                self.match.redo("Ann")
            case ["retract"]:
                self.match.rewrite(EventKind.RETRACT, self.match.state.hand_entries[-1].seq, None, "Ann")
            case ["correct", *play]:
                self.match.correct(self.match.state.hand_entries[-1].seq, " ".join(play), "Ann")
            case ["next", "hand"]:
                self.match.next_hand("Ann")
            case ["restart"]:
                self.restart()
            case _:
                raise ValueError(step)

    def check(self, scene: Iterable[str]) -> None:
        """Play a scene: steps, and after `=>` the open questions or recorded plays."""
        for written in scene:
            steps, _, expected = written.rpartition("=> ")
            for step in filter(str.strip, steps.split(";")):
                self.perform(step.strip())
            said = f"played: {' / '.join(self.played)}" if expected.startswith("played:") else " / ".join(self.asked)
            assert (said or "nothing") == expected, written
