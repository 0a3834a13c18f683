"""Late correction: the record judged anew from the changed line on, and what that changes."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules.editions.edition import edition_names
from companion.rules.record import judge, notation
from companion.rules.record.judge import EMPTY_RECORD, JudgedRecord
from companion.rules.referee import legal_plays

MATCH = """\
edition classic
side Ann
side Bob
hand first Ann

Ann roll
Bob roll
Ann 100   # under nothing
Bob stop > Ann
Ann roll
Bob 75
end
hand first Bob
Bob roll
Ann roll
Bob 50
"""


@dataclass(frozen=True)
class Correction:
    """A record before and after its text was edited."""

    before: JudgedRecord
    after: JudgedRecord

    @property
    def became_illegal(self) -> list[judge.JudgedLine]:
        """The lines that do not fit any more, or are new and do not fit."""
        return without(misfits(self.after), misfits(self.before))

    @property
    def became_legal(self) -> list[judge.JudgedLine]:
        return without(misfits(self.before), misfits(self.after))

    @property
    def hands(self) -> list[tuple[int, judge.HandResult | None, judge.HandResult | None]]:
        """The hands whose end, score or match totals are not what they were: number, before, after."""
        was, now = self.before.hands, self.after.hands
        numbers = sorted(was.keys() | now.keys())
        return [(n, was.get(n), now.get(n)) for n in numbers if outcome(was.get(n)) != outcome(now.get(n))]


def misfits(record: JudgedRecord) -> list[judge.JudgedLine]:
    verdicts = [record.verdict(place) for place in range(len(record.lines))]
    return [judged for judged in verdicts if judged is not None and judged.verdict != judge.LEGAL]


def without(lines: list[judge.JudgedLine], others: list[judge.JudgedLine]) -> list[judge.JudgedLine]:
    left = Counter(judged.line.text for judged in others)
    left.subtract(judged.line.text for judged in lines)
    return [judged for judged in lines if left[judged.line.text] < 0]


def outcome(result: judge.HandResult | None) -> object:
    return result and (result.how, result.by, dict(result.sheets), dict(result.match), result.winner)


def record_of(text: str) -> tuple[notation.Line, ...]:
    return tuple(notation.lines(text))


def corrected(text: str, changed: str) -> Correction:
    before = judge.judge_on(EMPTY_RECORD, record_of(text))
    return Correction(before, judge.judge_on(before, record_of(changed)))


def edit(text: str, number: int, *new: str, drop: int = 1) -> Correction:
    """The record with other lines in the place of one, or put in before it."""
    lines = text.splitlines()
    return corrected(text, "\n".join([*lines[: number - 1], *new, *lines[number - 1 + drop :]]))


def texts(lines: list[judge.JudgedLine]) -> list[str]:
    return [judged.line.text for judged in lines]


def totals(correction: Correction) -> dict[int, tuple[dict[str, int] | None, dict[str, int] | None]]:
    """The match totals before and after, by hand."""
    return {number: tuple(r and dict(r.match) for r in both) for number, *both in correction.hands}


# --- A line changed, taken out, put in -----------------------------------------------------------------------


FORGOTTEN = MATCH.replace("Bob roll\nAnn 100", "Ann 100")
LATE_ROLL = MATCH.replace("Ann roll\nBob roll\nAnn 100", "Ann discard 25\nBob roll\nAnn 100")
ILLEGAL = MATCH.replace("Ann 100 ", "Ann 200 anyway\nAnn 25\nBob 25\nAnn 25 ")
ATTACKED = MATCH.replace("Ann roll\nBob 75", "Ann roll\nBob accident > Ann\nAnn discard 25\nBob stop > Ann")


@pytest.mark.parametrize(
    ("done", "illegal", "legal"),
    [
        (edit(MATCH, 6, "Ann discard 25"), ["Ann 100", "Bob stop > Ann"], []),
        (edit(LATE_ROLL, 6, "Ann roll"), [], ["Ann 100", "Bob stop > Ann"]),
        (edit(MATCH, 9), ["Ann roll"], []),
        (edit(FORGOTTEN, 7, "Bob roll", drop=0), [], ["Ann 100", "Bob 75"]),
        (edit(MATCH, 8, "Ann repairs", drop=0), ["Ann repairs"], []),
        (edit(MATCH, 8, "Ann flies"), ["Ann flies", "Bob stop > Ann", "Ann roll", "Bob 75"], []),
        (edit(ILLEGAL, 8, "Ann 100"), [], []),
        (edit(MATCH, 13, "hand first Ann"), ["Bob roll", "Bob 50"], []),
        (edit(MATCH.replace("hand first Bob", "hand first Ann"), 13, "hand first Bob"), [], ["Bob roll", "Bob 50"]),
        (edit(ATTACKED, 2, "option hazard-on-hazard=forbidden", drop=0), ["Bob stop > Ann"], []),
        (edit(MATCH, 1, "edition klassik"), ["edition klassik"], []),
    ],
    ids=[
        *("no longer fits", "fits after all", "taken out", "put in", "put in and does not fit", "cannot be read"),
        *("was illegal before", "another first player", "the right first player", "an option", "an edition"),
    ],
)
def test_the_lines_that_a_correction_makes_illegal_or_legal_are_named(done, illegal, legal):
    assert (texts(done.became_illegal), texts(done.became_legal)) == (illegal, legal)


def test_a_line_that_no_longer_fits_stays_and_says_why():
    changed, removed = edit(MATCH, 6, "Ann discard 25"), edit(MATCH, 9)

    assert [str(why) for why in changed.became_illegal[0].reasons] == ["not-driving"]
    assert len(changed.after.lines) == len(changed.before.lines)
    assert [str(why) for why in removed.became_illegal[0].reasons] == ["not-your-turn", "already-rolling"]
    assert edit(FORGOTTEN, 7, "Bob roll", drop=0).after.lines == record_of(MATCH)


def test_a_line_put_in_at_the_end_goes_on():
    done = edit(MATCH, 17, "Ann 25", drop=0)

    assert [judged.line.text for judged in done.after.given[-1]] == ["Ann 25"]
    assert done.after.game.table.side_of("Ann").km == 25


# --- The score -----------------------------------------------------------------------------------------------


def test_the_totals_run_through_to_later_hands():
    done = edit(MATCH.replace("Ann 100   # under nothing", "Ann 25"), 12, "Ann 50", drop=0)

    assert totals(done) == {
        1: ({"Ann": 25, "Bob": 75}, {"Ann": 75, "Bob": 75}),
        2: ({"Ann": 25, "Bob": 75}, {"Ann": 75, "Bob": 75}),
    }


def test_only_hands_that_changed_are_named():
    ((number, before, after),) = edit(MATCH, 16, "Bob 25").hands

    assert (number, before.sheets["Bob"].total, after.sheets["Bob"].total) == (2, 50, 25)
    assert [number for number, *_ in edit(MATCH, 11, "Bob 25").hands] == [1, 2]
    assert edit(MATCH, 10, "Ann roll # in time").hands == []


# --- Unusual lines -------------------------------------------------------------------------------------------


def test_without_the_line_that_ended_it_the_hand_is_open_again():
    done = edit(MATCH.split("hand first Bob")[0], 12)

    assert done.after.game.hand_is_open
    assert done.hands[0][1].how.value == "agreed"
    assert done.hands[0][2].how.value == "open"


def test_a_hand_in_the_middle_that_is_not_ended_counts_as_agreed():
    done = edit(MATCH, 12)

    assert done.became_illegal == done.hands == []
    assert [str(why) for why in done.after.hands[1].remarks] == ["ended-as-agreed"]


def test_without_its_first_line_a_hand_has_nowhere_to_be_played():
    done = edit(MATCH, 13)

    assert texts(done.became_illegal) == ["Bob roll", "Ann roll", "Bob 50"]
    assert {str(why) for judged in done.became_illegal for why in judged.reasons} == {"hand-over"}
    assert [(number, after) for number, _, after in done.hands] == [(2, None)]


def test_another_edition_judges_everything_anew():
    record = MATCH.replace("Bob 75", "Ann flat-tire > Bob\nBob 75")

    done = edit(record, 1, "edition rush")

    assert done.became_illegal[0].line.text == "Ann roll"


def test_a_side_with_another_name_leaves_its_plays_unreadable():
    done = edit(MATCH, 3, "side Bea")

    assert "Bob roll" in texts(done.became_illegal)
    assert {judged.verdict for judged in done.became_illegal} == {judge.UNREADABLE, judge.ILLEGAL}
    assert done.after.lines[2].text == "side Bea"


def test_a_hand_that_is_won_earlier_leaves_the_rest_of_it_over():
    short = "side Ann\nside Bob\ntarget 200\nhand first Ann\nAnn roll\nBob roll\nAnn 100\nBob 25\nAnn 25\n"

    done = edit(short, 7, "Ann 200")

    assert texts(done.became_illegal) == ["Bob 25", "Ann 25"]
    assert done.hands[0][2].by == "Ann"


HAND = "hand first {}\n{}Ann roll\nBob discard 25\nAnn 200\n"
ENDED = "edition classic\nside Ann\nside Bob\noption extension=no\ntarget 200\n" + "".join(
    HAND.format(first, "" if first == "Ann" else "Bob discard 50\n") for first in ("Ann", "Bob", "Ann", "Bob")
)


SAFETIES = [f"Ann {safety}" for safety in ("driving-ace", "extra-tank", "puncture-proof", "right-of-way")]


def five_hands() -> str:
    """Five hands of 100 lines and more."""
    plays = "\n".join(f"Ann discard {card}\nBob discard {card}" for card in PLAIN)
    hands = [f"hand first Ann\n{plays}\nend" for _ in range(5)]
    return "edition classic\nside Ann\nside Bob\n" + "\n".join(hands) + "\n"


PLAIN = ["25"] * 5 + ["50"] * 5 + ["75"] * 5 + ["100"] * 6 + ["roll"] * 7 + ["repairs", "gasoline", "spare-tire"] * 3


def test_a_match_that_is_won_earlier_says_so():
    done = edit(ENDED, 7, *SAFETIES, drop=0)

    assert {number for number, *_ in done.hands} == {1, 2, 3, 4}
    assert (done.hands[3][1].match["Ann"], done.hands[3][1].winner) == (4400, None)
    assert (done.hands[3][2].match["Ann"], done.hands[3][2].winner) == (5100, "Ann")


def test_a_hand_after_a_match_that_is_won_earlier_counts_from_zero():
    done = edit(ENDED + HAND.format("Ann", ""), 7, *SAFETIES, drop=0)

    assert done.became_illegal == []
    assert totals(done)[5] == ({"Ann": 5500, "Bob": 0}, {"Ann": 1100, "Bob": 0})


# --- The same function as `companion replay` -----------------------------------------------------------------


def test_only_what_follows_is_judged_anew(monkeypatch: pytest.MonkeyPatch):
    before = judge.judge_on(EMPTY_RECORD, record_of(MATCH))
    stepped = []
    step = judge.step
    monkeypatch.setattr(judge, "step", lambda game, line, **how: stepped.append(line.number) or step(game, line, **how))

    judge.judge_on(before, record_of(MATCH.replace("Ann roll\nBob 50", "Ann discard roll\nBob 50")))

    assert stepped == [15, 16]


def test_a_correction_of_a_match_of_five_hands_leaves_the_first_hands_alone():
    record = record_of(five_hands())
    before = judge.judge_on(EMPTY_RECORD, record)

    after = judge.judge_on(before, [*record[:-3], notation.Line(record[-3].number, "Ann roll"), *record[-2:]])

    assert len(record) > 300
    same = [was is now for was, now in zip(before.given, after.given, strict=True)]
    assert same == [True] * (len(record) - 3) + [False] * 3


def random_match(chance: random.Random, most: int = 60) -> list[str]:
    """A record of a few hands, mostly legal, with a comment and a line of nonsense here and there."""
    edition = f"edition {chance.choice(edition_names())}"
    lines = [edition, "side Ann", "side Bob", "# a Sunday", "option match=5000", "target 300", "hand first Ann"]
    game = judge.judge_on(EMPTY_RECORD, record_of("\n".join(lines))).game
    for _ in range(chance.randrange(most)):
        line = random_line(chance, game)
        game, _ = judge.step(game, notation.Line(0, notation.without_comment(line) or "end"))
        lines.append(line)
    return lines


def random_line(chance: random.Random, game: judge.Game) -> str:
    table = game.table
    if table is None or table.is_over or chance.random() < 0.03:
        return chance.choice(["hand first Ann", "hand first Bob", "end", "# well", "Ann 100 anyway", "Zoe roll"])
    if chance.random() < 0.1:
        return chance.choice(["Ann 100", "Bob stop > Ann", "Bob u-turn !", "Ann right-of-way !", "exhausted", "end"])
    return str(chance.choice(list(legal_plays(table, table.player_to_move))))


def edited(chance: random.Random, lines: list[str]) -> list[str]:
    """The record with a line changed, taken out or put in."""
    at = chance.randrange(len(lines))
    new = chance.choice(["Ann 100", "Bob roll", "hand first Bob", "end", "# nothing", "edition bsd-mille", "side Cid"])
    if chance.random() < 0.3:
        return lines[:at] + lines[at + 1 :]
    return [*lines[:at], new, *lines[at + (chance.random() < 0.5) :]]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_judging_from_the_change_on_is_judging_the_corrected_file_from_the_start(seed):
    chance = random.Random(seed)
    lines = random_match(chance)
    judged = judge.judge_on(EMPTY_RECORD, record_of("\n".join(lines)))
    for _ in range(3):
        lines = edited(chance, lines)
        record = record_of("\n".join(lines))
        judged = judge.judge_on(judged, record)

        assert judged.items == tuple(judge.judge(record))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_change_and_back_is_the_identity(seed):
    chance = random.Random(seed)
    record = record_of("\n".join(random_match(chance)))
    before = judge.judge_on(EMPTY_RECORD, record)
    at = chance.randrange(len(record))

    there = judge.judge_on(before, [*record[:at], notation.Line(record[at].number, "Bob 75"), *record[at + 1 :]])

    assert judge.judge_on(there, record) == before
