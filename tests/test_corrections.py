"""Late corrections: the record is judged again from the changed line on."""

import random

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


def record_of(text: str) -> tuple[notation.RecordLine, ...]:
    return tuple(notation.lines(text))


def corrected(text: str, changed: str) -> JudgedRecord:
    return judge.judge_on(judge.judge_on(EMPTY_RECORD, record_of(text)), record_of(changed))


def edit(text: str, number: int, *new: str, drop: int = 1) -> JudgedRecord:
    """Replace a line of the record, or insert lines before it."""
    lines = text.splitlines()
    return corrected(text, "\n".join([*lines[: number - 1], *new, *lines[number - 1 + drop :]]))


LATE_ROLL = MATCH.replace("Ann roll\nBob roll\nAnn 100", "Ann discard 25\nBob roll\nAnn 100")


@pytest.mark.parametrize(
    ("done", "misfits"),
    [
        (edit(MATCH, 6, "Ann discard 25"), ["Ann 100", "Bob stop > Ann"]),
        (edit(LATE_ROLL, 6, "Ann roll"), []),
        (edit(MATCH, 9), ["Ann roll"]),
        (edit(MATCH.replace("Bob roll\nAnn 100", "Ann 100"), 7, "Bob roll", drop=0), []),
        (edit(MATCH, 8, "Ann flies"), ["Ann flies", "Bob stop > Ann", "Ann roll", "Bob 75"]),
        (edit(MATCH, 13, "hand first Ann"), ["Bob roll", "Bob 50"]),
        (edit(MATCH, 13), ["Bob roll", "Ann roll", "Bob 50"]),
        (edit(MATCH, 12), []),
        (edit(MATCH, 1, "edition klassik"), ["edition klassik"]),
    ],
    ids=[
        *("no longer fits", "fits after all", "taken out", "put in", "cannot be read"),
        *("another first player", "no hand to be played in", "not ended", "an edition"),
    ],
)
def test_a_correction_lists_the_lines_that_no_longer_fit(done, misfits):
    lines = [item for item in done.items if isinstance(item, judge.JudgedLine)]

    assert [item.line.text for item in lines if item.verdict != judge.LEGAL] == misfits


def test_a_line_inserted_at_the_end_continues_the_record():
    done = edit(MATCH, 17, "Ann 25", drop=0)

    assert [judged.line.text for judged in done.given[-1]] == ["Ann 25"]
    assert done.game.table.side_of("Ann").km == 25


def test_corrected_totals_carry_over_to_later_hands():
    done = edit(MATCH.replace("Ann 100   # under nothing", "Ann 25"), 12, "Ann 50", drop=0)

    assert [dict(result.match) for result in done.hands.values()] == [{"Ann": 75, "Bob": 75}] * 2


HAND = "hand first {}\n{}Ann roll\nBob discard 25\nAnn 200\n"
ENDED = "edition classic\nside Ann\nside Bob\noption extension=no\ntarget 200\n" + "".join(
    HAND.format(first, "" if first == "Ann" else "Bob discard 50\n") for first in ("Ann", "Bob", "Ann", "Bob")
)


SAFETIES = [f"Ann {safety}" for safety in ("driving-ace", "extra-tank", "puncture-proof", "right-of-way")]


def test_an_earlier_win_is_reported_and_the_next_hand_counts_from_zero():
    text = ENDED + HAND.format("Ann", "")
    before, after = judge.judge_on(EMPTY_RECORD, record_of(text)).hands, edit(text, 7, *SAFETIES, drop=0).hands

    assert [(hands[4].match["Ann"], hands[4].winner) for hands in (before, after)] == [(4400, None), (5100, "Ann")]
    assert [dict(hands[5].match) for hands in (before, after)] == [{"Ann": 5500, "Bob": 0}, {"Ann": 1100, "Bob": 0}]


def random_match(chance: random.Random, most: int = 60) -> list[str]:
    """Return a record of a few hands, mostly legal, with occasional comments and nonsense."""
    edition = f"edition {chance.choice(edition_names())}"
    lines = [edition, "side Ann", "side Bob", "# a Sunday", "option match=5000", "target 300", "hand first Ann"]
    game = judge.judge_on(EMPTY_RECORD, record_of("\n".join(lines))).game
    for _ in range(chance.randrange(most)):
        line = random_line(chance, game)
        game, _ = judge.step(game, notation.RecordLine(0, notation.without_comment(line) or "end"))
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
    """Return the record with a line changed, removed or inserted."""
    at = chance.randrange(len(lines))
    new = chance.choice(["Ann 100", "Bob roll", "hand first Bob", "end", "# nothing", "edition bsd-mille", "side Cid"])
    if chance.random() < 0.3:
        return lines[:at] + lines[at + 1 :]
    return [*lines[:at], new, *lines[at + (chance.random() < 0.5) :]]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_judging_from_the_change_on_equals_judging_the_whole_corrected_file(seed):
    chance = random.Random(seed)
    lines = random_match(chance)
    judged = judge.judge_on(EMPTY_RECORD, record_of("\n".join(lines)))
    for _ in range(3):
        lines = edited(chance, lines)
        record = record_of("\n".join(lines))
        judged = judge.judge_on(judged, record)

        assert judged.items == tuple(judge.judge(record))
