"""Erase names from a club: `PYTHONPATH=tests:. python tests/trust/erasures.py --times 1000`.

Matches with a name in many places and spellings are pushed to a club with a real PostgreSQL. The name is erased between
two batches. At the end an independent search must not find it in the database. The match must be judged as at its
table, other players keep their names, and the table's log must still be accepted.

Without PostgreSQL the script prints that it cannot run.
"""

import json
import random
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import club_database
from trust.club import plays
from trust.fuzzing import Findings, fuzz

from companion.club.batch import Batch, Sent, as_stored
from companion.match.archive import judged
from companion.rules.record.notation import is_name
from companion.storage.events import Event, Row, checksum, is_sound

NAMES = ("Zora", "Zora Quist", "Zoë", "Zoë d’Été", "Strauß", "安娜", "J. R. Quist", "Zo-ra", "X", "🚗 Zora")
WORDS = ("roll", "Stop", "100", "end", "side", "hand", "first", "take", "anyway", "speed-limit", "yes", "camera")
"""Names that are also words of the program: only the scores are compared."""

_BLANKS = (" ", " ", "  ", "\t", "\u00a0", "\u3000", " \n ")
_CODES = {"source", "question", "answer", "zone", "value"}


def spelled(name: str, chance: random.Random) -> str:
    text = chance.choice((name, name.upper(), name.lower(), name.title() if name.isascii() else name))
    if chance.random() < 0.3:
        text = unicodedata.normalize("NFD", text)
    if chance.random() < 0.2:
        text = "".join(chr(ord(char) + 0xFEE0) if "A" <= char <= "z" and char.isalpha() else char for char in text)
    if chance.random() < 0.1:
        text = f"{text[:1]}\u200b{text[1:]}" if text[:2].isalpha() else text
    return "".join(chance.choice(_BLANKS) if char == " " else char for char in text)


def bodies(name: str, chance: random.Random) -> Iterator[tuple[str, dict]]:
    """Yield kind and body of a match's events, with the name in some of them."""
    edition, first, second, *lines = plays(chance.randrange(8), 2)
    word = name if is_name(name) else "P1"
    ours = [re.sub(r"\bAnn\b", lambda _: word, line) for line in lines]
    head = [edition, first.replace("Ann", word), second]
    shown = f'player {word} "{spelled(name, chance)}"'
    if word != name or chance.random() < 0.3:
        head.append(shown)
    if chance.random() < 0.2:
        head.append(f'player Bob "{name} Smith"')
    yield "setup", {"lines": head, "by": spelled(name, chance)}
    for line in ours:
        yield "line", {"text": line, "by": chance.choice((word, "camera")), "source": "camera"}
        if chance.random() < 0.15:
            yield from extras(name, word, chance)


def extras(name: str, word: str, chance: random.Random) -> Iterator[tuple[str, dict]]:
    """Yield events outside the record that name the player; none changes a score."""
    said, kind = spelled(name, chance), chance.randrange(8)
    text = f"Well, {said}: {said}!"
    if kind == 0:
        yield "line", {"text": f'player {word} "{said}"', "by": said}
        yield "line", {"text": f'player {word} "Somebody Else"', "by": word}
    elif kind == 1:
        yield "seat", {"player": word, "name": said, "by": said}
    elif kind == 2:
        yield "letter", {"letter": 1, "what": "note", "of": 0, "by": said, "text": text}
    elif kind == 3:
        yield "call", {"by": said}
    elif kind == 4:
        yield "setting", {"key": f"robot {word}", "value": "no", "by": said}
    elif kind == 5:
        yield "later", {"new": [[{"deep": text}], 3, None], "by": said}
    elif kind == 6:
        yield "answer", {"question": "1-0-x.e1-play", "answer": "no", "about": "", "by": said}
    else:
        yield "claim", {"text": f"{word} 25 > {word}", "by": said}


def texts_in(value: object, field: str = "") -> Iterator[str]:
    """Yield the texts in a JSON value, without those from the program."""
    if isinstance(value, str) and field not in _CODES:
        yield value
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from texts_in(one, str(key))


def has(name: str, text: str) -> bool:
    """True if a text contains the name; does not use the program's search."""

    def flat(said: str) -> str:
        kept = "".join(char for char in said if unicodedata.category(char) != "Cf")
        return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", kept).casefold()).split())

    return bool(
        re.search(rf"(?<![\w-]){re.escape(flat(name))}(?![\w-])", flat(text).replace(flat(f"{name} Smith"), ""))
    )


def points(match: int, rows: list[Row]) -> list[list[int]]:
    events = [Event(*row[:4], json.loads(row[4])) for row in rows if is_sound(row)]
    return [list(hand.result.match.values()) for hand in judged(match, events).hands]


def check(db, table: str, name: str, chance: random.Random) -> Iterator[str]:
    """Push a match, erase the name between two batches; yield what is wrong afterwards."""
    from companion.club import club_log, erasure

    rows: list[Row] = [
        (seq, 1, 1e9, kind, json.dumps(body, ensure_ascii=chance.random() < 0.5, separators=(",", ":")))
        for seq, (kind, body) in enumerate(bodies(name, chance), start=1)
    ]
    sent = [
        Sent(row[0], str(checksum(row)), as_stored(dict(zip(("match", "at_s", "kind", "body"), row[1:], strict=True))),
             1, row[3])
        for row in rows
    ]  # fmt: skip
    middle = chance.choice((len(sent), chance.randint(1, len(sent))))
    club_log.take(db, Batch(table, table, 1, tuple(sent[:middle]), None), None)
    erasure.erase(db, name)
    at = middle
    while at < len(sent):
        more = chance.randint(1, 40)
        club_log.take(db, Batch(table, table, at + 1, tuple(sent[at : at + more]), None), None)
        at += more
    if club_log.take(db, Batch(table, table, 1, tuple(sent), None), None) != len(sent):
        yield "the table's log is not here as a whole"
    kept = [json.loads(body) for (body,) in db.execute(
        "SELECT body FROM club.events WHERE table_id = %s ORDER BY seq", [table]).fetchall()]  # fmt: skip
    after = [(row[0], one["match"], one["at_s"], one["kind"], one["body"]) for row, one in zip(rows, kept, strict=True)]
    if points(1, rows) != points(1, after):
        yield "the match comes to something else"
    if name not in WORDS:
        left = [text for row in after for text in texts_in(json.loads(row[4])) if has(name, text)]
        yield from (f"the name is left in {text!r}" for text in left[:1])
    others = [f"{name} Smith" in row[4] or f"{name} Smith" in json.dumps(json.loads(row[4]), ensure_ascii=False)
              for row in (rows[0], after[0])]  # fmt: skip
    if others[0] != others[1]:
        yield "another player's full name is damaged"


def run(findings: Findings, times: int, seed: int, _folder: Path) -> None:
    if (why := club_database.why_not()) is not None:
        print(why)
        return
    from companion.club import postgres

    with club_database.running() as server, postgres.opened(server.new()) as pool:
        for number in range(times):
            chance = random.Random(f"{seed} {number}")
            name = chance.choice(NAMES if number % 3 else WORDS)
            sample = (seed, number, name)
            with findings.trying("a word" if name in WORDS else "a name", sample), pool.connection() as db:
                for wrong in check(db, f"t{number}", name, chance):
                    findings.found(wrong, sample)
                db.execute("TRUNCATE club.erased_names, club.erasures, club.events, club.deeds")


if __name__ == "__main__":
    sys.exit(fuzz("erasures", __doc__, run, times=1000))
