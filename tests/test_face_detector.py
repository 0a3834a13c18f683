"""Cards told by their faces: on mats and off them, whole and half covered, beside stickers; and what is no card."""

from dataclasses import replace
from functools import lru_cache

import cv2
import decks
import face_photos
import numpy as np
import photos
import pytest
from enrolled import faces_of, prepared
from face_photos import FacePhoto, FaceScore, card_of, compared
from laid import Glued, Sheet, Table
from webcam import Pose, Shot

from companion.match.questions import SURE_CONFIDENCE
from companion.rules.cards import Card
from companion.tabletop.card_ids import payload
from companion.tabletop.mat_layout import all_mats
from companion.vision.boxes import lab
from companion.vision.capture.sources import Frame
from companion.vision.faces import face_detector as reading
from companion.vision.faces import keypoints, matching
from companion.vision.faces.face_detector import read_faces
from companion.vision.faces.face_templates import FINE_PX_PER_MM, Templates, templates_of
from companion.vision.faces.matching import Lie, Named
from companion.vision.faces.pose_search import COARSE_PX_PER_MM
from companion.vision.faces.second_opinion import same_face
from companion.vision.mats.localization import Mats, look
from companion.vision.read import read, sighting_json
from companion.vision.view import Sighting

CAMERA = Pose(px_per_mm=1.7, tilt_deg=12, lean_deg=20)
MAT = Sheet("side-1", -220, 0, 2, (420, 297))


@lru_cache(maxsize=2)
def deck(style: str) -> Templates:
    return prepared(faces_of(style, 6), style)


def mats_on(image: np.ndarray) -> Mats:
    return look(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), Mats(), 0.0, all_mats())


def told(photo: FacePhoto) -> FaceScore:
    seen = read_faces(photo.image, deck(photo.style), mats_on(photo.image))
    return compared(photo, [(None if s.face is Card.UNKNOWN else s.face.value, s.centre_px) for s in seen])


def table_of(style: str, cards: list[tuple[str, float, float, float]], **how: object) -> Table:
    laid = tuple(card_of(style, slug, (x, y), turn) for slug, x, y, turn in cards)
    return Table(cards=laid, cloth="felt", **how)


@pytest.mark.long
def test_every_face_of_a_shared_drawing_is_told_or_asked_about_and_none_is_mistaken() -> None:
    score = told(face_photos.face_photo(3, "vintage", things=0, foreigners=0, sleeves=False))

    assert score.read >= 0.85 * score.in_sight > 0
    assert not score.wrong
    assert not score.ghosts


def test_a_round_sign_is_read_though_it_looks_alike_in_every_turn() -> None:
    cards = [("speed-limit", -342.1, -13.1, 2.4), ("end-of-limit", -106.3, -37.3, 1.5)]
    table, camera = table_of("vintage", cards, sheets=(MAT,)), Pose(px_per_mm=1.8, tilt_deg=27, lean_deg=160)
    image = face_photos.photograph(table, "vintage", camera, Shot(noise=4), 2).image

    seen = read_faces(image, deck("vintage"), mats_on(image))

    assert sorted(each.face.value for each in seen) == ["end-of-limit", "speed-limit"]


@pytest.mark.long
def test_without_mats_the_cards_themselves_tell_how_the_table_lies() -> None:
    cards = [("stop", -200, -40, 5), ("roll", -80, 60, 190), ("100", 60, -50, 90), ("gasoline", 210, 40, 355)]
    photo = face_photos.photograph(table_of("own", cards), "own", CAMERA, Shot(), 1)

    score = told(photo)

    assert (score.read, score.in_sight) == (4, 4)


def test_keypoints_found_in_strips_are_those_of_the_whole_picture_and_none_comes_twice(monkeypatch) -> None:
    photo = face_photos.photograph(table_of("own", [("stop", 0, 0, 5)]), "own", CAMERA, Shot(), 1)
    gray = cv2.cvtColor(photo.image, cv2.COLOR_BGR2GRAY)
    whole, _ = keypoints._points_on(gray, keypoints.MOST_POINTS)
    monkeypatch.setattr(keypoints, "STRIP_PX", len(gray) // 4)

    strips, descriptors = keypoints._points_by_strips(gray)

    small = {tuple(point) for point in np.round(whole[whole[:, 2] < 8], 2).tolist()}
    found = [tuple(point) for point in np.round(strips[strips[:, 2] < 8], 2).tolist()]
    assert len(strips) == len(descriptors) > 20
    assert len(found) == len(set(found))
    assert len(small & set(found)) >= 0.95 * len(small)


def test_a_fan_is_read_by_its_strips() -> None:
    fan = [("100", 0, 22.0 * step, 1) for step in range(-1, 2)]
    photo = face_photos.photograph(table_of("own", fan), "own", CAMERA, Shot(), 2)

    faces = [seen.face for seen in read_faces(photo.image, deck("own"), Mats())]

    assert faces == [Card.KM_100] * 3


def test_a_column_is_followed_to_cards_whose_strips_may_be_of_any_face() -> None:
    cards = [("75", 40, -60 + 19.0 * row, 1) for row in range(4)] + [("stop", -120, -40, 3)]
    table = table_of("vintage", cards, sheets=(Sheet("side-1", 0, 0, 2, (420, 297)),))
    image = face_photos.photograph(table, "vintage", Pose(px_per_mm=3.2, tilt_deg=8), Shot(noise=3), 2).image

    seen = read_faces(image, deck("vintage"), mats_on(image), fans=True)

    likeliest = [s.face.value if s.face is not Card.UNKNOWN else s.rivals[0][0].rpartition("-")[0] for s in seen]
    assert sorted(likeliest) == ["75", "75", "75", "75", "stop"]


def test_a_distance_under_another_in_one_column_is_asked_about_and_one_under_its_like_is_not() -> None:
    seen = {}
    for upon in (Card.KM_100, Card.KM_200, Card.STOP):
        ranking = ((Card.KM_100, 0.95), (Card.KM_200, 0.6))
        strip = Named(Card.KM_100, 0.95, 0.9, ranking, Lie(0, 0, 0), 0.25, 0.9, 1.0, 20.0, upon)
        seen[upon] = reading._sighted(strip, ((0, 0), (57, 0), (57, 88), (0, 88)), deck("own"), Mats())

    assert {upon.value: s.face.value for upon, s in seen.items()} == {"100": "100", "200": "unknown", "stop": "100"}


@pytest.mark.long
def test_hands_cups_telephones_backs_and_other_decks_are_no_faces() -> None:
    for seed in range(2):
        photo = face_photos.stranger_photo(seed, "own")

        assert not told(photo).ghosts


@pytest.mark.long
def test_a_plain_cloth_half_in_shadow_is_no_pale_card() -> None:
    image = np.full((720, 1280, 3), 190, np.uint8)
    image[:, 640:] = 150
    image = cv2.GaussianBlur(image, (0, 0), 6)

    assert read_faces(image, deck("pastel"), Mats()) == ()


@pytest.mark.variants(1)
@pytest.mark.parametrize(("style", "seed"), [("minimal", 3), ("dark", 4)])
def test_a_second_opinion_tells_small_cards_in_dim_light(
    style: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pose, mat = Pose(px_per_mm=1.05, size_px=(1280, 720)), (replace(MAT, turn_deg=2),)
    slugs = ["100", "75", "spare-tire", "50"]
    laid = tuple(card_of(style, slug, (90 * at - 350, 10), 3 * at - 4) for at, slug in enumerate(slugs))
    bare = photos.photograph(Table(sheets=mat, cloth="felt", seed=seed), pose, Shot(), 3)
    dim = photos.hard_shot(np.random.default_rng(seed), "dim")
    photo = face_photos.photograph(Table(laid, mat, cloth="felt", seed=seed), style, pose, dim, 3)

    def seen() -> list[str]:
        found = read_faces(photo.image, deck(style), mats_on(bare.image))
        return [card.face.value for card in sorted(found, key=lambda card: card.centre_px[0])]

    with_it = seen()
    monkeypatch.setattr(matching, "same_face", lambda _seen, enrolled, _shown: np.full(len(enrolled), -9.0))

    assert with_it == slugs
    assert not set(seen()) & {"100", "75", "50"}


def test_the_second_opinion_is_the_same_whatever_the_size_and_light_of_a_picture() -> None:
    faces = [lab(cv2.resize(decks.face("cartoon", slug), (104, 68)[::-1])) for slug in ("roll", "stop", "200")]
    darker = 0.6 * faces[0] + 7

    odds = same_face(cv2.resize(darker, (65, 102)), np.stack(faces), None)

    assert odds[0] > 3
    assert max(odds[1:]) < -3


def test_what_is_too_little_like_a_face_is_a_card_where_the_second_opinion_says_so() -> None:
    def said(faint: Named, *odds: float) -> list[tuple[bool, bool]]:
        assert reading._is_doubtful(faint)
        cards = [replace(faint, agreement=one) for one in odds]
        return [(reading._is_there(card), reading._is_sure(card)) for card in cards]

    whole, strip = likened(0.55, 0.35, detail=0.48), likened(0.5, 0.15, detail=0.35, shown=0.23)

    assert said(whole, 1.5, 2.5) == [(False, True), (True, True)]
    assert said(strip, -1.5, -0.5, 1.5) == [(False, False), (True, False), (True, True)]
    assert reading._confidence(replace(strip, agreement=1.5)) >= SURE_CONFIDENCE
    assert not reading._is_doubtful(replace(strip, shown=1.0))
    assert reading._is_sure(likened(0.65, 0.1, agreement=1.5))


def test_where_people_are_asked_the_second_opinion_counts_for_the_order_of_the_faces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odds = np.array([-9.0, 9.0], np.float32)
    monkeypatch.setattr(matching, "same_face", lambda _seen, _faces, _shown: odds)
    card = likened(0.55, 0.1)
    near = replace(card, ranking=((Card.ROLL, 0.55), (Card.STOP, 0.5)), lie=Lie(90, 140, 0))

    asked = matching.Closely(np.zeros((280, 180, 3), np.float32), deck("vintage")).seconded(near)

    assert (asked.face, asked.ranking[0][0]) == (Card.ROLL, Card.STOP)


def test_a_card_of_which_correlation_is_barely_sure_is_asked_about_where_the_second_opinion_disagrees() -> None:
    barely = likened(0.8, 0.5)

    assert reading._is_doubtful(barely)
    assert not reading._is_doubtful(likened(0.8, 0.7))
    assert [reading._is_sure(replace(barely, agreement=odds)) for odds in (-3.0, -1.0, 2.0)] == [False, True, True]
    assert reading._is_there(replace(barely, agreement=-3.0))


@pytest.mark.parametrize(("right_mm", "searches"), [(0, [True]), (120, [True, False])], ids=["a card", "no card"])
def test_a_card_of_which_the_outline_is_known_is_looked_for_in_turns_near_to_it_alone(
    right_mm: float, searches: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    laid = card_of("own", "stop", (-342, -36), 2)
    photo = photos.photograph(Table(cards=(laid,), sheets=(MAT,), cloth="felt"), Pose(2.0, at_mm=(-220, 0)), Shot(), 3)
    mats = mats_on(photo.image)
    (card,) = read_faces(photo.image, deck("own"), mats)
    outline = tuple((x + 2.0 * right_mm, y) for x, y in card.corners_px)
    near: list[bool] = []
    poses = reading.poses
    monkeypatch.setattr(reading, "poses", lambda *how: near.append(how[3] is not None) or poses(*how))

    (again,) = read_faces(photo.image, deck("own"), mats, beneath=False, outlines=[outline])

    assert (again.face, near) == (Card.STOP, searches)


def test_a_card_whose_sticker_and_face_agree_is_the_stickers_card() -> None:
    card = stop_with_sticker("stop-02")

    assert (card.card, card.face, card.by) == ("stop-02", Card.STOP, "sticker")


def test_a_sticker_on_the_wrong_card_is_reported() -> None:
    said = sighting_json(stop_with_sticker("roll-03"))

    assert (said["face"], said["card"]) == ("unknown", None)
    assert (said["sticker"], said["looks_like"]) == ("roll-03", "stop")


def stop_with_sticker(sticker: str) -> Sighting:
    """A Stop in the battle zone of a mat that bears a sticker, as it is seen."""
    laid = card_of("own", "stop", (-342, -36), 2, sticker=Glued(payload(sticker), size_mm=20.0))
    table = Table(cards=(laid,), sheets=(MAT,), cloth="felt")
    photo = photos.photograph(table, Pose(px_per_mm=2.0, at_mm=(-220, 0)), Shot(), 3)
    (card,) = read(Frame(photo.image, 0.0), mats_on(photo.image), templates=deck("own")).sightings
    return card


def likened(score: float, margin: float, **how: float) -> Named:
    """A whole card of usual print that was compared with every face."""
    told = {"shown": 1.0, "detail": 0.6, "telling": 1.0, "print_contrast": 12.0, **how}
    ranking = ((Card.ROLL, score), (Card.STOP, score - 0.2))
    return Named(face=Card.ROLL, score=score, margin=margin, ranking=ranking, lie=Lie(0, 0, 0), **told)


def test_pale_print_is_told_by_its_lead_where_it_is_less_like_its_face() -> None:
    assert reading._is_sure(likened(0.6, 0.6, print_contrast=2.5, detail=0.3))
    assert not reading._is_sure(likened(0.6, 0.6))
    assert not reading._is_sure(likened(0.6, 0.4, print_contrast=2.5, detail=0.3))
    assert not reading._is_sure(likened(0.6, 0.6, print_contrast=2.5, detail=0.3, shown=0.5))


def test_whatever_is_sure_is_there_and_counts_without_a_question() -> None:
    card = likened(0.57, 0.55, print_contrast=2.5, detail=0.3)

    assert reading._is_there(card)
    assert reading._confidence(card) >= SURE_CONFIDENCE


@pytest.mark.long
def test_where_faces_are_missing_those_that_may_share_their_drawing_are_asked_about() -> None:
    faces = faces_of("vintage")
    whole = [(Card(slug), faces[slug]) for slug in ("25", "roll", "accident", "driving-ace")]
    lacking = templates_of(whole, decks.size_mm("vintage"), missing=(Card.KM_75, Card.STOP))
    places = [("75", -150.0), ("roll", -50.0), ("accident", 50.0), ("driving-ace", 150.0)]
    table = Table(tuple(card_of("vintage", slug, (x, 0.0)) for slug, x in places), (MAT,), cloth="felt", seed=3)
    photo = face_photos.photograph(table, "vintage", CAMERA, Shot(noise=2))

    seen = sorted(read_faces(photo.image, lacking, mats_on(photo.image)), key=lambda card: card.centre_px[0])

    assert [card.face for card in seen] == [Card.UNKNOWN, Card.UNKNOWN, Card.ACCIDENT, Card.DRIVING_ACE]


def test_a_card_with_a_round_sign_is_found_in_its_own_turn() -> None:
    templates = deck("minimal")
    number = templates.faces.index(Card.STOP)
    (picture,) = templates.fine.upright([number])
    height, width = picture.shape[:2]
    table = cv2.copyMakeBorder(picture, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=(60.0, 0.0, 10.0))
    lies = Lie(60 + (width - 1) / 2, 60 + (height - 1) / 2, 0)
    # The middle picture, on which the sign is told, is half as large.
    right, down = np.multiply(templates.signs[number], 2)

    askew = lies.shifted(right, down).turned(100.0).shifted(-right, -down)
    found = matching.Closely(table, templates).named(askew.on(COARSE_PX_PER_MM / FINE_PX_PER_MM))

    assert found is not None
    assert (found.face, found.lie.distance_px(lies) < 1.5) == (Card.STOP, True)
    assert abs((found.lie.turn_deg + 180) % 360 - 180) < 1.0
