"""Mats: where they lie, from however many markers show, and how that holds over time."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from pictures import Lens, Mat, Scene, Sticker, Thing, picture, through

from companion.layout import all_mats, side_mat, table_mat
from companion.vision.fit import corners_mm
from companion.vision.markers import find_markers
from companion.vision.mats import CHECK_EVERY_S, SEARCH_EVERY_S, Mats, check, look, search
from companion.vision.read import gray_of

SIDE, TABLE = side_mat(1), table_mat()
BOTH = (SIDE, TABLE)


def scene(*, hidden: frozenset[int] = frozenset(), turn_deg: float = 3.0, **more: object) -> Scene:
    """A side's mat on the left, the table's on the right: 760 mm in all."""
    mats = (Mat(SIDE, -380, -150, turn_deg, hidden), Mat(TABLE, 75, -100, 0.0, hidden))
    return Scene(mats=mats, **more)


def gray_picture(of: Scene, lens: Lens | None = None) -> np.ndarray:
    return gray_of(picture(of, lens or Lens()))


def worst_px(mats: Mats, of: Scene, lens: Lens) -> float:
    """How far any corner of any zone is from where it was drawn."""
    far = 0.0
    for mat in of.mats:
        fit = mats.of(mat.layout.id)
        assert fit is not None, mat.layout.id
        corners = np.concatenate([corners_mm(rect) for rect in mat.layout.zones.values()])
        far = max(far, float(np.abs(fit.to_px(corners) - through(lens.matrix() @ mat.matrix(), corners)).max()))
    return far


@pytest.mark.parametrize("width_mm", [850.0, 1200.0])
@pytest.mark.parametrize("tilt_deg", [0.0, 15.0, 30.0])
def test_zones_lie_where_they_were_drawn(width_mm, tilt_deg):
    lens = Lens(width_mm=width_mm, tilt_deg=tilt_deg, noise=5)

    mats = search(gray_picture(scene(), lens), Mats(), BOTH, 0.0)

    assert worst_px(mats, scene(), lens) < 1.5


@pytest.mark.parametrize("covered", [{0}, {0, 2}, {0, 1, 2}], ids=["one corner", "two corners", "three corners"])
def test_a_mat_with_covered_corners_is_found_all_the_same(covered):
    lens = Lens(width_mm=1000, tilt_deg=20)
    half_seen = scene(hidden=frozenset(covered))

    mats = search(gray_picture(half_seen, lens), Mats(), BOTH, 0.0)

    assert worst_px(mats, half_seen, lens) < 4


def test_one_marker_alone_on_the_table_gives_a_place():
    lens = Lens(tilt_deg=10)
    alone = Scene(mats=(Mat(SIDE, -200, -150, 0, frozenset({1, 2, 3})),))

    mats = search(gray_picture(alone, lens), Mats(), BOTH, 0.0)

    assert worst_px(mats, alone, lens) < 20 * 2.4
    assert mats.of("table") is None


def test_zones_are_named_by_mat_and_zone():
    lens = Lens()
    mats = search(gray_picture(scene(), lens), Mats(), BOTH, 0.0)
    at = {zone: fit.quad_px(rect).mean(axis=0) for fit in mats.fits for zone, rect in fit.layout.zones.items()}

    named = {zone: mats.zone_at(tuple(point)) for zone, point in at.items()}

    assert named["battle"] == "side-1/battle"
    assert named["discard"] == "table/discard"
    assert mats.zone_at((0.0, 0.0)) is None


def test_a_covered_mat_stays_where_it_was():
    lens = Lens()
    found = search(gray_picture(scene(), lens), Mats(), BOTH, 0.0)
    everything = frozenset(range(40))

    later = check(gray_picture(scene(hidden=everything), lens), found, BOTH, 3.0)

    assert worst_px(later, scene(), lens) < 1
    assert later.moved == frozenset()


def test_a_marker_that_was_covered_at_first_makes_the_place_better_once_it_shows():
    lens = Lens(width_mm=950, tilt_deg=20)
    poor = search(gray_picture(scene(hidden=frozenset({1, 2, 3})), lens), Mats(), BOTH, 0.0)

    better = check(gray_picture(scene(), lens), poor, BOTH, 3.0)

    assert len(better.of("side-1").markers) == 4
    assert worst_px(better, scene(), lens) < 1.5


def test_a_pushed_mat_is_found_anew_and_said_to_have_moved():
    lens = Lens()
    found = search(gray_picture(scene(), lens), Mats(), BOTH, 0.0)
    pushed = Scene(mats=(Mat(SIDE, -372, -145, 3), Mat(TABLE, 75, -100)))

    later = check(gray_picture(pushed, lens), found, BOTH, 3.0)

    assert later.moved == {"side-1"}
    assert worst_px(later, pushed, lens) < 1


def test_a_mat_carried_far_away_is_searched_everywhere():
    lens = Lens(width_mm=1000)
    found = search(gray_picture(scene(), lens), Mats(), BOTH, 0.0)
    carried = Scene(mats=(Mat(SIDE, -100, 40, 170), Mat(TABLE, 75, -220)))

    later = check(gray_picture(carried, lens), found, BOTH, SEARCH_EVERY_S)

    assert later.moved == {"side-1", "table"}
    assert worst_px(later, carried, lens) < 1


def test_looking_again_waits_until_it_is_due():
    lens = Lens()
    gray = gray_picture(scene(), lens)
    first = look(gray, Mats(), 10.0, BOTH)

    soon = look(gray, first, 10.1, BOTH)
    due = look(gray, soon, 10.0 + CHECK_EVERY_S, BOTH)

    assert (first.searched_s, soon.checked_s, due.checked_s) == (10.0, 10.0, 12.0)
    assert due.searched_s == 10.0
    assert due.of("side-1") is soon.of("side-1") or worst_px(due, scene(), lens) < 1


def test_a_missing_mat_is_searched_for_every_few_seconds():
    lens = Lens()
    first = look(gray_picture(Scene(mats=(Mat(SIDE, -380, -150),)), lens), Mats(), 0.0, BOTH)

    early = look(gray_picture(scene(), lens), first, SEARCH_EVERY_S - 3.5, BOTH)
    later = look(gray_picture(scene(), lens), early, SEARCH_EVERY_S, BOTH)

    assert [fit.layout.id for fit in early.fits] == ["side-1"]
    assert [fit.layout.id for fit in later.fits] == ["side-1", "table"]


def test_the_marker_under_the_draw_pile_shows_or_is_covered():
    lens = Lens()
    pile = Thing(((150, -40), (210, -40), (210, 50), (150, 50)), (200, 30, 30))

    shows = search(gray_picture(scene(), lens), Mats(), BOTH, 0.0)
    covered = search(gray_picture(scene(things=(pile,)), lens), Mats(), BOTH, 0.0)
    without = search(gray_picture(Scene(mats=(Mat(SIDE, -300, -150),)), lens), Mats(), BOTH, 0.0)

    assert (shows.draw_marker_seen, covered.draw_marker_seen, without.draw_marker_seen) == (True, False, None)


def test_a_marker_that_is_there_twice_tells_nothing():
    twice = Scene(mats=(Mat(TABLE, -350, -200), Mat(TABLE, 0, -20)))

    mats = search(gray_picture(twice), Mats(), all_mats(), 0.0)

    assert mats.fits == ()


def test_stickers_cloth_and_noise_are_no_markers():
    noise = np.random.default_rng(1).integers(0, 255, (1080, 1920), np.uint8)
    cards = gray_picture(Scene(stickers=tuple(Sticker(f"MB1:25-{i:02d}", 60 * i - 270, 0, 30 * i) for i in range(10))))
    ids = tuple(range(37))

    assert find_markers(noise, ids) == {}
    assert find_markers(cards, ids) == {}


def test_two_threads_may_look_at_once():
    gray = gray_picture(scene())
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(find_markers(gray, range(37))))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [9, 9]


def test_the_scale_is_told_at_the_middle_of_the_mat():
    mats = search(gray_picture(scene()), Mats(), BOTH, 0.0)

    assert [mat.px_per_mm for mat in mats.seen()] == pytest.approx([2.4, 2.4], rel=0.01)
