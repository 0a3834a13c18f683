"""How people handle cards and how the eye errs: the costs of the follower, in nats (negative log-probabilities).

The values are in `handling.toml`. They were set by hand. `tests/bench/prices.py` measures how well they explain hands
whose plays are known, and estimates better ones for such hands. Estimates from simulated hands explained films worse
than these values, and failed some stories of the tests.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

FILE = Path(__file__).parent / "handling.toml"


@dataclass(frozen=True, slots=True)
class Costs:
    """What each action and each error costs: 0.7 is a probability of one in two, 2.3 of one in ten, 4.6 of 1 %."""

    # Plays
    legal: float  # a legal play in turn
    unclear: float  # more, if the card may mean another play as well
    out_of_turn: float  # a play of another player
    illegal: float  # a play that the rules forbid
    left_lying: float  # more, if another player plays on beside an illegal card
    contradicted: float  # more, if people deny what the hypothesis says, or pass over a play in it
    astray: float  # a card in a zone where no rule puts it
    misplaced: float  # more, for a card that is legal but lies in another zone of its side
    odd_turn: float  # a safety sideways without an attack, or upright right after one
    unseen_discard: float  # a discard that the camera missed
    unseen_play: float  # any other play that it missed
    seen_late: float  # a play that it missed at first
    unseen_stack: float  # a card played exactly on an equal one that had been touched
    stacked: float  # more, for a card that may be an equal card of this zone, moved
    expected: float  # more, if the record has an equal card there that was never seen
    double: float  # the same if the eye says that there may be two

    # Handling
    no_hand: float  # more, if nothing was over the zone since the last look
    nudge: float  # a pile or spread was touched
    nudge_double: float  # more, if the eye says that there may be two cards
    untouched: float  # a card is seen as a new spot where it was
    nudge_card: float  # each further card that moved with it
    mm_per_nat: float  # distance that makes a nudge less likely by a factor of e
    deg_per_nat: float  # turn that makes it less likely by a factor of e
    tidied: float  # most of that: a card put in order within its zone
    seen_at_last: float  # a card that the record has, and that was never seen
    dug_out: float  # more, for a card that was covered before
    cleared: float  # a beaten hazard, or the remedy that beat it, carried to the discard pile
    with_remedy: float  # more, for a remedy that is carried there although the record still has it on its pile
    ended: float  # a remedy put on the discard pile together with its hazard
    taken: float  # the top discard taken by the player to move, where that is allowed
    taken_back: float  # the last legal play
    slip_back: float  # an illegal play
    corrected: float  # the last card moved from a zone where it was illegal
    changed: float  # the last card moved although it was legal
    lifted: float  # any other card removed
    returned: float  # a card that had been removed is put back
    moved: float  # any other card moved to another zone
    gathering: float  # the cards are gathered in, though the record has no end of the hand
    gathered: float  # each card gathered in

    # Errors of the eye
    miss: float  # a look at a fully visible card that does not see it
    uncovered: float  # times as much for a face that had been covered
    clutter: float  # for -log(1 - confidence) of a reading where there is no card
    sticker: float  # times as much if a sticker names it
    old_error: float  # share of that once the spot has been there for long
    twice: float  # a card that is seen twice, as the eye suspects
    unread: float  # a card that cannot be read
    hidden_share: float  # weight of a look at a card whose zone is partly hidden


@dataclass(frozen=True, slots=True)
class Bars:
    """From which probability something is asked or counts, and how long a doubt may wait."""

    sure: float = 0.95  # a play is proposed at once
    possible: float = 0.3  # the same after it has been seen for a while
    illegal: float = 0.6  # the same for an illegal play
    likely: float = 0.8  # a difference is asked about
    unclear: float = 0.97  # most confidence in a play if the card may mean another as well
    doubtful: float = 0.85  # the same where people had better look
    least_lead: float = 0.5  # confidence in what an unreadable card is, for it to be taken for read
    clear_lead: float = 0.15  # and how much that leads the next candidate
    askew_deg: float = 20.0  # a card this close to the diagonal lies neither upright nor sideways
    while_s: float = 0.8  # how long a zone has to be seen as it is
    long_s: float = 8.0  # age at which a doubtful play may count by itself
    patience_s: float = 20.0  # after this time, the likeliest hypothesis decides about a play
    moment_s: float = 0.8  # a card that is missing for longer was not just picked up
    put_right_s: float = 4.0  # players correct a misplaced card within this time
    blind_s: float = 5.0  # until players are told that a zone is too bright, or partly outside the picture
    turn_s: float = 6.0  # a player's arm is over the table for at most this long
    gathered_s: float = 12.0  # longest pause while the cards are gathered
    many: int = 3  # cards that mean more together than each alone
    most_plays: int = 3  # plays that a question offers


def costs() -> Costs:
    """Return the costs of `handling.toml`."""
    values = tomllib.loads(FILE.read_text(encoding="utf-8"))["costs"]
    return Costs(**{field.name: float(values[field.name]) for field in fields(Costs)})


COSTS, BARS = costs(), Bars()
LOOK_S = 0.2  # looks closer in time repeat each other's errors
MOST_WEIGHT = 4.0  # looks at an unchanged zone that add evidence
LAST_WEIGHT, LATE_SHARE = 20.0, 0.25  # later ones add this share of it, up to the last
