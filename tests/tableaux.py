"""Phone photographs of finished tableaux with stickers, optionally with doubtful cards."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import cv2
import photos
from face_photos import off_sheet
from laid import Glued, Laid, Sheet, Table
from webcam import Pose

from companion.rules.cards import Card
from companion.tabletop.card_ids import card_id_of, payload
from companion.tabletop.mat_layout import DISTANCE_COLUMNS
from companion.vision.counting.photographs import read_photo
from companion.vision.counting.tally import Photo

ANN: Mapping[str, Sequence[str]] = {
    "distance": ("25-03", "50-01", "50-02", "75-04", "100-01", "100-02", "100-03", "100-04", "100-05"),
    "safety": ("driving-ace-01", "right-of-way-01 across"),
    "battle": ("roll-03",),
    "speed": ("end-of-limit-01",),
}
"""700 km, and a Coup Fourré."""

BOB: Mapping[str, Sequence[str]] = {
    "distance": ("25-06", "75-01", "75-02", "100-07", "200-02"),
    "safety": ("extra-tank-01",),
    "battle": ("stop-01",),
}
"""475 km."""

_WIDTH_MM = {1: 480.0, 2: 930.0}


def table_of(sides: Sequence[Mapping[str, Sequence[str]]], *, mats: bool = True) -> Table:
    """Return the sides' cards on mats side by side, or in the same places on a bare table."""
    cards, sheets = [], []
    for number, side in enumerate(sides):
        sheet = photos.mat(f"side-{number + 1}", (number - (len(sides) - 1) / 2) * 440, 20, 1 - 2 * number)
        sheets.append(sheet)
        cards += [_card(sheet, zone, place, name) for zone, names in side.items() for place, name in enumerate(names)]
    return Table(tuple(cards), tuple(sheets) if mats else (), cloth="wood")


def _card(sheet: Sheet, zone: str, place: int, name: str) -> Laid:
    card_id, _, across = name.partition(" ")
    rect = photos.MATS[sheet.name].zones[zone]
    dx, dy = 0.0, 0.0
    if zone == "distance":
        face, _, copy = card_id.rpartition("-")
        dx, dy = (DISTANCE_COLUMNS.index(face) - 2) * 64.8, -22.0 + 20 * ((int(copy) - 1) % 5)
    elif zone == "safety":
        dx = 66.0 * place - 36
    x, y = off_sheet(sheet, (rect.centre_mm[0] + dx, rect.centre_mm[1] + dy))
    return Laid(float(x), float(y), sheet.turn_deg + 90 * bool(across), Glued(payload(card_id), 0, -30), look="own")


@cache
def file_of(size_px: tuple[int, int] = (1600, 1200), sides: int = 2, kind: str = ".jpg", *, mats: bool = True) -> bytes:
    """Return a photograph of Ann's tableau, or of hers and Bob's, as a file."""
    pose = Pose(size_px[0] / _WIDTH_MM[sides], size_px, tilt_deg=12, lean_deg=20, turn_deg=1)
    photo = photos.photograph(table_of((ANN, BOB)[:sides], mats=mats), pose)
    return cv2.imencode(kind, photo.image, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()


@cache
def bare_file() -> bytes:
    """Return a photograph of a few cards without stickers on a mat: 175 km and a safety."""
    table = table_of([{"distance": ("75-04", "100-01"), "safety": ("driving-ace-01",)}])
    looks = [f"own {card_id_of(card.sticker.text).rpartition('-')[0]}" for card in table.cards]
    cards = tuple(replace(card, sticker=None, look=look) for card, look in zip(table.cards, looks, strict=True))
    photo = photos.photograph(replace(table, cards=cards), Pose(1280 / 480, (1280, 960)))
    return cv2.imencode(".jpg", photo.image)[1].tobytes()


@cache
def shot() -> Photo:
    return read_photo(file_of(), "photograph 1")


def in_doubt(read: Photo, doubts: Mapping[str, Sequence[str]], confidence: float = 0.4) -> Photo:
    """Return the photograph with some cards unidentified; `doubts` maps stickers to possible cards."""
    view = read.view
    sightings = list(view.sightings)
    for at, sighting in enumerate(view.sightings):
        if sighting.card in doubts:
            rivals = tuple((card_id, confidence) for card_id in doubts[sighting.card])
            sightings[at] = replace(sighting, face=Card.UNKNOWN, card=None, confidence=0.0, rivals=rivals)
    return replace(read, view=replace(view, sightings=tuple(sightings)))
