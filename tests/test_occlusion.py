"""Cards told by their faces, look after look: which of those that lay there before one is that is told now."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import cv2
import decks
import enrolled
import numpy as np
import pytest
from face_photos import card_of, cup
from laid import Cover, Glued, Laid, Sheet, Table
from photos import Photo, face_of, photograph
from webcam import Pose, Shot

from companion.rules.cards import Card
from companion.tabletop.card_ids import payload
from companion.tabletop.mat_layout import all_mats
from companion.vision import eye, zones
from companion.vision.boxes import Box, around
from companion.vision.capture.sources import Frame
from companion.vision.eye import Eye
from companion.vision.faces import occlusion
from companion.vision.faces.border_profile import Borders
from companion.vision.faces.face_detector import read_faces
from companion.vision.faces.face_templates import Templates, templates_of
from companion.vision.faces.occlusion import look_at_faces
from companion.vision.faces.remembered_cards import Lain
from companion.vision.mats.homography import as_quad
from companion.vision.mats.localization import Mats, look
from companion.vision.view import Sighting, View

MAT = Sheet("side-1", 0, 0, 0, (420, 297))
CAMERA = Pose(px_per_mm=1.8, tilt_deg=10)
REACH_PX = 60  # how far around the battle zone cards are looked for


@cache
def deck(style: str = enrolled.OWN) -> Templates:
    """Of a deck, our own for one, those faces that lie in these photographs, and a few more."""
    slugs = ("25", "75", "100", "roll", "stop", "accident", "repairs", "right-of-way")
    return templates_of([(Card(slug), face_of(style, slug)) for slug in slugs], decks.size_mm(style))


def card(face: str, right_mm: float = 0.0, down_mm: float = 0.0, turn_deg: float = 1.0, style: str = "own") -> Laid:
    """A card in the battle zone, or a little beside it."""
    return card_of(style, face, (-120 + right_mm, -60 + down_mm), turn_deg)


def looks(
    *piles: tuple[Laid, ...], covers: dict[int, Cover] | None = None, style: str = enrolled.OWN
) -> list[tuple[tuple[Sighting, ...], tuple[Lain, ...]]]:
    """What is seen and remembered look after look; the cards of a pile lie on one another, the last on top.

    `covers` hide what lies below them on the looks of these numbers.
    """
    found: list[tuple[tuple[Sighting, ...], tuple[Lain, ...]]] = []
    for number, pile in enumerate(piles):
        over = tuple(cover for look, cover in (covers or {}).items() if look == number)
        table = Table(cards=pile, covers=over, sheets=(MAT,), cloth="felt", seed=4)
        photo = photograph(table, CAMERA, Shot(noise=2), number)
        mats = look(photo.gray, Mats(), 0.0, all_mats())
        before = found[-1][1] if found else ()
        here = [around(zones.zone_px(mats, "side-1/battle")).padded(REACH_PX)]
        found.append(look_at_faces(photo.image, mats, deck(style), here, before, look=number + 1, beneath=not found))
    return found


def photographed(cards: tuple[Laid, ...], push_mm: float = 0.0) -> Photo:
    """The mat with these cards, all of it pushed to the right."""
    moved = tuple(replace(each, x_mm=each.x_mm + push_mm) for each in cards)
    sheet = replace(MAT, x_mm=MAT.x_mm + push_mm)
    return photograph(Table(cards=moved, sheets=(sheet,), cloth="felt", seed=4), CAMERA, Shot(noise=2), 1)


def remembered(*photos: Photo) -> list[tuple[Lain, ...]]:
    """What is remembered after each of these pictures, on which the mat is found anew."""
    lain: list[tuple[Lain, ...]] = [()]
    for number, photo in enumerate(photos):
        mats = look(photo.gray, Mats(), 0.0, all_mats())
        lain.append(look_at_faces(photo.image, mats, deck(), None, lain[-1], look=number + 1, beneath=not number)[1])
    return lain[1:]


def turned(seen: Sighting, turn_deg: float) -> Sighting:
    """A card as if it lay turned about its middle."""
    turn = cv2.getRotationMatrix2D(seen.centre_px, turn_deg, 1.0)
    return replace(seen, corners_px=as_quad(cv2.transform(np.array([seen.corners_px]), turn)[0]))


def replaced(confidence: float, face: Card) -> Callable[[tuple[Sighting, ...]], tuple[Sighting, ...]]:
    """What reads each card as this one, so surely."""
    return lambda seen: tuple(replace(one, face=face, confidence=confidence) for one in seen)


def faces(seen: tuple[Sighting, ...]) -> list[str]:
    return sorted(sighting.face.value for sighting in seen)


def order_of(lain: tuple[Lain, ...], face: str) -> int:
    """The order of the card of a face that was told last."""
    return max(card.order for card in lain if card.sighting.face.value == face)


def one_by_one(*cards: Laid) -> list[tuple[Laid, ...]]:
    """A pile after each card laid on it."""
    return [cards[: number + 1] for number in range(len(cards))]


def exactly_over(right: float, down: float) -> list[tuple[Laid, ...]]:
    return one_by_one(card("25"), card("75", 4, 5), card("25", right, down))


def askew(turn_deg: float) -> list[tuple[Laid, ...]]:
    return one_by_one(card("stop"), card("stop", 0.2, 0.1, turn_deg))


ROLLS = one_by_one(card("roll", -3, -5), card("accident"), card("roll", -2.8, -5))
LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("piles", "told", "face", "is_same"),
    [
        pytest.param(exactly_over(0.3, -0.2), ["25", "25", "75"], "25", False, marks=LONG, id="over its like"),
        pytest.param(exactly_over(0.0, 0.0), ["25", "25", "75"], "25", False, marks=LONG, id="exactly over its like"),
        pytest.param(one_by_one(card("roll"), card("accident", 5, 4), card("roll", -5, 3)),
                     ["accident", "roll", "roll"], "roll", False, marks=LONG, id="beside its like, one between"),
        pytest.param(askew(5.4), None, "stop", False, id="askew on its like"),
        pytest.param(askew(-2.4), None, "stop", False, marks=LONG, id="a little askew on its like"),
        pytest.param(one_by_one(card("75"), card("75", 0.2, 4.2)), ["75", "75"], "75", False, id="a border shows"),
        pytest.param([*one_by_one(card("roll"), card("stop", 4, 5)), (card("roll"),)], ["roll"], "roll", True,
                     id="the one upon it has gone"),
        pytest.param([*ROLLS, ROLLS[1]], ["accident", "roll"], "accident", True, id="a like of one beneath has gone"),
    ],
)  # fmt: skip
def test_a_card_that_shows_again_is_the_same_and_one_laid_on_or_by_its_like_is_another(
    piles: list[tuple[Laid, ...]], told: list[str] | None, face: str, is_same: bool
) -> None:
    found = looks(*piles)

    *before, last = (order_of(lain, face) for _, lain in found if any(c.sighting.face.value == face for c in lain))
    assert told is None or faces(found[-1][0]) == told
    assert told is None or not any(sighting.is_double for sighting in found[-1][0])
    assert set(before) == {last} if is_same else max(before) < last


@pytest.mark.long
def test_what_lies_beneath_a_card_that_has_not_moved_lies_there_still_though_nothing_of_it_shows() -> None:
    lower, upper = card("roll"), card("accident", 0.1, 0.1)

    *_, last = looks((lower,), (lower, upper), (lower, upper), (lower, upper), (lower, upper, card("repairs", 5, 4)))

    assert "accident" in faces(last[0])
    assert "roll" in faces(last[0]) or any(c.sighting.face is Card.ROLL for c in last[1])


@pytest.mark.long
def test_where_two_cannot_be_told_from_one_that_was_pushed_it_is_said_for_as_long_as_it_lies_there() -> None:
    lower, upper = card("25"), card("25", 1.3, 0.8)

    _, *later = looks((lower,), (lower, upper), (lower, upper), (lower, upper))

    assert all(len(seen) == 2 or seen[0].is_double for seen, _ in later)


@pytest.mark.long
def test_a_card_whose_edges_the_hand_hides_that_lays_one_like_it_lies_there_still() -> None:
    lower, upper = card("75"), card("75", 4, -5)
    hand = Cover(((-175, -115), (-146, -115), (-146, -20), (-80, -20), (-80, 20), (-175, 20)))

    seen = looks((lower,), (lower, upper), (lower, upper), covers={1: hand})

    assert [faces(each) for each, _ in seen] == [["75"], ["75"], ["75", "75"]]


@pytest.mark.variants(1)
@pytest.mark.parametrize(("between", "right"), [(1, 0.6), (3, 0.6), pytest.param(4, 0.0, id="more than a hand lifts")])
def test_a_card_laid_nearly_where_its_like_lies_beneath_others_is_another_though_hands_hide_those(
    between: int, right: float
) -> None:
    others = (card("roll", 6, -5, 4), card("75", -5, 5), card("100", 3, 6), card("repairs", -4, -6))[:between]
    around = ((-185, -105), (-185, -140), (-55, -140), (-55, 30), (-185, 30), (-185, -105))
    hands = Cover((*around, (-149, -105), (-149, -14), (-91, -14), (-91, -105)))

    *_, before, last = looks(*one_by_one(card("25"), *others, card("25", right)), covers={between + 1: hands})

    assert faces(last[0]) == ["25"]
    assert order_of(last[1], "25") > order_of(before[1], "25")


@pytest.mark.long
def test_a_pile_that_was_pushed_as_a_whole_has_no_card_more() -> None:
    pile = (card("100", 0, 0), card("75", 0.1, 0.1), card("100", 3, 4))
    pushed = tuple(card(each.look.split()[1], each.x_mm + 120 - 7, each.y_mm + 60 - 5, 4) for each in pile)

    *_, last = looks(*one_by_one(*pile), pushed)

    assert not any(sighting.is_double for sighting in last[0])


@pytest.mark.variants(1)
@pytest.mark.parametrize(("right", "down", "turn"), [(1.2, 0.3, 4.1), (0.5, 0.9, 4.0), (-1.2, 0.3, -2.0)])
def test_a_card_of_a_pile_taken_up_and_put_back_askew_is_not_two(right: float, down: float, turn: float) -> None:
    beneath = (card("25", 1.6, -2, 3.5), card("accident", -3, 0.4, 1), card("repairs", 4, 1.5, 2))

    *_, last = looks(beneath, (*beneath, card("75")), (*beneath, card("75", right, down, turn)))

    assert faces(last[0]).count("75") == 1


@pytest.mark.parametrize(
    ("between", "beside"),
    [((), ()), ((card("25", 3, 2),), ()), ((), (card("100", 59),))],
    ids=["seen before", "come to light", "another beside it"],
)
def test_a_card_that_is_read_wrongly_for_once_has_not_moved(
    between: tuple[Laid, ...], beside: tuple[Laid, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    pile, reading = (card("roll", 3, -2, 5.0), card("stop")), iter((0.0, 0.0, 4.4))

    def read_askew(*args: object, **how: object) -> tuple[Sighting, ...]:
        seen, turn_deg = read_faces(*args, **how), next(reading)
        return tuple(turned(one, turn_deg) if one.face is Card.STOP else one for one in seen)

    monkeypatch.setattr(occlusion, "read_faces", read_askew)
    first, _, last = looks(pile, (*pile, *between), (*pile, *beside))

    assert order_of(last[1], "stop") == order_of(first[1], "stop")
    stops = [next(one for one in look[0] if one.face is Card.STOP) for look in (first, last)]
    assert stops[1].centre_px == pytest.approx(stops[0].centre_px, abs=1.0)


def test_a_like_laid_askew_is_another_card_though_the_white_borders_around_look_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    still_there = Borders.still_there

    def deceived(self: Borders, now: Borders, *, least: int = 0) -> bool | None:
        return least == occlusion.MISREAD_BORDERS or still_there(self, now, least=least)

    monkeypatch.setattr(Borders, "still_there", deceived)
    first, last = looks((card("stop"),), (card("stop"), card("stop", -1.1, 1.3, 5.6)))

    assert order_of(last[1], "stop") > order_of(first[1], "stop")


@pytest.mark.parametrize(("confidence", "face"), [(0.93, "25"), (0.99, "75")])
def test_a_card_read_otherwise_exactly_where_it_lay_is_the_reading_that_was_surer(
    confidence: float, face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = replaced(0.97, Card("25")), replaced(confidence, Card("75"))
    reading = iter((before, after))
    monkeypatch.setattr(occlusion, "read_faces", lambda *args, **how: next(reading)(read_faces(*args, **how)))

    first, last = looks((card("25"),), (card("25"),))

    assert last[0][0].face is Card(face)
    assert (last[0][0].stay == first[0][0].stay) is (face == "25")


def test_a_card_of_a_pile_pushed_a_little_and_then_covered_is_not_two() -> None:
    beneath, pushed = card("accident", -5, 6, -1), card("25", 0.1, 0.1, 2.6)

    *_, last = looks((beneath, card("25")), (beneath, pushed), (beneath, pushed, card("100", 9, -8, 3)))

    assert faces(last[0]).count("25") == 1


@pytest.mark.long
def test_cards_pushed_with_their_mat_are_the_same_before_it_is_told_where_the_mat_lies_now() -> None:
    others, upper = (card("roll"), card("100", 90), card("repairs", 160, 5)), card("stop", 12, 9)
    photos = photographed(others), photographed((*others, upper)), photographed((*others, upper), push_mm=2.2)
    mats = look(photos[0].gray, Mats(), 0.0, all_mats())

    lain: list[tuple[Lain, ...]] = [()]
    for number, photo in enumerate(photos):
        lain.append(look_at_faces(photo.image, mats, deck(), None, lain[-1], look=number + 1, beneath=not number)[1])

    *_, before, after = lain
    assert sorted(c.sighting.face.value for c in before) == ["100", "repairs", "roll", "stop"]
    assert {c.order for c in after if not c.missed} == {c.order for c in before}


def test_one_laid_on_its_like_is_another_though_its_mat_was_pushed_and_it_lies_where_that_was_on_the_picture() -> None:
    lying, upper = (card("roll", 90), card("stop")), card("stop", -4)
    photos = photographed(lying), photographed((*lying, upper), push_mm=4)
    before, after = remembered(*photos)

    assert order_of(after, "stop") > order_of(before, "stop")
    assert order_of(after, "roll") == order_of(before, "roll")


@pytest.mark.parametrize("beside_mm", [1.3, 2.2])
def test_one_laid_a_little_beside_its_like_as_the_mat_is_pushed_is_another_where_the_rest_lies_as_it_lay(
    beside_mm: float,
) -> None:
    photos = (
        photographed((card("roll"), card("100", 90))),
        photographed((card("roll"), card("100", 90), card("100", 90 + beside_mm)), push_mm=4),
    )
    before, after = remembered(*photos)

    assert order_of(after, "100") > order_of(before, "100")
    assert order_of(after, "roll") == order_of(before, "roll")


@pytest.mark.variants(1)
@pytest.mark.parametrize("untouched", [(), ("side-1/battle",), ("side-1/speed",)])
def test_where_nothing_has_moved_a_card_that_is_seen_a_little_elsewhere_is_the_same(untouched: tuple[str, ...]) -> None:
    photos = photographed((card("roll"),)), photographed((card("roll", 0.8, 0.8, turn_deg=3.5),))
    mats = look(photos[0].gray, Mats(), 0.0, all_mats())
    _, before = look_at_faces(photos[0].image, mats, deck(), None, (), look=1, beneath=False)

    _, after = look_at_faces(photos[1].image, mats, deck(), None, before, look=2, beneath=False, untouched=untouched)

    assert (order_of(after, "roll") == order_of(before, "roll")) is ("side-1/battle" in untouched)


@pytest.mark.parametrize(
    ("style", "over"),
    [
        ("own", tuple(cup((-118, -58), np.random.default_rng(3)))),
        ("old", (Cover(((-152, -112), (-52, -92), (-67, -42), (-167, -62)), (60, 70, 60)),)),
    ],
    ids=["a cup", "a telephone over half of cards of the ground's colour"],
)
def test_cards_beneath_a_thing_still_lie_there_and_the_zone_is_spoken_of(style: str, over: tuple[Cover, ...]) -> None:
    pile = (card("roll", style=style), card("stop", 4, 5, style=style))
    eye = Eye(templates=lambda: deck(style))

    views = [eye(frame) for frame in filmed((pile[:1], (), 8), (pile, (), 12), (pile, over, 25))]

    assert "side-1/battle" in views[21].unknown_zones
    assert "side-1/battle" not in views[-1].unknown_zones
    assert faces(tuple(s for s in views[-1].sightings if s.zone == "side-1/battle")) == ["roll", "stop"]


def test_cards_beneath_a_lit_screen_of_the_grounds_colour_still_lie_there_though_it_is_dim() -> None:
    pile = (card("roll"), card("stop", 4, 5))
    eye = Eye(templates=deck)
    (fit,) = look(photographed(()).gray, Mats(), 0.0, all_mats()).fits
    screen = fit.to_px(np.array([[50, 40], [135, 40], [135, 150], [50, 150]]))

    for frame in filmed((pile[:1], (), 8), (pile, (), 37)):
        image = np.uint8(frame.image * 0.45)
        if frame.t_s >= 2.0:
            cv2.fillPoly(image, [np.int32(screen)], (122, 138, 140))
        view = eye(replace(frame, image=image))

    assert faces(view.sightings) == ["roll", "stop"]


def test_cards_of_the_grounds_colour_are_gone_once_they_are_gathered_in() -> None:
    pile = (card("roll", style="old"), card("stop", 4, 5, style="old"), card("roll", -1, -22, -17, style="old"))
    eye = Eye(templates=lambda: deck("old"))

    views = [eye(frame) for frame in filmed((pile[:1], (), 8), (pile[:2], (), 8), (pile, (), 12), ((), (), 12))]

    assert "side-1/battle" not in views[-1].unknown_zones
    assert views[-1].sightings == ()


def test_a_card_that_was_read_beside_a_hand_over_it_is_remembered_as_it_lay_before() -> None:
    """Else its strip that shows beneath a like laid on it is compared with the hand."""
    lower, upper = card("roll", style="scenes"), card("roll", 0, 22, style="scenes")
    hand = Cover(((-170, -190), (-122, -190), (-122, -30), (-170, -30)), (90, 120, 160))
    eye = Eye(templates=lambda: deck("scenes"))

    views = [eye(frame) for frame in filmed(((lower,), (), 12), ((lower,), (hand,), 5), ((lower, upper), (), 12))]

    assert faces(views[16].sightings) == ["roll"]
    assert "side-1/battle" in views[16].unknown_zones
    assert faces(views[-1].sightings) == ["roll", "roll"]


def test_an_eye_that_begins_afresh_gives_no_card_the_number_of_another() -> None:
    eye, frames = Eye(templates=deck), list(filmed(((card("roll"),), (), 8)))
    numbers = []
    for _ in range(2):
        eye.begin_afresh()
        numbers += {seen.stay for frame in frames for seen in eye(frame).sightings}

    assert len(numbers) == len(set(numbers)) == 2


def test_cards_on_which_something_was_put_while_the_light_changed_are_not_gone_until_bare_ground_shows() -> None:
    pile = (card("roll"), card("stop", 4, 5))
    over = Cover(((-175, -130), (-65, -130), (-65, 20), (-175, 20)))
    eye = Eye(templates=deck)

    frames = list(filmed((pile[:1], (), 8), (pile, (), 12), (pile, (over,), 12), ((), (), 12)))
    lit = [replace(frame, image=cv2.convertScaleAbs(frame.image, alpha=1.5)) for frame in frames[20:]]
    views = [eye(frame) for frame in (*frames[:20], *lit)]

    assert any(view.trouble for view in views[20:24])
    assert "side-1/battle" in views[31].unknown_zones
    assert "side-1/battle" not in views[-1].unknown_zones
    assert views[-1].sightings == ()


def test_a_pile_under_a_telephone_lies_there_still_when_a_card_that_cannot_be_read_is_laid_on_it() -> None:
    """Dark on dark, the new card shows nothing that is strange; only its place tells that the others are not gone."""
    pile = card("stop", 2, 3, style="dark"), card("roll", style="dark")
    laid = (*pile, card("repairs", -1, -2, style="dark"))
    over = (Cover(((-220, -150), (-118, -120), (-138, -45), (-235, -60)), (200, 205, 200)),)
    eye = Eye(templates=lambda: deck("dark"))

    parts = (pile[:1], (), 8), (pile, (), 8), (pile, over, 20), (laid, over, 20), ((), (), 10)
    *views, bare = [eye(frame) for frame in filmed(*parts)]

    known = [view for view in views[16:56] if "side-1/battle" not in view.unknown_zones]
    assert known[-1].t_s == views[55].t_s
    assert all(faces(view.sightings) == ["roll", "stop"] for view in known)
    assert bare.sightings == ()
    assert "side-1/battle" not in bare.unknown_zones


@pytest.mark.long
def test_cards_beneath_a_cup_still_lie_there_after_a_hand_has_reached_over_it_and_are_gone_when_it_is_bare() -> None:
    pile = (card("roll"), card("stop", 4, 5))
    over = tuple(cup((-118, -58), np.random.default_rng(3)))
    reaching = Cover(((-170, 20), (-60, 20), (-60, -250), (-170, -250)))
    eye = Eye(templates=deck)

    parts = ((pile[:1], (), 8), (pile, (), 12), (pile, over, 25), (pile, (*over, reaching), 4), (pile, over, 8))
    views = [eye(frame) for frame in filmed(*parts, ((), (), 10))]

    held, bare = views[sum(count for *_, count in parts) - 1], views[-1]
    assert "side-1/battle" not in held.unknown_zones
    assert faces(tuple(s for s in held.sightings if s.zone == "side-1/battle")) == ["roll", "stop"]
    assert "side-1/battle" not in bare.unknown_zones
    assert bare.sightings == ()


def test_a_card_of_fine_lines_that_the_small_picture_loses_is_told_within_its_outline() -> None:
    """Thin lines on black in noise: of a card in a twelfth of full light the small picture shows the edges alone."""
    eye = Eye(templates=lambda: deck("dark"))

    parts = ((), 8), ((card("roll", style="dark"),), 6)
    dim = Shot(noise=5, exposure=0.12, defocus_px=1.0)
    tables = [(Table(cards=cards, sheets=(MAT,), cloth="felt", seed=4), count) for cards, count in parts]
    pictures = [(photograph(table, CAMERA, dim, 1).image, count) for table, count in tables]
    images = [image for image, count in pictures for _ in range(count)]
    views = [eye(Frame(image, number / 10)) for number, image in enumerate(images)]

    assert faces(views[-1].sightings) == ["roll"]
    assert "side-1/battle" not in views[-1].unknown_zones


def test_in_a_wide_zone_cards_are_looked_for_only_where_it_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    far, new = card_of("own", "75", (-125, 75), 1.0), card_of("own", "100", (110, 75), -2.0)
    searched: list[Box] = []

    def spied(*args: object, where: tuple[Box, ...], **how: object) -> tuple[Sighting, ...]:
        searched[:] = where
        return read_faces(*args, where=where, **how)

    monkeypatch.setattr(occlusion, "read_faces", spied)
    eye = Eye(templates=deck)
    views = [eye(frame) for frame in filmed(((), (), 8), ((far,), (), 8), ((far, new), (), 8))]

    there = {seen.face: seen.corners_px for seen in views[-1].sightings}
    assert there.keys() == {Card.KM_75, Card.KM_100}
    assert [box.holds(there[Card.KM_100]) for box in searched] == [True]
    assert not searched[0].touches(around(there[Card.KM_75]))
    assert sorted(lain.missed for lain in eye.sight.lain) == [0, 0]


@pytest.mark.parametrize("pile", [(), ("roll",)], ids=["on a bare zone", "on a card told by its face"])
def test_a_sticker_on_a_card_that_is_none_of_the_deck_is_read_though_none_lay_there_at_first(
    pile: tuple[str, ...],
) -> None:
    """Of the two kinds of cards mixed, those with stickers may come late."""
    below = tuple(card(face) for face in pile)
    stuck = replace(card("gasoline", 14, 22, style="vintage"), sticker=Glued(payload("stop-02"), size_mm=20.0))
    eye = Eye(templates=deck)

    views = [eye(frame) for frame in filmed(((), (), 8), (below, (), 8), ((*below, stuck), (), 8))]

    assert ("stop-02", "side-1/battle") in {(seen.card, seen.zone) for seen in views[-1].sightings}
    assert "side-1/battle" not in views[-1].unknown_zones
    assert views[-1].things == frozenset()


def filmed(*parts: tuple[tuple[Laid, ...], tuple[Cover, ...], int]) -> Iterator[Frame]:
    """Cards, what is put over them, and for how many frames, ten a second."""
    number = 0
    for cards, covers, count in parts:
        table = Table(cards=cards, covers=covers, sheets=(MAT,), cloth="felt", seed=4)
        image = photograph(table, CAMERA, Shot(noise=2), 1).image
        for _ in range(count):
            yield Frame(image, number / 10)
            number += 1


def test_a_card_that_comes_to_light_again_is_the_same_though_its_turn_is_found_badly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading = iter((0.0, 0.0, 0.9))

    def read_askew(*args: object, **how: object) -> tuple[Sighting, ...]:
        seen, turn_deg = read_faces(*args, **how), next(reading)
        return tuple(turned(one, turn_deg) if one.face is Card.ROLL else one for one in seen)

    monkeypatch.setattr(occlusion, "read_faces", read_askew)
    first, _, last = looks((card("roll"),), (card("roll"), card("stop", 0.3, 3.5)), (card("roll"),))

    assert faces(last[0]) == ["roll"]
    assert order_of(last[1], "roll") == order_of(first[1], "roll")


def test_a_card_pushed_off_one_that_ended_as_it_did_does_not_lie_there_still() -> None:
    beneath = (card("roll", -8.7, 1.4, style="minimal"), card("stop", 0.9, 1.4, style="minimal"))
    rolls = (card("roll", style="minimal"), card("roll", -4.7, 0.2, -12.4, style="minimal"))

    *_, last = looks(*one_by_one(*beneath), *((*beneath, roll) for roll in rolls), style="minimal")

    assert last[0][0].is_double or faces(last[0]).count("roll") == 2


@pytest.mark.parametrize("pushed", [(-2.3, -2.7, 2.6), (-2, -4, -2)])
def test_a_card_pushed_a_little_is_not_two_though_one_below_ends_where_it_did(pushed: tuple[float, ...]) -> None:
    beneath = (card("75", 0.8, 0.3, 1.6), card("25", -2.6, 2, 2.6))

    *_, last = looks(*one_by_one(*beneath), (*beneath, card("100")), (*beneath, card("100", *pushed)))

    assert not any(seen.is_double for seen in last[0])


@pytest.mark.parametrize(
    ("style", "beneath", "upper"),
    [
        pytest.param("minimal", (1.4, 1.4), (0.5, 6.3), id="the one below ends farther in"),
        pytest.param("own", (-0.5, -0.5), (5, 6.3), id="what is drawn on it shows"),
    ],
)
def test_a_card_beside_which_its_like_is_laid_lies_there_still_though_one_below_ends_alike(
    style: str, beneath: tuple[float, float], upper: tuple[float, float]
) -> None:
    pile = card("stop", *beneath, style=style), card("roll", style=style), card("roll", *upper, style=style)

    *_, last = looks(*one_by_one(*pile), style=style)

    assert faces(last[0]).count("roll") == 2
    assert not any(seen.is_double for seen in last[0])


def test_a_card_laid_exactly_over_the_first_of_a_column_is_another_though_a_neighbour_overlaps_its_edge() -> None:
    column = (card("75"), card("75", 0.5, 20, 0))
    neighbour = card("100", -52, 0, -4)

    *_, before, last = looks(column[:1], (*column, neighbour), (column[0], column[1], card("75", 0.1, -0.1), neighbour))

    assert faces(last[0]).count("75") == 3
    assert order_of(last[1], "75") > order_of(before[1], "75")


def test_a_card_pushed_far_off_its_like_does_not_lie_there_still_though_that_one_ends_nearly_alike() -> None:
    under, upper, pushed = (card("75", *at, style="minimal") for at in ((), (-1.4, 2.1, 2.1), (-15, -21, 3)))

    *_, last = looks(*one_by_one(under, upper), (under, pushed), style="minimal")

    assert faces(last[0]) == ["75", "75"]


def test_a_hazard_that_is_drawn_out_from_beneath_its_remedy_is_gone_though_that_lies_as_it_did():
    roll, hazard, remedy = card("roll"), card("accident", 0, -8), card("repairs", 0, 6)
    piles = [*one_by_one(roll, hazard, remedy), (roll, hazard, remedy), (roll, remedy), (roll, remedy)]

    told = [faces(seen) for seen, _ in looks(*piles)]

    assert told[3] == ["accident", "repairs", "roll"]
    assert told[5] == ["repairs", "roll"]


@pytest.mark.parametrize(
    ("pushed", "upper"),
    [
        pytest.param((-6, 1, 4), (7, -1), id="to one side of it"),
        pytest.param((-2.6, 5.3, -2), (3.4, -10, 20), id="laid askew"),
    ],
)
def test_a_card_that_is_pushed_as_its_like_is_laid_on_it_lies_there_still(
    pushed: tuple[float, ...], upper: tuple[float, ...]
) -> None:
    ground = card("roll", 2, 3)

    (_, before), (seen, after) = looks((ground, card("100")), (ground, card("100", *pushed), card("100", *upper)))

    assert seen[0].is_double
    assert faces(seen).count("100") == 2
    assert order_of(before, "100") in {lain.order for lain in after}


def test_a_card_pushed_off_its_like_of_which_a_strip_shows_still_is_one_card():
    lowest, lower, upper, pushed = card("75", 4, -23), card("75", -2, -9), card("75"), card("75", 2, 8, -3)

    *_, (seen, _) = looks(*one_by_one(lowest, lower, upper), (lowest, lower, pushed))

    assert faces(seen) == ["75", "75", "75"]
    assert not any(one.is_double for one in seen)


def test_a_strip_where_another_card_lies_as_it_did_is_that_cards_whatever_it_is_read_as(monkeypatch):
    lower, upper, turned_aside = card("75", 8, 0, -6), card("25", 0, 0, -1), card("25", -3, 1.5, 15)
    misread = lambda look, new, _card: [  # noqa: E731
        replace(lain.sighting, face=new.face) for lain in look._before if lain.sighting.face is Card.KM_75
    ]
    monkeypatch.setattr(occlusion._FaceLook, "_strips_beneath", misread)

    *_, (seen, _) = looks(*one_by_one(lower, upper), (lower, turned_aside))

    assert faces(seen) == ["25", "75"]


@pytest.mark.parametrize(("is_laid", "told"), [(False, [True]), (True, [False, False])], ids=["pushed", "laid"])
def test_a_like_that_shows_far_beside_the_top_of_a_pile_may_be_that_one_if_only_borders_of_others_say_it_lies_there(
    is_laid: bool, told: list[bool]
) -> None:
    pile = [card(face, *at, style="minimal") for face, at in (("100", (3, 4)), ("75", (1, 1)), ("25", ()))]
    beside = card("25", 0, 13.5, -5, style="minimal")

    *_, (seen, _) = looks(*one_by_one(*pile), (*(pile if is_laid else pile[:2]), beside), style="minimal")

    assert [one.is_double for one in seen if one.face is Card.KM_25] == told


@pytest.mark.parametrize("is_laid", [False, True], ids=["pushed", "laid"])
def test_a_card_pushed_off_one_that_is_drawn_like_it_does_not_lie_there_still(is_laid: bool) -> None:
    below, upper, aside = (
        card(face, *at, style="scenes") for face, at in (("25", (1, -1, -3)), ("75", ()), ("75", (0, 14, 19)))
    )

    *_, (seen, _) = looks(*one_by_one(below, upper), (below, *([upper] * is_laid), aside), style="scenes")

    assert faces(seen) == ["25", *["75"] * (1 + is_laid)]
    assert not any(one.is_double for one in seen)


@pytest.mark.parametrize(("is_laid", "told"), [(False, [True]), (True, [False, False])])
def test_of_a_pile_made_neat_no_border_tells_whether_its_top_card_was_turned_or_its_like_was_laid_on_it(
    is_laid: bool, told: list[bool]
) -> None:
    top, *below = (card(face, *at, style="minimal") for face, at in (
        ("accident", (1, 1, 0)), ("roll", (-2, 2, 4)), ("stop", (2, -2, -3)), ("100", (-1, -2, 2))
    ))  # fmt: skip
    neat = tuple(replace(each, x_mm=top.x_mm + 0.2, y_mm=top.y_mm, turn_deg=0.2) for each in below)
    still = (*neat, replace(top, turn_deg=0.2))
    piles = *one_by_one(*below, top), still

    *_, (seen, _) = looks(*piles, (*(still if is_laid else neat), replace(top, turn_deg=15)), style="minimal")

    assert [sighting.is_double for sighting in seen if sighting.face.value == "accident"] == told


def test_a_card_pushed_before_another_like_it_is_laid_on_it_is_told_once():
    ground, first, pushed = card("roll", 2, 3), card("100"), card("100", 3)

    *_, (seen, _) = looks((ground, first), (ground, pushed), (ground, pushed, card("100", 16, 2)))

    assert faces(seen).count("100") == 2


@pytest.mark.parametrize(("under", "upper"), [((-2.7, 0), (0.3, -1.8)), ((0.5, -2.5, 0.2), (0.6, 4, 0.6))])
def test_a_hazard_that_its_remedy_hides_but_for_a_strip_need_not_lie_there_any_more(
    under: tuple[float, ...], upper: tuple[float, ...]
) -> None:
    roll, hazard, remedy = card("roll", *under), card("accident"), card("repairs", *upper)

    *_, (seen, _) = looks(*one_by_one(roll, hazard, remedy), (roll, remedy))

    assert faces(seen) == ["repairs", "roll"]


def test_a_stop_carried_off_is_gone_though_the_hazard_beneath_it_was_dragged_along_a_little():
    roll, hazard = card("roll", 4, -2.2), card("accident")
    piles = one_by_one(roll, hazard, card("stop", 0.3, -2.1))

    *_, (seen, _) = looks(*piles, (roll, card("accident", -1.4)))

    assert "stop" not in faces(seen)


def test_a_pile_pushed_aside_as_a_whole_has_no_second_card_like_its_top_one():
    ground, lower, upper = (
        card(face, *at, style="minimal") for face, at in (("accident", (2, -3)), ("25", ()), ("75", (1, -9)))
    )
    pushed = card("25", 14, -7, style="minimal"), card("75", 15, -16, 3, style="minimal")

    *_, (seen, _) = looks(*one_by_one(ground, lower, upper), (ground, *pushed), style="minimal")

    assert faces(seen).count("75") == 1


def test_what_shows_beside_the_top_of_a_pushed_pile_may_be_the_cards_that_lay_there_and_beside_a_bare_pile_none() -> (
    None
):
    pile, pushed = (card("accident", 16, 3), card("roll")), (card("accident", 30, -9), card("roll", 14, -12))

    *_, (seen, lain) = looks(*one_by_one(*pile), pushed)
    beneath = eye.beneath(View(0.0, (), seen), lain), eye.beneath(View(0.0, (), ()), lain)

    assert [faces(tuple(each)) for each in beneath] == [["accident", "roll"], []]


def test_what_lies_out_of_sight_is_remembered_as_it_was_and_moves_along_with_its_mat() -> None:
    (_, (was,)), (_, (now,)) = looks((card("roll"),), (card("roll"),))
    moved = replace(now, corners_mm=now.corners_mm + 2.0)

    (kept,) = eye.remembered([moved], {"side-1/battle"}, (), [was])

    assert kept.borders is was.borders
    assert np.array_equal(kept.corners_mm, moved.corners_mm)


@pytest.mark.parametrize(("face", "count"), [("right-of-way", 1), ("100", 2)])
def test_a_safety_that_was_pushed_is_one_whatever_its_old_borders_say_as_there_is_one_of_each(
    monkeypatch: pytest.MonkeyPatch, face: str, count: int
) -> None:
    monkeypatch.setattr(Borders, "still_there", lambda *_, **__: True)

    _, (seen, _) = looks((card(face),), (card(face, 1.5, 5.5, 3),))

    assert faces(seen) == [face] * count
