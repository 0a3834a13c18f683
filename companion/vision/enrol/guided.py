"""A deck enrolled card by card before a camera: which card to lay next, and what came of the one that lies there.

`guided` is the terminal's way through a deck, `Guide` what the pages ask. Both look only at what lies still, and at
that once; a card that is left lying is not taken for the next one.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TextIO

from companion.common.errors import Problem
from companion.common.program_name import typed
from companion.common.text import say
from companion.rules.cards import card_name
from companion.tabletop.template_decks import Subject
from companion.vision.boxes import Image
from companion.vision.capture.sandbox import one_at_a_time
from companion.vision.capture.sources import Frame
from companion.vision.enrol.enrolment import Enrolment, Said, Verdict, lacking, subject_name
from companion.vision.enrol.rectify import Fault
from companion.vision.enrol.stillness import STILL_S, Stillness

LOOK_AGAIN_S = 4.0
"""A card that will not do is looked at again after this time though nothing moved: the camera may have focused."""

PASSING = frozenset({Fault.NO_CARD})
"""What is no news while one card goes and the next one comes."""


class Key(StrEnum):
    """What people at the terminal ask for."""

    SKIP = "skip"
    QUIT = "quit"


Keys = Callable[[], Key | None]
"""Gives the next thing that was asked for."""


def called(subject: Subject) -> str:
    """Return a card within a sentence: `the roll card`, `the back of any card`."""
    return "the back of any card" if subject is None else f"the {card_name(subject)} card"


# --- In the terminal ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Course:
    """The way through what is wanted."""

    enrolment: Enrolment
    wanted: list[Subject]
    before: str = ""
    """The face that was taken last, by its slug."""

    says_passing: bool = False
    """True if a picture without a card is news: it is among photographs, each of which should show one."""

    refused: int = 0
    """How many cards would not do."""

    def ask(self) -> Said:
        number = len(self.enrolment.cards) + 1 - len(self.wanted) + 1
        return Said(
            f"{number} of {len(self.enrolment.cards) + 1}: lay {called(self.wanted[0])} alone before the camera."
        )

    def skip(self) -> str:
        """Leave a card out; says so."""
        return f"{subject_name(self.wanted.pop(0))}: skipped"

    def take(self, image: Image) -> Said | None:
        """Return what is to be said of a picture; None where it shows no other card than before."""
        subject = self.wanted[0]
        verdict = self.enrolment.verdict(subject, image)
        if verdict.picture is None:
            return self._refused(verdict)
        self.enrolment.keep(subject, [verdict.picture])
        self.wanted.pop(0)
        self.before = subject_name(subject)
        return Said(f"{self.before}: got it", is_kept=True)

    def _refused(self, verdict: Verdict) -> Said | None:
        is_passing = verdict.fault in PASSING and not self.says_passing
        if is_passing or (self.before and verdict.twin == self.before):
            return None
        self.refused += 1
        return Said(f"{subject_name(verdict.subject)}: {verdict.sentence}.", is_fault=True)


def guided(
    enrolment: Enrolment, frames: Iterable[Frame], keys: Keys | None = None, *, still_s: float = STILL_S
) -> Iterator[Said]:
    """Enrol what a deck still lacks, in its edition's order, from frames; says which card to lay and what came of it.

    Ends when all is there, the frames end, or `keys` says so; None where nobody is there to be told. `still_s` is how
    long a card has to lie, 0 where every frame is a photograph by itself. Raises Problem when nothing is lacking, or a
    face cannot be kept.
    """
    course, still = _Course(enrolment, list(enrolment.wanted), says_passing=not still_s), Stillness(still_s)
    if not course.wanted:
        whole = say(
            "The deck '%(name)s' has a picture of every face: to begin anew, remove it first with `%(command)s`.",
            name=enrolment.description.name,
            command=typed(f"decks remove {enrolment.description.name}"),
        )
        raise Problem(whole)
    if keys:
        yield course.ask()
    for frame in frames:
        key = keys() if keys else None
        if key is Key.QUIT:
            break
        news = _news(course, still, frame) if key is None else Said(course.skip())
        if news:
            yield news
        if keys and news and not news.is_fault and course.wanted:
            yield course.ask()
        if not course.wanted:
            break
    yield from _closing(course, is_watched=keys is not None)


def _news(course: _Course, still: Stillness, frame: Frame) -> Said | None:
    if frame.after_gap:
        still.lost_sight()
    if not still.is_worth_a_look(frame.image, frame.t_s):
        return None
    said = course.take(frame.image)
    still.looked(frame.t_s + LOOK_AGAIN_S if said and said.is_fault else None)
    return said


def _closing(course: _Course, *, is_watched: bool) -> Iterator[Said]:
    if course.refused and not is_watched:
        folder = course.enrolment.folder
        say = f"If a card was lost that way, those after it are kept as another's: look at the pictures in {folder}."
        yield Said(say, is_fault=True)
    yield from lacking(course.enrolment)


class TerminalKeys:
    """Hears Enter (skip) and `q` with Enter (quit) at the terminal, whenever they are typed."""

    def __init__(self, typed: TextIO | None = None) -> None:
        self._typed = typed or sys.stdin
        self._asked: queue.SimpleQueue[Key] = queue.SimpleQueue()
        threading.Thread(target=self._hear, name="keys", daemon=True).start()

    def __call__(self) -> Key | None:
        try:
            return self._asked.get_nowait()
        except queue.Empty:
            return None

    def _hear(self) -> None:
        for line in self._typed:
            self._asked.put(Key.QUIT if line.strip().lower() in ("q", "quit") else Key.SKIP)


# --- On the pages ---------------------------------------------------------------------------------------------


class Guide:
    """Looks at pictures for the pages, one at a time, and remembers what it has looked at. For any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._one_at_a_time = threading.Lock()
        self._still = Stillness()
        self._before = ("", "")
        """The deck and the face that were taken last."""

    def take(self, enrolment: Enrolment, subject: Subject, image: Image, *, more: bool = False) -> Verdict:
        """Make a picture that is good enough the face's own, or with `more` one of its pictures.

        Raises Problem while another is being looked at, and where it cannot be kept.
        """
        with one_at_a_time(self._one_at_a_time):
            return self._taken(enrolment, subject, image, more=more)

    def watch(self, enrolment: Enrolment, subject: Subject, image: Image) -> Verdict | None:
        """Return the same, for a picture that nobody asked to be taken: where something new lies still on it.

        None where there is nothing to be said. Called about every second, with the latest picture.
        """
        if not self._one_at_a_time.acquire(blocking=False):
            return None
        try:
            if not self._still.is_worth_a_look(image, self._clock()):
                return None
            verdict = self._taken(enrolment, subject, image)
            is_before = (enrolment.description.name, verdict.twin) == self._before
            is_news = verdict.is_good or not (verdict.fault in PASSING or is_before)
            self._still.looked(self._clock() + LOOK_AGAIN_S if is_news and not verdict.is_good else None)
            return verdict if is_news else None
        finally:
            self._one_at_a_time.release()

    def seen(self, image: Image) -> None:
        """What the camera shows now is not to be taken by itself: it has been taken with a tap."""
        with one_at_a_time(self._one_at_a_time):
            self._still.is_worth_a_look(image, self._clock())
            self._still.looked()

    def _taken(self, enrolment: Enrolment, subject: Subject, image: Image, *, more: bool = False) -> Verdict:
        verdict = enrolment.verdict(subject, image)
        if verdict.picture is not None:
            if more:
                enrolment.add(subject, verdict.picture)
            else:
                enrolment.keep(subject, [verdict.picture])
            self._before = (enrolment.description.name, subject_name(subject))
        return verdict
