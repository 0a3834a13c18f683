"""Rows of the sheets that only a rule turned wrong showed to be untested (`python tests/mutations.py`)."""

from __future__ import annotations

import pytest
from records import THREE, TWO, Hand, hand, run_down

from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import EditionError, load_edition
from companion.rules.record.notation import Unreadable


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


def test_whoever_has_drawn_the_card_himself_names_another_one():
    asked = rush("Ann control stop > Bob; Bob 50")

    assert asked.against("Ann name roll > Bob") == []
    assert asked.against("Ann name stop > Bob") == ["request-pending"]


def test_no_two_safeties_are_alike():
    assert rush("Ann discard 100").against("Bob pair driving-ace for 100") == ["too-many-copies"]
    assert rush("Ann discard 100").against("Bob pair 300 for 100") == []


def test_two_alike_fetch_one_of_themselves_too():
    fetched = rush("Ann pair 50 for 50")

    assert fetched.table.discards == ("50",)
    assert fetched.then("Ann 50").side("Ann").km == 50


def test_two_alike_fetch_nothing_that_their_own_draw_has_reshuffled():
    empty, one_left = run_down(rush()), run_down(rush(), left=1)

    assert empty.against(f"{empty.turn} pair 50 for 100") == ["no-such-card-there"]
    assert empty.then(f"{empty.turn} skip-draw").against(f"{empty.turn} pair 50 for 100") == []
    assert one_left.against(f"{one_left.turn} pair 50 for 100") == []


def test_of_two_attacks_a_mirror_sends_the_last_one_back():
    twice = rush("Ann accident > Cid; Bob speed-limit > Cid", THREE, options=["coup-fourre-window=own-draw"])
    mirrored = twice.then("Cid mirror !")

    assert (mirrored.side("Ann").hazard, mirrored.side("Bob").limited) == (None, True)
    assert mirrored.side("Cid").hazard is Card.ACCIDENT


def test_a_stolen_card_is_laid_out_of_turn_by_its_thief_alone_and_never_discarded():
    stolen = rush("Ann 100; Bob theft 100 > Ann", THREE)

    assert (stolen.turn, stolen.against("Bob 100")) == ("Cid", [])
    assert stolen.against("Ann 100") == stolen.against("Bob discard 100") == ["not-your-turn"]


def test_a_safety_draws_its_one_card_also_where_the_turn_has_drawn_none():
    forgot = rush("Ann skip-draw; Ann driving-ace; Ann 50")
    claimed = rush("Ann accident > Bob; Bob driving-ace !; Bob long-range; Bob 50")

    assert (forgot.cards_of("Ann"), forgot.table.draw_pile) == (5, 93)
    assert (claimed.cards_of("Bob"), claimed.table.draw_pile) == (4, 92)


def test_what_could_be_answered_before_a_penalty_still_can():
    attacked = rush("Ann accident > Bob; Ann penalty 50")

    assert attacked.against("Bob driving-ace !") == attacked.against("Bob mirror !") == []
    assert attacked.turn == "Bob"


def test_whoever_names_another_card_has_drawn_for_this_turn():
    asked = rush("Ann control stop > Bob; Bob 50; Ann name roll > Bob", options=["draw=one"])

    assert (asked.turn, asked.cards_of("Ann"), asked.table.draw_pile) == ("Ann", 7, 91)
    assert (asked.then("Ann 50").cards_of("Ann"), asked.then("Ann 50").table.draw_pile) == (6, 91)


def test_a_card_is_turned_back_although_its_player_has_paid_a_penalty():
    assert rush("Ann 100; Ann penalty 50").against("Bob u-turn !") == []


def test_a_corrected_deck_is_neither_smaller_nor_larger_than_the_printed_one():
    edition = load_edition("rush")

    assert edition.with_deck({Card.KM_50: 9, Card.KM_75: 11}).deck[Card.KM_75] == 11
    for count in (9, 11):
        with pytest.raises(EditionError, match="not 106"):
            edition.with_deck({Card.KM_50: count})


def test_a_winning_card_that_was_turned_back_counts_once_in_the_match():
    won = rush("Ann 200; Bob u-turn !; Bob 50; Ann 200", target=200, options=["match=5000"])

    assert won.result.match == {"Ann": 200, "Bob": 50}


# What can be written


@pytest.mark.parametrize("slug", ["driving-ace", "mirror", "u-turn", "accident", "50"])
def test_nothing_but_a_remedy_goes_under_its_hazard(slug):
    attacked = rush("Ann accident > Bob")

    assert attacked.parsed("Bob repairs under !").under
    with pytest.raises(Unreadable, match="Only a remedy"):
        attacked.parsed(f"Bob {slug} under !")


@pytest.mark.parametrize("slug", ["driving-ace", "stop", "repairs", "accelerator", "unknown"])
def test_nothing_but_a_distance_card_is_doubled(slug):
    assert rush().parsed("Ann 50*2").times == 2
    with pytest.raises(Unreadable, match="Only a distance card"):
        rush().parsed(f"Ann {slug}*2")


# BSD mille


def test_a_second_card_of_the_attackers_leaves_the_window_open_until_the_own_draw():
    lies = hand("Ann roll; Bob roll; Ann stop > Bob; Ann 25 anyway", edition="bsd-mille", as_lies=True)
    by_classic = hand("Ann roll; Bob roll; Ann stop > Bob; Ann 25 anyway", as_lies=True)

    assert lies.against("Bob right-of-way !") == []
    assert lies.then("Bob skip-draw").against("Bob right-of-way !") == ["coup-fourre-window-closed"]
    assert by_classic.against("Bob right-of-way !") == ["coup-fourre-window-closed"]


# The end


@pytest.mark.parametrize(
    ("edition", "how"),
    [
        ("classic", "play-out"),
        ("parker", "play-out"),
        ("bsd-mille", "stuck"),
        ("dujardin-2014", "ends"),
        ("asmodee-2014", "reshuffle"),
        ("rush", "reshuffle"),
    ],
)
def test_each_sheet_says_what_becomes_of_an_empty_draw_pile(edition, how):
    assert load_edition(edition).empty_pile == how


def test_a_french_race_goes_on_for_whoever_has_drawn_the_last_card():
    drawn = hand("Ann skip-draw; exhausted", edition="dujardin-2014")

    assert (drawn.table.is_over, drawn.turn) == (False, "Ann")
    assert drawn.then("Ann roll").result.how == "exhausted"


def test_the_card_that_completes_a_race_outweighs_the_empty_draw_pile():
    driven = hand("Ann roll; Bob roll; Ann 25; Bob 100", edition="dujardin-2014", target=200)
    done = run_down(driven, "100", left=1).then("Bob 100")

    assert (done.table.draw_pile, done.result.how, done.result.by) == (0, "completed", "Bob")


def test_an_extension_is_offered_although_the_draw_pile_is_empty():
    to_600 = "Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25; Ann 100; Bob 25; Ann 100; Bob 25"
    driven = hand(f"{to_600}; Ann discard 50; Bob skip-draw; Bob discard 50", options=["empty-pile=ends"])
    offered = run_down(driven, "100", left=1).then("Ann 100")

    assert (offered.table.draw_pile, offered.table.is_over) == (0, False)
    assert offered.then("Ann finish").result.by == "Ann"


def test_a_remedy_that_answers_no_attack_is_told_so_where_remedies_are_laid_at_once():
    attacked = rush("Ann accident > Cid", THREE)

    assert attacked.against("Cid recharge !") == ["no-attack-to-answer"]
    assert hand("Ann roll; Bob accident > Ann", THREE).against("Ann gasoline !") == ["not-your-turn"]


def test_two_accelerators_on_one_card_are_refused_however_they_are_written():
    for text in ("Ann 100*2*2", "Ann 100*4", "Ann 100*3"):
        assert rush().against(text) == ["already-doubled"]


# The draw that reshuffles


def test_a_card_of_the_discard_pile_may_come_back_with_the_draw_that_reshuffles_it():
    laid = run_down(hand("Ann roll; Bob roll; Ann right-of-way", edition="asmodee-2014"))
    gone = next(card for card in laid.table.discards if laid.table.copies_left(card) == 0)

    assert laid.against(f"{laid.turn} discard {gone}") == []
    assert laid.then(f"{laid.turn} discard {gone}").table.draw_pile == len(laid.table.discards) - 1


def test_a_card_that_lies_in_front_of_a_side_does_not_come_back_with_a_reshuffle():
    laid = run_down(hand("Ann roll; Bob roll; Ann right-of-way", edition="asmodee-2014"))

    assert laid.against(f"{laid.turn} right-of-way") == ["too-many-copies"]
    assert laid.against(f"{laid.turn} discard right-of-way") == ["too-many-copies"]


def test_a_card_of_the_discard_pile_is_not_there_yet_for_who_draws_afterwards():
    laid = run_down(hand("Ann roll; Bob roll", edition="asmodee-2014", options=["exchange=yes"]))
    gone = next(card for card in laid.table.discards if laid.table.copies_left(card) == 0)

    assert laid.against(f"{laid.turn} exchange {gone}") == ["too-many-copies"]
    assert laid.then(f"{laid.turn} skip-draw").against(f"{laid.turn} discard {gone}") == ["too-many-copies"]


def test_in_mille_right_of_way_leaves_nothing_of_a_limit_that_lay_on_an_older_one():
    limited = "Ann speed-limit > Bob; Bob end-of-limit; Ann speed-limit > Bob"

    assert hand(f"{limited}; Bob right-of-way !", edition="bsd-mille").side("Bob").speed_top is None
    assert hand(f"{limited}; Bob right-of-way !").side("Bob").speed_top == "end-of-limit"
    assert hand(f"{limited}; Bob roll; Ann roll; Bob right-of-way", edition="bsd-mille").side("Bob").speed_top is None
