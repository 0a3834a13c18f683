"""Who sits where, how far they drive, and the table before the first play."""

from __future__ import annotations

from collections.abc import Sequence

from companion.rules.edition import Edition, EditionError
from companion.rules.table import Due, Seat, Side, Table, Team

EXTENDABLE_KM = 700
EXTENDED_KM = 1000


def seating(teams: Sequence[Team]) -> tuple[Seat, ...]:
    """The seats clockwise, going round the sides: partners sit opposite each other."""
    rounds = max((len(team.players) for team in teams), default=0)
    return tuple(
        Seat(team.players[place], side)
        for place in range(rounds)
        for side, team in enumerate(teams)
        if place < len(team.players)
    )


def target_for(edition: Edition, players: int) -> int:
    """The edition's own target in km for a number of players."""
    return edition.target_km[players]


def check_seating(edition: Edition, teams: Sequence[Team]) -> None:
    """Raises EditionError, with a sentence, when the edition is not played by these sides."""
    sizes = {len(team.players) for team in teams}
    players = sum(len(team.players) for team in teams)
    if len(sizes) != 1 or (players, *sizes) not in edition.seatings:
        ways = ", ".join(f"{n} in pairs" if each > 1 else f"{n} alone" for n, each in edition.seatings)
        raise EditionError(f"{edition.title} is played by {ways}: these sides seat {players}.")


def new_hand(edition: Edition, teams: Sequence[Team], first: str, target: int | None = None) -> Table:
    """A table with the hands dealt and `first` to move.

    Raises EditionError when the edition is not played by these sides, KeyError for a strange first player.
    """
    check_seating(edition, teams)
    seats = seating(teams)
    deck = edition.deck_for(len(seats))
    km = target or target_for(edition, len(seats))
    table = Table(
        edition=edition,
        sides=tuple(Side(team.name, team.players) for team in teams),
        seats=seats,
        deck=deck,
        hands=(edition.hand_size,) * len(seats),
        draw_pile=sum(deck.values()) - edition.hand_size * len(seats),
        unaccounted=0,
        discards=(),
        to_move=0,
        due=Due.TURN,
        target=km,
        may_extend=edition.extension == "yes" and km == EXTENDABLE_KM,
    )
    return table._replace(to_move=table.seat_of(first))
