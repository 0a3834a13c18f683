"""Why a play is refused, as values; their sentences come from the message catalogues."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from companion.rules.cards import card_name, card_of_slug
from companion.rules.edition import Edition

_MESSAGES = Path(__file__).parent / "messages"
_CARD_DETAILS = frozenset({"card", "hazard", "remedy", "safety"})


class Code(StrEnum):
    """The codes of reasons (a play is refused) and of remarks (it is legal, but worth a word)."""

    NOT_YOUR_TURN = "not-your-turn"
    HAND_OVER = "hand-over"
    UNKNOWN_CARD = "unknown-card"
    TOO_MANY_COPIES = "too-many-copies"
    OWN_SIDE = "own-side"
    NEEDS_TARGET = "needs-target"
    NOT_DRIVING = "not-driving"
    UNDER_HAZARD = "under-hazard"
    SPEED_LIMIT = "speed-limit"
    PAST_TARGET = "past-target"
    THIRD_200 = "third-200"
    NOTHING_TO_REMEDY = "nothing-to-remedy"
    ALREADY_ROLLING = "already-rolling"
    NOT_LIMITED = "not-limited"
    ALREADY_LIMITED = "already-limited"
    PROTECTED = "protected"
    OPPONENT_NOT_DRIVING = "opponent-not-driving"
    ALREADY_ATTACKED = "already-attacked"
    COUP_FOURRE_WINDOW_CLOSED = "coup-fourre-window-closed"
    NO_ATTACK_TO_ANSWER = "no-attack-to-answer"
    FIRST_CARD = "first-card"
    EXTENSION_NOT_OFFERED = "extension-not-offered"
    SAFETY_DISCARD = "safety-discard"
    CANNOT_TAKE_DISCARD = "cannot-take-discard"
    ALREADY_DOUBLED = "already-doubled"
    NO_SUCH_CARD_THERE = "no-such-card-there"
    REQUEST_PENDING = "request-pending"
    NOTHING_TO_TURN_BACK = "nothing-to-turn-back"
    SAFETY_DEMANDED = "safety-demanded"
    NEEDS_DISTANCE = "needs-distance"
    MUST_PLAY_IT = "must-play-it"
    NO_PASSING = "no-passing"
    NO_EXCHANGE = "no-exchange"
    NO_PENALTY = "no-penalty"

    LATE_SAFETY = "late-safety"
    DISCARD_ONLY_WHEN_STUCK = "discard-only-when-stuck"
    ENDED_AS_AGREED = "ended-as-agreed"
    HAND_BEGAN_BY_ITSELF = "hand-began-by-itself"


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is wrong with a play, or worth a remark, with what its sentence is filled with.

    Cards are given by their slugs. A detail `case` chooses among the sentences of a code (`say-empty`).
    """

    code: Code
    details: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.code.value


def reason(code: Code, **details: object) -> Reason:
    """A reason with the details that its sentence is filled with."""
    return Reason(code, tuple((key, str(value)) for key, value in details.items()))


@cache
def catalogue(language: str = "en") -> Mapping[str, Mapping[str, str]]:
    """The messages of a language, by code."""
    return tomllib.loads((_MESSAGES / f"{language}.toml").read_text(encoding="utf-8"))


def say(why: Reason, language: str = "en") -> str:
    """The sentence for the table: "Speed limit: only 25 and 50 until it is lifted."."""
    case = dict(why.details).get("case")
    sentence = _filled(catalogue(language)[why.code][f"say-{case}" if case else "say"], why)
    return sentence[:1].upper() + sentence[1:]


def instead(why: Reason, language: str = "en") -> str | None:
    """What would be allowed instead, where that is short."""
    template = catalogue(language)[why.code].get("instead")
    return _filled(template, why) if template else None


def _filled(template: str, why: Reason) -> str:
    return template.format_map({key: _shown(key, value) for key, value in why.details})


def _shown(key: str, value: str) -> str:
    """A card is shown by its name; whoever is called `roll` keeps his own."""
    card = card_of_slug(value) if key in _CARD_DETAILS else None
    return card_name(card) if card else value


def rule(why: Reason, edition: Edition, language: str = "en") -> str:
    """Where it is written: the rule sheet and its section."""
    return f"{edition.sheet}: {catalogue(language)[why.code]['section']}"


def as_json(why: Reason, edition: Edition) -> dict[str, str]:
    """The reason as the command line gives it: code, sentence, rule, and the way out where there is one."""
    out = {"code": why.code.value, "say": say(why), "rule": rule(why, edition)}
    way_out = instead(why)
    return out | ({"instead": way_out} if way_out else {})
