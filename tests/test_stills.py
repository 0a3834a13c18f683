"""Difficult pictures: how much of each folder must be read, and that nothing is misread."""

import json
from pathlib import Path

import numpy as np
import pytest
from photos import Score, Shown, compared
from plain_values import numpy_in

from companion.tabletop.mat_layout import all_mats
from companion.vision.boxes import Image
from companion.vision.mats.localization import Mats
from companion.vision.quality.advice import of_reading
from companion.vision.read import read_pictures
from companion.vision.view import View

STILLS = {
    path.parent: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "stills").glob("*/truth.json"))
}
UNRELATED = Path(__file__).parent / "stills" / "unrelated"


@pytest.mark.variants(1)
@pytest.mark.parametrize("folder", [folder for folder in STILLS if folder != UNRELATED], ids=lambda folder: folder.name)
def test_enough_is_read_without_errors(folder):
    total = Score()
    pictures = STILLS[folder]["pictures"]
    for said, truth in zip(read_pictures([folder / file for file in pictures]), pictures.values(), strict=True):
        shown = [
            Shown(one["card"], np.array(one["corners_px"]), one["module_px"], one["hidden"], one["burnt"])
            for one in truth
        ]
        total += compared(shown, [(card["card"], tuple(card["centre_px"])) for card in said["cards"]])

    assert len(total.wrong) + len(total.ghosts) <= STILLS[folder]["misread_ceiling"], (total.wrong, total.ghosts)
    assert total.read >= STILLS[folder]["read_floor"] * total.in_sight > 0


@pytest.mark.variants(1)
@pytest.mark.parametrize("file", sorted(STILLS[UNRELATED]["pictures"]))
def test_nothing_is_read_on_unrelated_pictures(file):
    (said,) = read_pictures([UNRELATED / file])

    assert said["cards"] == []


def with_advice(image: Image, mats: Mats, view: View) -> dict[str, object]:
    """The part added by `companion read --setup`."""
    return {"setup": of_reading([image], mats, view, all_mats()).as_json(), "view": [*numpy_in(view)]}


@pytest.mark.variants(1)
@pytest.mark.parametrize("folder", STILLS, ids=lambda folder: folder.name)
def test_results_can_be_written_as_json(folder):
    for said in read_pictures([folder / file for file in STILLS[folder]["pictures"]], also=with_advice):
        assert [*numpy_in(said)] == []
        assert said["view"] == []
        assert json.loads(json.dumps(said))["cards"] == said["cards"]
