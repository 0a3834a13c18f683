"""Cards of another deck on the simulated table, from pictures of their faces."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2

from companion.simulate.art import PX_PER_MM, Cards
from companion.simulate.camera_model import Image
from companion.simulate.scene import BACK
from companion.tabletop.card_ids import face_of
from companion.tabletop.mat_layout import CARD_MM


@dataclass(frozen=True, slots=True, eq=False)
class PicturedCards(Cards):
    """A deck from one picture per face, by slug, in any resolution.

    The back is `BACK`; without a picture it is our own.
    """

    sticker_mm: float | None = None
    faces: Mapping[str, Image] = field(default_factory=dict)
    size_mm: tuple[float, float] = CARD_MM

    def bare(self, picture: str) -> Image:
        """Return a card at the deck's size. Raises KeyError for a face without a picture."""
        if picture == BACK and BACK not in self.faces:
            flat = Cards.bare(self, BACK)
        else:
            flat = self.faces[BACK if picture == BACK else face_of(picture).value]
        width, height = (round(side_mm * PX_PER_MM) for side_mm in self.size_mm)
        if flat.shape[:2] == (height, width):
            return flat
        is_larger = flat.shape[1] > width
        return cv2.resize(flat, (width, height), interpolation=cv2.INTER_AREA if is_larger else cv2.INTER_CUBIC)
