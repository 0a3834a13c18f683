"""The likeliest hypothesis on the disk, so that a question about a card keeps its id over a restart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from companion.common.errors import Problem
from companion.common.small_file import read_json
from companion.match.zone_plays import Places
from companion.rules.cards import Card, card_of_slug
from companion.storage.data_folder import write_whole
from companion.tracking.beam import Beliefs
from companion.tracking.hand_record import Record
from companion.tracking.hypothesis import Gone, Hypothesis, Manner, TableAct, TableCard
from companion.tracking.looks import SeenTable

FILE_NAME = "tracks.json"
_PASSING = (Manner.UNSEEN, Manner.BACK)  # acts that no card on the table shows


def write(path: Path, beliefs: Beliefs, before: str) -> str:
    """Write what is believed, if it differs from `before`, and return what was written.

    If the disk refuses, nothing is remembered after a restart.
    """
    if beliefs.record is None:
        return before
    h = beliefs.best
    said = json.dumps(
        {
            "last_serial": beliefs.looks.last_number,
            "match": beliefs.record.match,
            "hand": beliefs.record.hand_seq,
            "cards": {zone: [_row(card) for card in there] for zone, there in h.zones.items() if there},
            "acts": [_act_row(act) for act in h.acts if act.manner not in _PASSING],
            "told": {seq: _act_row(act) for seq, act in h.told.items()},
            "gone": [[one.zone, one.to, _row(one.card)] for one in h.gone],
        }
    )
    if said != before:
        with suppress(OSError):
            write_whole(path, said)
    return said


def read(path: Path | None) -> Beliefs:
    """Return the beliefs as they were written; none if there are none, or they cannot be read."""
    if path is None or not path.exists():
        return Beliefs()
    try:
        said = read_json(path)
        cards = {str(zone): tuple(map(_card, there)) for zone, there in said["cards"].items()}
        told = {int(seq): _act(row) for seq, row in said["told"].items()}
        gone = tuple(Gone(_card(card), str(zone), 0.0, to and str(to)) for zone, to, card in said["gone"])
        h = Hypothesis(cards, tuple(map(_act, said["acts"])), gone=gone, told=told)
        record = Record(int(said["match"]), int(said["hand"]), Places({}), None)
        return Beliefs(None, SeenTable(last_number=int(said["last_serial"])), (h,), record)
    except (OSError, Problem, ValueError, KeyError, TypeError, AttributeError):
        return Beliefs()


def _row(card: TableCard) -> list[object]:
    return [card.serial, card.face.value, card.card]


def _card(row: list[Any]) -> TableCard:
    serial, face, card = row
    return TableCard(int(serial), _face(face), card and str(card), 0, 0j, 0.0, is_old=True)


def _act_row(act: TableAct) -> Mapping[str, object]:
    return {
        "serial": act.serial, "face": act.face.value, "zone": act.zone, "sideways": act.sideways,
        "manner": act.manner.value, "times": act.times,
    }  # fmt: skip


def _act(row: Mapping[str, Any]) -> TableAct:
    return TableAct(
        int(row["serial"]), _face(row["face"]), str(row["zone"]), bool(row["sideways"]), Manner(row["manner"]),
        0.0, 0.0, times=int(row["times"]),
    )  # fmt: skip


def _face(slug: object) -> Card:
    return card_of_slug(str(slug)) or Card.UNKNOWN
