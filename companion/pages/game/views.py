"""Sides and record lines as plain values for the templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

from companion.match.history import CAMERA, Written
from companion.match.state import Entry, MatchState
from companion.pages import words
from companion.pages.game import offers
from companion.pages.words import N_, Names, Why, _
from companion.rules import referee
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import Edition
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code, Reason
from companion.rules.record import judge
from companion.rules.record.judge import Game, JudgedLine
from companion.rules.table import Side, Table

NOISE = (Code.DISCARD_ONLY_WHEN_STUCK,)  # omitted: follows every discard, as hands are hidden


def side_views(game: Game, player: str | None, robots: Set[str] = frozenset()) -> list[dict[str, Any]]:
    """Return the sides' template values in seating order; `player` reads the page."""
    table = game.table
    return [] if table is None else [_side_view(game, table, side, player, robots) for side in table.sides]


def robots_of(now: MatchState) -> Set[str]:
    """Return the players whose cards a robot plays."""
    return {*now.robots, *([now.robot_seat.player] if now.robot_seat else ())}


def _side_view(game: Game, table: Table, side: Side, player: str | None, robots: Set[str]) -> dict[str, Any]:
    km, names, drives = table.race_km(side), Names.of(game), referee.is_driving(table.edition, side)
    return {
        "number": names.number(side.name),
        "shown": names.side(side.name),
        "km": km,
        "left": max(0, table.target - km),
        "target": table.target,
        "percent": min(100, 100 * km // table.target),
        "sign": side.hazard or (Card.ROLL if drives else None),
        "because_of": _because_of(side, drives=drives),
        "car": words.car(table.edition, side),
        "drives": drives,
        "stopped": side.hazard is not None,
        "limited": side.limited,
        # safety, whether played, whether as a coup fourré
        "safeties": [(c, c in side.safeties, c in side.coups_fourres) for c in table.edition.safeties],
        "to_move": _is_up(table, side),
        "mine": player in side.players,
        "robot": not robots.isdisjoint(side.players),
        # match total without the open hand
        "points": game.totals.get(side.name, 0),
        "distances": distance_piles(side),
        "owes": list(_owes(table, side, names)),
        "is_race": table.edition.is_race,
        "needs": words.needs(side),
    }


def _because_of(side: Side, *, drives: bool) -> Card | None:
    """Return the card that explains a car's state, unless its sign shows it."""
    if drives and side.has_right_of_way and side.battle_top is not Card.ROLL:
        return Card.RIGHT_OF_WAY
    top = side.battle_top
    return top if top is not None and top.family is Family.REMEDY and top is not Card.ROLL else None


def distance_piles(side: Side) -> tuple[tuple[Card, int, int], ...]:
    """Return (card, count, factor) of a side's distance cards, longest first; the factor is 2 with an accelerator."""
    kinds = sorted(set(side.distances), key=lambda card: -card.km)
    doubled = {card: side.doubled.count(card) for card in kinds}
    plain = {card: side.distances.count(card) - doubled[card] for card in kinds}
    return tuple(pile for card in kinds for pile in ((card, plain[card], 1), (card, doubled[card], 2)) if pile[1])


def _owes(table: Table, side: Side, names: Names) -> Iterator[str]:
    for request in table.requests:
        of, card = table.seats[request.of_seat].player, words.title(request.card)
        if side.players == (of,):
            yield _("has to hand over: %(card)s", card=card)
        elif of in side.players:
            yield _("%(who)s has to hand over: %(card)s", who=names.player(of), card=card)


def _is_up(table: Table, side: Side) -> bool:
    """True if the side is to move, or to decide about an extension."""
    if table.is_over:
        return False
    if table.extension_offered_to is not None:
        return table.sides[table.extension_offered_to] is side
    return table.player_up in side.players


def log_view(state: MatchState) -> list[dict[str, Any]]:
    """Return the current hand's lines, the latest first."""
    return [entry_view(state.game, entry) for entry in reversed(state.hand_entries)]


def entry_view(game: Game, entry: Entry) -> dict[str, Any]:
    """Return a record line's template values. Raises ValueError for a header line."""
    judged, names, edition = entry.judged, Names.of(game), game.edition
    if judged is None:
        raise ValueError("a header line is no play")
    say = _line_say(edition, judged, judged.play, names) if judged.play else entry.written.text
    whys = words.whys(judged.reasons, edition, names)
    whys += [Why("unreadable", words.said(judged.unreadable), "", None)] if judged.unreadable else []
    return {
        "id": entry.seq,
        "side": names.number(judged.play.player) if judged.play else 0,
        "say": say,
        "text": entry.written.text,
        "card": words.sign_of(judged.play) if judged.play else None,
        "legal": judged.verdict == judge.LEGAL,
        "applied": judged.applied,
        "whys": whys,
        "remarks": [words.why(reason, edition, names) for reason in judged.remarks if reason.code not in NOISE],
        "credit": _credit(entry.written, names),
        "is_lost": is_lost(edition, judged.reasons),
    }


def _credit(written: Written, names: Names) -> str:
    if written.corrected_by:
        known, unknown, by = N_("corrected by %(who)s"), N_("corrected on a phone"), written.corrected_by
    elif written.source != CAMERA:
        known, unknown, by = N_("entered by %(who)s"), N_("entered on a phone"), written.by
    elif written.by == CAMERA:
        return _("by the camera")
    else:
        known, unknown, by = N_("confirmed by %(who)s"), N_("confirmed on a phone"), written.by
    return _(known, who=names.player(by)) if names.is_player(by) else _(unknown)


def is_lost(edition: Edition, reasons: Iterable[Reason]) -> bool:
    """True if the card exceeded the target and goes to the discard pile."""
    past_target = any(reason.code is Code.PAST_TARGET for reason in reasons)
    return past_target and edition.past_target_card == "discarded"


def _line_say(edition: Edition, judged: JudgedLine, play: Play, names: Names) -> str:
    if not judged.applied or not is_lost(edition, judged.reasons):
        return words.play_say(play, names)
    who, card = names.player(play.player), words.doubled(play.card, play.times)
    return _("%(who)s plays %(card)s past the target: it goes to the discard pile.", who=who, card=card)


class LastPlay(NamedTuple):
    """The last play that counted."""

    say: str
    then: str | None  # what a player needs or may do next
    side: int
    card: Card | None
    kind: str  # its sound
    key: str  # identifies the play: match and line


def last_play(state: MatchState) -> LastPlay | None:
    """Return the current hand's last play that counted."""
    table = state.game.table
    entry = next((e for e in reversed(state.hand_entries) if e.judged and e.judged.applied), None)
    if entry is None or entry.play is None or entry.judged is None or table is None:
        return None
    names = Names.of(state.game)
    return LastPlay(
        say=_line_say(state.game.edition, entry.judged, entry.play, names),
        then=None if table.is_over else _then(table, entry.play, names),
        side=names.number(entry.play.player),
        card=words.sign_of(entry.play),
        kind=_kind(entry.play),
        key=f"{state.match}.{entry.seq}",
    )


def _kind(play: Play) -> str:
    if play.verb is not Verb.PLAY or play.card is None:
        return "other"
    if play.is_coup_fourre:
        return "coup-fourre"
    return _SOUNDS.get(play.card) or _SOUNDS.get(play.card.family, "other")


_SOUNDS: Mapping[Card | Family, str] = {
    Card.ROLL: "roll",
    Family.HAZARD: "attack",
    Family.DISTANCE: "distance",
    Family.REMEDY: "remedy",
    Family.SAFETY: "safety",
}


def _then(table: Table, play: Play, names: Names) -> str | None:
    if table.requests:
        request = table.requests[-1]
        of, card = names.player(table.seats[request.of_seat].player), words.title(request.card)
        return _("%(who)s has to hand over: %(card)s", who=of, card=card)
    lays_now = offers.who_lays_now(table)
    if lays_now is not None:
        who, card = names.player(lays_now[0]), words.name(lays_now[1])
        if table.handed_to is not None:
            return _("%(who)s plays the %(card)s now.", who=who, card=card)
        return _("%(who)s may play the %(card)s now, or keep it.", who=who, card=card)
    if not (play.is_attack and table.attacks):
        return None
    hit = table.sides[table.attacks[-1].side]
    return words.needs(hit, names.side(hit.name))
