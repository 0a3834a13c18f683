"""Access to routes; those not listed are closed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from flask import abort

from companion.pages.players import permissions, phone_identity, seats
from companion.pages.words import _


class Who(StrEnum):
    """Groups of phones; `permissions.py` restricts what they may do."""

    ANYBODY = "anybody on the network"
    INSIDE = "phones that take part, also those that only watch"
    PLAYING = "phones that take part and did not choose to watch"
    PLAYING_OR_HOST = "the same, and a host who only watches"
    HOST = "the host and the machine itself; every phone that takes part, while nobody is host"


_OPEN_TO: Mapping[Who, str] = {
    Who.ANYBODY: """
        static table.show table.more plain.show wall.show score.show score.plays entry.may phone.show phone.save
        entry.new entry.change entry.instead how.show how.one how.card how.try_it
        seats.join seats.taken seats.waiting seats.knock told.put_away seats.show setting_up.show
        past.show past.one past.picture past.export past.bg_stats past.replay
        statistics.show statistics.one statistics.card
        api.state api.version api.record
        api.document api.matches api.match
        camera.show camera.draw camera.phone decks.show enrolling.show snap.show printed.show
    """,
    Who.INSIDE: """
        seats.sit seats.ask seats.take seats.answer api.seat
        camera.picture camera.crop
        snap.send snap.confirm snap.count snap.score snap.picture
    """,
    Who.PLAYING: """
        table.enter table.answer table.next_hand table.call_director
        table.hear table.set_without_camera
        table.waive table.advise table.sort api.waive api.hand
        table.correct table.insert table.retract table.let_stand table.let_all_stand plain.enter
        api.play api.answer api.correct api.next_hand
        camera.save camera.forget camera.turn camera.begin camera.frame camera.end
        decks.start decks.use decks.remove decks.take_in decks.take_away
        enrolling.take enrolling.watch enrolling.picture enrolling.name_them enrolling.keep_them enrolling.waiting
        enrolling.remove_picture enrolling.marked
        printed.sheet
        robot.show robot.begin robot.tap_in robot.done
    """,
    Who.PLAYING_OR_HOST: "table.undo table.redo api.undo api.redo",
    Who.HOST: """
        setting_up.start setting_up.answer_offer api.begin camera.open_port camera.trial camera.go_on camera.add
        table.set_policy table.set_verifying seats.hand_on seats.free seats.give told.put_note_away robot.choose
        table.go_on_at_club past.go_on api.policy
    """,
}

DOORS: Mapping[str, Who] = {endpoint: who for who, endpoints in _OPEN_TO.items() for endpoint in endpoints.split()}
"""Required group of phones, by endpoint."""


def let_in(endpoint: str) -> None:
    """Abort a phone's request to a closed route. Raises NotYours if the phone takes part."""
    who = DOORS.get(endpoint) or abort(404)
    if who is Who.ANYBODY:
        return
    if not phone_identity.takes_part():
        abort(401)
    if who is Who.HOST:
        if not phone_identity.may_host():
            raise phone_identity.NotYours(seats.only_host())
    elif phone_identity.watches():
        may = who is Who.INSIDE or (who is Who.PLAYING_OR_HOST and phone_identity.may_host())
        if not may:
            raise phone_identity.NotYours(_(permissions.WATCHING))
