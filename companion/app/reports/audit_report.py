"""Check whether pictures show every card of a deck.

A card with a sticker counts once over all pictures. A card recognized by its face counts on each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.editions.edition import Edition
from companion.rules.reasons import Code, Reason, reason, say
from companion.tabletop.card_ids import card_ids, face_of

UNVERIFIED = "The counts of this deck are unverified: your own count can stand in the setup file, under [deck]."
NO_PICTURE = "No picture could be read: nothing is known about this deck."
LOOK_AGAIN = "Lay the cards apart, with every sticker showing, and take another picture: all pictures count together."


@dataclass(frozen=True, slots=True)
class Audit:
    """Missing and surplus cards of a deck: counts by card."""

    deck: Mapping[Card, int]
    missing: Mapping[Card, int]
    extra: Mapping[Card, int]  # surplus copies
    foreign: Mapping[Card, int]  # cards of another deck
    unknown: int  # unrecognized cards

    @property
    def is_complete(self) -> bool:
        return not (self.missing or self.extra or self.foreign or self.unknown)

    def reasons(self, *, verified: bool = True) -> tuple[Reason, ...]:
        """Return a reason for each wrong count; if not `verified`, the deck's own counts may be wrong."""
        # Every deck has each safety once.
        case = {card: None if verified or card.family is Family.SAFETY else "unverified" for card in self.deck}
        unread = [reason(Code.UNKNOWN_CARD, case="unread", count=self.unknown)] if self.unknown else []
        return (
            *(reason(Code.MISSING_CARDS, case=case[card], card=card, count=n) for card, n in self.missing.items()),
            *(
                reason(
                    Code.TOO_MANY_COPIES,
                    case=case[card] or "laid",
                    card=card,
                    laid=self.deck[card] + n,
                    count=self.deck[card],
                )
                for card, n in self.extra.items()
            ),
            *(reason(Code.UNKNOWN_CARD, card=card) for card in self.foreign),
            *unread,
        )


def audit(deck: Mapping[Card, int], seen: Mapping[Card, int]) -> Audit:
    """Compare a deck with the cards seen; `Card.UNKNOWN` counts unrecognized ones."""
    own = Counter({card: seen.get(card, 0) for card in deck})
    return Audit(
        deck=deck,
        missing=Counter(deck) - own,
        extra=own - Counter(deck),
        foreign={card: n for card, n in seen.items() if n and card not in deck and card is not Card.UNKNOWN},
        unknown=seen.get(Card.UNKNOWN, 0),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """The cards on some pictures: sticker IDs, and counts by face of the others, including `unknown`."""

    ids: frozenset[str]
    faces: Mapping[Card, int]
    pictures: int = 1  # pictures that could be read
    unread: int = 0  # pictures that could not be read
    copies: Mapping[str, int] = field(default_factory=dict)  # number of cards for each duplicate sticker

    @property
    def counts(self) -> Mapping[Card, int]:
        by_sticker = Counter(map(face_of, self.ids))
        for card_id, count in self.copies.items():
            by_sticker[face_of(card_id)] += count - 1
        return Counter(self.faces) + by_sticker


def shown_on(pictures: Sequence[Mapping[str, Any]], unread: int = 0) -> Shown:
    """Return the cards on pictures, each an object of `read --json`; `unread` more could not be read."""
    cards = [card for picture in pictures for card in picture["cards"]]
    copies: Counter[str] = Counter()
    for picture in pictures:
        copies |= Counter(str(card["twice"]) for card in picture["cards"] if "twice" in card)
    ids = frozenset(str(card["card"]) for card in cards if card["card"]) | copies.keys()
    named = (card for card in cards if not card["card"] and "twice" not in card)
    faces = Counter(card_of_slug(card["face"]) or Card.UNKNOWN for card in named)
    return Shown(ids, faces, len(pictures), unread, copies)


def sentences(edition: Edition, shown: Shown) -> Iterator[str]:
    """Yield the lines of the report on a deck."""
    if not shown.pictures:
        yield NO_PICTURE
        return
    found = audit(edition.deck, shown.counts)
    total = sum(edition.deck.values())
    there = total - sum(found.missing.values())
    yield f"{edition.title}: {'all' if there == total else f'{there} of'} {total} cards are there."
    for why in found.reasons(verified=edition.counts_verified):
        card = card_of_slug(dict(why.details).get("card", ""))
        # If some cards of the face have stickers, the missing stickers can be named.
        ids = _missing_ids(edition, shown, card, found.missing.get(card, 0)) if card else []
        yield f"  {say(why, edition=edition.name).removesuffix('.')}" + (f" ({', '.join(ids)})." if ids else ".")
    yield from _same_stickers(edition, shown)
    if not edition.counts_verified:
        yield UNVERIFIED
    if shown.unread and found.missing:
        one = "One picture could not be read: what is missing may be on it."
        several = f"{shown.unread} pictures could not be read: what is missing may be on them."
        yield one if shown.unread == 1 else several
    if found.missing or found.unknown:
        yield LOOK_AGAIN


def _same_stickers(edition: Edition, shown: Shown) -> Iterator[str]:
    """Yield a line for each duplicate sticker; it suggests free ones once all cards of that face are shown."""
    used, counts = set(shown.ids), shown.counts
    for card_id, count in sorted(shown.copies.items()):
        face = face_of(card_id)
        is_all_shown = counts[face] >= edition.deck.get(face, 0)
        own = card_ids({face: edition.deck.get(face, 0)}) if is_all_shown else ()
        free = [other for other in own if other not in used][: count - 1]
        used |= {*free}
        times, others = ("twice", "one of the two needs") if count == 2 else (f"{count} times", f"{count - 1} need")
        instead = f", {' and '.join(free)} for example" if free else ""
        yield f"  {card_id} is there {times}: {others} another sticker{instead}."


def _missing_ids(edition: Edition, shown: Shown, card: Card, missing: int) -> list[str]:
    """Return the sticker IDs of missing cards if they are certain, else nothing."""
    # A duplicate sticker replaces another one, but it is unknown which.
    ids = [card_id for card_id in card_ids({card: edition.deck[card]}) if card_id not in shown.ids]
    return ids if not shown.faces.get(card) and len(ids) == missing < edition.deck[card] else []


def as_json(edition: Edition, shown: Shown) -> dict[str, Any]:
    """Return the last object of `read --audit --json`."""
    found = audit(edition.deck, shown.counts)
    return {
        "audit": edition.name,
        "complete": found.is_complete and not shown.copies,
        "counts_verified": edition.counts_verified,
        "deck": sum(edition.deck.values()),
        "shown": sum(shown.counts.values()) - found.unknown,
        "missing": dict(found.missing),
        "missing_cards": [
            card_id for card, n in found.missing.items() for card_id in _missing_ids(edition, shown, card, n)
        ],
        "extra": dict(found.extra),
        "foreign": dict(found.foreign),
        "unknown": found.unknown,
        "twice": sorted(shown.copies),
        "say": list(sentences(edition, shown)),
    }
