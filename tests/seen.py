"""Cards that a test lets the camera see; they are asked about until the record has them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from companion.common.text import Said, say
from companion.match.match import Match
from companion.match.questions import Kind, Question, question_id
from companion.match.state import MatchState, after
from companion.rules import referee
from companion.rules.cards import card_of_slug
from companion.rules.record.notation import parse_play

DIFFERS = say("It differs.")


class Seen:
    """The cards that the camera sees; each method adds one, looks, and returns its question's id."""

    def __init__(self, match: Match) -> None:
        self._match = match
        # Per card: its question without plays, its match and hand, and its plays as text.
        self._lying: dict[str, tuple[Question, tuple[int, int], tuple[str, ...]]] = {}

    def play(self, number: int, *plays: str, sure: bool = True, crop: bytes | None = None, zone: str | None = None):
        """Add a card that was played; the likeliest play comes first."""
        return self._lay(number, Kind.PLAY, zone, plays, sure=sure, crop=crop)

    def which(self, number: int, *plays: str, zone: str = "side-1/battle", crop: bytes | None = b"a card") -> str:
        return self._lay(number, Kind.WHICH, zone, plays, sure=False, crop=crop)

    def differs(
        self,
        number: int,
        zone: str,
        expected: str | None,
        seen: str | None,
        *plays: str,
        line: int | None = None,
        sentence: Said = DIFFERS,
    ) -> str:
        """Add a zone that shows another card than the record."""
        cards = {"expected": card_of_slug(expected or ""), "seen": card_of_slug(seen or "")}
        return self._lay(number, Kind.DIFFERS, zone, plays, line=line, say=sentence, **cards)

    def lift(self, question: str) -> None:
        """Remove the card of a question."""
        self._lying.pop(question, None)
        self._match.look(self.derive)

    def _lay(self, number: int, kind: Kind, zone: str | None, plays: tuple[str, ...], **more: Any) -> str:
        now = self._match.state
        name = question_id(now.match, now.hand_seq, "camera", number, kind)
        confidence = 0.95 if more.get("sure", True) else 0.5
        question = Question(name, kind, zone, confidence=confidence, about=f"{zone} {more.get('seen')}", **more)
        self._lying[name] = question, (now.match, now.hand_seq), plays
        self._match.look(self.derive)
        return name

    def derive(self, state: MatchState) -> tuple[Question, ...]:
        return tuple(self._asked(state)) if state.game.hand_is_open else ()

    def _asked(self, state: MatchState) -> Iterator[Question]:
        table = state.game.table
        counted = {entry.written.question for entry in state.entries} | state.past.answers.keys()
        for question, hand, written in self._lying.values():
            if hand != (state.match, state.hand_seq) or question.id in counted:
                continue
            if question.line is not None and state.entry(question.line) is None:
                continue
            plays = tuple(parse_play(text, state.game.teams) for text in written)
            reasons = referee.objections(table, plays[0]) if plays else ()
            asked = replace(question, plays=plays, table=table, reasons=reasons)
            yield asked
            table = after(asked, table)


_CAMERAS: WeakKeyDictionary[Match, Seen] = WeakKeyDictionary()


def camera(match: Match) -> Seen:
    """Return the camera of a match, the same throughout a test."""
    return _CAMERAS.setdefault(match, Seen(match))
