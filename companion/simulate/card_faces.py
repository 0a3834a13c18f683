"""What the cards on the simulated table look like: our own drawing, with stickers or without."""

from __future__ import annotations

import random
from dataclasses import dataclass
from zlib import crc32

import cv2

from companion.printing import deck, render, stickers
from companion.simulate.camera_model import Image
from companion.simulate.scene import BACK
from companion.tabletop.card_ids import face_of
from companion.tabletop.sticker_codes import STICKER_MM

PX_PER_MM = 4.0
_STICKER_TOP_MM = 3.5
_GLUED_OFF_MM, _GLUED_ASKEW_DEG = 2.0, 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Cards:
    """A deck of physical cards. Two values are never equal: what is drawn of one is kept for that one alone."""

    sticker_mm: float | None = STICKER_MM  # the side of the sticker on each card; None: no sticker

    def flat(self, picture: str) -> Image:
        """Return a physical card (`roll-03`) or `BACK` from straight above with square corners, `PX_PER_MM`."""
        bare = self.bare(picture)
        return bare if picture == BACK or self.sticker_mm is None else _stickered(bare, picture, self.sticker_mm)

    def bare(self, picture: str) -> Image:
        """Return the same without its sticker."""
        drawing = deck.back_svg() if picture == BACK else deck.face_svg(face_of(picture))
        return render.to_image(drawing, PX_PER_MM)


STICKERED = Cards()  # our own deck as it is printed, with the stickers of `companion print stickers`
BARE = Cards(sticker_mm=None)  # our own deck as it is printed, without stickers


def _stickered(face: Image, card_id: str, sticker_mm: float) -> Image:
    """Return a card's face with its sticker glued on by hand: never quite straight, never twice alike."""
    chance = random.Random(crc32(card_id.encode()))  # noqa: S311
    sticker = render.to_image(stickers.sticker_svg(card_id, sticker_mm), PX_PER_MM)
    x_mm = face.shape[1] / PX_PER_MM / 2 + chance.uniform(-_GLUED_OFF_MM, _GLUED_OFF_MM)
    y_mm = _STICKER_TOP_MM + sticker.shape[0] / PX_PER_MM / 2 + chance.uniform(-_GLUED_OFF_MM, _GLUED_OFF_MM)
    askew_deg = chance.uniform(-_GLUED_ASKEW_DEG, _GLUED_ASKEW_DEG)
    # Turned clockwise about its middle, which comes to lie at that place.
    middle = sticker.shape[1] / 2, sticker.shape[0] / 2
    onto = cv2.getRotationMatrix2D(middle, -askew_deg, 1.0)
    onto[:, 2] += x_mm * PX_PER_MM - middle[0], y_mm * PX_PER_MM - middle[1]
    return cv2.warpAffine(
        sticker, onto, face.shape[1::-1], dst=face.copy(), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_TRANSPARENT
    )
