"""Decks to test with differ as decks do, and photographs of cards without stickers tell the truth about them."""

from __future__ import annotations

import cv2
import decks
import face_photos
import numpy as np
import pytest
from face_photos import FaceScore, compared
from laid import Cover, Laid, Table, in_sight
from webcam import Pose

from companion.rules.cards import SAFETY_OF

pytestmark = pytest.mark.long

SMALL = 2.0


@pytest.mark.parametrize("style", decks.STYLES)
def test_every_face_of_a_deck_is_there_and_unlike_the_others(style):
    width, height = decks.size_mm(style)
    drawn = {slug: decks.face(style, slug, SMALL) for slug in decks.CLASSIC}
    drawn[decks.BACK] = decks.back(style, SMALL)

    assert {image.shape for image in drawn.values()} == {(round(height * SMALL), round(width * SMALL), 3)}
    pairs = [(a, b) for a in drawn for b in drawn if a < b and np.array_equal(drawn[a], drawn[b])]
    assert pairs == []


def test_safeties_of_the_twofold_deck_are_the_same_upside_down_and_its_distances_are_not():
    def likeness(slug: str) -> float:
        image = decks.face("twofold", slug, SMALL).astype(np.float32)
        return float(np.corrcoef(image.ravel(), image[::-1, ::-1].ravel())[0, 1])

    assert min(likeness(card.value) for card in set(SAFETY_OF.values()) if card.value in decks.CLASSIC) > 0.97
    assert max(likeness(slug) for slug in ("25", "50", "75", "100", "200")) < 0.7


def test_distances_of_the_vintage_deck_share_one_drawing():
    one, other = (decks.face("vintage", slug, SMALL).astype(int) for slug in ("25", "200"))

    assert np.abs(one - other)[30:130].max() == 0


def test_the_same_seed_gives_the_same_table():
    one, two = (face_photos.face_photo(3, "cartoon", camera="720p", layout="mats") for _ in range(2))

    assert np.array_equal(one.image, two.image)
    assert [card.face for card in one.faces] == [card.face for card in two.faces]


@pytest.mark.parametrize(
    ("style", "layout"), [("vintage", "mats"), ("cartoon", "scattered"), ("painted", "fans"), ("old", "rows")]
)
def test_a_card_lies_where_the_truth_says(style, layout):
    photo = face_photos.face_photo(5, style, layout=layout, camera="720p", things=0.0)

    cards = [card for card in photo.ours if card.in_sight]
    assert len(cards) >= 3
    assert min(likeness(photo, card) for card in cards) > 0.6


def likeness(photo, card) -> float:
    """How much what lies there looks like the face that should, less blur and light."""
    size = (57, 88)
    there = cv2.resize(face_photos.cut_out(photo.image, card.corners_px, (114, 176)), size).astype(np.float32)
    face = cv2.resize(decks.face(card.deck, card.face), size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return float(np.corrcoef(there[4:-4, 4:-4].ravel(), face[4:-4, 4:-4].ravel())[0, 1])


def test_what_a_later_card_a_hand_or_the_edge_hides_is_not_seen():
    below, above, beside, outside = (
        Laid(x, y, 0, look="deck dark roll") for x, y in ((0, 0), (0, 44), (150, 0), (300, 0))
    )
    cup = Cover(((140, -60), (180, -60), (180, 60), (140, 60)))
    table = Table((below, above, beside, outside), covers=(cup,))

    photo = face_photos.photograph(table, "dark", Pose(3.2))

    first, second, third, last = photo.faces
    assert (first.seen[:22].all(), first.seen[24:].any()) == (True, False)
    assert (second.in_sight, third.in_sight, last.in_sight) == (True, False, False)
    assert third.visible == pytest.approx(18.5 / 57, abs=0.03)
    assert 0.4 < last.visible < 0.6


def test_a_thing_on_a_card_hides_it():
    rng = np.random.default_rng(0)
    table = Table((Laid(0, 0),), things=(face_photos.telephone((0.0, 0.0), rng),))

    assert in_sight(table)[0].mean() < 0.2


def test_the_truth_knows_zones_and_what_lies_sideways():
    photos = [face_photos.face_photo(seed, "own", layout="mats", camera="720p", things=0.0) for seed in range(3)]

    cards = [card for photo in photos for card in photo.ours]
    zones = {card.zone for card in cards}
    assert {"side-1/battle", "side-1/distance", "side-1/safety"} <= zones
    assert {card.zone.partition("/")[2] for card in cards if card.sideways and card.zone} <= {"safety"}


def test_nothing_on_a_photo_of_strangers_is_a_face_of_the_deck():
    photo = face_photos.stranger_photo(1, "vintage", camera="720p")

    assert len(photo.faces) > 3
    assert photo.ours == ()


def test_what_a_reader_says_is_counted():
    table = Table(
        (
            face_photos.card_of("dark", "roll", (-100, 0)),
            face_photos.card_of("dark", "stop", (0, 0)),
            face_photos.card_of("dark", decks.BACK, (100, 0)),
            face_photos.card_of("vintage", "stop", (200, 0)),
        )
    )
    photo = face_photos.photograph(table, "dark", Pose(3.2))
    middles = [card.centre_px for card in photo.faces]

    said = zip(("roll", "roll", "stop", "stop"), middles, strict=True)
    score = compared(photo, [*said, ("stop", (100.0, 100.0)), (None, (100.0, 900.0))])

    assert (score.in_sight, score.read, score.wrong) == (2, 1, ("stop as roll",))
    assert score.ghosts == ("stop for back of dark", "stop for stop of vintage", "stop at 100, 100")
    assert len(score.strays) == 1


def test_a_card_may_be_left_untold_and_half_a_card_is_counted_apart():
    table = Table((face_photos.card_of("dark", "roll", (0, 0)), face_photos.card_of("dark", "stop", (0, 30))))
    photo = face_photos.photograph(table, "dark", Pose(3.2))
    below, above = (card.centre_px for card in photo.faces)

    score = compared(photo, [("roll", below), (None, above)])

    assert score == FaceScore(in_sight=1, unknown=1, partly=1, partly_read=1)
