"""Editions as values, with a match's house rules.

Rules ask for a switch (`edition.two_hundreds`), never for an edition's name; house rules set switches. File format:
`edition_file.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from companion.common.small_file import read_small, text_of
from companion.common.spelling import meant, shown
from companion.common.text import Said, Term
from companion.rules.cards import Card, Family
from companion.rules.editions import edition_file
from companion.rules.editions.switches import EditionError, check_options, follows, switches, written

__all__ = ["EditionError", "switches"]

MOST_LENT, LONGEST_LENT = 1000, 65_536
"""Most editions from other machines, and characters of an edition file to share."""

SHORT_GAME_PLAYERS = 3  # most for `five-hazards-removed`
POINTS, FEW_PLAYERS = "points", "few-players"
"""What a switch may need besides house rules and cards: points, or at most `SHORT_GAME_PLAYERS`."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points by line of the score sheet."""

    safety: int
    all_safeties: int
    coup_fourre: int  # besides the safety
    trip_completed: int
    delayed_action: int
    safe_trip: int
    extension: int
    shut_out: int
    level: str  # after a tied match: `play-on` (another hand) or `restart` (no winner)


@dataclass(frozen=True, slots=True)
class Edition:
    """A rule sheet with a table's house rules. Every switch is a field."""

    name: str
    parent: str | None
    title: str
    sheet: str
    about: str
    unit: str  # of distances on the sheet: `km` or `miles`
    year: int | None
    counts_verified: bool
    deck: Mapping[Card, int]
    hand_size: int
    seatings: tuple[tuple[int, int], ...]  # allowed (players, players per side)
    target_km: Mapping[int, int]
    points: Points
    sources: Mapping[str, str]  # section of the sheet by switch, and for `deck`, `setting-up`, …
    written_in: Mapping[str, str]  # by switch: edition that sets it, this or an ancestor
    fixed: frozenset[str]  # switches closed to house rules
    first_player: str
    by_the_sheet: Mapping[str, str]  # values without house rules
    house_rules: tuple[tuple[str, str], ...]  # without entailed changes
    hazard_on_hazard: str
    hazard_on_remedy: str
    hazard_on_empty_pile: str
    five_hazards_removed: str
    extension: str
    extension_bonus: str
    overshoot: str
    safeties_count_as_distance: str
    two_hundreds: str
    roll_to_start: str
    roll_after_remedy: str
    roll_after_late_safety: str
    roll_on_remedy: str
    roll_with_right_of_way: str
    first_card: str
    take_discard: str
    empty_pile: str
    draw: str
    discard_safety: str
    discard: str
    fast_remedy: str
    fast_remedy_turn: str
    exchange: str
    pair_for_discard: str
    limit_on_doubled: str
    u_turn_on_winning_card: str
    shut_out: str
    coup_fourre_window: str
    coup_fourre_turn: str
    pile_after_safety: str
    pile_after_remedy: str
    past_target_card: str
    mistake_penalty: str
    match: str

    @property
    def two_hundreds_max(self) -> int | None:
        """Most 200s per side; None for no limit."""
        return int(self.two_hundreds) if self.two_hundreds.isdigit() else None

    @property
    def reshuffles(self) -> bool:
        return self.empty_pile == "reshuffle"

    @property
    def is_race(self) -> bool:
        return self.match_points is None

    @property
    def match_points(self) -> int | None:
        """Points that end a match; None for a single race."""
        return int(self.match) if self.match.isdigit() else None

    @property
    def safeties(self) -> tuple[Card, ...]:
        return tuple(card for card in self.deck if card.family is Family.SAFETY)

    def completes(self, km: int, target: int) -> bool:
        return km == target or (km > target and self.overshoot == "allowed")

    def deck_for(self, players: int) -> Mapping[Card, int]:
        """Return the deck, after `five-hazards-removed`."""
        if self.five_hazards_removed == "no" or players > SHORT_GAME_PLAYERS:
            return self.deck
        fewer = {card: count - 1 for card, count in self.deck.items() if card.family is Family.HAZARD and count}
        return MappingProxyType({**self.deck, **fewer})

    def switch(self, name: str) -> str:
        """Return a switch's value by hyphenated name (`hazard-on-hazard`)."""
        return str(getattr(self, _field(name)))

    def means_nothing(self, switch: str) -> bool:
        """True if the switch is fixed or has no effect in this edition."""
        return switch in self.fixed or self.lacks(switch) is not None

    def lacks(self, switch: str) -> str | Card | None:
        """Return what a switch needs but lacks: a house rule, a card, `POINTS` or `FEW_PLAYERS`.

        None if it has an effect.
        """
        lacking: dict[str, dict[str | Card, bool]] = {
            "extension-bonus": {"extension=yes": self.extension == "no", POINTS: not self.points.extension},
            "shut-out": {POINTS: not self.points.shut_out},
            "fast-remedy-turn": {"fast-remedy=yes": self.fast_remedy == "no"},
            "past-target-card": {"overshoot=forbidden": self.overshoot == "allowed"},
            "two-hundreds": {Card.KM_200: Card.KM_200 not in self.deck},
            "limit-on-doubled": {Card.ACCELERATOR: Card.ACCELERATOR not in self.deck},
            "u-turn-on-winning-card": {Card.U_TURN: Card.U_TURN not in self.deck},
            "five-hazards-removed": {FEW_PLAYERS: all(players > SHORT_GAME_PLAYERS for players, _ in self.seatings)},
        }
        return next((what for what, is_lacking in lacking.get(switch, {}).items() if is_lacking), None)

    def with_options(self, options: Iterable[tuple[str, str]]) -> Edition:
        """Return the edition with more house rules; the last value of a switch counts.

        Contradicting values of the sheet change too. Raises EditionError for unknown or contradictory house rules and
        fixed switches.
        """
        rules = dict(self.house_rules)
        for name, value in options:
            rules.pop(name, None)
            rules[name] = value
        check_options(rules.items())
        for name in self.fixed & rules.keys():
            if rules[name] != self.by_the_sheet[name]:
                raise EditionError(
                    "%(rule)s is not possible in %(edition)s: its rule sheet settles that (%(source)s).",
                    edition=Said(self.title),
                    rule=written((name, rules[name])),
                    source=self.sources[name],
                )
        if tuple(rules.items()) == self.house_rules:
            return self
        values = {**self.by_the_sheet, **follows(rules, self.by_the_sheet), **rules}
        changes: dict[str, Any] = {_field(name): value for name, value in values.items()}
        return replace(self, house_rules=tuple(rules.items()), **changes)

    def with_deck(self, counts: Mapping[Card, int]) -> Edition:
        """Return the edition with corrected card counts and the same total.

        Raises EditionError for verified counts, a card not in the deck, or a wrong count or total.
        """
        if not counts:
            return self
        if self.counts_verified:
            raise EditionError(
                "The card counts of %(edition)s are known: only an unverified deck can be corrected.",
                edition=Said(self.title),
            )
        for card, count in counts.items():
            self._check_count(card, count)
        deck = {**self.deck, **counts}
        was, total = sum(self.deck.values()), sum(deck.values())
        if total != was:
            raise EditionError(
                "With these counts the deck has %(total)d cards, not %(was)d: correct other counts too.",
                total=total,
                was=was,
            )
        return replace(self, deck=MappingProxyType(deck))

    def _check_count(self, card: Card, count: int) -> None:
        name, edition = Term(card.value, "card", card.value), Said(self.title)
        if card not in self.deck:
            raise EditionError("There is no %(card)s in the deck of %(edition)s.", card=name, edition=edition)
        if card.family is Family.SAFETY and count != 1:
            raise EditionError("The deck has one %(card)s, as it has one of each safety.", card=name)
        if count < 0:
            raise EditionError("The count of %(card)s must be 0 or more, not %(count)d.", card=name, count=count)


def _field(switch: str) -> str:
    return switch.replace("-", "_")


_own: dict[str, tuple[Edition, str]] = {}
"""The user's editions with their files' texts, loaded at program start."""

_lent: dict[str, Edition] = {}  # from other machines, by name and content hash


def keep_own_editions(folder: Path) -> tuple[str, ...]:
    """Load a folder's editions (`ours` from `ours.toml`) in place of those loaded before.

    Return a sentence per unusable file, which is skipped.
    """
    _own.clear()
    faults = []
    for path in sorted(folder.glob("*.toml")):
        try:
            edition = read_edition(path)
            if edition.name != path.stem:
                raise EditionError(
                    "%(path)s: edition '%(name)s' must be in a file %(file)s.",
                    path=path,
                    name=edition.name,
                    file=f"{edition.name}.toml",
                )
            _own[path.stem] = edition, text_of(read_small(path))
        except EditionError as error:
            faults.append(str(error))
    return tuple(faults)


def own_text(name: str) -> str | None:
    """Return an own edition's file; None if shipped or too long to share."""
    _, text = _own.get(name, (None, ""))
    return text if 0 < len(text) <= LONGEST_LENT else None


@cache
def lent(text: str) -> str:
    """Register another machine's edition; return its name (with a hash) for `load_edition`.

    Raises EditionError if the text is invalid or too long, or editions are too many.
    """
    if len(_lent) >= MOST_LENT or len(text) > LONGEST_LENT:
        raise EditionError("There are too many editions, or they are too long.")
    reading = edition_file.read_text(text, edition_file.shipped_names())
    for fault in reading.faults:
        raise EditionError(fault.say)
    edition = _built(reading.entries)
    name = f"{edition.name}.{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    _lent[name] = replace(edition, name=name)
    return name


def edition_names() -> tuple[str, ...]:
    """Return the names of shipped editions, classic first, and the user's own."""
    return (*edition_file.shipped_names(), *_own)


def known_edition(name: str | None) -> Edition | None:
    """Return an edition by name; None if unknown here, such as another machine's own."""
    return load_edition(name) if name and (name in edition_names() or name in _lent) else None


def load_edition(name: str) -> Edition:
    """Return an edition by name, ignoring case. Raises EditionError if unknown."""
    small = name.lower()
    own, _ = _own.get(small, (None, ""))
    return own or _lent.get(small) or _shipped(small)


@cache
def _shipped(name: str) -> Edition:
    if name not in edition_file.shipped_names():
        known = edition_names()
        raise EditionError(
            "There is no edition '%(name)s'%(near)s: the editions are %(known)s.",
            name=shown(name),
            near=meant(name, known),
            known=", ".join(known),
        )
    return read_edition(edition_file.EDITIONS / f"{name}.toml")


def read_edition(path: Path) -> Edition:
    """Read an edition file. Raises EditionError, naming file and key, for the first fault."""
    reading = edition_file.read_file(path)
    for fault in reading.faults:
        raise EditionError(fault.in_file(path), exit_code=1)
    return _built(reading.entries)


def _built(entries: Mapping[str, Any]) -> Edition:
    setting_up, rules, counts = entries["setting-up"], entries["switches"], entries["deck"]
    sources = {name: rules[name]["source"] for name in switches()}
    sources |= {table: entries[table].get("source", "") for table in ("deck", "setting-up", "points")}
    sources["first-player"] = setting_up["first-player"]["source"]
    values = {name: rules[name]["value"] for name in switches()}
    return Edition(
        name=entries["name"],
        parent=entries.get("parent"),
        title=entries["title"],
        sheet=entries["sheet"],
        about=entries["about"],
        unit=entries.get("unit", "km"),
        year=entries.get("year"),
        counts_verified=entries["counts-verified"],
        # In the order of `Card`.
        deck=MappingProxyType({card: counts[card] for card in Card if counts.get(card)}),
        hand_size=setting_up["hand"],
        seatings=tuple((players, each) for players, each in setting_up["seatings"]),
        target_km=MappingProxyType({int(players): km for players, km in setting_up["target-km"].items()}),
        points=Points(**{_field(name): value for name, value in entries["points"].items() if name != "source"}),
        sources=MappingProxyType(sources),
        written_in=MappingProxyType({name: rules[name]["edition"] for name in switches()}),
        fixed=frozenset(name for name in switches() if rules[name].get("fixed", False)),
        first_player=setting_up["first-player"]["value"],
        house_rules=(),
        by_the_sheet=MappingProxyType(values),
        **{_field(name): value for name, value in values.items()},
    )
