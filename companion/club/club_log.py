"""The tables' received logs: each event once, unchanged except for erased names.

Storing locks the table's row, so two processes store a batch once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import class_row

from companion.club import deeds, desk, erased_names
from companion.club.batch import Batch, Missing, Sent, event_of
from companion.club.postgres import Connection
from companion.common.errors import Problem
from companion.common.text import say
from companion.match.questions import Letter
from companion.storage.events import Event

_GONE_AFTER_S = 90  # of silence


class Fork(Exception):
    """A table's log differs from the club's copy; holds the first differing number."""


class NotThisTable(Problem):
    """Another key owns the table."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A club table, without its events."""

    id: str
    name: str
    last: int
    told: int
    fork_at: int | None
    quiet_s: float
    copy_of: str | None  # earlier table whose log begins with the same event

    @property
    def is_gone(self) -> bool:
        return self.quiet_s > _GONE_AFTER_S

    @property
    def behind(self) -> int:
        """Number of events not yet received."""
        return max(0, self.told - self.last)


def take(db: Connection, batch: Batch, key: str | None) -> int:
    """Store a batch's new events; return the table's last event number. The caller commits.

    `key` is the ID of the batch's key. Raises Missing at a gap, NotThisTable if another valid key owns the table, and
    Fork if an event differs: noted in the table's row, nothing stored.
    """
    last, has_erased = _locked(db, batch, key)
    if batch.events and batch.first > last + 1:
        raise Missing(last + 1)
    known = [event for event in batch.events if event.seq <= last]
    differs = _differing(db, batch.table, known)
    if differs is not None:
        db.execute("UPDATE club.tables SET fork_at = %s, seen_at = now() WHERE id = %s", [differs, batch.table])
        raise Fork(differs)
    new = batch.events[len(known) :]
    name = erased_names.read(db).before(None).in_text(batch.name) if has_erased else batch.name
    if new:
        kept = erased_names.arrived(db, batch.table, new, has_erased=has_erased)
        _store(db, batch.table, new, kept)
        last = new[-1].seq
        for kind, body in filter(None, (desk.heard(event) for event, _ in kept)):
            deeds.append(db, desk.topic(batch.table), kind, name, body)
    db.execute(
        "UPDATE club.tables SET last = %s, told = %s, name = %s, key = %s, seen_at = now() WHERE id = %s",
        [last, last if batch.last is None else batch.last, name, key, batch.table],
    )
    return last


def _store(db: Connection, table: str, sent: Sequence[Sent], kept: Sequence[tuple[Sent, bool]]) -> None:
    db.execute(
        "INSERT INTO club.events (table_id, seq, crc, match, body, erased)"
        " SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::text[], %s::smallint[])",
        [
            table,
            [event.seq for event, _ in kept],
            [event.crc for event, _ in kept],
            [event.match for event, _ in kept],
            [event.body for event, _ in kept],
            [int(is_changed) for _, is_changed in kept],
        ],
    )
    if sent[0].seq == 1:
        begins = hashlib.sha256(f"{sent[0].crc}\n{sent[0].body}".encode()).hexdigest()
        db.execute("UPDATE club.tables SET begins = %s WHERE id = %s", [begins, table])


def letters(db: Connection, table: str) -> list[dict[str, object]]:
    """Return the letters (messages) that a table has not received, as in the protocol."""
    row = db.execute("SELECT has_letters FROM club.tables WHERE id = %s", [table]).fetchone()
    if row is None or not row[0]:
        return []
    waiting = desk.not_arrived(deeds.of(db, desk.topic(table)))
    if not waiting:
        db.execute("UPDATE club.tables SET has_letters = false WHERE id = %s", [table])
    return waiting


def send(db: Connection, table: str, what: Letter, who: str, *, of: int = 0, text: str = "", match: int = 0) -> None:
    """Send a letter (message) to a table, with the answer to its next batch. The caller commits.

    `of` is the line concerned, or 0.
    """
    db.execute("UPDATE club.tables SET has_letters = true WHERE id = %s", [table])
    deeds.append(db, desk.topic(table), what, who, {"of": of, "text": text, "match": match})


def _locked(db: Connection, batch: Batch, key: str | None) -> tuple[int, bool]:
    """Lock a table's row, creating it if new; return its last event number, and whether names were erased."""
    query = (
        "SELECT last, key, (SELECT revoked_at IS NULL FROM club.keys WHERE id = key), has_erased FROM club.tables"
        " WHERE id = %s FOR UPDATE"
    )
    row = db.execute(query, [batch.table]).fetchone()
    if row is None:
        if batch.first > 1 and batch.events:
            raise Missing(1)
        db.execute(
            "INSERT INTO club.tables (id, name, key) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [batch.table, batch.name, key],
        )
        db.execute("INSERT INTO club.judged (table_id) VALUES (%s) ON CONFLICT DO NOTHING", [batch.table])
        row = db.execute(query, [batch.table]).fetchone() or (0, None, None, False)
    last, owner, counts, has_erased = row
    if owner not in (None, key) and counts:
        raise NotThisTable(say("This table uses another key: the director can revoke it, then this one replaces it."))
    return last, bool(has_erased)


def _differing(db: Connection, table: str, events: Sequence[Sent]) -> int | None:
    """Return the number of the first event that differs from the stored one, if any.

    After an erasure only known checksums are compared.
    """
    if not events:
        return None
    rows = db.execute(
        "SELECT seq, crc, CASE WHEN erased = 0 THEN body END FROM club.events"
        " WHERE table_id = %s AND seq BETWEEN %s AND %s ORDER BY seq",
        [table, events[0].seq, events[-1].seq],
    ).fetchall()
    pairs = zip(events, rows, strict=True)
    return next((event.seq for event, row in pairs if not _is_the_same(event, *row)), None)


def _is_the_same(event: Sent, seq: int, crc: str, body: str | None) -> bool:
    return event.seq == seq and crc in ("", event.crc) and body in (None, event.body)


def tables(db: Connection, *, hidden: bool = False) -> list[TableRow]:
    """Return all tables by name; hidden ones only with `hidden`."""
    query = """
        SELECT id, name, last, told, fork_at,
               extract(epoch FROM now() - seen_at)::float AS quiet_s,
               CASE WHEN begins IS NOT NULL AND row_number() OVER same > 1
                    THEN first_value(name) OVER same END AS copy_of
          FROM club.tables WHERE hidden <= %s
        WINDOW same AS (PARTITION BY begins ORDER BY joined_at)
         ORDER BY regexp_replace(name, '[0-9]+', '', 'g'), nullif(regexp_replace(name, '[^0-9]', '', 'g'), '')::numeric,
                  name, joined_at
    """
    with db.cursor(row_factory=class_row(TableRow)) as cursor:
        return cursor.execute(query, [hidden]).fetchall()


def table_row(db: Connection, table: str, *, hidden: bool = True) -> TableRow | None:
    """Return one table; None if unknown."""
    return next((row for row in tables(db, hidden=hidden) if row.id == table), None)


def settle(db: Connection, table: str, *, hidden: bool) -> None:
    """Dismiss a table's fork; `hidden` removes the table from the boards."""
    db.execute("UPDATE club.tables SET fork_at = NULL, hidden = %s WHERE id = %s", [hidden, table])


def events(db: Connection, table: str, match: int, after: int = 0) -> tuple[Event, ...]:
    """Return a match's replayable events numbered above `after`."""
    rows = db.execute(
        "SELECT seq, body FROM club.events WHERE table_id = %s AND match = %s AND seq >= %s AND seq > %s ORDER BY seq",
        [table, match, match, after],
    )
    return replayed(rows)


def replayed(rows: Iterable[tuple[Any, ...]]) -> tuple[Event, ...]:
    """Return the replayable events in log rows (seq, body)."""
    return tuple(event for seq, body in rows if (event := event_of(seq, body)) is not None)
