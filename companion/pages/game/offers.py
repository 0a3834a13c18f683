"""Buttons for plays besides an ordinary turn: immediate answers, handing over, received cards, passing.

The referee judges each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from companion.pages import words
from companion.pages.words import Names, _
from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.moves import laying
from companion.rules.play import Play, Verb
from companion.rules.table import How, Table, Taken

MOST_WAYS = 2  # more are chosen on another page


@dataclass(frozen=True, slots=True)
class Offer:
    """A button that enters a play or opens a question."""

    words: str
    text: str = ""  # play in notation; empty if a question comes first
    ask: str = ""  # query of that question's page
    legal: bool = True
    card: Card | None = None
    note: str = ""
    """What to call out with the card, or an explanation."""


def query(player: str, **asked: str) -> str:
    """Return the query of the page that completes a player's play."""
    return urlencode({"player": player, **asked})


def legal_now(table: Table, play: Play) -> bool:
    """True if a play is legal now."""
    return not referee.objections(table, play)


def coups_fourres(table: Table) -> Iterator[Play]:
    """Yield the coups fourrés possible now, for each attacked player."""
    return _answers(table, SAFETY_OF)


def coup_fourre(play: Play, names: Names) -> Offer:
    """Return a coup fourré's button, with the player's name."""
    say = _("Coup fourré! %(who)s: %(card)s", who=names.player(play.player), card=words.title(play.card))
    return Offer(say, str(play))


def answers(table: Table, names: Names, seat: str | None) -> list[Offer]:
    """Return buttons for other immediate answers: remedy, mirror, u-turn. `seat` is this phone's player."""
    attacked = dict.fromkeys(player for attack in table.attacks for player in table.sides[attack.side].players)
    mirroring = attacked if Card.MIRROR in table.deck else ()
    turning = [place.player for place in table.seats] if table.window.laid is not None else ()
    answering = (
        list(_answers(table, REMEDY_OF)),
        [Play(Verb.PLAY, player, Card.MIRROR, at_once=True) for player in mirroring],
        [Play(Verb.PLAY, player, Card.U_TURN, at_once=True) for player in turning],
    )
    return [
        offer
        for plays in answering
        for offer in _by_player([play for play in plays if legal_now(table, play)], seat, names)
    ]


def may_be_answered(table: Table) -> bool:
    """True if an immediate answer, such as a u-turn, may still undo the end of a hand."""
    return table.is_over and bool(answers(table, Names({}, {}), None))


def _answers(table: Table, cards: dict[Card, Card]) -> Iterator[Play]:
    plays = (
        Play(Verb.PLAY, player, cards[attack.hazard], at_once=True)
        for attack in table.attacks
        for player in table.sides[attack.side].players
    )
    return (play for play in dict.fromkeys(plays) if legal_now(table, play))


def _by_player(plays: Sequence[Play], seat: str | None, names: Names) -> Iterator[Offer]:
    """Yield the button of the phone's or only player, else one that asks who."""
    plays = [play for play in plays if play.player == seat] or plays
    card = words.title(plays[0].card) if plays else ""
    if len(plays) == 1:
        yield Offer(_("%(card)s! %(who)s", card=card, who=names.player(plays[0].player)), str(plays[0]))
    elif plays:
        yield Offer(_("%(card)s!", card=card), ask=query(plays[0].player or "", tab="at-once"))


def beside(table: Table, names: Names, player: str | None = None) -> Iterator[Offer]:
    """Yield buttons to hand over, use a received card or pass; only of `player` if given."""
    offers = [*_giving(table, names), *laying_taken(table, names)]
    going = table.player_to_move
    if table.may_pass and legal_now(table, passing := Play(Verb.PASS, going)):
        following = table.seats[(table.to_move + 1) % len(table.seats)].player
        offers.append((going, Offer(_("Pass the turn to %(who)s", who=names.player(following)), str(passing))))
    return (offer for who, offer in offers if player in (None, who))


def _giving(table: Table, names: Names) -> Iterator[tuple[str, Offer]]:
    for request in table.requests:
        giver, asker = table.seats[request.of_seat].player, table.seats[request.by_seat].player
        play = Play(Verb.GIVE, giver, request.card, asker)
        if legal_now(table, play):
            who, whom = names.player(giver), names.player(asker)
            say = _("%(who)s hands over to %(whom)s: %(card)s", who=who, whom=whom, card=words.title(request.card))
            yield giver, Offer(say, str(play))


def who_lays_now(table: Table) -> tuple[str, Card] | None:
    """Return the player who may use a received card during another's turn, and the card."""
    taken = table.window.taken
    if taken is None or taken.seat == table.to_move:
        return None
    player = table.seats[taken.seat].player
    can_be_laid = any(legal_now(table, play) for play in _ways_of(table, player, taken))
    return (player, taken.card) if can_be_laid else None


def laying_taken(table: Table, names: Names) -> Iterator[tuple[str, Offer]]:
    """Yield a player's buttons to play a card just stolen, handed over or fetched.

    An unplayable card may be discarded, unless stolen.
    """
    taken = table.window.taken
    if taken is None:
        return
    player = table.seats[taken.seat].player
    ways = [play for play in _ways_of(table, player, taken) if legal_now(table, play)]
    out = Play(Verb.DISCARD, player, taken.card)
    if not ways and taken.how is not How.STOLEN and legal_now(table, out):
        ways = [out]
    if len(ways) > MOST_WAYS:
        say = _("%(who)s plays %(card)s …", who=names.player(player), card=words.name(taken.card))
        yield player, Offer(say, ask=query(player, card=taken.card.value))
        return
    for play in ways:
        yield player, Offer(_laying(play, names), str(play))


def _laying(play: Play, names: Names) -> str:
    said = {"who": names.player(play.player), "card": words.doubled(play.card, play.times)}
    if play.verb is Verb.DISCARD:
        return _("%(who)s discards %(card)s", **said)
    if play.target:
        return _("%(card)s on %(whom)s", card=said["card"], whom=names.anyone(play.target))
    return _("%(who)s plays %(card)s", **said)


def _ways_of(table: Table, player: str, taken: Taken) -> Iterator[Play]:
    yield from laying(table, player, taken.card)
    if taken.card.family is Family.DISTANCE and Card.ACCELERATOR in table.deck:
        yield Play(Verb.PLAY, player, taken.card, times=2)


def taking(table: Table, player: str) -> Iterator[Offer]:
    """Yield the button to draw from the discard pile, if the edition allows it."""
    if table.edition.take_discard == "forbidden":
        return
    play = Play(Verb.TAKE, player)
    top = table.discards[-1] if table.discards else None
    say = (
        _("Take from the discard pile: %(card)s", card=words.title(top))
        if top
        else _("Take the top of the discard pile")
    )
    yield Offer(say, str(play), legal=legal_now(table, play))


def pairing(table: Table, player: str) -> Iterator[Offer]:
    """Yield the button to fetch a discard for two equal cards, if the edition allows it."""
    if table.edition.pair_for_discard == "yes":
        yield Offer(_("Two alike"), ask=query(player, ask="pair"), legal=bool(table.discards))


def extension(table: Table) -> list[Offer]:
    """Return buttons to extend or finish, for a side that reached the target."""
    if table.extension_offered_to is None or table.is_over:
        return []
    caller = table.sides[table.extension_offered_to].players[0]
    says = {Verb.EXTEND: _("Extend to 1000"), Verb.FINISH: _("Finish here")}
    return [Offer(say, str(Play(verb, caller))) for verb, say in says.items()]
