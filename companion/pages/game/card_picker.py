"""Card picker: the deck as tiles, and questions that complete a play.

Offers depend on deck and switches only. Illegal plays can be picked too: the referee explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from companion.pages import words
from companion.pages.game import offers
from companion.pages.game.offers import Offer, legal_now, query
from companion.pages.words import Names, _
from companion.rules.cards import REMEDY_OF, Card, Family, card_of_slug
from companion.rules.moves import laying
from companion.rules.play import Play, Verb
from companion.rules.record.notation import MOST_EXCHANGED
from companion.rules.table import Table

FAMILIES = (Family.DISTANCE, Family.REMEDY, Family.HAZARD, Family.SAFETY, Family.SPECIAL)
ANSWERING = (Card.MIRROR, Card.U_TURN)  # only played out of turn
ASKS_MORE = (Card.ACCELERATOR, Card.THEFT, Card.CONTROL)  # need a choice first


class Tab(StrEnum):
    """How a card is played."""

    MY_TURN = "my-turn"
    DISCARD = "discard"
    AT_ONCE = "at-once"
    OTHER = "other"


Group = tuple[str, str, list[Offer]]  # heading, family for the style, buttons


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that completes a play."""

    title: str
    card: Card | None = None
    groups: tuple[Group, ...] = ()
    offers: tuple[Offer, ...] = ()
    hint: str = ""
    instead: str = ""  # label for skipping the question
    asks_who: bool = False  # the player is not yet chosen


def _grouped(tiles: Iterable[Offer]) -> tuple[Group, ...]:
    tiles = list(tiles)
    groups = ((family, [tile for tile in tiles if tile.card and tile.card.family is family]) for family in FAMILIES)
    return tuple((_(words.FAMILY_TITLES[family]), family.value, some) for family, some in groups if some)


def groups(table: Table, player: str, tab: Tab) -> tuple[Group, ...]:
    """Return the deck by family, with a button for each card."""
    if tab is Tab.AT_ONCE:
        return _at_once(table, player)
    if tab is Tab.DISCARD:
        return _grouped(_play_tile(table, Play(Verb.DISCARD, player, card)) for card in table.deck)
    if tab is Tab.MY_TURN:
        laid = {card: list(ways(table, player, card)) for card in table.deck if card not in ANSWERING}
        return _grouped(_one_or_ask(table, plays, card, player, card=card.value) for card, plays in laid.items())
    return ()


def _play_tile(table: Table, play: Play, title: str = "", card: Card | None = None) -> Offer:
    shown = card or play.card
    return Offer(title or words.title(shown), str(play), legal=legal_now(table, play), card=shown)


def _one_or_ask(table: Table, plays: Sequence[Play], face: Card, player: str, **asked: str) -> Offer:
    """Return a card's button: it enters the only play, or opens a question."""
    if len(plays) == 1 and face not in ASKS_MORE:
        return _play_tile(table, plays[0])
    legal = any(legal_now(table, play) for play in plays)
    return Offer(words.title(face), ask=query(player, **asked), legal=legal, card=face)


def ways(table: Table, player: str, card: Card) -> Iterator[Play]:
    """Yield a card's plays on one's own turn, by target or use."""
    own = table.side_of(player)
    return (play for play in laying(table, player, card) if play.target not in (own.name, *own.players))


def _at_once(table: Table, player: str) -> tuple[Group, ...]:
    edition = table.edition
    kinds = (Family.SAFETY, Family.REMEDY) if edition.fast_remedy == "yes" else (Family.SAFETY,)
    cards = [card for card in table.deck if card.family in kinds or card in ANSWERING]
    thrown = REMEDY_OF.values() if edition.pile_after_remedy == "card-beneath" else ()
    plays = (Play(Verb.PLAY, player, card, at_once=True, under=True) for card in cards if card in thrown)
    under = [_play_tile(table, play) for play in plays if legal_now(table, play)]
    more = ((_("Remedy under its hazard on the discard pile"), Family.REMEDY.value, under),) if under else ()
    return (*_grouped(_play_tile(table, Play(Verb.PLAY, player, card, at_once=True)) for card in cards), *more)


def who_answers(table: Table, player: str) -> str:
    """Return `player` if they may play out of turn, else the first who may."""
    seats = (player, *(seat.player for seat in table.seats))
    return next((who for who in seats if any(t.legal for *_, tiles in _at_once(table, who) for t in tiles)), player)


def more(table: Table, player: str, names: Names) -> list[Offer]:
    """Return buttons for rarer events."""
    return [
        *offers.taking(table, player),
        *_of_the_switches(table, player, names),
        Offer(_("Forgot to draw"), str(Play(Verb.SKIP_DRAW, player))),
        Offer(_("The draw pile is empty"), str(Play(Verb.EXHAUSTED))),
        Offer(_("End the race now") if table.edition.is_race else _("End the hand now"), str(Play(Verb.END))),
    ]


def _of_the_switches(table: Table, player: str, names: Names) -> Iterator[Offer]:
    """Yield buttons that the switches allow; a pass only if it can be legal."""
    edition = table.edition
    if "without-drawing" in (edition.coup_fourre_turn, edition.fast_remedy_turn) and not table.may_pass:
        yield Offer(_("Pass"), str(Play(Verb.PASS, player)), legal=False)
    yield from offers.beside(table, names, player)
    for request in table.requests:
        if table.seats[request.by_seat].player == player:
            of = table.seats[request.of_seat].player
            card, who = words.name(request.card), names.player(of)
            say = _("Drew %(card)s: demand another card from %(who)s", card=card, who=who)
            yield Offer(say, ask=query(player, ask="name", of=of))
    asks = (
        ("pair", edition.pair_for_discard, _("Two identical cards for one from the discard pile")),
        ("exchange", edition.exchange, _("Exchange cards")),
        ("penalty", edition.mistake_penalty, _("A mistake costs a card")),
    )
    yield from (Offer(say, ask=query(player, ask=ask)) for ask, switch, say in asks if switch == "yes")
    if table.extension_offered_to is not None:
        yield Offer(_("Calls the extension"), str(Play(Verb.EXTEND, player)))
        yield Offer(_("Stops at the target"), str(Play(Verb.FINISH, player)))


def question(table: Table, player: str, asked: Mapping[str, str], names: Names) -> OpenQuestion | None:
    """Return the question that the page's query asks for, if any."""
    card = card_of_slug(asked.get("card", ""))
    if card is None or card not in table.deck:
        ask = _QUESTIONS.get(asked.get("ask", ""))
        return ask(table, player, asked, names) if ask else None
    if card.family is Family.HAZARD:
        title = _("Who gets %(card)s?", card=words.title(card))
        return OpenQuestion(title, card, offers=_whom(table, ways(table, player, card), names))
    ask = _ABOUT.get(card)
    return ask(table, player, asked, names) if ask else None


def who_plays(table: Table, names: Names) -> OpenQuestion | None:
    """Return the question who played, if a received card may be used during another's turn."""
    lays_now = offers.who_lays_now(table)
    if lays_now is None or table.handed_to is not None:
        return None
    taker, card = lays_now
    lays = _("%(who)s, the %(card)s", who=names.player(taker), card=words.name(card))
    plays = _("%(who)s, whose turn it is", who=names.player(table.player_to_move))
    buttons = (Offer(lays, ask=query(taker)), Offer(plays, ask=query(table.player_to_move)))
    return OpenQuestion(_("Who played?"), offers=buttons, asks_who=True)


def _whom(table: Table, plays: Iterable[Play], names: Names) -> tuple[Offer, ...]:
    return tuple(Offer(names.anyone(play.target or ""), str(play), legal=legal_now(table, play)) for play in plays)


def _which_doubled(table: Table, player: str, _asked: Mapping[str, str], _names: Names) -> OpenQuestion:
    plays = ways(table, player, Card.ACCELERATOR)
    tiles = (_play_tile(table, play, words.doubled(play.card, play.times)) for play in plays)
    return OpenQuestion(_("Which distance card is doubled?"), Card.ACCELERATOR, _grouped(tiles))


def _which_stolen(table: Table, player: str, _asked: Mapping[str, str], names: Names) -> OpenQuestion:
    buttons = []
    for play in ways(table, player, Card.THEFT):
        index = table.side_index(play.target)
        side = table.sides[index] if index is not None else None
        if side is None or play.card is None:
            continue
        doubled = side.doubled.count(play.card)
        if doubled if play.times > 1 else side.distances.count(play.card) > doubled:
            card, whom = words.doubled(play.card, play.times), names.anyone(play.target or "")
            say = _("%(card)s from %(whom)s", card=card, whom=whom)
            buttons.append(Offer(say, str(play), legal=legal_now(table, play)))
    hint = "" if buttons else _("No other side has a distance card.")
    return OpenQuestion(_("Which card is stolen, and from whom?"), Card.THEFT, offers=tuple(buttons), hint=hint)


def _which_demanded(table: Table, player: str, asked: Mapping[str, str], names: Names) -> OpenQuestion:
    named = card_of_slug(asked.get("named", ""))
    plays = list(ways(table, player, Card.CONTROL))
    if named is not None and named in table.deck:
        title = _("Who hands over %(card)s?", card=words.name(named))
        return OpenQuestion(title, named, offers=_whom(table, (play for play in plays if play.card is named), names))
    tiles = (
        _one_or_ask(table, [one for one in plays if one.card is card], card, player, card=Card.CONTROL, named=card)
        for card in _can_be_demanded(table)
    )
    return OpenQuestion(_("Which card has to be handed over?"), Card.CONTROL, _grouped(tiles))


def _can_be_demanded(table: Table) -> Iterator[Card]:
    return (card for card in table.deck if card.family is not Family.SAFETY)


def _which_instead(table: Table, player: str, asked: Mapping[str, str], names: Names) -> OpenQuestion | None:
    of = asked.get("of", "")
    if not any(seat.player == of for seat in table.seats):
        return None
    tiles = (_play_tile(table, Play(Verb.NAME, player, card, of)) for card in _can_be_demanded(table))
    title = _("Which card does %(who)s have to hand over instead?", who=names.player(of))
    return OpenQuestion(title, None, _grouped(tiles))


def _which_pair(table: Table, player: str, asked: Mapping[str, str], _names: Names) -> OpenQuestion:
    twice = card_of_slug(asked.get("named", ""))
    if twice is None:
        faces = (Offer(words.title(card), ask=query(player, ask="pair", named=card), card=card) for card in table.deck)
        return OpenQuestion(_("Which two equal cards are discarded?"), None, _grouped(faces))
    plays = (Play(Verb.PAIR, player, twice, wanted=wanted) for wanted in dict.fromkeys(table.discards))
    tiles = [_play_tile(table, play, card=play.wanted) for play in plays]
    hint = "" if tiles else _("The discard pile is empty.")
    return OpenQuestion(_("Which card is taken from the discard pile?"), twice, _grouped(tiles), hint=hint)


def _which_exchanged(table: Table, player: str, asked: Mapping[str, str], _names: Names) -> OpenQuestion:
    given = (card_of_slug(slug) for slug in asked.get("cards", "").split(","))
    most = max(1, min(MOST_EXCHANGED, table.hands[table.seat_of(player)]))
    cards = tuple(card for card in given if card is not None and card in table.deck)[:most]
    play = Play(Verb.EXCHANGE, player, cards=cards)
    say = _("Exchange: %(cards)s", cards=", ".join(map(words.name, cards)))
    done = (Offer(say, str(play), legal=legal_now(table, play)),)
    if len(cards) == most:
        return OpenQuestion(_("Exchange these cards"), offers=done)
    asks = {card: query(player, ask="exchange", cards=",".join((*cards, card))) for card in table.deck}
    tiles = (Offer(words.title(card), ask=ask, card=card) for card, ask in asks.items())
    title = _("Which card is exchanged as well?") if cards else _("Which cards are exchanged?")
    return OpenQuestion(title, None, _grouped(tiles), done if cards else ())


def _which_lost(table: Table, player: str, _asked: Mapping[str, str], names: Names) -> OpenQuestion:
    tiles = (_play_tile(table, Play(Verb.PENALTY, player, card)) for card in table.deck)
    left = table.seats[(table.seat_of(player) + 1) % len(table.seats)].player
    title = _(
        "Which card does %(left)s, to %(who)s’s left, draw from %(who)s’s hand and discard?",
        left=names.player(left),
        who=names.player(player),
    )
    return OpenQuestion(title, None, _grouped(tiles), instead=_("No penalty"))


_Ask = Callable[[Table, str, Mapping[str, str], Names], OpenQuestion | None]
_ABOUT: Mapping[Card, _Ask] = {
    Card.ACCELERATOR: _which_doubled,
    Card.THEFT: _which_stolen,
    Card.CONTROL: _which_demanded,
}
_QUESTIONS: Mapping[str, _Ask] = {
    "name": _which_instead,
    "pair": _which_pair,
    "exchange": _which_exchanged,
    "penalty": _which_lost,
}
