"""The sides have distinct colors, even for color-blind eyes, and distinct shapes."""

import itertools

import numpy as np
import pytest

from companion.tabletop.mat_layout import MAX_SIDES, SIDE_MARKS

LACKING = {
    "nothing": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""Linear sRGB as seen without one kind of cone (Machado, Oliveira and Fernandes, 2009)."""

TO_LMS = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
TO_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip
"""OKLab, whose distances match perceived ones (Ottosson, 2020)."""

LEAST_APART, FIRST_FOUR_APART = 0.11, 0.17
"""Okabe and Ito’s eight colors, the usual ones for color-blind eyes, reach 0.08."""


def linear(colour: str) -> np.ndarray:
    srgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def seen(colour: str, lacking: str) -> np.ndarray:
    """Return a color in OKLab as an eye sees it."""
    return TO_LAB @ np.cbrt(TO_LMS @ np.clip(np.array(LACKING[lacking]) @ linear(colour), 0, 1))


def least_apart(marks, lacking: str) -> float:
    pairs = itertools.combinations([seen(mark.colour, lacking) for mark in marks], 2)
    return min(float(np.linalg.norm(one - other)) for one, other in pairs)


@pytest.mark.parametrize("lacking", LACKING)
def test_color_blind_people_can_distinguish_all_sides(lacking):
    assert least_apart(SIDE_MARKS, lacking) >= LEAST_APART
    assert least_apart(SIDE_MARKS[:4], lacking) >= FIRST_FOUR_APART


def test_each_side_has_its_own_shape():
    assert len({mark.shape for mark in SIDE_MARKS}) == len(SIDE_MARKS) == MAX_SIDES
