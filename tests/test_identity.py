"""Which card a sighting is, where faces alone tell: cards of one face look alike, so their places do."""

from dataclasses import replace

import pytest

from companion.match.questions import Kind, Question
from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.play import Play, discard, lay
from companion.rules.table import Table, Team
from companion.tracking import tracker
from companion.tracking.hand_record import Hint, Record
from companion.tracking.identity import detections_in
from companion.tracking.track import State, Track
from companion.tracking.tracker import Tracks
from companion.vision.view import MatSeen, Sighting, View

MATS = (
    MatSeen("side-1", ((0, 0), (420, 0), (420, 297), (0, 297)), 1.0),
    MatSeen("side-2", ((500, 0), (920, 0), (920, 297), (500, 297)), 1.0),
    MatSeen("table", ((0, 0), (297, 0), (297, 210), (0, 210)), 1.0),
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
        track = self.tracks.by_serial.get(serial)
        assert track is not None
        return track

    def _look(self, looks: int, view: View) -> None:
        for _ in range(looks):
            self.t_s += LOOK_S
            hint = Hint(Record(1, 0, PLACES, self.table), self.asked)
            self.tracks = tracker.update(self.tracks, replace(view, t_s=self.t_s), hint, 0)


def played(*plays: Play, edition: str = "classic") -> Table:
    teams = (Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))
    table = referee.new_hand(load_edition(edition), teams, "Ann", None)
    for play in plays:
        table = referee.apply(table, play)
    return table


DISCARD, DISTANCE = "table/discard", "side-1/distance"
ROLL, STOP, KM_25, KM_50, KM_100 = Card.ROLL, Card.STOP, Card.KM_25, Card.KM_50, Card.KM_100
ROLLED = played(lay("Ann", ROLL))
DRIVING = played(lay("Ann", ROLL), lay("Bob", ROLL), lay("Ann", KM_100), lay("Bob", KM_100))
DISCARDING = played(lay("Ann", ROLL), discard("Bob", KM_25), discard("Ann", KM_50))
"""Bob has discarded a 25 and Ann a 50; it is Bob's turn, and he may discard anything."""

MAY_TAKE = played(discard("Ann", KM_25), discard("Bob", KM_50), edition="asmodee-2014")


def on_discard(face: Card, x: float, y: float, stay: int | None = None) -> Sighting:
    return card(face, x, y, DISCARD, stay=stay)


def upside_down(lying: Sighting) -> Sighting:
    top_left, top_right, bottom_right, bottom_left = lying.corners_px
    return replace(lying, corners_px=(bottom_right, bottom_left, top_left, top_right))


LOWER, UPPER = on_discard(KM_50, 300, 300, 1), card(STOP, 303, 302, DISCARD)
GAS, TIRE = card(Card.OUT_OF_GAS, 87, 80, stay=1), card(Card.FLAT_TIRE, 90, 82, stay=2)
PILE = (on_discard(KM_50, 198, 202, 2), on_discard(KM_25, 200, 200, 1))
ON_MAT = tuple(replace(mat, corners_px=tuple((x + 2, y) for x, y in mat.corners_px)) for mat in MATS)
UNREAD = replace(on_discard(Card.UNKNOWN, 206, 210, 3), rivals=(("25-00", 0.6), ("50-00", 0.3)))

STORIES: dict[str, tuple[Table | None, list[tuple[Sighting, ...] | str], dict[Card, list[int]]]] = {
    "after a hand has been over it a card is still itself though another lies upon it now": (
        None,
        [(card(ROLL, 87, 80),), "side-1/battle", (card(STOP, 90, 84), card(ROLL, 87, 80))],
        {ROLL: [1], STOP: [2]},
    ),
    "a card with the same face elsewhere is another": (
        None,
        [(card(ROLL, 87, 80),), (card(ROLL, 87, 80), card(ROLL, 587, 80, "side-2/battle"))],
        {ROLL: [1, 2]},
    ),
    "a card that was pushed within its zone stays itself": (
        DRIVING,
        [(card(KM_100, 100, 220, DISTANCE),), (card(KM_100, 106, 223, DISTANCE),)],
        {KM_100: [1]},
    ),
    "a card that was pushed under a hand stays itself": (
        DRIVING,
        [(card(KM_100, 100, 220, DISTANCE),), DISTANCE, (card(KM_100, 106, 223, DISTANCE),)],
        {KM_100: [1]},
    ),
    "a card that is pushed far while it is in sight stays itself": (
        None,
        [(card(KM_100, 100, 220, DISTANCE),), (card(KM_100, 140, 225, DISTANCE),)],
        {KM_100: [1]},
    ),
    "one that may be two was pushed by the hand that laid another card beside it": (
        DRIVING,
        [
            (card(KM_25, 100, 220, DISTANCE, stay=1),),
            DISTANCE,
            (card(KM_25, 104, 224, DISTANCE, stay=2, is_double=True), card(KM_50, 160, 220, DISTANCE, stay=3)),
        ],
        {KM_25: [1], KM_50: [2]},
    ),
    "where others were pushed a little, one that lies farther away than its like did was laid": (
        DRIVING,
        [
            (card(KM_25, 100, 200, DISTANCE, stay=1), card(KM_50, 160, 200, DISTANCE, stay=2)),
            DISTANCE,
            (card(KM_25, 105, 205, DISTANCE, stay=3, is_double=True), card(KM_50, 153, 207, DISTANCE, stay=4)),
        ],
        {KM_25: [1], KM_50: [3]},
    ),
    "one the other way round, where its like lay, is another: no push turns a card so far": (
        DISCARDING,
        [(on_discard(KM_25, 300, 300, 1),), DISCARD, (upside_down(on_discard(KM_25, 307, 303, 2)),)],
        {KM_25: [2]},
    ),
    "two in sight beside each other are two": (
        None,
        [(card(KM_100, 100, 200, DISTANCE),), (card(KM_100, 100, 200, DISTANCE), card(KM_100, 101, 212, DISTANCE))],
        {KM_100: [1, 2]},
    ),
    "one card whose edges are found twice is one": (
        None,
        [(card(KM_100, 100, 200, DISTANCE),), (card(KM_100, 100, 200, DISTANCE), card(KM_100, 101, 204, DISTANCE))],
        {KM_100: [1]},
    ),
    "a card that is told anew when another is taken off it stays itself": (
        None,
        [(GAS,), (GAS, TIRE), (replace(GAS, stay=3, is_double=True), card(Card.FLAT_TIRE, 300, 300, DISCARD, stay=4))],
        {Card.OUT_OF_GAS: [1], Card.FLAT_TIRE: [3]},
    ),
    "a card a little beside one that lay beneath another lies upon both": (
        DISCARDING,
        [(on_discard(KM_25, 300, 300),), (on_discard(KM_50, 303, 302),), DISCARD, (on_discard(KM_25, 312, 306),)],
        {KM_25: [3]},
    ),
    "a card of a face that lies covered elsewhere is not that one": (
        None,
        [(LOWER,), (LOWER, UPPER), (replace(UPPER, centre_px=(311, 302)), card(KM_50, 87, 200, DISTANCE))],
        {STOP: [2], KM_50: [3]},
    ),
    "a card laid over others is not the one beneath them": (
        played(lay("Ann", ROLL), lay("Bob", STOP, "Ann")),
        [(card(ROLL, 87, 80),), (card(STOP, 88, 82),), "side-1/battle", (card(ROLL, 80, 72),)],
        {ROLL: [3]},
    ),
    "a card that lies exactly where it was covered has come to light": (
        ROLLED,
        [(card(ROLL, 87, 80),), (card(STOP, 90, 84),), (card(ROLL, 87, 80),)],
        {ROLL: [1]},
    ),
    "a pile's top was pushed where the others lie on and it does not": (
        DISCARDING,
        [PILE, DISCARD, (on_discard(KM_50, 206, 210, 3), PILE[1])],
        {KM_50: [2], KM_25: [1]},
    ),
    "one more of the same face lies on a pile where all that lay there still do": (
        DISCARDING,
        [PILE, DISCARD, (on_discard(KM_50, 204, 206, 3), *PILE)],
        {KM_50: [2, 3], KM_25: [1]},
    ),
    "a card beneath others that lie as they did is not the one on top of them": (
        DISCARDING,
        [
            (PILE[1],),
            (on_discard(KM_50, 203, 203, 2),),
            DISCARD,
            (on_discard(KM_25, 206, 206, 3), on_discard(KM_50, 203, 203, 2)),
        ],
        {KM_50: [2], KM_25: [3]},
    ),
    "a card laid on one that could not be told for a moment is new": (
        DISCARDING,
        [(PILE[1],), (on_discard(KM_50, 203, 203, 2),), DISCARD, (UNREAD,), (on_discard(KM_25, 207, 207, 4),)],
        {KM_25: [3]},
    ),
    "the card beneath the top comes to light where that may be taken": (
        MAY_TAKE,
        [(PILE[1],), (on_discard(KM_50, 215, 210, 2),), DISCARD, (on_discard(KM_25, 202, 202, 3),)],
        {KM_25: [1]},
    ),
    "a card pushed far with all beneath it is no second one that would be illegal": (
        ROLLED,
        [(card(STOP, 87, 80, stay=1), card(ROLL, 90, 82, stay=2)), "side-1/battle", (card(ROLL, 95, 97, stay=3),)],
        {ROLL: [2]},
    ),
    "a card pushed when another is in turn is no second one": (
        DRIVING,
        [
            (card(KM_100, 600, 220, "side-2/distance", stay=1),),
            "side-2/distance",
            (card(KM_100, 604.5, 224.5, "side-2/distance", stay=2, is_double=True),),
        ],
        {KM_100: [1]},
    ),
    "a card laid beside its like that lies as it did is none of those covered": (
        DISCARDING,
        [
            (on_discard(KM_25, 198, 198, 1),),
            DISCARD,
            (on_discard(KM_50, 199, 199, 2),),
            DISCARD,
            (on_discard(KM_25, 200, 204, 3), on_discard(KM_50, 199, 199, 2)),
            DISCARD,
            (on_discard(KM_100, 201, 203, 4), on_discard(KM_25, 200, 204, 3), on_discard(KM_50, 199, 199, 2)),
            DISCARD,
            (
                on_discard(KM_25, 199.5, 203, 5),
                on_discard(KM_100, 201, 203, 4),
                on_discard(KM_25, 200, 204, 3),
                on_discard(KM_50, 199, 199, 2),
            ),
        ],
        {KM_25: [3, 5], KM_50: [2], KM_100: [4]},
    ),
    "a card laid beside its like that lies as it did is none that was pushed just under that": (
        DRIVING,
        [
            (card(KM_100, 600, 220, "side-1/distance", stay=1), card(KM_100, 601, 221, "side-1/distance", stay=2)),
            "side-1/distance",
            (card(KM_100, 601, 221.5, "side-1/distance", stay=3),),
            "side-1/distance",
            (card(KM_100, 601, 221.5, "side-1/distance", stay=3), card(KM_100, 602, 218, "side-1/distance", stay=4)),
        ],
        {KM_100: [2, 3]},
    ),
    "a sticker that is read names its card whatever the eye tells of its face": (
        None,
        [
            (replace(card(ROLL, 87, 80, stay=1), card="roll-01", by="sticker"),),
            (replace(card(ROLL, 90, 84, stay=2), card="roll-01", by="sticker"),),
        ],
        {ROLL: [1]},
    ),
}


@pytest.mark.parametrize(("table", "steps", "serials"), STORIES.values(), ids=STORIES)
def test_after_what_is_seen_and_hidden_the_cards_in_sight_are(
    table: Table | None, steps: list[tuple[Sighting, ...] | str], serials: dict[Card, list[int]]
) -> None:
    followed = Followed(table)
    for step in steps:
        seen = followed.hide(step) if isinstance(step, str) else followed.see(*step)

    assert seen == serials


def test_a_card_that_lies_still_stays_itself() -> None:
    followed = Followed()

    seen = [followed.see(card(ROLL, 87.0 + 0.2 * (look % 2), 80), looks=1) for look in range(6)]

    assert all(one == {ROLL: [1]} for one in seen)


def test_a_card_that_lies_as_it_did_on_the_picture_has_not_moved_though_its_mat_is_told_elsewhere() -> None:
    followed = Followed(DRIVING)
    followed.see(card(KM_100, 100, 200, DISTANCE))
    followed.hide(DISTANCE)

    again = card(KM_100, 100, 200, DISTANCE, is_double=True)
    assert followed.see(again, mats=ON_MAT) == {KM_100: [1]}


def test_a_card_that_another_lies_on_is_covered_and_one_taken_off_is_gone() -> None:
    covered, taken = Followed(played(lay("Ann", ROLL), lay("Bob", STOP, "Ann"))), Followed(ROLLED)
    for followed in (covered, taken):
        followed.see(card(ROLL, 87, 80))
        followed.see(card(STOP, 90, 84))
    covered.hide("side-1/battle")
    covered.see(card(ROLL, 80, 72))
    taken.see(card(ROLL, 87, 80))

    assert [covered.track(serial).state for serial in (1, 2)] == [State.COVERED, State.COVERED]
    assert taken.track(2).state is State.GONE


def test_where_the_picture_does_not_tell_two_from_one_the_rules_do() -> None:
    followed = Followed(DRIVING)
    followed.see(card(KM_100, 100, 200, DISTANCE))
    followed.hide(DISTANCE)

    (serial,) = followed.see(card(KM_100, 108, 208, DISTANCE, is_double=True))[KM_100]
    assert serial == 2
    assert followed.track(serial).is_double


def test_one_laid_beside_its_like_is_beyond_doubt_another_where_both_are_seen() -> None:
    followed, lying = Followed(DRIVING), card(KM_100, 100, 200, DISTANCE, stay=1)
    followed.see(lying)
    followed.hide(DISTANCE)

    followed.see(lying, card(KM_100, 103, 204, DISTANCE, stay=2))

    assert not followed.track(2).is_double


def test_a_card_read_askew_beneath_the_hand_that_lays_it_is_not_laid_twice() -> None:
    followed, lying = Followed(DISCARDING), on_discard(KM_100, 200, 200, 2)
    (left, top), (right, _), *lower = lying.corners_px or ()
    askew = replace(lying, corners_px=((left, top - 2), (right, top + 2), *lower), stay=1)
    followed.see(on_discard(KM_50, 198, 202, 3))
    followed.hide(DISCARD)

    followed.see(askew, looks=1)
    followed.hide(DISCARD, rest=(askew,))

    assert list(followed.see(replace(lying, is_double=True))) == [KM_100]
    assert [track.serial for track in followed.tracks.cards if track.face is KM_100] == [2]


def test_the_rules_are_asked_as_of_after_a_play_that_waits() -> None:
    roll, place = lay("Bob", Card.ROLL), card(Card.KM_25, 600, 200, "side-2/distance")
    waiting = Question("1-0-roll.1-play", Kind.PLAY, "side-2/battle", (roll,), ROLLED)
    where = next(detections_in(View(0.0, MATS, (place,)), {})).place

    assert not Hint(Record(1, 0, PLACES, ROLLED)).is_legal(Card.KM_25, where)
    assert Hint(Record(1, 0, PLACES, ROLLED), (waiting,)).is_legal(Card.KM_25, where)


def test_several_cards_that_lie_on_as_they_were_all_stay_themselves() -> None:
    followed = Followed()
    faces = (Card.ROLL, Card.STOP, Card.REPAIRS)
    pile = tuple(card(face, 87, 80 + 3 * at, stay=at) for at, face in enumerate(faces))
    before = followed.see(*pile)
    followed.see(pile[0], looks=2)

    assert followed.see(*pile) == before


@pytest.mark.parametrize("is_seen_beneath", [True, False])
def test_a_card_taken_off_another_leaves_that_one_as_it_was(is_seen_beneath: bool) -> None:
    followed = Followed(ROLLED)
    roll, stop = card(ROLL, 87, 80, stay=1), card(STOP, 87, 81, stay=2)
    followed.see(roll)
    followed.see(*([stop, roll] if is_seen_beneath else [stop]))
    followed.hide("side-2/battle", rest=(roll,))

    carried = card(STOP, 587, 80, "side-2/battle")
    assert followed.see(roll, carried, looks=8) == {ROLL: [1], STOP: [3]}
    assert followed.track(2).state is State.GONE


def test_what_lies_on_a_mat_that_is_not_found_has_not_gone() -> None:
    followed = Followed()
    followed.see(card(ROLL, 87, 80))

    followed.see(looks=20, mats=MATS[1:])
    assert followed.track(1).state is State.LYING
    followed.see(looks=20)
    assert followed.track(1).state is State.GONE


def test_no_serial_is_given_twice() -> None:
    followed = Followed()
    given: list[int] = []

    for n in range(3):
        given += followed.see(card(Card.ROLL, 20 + n, 80))[Card.ROLL]
        followed.see(looks=12)

    assert given == [1, 2, 3]


def test_each_of_two_alike_keeps_its_place_as_long_as_the_eye_tells_that_nobody_has_touched_them() -> None:
    followed = Followed(DISCARDING)
    followed.see(PILE[1])
    followed.hide(DISCARD)

    seen = followed.see(on_discard(KM_25, 203, 203, 2), PILE[1])

    assert [followed.track(serial).stay for serial in seen[KM_25]] == [1, 2]


@pytest.mark.parametrize(("y", "is_new"), [(201.5, True), (200.5, False)])
def test_a_card_that_may_lie_on_its_like_is_new_in_turn_unless_it_lies_exactly_there(y: float, is_new: bool) -> None:
    followed = Followed(DISCARDING)
    followed.see(on_discard(KM_50, 200, 200, 1))
    followed.hide(DISCARD)

    seen = followed.see(replace(on_discard(KM_50, 200, y, 2), is_double=True))

    assert seen[KM_50] == ([2] if is_new else [1])
    top = followed.track(seen[KM_50][0])
    assert top.is_double or top.stacked_s is not None


def test_a_card_that_comes_to_light_where_it_lay_is_older_than_the_one_that_was_taken_for_it() -> None:
    followed = Followed(DISCARDING)
    lower, upper = on_discard(KM_50, 200, 200, 1), replace(on_discard(KM_50, 200, 200.5, 2), is_double=True)
    for cards in ((lower,), (upper,), (lower, upper)):
        seen = followed.see(*cards)
        followed.hide(DISCARD)

    assert [(followed.track(n).stay, followed.track(n).is_double) for n in seen[KM_50]] == [(1, False), (2, False)]


@pytest.mark.parametrize(("beneath", "may_be_laid"), [(KM_50, True), (KM_25, False)])
def test_a_card_of_which_several_were_touched_may_be_laid_or_pushed_and_the_only_one_was_pushed(
    beneath: Card, may_be_laid: bool
) -> None:
    followed = Followed(DISCARDING)
    followed.see(on_discard(beneath, 203, 203, 1), on_discard(KM_50, 200, 200, 2))
    followed.hide(DISCARD)

    seen = followed.see(on_discard(KM_50, 200, 203, 3))

    assert (followed.track(seen[KM_50][0]).stacked_s is not None) is may_be_laid


@pytest.mark.parametrize(("y", "may_be_two"), [(200.9, True), (200.3, False)])
def test_a_card_that_lies_beside_where_it_lay_before_a_hand_was_over_it_may_have_its_like_on_it(
    y: float, may_be_two: bool
) -> None:
    followed = Followed(DISCARDING)
    followed.see(on_discard(KM_50, 200, 200, 1))
    followed.hide(DISCARD)

    (serial,) = followed.see(on_discard(KM_50, 200, y, 1))[KM_50]

    assert (followed.track(serial).shifted_s is not None) is may_be_two


@pytest.mark.parametrize(
    ("count", "may_be_two", "beneath"),
    [(2, False, [State.GONE]), (2, True, [State.COVERED]), (3, False, [State.COVERED, State.COVERED])],
)
def test_cards_of_a_column_that_is_squared_up_lie_beneath_one_that_shows_and_a_single_one_was_taken_up_or_it_is_two(
    count: int, may_be_two: bool, beneath: list[State]
) -> None:
    column = [card(KM_100, 100 + n, 200 + 3 * n, DISTANCE, stay=n) for n in range(1, count + 1)]
    followed = Followed(DRIVING)
    followed.see(*column)
    followed.hide(DISTANCE)

    followed.see(card(KM_100, 102, 204, DISTANCE, stay=9, is_double=may_be_two), looks=8)

    assert sorted(followed.track(serial).state for serial in range(1, count + 1)) == [*beneath, State.LYING]


def test_a_card_that_may_be_its_like_and_that_nobody_may_play_has_lain_there_since_it_was_seen_once_somebody_may() -> (
    None
):
    lying = card(KM_100, 100, 200, DISTANCE, stay=1)
    laid = card(KM_100, 103, 204, DISTANCE, stay=2, is_double=True)
    followed = Followed(played(lay("Ann", ROLL), lay("Bob", STOP, "Ann")))
    followed.see(lying)
    followed.hide(DISTANCE)
    first_s = followed.t_s + LOOK_S

    refused = followed.see(lying, laid)
    followed.table = DRIVING
    followed.hide(DISTANCE)
    followed.see(lying, laid)

    assert refused == {KM_100: [1]}
    assert followed.track(2).since_s == first_s


@pytest.mark.parametrize("count", [1, 2])
def test_a_card_that_is_seen_beside_its_only_like_is_another_however_illegal_and_in_a_column_one_is_pushed(
    count: int,
) -> None:
    lying = [card(KM_100, 100, 200 + 4 * n, DISTANCE, stay=n) for n in range(1, count + 1)]
    followed = Followed(played(lay("Ann", ROLL), lay("Bob", STOP, "Ann")))
    followed.see(*lying)
    followed.hide(DISTANCE)

    seen = followed.see(*lying, card(KM_100, 101, 203 + 4 * count, DISTANCE, stay=9))

    assert seen == {KM_100: [1, 2]}


def test_a_card_pushed_a_little_is_the_same_though_another_lies_close_beside_it() -> None:
    lying = card(KM_100, 100, 200, DISTANCE, stay=1), card(KM_50, 157, 190, DISTANCE, stay=2)
    followed = Followed(played(lay("Ann", ROLL), discard("Bob", KM_25)))
    followed.see(*lying)
    followed.hide(DISTANCE)

    seen = followed.see(card(KM_100, 105, 205, DISTANCE, stay=3), lying[1])

    assert seen == {KM_100: [1], KM_50: [2]}


def test_one_laid_over_a_column_of_its_likes_is_another_where_a_strip_may_be_any_ones_and_so_is_the_next() -> None:
    column = [card(KM_25, 100 + 9 * n, 200 + n, DISTANCE, stay=n) for n in (1, 2)]
    fourth = card(KM_25, 106, 207, DISTANCE, stay=4, is_double=True)
    followed = Followed(played(lay("Ann", ROLL), discard("Bob", KM_25)))
    for cards in (
        (card(KM_25, 110, 216, DISTANCE, stay=3),),
        (fourth,),
        (fourth, card(KM_25, 111, 219, DISTANCE, stay=5)),
    ):
        seen = followed.see(*column, *cards)
        followed.hide(DISTANCE)

    assert seen == {KM_25: [1, 2, 4, 5]}


def test_a_pile_that_was_pushed_has_no_card_more_where_two_of_it_have_gone_the_same_way() -> None:
    followed = Followed(DISCARDING)
    followed.see(on_discard(KM_50, 200, 200, 1), on_discard(KM_25, 190, 150, 2))
    followed.hide(DISCARD)

    seen = followed.see(on_discard(KM_50, 209, 191, 3), on_discard(KM_25, 199, 141, 4))

    assert seen == {KM_50: [1], KM_25: [2]}
