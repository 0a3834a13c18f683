"""The verdict on a camera, the same in `doctor` and on the pages: one finding per aspect, and one next step."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from client import SECRET, tap, text_of
from test_camera_page import CLOSER, survey, zone

from companion.match.match import Match
from companion.pages import Camera, create_app
from companion.vision.quality import advice as advice_module
from companion.vision.quality import camera_check
from companion.vision.quality.advice import NO_MATS, Advice, Tip
from companion.vision.quality.camera_check import Trial
from companion.vision.quality.live_survey import Survey
from companion.vision.quality.verdict import _OF_HINTS, Aspect, Pace, size_wanted, verdict_on

SIZE = (1920, 1080)
FINE = Advice(SIZE, 20.0, (zone("side-1/battle"), zone("side-2/battle")), (), 104, 12)
QUICK = Pace(4.0, 0.3)


def advice(*hints: Tip, **changes: object) -> Advice:
    return Advice(SIZE, 20.0, (zone("side-1/battle", **changes),), hints, 104, 12)


def finding(of: Advice, aspect: Aspect, pace: Pace | None = None) -> tuple[str, bool | None]:
    return next((str(one.says), one.is_good) for one in verdict_on(of, pace).findings if one.aspect is aspect)


def test_a_camera_without_problems_is_good_and_the_next_step_is_the_game():
    found = verdict_on(FINE, QUICK)

    assert (found.is_good, found.says) == (True, "All good: you can play.")
    assert found.next_step == "Leave the camera where it is, and set up the game."
    assert [one.aspect for one in found.findings] == list(Aspect)
    assert all(one.is_good for one in found.findings)


@pytest.mark.parametrize(
    ("aspect", "hint", "changes", "says"),
    [
        (Aspect.GLARE, "glare", {"glare": 0.07}, "glare on 7%"),
        (Aspect.FOCUS, "blurred", {"blur_px": 2.2}, "blurred (2.2 px)"),
        (Aspect.LIGHT, "dark", {"white": 60.0}, "too dark"),
        (Aspect.LIGHT, "uneven", {}, "too bright, or uneven"),
        (Aspect.MATS, "mat-cut-off", {}, "one mat found"),
        (Aspect.STICKERS, "closer", {"smallest_mm": 26.0}, "readable from 26 mm; the usual size is 20 mm"),
    ],
)
def test_the_aspect_of_a_hint_is_not_good(aspect, hint, changes, says):
    amiss = advice(Tip(hint, "Do this.", (), needed=True), **changes)

    assert finding(amiss, aspect) == (says, False)
    assert (verdict_on(amiss).is_good, verdict_on(amiss).next_step) == (False, "Do this.")


def test_every_hint_belongs_to_an_aspect():
    codes = set(re.findall(r'Tip\(\s*"([a-z-]+)"', Path(advice_module.__file__).read_text(encoding="utf-8")))

    assert codes | {"silent"} == set(_OF_HINTS)


def test_without_mats_only_the_picture_is_judged():
    bare = Advice(SIZE, 20.0, (), (NO_MATS,), None, None)

    assert [one.aspect for one in verdict_on(bare).findings] == [Aspect.PICTURE, Aspect.MATS]
    assert verdict_on(bare).next_step == NO_MATS.say


def test_small_cards_and_small_pictures_are_not_faults():
    far = advice(px_per_mm=(0.9, 0.9))

    assert finding(far, Aspect.FACES) == ("too small without stickers", None)
    assert verdict_on(far).is_good


@pytest.mark.parametrize(
    ("pace", "says", "is_enough"),
    [
        (Pace(4.2, 0.2), "checked 4 times a second, 1920 × 1080", True),
        (Pace(1.1, 1.0), "checked once a second, 1920 × 1080", False),
        (Pace(0.3, 1.0), "checked every 3 seconds, 1920 × 1080", False),
    ],
)
def test_the_pace_is_reported_with_the_picture_size(pace, says, is_enough):
    assert finding(FINE, Aspect.PACE, pace) == (says, is_enough)


@pytest.mark.parametrize(("busy", "says"), [(0.95, "This computer is slow"), (0.3, "The camera sends few pictures")])
def test_a_slow_computer_is_distinguished_from_a_slow_camera(busy, says):
    slow = verdict_on(FINE, Pace(1.0, busy))

    assert slow.next_step.startswith(says)
    assert (slow.is_good, slow.says) == (True, "Good enough to play; one thing would help.")


PACES = {
    "as often as is useful": (30.0, 0.001, "checked 10 times a second, 320 × 240"),
    "a slow camera": (5.0, 0.001, "checked 5 times a second, 320 × 240"),
    "a slow computer": (30.0, 0.5, "checked 2 times a second, 320 × 240"),
}


@pytest.mark.parametrize(("fps", "looks_take_s", "says"), PACES.values(), ids=PACES)
def test_before_the_start_the_slower_of_camera_and_computer_sets_the_pace(monkeypatch, fps, looks_take_s, says):
    times = iter((0.0, camera_check.PACE_LOOKS * looks_take_s))
    monkeypatch.setattr(camera_check, "time", SimpleNamespace(monotonic=times.__next__))
    found = camera_check.verdict_of(Trial("It", (np.full((240, 320, 3), 90, np.uint8),), fps))

    assert next(one.says for one in found.findings if one.aspect is Aspect.PACE) == says


USUAL, LARGE = (1920, 1080), (3840, 2160)


SIZES = {
    "small cards, a quick computer": (USUAL, Pace(10.0, 0.5), 26.0, LARGE),
    "cards large enough": (USUAL, Pace(10.0, 0.5), 16.0, USUAL),
    "small cards, a slow computer": (USUAL, Pace(5.0, 0.9), 26.0, USUAL),
    "a pace not known yet": (USUAL, None, 26.0, USUAL),
    "it keeps up": (LARGE, Pace(4.0, 0.9), 16.0, LARGE),
    "it does not": (LARGE, Pace(1.5, 0.9), 26.0, USUAL),
    "only the camera is slow": (LARGE, Pace(1.5, 0.2), 26.0, LARGE),
}


@pytest.mark.parametrize(("now", "pace", "smallest_mm", "wanted"), SIZES.values(), ids=SIZES)
def test_larger_pictures_are_used_if_cards_look_small_and_the_computer_is_fast(now, pace, smallest_mm, wanted):
    assert size_wanted(now, pace, advice(smallest_mm=smallest_mm)) == wanted


# --- Before the first match -----------------------------------------------------------------------------------


def client_of(match: Match, seen: Survey | None, **more: object):
    return create_app(
        match, secret=SECRET, camera=Camera(lambda: b"a picture", survey=lambda: seen, **more)
    ).test_client()


SEEN = survey(zone("side-1/battle"))
CLOSE = survey(zone("side-2/distance", good=False), hints=(Tip("closer", CLOSER, (), needed=True),))


def test_the_host_tries_the_camera_first_and_only_once(match):
    page = client_of(match, SEEN)

    assert page.get("/setup").location == "/camera/trial"
    assert "All good: you can play." in text_of(page.get("/camera/trial"))
    assert tap(page, "/camera/trial").location.startswith("/setup")
    assert "Who plays" in text_of(page.get("/setup"))


def test_problems_are_shown_with_one_next_step_and_can_be_skipped(match):
    shown = text_of(client_of(match, CLOSE).get("/camera/trial"))

    assert "Not yet: cards would go unread. Move the camera 20 cm closer" in shown
    assert "Skip: set up the game" in shown


@pytest.mark.parametrize("more", [{"is_there": lambda: False}, {"is_simulated": True}], ids=["no camera", "drawn"])
def test_without_a_camera_the_game_is_set_up_at_once(match, more):
    assert client_of(match, SEEN, **more).get("/setup").status_code == 200


def test_after_the_first_match_the_camera_is_tried_from_its_own_page(begun):
    page = client_of(begun, SEEN)

    assert page.get("/setup").status_code == 200
    assert 'href="/camera/trial"' in page.get("/camera").get_data(as_text=True)
    assert "Back to the camera" in text_of(page.get("/camera/trial"))


def test_a_page_waiting_for_the_first_picture_reloads_with_it(match):
    assert "There is no current picture" in text_of(client_of(match, None).get("/camera/trial"))
    assert client_of(match, SEEN).get("/camera/trial?waiting=1").headers["HX-Refresh"] == "true"
