"""The decks that the second opinion is trained on: many styles, and the same deck for the same number."""

from __future__ import annotations

import itertools

import numpy as np
from training import chance_decks


def test_a_number_gives_one_deck_whose_faces_differ() -> None:
    faces = chance_decks.faces(12)

    assert [face.shape for face in faces] == [(264, 171, 3)] * len(chance_decks.FACES)
    assert all(np.array_equal(face, again) for face, again in zip(faces, chance_decks.faces(12), strict=True))
    assert all((one != other).any() for one, other in itertools.combinations(faces, 2))


def test_decks_are_of_another_style_each() -> None:
    looks = [chance_decks.faces(seed)[0].astype(float) for seed in range(4)]

    assert all(np.abs(one - other).mean() > 5 for one, other in itertools.combinations(looks, 2))
