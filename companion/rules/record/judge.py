"""Judge a record line by line: verdicts, results of hands, winner of the match.

A `JudgedRecord` keeps every game state, so `judge_on` judges only lines after a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from companion.common.spelling import meant
from companion.common.text import say
from companion.rules import referee, scoring
from companion.rules.cards import Card, Family
from companion.rules.dealing import SeatingError
from companion.rules.editions.edition import Edition, EditionError, load_edition
from companion.rules.play import Play, Verb
from companion.rules.reasons import Code, Reason, as_json, reason
from companion.rules.record import notation
from companion.rules.record.notation import Header, RecordLine, Unreadable, UnreadableEdition
from companion.rules.scoring import Sheet
from companion.rules.set_up_remarks import idle_rules, look_alikes
from companion.rules.table import Ending, HowEnded, Side, Table, Team

LEGAL, ILLEGAL, UNREADABLE = "legal", "illegal", "unreadable"
MOST_NAMES = 16  # sides or display names, more than any table has
NO_POINTS: Mapping[str, int] = MappingProxyType({})


class JudgedLine(NamedTuple):
    """The verdict on a play or unreadable line."""

    line: RecordLine
    hand: int
    verdict: str
    play: Play | None = None
    reasons: tuple[Reason, ...] = ()
    remarks: tuple[Reason, ...] = ()
    applied: bool = False
    unreadable: str | None = None  # how to write the line
    table: Table | None = None
    look_up: str | None = None  # edition that lists an unknown card or house rule

    def as_json(self, file: str, *, states: bool = False) -> dict[str, Any]:
        """Return a line object of `companion replay --json`."""
        edition = self.table.edition if self.table else load_edition("classic")
        reasons = [as_json(why, edition) for why in self.reasons]
        if self.unreadable:
            reasons.append({"code": UNREADABLE, "say": self.unreadable})
        out: dict[str, Any] = {
            "file": file,
            "line": self.line.number,
            "hand": self.hand,
            "text": self.line.text,
            "verdict": self.verdict,
            "reasons": reasons,
            "remarks": [as_json(why, edition) for why in self.remarks],
            "applied": self.applied,
        }
        return out | ({"state": state_json(self.table) if self.table else None} if states else {})


@dataclass(frozen=True, slots=True)
class HandResult:
    """The score of a hand."""

    number: int
    how: HowEnded
    by: str | None
    table: Table
    sheets: Mapping[str, Sheet]
    match: Mapping[str, int]
    winner: str | None
    won: Mapping[str, int]  # by each side in this record
    remarks: tuple[Reason, ...] = ()

    def as_json(self, file: str) -> dict[str, Any]:
        """Return a hand object of `companion replay --json`."""
        return {
            "file": file,
            "hand": self.number,
            "ended": self.how.value,
            "by": self.by,
            "target": self.table.target,
            "extended": self.table.extended_by is not None,
            "draw_pile": self.table.draw_pile,
            "sides": {side.name: self._side_json(side) for side in self.table.sides},
            "match": dict(self.match),
            "winner": self.winner,
            "matches_won": {side.name: self.won.get(side.name, 0) for side in self.table.sides},
            "remarks": [as_json(why, self.table.edition) for why in self.remarks],
        }

    def _side_json(self, side: Side) -> dict[str, Any]:
        sheet = self.sheets[side.name]
        score = [{"item": item.value, "points": points} for item, points in sheet.lines]
        return side_json(self.table.edition, side) | {"score": score, "total": sheet.total}


class Game(NamedTuple):
    """The state after some lines of a record: setup, current hand, earlier hands.

    A tuple is created several times faster than a frozen dataclass.
    """

    edition_name: str = "classic"
    options: tuple[tuple[str, str], ...] = ()
    teams: tuple[Team, ...] = ()
    target: int | None = None
    shown: Mapping[str, str] = MappingProxyType({})
    table: Table | None = None  # of the current or last hand; None before the first
    hand_number: int = 0
    hands: tuple[HandResult, ...] = ()
    totals: Mapping[str, int] = NO_POINTS  # without the open hand
    winner: str | None = None
    won: Mapping[str, int] = NO_POINTS
    held: HandResult | None = None  # last result, while a u-turn can reopen its hand
    counts: tuple[tuple[Card, int], ...] = ()  # owner's counts of an unverified deck
    is_unseated: bool = False  # if reported: the edition does not allow these sides

    @property
    def edition(self) -> Edition:
        """The edition with house rules and corrected card counts."""
        return load_edition(self.edition_name).with_options(self.options).with_deck(dict(self.counts))

    @property
    def idle_rules(self) -> tuple[Reason, ...]:
        players = sum(len(team.players) for team in self.teams)
        return tuple(idle_rules(self.edition, players, len(self.teams), self.target)) if self.options else ()

    @property
    def look_alikes(self) -> tuple[Reason, ...]:
        return tuple(look_alikes(self.teams))

    @property
    def hand_is_open(self) -> bool:
        return self.table is not None and not self.table.is_over

    @property
    def goes_on(self) -> bool:
        """True if the hand is open or another follows."""
        return self.hand_is_open or (self.winner is None and not self.edition.is_race)


NEW_GAME = Game()

Item = JudgedLine | HandResult


@dataclass(frozen=True, slots=True)
class JudgedRecord:
    """Lines, the game after each, and what `step` returned for each."""

    lines: tuple[RecordLine, ...] = ()
    games: tuple[Game, ...] = ()
    given: tuple[tuple[Item, ...], ...] = ()

    @property
    def game(self) -> Game:
        return self.games[-1] if self.games else NEW_GAME

    @property
    def items(self) -> tuple[Item, ...]:
        """All verdicts and results, as from `judge`."""
        return (*(item for items in self.given for item in items), *at_the_end(self.game))

    @property
    def hands(self) -> dict[int, HandResult]:
        """Results by hand number, from 1."""
        return {item.number: item for item in self.items if isinstance(item, HandResult)}

    def verdict(self, place: int) -> JudgedLine | None:
        """Return the verdict on the line at an index, if any."""
        return next((item for item in self.given[place] if isinstance(item, JudgedLine)), None)


EMPTY_RECORD = JudgedRecord()


def judge_on(before: JudgedRecord, record: Sequence[RecordLine]) -> JudgedRecord:
    """Return the judged record, reusing `before` up to the first different line."""
    pairs = enumerate(zip(before.lines, record, strict=False))
    since = next((place for place, (was, now) in pairs if was != now), min(len(before.lines), len(record)))
    games, given = list(before.games[:since]), list(before.given[:since])
    game = games[-1] if games else NEW_GAME
    for line in record[since:]:
        game, items = step(game, line)
        games.append(game)
        given.append(items)
    return JudgedRecord(tuple(record), tuple(games), tuple(given))


def judge(lines: Iterable[RecordLine], *, as_lies: bool = False) -> Iterator[Item]:
    """Yield each line's verdict, each hand's result after its last line, and an open hand's score so far at the end.

    `as_lies` applies illegal plays, as in `step`.
    """
    game = NEW_GAME
    for line in lines:
        game, items = step(game, line, as_lies=as_lies)
        yield from items
        if game.hands:
            # Keeping yielded results would make long records slow.
            game = game._replace(hands=())
    yield from at_the_end(game)


def at_the_end(game: Game) -> tuple[Item, ...]:
    """Return an open hand's score so far, or the result held back for a u-turn."""
    if game.held is not None:
        return (game.held,)
    if game.table is None or not game.hand_is_open:
        return ()
    return (_result(game, game.table, scoring.score(game.table)),)


def step(game: Game, line: RecordLine, *, as_lies: bool = False) -> tuple[Game, tuple[Item, ...]]:
    """Return the game after a line, its verdict, and the results of hands it ended.

    `as_lies` or a final `anyway` applies illegal plays that move a card on the table.

    >>> game = NEW_GAME
    >>> texts = ["side Ann", "side Bob", "hand first Ann", "Ann roll", "Bob 100", "Bob fly"]
    >>> for number, text in enumerate(texts, start=1):
    ...     game, items = step(game, RecordLine(number, text))
    ...     for item in items:
    ...         print(number, item.verdict, [str(why) for why in item.reasons], item.applied)
    4 legal [] True
    5 illegal ['not-driving'] False
    6 unreadable [] False
    >>> game.table.player_to_move
    'Bob'
    """
    try:
        read = notation.parse_line(line.text, game.teams)
        return _take_play(game, line, read, as_lies) if isinstance(read, Play) else _take_header(game, read)
    except SeatingError as error:
        return game._replace(is_unseated=True), (_unreadable(game, line, error),)
    except (Unreadable, EditionError) as error:
        return game, (_unreadable(game, line, error),)


def _unreadable(game: Game, line: RecordLine, error: Exception) -> JudgedLine:
    sentence = str(error)
    if isinstance(error, notation.UnknownCard):
        sentence = error.among(game.edition.deck, game.edition_name)
    elif isinstance(error, UnreadableEdition):
        sentence = say(
            "%(sentence)s The record is judged as %(edition)s.", sentence=sentence, edition=game.edition_name
        )
    look_up = game.edition_name if isinstance(error, notation.UnknownWord) else None
    return JudgedLine(line, game.hand_number, UNREADABLE, unreadable=sentence, table=game.table, look_up=look_up)


def _take_header(game: Game, header: Header) -> tuple[Game, tuple[Item, ...]]:
    if isinstance(header, notation.HandLine):
        held = (game.held,) if game.held is not None else ()
        game, items = _start_hand(game, header.first)
        return game, (*held, *items)
    if isinstance(header, notation.PlayerLine):
        if header.player not in game.shown and len(game.shown) >= MOST_NAMES:
            raise Unreadable("At most %(most)d players can have a display name.", most=MOST_NAMES)
        return game._replace(shown=MappingProxyType({**game.shown, header.player: header.shown})), ()
    if game.table is not None:
        raise Unreadable(say("The game has started: write this line before the first `hand first`."))
    return _set_up(game, header)._replace(is_unseated=False), ()


def _set_up(game: Game, header: Header) -> Game:
    match header:
        case notation.EditionLine(name):
            return _agreed(game._replace(edition_name=name, counts=()))
        case notation.TargetLine(km):
            return game._replace(target=km)
        case notation.OptionLine(name, value):
            options = (*(option for option in game.options if option[0] != name), (name, value))
            return _agreed(game._replace(options=options))
        case notation.DeckLine(counts):
            game.edition.with_deck(dict(counts))
            return game._replace(counts=counts)
        case notation.SideLine(team):
            if len(game.teams) >= MOST_NAMES:
                raise Unreadable("At most %(most)d sides can play.", most=MOST_NAMES)
            taken = {name for other in game.teams for name in (other.name, *other.players)}
            if doubled := taken & {team.name, *team.players}:
                raise Unreadable(
                    "The name %(name)s is already taken: every side and player needs a different name.",
                    name=min(doubled),
                )
            return game._replace(teams=(*game.teams, team))
    raise AssertionError(header)


def _agreed(game: Game) -> Game:
    """Return the game. Raises EditionError for house rules that contradict its edition."""
    return game._replace(options=game.edition.house_rules)


def _start_hand(game: Game, first: str) -> tuple[Game, tuple[Item, ...]]:
    if not any(first in team.players for team in game.teams):
        if not game.teams:
            raise Unreadable("No `side` line names the players yet%(near)s.", near="")
        players = [player for team in game.teams for player in team.players]
        raise Unreadable(
            "Write one of the players after `hand first`: %(players)s%(near)s.",
            players=", ".join(players),
            near=meant(first, players),
        )
    table = referee.new_hand(game.edition, game.teams, first, game.target)
    game, items = _end_open_hand(game)
    if game.table is not None and scoring.starts_again(game.edition, game.totals, game.winner):
        game = game._replace(totals=NO_POINTS, winner=None)
    return game._replace(table=table, hand_number=game.hand_number + 1, held=None), items


def _end_open_hand(game: Game) -> tuple[Game, tuple[Item, ...]]:
    """End an open hand at `hand first`: completed if an extension was offered, else as agreed."""
    if game.table is None or not game.hand_is_open:
        return game, ()
    if game.table.extension_offered_to is not None:
        return _close(game, referee.apply(game.table, Play(Verb.FINISH)))
    ended = game.table._replace(ending=Ending(HowEnded.AGREED), attacks=())
    return _close(game, ended, (reason(Code.ENDED_AS_AGREED),))


def _take_play(game: Game, line: RecordLine, play: Play, as_lies: bool) -> tuple[Game, tuple[Item, ...]]:
    began: tuple[Reason, ...] = ()
    if game.table is None:
        # `hand first` is missing or unreadable.
        if game.is_unseated:
            raise Unreadable(say("No hand has started."))
        if play.player is None:
            raise Unreadable(say("No hand has started: write `hand first` and a player's name."))
        game, began = _start_hand(game, play.player)[0], (reason(Code.HAND_BEGAN_BY_ITSELF, player=play.player),)
    table = game.table
    if table is None:
        raise AssertionError("a hand was begun")
    reasons = referee.objections(table, play)
    remarks = began if reasons else (*began, *referee.remarks(table, play))
    # Acts without a card change nothing.
    leaves_a_card = bool(play.cards or play.card) or (play.verb is Verb.TAKE and bool(table.discards))
    stands = (as_lies or play.anyway) and leaves_a_card
    applied = not reasons or (stands and not table.is_over)
    after = referee.apply(table, play) if applied else table
    verdict = ILLEGAL if reasons else LEGAL
    judged = JudgedLine(line, game.hand_number, verdict, play, reasons, remarks, applied, table=after)
    if table.is_over and not after.is_over:
        game = _open_again(game)
    if table.is_over or not after.is_over:
        return game._replace(table=after), (judged,)
    game, items = _close(game, after)
    return game, (judged, *items)


def _close(game: Game, table: Table, remarks: tuple[Reason, ...] = ()) -> tuple[Game, tuple[Item, ...]]:
    """Add a hand to the match; hold its result back while a u-turn can reopen it."""
    sheets = scoring.score(table)
    totals = MappingProxyType(scoring.match_totals(table, game.totals, sheets))
    winner = scoring.match_winner(table.edition, totals, table)
    won = MappingProxyType({**game.won, winner: game.won.get(winner, 0) + 1}) if winner else game.won
    result = _result(game, table, sheets)
    result = replace(result, match=totals, winner=winner, won=won, remarks=(*result.remarks, *remarks))
    completed = table.ending is not None and table.ending.how is HowEnded.COMPLETED
    can_change = completed and table.window.laid is not None and table.edition.u_turn_on_winning_card == "allowed"
    held = result if can_change else None
    game = game._replace(table=table, totals=totals, winner=winner, won=won, held=held)
    return game._replace(hands=(*game.hands, result)), () if can_change else (result,)


def _open_again(game: Game) -> Game:
    """Return the game as before its last hand was scored."""
    hands = tuple(hand for hand in game.hands if hand.number != game.hand_number)
    totals, won = game.totals, game.won
    if game.held is not None:
        totals = {side: points - game.held.sheets[side].total for side, points in totals.items()}
        won = {side: count - (side == game.winner) for side, count in won.items()}
    return game._replace(hands=hands, totals=totals, won=won, winner=None, held=None)


def _result(game: Game, table: Table, counted: tuple[Sheet, ...]) -> HandResult:
    ending = table.ending
    sheets = {side.name: sheet for side, sheet in zip(table.sides, counted, strict=True)}
    return HandResult(
        number=game.hand_number,
        how=ending.how if ending else HowEnded.OPEN,
        by=table.sides[ending.side].name if ending and ending.side is not None else None,
        table=table,
        sheets=MappingProxyType(sheets),
        match=game.totals or MappingProxyType({side.name: 0 for side in table.sides}),
        winner=None,
        won=game.won,
        remarks=(*game.idle_rules, *game.look_alikes) if game.hand_number == 1 else (),
    )


def side_json(edition: Edition, side: Side) -> dict[str, Any]:
    """Return a side as JSON: visible cards, km, distances, safeties."""
    kinds = [card for card in edition.deck if card.family is Family.DISTANCE]
    kinds += sorted(set(side.distances) - set(kinds), key=lambda card: card.km)
    laid = {card: "coup-fourre" if card in side.coups_fourres else "played" for card in side.safeties}
    doubled = {card.value: side.doubled.count(card) for card in kinds if card in side.doubled}
    accelerated = {"doubled": doubled} if doubled or Card.ACCELERATOR in edition.deck else {}
    return {
        "battle": _slug(side.battle_top),
        "speed": _slug(side.speed_top if side.limited or side.speed_top is not Card.SPEED_LIMIT else None),
        "km": side.km,
        "distances": {card.value: side.distances.count(card) for card in kinds},
        "safeties": {card.value: how for card, how in laid.items()},
    } | accelerated


def _slug(card: Card | None) -> str | None:
    return card.value if card is not None else None


def state_json(table: Table) -> dict[str, Any]:
    """Return the table as JSON, for pages and `companion replay --states`."""
    offered, seats = table.extension_offered_to, table.seats
    return {
        "to_move": None if table.is_over else table.player_to_move,
        "target": table.target,
        "extended": table.extended_by is not None,
        "extension_offered_to": None if offered is None else table.sides[offered].name,
        "draw_pile": table.draw_pile,
        "discard": _slug(table.discards[-1]) if table.discards else None,
        "discards": len(table.discards),
        "hands": {seat.player: size for seat, size in zip(table.seats, table.hands, strict=True)},
        "requests": [
            {"card": asked.card.value, "by": seats[asked.by_seat].player, "of": seats[asked.of_seat].player}
            for asked in table.requests
        ],
        "may_pass": table.may_pass,
        "ended": table.ending.how.value if table.ending else None,
        "sides": {side.name: side_json(table.edition, side) for side in table.sides},
    }
