"""What the templates show, made from a match's state: plain values, no markup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from companion.match import Entry, MatchState, Pending
from companion.pages import words
from companion.pages.words import Names, Why
from companion.rules import judge, referee, scoring
from companion.rules.cards import SAFETY_OF, Card, Family
from companion.rules.judge import HandResult
from companion.rules.play import Play, Verb
from companion.rules.scoring import Item
from companion.rules.table import Side, Table


@dataclass(frozen=True, slots=True)
class SafetyView:
    """A safety's place in front of a side."""

    card: Card
    out: bool
    coup_fourre: bool


@dataclass(frozen=True, slots=True)
class SideView:
    """What lies in front of a side, as it is shown."""

    name: str
    shown: str
    players: tuple[str, ...]
    km: int
    left: int
    target: int
    percent: int
    """Of the way to the target, 0 … 100."""

    sign: Card | None
    """The card that shows on the battle pile."""

    car: str
    drives: bool
    stopped: bool
    limited: bool
    safeties: tuple[SafetyView, ...]
    to_move: bool
    mine: bool
    points: int
    """The match total without the open hand."""

    distances: tuple[tuple[Card, int], ...]
    """The distance cards laid: which, and how many, the longest first."""


def side_views(state: MatchState, player: str | None) -> list[SideView]:
    """Every side in seating order; `player` is who looks at the page."""
    table = state.game.table
    return [] if table is None else [_side_view(state, table, side, player) for side in table.sides]


def _side_view(state: MatchState, table: Table, side: Side, player: str | None) -> SideView:
    km = table.race_km(side)
    return SideView(
        name=side.name,
        shown=Names.of(state.game).side(side.name),
        players=side.players,
        km=km,
        left=max(0, table.target - km),
        target=table.target,
        percent=min(100, 100 * km // table.target),
        sign=side.battle_top or (Card.ROLL if side.has_right_of_way else None),
        car=words.car(table.edition, side),
        drives=referee.is_driving(table.edition, side),
        stopped=side.hazard is not None,
        limited=side.limited,
        safeties=tuple(SafetyView(c, c in side.safeties, c in side.coups_fourres) for c in table.edition.safeties),
        to_move=_is_up(table, side),
        mine=player in side.players,
        points=state.game.totals.get(side.name, 0),
        distances=tuple(
            (card, side.distances.count(card)) for card in sorted(set(side.distances), key=lambda c: -c.km)
        ),
    )


def _is_up(table: Table, side: Side) -> bool:
    """Whether the table waits for a side: it decides on the extension, else one of its players moves."""
    if table.is_over:
        return False
    if table.extension_offered_to is not None:
        return table.sides[table.extension_offered_to] is side
    return table.player_to_move in side.players


@dataclass(frozen=True, slots=True)
class PlayView:
    """A play in words: what happened, what speaks against it."""

    id: int
    """A line's or a proposal's."""

    say: str
    text: str
    """In the notation."""

    card: Card | None
    legal: bool
    applied: bool
    whys: tuple[Why, ...]
    remarks: tuple[Why, ...]
    by: str
    corrected_by: str | None
    has_picture: bool
    sure: bool
    tappable: bool


def pending_views(state: MatchState) -> list[PlayView]:
    """The proposals that wait, the next one to be answered first."""
    return [_pending_view(state, pending) for pending in state.pending]


def _pending_view(state: MatchState, pending: Pending) -> PlayView:
    judged, names = pending.judged, Names.of(state.game)
    edition = state.game.edition
    return PlayView(
        id=pending.id,
        say=words.play_say(pending.proposal.play, names),
        text=str(pending.proposal.play),
        card=pending.proposal.play.card,
        legal=pending.is_legal,
        applied=False,
        whys=tuple(words.why(reason, edition, names) for reason in judged.reasons),
        remarks=tuple(words.why(reason, edition, names) for reason in judged.remarks),
        by=pending.by,
        corrected_by=None,
        has_picture=pending.proposal.crop is not None,
        sure=pending.proposal.sure,
        tappable=True,
    )


def log_view(state: MatchState) -> list[PlayView]:
    """The hand on the table line by line, the latest first."""
    return [entry_view(state, entry) for entry in reversed(state.hand_entries)]


def entry_view(state: MatchState, entry: Entry) -> PlayView:
    """A line of the record in words."""
    judged, names, edition = entry.judged, Names.of(state.game), state.game.edition
    if judged is None:
        raise ValueError("a header line is no play")
    say = words.play_say(judged.play, names) if judged.play else entry.written.text
    whys = tuple(words.why(reason, edition, names) for reason in judged.reasons)
    unreadable = (Why(judged.unreadable, "", None),) if judged.unreadable else ()
    return PlayView(
        id=entry.seq,
        say=say,
        text=entry.written.text,
        card=judged.play.card if judged.play else None,
        legal=judged.verdict == judge.LEGAL,
        applied=judged.applied,
        whys=whys + unreadable,
        remarks=tuple(words.why(reason, edition, names) for reason in judged.remarks),
        by=names.player(entry.written.by),
        corrected_by=names.player(entry.written.corrected_by) if entry.written.corrected_by else None,
        has_picture=False,
        sure=True,
        tappable=True,
    )


@dataclass(frozen=True, slots=True)
class Last:
    """The last play and what it left somebody needing."""

    say: str
    then: str | None
    card: Card | None


def last_play(state: MatchState) -> Last | None:
    """The last play that counted."""
    table = state.game.table
    entry = next((e for e in reversed(state.hand_entries) if e.judged and e.judged.applied), None)
    if entry is None or entry.play is None or table is None:
        return None
    names = Names.of(state.game)
    hit = table.side_index(entry.play.target or "")
    then = words.needs(table.sides[hit]) if hit is not None and not table.is_over else None
    return Last(words.play_say(entry.play, names), then, entry.play.card)


@dataclass(frozen=True, slots=True)
class Chance:
    """A coup fourré that could be played now."""

    text: str
    shown: str
    card: Card
    hazard: Card


def coup_fourre_chances(state: MatchState) -> list[Chance]:
    """Which attacked side could answer at once, and with what; every partner of it may."""
    table, names = state.game.table, Names.of(state.game)
    if table is None or table.is_over:
        return []
    plays = (
        (attack.hazard, player, Play(Verb.PLAY, player, SAFETY_OF[attack.hazard], at_once=True))
        for attack in table.attacks
        for player in table.sides[attack.side].players
    )
    return [
        Chance(str(play), names.player(player), SAFETY_OF[hazard], hazard)
        for hazard, player, play in plays
        if not referee.objections(table, play)
    ]


@dataclass(frozen=True, slots=True)
class Tile:
    """A card to tap on the page where plays are entered."""

    card: Card
    title: str
    text: str | None
    """The play in the notation; None where the target has to be asked."""

    legal: bool
    left: int
    """How many of the card have not been laid."""


def tiles(table: Table, player: str, *, discard: bool) -> Iterator[tuple[Family, list[Tile]]]:
    """The deck by family, each card with the play that a tap on it enters."""
    for family in (Family.DISTANCE, Family.REMEDY, Family.HAZARD, Family.SAFETY, Family.SPECIAL):
        cards = [card for card in table.edition.deck if card.family is family]
        if cards:
            yield family, [_tile(table, player, card, discard=discard) for card in cards]


def _tile(table: Table, player: str, card: Card, *, discard: bool) -> Tile:
    plays = [Play(Verb.DISCARD, player, card)] if discard else list(ways(table, player, card))
    legal = any(not referee.objections(table, play) for play in plays)
    text = str(plays[0]) if len(plays) == 1 else None
    return Tile(card, words.title(card), text, legal, table.copies_left(card))


def ways(table: Table, player: str, card: Card) -> Iterator[Play]:
    """How a player may lay a card: a hazard on each opponent, anything else in one way."""
    if card.family is not Family.HAZARD:
        yield Play(Verb.PLAY, player, card)
        return
    own = table.side_of(player)
    yield from (Play(Verb.PLAY, player, card, side.name) for side in table.sides if side is not own)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the score sheet: what it is for and each side's points."""

    item: Item
    title: str
    note: str
    points: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class SheetView:
    """A hand's score sheet."""

    number: int
    how: str
    sides: tuple[str, ...]
    rows: tuple[Row, ...]
    totals: tuple[int, ...]
    match: tuple[int, ...]
    completed_by: str | None
    winner: str | None
    target: int
    extended: bool


def sheet_view(result: HandResult, names: Names) -> SheetView:
    """A hand's score sheet, every line of it that anybody has points on, and distance always."""
    sides = [side.name for side in result.table.sides]
    points = {side: dict(result.sheets[side].lines) for side in sides}
    items = [item for item in Item if any(points[side].get(item) for side in sides) or item is Item.DISTANCE]
    return SheetView(
        number=result.number,
        how=result.how.value,
        sides=tuple(names.side(side) for side in sides),
        rows=tuple(_row(item, [points[side].get(item) for side in sides]) for item in items),
        totals=tuple(result.sheets[side].total for side in sides),
        match=tuple(result.match.get(side, 0) for side in sides),
        completed_by=names.side(result.by) if result.by else None,
        winner=names.side(result.winner) if result.winner else None,
        target=result.table.target,
        extended=result.table.extended_by is not None,
    )


def _row(item: Item, points: list[int | None]) -> Row:
    return Row(item, words.ITEMS[item], words.ITEM_NOTES[item], tuple(points))


def open_sheet(state: MatchState) -> SheetView | None:
    """What the hand on the table would score if it ended here."""
    table = state.game.table
    if table is None:
        return None
    names = Names.of(state.game)
    points = [dict(sheet.lines) for sheet in scoring.score(table)]
    items = [item for item in Item if any(p.get(item) for p in points) or item is Item.DISTANCE]
    totals = tuple(sum(p.values()) for p in points)
    return SheetView(
        number=state.game.hand_number,
        how="open",
        sides=tuple(names.side(side.name) for side in table.sides),
        rows=tuple(_row(item, [p.get(item) for p in points]) for item in items),
        totals=totals,
        match=tuple(state.game.totals.get(side.name, 0) for side in table.sides),
        completed_by=None,
        winner=None,
        target=table.target,
        extended=table.extended_by is not None,
    )
