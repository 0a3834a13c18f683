"""A table that three.js renders: its truth fits the picture, and our reader reads it."""

from dataclasses import replace

import numpy as np
import pytest
from face_photos import card_of
from laid import Glued, Table
from photos import mat
from rendered.pictures import Darkroom
from rendered.rooms import room
from rendered.studio import NoRenderer

from companion.tabletop.card_ids import payload
from companion.vision.counting.photographs import view_of

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    """Two cards with stickers on one mat, the second half on the first, in ordinary light."""
    cards = [
        replace(card_of("own", slug, (-60 + x, 60)), sticker=Glued(payload(f"{slug}-01"), -16, -30))
        for slug, x in (("75", 0), ("100", 30))
    ]
    lit = replace(room(1, things=0), exposure=0.8, noise=0.004, barrel=0.04, bend_mm=1.0)
    try:
        with Darkroom(tmp_path_factory.mktemp("pictures")) as dark:
            return dark.picture(Table(tuple(cards), (mat("side-1", 0, 0, 0),)), "own", lit, (1280, 720), 640)
    except NoRenderer as error:
        pytest.skip(str(error))


def test_a_rendered_card_is_read_where_the_truth_says(picture):
    photo, _ = picture

    view = view_of(photo.image, None)

    seen = {sighting.card: sighting.centre_px for sighting in view.sightings}
    assert {mat.id for mat in view.mats} == {"side-1"}
    assert set(seen) == {"75-01", "100-01"}
    for card, name in zip(photo.faces, ("75-01", "100-01"), strict=True):
        inside = np.array(card.corners_px)
        assert (inside.min(0) < seen[name]).all()
        assert (seen[name] < inside.max(0)).all()


def test_mats_are_located_where_they_were_rendered(picture):
    photo, _ = picture
    (found,) = view_of(photo.image, None).mats

    # The cards were put down in the mat's millimeters, so the mat's corners predict the card's.
    across, down = (
        np.subtract(found.corners_px[1], found.corners_px[0]),
        np.subtract(found.corners_px[3], found.corners_px[0]),
    )
    roughly = np.array(found.corners_px[0]) + across * (210 - 30) / 420 + down * (148.5 + 60) / 297

    assert np.hypot(*(roughly - photo.faces[1].centre_px)) < 25


def test_the_visible_share_and_burnt_pixels_come_from_the_picture(picture):
    photo, scenery = picture
    below, above = photo.faces

    assert above.visible > 0.97
    assert 30 / 57 - 0.05 < below.visible < 30 / 57 + 0.05
    assert above.burnt == 0
    assert set(np.unique(scenery.ids)) == {0, 1, 2, 3}
