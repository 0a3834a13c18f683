"""The word that was meant: suggested where one is near, and nothing else."""

import pytest

from companion.common.spelling import look_alike, meant, nearest, shown

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


@pytest.mark.parametrize(
    ("word", "known", "letters"),
    [
        ("\u0410nna", "Anna", "Cyrillic letters"),
        ("Anna", "\u0410nna", "Cyrillic letters"),
        ("B\u03bfb", "Bob", "Greek letters"),
        ("\uff21nn", "Ann", "other letters"),
        ("Zo\u0451", "Zo\u00eb", "Cyrillic letters"),
        ("An\u200dn", "Ann", "other letters"),
    ],
)
def test_a_word_that_only_looks_like_another_is_explained(word, known, letters):
    assert meant(word, ["Eve", known]) == f" (it looks like '{known}', but one of them has {letters})"


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("ann", "Ann"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("Anna", "Ann"),
        ("Иван", "Ivan"),
        ("Алёна", "Алена"),
        ("Нур", "Һүр"),
        ("\u0410лёна", "Aлена"),
        ("Voß", "Voss"),
        ("A" * 40, "\u0410" * 40 + "nn"),
    ],
)
def test_a_word_in_other_letters_that_can_be_seen_looks_like_no_other(word, known):
    assert look_alike(word, [known]) is None


def test_long_names_are_compared_to_their_end_and_shown_cut():
    word, known = "\u0410" + "n" * 59, "A" + "n" * 59

    assert look_alike(word, [known]) == known
    assert meant(word, [known]).startswith(f" (it looks like 'A{'n' * 39}', but")
    assert meant("A" + "n" * 58, [known]) == f" (did you mean 'A{'n' * 39}'?)"
