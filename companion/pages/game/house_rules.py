"""What a table agrees on beside the rule sheet, as the set-up form shows and sends it: house rules, counted cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from companion.common import parsing
from companion.common.errors import Problem
from companion.match.setup_file import deck_lines
from companion.pages import words
from companion.pages.words import _
from companion.rules import referee
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import Edition, EditionError, switches
from companion.rules.editions.switches import switch_title
from companion.rules.record.judge import Game
from companion.rules.scoring import Item

Form = Mapping[str, str]
MOST_OF_A_CARD = 999
SILENT = "chosen"
"""How the source of a switch begins on which the sheet says nothing."""


@dataclass(frozen=True, slots=True)
class SwitchView:
    """A house rule to choose."""

    field: str
    title: str
    holds: str
    """What holds now, in a sentence."""

    chosen: str
    """The value that was chosen; empty where it is the sheet's."""

    by_the_sheet: str
    """What the sheet says, in a sentence; where it is silent, what is played then."""

    is_silent: bool
    """The sheet does not say."""

    means_nothing: bool
    """In the game as it is chosen nothing depends on it."""

    others: tuple[tuple[str, str], ...]
    """The other values and their sentences."""


@dataclass(frozen=True, slots=True)
class RulesView:
    """The rules that a match is played by."""

    title: str
    about: str
    target: int
    house_rules: tuple[tuple[str, str], ...]
    """What is played otherwise than the edition has it: title and sentence."""

    counts: tuple[tuple[str, int], ...]
    """The corrected counts of the deck."""


@dataclass(frozen=True, slots=True)
class CountView:
    """How many of a card there are, to be corrected."""

    field: str
    title: str
    typed: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that an edition has otherwise than the classic rules."""

    title: str
    sentence: str


def house_rules(form: Form, edition: Edition) -> dict[str, str]:
    """The switches that are to have another value than the sheet's."""
    chosen = {name: form.get(_option(name), "") for name in switches()}
    return {name: value for name, value in chosen.items() if value and value != edition.switch(name)}


def counts(form: Form, edition: Edition) -> dict[Card, int]:
    """The numbers of an unverified deck that are to be others. Raises Problem for what is no number."""
    if edition.counts_verified:
        return {}
    said = {card: form.get(_count(card), "").strip() for card in _countable(edition)}
    counted = {card: _number(card, text) for card, text in said.items() if text}
    return {card: number for card, number in counted.items() if number != edition.deck[card]}


def _number(card: Card, text: str) -> int:
    number = parsing.whole(text, 0, MOST_OF_A_CARD)
    if number is None:
        raise Problem(_("How many there are of %(card)s is a number, such as 4.", card=words.name(card)))
    return number


def agreed(form: Form, edition: Edition) -> Edition:
    """The edition as the table plays it. Raises Problem with a sentence for what contradicts itself."""
    try:
        played = edition.with_options(house_rules(form, edition).items())
        corrected = counts(form, edition)
        return played.with_deck(corrected) if corrected else played
    except EditionError as error:
        raise Problem(str(error)) from error


def counted_lines(form: Form, edition: Edition) -> list[str]:
    """The header line of a record that corrects the deck, or none."""
    return deck_lines(counts(form, edition).items())


def as_chosen(options: Iterable[tuple[str, str]], counted: Iterable[tuple[Card, int]]) -> dict[str, str]:
    """House rules and corrected counts as the form would send them."""
    return {_option(name): value for name, value in options} | {_count(card): str(count) for card, count in counted}


# As the form shows it


def switch_views(form: Form, edition: Edition) -> list[SwitchView]:
    """Every switch of the edition with its sentences."""
    chosen = house_rules(form, edition)
    try:
        played = agreed(form, edition)
    except Problem:
        played = edition
    return [_switch_view(name, values, chosen, edition, played) for name, values in switches().items()]


def _switch_view(
    name: str, values: Mapping[str, str], chosen: Mapping[str, str], edition: Edition, played: Edition
) -> SwitchView:
    sheet = edition.switch(name)
    return SwitchView(
        field=_option(name),
        title=_title(name),
        holds=_(values.get(chosen.get(name, ""), values[played.switch(name)])),
        chosen=chosen.get(name, ""),
        by_the_sheet=_(values[sheet]),
        is_silent=edition.sources[name].startswith(SILENT),
        means_nothing=name not in chosen and played.means_nothing(name),
        others=tuple((value, _(say)) for value, say in values.items() if value != sheet),
    )


def _title(switch: str) -> str:
    return _(switch_title(switch))


def count_views(form: Form, edition: Edition) -> list[CountView]:
    """The cards of an unverified deck, but for the safeties, of which there is always one."""
    return [_count_view(form, card, str(edition.deck[card])) for card in _countable(edition)]


def _count_view(form: Form, card: Card, by_the_sheet: str) -> CountView:
    said = form.get(_count(card)) or by_the_sheet
    return CountView(_count(card), words.title(card), said, said != by_the_sheet)


def _countable(edition: Edition) -> list[Card]:
    if edition.counts_verified:
        return []
    return [card for card in edition.deck if card.family is not Family.SAFETY]


def _option(name: str) -> str:
    return f"option-{name}"


def _count(card: Card) -> str:
    return f"count-{card}"


# As the match has it


def rules_in_force(game: Game) -> RulesView:
    """The rules of the match being played, what follows from a house rule among them."""
    edition, players = game.edition, sum(len(team.players) for team in game.teams)
    turned = [name for name, sheet in edition.by_the_sheet.items() if edition.switch(name) != sheet]
    return RulesView(
        title=_(edition.title),
        about=_(edition.about),
        target=game.target or referee.target_for(edition, players),
        house_rules=tuple((_title(name), _(switches()[name][edition.switch(name)])) for name in turned),
        counts=tuple((words.title(card), count) for card, count in game.counts),
    )


# Beside the classic rules


def differences(edition: Edition, classic: Edition) -> list[Difference]:
    """What an edition has otherwise than the classic rules: cards, players, points, and each switch in a sentence."""
    turned = [name for name in switches() if edition.switch(name) != classic.switch(name)]
    plain = [_cards_differ(edition, classic), _players_differ(edition, classic), _points_differ(edition, classic)]
    return [
        *(difference for difference in plain if difference.sentence),
        *(Difference(_title(name), _(switches()[name][edition.switch(name)])) for name in turned),
    ]


def _cards_differ(edition: Edition, classic: Edition) -> Difference:
    counts = {card: edition.deck.get(card, 0) for card in Card}
    others = [(card, count) for card, count in counts.items() if count != classic.deck.get(card, 0)]
    said = [_("%(count)d × %(card)s", count=count, card=words.name(card)) for card, count in others if count]
    said += [_("no %(card)s", card=words.name(card)) for card, count in others if not count]
    return Difference(_("Cards"), ", ".join(said))


def _players_differ(edition: Edition, classic: Edition) -> Difference:
    if (edition.seatings, edition.target_km) == (classic.seatings, classic.target_km):
        return Difference("", "")
    ways: dict[tuple[int, int], list[str]] = {}
    for players, each in edition.seatings:
        ways.setdefault((each, edition.target_km[players]), []).append(str(players))
    return Difference(_("Players"), " · ".join(_way_said(each, ", ".join(n), km) for (each, km), n in ways.items()))


def _way_said(each: int, players: str, km: int) -> str:
    if each > 1:
        return _("%(players)s in pairs, to %(km)d km", players=players, km=km)
    return _("%(players)s each alone, to %(km)d km", players=players, km=km)


def _points_differ(edition: Edition, classic: Edition) -> Difference:
    if edition.match_points is None:
        return Difference("", "")
    points = {item: (getattr(edition.points, item), getattr(classic.points, item)) for item in _POINTS}
    said = [
        _("%(what)s: %(points)d", what=_(words.ITEMS[_POINTS[item]]), points=here)
        for item, (here, there) in points.items()
        if here != there
    ]
    return Difference(_("Points"), " · ".join(said))


_POINTS = {
    "safety": Item.SAFETIES,
    "all_safeties": Item.ALL_SAFETIES,
    "coup_fourre": Item.COUPS_FOURRES,
    "trip_completed": Item.TRIP_COMPLETED,
    "delayed_action": Item.DELAYED_ACTION,
    "safe_trip": Item.SAFE_TRIP,
    "extension": Item.EXTENSION,
    "shut_out": Item.SHUT_OUT,
}
"""The lines of the score sheet by the field of the points that they are counted with."""
