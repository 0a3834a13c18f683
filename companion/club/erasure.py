"""What the club knows of a player, to be taken along or erased.

A name is erased by putting another in its place, in the tables' logs too: who else played keeps the hands. The events
keep the checksums of what the tables have, so that a table which sends them again finds them here; a checksum of 32
bits tells nobody a name, but whoever guesses it can see that the guess fits. What the table adds to such a match
afterwards, which would name the player again, is kept without its words.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from psycopg.types.json import Jsonb

from companion.club import club_log, deeds, people, projection
from companion.club.club_log import replayed
from companion.club.keys import LETTERS
from companion.club.postgres import Connection
from companion.common.errors import Problem
from companion.common.text import plain, say
from companion.match.archive import judged
from companion.match.statistics import key_of

_NOT_NAMES = frozenset({"system", "edition", "role", "table", "place"})  # keys of deeds whose values name no people


def _matches(db: Connection, key: str) -> list[tuple[str, int, dict[str, Any]]]:
    """Return table, number and state of the matches in which somebody of that name plays."""
    rows = db.execute("SELECT table_id, match, state FROM club.matches ORDER BY 1, 2").fetchall()
    return [row for row in rows if any(key_of(who) == key for side in row[2]["sides"] for who in side["players"])]


def known_of(db: Connection, name: str) -> dict[str, object]:
    """Return all that the club knows of a player, as JSON has it. Raises Problem for nobody."""
    key = key_of(name)
    if not key:
        raise Problem(say("Say whose data it is."))
    word = _word(name)
    figures = [one.as_dict() for one in projection.standings(db) if key_of(one.name) == key]
    matches = [{"table": table, "match": number, **state} for table, number, state in _matches(db, key)]
    done = ((deed, f"{deed.who} {json.dumps(deed.body, ensure_ascii=False)}") for deed in deeds.begun(db))
    said = [asdict(deed) for deed, text in done if word.search(text)]
    persons = [asdict(one) for one in people.everybody(db) if key_of(one.name) == key]
    return {"name": name, "figures": figures, "matches": matches, "deeds": said, "people": persons}


def erase(db: Connection, name: str) -> str:
    """Erase a player's name wherever the club has it; return what stands in its place. Raises Problem."""
    key = key_of(name)
    alias = "Player-" + "".join(secrets.choice(LETTERS) for _ in range(5))
    there = _matches(db, key) if key else []
    named = [one for one in people.everybody(db) if key_of(one.name) == key]
    changed = _erase_deeds(db, _word(name), alias) if key else 0
    if not there and not named and not changed:
        raise Problem("The club knows nobody called “%(name)s”.", name=plain(name, 48))
    present = {row.id: row for row in club_log.tables(db, hidden=True)}
    for table, number, state in there:
        row = present[table]
        if state["is_open"] and not row.is_gone:
            who = plain(name, 48)
            raise Problem("%(who)s is playing at %(table)s: wait until the hand is over.", who=who, table=row.name)
        _erase_match(db, table, number, key, alias)
    for table in {table for table, _, _ in there}:
        db.execute("DELETE FROM club.matches WHERE table_id = %s", [table])
        db.execute("DELETE FROM club.hands WHERE table_id = %s", [table])
        db.execute("UPDATE club.judged SET seq = 0 WHERE table_id = %s", [table])
    for person in named:
        people.remove(db, person)
    return alias


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(' '.join(name.split()))}(?!\w)", re.IGNORECASE)


def _erase_match(db: Connection, table: str, match: int, key: str, alias: str) -> None:
    """Put another name into a match. Raises Problem where the match would come to something else then."""
    query = "SELECT seq, body FROM club.events WHERE table_id = %s AND match = %s ORDER BY seq FOR UPDATE"
    rows = db.execute(query, [table, match]).fetchall()
    before = judged(match, replayed(rows))
    shown = before.game.shown
    players = [player for team in before.game.teams for player in team.players]
    words = {word for who in players if key_of(shown.get(who, who)) == key for word in (who, shown.get(who, who))}
    patterns = [_word(word) for word in sorted(words, key=len, reverse=True)]
    new = [(seq, _without(body, patterns, alias)) for seq, body in rows]
    points = [list(hand.result.match.values()) for hand in before.hands]
    if points != [list(hand.result.match.values()) for hand in judged(match, replayed(new)).hands]:
        raise Problem(say("This name is also a word of the record: it cannot be erased without changing the scores."))
    with db.cursor() as cursor:
        cursor.executemany(
            "UPDATE club.events SET body = %s, erased = erased + 1 WHERE table_id = %s AND seq = %s",
            [(body, table, seq) for seq, body in new],
        )
    db.execute("INSERT INTO club.erasures VALUES (%s, %s) ON CONFLICT DO NOTHING", [table, match])
    db.execute("UPDATE club.tables SET has_erased = true WHERE id = %s", [table])


def _without(body: str, patterns: Iterable[re.Pattern[str]], alias: str) -> str:
    outer = json.loads(body)
    if not isinstance(outer, dict) or not isinstance(outer.get("body"), str):
        return body
    inner = json.loads(outer["body"])
    for pattern in patterns:
        inner = _replaced(inner, pattern, alias)
    return json.dumps({**outer, "body": json.dumps(inner, separators=(",", ":"))}, separators=(",", ":"))


def _replaced(value: object, pattern: re.Pattern[str], alias: str) -> Any:
    """Return a JSON value with another name in all its texts."""
    if isinstance(value, str):
        return pattern.sub(alias, value)
    if isinstance(value, list):
        return [_replaced(one, pattern, alias) for one in value]
    if isinstance(value, dict):
        return {key: one if key in _NOT_NAMES else _replaced(one, pattern, alias) for key, one in value.items()}
    return value


def _erase_deeds(db: Connection, word: re.Pattern[str], alias: str) -> int:
    """Put another name into the club's own log; return how many deeds that has changed."""
    count = 0
    for deed in deeds.begun(db):
        who, body = _replaced([deed.who, dict(deed.body)], word, alias)
        if (who, body) != (deed.who, dict(deed.body)):
            db.execute("UPDATE club.deeds SET who = %s, body = %s WHERE seq = %s", [who, Jsonb(body), deed.seq])
            count += 1
    return count
