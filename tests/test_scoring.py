"""The classic score sheet, line by line, and the match over its hands."""

from __future__ import annotations

import pytest
from records import PAIRS, THREE, TWO, Hand, hand, header, results

from companion.rules.scoring import Sheet, score

TO_600 = "Ann roll; Bob roll; Ann 200; Bob discard 25; Ann 200; Bob discard 25; Ann 100; Bob discard 25; Ann 100"
TO_700 = f"{TO_600}; Bob discard 25; Ann 100"
"""The opponent lays no distance card."""

EXTENDED = f"{TO_700}; Ann extend; Bob discard 25"
TO_1000 = f"{EXTENDED}; Ann 100; Bob discard 25; Ann 100; Bob discard 25; Ann 100"


def open_points(played: Hand) -> dict[str, dict[str, int]]:
    """What would count now, in a hand that goes on."""
    sheets = zip(played.table.sides, score(played.table), strict=True)
    return {side.name: {item.value: points for item, points in sheet.lines} for side, sheet in sheets}


# Each side's lines, whether or not it completes


def test_each_km_is_a_point():
    played = hand("Ann roll; Bob roll; Ann 200; Bob 75; Ann 25")

    assert open_points(played) == {"Ann": {"distance": 225}, "Bob": {"distance": 75}}


def test_a_side_without_distance_scores_no_distance_and_the_line_stands():
    assert open_points(hand()) == {"Ann": {"distance": 0}, "Bob": {"distance": 0}}


def test_a_safety_is_100():
    played = hand("Ann driving-ace; Ann extra-tank; Ann roll")

    assert open_points(played)["Ann"] == {"distance": 0, "safeties": 200}


def test_all_four_safeties_are_300_more_and_not_700():
    played = hand("Ann driving-ace; Ann extra-tank; Ann puncture-proof; Ann right-of-way")

    assert open_points(played)["Ann"] == {"distance": 0, "safeties": 400, "all-safeties": 300}


def test_three_safeties_are_not_all():
    played = hand("Ann driving-ace; Ann extra-tank; Ann puncture-proof")

    assert "all-safeties" not in open_points(played)["Ann"]


def test_a_coup_fourre_is_300_on_top_of_its_safetys_100():
    played = hand("Ann roll; Bob stop > Ann; Ann right-of-way !")

    assert open_points(played)["Ann"] == {"distance": 0, "safeties": 100, "coups-fourres": 300}


def test_a_late_safety_is_no_coup_fourre():
    played = hand("Ann roll; Bob stop > Ann; Ann right-of-way")

    assert open_points(played)["Ann"] == {"distance": 0, "safeties": 100}


# The completer's lines


def test_a_completed_trip_is_400():
    done = hand(f"{TO_700}; Ann finish")

    assert done.points("Ann")["trip-completed"] == 400
    assert "trip-completed" not in done.points("Bob")


def test_an_exhausted_hand_has_no_completers_lines():
    done = hand("Ann roll; Bob roll; exhausted; Ann 100; end")

    assert (done.points("Ann"), done.points("Bob")) == ({"distance": 100}, {"distance": 0})


def test_a_trip_without_200s_is_safe():
    safe = hand("Ann roll; Bob roll; Ann 100; Bob 25; Ann 100", target=200)
    fast = hand("Ann roll; Bob roll; Ann 200", target=200)

    assert safe.points("Ann")["safe-trip"] == 300
    assert "safe-trip" not in fast.points("Ann")


def test_no_trip_is_safe_that_was_not_completed():
    lost = hand("Ann roll; Bob roll; Ann 100; Bob 200", target=200)

    assert "safe-trip" not in lost.points("Ann")
    assert lost.points("Bob")["trip-completed"] == 400


def test_an_opponents_200_does_not_spoil_a_safe_trip():
    safe = hand("Ann roll; Bob roll; Ann 100; Bob 200; Ann 100; Bob 25; Ann 100", target=300)

    assert safe.points("Ann")["safe-trip"] == 300


def test_a_trip_completed_with_an_empty_draw_pile_is_a_delayed_action():
    delayed = hand("Ann roll; Bob roll; Ann 100; exhausted; Bob 25; Ann 100", target=200)
    quick = hand("Ann roll; Bob roll; Ann 100; Bob 25; Ann 100", target=200)

    assert delayed.points("Ann")["delayed-action"] == 300
    assert "delayed-action" not in quick.points("Ann")


@pytest.mark.parametrize(("forgets", "left", "counts"), [("; Bob skip-draw", 0, True), ("", 1, False)])
def test_finishing_on_the_turn_that_draws_the_last_card_is_a_delayed_action(forgets, left, counts):
    played = hand(f"Ann roll; Bob roll; Ann 100{forgets}; Bob 25", target=200)
    cards = [card for card, count in played.table.deck.items() for _ in range(count)]
    for laid_or_kept in ("roll", "roll", "100", "100", "25"):
        cards.remove(laid_or_kept)
    while played.table.draw_pile > 2 or played.turn != "Ann":
        played = played.then(f"{played.turn} discard {cards.pop()}")

    done = played.then("Ann 100")

    assert done.table.draw_pile == left
    assert ("delayed-action" in done.points("Ann")) is counts


def test_a_shut_out_is_500_for_each_opponent_without_distance():
    two = hand("Ann roll; Bob roll; Ann 200", target=200)
    three = hand("Ann roll; Bob roll; Cid roll; Ann 200", THREE, target=200)
    one_of_two = hand("Ann roll; Bob roll; Cid roll; Ann 100; Bob 25; Cid discard 25; Ann 100", THREE, target=200)

    assert two.points("Ann")["shut-out"] == 500
    assert three.points("Ann")["shut-out"] == 1000
    assert one_of_two.points("Ann")["shut-out"] == 500


def test_nobody_is_shut_out_who_has_driven():
    done = hand("Ann roll; Bob roll; Ann 100; Bob 25; Ann 100", target=200)

    assert "shut-out" not in done.points("Ann")


def test_nobody_is_shut_out_by_a_hand_that_nobody_completes():
    done = hand("Ann roll; Bob roll; Ann 100; Bob discard 25; end")

    assert "shut-out" not in done.points("Ann")


def test_one_shut_out_for_all_opponents_together_where_the_house_says_so():
    once = ["shut-out=once"]
    both = hand("Ann roll; Bob roll; Cid roll; Ann 200", THREE, target=200, options=once)
    lines = "Ann roll; Bob roll; Cid roll; Ann 100; Bob 25; Cid discard 25; Ann 100"
    one = hand(lines, THREE, target=200, options=once)

    assert both.points("Ann")["shut-out"] == 500
    assert "shut-out" not in one.points("Ann")


# The extension


def test_the_extension_is_200_to_its_caller_who_completes():
    assert hand(TO_1000).points("Ann")["extension"] == 200


def test_the_extension_is_200_to_an_opponent_who_completes_and_nothing_to_its_caller():
    bob_drives = "; ".join(f"Bob {km}; Ann discard 50" for km in (200, 200, 100, 100, 100, 75, 75, 75))
    done = hand(f"{EXTENDED.removesuffix('; Bob discard 25')}; {bob_drives}; Bob 75", as_lies=True)

    assert (done.result.by, done.points("Bob")["extension"]) == ("Bob", 200)
    assert {"extension", "trip-completed", "shut-out"}.isdisjoint(done.points("Ann"))


def test_an_extension_that_nobody_completes_is_lost():
    done = hand(f"{EXTENDED}; exhausted; end")

    assert done.points("Ann") == {"distance": 700}
    assert done.points("Bob") == {"distance": 0}


def test_without_a_call_there_is_no_extension_to_score():
    assert "extension" not in hand(f"{TO_700}; Ann finish").points("Ann")
    assert "extension" not in hand("Ann roll; Bob roll; Ann 200", target=200).points("Ann")


def test_a_caller_who_fails_gives_each_opponent_200_where_the_house_says_so():
    parker = ["extension-bonus=caller-or-opponents"]
    failed, won = hand(f"{EXTENDED}; exhausted; end", options=parker), hand(TO_1000, options=parker)

    assert failed.points("Bob") == {"distance": 0, "extension": 200}
    assert "extension" not in failed.points("Ann")
    assert won.points("Ann")["extension"] == 200
    assert "extension" not in won.points("Bob")


def test_an_extension_still_open_counts_for_nobody():
    played = hand(EXTENDED, options=["extension-bonus=caller-or-opponents"])

    assert open_points(played)["Bob"] == {"distance": 0}


# The sheet


def test_safeties_that_count_as_distance_stand_on_a_sheet_that_gives_them_no_points():
    counting = ["safeties-count-as-distance=yes"]
    played = hand("Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 100", edition="dujardin-2014", options=counting)
    by_the_sheet = hand("Ann roll; Bob stop > Ann; Ann right-of-way !; Ann 100", edition="dujardin-2014")

    assert open_points(played)["Ann"] == {"distance": 100, "safeties": 100, "coups-fourres": 100}
    assert open_points(by_the_sheet)["Ann"] == {"distance": 100}


def test_the_lines_stand_in_the_order_of_the_pads_and_the_total_is_their_sum():
    done = hand("Ann driving-ace; Ann roll; Bob roll; Ann 100; Bob discard 25; Ann 100", target=200)

    sheet = done.result.sheets["Ann"]

    assert [item.value for item, _ in sheet.lines] == [
        "distance",
        "safeties",
        "trip-completed",
        "safe-trip",
        "shut-out",
    ]
    assert sheet.total == 200 + 100 + 400 + 300 + 500
    assert Sheet(()).total == 0


def test_while_a_hand_is_open_nothing_counts_for_completing_it():
    assert open_points(hand(TO_700)) == {"Ann": {"distance": 700}, "Bob": {"distance": 0}}


# The match


def match_of(*hands: str, players: str = TWO, options: tuple[str, ...] = ()) -> list:
    """The hands of a record, each given by its lines of play after `hand first Ann`."""
    *head, first = header(players, options=options, target=1000)
    return results("\n".join([*head, *(line for played in hands for line in [first, *played.split("; ")])]))


ANN_WINS_2200 = "Ann roll; " + "; ".join(["Bob discard 25; Ann 100"] * 10)
"""1000 km, trip, safe trip, shut-out."""

BOB_WINS_2200 = "Ann discard 25; Bob roll; " + "; ".join(["Ann discard 50; Bob 100"] * 10)


def test_the_totals_run_through_the_hands():
    first, second = match_of(ANN_WINS_2200, BOB_WINS_2200)

    assert (first.match, second.match) == ({"Ann": 2200, "Bob": 0}, {"Ann": 2200, "Bob": 2200})
    assert (first.winner, second.winner) == (None, None)


def test_the_match_goes_to_the_first_with_5000():
    hands = match_of(ANN_WINS_2200, ANN_WINS_2200, ANN_WINS_2200)

    assert [result.winner for result in hands] == [None, None, "Ann"]
    assert hands[-1].match == {"Ann": 6600, "Bob": 0}


def test_exactly_5000_is_enough():
    six_hundred = "Ann driving-ace; Ann extra-tank; Ann roll; Bob discard 25; Ann 200; Bob discard 25; Ann 200; end"

    hands = match_of(ANN_WINS_2200, ANN_WINS_2200, six_hundred)

    assert hands[-1].match["Ann"] == 5000
    assert hands[-1].winner == "Ann"


def test_a_hand_is_played_to_its_end_although_the_match_is_decided():
    six_hundred = "Ann driving-ace; Ann extra-tank; Ann roll; Bob discard 25; Ann 200; Bob discard 25; Ann 200"
    *_, last = match_of(ANN_WINS_2200, ANN_WINS_2200, f"{six_hundred}; Bob discard 25; Ann 100; end")

    assert last.match["Ann"] == 5100


def test_both_over_5000_the_higher_wins():
    hands = match_of(ANN_WINS_2200, BOB_WINS_2200, ANN_WINS_2200, BOB_WINS_2200, BOTH_700)

    assert hands[-1].match == {"Ann": 5200, "Bob": 5100}
    assert hands[-1].winner == "Ann"


BOTH_700 = (
    "Ann driving-ace; Ann extra-tank; Ann roll; Bob puncture-proof; Bob roll; "
    "Ann 200; Bob 200; Ann 200; Bob 200; Ann 100; Bob 100; Ann 100; Bob 100; end"
)
"""Ann 800, Bob 700."""

LEVEL = BOTH_700.replace("Ann extra-tank; ", "")


def test_level_at_the_end_another_hand_decides():
    level = match_of(ANN_WINS_2200, BOB_WINS_2200, ANN_WINS_2200, BOB_WINS_2200, LEVEL)
    decided = match_of(ANN_WINS_2200, BOB_WINS_2200, ANN_WINS_2200, BOB_WINS_2200, LEVEL, BOTH_700)

    assert (level[-1].match, level[-1].winner) == ({"Ann": 5100, "Bob": 5100}, None)
    assert (decided[-1].match, decided[-1].winner) == ({"Ann": 5900, "Bob": 5800}, "Ann")


def test_a_further_hand_after_the_match_starts_a_new_one_from_zero():
    *_, won, next_one = match_of(ANN_WINS_2200, ANN_WINS_2200, ANN_WINS_2200, BOB_WINS_2200)

    assert (won.winner, next_one.winner) == ("Ann", None)
    assert next_one.match == {"Ann": 0, "Bob": 2200}


def test_in_a_one_race_match_each_hand_stands_for_itself():
    hands = match_of(ANN_WINS_2200, BOB_WINS_2200, options=("match=one-race",))

    assert [result.match for result in hands] == [{"Ann": 2200, "Bob": 0}, {"Ann": 0, "Bob": 2200}]
    assert [result.winner for result in hands] == ["Ann", "Bob"]


def test_a_race_that_runs_out_of_cards_goes_to_whoever_is_nearest():
    race = ("match=one-race",)
    nearer = match_of("Ann roll; Bob roll; Ann 100; Bob 75; exhausted; end", options=race)
    level = match_of("Ann roll; Bob roll; Ann 100; Bob 100; exhausted; end", options=race)
    agreed = match_of("Ann roll; Bob roll; Ann 100; end", options=race)

    assert [result[-1].winner for result in (nearer, level, agreed)] == ["Ann", None, None]


def test_where_the_discards_are_reshuffled_nobody_wins_by_being_nearest():
    race = ("match=one-race", "empty-pile=reshuffle")
    (ended,) = match_of("Ann roll; Bob roll; Ann 100; Bob 75; exhausted; end", options=race)

    assert (ended.how, ended.winner) == ("exhausted", None)


def test_points_belong_to_sides_and_not_to_players():
    done = hand("Ann roll; Bob roll; Cid 100; Dee 25; Ann 100", PAIRS, target=200)

    assert done.result.match == {"Reds": 900, "Blues": 25}
