"""Whatever people do at the table, in whatever order: what lies there beyond the record is asked, and nothing else."""

from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st
from viewed import Viewed

from companion.match.questions import Answer, Kind, Question
from companion.rules.cards import Family
from companion.rules.play import Play
from companion.rules.referee import legal_plays
from companion.rules.table import Table
from companion.tabletop.card_ids import face_of
from companion.tracking.handling import BARS

CARDS = ("roll-01", "roll-02", "roll-03", "stop-01", "25-01", "25-02", "50-01", "speed-limit-01", "right-of-way-01")
PILES = ("side-1/battle", "side-2/battle", "side-1/speed", "table/discard")
ZONES = (*PILES, "side-1/distance", "side-2/distance", "side-2/safety")
LONG_S = 14.0
"""Whatever waits has been decided by then."""


def _legal(table: Table) -> tuple[Play, ...]:
    faces = {face_of(card) for card in CARDS}
    return tuple(play for play in legal_plays(table, table.player_to_move) if play.card in faces)


class Conversation:
    """A table of piles, and people who do what comes to their minds."""

    def __init__(self) -> None:
        self.seen = Viewed(confirm=False)
        self.stacks: dict[str, list[str]] = {zone: [] for zone in ZONES}
        self.refused: set[str] = set()
        """Cards that people have answered with *not a play*."""

        self.left_over: set[str] = set()
        self.ever: set[str] = set()
        """The cards that were ever laid."""

        self.told: dict[int, str] = {}
        """The cards by which lines were told, by serial."""

        self.look(BARS.moment_s + 0.4)

    # What people do

    def lay(self, card: str, zone: str) -> None:
        if card in self.stacks[zone]:
            # Nobody could see that it had been taken up.
            return
        self._lift(card)
        self.stacks[zone].append(card)
        self.ever.add(card)
        self.look(0.4)

    def take_up(self, card: str) -> None:
        self._lift(card)
        self.look(BARS.moment_s + 0.4)

    def arm(self, zone: str) -> None:
        self.look(0.7, hidden=(zone,))

    def yes(self, number: int) -> None:
        self.seen.ask()
        asked = [q for q in self.seen.questions if q.kind is Kind.PLAY and q.is_legal and q.plays[0] is not None]
        if asked and number == 0:
            self.told[asked[0].serial or 0] = _card_of(asked[0])
            self.seen.yes(asked[0])

    def no(self, number: int) -> None:
        self.seen.ask()
        asked = [q for q in self.seen.questions if q.kind is Kind.PLAY and q.serial is not None]
        if number < len(asked):
            self.refused.add(_card_of(asked[number]))
            self.seen.answer(asked[number], Answer.NO)

    def type_(self, number: int) -> None:
        table = self.seen.table
        plays = () if table.is_over else _legal(table)
        if plays:
            self.seen.enter(str(plays[number % len(plays)]))

    def correct(self, number: int) -> None:
        if self.seen.record.lines and not self.seen.table.is_over:
            plays = _legal(self.seen.record.lines[-1].before)
            self.seen.correct(str(plays[number % len(plays)]))

    def undo(self, _number: int) -> None:
        if self.seen.record.lines:
            self.seen.undo()

    def next_hand(self, _number: int) -> None:
        self.seen.next_hand()
        self.left_over = {card for cards in self.stacks.values() for card in cards}
        self.refused = set()

    def look(self, seconds: float, hidden: tuple[str, ...] = ()) -> None:
        """Let time pass; what is in sight follows from the stacks."""
        self.seen.cards = {
            card: (zone, False)
            for zone, cards in self.stacks.items()
            for card in (cards[-1:] if zone in PILES else cards)
        }
        self.seen.see(seconds, unknown=hidden)

    def _lift(self, card: str) -> None:
        for cards in self.stacks.values():
            if card in cards:
                cards.remove(card)
        self.left_over.discard(card)
        self.refused.discard(card)

    # What has to be so

    def lacking(self) -> Counter[str]:
        """The cards in sight that the record has never had in their zones, and of which nobody has said anything."""
        record, places = self.seen.record, self.seen.places
        had = {spot for line in record.lines for spot in places.lying(line.before)} | set(places.lying(self.seen.table))
        # A card by which a line was told may be another than its sticker says: people have corrected the line.
        told = {self.told.get(line.serial or 0) for line in record.lines}
        return Counter(
            card
            for zone, cards in self.stacks.items()
            for card in (cards[-1:] if zone in PILES else cards)
            if (zone, face_of(card)) not in had and card not in self.refused | self.left_over | told
        )

    def missing(self) -> set[str]:
        """The one card by which a line was told, that is nowhere now, and like which no other lies in its zone."""
        lying, spots = (
            {card for cards in self.stacks.values() for card in cards},
            self.seen.places.lying(self.seen.table),
        )
        faces = Counter(map(face_of, self.ever))
        told = [(line, self.told.get(line.serial or 0)) for line in self.seen.record.lines]
        gone = {
            card
            for line, card in told
            if card in self.ever and card not in lying and line.spots[0] in spots and line.play.card is face_of(card)
            if faces[face_of(card)] == 1
        }
        return gone if len(gone) == 1 else set()

    def is_as_recorded(self) -> bool:
        """True if the cards lie as the record has them, none too many and none too few."""
        lying = Counter((zone, face_of(card)) for zone, cards in self.stacks.items() for card in cards)
        return lying == Counter(self.seen.places.lying(self.seen.table)) and not self.left_over

    def asked_about(self) -> set[str]:
        return {_card_of(question) for question in self.seen.questions}


def _card_of(question: Question) -> str:
    """Return the card that a question is about: its id names it."""
    return question.id.split("-", 2)[2].rsplit(".", 1)[0].removesuffix("-taken")


numbers = st.integers(0, 2)
acts = st.one_of(
    st.tuples(st.just("lay"), st.sampled_from(CARDS), st.sampled_from(ZONES)),
    st.tuples(st.just("lay"), st.sampled_from(CARDS), st.sampled_from(ZONES)),
    st.tuples(st.sampled_from(("take_up",)), st.sampled_from(CARDS)),
    st.tuples(st.just("look"), st.sampled_from((0.1, 0.5, 2.0))),
    st.tuples(st.just("arm"), st.sampled_from(ZONES)),
    st.tuples(st.just("yes"), st.just(0)),
    st.tuples(st.just("yes"), st.just(0)),
    st.tuples(st.sampled_from(("no", "type_", "correct", "undo", "next_hand")), numbers),
)


CARRIED = ("lay", "25-01", "table/discard"), ("lay", "25-01", "side-1/battle")


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(acts, max_size=12))
@example([*CARRIED, ("no", 0)])
@example([CARRIED[0], CARRIED[1], ("no", 0), CARRIED[0]])
def test_what_lies_beyond_the_record_is_asked_and_what_lies_as_it_says_is_not(deeds: list[tuple[object, ...]]) -> None:
    talk = Conversation()

    for name, *args in deeds:
        getattr(talk, str(name))(*args)
    talk.look(LONG_S)

    if not talk.seen.table.is_over and talk.seen.table.extension_offered_to is None:
        carried = {card for card in talk.stacks["table/discard"] if face_of(card).family is Family.HAZARD}
        assert set(talk.lacking()) - carried <= talk.asked_about()
        assert talk.missing() <= talk.asked_about()
        assert not any(_card_of(q) in talk.refused for q in talk.seen.questions if q.kind is Kind.PLAY)
        assert not (talk.is_as_recorded() and talk.seen.questions)
