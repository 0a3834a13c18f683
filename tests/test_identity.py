"""Which card a sighting is, where faces alone tell: cards of one face look alike, so their places do."""

from dataclasses import replace

import pytest

from companion.match.zone_plays import Places
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.play import Play, discard, lay
from companion.rules.table import Table, Team
from companion.tracking.beam import Beliefs, see
from companion.tracking.handling import COSTS
from companion.tracking.hypothesis import Judge
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
    """The likeliest hypothesis about a table."""

    def __init__(self, table: Table | None = None) -> None:
        self.t_s = 0.0
        self.beliefs = Beliefs(Judge(table or played(), PLACES, COSTS, None))

    def see(self, *cards: Sighting, looks: int = 8, mats: tuple[MatSeen, ...] = MATS) -> dict[Card, list[int]]:
        """Look so often; return the numbers of the cards in sight by their faces."""
        self._look(looks, View(0.0, mats, cards))
        shown = {
            spot.number for zone in self.beliefs.looks.zones.values() for spot in zone.spots if spot.lost_s is None
        }
        found: dict[Card, list[int]] = {}
        for there in self.beliefs.best.zones.values():
            for lying in there:
                if lying.spot in shown:
                    found.setdefault(lying.face, []).append(lying.serial)
        return {face: sorted(numbers) for face, numbers in found.items()}

    def hide(self, *zones: str, rest: tuple[Sighting, ...] = ()) -> None:
        """Something is over these zones for a while."""
        self._look(4, View(0.0, MATS, rest, frozenset(zones)))

    def _look(self, looks: int, view: View) -> None:
        for _ in range(looks):
            self.t_s += LOOK_S
            self.beliefs = see(self.beliefs, replace(view, t_s=self.t_s))


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
        {KM_100: [2, 4]},
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

    assert all(one == {ROLL: [1]} for one in seen[2:])


def test_a_card_that_lies_as_it_did_on_the_picture_has_not_moved_though_its_mat_is_told_elsewhere() -> None:
    followed = Followed(DRIVING)
    followed.see(card(KM_100, 100, 200, DISTANCE))
    followed.hide(DISTANCE)

    again = card(KM_100, 100, 200, DISTANCE, is_double=True)
    assert followed.see(again, mats=ON_MAT) == {KM_100: [1]}


def test_several_cards_that_lie_on_as_they_were_all_stay_themselves() -> None:
    followed = Followed()
    faces = (Card.ROLL, Card.STOP, Card.REPAIRS)
    pile = tuple(card(face, 87, 80 + 3 * at, stay=at) for at, face in enumerate(faces))
    before = followed.see(*pile)
    followed.see(pile[0], looks=2)

    assert followed.see(*pile) == before


def test_no_serial_is_given_twice() -> None:
    followed = Followed()
    given: list[int] = []

    for n in range(3):
        given += followed.see(card(Card.ROLL, 20 + n, 80))[Card.ROLL]
        followed.see(looks=12)

    assert given == [1, 2, 3]


def test_a_card_pushed_a_little_is_the_same_though_another_lies_close_beside_it() -> None:
    lying = card(KM_100, 100, 200, DISTANCE, stay=1), card(KM_50, 157, 190, DISTANCE, stay=2)
    followed = Followed(played(lay("Ann", ROLL), discard("Bob", KM_25)))
    followed.see(*lying)
    followed.hide(DISTANCE)

    seen = followed.see(card(KM_100, 105, 205, DISTANCE, stay=3), lying[1])

    assert seen == {KM_100: [1], KM_50: [2]}


def test_a_pile_that_was_pushed_has_no_card_more_where_two_of_it_have_gone_the_same_way() -> None:
    followed = Followed(DISCARDING)
    followed.see(on_discard(KM_50, 200, 200, 1), on_discard(KM_25, 190, 150, 2))
    followed.hide(DISCARD)

    seen = followed.see(on_discard(KM_50, 209, 191, 3), on_discard(KM_25, 199, 141, 4))

    assert seen == {KM_50: [1], KM_25: [2]}
