"""The tracks on the disk, so that a question about a card that lies on keeps its id over a restart."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from companion.common.errors import Problem
from companion.common.small_file import read_json
from companion.rules.cards import Card, card_of_slug
from companion.storage.data_folder import write_whole
from companion.tracking.track import Place, State, Track
from companion.tracking.tracker import MOST_GONE, Tracks
from companion.vision.view import Point

FILE_NAME = "tracks.json"
_KEEPS = ("serial", "face", "card", "place", "state", "laid_seq", "gone_seq", "centre_px")
"""What is kept of a track: what no clock and no frame has a part in."""


def write(path: Path, tracks: Tracks, before: object) -> tuple[object, ...]:
    """Write the tracks where more has changed than `before` tells, as the last call returned it: a nudge is too little.

    Where the disk refuses, they are simply not there after a restart.
    """
    laid = [t for t in tracks.cards if t.laid_seq is not None]
    signature = tracks.hand_seq, *((t.serial, t.face, t.zone, t.state, t.laid_seq, t.gone_seq) for t in laid)
    if signature != before:
        cards = [{key: getattr(t, key) for key in _KEEPS} | {"place": t.place._asdict()} for t in laid[-MOST_GONE:]]
        said = {"last_serial": tracks.last_serial, "hand_seq": tracks.hand_seq, "cards": cards}
        with suppress(OSError):
            write_whole(path, json.dumps(said))
    return signature


def read(path: Path | None) -> Tracks:
    """Return the tracks as they were written; none where there are none, or they cannot be read."""
    if path is None or not path.exists():
        return Tracks()
    try:
        said = read_json(path)
        cards = tuple(map(_track, said["cards"]))
        return Tracks(cards=cards, last_serial=int(said["last_serial"]), hand_seq=int(said.get("hand_seq", -1)))
    except (OSError, Problem, ValueError, KeyError, TypeError):
        return Tracks()


def _track(said: dict[str, Any]) -> Track:
    place = said["place"]
    return Track(
        serial=int(said["serial"]),
        face=card_of_slug(said["face"]) or Card.UNKNOWN,
        card=None if said["card"] is None else str(said["card"]),
        place=Place(str(place["zone"]), bool(place["sideways"]), _point(*place["at_mm"]), float(place["turn_deg"])),
        state=State(said["state"]),
        laid_seq=int(said["laid_seq"]),
        gone_seq=int(said["gone_seq"]),
        centre_px=_point(*said["centre_px"]),
    )


def _point(x: float, y: float) -> Point:
    return float(x), float(y)
