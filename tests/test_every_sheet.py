"""The rows that read the same on every rule sheet, in every edition."""

from __future__ import annotations

import pytest
from records import TWO, Hand, hand, header, record

from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.record.judge import JudgedLine

EDITIONS = edition_names()
EACH_HAZARD = [(name, card) for name in EDITIONS for card in load_edition(name).deck if card.family is Family.HAZARD]
EACH_SAFETY = [(name, card) for name in EDITIONS for card in load_edition(name).safeties]


def driving(edition: str, plays: str = "") -> Hand:
    """Both drive: in Rush from the start, elsewhere after a roll. Ann is to move."""
    start = "" if load_edition(edition).roll_to_start == "not-needed" else "Ann roll; Bob roll; "
    return hand(start + plays, edition=edition)


def verdicts_of(edition: str, *lines: str) -> list[str]:
    written = "\n".join([*header(TWO, edition=edition), *lines])
    return [item.verdict for item in record(written) if isinstance(item, JudgedLine)]


# A turn


@pytest.mark.parametrize("edition", EDITIONS)
def test_six_cards_are_dealt_and_a_turn_draws_and_plays_one(edition):
    before, after = driving(edition), driving(edition, "Ann 50; Bob 50")

    assert before.table.hands == after.table.hands == (6, 6)
    assert before.table.draw_pile - after.table.draw_pile == 2


@pytest.mark.parametrize("edition", EDITIONS)
def test_nobody_plays_out_of_turn(edition):
    assert driving(edition).against("Bob 50") == ["not-your-turn"]
    assert driving(edition).against("Ann 50") == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_card_of_another_edition_is_refused(edition):
    strange = "25" if edition == "rush" else "300"

    assert driving(edition).against(f"Ann {strange}") == ["unknown-card"]


# Hazards and remedies


@pytest.mark.parametrize(("edition", "hazard"), EACH_HAZARD)
def test_a_hazard_is_remedied_by_its_remedy_and_by_no_other(edition, hazard):
    attacked = driving(edition, f"Ann {hazard} > Bob")
    others = {REMEDY_OF[card] for card in load_edition(edition).deck if card in REMEDY_OF and card is not hazard}

    assert attacked.against(f"Bob {REMEDY_OF[hazard]}") == []
    assert [card for card in others if not attacked.against(f"Bob {card}")] == []


@pytest.mark.parametrize(("edition", "hazard"), EACH_HAZARD)
def test_the_safety_of_a_hazard_shuts_it_out(edition, hazard):
    safe = driving(edition, f"Ann {SAFETY_OF[hazard]}; Ann 50")

    assert safe.against(f"Bob {hazard} > Ann") == ["protected"]
    assert driving(edition, "Ann 50").against(f"Bob {hazard} > Ann") == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_hazard_goes_on_the_own_side_or_on_nobody(edition):
    assert driving(edition).against("Ann stop > Ann") == ["own-side"]
    assert driving(edition).against("Ann stop") == ["needs-target"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_end_of_limit_is_laid_on_a_showing_limit_only(edition):
    limited = driving(edition, "Ann speed-limit > Bob")

    assert limited.against("Bob end-of-limit") == []
    assert limited.then("Bob end-of-limit; Ann 50").against("Bob end-of-limit") == ["not-limited"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_under_a_limit_nothing_above_50_is_driven_and_after_its_end_anything(edition):
    limited = driving(edition, "Ann speed-limit > Bob")

    assert limited.against("Bob 50") == []
    assert limited.against("Bob 75") == limited.against("Bob 200") == ["speed-limit"]
    assert limited.then("Bob end-of-limit; Ann 50").against("Bob 200") == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_limit_and_another_hazard_may_lie_side_by_side(edition):
    both = driving(edition, "Ann accident > Bob; Bob discard 50; Ann speed-limit > Bob")

    assert both.against("Bob 100") == ["under-hazard", "speed-limit"]
    assert both.against("Bob repairs") == both.against("Bob end-of-limit") == []


# Safeties


@pytest.mark.parametrize(("edition", "safety"), EACH_SAFETY)
def test_a_safety_is_laid_on_the_own_turn_draws_a_card_and_keeps_the_turn(edition, safety):
    played = driving(edition, f"Ann {safety}")

    assert (played.turn, played.side("Ann").safeties) == ("Ann", (safety,))
    assert played.then("Ann 50").cards_of("Ann") == 6
    assert played.against(f"Ann {safety}") == ["too-many-copies"]


@pytest.mark.parametrize(("edition", "hazard"), EACH_HAZARD)
def test_a_late_safety_is_no_coup_fourre(edition, hazard):
    late = driving(edition, f"Ann {hazard} > Bob; Bob {SAFETY_OF[hazard]}")

    assert (late.side("Bob").safeties, late.side("Bob").coups_fourres) == ((SAFETY_OF[hazard],), ())
    assert late.side("Bob").hazard is None
    assert not late.side("Bob").limited


# Coup fourré


@pytest.mark.parametrize(("edition", "hazard"), EACH_HAZARD)
def test_a_coup_fourre_throws_the_hazard_out_and_takes_the_turn(edition, hazard):
    claimed = driving(edition, f"Ann {hazard} > Bob; Bob {SAFETY_OF[hazard]} !")

    assert claimed.side("Bob").coups_fourres == (SAFETY_OF[hazard],)
    assert (claimed.table.discards, claimed.turn) == ((hazard,), "Bob")
    assert claimed.against("Bob 100") == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_right_of_way_at_once_clears_a_stop_and_a_limit(edition):
    limit_first = driving(edition, "Ann speed-limit > Bob; Bob 50; Ann stop > Bob; Bob right-of-way !")
    stop_first = driving(edition, "Ann stop > Bob; Bob discard 50; Ann speed-limit > Bob; Bob right-of-way !")

    assert limit_first.against("Bob 200") == stop_first.against("Bob 200") == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_right_of_way_answers_no_accident(edition):
    attacked = driving(edition, "Ann accident > Bob")

    assert attacked.against("Bob right-of-way !") == ["no-attack-to-answer"]
    assert attacked.then("Bob right-of-way").against("Bob 50") == ["under-hazard"]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("line", ["Bob 200 now", "# what a pity", "Ann 50", "Bob roll > Ann", "Bob end-of-limit", ""])
def test_illegal_unreadable_and_comment_lines_leave_the_window_open(edition, line):
    start = [] if edition == "rush" else ["Ann roll", "Bob roll"]

    assert verdicts_of(edition, *start, "Ann accident > Bob", line, "Bob driving-ace !")[-1] == "legal"


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("line", ["Bob skip-draw", "Bob discard 50", "Bob extra-tank", "Bob car-pool"])
def test_a_card_drawn_or_played_by_the_attacked_side_shuts_the_window(edition, line):
    start = [] if edition == "rush" else ["Ann roll", "Bob roll"]
    *_, act, answer = verdicts_of(edition, *start, "Ann accident > Bob", line, "Bob driving-ace !")

    assert {"legal": "illegal", "illegal": "legal"}[act] == answer


# The end


@pytest.mark.parametrize("edition", EDITIONS)
def test_after_the_end_nothing_is_played(edition):
    over = driving(edition, "Ann 50; end")

    assert over.against("Bob 50") == over.against("Bob driving-ace !") == ["hand-over"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_each_km_is_a_point_or_a_km(edition):
    driven = driving(edition, "Ann 200; Bob 75; Ann 50; end")

    assert (driven.points("Ann"), driven.points("Bob")) == ({"distance": 250}, {"distance": 75})


@pytest.mark.parametrize(
    ("edition", "points"),
    [
        ("classic", [100, 300, 300, 400, 300, 300, 200, 500]),
        ("asmodee-2014", [100, 0, 100, 0, 0, 0, 0, 0]),
        ("bsd-mille", [100, 300, 300, 400, 300, 300, 200, 500]),
        ("rush", [100, 0, 100, 0, 0, 0, 0, 0]),
        ("parker", [100, 300, 300, 400, 300, 300, 200, 500]),
        ("dujardin-2014", [0] * 8),
    ],
)
def test_the_other_lines_of_the_sheet_are_worth_what_is_printed(edition, points):
    worth = load_edition(edition).points

    assert [worth.safety, worth.all_safeties, worth.coup_fourre] == points[:3]
    assert [worth.trip_completed, worth.delayed_action, worth.safe_trip, worth.extension, worth.shut_out] == points[3:]


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_card_is_lost(edition):
    attacks = "Ann stop > Bob; Bob right-of-way !; Bob 100; Ann accident > Bob; Bob repairs; Ann 50; Bob discard 75"
    played = driving(edition, attacks).table
    laid = sum(played.deck[card] - played.copies_left(card) for card in Card if card in played.deck)

    assert laid + sum(played.hands) + played.draw_pile == sum(played.deck.values())
