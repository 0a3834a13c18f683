"""Committed pictures beyond the comfortable: how much of each folder is read at least, and that nothing is misread.

`python -m tests.stills.render` makes the pictures again and sets the floors.
"""

from __future__ import annotations

import pytest
from stills.render import FOLDERS, HERE, read_truth, score_of

from companion.vision.read import read_pictures

READABLE = [name for name in FOLDERS if name != "unrelated"]


@pytest.mark.variants(1)
@pytest.mark.parametrize("name", READABLE)
def test_enough_is_read_and_nothing_misread_of(name):
    truth = read_truth(HERE / name)

    score = score_of(HERE / name)

    assert len(score.wrong) + len(score.ghosts) <= truth["misread_ceiling"], (score.wrong, score.ghosts)
    assert score.read >= truth["read_floor"] * score.in_sight


@pytest.mark.variants(1)
@pytest.mark.parametrize("file", sorted(read_truth(HERE / "unrelated")["pictures"]))
def test_nothing_at_all_is_read_on(file):
    (said,) = read_pictures([HERE / "unrelated" / file])

    assert said["cards"] == []
