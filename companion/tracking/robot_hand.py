"""A robot's hand as it lies in the slots of its mat. Nothing of it gets into beliefs, questions and pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from companion.rules.cards import Card
from companion.tabletop.mat_layout import ROBOT, SLOTS
from companion.vision.boxes import Image
from companion.vision.opencv import cv2
from companion.vision.view import MatSeen, View

LOOKS = 3  # that have to agree
ZONES = tuple(f"{ROBOT}/{number}" for number in range(1, SLOTS + 1))
MASK_ROUND_MM = 15.0  # width of the table around the mat that is hidden too: it may be pushed between two looks
MASK_GREY = 90


@dataclass(frozen=True, slots=True)
class Slot:
    """What lies in a slot: a card, `Card.UNKNOWN` for one that cannot be read, or nothing."""

    card: Card | None = None
    recent: tuple[Card | None, ...] = ()  # what the last looks showed

    def after(self, seen: Card | None) -> Slot:
        """Return the slot after one more look; it counts once several in a row agree."""
        recent = (*self.recent, seen)[-LOOKS:]
        return Slot(seen if recent == (seen,) * LOOKS else self.card, recent)


@dataclass(frozen=True, slots=True)
class RobotHand:
    """What the latest looks have shown on the robot's mat."""

    slots: tuple[Slot, ...] = (Slot(),) * SLOTS
    mats: tuple[MatSeen, ...] = ()  # on the picture of each camera that sees it; nothing while it is not found

    @property
    def cards(self) -> tuple[Card | None, ...] | None:
        """What lies in the slots from the left; None while the mat is not found."""
        return tuple(slot.card for slot in self.slots) if self.mats else None

    def after(self, view: View) -> RobotHand:
        """Return the hand after a look; a slot that is covered stays as it was."""
        mats = tuple(mat for mat in view.mats if mat.id == ROBOT)
        if not mats or view.trouble is not None:
            return replace(self, mats=mats)
        shown = dict.fromkeys(view.things, Card.UNKNOWN) | {s.zone: s.face for s in view.sightings if s.zone}
        looked = zip(ZONES, self.slots, strict=True)
        slots = [slot if zone in view.unknown_zones else slot.after(shown.get(zone)) for zone, slot in looked]
        return RobotHand(tuple(slots), mats)

    def hidden(self, image: Image) -> Image:
        """Return a picture `(H, W, 3) uint8 BGR` without the hand."""
        masked = image.copy() if self.mats else image
        for mat in self.mats:
            corners = np.array(mat.corners_px)
            out = corners - corners.mean(axis=0)
            out *= 1 + MASK_ROUND_MM * mat.px_per_mm / np.abs(out).min(axis=0).clip(1)
            cv2.fillConvexPoly(masked, np.rint(corners.mean(axis=0) + out).astype(np.int32), (MASK_GREY,) * 3)
        return masked


def public(view: View) -> View:
    """Return a look without what lies on the robot's mat."""
    return replace(
        view,
        mats=tuple(mat for mat in view.mats if mat.id != ROBOT),
        sightings=tuple(s for s in view.sightings if s.zone not in ZONES),
        unknown_zones=view.unknown_zones.difference(ZONES),
        things=view.things.difference(ZONES),
    )
