"""The screen of `companion play`: at most 24 lines of 80 columns, with the input."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from companion.app.reports import report
from companion.pages import words
from companion.pages.words import N_, Names, _
from companion.robots.information_set import DealtHand, PastPlay, options
from companion.rules import scoring
from companion.rules.cards import Card
from companion.rules.dealing import EXTENDED_KM
from companion.rules.play import Play, Verb
from companion.rules.record.judge import Game, HandResult
from companion.rules.scoring import Item
from companion.rules.table import How, Side, Table, is_driving
from companion.tabletop import translation

_WIDTH, _HEIGHT = 79, 24
_NAME_WIDTH, _PILE_WIDTH = 15, 20

HELP = N_("""\
p, pick        pick a card            u, use 3       use card 3, `p` for the picked one
d, discard 3   discard card 3         n, no          do not answer now
h, hint        ask the coach          w, why         why the others played as they did
o, order       sort the hand or not   r, redraw      show the table again
s, save FILE   save the game          q, quit        leave it
Where a card can be used in several ways say which: `u 3 Bob`, `u 3 100*2`.
A play can be written out as well: `stop > Bob`, `100*2`, `mirror !`,
`theft 100 > Bob`, `control roll > Bob`, `pair 50 for 100`, `take`, `pass`.
3×50 are three cards of 50 km, 100*2 counts twice, ! marks a coup fourré.""")


class Stage(StrEnum):
    """What the person in the first seat decides now."""

    OVER = "over"
    ANSWER = "answer"  # possible or required before the turn continues
    PICK = "pick"
    TURN = "turn"


class Prompt(NamedTuple):
    """The person's choices."""

    stage: Stage
    plays: tuple[Play, ...] = ()  # before drawing
    may_wait: bool = False  # doing nothing is allowed


def asked(hand: DealtHand) -> Prompt | None:
    """Return the person's choices; None if the hand continues without them."""
    position = hand.asked()
    if position is None:
        return Prompt(Stage.OVER)
    if position.seat != 0:
        return None
    taken = position.table.window.taken
    lays_first = taken is not None and taken.seat == 0 and taken.how is not How.FETCHED and 0 not in hand.waived
    if not position.is_in_turn or position.table.extension_offered_to is not None or lays_first:
        plays, may_wait = options(position)
    elif hand.deal.has_drawn:
        return Prompt(Stage.TURN)
    else:
        plays, may_wait = options(position) if position.hand == hand.deal.hands[0] else ((), True)
    may_wait &= all(play.verb is not Verb.GIVE for play in plays)
    stage = Stage.ANSWER if hand.deal.has_drawn or not position.is_in_turn else Stage.PICK
    return Prompt(stage, plays, may_wait) if plays or stage is Stage.PICK else None


def slots(hand: DealtHand, *, sorts: bool) -> Mapping[str, Card]:
    """Return the person's cards by key: a number, or `p` if just picked."""
    cards = hand.deal.hands[0]
    held = len(cards) - (hand.deal.table.to_move == 0 and hand.deal.ahead == 1)
    numbered = sorted(cards[:held], key=list(Card).index) if sorts else cards[:held]
    keys = [*map(str, range(1, held + 1)), "p"]
    return dict(zip(keys, (*numbered, *cards[held:]), strict=False))


def news(past: Sequence[PastPlay]) -> list[tuple[int, Play]]:
    """Return index and play of each play since the person's last."""
    own = [place for place, one in enumerate(past) if one.play.player == one.table.seats[0].player]
    return [(place, past[place].play) for place in range(own[-1] + 1 if own else 0, len(past))]


def wrapped(text: str) -> list[str]:
    """Return a text's lines at screen width."""
    return textwrap.wrap(text, _WIDTH, break_on_hyphens=False)


def screen(game: Game, hand: DealtHand, now: Prompt, cards: Mapping[str, Card]) -> list[str]:
    """Return the screen's lines, with as many of the latest plays as fit."""
    names, is_over = Names.of(game), now.stage is Stage.OVER
    board = _sheet(game.hands[-1], names) if is_over else list(_sides(game, hand, names))
    # No-break spaces keep key and card together.
    held = "  ".join(f"{key} {words.title(card)}".replace(" ", "\xa0") for key, card in cards.items())
    below = [*wrapped("" if is_over else held), *wrapped(_prompt(hand, now, cards))]
    said = wrapped(" ".join(words.play_say(play, names) for _place, play in news(hand.past)))
    room = _HEIGHT - 3 - len(board) - len(below)
    said = said if len(said) <= room else ["…", *said[len(said) - room + 1 :]]
    middle = [*said, *board] if is_over else [*board, *said]
    return ["", _heading(game, hand), *middle, *(line.replace("\xa0", " ") for line in below)]


def _heading(game: Game, hand: DealtHand) -> str:
    table = hand.deal.table
    title, target = words.hand_title(table.edition, game.hand_number), _("%(km)d km", km=table.target)
    left = f"{title} · {_(table.edition.title)} · {target}"
    top = words.name(table.discards[-1]) if table.discards else "–"
    right = _("Draw pile: %(count)d · discard pile: %(card)s", count=len(hand.deal.pile), card=top)
    return f"{left}{right:>{max(len(right) + 2, _WIDTH - len(left))}}"[:_WIDTH]


def _sides(game: Game, hand: DealtHand, names: Names) -> Iterator[str]:
    """Yield a line of piles and scores per side, and its areas below."""
    table = hand.deal.table
    rows = [["", _("Battle"), _("Speed"), translation.in_edition("km"), _("Hand"), _("Overall"), _("Games")]]
    for side, sheet in zip(table.sides, scoring.score(table), strict=True):
        battle, speed = words.title(side.battle_top) or "–", "max 50" if side.limited else "–"
        scores = (side.km, sheet.total, game.totals.get(side.name, 0), game.won.get(side.name, 0))
        rows.append([names.side(side.name)[:_NAME_WIDTH], battle[:_PILE_WIDTH], speed, *map(str, scores)])
    width = max(len(row[1]) for row in rows)
    head, *lines = report.table([[row[0], row[1].ljust(width), *row[2:]] for row in rows])
    yield head
    for line, side in zip(lines, table.sides, strict=True):
        yield line
        yield from (f"  {part}" for part in textwrap.wrap(" · ".join(_areas(table, side, names)), _WIDTH - 2))


def _areas(table: Table, side: Side, names: Names) -> Iterator[str]:
    """Yield a side's state if stopped, distances, safeties and open requests."""
    if side.hazard is None and not is_driving(table.edition, side):
        yield words.car(table.edition, side)
    driven = Counter(side.distances)
    driven.subtract(side.doubled)
    once = [f"{count}×{card}" if count > 1 else card for card, count in driven.items() if count]
    if side.distances:
        yield " ".join([*once, *(f"{card}*2" for card in side.doubled)])
    for card in side.safeties:
        yield words.name(card) + " !" * (card in side.coups_fourres)
    for request in table.requests:
        of, by = (table.seats[seat].player for seat in (request.of_seat, request.by_seat))
        if of in side.players:
            yield words.play_say(Play(Verb.CONTROL, by, request.card, of), names).rstrip(".")


def _sheet(result: HandResult, names: Names) -> list[str]:
    edition, sides = result.table.edition, [side.name for side in result.table.sides]
    rows = [["", *(names.side(side)[:_NAME_WIDTH] for side in sides)]]
    for item in Item:
        points = [dict(result.sheets[side].lines).get(item, 0) for side in sides]
        rows += [[_(words.ITEMS[item]), *map(str, points)]] if any(points) else []
    rows.append([_("Hand"), *(str(result.sheets[side].total) for side in sides)])
    rows.append([_("Overall"), *(str(result.match[side]) for side in sides)])
    rows.append([_("Games"), *(str(result.won.get(side, 0)) for side in sides)])
    won = [words.won(names.side(result.winner), edition)] if result.winner else []
    how = "" if result.by else f": {words.how_ended(edition, result.how)}"
    return [f"{words.hand_is_over(edition)}{how}.", *report.table(rows), *won]


def _prompt(hand: DealtHand, now: Prompt, cards: Mapping[str, Card]) -> str:
    if now.stage is Stage.OVER:
        return _("`p` deals the next hand, `q` quits.")
    if now.stage is Stage.TURN:
        return _("Your turn: `u 1` uses card 1, `d 1` discards it.")
    verbs, key = {play.verb for play in now.plays}, {card: key for key, card in cards.items()}
    if Verb.EXTEND in verbs:
        return _("You reached the target: `extend` to %(km)d km, or `finish`?", km=EXTENDED_KM)
    lays = [(play.card, "d" if play.verb is Verb.DISCARD else "u") for play in now.plays if play.card in key]
    ways = ", ".join(f"`{letter} {key[card]}` ({words.name(card)})" for card, letter in dict.fromkeys(lays))
    parts = [_("your turn: `p` picks a card")] * (now.stage is Stage.PICK and now.may_wait)
    if Verb.TAKE in verbs:
        parts.append(_("`take` takes %(card)s", card=words.name(hand.deal.table.discards[-1])))
    parts += [_("at once %(plays)s", plays=ways)] * bool(ways)
    parts += [_("`n` declines")] * (now.stage is Stage.ANSWER and now.may_wait)
    return words.capital("; ".join(parts)) + "."
