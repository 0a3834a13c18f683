"""Reasons against a play and remarks; sentences come from the message catalogues."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from companion.rules.card_names import names, with_names
from companion.rules.cards import Family
from companion.rules.editions.edition import Edition, known_edition

_MESSAGES = Path(__file__).parent / "messages"
_CARD_DETAILS = frozenset({"card", "hazard", "remedy", "safety"})
_BEGINS_WITH_NAME = ("{player}", "{side}", "{turn}", "{asker}")


class Code(StrEnum):
    """Codes of reasons, remarks and incomplete decks."""

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
    NO_EFFECT = "no-effect"
    LOOK_ALIKE = "look-alike"

    MISSING_CARDS = "missing-cards"


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason or remark: code, and values of its sentence, with cards as slugs.

    `case`, or else `card`, selects among a code's sentences (`say-empty`).
    """

    code: Code
    details: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.code.value


def reason(code: Code, *, case: str | None = None, **details: object) -> Reason:
    """Return a reason with the values of its sentence."""
    said = {"case": case, **details} if case else details
    return Reason(code, tuple((key, str(value)) for key, value in said.items()))


@cache
def catalogue(language: str = "en") -> Mapping[str, Mapping[str, str]]:
    """Return a language's messages: a table per code, `words`, `sources` and `miles`.

    English tables name the `section` of the sheet, which `sources` translates. `miles` maps words for kilometers to
    those for miles. Raises FileNotFoundError for an unknown language.
    """
    return tomllib.loads((_MESSAGES / f"{language}.toml").read_text(encoding="utf-8"))


def in_edition(text: str, language: str, edition: str | None) -> str:
    """Return an unfilled text with the edition's unit and card names: `%(roll)s`."""
    found = known_edition(edition)
    if found is not None and found.unit == "miles":
        miles = catalogue(language)["miles"]
        text = re.sub(rf"(?<![\w({{])({'|'.join(miles)})(?![\w)}}])", lambda found: miles[found[1]], text)
    return with_names(text, language, edition)


def say(why: Reason, language: str = "en", edition: str | None = None) -> str:
    """Return a reason's sentence in the edition's unit and card names."""
    template = _message(why, "say", language) or ""
    sentence = _filled(template, why, language, edition)
    return sentence if template.startswith(_BEGINS_WITH_NAME) else sentence[:1].upper() + sentence[1:]


def instead(why: Reason, language: str = "en", edition: str | None = None) -> str | None:
    """Return what is allowed instead, if the catalogue says so."""
    template = _message(why, "instead", language)
    return _filled(template, why, language, edition) if template else None


def _message(why: Reason, kind: str, language: str) -> str | None:
    entry = catalogue(language)[why.code]
    return next((entry[key] for case in _cases(why) if (key := f"{kind}-{case}") in entry), entry.get(kind))


def _cases(why: Reason) -> tuple[str, ...]:
    details = dict(why.details)
    return tuple(details[key] for key in ("case", "card") if key in details)


def _filled(template: str, why: Reason, language: str, edition: str | None) -> str:
    called = names(language, edition)
    # A player called `roll` is no card.
    details = {k: called.get(value, value) if k in _CARD_DETAILS else value for k, value in why.details}
    return in_edition(template, language, edition).format_map({**called, **details})


def rule(why: Reason, edition: Edition, language: str = "en") -> str:
    """Return a reason's source: rule sheet and section, or house rule."""
    switch = governing_switch(why, edition)
    if switch:
        return source(switch, edition, language)
    return _in_sheet(edition, _message(why, "section", "en") or "", language)


def source(what: str, edition: Edition, language: str) -> str:
    """Return the source of a switch or other key of `Edition.sources`, like `rule`."""
    if what in dict(edition.house_rules):
        option = f"{what}={edition.switch(what)}"
        return catalogue(language)["words"]["house-rule"].format(option=option)
    return _in_sheet(edition, edition.sources[what], language)


_SAME_SECTION = (
    ("Hazards", "Playing hazards", "Hazard cards", "Attacks"),
    ("Remedies", "Remedy cards"),
    ("Safeties", "Safety cards"),
    ("End of a hand", "End of the game", "End of the race"),
    ("Setting up", "Rules"),
)
"""Names of the same section on different sheets."""


def _section(edition: Edition, section: str) -> str:
    """Return a section's name on the edition's sheet, preferably from its own sources."""
    if section == "Specials" and all(card.family is not Family.SPECIAL for card in edition.deck):
        return "A turn"
    alike = next((names for names in _SAME_SECTION if section in names), ())
    own = [edition.sources[switch] for switch, by in edition.written_in.items() if by == edition.name]
    return next((name for sources in (own, edition.sources.values()) for name in alike if name in sources), section)


def _in_sheet(edition: Edition, section: str, language: str) -> str:
    section = _section(edition, section)
    words, called = catalogue(language)["words"], catalogue(language)["sources"]
    return words["rule"].format(sheet=called.get(edition.sheet, edition.sheet), section=called.get(section, section))


def governing_switch(why: Reason, edition: Edition) -> str | None:
    """Return the switch behind a reason; None if all sheets agree."""
    governed = (_GOVERNED[why.code, case] for case in (*_cases(why), "") if (why.code, case) in _GOVERNED)
    switch, value = next(governed, ("", _ANY))
    return switch if switch and value in (_ANY, edition.switch(switch)) else None


_ANY = ""
_GOVERNED: Mapping[tuple[Code, str], tuple[str, str]] = {
    (Code.HAND_OVER, "offered"): ("extension", _ANY),
    (Code.TOO_MANY_COPIES, "removed"): ("five-hazards-removed", _ANY),
    (Code.PAST_TARGET, ""): ("overshoot", _ANY),
    (Code.PAST_TARGET, "discard"): ("past-target-card", _ANY),
    (Code.THIRD_200, ""): ("two-hundreds", _ANY),
    (Code.NOT_DRIVING, ""): ("roll-to-start", _ANY),
    (Code.NOT_DRIVING, "remedied"): ("roll-after-remedy", _ANY),
    (Code.NOT_DRIVING, "late-safety"): ("roll-after-late-safety", _ANY),
    (Code.SPEED_LIMIT, "doubled"): ("limit-on-doubled", _ANY),
    (Code.NOTHING_TO_REMEDY, "roll"): ("roll-on-remedy", "forbidden"),
    (Code.ALREADY_ROLLING, "right-of-way"): ("roll-with-right-of-way", _ANY),
    (Code.OPPONENT_NOT_DRIVING, "empty"): ("hazard-on-empty-pile", _ANY),
    (Code.OPPONENT_NOT_DRIVING, "remedied"): ("hazard-on-remedy", _ANY),
    (Code.ALREADY_ATTACKED, ""): ("hazard-on-hazard", _ANY),
    (Code.COUP_FOURRE_WINDOW_CLOSED, ""): ("coup-fourre-window", _ANY),
    (Code.COUP_FOURRE_WINDOW_CLOSED, "remedy"): ("fast-remedy", _ANY),
    (Code.NO_ATTACK_TO_ANSWER, "own-turn"): ("fast-remedy", _ANY),
    (Code.FIRST_CARD, ""): ("first-card", _ANY),
    (Code.EXTENSION_NOT_OFFERED, ""): ("extension", "no"),
    (Code.SAFETY_DISCARD, ""): ("discard-safety", _ANY),
    (Code.CANNOT_TAKE_DISCARD, ""): ("take-discard", "forbidden"),
    (Code.CANNOT_TAKE_DISCARD, "full"): ("draw", _ANY),
    (Code.CANNOT_TAKE_DISCARD, "pair"): ("pair-for-discard", _ANY),
    (Code.NOTHING_TO_TURN_BACK, "winning"): ("u-turn-on-winning-card", _ANY),
    (Code.NO_EXCHANGE, ""): ("exchange", _ANY),
    (Code.NO_PENALTY, ""): ("mistake-penalty", _ANY),
    (Code.DISCARD_ONLY_WHEN_STUCK, ""): ("discard", _ANY),
}
"""By code and case: the switch, and its value that gives the reason."""


def as_json(why: Reason, edition: Edition) -> dict[str, str]:
    """Return a reason as English JSON: `code`, `say`, `rule`, perhaps `instead`."""
    out = {"code": why.code.value, "say": say(why, edition=edition.name), "rule": rule(why, edition)}
    way_out = instead(why, edition=edition.name)
    return out | ({"instead": way_out} if way_out else {})
