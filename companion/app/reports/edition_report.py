"""An edition as text for the terminal: deck, players, points, and every switch with its meaning and source."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from companion.common.text import one_of
from companion.rules.cards import SPECIALS, Card, Family
from companion.rules.dealing import HOW_SEATED, numbers
from companion.rules.editions.edition import Edition, Points, load_edition, switches
from companion.rules.editions.edition_file import FIRST_PLAYERS
from companion.rules.editions.switches import written
from companion.rules.reasons import in_edition

WIDTH = 88  # default line width, in columns
_SWITCH_COLUMN = 43
_CHOSEN = "chosen"
_NO_BREAK = "\N{NO-BREAK SPACE}"
_COLUMN = re.compile(r"^\*? +(?=\S)|  +(?=\S)")
_POINTS = {
    "safety": "each safety",
    "all_safeties": "all safeties, on top",
    "coup_fourre": "each coup fourré, on top",
    "trip_completed": "trip completed",
    "delayed_action": "delayed action",
    "safe_trip": "safe trip",
    "extension": "extension",
    "shut_out": "shut-out",
}
_LEVELS = {
    "play-on": "Level at the end of a match, another hand decides.",
    "restart": "Level at the end of a match, nobody wins and the totals start again.",
}


def listing(editions: Sequence[Edition]) -> Iterator[str]:
    """Yield one line an edition."""
    width = max(len(edition.name) for edition in editions)
    for edition in editions:
        yield f"{edition.name.ljust(width)}  {edition.about}"


def in_order(edition: Edition) -> str:
    """Return the sentence about an edition file without faults."""
    parent = _parent(edition)
    said = f"{edition.title} is in order, {sum(edition.deck.values())} cards"
    if parent is None:
        return f"{said}."
    differs = ", ".join(_differences(edition, parent))
    return f"{said}; as {parent.name} but for {differs}." if differs else f"{said}; as {parent.name} in everything."


def _differences(edition: Edition, parent: Edition) -> Iterator[str]:
    for card in Card:
        if edition.deck.get(card, 0) != parent.deck.get(card, 0):
            yield f"{card}={edition.deck.get(card, 0)}"
    if (edition.seatings, edition.target_km) != (parent.seatings, parent.target_km):
        yield "players and targets"
    if edition.hand_size != parent.hand_size:
        yield f"{edition.hand_size} cards a hand"
    if edition.points != parent.points:
        yield "points"
    yield from (written((name, edition.switch(name))) for name in switches() if _is_turned(edition, parent, name))


def _is_turned(edition: Edition, parent: Edition, name: str) -> bool:
    return edition.switch(name) != parent.switch(name)


def sheet(edition: Edition, width: int = WIDTH) -> Iterator[str]:
    """Yield an edition's description, in lines of `width` columns; a star marks differences from its parent."""
    for line in _sheet(edition, _parent(edition) or edition):
        columns = [found.end() for found in _COLUMN.finditer(line)]
        indent = " " * (columns[-1] if columns else 0)
        wrapped = textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
        yield from (part.replace(_NO_BREAK, " ") for part in wrapped or [""])


def _sheet(edition: Edition, parent: Edition) -> Iterator[str]:
    yield f"{edition.title} – {edition.sheet}"
    yield edition.about
    if parent is not edition:
        yield f"* marks what differs from {parent.name} ({parent.sheet})."
    yield from _deck(edition, parent)
    if any(card in edition.deck for card in SPECIALS):
        yield ""
        yield "Specials"
    for card, does in SPECIALS.items():
        if card in edition.deck:
            yield f"  {card:12}  {in_edition(does, 'en', edition.name)}"
    yield from _setting_up(edition, parent)
    yield from _points(edition, parent)
    yield from _switches(edition, parent)


def _parent(edition: Edition) -> Edition | None:
    return load_edition(edition.parent) if edition.parent else None


def _marked(differs: bool) -> str:
    return "* " if differs else "  "


def _heading(words: str, source: str) -> str:
    return f"{words}  [{source}]" if source and source != words else words


def _deck(edition: Edition, parent: Edition) -> Iterator[str]:
    yield ""
    yield _heading(f"Deck: {sum(edition.deck.values())} cards", edition.sources["deck"])
    for family in Family:
        cards = _of(edition, family)
        if cards:
            said = ", ".join(f"{card}{_NO_BREAK}×{_NO_BREAK}{count}" for card, count in cards.items())
            yield f"{_marked(cards != _of(parent, family))}{family.value:9} {sum(cards.values()):3}  {said}"
    if not edition.counts_verified:
        yield "  Counts unverified: correct them on the set-up page, or in the setup file under [deck]."


def _of(edition: Edition, family: Family) -> Mapping[str, int]:
    return {card.value: count for card, count in edition.deck.items() if card.family is family}


def _setting_up(edition: Edition, parent: Edition) -> Iterator[str]:
    yield ""
    yield _heading("Setting up", edition.sources["setting-up"])
    theirs = _ways(parent)
    for (each, km), players in _ways(edition).items():
        mark = _marked(theirs.get((each, km)) != players)
        yield f"{mark}{numbers(players)} players {HOW_SEATED[each]}, to {km} {edition.unit}"
    yield f"{_marked(edition.hand_size != parent.hand_size)}{edition.hand_size} cards a hand"
    yield f"{_marked(edition.first_player != parent.first_player)}{FIRST_PLAYERS[edition.first_player]}"
    yield f"      [{edition.sources['first-player']}]"


def _ways(edition: Edition) -> dict[tuple[int, int], list[int]]:
    """Return the player counts by players a side and target distance."""
    ways: dict[tuple[int, int], list[int]] = {}
    for players, each in edition.seatings:
        ways.setdefault((each, edition.target_km[players]), []).append(players)
    return ways


def _points(edition: Edition, parent: Edition) -> Iterator[str]:
    yield ""
    yield _heading("Points", edition.sources["points"])
    yield f"      1  a {in_edition('kilometer', 'en', edition.name)}"
    for field in fields(Points):
        points = getattr(edition.points, field.name)
        differs = points != getattr(parent.points, field.name)
        if field.name in _POINTS and (points or differs):
            yield f"{_marked(differs)}{points or '–':>5}  {_POINTS[field.name]}"
    if not edition.is_race:
        yield _marked(edition.points.level != parent.points.level) + _LEVELS[edition.points.level]


def _switches(edition: Edition, parent: Edition) -> Iterator[str]:
    yield ""
    yield "Switches: any of them can be turned for one match, as a house rule"
    idle = [name for name in switches() if edition.means_nothing(name) and not _is_turned(edition, parent, name)]
    for name, values in switches().items():
        if name in idle:
            continue
        value, theirs = edition.switch(name), parent.switch(name)
        mark, of_parent = _marked(value != theirs), f"{_NO_BREAK}({parent.name})"
        others = one_of(f"{other}{of_parent if other == theirs else ''}" for other in values if other != value)
        yield f"{mark}{name}={value}".ljust(_SWITCH_COLUMN) + f"or {others}"
        yield f"      {in_edition(values[value], 'en', edition.name)}"
        source, origin = edition.sources[name], edition.written_in[name]
        where = edition if origin == edition.name else load_edition(origin)
        yield f"      [{source if source.startswith(_CHOSEN) else f'{where.sheet}: {source}'}]"
    if idle:
        yield f"  Without effect here: {', '.join(idle)}."
