"""The table followed live: a thread that looks at each frame, updates the beliefs and lets the match ask what follows.

People answer on their phones (`companion up`, `companion demo`). A film that nobody is asked about is followed by
`companion.tracking.film`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from companion.common.errors import Problem
from companion.common.text import say
from companion.match.history import CAMERA
from companion.match.match import Match
from companion.match.questions import Question, serial_of
from companion.match.state import MatchState, Policy
from companion.match.zone_plays import Places, where
from companion.rules.cards import Card
from companion.storage.events import EventKind, NewEvent
from companion.tabletop.mat_layout import TABLE, mat_of
from companion.tracking.follower import Follower
from companion.tracking.hand_record import Line, Record
from companion.tracking.handling import BARS
from companion.tracking.revising import Revision
from companion.tracking.robot_hand import RobotHand, public
from companion.vision.boxes import Image
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.sources import Frame
from companion.vision.opencv import cv2
from companion.vision.view import Blindness, Point, View

log = logging.getLogger(__name__)

NOT_THIS_DECK = say(
    "None of the cards on the table can be read. Do they have stickers? Are they from another deck? Choose the "
    "deck under More, or enter plays by hand."
)

MOST_FAILURES = 5  # how many more frames may fail than are taken in
SOURCE_OVER = say("The recording has ended. You can enter plays by hand.")
CROP_MM, CROP_SIDE_PX = 52.0, 320  # reach of a card's picture around the card's middle, and the size it is shown in


class TableWatch:
    """Takes frames to a match, in a thread of its own.

    `mats` gives the side's name by mat id; `begin_afresh` lets the eye forget what it saw; `memory` is the file in
    which what is followed outlasts a restart.
    """

    def __init__(
        self,
        match: Match,
        look: Callable[[Frame], View],
        mats: Callable[[MatchState], Mapping[str, str]],
        begin_afresh: Callable[[], None] = lambda: None,
        memory: Path | None = None,
    ) -> None:
        self._match, self._look, self._mats, self._begin_afresh = match, look, mats, begin_afresh
        self._follower = Follower(memory)
        self._follower.number_from(match.last_serial)
        self._of_match = match.state.match
        self._known: tuple[MatchState, Mapping[str, str], Record | None] = (match.state, {}, None)
        self._crops: dict[int, bytes | None] = {}
        self._latest: Frame | None = None
        self._hand = RobotHand()
        self._failures = 0
        self._since_s: dict[tuple[str, Blindness], float] = {}  # since when a zone cannot be read, for a reason
        self.stopping = threading.Event()  # set to ask the thread to end after the frame in hand

    # The thread

    def start(self, frames: Iterable[Frame], at_the_end: str = SOURCE_OVER) -> threading.Thread:
        """Run in a thread until the source ends, which is said, or `stopping` is set; return the thread."""
        thread = threading.Thread(target=self._run, args=(frames, at_the_end), name="table-watch", daemon=True)
        thread.start()
        return thread

    def _run(self, frames: Iterable[Frame], at_the_end: str) -> None:
        try:
            for frame in frames:
                if self.stopping.is_set():
                    return
                self._take_or_begin_afresh(frame)
            if not self.stopping.is_set():
                self._match.trouble(at_the_end)
        except Problem as problem:
            self._match.trouble(say("%(problem)s Until then, enter plays by hand.", problem=str(problem)))
        except Exception:
            # The table must be able to play on whatever went wrong with the camera.
            log.exception("the camera thread has failed")
            self._match.trouble(
                say("The camera has failed. Enter plays by hand; restart the companion to use the camera again.")
            )

    def _take_or_begin_afresh(self, frame: Frame) -> None:
        """Take a frame in; where that fails, though not too often, look at the next as if it were the first."""
        try:
            self.take(frame)
            self._failures = max(0, self._failures - 1)
        except Problem:
            raise
        except Exception:
            self._failures += 1
            if self._failures > MOST_FAILURES:
                raise
            log.exception("a picture could not be taken in")
            self._begin_afresh()
            self._follower.lose_sight()

    # One frame

    def take(self, frame: Frame) -> None:
        """Look at a frame, bring the beliefs up to date, and let the match ask what follows from them."""
        last, self._latest = self._latest, frame
        if frame.after_gap or (last is not None and last.image.shape != frame.image.shape):
            self._since_s = {}
            self._follower.lose_sight()
        # What the record said before the look: whatever the frame shows lay there by then.
        state = self._match.state
        if state.match != self._of_match:
            self._of_match = state.match
            if state.hand_entries:  # An earlier match is back: what was believed of another says nothing of it.
                self.begin_anew()
        seen = self._look(frame)
        before, self._hand, view = self._hand.cards, self._hand.after(seen), public(seen)
        if self._hand.cards != before:
            self._match.refresh()
        self._match.trouble(view.trouble or view.note or view.about_same_stickers or self._unreadable(view, state))
        self._follower.see(view, self._record(state))
        self._revise()
        self._ask(frame, view)
        self._deal()
        self._follower.save()

    def _ask(self, frame: Frame, view: View) -> None:
        """Let the match derive its questions from what is seen, now and after each change of the record."""
        crops, asking = self._crops, self._follower.asking()

        def derive(state: MatchState) -> tuple[Question, ...]:
            asked = asking(self._record(state))
            return tuple(replace(q, crop=crops.get(q.serial or 0)) for q in asked)

        self._crops = crops = {
            question.serial: self._crops.get(question.serial) or _cut_out(place, view, self._hand.hidden(frame.image))
            for question in derive(self._match.state)
            if question.serial is not None and (place := self._follower.place(question.serial)) is not None
        }
        self._match.look(derive)

    def _revise(self) -> None:
        """Change plays that counted by themselves, where what is seen since makes others likelier."""
        state = self._match.state
        if state.policy is Policy.AUTO:
            changes = self._follower.revisions(self._record(state))
            self._match.revise([_event_of(change) for change in changes], state.seq)

    def _deal(self) -> None:
        """Begin the next hand where plays count by themselves and the cards of the last have been gathered in."""
        state = self._match.state
        if state.policy is Policy.AUTO and self._follower.is_cleared(self._record(state)):
            self._match.next_hand(CAMERA)
            self._follower.deal(state.hand_entries[-1].seq)

    def _record(self, state: MatchState) -> Record:
        """Return what the record of the match says of the hand on the table."""
        mats, (of, of_mats, known) = self._mats(state), self._known
        if known is not None and mats == of_mats and _say_the_same(of, state):
            return known
        record = self._derived(state, Places(mats))
        self._known = state, mats, record
        return record

    @staticmethod
    def _derived(state: MatchState, places: Places) -> Record:
        lines = tuple(
            Line(
                entry.seq,
                entry.play,
                before.table,
                places,
                serial_of(entry.written.question),
                is_vouched=entry.written.corrected_by not in (None, CAMERA) or entry.written.by != CAMERA,
            )
            for entry, before in zip(state.entries[1:], state.record.games, strict=False)
            if entry.hand == state.game.hand_number and entry.play and before.table and not entry.needs_attention
        )
        is_automatic = state.policy is Policy.AUTO
        return Record(
            state.match or 0, state.hand_seq, places, state.game.table, lines, state.past.answers, is_automatic
        )

    def begin_anew(self) -> None:
        """Forget the cards: from the next frame on they lie as the record has them.

        Only for the maker of the frames, between two of them: the simulated table can be laid anew at a stroke.
        """
        self._since_s, self._crops = {}, {}
        self._follower.forget(max(self._follower.last_serial, self._match.last_serial))
        self._begin_afresh()
        self._match.look(lambda _state: ())

    def _unreadable(self, view: View, state: MatchState) -> str | None:
        """Return what is to be said of a zone that has not been readable for a while."""
        now = [(zone, Blindness.OBJECT) for zone in sorted(view.things)] + sorted(view.blind.items())
        self._since_s = {each: self._since_s.get(each, view.t_s) for each in now}
        waits_s = {reason: BARS.put_right_s if reason is Blindness.OBJECT else BARS.blind_s for reason in Blindness}
        lasting = [each for each, since_s in self._since_s.items() if view.t_s - since_s >= waits_s[each[1]]]
        in_play = self._mats(state)
        lasting = [(zone, why) for zone, why in lasting if mat_of(zone) in (*in_play, TABLE)]
        if not lasting or state.game.table is None:
            return None
        objects = [zone for zone, why in lasting if why is Blindness.OBJECT]
        if len(objects) >= BARS.many and not view.sightings:
            return NOT_THIS_DECK
        zone, why = lasting[0]
        side, pile = in_play.get(mat_of(zone)), where(zone)
        named = pile.called(pile.replace("the", f"{side}'s", 1)) if side else pile
        if why is Blindness.LIGHT:
            return say("Too much light on %(zone)s: turn the lamp, or tilt the mat.", zone=named)
        if why is Blindness.OUTSIDE:
            return say("Part of %(zone)s is outside the picture: move the camera or the mat.", zone=named)
        return say("Something in %(zone)s cannot be read: if it is a card, enter the play.", zone=named)

    # The last picture

    def picture(self) -> bytes | None:
        """Return the latest frame as JPEG, or None where there is no fresh one."""
        image = self.image()
        return None if image is None else jpeg_of(image)

    def image(self) -> Image | None:
        """Return the latest picture, `(H, W, 3) uint8 BGR`, or None where there is no fresh one.

        What a camera saw a while ago says nothing of the table now, and nobody is to confirm anything by it. A robot's
        hand is masked out; while a robot plays and a camera does not know where its hand lies, there is no picture.
        """
        latest, hand = self._latest, self._hand
        if latest is None or not latest.is_fresh():
            return None
        pictures = sum(part.frame is not None for part in latest.parts) or 1
        if self._match.state.robot_seat and len(hand.mats) < pictures:
            return None
        newer = latest.newest() if not hand.mats else None
        return hand.hidden(latest.image if newer is None else newer)

    def robot_hand(self) -> tuple[Card | None, ...] | None:
        """Return what lies in the slots of the robot's mat, for its helper alone; None while it is not seen."""
        return self._hand.cards


def _say_the_same(one: MatchState, other: MatchState) -> bool:
    """True if the record of the open hand is the same in both."""
    is_same = one.entries is other.entries and one.record is other.record and one.past is other.past
    return is_same and (one.match, one.hand_seq, one.policy) == (other.match, other.hand_seq, other.policy)


def _event_of(change: Revision) -> NewEvent:
    """Return the event that changes the record by the camera."""
    about: dict[str, object] = {"by": CAMERA}
    if change.play is not None:
        about |= {"text": str(change.play), "question": change.question}
    if change.is_new:
        return NewEvent(EventKind.LINE, about | {"source": CAMERA, "before": change.line})
    return NewEvent(EventKind.RETRACT if change.play is None else EventKind.CORRECT, about | {"of": change.line})


def _cut_out(place: tuple[str, Point], view: View, image: Image) -> bytes | None:
    """Return what lies around a card, as JPEG; `place` is its zone and its middle."""
    zone, centre_px = place
    scale = next((mat.px_per_mm for mat in view.mats if mat.id == mat_of(zone)), None)
    if scale is None:
        return None
    x, y, reach = *map(int, centre_px), int(CROP_MM * scale)
    part = image[max(0, y - reach) : max(0, y + reach), max(0, x - reach) : max(0, x + reach)]
    if part.size == 0:
        return None
    factor = CROP_SIDE_PX / max(part.shape[:2])
    small = cv2.resize(part, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    return jpeg_of(np.asarray(small, np.uint8))
