"""The page of legal plays: on whom each card may be laid now, or why it may not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
"""Maximum number of reasons shown against a card."""


@bp.get("/may")
def show() -> AnyResponse | str:
    """Show all cards for this phone's player, or for the one whose turn it is."""
    now = state()
    table, seat = now.game.table, phone_identity.seat(now)
    if table is None:
        return redirect(url_for("setting_up.show"))
    asked = request.args.get("player", "")
    known = any(place.player == asked for place in table.seats)
    names, player = Names.of(now.game), asked if known else seat or table.player_to_move
    is_up = player == table.player_to_move
    judged = table if is_up else on_turn(table, player)
    return render_template(
        "may.html",
        table=table,
        player=player,
        is_up=is_up,
        is_open=not table.is_over and table.extension_offered_to is None,
        at_once=list(at_once(table, player)),
        beside=[*offers.beside(table, names, player)],
        families=families(judged, player, names),
        discards=discards(judged, player, names),
    )


def on_turn(table: Table, player: str) -> Table:
    """Return the table as if it were that player's turn."""
    return table._replace(to_move=table.seat_of(player), due=Due.TURN, window=NO_WINDOW, attacks=(), may_pass=False)


def at_once(table: Table, player: str) -> Iterator[Offer]:
    """Yield the cards that a player may lay out of turn."""
    for play in referee.legal_plays(table, player):
        if play.at_once and play.card is not None:
            card = words.title(play.card)
            say = _("%(card)s under its hazard", card=card) if play.under else card
            yield Offer(say, str(play), card=play.card)


def families(table: Table, player: str, names: Names) -> Iterator[dict[str, object]]:
    """Yield the deck by family: the cards that may be laid, a tap for each target, and why the others may not."""
    for family in card_picker.FAMILIES:
        can: list[Offer] = []
        against: list[tuple[Card, Play]] = []
        for card in table.deck:
            if card.family is not family or card in card_picker.ANSWERING:
                continue
            plays = list(card_picker.ways(table, player, card))
            legal = [play for play in plays if legal_now(table, play)]
            can += _taps(player, card, legal, names)
            # Of a special card that may be laid somehow, most other ways are merely pointless.
            if not legal or card not in card_picker.ASKS_MORE:
                against += [(card, play) for play in plays if play not in legal]
        cannot = list(_reasons(table, against, names))
        if can or cannot:
            title = _(words.FAMILY_TITLES[family])
            yield {"title": title, "family": family, "can": can, "cannot": cannot}


def _taps(player: str, card: Card, legal: list[Play], names: Names) -> Iterator[Offer]:
    if legal and card in card_picker.ASKS_MORE:
        yield Offer(_("%(card)s …", card=words.title(card)), ask=offers.query(player, card=card.value), card=card)
        return
    for play in legal:
        title, whom = words.title(play.card), names.anyone(play.target or "")
        yield Offer(_("%(card)s on %(whom)s", card=title, whom=whom) if play.target else title, str(play), card=card)


def _reasons(table: Table, against: Iterable[tuple[Card, Play]], names: Names) -> Iterator[tuple[list[Card], Why]]:
    """Return the reasons against some plays, each once, with all the cards it is about."""
    about: dict[tuple[Why, ...], dict[Card, None]] = {}
    for card, play in against:
        whys = tuple(words.why(one, table.edition, names) for one in referee.objections(table, play))
        about.setdefault(whys[:MOST_REASONS], {})[card] = None
    return ((list(cards), why) for whys, cards in about.items() for why in whys)


def discards(table: Table, player: str, names: Names) -> dict[str, object]:
    """Return which cards may go to the discard pile, and why the others may not.

    Safeties are always named, other cards only where none may go.
    """
    plays = [(card, Play(Verb.DISCARD, player, card)) for card in table.deck]
    against = [(card, play) for card, play in plays if not legal_now(table, play)]
    told = [(card, play) for card, play in against if card.family is Family.SAFETY or len(against) == len(plays)]
    return {
        "any_card": not against,
        "some": len(against) < len(plays),
        "cannot": list(_reasons(table, told, names)),
    }
