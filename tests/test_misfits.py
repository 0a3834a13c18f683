"""Misfits, lines made illegal by a change: confirmed before the change, shown and allowed afterwards."""

import re

import pytest
from client import lines, played, tap, text_of

HAND = ("Ann roll", "Bob roll", "Ann 100", "Bob 25", "Ann 50", "Bob 50")


@pytest.fixture
def hand(begun):
    return played(begun, *HAND)


def line_of(match, number: int) -> str:
    return f"/line/{match.state.hand_entries[number - 1].seq}"


@pytest.mark.parametrize(
    ("deed", "fields", "says", "count", "first"),
    [
        ("correct", {"text": "Ann discard 25"}, "Ann discards 25 km. ", 4, "Ann drives 100 km. Ann cannot drive yet."),
        ("retract", {}, "", 5, "Bob plays Roll. It is Ann’s turn, not Bob’s."),
        (
            "before",
            {"text": "Ann discard 25"},
            "Ann discards 25 km. ",
            5,
            "Ann plays Roll. It is Bob’s turn, not Ann’s.",
        ),
    ],
)
def test_a_change_that_makes_later_plays_illegal_needs_confirmation_first(page, hand, deed, fields, says, count, first):
    before = hand.state.seq
    asked = page.get(tap(page, f"{line_of(hand, 1)}/{deed}", **fields).location)

    assert hand.state.seq == before
    assert f"{says}{count} later plays would no longer fit The first one: {first}" in text_of(asked)
    assert re.search(r'name="anyway" value="1">Change anyway<', asked.get_data(as_text=True))

    tap(page, f"{line_of(hand, 1)}/{deed}", **fields, anyway="1")

    assert len(hand.state.attention) == count


def test_a_change_that_fits_needs_no_confirmation(page, hand):
    tap(page, f"{line_of(hand, 5)}/correct", text="Ann 75")

    assert lines(hand)[4] == "Ann 75"


def test_the_question_and_the_change_count_once_even_if_sent_again(page, hand):
    path, change = f"{line_of(hand, 1)}/correct", {"text": "Ann discard 25"}
    for fields in (change, change | {"anyway": "1"}) * 2:
        tap(page, path, **fields, request="one")

    assert [change.after for change in hand.state.past.changes] == ["Ann discard 25"]


def test_a_change_that_is_itself_illegal_can_be_allowed(page, hand):
    asked = page.get(tap(page, f"{line_of(hand, 5)}/correct", text="Ann roll").location)

    assert "Not allowed Ann plays Roll. Roll would have no effect" in text_of(asked)
    assert 'value="Ann roll anyway"' in asked.get_data(as_text=True)

    tap(page, f"{line_of(hand, 5)}/correct", text="Ann roll anyway")

    assert (lines(hand)[4], hand.state.attention) == ("Ann roll anyway", ())


def test_an_illegal_change_that_cannot_be_allowed_is_asked_about_once(page, hand):
    asked = page.get(tap(page, f"{line_of(hand, 6)}/correct", text="Bob extend anyway").location)

    assert 'name="anyway" value="1"' in asked.get_data(as_text=True)


def test_only_the_first_misfit_shows_its_choices_and_the_others_are_folded(page, hand):
    tap(page, f"{line_of(hand, 1)}/correct", text="Ann discard 25", anyway="1")
    shown = page.get("/").get_data(as_text=True)
    open_now, folded = shown.split('<details id="misfits">')

    assert re.findall(r'action="/line/(\d+)/stand"', open_now) == [str(hand.state.attention[0].seq)]
    assert "and 3 more" in folded
    assert folded.count('/stand"') == 2 * (len(hand.state.attention) - 1)


def test_one_tap_allows_all_misfits_and_one_undo_reverts_that(page, hand):
    tap(page, f"{line_of(hand, 1)}/correct", text="Ann discard 25", anyway="1")
    tap(page, "/lines/stand", request="2")

    assert lines(hand) == ["Ann discard 25", "Bob roll", "Ann 100 anyway", "Bob 25", "Ann 50 anyway", "Bob 50"]
    assert hand.state.attention == ()

    assert "Undo: the lines that" in text_of(page.get("/"))

    tap(page, "/undo", request="3")
    assert lines(hand) == ["Ann discard 25", *HAND[1:]]

    tap(page, "/redo", request="4")
    assert hand.state.attention == ()

    tap(page, "/undo", request="5")
    tap(page, "/undo", request="6")
    assert lines(hand) == [*HAND]


def test_a_line_that_left_no_card_cannot_be_kept(page, begun):
    played(
        begun, "Ann roll", "Bob roll", *["Ann 200", "Bob 25"] * 2, *["Ann 100", "Bob 25"] * 2, "Ann 100", "Ann extend"
    )
    tap(page, f"{line_of(begun, 9)}/correct", text="Ann 50", anyway="1")

    tap(page, "/lines/stand", request="2")

    assert lines(begun)[-1] == "Ann extend"
    assert begun.state.past.changes[-1].after == "Ann 50"


def test_players_cannot_keep_their_own_lines_if_opponents_verify(app, hand):
    ann = app.test_client()
    for player, phone in (("Ann", ann), ("Bob", app.test_client())):
        tap(phone, "/join", player=player)
    hand.set_verifying("Ann", on=True)
    hand.correct(hand.state.hand_entries[0].seq, "Ann discard 25", "Bob")

    outcome = hand.let_all_stand("Ann")

    assert not outcome.done
    assert hand.state.attention


def test_changing_the_player_keeps_the_card_and_the_recorded_card_is_marked(page, hand):
    own, other = (page.get(f"{line_of(hand, 4)}{query}") for query in ("", "?player=Ann"))

    for shown in (own, other):
        assert re.findall(r'<button class="tile noted[^>]*value="(\w+) 25"', shown.get_data(as_text=True))
    assert "choose" not in own.get_data(as_text=True)
    assert re.findall(r'class="button choose[^>]*value="([^"]+)"', other.get_data(as_text=True)) == ["Ann 25"]


def test_an_attack_cannot_be_reassigned_to_its_target(page, hand):
    played(hand, "Ann stop > Bob")

    assert "choose" not in page.get(f"{line_of(hand, 7)}?player=Bob").get_data(as_text=True)
