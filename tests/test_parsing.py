"""Whole numbers as people and programs type them."""

import pytest

from companion.common import parsing


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), (" 42 ", 42), ("007", 7), ("999", 999)])
def test_plain_figures_are_a_number(text, number):
    assert parsing.whole(text, 0, 999) == number


@pytest.mark.parametrize(
    "text", [None, "", " ", "-1", "+7", "1_000", "1 000", "7.0", "7e2", "0x7", "٣", "²", "①", "７", "seven", "7\x00"]
)
def test_anything_else_is_none(text):
    assert parsing.whole(text, 0, 9999) is None


def test_a_number_out_of_its_range_is_none():
    assert [parsing.whole(text, 2, 8) for text in ("1", "2", "8", "9")] == [None, 2, 8, None]


@pytest.mark.parametrize("text", ["9" * 5000, "0" * 5000 + "7"])
def test_thousands_of_figures_are_not_worked_through(text):
    assert parsing.whole(text, 0, 10**18) is None
