"""The corridor from the camera to the match: it owns the loop and the thread, and decides nothing.

People confirm on their phones what it brings (`companion up`, `companion demo`). A film that nobody is asked about is
followed by `companion.tracking.offline`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import cv2
import numpy as np

from companion.common.errors import Problem
from companion.common.text import say
from companion.match.history import CAMERA, PHONE
from companion.match.match import Fate, Match, MatchState, Policy
from companion.match.proposals import Doubt, Mismatch, Proposal
from companion.rules import referee
from companion.rules.play import Play
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of
from companion.tracking.table_memory import where
from companion.tracking.tracker import Cleared, Event, Settled, Tracker, Unclear, Withdrawn
from companion.vision.capture.sources import Frame
from companion.vision.view import Sighting, View

log = logging.getLogger(__name__)

Look = Callable[[Frame], View]
"""The eye: what a frame shows. It remembers the mats and what lay still before."""

LIES_S = 3.0
"""What may be a card without a sticker is spoken of once it has lain so long."""

STRANGERS = 3
"""From so many cards on that cannot be read, and none that can, it is another deck that is played with."""

NOT_THIS_DECK = say(
    "None of the cards on the table can be read. Do they bear no stickers, or are they those of another deck?"
    " Choose the cards under More, or enter the plays by hand."
)

MOST_FAILURES = 5
"""So often what goes wrong with one picture is passed over."""

GOOD_AGAIN = 100
"""After so many pictures in a row with which nothing went wrong what did is forgotten."""

SOURCE_OVER = say("The pictures have come to an end. Plays can be entered by hand.")
CROP_MM = 52.0
CROP_SIDE_PX = 320


@dataclass(frozen=True, slots=True)
class _Known:
    """What the corridor last knew of the match, to tell what people have done since."""

    hand: int = 0
    last_seq: int = 0


class Corridor:
    """Takes frames to a match: a thread that reads, tracks and proposes, and hears what people answered."""

    def __init__(
        self,
        match: Match,
        look: Look,
        mats: Callable[[MatchState], dict[str, str]],
        begin_afresh: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._match = match
        self._look = look
        self._mats = mats
        self._begin_afresh = begin_afresh
        """Lets whoever looks forget all that went before."""

        self._tracker: Tracker | None = None
        self._waiting: set[int] = set()
        self._asked: set[int] = set()
        self._doubted: set[int] = set()
        """The doubts that wait for an answer."""

        self._plays: dict[int, Play] = {}
        """The plays proposed in this hand, by proposal."""

        self._known = _Known()
        self._last_id = 0
        """The last id of a proposal or a question of the tracker before."""

        self._match_id: int | None = None
        self._clock = clock
        self._latest: tuple[Frame, float] | None = None
        """The frame that came last, and until when it is fresh."""

        self._failures = self._good = 0
        self._things: dict[str, float] = {}
        """Since when something that may be a card without a sticker lies in each zone."""

        self._stop = threading.Event()

    def start(self, frames: Iterable[Frame], at_the_end: str = SOURCE_OVER) -> threading.Thread:
        """Runs the corridor in a thread of its own until the source ends, which is said so, or `stop` is called."""
        thread = threading.Thread(target=self._run, args=(frames, at_the_end), name="corridor", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """Asks the thread to end after the frame in hand."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Waits; True at once when the thread has been asked to end. For whoever makes the frames."""
        return self._stop.wait(seconds)

    @property
    def is_stopped(self) -> bool:
        """Whether the thread has been asked to end."""
        return self._stop.is_set()

    def begin_anew(self) -> None:
        """From the next frame on the cards lie as the record has them: what was seen before means nothing any more.

        Only for whoever makes the frames, between two of them: the simulated table can be laid anew at a stroke.
        """
        for proposal_id in sorted(self._waiting, reverse=True):
            self._match.withdraw(proposal_id)
        for mismatch_id in self._asked:
            self._match.clear_mismatch(mismatch_id)
        for doubt_id in self._doubted:
            self._match.clear_doubt(doubt_id)
        self._things, self._plays = {}, {}
        self._begin_afresh()
        self._forget()

    def _forget(self) -> None:
        """Another tracker from the next frame on; what it asks is not taken for what was settled before."""
        if self._tracker is not None:
            self._last_id, self._tracker = self._tracker.last_id, None

    def picture(self) -> bytes | None:
        """The latest frame as JPEG, or None where there is no fresh one."""
        image = self.image()
        return None if image is None else _jpeg(image)

    def image(self) -> np.ndarray | None:
        """The latest frame as it is, `(H, W, 3) uint8 BGR`, or None where there is no fresh one.

        What a camera saw a while ago says nothing of the table now, and nobody is to confirm anything by it.
        """
        latest = self._latest
        return latest[0].image if latest is not None and self._clock() <= latest[1] else None

    def _run(self, frames: Iterable[Frame], at_the_end: str) -> None:
        try:
            for frame in frames:
                if self._stop.is_set():
                    return
                self._take_or_begin_afresh(frame)
            if not self._stop.is_set():
                self._match.trouble(at_the_end)
        except Problem as problem:
            self._match.trouble(say("%(problem)s Plays can be entered by hand meanwhile.", problem=str(problem)))
        except Exception:
            # The table must be able to play on whatever went wrong with the camera.
            log.exception("the camera thread has failed")
            self._match.trouble(say("The camera has failed. Plays can be entered by hand; restart to see again."))

    def _take_or_begin_afresh(self, frame: Frame) -> None:
        """Takes a frame in; where that fails, though not too often, the next is looked at as if it were the first."""
        try:
            self.take(frame)
            self._good += 1
            if self._good >= GOOD_AGAIN:
                self._failures = 0
        except Problem:
            raise
        except Exception:
            self._failures, self._good = self._failures + 1, 0
            if self._failures > MOST_FAILURES:
                raise
            log.exception("a picture could not be taken in")
            self._begin_afresh()
            self._forget()

    def take(self, frame: Frame) -> None:
        """One frame on its way: read, followed, and what it brings handed to the match."""
        before, self._latest = self._latest, (frame, self._clock() + frame.fresh_s)
        if frame.after_gap or (before is not None and before[0].image.shape != frame.image.shape):
            self._lose_sight()
        view = self._look(frame)
        state = self._match.state
        self._match.trouble(view.trouble or self._of_things(view, state))
        if state.game.table is None:
            return
        self._hear(state)
        if self._tracker is None:
            return
        for event in self._tracker.update(view, preview(state)):
            self._hand_on(event, view, frame)

    def _lose_sight(self) -> None:
        """What was seen before the frames broke off, or on ones of another size, has not lasted till now."""
        self._things = {}
        if self._tracker is not None:
            self._tracker.lost_sight()

    def _of_things(self, view: View, state: MatchState) -> str | None:
        """What is to be said of something that may be a card without a sticker, once it has lain for a while."""
        self._things = {zone: self._things.get(zone, view.t_s) for zone in sorted(view.things)}
        lying = [zone for zone, since_s in self._things.items() if view.t_s - since_s >= LIES_S]
        if not lying or state.game.table is None:
            return None
        if len(lying) >= STRANGERS and not view.sightings:
            return NOT_THIS_DECK
        zone = lying[0]
        side, pile = self._mats(state).get(zone.partition("/")[0]), where(zone)
        named = pile.called(pile.replace("the", f"{side}'s", 1)) if side else pile
        return say("Something on %(zone)s cannot be read: if it is a card, enter the play.", zone=named)

    def _hear(self, state: MatchState) -> None:
        """What people have done since the last frame: a new match or hand, answers, plays entered by hand."""
        table = state.game.table
        if self._tracker is None or state.match != self._match_id:
            self._tracker = Tracker(self._mats(state), table, self._last_id)
            self._waiting, self._asked, self._doubted, self._match_id = set(), set(), set(), state.match
        elif state.game.hand_number != self._known.hand:
            self._tracker.new_hand()
            self._plays, self._doubted = {}, set()
        else:
            self._hear_answers(state, self._tracker)
        self._known = _Known(state.game.hand_number, state.seq)

    def _hear_answers(self, state: MatchState, tracker: Tracker) -> None:
        changed = 0
        for proposal_id in [i for i in self._waiting if i in state.fates]:
            fate = state.fates[proposal_id]
            changed += fate is Fate.CHANGED
            tracker.resolve(
                proposal_id,
                confirmed=fate in (Fate.CONFIRMED, Fate.CHANGED),
                changed=fate is Fate.CHANGED,
                taken_back=fate is Fate.TAKEN_BACK,
            )
            self._waiting.discard(proposal_id)
        by_hand = [e.play for e in state.entries if e.seq > self._known.last_seq and e.written.source == PHONE]
        for play in by_hand[changed:]:
            if play is not None and state.game.table is not None:
                tracker.expect(play, state.game.table)
        for doubt_id in self._doubted - {doubt.id for doubt in state.doubts}:
            tracker.answered(doubt_id)
            self._doubted.discard(doubt_id)
        shown = {mismatch.id for mismatch in state.mismatches}
        for mismatch_id in self._asked - shown:
            self._leave(mismatch_id)
        self._asked &= shown

    def _hand_on(self, event: Event, view: View, frame: Frame) -> None:
        match event:
            case Proposal():
                self._waiting.add(event.id)
                self._plays[event.id] = event.play
                self._match.propose(replace(event, crop=_crop(event, view, frame)))
            case Withdrawn(proposal_id):
                self._waiting.discard(proposal_id)
                self._match.withdraw(proposal_id)
            case Mismatch() if self._is_put_right(event):
                self._match.retract(self._match.state.hand_entries[-1].seq, CAMERA)
                self._leave(event.id)
            case Mismatch():
                self._match.mismatch(event)
                self._asked.add(event.id)
            case Doubt():
                self._doubted.add(event.id)
                self._match.doubt(replace(event, crop=_crop_of_doubt(event, view, frame)))
            case Settled(question_id) if question_id in self._doubted:
                self._doubted.discard(question_id)
                self._match.clear_doubt(question_id)
            case Settled(question_id):
                self._asked.discard(question_id)
                self._match.clear_mismatch(question_id)
            case Cleared():
                if self._match.state.policy is Policy.AUTO:
                    self._match.next_hand(CAMERA)
            case Unclear():
                pass  # Such a card would be asked about all the time.

    def _is_put_right(self, mismatch: Mismatch) -> bool:
        """Whether plays confirm themselves here and the card is that of the last one: nobody has to be asked."""
        state = self._match.state
        play = self._plays.get(mismatch.proposal_id or 0)
        by_itself = state.policy is Policy.AUTO and bool(state.hand_entries)
        return by_itself and play is not None and state.hand_entries[-1].play == play

    def _leave(self, mismatch_id: int) -> None:
        table = self._match.state.game.table
        if self._tracker is not None and table is not None:
            self._tracker.leave(mismatch_id, table)


def preview(state: MatchState) -> Table | None:
    """The table as it would be with every waiting legal play confirmed."""
    return with_legal(state.game.table, (pending.proposal.play for pending in state.pending))


def with_legal(table: Table | None, plays: Iterable[Play]) -> Table | None:
    """A table after those of some plays that are legal in their turn."""
    for play in plays:
        if table is not None and not referee.objections(table, play):
            table = referee.apply(table, play)
    return table


def _crop(proposal: Proposal, view: View, frame: Frame) -> bytes | None:
    """The card of a proposal, cut out of the frame."""
    here = (s for s in view.sightings if s.zone == proposal.zone)
    card = next((s for s in here if proposal.play.card in (s.face, *(face_of(c) for c, _ in s.rivals))), None)
    return _cut_out(card, view, frame)


def _crop_of_doubt(doubt: Doubt, view: View, frame: Frame) -> bytes | None:
    """The card that cannot be read, cut out of the frame."""
    return _cut_out(next((s for s in view.sightings if s.zone == doubt.zone and s.card is None), None), view, frame)


def _cut_out(sighting: Sighting | None, view: View, frame: Frame) -> bytes | None:
    """What lies round a sighting, as JPEG."""
    mat = (sighting.zone or "").partition("/")[0] if sighting is not None else ""
    scale = next((m.px_per_mm for m in view.mats if m.id == mat), None)
    if sighting is None or scale is None:
        return None
    x, y, reach = *map(int, sighting.centre_px), int(CROP_MM * scale)
    part = frame.image[max(0, y - reach) : y + reach, max(0, x - reach) : x + reach]
    if part.size == 0:
        return None
    factor = CROP_SIDE_PX / max(part.shape[:2])
    return _jpeg(cv2.resize(part, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA))


def _jpeg(image: np.ndarray) -> bytes | None:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return data.tobytes() if done else None
