"""The hand of this phone's player in a dealt match, and advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import flash, session

from companion.match.dealer import Seen
from companion.match.state import MatchState, Outcome
from companion.pages import words
from companion.pages.game import card_picker, offers
from companion.pages.game.card_picker import OpenQuestion
from companion.pages.game.offers import Offer
from companion.pages.players import phone_identity
from companion.pages.words import N_, Names, _
from companion.robots.robot import Level
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.moves import laying
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.table import Table

_SORTS = "sorts"
"""Cookie key: sort the hand by family."""


def seen(now: MatchState) -> Seen | None:
    """Return what this phone's player sees in a dealt match."""
    seat = phone_identity.seat(now)
    return now.dealt.seen_by(seat) if now.dealt is not None and seat is not None else None


def view(now: MatchState) -> dict[str, Any] | None:
    """Return the hand as tiles: `use` is a tap's effect, `out` the same while discarding."""
    own, table = seen(now), now.game.table
    if own is None or table is None or (table.is_over and not own.is_asked):
        return None
    latest, sorts = len(own.hand) - 1, bool(session.get(_SORTS))
    cards = [(card, own.has_drawn and place == latest) for place, card in enumerate(own.hand)]
    cards = sorted(cards, key=lambda one: list(Card).index(one[0])) if sorts else cards
    answers = {play.card: _answer(play) for play in own.plays if play.at_once or play.verb is Verb.GIVE}
    tiles = [
        {
            "use": answers.get(card) or _use(table, own, card),
            "out": _offer(discard(own.player, card), own, card),
            "is_new": is_new,
        }
        for card, is_new in cards
    ]
    says = {Verb.TAKE: _("Take the top of the discard pile"), Verb.PASS: _("Pass")}
    return {
        "tiles": tiles,
        "others": [Offer(says[play.verb], str(play)) for play in own.plays if play.verb in says],
        "is_asked": own.is_asked,
        "may_wait": own.may_wait,
        "in_turn": not table.is_over and table.player_to_move == own.player,
        "may_discard": any(play.verb is Verb.DISCARD for play in own.plays),
        "sorts": sorts,
    }


def _use(table: Table, own: Seen, card: Card) -> Offer:
    """Return a tap's effect: the only play, a choice, or a refused play."""
    ways = _ways(own, card)
    if len(ways) > 1:
        return Offer(words.title(card), ask=offers.query(own.player, card=card.value), card=card)
    others = (way for way in laying(table, own.player, card) if way.target != table.side_of(own.player).name)
    play = ways[0] if ways else next(others, lay(own.player, card, at_once=True))
    return _offer(play, own, card)


def _ways(own: Seen, card: Card) -> list[Play]:
    """Return a card's plays except discards; doubled ones belong to the accelerator."""
    return [play for play in own.plays if play.verb is not Verb.DISCARD and play.out_of_hand[-1:] == (card,)]


def _offer(play: Play, own: Seen, card: Card) -> Offer:
    return Offer(words.title(card), str(play) if own.is_asked else "", legal=play in own.plays, card=card)


def _answer(play: Play) -> Offer:
    """Return an immediate answer's button, with what to call out."""
    title = words.title(play.card)
    is_safety = play.card is not None and play.card.family is Family.SAFETY
    return Offer(title, str(play), card=play.card, note=_("Coup fourré!") if is_safety else title)


def question(now: MatchState, asked: Mapping[str, str]) -> OpenQuestion | None:
    """Return the question how to play the requested card; None if it cannot be played."""
    own, table, names = seen(now), now.game.table, Names.of(now.game)
    card = card_of_slug(asked.get("card", ""))
    if own is None or table is None or card is None or not (ways := _ways(own, card)):
        return None
    if card.family is Family.HAZARD or card in (Card.THEFT, Card.CONTROL):
        return card_picker.question(table, own.player, asked, names)
    says = (words.doubled(play.card, play.times) if play.times > 1 else words.play_say(play, names) for play in ways)
    buttons = tuple(Offer(say, str(play)) for say, play in zip(says, ways, strict=True))
    return OpenQuestion(words.title(card), card, offers=buttons)


def sort() -> None:
    """Toggle the hand between sorted by family and drawing order."""
    session[_SORTS] = not session.get(_SORTS)


def advise(now: MatchState) -> None:
    """Show what a robot would do here, and why; mark the card to tap."""
    own = seen(now)
    position = now.dealt.asks(own.player) if now.dealt is not None and own is not None else None
    if now.dealt is None or position is None:
        flash(_("There is nothing for you to do now."))
        return
    play, why = now.dealt.choice(position, Level.COUNTING)
    waits = _("I would draw a card.") if position.is_in_turn else _("I would pass.")
    tapped = " ".join((play.verb, *play.out_of_hand[-1:])) if play else "wait"
    flash(f"{_would(play, Names.of(now.game)) if play else waits} {words.said(why)}", tapped)


def _would(play: Play, names: Names) -> str:
    if play.verb not in (Verb.PLAY, Verb.DISCARD) or play.card is None:
        return _("I would do this: %(what)s", what=words.play_say(play, names))
    card = words.doubled(play.card, play.times)
    if play.target:
        card = _("%(card)s on %(whom)s", card=card, whom=names.anyone(play.target))
    drives = N_("I would drive %(card)s.") if play.card.family is Family.DISTANCE else N_("I would play: %(card)s.")
    return _(N_("I would discard: %(card)s.") if play.verb is Verb.DISCARD else drives, card=card)


def tell(now: MatchState, outcome: Outcome) -> None:
    """Show a tap's outcome and, in a dealt match, why a play was refused."""
    if outcome.say:
        flash(_(outcome.say))
    elif now.is_dealt:
        for why in words.whys(outcome.reasons, now.game.edition, Names.of(now.game)):
            flash(f"{why.say} {_('From %(rule)s', rule=why.rule)}" if why.rule else why.say)
