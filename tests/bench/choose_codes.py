"""How far apart the chosen codes are, and whether another choice would put them farther apart.

python -m tests.bench.choose_codes [--tries 12] [--seed 0]

Every text can be written as many a QR code of version 1: in three text modes, with all the levels of error
correction that it leaves room for, under eight masks. The search goes round the cards and gives each the code that
is least like those of all others, where likeness is measured both in modules and between codes out of focus.
"""

from __future__ import annotations

import argparse
import random

import numpy as np
import qrcode
from qrcode.exceptions import DataOverflowError

from companion.tabletop import sticker_codes
from companion.tabletop.card_ids import payload
from companion.vision.opencv import cv2

SOFT_MODULES = 0.8
"""The blur under which likeness is measured, in modules."""

AIM_MODULES = 76
ROUNDS = 60


def candidates(card: str) -> dict[str, np.ndarray]:
    """Every code that says a card's text, by mode, level and mask."""
    found = {}
    for mode in "abn":
        for level, correction in sticker_codes._LEVELS.items():
            for mask in range(8):
                code = qrcode.QRCode(version=1, error_correction=correction, border=0, mask_pattern=mask)
                for data in sticker_codes._text_in(mode, payload(card).encode()):
                    code.add_data(data, optimize=0)
                try:
                    code.make(fit=False)
                except DataOverflowError:
                    break
                found[f"{mode}{level}{mask}"] = np.array(code.get_matrix(), bool)
    return found


def likeness(bits: np.ndarray) -> np.ndarray:
    """How alike each two codes `(n, 21, 21)` are, `(n, n)`: the greater of two measures."""
    soft = np.array([cv2.GaussianBlur(np.pad(b.astype(np.float32), 3), (0, 0), SOFT_MODULES)[3:-3, 3:-3] for b in bits])
    flat = (soft - soft.mean(axis=0)).reshape(len(bits), -1)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    return np.maximum(flat @ flat.T, 0.4 * (1 - (distances(bits) - AIM_MODULES) / 40))


def distances(bits: np.ndarray) -> np.ndarray:
    """In how many modules each two codes differ, `(n, n)`."""
    signs = bits.reshape(len(bits), -1).astype(np.float32) * 2 - 1
    return (signs.shape[1] - signs @ signs.T) / 2


def chosen_by_chance(alike: np.ndarray, first: np.ndarray, after: np.ndarray, chance: random.Random) -> np.ndarray:
    """One candidate a card, made better card by card; `first` and `after` bound each card's candidates."""
    chosen = np.array([chance.randrange(a, b) for a, b in zip(first, after, strict=True)])
    for turn in range(ROUNDS):
        strictness = 15 + 60 * turn / ROUNDS
        for card in chance.sample(range(len(first)), len(first)):
            others = np.delete(chosen, card)
            cost = np.exp(strictness * alike[first[card] : after[card]][:, others]).sum(axis=1)
            chosen[card] = first[card] + int(cost.argmin())
    return chosen


def least(bits: np.ndarray) -> int:
    """The least distance between two codes."""
    return int(distances(bits)[np.triu_indices(len(bits), 1)].min())


def main() -> None:
    """Searches and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    plain = np.array([_plain(card) for card in sticker_codes.CARDS])
    now = np.array([sticker_codes.modules(card) for card in sticker_codes.CARDS])
    print(f"{len(sticker_codes.CARDS)} cards; as a QR library would write them: {least(plain)} modules apart at least")
    print(f"as chosen: {least(now)} modules apart at least")
    every = [candidates(card) for card in sticker_codes.CARDS]
    bits = np.array([code for found in every for code in found.values()])
    after = np.cumsum([len(found) for found in every])
    alike = likeness(bits)
    for number in range(given.tries):
        chance = random.Random(given.seed + number)
        picked = chosen_by_chance(alike, np.array([0, *after[:-1]]), after, chance)
        print(f"try {number + 1}: {least(bits[picked])} modules apart at least")


def _plain(card: str) -> np.ndarray:
    code = qrcode.QRCode(version=1, error_correction=qrcode.ERROR_CORRECT_L, border=0)
    code.add_data(payload(card))
    code.make(fit=False)
    return np.array(code.get_matrix(), bool)


if __name__ == "__main__":
    main()
