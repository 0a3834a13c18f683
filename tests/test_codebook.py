"""Codes are recognized by comparison with every known code, or not at all."""

import cv2
import numpy as np
import pytest

from companion.tabletop import sticker_codes
from companion.vision.stickers import code_detector, codebook

MODULE_PX = 2.0


def printed(dark: np.ndarray, module_px: int) -> np.ndarray:
    """Return a code as printed, `uint8`."""
    return np.kron(np.where(dark, 30, 230).astype(np.uint8), np.ones((module_px, module_px), np.uint8))


def seen(
    card: str, *, px: float = MODULE_PX, turn_deg: float = 0.0, blur_px: float = 0.6, noise: float = 4.0
) -> np.ndarray:
    """Return a code in the middle of a gray picture `(120, 120)`, as a camera sees it."""
    large = cv2.GaussianBlur(printed(np.pad(sticker_codes.modules(card), 2), 8), (0, 0), 8 / px / 2.5)
    onto = cv2.getRotationMatrix2D((100, 100), -turn_deg, px / 8)
    onto[:, 2] += 60 - 100
    picture = cv2.warpAffine(large, onto, (120, 120), flags=cv2.INTER_LINEAR, borderValue=120)
    picture = cv2.GaussianBlur(picture, (0, 0), blur_px).astype(float)
    picture += np.random.default_rng(len(card)).normal(0, noise, picture.shape)
    return picture.clip(0, 255).astype(np.uint8)


def read(image: np.ndarray) -> list[codebook.Reading]:
    squares = code_detector.squares(image, MODULE_PX)
    return [reading for reading in codebook.read_squares(image, squares) if reading is not None]


def best(image: np.ndarray) -> codebook.Reading:
    return max(read(image), key=lambda reading: reading.score)


@pytest.mark.parametrize("turn_deg", [0, 17, 90, 133, 180, 251, 270, 344])
def test_a_code_is_read_at_any_angle(turn_deg):
    reading = best(seen("roll-03", turn_deg=turn_deg))

    assert reading.card == "roll-03"
    assert reading.score > 0.8
    assert reading.margin > 0.4


@pytest.mark.parametrize("turn_deg", [0, 90, 180, 270, 30])
def test_a_reading_gives_the_size_and_angle_of_the_code(turn_deg):
    reading = best(seen("stop-02", turn_deg=turn_deg))
    x, y, w = (reading.matrix @ np.array([[0, 0, 1], [21, 0, 1]]).T)[:, :, None][:, :, 0]
    right = np.diff(x / w)[0], np.diff(y / w)[0]

    assert np.hypot(*right) == pytest.approx(21 * MODULE_PX, rel=0.03)
    assert np.degrees(np.arctan2(right[1], right[0])) % 360 == pytest.approx(turn_deg, abs=3)


def test_no_code_is_mistaken_for_another():
    wrong = [card for card in sticker_codes.CARDS if best(seen(card, turn_deg=33)).card != card]

    assert wrong == []


@pytest.mark.parametrize(("px", "blur_px", "noise"), [(2.1, 1.6, 4), (1.9, 0.4, 16), (2.0, 1.2, 10)])
def test_a_blurred_or_noisy_code_keeps_its_lead(px, blur_px, noise):
    reading = best(seen("gasoline-04", px=px, blur_px=blur_px, noise=noise, turn_deg=8))

    assert reading.card == "gasoline-04"
    assert reading.margin > 0.25


@pytest.mark.parametrize("seed", range(4))
def test_an_unknown_qr_code_never_leads_clearly(seed):
    strange = sticker_codes.modules("roll-01").copy()
    shared = np.all([sticker_codes.modules(card) == strange for card in sticker_codes.CARDS], axis=0)
    chance = np.random.default_rng(seed)
    strange[~shared] = chance.integers(0, 2, int((~shared).sum()))
    picture = cv2.GaussianBlur(printed(np.pad(strange, 8), 2), (0, 0), 0.6)

    assert all(reading.score + reading.margin < 0.78 for reading in read(picture))


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((90, 90), np.uint8),
        np.full((300, 40), 200, np.uint8),
        np.random.default_rng(1).integers(0, 255, (400, 400), np.uint8).astype(np.uint8),
        np.kron(np.indices((40, 40)).sum(0) % 2 * 200, np.ones((5, 5))).astype(np.uint8),
    ],
    ids=["black", "narrow", "noise", "chessboard"],
)
def test_a_picture_without_codes_gives_no_reading(image):
    assert read(image) == []


def test_a_code_with_glare_on_a_corner_is_read():
    image = seen("75-05")
    cv2.circle(image, (60 - 14, 60 - 14), 5, 255, -1)

    assert best(image).card == "75-05"


# --- Codes that other cards cover in part -------------------------------------------------------------------------


def covered(picture: np.ndarray, side: str, share: float, level: int = 200, lean: float = 0.06) -> np.ndarray:
    """Return a code in the middle of a picture, covered from a side by the leaning edge of a card with a dark line."""
    code_px, quarter = 21 * MODULE_PX, ("bottom", "right", "top", "left").index(side)
    turned = np.rot90(picture, -quarter).copy()
    edge = 60 + code_px * (0.5 - share)
    for width, gray in ((0, level), (3, 60), (5, level)):
        corners = np.array([(0, edge + width - 60 * lean), (120, edge + width + 60 * lean), (120, 120), (0, 120)])
        cv2.fillConvexPoly(turned, np.int32(corners.round()), gray)
    return np.rot90(turned, quarter).copy()


def square_of(card: str) -> np.ndarray:
    """Return where `seen` puts a code, `(1, 3, 3)`."""
    return best(seen(card)).matrix[None]


@pytest.mark.parametrize("side", ["bottom", "right", "top", "left"])
def test_a_code_that_shows_half_is_read_from_any_side(side):
    reading, *_ = codebook.read_squares(covered(seen("accident-02"), side, 0.5), square_of("accident-02"))

    assert reading.card == "accident-02"
    assert reading.is_sure
    assert reading.shown == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("side", ["bottom", "right"])
def test_two_marks_are_enough_to_find_a_covered_code(side):
    sure = {reading.card for reading in read(covered(seen("roll-03"), side, 0.45)) if reading.is_sure}

    assert sure == {"roll-03"}


def test_no_covered_code_is_mistaken_for_another():
    square = square_of("roll-01")
    told = {card: codebook.read_squares(covered(seen(card), "bottom", 0.5), square)[0] for card in sticker_codes.CARDS}
    sure = {card: reading.card for card, reading in told.items() if reading is not None and reading.is_sure}

    assert all(card == read_as for card, read_as in sure.items())
    assert len(sure) >= 0.95 * len(sticker_codes.CARDS)


def test_too_small_a_part_of_a_code_is_not_believed():
    square = square_of("roll-01")
    told = [codebook.read_squares(covered(seen(card), "bottom", 0.75), square)[0] for card in sticker_codes.CARDS]

    assert not any(reading is not None and reading.is_sure for reading in told)


@pytest.mark.parametrize("seed", range(20))
def test_part_of_an_unknown_code_is_not_believed(seed):
    chance = np.random.default_rng(seed)
    strange = sticker_codes.modules("roll-01").copy()
    shared = np.all([sticker_codes.modules(card) == strange for card in sticker_codes.CARDS], axis=0)
    strange[~shared] = chance.integers(0, 2, int((~shared).sum()))
    picture = np.full((120, 120), 200, np.uint8)
    picture[35:85, 35:85] = printed(np.pad(strange, 2), 2)
    picture = covered(cv2.GaussianBlur(picture, (0, 0), 0.6), "bottom", chance.uniform(0, 0.6))

    assert not any(reading.is_sure for reading in read(picture))
