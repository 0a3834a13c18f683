"""The eye over time: what is read when, and that covered zones are never reported."""

from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
from pictures import SKIN, Lens, Mat, Scene, Sticker, Thing, arm, clean, grainy, lit, on_mat, picture, through

from companion.match.questions import SURE_CONFIDENCE
from companion.rules.cards import Card
from companion.tabletop.drawn_zones import Drawing, DrawnZones, parse_drawing
from companion.tabletop.mat_layout import side_mat, table_mat
from companion.vision.capture.sources import Frame
from companion.vision.eye import LIGHT_OR_CAMERA, NO_MATS, READ_AGAIN_S, READS, Eye
from companion.vision.mats import zone_borders
from companion.vision.mats.localization import Mats, look
from companion.vision.read import gray_of
from companion.vision.stickers.reader import StickerSeen, read_codes
from companion.vision.view import FACE, Blindness, Sighting, View
from companion.vision.zones import FIRST_STILL_FRAMES, STILL_FRAMES

SIDE, TABLE = Mat(side_mat(1), -215, -135), Mat(table_mat(), -150, -100)
LENS = Lens(width_mm=480, size_px=(960, 680), at_mm=(-5, 15), noise=4)
RED, GREEN, WHITE = (50, 50, 190), (60, 150, 60), (225, 228, 230)
ROLL = on_mat(SIDE, "battle", "MB1:ROLL-03", dx_mm=-10, dy_mm=-20, card=GREEN)
STOP = on_mat(SIDE, "battle", "MB1:STOP-02", dx_mm=-8, dy_mm=-18, card=RED)
KM_50 = on_mat(SIDE, "distance", "MB1:50-01", dx_mm=-85, dy_mm=-25, card=WHITE)
BATTLE, DISTANCE, SPEED, DISCARD = "side-1/battle", "side-1/distance", "side-1/speed", "table/discard"
EVERY_ZONE = {f"side-1/{zone}" for zone in SIDE.layout.zones}
MADE: dict[object, np.ndarray] = {}


def middle_of(zone: str, mat: Mat = SIDE) -> tuple[float, float]:
    x, y = through(mat.matrix(), [mat.layout.zones[zone].centre_mm])[0]
    return float(x), float(y)


def hand_over(zone: str, **how: object) -> Thing:
    """A hand whose palm covers the center of a zone."""
    x, y = middle_of(zone)
    return arm(x, y - 50, **how)


def block(x: float, y: float, width: float, height: float, colour: tuple[int, int, int]) -> Thing:
    """A rectangular object around a point on the table."""
    left, right, top, bottom = x - width / 2, x + width / 2, y - height / 2, y + height / 2
    return Thing(((left, top), (right, top), (right, bottom), (left, bottom)), colour)


PILE = block(*middle_of("draw", TABLE), 60, 90, (140, 60, 40))


def cup(zone: str, dx_mm: float, dy_mm: float) -> Thing:
    x, y = middle_of(zone)
    return block(x + dx_mm, y + dy_mm, 76, 76, (150, 60, 60))


def made(
    lens: Lens, mats: tuple[Mat, ...], stickers: tuple[Sticker, ...], things: tuple[Thing, ...] = (), **how: object
):
    """The picture of a scene, without noise."""
    return lit(clean(Scene(mats, stickers, things, **how), lens), lens)


def watched(*shown: np.ndarray, eye: Eye | None = None, start_s: float = 0.0, noise: float = LENS.noise) -> list[View]:
    """The eye's views of one picture after another, at ten per second."""
    eye = eye or Eye()
    return [eye(Frame(grainy(image, noise, n), start_s + n / 10)) for n, image in enumerate(shown)]


class Film:
    """Show scenes to an eye at ten frames per second."""

    def __init__(self, eye: Eye | None = None) -> None:
        self.eye = eye or Eye()
        self.number = 0
        self.read: list[frozenset[str]] = []  # zones read on each frame
        reads = self.eye._read

        def noted(sight, frame, gray, due, beside, changes):
            self.read[-1] = due | beside.keys()
            return reads(sight, frame, gray, due, beside, changes)

        self.eye._read = noted

    def show(self, *stickers: Sticker, count: int = 1, **how) -> View:
        """Return the view after that many frames of one scene."""
        return self.views(*stickers, count=count, **how)[-1]

    def views(
        self, *stickers: Sticker, things: tuple[Thing, ...] = (), count: int = 1, lens: Lens = LENS, mats=(SIDE,)
    ) -> list[View]:
        key = (stickers, things, lens, tuple((mat.layout.id, mat.x_mm, mat.y_mm, mat.turn_deg) for mat in mats))
        if key not in MADE:
            MADE[key] = made(lens, mats, stickers, things)
        views = []
        for _ in range(count):
            self.number += 1
            self.read.append(frozenset())
            views.append(self.eye(Frame(grainy(MADE[key], lens.noise, self.number), self.number / 10)))
        return views


def lying(view: View) -> set[tuple[str | None, str | None]]:
    return {(sighting.card, sighting.zone) for sighting in view.sightings}


def known(view: View) -> set[tuple[str | None, str | None]]:
    """The cards seen; fails if a zone is unknown."""
    assert view.unknown_zones == frozenset()
    return lying(view)


def is_kept(view: View) -> bool:
    """True unless Roll was reported as gone from the battle pile."""
    return BATTLE in view.unknown_zones or ("roll-03", BATTLE) in lying(view)


@cache
def lain_still(*stickers: Sticker) -> Film:
    film = Film()
    film.show(*stickers, count=10)
    return film


def settled(*stickers: Sticker) -> Film:
    """A film whose table has been still for a while; the eye's state is a cached value."""
    film, before = Film(), lain_still(*stickers)
    film.eye.sight, film.eye._size = before.eye.sight, before.eye._size
    film.number, film.read = before.number, [*before.read]
    return film


def test_at_first_all_zones_are_unknown_and_soon_all_known():
    views = Film().views(ROLL, count=8)

    assert views[0].unknown_zones == EVERY_ZONE
    assert views[FIRST_STILL_FRAMES].unknown_zones == frozenset()
    assert lying(views[FIRST_STILL_FRAMES]) == {("roll-03", BATTLE)}


def test_an_idle_table_is_not_read_again():
    film = settled(ROLL)

    film.show(ROLL, count=5)

    assert film.read[-5:] == [frozenset()] * 5


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ((), (ROLL,), {("roll-03", BATTLE)}),
        ((ROLL,), (ROLL, STOP), {("stop-02", BATTLE)}),
        ((ROLL, KM_50), (KM_50,), {("50-01", DISTANCE)}),
    ],
    ids=["laid on the mat", "laid on another", "taken away"],
)
def test_a_change_is_detected_within_four_frames(before, after, seen):
    film = settled(*before)
    film.show(*after, things=(hand_over("battle"),))

    views = film.views(*after, count=4)

    assert known(views[-1]) == seen
    assert sum(BATTLE not in view.unknown_zones for view in views) >= 2 - (STILL_FRAMES > 2)


def test_only_the_zones_below_a_moving_hand_are_unknown():
    film = settled(ROLL, KM_50)
    x, y = middle_of("speed")

    views = [film.show(ROLL, KM_50, things=(arm(x, y + 60 - 30 * step),)) for step in range(4)]

    assert all(SPEED in view.unknown_zones for view in views[1:])
    assert all("side-1/safety" not in view.unknown_zones for view in views)


HANDS: dict[str, dict[str, object]] = {
    "bare": {}, "dark glove": {"colour": (40, 40, 40)}, "grey sleeve": {"colour": (90, 90, 90)},
    "red sleeve": {"colour": (60, 60, 200)}, "green as the card": {"colour": (70, 160, 70)},
    "pale skin": {"colour": (185, 200, 235)}, "narrow": {"hand_mm": 55},
}  # fmt: skip


@pytest.mark.variants(1)
@pytest.mark.parametrize("hand", HANDS)
def test_a_still_hand_over_a_card_leaves_the_zone_unknown_and_never_empty(hand):
    film = settled(ROLL)

    views = film.views(ROLL, things=(hand_over("battle", **HANDS[hand]),), count=25)
    after = film.show(ROLL, count=4)

    assert all(is_kept(view) for view in views)
    assert known(after) == {("roll-03", BATTLE)}


THINGS: dict[str, tuple[float, float, tuple[int, int, int]]] = {
    "phone": (75, 150, (30, 30, 30)),
    "fist": (90, 100, SKIN),
    "cup": (80, 80, (150, 60, 60)),
    "card face down": (57, 88, (140, 60, 40)),
    "sheet of yellow paper": (148, 210, (120, 230, 240)),
}


@pytest.mark.variants(1)
@pytest.mark.parametrize("name", THINGS)
def test_an_object_put_on_a_card_leaves_the_zone_unknown(name):
    thing = block(*middle_of("battle"), *THINGS[name])

    assert all(is_kept(view) for view in settled(ROLL).views(ROLL, things=(thing,), count=20))


def test_a_cup_beside_the_mat_is_not_taken_for_an_arm():
    wide = replace(LENS, width_mm=560)
    x, y = through(SIDE.matrix(), [(-14.0, 90.0)])[0]
    cup = block(x - 4, y, 112, 70, (150, 60, 60))
    card = replace(ROLL, x_mm=ROLL.x_mm - 20)
    film = Film()
    film.show(lens=wide, count=10)
    film.show(things=(cup, hand_over("battle")), lens=wide, count=3)
    film.show(things=(cup,), lens=wide, count=10)

    view = film.show(card, things=(cup,), lens=wide, count=8)

    assert known(view) == {("roll-03", BATTLE)}


def test_a_zone_stays_unknown_while_the_hand_that_played_stays():
    film = settled()
    x, y = middle_of("battle")
    holding = arm(x + 5, y + 30)

    views = film.views(ROLL, things=(holding,), count=8)

    assert all(BATTLE in view.unknown_zones for view in views)


def test_a_missed_sticker_still_counts_if_nothing_changed(monkeypatch):
    film = settled(ROLL)
    monkeypatch.setattr("companion.vision.read.read_codes", lambda *args, **how: ())
    film.show(ROLL, things=(hand_over("speed", hand_mm=40),))

    view = film.show(ROLL, count=6)

    assert lying(view) == {("roll-03", BATTLE)}


def test_an_unreadable_sticker_leaves_the_zone_unknown_until_it_is_read(monkeypatch):
    film = settled()
    with monkeypatch.context() as blind:
        blind.setattr("companion.vision.read.read_codes", lambda *args, **how: ())
        unread = film.show(ROLL, count=8)

    read = film.show(ROLL, count=int(READ_AGAIN_S * 10) + 1)

    assert (lying(unread), unread.unknown_zones) == (set(), {BATTLE})
    assert known(read) == {("roll-03", BATTLE)}


def test_after_a_gap_only_what_is_seen_then_is_reported():
    film = settled(ROLL)
    film.number += 600

    bare = made(LENS, (SIDE,), ())
    first = film.eye(Frame(grainy(bare, LENS.noise, 1), film.number / 10, after_gap=True))
    later = film.show(count=1)

    assert (first.unknown_zones, first.trouble) == (EVERY_ZONE, LIGHT_OR_CAMERA)
    assert BATTLE in later.unknown_zones
    assert lying(film.show(count=6)) == set()
    assert lying(film.show(ROLL, count=8)) == {("roll-03", BATTLE)}


def test_the_eye_starts_over_on_pictures_of_another_size():
    large = made(LENS, (SIDE,), (ROLL,))
    small = np.ascontiguousarray(cv2.resize(large, None, fx=0.8, fy=0.8, interpolation=cv2.INTER_AREA))

    views = watched(*8 * [small], eye=settled(ROLL).eye, start_s=2.0)

    assert views[0].unknown_zones == EVERY_ZONE
    assert lying(views[-1]) == {("roll-03", BATTLE)}
    assert max(x for mat in views[-1].mats for x, _ in mat.corners_px) < small.shape[1]


@pytest.mark.variants(1)
@pytest.mark.parametrize("darker", [replace(LENS, light=0.3, uneven=0.4), replace(LENS, light=0.55)])
def test_switching_off_a_lamp_loses_no_card(darker):
    film = settled(ROLL)

    first = film.show(ROLL, lens=darker)
    later = film.show(ROLL, lens=darker, count=10)

    assert (first.unknown_zones, first.trouble) == (EVERY_ZONE, LIGHT_OR_CAMERA)
    assert (known(later), later.trouble) == ({("roll-03", BATTLE)}, None)


def test_the_eye_adjusts_to_a_moved_camera():
    film = settled(ROLL)
    pushed = replace(LENS, at_mm=(7, 5), turn_deg=1.0)

    film.show(ROLL, lens=pushed, count=5)
    later = film.show(ROLL, lens=pushed, count=25)

    assert (lying(later), later.unknown_zones, later.trouble) == ({("roll-03", BATTLE)}, frozenset(), None)
    x, y = through(pushed.matrix(), [(ROLL.x_mm, ROLL.y_mm)])[0]
    assert later.sightings[0].centre_px == pytest.approx((x, y), abs=2)


def test_a_shadow_over_a_zone_is_not_an_object():
    image = made(LENS, (SIDE,), (ROLL,))
    image[:, 100:420] = (image[:, 100:420] * 0.75).astype(np.uint8)

    views = watched(*8 * [image], eye=settled(ROLL).eye, start_s=2.0)

    assert known(views[-1]) == {("roll-03", BATTLE)}


def test_without_mats_the_view_says_so():
    view = Film().show(Sticker("MB1:ROLL-03", 0, 0), mats=(), count=3)

    assert (view.trouble, view.mats) == (NO_MATS, ())


def test_cards_beside_the_mats_are_ignored():
    beside = replace(LENS, width_mm=600)

    view = Film().show(Sticker("MB1:ROLL-03", 250, 0), lens=beside, count=8)

    assert view.sightings == ()


def test_a_card_of_another_deck_is_an_unknown_card_in_a_known_zone():
    other = on_mat(SIDE, "battle", "MB1:300-01", card=WHITE)
    film = Film(Eye(allowed={"roll-03"}))
    film.show(count=10)
    film.show(other)

    view = film.show(other, count=6)

    assert [(s.face, s.card, s.zone) for s in view.sightings] == [(Card.UNKNOWN, None, BATTLE)]


def test_a_zone_mostly_outside_the_picture_is_unknown():
    far_left = replace(LENS, at_mm=(120, 15))

    view = Film().show(lens=far_left, count=8)

    assert BATTLE in view.unknown_zones
    assert "side-1/safety" not in view.unknown_zones


def test_the_draw_pile_hides_its_marker_and_its_zone_stays_known():
    film = Film()

    with_pile = film.show(things=(PILE,), mats=(TABLE,), count=8)
    used_up = film.show(mats=(TABLE,), count=6)

    assert (with_pile.draw_pile_empty, with_pile.unknown_zones) == (False, frozenset())
    assert (used_up.draw_pile_empty, used_up.unknown_zones) == (True, frozenset())


# On the border between two zones


@pytest.mark.variants(2)
@pytest.mark.parametrize(
    ("dx_mm", "zone", "sure"),
    [(20, BATTLE, True), (38, BATTLE, False), (43, SPEED, False), (60, SPEED, True), (-43, BATTLE, True)],
)
def test_a_sticker_between_two_zones_belongs_to_the_nearer_with_less_confidence(dx_mm, zone, sure):
    sticker = on_mat(SIDE, "battle", "MB1:ROLL-03", dx_mm=dx_mm, dy_mm=-20, card=GREEN)

    (sighting,) = settled(sticker).show(sticker).sightings

    assert sighting.zone == zone
    assert (sighting.confidence >= SURE_CONFIDENCE) is sure


def test_a_sideways_safety_is_in_its_zone_once_other_cards_have_shown_where_stickers_are_glued():
    corner = {"dx_mm": -15, "dy_mm": -30, "card": GREEN}
    others = tuple(
        on_mat(SIDE, zone, f"MB1:{card}", **corner)
        for zone, card in (("battle", "ROLL-03"), ("speed", "END-OF-LIMIT-02"), ("distance", "25-02"))
    )
    film = settled(*others)
    safety = on_mat(SIDE, "safety", "MB1:DRIVING-ACE-01", dx_mm=-88, dy_mm=15, turn_deg=270, card=GREEN)

    seen = next(s for s in film.show(*others, safety, count=6).sightings if s.card == "driving-ace-01")

    assert (seen.zone, seen.sideways) == ("side-1/safety", True)


@pytest.mark.parametrize(("right_mm", "zone"), [(150, "table/discard"), (135, "table/discard"), (100, None)])
def test_a_face_up_card_half_on_the_draw_pile_is_discarded(right_mm, zone):
    mats = look(gray_of(picture(Scene(mats=(TABLE,)), Lens())), Mats(), 0.0, (table_mat(),))
    (middle,) = mats.fits[0].to_px([(right_mm, 105.0)]).tolist()
    seen = Sighting(Card.ROLL, None, tuple(middle), None, "table/draw", False, 0.99, FACE)

    assert zone_borders.settled(mats, seen).zone == zone


# Blindness codes


def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the reader finds every code but identifies none."""

    def blurred(*args: object, **how: object) -> tuple[StickerSeen, ...]:
        return tuple(replace(code, card=None, confidence=0.0) for code in read_codes(*args, **how))

    monkeypatch.setattr("companion.vision.read.read_codes", blurred)


def test_a_card_with_an_unreadable_code_is_seen_in_a_known_zone(monkeypatch):
    film = settled()
    nameless(monkeypatch)

    view = film.show(ROLL, count=8)

    assert lying(view) == {(None, BATTLE)}
    assert view.unknown_zones == frozenset()


def test_an_unreadable_code_is_read_again_every_second(monkeypatch):
    film = settled()
    nameless(monkeypatch)
    film.show(ROLL, count=8)

    film.show(ROLL, count=30)

    assert sum(BATTLE in zones for zones in film.read[-30:]) in (2, 3)


def test_a_zone_is_read_at_least_twice_after_movement_and_then_no_more():
    film = settled(ROLL)
    film.show(ROLL, KM_50, things=(hand_over("distance"),))

    film.show(ROLL, KM_50, count=8)

    assert sum(DISTANCE in zones for zones in film.read[-8:]) >= 2
    assert film.read[-1] == frozenset()


# What is searched again, and what is only checked


def looked_for(monkeypatch, *missed: str) -> list[tuple[str, ...]]:
    """The results of all following searches for stickers; the first one misses these cards."""
    found: list[tuple[str, ...]] = []

    def read(gray, *, where, **how):
        codes = read_codes(gray, where=where, **how)
        if where:
            codes = tuple(code for code in codes if found or code.card not in missed)
            found.append(tuple(sorted(str(code.card) for code in codes)))
        return codes

    monkeypatch.setattr("companion.vision.read.read_codes", read)
    return found


KM_25 = on_mat(SIDE, "distance", "MB1:25-01", dx_mm=-25, dy_mm=-25, card=WHITE)


def test_a_card_that_explains_the_change_is_searched_once_and_then_only_checked(monkeypatch):
    film = settled(ROLL, KM_50)
    found = looked_for(monkeypatch)

    view = film.show(ROLL, KM_50, KM_25, count=8)

    assert found == [("25-01", "50-01")]
    assert sum(DISTANCE in zones for zones in film.read[-8:]) == READS
    assert known(view) == {("roll-03", BATTLE), ("50-01", DISTANCE), ("25-01", DISTANCE)}


def test_a_card_missed_beside_a_possible_explanation_is_searched_again(monkeypatch):
    film = settled(ROLL, KM_50)
    found = looked_for(monkeypatch, "25-01")

    view = film.show(ROLL, KM_50, KM_25, count=8)

    assert found[0] == ("50-01",)
    assert ("25-01", DISTANCE) in lying(view)


def test_a_zone_is_searched_if_a_sticker_is_not_read_in_place_again(monkeypatch):
    film = settled(ROLL, KM_50)
    found = looked_for(monkeypatch)
    monkeypatch.setattr("companion.vision.eye.are_there", lambda gray, codes: (False,) * len(codes))

    film.show(ROLL, KM_50, KM_25, count=8)

    assert found == [("25-01", "50-01")] * READS


def test_nothing_is_searched_on_the_draw_pile(monkeypatch):
    film = Film()
    film.show(mats=(TABLE,), count=10)
    found = looked_for(monkeypatch)

    film.show(things=(PILE,), mats=(TABLE,), count=8)

    assert found == []
    assert any("table/draw" in zones for zones in film.read[-8:])


# A hand resting over the table when the camera is switched on


@pytest.mark.parametrize("laid", [(ROLL,), ()], ids=["on a card", "on the bare mat"])
def test_cards_under_a_hand_resting_from_the_start_are_unknown_until_it_leaves(laid):
    film = Film()

    resting = film.views(*laid, things=(hand_over("battle"),), count=20)
    after = known(film.show(*laid, count=8))

    assert after == {("roll-03", BATTLE) for _ in laid}
    assert all(BATTLE in view.unknown_zones or lying(view) == after for view in resting)


# Objects that are put down and stay


def test_cards_beside_a_cup_are_seen_and_removed_as_usual():
    far = on_mat(SIDE, "distance", "MB1:75-02", dx_mm=100, dy_mm=-25, card=WHITE)
    stands, hand = cup("distance", 0, 0), hand_over("distance", hand_mm=60)
    film = settled(KM_50)
    film.show(KM_50, things=(stands,), count=35)
    film.show(KM_50, far, things=(stands, hand), count=2)

    both = film.show(KM_50, far, things=(stands,), count=6)
    film.show(far, things=(stands, hand), count=2)
    one = film.show(far, things=(stands,), count=6)

    assert known(both) == {("50-01", DISTANCE), ("75-02", DISTANCE)}
    assert known(one) == {("75-02", DISTANCE)}


def test_cards_beside_a_resting_hand_are_seen():
    x, y = middle_of("distance")
    resting = arm(x + 90, y + 45, hand_mm=60)
    film = settled()
    film.show(KM_50, things=(resting,), count=2)

    view = film.show(KM_50, things=(resting,), count=20)
    after = film.show(KM_50, count=8)

    assert known(view) == {("50-01", DISTANCE)}
    assert known(after) == {("50-01", DISTANCE)}


@pytest.mark.parametrize("colour", [(120, 140, 170), (160, 170, 190)], ids=["brown", "as paper in shadow"])
def test_a_resting_hand_is_not_learned_as_part_of_the_mat(colour):
    """Otherwise the mat would look new there once it has gone, and its zones would stay unknown."""
    x, y = middle_of("battle")
    film = settled()
    film.show(ROLL, things=(arm(x + 5, y + 30, colour=colour),), count=27)

    view = film.show(ROLL, count=8)

    assert known(view) == {("roll-03", BATTLE)}


@pytest.mark.parametrize("left", [(ROLL,), ()], ids=["left lying", "taken along"])
def test_cards_under_a_cup_stay_while_it_is_there(left):
    film = settled(ROLL)

    under = film.views(ROLL, things=(cup("battle", -10, -20),), count=60)
    after = film.show(*left, count=8)

    assert all(is_kept(view) for view in under)
    assert under[-1].unknown_zones == frozenset()
    assert known(after) == {("roll-03", BATTLE) for _ in left}


DARK = (16, 15, 18)


@pytest.mark.long
def test_a_dark_card_on_a_white_mat_on_a_black_table_is_seen_at_once():
    # Half of the picture is dark, so its median brightness jumps when a dark card is played.
    x, y = middle_of("discard", TABLE)
    book = block(x - 155, y - 9, 90, 138, (20, 30, 40))
    card = on_mat(TABLE, "discard", "MB1:REPAIRS-02", dx_mm=-8, dy_mm=-18, card=(70, 25, 25))
    lens = replace(LENS, at_mm=(0, 0))
    bare, laid = (made(lens, (TABLE,), cards, (book,), cloth=DARK) for cards in ((), (card,)))

    views = watched(*12 * [bare], *6 * [laid])

    assert views[11].unknown_zones == frozenset()
    assert lying(views[17]) == {("repairs-02", DISCARD)}
    assert DISCARD not in views[17].unknown_zones


def shining(image: np.ndarray, x_px: float, y_px: float, reach_px: float) -> np.ndarray:
    """The picture with a lamp's reflection, saturated in the middle."""
    height, width = image.shape[:2]
    far = np.hypot(*np.meshgrid(np.arange(width) - x_px, np.arange(height) - y_px)) / reach_px
    return np.clip(image + 300 * np.exp(-(far[..., None] ** 2)), 0, 255).astype(np.uint8)


@pytest.mark.long
def test_a_lamps_reflection_at_the_mats_edge_is_not_an_arm():
    dim = replace(LENS, light=0.4)
    x, y = middle_of("distance")
    at_px = through(LENS.matrix(), [(x + 60, y + 45)])[0]
    bare, laid = (shining(made(dim, (SIDE,), cards, cloth=DARK), *at_px, 90) for cards in ((), (KM_50,)))

    views = watched(*10 * [bare], *6 * [laid])

    assert views[9].unknown_zones == frozenset()
    assert known(views[15]) == {("50-01", DISTANCE)}


@pytest.mark.long
def test_zones_stay_known_in_dimmed_light_with_an_arm_on_the_mat():
    # Zones are accepted in the new light one by one, the sheet around them only once the arm is gone.
    day = replace(LENS, width_mm=640)
    dusk = replace(day, light=0.4)
    empty = made(day, (SIDE,), (ROLL,), cloth=DARK)
    resting = made(dusk, (SIDE,), (ROLL,), (hand_over("distance"),), cloth=DARK)

    views = watched(*10 * [empty], *20 * [resting])

    assert all(not {BATTLE, SPEED} & view.unknown_zones for view in views[-10:])


@pytest.mark.variants(1)
@pytest.mark.parametrize("left", [("battle", "distance"), ("battle", "speed", "distance", "safety")])
def test_zones_can_be_redrawn_while_a_hand_moves(left):
    def drawn(*names: str) -> Drawing:
        rects = {"battle": (100, 100, 80, 150), "speed": (200, 100, 80, 150), "distance": (100, 300, 500, 200)}
        rects["safety"] = (300, 100, 300, 150)
        return parse_drawing(
            {"picture": [960, 680], "zone": [{"name": f"side-1/{name}", "rect": [*rects[name]]} for name in names]}
        )

    zones = DrawnZones()
    eye = Eye(drawn=zones)
    zones.save(drawn("battle", "speed", "distance"))
    table, hand, other = (
        made(LENS, (), (ROLL,), tuple(map(hand_over, moving))) for moving in ((), ("speed",), ("distance",))
    )
    watched(*7 * [table], *2 * [hand], eye=eye)

    zones.save(drawn(*left))
    views = watched(*3 * [other], *9 * [table], eye=eye, start_s=1)

    assert views[-1].unknown_zones == frozenset()
    assert {zone.partition("/")[2] for zone in views[0].unknown_zones} == set(left)


@pytest.mark.variants(1)
@pytest.mark.parametrize("colour", [RED, (40, 200, 240)], ids=["red", "yellow"])
@pytest.mark.parametrize("beneath", [(ROLL,), ()], ids=["on a card", "on the mat"])
def test_a_card_without_a_sticker_is_reported_as_an_object_until_removed(colour, beneath):
    film = settled(*beneath)
    card = block(*middle_of("battle"), 57, 88, colour)
    film.show(*beneath, things=(hand_over("battle"),), count=2)

    lies = film.show(*beneath, things=(card,), count=20)
    film.show(*beneath, things=(hand_over("battle"),), count=2)
    gone = film.show(*beneath, count=8)

    assert (lies.things, gone.things) == ({BATTLE}, frozenset())


def test_read_cards_hands_and_small_objects_are_not_cards_without_stickers():
    film = settled()
    coin = block(*middle_of("speed"), 22, 22, (60, 130, 170))

    views = film.views(things=(hand_over("distance"), coin), count=12)
    views += film.views(ROLL, things=(coin,), count=12)

    assert {zone for view in views for zone in view.things} == set()


def test_when_a_resting_arm_leaves_the_card_it_played_is_seen_at_once():
    x, y = middle_of("discard", TABLE)
    sleeve = Thing(((x - 25, y - 120), (x + 200, y - 120), (x + 200, y + 140), (x + 5, y + 140)), (120, 60, 30))
    cards = [on_mat(TABLE, "discard", text, dx_mm=-8, dy_mm=-18, card=WHITE) for text in ("MB1:50-01", "MB1:75-02")]
    film = Film()
    film.show(cards[0], mats=(TABLE,), count=10)
    film.show(cards[1], things=(sleeve,), mats=(TABLE,), count=30)

    view = film.show(cards[1], mats=(TABLE,), count=4)

    assert lying(view) == {("75-02", DISCARD)}
    assert DISCARD not in view.unknown_zones


def test_a_cup_on_a_card_is_not_explained_by_the_card_beside_it():
    limit = on_mat(SIDE, "speed", "MB1:SPEED-LIMIT-02", dx_mm=-10, dy_mm=-20, card=RED)
    cup = block(limit.x_mm - 10, limit.y_mm, 52, 52, (40, 50, 60))
    film = settled(ROLL, limit)
    film.show(ROLL, limit, things=(hand_over("speed"),), count=2)

    views = film.views(ROLL, limit, things=(cup,), count=20)

    assert all(("speed-limit-02", SPEED) in lying(view) or SPEED in view.unknown_zones for view in views)
    assert ("speed-limit-02", SPEED) in lying(views[-1])


@pytest.mark.long
def test_the_dark_corner_of_a_badly_lit_mat_is_not_an_arm():
    dim = replace(LENS, light=0.4)
    x_px, y_px = through(dim.matrix() @ SIDE.matrix(), [(40.0, 285.0)])[0]
    even = made(dim, (SIDE,), (ROLL,), cloth=DARK)
    far = np.hypot(*np.meshgrid(np.arange(even.shape[1]) - x_px, np.arange(even.shape[0]) - y_px)) / 85
    shaded = (even * (1 - 0.62 * np.exp(-(far[..., None] ** 4)))).astype(np.uint8)

    views = watched(*10 * [shaded], noise=2)

    assert views[-1].unknown_zones == frozenset()


# --- Uneven light, and hands that stay -------------------------------------------------------------------------


@pytest.mark.parametrize("uneven", [0.4, 0.7])
def test_half_a_burnt_out_mat_is_no_arm(uneven):
    lens = replace(LENS, light=1.3, uneven=uneven)

    views = Film().views(KM_50, count=3 * FIRST_STILL_FRAMES, lens=lens)

    assert views[-1].unknown_zones == frozenset()
    assert ("50-01", DISTANCE) in lying(views[-1])


def test_a_white_zone_is_called_too_bright():
    bright, usual = (Film().show(count=2, lens=replace(LENS, light=light)) for light in (2.0, 1.0))

    assert set(bright.blind.values()) == {Blindness.LIGHT}
    assert bright.blind.keys() >= {BATTLE, DISTANCE}
    assert usual.blind == {}


def test_white_places_are_hidden_although_nothing_moves():
    bright, usual = (
        Film().show(count=3 * FIRST_STILL_FRAMES, lens=replace(LENS, light=light, uneven=0.7)) for light in (1.6, 0.7)
    )

    assert (bright.unknown_zones, usual.unknown_zones) == (frozenset(), frozenset())
    shares = [bright.hidden["side-1"].share(x, y) for x in range(60, 360, 20) for y in (80, 220)]
    assert (min(shares), max(shares)) == (0, 1)
    assert usual.hidden == {}


def test_a_white_table_with_drawn_zones_is_not_called_too_bright():
    zones = DrawnZones()
    rects = {"side-1/battle": [100, 100, 80, 150], "side-1/distance": [100, 300, 500, 200]}
    zones.save(parse_drawing({"picture": [960, 680], "zone": [{"name": n, "rect": r} for n, r in rects.items()]}))

    view = watched(*3 * [np.full((680, 960, 3), 255, np.uint8)], eye=Eye(drawn=zones))[-1]

    assert [mat.id for mat in view.mats] == ["side-1"]
    assert view.blind == {}


def test_a_zone_that_is_partly_outside_the_picture_is_said_to_be():
    film = Film()
    view = film.show(count=2, lens=replace(LENS, at_mm=(120, 15)))

    assert Blindness.OUTSIDE in view.blind.values()
    assert view.blind.keys() <= view.unknown_zones


def test_a_card_beside_a_moving_hand_is_reported_while_the_hand_is_there():
    film = Film()
    film.show(count=10)
    x, y = middle_of("distance")
    views = [film.show(KM_50, things=(arm(x + 100 + 8 * (n % 2), y - 20),)) for n in range(2 * READS)]

    told = [view for view in views if ("50-01", DISTANCE) in lying(view)]
    assert told
    assert all(DISTANCE in view.unknown_zones for view in told)
    seen = next(s for s in told[-1].sightings if s.card)
    fit = film.eye.sight.mats.at(seen.centre_px)
    hidden = told[-1].hidden["side-1"]
    assert hidden.share(*fit.to_mm([seen.centre_px])[0]) < 0.25
    assert sum(hidden.rows) > 0
