"""Remarks about a setup: house rules without effect, look-alike names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.common.spelling import look_alike
from companion.rules.cards import Card
from companion.rules.editions.edition import FEW_PLAYERS, POINTS, SHORT_GAME_PLAYERS, Edition
from companion.rules.editions.switches import written
from companion.rules.reasons import Code, Reason, reason
from companion.rules.table import EXTENDABLE_KM, Team

_FEWEST_OPPONENTS = 2  # with one, both values of `shut-out` score the same
_ONLY_THIS_VALUE = {"extension": "yes", "five-hazards-removed": "yes"}
"""Switches where only this value can lack an effect."""


def idle_rules(edition: Edition, players: int, sides: int, target_km: int | None = None) -> Iterator[Reason]:
    """Yield a remark per house rule without effect for these players and target (km)."""
    target = target_km or edition.target_km[players]
    for switch, value in edition.house_rules:
        if _ONLY_THIS_VALUE.get(switch, value) != value or switch in edition.fixed:
            continue
        missing = edition.lacks(switch) or _lacks_another_rule(switch, edition)
        missing = missing or lacks_in_this_game(switch, players, sides, target)
        if missing is not None:
            yield _remark(written((switch, value)), missing)


def _lacks_another_rule(switch: str, edition: Edition) -> str | None:
    """Return the missing house rule (`name=value`) without which a switch has no effect, if any."""
    if edition.hazard_on_hazard == "allowed":
        return None
    leaves_no_remedy = (edition.pile_after_remedy, edition.roll_after_late_safety) == ("card-beneath", "not-needed")
    if switch == "hazard-on-remedy" and leaves_no_remedy:
        return "pile-after-remedy=remedy"
    rolls_on_stop_alone = (edition.roll_on_remedy, edition.roll_to_start) == ("forbidden", "not-needed")
    return "roll-on-remedy=allowed" if switch == "roll-with-right-of-way" and rolls_on_stop_alone else None


def lacks_in_this_game(switch: str, players: int, sides: int, target: int) -> str | None:
    """Return what a switch needs but these players and this target (km) lack; None if it has an effect."""
    if switch in ("extension", "extension-bonus") and target != EXTENDABLE_KM:
        return f"target {EXTENDABLE_KM}"
    if switch == "five-hazards-removed" and players > SHORT_GAME_PLAYERS:
        return FEW_PLAYERS
    return _MORE_OPPONENTS if switch == "shut-out" and sides <= _FEWEST_OPPONENTS else None


_MORE_OPPONENTS = "more-opponents"


def _remark(rule: str, missing: str | Card) -> Reason:
    if isinstance(missing, Card):
        return reason(Code.NO_EFFECT, case="card", rule=rule, card=missing)
    if missing in (POINTS, FEW_PLAYERS, _MORE_OPPONENTS):
        count = SHORT_GAME_PLAYERS if missing == FEW_PLAYERS else _FEWEST_OPPONENTS
        return reason(Code.NO_EFFECT, case=missing, rule=rule, count=count)
    return reason(Code.NO_EFFECT, rule=rule, needs=missing)


def look_alikes(teams: Sequence[Team]) -> Iterator[Reason]:
    """Yield a remark per name that looks like an earlier, different one."""
    earlier: list[str] = []
    for name in dict.fromkeys(name for team in teams for name in (team.name, *team.players)):
        other = look_alike(name, earlier)
        if other is not None:
            yield reason(Code.LOOK_ALIKE, player=name, asker=other)
        earlier.append(name)
