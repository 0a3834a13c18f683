"""Everything on a photograph of printed mats and stickers is read; it is composed from the PNG files."""

import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from pictures import Lens, as_seen, paste, placed

from companion.app.cli import companion

PX_PER_MM = 1920 / 800
"""1080p over a table 0.8 m wide."""

SIZE = (1920, 1080)
DPI = 150
STICKER_MM = 28


@dataclass(frozen=True)
class Laid:
    """A card with a sticker; its middle is at `x_mm` and `y_mm` on the mat."""

    card: str
    zone: str
    x_mm: float
    y_mm: float
    turn_deg: float = 0.0


@pytest.fixture(scope="module")
def prints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stickers and mats as written by the command."""
    out = tmp_path_factory.mktemp("prints")
    for words in (["stickers", "--size-mm", str(STICKER_MM)], ["mats"]):
        ran = CliRunner().invoke(companion, ["print", *words, "--format", "png", "--dpi", str(DPI), "--out", str(out)])
        assert ran.exit_code == 0, ran.output
    return out


def index(prints: Path, kind: str) -> dict:
    return json.loads((prints / f"{kind}.json").read_text())


def lay(picture: np.ndarray, sheet: np.ndarray, middle_mm: tuple[float, float], turn_deg: float) -> None:
    """Draw a printed sheet into the picture, its middle at a point, turned clockwise."""
    scale, (height, width) = PX_PER_MM * 25.4 / DPI, sheet.shape[:2]
    x_px, y_px = middle_mm[0] * PX_PER_MM, middle_mm[1] * PX_PER_MM
    own = np.diag([scale, scale, 1]) @ placed(-width / 2, -height / 2, 0)
    paste(picture, cv2.GaussianBlur(sheet, (0, 0), 0.35 / scale), placed(x_px, y_px, turn_deg) @ own)


def photograph(
    prints: Path, places: dict[str, tuple[float, float]], laid: dict[str, list[Laid]], tilt: float
) -> np.ndarray:
    """Return a table with mats, their top left corners at `places`, and stickers; `tilt` shortens its far edge."""
    picture = np.full((SIZE[1], SIZE[0], 3), (52, 70, 88), np.uint8)
    mats = index(prints, "mats")
    for mat, (left_mm, top_mm) in places.items():
        width_mm, height_mm = mats[mat]["size_mm"]
        lay(picture, cv2.imread(str(prints / mats[mat]["file"])), (left_mm + width_mm / 2, top_mm + height_mm / 2), 0)
    stickers = index(prints, "stickers")
    card = np.full((round(88 * DPI / 25.4), round(57 * DPI / 25.4), 3), (225, 235, 240), np.uint8)
    for mat, cards in laid.items():
        for one in cards:
            middle = places[mat][0] + one.x_mm, places[mat][1] + one.y_mm
            lay(picture, card, middle, one.turn_deg)
            lay(picture, cv2.imread(str(prints / stickers[one.card]["file"])), middle, one.turn_deg)
    corners, seen = [(0, 0), (1, 0), (1, 1), (0, 1)], [(tilt / 2, tilt / 2), (1 - tilt / 2, tilt / 2), (1, 1), (0, 1)]
    far_end_up = cv2.getPerspectiveTransform(*np.float32(np.multiply([corners, seen], SIZE)))
    tilted = cv2.warpPerspective(picture, far_end_up, SIZE, flags=cv2.INTER_AREA)
    return as_seen(tilted, Lens(blur_px=0, noise=4, light=0.925, uneven=0.19, jpeg=None))


def spread(prints: Path, mat: str, cards: dict[str, list[str]]) -> list[Laid]:
    """Place each zone's cards side by side, a few degrees askew, every second safety sideways."""
    zones = index(prints, "mats")[mat]["zones"]
    laid = []
    for zone, names in cards.items():
        x, y, width, height = zones[zone]
        for i, card in enumerate(names):
            turn = 90 if zone == "safety" and i % 2 else 4 * ((i % 3) - 1)
            laid.append(Laid(card, f"{mat}/{zone}", x + width * (i + 0.5) / len(names), y + height / 2, turn))
    return laid


SIDE_CARDS = {
    "battle": ["roll-03"],
    "speed": ["speed-limit-02"],
    "safety": ["right-of-way-01", "driving-ace-01"],
    "distance": ["25-07", "50-02", "75-10", "100-12", "200-04"],
}
TABLE_CARDS = {"discard": ["puncture-proof-01"]}


def read(image: np.ndarray, folder: Path) -> dict:
    path = folder / "table.png"
    cv2.imwrite(str(path), image)
    ran = CliRunner().invoke(companion, ["read", str(path), "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


@pytest.mark.variants(1)
@pytest.mark.parametrize("tilt", [0.0, 0.06, 0.12])
@pytest.mark.parametrize("mat", ["side-1", "side-2"])
def test_every_card_on_printed_mats_is_read_with_its_zone_and_orientation(
    prints: Path, tmp_path: Path, mat: str, tilt: float
):
    places = {mat: (10.0, 120.0), "table": (460.0, 150.0)}
    laid = {mat: spread(prints, mat, SIDE_CARDS), "table": spread(prints, "table", TABLE_CARDS)}
    cards = [card for of_mat in laid.values() for card in of_mat]
    found = read(photograph(prints, places, laid, tilt), tmp_path)

    assert {m["id"] for m in found["mats"]} == {mat, "table"}
    assert {(c["card"], c["zone"]) for c in found["cards"]} == {(one.card, one.zone) for one in cards}
    assert {c["card"] for c in found["cards"] if c["sideways"]} == {one.card for one in cards if one.turn_deg == 90}
