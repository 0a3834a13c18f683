"""A record and a table in front of an eye, without a match: views written by hand, and the questions asked."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from records import PAIRS, THREE, TWO, hand

from companion.match.questions import Answer, Answered, Kind, Question
from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.record import notation
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import DRAW_ZONE
from companion.tracking.follower import Follower
from companion.tracking.hand_record import Line, Record
from companion.vision.view import MatSeen, Point, Quad, Sighting, View

SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
STEP_S = 0.1
SIDEWAYS = "sideways"
SPREAD = ("distance", "safety")


class Viewed:
    """A table viewed frame by frame.

    By default, certain plays and events of the piles are confirmed at once. `lines` are played before the first frame.
    """

    def __init__(
        self,
        *lines: str,
        edition: str = "classic",
        options: tuple[str, ...] = (),
        sides: str = TWO,
        confirm: bool = True,
        sure: float = 0.98,
    ) -> None:
        self.confirm, self.sure, self.t_s, self.seq = confirm, sure, 0.0, 1
        self.new_table = hand(players=sides, edition=edition, options=options).table
        self.follower = Follower(hand_seq=self.seq)
        mats = {f"side-{number}": side.name for number, side in enumerate(self.new_table.sides, 1)}
        self.places = Places(mats)
        self.record = Record(1, self.seq, self.places, self.new_table)
        self.mats = tuple(MatSeen(mat, SQUARE, 2.0) for mat in (*mats, "table"))
        self.cards: dict[str, tuple[str, bool]] = {}
        """Zone and sideways flag of each visible card."""

        self.corners: dict[str, Quad] = {}
        self._numbers: dict[str, int] = {}
        self.questions: tuple[Question, ...] = ()  # open questions
        self.ever: list[Question] = []  # all questions so far
        for text in lines:
            assert not referee.objections(self.table, notation.parse_play(text, self.table.sides)), text
            self.enter(text)

    @property
    def table(self) -> Table:
        assert self.record.table is not None
        return self.record.table

    @property
    def asked(self) -> list[str]:
        return [words(question) for question in self.questions]

    @property
    def played(self) -> list[str]:
        return [str(line.play) for line in self.record.lines]

    @property
    def is_cleared(self) -> bool:
        """True if the next hand can begin."""
        return self.follower.is_cleared(self.record)

    # The cards

    def lay(self, card: str, zone: str, *, sideways: bool = False) -> None:
        """Put a card on a zone; on a pile it hides the others."""
        kept = {c: p for c, p in self.cards.items() if p[0] != zone or zone.endswith(SPREAD)}
        self.cards = {**kept, card: (zone, sideways)}

    def put(self, card: str, zone: str, *, sideways: bool = False) -> None:
        """Add a card to a zone without hiding others."""
        self.cards[card] = (zone, sideways)

    def take_up(self, card: str, *, beneath: str | None = None) -> None:
        """Remove a card; the one below it becomes visible."""
        zone, _ = self.cards.pop(card)
        if beneath is not None:
            self.cards[beneath] = (zone, False)

    # The record

    def enter(self, text: str, serial: int | None = None) -> None:
        """Record a play, as if typed or confirmed."""
        play = notation.parse_play(text, self.table.sides)
        self.seq += 1
        line = Line(self.seq, play, self.table, self.places, serial)
        after = referee.apply(self.table, play)
        self.record = replace(self.record, table=after, lines=(*self.record.lines, line))

    def undo(self) -> None:
        self.seq += 1
        self.record = replace(self.record, table=self.record.lines[-1].before, lines=self.record.lines[:-1])

    def correct(self, text: str) -> None:
        last = self.record.lines[-1]
        play = notation.parse_play(text, last.before.sides)
        self.seq += 1
        lines = (*self.record.lines[:-1], replace(last, play=play))
        self.record = replace(self.record, table=referee.apply(last.before, play), lines=lines)

    def next_hand(self) -> None:
        """Begin the next hand without moving the cards."""
        self.seq += 1
        self.record = Record(1, self.seq, self.places, self.new_table, answers=self.record.answers)

    def leave(self, draw_pile: int) -> None:
        """Set the record's number of cards in the draw pile."""
        self.record = replace(self.record, table=self.table._replace(draw_pile=draw_pile))

    def answer(self, question: Question, answer: Answer) -> None:
        self.seq += 1
        answers = {**self.record.answers, question.id: Answered(answer, question.about, self.seq)}
        self.record = replace(self.record, answers=answers)

    def yes(self, question: Question) -> None:
        """Record the play that a question asks about."""
        self.enter(str(question.plays[0]), question.serial)

    # Frames

    def see(self, seconds: float = 1.0, *, unknown: tuple[str, ...] = (), pile_empty: bool = False) -> list[Question]:
        """Let time pass; return the new questions."""
        first = len(self.ever)
        for _ in range(round(seconds / STEP_S)):
            self.look(unknown, pile_empty)
        return self.ever[first:]

    def look(self, unknown: tuple[str, ...] = (), pile_empty: bool = False) -> None:
        self.t_s += STEP_S
        self.follower.see(self._view(unknown, pile_empty), self.record)
        self.ask()

    def ask(self) -> None:
        """Derive the questions, and confirm all plays that may count."""
        while True:
            self.questions = self.follower.asking()(self.record)
            known = {(question.id, words(question)) for question in self.ever}
            self.ever += [question for question in self.questions if (question.id, words(question)) not in known]
            legal = [q for q in self.questions if q.kind is Kind.PLAY and self._counts(q)]
            if not self.confirm or not legal:
                return
            self.yes(legal[0])

    def gap(self, seconds: float = 120.0) -> None:
        self.follower.lose_sight()
        self.t_s += seconds

    # Scenes

    def perform(self, step: str) -> list[Question]:
        """Perform a step of a scene; return the new questions."""
        match step.split():
            case ["lay", card, zone, *how]:
                self.lay(card, zone_of(zone), sideways="sideways" in how)
            case ["put", card, zone, *how]:
                self.put(card, zone_of(zone), *(float(mm) for mm in how if mm != SIDEWAYS), sideways=SIDEWAYS in how)
            case ["up", card, *beneath]:
                self.take_up(card, beneath=beneath[-1] if beneath else None)
            case ["cover", card]:
                del self.cards[card]
            case ["clear", *but]:
                self.cards = {card: place for card, place in self.cards.items() if card in but}
            case ["see", *how]:
                seconds = float(how.pop(0)) if how and how[0][0].isdigit() else 1.0
                hidden = tuple(zone_of(zone) for zone in how if zone not in ("hiding", "empty"))
                return self.see(seconds, unknown=hidden, pile_empty="empty" in how)
            case ["enter", *_]:
                for play in step.removeprefix("enter ").split(", "):
                    self.enter(play)
            case ["as", *play]:
                self.enter(" ".join(play), self.questions[0].serial)
            case ["correct", *play]:
                self.correct(" ".join(play))
            case ["say", answer]:
                self.answer(self.questions[0], Answer(answer))
            case ["undo"]:
                self.undo()
            case ["next", "hand"]:
                self.next_hand()
            case ["gap", *seconds]:
                self.gap(*map(float, seconds))
            case ["leave", cards]:
                self.leave(int(cards))
            case _:
                raise ValueError(step)
        return []

    def check(self, scene: Iterable[str]) -> None:
        """Play a scene: steps, and after `=>` the new questions of the last step.

        `now:` lists the open questions, `ever:` all so far, `played:` the recorded plays.
        """
        for written in scene:
            steps, _, expected = written.rpartition("=> ")
            asked: list[Question] = []
            for step in filter(str.strip, steps.split(";")):
                asked = self.perform(step.strip())
            found = f"{steps}=> {self._told(expected.split(' ')[0], asked)}"
            assert found == written, f"It is {found!r}, not {written!r}."

    def _told(self, what: str, asked: Iterable[Question]) -> str:
        if what in ("cleared", "uncleared"):
            return "cleared" if self.is_cleared else "uncleared"
        if what == "played:":
            return f"played: {' / '.join(self.played)}"
        of = {"now:": self.questions, "ever:": self.ever}.get(what)
        said = " / ".join(map(told, asked if of is None else of)) or "nothing"
        return said if of is None else f"{what} {said}"

    def _counts(self, question: Question) -> bool:
        is_sure = question.sure or question.zone in (None, DRAW_ZONE)
        return is_sure and question.is_legal and not referee.objections(self.table, question.plays[0])

    def _view(self, unknown: tuple[str, ...], pile_empty: bool) -> View:
        return View(self.t_s, self.mats, self._sightings(unknown), frozenset(unknown), pile_empty)

    def _sightings(self, unknown: tuple[str, ...]) -> tuple[Sighting, ...]:
        return tuple(self._sighting(card) for card, (zone, _) in self.cards.items() if zone not in unknown)

    def _sighting(self, card: str) -> Sighting:
        (zone, sideways), corners = self.cards[card], self.corners.get(card)
        return Sighting(face_of(card), card, self._centre_px(card, zone), corners, zone, sideways, self.sure, "sticker")

    def _centre_px(self, card: str, zone: str) -> Point:
        """Return one place for all cards of a pile; other cards are side by side."""
        return (150.0 * self._numbers.setdefault(card, len(self._numbers)) if zone.endswith(SPREAD) else 0.0), 0.0


def words(question: Question) -> str:
    """Return a question in short: a play, or the sentence about a difference."""
    return str(question.say) if question.kind is Kind.DIFFERS else str(question.plays[0])


def told(question: Question) -> str:
    """Return a question as written in scenes, with a question mark if it is uncertain."""
    if question.kind is Kind.WHICH:
        return f"which: {', '.join(map(str, question.plays))}"
    others = "".join(f" or {play}" for play in question.plays[1:] if play.at_once)
    return words(question) + others + "?" * (question.kind is Kind.PLAY and not question.sure)


def table_of(setting: str, starts: Mapping[str, Callable[..., Viewed]], kind: type[Viewed] = Viewed) -> Viewed:
    """Return the table of a scene: a named start with arguments, or a new one with the given settings."""
    words = setting.split("; ") if setting else []
    name, *arguments = words[0].split() if words else [""]
    said = dict(word.split("=") for word in words if "=" in word)
    edition = said.pop("edition", "classic")
    more: dict[str, object] = {"sure": float(said.pop("sure"))} if "sure" in said else {}
    if "three" in words:
        more["sides"] = THREE
    if "pairs" in words:
        more["sides"] = PAIRS
    if said:
        more["options"] = tuple(map("=".join, said.items()))
    if name in starts:
        table = starts[name](*(int(word) if word.isdigit() else word for word in arguments))
    else:
        table = kind(edition=edition, **more)
    table.confirm = "unconfirmed" not in words
    return table


def zone_of(short: str) -> str:
    """Return the zone for a short name: `1/battle` belongs to the first side."""
    return f"side-{short}" if short[0].isdigit() else f"table/{short}"


def plays(questions: Iterable[Question]) -> list[str]:
    return [str(question.plays[0]) for question in questions if question.kind is Kind.PLAY]


def differences(questions: Iterable[Question]) -> list[Question]:
    return [question for question in questions if question.kind is Kind.DIFFERS]
