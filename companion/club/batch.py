"""The protocol between table and club (`docs/club.md`): batches, limits, signatures.

An event's inner body is the text from the table's log, so both store the same bytes. A lost event is sent as `null`
with checksum 0. An empty batch reports that the table is online.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from companion.common.errors import Problem
from companion.common.text import plain, say
from companion.match.questions import Letter
from companion.rules.editions.edition import edition_names, lent
from companion.rules.record.notation import edition_named
from companion.storage.database import Checked
from companion.storage.events import Event, EventKind, Row, checksum, is_sound, read_body

MOST_BYTES = 1024 * 1024  # of a batch
MOST_EVENTS = 5000
MOST_SEQ = 2**53
_MOST_ID, _MOST_NAME, _MOST_CRC = 64, 64, 64
_DEAL_HASH = "deal_sha256"  # replaces the field `deal`
_BODY = ("match", "at_s", "kind", "body")  # fields of a companion's event
SCHEME = "Companion"  # begins `Authorization: Companion ID:SIGNATURE`
SCHEMA = 1  # batch format, also if a batch names none
LETTER: Mapping[str, type] = {"letter": int, "what": str, "by": str, "of": int, "text": str}

CLOCK = "clock"
"""Letter sent during a round: `of` is the seconds left; `text` is `runs`, or empty if stopped."""

TOO_LARGE = "This batch is too large: send at most 1 MB at a time."


class Sent(NamedTuple):
    """An event as the club stores it."""

    seq: int
    crc: str
    body: str  # ASCII JSON
    match: int | None  # None if not a companion's event
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive events of a table, from `first`."""

    table: str
    name: str
    first: int
    events: tuple[Sent, ...]
    last: int | None  # last event in the table's log, if given


class Missing(Exception):
    """A gap before or in a batch; holds the first missing number."""


# Deal keys


def without_deal_key(row: Row) -> Row:
    """Return an event with a dealt hand's key replaced by its SHA-256; others unchanged.

    The key reveals hidden cards, even later, as an undo may reopen the hand. Its hash can prove which cards were dealt.
    """
    seq, match, at_s, kind, body = row
    if '"deal"' not in body:
        return row
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return row
    if not isinstance(said, dict) or "deal" not in said:
        return row
    digest = hashlib.sha256(str(said["deal"]).encode(errors="replace")).hexdigest()
    hidden = {_DEAL_HASH if name == "deal" else name: value for name, value in said.items()} | {_DEAL_HASH: digest}
    return (seq, match, at_s, kind, json.dumps(hidden, separators=(",", ":")))


# At the table


def written(table: str, name: str, first: int, rows: Sequence[Checked], last: int) -> bytes:
    """Return a batch's JSON body with these rows; events missing since `first` are sent as lost.

    `name` is the table's, `last` its log's latest event.
    """
    there = {row[0]: _written(row, crc) for row, crc in rows}
    end = max(there, default=first - 1)
    lost = {"crc": 0, "body": None}
    events = [{"seq": seq, **there.get(seq, lost)} for seq in range(first, end + 1)]
    batch = {"table": table, "name": name, "first_seq": first, "events": events, "last": last, "schema": SCHEMA}
    return json.dumps(batch, ensure_ascii=False, separators=(",", ":")).encode()


def _written(row: Row, crc: int | None) -> dict[str, object]:
    sent = without_deal_key(row)
    return {"crc": crc if sent is row else checksum(sent), "body": dict(zip(_BODY, sent[1:], strict=True))}


def signature(key: str, body: bytes) -> str:
    """Return a batch's `Authorization` header. Raises Problem if the key is empty or not printable ASCII.

    A key without an ID gets one from its hash; clubs that require keys reject it.
    """
    key_id, _, secret = key.strip().partition(".")
    if not key.strip() or not key.isascii() or not key.isprintable():
        raise Problem(say("This is not a club key: copy the whole key from the director’s page."))
    if not key_id or not secret:
        key_id, secret = hashlib.sha256(key.encode()).hexdigest()[:12], key.strip()
    return f"{SCHEME} {key_id}:{digest(secret, body)}"


def digest(secret: str, body: bytes) -> str:
    """Return a batch's HMAC-SHA-256 (64 hexadecimal digits)."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def letters(answer: Mapping[str, object], key: str | None) -> list[dict[str, object]]:
    """Return the letters in a batch's answer; none unless signed by a key `ID.SECRET`."""
    text = answer.get("letters")
    if not isinstance(text, str):
        return []
    secret = (key or "").strip().partition(".")[2]
    if secret and not hmac.compare_digest(digest(secret, text.encode()).encode(), str(answer.get("signed")).encode()):
        return []
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return []
    sent = found if isinstance(found, list) else []
    read = ({name: one.get(name) for name in LETTER} for one in sent if isinstance(one, dict))
    known = (*Letter, CLOCK)
    return [one for one in read if one["what"] in known and all(map(_fits, one.values(), LETTER.values()))]


def _fits(value: object, kind: type) -> bool:
    if type(value) is not kind:
        return False
    return 0 <= value < MOST_SEQ if isinstance(value, int) else str(value).isprintable()


# At the club


def read(body: bytes) -> Batch:
    """Return the batch in a request body. Raises Problem if malformed, Missing for a gap."""
    try:
        sent = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Problem("This is not a batch of events: it cannot be read as JSON.") from None
    if not isinstance(sent, dict) or not isinstance(sent.get("events"), list):
        raise Problem("This is not a batch of events: it needs “table”, “first_seq” and “events”.")
    if sent.get("schema", SCHEMA) != SCHEMA:
        raise Problem("This batch is of another version of the companion: update the older of the two.")
    if len(sent["events"]) > MOST_EVENTS:
        raise Problem(f"This batch is too large: send at most {MOST_EVENTS} events at a time.")
    table, first = sent.get("table"), _seq(sent.get("first_seq"))
    table = str(table) if isinstance(table, int) and not isinstance(table, bool) else table
    if not isinstance(table, str) or not 0 < len(table) <= _MOST_ID or not table.isprintable():
        raise Problem("This is not a batch of events: “table” must be a string of 1 to 64 characters.")
    events = tuple(_in_order(first, [_event(event) for event in sent["events"]]))
    last = sent.get("last")
    name = " ".join(plain(sent.get("name") or table, _MOST_NAME).split())
    return Batch(table, name or table, first, events, None if last is None else _seq(last, least=0))


def _in_order(first: int, events: list[Sent]) -> list[Sent]:
    found = dict.fromkeys(sorted(events, key=lambda event: event.seq))
    for seq, event in enumerate(found, start=first):
        if event.seq > seq:
            raise Missing(seq)
        if event.seq < seq:
            raise Problem(f"This is not a batch of events: event {event.seq} occurs twice.")
    return list(found)


def _seq(number: object, least: int = 1) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number < MOST_SEQ:
        raise Problem("This is not a batch of events: event numbers start at 1.")
    return number


def _event(sent: object) -> Sent:
    if not isinstance(sent, dict) or not {"seq", "crc", "body"} <= sent.keys():
        raise Problem("This is not a batch of events: each needs “seq”, “crc” and “body”.")
    seq, crc = _seq(sent["seq"]), sent["crc"]
    if isinstance(crc, bool) or not isinstance(crc, int | str) or not 0 < len(f"{crc}") <= _MOST_CRC:
        raise Problem(f"This is not a batch of events: event {seq} has no checksum.")
    row = row_of(seq, sent["body"])
    if row is None:
        return Sent(seq, json.dumps(crc).strip('"'), as_stored(sent["body"]), None)
    if checksum(row) != crc:
        raise Problem(f"Event {seq} does not match its checksum: it was damaged in transit.")
    hidden = without_deal_key(row)  # older tables send the key
    if hidden is not row:
        return Sent(seq, str(checksum(hidden)), as_stored({**sent["body"], "body": hidden[4]}), row[1], row[3])
    return Sent(seq, json.dumps(crc).strip('"'), as_stored(sent["body"]), row[1], row[3])


def as_stored(body: object) -> str:
    """Return an event's body as stored in the club's log."""
    return json.dumps(body, separators=(",", ":"))


def row_of(seq: int, body: object) -> Row | None:
    """Return the log row in a companion's event body; None for other bodies."""
    if not isinstance(body, dict) or body.keys() != set(_BODY):
        return None
    match, at_s, kind, text = (body[name] for name in _BODY)
    fits = type(match) is int and type(at_s) in (int, float) and isinstance(kind, str) and isinstance(text, str)
    return (seq, match, float(at_s), kind, text) if fits and 0 < match <= seq and abs(at_s) < MOST_SEQ else None


def event_of(seq: int, body: str) -> Event | None:
    """Return a companion's event from a body in the club's log; None if it cannot be replayed.

    Raises Problem for an unknown edition.
    """
    row = row_of(seq, json.loads(body))
    if row is None or not is_sound(row):
        return None
    said = read_body(row[4])
    if row[3] == EventKind.SETUP:
        said["lines"] = [_known(line, said.get("edition")) for line in said.get("lines", ())]
    return Event(*row[:4], said)


def _known(line: str, own: object) -> str:
    """Return a header line, naming the edition of the file `own` as the club does. Raises Problem if unknown."""
    name = edition_named(line)
    if name is None:
        return line
    if isinstance(own, str) and (found := lent(own)).startswith(f"{name}."):
        return f"edition {found}"
    if name not in edition_names():
        raise Problem(f"There is no edition {name}.")
    return line


def _no_number(_text: str) -> float:
    raise ValueError
