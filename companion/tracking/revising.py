"""Changes of the record where plays count by themselves, once other hypotheses have become likelier.

Only improbable lines are changed, and only those that no person has confirmed, entered or changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple

from companion.match.questions import Kind, question_id
from companion.rules.play import Play
from companion.tracking.beam import Beliefs
from companion.tracking.hand_record import Line, Record
from companion.tracking.hypothesis import Hypothesis, Manner, TableAct

IMPROBABLE = 0.05  # probability of the record below which it is changed
CLEAR = 0.5  # probability of what it is changed to


class Revision(NamedTuple):
    """A change of the record."""

    line: int  # the line that is changed or removed, or before which a new one is inserted
    play: Play | None  # None: the line is removed
    question: str = ""  # id of the question that the play answers
    is_new: bool = False


def revisions(beliefs: Beliefs, record: Record, *, at_the_end: bool = False) -> tuple[Revision, ...]:
    """Return what is to be changed; the beliefs know the record. At the end, the likeliest hypothesis counts."""
    lines = record.unvouched
    if not lines or beliefs.judge is None:
        return ()
    said = [replace(line.play, anyway=False) for line in lines]
    if _share(beliefs, said) > (CLEAR if at_the_end else IMPROBABLE):
        return ()
    acts = counted(beliefs.best)
    meant = [act.play for act in acts if act.play is not None]
    clear = 0.0 if at_the_end else CLEAR
    sure = max((n for n in range(len(meant) + 1) if _share(beliefs, meant[:n]) >= clear), default=0)
    asked = [ident(beliefs.best, act, record) for act in acts]
    return tuple(_changes(lines, said, acts, meant, asked, sure))


def counted(h: Hypothesis) -> list[TableAct]:
    """Return the acts of a hypothesis that count as plays."""
    return [act for act in h.acts if act.is_legal]


def _share(beliefs: Beliefs, begin: Sequence[Play]) -> float:
    """Return the probability that the hand goes on like this."""
    weighted = zip(beliefs.hypotheses, beliefs.weights, strict=True)
    return sum(w for h, w in weighted if begins(h, begin))


def begins(h: Hypothesis, begin: Sequence[Play]) -> bool:
    """True if these are the first plays of a hypothesis."""
    acts = counted(h)
    return len(acts) >= len(begin) and all(act.play == play for act, play in zip(acts, begin, strict=False))


def _changes(
    lines: tuple[Line, ...], said: list[Play], acts: list[TableAct], meant: list[Play], asked: list[str], sure: int
) -> Iterator[Revision]:
    for what, i, j, m, n in SequenceMatcher(None, said, meant, autojunk=False).get_opcodes():
        is_end = m == n == len(meant)
        if what == "equal" or m > sure or (is_end and sure < len(meant)):
            continue
        for k in range(max(j - i, min(n, sure) - m)):
            if i + k < j and m + k < min(n, sure):
                yield Revision(lines[i + k].seq, acts[m + k].play, asked[m + k])
            elif i + k < j and n <= sure:
                yield Revision(lines[i + k].seq, None)
            elif i + k >= j and j < len(lines):
                yield Revision(lines[j].seq, acts[m + k].play, asked[m + k], is_new=True)


def ident(h: Hypothesis, act: TableAct, record: Record, kind: Kind = Kind.PLAY) -> str:
    """Return the id of the question about an act; a play that the camera missed has no card."""
    name = h.card_of(act.serial) or act.face.value
    how = "-taken" if act.manner is Manner.TAKEN else ""
    serial: int | str = act.serial if act.serial > 0 else f"n{-act.serial}"
    return question_id(record.match, record.hand_seq, f"{name}{how}", serial, kind)
