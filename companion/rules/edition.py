"""Editions and house rules as data: one TOML file a rule sheet, a parent plus what differs.

The rules ask an edition for a switch (`edition.two_hundreds`), never which edition it is. A house rule is the
same switch, set for one match (`with_option`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from companion.rules.cards import Card, Family, card_of_slug

_HERE = Path(__file__).parent
_EDITIONS = _HERE / "editions"

SHORT_GAME_PLAYERS = 3
"""`five-hazards-removed` concerns games of up to three players."""


class EditionError(ValueError):
    """An edition file or a house rule that cannot be used; `str()` is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Points:
    """What each line of the score sheet is worth, and what happens when a match ends level."""

    safety: int
    all_safeties: int
    coup_fourre: int
    """On top of the safety's own points."""

    trip_completed: int
    delayed_action: int
    safe_trip: int
    extension: int
    shut_out: int
    level: str
    """`play-on` (another hand decides) or `restart` (nobody wins, totals start again)."""


@dataclass(frozen=True, slots=True)
class Edition:
    """A rule sheet, with house rules where a table has set some. Every switch is a field."""

    name: str
    title: str
    sheet: str
    about: str
    counts_verified: bool
    deck: Mapping[Card, int]
    hand_size: int
    seatings: tuple[tuple[int, int], ...]
    """(players, players a side) that the sheet allows."""

    target_km: Mapping[int, int]
    """The target by number of players."""

    points: Points
    sources: Mapping[str, str]
    """Where in the sheet each switch is written."""

    house_rules: tuple[tuple[str, str], ...]
    """The switches that this table has turned, with their values."""

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
    exchange: str
    pair_for_discard: str
    limit_on_doubled: str
    u_turn_on_winning_card: str
    shut_out: str
    coup_fourre_window: str
    coup_fourre_turn: str
    pile_after_safety: str
    past_target_card: str
    mistake_penalty: str
    match: str

    @property
    def two_hundreds_max(self) -> int:
        """How many 200s a side may lay in a hand."""
        return int(self.two_hundreds) if self.two_hundreds.isdigit() else self.deck.get(Card.KM_200, 0)

    @property
    def match_points(self) -> int | None:
        """The points that end a match, or None where one race decides."""
        return int(self.match) if self.match.isdigit() else None

    @property
    def safeties(self) -> tuple[Card, ...]:
        """The safeties of this deck."""
        return tuple(card for card in self.deck if card.family is Family.SAFETY)

    def deck_for(self, players: int) -> Mapping[Card, int]:
        """The cards in the game with so many players, after `five-hazards-removed`."""
        if self.five_hazards_removed == "no" or players > SHORT_GAME_PLAYERS:
            return self.deck
        out = {card: count - (card.family is Family.HAZARD) for card, count in self.deck.items()}
        return MappingProxyType(out)

    def switch(self, name: str) -> str:
        """The value of a switch by its written name (`hazard-on-hazard`)."""
        return str(getattr(self, _field(name)))

    def with_option(self, name: str, value: str) -> Edition:
        """The edition with one house rule. Raises EditionError for an unknown switch or value."""
        check_option(name, value)
        others = tuple(rule for rule in self.house_rules if rule[0] != name)
        changes: dict[str, Any] = {_field(name): value, "house_rules": (*others, (name, value))}
        return replace(self, **changes)

    def with_options(self, options: Iterable[tuple[str, str]]) -> Edition:
        """The edition with several house rules, a later one over an earlier."""
        edition = self
        for name, value in options:
            edition = edition.with_option(name, value)
        return edition


def _field(switch: str) -> str:
    return switch.replace("-", "_")


@cache
def switches() -> Mapping[str, Mapping[str, str]]:
    """Every switch, its values, and what each value means in one sentence."""
    data = tomllib.loads((_HERE / "switches.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: MappingProxyType(values) for name, values in data.items()})


def check_option(name: str, value: str) -> None:
    """Raises EditionError, with a sentence, for a switch or a value that does not exist."""
    if name not in switches():
        raise EditionError(f"There is no house rule '{name}': see `companion editions show classic` for all of them.")
    values = switches()[name]
    if value not in values:
        raise EditionError(f"'{name}' is {_one_of(values)}, not '{value}'.")


def _one_of(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def edition_names() -> tuple[str, ...]:
    """The editions that ship, classic first."""
    names = sorted(path.stem for path in _EDITIONS.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: name != "classic"))


@cache
def load_edition(name: str) -> Edition:
    """An edition that ships, by name. Raises EditionError with a sentence for an unknown one."""
    if name not in edition_names():
        raise EditionError(f"There is no edition '{name}': the editions are {', '.join(edition_names())}.")
    return read_edition(_EDITIONS / f"{name}.toml")


def read_edition(path: Path) -> Edition:
    """An edition from a TOML file. Raises EditionError, naming the file, when it cannot be used."""
    try:
        return _build(_with_parents(path))
    except (ValueError, RecursionError) as error:
        raise EditionError(f"{path.name}: {error}") from error
    except OSError as error:
        raise EditionError(f"{path}: cannot be read ({error.strerror}).") from error


def _with_parents(path: Path, below: tuple[str, ...] = ()) -> dict[str, Any]:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    parent = data.pop("parent", None)
    if parent is None:
        return data
    if not isinstance(parent, str) or parent in below or parent not in edition_names():
        raise EditionError(f"its parent '{parent}' is not one of {', '.join(edition_names())}.")
    return _below(_with_parents(_EDITIONS / f"{parent}.toml", (*below, parent)), data)


def _below(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """What an edition says with its parent's leave: a `deck` replaces the parent's whole, all else is merged."""
    out = _merged(base, {key: value for key, value in changes.items() if key != "deck-changes"})
    if "deck" in changes:
        out["deck"] = changes["deck"]
    counts = changes.get("deck-changes", {})
    if isinstance(out.get("deck"), dict) and isinstance(counts, dict):
        out["deck"] = {**out["deck"], **counts}
    _forget_targets(out, changes)
    return out


def _forget_targets(out: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """The parent's targets for numbers of players that this edition does not seat."""
    setting_up = out.get("setting-up")
    own = changes.get("setting-up")
    if not isinstance(setting_up, dict) or not isinstance(own, dict) or "seatings" not in own:
        return
    seats = {str(pair[0]) for pair in own["seatings"] if isinstance(pair, list) and pair}
    said = own.get("target-km", {})
    targets = setting_up.get("target-km", {})
    out["setting-up"] = {
        **setting_up,
        "target-km": {players: km for players, km in targets.items() if players in seats or players in said},
    }


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged key by key, other values replaced."""
    out = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = _merged(out[key], value) if both else value
    return out


_KEYS = {"name", "title", "sheet", "about", "counts-verified", "deck", "setting-up", "points", "switches"}
_SETTING_UP_KEYS = {"cards", "first-player", "hand", "seatings", "source", "target-km"}
_LEVEL = ("play-on", "restart")
_T = TypeVar("_T")


def _build(data: Mapping[str, Any]) -> Edition:
    _refuse_unknown(data, _KEYS, "the file")
    setting_up = _value(data, "setting-up", dict)
    _refuse_unknown(setting_up, _SETTING_UP_KEYS, "[setting-up]")
    switch_entries = _switches(_value(data, "switches", dict))
    seatings = _seatings(_value(setting_up, "seatings", list))
    return Edition(
        name=_value(data, "name", str),
        title=_value(data, "title", str),
        sheet=_value(data, "sheet", str),
        about=_value(data, "about", str),
        counts_verified=_value(data, "counts-verified", bool),
        deck=MappingProxyType(_deck(_value(data, "deck", dict), _value(setting_up, "cards", int))),
        hand_size=_value(setting_up, "hand", int),
        seatings=seatings,
        target_km=MappingProxyType(_targets(_value(setting_up, "target-km", dict), seatings)),
        points=_points(_value(data, "points", dict)),
        sources=MappingProxyType({name: entry["source"] for name, entry in switch_entries.items()}),
        house_rules=(),
        **{_field(name): entry["value"] for name, entry in switch_entries.items()},
    )


def _value(table: Mapping[str, Any], key: str, kind: type[_T]) -> _T:
    """What a key holds. Raises EditionError when it is missing or no such value."""
    if key not in table:
        raise EditionError(f"'{key}' is missing.")
    value = table[key]
    is_no_count = kind is int and (isinstance(value, bool) or (isinstance(value, int) and value < 0))
    if not isinstance(value, kind) or is_no_count:
        raise EditionError(f"'{key}' must be {_KINDS[kind]}, not {value!r}.")
    return value


_KINDS: dict[type, str] = {
    dict: "a table",
    list: "a list",
    str: "a text in quotes",
    bool: "true or false",
    int: "a whole number",
}


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise EditionError(f"{where} has an unknown key '{unknown[0]}'.")


def _switches(table: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The value and the source of each switch, all of them."""
    missing = [name for name in switches() if name not in table]
    if missing:
        raise EditionError(f"[switches] says nothing about '{missing[0]}'.")
    return {name: _switch(name, _value(table, name, dict)) for name in table}


def _switch(name: str, entry: Mapping[str, Any]) -> dict[str, str]:
    _refuse_unknown(entry, ("value", "source"), f"'{name}'")
    out = {key: _value(entry, key, str) for key in ("value", "source")}
    check_option(name, out["value"])
    return out


def _seatings(pairs: Sequence[Any]) -> tuple[tuple[int, int], ...]:
    good = all(
        isinstance(pair, list) and len(pair) == 2 and all(type(n) is int and n > 0 for n in pair) for pair in pairs
    )
    if not pairs or not good or any(players % each for players, each in pairs):
        raise EditionError("'seatings' lists pairs of numbers, players and players a side: [[2, 1], [4, 2]].")
    return tuple((players, each) for players, each in pairs)


def _targets(table: Mapping[str, Any], seatings: Iterable[tuple[int, int]]) -> dict[int, int]:
    targets = {players: _value(table, str(players), int) for players, _ in seatings}
    _refuse_unknown(table, map(str, targets), "[setting-up.target-km]")
    if not all(targets.values()):
        raise EditionError("A target in [setting-up.target-km] is more than 0 km.")
    return targets


def _deck(counts: Mapping[str, Any], total: int) -> dict[Card, int]:
    deck: dict[Card, int] = {}
    for slug in counts:
        if slug == "source":
            continue
        card = card_of_slug(slug)
        if card is None or card is Card.UNKNOWN:
            raise EditionError(f"[deck] names a card '{slug}' that no edition has.")
        if _value(counts, slug, int):
            deck[card] = counts[slug]
    if sum(deck.values()) != total:
        raise EditionError(f"[deck] adds up to {sum(deck.values())} cards, not {total}.")
    return {card: deck[card] for card in Card if card in deck}


def _points(table: Mapping[str, Any]) -> Points:
    known = {_written(f.name): str if f.name == "level" else int for f in fields(Points)}
    _refuse_unknown(table, {*known, "source"}, "[points]")
    values: dict[str, Any] = {_field(name): _value(table, name, kind) for name, kind in known.items()}
    if values["level"] not in _LEVEL:
        raise EditionError(f"'level' is {_one_of(_LEVEL)}, not '{values['level']}'.")
    return Points(**values)


def _written(name: str) -> str:
    return name.replace("_", "-")
