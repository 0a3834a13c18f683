"""Export or erase a player's data.

Erasing replaces the name with an alias in all texts of events and deeds, so the other players keep their hands. Events
keep their original 32-bit checksums, so a table can send them again; these reveal no name, but can confirm a guess.
`erased_names.py` handles later events.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from companion.club import club_log, deeds, erased_names, people, projection
from companion.club.aliases import Aliases, folded, words_of
from companion.club.club_log import replayed
from companion.club.deed import Deed
from companion.club.keys import LETTERS
from companion.club.postgres import Connection
from companion.common.errors import Problem
from companion.common.text import plain, say
from companion.match.archive import judged

log = logging.getLogger(__name__)

Place = tuple[str, int | None]  # table and match (None for events without one)


@dataclass(frozen=True, slots=True)
class Erased:
    """Numbers of changed entries."""

    alias: str  # replaces the name
    matches: int = 0
    events: int = 0  # in all tables' logs
    tournaments: int = 0
    deeds: int = 0  # in the club's log, including tournaments
    people: int = 0
    titles: int = 0  # of tables and keys


def known_of(db: Connection, name: str) -> dict[str, object]:
    """Return all data about a player as a JSON value. Raises Problem for an empty name."""
    aliases = _finding(name)
    figures = [one.as_dict() for one in projection.standings(db) if aliases.name(one.name)]
    rows = db.execute("SELECT table_id, match, state FROM club.matches ORDER BY 1, 2").fetchall()
    matches = [{"table": table, "match": number, **state} for table, number, state in rows if _plays(state, aliases)]
    said = [asdict(deed) for deed in deeds.begun(db) if _without(aliases, deed) != (deed.who, dict(deed.body))]
    persons = [asdict(one) for one in people.everybody(db) if aliases.name(one.name)]
    events = [
        {"table": table, "event": seq, **_object(body)} for table, _, seq, body in _naming(db, name, aliases, {}, {})
    ]
    return {
        "name": name, "figures": figures, "matches": matches, "events": events, "deeds": said, "people": persons,
    }  # fmt: skip


def erase(db: Connection, name: str) -> Erased:
    """Replace a player's name everywhere in the club; the caller commits.

    Raises Problem if the name is empty, unknown, now playing, or a word that a score depends on.
    """
    alias = "Player-" + "".join(secrets.choice(LETTERS) for _ in range(5))
    aliases = _finding(name, alias)
    _refuse_playing(db, name, aliases)
    erased_names.keep(db, name, alias)
    events = _erase_events(db, name, aliases)
    titles = _erase_titles(db, aliases)
    begun, changed = _erase_deeds(db, aliases)
    named = [one for one in people.everybody(db) if aliases.name(one.name)]
    for person in named:
        people.remove(db, person)
    if not (events or named or titles or changed):
        raise Problem("The club has no player called “%(name)s”.", name=plain(name, 48))
    matches = sum(match is not None for _, match in events)
    return Erased(alias, matches, sum(events.values()), begun, changed, len(named), titles)


def _finding(name: str, alias: str = "?") -> Aliases:
    words = words_of(name)
    if not words:
        raise Problem(say("Enter the player’s name."))
    return Aliases((len(words),), lambda found: alias if found == words else None)


# The tables' logs


def _erase_events(db: Connection, name: str, aliases: Aliases) -> Counter[Place]:
    """Replace the name in all tables' logs; return the changes by place.

    The first pass does most of the work. The second locks the tables, thus only briefly, until the caller commits.
    """
    last: dict[str, int] = dict(db.execute("SELECT id, last FROM club.tables").fetchall())
    changed: Counter[Place] = Counter()
    for after, to in (({}, last), (last, {})):
        if after is last:
            db.execute("LOCK TABLE club.tables IN EXCLUSIVE MODE")
        for place in dict.fromkeys((table, match) for table, match, _, _ in _naming(db, name, aliases, after, to)):
            changed[place] += _erase_in(db, *place)
    for place in changed:
        erased_names.note(db, *place)
    for table in {table for table, _ in changed}:
        erased_names.judge_anew(db, table)
    return changed


def _naming(
    db: Connection, name: str, aliases: Aliases, after: dict[str, int], to: dict[str, int]
) -> Iterator[tuple[str, int | None, int, str]]:
    """Yield table, match, number and body of events with the name, numbered above `after` up to `to`."""
    word = max(words_of(name), key=len)
    for (table,) in db.execute("SELECT id FROM club.tables ORDER BY id").fetchall():
        query = "SELECT match, seq, body FROM club.events WHERE table_id = %s AND seq > %s AND seq <= %s ORDER BY seq"
        with db.cursor(name="names") as cursor:
            cursor.execute(query, [table, after.get(table, 0), to.get(table, 2**62)])
            for match, seq, body in cursor:
                if word in folded(_readable(body)) and erased_names.changed(seq, body, aliases) != body:
                    yield table, match, seq, body


def _readable(body: str) -> str:
    if "\\u" not in body:
        return body
    outer = json.loads(body)
    inner = outer.get("body") if isinstance(outer, dict) else None
    return json.dumps([outer, _object(inner)], ensure_ascii=False)


def _object(text: object) -> dict[str, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _erase_in(db: Connection, table: str, match: int | None) -> int:
    """Replace names in a match; return the number of changed events. Raises Problem if a score would change."""
    if match is None:
        return erased_names.rewrite(db, table, None, erased_names.read(db).before(None))
    aliases, before = erased_names.in_match(db, table, match), _points(db, table, match)
    for edition in (True, False):
        with db.transaction() as attempt:
            count = erased_names.rewrite(db, table, match, aliases, edition=edition)
            if before in (None, _points(db, table, match)):
                return count
            raise psycopg.Rollback(attempt)
    raise Problem(say("This name is also a keyword of the record: erasing it would change the scores."))


def _points(db: Connection, table: str, match: int) -> list[list[int]] | None:
    """Return the totals after each hand; None if the match cannot be judged."""
    query = "SELECT seq, body FROM club.events WHERE table_id = %s AND match = %s ORDER BY seq"
    rows = db.execute(query, [table, match]).fetchall()
    try:
        return [list(hand.result.match.values()) for hand in judged(match, replayed(rows)).hands]
    except Exception:
        log.info("match %s of table %s cannot be judged", match, table)
        return None


def _plays(state: Mapping[str, Any], aliases: Aliases) -> bool:
    return any(aliases.name(who) for side in state["sides"] for who in side["players"])


def _refuse_playing(db: Connection, name: str, aliases: Aliases) -> None:
    """Raise Problem if a player of that name is in an open hand."""
    states = projection.latest_states(db)
    for row in club_log.tables(db, hidden=True):
        state = states.get(row.id)
        if state and state["is_open"] and not row.is_gone and _plays(state, aliases):
            who = plain(name, 48)
            raise Problem("%(who)s is playing at %(table)s: wait until the hand is over.", who=who, table=row.name)


# The club's own log


def _erase_deeds(db: Connection, aliases: Aliases) -> tuple[int, int]:
    count, tournaments = 0, set()
    for deed in deeds.begun(db):
        who, body = _without(aliases, deed)
        if (who, body) != (deed.who, dict(deed.body)):
            db.execute("UPDATE club.deeds SET who = %s, body = %s WHERE seq = %s", [who, Jsonb(body), deed.seq])
            count += 1
            tournaments |= {deed.topic} if deed.topic.startswith("tournament:") else set()
    return len(tournaments), count


def _without(aliases: Aliases, deed: Deed) -> tuple[str, dict[str, Any]]:
    # signed with the table's name, which may hold more words
    who = aliases.in_text(deed.who) if deed.topic.startswith("table:") else aliases.in_name(deed.who)
    return who, aliases.within(dict(deed.body), deed.kind)


def _erase_titles(db: Connection, aliases: Aliases) -> int:
    count = 0
    for title, more in (("tables", ", has_erased = true"), ("keys", "")):
        for number, name in db.execute(f"SELECT id, name FROM club.{title}".encode()).fetchall():  # noqa: S608
            if (new := aliases.in_text(name)) != name:
                query = f"UPDATE club.{title} SET name = %s{more} WHERE id = %s"  # noqa: S608
                db.execute(query.encode(), [new, number])
                count += 1
    return count
