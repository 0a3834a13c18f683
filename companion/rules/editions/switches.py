"""Switches of the rules: values, contradictions, entailed changes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from companion.common.errors import Problem
from companion.common.spelling import meant, shown
from companion.common.text import Said, one_of, say

_SWITCHES = Path(__file__).parent.parent / "switches.toml"

Rule = tuple[str, str]


class EditionError(Problem, ValueError):
    """An unusable edition file or house rule."""


@cache
def switches() -> Mapping[str, Mapping[str, str]]:
    """Return each switch's values, with a sentence for each."""
    data = tomllib.loads(_SWITCHES.read_text(encoding="utf-8"))
    return MappingProxyType({name: MappingProxyType(values) for name, values in data.items()})


_TITLES = {
    "limit-on-doubled": "Limit on doubled cards",
    "pair-for-discard": "Discard a pair to take a card",
    "past-target-card": "Card past the target",
    "pile-after-remedy": "Battle pile after a remedy",
    "pile-after-safety": "Battle pile after a safety",
    "two-hundreds": "Limit on 200s",
}
"""Headings that a switch's name does not give."""


def switch_title(name: str) -> str:
    """Return a switch as a heading with places for card names: `%(roll)s on remedy`."""
    if name in _TITLES:
        return _TITLES[name]
    plain = re.sub("(roll|right-of-way|u-turn)", r"%(\1)s", name)
    plain = re.sub(r"-(?![^(]*\))", " ", plain).replace("fourre", "fourré")
    return plain[:1].upper() + plain[1:]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two values that exclude each other; both switches have two values."""

    one: Rule
    other: Rule
    because: Said


CONTRADICTIONS = (
    Contradiction(
        ("roll-on-remedy", "forbidden"),
        ("roll-after-remedy", "needed"),
        say("the card needed after a remedy must be allowed on it"),
    ),
    Contradiction(
        ("roll-on-remedy", "forbidden"),
        ("roll-after-late-safety", "needed"),
        say("the card needed after a late safety must be allowed there"),
    ),
    Contradiction(
        ("pile-after-remedy", "card-beneath"),
        ("roll-after-remedy", "needed"),
        say("the card needed after a remedy goes on it"),
    ),
    Contradiction(
        ("first-card", "roll-or-right-of-way"),
        ("roll-to-start", "not-needed"),
        say("the first card must start the car only if cars need starting"),
    ),
)


def check_option(name: str, value: str) -> None:
    """Raise EditionError for an unknown switch or value."""
    if name not in switches():
        near = meant(name, switches())
        raise EditionError("There is no house rule '%(name)s'%(near)s.", name=shown(name), near=near)
    values = switches()[name]
    if value not in values:
        raise EditionError(
            "'%(name)s' must be %(values)s, not '%(value)s'%(near)s.",
            name=name,
            values=one_of(values),
            value=shown(value),
            near=meant(value, values),
        )


def check_options(options: Iterable[Rule]) -> None:
    """Raise EditionError for unknown or contradictory house rules; of a repeated rule, the last counts."""
    rules = tuple(options)
    for name, value in rules:
        check_option(name, value)
    for found in contradictions(dict(rules)):
        raise EditionError(
            "The house rules %(one)s and %(other)s contradict each other (%(because)s): remove one of them, or"
            " write %(way_out)s or %(another)s.",
            one=written(found.one),
            other=written(found.other),
            because=found.because,
            way_out=written(otherwise(found.one)),
            another=written(otherwise(found.other)),
        )


def contradictions(values: Mapping[str, str]) -> Iterator[Contradiction]:
    """Return the contradictions among these values."""
    held = values.items()
    return (pair for pair in CONTRADICTIONS if pair.one in held and pair.other in held)


def follows(rules: Mapping[str, str], sheet: Mapping[str, str]) -> dict[str, str]:
    """Return the sheet's values that contradict house rules, flipped."""
    out: dict[str, str] = {}
    for pair in contradictions({**sheet, **rules}):
        dragged = next(rule for rule in (pair.other, pair.one) if rule[0] not in rules)
        out.update([otherwise(dragged)])
    return out


def otherwise(rule: Rule) -> Rule:
    """Return a switch with its other value."""
    name, value = rule
    return name, next(other for other in switches()[name] if other != value)


def written(rule: Rule) -> str:
    """Return a house rule in record notation: `switch=value`."""
    return "=".join(rule)
