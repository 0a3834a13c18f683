"""Committed pictures beyond the comfortable: how much of each folder is read at least, and that nothing is misread."""

import json
from pathlib import Path

import numpy as np
import pytest
from photos import Score, Shown, compared

from companion.vision.read import read_pictures

STILLS = {
    path.parent: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "stills").glob("*/truth.json"))
}
UNRELATED = Path(__file__).parent / "stills" / "unrelated"


@pytest.mark.variants(1)
@pytest.mark.parametrize("folder", [folder for folder in STILLS if folder != UNRELATED], ids=lambda folder: folder.name)
def test_enough_is_read_and_nothing_misread_of(folder):
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
def test_nothing_at_all_is_read_on(file):
    (said,) = read_pictures([UNRELATED / file])

    assert said["cards"] == []
