"""The word that was meant: suggested where one is near, and nothing else."""

import pytest

from companion.common.spelling import meant, nearest, shown

KNOWN = ["roll", "Ann", "recharge"]


@pytest.mark.parametrize(("word", "near"), [("rol", "roll"), ("ROLL", "roll"), ("ann", "Ann"), ("recharg", "recharge")])
def test_a_slip_suggests_the_word_in_its_own_letters(word, near):
    assert meant(word, KNOWN) == f" (did you mean '{near}'?)"


@pytest.mark.parametrize("word", ["", "x", "stop", "roll" * 10_000])
def test_a_word_like_no_other_suggests_nothing(word):
    assert nearest(word, KNOWN) is None
    assert meant(word, KNOWN) == ""


def test_a_strangers_word_is_shown_on_one_line_and_not_too_long():
    assert shown("a\n\x1b[31m" + "b" * 100) == "a··[31m" + "b" * 33
