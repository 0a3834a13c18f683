"""The bench of whole hands counts right what was told, and what was not."""

from __future__ import annotations

import dataclasses

import enrolled
import numpy as np
import pytest
from bench import hands
from troubles import mishaps

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def watched():
    """A short hand looked at without a camera: the case, what was told, and where the cards really lay."""
    case = hands.Case(1000, 2, "typical", mishaps.NONE, km=300)
    seen = hands.Watch(case, "scene", None)
    return case, seen.told(), seen


def compared(watched, told):
    case, _, seen = watched
    result = hands.Result(case, 0, case.size, case.look.tilt_deg)
    hands.compare(result, told, seen.script, seen.diary)
    return result


def without(told, number):
    proposals = [item for _, item in told if item.get("verdict") == "legal"]
    return [(frame, item) for frame, item in told if item is not proposals[number]], proposals[number]


def test_a_hand_that_was_told_as_it_was_played_has_no_fault(watched):
    result = compared(watched, watched[1])

    assert (result.right, result.faults, result.sheet) == (result.plays, [], True)
    assert max(result.delays) <= 6


def test_a_play_that_was_not_told_is_missed(watched):
    told, _ = without(watched[1], 1)
    result = compared(watched, told)

    assert (result.missed, result.wrong, result.phantom) == (1, 0, 0)
    assert result.right == result.plays - 1


def test_a_play_told_twice_is_wrong_and_one_of_a_card_that_does_not_lie_there_a_phantom(watched):
    frame, item = next((frame, item) for frame, item in watched[1] if item.get("verdict") == "legal")
    ghost = {**item, "proposal": "Ann driving-ace", "zone": "side-1/safety"}
    result = compared(watched, [*watched[1], (frame + 1, item), (frame + 2, ghost)])

    assert (result.wrong, result.phantom) == (1, 1)


def test_a_play_taken_back_counts_when_it_is_told_again(watched):
    told, item = without(watched[1], 0)
    frame = next(frame for frame, one in watched[1] if one is item)
    gone = {"withdrawn": item["proposal"], "zone": item["zone"]}
    early = [(frame, item), (frame + 1, gone)]

    assert compared(watched, [*early, *told]).missed == 1
    assert compared(watched, [*early, (frame + 2, item), *told]).missed == 0


def test_the_table_has_a_line_a_hand_and_the_sums(watched):
    result = compared(watched, watched[1])
    other = dataclasses.replace(result, hand=1, right=result.plays - 1, missed=1, sheet=False)
    lines = hands.table([result, other]).splitlines()

    assert len(lines) == 2 + 2 + 2
    assert f"| {2 * result.plays} | {2 * result.plays - 1} | 1 |" in lines[-1]
    assert "1 of 2" in lines[-1]


@pytest.mark.parametrize("deck", ["own", "old"])
def test_cards_without_stickers_are_those_of_a_deck(deck):
    case = hands.Case(1000, 2, "typical", mishaps.NONE, faces=deck)
    one, other, stop = (case.cards.flat(card) for card in ("roll-01", "roll-02", "stop-01"))

    assert case.cards is hands.bare_cards(deck)
    assert case.cards.size_mm == ((60.0, 90.0) if deck == "old" else (57.0, 88.0))
    assert np.array_equal(one, other)
    assert not np.array_equal(one, stop)


def test_a_card_is_photographed_for_enrolling_whole_and_in_another_light_each_evening():
    white, whites = np.full((704, 456, 3), 240, np.uint8), []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        pose, shot = enrolled.by_hand(rng), enrolled.evening(rng)
        image = enrolled.photograph(white, (57.0, 88.0), pose, shot, "dark", seed)
        corners = pose.px([(x, y) for x in (-28.5, 28.5) for y in (-44.0, 44.0)])
        whites.append(image[480, 360].tolist())
        assert image.shape == (960, 720, 3)
        assert (corners > 0).all()
        assert (corners < (720, 960)).all()
        assert np.median(image[:8]) < 60

    assert len({tuple(colour) for colour in whites}) == 3
    assert all(blue < red for blue, _, red in whites)
