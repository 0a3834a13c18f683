"""Which card a code or a half hidden face is, by all its readings together."""

from __future__ import annotations

from collections.abc import Mapping

from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.rules.play import Play
from companion.rules.referee import objections
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of, is_any_copy
from companion.tracking.track import LOOKS, MOMENT_S, Track
from companion.tracking.tracker import Tracks

CLEAR_LEAD, LEAST_LEAD = 0.15, 0.5
"""Margin by which every reading has to put a card first, or else legal plays come first, and the minimum confidence in
such a card."""


def is_ripe(track: Track, t_s: float) -> bool:
    """True if it has been read often enough to decide."""
    return len(track.readings) >= LOOKS and t_s - track.since_s >= MOMENT_S


def known_face(track: Track, tracks: Tracks) -> Card | None:
    """Return the face of a card, told by one reading or by all of them together; None where people have to say."""
    if track.face is not Card.UNKNOWN:
        return track.face
    firsts = {_clear_first(read) for read in track.readings}
    first = firsts.pop() if len(firsts) == 1 and is_ripe(track, tracks.t_s) else None
    # Of a face alone there may be another copy elsewhere: people had better say.
    if first is None or is_any_copy(first) or _lies_elsewhere(first, track, tracks):
        return None
    return face_of(first)


def candidates(track: Track, tracks: Tracks) -> list[tuple[str, float]]:
    """Return the physical cards that it may be, likeliest first, with the mean confidence of its readings."""
    cards = {card for read in track.readings for card in read}
    mean = {card: sum(read.get(card, 0.0) for read in track.readings) / len(track.readings) for card in cards}
    here = {card: share for card, share in mean.items() if not _lies_elsewhere(card, track, tracks)}
    return sorted(here.items(), key=lambda item: (-item[1], item[0]))


def plays_of(track: Track, tracks: Tracks, table: Table, places: Places) -> list[tuple[Play, float]]:
    """Return what it may mean, no two alike: likeliest first, of plays about as likely the legal ones."""
    found: dict[Play, float] = {}
    for card, confidence in candidates(track, tracks):
        guess = places.play_at(face_of(card), track.zone, track.place.sideways, table)
        if guess is not None:
            found.setdefault(guess.play, confidence)
    best = max(found.values(), default=0.0)
    return sorted(
        found.items(),
        key=lambda item: (item[1] < best - CLEAR_LEAD, bool(objections(table, item[0])), -item[1]),
    )


def _lies_elsewhere(card: str, track: Track, tracks: Tracks) -> bool:
    return any(t.card == card and t is not track for t in tracks.there)


def _clear_first(read: Mapping[str, float]) -> str | None:
    """The card that a reading puts first by far."""
    first = max(read, key=lambda card: read[card], default="")
    second = max((confidence for card, confidence in read.items() if card != first), default=0.0)
    return first if read.get(first, 0.0) >= max(LEAST_LEAD, second + CLEAR_LEAD) else None
