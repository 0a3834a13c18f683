"""A version 1 QR code and a tag for each physical card.

Text modes, error correction and masks make any two QR codes differ in at least 78 of 441 modules. Never change them:
they are on people's cards.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import qrcode
from qrcode import constants, util

from companion.tabletop.card_ids import card_id_of, payload

MODULES = 21
STICKER_MODULES = 25  # with a quiet zone of two on either side
STICKER_MM = 20.0  # usual width with quiet zone
LARGEST_STICKER_MM = 40.0  # wider ones hide most of a card
FIRST_TAG_ID = 37  # mats have the lower ids
_CHOSEN = {
    "25": "aH6 aH4 nM7 nQ5 aH0 aM3 aH1 nQ0 aQ7 bQ7 bQ2 bM3",
    "50": "nQ2 bQ0 aH2 nQ1 bQ3 aH3 aM0 aH7 bM6 nL4 aH5 bQ4",
    "75": "bQ1 aH4 aH2 aH0 aH7 aH6 bM5 aL4 aQ2 aH1 aM1 aQ6",
    "100": "aH3 bQ4 aH1 nL2 bQ6 aH4 bM3 bQ0 aH0 aH7 bM7 nM6 aH6 aH5",
    "200": "aH3 aQ0 aH5 aH6 nM7 aH2 bM0 bQ5",
    "accident": "nL2 bL6 aQ5 bL7 aQ1",
    "out-of-gas": "nL6 aL0 nM4 aM2 bL1",
    "flat-tire": "nM0 aQ3 aQ4 bL0 aQ1",
    "stop": "aM5 nQ1 bQ5 nQ4 aM0 bM0 aM6",
    "speed-limit": "nM4 aL3 aM1 nL5 aM2 aM6",
    "repairs": "nL1 bM0 nQ4 aQ0 bM6 nQ7 nL5 bL7",
    "gasoline": "nM4 bL4 bL1 nM6 bL3 aQ3 bL5 aL0",
    "spare-tire": "nL2 aM7 aM6 aM1 aM4 nM3 nM0 bL4",
    "roll": "bM4 nQ4 nQ5 aM3 bM7 bQ3 nQ0 aQ7 aQ4 nL7 bQ6 aQ6 nQ3 aQ2 bQ0 bM1",
    "end-of-limit": "aM2 nM4 aM3 aM7 aM0 aM6 nM5 aM1",
    "driving-ace": "nM7 nM1 nM3",
    "extra-tank": "nM7 nM2 bL0",
    "puncture-proof": "aL5 aL1 aL4",
    "right-of-way": "aM4 nM2 nM0",
    "300": "bM2 aH0 bM1",
    "out-of-charge": "nL1 aL3 nL4 nL2 aM5",
    "pollution": "bL3 bL5 aQ1 aQ6 nM3",
    "recharge": "nM1 nM5 aQ2 nM7 aQ6 aQ7 aQ0 aM4",
    "end-of-pollution": "aL5 nL2 nL4 nL6 aL1 aL3 nL7 aL0",
    "long-range": "bL2 aL1 bL7",
    "car-pool": "aQ0 aQ1 aQ4",
    "accelerator": "aM3 nL6 nL7 aM4 nL1 aM0",
    "mirror": "aL5 aQ7 nL6 aQ0 bM2 bM5",
    "u-turn": "aQ6 bM1 nM5 aQ3 bM0",
    "control": "aQ1 bM3 aQ4 nQ3 nQ7",
    "theft": "bM3 bL6 bM4 aQ7 nQ6",
}
"""Text mode, error correction and mask of each copy, with two spare copies per face.

Faces are in tag order: add new ones at the end.
"""

CARDS = tuple(f"{face}-{copy:02d}" for face, said in _CHOSEN.items() for copy in range(1, len(said.split()) + 1))
"""Every physical card that can have a sticker."""

_NUMBER_OF = {card: number for number, card in enumerate(CARDS)}
_SAID = dict(zip(CARDS, map(tuple, " ".join(_CHOSEN.values()).split()), strict=True))


@cache
def modules(card_id: str) -> npt.NDArray[np.bool_]:
    """Return a card's QR code, read-only `(21, 21) bool`, True for black.

    Raise ValueError for a card without a sticker.
    """
    mode, level, mask = _SAID[_known(card_id)]
    correction = getattr(constants, f"ERROR_CORRECT_{level}")
    code = qrcode.QRCode(version=1, error_correction=correction, border=0, mask_pattern=int(mask))
    for data in _text_in(mode, payload(card_id).encode()):
        code.add_data(data, optimize=0)
    code.make(fit=False)
    dark = np.array(code.get_matrix(), bool)
    dark.flags.writeable = False
    return dark


def card_of_text(text: str) -> str | None:
    """Return the card whose sticker says `text`, or None."""
    card_id = card_id_of(text)
    return card_id if card_id in _NUMBER_OF else None


def tag_id(card_id: str) -> int:
    """Return the id of a card's tag in MIP_36h12. Raise ValueError like `modules`."""
    return FIRST_TAG_ID + _NUMBER_OF[_known(card_id)]


def card_of_tag(tag: int) -> str | None:
    """Return the card with this tag; None for mats' and unused ids."""
    number = tag - FIRST_TAG_ID
    return CARDS[number] if 0 <= number < len(CARDS) else None


def _known(card_id: str) -> str:
    if card_id in _NUMBER_OF:
        return card_id
    face = card_id.rpartition("-")[0]
    copies = sum(card.rpartition("-")[0] == face for card in CARDS)
    most = f"{face}-{copies:02d} is the last" if copies else "no edition has it"
    raise ValueError(f"There is no sticker for {card_id}: {most}.")


def _text_in(mode: str, text: bytes) -> list[util.QRData]:
    """Encode text: alphanumeric (a), bytes (b), or with a numeric copy number (n)."""
    if mode == "b":
        return [util.QRData(text, mode=util.MODE_8BIT_BYTE)]
    if mode == "a":
        return [util.QRData(text, mode=util.MODE_ALPHA_NUM)]
    return [util.QRData(text[:-2], mode=util.MODE_ALPHA_NUM), util.QRData(text[-2:], mode=util.MODE_NUMBER)]
