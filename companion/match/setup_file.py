"""The setup file (TOML): edition, house rules, players, mats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from companion.common import toml_text
from companion.common.errors import Problem, cause
from companion.common.small_file import read_small, text_of
from companion.common.spelling import all_composed
from companion.common.text import Said, plain, say
from companion.common.toml_text import TomlError
from companion.match.state import RobotSeat
from companion.rules import referee
from companion.rules.cards import Card, card_of_slug
from companion.rules.editions.edition import Edition, load_edition
from companion.rules.reasons import Reason
from companion.rules.record import notation
from companion.rules.set_up_remarks import idle_rules, look_alikes
from companion.rules.table import Team
from companion.tabletop.drawn_zones import Drawing, check_sides, parse_drawing
from companion.tabletop.mat_layout import MAX_SIDES

_KEYS = {"edition", "deck", "target", "first", "options", "side", "picture", "zone", "cards", "robot"}
_TABLES = ("options", "deck", "side", "zone", "robot")
_SIDE_KEYS = {"name", "players", "mat"}
_LONE = re.compile(r"^[ \t]*\[[ \t]*(side|zone)[ \t]*\]", re.MULTILINE)  # one bracket missing
_MATS = tuple(f"side-{n}" for n in range(1, MAX_SIDES + 1))


@dataclass(frozen=True, slots=True)
class Setup:
    """Setup of a match."""

    edition_name: str
    sides: Mapping[str, Team]  # by mat, in seating order
    first: str
    target: int | None = None
    options: tuple[tuple[str, str], ...] = ()
    deck: tuple[tuple[Card, int], ...] = ()
    drawing: Drawing | None = None  # zones drawn on a picture, for playing without mats
    cards: str | None = None  # deck of face templates; None: stickers
    robot: RobotSeat | None = None

    @property
    def edition(self) -> Edition:
        """The edition with house rules and corrected card counts."""
        return load_edition(self.edition_name).with_options(self.options).with_deck(dict(self.deck))

    @property
    def teams(self) -> tuple[Team, ...]:
        return tuple(self.sides.values())

    @property
    def remarks(self) -> tuple[Reason, ...]:
        """Warnings: house rules without effect, names that look alike."""
        players = sum(len(team.players) for team in self.teams)
        idle = idle_rules(self.edition, players, len(self.sides), self.target)
        return (*idle, *look_alikes(self.teams))

    @property
    def mats(self) -> Mapping[str, str]:
        return {mat: team.name for mat, team in self.sides.items()}

    def header(self) -> list[str]:
        """Return the record's header lines."""
        edition, *rest = notation.header_text(self.teams, self.edition_name, self.target, dict(self.options))
        return [edition, *deck_lines(self.deck), *rest]


def deck_lines(counts: Iterable[tuple[Card, int]]) -> list[str]:
    """Return the header line of corrected card counts, if any."""
    said = ", ".join(f"{card}={count}" for card, count in counts)
    return [f"deck {said}"] if said else []


def read_setup(path: Path) -> Setup:
    """Read a setup file. Raises Problem with one sentence that names file and error."""
    try:
        return parse_setup(_tables(text_of(read_small(path))))
    except TomlError as error:
        where = f"{path}:{error.line or 1}"
        raise Problem(Said("%(where)s: %(why)s.", where=where, why=error.fault)) from error
    except OSError as error:
        raise Problem(
            "The setup file %(path)s cannot be read (%(error)s): check the path.", path=path, error=cause(error)
        ) from error
    except UnicodeDecodeError as error:
        raise Problem("%(path)s: this is not a text file; a setup file is text in UTF-8.", path=path) from error
    except ValueError as error:
        why = error.args[0] if error.args and isinstance(error.args[0], Said) else plain(error)
        raise Problem(Said("%(path)s: %(why)s", path=path, why=why)) from error


def _tables(text: str) -> dict[str, Any]:
    """Parse TOML. Raises TomlError, also for `[side]` or `[zone]` in single brackets."""
    lone = _LONE.search(text)
    if lone:
        fault = say(
            "write %(several)s instead of %(one)s: two brackets, because there may be several",
            several=f"[[{lone[1]}]]",
            one=f"[{lone[1]}]",
        )
        raise TomlError(text.count("\n", 0, lone.start()) + 1, fault)
    return toml_text.load(text)


def parse_setup(data: Mapping[str, Any]) -> Setup:
    """Return a setup from TOML tables. Raises ValueError or EditionError with a sentence."""
    data = all_composed(data)
    _refuse_strays(data)
    if strange := _unknown(data, _KEYS):
        raise ValueError(say("the setup file has an unknown key '%(key)s'; known are %(known)s.", **strange))
    edition = load_edition(_text(data, "edition", "classic"))
    sides = _sides(data.get("side"))
    teams = tuple(sides.values())
    referee.check_seating(edition, teams)
    first = _text(data, "first", teams[0].players[0])
    if not any(first in team.players for team in teams):
        raise ValueError(say("'first' names '%(name)s', who is not a player of any side.", name=plain(first)))
    setup = Setup(
        edition_name=edition.name,
        sides=sides,
        first=first,
        target=_target(data.get("target")),
        options=_options(data.get("options", {}), edition),
        deck=_deck(data.get("deck", {}), edition),
        cards=_text(data, "cards", "own") if "cards" in data else None,
        robot=_robot(data["robot"], teams) if "robot" in data else None,
    )
    drawing = parse_drawing({key: data[key] for key in ("picture", "zone") if key in data})
    if drawing is not None:
        check_sides(drawing, {mat: team.name for mat, team in sides.items()})
    return replace(setup, drawing=drawing)


def _refuse_strays(data: Mapping[str, Any]) -> None:
    """Raise ValueError for top-level keys below a table header, where TOML puts them into that table."""
    headers = {name: f"[[{name}]]" if isinstance(data[name], list) else f"[{name}]" for name in data if name in _TABLES}
    for name, header in headers.items():
        tables = data[name] if isinstance(data[name], list) else [data[name]]
        stray = next((key for table in tables if isinstance(table, dict) for key in table if key in _KEYS), None)
        if stray:
            first = next(iter(headers.values()))
            if first.startswith("[["):
                above_first = say(
                    "'%(key)s' is below %(table)s and belongs to it: move `%(key)s = …` above the first %(first)s.",
                    key=stray,
                    table=header,
                    first=first,
                )
                raise ValueError(above_first)
            above = say(
                "'%(key)s' is below %(table)s and belongs to it: move `%(key)s = …` above %(first)s.",
                key=stray,
                table=header,
                first=first,
            )
            raise ValueError(above)


def _unknown(table: Mapping[str, Any], known: set[str]) -> dict[str, str]:
    """Return the first unknown `key` and the `known` ones; nothing if all are known."""
    unknown = sorted(set(table) - known)
    return {"key": plain(unknown[0]), "known": ", ".join(sorted(known))} if unknown else {}


def _text(table: Mapping[str, Any], key: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        example = f'{key} = "{default}"'
        raise ValueError(say("'%(key)s' must be a text in quotes, such as %(example)s.", key=key, example=example))
    return value


def _sides(tables: object) -> dict[str, Team]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(say("each side must be a [[side]] table with name, players and mat."))
    sides = [_side(table, number) for number, table in enumerate(tables, start=1)]
    names = [name for _mat, team in sides for name in {team.name, *team.players}]
    if name := _doubled(names):
        raise ValueError(say("the name '%(name)s' is used twice.", name=name))
    if mat := _doubled([mat for mat, _team in sides]):
        raise ValueError(say("the mat '%(mat)s' is used twice.", mat=mat))
    return dict(sides)


def _doubled(words: Sequence[str]) -> str | None:
    """Return the first word that occurs twice."""
    return next((word for word in words if words.count(word) > 1), None)


def _side(table: Mapping[str, Any], number: int) -> tuple[str, Team]:
    if strange := _unknown(table, _SIDE_KEYS):
        raise ValueError(say("[[side]] has an unknown key '%(key)s'; known are %(known)s.", **strange))
    name = _text(table, "name", "")
    players = table.get("players", [name])
    mat = _text(table, "mat", f"side-{number}")
    if not isinstance(players, list) or not all(isinstance(p, str) and notation.is_name(p) for p in [*players, name]):
        raise ValueError(say("each name in [[side]] must be one word: letters, digits, - and _."))
    if mat not in _MATS:
        unknown = say(
            "there is no mat '%(mat)s'; the mats are %(first)s to %(last)s.",
            mat=plain(mat),
            first=_MATS[0],
            last=_MATS[-1],
        )
        raise ValueError(unknown)
    team = Team(name, tuple(players))
    notation.check_names(team)
    return mat, team


def _robot(table: object, teams: Iterable[Team]) -> RobotSeat:
    players = [player for team in teams for player in team.players]
    said = " ".join(f"{player} {level}" for player, level in table.items()) if isinstance(table, dict) else ""
    seat = RobotSeat.of(said, players)
    if seat is None:
        example = f"robot.{players[-1]} = 2"
        raise ValueError(
            say("'robot' must name a player and a level from 1 to 3, such as %(example)s.", example=example)
        )
    return seat


def _target(value: object) -> int | None:
    if value is None:
        return None
    line = notation.parse_header(f"target {value}") if isinstance(value, int) else None
    if not isinstance(line, notation.TargetLine):
        raise ValueError(say("'target' must be a number of kilometers, such as %(example)s.", example="target = 1000"))
    return line.km


def _options(table: object, edition: Edition) -> tuple[tuple[str, str], ...]:
    if not isinstance(table, dict):
        example = 'hazard-on-hazard = "forbidden"'
        raise ValueError(say("[options] holds house rules, such as %(example)s.", example=example))
    options = tuple((str(name), str(value)) for name, value in table.items())
    edition.with_options(options)
    return options


def _deck(table: object, edition: Edition) -> tuple[tuple[Card, int], ...]:
    if not isinstance(table, dict) or not all(type(count) is int for count in table.values()):
        raise ValueError(say("[deck] must give a number for each card, such as %(example)s.", example="stop = 5"))
    counts: dict[Card, int] = {}
    for slug, count in table.items():
        card = card_of_slug(slug)
        if card is None:
            raise ValueError(say("[deck] names a card '%(name)s' that no edition has.", name=plain(slug)))
        counts[card] = count
    edition.with_deck(counts)
    return tuple(counts.items())
