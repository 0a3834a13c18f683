"""What the table page asks of the phone it is on: chances that run out, plays that wait, tables that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from companion.match.match import Entry, MatchState
from companion.match.proposals import Mismatch
from companion.pages import words
from companion.pages.game import offers, views
from companion.pages.game.offers import Offer
from companion.pages.game.views import PlayView
from companion.pages.words import Names, _
from companion.rules.cards import Card, card_of_slug
from companion.rules.table import Table


@dataclass(frozen=True, slots=True)
class Chances:
    """The coups fourrés that the table may see now, as they concern one phone."""

    key: str = ""
    """Names the attack, so that its window shrinks once."""

    own: tuple[Offer, ...] = ()
    """Those of whoever holds the phone."""

    others: tuple[Offer, ...] = ()
    """Those that the phone may enter for somebody else: a partner, or anybody where it has no seat."""

    hints: tuple[str, ...] = ()
    """What is said of those of the other sides."""


def chances(state: MatchState, table: Table, seat: str | None) -> Chances:
    """Who may answer an attack, for the phone of the player `seat`; None for one without a seat."""
    waiting = {(pending.proposal.play.player, pending.proposal.play.card) for pending in state.pending}
    names = Names.of(state.game)
    plays = [play for play in offers.answering_safeties(table) if (play.player, play.card) not in waiting]
    side = table.side_of(seat) if seat else None
    near = [play for play in plays if side is None or play.player in side.players]
    far = dict.fromkeys(table.side_index(play.player or "") for play in plays if play not in near)
    return Chances(
        key=_attack_key(state),
        own=tuple(Offer(words.title(play.card), str(play)) for play in near if play.player == seat),
        others=tuple(offers.coup_fourre(play, names) for play in near if play.player != seat),
        hints=tuple(
            _("%(who)s may answer with a coup fourré.", who=names.side(table.sides[index].name))
            for index in far
            if index is not None
        ),
    )


def _attack_key(state: MatchState) -> str:
    last = next((entry for entry in reversed(state.hand_entries) if _is_attack(entry)), None)
    return f"{state.match}.{last.seq}" if last else ""


def _is_attack(entry: Entry) -> bool:
    return not entry.needs_attention and entry.play is not None and entry.play.is_attack


@dataclass(frozen=True, slots=True)
class Queue:
    """The plays that wait behind the first."""

    count: int
    """How many wait in all, the first among them."""

    later: tuple[PlayView, ...]
    """The next few of them."""

    all_id: int | None
    """Confirming that one confirms all the legal ones from the first on; None where that is just the first."""

    legal: int
    """How many those are."""


MOST_SHOWN = 3
"""More plays than these are only counted."""


def queue(pending: Sequence[PlayView], *, after_doubt: bool = False) -> Queue:
    """The queue in a few lines; `after_doubt`, where a question stands before all of it."""
    legal = [] if after_doubt else list(takewhile(lambda play: play.legal, pending))
    first = 0 if after_doubt else 1
    return Queue(
        count=len(pending),
        later=tuple(pending[first : first + MOST_SHOWN]),
        all_id=legal[-1].id if len(legal) > 1 else None,
        legal=len(legal),
    )


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """A zone where table and record differ: what is seen there beside what is written."""

    id: int
    say: str
    asks_play: bool
    """No line tells what was played: people do."""

    zone: str
    written: Card | None
    written_title: str
    seen: Card | None
    seen_title: str


def differences(state: MatchState, mats: Mapping[str, str]) -> list[DifferenceView]:
    """What is asked first; `mats` says which side plays on which mat."""
    return [_difference(state, found, mats) for found in state.mismatches[:1]]


def _difference(state: MatchState, found: Mismatch, mats: Mapping[str, str]) -> DifferenceView:
    side = mats.get(found.zone.partition("/")[0])
    written, seen = (card_of_slug(slug or "") for slug in (found.expected, found.seen))
    return DifferenceView(
        id=found.id,
        say=views.difference_say(state, found, mats),
        asks_play=found.expected is None,
        zone=words.zone_name(found.zone, Names.of(state.game).side(side) if side else None),
        written=written,
        written_title=words.title(written) or _("No card"),
        seen=seen,
        seen_title=words.title(seen) or _("No card"),
    )
