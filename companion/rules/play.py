"""A play: one line of a record."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from companion.rules.cards import Card, Family


class Verb(StrEnum):
    """Kinds of plays."""

    PLAY = "play"
    DISCARD = "discard"
    EXCHANGE = "exchange"
    PAIR = "pair"
    THEFT = "theft"
    CONTROL = "control"
    NAME = "name"
    GIVE = "give"
    PENALTY = "penalty"
    PASS = "pass"  # noqa: S105 - a word of the notation
    TAKE = "take"
    SKIP_DRAW = "skip-draw"
    EXTEND = "extend"
    FINISH = "finish"
    EXHAUSTED = "exhausted"
    END = "end"


_CARD_OF = {Verb.THEFT: Card.THEFT, Verb.CONTROL: Card.CONTROL}


@dataclass(frozen=True, slots=True)
class Play:
    """An act of a player or the table (`exhausted`, `end`)."""

    verb: Verb
    player: str | None = None
    card: Card | None = None
    target: str | None = None  # a player with `control`, `name`, `give`, else a side
    at_once: bool = False  # out of turn (`!`): coup fourré, fast remedy, mirror, u-turn
    anyway: bool = False  # illegal, but accepted by the table
    cards: tuple[Card, ...] = ()
    times: int = 1  # 2 with accelerator (`100*2`)
    wanted: Card | None = None  # fetched for a pair
    under: bool = False  # under its hazard on the discard pile

    @property
    def is_attack(self) -> bool:
        """True if it puts a hazard in front of a side, also by a mirror."""
        return self.verb is Verb.PLAY and (self.card is Card.MIRROR or card_of(self).family is Family.HAZARD)

    @property
    def is_coup_fourre(self) -> bool:
        return self.verb is Verb.PLAY and self.at_once and card_of(self).family is Family.SAFETY

    @property
    def is_u_turn(self) -> bool:
        return self.at_once and self.card is Card.U_TURN and self.verb is Verb.PLAY

    @property
    def out_of_hand(self) -> tuple[Card, ...]:
        if self.verb in _CARD_OF:
            return (_CARD_OF[self.verb],)
        if self.verb is Verb.PAIR:
            return (card_of(self),) * 2
        if self.verb is Verb.EXCHANGE:
            return self.cards
        if self.verb in (Verb.PLAY, Verb.DISCARD, Verb.GIVE, Verb.PENALTY):
            return (card_of(self), Card.ACCELERATOR) if self.times > 1 else (card_of(self),)
        return ()

    def __str__(self) -> str:
        """Return the play in record notation."""
        card = f"{self.card}*{self.times}" if self.times > 1 else self.card or ""
        words = [self.player or "", "" if self.verb is Verb.PLAY else self.verb.value, card, *self.cards]
        words += ["for", self.wanted] if self.wanted else []
        words += [">", self.target] if self.target else []
        words += ["under"] * self.under + ["!"] * self.at_once + ["anyway"] * self.anyway
        return " ".join(word for word in words if word)


def card_of(play: Play) -> Card:
    """Return the card of a play, or `Card.UNKNOWN`."""
    return play.card if play.card is not None else Card.UNKNOWN


def lay(player: str, card: Card, target: str | None = None, *, at_once: bool = False) -> Play:
    """Return a play of one card; `target` is the attacked side, `at_once` out of turn."""
    return Play(Verb.PLAY, player, card, target, at_once=at_once)


def discard(player: str, card: Card) -> Play:
    """Return a discard of one card."""
    return Play(Verb.DISCARD, player, card)
