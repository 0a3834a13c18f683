"""What is kept as long as it is asked for, whoever asks."""

import threading

import pytest

from companion.common.cache import Kept

PATIENCE_S = 30.0


def test_a_thing_is_made_once():
    kept, made = Kept(2), []

    assert [kept.get("a", lambda: made.append(1) or "A") for _ in range(3)] == ["A"] * 3
    assert made == [1]


def test_what_was_asked_for_longest_ago_goes_first():
    kept, made = Kept(2), []
    for key in ("a", "b", "a", "c", "a", "b"):
        kept.get(key, lambda key=key: made.append(key) or key)

    assert made == ["a", "b", "c", "b"]


def test_a_thing_that_takes_long_holds_up_nobody_who_asks_for_another():
    kept, begun, go_on = Kept(2), threading.Event(), threading.Event()

    def slowly() -> str:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return "slow"

    found: list[str] = []
    slow = threading.Thread(target=lambda: found.append(kept.get("slow", slowly)))
    slow.start()
    assert begun.wait(PATIENCE_S)

    assert kept.get("quick", lambda: "quick") == "quick"
    go_on.set()
    slow.join(PATIENCE_S)
    assert found == ["slow"]


def test_who_asks_for_what_is_being_made_waits_for_it_and_makes_nothing():
    kept, begun, go_on, found = Kept(2), threading.Event(), threading.Event(), []

    def slowly() -> str:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return "first"

    first = threading.Thread(target=lambda: found.append(kept.get("a", slowly)))
    first.start()
    assert begun.wait(PATIENCE_S)
    second = threading.Thread(target=lambda: found.append(kept.get("a", lambda: "second")))
    second.start()
    go_on.set()
    for one in (first, second):
        one.join(PATIENCE_S)

    assert found == ["first", "first"]


def test_what_cannot_be_made_is_tried_again_by_the_next():
    kept = Kept(2)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 // 0)

    assert kept.get("a", lambda: 7) == 7


def test_what_was_made_under_another_stamp_is_made_anew_in_its_place():
    kept = Kept(2)
    kept.get("b", lambda: "B")

    assert [kept.get("a", lambda stamp=stamp: f"A{stamp}", stamp) for stamp in (1, 1, 2)] == ["A1", "A1", "A2"]
    assert kept.get("b", lambda: "anew") == "B"
