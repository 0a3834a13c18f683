"""Any picture, however spoilt, is answered with JSON as documented: by `read`, and by `watch` between good pictures."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pictures import Lens, Mat, Scene, Sticker, on_mat, picture
from plain_values import numpy_in

from companion.app.cli import companion
from companion.tabletop.mat_layout import side_mat, table_mat
from companion.vision.boxes import Image

SIDE, TABLE = Mat(side_mat(1), -385, -150, 2), Mat(table_mat(), 75, -100)
LENS = Lens(width_mm=850, size_px=(960, 540))
CARDS = (
    on_mat(SIDE, "battle", "MB1:ROLL-03"),
    on_mat(SIDE, "distance", "MB1:25-02", dx_mm=-130),
    on_mat(TABLE, "discard", "MB1:GASOLINE-06", turn_deg=180),
)
SCENES = {
    "mats": Scene(mats=(SIDE, TABLE), stickers=CARDS),
    "no mats": Scene(stickers=(Sticker("MB1:STOP-01", 0, 0, 90), Sticker("MB1:25-02", 120, 30))),
    "the same sticker": Scene(mats=(SIDE,), stickers=(*CARDS[:1], on_mat(SIDE, "speed", "MB1:ROLL-03"))),
}
SETUP = """
edition = "classic"
[[side]]
name = "Ann"
players = ["Ann"]
mat = "side-1"
[[side]]
name = "Bob"
players = ["Bob"]
mat = "side-2"
"""
NUMBER, MAYBE = (int, float), (int, float, type(None))
PICTURE = {"image": str, "width": int, "height": int, "mats": list, "cards": list}
CARD = {
    "face": str, "card": (str, type(None)), "centre_px": list, "corners_px": (list, type(None)), "sideways": bool,
    "confidence": NUMBER, "by": str, "zone": (str, type(None)),
}  # fmt: skip
ADVICE = {
    "size_px": list, "good": bool, "distance_cm": MAYBE, "tilt_deg": MAYBE, "sticker_mm": NUMBER, "smallest_mm": MAYBE,
    "cards": int, "verdict": str, "card_px": MAYBE, "faces": str, "zones": list, "hints": list,
}  # fmt: skip
ZONE = {
    "zone": str, "px_per_mm": (list, type(None)), "blur_px": MAYBE, "white": NUMBER, "contrast": NUMBER,
    "grain": NUMBER, "saturated": NUMBER, "glare": NUMBER, "dark": NUMBER, "smallest_mm": MAYBE,
    "good": (bool, type(None)), "guessed": bool,
}  # fmt: skip


@cache
def taken(scene: str) -> Image:
    return picture(SCENES[scene], LENS)


def glare(image: Image, share: float, rng: np.random.Generator) -> Image:
    height, width = image.shape[:2]
    at = int(rng.integers(width)), int(rng.integers(height))
    return cv2.circle(image.copy(), at, 1 + int(share * height / 2), (255, 255, 255), -1)


def burnt_out(image: Image, share: float, rng: np.random.Generator) -> Image:
    image, rows = image.copy(), max(1, int(share * image.shape[0]))
    top = int(rng.integers(image.shape[0]))
    image[top : top + rows] = 255
    return image


def half_black(image: Image, share: float, _rng: np.random.Generator) -> Image:
    image = image.copy()
    image[int(share * image.shape[0]) :] = 0
    return image


def noisy(image: Image, share: float, rng: np.random.Generator) -> Image:
    return np.clip(image + rng.normal(0, 90 * share, image.shape), 0, 255).astype(np.uint8)


def lit(image: Image, share: float, _rng: np.random.Generator) -> Image:
    return np.clip(image * (4 * share), 0, 255).astype(np.uint8)


def mirrored(image: Image, _share: float, _rng: np.random.Generator) -> Image:
    return cv2.flip(image, 1)


def blurred(image: Image, share: float, _rng: np.random.Generator) -> Image:
    return cv2.blur(image, (1 + int(30 * share), 1))


def resized(image: Image, share: float, rng: np.random.Generator) -> Image:
    width, height = (max(1, int(side * max(0.001, share) * rng.uniform(0.2, 1.5))) for side in image.shape[1::-1])
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)


FAULTS: list[Callable[[Image, float, np.random.Generator], Image]] = [
    glare, burnt_out, half_black, noisy, lit, mirrored, blurred, resized,
]  # fmt: skip


def spoilt(scene: str, faults: list[tuple[Callable[..., Image], float]], seed: int) -> Image:
    image, rng = taken(scene), np.random.default_rng(seed)
    for fault, share in faults:
        image = fault(image, share, rng)
    return image


def plain(width: int, height: int, level: int) -> Image:
    return np.full((height, width, 3), level, np.uint8)


def checked(value: dict[str, object], types: dict[str, object]) -> None:
    assert {key: value.get(key) for key in types if not isinstance(value.get(key), types[key])} == {}
    assert [key for key, kind in types.items() if isinstance(value[key], bool) and kind in (int, NUMBER, MAYBE)] == []


def answer(folder: Path, image: Image, *options: str) -> dict[str, object]:
    """Return what `companion read` prints, as strict JSON; NaN and infinity are none."""
    (folder / "a.png").write_bytes(cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1].tobytes())
    ran = CliRunner().invoke(companion, ["read", str(folder / "a.png"), "--json", *options], standalone_mode=False)
    assert ran.exception is None, ran.exception
    return json.loads(ran.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def is_as_documented(said: dict[str, object], image: Image, *, with_setup: bool) -> bool:
    checked(said, PICTURE)
    for card in said["cards"]:
        checked(card, CARD)
    assert set(said) - {"mirrored", "setup"} == set(PICTURE)
    assert ("setup" in said) is with_setup
    if with_setup:
        advice = said["setup"]
        checked(advice, ADVICE)
        assert set(advice) == set(ADVICE)
        for zone in advice["zones"]:
            checked(zone, ZONE)
            assert set(zone) == set(ZONE)
        for hint in advice["hints"]:
            checked(hint, {"code": str, "say": str, "zones": list, "needed": bool})
    return (said["width"], said["height"]) == image.shape[1::-1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("pictures")
    (path / "table.toml").write_text(SETUP, encoding="utf-8")
    return path


@settings(
    max_examples=24, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(
    scene=st.sampled_from([*SCENES]),
    faults=st.lists(st.tuples(st.sampled_from(FAULTS), st.floats(0.0, 1.0)), max_size=3),
    seed=st.integers(0, 2**32 - 1),
    with_setup=st.booleans(),
)
def test_any_picture_is_read_as_json(folder, scene, faults, seed, with_setup):
    image = spoilt(scene, faults, seed)

    said = answer(folder, image, *(["--setup", str(folder / "table.toml")] if with_setup else []))

    assert is_as_documented(said, image, with_setup=with_setup)


@pytest.mark.parametrize("level", [0, 255], ids=["black", "white"])
@pytest.mark.parametrize("size", [(1, 1), (1, 900), (3000, 2), (15, 17), (640, 480), (3840, 2160)], ids=str)
def test_a_plain_picture_of_any_size_is_read_as_json(folder, size, level):
    image = plain(*size, level)

    said = answer(folder, image, "--setup", str(folder / "table.toml"))

    assert is_as_documented(said, image, with_setup=True)
    assert said["cards"] == []


@pytest.mark.parametrize("size_px", [(1013, 141), (240, 540)], ids=["low", "narrow"])
def test_a_picture_whose_markers_are_squeezed_is_read_as_json(folder, size_px):
    image = cv2.resize(taken("mats"), size_px, interpolation=cv2.INTER_AREA)

    said = answer(folder, image, "--setup", str(folder / "table.toml"))

    assert is_as_documented(said, image, with_setup=True)


@pytest.mark.parametrize("at", [(190, 150), (680, 230)], ids=["between two zones", "draw pile"])
def test_a_lamp_on_a_zone_is_read_as_json(folder, at):
    image = cv2.circle(taken("mats").copy(), at, 25, (255, 255, 255), -1)

    said = answer(folder, image, "--setup", str(folder / "table.toml"))

    assert is_as_documented(said, image, with_setup=True)
    assert "glare" in {hint["code"] for hint in said["setup"]["hints"]}


def test_pictures_of_all_kinds_in_a_film_are_watched_as_json(folder, monkeypatch):
    shots = folder / "shots"
    shots.mkdir()
    rng, said = np.random.default_rng(1), []
    table = taken("mats")
    film = [table, *[fault(table, 0.5, rng) for fault in FAULTS], plain(1, 1, 0), plain(1280, 720, 255), table, table]
    for number, image in enumerate(film):
        cv2.imwrite(str(shots / f"{number:02d}.png"), image)
    monkeypatch.setattr("companion.app.table_commands.print_json", said.append)

    ran = CliRunner().invoke(
        companion,
        ["watch", "--source", str(shots), "--fps", "1", "--setup", str(folder / "table.toml"), "--json"],
        standalone_mode=False,
    )

    assert ran.exception is None
    assert said
    assert [*numpy_in(said)] == []
    assert json.loads(json.dumps(said, allow_nan=False)) == said
