"""Several cameras over one table: which camera reports which mat, and a hand that each of two sees half of."""

from __future__ import annotations

import queue
import random
from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
import pytest
from films import sheets

from companion.app import demo, service
from companion.pages import Camera
from companion.pages.table_camera import camera_settings
from companion.rules.cards import Card
from companion.rules.play import Verb
from companion.simulate import arrange, frame_source
from companion.simulate.animation import Tempo
from companion.simulate.arrange import TablePlan
from companion.simulate.art import STICKERED
from companion.simulate.camera_model import typical_look
from companion.simulate.scene import Scene
from companion.simulate.script import Script, read_script, shipped_script
from companion.simulate.studio import Studio
from companion.tracking.film import Watcher
from companion.tracking.live import TableWatch
from companion.tracking.robot_hand import RobotHand
from companion.vision.camera_group import STAYS, CameraGroup
from companion.vision.capture.frame_sets import side_by_side
from companion.vision.capture.sources import Frame
from companion.vision.quality.advice import Advice, Tip
from companion.vision.quality.live_survey import Lookout, Survey
from companion.vision.view import FACE, STICKER, MatSeen, Sighting, View

SIZE = (960, 540)
PICTURE = np.zeros((40, 60, 3), np.uint8)
OPENING = """edition classic
side Ann
side Bob
hand first Ann
Ann roll
Bob roll
Ann discard 25
Bob 100
"""


# --- Which camera reports which mat ----------------------------------------------------------------------------


class Seeing:
    """A lookout with a scripted view."""

    def __init__(self, *mats: str, scale: float = 2.0) -> None:
        self.view = View(0.0, tuple(mat(name, scale) for name in mats), ())
        self.showing = frozenset(mats)
        self.said: Survey | None = None
        self.times_begun = 0

    def begin_afresh(self) -> None:
        self.times_begun += 1

    def __call__(self, frame: Frame) -> View:
        return replace(self.view, t_s=frame.t_s)

    def survey(self) -> Survey | None:
        return self.said

    def lays(self, face: str, zone: str, *, by: str = STICKER, stay: int | None = None) -> Seeing:
        card = f"{face}-01" if by == STICKER else None
        seen = Sighting(Card(face), card, (30.0, 20.0), None, zone, False, 0.99, by, stay=stay)
        self.view = replace(self.view, sightings=(*self.view.sightings, seen))
        return self


def mat(name: str, scale: float, right: float = 50.0) -> MatSeen:
    return MatSeen(name, ((10.0, 10.0), (right, 10.0), (right, 30.0), (10.0, 30.0)), scale)


def group(*cameras: Seeing) -> CameraGroup:
    return CameraGroup(lambda number: cameras[number])


def looked(over: CameraGroup, *sends: bool, after_gap: bool = False) -> View:
    """The group's view if these of its cameras send pictures; `after_gap` applies to the last camera."""
    frames = [Frame(PICTURE, 1.0, after_gap=after_gap and n == len(sends) - 1) for n in range(len(sends))]
    return over(side_by_side([f if s else None for f, s in zip(frames, sends, strict=True)], (60, 40)))


def cards(view: View) -> list[str | None]:
    return [seen.card for seen in view.sightings if seen.zone not in view.unknown_zones]


def test_each_camera_reports_its_mats_in_positions_on_the_combined_picture():
    left, right = Seeing("side-1").lays("roll", "side-1/battle"), Seeing("side-2").lays("stop", "side-2/battle")

    view = looked(group(left, right), True, True)

    assert [(seen.zone, seen.centre_px) for seen in view.sightings] == [
        ("side-1/battle", (30.0, 20.0)),
        ("side-2/battle", (30.0, 60.0)),
    ]
    assert [seen.corners_px[0] for seen in view.mats] == [(10.0, 10.0), (10.0, 50.0)]
    assert (view.trouble, view.note, view.unknown_zones) == (None, None, frozenset())


def test_of_two_cameras_the_one_that_sees_a_mat_larger_reports_it():
    far, near = Seeing("side-1").lays("25", "side-1/distance"), Seeing("side-1", scale=3.0)

    view = looked(group(far, near), True, True)

    assert (cards(view), [seen.px_per_mm for seen in view.mats]) == ([], [3.0])


def test_a_mat_stays_with_its_camera_if_another_sees_it_only_slightly_larger():
    first, second = Seeing("side-1").lays("roll", "side-1/battle"), Seeing("side-1", scale=1.9)
    both = group(first, second)
    looked(both, True, True)

    second.view = replace(second.view, mats=(mat("side-1", 2.4),))
    assert cards(looked(both, True, True)) == ["roll-01"]
    second.view = replace(second.view, mats=(mat("side-1", 2.6),))
    assert cards(looked(both, True, True)) == []


@pytest.mark.parametrize("why", ["cut off", "known from before"])
def test_a_camera_that_sees_the_whole_mat_is_preferred_to_a_larger_view(why):
    larger, whole = Seeing("side-1", scale=4.0), Seeing("side-1").lays("roll", "side-1/battle")
    if why == "cut off":
        larger.view = replace(larger.view, mats=(mat("side-1", 4.0, right=90.0),))
    else:
        larger.showing = frozenset()

    assert cards(looked(group(larger, whole), True, True)) == ["roll-01"]


def test_the_mats_of_a_silent_camera_are_unknown_and_the_page_names_the_camera():
    left, right = Seeing("side-1").lays("roll", "side-1/battle"), Seeing("side-2", "table")
    both = group(left, right)
    looked(both, True, True)

    view = looked(both, True, False)

    assert {"side-2/battle", "side-2/distance", "table/draw"} <= view.unknown_zones
    assert (cards(view), view.trouble, view.draw_pile_empty) == (["roll-01"], None, None)
    assert view.note == ("Camera 2: No pictures. Plays on its mats are not detected; enter them by hand.")


@pytest.mark.parametrize("right", [50.0, 90.0], ids=["whole", "in part"])
def test_another_camera_that_sees_the_whole_mat_replaces_a_silent_one(right):
    best, other = Seeing("side-1", scale=3.0), Seeing("side-1").lays("roll", "side-1/battle")
    other.view = replace(other.view, mats=(mat("side-1", 2.0, right=right),))
    both = group(best, other)
    assert cards(looked(both, True, True)) == []

    view = looked(both, False, True)

    assert cards(view) == (["roll-01"] if right == 50.0 else [])
    assert ("side-1/battle" in view.unknown_zones) is (right == 90.0)


def test_the_first_picture_after_a_gap_reports_nothing_yet():
    right = Seeing("side-2").lays("stop", "side-2/battle")
    both = group(Seeing("side-1"), right)

    assert cards(looked(both, True, True, after_gap=True)) == []
    assert cards(looked(both, True, True)) == ["stop-01"]


def test_one_blinded_camera_hides_its_mats_and_all_blinded_are_trouble():
    left, right = Seeing("side-1"), Seeing("side-2").lays("stop", "side-2/battle")
    both = group(left, right)
    right.view = replace(right.view, trouble="The light has changed.")

    view = looked(both, True, True)
    assert (cards(view), view.trouble, view.note) == ([], None, "Camera 2: The light has changed.")

    left.view = replace(left.view, trouble="No mat found.")
    assert looked(both, True, True).trouble == "Camera 1: No mat found."


def test_cards_recognized_by_face_have_different_numbers_per_camera():
    left = Seeing("side-1").lays("roll", "side-1/battle", by=FACE, stay=1)
    right = Seeing("side-2").lays("roll", "side-2/battle", by=FACE, stay=1)

    assert [seen.stay for seen in looked(group(left, right), True, True).sightings] == [1, 1 + STAYS]


def test_a_robots_hand_is_hidden_on_every_picture_that_shows_it():
    view = looked(group(Seeing("robot"), Seeing("robot", scale=3.0)), True, True)

    hand = RobotHand().after(view)
    hidden = hand.hidden(np.full((80, 60, 3), 255, np.uint8))

    assert len(hand.mats) == 2
    assert hidden[20, 30, 0] < 255
    assert hidden[60, 30, 0] < 255


def test_all_cameras_but_the_first_start_over_if_one_is_added_or_removed():
    """The frame does not say which one. Eyes keep counting, so that no two cards get the same number."""
    each = [Seeing(f"side-{number + 1}").lays("stop", f"side-{number + 1}/battle") for number in range(3)]
    over = group(*each)

    mats = [len(looked(over, *[True] * cameras).mats) for cameras in (2, 3, 2, 3)]

    assert mats == [2, 3, 2, 3]
    assert [seeing.times_begun for seeing in each] == [0, 3, 2]


def test_a_single_camera_works_as_without_a_group():
    alone = Seeing("side-1")
    alone.view = replace(alone.view, trouble="No mat found.")

    assert group(alone)(Frame(PICTURE, 1.0)) == replace(alone.view, t_s=1.0)


def test_the_page_shows_all_cameras_zones_and_names_the_camera_of_each_advice():
    left, right = Seeing("side-1"), Seeing("side-2")
    left.said = survey("side-1/battle")
    right.said = survey("side-2/battle", "side-1/battle", hint=Tip("blurred", "Focus the lens.", ("side-2/battle",)))
    both = group(left, right)
    looked(both, True, True)

    seen = both.survey()

    assert seen.size_px == (60, 80)
    assert dict(seen.printed) == {"side-1/battle": square(0), "side-2/battle": square(40)}
    assert [hint.say for hint in seen.advice.hints] == ["Camera 2: Focus the lens."]


def test_advice_about_another_cameras_mat_is_omitted():
    left, right = Seeing("side-1", scale=3.0), Seeing("side-1", "side-2")
    left.said = survey("side-1/battle")
    right.said = survey("side-2/battle", hint=Tip("closer", "Closer to side 1.", ("side-1/battle",)))
    both = group(left, right)
    looked(both, True, True)

    assert both.survey().advice.hints == ()


def test_a_silent_camera_leads_to_required_advice():
    left, right = Seeing("side-1"), Seeing("side-2")
    left.said = survey("side-1/battle")
    both = group(left, right)
    looked(both, True, False)

    hints = both.survey().advice.hints
    assert [(hint.say, hint.needed) for hint in hints] == [
        ("Camera 2: No pictures. Plays on its mats are not detected; enter them by hand.", True)
    ]


def test_only_the_first_camera_misses_a_mat_that_no_camera_sees():
    both = group(Seeing("side-1"), Seeing("side-2"))
    looked(both, True, True)
    in_play = ("side-1", "side-2", "table")

    assert [both.wanted(number, in_play) for number in (0, 1)] == [("side-1", "table"), ("side-2",)]


def square(top: float) -> tuple[tuple[float, float], ...]:
    return ((10.0, top + 10.0), (20.0, top + 10.0), (20.0, top + 20.0), (10.0, top + 20.0))


def survey(*zones: str, hint: Tip | None = None) -> Survey:
    advice = Advice((60, 40), 20.0, (), (hint,) if hint else (), 100, 5)
    return Survey(advice, dict.fromkeys(zones, square(0)), {})


# --- A hand seen by two cameras --------------------------------------------------------------------------------


def cameras_over(plan: TablePlan) -> list[Studio]:
    """Two cameras, each over one side's mat; both see the whole mat of the table."""
    left, right, table = plan.mats
    return [
        Studio(TablePlan((own, table), plan.seats), typical_look(seed), SIZE, STICKERED, seed)
        for seed, own in enumerate((left, right))
    ]


def scenes_of(script: Script) -> Iterator[Scene]:
    return frame_source.followed_scenes(script, 0, Tempo(speed=3.0))


def seen_by_two(script: Script, gone: range = range(0)) -> Iterator[Frame]:
    """A script's hands seen by both cameras; the second is silent on the frames `gone`."""
    plan, chance = arrange.plan(2, 2), random.Random(0)
    studios = cameras_over(plan)
    for number, scene in enumerate(scenes_of(script)):
        scene = replace(scene, mats=scene.mats or plan.mats)
        pictures = [studio.picture(scene, chance) for studio in studios]
        frames = [
            Frame(picture, number / 10, after_gap=n == 1 and number == gone.stop) for n, picture in enumerate(pictures)
        ]
        yield side_by_side([frames[0], None if number in gone else frames[1]], SIZE)


def watched(script: Script, frames: Iterator[Frame]) -> list[dict]:
    setup = demo.setup_of(script)
    eyes = CameraGroup(lambda _number: Lookout(service.eye_for(setup)))
    return list(Watcher(setup, eyes, confirm=True, extension=Verb.FINISH).items(frames))


def confirmed(items: list[dict]) -> list[str]:
    return [item["proposal"] for item in items if item.get("confirmed")]


@pytest.mark.long
def test_a_hand_seen_by_two_cameras_gets_the_scripted_score():
    script = shipped_script("two-players")

    items = watched(script, seen_by_two(script))

    actions = [action for action in script.hands[0].actions if action.card_id]
    assert confirmed(items) == [str(action.play) for action in actions if not action.taken_back]
    assert [item["sides"] for item in items if "hand" in item] == sheets(script)


def test_cards_of_a_silent_camera_are_neither_gone_nor_played_again():
    script = read_script(OPENING)
    scenes = list(scenes_of(script))
    reaching = [{arm.player for arm in scene.arms} for scene in scenes]
    bob_has_laid = reaching.index({1})
    from_now_on = next(n for n in range(bob_has_laid, len(scenes)) if 0 in reaching[n])
    until = next(n for n in range(from_now_on, len(scenes)) if 1 in reaching[n])

    items = watched(script, seen_by_two(script, gone=range(from_now_on, until)))

    assert until - from_now_on > 10
    assert confirmed(items) == ["Ann roll", "Bob roll", "Ann discard 25", "Bob 100"]
    assert not [item for item in items if "missed" in item]


def test_the_service_uses_all_named_cameras(tmp_path, monkeypatch):
    sources, taken = [tmp_path / "left", tmp_path / "right"], queue.Queue[Frame]()
    for level, source in enumerate(sources, 1):
        source.mkdir()
        for number in range(10):
            cv2.imwrite(str(source / f"{number}.png"), np.full((30, 40, 3), level, np.uint8))

    def serve(_match: object, _host: str, _port: int, camera: Camera, **_more: object) -> None:
        assert camera.others.sources == (str(sources[1]),)
        assert camera.others.choices() == ["/dev/video7"]
        frame = next(one for one in iter(taken.get, None) if all(part.frame for part in one.parts))
        assert frame.image[:, 0, 0].tolist() == [1] * 30 + [2] * 30

    monkeypatch.setattr(TableWatch, "take", lambda _watch, frame: taken.put(frame))
    monkeypatch.setattr(service, "run_service", serve)
    monkeypatch.setattr(camera_settings, "video_devices", lambda: ["/dev/video7"])

    service.up(str(sources[0]), None, host="", port=0, data=tmp_path / "data", others=[str(sources[1])])
