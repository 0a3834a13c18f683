"""Replace erased names in events that arrive after the erasure.

The club stores keyed hashes of erased names, and aliases. It replaces names in matches that began before the erasure,
even if sent again as a new table, and where they were erased. Later matches with the same name keep it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, groupby
from typing import Any, NamedTuple

from companion.club import postgres
from companion.club.aliases import Aliases, Words, named_in, words_of
from companion.club.batch import Sent, as_stored, row_of
from companion.club.postgres import Connection
from companion.common.spelling import composed
from companion.rules.editions.edition import EditionError, lent
from companion.storage.events import EventKind


class _Erased(NamedTuple):
    words: int
    alias: str
    at_s: float  # time of the erasure


@dataclass(frozen=True, slots=True)
class ErasedNames:
    """Erased names by hash."""

    secret: bytes
    names: Mapping[str, _Erased]

    def before(self, at_s: float | None) -> Aliases:
        """Return the aliases of names erased after a time; of all for None."""
        names = {digest: one for digest, one in self.names.items() if at_s is None or at_s < one.at_s}

        def of_name(words: Words) -> str | None:
            found = names.get(digest_of(self.secret, words))
            return found.alias if found else None

        return Aliases(tuple(sorted({one.words for one in names.values()}, reverse=True)), of_name)


def digest_of(secret: bytes, words: Words) -> str:
    """Return the keyed hash of a name's words."""
    return hmac.new(secret, "\n".join(("name", *words)).encode(errors="surrogatepass"), hashlib.sha256).hexdigest()


def read(db: Connection) -> ErasedNames:
    """Return all erased names."""
    rows = db.execute(
        "SELECT digest, words, alias, extract(epoch FROM at)::float FROM club.erased_names WHERE table_id = ''"
    )
    return ErasedNames(postgres.cookie_secret(db), {row[0]: _Erased(*row[1:]) for row in rows})


def keep(db: Connection, name: str, alias: str) -> None:
    """Store an erased name's hash and alias; a second erasure replaces the alias."""
    words = words_of(name)
    db.execute(
        "INSERT INTO club.erased_names (digest, words, alias) VALUES (%s, %s, %s)"
        " ON CONFLICT (table_id, match, digest) DO UPDATE SET alias = excluded.alias, at = now()",
        [digest_of(postgres.cookie_secret(db), words), len(words), alias],
    )


# In a table's log


def arrived(db: Connection, table: str, new: Sequence[Sent], *, has_erased: bool) -> list[tuple[Sent, bool]]:
    """Return new events with erased names replaced, each with True if changed.

    `has_erased`: this table's log has erased names. The caller has locked the table's row.
    """
    if not has_erased and db.execute("SELECT 1 FROM club.erased_names LIMIT 1").fetchone() is None:
        return [(sent, False) for sent in new]
    here: dict[int | None, bool] = dict(
        db.execute("SELECT match, is_blind FROM club.erasures WHERE table_id = %s", [table]).fetchall()
    )
    names, kept = read(db), []
    for match, group in groupby(new, key=lambda sent: sent.match):
        events = list(group)
        if here.get(match):
            kept += [(sent._replace(body="null"), True) for sent in events]
            continue
        first = row_of(events[0].seq, json.loads(events[0].body))
        aliases = names.before(None if first is None or match in here else first[2])
        if not aliases.lengths and match not in here:
            kept += [(sent, False) for sent in events]
            continue
        if match is not None:
            aliases, is_new = _with_players(db, table, match, aliases, [(sent.seq, sent.body) for sent in events])
            if is_new and rewrite(db, table, match, aliases):
                note(db, table, match)
                judge_anew(db, table)
        done = [sent._replace(body=changed(sent.seq, sent.body, aliases)) for sent in events]
        differ = [old.body != after.body for old, after in zip(events, done, strict=True)]
        if any(differ):
            note(db, table, match)
        kept += zip(done, differ, strict=True)
    return kept


def in_match(db: Connection, table: str, match: int) -> Aliases:
    """Return the aliases of all erased names, and of a match's players who have one."""
    query = "SELECT seq, body FROM club.events WHERE table_id = %s AND match = %s ORDER BY seq"
    rows = db.execute(query, [table, match]).fetchall()
    return _with_players(db, table, match, read(db).before(None), rows)[0]


def _with_players(
    db: Connection, table: str, match: int, names: Aliases, rows: Iterable[tuple[int, str]]
) -> tuple[Aliases, bool]:
    """Add the aliases of a match's players with erased names; also return True if one is new.

    Each alias differs, because records distinguish `Ann` and `ann`.
    """
    secret = postgres.cookie_secret(db)
    query = "SELECT digest, alias FROM club.erased_names WHERE table_id = %s AND match = %s"
    known: dict[str, str] = dict(db.execute(query, [table, match]).fetchall())
    before = len(known)
    for word, shown in (pair for seq, body in rows for pair in _named(seq, body)):
        alias, digest = names.name(shown) or names.name(word), _digest_of_word(secret, word)
        if alias and digest not in known:
            known[digest] = next(one for one in _numbered(alias) if one not in known.values())
            db.execute(
                "INSERT INTO club.erased_names (digest, table_id, match, words, alias) VALUES (%s, %s, %s, 1, %s)",
                [digest, table, match, known[digest]],
            )
    if not known:
        return names, False
    return replace(names, of_word=lambda word: known.get(_digest_of_word(secret, word))), len(known) > before


def _digest_of_word(secret: bytes, word: str) -> str:
    return digest_of(secret, ("word", composed(word)))


def _numbered(alias: str) -> Iterator[str]:
    yield alias
    yield from (f"{alias}-{number}" for number in count(2))


def _named(seq: int, body: str) -> Iterator[tuple[str, str]]:
    row = row_of(seq, json.loads(body))
    said = _said(row[4]) if row else None
    if row and isinstance(said, dict):
        yield from named_in(row[3], said)


def rewrite(db: Connection, table: str, match: int | None, aliases: Aliases, *, edition: bool = True) -> int:
    """Replace names in a match's events (None: those without a match); return the number changed."""
    rows = db.execute(
        "SELECT seq, body FROM club.events WHERE table_id = %s AND match IS NOT DISTINCT FROM %s"
        " ORDER BY seq FOR UPDATE",
        [table, match],
    ).fetchall()
    new = [(seq, after) for seq, body in rows if (after := changed(seq, body, aliases, edition=edition)) != body]
    with db.cursor() as cursor:
        cursor.executemany(
            "UPDATE club.events SET body = %s, erased = erased + 1 WHERE table_id = %s AND seq = %s",
            [(body, table, seq) for seq, body in new],
        )
    return len(new)


def judge_anew(db: Connection, table: str) -> None:
    """Delete everything derived from a table's log, so that it is derived again."""
    db.execute("UPDATE club.judged SET seq = 0 WHERE table_id = %s", [table])  # waits for a process that judges it
    db.execute("DELETE FROM club.matches WHERE table_id = %s", [table])
    db.execute("DELETE FROM club.hands WHERE table_id = %s", [table])


def note(db: Connection, table: str, match: int | None) -> None:
    """Record that a table's match contains replaced names."""
    db.execute("UPDATE club.tables SET has_erased = true WHERE id = %s", [table])
    if match is not None:
        db.execute("INSERT INTO club.erasures (table_id, match) VALUES (%s, %s) ON CONFLICT DO NOTHING", [table, match])


def changed(seq: int, body: str, aliases: Aliases, *, edition: bool = True) -> str:
    """Return an event's stored body with names replaced in all texts.

    The text of the table's own edition stays if it would be unreadable, or without `edition`.
    """
    outer = json.loads(body)
    row = row_of(seq, outer)
    try:
        if row is None:
            after = aliases.within(outer, None)
            return body if after == outer else as_stored(after)
        text = _changed_text(row[3], row[4], aliases, edition=edition)
    except RecursionError:
        return "null"  # too deep to search; no companion writes such values
    return body if text == row[4] else as_stored({**outer, "body": text})


def _changed_text(kind: str, text: str, aliases: Aliases, *, edition: bool) -> str:
    said = _said(text)
    if said is None:
        return aliases.in_text(text)
    new = aliases.within(said, kind)
    if kind == EventKind.SETUP and isinstance(said, dict) and "edition" in said:
        new["edition"] = (
            new["edition"] if edition and _is_readable(new["edition"], said["edition"]) else said["edition"]
        )
    return text if new == said else json.dumps(new, separators=(",", ":"))


def _said(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_readable(text: object, before: object) -> bool:
    if text == before or not (isinstance(text, str) and isinstance(before, str)):
        return text == before
    try:
        return lent(text).partition(".")[0] == lent(before).partition(".")[0]
    except EditionError:
        return False
