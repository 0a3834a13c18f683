"""A match's record, settings and answers as a pure function of its events.

Events are never deleted: later ones remove, change or restore lines.
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
"""Sources of a line. As `by`, `CAMERA` or `SOMEBODY` (a phone without a seat) stand for no player."""

DEMO = "demo"  # `by` of the simulated table

DEALT, ROBOT = "dealt", "robot "  # settings: program deals; prefix of a robot's level

VERIFYING, ROBOT_SEAT = "other-side-verifies", "robot-seat"  # settings: opponents confirm; a robot at a real table

YES, NO = "yes", "no"

UNDOABLE = (EventKind.LINE, EventKind.CORRECT, EventKind.RETRACT)


@dataclass(frozen=True, slots=True)
class Written:
    """A record line in effect, with its origin."""

    seq: int
    text: str
    by: str = ""  # who entered it
    source: str = ""
    corrected_by: str | None = None
    question: str = ""  # id of the answered question; empty if typed
    deal: str = ""  # secret key of the dealt hand it begins


@dataclass(frozen=True, slots=True)
class Change:
    """A play that was changed or removed."""

    seq: int  # event of the change
    line: int  # event of the line
    before: str
    after: str | None  # None if removed
    by: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """The state that follows from a match's events."""

    lines: tuple[Written, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Answered] = field(default_factory=dict)  # latest by question, unless a line answers it
    claims: tuple[Written, ...] = ()  # typed plays that had to wait, oldest first, even if settled
    asked: frozenset[str] = frozenset()  # answered questions, even if undone
    waived: frozenset[tuple[int, str]] = frozenset()  # (line, player who declined to answer it)
    wishes: tuple[Event, ...] = ()  # requests to undo
    letters: tuple[Event, ...] = ()  # from the club's director
    has_called: bool = False  # the director's call is open
    undone_next: tuple[Event, ...] = ()  # what the next undo takes back, newest first
    changes: tuple[Change, ...] = ()  # in effect, oldest first
    redone_next: tuple[Event, ...] = ()  # what the next redo restores, newest first

    @property
    def robots(self) -> Mapping[str, int]:
        levels = {key: Level.of(value) for key, value in self.settings.items() if key.startswith(ROBOT)}
        return {key.removeprefix(ROBOT): level for key, level in levels.items() if level}

    @property
    def is_demo(self) -> bool:
        return bool(self.lines) and self.lines[0].by == DEMO


def history(events: Sequence[Event]) -> History:
    """Return a match's history."""
    standing = _standing(events)
    settings = {e.body["key"]: e.body["value"] for e in standing if e.kind == EventKind.SETTING}
    past = History(settings=settings)
    said = [
        e for e in events if e.kind == EventKind.ANSWER and "question" in e.body and e.body["answer"] in tuple(Answer)
    ]
    lines = tuple(_kept(_lines(standing), events))
    return replace(
        past,
        lines=lines,
        # Answers cannot be undone.
        answers={e.body["question"]: Answered(Answer(e.body["answer"]), e.body.get("about", ""), e.seq) for e in said},
        claims=tuple(_written(e) for e in events if e.kind == EventKind.CLAIM),
        asked=frozenset(e.body["question"] for e in events if e.body.get("question")) - _withdrawn(events, lines),
        waived=frozenset((e.body["of"], e.by) for e in events if e.kind == EventKind.WAIVE),
        wishes=tuple(e for e in events if e.kind == EventKind.WISH),
        letters=tuple(e for e in events if e.kind == EventKind.LETTER),
        has_called=_has_called(events),
        undone_next=_undone_next(events, standing, past.robots),
        changes=tuple(_changes(events, standing)),
        redone_next=_redone_next(standing),
    )


def _withdrawn(events: Sequence[Event], lines: Sequence[Written]) -> frozenset[str]:
    """Return the questions whose plays counted by themselves and were later removed or changed by the camera."""
    asked: dict[int, str] = {}
    withdrawn: set[str] = set()
    for e in events:
        if e.by == CAMERA and e.kind == EventKind.LINE:
            asked[e.seq] = e.body.get("question", "")
        elif e.by == CAMERA and e.kind == EventKind.CORRECT:
            withdrawn.add(asked.get(e.body["of"], ""))
            asked[e.body["of"]] = e.body.get("question", "")
        elif e.by == CAMERA and e.kind == EventKind.RETRACT and "question" not in e.body:
            withdrawn.add(asked.pop(e.body["of"], ""))
    by_people = {e.body.get("question") for e in events if e.by != CAMERA}
    return frozenset(withdrawn) - by_people - {line.question for line in lines}


def _kept(lines: Sequence[Written], events: Sequence[Event]) -> Iterator[Written]:
    """Yield the lines; one that the camera changed, and a person changed back, is that person's."""
    by_seq = {e.seq: e for e in events}
    undone = ((e, by_seq.get(e.body["of"])) for e in events if e.kind == EventKind.UNDO and e.by != CAMERA)
    kept = {of.body["of"]: e.by for e, of in undone if of and of.by == CAMERA and "of" in of.body}
    yield from (replace(line, corrected_by=kept.get(line.seq, line.corrected_by)) for line in lines)


def _undone_next(events: Sequence[Event], standing: Sequence[Event], robots: Container[str]) -> tuple[Event, ...]:
    """Return the events that the next undo takes back; none if only robots have played.

    The start of the first hand stays. One tap's corrections are undone together.
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
    """Return the undos made by the last tap, if nothing has changed since."""
    last = [event for event in reversed(standing) if _is_undoable(event) or event.kind == EventKind.UNDO]
    tap = last[0].body.get("request") if last else None
    undos = takewhile(lambda event: event.kind == EventKind.UNDO and event.body.get("request") == tap, last)
    return tuple(undos)[: None if tap else 1]


def _is_undoable(event: Event) -> bool:
    """True for changes of the record except shown names, which are entered again instead."""
    return event.kind in UNDOABLE and not isinstance(read_header(event.body.get("text", "")), PlayerLine)


def _standing(events: Sequence[Event]) -> list[Event]:
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
    """Yield the changes in effect; undoing a line counts as removing it."""
    said = {event.seq: event.body["text"] for event in events if event.kind == EventKind.LINE}
    for event in standing:
        line, after = event.body.get("of"), event.body.get("text") if event.kind == EventKind.CORRECT else None
        if event.kind in (EventKind.CORRECT, EventKind.RETRACT, EventKind.UNDO) and line in said:
            yield Change(event.seq, line, said[line], after, event.by)
            said[line] = after or said[line]


def _has_called(events: Sequence[Event]) -> bool:
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
            # A question is asked again if its line stops counting; its last answer replaces the others.
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
