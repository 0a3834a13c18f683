"""Stickers and faces together: each card once, by whichever tells it, and a sticker on the wrong card found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from companion.rules.cards import Card
from companion.tabletop.card_ids import any_copy, face_of
from companion.vision.code import AGREED, side_of
from companion.vision.opencv import cv2
from companion.vision.view import Point, Quad, Sighting

ON_CARD_PX = 4.0
"""Maximum distance of a sticker's middle from its card, as seen."""

ABOVE_SHARE = 0.5
"""Maximum side of a code on a card, as a share of the card's; a larger one is no sticker of it."""


def together(stickers: Sequence[Sighting], faces: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """Return sightings by sticker and by face, those of one card made one; `faces` are in order from the top down."""
    on = [_card_under(sticker, faces) for sticker in stickers]
    voted = [sticker if at is None else _voted(sticker, faces[at]) for sticker, at in zip(stickers, on, strict=True)]
    return (*voted, *(face for number, face in enumerate(faces) if number not in on))


def _card_under(sticker: Sighting, faces: Sequence[Sighting]) -> int | None:
    """Return the topmost card that a sticker lies on."""
    for number, face in enumerate(faces):
        if face.corners_px is not None and sticker.corners_px is not None:
            small = side_of(sticker.corners_px) < ABOVE_SHARE * side_of(face.corners_px)
            if small and _holds(face.corners_px, sticker.centre_px):
                return number
    return None


def _voted(sticker: Sighting, face: Sighting) -> Sighting:
    """Return one card that has a sticker and a face."""
    if face.face is Card.UNKNOWN:
        return sticker
    if sticker.card is None:
        of_face = next((card for card, _ in sticker.rivals if face_of(card) is face.face), None)
        return (
            replace(sticker, card=of_face, face=face.face, confidence=face.confidence, rivals=()) if of_face else face
        )
    if sticker.face is face.face:
        return replace(sticker, confidence=max(sticker.confidence, AGREED))
    half = 0.45
    said = ((sticker.card, half), (any_copy(face.face), half))
    return replace(sticker, face=Card.UNKNOWN, card=None, confidence=0.0, rivals=said, glued=sticker.card)


def _holds(quad: Quad, point: Point) -> bool:
    return cv2.pointPolygonTest(np.float32(quad), point, True) >= -ON_CARD_PX
