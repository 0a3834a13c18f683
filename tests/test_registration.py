"""Pictures of faces with a common drawing are aligned exactly."""

import cv2
import enrolled
import numpy as np
import pytest

from companion.vision.faces.face_templates import laid_on_one_another

SIZE_PX = (342, 528)


def cut_out(face: str, style: str, off_px: float) -> np.ndarray:
    """A card's picture with slightly inexact corners, as from a photo."""
    drawn = cv2.resize(enrolled.faces_of(style)[face], SIZE_PX, interpolation=cv2.INTER_AREA)
    width, height = SIZE_PX
    corners = np.float32([(0, 0), (width, 0), (width, height), (0, height)])
    moved = corners + np.float32([(off_px, 0), (-off_px, off_px), (0, -off_px), (off_px / 2, off_px)])
    return cv2.warpPerspective(
        drawn, cv2.getPerspectiveTransform(corners, moved), SIZE_PX, borderMode=cv2.BORDER_REPLICATE
    )


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The mean difference of two pictures, without their rims."""
    inner = (slice(20, -20), slice(20, -20))
    return float(np.abs(one[inner].astype(int) - other[inner].astype(int)).mean())


@pytest.mark.variants(1)
@pytest.mark.parametrize(("style", "first", "second"), [("vintage", "stop", "roll"), ("scenes", "25", "50")])
def test_faces_that_differ_in_a_number_differ_only_in_it_after_registration(
    style: str, first: str, second: str
) -> None:
    exact = [cut_out(face, style, 0.0) for face in (first, second)]
    off = [exact[0], cut_out(second, style, 3.0)]

    laid, _ = laid_on_one_another(off)

    assert laid[0] is off[0]
    assert apart(laid[1], exact[1]) < 0.4 * apart(off[1], exact[1])


def test_faces_without_a_common_drawing_stay_unchanged() -> None:
    pictures = [cut_out(face, "cartoon", 0.0) for face in ("100", "stop", "right-of-way")]

    laid, _ = laid_on_one_another(pictures)

    assert all(one is other for one, other in zip(laid, pictures, strict=True))


def test_pictures_of_different_sizes_are_not_registered() -> None:
    one = cut_out("100", "vintage", 0.0)

    assert laid_on_one_another([one, cv2.resize(one, (300, 300))])[0][1].shape == (300, 300, 3)


def test_a_card_printed_off_center_keeps_its_own_corners() -> None:
    whole = cut_out("roll", "vintage", 0.0)
    printed_off = np.roll(whole, 9, axis=1)
    printed_off[:, :9] = whole[:, :1]

    _, corners = laid_on_one_another([cut_out("stop", "vintage", 0.0), printed_off])

    assert ((corners[1] - corners[0]) * SIZE_PX).mean(axis=0) == pytest.approx((-9.0, 0.0), abs=1.0)
