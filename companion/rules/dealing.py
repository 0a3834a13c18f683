"""Seating, and the table before the first play."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from companion.common.text import Said, one_of, say
from companion.rules.editions.edition import Edition, EditionError
from companion.rules.table import Due, Seat, Side, Table, Team

EXTENDED_KM = 1000  # after the extension was called


class SeatingError(EditionError):
    """The edition does not allow these sides or so many players."""


def seating(teams: Sequence[Team]) -> tuple[Seat, ...]:
    """Return the seats clockwise, alternating between sides."""
    rounds = max((len(team.players) for team in teams), default=0)
    return tuple(
        Seat(team.players[place], side)
        for place in range(rounds)
        for side, team in enumerate(teams)
        if place < len(team.players)
    )


def check_seating(edition: Edition, teams: Sequence[Team]) -> None:
    """Raise SeatingError if the edition does not allow these sides."""
    sizes = {len(team.players) for team in teams}
    players = sum(len(team.players) for team in teams)
    each = max(sizes, default=1)
    if len(sizes) != 1 or (players, *sizes) not in edition.seatings:
        how = HOW_SEATED.get(each) or say("with %(each)d per side", each=each)
        these = say("these sides seat %(players)d %(how)s", players=players, how=how)
        if len(sizes) > 1:
            these = say("these sides are not equal in size")
        title, ways = Said(edition.title), ways_to_play(edition)
        raise SeatingError("%(edition)s is for %(ways)s: %(these)s.", edition=title, ways=ways, these=these)


HOW_SEATED = MappingProxyType({1: say("alone"), 2: say("in pairs"), 3: say("in threes"), 4: say("in fours")})
"""Words by number of players on a side."""


def ways_to_play(edition: Edition) -> Said:
    """Return the seatings as text: `2 or 3 alone, or 4 or 6 in pairs`."""
    players: dict[int, list[int]] = {}
    for count, each in edition.seatings:
        players.setdefault(each, []).append(count)
    first, *others = (
        say("%(players)s %(how)s", players=numbers(counts), how=HOW_SEATED[each]) for each, counts in players.items()
    )
    for other in others:
        first = say("%(some)s, or %(last)s", some=first, last=other)
    return first


def numbers(counts: Sequence[int]) -> Said:
    """Return numbers as text: `4 or 6`, `2 to 8`."""
    first, last = counts[0], counts[-1]
    in_a_row = len(counts) > 2 and list(counts) == list(range(first, last + 1))
    return say("%(first)d to %(last)d", first=first, last=last) if in_a_row else one_of(counts)


def new_hand(edition: Edition, teams: Sequence[Team], first: str, target: int | None = None) -> Table:
    """Return a dealt table with `first` to move; `target` in km, by default the edition's.

    Raises SeatingError if the edition forbids these sides, KeyError if `first` does not play.
    """
    check_seating(edition, teams)
    seats = seating(teams)
    deck = edition.deck_for(len(seats))
    table = Table(
        edition=edition,
        sides=tuple(Side(team.name, team.players) for team in teams),
        seats=seats,
        deck=deck,
        hands=(edition.hand_size,) * len(seats),
        draw_pile=sum(deck.values()) - edition.hand_size * len(seats),
        discards=(),
        to_move=0,
        due=Due.TURN,
        target=target or edition.target_km[len(seats)],
    )
    return table._replace(to_move=table.seat_of(first))
