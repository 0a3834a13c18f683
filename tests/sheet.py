"""Test rules as rows: which plays a rule allows, refuses and leads to.

A rule is a sentence, optionally with a set-up in brackets, followed by its rows:

    a roll on a roll is refused [three; roll-on-remedy=forbidden]
        Ann roll; Bob roll; Cid roll | Ann roll; Ann right-of-way !: already-rolling
        + Ann 25 = turn Bob; km Ann 25
        Ann right-of-way | Ann roll [two]

* Before `|` or `=`: the lines played so far. `+` continues the last row that has no `+`.
* After `|`: lines that all get the same judgment. `:` precedes the codes of objections, `~` those of remarks.
* After `=`: facts about the table or a side.

A row applies to each edition of `edition=classic, rush`. HAZARD stands for each hazard of the deck, and DAMAGE for each
one of the battle pile. REMEDY and SAFETY are its answers; OTHER before them means those of another hazard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import pytest
import records
from records import Hand

from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import load_edition
from companion.rules.scoring import Sheet, score

SEATINGS = {"three": records.THREE, "pairs": records.PAIRS}
TO_600 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"
ANN_2200 = "Ann roll" + "; Bob discard 25; Ann 100" * 10
BOB_2200 = "Ann discard 25; Bob roll" + "; Ann discard 50; Bob 100" * 10
"""1000 km, trip, safe trip, shut-out."""

OF_THE_TABLE: dict[str, Callable[[Hand], object]] = {
    "turn": lambda hand: hand.turn, "pile": lambda hand: hand.table.draw_pile, "hands": lambda hand: hand.table.hands,
    "drawn": lambda hand: hand.table.drawn, "requests": lambda hand: len(hand.table.requests),
    "target": lambda hand: hand.table.target, "discards": lambda hand: hand.table.discards,
    "discarded": lambda hand: len(hand.table.discards), "over": lambda hand: hand.table.is_over,
    "ended": lambda hand: hand.result.how, "by": lambda hand: hand.result.by, "winner": lambda hand: hand.result.winner,
}  # fmt: skip
OF_A_SIDE: dict[str, Callable[[Hand, str], object]] = {
    "cards": lambda hand, player: hand.cards_of(player), "km": lambda hand, side: hand.side(side).km,
    "race": lambda hand, side: hand.table.race_km(hand.side(side)), "battle": lambda hand, side: hand.side(side).battle,
    "speed": lambda hand, side: hand.side(side).speed, "safeties": lambda hand, side: hand.side(side).safeties,
    "coups": lambda hand, side: hand.side(side).coups_fourres, "hazard": lambda hand, side: hand.side(side).hazard,
    "top": lambda hand, side: hand.side(side).battle_top, "limit": lambda hand, side: hand.side(side).speed_top,
    "points": lambda hand, side: _lines(hand.result.sheets[side]),
    "counts": lambda hand, side: _lines(score(hand.table)[hand.table.side_index(side)]),
    "left": lambda hand, card: hand.table.copies_left(Card(card)),
    "lying": lambda hand, card: hand.table.lying[Card(card)],
    "total": lambda hand, side: hand.result.sheets[side].total, "match": lambda hand, side: hand.result.match[side],
}  # fmt: skip
"""Facts about the side or player named after them; other words are lines of the side's score sheet."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row and the lines played before it."""

    written: str
    plays: str
    setting: str
    edition: str

    def each(self) -> Iterator[Row]:
        """Yield the row for each edition and hazard it applies to."""
        words = [word.strip() for word in self.setting.split(";") if word.strip()]
        editions = next((word.removeprefix("edition=") for word in words if word.startswith("edition=")), self.edition)
        setting = ";".join(word for word in words if not word.startswith("edition="))
        for edition in editions.split(", "):
            row = replace(self, setting=setting, edition=edition)
            yield from row._each_hazard() if re.search("HAZARD|DAMAGE|SAFETY", self.written + self.plays) else (row,)

    def _each_hazard(self) -> Iterator[Row]:
        hazards = [card for card in load_edition(self.edition).deck if card.family is Family.HAZARD]
        damages = [card for card in hazards if card is not Card.SPEED_LIMIT]
        is_any = "DAMAGE" not in self.written + self.plays
        for card in hazards if is_any else damages:
            other = next(one for one in damages if SAFETY_OF[one] is not SAFETY_OF[card])
            words = {f"OTHER {kind}": of[other] for kind, of in _ANSWERS.items()}
            words |= {"HAZARD": card, "DAMAGE": card, **{kind: of[card] for kind, of in _ANSWERS.items()}}
            yield replace(self, written=_put_in(self.written, words), plays=_put_in(self.plays, words))

    def hand(self) -> Hand:
        words = [word.strip() for word in self.setting.split(";") if word.strip()]
        said = dict(word.split("=") for word in words if word.startswith(("edition=", "target=", "first=")))
        return records.hand(
            self.plays,
            next((SEATINGS[word] for word in words if word in SEATINGS), records.TWO),
            options=[word for word in words if "=" in word and word.split("=")[0] not in said],
            target=int(said["target"]) if "target" in said else None,
            first=said.get("first", "Ann"),
            edition=said.get("edition", self.edition),
            as_lies="as it lies" in words,
        )

    def found(self) -> str:
        """Return the row with the actual result."""
        hand = self.hand()
        before, mark, after = re.fullmatch(r"(.*?)([|=])(.*)", self.written).groups()
        if mark == "=":
            return f"{before}= {'; '.join(_fact(hand, said) for said in after.split(';'))}"
        lines, judged = re.match(r"([^:~]*)([:~]?)", after).groups()
        ask = referee.remarks if judged == "~" else referee.objections
        why = {" ".join(why.code.value for why in ask(hand.table, hand.parsed(line))) for line in lines.split(";")}
        return f"{before}|{lines}{judged} {' or '.join(sorted(why))}".rstrip()


_ANSWERS = {"REMEDY": REMEDY_OF, "SAFETY": SAFETY_OF}


def _put_in(text: str, words: dict[str, Card]) -> str:
    return re.sub("|".join(words), lambda found: words[found[0]], text)


def _fact(hand: Hand, said: str) -> str:
    """Return a fact about a hand with its actual value."""
    name, *rest = said.split()
    of = [] if name in OF_THE_TABLE else rest[:1]
    if name in OF_THE_TABLE:
        value = OF_THE_TABLE[name](hand)
    else:
        value = OF_A_SIDE[name](hand, *of) if name in OF_A_SIDE else hand.points(*of).get(name)
    values = value if isinstance(value, tuple) else (value,)
    return " ".join([name, *of, *(str(getattr(one, "value", one)) for one in values)])


def _lines(sheet: Sheet) -> tuple[str, ...]:
    return tuple(f"{item.value}={points}" for item, points in sheet.lines)


def blocks(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each sentence and its rows: the text, and the set-up in brackets."""
    for block in re.split(r"\n(?=\S)", re.sub(r"\n {8,}", " ", text.strip())):
        heading, *lines = filter(str.strip, block.splitlines())
        if heading.startswith("#"):
            continue
        sentence, _, setting = heading.rstrip("]").partition(" [")
        parted = (line.strip().rstrip("]").partition(" [") for line in lines)
        yield sentence, [(written, own or setting) for written, _, own in parted]


def scenes(text: str) -> list[object]:
    """Return pytest parameters, one per sentence: the set-up and the rows."""
    found = []
    for sentence, rows in blocks(text):
        assert rows, sentence
        found.append(pytest.param(rows[0][1], [written for written, _ in rows], id=sentence))
    return found


def rules(text: str, edition: str = "classic") -> list[object]:
    """Return pytest parameters, one per rule: its rows."""
    found: list[object] = []
    for sentence, written_rows in blocks(text):
        rows, start = [], ""
        for written, setting in written_rows:
            plays = re.split(r"[|=]", written, maxsplit=1)[0].strip()
            more = plays.removeprefix("+").strip()
            if not plays.startswith("+"):
                start, more = plays, ""
            rows.append(Row(written, "; ".join(filter(None, (start, more))), setting, edition))
        found.append(pytest.param(rows, id=sentence))
    return found


def check(rows: list[Row]) -> None:
    """Fail if the result of a row differs from its text."""
    assert rows
    for row in chain.from_iterable(row.each() for row in rows):
        found = row.found()
        assert found == row.written, f"It is {found!r}, not {row.written!r}."
