"""How people handle cards and how the eye errs: the costs of the follower, in nats (negative log-probabilities)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """What each action and each error costs: 0.7 is a probability of one in two, 2.3 of one in ten, 4.6 of 1 %."""

    # Plays
    legal: float = 2.5  # a legal play in turn
    unclear: float = 1.0  # more, if the card may mean another play as well
    out_of_turn: float = 5.5  # a play of another player
    illegal: float = 5.5
    left_lying: float = 3.0  # more, for an illegal card that lies there still when others play on
    astray: float = 6.5  # a card in a zone where no rule puts it
    odd_turn: float = 3.0  # a safety sideways without an attack, or upright right after one
    unseen_discard: float = 6.0  # a discard that the camera missed
    unseen_play: float = 8.0  # any other play that it missed
    unseen_stack: float = 4.0  # a card played exactly on an equal one that had been touched
    stacked: float = 2.5  # more, for a card that may be an equal one that lay there, moved
    double: float = 0.1  # the same if the eye says that there may be two

    # Handling
    no_hand: float = 3.0  # more, if nothing was over the zone since the last look
    nudge: float = 3.3  # a pile or spread was touched
    nudge_double: float = 1.1  # more, if the eye says that there may be two cards
    untouched: float = 2.0  # a card is seen as a new spot where it was
    nudge_card: float = 0.3  # each further card that moved with it
    mm_per_nat: float = 12.0  # distance that makes a nudge less likely by a factor of e
    deg_per_nat: float = 30.0
    dug_out: float = 3.0  # more, for a card that was covered before
    cleared: float = 1.0  # a beaten hazard, or the remedy that beat it, carried to the discard pile
    ended: float = 1.5  # a remedy put on the discard pile together with its hazard
    taken: float = 1.5  # the top discard taken by the player to move, where that is allowed
    taken_back: float = 4.0  # the last legal play
    slip_back: float = 0.7  # an illegal play
    corrected: float = 4.0  # the last card moved from a zone where it was illegal
    changed: float = 4.0  # the last card moved although it was legal
    lifted: float = 7.0  # any other card removed
    moved: float = 6.0  # any other card moved to another zone
    gathering: float = 5.0  # the cards are gathered in, though the record has no end of the hand
    gathered: float = 0.3  # each card gathered in

    # Errors of the eye
    miss: float = 2.5  # a look at a fully visible card that does not see it
    clutter: float = 2.6  # for -log(1 - confidence) of a reading where there is no card
    unread: float = 1.5  # a card that cannot be read
    hidden_share: float = 0.5  # weight of a look at a card whose zone is partly hidden


COSTS = Costs()
LOOK_S = 0.2  # looks closer in time repeat each other's errors
MOST_WEIGHT = 4.0  # looks at an unchanged zone that add evidence
