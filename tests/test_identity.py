"""Which card a sighting is, where faces alone tell: cards of one face look alike, so their places do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from companion.match.questions import Kind, Question
from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.play import discard, lay
from companion.rules.table import Table, Team
from companion.tracking import tracker
from companion.tracking.hand_record import Record, hint_from
from companion.tracking.track import State, Track
from companion.tracking.tracker import Tracks
from companion.vision.view import MatSeen, Sighting, View

MATS = (
    MatSeen("side-1", ((0, 0), (420, 0), (420, 297), (0, 297)), 1.0),
    MatSeen("side-2", ((500, 0), (920, 0), (920, 297), (500, 297)), 1.0),
)
PLACES = Places({"side-1": "Ann", "side-2": "Bob"})
LOOK_S = 0.2


def card(
    face: Card, x: float, y: float, zone: str = "side-1/battle", *, stay: int | None = None, is_double: bool = False
) -> Sighting:
    corners = ((x - 28, y - 44), (x + 28, y - 44), (x + 28, y + 44), (x - 28, y + 44))
    return Sighting(face, None, (x, y), corners, zone, False, 0.97, "face", is_double=is_double, stay=stay)


class Followed:
    """The tracker on a table that the record has."""

    def __init__(self, table: Table | None = None) -> None:
        self.tracks, self.table, self.t_s = Tracks(), table, 0.0
        self.asked: tuple[Question, ...] = ()

    def see(self, *cards: Sighting, looks: int = 4, mats: tuple[MatSeen, ...] = MATS) -> dict[Card, list[int]]:
        """Look so often; return the serials of the cards in sight by their faces."""
        self._look(looks, View(0.0, mats, cards))
        found: dict[Card, list[int]] = {}
        for track in self.tracks.cards:
            if track.is_in_sight:
                found.setdefault(track.face, []).append(track.serial)
        return found

    def hide(self, *zones: str, rest: tuple[Sighting, ...] = ()) -> None:
        """Something is over these zones for a while."""
        self._look(4, View(0.0, MATS, rest, frozenset(zones)))

    def track(self, serial: int) -> Track:
        track = self.tracks.of_serial(serial)
        assert track is not None
        return track

    def _look(self, looks: int, view: View) -> None:
        for _ in range(looks):
            self.t_s += LOOK_S
            hint = hint_from(Record(1, 0, self.table), PLACES, self.asked)
            self.tracks = tracker.update(self.tracks, replace(view, t_s=self.t_s), hint, PLACES.mats, 0)


@pytest.fixture
def rolled() -> Table:
    """Ann has rolled."""
    teams = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
    return referee.apply(referee.new_hand(load_edition("classic"), teams, "Ann", None), lay("Ann", Card.ROLL))


@pytest.fixture
def driving(rolled: Table) -> Table:
    """Both drive and have laid a 100; it is Ann's turn."""
    table = rolled
    for play in (lay("Bob", Card.ROLL), lay("Ann", Card.KM_100), lay("Bob", Card.KM_100)):
        table = referee.apply(table, play)
    return table


def test_a_card_that_lies_still_stays_itself() -> None:
    followed = Followed()

    seen = [followed.see(card(Card.ROLL, 87.0 + 0.2 * (look % 2), 80), looks=1) for look in range(6)]

    assert all(one == {Card.ROLL: [1]} for one in seen)


def test_after_a_hand_has_been_over_it_a_card_is_still_itself_though_another_lies_upon_it_now() -> None:
    followed = Followed()
    followed.see(card(Card.ROLL, 87, 80))
    followed.hide("side-1/battle")

    assert followed.see(card(Card.STOP, 90, 84), card(Card.ROLL, 87, 80)) == {Card.ROLL: [1], Card.STOP: [2]}


def test_a_card_with_the_same_face_elsewhere_is_another() -> None:
    followed = Followed()
    followed.see(card(Card.ROLL, 87, 80))

    seen = followed.see(card(Card.ROLL, 87, 80), card(Card.ROLL, 587, 80, "side-2/battle"))

    assert seen == {Card.ROLL: [1, 2]}


@pytest.mark.parametrize("hidden", [True, False])
def test_a_card_that_was_pushed_within_its_zone_stays_itself(rolled: Table, hidden: bool) -> None:
    followed = Followed(referee.apply(rolled, lay("Bob", Card.ROLL)))
    followed.table = referee.apply(followed.table, lay("Ann", Card.KM_100))
    followed.see(card(Card.KM_100, 100, 220, "side-1/distance"))
    if hidden:
        followed.hide("side-1/distance")

    assert followed.see(card(Card.KM_100, 106, 223, "side-1/distance")) == {Card.KM_100: [1]}


def test_a_card_that_is_pushed_far_while_it_is_in_sight_stays_itself() -> None:
    followed = Followed()
    followed.see(card(Card.KM_100, 100, 220, "side-1/distance"))

    assert followed.see(card(Card.KM_100, 140, 225, "side-1/distance")) == {Card.KM_100: [1]}


def test_two_in_sight_beside_each_other_are_two() -> None:
    followed = Followed()
    one, other = card(Card.KM_100, 100, 200, "side-1/distance"), card(Card.KM_100, 101, 212, "side-1/distance")
    followed.see(one)

    assert followed.see(one, other) == {Card.KM_100: [1, 2]}


def test_one_card_whose_edges_are_found_twice_is_one() -> None:
    followed = Followed()
    one, again = card(Card.KM_100, 100, 200, "side-1/distance"), card(Card.KM_100, 101, 204, "side-1/distance")
    followed.see(one)

    assert followed.see(one, again) == {Card.KM_100: [1]}


def test_a_card_that_is_told_anew_when_another_is_taken_off_it_stays_itself() -> None:
    followed = Followed()
    lower, upper = card(Card.OUT_OF_GAS, 87, 80, stay=1), card(Card.FLAT_TIRE, 90, 82, stay=2)
    followed.see(lower)
    followed.see(lower, upper)
    again = replace(lower, stay=3, is_double=True)
    followed.see(again, looks=1)

    carried = card(Card.FLAT_TIRE, 300, 300, "table/discard", stay=4)
    assert followed.see(again, carried)[Card.OUT_OF_GAS] == [1]


def test_a_card_a_little_beside_one_that_lay_beneath_another_lies_upon_both(rolled: Table) -> None:
    table = referee.apply(referee.apply(rolled, discard("Bob", Card.KM_25)), discard("Ann", Card.KM_50))
    followed = Followed(table)
    lower, upper = (card(Card.KM_25, 300, 300, "table/discard"), card(Card.KM_50, 303, 302, "table/discard"))
    followed.see(lower)
    followed.see(upper)
    followed.hide("table/discard")

    assert followed.see(card(Card.KM_25, 312, 306, "table/discard")) == {Card.KM_25: [3]}


def test_a_card_of_a_face_that_lies_covered_elsewhere_is_not_that_one() -> None:
    followed = Followed()
    lower, upper = card(Card.KM_50, 300, 300, "table/discard", stay=1), card(Card.STOP, 303, 302, "table/discard")
    followed.see(lower)
    followed.see(lower, upper)

    pushed, laid = replace(upper, centre_px=(311, 302)), card(Card.KM_50, 87, 200, "side-1/distance")
    assert followed.see(pushed, laid) == {Card.STOP: [2], Card.KM_50: [3]}


def test_a_card_that_lies_as_it_did_on_the_picture_has_not_moved_though_its_mat_is_told_elsewhere(
    driving: Table,
) -> None:
    followed = Followed(driving)
    followed.see(card(Card.KM_100, 100, 200, "side-1/distance"))
    followed.hide("side-1/distance")
    mats = tuple(replace(mat, corners_px=tuple((x + 2, y) for x, y in mat.corners_px)) for mat in MATS)

    again = card(Card.KM_100, 100, 200, "side-1/distance", is_double=True)
    assert followed.see(again, mats=mats) == {Card.KM_100: [1]}


def test_a_card_laid_over_others_is_not_the_one_beneath_them(rolled: Table) -> None:
    followed = Followed(referee.apply(rolled, lay("Bob", Card.STOP, "Ann")))
    followed.see(card(Card.ROLL, 87, 80))
    followed.see(card(Card.STOP, 88, 82))
    followed.hide("side-1/battle")

    assert followed.see(card(Card.ROLL, 80, 72)) == {Card.ROLL: [3]}
    assert [followed.track(serial).state for serial in (1, 2)] == [State.COVERED, State.COVERED]


def test_a_card_that_lies_exactly_where_it_was_covered_has_come_to_light(rolled: Table) -> None:
    followed = Followed(rolled)
    followed.see(card(Card.ROLL, 87, 80))
    followed.see(card(Card.STOP, 90, 84))

    assert followed.see(card(Card.ROLL, 87, 80)) == {Card.ROLL: [1]}
    assert followed.track(2).state is State.GONE


def test_where_the_picture_does_not_tell_two_from_one_the_rules_do(driving: Table) -> None:
    followed = Followed(driving)
    followed.see(card(Card.KM_100, 100, 200, "side-1/distance"))
    followed.hide("side-1/distance")

    (serial,) = followed.see(card(Card.KM_100, 108, 208, "side-1/distance", is_double=True))[Card.KM_100]
    assert serial == 2
    assert followed.track(serial).is_double


def test_the_rules_are_asked_as_of_after_a_play_that_waits(rolled: Table) -> None:
    roll, place = lay("Bob", Card.ROLL), card(Card.KM_25, 600, 200, "side-2/distance")
    waiting = Question("1-0-roll.1-play", Kind.PLAY, "side-2/battle", (roll,), rolled)
    ((_, where),) = tracker.placed(View(0.0, MATS, (place,)))

    assert not hint_from(Record(1, 0, rolled), PLACES).is_legal(Card.KM_25, where)
    assert hint_from(Record(1, 0, rolled), PLACES, (waiting,)).is_legal(Card.KM_25, where)


def test_several_cards_that_lie_on_as_they_were_all_stay_themselves() -> None:
    followed = Followed()
    faces = (Card.ROLL, Card.STOP, Card.REPAIRS)
    pile = tuple(card(face, 87, 80 + 3 * at, stay=at) for at, face in enumerate(faces))
    before = followed.see(*pile)
    followed.see(pile[0], looks=2)

    assert followed.see(*pile) == before


@pytest.mark.parametrize("is_seen_beneath", [True, False])
def test_a_card_taken_off_another_leaves_that_one_as_it_was(rolled: Table, is_seen_beneath: bool) -> None:
    followed = Followed(rolled)
    roll, stop = card(Card.ROLL, 87, 80, stay=1), card(Card.STOP, 87, 81, stay=2)
    followed.see(roll)
    followed.see(*([stop, roll] if is_seen_beneath else [stop]))
    followed.hide("side-2/battle", rest=(roll,))

    carried = card(Card.STOP, 587, 80, "side-2/battle")
    assert followed.see(roll, carried, looks=8) == {Card.ROLL: [1], Card.STOP: [3]}
    assert followed.track(2).state is State.GONE


def test_no_serial_is_given_twice() -> None:
    followed = Followed()
    given: list[int] = []

    for n in range(3):
        given += followed.see(card(Card.ROLL, 20 + n, 80))[Card.ROLL]
        followed.see(looks=12)

    assert given == [1, 2, 3]


DISCARD = "table/discard"


@pytest.fixture
def discarding(rolled: Table) -> Table:
    """Bob has discarded a 25 and Ann a 50; it is Bob's turn, and he may discard anything."""
    return referee.apply(referee.apply(rolled, discard("Bob", Card.KM_25)), discard("Ann", Card.KM_50))


def pile(*cards: tuple[Card, float, float, int], is_double: bool = False) -> tuple[Sighting, ...]:
    return tuple(card(face, x, y, DISCARD, stay=stay, is_double=is_double) for face, x, y, stay in cards)


def test_each_of_two_alike_keeps_its_place_as_long_as_the_eye_tells_that_nobody_has_touched_them(
    discarding: Table,
) -> None:
    followed = Followed(discarding)
    followed.see(*pile((Card.KM_25, 200, 200, 1)))
    followed.hide(DISCARD)
    both = pile((Card.KM_25, 203, 203, 2), (Card.KM_25, 200, 200, 1))

    seen = followed.see(*both)

    assert [followed.track(serial).stay for serial in seen[Card.KM_25]] == [1, 2]


def test_one_more_of_the_same_face_lies_on_a_pile_where_all_that_lay_there_still_do(discarding: Table) -> None:
    followed = Followed(discarding)
    lay_there = (Card.KM_50, 198, 202, 2), (Card.KM_25, 200, 200, 1)
    followed.see(*pile(*lay_there))
    followed.hide(DISCARD)

    seen = followed.see(*pile((Card.KM_50, 204, 206, 3), *lay_there))

    assert len(seen[Card.KM_50]) == 2


def test_a_pile_s_top_was_pushed_where_the_others_lie_on_and_it_does_not(discarding: Table) -> None:
    followed = Followed(discarding)
    followed.see(*pile((Card.KM_50, 198, 202, 2), (Card.KM_25, 200, 200, 1)))
    followed.hide(DISCARD)

    seen = followed.see(*pile((Card.KM_50, 206, 210, 3), (Card.KM_25, 200, 200, 1)))

    assert seen == {Card.KM_50: [2], Card.KM_25: [1]}


def test_where_nothing_of_a_pile_looks_as_it_did_one_like_its_top_may_be_laid_or_pushed(discarding: Table) -> None:
    followed = Followed(discarding)
    followed.see(*pile((Card.KM_50, 198, 202, 2), (Card.KM_25, 200, 200, 1)))
    followed.hide(DISCARD)

    seen = followed.see(*pile((Card.KM_50, 200, 203, 3)))

    assert followed.track(seen[Card.KM_50][0]).stacked_s is not None


def test_a_card_beneath_others_that_lie_as_they_did_is_not_the_one_on_top_of_them(discarding: Table) -> None:
    followed = Followed(discarding)
    followed.see(*pile((Card.KM_25, 200, 200, 1)))
    followed.see(*pile((Card.KM_50, 203, 203, 2)))
    followed.hide(DISCARD)

    seen = followed.see(*pile((Card.KM_25, 206, 206, 3), (Card.KM_50, 203, 203, 2)))

    assert seen == {Card.KM_50: [2], Card.KM_25: [3]}


def test_a_card_laid_on_one_that_could_not_be_told_for_a_moment_is_new(discarding: Table) -> None:
    followed = Followed(discarding)
    followed.see(*pile((Card.KM_25, 200, 200, 1)))
    followed.see(*pile((Card.KM_50, 203, 203, 2)))
    followed.hide(DISCARD)
    rivals = (("25-00", 0.6), ("50-00", 0.3))
    followed.see(replace(card(Card.UNKNOWN, 206, 210, DISCARD, stay=3), rivals=rivals))

    seen = followed.see(*pile((Card.KM_25, 207, 207, 4)))

    assert seen == {Card.KM_25: [3]}


def test_the_card_beneath_the_top_comes_to_light_where_that_may_be_taken() -> None:
    teams = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
    table = referee.new_hand(load_edition("asmodee-2014"), teams, "Ann", None)
    for play in (discard("Ann", Card.KM_25), discard("Bob", Card.KM_50)):
        table = referee.apply(table, play)
    followed = Followed(table)
    followed.see(*pile((Card.KM_25, 200, 200, 1)))
    followed.see(*pile((Card.KM_50, 215, 210, 2)))
    followed.hide(DISCARD)

    seen = followed.see(*pile((Card.KM_25, 202, 202, 3)))

    assert seen == {Card.KM_25: [1]}


def test_a_sticker_that_is_read_names_its_card_whatever_the_eye_tells_of_its_face() -> None:
    followed = Followed()
    followed.see(replace(card(Card.ROLL, 87, 80, stay=1), card="roll-01", by="sticker"))

    seen = followed.see(replace(card(Card.ROLL, 90, 84, stay=2), card="roll-01", by="sticker"))

    assert seen == {Card.ROLL: [1]}
