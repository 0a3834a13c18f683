"""The lookout: what is to be said of the latest frame, asked from the pages."""

import cv2
import numpy as np
import pytest
from pictures import Lens, Mat, Scene, Sticker, picture

from companion.tabletop.drawn_zones import DrawnZones, parse_drawing
from companion.tabletop.mat_layout import side_mat
from companion.vision.capture.sources import Frame
from companion.vision.eye import Eye
from companion.vision.quality import live_survey
from companion.vision.quality.live_survey import Lookout
from companion.vision.view import View

SIDE = Mat(side_mat(1), -215, -135)
BARE = np.full((680, 960, 3), 90, np.uint8)
DRAWN = {
    "picture": [960, 680],
    "zone": [
        {"name": "side-1/battle", "rect": [100, 300, 80, 150]},
        {"name": "side-1/distance", "rect": [200, 300, 400, 150]},
    ],
}


def near() -> np.ndarray:
    return picture(Scene(mats=(SIDE,)), Lens(width_mm=480, size_px=(960, 680), at_mm=(-5, 15), noise=4))


@pytest.fixture
def clock(clock, monkeypatch):
    """The time, to be set by the test."""
    monkeypatch.setattr(live_survey.time, "monotonic", clock)
    return clock


def test_the_zones_of_a_mat_are_told_with_what_can_be_read_there(clock):
    seen = Lookout(Eye())
    assert seen.survey() is None
    seen(Frame(near(), 0.0))

    survey = seen.survey()

    assert survey.size_px == (960, 680)
    assert set(survey.printed) == {f"side-1/{zone}" for zone in SIDE.layout.zones}
    assert {zone.zone for zone in survey.advice.zones} == set(survey.printed)
    assert survey.drawn == {}


def test_a_mat_in_play_that_is_not_seen_is_asked_for(clock):
    seen = Lookout(Eye(), lambda: ("side-1", "side-2"))
    seen(Frame(near(), 0.0))

    assert [hint.zones for hint in seen.survey().advice.hints if hint.code == "mat-missing"] == [("side-2",)]


def test_zones_that_are_drawn_count_from_the_next_picture_on(clock):
    zones = DrawnZones()
    seen = Lookout(Eye(drawn=zones), lambda: ("side-1",), drawn=zones)
    seen(Frame(BARE, 0.0))
    before = seen.survey()

    zones.save(parse_drawing(DRAWN))
    seen(Frame(BARE, 0.1))

    assert (before.drawn, before.is_last) == ({}, False)
    assert set(seen.survey().drawn) == {"side-1/battle", "side-1/distance"}
    assert np.allclose(seen.survey().drawn["side-1/battle"][0], (100, 300), atol=1)


def test_a_picture_is_looked_at_every_other_second_however_many_ask(clock):
    seen = Lookout(Eye())
    seen(Frame(near(), 0.0))
    first = seen.survey()
    clock.now_s += live_survey.LOOK_AGAIN_S - 0.1
    again = seen.survey()
    clock.now_s += 0.2

    later = seen.survey()

    assert again is first
    assert later is not first


def test_after_the_last_picture_what_is_drawn_is_shown_on_it_at_once_and_read(clock):
    zones = DrawnZones()
    seen = Lookout(Eye(drawn=zones), drawn=zones)
    bare = picture(Scene(stickers=(Sticker("MB1:ROLL-03", 0, 0),)), Lens(width_mm=480, size_px=(960, 680)))
    for frame in seen.until_over(iter([Frame(bare, 0.0)])):
        seen(frame)
    before = seen.survey()

    zones.save(parse_drawing(DRAWN))
    after = seen.survey()

    assert (before.is_last, set(before.drawn)) == (True, set())
    assert (after.is_last, set(after.drawn)) == (True, {"side-1/battle", "side-1/distance"})
    assert after.advice.cards == 1
    assert seen.survey() is after


def test_what_was_seen_is_not_told_any_more_once_the_picture_is_not_fresh():
    seen = Lookout(Eye())
    fresh = [True]
    seen(Frame(near(), 0.0, is_fresh=lambda: fresh[0]))
    assert seen.survey() is not None

    fresh[0] = False
    assert seen.survey() is None

    seen(Frame(near(), 4.1))
    assert seen.survey() is not None


def test_a_survey_survives_that_all_is_forgotten_while_it_is_made(clock, monkeypatch):
    seen = Lookout(Eye())
    seen(Frame(near(), 0.0))
    holds = Lookout._still_holds

    def forgotten_meanwhile(lookout: Lookout, now_s: float) -> bool:
        lookout.begin_afresh()
        return holds(lookout, now_s)

    monkeypatch.setattr(Lookout, "_still_holds", forgotten_meanwhile)

    assert seen.survey().size_px == (960, 680)


def test_the_pace_is_that_of_the_latest_looks_and_begins_anew_after_a_gap(clock):
    seen = Lookout(lambda frame: setattr(clock, "now_s", clock.now_s + 0.1))
    for number in range(30):
        clock.now_s += 0.15
        seen(Frame(BARE, number / 4))

    assert (round(seen.pace.looks, 2), round(seen.pace.busy, 2)) == (4.0, 0.4)

    seen(Frame(BARE, 99.0, after_gap=True))

    assert seen.pace is None


def looked(seen: Lookout, image: np.ndarray, clock, took_s: float) -> None:
    """Look for long enough to know the pace, and ask what is seen."""
    seen._eye.took_s = took_s
    for number in range(live_survey.PACE_LOOKS):
        clock.now_s += 0.1
        seen(Frame(image, number / 10))
    seen.survey()


def test_larger_pictures_are_wanted_of_a_far_table_and_given_up_for_good_where_the_computer_is_too_slow(clock):
    class Timed(Eye):
        def __call__(self, frame: Frame) -> View:
            clock.now_s += self.took_s
            return super().__call__(frame)

    seen = Lookout(Timed())
    far = picture(Scene(mats=(SIDE,)), Lens(width_mm=2400, size_px=(1920, 1080), noise=4))
    looked(seen, far, clock, took_s=0.02)
    assert seen.size_px == (3840, 2160)

    looked(seen, cv2.resize(far, (3840, 2160)), clock, took_s=0.9)
    assert seen.size_px == (1920, 1080)

    clock.now_s += 10
    looked(seen, far, clock, took_s=0.02)
    assert seen.size_px == (1920, 1080)
