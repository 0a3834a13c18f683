"""What a match's events come to: the lines of its record as they stand, who sits where, what is set.

Nothing is ever deleted: a line is taken out, changed or brought back by a later event. This is a pure function
of the events, so the log replayed is the state.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

from companion.match.questions import Answer, Answered, Letter
from companion.robots.robot import Level
from companion.rules.record.notation import PlayerLine, read_header
from companion.storage.events import Event, EventKind

CAMERA, PHONE, SOMEBODY = "camera", "phone", "somebody"
"""Where a line comes from; and whom the log names where no player did something: the camera, a phone without a seat."""

DEMO = "demo"  # whom the log names where the simulated table has begun a match

DEALT, ROBOT = "dealt", "robot "  # the settings that the program deals, and of a robot's level

VERIFYING, ROBOT_SEAT = "other-side-verifies", "robot-seat"  # who confirms, whose cards a robot plays

YES, NO = "yes", "no"

UNDOABLE = (EventKind.LINE, EventKind.CORRECT, EventKind.RETRACT)


@dataclass(frozen=True, slots=True)
class Written:
    """A line of the record as it stands, and where it comes from."""

    seq: int
    text: str
    by: str = ""
    source: str = ""
    corrected_by: str | None = None
    question: str = ""  # the id of the question that it answers; empty where it was typed
    deal: str = ""  # the secret key of the cards of a hand that begins with this line; empty where people deal


@dataclass(frozen=True, slots=True)
class Change:
    """A line of play that somebody changed, or took out."""

    seq: int  # the event that did it
    line: int
    before: str
    after: str | None  # what the line says now; None where it was taken out
    by: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """What the events come to."""

    lines: tuple[Written, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Answered] = field(default_factory=dict)  # the latest to each question that no line answers
    claims: tuple[Written, ...] = ()  # typed plays that had to wait, counted by now or not; the oldest first
    asked: frozenset[str] = frozenset()  # ids of questions answered in any way, also where that was taken back
    waived: frozenset[tuple[int, str]] = frozenset()  # who does not answer what was played in which line
    wishes: tuple[Event, ...] = ()  # what somebody has asked the others to take back
    letters: tuple[Event, ...] = ()  # what the club's director has sent
    has_called: bool = False  # if somebody has called the director, who has not answered yet
    undone_next: tuple[Event, ...] = ()  # what an undo takes back, the latest first, up to what no robot did
    changes: tuple[Change, ...] = ()  # what has been changed and taken out, the latest last
    redone_next: tuple[Event, ...] = ()  # the undos that a redo takes back, the latest first

    @property
    def robots(self) -> Mapping[str, int]:
        """The players who are robots, with their levels."""
        levels = {key: Level.of(value) for key, value in self.settings.items() if key.startswith(ROBOT)}
        return {key.removeprefix(ROBOT): level for key, level in levels.items() if level}

    @property
    def is_demo(self) -> bool:
        """True if the simulated table has begun the match, and no people."""
        return bool(self.lines) and self.lines[0].by == DEMO


def history(events: Sequence[Event]) -> History:
    """Return what a match's events come to."""
    standing = _standing(events)
    settings = {e.body["key"]: e.body["value"] for e in standing if e.kind == EventKind.SETTING}
    past = History(settings=settings)
    said = [
        e for e in events if e.kind == EventKind.ANSWER and "question" in e.body and e.body["answer"] in tuple(Answer)
    ]
    return replace(
        past,
        lines=tuple(_lines(standing)),
        # Nothing takes back what was said to a question.
        answers={e.body["question"]: Answered(Answer(e.body["answer"]), e.body.get("about", ""), e.seq) for e in said},
        claims=tuple(_written(e) for e in events if e.kind == EventKind.CLAIM),
        asked=frozenset(e.body["question"] for e in events if e.body.get("question")),
        waived=frozenset((e.body["of"], e.by) for e in events if e.kind == EventKind.WAIVE),
        wishes=tuple(e for e in events if e.kind == EventKind.WISH),
        letters=tuple(e for e in events if e.kind == EventKind.LETTER),
        has_called=_has_called(events),
        undone_next=_undone_next(events, standing, past.robots),
        changes=tuple(_changes(events, standing)),
        redone_next=_redone_next(standing),
    )


def _undone_next(events: Sequence[Event], standing: Sequence[Event], robots: Container[str]) -> tuple[Event, ...]:
    """Return what an undo takes back; nothing where robots alone have played since the set-up.

    To that belongs the line after it, which begins the first hand. Lines changed by one tap go together.
    """
    firsts = {after.seq for before, after in pairwise(events) if before.kind == EventKind.SETUP}
    taken: list[Event] = []
    for event, older in pairwise([*filter(_is_undoable, reversed(standing)), None]):
        if event is None or event.seq in firsts:
            break
        taken.append(event)
        if event.by not in robots and not _is_of_one_tap(older, event):
            return tuple(taken)
    return ()


def _is_of_one_tap(older: Event | None, event: Event) -> bool:
    if older is None or not older.kind == event.kind == EventKind.CORRECT:
        return False
    return "request" in event.body and bool(older.body.get("request") == event.body["request"])


def _redone_next(standing: Sequence[Event]) -> tuple[Event, ...]:
    """Return the undos of the last tap on it, while nothing was changed since."""
    last = [event for event in reversed(standing) if _is_undoable(event) or event.kind == EventKind.UNDO]
    tap = last[0].body.get("request") if last else None
    undos = takewhile(lambda event: event.kind == EventKind.UNDO and event.body.get("request") == tap, last)
    return tuple(undos)[: None if tap else 1]


def _is_undoable(event: Event) -> bool:
    """True for a change of the record; how a player is called is typed anew instead."""
    return event.kind in UNDOABLE and not isinstance(read_header(event.body.get("text", "")), PlayerLine)


def _standing(events: Sequence[Event]) -> list[Event]:
    """Return the events that nobody has taken back; an undo can itself be taken back only later."""
    void: set[int] = set()
    standing = []
    for event in reversed(events):
        if event.seq in void:
            continue
        if event.kind in (EventKind.UNDO, EventKind.REDO):
            void.add(event.body["of"])
        standing.append(event)
    return standing[::-1]


def _changes(events: Sequence[Event], standing: Sequence[Event]) -> Iterator[Change]:
    """Yield each change that stands, with what its line said before; an undo takes out the line that it undoes."""
    said = {event.seq: event.body["text"] for event in events if event.kind == EventKind.LINE}
    for event in standing:
        line, after = event.body.get("of"), event.body.get("text") if event.kind == EventKind.CORRECT else None
        if event.kind in (EventKind.CORRECT, EventKind.RETRACT, EventKind.UNDO) and line in said:
            yield Change(event.seq, line, said[line], after, event.by)
            said[line] = after or said[line]


def _has_called(events: Sequence[Event]) -> bool:
    """True if the last call of the director is neither over nor answered."""
    call = next((e for e in reversed(events) if e.kind == EventKind.CALL), None)
    if call is None or call.body.get("is_over"):
        return False
    return not any(e.kind == EventKind.LETTER and e.body["what"] == Letter.COMING and e.seq > call.seq for e in events)


def _lines(standing: Sequence[Event]) -> list[Written]:
    lines: list[Written] = []
    for event in standing:
        if event.kind == EventKind.SETUP:
            lines += [Written(event.seq, text, event.by) for text in event.body.get("lines", ())]
        elif event.kind == EventKind.LINE:
            before, answered = event.body.get("before"), event.body.get("question")
            # A question is asked again where its line no longer counts: the last answer is the one that stands.
            lines = [line for line in lines if not answered or line.question != answered]
            place = next((place for place, line in enumerate(lines) if line.seq == before), len(lines))
            lines.insert(place, _written(event))
        elif event.kind == EventKind.CORRECT:
            body = {"text": event.body["text"], "corrected_by": event.by}
            body |= {"question": event.body["question"]} if "question" in event.body else {}
            lines = [replace(line, **body) if line.seq == event.body["of"] else line for line in lines]
        elif event.kind == EventKind.RETRACT:
            lines = [line for line in lines if line.seq != event.body["of"]]
    return lines


def _written(event: Event) -> Written:
    optional = {field: event.body[field] for field in ("source", "question", "deal") if field in event.body}
    return Written(event.seq, event.body["text"], event.by, **optional)
