"""Read one frame: which cards are in which zones. A card's sticker and face become one sighting."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from companion.common.errors import Problem
from companion.rules.cards import Card
from companion.tabletop.card_ids import any_copy, face_of
from companion.tabletop.drawn_zones import Drawing
from companion.vision.boxes import Box, Image, around
from companion.vision.capture.image_io import read_picture
from companion.vision.capture.sources import Frame
from companion.vision.faces.face_detector import read_faces
from companion.vision.faces.face_templates import Templates
from companion.vision.mats.homography import lies_sideways
from companion.vision.mats.localization import Mats, look
from companion.vision.mats.zone_borders import settled
from companion.vision.mirrored import flipped, flipped_back, is_mirrored, is_mirrored_photo
from companion.vision.opencv import cv2
from companion.vision.stickers.card_place import StickerPlace
from companion.vision.stickers.code_plane import ENOUGH_FOR_A_VIEW, SIZES_MM, level_of, widths_mm
from companion.vision.stickers.reader import NOTHING_BEFORE, Before, boxes_to_read, read_codes
from companion.vision.view import AGREED, STICKER, Point, Sighting, StickerSeen, View, side_of

ON_CARD_PX = 4.0  # maximum distance of a sticker's center off its card
ABOVE_SHARE = 0.5  # maximum side of a sticker's code relative to its card


def read(
    frame: Frame,
    mats: Mats,
    *,
    allowed: Collection[str] | None = None,
    where: Sequence[Box] | None = None,
    before: View | None = None,
    gray: Image | None = None,
    every_size: bool = True,
    templates: Templates | None = None,
    fans: bool = False,
) -> View:
    """Return the view of a frame, given the positions of the mats.

    * `allowed`: physical cards of the deck (None: any).
    * `where`: boxes to read; elsewhere, sightings of `before` are kept.
    * `gray`: the frame in gray, if already converted.
    * `every_size`: if False, read only stickers of the sizes in `before`.
    * `templates`: faces to recognize anywhere on the picture.
    * `fans`: also recognize strips of cards in columns and fans.
    """
    sizes = NOTHING_BEFORE if every_size or before is None else _as_before(before, mats)
    gray = gray_of(frame.image) if gray is None else gray
    sightings = _sightings(gray, mats, sizes, allowed, where, before)
    if templates is not None:
        sightings = together(sightings, read_faces(frame.image, templates, mats, where=where, fans=fans))
    return View(frame.t_s, mats.seen(), sightings, draw_pile_empty=mats.draw_marker_seen)


def _as_before(before: View, mats: Mats) -> Before:
    """Return the sticker sizes and plane of the last view, to limit reading."""
    quads = [s.corners_px for s in before.sightings if s.card and s.corners_px]
    fit = next(iter(mats.printed), None)
    level = level_of(quads) if fit is None and len(quads) >= ENOUGH_FOR_A_VIEW else None
    return Before(sizes_mm=(widths_mm(quads, fit) if fit else ()) or SIZES_MM, level=level)


def gray_of(image: Image) -> Image:
    """Convert `(H, W, 3) uint8 BGR` to gray `(H, W) uint8`."""
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def sighting_of(code: StickerSeen, mats: Mats) -> Sighting:
    """Return a sticker's sighting; `sideways` is relative to its mat, or the picture."""
    centre = code.centre_px
    fit = mats.at(centre)
    return Sighting(
        face=face_of(code.card) if code.card else Card.UNKNOWN,
        card=code.card,
        centre_px=centre,
        corners_px=code.corners_px,
        zone=fit.zone_at(centre) if fit else None,
        sideways=lies_sideways(code.corners_px, fit),
        confidence=code.confidence,
        by=STICKER,
        rivals=code.rivals,
        twice=code.twice,
    )


def _sightings(
    gray: Image,
    mats: Mats,
    sizes: Before,
    allowed: Collection[str] | None,
    where: Sequence[Box] | None,
    before: View | None,
) -> tuple[Sighting, ...]:
    """Return stickers read in the boxes, and earlier sightings elsewhere."""
    old = before.sightings if before and where is not None else ()
    known = {s.card: s.centre_px for s in before.sightings if s.card and s.confidence >= AGREED} if before else {}
    boxes = boxes_to_read(gray, where)
    outside = [s for s in old if not any(box.holds(s.corners_px or ()) for box in boxes)]
    beside = tuple(s.corners_px for s in outside if s.corners_px)
    earlier = replace(sizes, known=known, beside=beside)
    codes = read_codes(gray, where=boxes, allowed=allowed, mats=mats, before=earlier)
    found = [sighting_of(code, mats) for code in codes]
    now = {s.card for s in found if s.card}
    twice = [s for s in outside if (s.card or s.twice) in now and s.corners_px]
    if not (before and twice):
        return (*outside, *found)
    # Also known elsewhere: moved or duplicate. Read both places together.
    again = [around(s.corners_px).padded(12) for s in twice if s.corners_px]
    rest = replace(before, sightings=tuple(s for s in before.sightings if s not in twice))
    return _sightings(gray, mats, sizes, allowed, (*boxes, *again), rest)


# --- Whole pictures, for `companion read` ---------------------------------------------------------------------


def read_pictures(
    paths: Iterable[str | Path],
    *,
    allowed: Collection[str] | None = None,
    drawing: Drawing | None = None,
    templates: Templates | None = None,
    also: Callable[[Image, Mats, View], dict[str, object]] = lambda *_seen: {},
) -> Iterator[dict[str, object]]:
    """Yield each picture's content as `read --json` writes it, merged with what `also` returns.

    `allowed` are the deck's physical cards (None: any), `drawing` the zones where no mats are, `templates` the faces to
    recognize. An unreadable picture yields `{"image": …, "problem": sentence}`, a mirrored one `"mirrored": True` and
    positions in the original.
    """
    for path in paths:
        try:
            image = read_picture(path)
            is_flipped = is_mirrored_photo(image) if drawing is None else is_mirrored(image) is True
            image = flipped(image) if is_flipped else image
            mats = look(gray_of(image), Mats(drawing=drawing), 0.0)
            refuse_proportions(str(path), image, mats)
        except Problem as problem:
            yield {"image": str(path), "problem": str(problem)}
            continue
        view = on_cards(read(Frame(image, 0.0), mats, templates=templates, fans=True), mats)
        seen = flipped_back(view, image.shape[1]) if is_flipped else view
        yield {
            "image": str(path),
            "width": int(image.shape[1]),
            "height": int(image.shape[0]),
            "mats": [{"id": mat.id, "corners_px": _rounded(mat.corners_px)} for mat in seen.mats],
            "cards": [sighting_json(sighting, allowed) for sighting in seen.sightings],
            **({"mirrored": True} if is_flipped else {}),
        } | also(image, mats, view)


def on_cards(view: View, mats: Mats) -> View:
    """Return a view of one picture whose stickers are in the zones of their cards."""
    place = StickerPlace().after(view.sightings, mats)
    placed = (place.placed(mats, s) for s in view.sightings)
    return replace(view, sightings=tuple(s if s.card_px is None else settled(mats, s) for s in placed))


def refuse_proportions(name: str, image: Image, mats: Mats) -> None:
    """Raise Problem if a picture shows no mats and has other proportions than the drawn zones' picture."""
    if mats.drawing is None or mats.fits:
        return
    drawn, own = (f"{width} × {height}" for width, height in (mats.drawing.picture, image.shape[1::-1]))
    raise Problem(
        "%(name)s is %(own)s, but the zones were drawn on a picture of %(drawn)s: "
        "draw them on one with the same proportions.",
        name=name,
        own=own,
        drawn=drawn,
    )


def sighting_json(sighting: Sighting, allowed: Collection[str] | None = None) -> dict[str, object]:
    """Return a sighting as `read --json` writes it; a card not `allowed` is unknown, and named under `foreign`."""
    if sighting.card and allowed is not None and sighting.card not in allowed:
        stranger = replace(sighting, face=Card.UNKNOWN, card=None, confidence=0.0)
        return sighting_json(stranger) | {"foreign": sighting.card}
    others = (face_of(card).value for card, _ in sighting.rivals if card != sighting.glued)
    wrongly = {"sticker": sighting.glued, "looks_like": next(others, None)} if sighting.glued else {}
    doubled = {"twice": sighting.twice} if sighting.twice else {}
    return (
        wrongly
        | doubled
        | {
            "face": str(sighting.face),
            "card": sighting.card,
            "centre_px": _rounded([sighting.centre_px])[0],
            "corners_px": _rounded(sighting.corners_px) if sighting.corners_px else None,
            "sideways": sighting.sideways,
            "confidence": round(sighting.confidence, 3),
            "by": sighting.by,
            "zone": sighting.zone,
        }
    )


def _rounded(points: Iterable[Point]) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points]


def together(stickers: Sequence[Sighting], faces: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """Return sightings by sticker and face (topmost first), merged into one per card."""
    on = [_card_under(sticker, faces) for sticker in stickers]
    voted = [sticker if at is None else _voted(sticker, faces[at]) for sticker, at in zip(stickers, on, strict=True)]
    return (*voted, *(face for number, face in enumerate(faces) if number not in on))


def _card_under(sticker: Sighting, faces: Sequence[Sighting]) -> int | None:
    """Return the index of the topmost face under a sticker, or None."""
    for number, face in enumerate(faces):
        if face.corners_px is not None and sticker.corners_px is not None:
            small = side_of(sticker.corners_px) < ABOVE_SHARE * side_of(face.corners_px)
            quad = np.float32(face.corners_px)
            if small and cv2.pointPolygonTest(quad, sticker.centre_px, True) >= -ON_CARD_PX:
                return number
    return None


def _voted(sticker: Sighting, face: Sighting) -> Sighting:
    if face.face is Card.UNKNOWN:
        return sticker
    if sticker.card is None:
        of_face = next((card for card, _ in sticker.rivals if face_of(card) is face.face), None)
        return (
            replace(sticker, card=of_face, face=face.face, confidence=face.confidence, rivals=())
            if of_face
            else replace(face, twice=sticker.twice)
        )
    if sticker.face is face.face:
        return replace(sticker, confidence=max(sticker.confidence, AGREED))
    said = ((sticker.card, 0.45), (any_copy(face.face), 0.45))
    return replace(sticker, face=Card.UNKNOWN, card=None, confidence=0.0, rivals=said, glued=sticker.card)
