"""Matches, hands and scores, derived from the tables' logs by replay and stored for the pages.

Judging continues at the first changed line of a remembered match, else starts at its first. Meanwhile the table's row
in `club.judged` is locked.
"""

from __future__ import annotations

import json
import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from companion.club import club_log
from companion.club.postgres import Connection, Pool, Unavailable, connected
from companion.match import statistics
from companion.match.history import history
from companion.match.state import judge_on
from companion.match.statistics import Figures
from companion.rules.record.judge import EMPTY_RECORD, Game, HandResult, JudgedRecord
from companion.rules.table import HowEnded
from companion.storage.events import Event

log = logging.getLogger(__name__)

PAUSE_S = 1.0  # between updates; about the age of a board
MOST_REMEMBERED = 256  # matches whose judged lines are remembered


@dataclass(frozen=True, slots=True)
class Judged:
    """A match as far as judged."""

    events: tuple[Event, ...] = ()
    record: JudgedRecord = EMPTY_RECORD
    hands: tuple[HandResult, ...] = ()  # finished ones


class Projector:
    """Keeps the derived tables up to date, in one thread."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: dict[tuple[str, int], Judged] = {}
        self._written: dict[str, int] = {}
        """Each table's last event that this process wrote; others may have continued."""

        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="projection", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the current table; waits at most 5 s."""
        self._ended.set()
        self._thread.join(5)

    def _run(self) -> None:
        while not self._ended.wait(PAUSE_S):
            try:
                self.catch_up()
            except Unavailable:
                pass
            except psycopg.Error:
                log.exception("the boards cannot be brought up to date")

    def catch_up(self) -> None:
        """Judge every table with new events. Raises Unavailable."""
        with connected(self._pool) as db:
            rows = db.execute(
                "SELECT t.id FROM club.tables t JOIN club.judged j ON j.table_id = t.id WHERE j.seq < t.last"
            ).fetchall()
        waiting = [row[0] for row in rows]
        random.shuffle(waiting)
        waiting.sort(key=lambda table: table not in self._written)  # remembered ones first
        for table in waiting:
            if self._ended.is_set():
                return
            try:
                with connected(self._pool) as db:
                    self._judge(db, table)
            except psycopg.DataError:
                log.exception("what table %s comes to cannot be stored", table)
                with connected(self._pool) as db:
                    db.execute(
                        "UPDATE club.judged SET seq = last FROM club.tables WHERE id = table_id AND id = %s", [table]
                    )

    def _judge(self, db: Connection, table: str) -> None:
        """Judge a table's new events, unless another process does."""
        query = "SELECT seq FROM club.judged WHERE table_id = %s FOR UPDATE SKIP LOCKED"
        row = db.execute(query, [table]).fetchone()
        if row is None:
            return
        since = row[0]
        if since == 0:  # judge all again: remembered matches may contain an erased name
            self._known = {key: known for key, known in self._known.items() if key[0] != table}
        found = db.execute(
            "SELECT match, max(seq) FROM club.events WHERE table_id = %s AND seq > %s GROUP BY match", [table, since]
        ).fetchall()
        is_ours = self._written.get(table) == since > 0
        for match, last in found:
            if match is not None:
                self._judge_match(db, table, match, last, is_ours=is_ours)
        if found:
            last = max(last for _, last in found)
            db.execute("UPDATE club.judged SET seq = %s WHERE table_id = %s", [last, table])
            self._written[table] = last

    def _judge_match(self, db: Connection, table: str, match: int, last: int, *, is_ours: bool) -> None:
        """Judge a match to its end; write changes, or everything if another process wrote last."""
        before = self._known.pop((table, match), Judged())
        try:
            after = _judged_on(db, table, match, before)
        except psycopg.Error:
            raise
        except Exception:
            # foreign logs or unknown editions must not stop other matches
            log.exception("match %s of table %s cannot be judged", match, table)
            return
        _write_match(db, table, match, last, after)
        goes_on = after.record.lines[: len(before.record.lines)] == before.record.lines
        is_called_so = after.record.game.shown == before.record.game.shown
        if not (is_ours and after.hands == before.hands and goes_on and is_called_so):
            _write_hands(db, table, match, after)
        self._known[table, match] = after
        while len(self._known) > MOST_REMEMBERED:
            del self._known[next(iter(self._known))]


def _judged_on(db: Connection, table: str, match: int, before: Judged) -> Judged:
    events = before.events + club_log.events(db, table, match, before.events[-1].seq if before.events else 0)
    record, _ = judge_on(before.record, history(events).lines)
    finished = tuple(hand for hand in record.hands.values() if hand.how is not HowEnded.OPEN)
    return Judged(events, record, finished)


def _write_match(db: Connection, table: str, match: int, last: int, judged: Judged) -> None:
    db.execute(
        "INSERT INTO club.matches (table_id, match, last, state, figures) VALUES (%s, %s, %s, %s, '{}')"
        " ON CONFLICT (table_id, match) DO UPDATE SET last = excluded.last, state = excluded.state",
        [table, match, last, Jsonb(state_of(judged.record.game), _as_json)],
    )


def _write_hands(db: Connection, table: str, match: int, judged: Judged) -> None:
    db.execute("DELETE FROM club.hands WHERE table_id = %s AND match = %s", [table, match])
    for hand in judged.hands:
        result = Jsonb(hand.as_json(str(match)), _as_json)
        db.execute("INSERT INTO club.hands VALUES (%s, %s, %s, %s)", [table, match, hand.number, result])
    figures = {key: one.as_dict() for key, one in statistics.players_of(judged.record).items()}
    db.execute(
        "UPDATE club.matches SET figures = %s WHERE table_id = %s AND match = %s",
        [Jsonb(figures, _as_json), table, match],
    )


def state_of(game: Game) -> dict[str, Any]:
    """Return a match's state for the boards, as a JSON value."""
    km = {side.name: side.km for side in game.table.sides} if game.table else {}
    sides = [
        {
            "name": team.name,
            "players": [game.shown.get(player, player) for player in team.players],
            "total": game.totals.get(team.name, 0),
            "km": km.get(team.name, 0),
        }
        for team in game.teams
    ]
    return {
        "edition": game.edition_name.partition(".")[0],  # name of a table's own edition
        "hand": game.hand_number,
        "is_open": game.hand_is_open,
        "target": game.table.target if game.table else None,
        "sides": sides,
        "winner": game.winner,
    }


def _as_json(value: object) -> str:
    # PostgreSQL's JSON cannot contain NUL.
    return json.dumps(value).replace("\\u0000", "")


def rebuild(pool: Pool) -> int:
    """Delete and derive everything again; return the number of tables. Raises Unavailable.

    Running club processes share the work; this waits for them.
    """
    with connected(pool) as db:
        # waits for tables being judged; no process can begin another
        db.execute("UPDATE club.judged SET seq = 0")
        db.execute("TRUNCATE club.matches, club.hands")
        tables = dict(db.execute("SELECT id, last FROM club.tables WHERE last > 0").fetchall())
    wait_for(pool, tables)
    return len(tables)


def wait_for(pool: Pool, events: Mapping[str, int]) -> None:
    """Judge until every table has reached its event. Raises Unavailable."""
    projector = Projector(pool)
    while True:
        projector.catch_up()
        with connected(pool) as db:
            judged = dict(db.execute("SELECT table_id, seq FROM club.judged").fetchall())
        if all(judged.get(table, 0) >= last for table, last in events.items()):
            return
        time.sleep(0.1)


# For the boards


def latest_states(db: Connection) -> dict[str, dict[str, Any]]:
    """Return the latest match's state by table ID."""
    # an index lookup per table: sorting all matches would become slow
    rows = db.execute(
        "SELECT t.id, m.state FROM club.tables t CROSS JOIN LATERAL"
        " (SELECT state FROM club.matches WHERE table_id = t.id ORDER BY last DESC LIMIT 1) m"
    )
    return dict(rows.fetchall())


def matches_of(db: Connection, table: str) -> list[int]:
    """Return a table's match numbers, latest event first."""
    rows = db.execute("SELECT match FROM club.matches WHERE table_id = %s ORDER BY last DESC", [table])
    return [row[0] for row in rows]


def standings(db: Connection) -> list[Figures]:
    """Return the players' figures over all visible tables, most matches won first.

    Equal names at different tables count as one player.
    """
    rows = db.execute(
        "SELECT figures FROM club.matches m JOIN club.tables t ON t.id = m.table_id WHERE NOT t.hidden"
        " AND figures <> '{}' ORDER BY t.joined_at, match"
    )
    found = statistics.together({key: _figures(one) for key, one in each.items()} for (each,) in rows)
    return sorted(found.values(), key=lambda one: (-one.matches_won, -one.hands_won, -one.points, one.name))


def _figures(written: dict[str, Any]) -> Figures:
    counters = {name: Counter(written.get(name, {})) for name in ("hazards", "gave", "met", "beaten")}
    return Figures(**written | counters)
