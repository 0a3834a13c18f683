"""Guided enrollment by camera: ask for a card, wait until it is still, save its picture.

`guided` asks in the terminal; on the pages, people choose the card.
"""

from __future__ import annotations

import math
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TextIO

from companion.common.errors import Problem
from companion.common.terminal import typed
from companion.common.text import Said, say
from companion.rules.card_names import card_term
from companion.tabletop.template_decks import Subject
from companion.vision.boxes import Image
from companion.vision.capture.sandbox import one_at_a_time
from companion.vision.capture.sources import Frame
from companion.vision.enrol.enrolment import Enrolment, FaceVerdict, Progress, kept_whole, lacking, noted, subject_name
from companion.vision.enrol.rectify import PictureFault
from companion.vision.enrol.sheet_enrolment import SheetResult, take
from companion.vision.motion import Gate, Motion, update

STILL_S = 0.6  # stillness before judging
LOOK_AGAIN_S = 4.0  # time before judging a refused card again: the camera may have focused


class Command(StrEnum):
    """Typed commands."""

    SKIP = "skip"
    QUIT = "quit"


Keys = Callable[[], Command | None]


# --- In the terminal ------------------------------------------------------------------------------------------


def guided(
    enrolment: Enrolment, frames: Iterable[Frame], keys: Keys | None = None, *, still_s: float = STILL_S
) -> Iterator[Progress]:
    """Enroll a deck's missing faces in the edition's order, yielding results, and requests if there are `keys`.

    Ends with a complete deck, the last frame or QUIT. Cards must be still for `still_s` seconds, 0 for separate
    photographs. Raises Problem if the deck is already complete or saving fails.
    """
    wanted = list(enrolment.wanted)
    if not wanted:
        name = enrolment.description.name
        raise Problem(
            "The deck '%(name)s' is complete: to start over, remove it first with `%(command)s`.",
            name=name,
            command=typed(f"decks remove {name}"),
        )
    now_s, was_refused = 0.0, False
    guide = Guide(lambda: now_s, still_s)
    if keys:
        yield _asked(enrolment, wanted)
    for frame in frames:
        key, subject, now_s = keys() if keys else None, wanted[0], frame.t_s
        if key is Command.QUIT:
            break
        if frame.after_gap:
            guide.lost_sight()
        verdict = guide.watch(enrolment, subject, frame.image) if key is None else None
        if key is Command.SKIP:
            yield Progress(say("%(card)s: skipped", card=subject_name(subject)))
        elif verdict is None:
            continue
        elif not verdict.is_good:
            was_refused = True
            refused = Said("%(card)s: %(why)s.", card=subject_name(subject), why=verdict.sentence)
            yield Progress(refused, is_fault=True)
            continue
        else:
            yield Progress(say("%(card)s: got it", card=subject_name(subject)), is_kept=True)
            yield from kept_whole([subject_name(subject)] * verdict.found.is_scan)
            yield from (noted(subject_name(subject), note) for note in [verdict.found.note] if note)
        wanted.pop(0)
        if not wanted:
            break
        if keys:
            yield _asked(enrolment, wanted)
    if was_refused and not keys:
        lost = say(
            "If a card was missed, the ones after it have wrong names: check the pictures in %(folder)s.",
            folder=enrolment.folder,
        )
        yield Progress(lost, is_fault=True)
    yield from lacking(enrolment)


def _asked(enrolment: Enrolment, wanted: Sequence[Subject]) -> Progress:
    count, subject = len(enrolment.cards) + 1, wanted[0]
    number = count + 1 - len(wanted)
    if subject is None:
        back = say(
            "%(number)d of %(most)d: put any card, back up, alone in front of the camera.", number=number, most=count
        )
        return Progress(back)
    card = card_term(subject, enrolment.description.edition)
    return Progress(
        say("%(number)d of %(most)d: put %(card)s alone in front of the camera.", number=number, most=count, card=card)
    )


class TerminalKeys:
    """Reads commands from the terminal: Enter skips, `q` and Enter quits."""

    def __init__(self, typed: TextIO | None = None) -> None:
        self._typed = typed or sys.stdin
        self._asked: queue.SimpleQueue[Command] = queue.SimpleQueue()
        threading.Thread(target=self._hear, name="keys", daemon=True).start()

    def __call__(self) -> Command | None:
        try:
            return self._asked.get_nowait()
        except queue.Empty:
            return None

    def _hear(self) -> None:
        for line in self._typed:
            self._asked.put(Command.QUIT if line.strip().lower() in ("q", "quit") else Command.SKIP)


# --- Picture by picture ---------------------------------------------------------------------------------------


class Guide:
    """Judges and saves each card once, one picture at a time. Thread-safe.

    `watch` waits until a card is still for `still_s` seconds, 0 for separate photographs.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, still_s: float = STILL_S) -> None:
        self._clock, self._still_s = clock, still_s
        self._one_at_a_time = threading.Lock()
        self._gate, self._looked = Gate(), Gate()
        self._since_s = self._again_s = math.inf  # when movement stopped; when to judge again
        self._before = ("", "")  # deck and face last saved

    def take(self, enrolment: Enrolment, subject: Subject, image: Image, *, more: bool = False) -> FaceVerdict:
        """Judge a picture; save a good one as the face's only one, or with `more` as another.

        Raises Problem while another is judged, or if saving fails.
        """
        with one_at_a_time(self._one_at_a_time):
            return self._taken(enrolment, subject, image, more=more)

    def take_many(self, enrolment: Enrolment, image: Image) -> SheetResult:
        """Cut all cards out of a picture, to be named later. Raises Problem like `take`."""
        with one_at_a_time(self._one_at_a_time):
            return take(enrolment, image)

    def watch(self, enrolment: Enrolment, subject: Subject, image: Image) -> FaceVerdict | None:
        """Judge and save a new, still card; return None without news.

        Call this about every second with the latest picture.
        """
        if not self._one_at_a_time.acquire(blocking=False):
            return None
        try:
            if not self._is_worth_a_look(image):
                return None
            verdict = self._taken(enrolment, subject, image)
            is_before = (enrolment.description.name, verdict.twin) == self._before
            # Between cards a camera shows the bare table, but each photograph should show a card.
            is_passing = verdict.fault is PictureFault.NO_CARD and self._still_s > 0
            is_news = verdict.is_good or not (is_passing or is_before)
            self._looked = self._gate
            self._again_s = self._clock() + LOOK_AGAIN_S if is_news and not verdict.is_good else math.inf
            return verdict if is_news else None
        finally:
            self._one_at_a_time.release()

    def lost_sight(self) -> None:
        """Restart the wait for stillness after a gap in the pictures."""
        self._since_s = math.inf

    def seen(self, image: Image) -> None:
        """Make `watch` skip the current view, handled by a tap."""
        with one_at_a_time(self._one_at_a_time):
            self._is_worth_a_look(image)
            self._looked, self._again_s = self._gate, math.inf

    def _is_worth_a_look(self, image: Image) -> bool:
        """True if a picture is still and new, or a refused one is due again."""
        self._gate, now_s = update(self._gate, image), self._clock()
        if self._gate.motion is not Motion.STILL or now_s < self._since_s:
            self._since_s = now_s
        if now_s - self._since_s < self._still_s:
            return False
        return now_s >= self._again_s or update(self._looked, image).motion is not Motion.STILL

    def _taken(self, enrolment: Enrolment, subject: Subject, image: Image, *, more: bool = False) -> FaceVerdict:
        verdict = enrolment.verdict(subject, image)
        if verdict.picture is not None:
            if more:
                enrolment.add(subject, verdict.picture)
            else:
                enrolment.keep(subject, [verdict.picture])
            self._before = (enrolment.description.name, subject_name(subject))
        return verdict
