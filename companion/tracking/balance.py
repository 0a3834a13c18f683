"""The table against the record: which cards lie there beyond it, and which are gone that it has."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from companion.match.questions import Answers, Kind, Question
from companion.match.zone_plays import Places
from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code
from companion.rules.referee import apply, objections
from companion.rules.table import Table
from companion.tabletop.mat_layout import DISCARD_ZONE
from companion.tracking.identity import SPREAD, Expected
from companion.tracking.track import Place, State, Track
from companion.tracking.tracker import Tracks

FIRST_LOOKS_S = 1.0
"""Cards that are in sight this soon after the looking began lay there before."""

UNSEEN = 0
"""In place of a serial: a card that was laid and that nobody will see."""

Spot = tuple[str, Card]
"""A zone and a face."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the open hand that counts."""

    seq: int
    play: Play
    before: Table
    """The table that it was played on."""

    serial: int | None = None
    """The track that it was told by."""


@dataclass(frozen=True, slots=True)
class Record:
    """What the record says of the open hand."""

    match: int
    hand: int
    """The event that began the hand: cards laid before it are left over, and mean nothing."""

    table: Table | None
    lines: tuple[Line, ...] = ()
    answers: Answers = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Balance:
    """What is left over once the cards that agree are set against each other."""

    extra: tuple[Track, ...] = ()
    """Cards that lie there and are not in the record, in the order in which they came."""

    missing: tuple[Track, ...] = ()
    """Cards that have gone and are in the record, the latest first."""


def balance(tracks: Tracks, hand: int, table: Table, lines: Sequence[Line], places: Places) -> Balance:
    """Return how the cards differ from a table to which these lines have led."""
    mine = [track for track in tracks.cards if track.laid_seq is not None and track.laid_seq >= hand]
    want = Counter(places.lying(table))
    if table.draw_pile == 0 and discards_are_gone(tracks, table, lines):
        # They are the draw pile now: the record shuffles them with the next card that is drawn.
        want -= Counter((DISCARD_ZONE, card) for card in table.discards)
    for spot in (spot for line in lines if line.serial == UNSEEN for spot in spots_of(line, places)):
        _consume(want, spot)
    told = {line.serial: line for line in lines if line.serial is not None}
    loose: list[Track] = []
    for track in (track for track in mine if track.is_there):
        own = next(spots_of(told[track.serial], places), None) if track.serial in told else None
        if own is None:
            loose.append(track)
        # A beaten hazard may lie on in its place, or be on the discard pile by now.
        elif not _consume(want, own):
            _consume(want, (DISCARD_ZONE, own[1]))
    lifted, bared = _bared(mine, table) or (None, None)
    upon = [t for t in loose if t is not bared and _is_upon_top(t, mine, table, places)]
    kept = _kept_for_gone(mine, loose, want, told, lines, table, places)
    unknown = _told_by_forgotten(tracks, lines, places)
    left = [
        t for t in loose if t in upon or _came_later(t, tracks, want, unknown) or not _consume(want, (t.zone, t.face))
    ]
    extra = tuple(t for t in left if not _was_let_go(t, lines, table, places))
    others = [t for t in mine if t not in kept]
    missing = (*kept, *_missing(others, want, told, lines, table, places))
    return Balance(extra, (*([lifted] if lifted else []), *sorted(missing, key=lambda t: -t.serial)))


def _told_by_forgotten(tracks: Tracks, lines: Sequence[Line], places: Places) -> Counter[Spot]:
    """How many cards of each spot were told by tracks that are forgotten: they lay there when the looking began."""
    known = {track.serial for track in tracks.cards}
    told = (line for line in lines if line.serial and line.serial not in known)
    return Counter(spot for line in told for spot in spots_of(line, places))


def _came_later(track: Track, tracks: Tracks, want: Counter[Spot], unknown: Counter[Spot]) -> bool:
    """True if a card came after the looking began, and all like it in the record lay there before."""
    spot = (track.zone, track.face)
    if track.earliest_s > tracks.begun_s + FIRST_LOOKS_S:
        return 0 < want[spot] <= unknown[spot]
    unknown[spot] -= 1
    return False


def spots_of(line: Line, places: Places) -> Iterator[Spot]:
    """Return where the cards of a line lie once it is played."""
    zone = places.zone_of(line.play, line.before)
    if zone is not None and line.play.card is not None:
        yield zone, line.play.card
        if line.play.times > 1:
            yield zone, Card.ACCELERATOR


def _consume(want: Counter[Spot], spot: Spot) -> bool:
    """Take one card off what is wanted; True if there was one."""
    if want[spot] <= 0:
        return False
    want[spot] -= 1
    return True


def discards_are_gone(tracks: Tracks, table: Table, lines: Sequence[Line]) -> bool:
    """True if all discards, two or more, have gone since the last play."""
    last = lines[-1].seq if lines else 0
    discards = (track for track in tracks.cards if track.zone == DISCARD_ZONE and track.state is State.GONE)
    gone = Counter(track.face for track in discards if track.gone_seq >= last)
    shuffles = table.edition.empty_pile == "reshuffle"
    return shuffles and len(table.discards) > 1 and not Counter(table.discards) - gone


def _is_upon_top(track: Track, mine: Sequence[Track], table: Table, places: Places) -> bool:
    """True if it covers what the record has on top of a pile: then it is none of those beneath."""
    if track.zone.partition("/")[2] in SPREAD or (track.zone == DISCARD_ZONE and track.face.family is Family.HAZARD):
        # Cards that lie side by side cover nothing, and a beaten hazard is carried to the discard pile at any time.
        return False
    recorded = places.cards(table, track.zone)
    top = recorded[-1] if recorded else None
    before = [t for t in mine if t.is_there and t.zone == track.zone and t.face is top and t.serial < track.serial]
    return 0 < recorded.count(top) <= len(before) and before[-1].state is State.COVERED


def _bared(mine: Sequence[Track], table: Table) -> tuple[Track, Track] | None:
    """The top of the discard pile where it may have been taken, and the one beneath it, in sight for the first time."""
    there = [track for track in mine if track.is_there and track.zone == DISCARD_ZONE]
    if len(table.discards) < 2 or objections(table, taking(table)):
        return None
    faces = [track.face for track in there]
    beneath, top = table.discards[-2:]
    if beneath is top or beneath in faces[:-1] or faces[-2:] != [top, beneath] or there[-2].state is not State.COVERED:
        return None
    return there[-2], there[-1]


def taking(table: Table) -> Play:
    """Return the play of the player to move, should he take the top of the discard pile."""
    return Play(Verb.TAKE, table.player_to_move)


def _was_let_go(track: Track, lines: Sequence[Line], table: Table, places: Places) -> bool:
    """True if the record has had this card there and let it go since it was laid: it may lie on for a while."""
    laid_seq = track.laid_seq or 0
    tables = [*(line.before for line in lines if line.seq > laid_seq), table]
    counts = [places.cards(each, track.zone).count(track.face) for each in tables]
    return any(later < earlier for earlier, later in itertools.pairwise(counts))


def _kept_for_gone(
    mine: Sequence[Track],
    loose: Sequence[Track],
    want: Counter[Spot],
    told: Mapping[int, Line],
    lines: Sequence[Line],
    table: Table,
    places: Places,
) -> list[Track]:
    """The cards that are gone and that the record has: no other sticker of the same face stands in for them."""
    kept = []
    for track in mine:
        spot = next(spots_of(told[track.serial], places), None) if track.serial in told else None
        if track.state is not State.GONE or track.card is None or spot is None:
            continue
        back = any(t.card == track.card and (t.zone, t.face) == spot for t in loose)
        if not back and not _was_let_go(track, lines, table, places) and _consume(want, spot):
            # It may have been put back meanwhile, and be gone once more.
            alike = (t for t in mine if t.state is State.GONE and (t.card, t.zone) == (track.card, track.zone))
            kept.append(max(alike, key=lambda t: t.serial))
    return kept


def _missing(
    mine: Sequence[Track],
    want: Counter[Spot],
    told: Mapping[int, Line],
    lines: Sequence[Line],
    table: Table,
    places: Places,
) -> Iterator[Track]:
    """The cards that have gone while the record had them, and has them still."""
    for track in sorted((t for t in mine if t.state is State.GONE), key=lambda t: -t.serial):
        line = told.get(track.serial)
        spot = next(spots_of(line, places), None) if line is not None else (track.zone, track.face)
        if spot is None:
            continue
        then = next((one.before for one in lines if one.seq > track.gone_seq), table)
        if (line is not None or track.face in places.cards(then, track.zone)) and _consume(want, spot):
            yield track


def expected(record: Record, places: Places, asked: Sequence[Question] = ()) -> Expected:
    """Return what the record, and the plays that wait, let the tracker expect where pictures do not tell."""
    table = record.table
    if table is None:
        return Expected(lambda _face, _place: False, lambda _face, _zone: 0)
    lying = Counter(places.lying(table))
    waiting = (q for q in asked if q.kind is Kind.PLAY and q.is_legal and q.table is not None)
    tables = [table, *(apply(q.table, q.plays[0]) for q in waiting if q.table is not None)]

    def is_legal(face: Card, place: Place) -> bool:
        return any(_may_be_laid(face, place, each, places) for each in tables)

    top = table.discards[-1] if table.discards and not objections(table, taking(table)) else None
    return Expected(is_legal, lambda face, zone: lying[(zone, face)], top)


def _may_be_laid(face: Card, place: Place, table: Table, places: Places) -> bool:
    """True if nothing but the turn speaks against it: a play before it may have been missed."""
    guess = places.play_at(face, place.zone, place.sideways, table)
    if table.is_over or guess is None:
        return False
    return all(reason.code is Code.NOT_YOUR_TURN for reason in objections(table, guess.play))
