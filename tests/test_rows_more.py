"""Rows of the sheets that only a rule turned wrong showed to be untested (`python tests/mutations.py`)."""

from __future__ import annotations

from records import THREE, TWO, Hand, hand

from companion.rules import referee


def rush(plays: str = "", players: str = TWO, **more) -> Hand:
    return hand(plays, players, edition="rush", **more)


def remarks(played: Hand, line: str) -> list[str]:
    return [why.code.value for why in referee.remarks(played.table, played.parsed(line))]


# Rush


def test_a_fetched_card_that_is_discarded_is_no_discard_to_be_remarked_upon():
    fetched = rush("Ann discard repairs; Bob pair 50 for repairs")

    assert remarks(fetched, "Bob discard repairs") == []
    assert remarks(rush(), "Ann discard repairs") == ["discard-only-when-stuck"]


def test_a_demanded_card_is_handed_over_on_the_spot_or_on_the_own_turn_alone():
    asked = rush("Ann control stop > Bob", THREE)

    assert asked.against("Bob give stop > Ann") == []
    assert asked.then("Bob 50").against("Bob give stop > Ann") == ["not-your-turn"]
    assert asked.then("Bob 50; Cid 50; Ann 50").against("Bob give stop > Ann") == []


def test_a_discarded_theft_or_control_goes_under_the_pile_as_well():
    for special in ("theft", "control"):
        played = hand(f"Ann discard 50; Bob discard {special}", edition="rush")

        assert [card.value for card in played.table.discards] == [special, "50"]
