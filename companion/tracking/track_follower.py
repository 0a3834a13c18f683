"""The follower where people confirm plays: tracks, reconciled with the record. `follower.py` is to replace it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from companion.match.questions import Question
from companion.tracking import snapshot, tracker
from companion.tracking.clearing import dealt, is_cleared, left_over
from companion.tracking.hand_record import Hint, Record
from companion.tracking.reconcile import reconcile
from companion.tracking.tracker import Tracks
from companion.vision.view import Point, View


class TrackFollower:
    """Follows a table by tracks.

    `memory` is the file in which they outlast a restart. `hand_seq`: the hand that began when the table was empty.
    """

    def __init__(self, memory: Path | None = None, hand_seq: int | None = None) -> None:
        self._memory = memory
        self._written: tuple[object, ...] | None = None
        self.tracks = snapshot.read(memory)
        self._hand_before = self.tracks.hand_seq if hand_seq is None else hand_seq

    @property
    def last_serial(self) -> int:
        return self.tracks.last_serial

    def see(self, view: View, record: Record, asked: tuple[Question, ...], seq: int) -> None:
        """Take a view in; `seq` is the record's last event when the frame was taken."""
        self.tracks = replace(self.tracks, hand_seq=record.hand_seq)
        self.tracks = tracker.update(self.tracks, view, Hint(record, asked), seq)
        if record.hand_seq != self._hand_before and not record.lines:
            self.tracks = left_over(self.tracks)

    def asking(self) -> Callable[[Record], tuple[Question, ...]]:
        """Return what derives the questions from a record and what is seen now."""
        tracks = self.tracks
        return lambda record: reconcile(tracks, record)

    def revisions(self, _record: Record) -> tuple[()]:
        """Return nothing: this follower does not change its mind."""
        return ()

    def place(self, serial: int | None) -> tuple[str, Point] | None:
        """Return the zone of a card and its middle in the picture."""
        track = self.tracks.by_serial.get(serial)
        return None if track is None else (track.zone, track.centre_px)

    def is_cleared(self, record: Record) -> bool:
        """True if the hand is over and its cards have been gathered in."""
        return is_cleared(self.tracks, record)

    def deal(self, ended: int) -> None:
        """Begin the next hand; `ended` is the line that ended the last one."""
        self.tracks = dealt(self.tracks, ended)

    def lose_sight(self) -> None:
        """Pictures were missing."""
        self.tracks = tracker.lost_sight(self.tracks)

    def forget(self, last_serial: int) -> None:
        """Begin without any card; the next has a number above this one."""
        self.tracks = replace(Tracks(last_serial=last_serial), hand_seq=self.tracks.hand_seq)

    def number_from(self, last_serial: int) -> None:
        """Give cards numbers above this one."""
        self.tracks = replace(self.tracks, last_serial=max(last_serial, self.tracks.last_serial))

    def save(self) -> None:
        """Write to the disk what has changed."""
        if self._memory is not None:
            self._written = snapshot.write(self._memory, self.tracks, self._written)
