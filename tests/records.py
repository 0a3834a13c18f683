"""Set up tables in record notation: `hand("Ann roll; Bob stop > Ann")`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from companion.rules import referee
from companion.rules.cards import Family
from companion.rules.play import Play
from companion.rules.record import judge, notation
from companion.rules.record.judge import Game, HandResult, JudgedLine
from companion.rules.table import Side, Table, Team

TWO = "Ann, Bob"
THREE = "Ann, Bob, Cid"
FOUR = "Ann, Bob, Cid, Dee"
FIVE = f"{FOUR}, Eve"
EIGHT = f"{FIVE}, Fay, Gus, Hal"
PAIRS = "Reds = Ann Cid, Blues = Bob Dee"
SIX = "Reds = Ann Dee, Blues = Bob Eve, Greens = Cid Fay"
EIGHT_IN_PAIRS = "Reds = Ann Eve, Blues = Bob Fay, Greens = Cid Gus, Yellows = Dee Hal"

WITH_FAULTS = """edition classic
side Ann
side Bob
hand first Ann
Ann roll
Bob 25
Bob foo
Bob roll
"""
"""A record with an illegal line and an unreadable one."""

DEALT_TO_EIGHT = [
    (TWO, 94), (THREE, 88), (FOUR, 82), (FIVE, 76), (f"{FIVE}, Fay", 70), (f"{FIVE}, Fay, Gus", 64), (EIGHT, 58),
    (PAIRS, 82), (SIX, 70), (EIGHT_IN_PAIRS, 58),
]  # fmt: skip
"""Every seating of up to eight, with the draw pile of a 106-card deck after dealing six each."""


@dataclass(frozen=True)
class Hand:
    """A hand in progress."""

    game: Game

    @property
    def table(self) -> Table:
        assert self.game.table is not None
        return self.game.table

    @property
    def turn(self) -> str:
        return self.table.player_to_move

    @property
    def result(self) -> HandResult:
        return self.game.hands[-1]

    def side(self, name: str) -> Side:
        index = self.table.side_index(name)
        assert index is not None
        return self.table.sides[index]

    def cards_of(self, player: str) -> int:
        return self.table.hands[self.table.seat_of(player)]

    def points(self, side: str) -> dict[str, int]:
        return {item.value: points for item, points in self.result.sheets[side].lines}

    def against(self, text: str) -> list[str]:
        """Return the codes of a line's objections; empty if it is legal."""
        return [why.code.value for why in referee.objections(self.table, self.parsed(text))]

    def parsed(self, text: str) -> Play:
        return notation.parse_play(text, self.game.teams)

    def then(self, plays: str, *, as_lies: bool = False) -> Hand:
        """Return the hand after more lines, which must be legal unless `as_lies`.

        `down to 1 but roll 50` stands for discards until one card is left in the draw pile, without those cards and
        safeties.
        """
        game = self.game
        for text in lines_of(plays):
            if text.startswith("down to "):
                left, _, kept = text.removeprefix("down to ").partition(" but ")
                game = run_down(Hand(game), kept, left=int(left)).game
                continue
            game, items = judge.step(game, notation.RecordLine(0, text), as_lies=as_lies)
            wrong = [i for i in items if isinstance(i, JudgedLine) and (i.reasons or i.unreadable)]
            assert as_lies or not wrong, f"{text}: {wrong[0].unreadable or [str(r) for r in wrong[0].reasons]}"
        return Hand(game)


def run_down(played: Hand, kept: str = "", *, left: int = 0) -> Hand:
    """Return the hand after discards until `left` cards are in the draw pile; keeps `kept` and safeties."""
    table = played.table
    cards = [
        card.value for card in table.deck if card.family is not Family.SAFETY for _ in range(table.copies_left(card))
    ]
    for card in kept.split():
        cards.remove(card)
    while played.table.draw_pile > left:
        played = played.then(f"{played.turn} discard {cards.pop()}")
    return played


def lines_of(plays: str) -> list[str]:
    return [line.strip() for line in plays.replace("\n", ";").split(";") if line.strip()]


def hand(
    plays: str = "",
    players: str = TWO,
    *,
    options: Iterable[str] = (),
    target: int | None = None,
    first: str = "Ann",
    edition: str = "classic",
    as_lies: bool = False,
) -> Hand:
    """Return a hand after these plays; house rules look like `hazard-on-hazard=forbidden`."""
    game = judge.NEW_GAME
    for text in header(players, edition=edition, options=options, target=target, first=first):
        game, items = judge.step(game, notation.RecordLine(0, text))
        assert not items, items
    return Hand(game).then(plays, as_lies=as_lies)


def header(
    players: str = TWO,
    *,
    edition: str = "classic",
    options: Iterable[str] = (),
    target: int | None = None,
    first: str = "Ann",
) -> list[str]:
    lines = [f"edition {edition}", *map(_side_line, players.split(","))]
    lines += [f"option {option}" for option in options] + ([f"target {target}"] if target else [])
    return [*lines, f"hand first {first}"]


def teams(players: str) -> list[Team]:
    """Return the sides of `Ann, Bob` or `Reds = Ann Cid, Blues = Bob Dee`."""
    named = [side.partition("=") for side in players.split(",")]
    return [Team(name.strip(), tuple(partners.split()) or (name.strip(),)) for name, _, partners in named]


def _side_line(side: str) -> str:
    name, _, partners = side.partition("=")
    return f"side {name.strip()} = {', '.join(partners.split())}" if partners else f"side {name.strip()}"


def record(text: str, *, as_lies: bool = False) -> list[JudgedLine | HandResult]:
    return list(judge.judge(notation.lines(text), as_lies=as_lies))


def verdicts(text: str) -> list[str]:
    return [item.verdict for item in record(text) if isinstance(item, JudgedLine)]


def results(text: str) -> list[HandResult]:
    return [item for item in record(text) if isinstance(item, HandResult)]
