"""Permissions to undo and to confirm.

A refusal is a sentence that names who may; None permits. The author's side, the play's side and the host may undo a
change. Any player may correct a line; the log shows who did.
"""

from __future__ import annotations

from companion.match.history import CAMERA
from companion.match.match import GONE, NOTHING
from companion.match.state import MatchState, Outcome, waits_for_another
from companion.pages import words
from companion.pages.context import match, state
from companion.pages.players import phone_identity
from companion.pages.players.phone_identity import NotYours
from companion.pages.words import N_, Names, _
from companion.rules.play import Play, Verb
from companion.rules.record.notation import HandLine, read_header
from companion.storage.events import Event, EventKind

WATCHING = N_("This phone is only watching: take a seat to play.")
SEATED_ONLY = N_("Only players may undo that: take a seat.")
HOSTS_ONLY = N_("Only the host can do that: ask %(who)s, or see the Seats page.")
NO_HOSTS_NAME = N_("the person with the host’s phone")
DEEPER = N_("One step is undone. Only the host can undo more.")

_DID = {
    "confirmed": N_("%(who)s confirmed that: %(who)s or the host may undo it."),
    "entered": N_("%(who)s entered that: %(who)s or the host may undo it."),
    "changed": N_("%(who)s changed that line: %(who)s or the host may undo it."),
    "took out": N_("%(who)s removed that line: %(who)s or the host may undo it."),
    "began": N_("%(who)s started that hand: %(who)s or the host may undo it."),
    "undid": N_("%(who)s undid that: %(who)s or the host may redo it."),
    "line": N_("%(who)s entered that line: %(who)s or the host may remove it. Every player may correct it."),
}


def steps(now: MatchState) -> dict[str, dict[str, object]]:
    """Return the next undo and redo; `why_not` is this phone's refusal."""
    return {
        name: {
            "seq": event.seq,
            "say": undo_say(now, event) if kind is EventKind.UNDO else _("Redo"),
            "why_not": why_not(now, kind),
        }
        for name, kind in (("undoing", EventKind.UNDO), ("redoing", EventKind.REDO))
        if (event := _last(now, kind))
    }


def undo_say(now: MatchState, event: Event) -> str:
    """Return the label of an undo: `Undo: Bob, 100 km`."""
    names, kind, entry = Names.of(now.game), _deed(event), now.entry(event.seq)
    play = entry.play if entry is not None else None
    if kind == "changed" and len(now.past.undone_next) > 1:
        return _("Undo: the lines that %(who)s changed", who=words.doer(event.by, names))
    if kind == "changed":
        return _("Undo: the line that %(who)s changed", who=words.doer(event.by, names))
    if kind == "took out":
        return _("Undo: the line that %(who)s removed", who=words.doer(event.by, names))
    if kind == "began":
        return _("Undo: the start of this hand")
    if play is None:
        return _("Undo")
    if play.verb is Verb.PLAY and play.player and play.card:
        return _("Undo: %(who)s, %(card)s", who=names.player(play.player), card=words.doubled(play.card, play.times))
    return _("Undo: “%(what)s”", what=words.play_say(play, names))


def take_back(kind: EventKind, by: str, seq: object) -> Outcome:
    """Undo the last change or redo the last undo; with `seq`, only that one.

    Raises NotYours if this phone may not.
    """
    now = match().state
    event = _last(now, kind)
    if event is None or (seq is not None and str(seq) != str(event.seq)):
        return NOTHING[kind] if seq is None else GONE
    refused = why_not(now, kind)
    if refused is not None:
        raise NotYours(refused)
    return (match().undo if kind is EventKind.UNDO else match().redo)(by, event.seq)


def _last(now: MatchState, kind: EventKind) -> Event | None:
    return now.undoable if kind is EventKind.UNDO else now.redoable


def why_not(now: MatchState, kind: EventKind) -> str | None:
    """Return the refusal to undo the last change or redo the last undo."""
    event = _last(now, kind)
    if event is not None and now.is_dealt:
        return None if phone_identity.seat(now) else _(SEATED_ONLY)
    if event is None or _may_all(now):
        return None
    if kind is EventKind.REDO:
        return _refusal(now, event.by, None, "undid")
    if not phone_identity.may_act():
        return _(WATCHING)
    if now.redoable is not None:
        return _(DEEPER)
    before = next((change.before for change in now.past.changes if change.seq == event.seq), "")
    entry = now.entry(event.body.get("of", event.seq))
    concerned = before.split()[0] if before else entry.play.player if entry is not None and entry.play else None
    return _refusal(now, event.by, concerned, _deed(event))


def why_no_retract(now: MatchState, seq: int) -> str | None:
    """Return the refusal to remove a record's line."""
    entry = now.entry(seq)
    if entry is None or _may_all(now):
        return None
    return _refusal(now, entry.written.by, entry.play.player if entry.play is not None else None, "line")


def _may_all(now: MatchState) -> bool:
    """True for the host, and for active phones while no player has one."""
    return phone_identity.may_host() or (phone_identity.may_act() and not phone_identity.seated(now))


def _refusal(now: MatchState, by: str, concerned: str | None, deed: str) -> str | None:
    """Return the refusal unless this phone's side made the change or the play of `concerned`.

    Any active phone may undo what no player did.
    """
    if not phone_identity.may_act():
        return _(WATCHING)
    side_of = now.side_of
    own = side_of.get(phone_identity.seat(now) or "")
    if by not in side_of or (own is not None and own in (side_of[by], side_of.get(concerned or ""))):
        return None
    return _(_DID[deed], who=Names.of(now.game).player(by))


def _deed(event: Event) -> str:
    if event.kind == EventKind.CORRECT:
        return "changed"
    if event.kind == EventKind.RETRACT:
        return "took out"
    if isinstance(read_header(str(event.body.get("text", ""))), HandLine):
        return "began"
    return "confirmed" if event.body.get("source") == CAMERA else "entered"


def decides(now: MatchState) -> bool:
    """True if this phone may enter a side's decision about the extension.

    With a phone of the side at the table, only its players', the host's and phones without a seat may.
    """
    table = now.game.table
    if table is None or table.extension_offered_to is None:
        return False
    here = phone_identity.seated(now) & set(table.sides[table.extension_offered_to].players)
    seat = phone_identity.seat(now)
    return phone_identity.may_act() and (not here or seat in here or seat is None or phone_identity.may_host())


def vouched() -> bool:
    """True if this is the host's phone and may confirm for other sides: it has no seat, or they have no phone."""
    side_of, seat = state().side_of, phone_identity.seat(state())
    others = {side_of[player] for player in phone_identity.seated(state())} - {side_of.get(seat or "")}
    return phone_identity.may_host() and (seat is None or not others)


def waits_for(now: MatchState, play: Play) -> str | None:
    """Return the sentence naming whose confirmation a play needs, unless this phone may give it."""
    if not waits_for_another(now, play, phone_identity.who(now)) or vouched():
        return None
    others = [team.name for team in now.game.teams if play.player not in team.players]
    if len(others) > 1:
        return _("Waiting for another side to confirm.")
    who = Names.of(now.game).side(others[0])
    if len(now.game.teams[0].players) > 1:
        return _("Waiting for %(who)s to confirm.", who=who)
    return _("Waiting for %(who)s’s side to confirm.", who=who)
