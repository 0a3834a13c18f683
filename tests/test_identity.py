"""Which of a face's cards a card is: they look alike, so their places tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.play import lay
from companion.rules.table import Table, Team
from companion.tracking.identity import Copies
from companion.tracking.table_memory import Memory
from companion.vision.view import MatSeen, Sighting, View

MATS = (
    MatSeen("side-1", ((0, 0), (420, 0), (420, 297), (0, 297)), 1.0),
    MatSeen("side-2", ((500, 0), (920, 0), (920, 297), (500, 297)), 1.0),
)
PLACES = Places({"side-1": "Ann", "side-2": "Bob"})


def card(face: Card, x: float, y: float, zone: str = "side-1/battle", *, is_double: bool = False) -> Sighting:
    corners = ((x - 28, y - 44), (x + 28, y - 44), (x + 28, y + 44), (x - 28, y + 44))
    return Sighting(face, None, (x, y), corners, zone, False, 0.97, "face", is_double=is_double)


def view(t_s: float, *cards: Sighting, unknown: frozenset[str] = frozenset()) -> View:
    return View(t_s, MATS, cards, unknown)


class Followed:
    """Copies with the memory that belongs to them."""

    def __init__(self, table: Table | None = None) -> None:
        self.copies, self.memory, self.table = Copies(), Memory(PLACES, table), table

    def names(self, seen: View) -> list[str | None]:
        named = self.copies.named(seen, self.memory, self.table)
        self.memory.observe(named)
        return sorted(sighting.card or "" for sighting in named.sightings)


@pytest.fixture
def table() -> Table:
    edition = load_edition("classic")
    teams = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
    hand = referee.new_hand(edition, teams, "Ann", None)
    return referee.apply(hand, lay("Ann", Card.ROLL))


def test_a_card_that_lies_still_stays_itself() -> None:
    table = Followed()

    seen = [table.names(view(t / 10, card(Card.ROLL, 87.0 + 0.2 * (t % 2), 80))) for t in range(4)]

    assert all(one == other == ["roll-a"] for one, other in pairwise(seen))


def test_after_a_hand_has_been_over_it_a_card_is_still_itself_though_another_lies_upon_it_now() -> None:
    table = Followed()
    table.names(view(0, card(Card.ROLL, 87, 80)))
    table.names(view(1, unknown=frozenset({"side-1/battle"})))

    both = view(2, card(Card.STOP, 90, 84), card(Card.ROLL, 87, 80))

    assert table.names(both) == ["roll-a", "stop-a"]


def test_a_card_with_the_same_face_elsewhere_is_another() -> None:
    table = Followed()
    table.names(view(0, card(Card.ROLL, 87, 80)))

    names = table.names(view(1, card(Card.ROLL, 87, 80), card(Card.ROLL, 587, 80, "side-2/battle")))

    assert names == ["roll-a", "roll-b"]


def test_a_card_that_was_pushed_within_its_zone_stays_itself() -> None:
    table = Followed()
    table.names(view(0, card(Card.KM_100, 100, 220, "side-1/distance")))

    assert table.names(view(1, card(Card.KM_100, 140, 225, "side-1/distance"))) == ["100-a"]


def test_two_in_sight_a_little_apart_are_two() -> None:
    table = Followed()
    table.names(view(0, card(Card.KM_100, 100, 200, "side-1/distance")))

    both = (card(Card.KM_100, 100, 200, "side-1/distance"), card(Card.KM_100, 101, 204, "side-1/distance"))

    assert table.names(view(1, *both)) == ["100-a", "100-b"]


def test_a_hazard_carried_to_the_discard_pile_stays_itself() -> None:
    table = Followed()
    table.names(view(0, card(Card.STOP, 87, 80)))

    assert table.names(view(1, card(Card.STOP, 300, 300, "table/discard"))) == ["stop-a"]


def test_a_card_that_is_told_anew_when_another_is_taken_off_it_covers_nothing() -> None:
    table = Followed()
    lower, upper = replace(card(Card.OUT_OF_GAS, 87, 80), stay=1), replace(card(Card.FLAT_TIRE, 90, 82), stay=2)
    table.names(view(0, lower))
    table.names(view(1, lower, upper))
    again = replace(lower, stay=3, is_double=True)

    table.names(view(2, again))
    table.names(view(2.1, again))
    carried = replace(card(Card.FLAT_TIRE, 300, 300, "table/discard"), stay=4)
    assert table.names(view(2.2, again, carried)) == ["flat-tire-a", "out-of-gas-a"]


def test_a_card_a_little_beside_one_that_lay_beneath_another_lies_upon_both() -> None:
    table = Followed()
    lower = replace(card(Card.KM_25, 300, 300, "table/discard"), stay=1)
    upper = replace(card(Card.KM_50, 303, 302, "table/discard"), stay=2)
    table.names(view(0, lower))
    table.names(view(1, lower, upper))

    assert table.names(view(2, replace(card(Card.KM_25, 304, 303, "table/discard"), stay=3))) == ["25-b"]
    assert table.names(view(3, replace(card(Card.KM_25, 304, 303, "table/discard"), stay=3))) == ["25-b"]


def test_a_card_from_beneath_others_on_the_discard_pile_is_not_the_one_that_is_laid_elsewhere() -> None:
    table = Followed()
    lower = replace(card(Card.KM_50, 300, 300, "table/discard"), stay=1)
    upper = replace(card(Card.STOP, 303, 302, "table/discard"), stay=2)
    table.names(view(0, lower))
    assert table.names(view(1, lower, upper)) == ["50-a", "stop-a"]

    pushed = replace(upper, centre_px=(311, 302), stay=3)
    assert table.names(view(2, pushed, card(Card.KM_50, 87, 200, "side-1/distance"))) == ["50-b", "stop-a"]


def test_a_card_that_lies_as_it_did_on_the_picture_has_not_moved_though_its_mat_is_told_elsewhere(table: Table) -> None:
    driving = referee.apply(referee.apply(table, lay("Bob", Card.ROLL)), lay("Ann", Card.KM_100))
    followed = Followed(referee.apply(driving, lay("Bob", Card.KM_100)))
    followed.names(view(0, card(Card.KM_100, 100, 200, "side-1/distance")))

    mats = tuple(replace(mat, corners_px=tuple((x + 2, y) for x, y in mat.corners_px)) for mat in MATS)
    again = card(Card.KM_100, 100, 200, "side-1/distance", is_double=True)
    assert followed.names(replace(view(1, again), mats=mats)) == ["100-a"]


def test_what_may_come_from_a_place_out_of_sight_is_waited_with() -> None:
    table = Followed()
    table.names(view(0, card(Card.STOP, 87, 80)))
    hidden = frozenset({"side-1/battle"})

    at_once = table.names(view(1, card(Card.STOP, 300, 300, "table/discard"), unknown=hidden))
    later = table.names(view(4, card(Card.STOP, 300, 300, "table/discard"), unknown=hidden))

    assert at_once == []
    assert later == ["stop-b"]


def test_a_card_laid_over_others_is_not_the_one_beneath_them(table: Table) -> None:
    followed = Followed(table)
    for t in range(3):
        followed.names(view(t / 10, card(Card.ROLL, 87, 80)))
    for t in range(3, 6):
        followed.names(view(t / 10, card(Card.STOP, 88, 82)))
    stop = followed.memory.tracks["stop-a"]
    stop.place, stop.order, stop.confirmed = stop.last_seen, 2, True
    followed.memory.tracks["roll-a"].place = stop.place
    followed.table = referee.apply(table, lay("Bob", Card.STOP, "Ann"))

    assert followed.names(view(1, card(Card.ROLL, 84, 77))) == ["roll-b"]


def test_a_card_that_lies_exactly_where_it_was_covered_has_come_to_light(table: Table) -> None:
    followed = Followed(table)
    followed.names(view(0, card(Card.ROLL, 87, 80)))
    followed.names(view(1, card(Card.STOP, 90, 84)))

    assert followed.names(view(2, card(Card.ROLL, 87, 80))) == ["roll-a"]


def test_where_the_picture_does_not_tell_two_from_one_the_rules_do_and_people_are_asked(table: Table) -> None:
    driving = referee.apply(referee.apply(table, lay("Bob", Card.ROLL)), lay("Ann", Card.KM_100))
    driving = referee.apply(driving, lay("Bob", Card.KM_100))
    followed = Followed(driving)
    followed.names(view(0, card(Card.KM_100, 100, 200, "side-1/distance")))

    named = followed.copies.named(
        view(1, card(Card.KM_100, 102, 203, "side-1/distance", is_double=True)), followed.memory, driving
    )

    (seen,) = named.sightings
    assert seen.card == "100-b"
    assert seen.confidence < 0.9


def test_the_rules_are_asked_as_of_after_a_card_that_has_just_been_seen_elsewhere(table: Table) -> None:
    driving = referee.apply(referee.apply(table, lay("Bob", Card.ROLL)), lay("Ann", Card.KM_100))
    driving = referee.apply(driving, lay("Bob", Card.KM_100))
    followed = Followed(driving)
    followed.names(view(0, card(Card.KM_100, 600, 200, "side-2/distance")))
    followed.memory.tracks["100-a"].place = followed.memory.tracks["100-a"].last_seen
    doubled = card(Card.KM_100, 602, 203, "side-2/distance", is_double=True)

    assert followed.names(view(1, doubled)) == ["100-a"]
    followed.names(view(2, card(Card.KM_75, 100, 200, "side-1/distance"), doubled))
    pushed_on = card(Card.KM_100, 604, 207, "side-2/distance", is_double=True)
    assert followed.names(view(3, card(Card.KM_75, 100, 200, "side-1/distance"), pushed_on)) == ["100-b", "75-a"]


@pytest.mark.parametrize("recorded", [1, 2])
def test_a_card_that_may_have_lain_there_uncounted_is_asked_about(table: Table, recorded: int) -> None:
    driving = referee.apply(table, lay("Bob", Card.ROLL))
    for player in ("Ann", "Bob") * recorded:
        driving = referee.apply(driving, lay(player, Card.KM_25))
    followed = Followed(driving)
    lower = replace(card(Card.KM_25, 100, 200, "side-1/distance", is_double=True), stay=1)
    followed.names(view(0, lower))
    track = followed.memory.tracks["25-a"]
    track.place, track.confirmed = track.last_seen, True

    upper = replace(card(Card.KM_25, 112, 200, "side-1/distance"), stay=2)
    named = followed.copies.named(view(1, lower, upper), followed.memory, driving)

    (confidence,) = (s.confidence for s in named.sightings if s.card == "25-b")
    assert (confidence < 0.9) is (recorded == 2)


def test_more_cards_than_the_deck_has_are_asked_about(table: Table) -> None:
    followed = Followed(table)
    many = [card(Card.RIGHT_OF_WAY, 250 + 30 * n, 80, "side-1/safety") for n in range(2)]

    named = followed.copies.named(view(0, *many), followed.memory, table)

    assert all(sighting.confidence < 0.9 for sighting in named.sightings)


def test_names_never_run_out() -> None:
    table = Followed()

    seen: Iterator[list[str | None]] = (
        table.names(view(30.0 * n, card(Card.ROLL, 20 + n, 80), unknown=frozenset())) for n in range(3)
    )

    assert all(names for names in seen)


def test_several_cards_that_lie_on_as_they_were_all_stay_themselves() -> None:
    followed = Followed()
    pile = tuple(
        replace(card(face, 87, 80 + 3 * at), stay=at) for at, face in enumerate((Card.ROLL, Card.STOP, Card.ROLL))
    )
    named = followed.names(view(0, *pile))
    followed.names(view(1, pile[0]))

    assert followed.names(view(2, *pile)) == named


def test_of_two_alike_that_are_seen_as_one_elsewhere_it_is_the_upper_that_was_pushed() -> None:
    followed = Followed()
    lower, upper = (replace(card(Card.ROLL, 87 + 5 * at, 80), stay=at + 1) for at in range(2))
    followed.names(view(0, lower))
    followed.names(view(1, upper, lower))

    assert followed.names(view(2, replace(card(Card.ROLL, 88, 80), stay=3))) == ["roll-b"]


def test_a_card_taken_off_one_that_lay_just_beneath_it_is_the_one_that_comes_to_lie_elsewhere(table: Table) -> None:
    followed = Followed(table)
    followed.names(view(0, card(Card.ROLL, 87, 80)))
    for t in (1, 2):
        followed.names(view(t, card(Card.STOP, 87, 81)))
    followed.names(view(3, card(Card.ROLL, 87, 80), unknown=frozenset({"side-2/battle"})))

    carried = view(4, card(Card.ROLL, 87, 80), card(Card.STOP, 587, 80, "side-2/battle"))
    assert followed.names(carried) == ["roll-a", "stop-a"]


def test_nor_does_one_cover_it_that_was_seen_beneath_it_all_the_time(table: Table) -> None:
    followed = Followed(table)
    roll, stop = replace(card(Card.ROLL, 87, 80), stay=1), replace(card(Card.STOP, 87, 84), stay=2)
    followed.names(view(0, roll))
    for t in (1, 2):
        followed.names(view(t, stop, roll))
    followed.names(view(3, roll, unknown=frozenset({"side-2/battle"})))

    carried = view(4, roll, card(Card.STOP, 587, 80, "side-2/battle"))
    assert followed.names(carried) == ["roll-a", "stop-a"]
