"""A log that an older version of the program has left: it is brought up to date when it is opened.

So that there always is one, the program is given one more migration than it has.
"""

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from companion.match.match import Match
from companion.storage import database
from companion.storage.event_store import Event, Store

_REAL = database.MIGRATIONS
MADE_UP = """
    CREATE TABLE made_up (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL) STRICT;
    INSERT INTO made_up SELECT seq, kind FROM event;
"""
LINES = ("Ann roll", "Bob roll", "Ann 100", "Bob stop > Ann", "Ann right-of-way !", "Ann 200")


def need_one_more_migration() -> None:
    """Lets the program believe that the schema of its logs has changed once more."""
    database.MIGRATIONS = (*_REAL, MADE_UP)


@contextlib.contextmanager
def one_more_migration() -> Iterator[None]:
    """The same for a while."""
    before = database.MIGRATIONS
    need_one_more_migration()
    try:
        yield
    finally:
        database.MIGRATIONS = before


def write_old_log(path: Path) -> tuple[Event, ...]:
    """Writes a log as the first version wrote it, with a match that was begun; gives its events."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "log.sqlite3", clock=lambda: 1.7e9)
        match = Match(store)
        match.start(("side Ann", "side Bob", "hand first Ann"))
        for line in LINES:
            match.enter(line, "Ann")
        events = store.events(1)
        rows = store._db.execute("SELECT seq, match, at_s, kind, body FROM event").fetchall()
        store.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(f"BEGIN; {database.MIGRATIONS[0]} PRAGMA user_version = 1; COMMIT;")
    db.executemany("INSERT INTO event (seq, match, at_s, kind, body) VALUES (?, ?, ?, ?, ?)", rows)
    db.close()
    return events
