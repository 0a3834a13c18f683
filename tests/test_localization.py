"""Positions of mats: from any number of visible markers, and over time."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import cv2
import numpy as np
import pytest
from pictures import Lens, Mat, Scene, Sticker, Thing, as_seen, clean, picture, through

from companion.tabletop.mat_layout import CARD_MM, Rect, all_mats, side_mat, table_mat
from companion.vision.mats import localization
from companion.vision.mats.calibration import MarkerPoints, survey
from companion.vision.mats.homography import Lens as Bend
from companion.vision.mats.homography import corners_mm
from companion.vision.mats.localization import CHECK_EVERY_S, SEARCH_EVERY_S, Mats, check, look, search
from companion.vision.mats.markers import FAST_WINDOWS, THOROUGH_WINDOWS, find_all
from companion.vision.read import gray_of

SIDE, TABLE = side_mat(1), table_mat()
BOTH = (SIDE, TABLE)
NEAR = Lens(width_mm=1000, tilt_deg=15)
EVERYTHING = frozenset(range(40))
ONLY_3 = frozenset({0, 1, 2})


def find_markers(gray, ids, windows=FAST_WINDOWS):
    return {marker: places[0] for marker, places in find_all(gray, ids, windows).items() if len(places) == 1}


def scene(*, hidden: frozenset[int] = frozenset(), **more: object) -> Scene:
    """A side's mat on the left, the table's on the right, 760 mm in all."""
    mats = (Mat(SIDE, -380, -150, 3.0, hidden), Mat(TABLE, 75, -100, 0.0, hidden))
    return Scene(mats=mats, **more)


def gray_picture(of: Scene, lens: Lens | None = None) -> np.ndarray:
    return gray_of(picture(of, lens or Lens()))


@pytest.fixture(scope="module")
def found():
    """The mats as first found, from near."""
    return search(gray_picture(scene(), NEAR), Mats(), BOTH, 0.0)


def worst_px(mats: Mats, of: Scene, lens: Lens) -> float:
    """The maximum distance of any zone corner from where it was drawn."""
    far = 0.0
    for mat in of.mats:
        fit = mats.of(mat.layout.id)
        assert fit is not None, mat.layout.id
        corners = np.concatenate([corners_mm(rect) for rect in mat.layout.zones.values()])
        far = max(far, float(np.abs(fit.to_px(corners) - through(lens.matrix() @ mat.matrix(), corners)).max()))
    return far


@pytest.mark.variants(5)
@pytest.mark.parametrize(
    ("width_mm", "tilt_deg", "covered", "most_px"),
    [*((1000.0, 20.0, covered, 4.0) for covered in ({0}, {0, 2}, {0, 1, 2})),
     *((width_mm, tilt_deg, set(), 1.5) for tilt_deg in (0.0, 15.0, 30.0) for width_mm in (850.0, 1200.0))],
)  # fmt: skip
def test_zones_are_found_in_place_even_with_covered_corners(width_mm, tilt_deg, covered, most_px):
    lens, of = Lens(width_mm=width_mm, tilt_deg=tilt_deg, noise=5), scene(hidden=frozenset(covered))

    mats = search(gray_picture(of, lens), Mats(), BOTH, 0.0)

    assert worst_px(mats, of, lens) < most_px


def only(shown: int) -> np.ndarray:
    """A picture of a side's mat with one visible marker."""
    return gray_picture(Scene(mats=(Mat(SIDE, -200, -150, 0, frozenset(range(4)) - {shown}),)), Lens(tilt_deg=10))


@pytest.mark.parametrize(
    "shown",
    [
        *(pytest.param(lambda marker=marker: only(marker), id=f"marker {marker} alone") for marker in range(4)),
        pytest.param(lambda: gray_picture(Scene(mats=(Mat(TABLE, -350, -200), Mat(TABLE, 0, -20)))), id="a mat twice"),
        pytest.param(lambda: np.ascontiguousarray(gray_picture(scene(), NEAR)[:, ::-1]), id="mats in a mirror"),
    ],
)
def test_too_few_ambiguous_or_mirrored_markers_place_no_mat(shown):
    assert search(shown(), Mats(), all_mats(), 0.0).fits == ()


@pytest.mark.variants(2)
@pytest.mark.parametrize("shown", [{0, 1}, {1, 2}, {2, 3}, {0, 2}], ids=["above", "right", "below", "across"])
@pytest.mark.parametrize("seed", range(3))
def test_a_mat_with_two_visible_markers_is_placed_correctly_or_not_at_all(shown, seed):
    lens = Lens(width_mm=1500, tilt_deg=25, turn_deg=20, blur_px=1.2, light=0.3, noise=6)
    alone = Scene(mats=(Mat(SIDE, -200, -150, 0, frozenset(range(4)) - shown),))

    mats = search(gray_of(picture(alone, lens, seed)), Mats(), BOTH, 0.0)

    assert not mats.fits or worst_mm(mats, alone, lens) < 6


@pytest.mark.parametrize("way", [check, search])
@pytest.mark.parametrize("hidden", [ONLY_3, EVERYTHING], ids=["one marker shows", "covered"])
def test_a_known_mat_stays_in_place(hidden, way, found):
    later = way(gray_picture(scene(hidden=hidden), NEAR), found, BOTH, 6.0)

    assert worst_px(later, scene(), NEAR) < 1
    assert later.moved == frozenset()


def test_the_marker_under_the_draw_pile_helps_to_place_the_tables_mat():
    lens = Lens(width_mm=1000, tilt_deg=20)
    of = Scene(mats=(Mat(TABLE, -150, -100, 5, frozenset({33, 34})),))

    mats = search(gray_picture(of, lens), Mats(), BOTH, 0.0)

    assert set(mats.of("table").markers) == {32, 35, 36}
    assert worst_px(mats, of, lens) < 1.5


def test_a_marker_uncovered_later_improves_the_position():
    lens = Lens(width_mm=950, tilt_deg=20)
    poor = search(gray_picture(scene(hidden=frozenset({1, 2, 3})), lens), Mats(), BOTH, 0.0)

    better = check(gray_picture(scene(), lens), poor, BOTH, 3.0)

    assert len(better.of("side-1").markers) == 4
    assert worst_px(better, scene(), lens) < 1.5


def test_nothing_is_checked_before_it_is_due():
    gray = gray_picture(scene())
    first = look(gray, Mats(), 10.0, BOTH)

    soon = look(gray, first, 10.1, BOTH)
    due = look(gray, soon, 10.0 + CHECK_EVERY_S, BOTH)

    assert (first.searched_s, soon.checked_s, due.checked_s) == (10.0, 10.0, 12.0)
    assert due.searched_s == 10.0
    assert due.of("side-1") is soon.of("side-1") or worst_px(due, scene(), Lens()) < 1


def test_an_unchanged_marker_is_not_searched_again(monkeypatch):
    searched = []
    monkeypatch.setattr(localization, "find_all", lambda *how, **more: searched.append(how) or find_all(*how, **more))
    still, mats = gray_picture(scene(), NEAR), Mats()
    counts = []
    for number in range(8):
        mats = check(still, mats, BOTH, number * CHECK_EVERY_S) if mats.fits else search(still, mats, BOTH, 0.0)
        counts.append(len(searched))
    nudged = gray_picture(scene(), replace(NEAR, at_mm=(1.0, 0.0)))
    moved = check(nudged, mats, BOTH, 8 * CHECK_EVERY_S)

    assert counts[-1] == counts[-2] > counts[0]
    assert len(searched) > counts[-1]
    assert moved.moved == {"side-1", "table"}


def test_a_missing_mat_is_searched_for_every_few_seconds():
    first = look(gray_picture(Scene(mats=(Mat(SIDE, -380, -150),))), Mats(), 0.0, BOTH)

    early = look(gray_picture(scene()), first, SEARCH_EVERY_S - 3.5, BOTH)
    later = look(gray_picture(scene()), early, SEARCH_EVERY_S, BOTH)

    assert [[fit.layout.id for fit in mats.fits] for mats in (early, later)] == [["side-1"], ["side-1", "table"]]


def test_the_marker_under_the_draw_pile_is_visible_or_covered():
    pile = Thing(((150, -40), (210, -40), (210, 50), (150, 50)), (200, 30, 30))
    photograph = Photograph(TABLE, 150, 170, 0, frozenset(range(36)), scale=0.8)
    no_table = Scene(mats=(Mat(SIDE, -300, -150),))
    both = with_more(scene(), photograph)

    def seen(of: Scene) -> bool | None:
        return search(gray_picture(of, NEAR), Mats(), BOTH, 0.0).draw_marker_seen

    assert (seen(scene()), seen(scene(things=(pile,))), seen(no_table)) == (True, False, None)
    assert (seen(both), seen(replace(both, things=(pile,)))) == (True, False)


def test_stickers_cloth_and_noise_are_not_markers():
    noise = np.random.default_rng(1).integers(0, 255, (1080, 1920), np.uint8)
    cards = gray_picture(Scene(stickers=tuple(Sticker(f"MB1:25-{i:02d}", 60 * i - 270, 0, 30 * i) for i in range(10))))
    ids = tuple(range(37))

    assert find_markers(noise, ids) == {}
    assert find_markers(cards, ids) == {}


def test_two_threads_can_look_at_once():
    gray = gray_picture(scene())
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: len(find_markers(gray, range(37))), range(2)))

    assert found == [9, 9]


def test_the_scale_is_that_at_the_mats_center():
    mats = search(gray_picture(scene()), Mats(), BOTH, 0.0)

    assert [mat.px_per_mm for mat in mats.seen()] == pytest.approx([2.4, 2.4], rel=0.01)


# --- False markers ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Photograph(Mat):
    """A reduced picture of a mat, on a phone or tablet on the table."""

    scale: float = 0.5

    def matrix(self) -> np.ndarray:
        return super().matrix() @ np.diag([self.scale, self.scale, 1.0])


def lone_marker(marker: int, x_mm: float, y_mm: float) -> Mat:
    """One marker of the side's mat in a wrong place, in its printed size."""
    square = next(m.square for m in SIDE.markers if m.id == marker)
    bare = replace(SIDE, zones={}, markers=tuple(m for m in SIDE.markers if m.id == marker), size_mm=(1.0, 1.0))
    return Mat(bare, x_mm - square.x_mm, y_mm - square.y_mm)


def with_more(of: Scene, *mats: Mat) -> Scene:
    return replace(of, mats=(*of.mats, *mats))


TELEPHONE, TABLET = (Photograph(SIDE, 60, 160, 20, scale=scale) for scale in (0.36, 0.6))
LONE = lone_marker(1, 200, 180)


@pytest.mark.variants(5)
@pytest.mark.parametrize(
    ("more", "hidden"),
    [(TELEPHONE, {0, 2}), (TELEPHONE, set()), (LONE, {1}), (LONE, {0, 1}), (LONE, {1, 2, 3}),
     (TELEPHONE, EVERYTHING), (TABLET, set()), (TABLET, {0, 2}), (TABLET, EVERYTHING)],
)  # fmt: skip
def test_neither_a_photo_of_a_mat_nor_a_misread_marker_moves_a_mat(more, hidden, found):
    gray = gray_picture(with_more(scene(hidden=frozenset(hidden)), more), NEAR)

    seen = found
    for t_s in (3.0, 6.0, 12.0):
        seen = check(gray, seen, BOTH, t_s)
        anew = search(gray, seen, BOTH, t_s)

        assert worst_px(seen, scene(), NEAR) < 1.5
        assert worst_px(anew, scene(), NEAR) < 1.5
        assert seen.moved == anew.moved == frozenset()


@pytest.mark.parametrize(
    ("more", "hidden", "markers"),
    [(Photograph(SIDE, 60, 130, 20), set(), {0, 1, 2, 3}), (Photograph(side_mat(2), 60, 130, 20), set(), {0, 1, 2, 3}),
     (LONE, {1}, {0, 2, 3})],
    ids=["a photograph beside it", "a photograph of none there", "a marker seen wrong"],
)  # fmt: skip
def test_false_mats_are_ignored_at_first_sight(more, hidden, markers):
    of = scene(hidden=frozenset(hidden))

    mats = search(gray_picture(with_more(of, more), NEAR), Mats(), all_mats(), 0.0)

    assert {fit.layout.id for fit in mats.fits} == {"side-1", "table"}
    assert set(mats.of("side-1").markers) == markers
    assert worst_px(mats, of, NEAR) < 1.5


def test_a_single_marker_seen_briefly_elsewhere_moves_no_covered_mat(found):
    covered = scene(hidden=frozenset(range(4)))
    strange = search(gray_picture(with_more(covered, lone_marker(1, 200, 180)), NEAR), found, BOTH, 3.0)

    later = search(gray_picture(covered, NEAR), strange, BOTH, 3.5)

    assert strange.moved == later.moved == frozenset()
    assert worst_px(later, scene(), NEAR) < 1.5


# --- Movement --------------------------------------------------------------------------------------------------


def pushed(*, side: Mat | None = None, table: Mat | None = None) -> Scene:
    first, second = scene().mats
    return Scene(mats=(side or first, table or second))


@pytest.mark.variants(5)
@pytest.mark.parametrize(
    ("after", "lens", "moved"),
    [
        (pushed(side=Mat(SIDE, -374, -147, 3)), NEAR, {"side-1"}),
        (pushed(side=Mat(SIDE, -40, 150, 170)), NEAR, {"side-1"}),
        (scene(), replace(NEAR, at_mm=(6.0, 4.0)), {"side-1", "table"}),
        (scene(), replace(NEAR, at_mm=(60.0, -20.0), turn_deg=4.0), {"side-1", "table"}),
        (scene(), replace(NEAR, tilt_deg=30.0), {"side-1", "table"}),
        (pushed(side=Mat(SIDE, -380, -150, 5)), NEAR, {"side-1"}),
        (pushed(table=Mat(TABLE, 120, 0, -60)), NEAR, {"table"}),
        (pushed(side=Mat(SIDE, -380, -130, 8), table=Mat(TABLE, 90, -160, -20)), NEAR, {"side-1", "table"}),
        (pushed(side=Mat(SIDE, -372, -142, 3, frozenset({0, 2}))), NEAR, {"side-1"}),
    ],
    ids=["by a hair", "carried", *(f"the camera {how}" for how in ("by a hair", "turned", "tilted")), "turned",
         "the table's", "both", "half covered"],
)  # fmt: skip
def test_mats_are_tracked_when_they_or_the_camera_move_during_play(after, lens, moved, found):
    later = check(gray_picture(after, lens), found, BOTH, 3.0)

    assert later.moved == moved
    assert worst_px(later, after, lens) < (4 if any(mat.hidden for mat in after.mats) else 1.5)


def test_mats_follow_at_once_when_the_camera_is_nudged_by_a_pixel_or_two():
    seen = search(gray_picture(scene(), NEAR), Mats(), BOTH, 0.0)
    for look_at in (2.0, 4.0, 6.0):
        seen = check(gray_picture(scene(), NEAR), seen, BOTH, look_at)
    after = replace(NEAR, at_mm=(1.2, 0.8))

    seen = check(gray_picture(scene(), after), seen, BOTH, 8.0)

    assert seen.moved == {"side-1", "table"}
    assert worst_px(seen, scene(), after) < 0.5


def test_a_mat_with_one_visible_marker_is_tracked_once_certain():
    seen = search(gray_picture(scene(), NEAR), Mats(), BOTH, 0.0)
    after = pushed(side=Mat(SIDE, -360, -140, 3, ONLY_3))

    moved = []
    for t_s in (2.0, 4.0, 6.0):
        seen = check(gray_picture(after, NEAR), seen, BOTH, t_s)
        moved.append("side-1" in seen.moved)

    assert moved == [False, True, False]
    assert worst_px(seen, after, NEAR) < 10


def test_a_covered_mat_is_found_after_the_camera_moved(found):
    after = replace(NEAR, at_mm=(60.0, -20.0), turn_deg=4.0)
    covered = check(gray_picture(scene(hidden=frozenset(range(4))), after), found, BOTH, 3.0)

    shown = check(gray_picture(scene(), after), covered, BOTH, 9.0)

    assert worst_px(shown, scene(), after) < 1.5


@pytest.mark.long
def test_zone_corners_do_not_jitter():
    noisy = replace(NEAR, noise=9)
    seen = search(gray_of(picture(scene(), noisy, 0)), Mats(), BOTH, 0.0)
    for number in range(1, 6):
        seen = check(gray_of(picture(scene(), noisy, number)), seen, BOTH, 2.0 * number)
    settled = seen.fits

    for number in range(6, 14):
        seen = check(gray_of(picture(scene(), noisy, number)), seen, BOTH, 2.0 * number)

        assert seen.fits == settled
        assert seen.moved == frozenset()
    assert worst_px(seen, scene(), noisy) < 1


@pytest.mark.long
def test_a_slowly_moving_mat_is_tracked():
    seen = search(gray_picture(scene(), NEAR), Mats(), BOTH, 0.0)

    for step in range(1, 16):
        after = pushed(side=Mat(SIDE, -380 + 0.5 * step, -150, 3))
        seen = check(gray_picture(after, NEAR), seen, BOTH, 2.0 * step)

    assert worst_px(seen, after, NEAR) < 4


# --- Lenses ---------------------------------------------------------------------------------------------------

HD = (1280, 720)


def bent(of: Scene, lens: Lens, k1: float) -> tuple[np.ndarray, Bend]:
    """A picture through a wide lens by OpenCV's own model, in gray, and the distortion to find."""
    width, height = lens.size_px
    focal = lens.focal * width
    camera = np.array([[focal, 0, width / 2 - 0.5], [0, focal, height / 2 - 0.5], [0, 0, 1]])
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    shown = np.stack((x, y), axis=-1).reshape(-1, 1, 2)
    straight = cv2.undistortPoints(shown, camera, np.array([k1, 0.0, 0, 0]), P=camera, criteria=(3, 50, 1e-9))
    larger = replace(
        lens, size_px=(width * 3 // 2, height * 3 // 2), width_mm=lens.width_mm * 1.5, focal=lens.focal / 1.5
    )
    at = np.float32(straight.reshape(height, width, 2) + np.array([width / 4, height / 4]))
    image = cv2.remap(clean(of, larger), at[..., 0], at[..., 1], cv2.INTER_LINEAR)
    unit = float(np.hypot(width, height) / 2 / focal)
    return gray_of(as_seen(image, lens)), Bend(lens.size_px, k1 * unit**2)


def worst_mm(mats: Mats, of: Scene, lens: Lens, bend: Bend | None = None) -> float:
    """The maximum error of any zone corner on the picture, in mm on the table."""
    far = 0.0
    for mat in of.mats:
        corners = np.concatenate([corners_mm(rect) for rect in mat.layout.zones.values()])
        straight = through(lens.matrix() @ mat.matrix(), corners)
        true = bend.bend(straight) if bend else straight
        shows = ((true > 0) & (true < lens.size_px)).all(axis=1)
        far = max(far, float(np.abs(mats.of(mat.layout.id).to_mm(true[shows]) - corners[shows]).max(initial=0)))
    return far


def wide_table(hidden: frozenset[int]) -> Scene:
    """The table's mat between eight sides' mats, in three rows."""
    places = [(x, y) for y in (-480, -160, 160) for x in (-660, -220, 220) if (x, y) != (-220, -160)]
    around = [
        Mat(side_mat(n), x, y, (x + 220) / 220, hidden) if y > -480 else Mat(side_mat(n), x + 420, y + 297, 180, hidden)
        for n, (x, y) in enumerate(places, start=1)
    ]
    return Scene(mats=(*around, Mat(TABLE, -158, -116, 0, hidden)))


@pytest.mark.parametrize(("k1", "k2"), [(-0.1, 0.0), (-0.3, 0.0), (0.1, 0.0), (-0.3, 0.1)])
def test_the_lens_distorts_like_opencvs_model(k1, k2):
    focal = 1000.0
    camera = np.array([[focal, 0, 639.5], [0, focal, 359.5], [0, 0, 1]])
    rays = np.random.default_rng(1).uniform((-0.6, -0.35), (0.6, 0.35), (200, 2))
    shown, _ = cv2.projectPoints(
        np.column_stack((rays, np.ones(200))), np.zeros(3), np.zeros(3), camera, np.array([k1, k2, 0, 0])
    )
    unit = float(np.hypot(*HD) / 2 / focal)
    lens = Bend(HD, k1 * unit**2, k2 * unit**4)
    straight = rays * focal + (639.5, 359.5)

    assert lens.bend(straight) == pytest.approx(shown.reshape(-1, 2), abs=1e-6)
    assert lens.straighten(shown.reshape(-1, 2)) == pytest.approx(straight, abs=1e-6)


def test_the_lens_model_stays_plausible_far_outside_the_picture():
    lens = Bend(HD, -0.25)
    along = np.column_stack((np.linspace(640, 6000, 400), np.full(400, 360.0)))

    assert (np.diff(lens.bend(along)[:, 0]) > 0).all()
    assert lens.straighten(lens.bend(along)) == pytest.approx(along, abs=1e-3)


AT_THE_EDGE = Scene(mats=(Mat(SIDE, -420, -230, 3),))


@pytest.mark.variants(2)
@pytest.mark.parametrize(
    ("of", "tilt_deg", "k1"),
    [(AT_THE_EDGE, 20.0, -0.35), *((scene(), tilt, k1) for tilt in (0.0, 30.0, 50.0) for k1 in (-0.35, -0.15, -0.05)),
     (AT_THE_EDGE, 20.0, -0.15)],
)  # fmt: skip
def test_zones_are_correct_through_a_wide_lens_even_at_the_pictures_edge(of, tilt_deg, k1):
    lens = Lens(width_mm=900, tilt_deg=tilt_deg, size_px=HD, noise=4)
    gray, bend = bent(of, lens, k1)

    mats = search(gray, Mats(), BOTH, 0.0)

    assert mats.lens.k1 == pytest.approx(bend.k1, abs=0.02)
    assert worst_mm(mats, of, lens, bend) < 2


CUPS = frozenset({0, 5, 6, 11, 12, 17, 18, 23, 25, 26, 31, 33})


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    ("tilt_deg", "k1", "hidden", "most_mm"),
    [*((tilt, k1, frozenset(), 2) for k1 in (0.0, -0.35) for tilt in (0.0, 25.0, 50.0)), (30.0, -0.2, CUPS, 4)],
    ids=[*(f"{lens}-{tilt}" for lens in ("straight", "wide") for tilt in (0, 25, 50)), "cups on many corners"],
)
def test_eight_sides_and_the_tables_mat_are_found_together(tilt_deg, k1, hidden, most_mm):
    lens, of = Lens(width_mm=1800, tilt_deg=tilt_deg), wide_table(hidden)
    gray, bend = bent(of, lens, k1)

    mats = search(gray, Mats(), all_mats(), 0.0)

    assert len(mats.fits) == 9
    assert worst_mm(mats, of, lens, bend) < most_mm


@pytest.mark.variants(1)
@pytest.mark.parametrize("blur_px", [1.8, 0.5])
@pytest.mark.parametrize("tilt_deg", [0.0, 45.0])
@pytest.mark.parametrize("mats", [1, 2])
def test_a_lens_without_distortion_gets_none(blur_px, tilt_deg, mats):
    of = Scene(mats=scene().mats[:mats])
    for seed in range(3):
        lens = Lens(width_mm=950, tilt_deg=tilt_deg, blur_px=blur_px, noise=10, size_px=HD, jpeg=60)

        seen = search(gray_of(picture(of, lens, seed)), Mats(), BOTH, 0.0)

        assert seen.fits
        assert seen.lens is None


def test_a_known_lens_is_kept_while_most_markers_are_covered():
    lens = Lens(width_mm=900, tilt_deg=20, size_px=HD)
    gray, bend = bent(scene(), lens, -0.3)
    found = search(gray, Mats(), BOTH, 0.0)

    later = check(bent(scene(hidden=frozenset({0, 1, 2, 33, 34})), lens, -0.3)[0], found, BOTH, 3.0)

    assert later.lens is found.lens
    assert worst_mm(later, scene(), lens, bend) < 2


def test_the_grid_for_a_rectified_picture_matches_single_points():
    lens = Lens(width_mm=900, tilt_deg=20, size_px=HD)
    fit = search(bent(scene(), lens, -0.3)[0], Mats(), BOTH, 0.0).of("side-1")

    grid = fit.grid_px(Rect(10.0, 20.0, *CARD_MM), 0.5)

    assert grid.shape == (176, 114, 2)
    assert grid[3, 7] == pytest.approx(fit.to_px([(10.0 + 7.5 * 0.5, 20.0 + 3.5 * 0.5)])[0], abs=1e-3)


SIGHT = np.array([[1700.0, 0, 959.5], [0, 1700, 539.5], [0, 0, 1]])


def corners_seen(slant_deg: float, noise_px: float, seed: int) -> dict[str, MarkerPoints]:
    """The markers of two mats without distortion, with blur's inset and noise; one mat is tilted."""
    chance = np.random.default_rng(seed)
    tilt = np.radians(chance.uniform(0, 40))
    turn = np.array([[1, 0, 0], [0, np.cos(tilt), np.sin(tilt)], [0, -np.sin(tilt), np.cos(tilt)]])
    seen = {}
    for layout, x_mm, slant in ((SIDE, -430, np.radians(slant_deg)), (TABLE, 60, 0.0)):
        mm = np.concatenate([corners_mm(marker.square) for marker in layout.markers])
        placed = np.column_stack((x_mm + mm[:, 0] * np.cos(slant), mm[:, 1] - 200, -mm[:, 0] * np.sin(slant)))
        at = (placed @ turn.T + (0, 0, chance.uniform(900, 1300))) @ SIGHT.T
        px = at[:, :2] / at[:, 2:]
        inwards = px.reshape(-1, 4, 2).mean(axis=1).repeat(4, axis=0) - px
        seen[layout.id] = MarkerPoints(mm, px + 0.01 * inwards + chance.normal(0, noise_px, px.shape))
    return seen


@pytest.mark.variants(2)
@pytest.mark.parametrize(("slant_deg", "noise_px"), [(0, 0.1), (4, 0.15), (0, 0.3), (0, 1.0)])
def test_neither_noise_nor_an_uneven_mat_counts_as_distortion(slant_deg, noise_px):
    found = [survey(corners_seen(slant_deg, noise_px, n), (1920, 1080), None, seek_lens=True).lens for n in range(40)]

    assert found == [None] * 40


# --- Accuracy of corners ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("blur_px", [0.5, 1.2, 1.8])
def test_corners_are_found_to_a_fraction_of_a_pixel_even_soft_and_dim(blur_px):
    lens = Lens(width_mm=1300, tilt_deg=20, turn_deg=10, blur_px=blur_px, light=0.3, noise=4)

    found = find_markers(gray_picture(scene(), lens), range(37), THOROUGH_WINDOWS)

    off = np.concatenate([found[m.id] - marker_px(mat, m.id, lens) for mat in scene().mats for m in mat.layout.markers])
    assert np.sqrt((off**2).mean()) < 0.3


def test_a_card_on_a_markers_corner_does_not_move_its_corners():
    lens = Lens(width_mm=1000)
    x, y = through(scene().mats[0].matrix(), [(12.0, 12.0)])[0]
    card = Thing(((x - 40, y - 50), (x + 3, y - 50), (x + 3, y + 3), (x - 40, y + 3)), (230, 230, 230))

    found = find_markers(gray_picture(scene(things=(card,)), lens), range(37))

    assert np.abs(found[0] - marker_px(scene().mats[0], 0, lens)).max() < 0.5


def marker_px(mat: Mat, marker: int, lens: Lens) -> np.ndarray:
    """A marker's corners as drawn."""
    square = next(m.square for m in mat.layout.markers if m.id == marker)
    return through(lens.matrix() @ mat.matrix(), corners_mm(square))
