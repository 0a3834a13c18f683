"""What may I play? Every card as the referee sees it now: what is legal, at whom, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.pages import words
from companion.pages.context import state
from companion.pages.game import card_picker, offers
from companion.pages.game.offers import Offer, legal_now
from companion.pages.players import phone_identity
from companion.pages.words import Names, Why, _
from companion.rules import referee
from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.table import NO_WINDOW, Due, Table

bp = Blueprint("may", __name__)

MOST_REASONS = 2
"""More reasons than these against one card are not read."""


@dataclass(frozen=True, slots=True)
class Can:
    """A card that may be laid, with what a tap does: one button for each that it can be aimed at."""

    card: Card
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class Cannot:
    """Cards against which the same speaks."""

    cards: tuple[Card, ...]
    titles: str
    why: Why


@dataclass(frozen=True, slots=True)
class FamilyView:
    """The cards of a family."""

    title: str
    family: Family
    can: tuple[Can, ...]
    cannot: tuple[Cannot, ...]


@bp.get("/may")
def show() -> AnyResponse | str:
    """All cards for this phone's player, or for the one whose turn it is."""
    now = state()
    table, seat = now.game.table, phone_identity.seat(now)
    if table is None:
        return redirect(url_for("setting_up.show"))
    names, player = Names.of(now.game), _asked_for(table) or seat or table.player_to_move
    is_up = player == table.player_to_move
    judged = table if is_up else on_turn(table, player)
    return render_template(
        "may.html",
        table=table,
        player=player,
        is_up=is_up,
        is_open=not table.is_over and table.extension_offered_to is None,
        at_once=at_once(table, player),
        beside=[*offers.beside(table, names, player)],
        families=families(judged, player, names),
        discards=discards(judged, player, names),
    )


def _asked_for(table: Table) -> str | None:
    asked = request.args.get("player")
    return next((place.player for place in table.seats if place.player == asked), None)


def on_turn(table: Table, player: str) -> Table:
    """The table as it lies, were it that player's turn."""
    return table._replace(to_move=table.seat_of(player), due=Due.TURN, window=NO_WINDOW, attacks=(), may_pass=False)


def at_once(table: Table, player: str) -> list[Can]:
    """The cards that he may lay out of turn."""
    plays = (play for play in referee.legal_plays(table, player) if play.at_once and play.card is not None)
    return [Can(play.card or Card.UNKNOWN, (Offer(_at_once_words(play), str(play)),)) for play in plays]


def _at_once_words(play: Play) -> str:
    card = words.title(play.card)
    return _("%(card)s under its hazard", card=card) if play.under else card


def families(table: Table, player: str, names: Names) -> list[FamilyView]:
    """The deck by family."""
    cards = [card for card in table.deck if card not in card_picker.ANSWERING]
    views = (
        _family(table, player, family, [c for c in cards if c.family is family], names)
        for family in card_picker.FAMILIES
    )
    return [view for view in views if view.can or view.cannot]


def _family(table: Table, player: str, family: Family, cards: Iterable[Card], names: Names) -> FamilyView:
    can: list[Can] = []
    against: list[tuple[Card, Play]] = []
    for card in cards:
        plays = list(card_picker.ways(table, player, card))
        legal = [play for play in plays if legal_now(table, play)]
        if legal:
            can.append(Can(card, _taps(player, card, legal, names)))
        against += [(card, play) for play in plays if play not in legal] if _is_short(card, legal) else []
    return FamilyView(_(words.FAMILY_TITLES[family]), family, tuple(can), tuple(_reasons(table, against, names)))


def _is_short(card: Card, legal: list[Play]) -> bool:
    """Whether what speaks against each way to lay a card is worth saying: not where most are merely pointless."""
    return not legal or card not in card_picker.ASKS_MORE


def _taps(player: str, card: Card, legal: list[Play], names: Names) -> tuple[Offer, ...]:
    if card in card_picker.ASKS_MORE:
        return (Offer(_("%(card)s …", card=words.title(card)), ask=offers.query(player, card=card.value)),)
    return tuple(Offer(_tap_words(play, names), str(play)) for play in legal)


def _tap_words(play: Play, names: Names) -> str:
    if play.target is None:
        return words.title(play.card)
    return _("%(card)s on %(whom)s", card=words.title(play.card), whom=names.anyone(play.target))


def _reasons(table: Table, against: Iterable[tuple[Card, Play]], names: Names) -> Iterator[Cannot]:
    """What speaks against the plays, each sentence once, with all the cards it is about."""
    about: dict[tuple[Why, ...], dict[Card, None]] = {}
    for card, play in against:
        whys = tuple(words.why(one, table.edition, names) for one in referee.objections(table, play))
        about.setdefault(whys[:MOST_REASONS], {})[card] = None
    for whys, cards in about.items():
        titles = ", ".join(map(words.title, cards))
        yield from (Cannot(tuple(cards), titles, why) for why in whys)


@dataclass(frozen=True, slots=True)
class Discards:
    """What may be discarded."""

    any_card: bool
    some: bool
    cannot: tuple[Cannot, ...]


def discards(table: Table, player: str, names: Names) -> Discards:
    """Which cards may go to the discard pile; those that are all on the table already need no word."""
    plays = [(card, Play(Verb.DISCARD, player, card)) for card in table.deck]
    against = [(card, play) for card, play in plays if not legal_now(table, play)]
    told = [(card, play) for card, play in against if card.family is Family.SAFETY or len(against) == len(plays)]
    return Discards(not against, len(against) < len(plays), tuple(_reasons(table, told, names)))
