"""Whether a deck is all there: the cards that it has against those that were shown, before a hand begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from companion.rules.cards import Card, Family
from companion.rules.reasons import Code, Reason, reason


@dataclass(frozen=True, slots=True)
class Audit:
    """What a deck is short of, and what was shown that is not of it: how many, by card."""

    deck: Mapping[Card, int]
    missing: Mapping[Card, int]
    extra: Mapping[Card, int]
    """Copies beyond the deck's."""

    foreign: Mapping[Card, int]
    """Cards of another deck."""

    unknown: int
    """Cards that could not be told."""

    @property
    def is_complete(self) -> bool:
        """True if every card was shown, and no other."""
        return not (self.missing or self.extra or self.foreign or self.unknown)

    def reasons(self, *, verified: bool = True) -> tuple[Reason, ...]:
        """Return what is wrong, a reason a card.

        With an unverified deck they say that the deck may be counted wrong.
        """
        # A safety is printed once, whatever else an unverified deck may hold.
        case = {card: None if verified or card.family is Family.SAFETY else "unverified" for card in self.deck}
        unread = [reason(Code.UNKNOWN_CARD, case="unread", count=self.unknown)] if self.unknown else []
        return (
            *(reason(Code.MISSING_CARDS, case=case[card], card=card, count=n) for card, n in self.missing.items()),
            *(reason(Code.TOO_MANY_COPIES, case=case[card], card=card, count=self.deck[card]) for card in self.extra),
            *(reason(Code.UNKNOWN_CARD, card=card) for card in self.foreign),
            *unread,
        )


def audit(deck: Mapping[Card, int], seen: Mapping[Card, int]) -> Audit:
    """Return the cards of a deck against those that were seen; `Card.UNKNOWN` counts those that could not be told."""
    own = {card: seen.get(card, 0) for card in deck}
    strange = set(seen) - {*deck, Card.UNKNOWN}
    return Audit(
        deck=deck,
        missing=_above_zero({card: deck[card] - count for card, count in own.items()}),
        extra=_above_zero({card: count - deck[card] for card, count in own.items()}),
        foreign=_above_zero({card: seen[card] for card in seen if card in strange}),
        unknown=seen.get(Card.UNKNOWN, 0),
    )


def _above_zero(counts: Mapping[Card, int]) -> Mapping[Card, int]:
    return MappingProxyType({card: count for card, count in counts.items() if count > 0})
