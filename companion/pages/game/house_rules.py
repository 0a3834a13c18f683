"""House rules and counted cards in the set-up form; differences between editions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from werkzeug.datastructures import MultiDict

from companion.common import parsing
from companion.common.errors import Problem
from companion.pages import words
from companion.pages.words import N_, _
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import Edition, edition_names, load_edition, switches
from companion.rules.editions.switches import switch_title
from companion.rules.record.judge import Game
from companion.rules.scoring import Item
from companion.rules.set_up_remarks import idle_rules

Form = MultiDict[str, str]
MOST_OF_A_CARD = 999
FAMILY = {
    "hazard-on-hazard": ("allowed", N_("Attack a stopped car"), N_("Play a second hazard on top.")),
    "roll-after-remedy": ("not-needed", N_("Drive right after a remedy"), N_("No %(roll)s card in between.")),
    "take-discard": ("allowed", N_("Take from the discard pile"), N_("Take its top card instead of drawing.")),
    "extension": ("yes", N_("Extension"), N_("At 700, the side may extend the trip to 1000.")),
    "five-hazards-removed": ("yes", N_("Take out five hazard cards"), N_("With two or three players.")),
    "overshoot": ("allowed", N_("Drive past the target"), N_("The last card may go too far.")),
}
"""Common house rules: value for "on", title and meaning."""

SILENT = "chosen"  # begins the source if the rule sheet is silent


def house_rules(form: Form, edition: Edition) -> dict[str, str]:
    """Return the chosen switches that differ from the rule sheet.

    Values from the sheet of the form's edition, `shown-for`, were not chosen.
    """
    before = form.get("shown-for")
    sheet = load_edition(before) if before in edition_names() else edition
    # The hidden field for "off" precedes the checkbox.
    chosen = {name: (form.getlist(f"option-{name}") or [""])[-1] for name in switches()}
    untouched = {sheet.name: sheet.by_the_sheet, edition.name: edition.by_the_sheet}
    return {
        name: value
        for name, value in chosen.items()
        if value and all(said[name] != value for said in untouched.values())
    }


def counts(form: Form, edition: Edition) -> dict[Card, int]:
    """Return corrected counts of an unverified deck. Raises Problem for invalid ones."""
    counted: dict[Card, int] = {}
    for card in _countable(edition):
        text = form.get(f"count-{card}", "").strip()
        number = parsing.whole(text, 0, MOST_OF_A_CARD) if text else edition.deck[card]
        if number is None:
            raise Problem(_("Enter a number of cards for %(card)s, such as 4.", card=words.name(card)))
        if number != edition.deck[card]:
            counted[card] = number
    return counted


def agreed(form: Form, edition: Edition) -> Edition:
    """Return the edition as played here. Raises Problem for contradictory rules."""
    played = edition.with_options(house_rules(form, edition).items())
    corrected = counts(form, edition)
    return played.with_deck(corrected) if corrected else played


# Set-up form


def switch_views(form: Form, edition: Edition) -> list[dict[str, object]]:
    """Return every switch as sentences: value in force, the sheet's, alternatives."""
    chosen = house_rules(form, edition)
    try:
        played = agreed(form, edition)
    except Problem:
        played = edition
    return [
        {
            "name": name,
            "value": played.switch(name),
            "sheet": edition.switch(name),
            "field": f"option-{name}",
            "title": _(switch_title(name)),
            "holds": _(values.get(chosen.get(name, ""), values[played.switch(name)])),
            "chosen": chosen.get(name, ""),
            "by_the_sheet": _(values[edition.switch(name)]),
            "is_silent": edition.sources[name].startswith(SILENT),
            # without effect
            "means_nothing": name not in chosen and played.means_nothing(name),
            "others": [(value, _(say)) for value, say in values.items() if value != edition.switch(name)],
        }
        for name, values in switches().items()
    ]


def idle_views(form: Form, edition: Edition, way: tuple[int, int] | None, target_km: int | None) -> list[str]:
    """Return a sentence for each chosen house rule without effect."""
    if way is None:
        return []
    try:
        played = agreed(form, edition)
    except Problem:
        return []
    players, each = way
    remarks = idle_rules(played, players, players // each, target_km)
    return [words.why(why, played, words.Names({}, {})).say for why in remarks]


def family_views(views: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Return the switches in FAMILY that have an effect."""
    found = {str(view["name"]): view for view in views if not view["means_nothing"]}
    return [
        found[name]
        | {"on": on, "off": next(other for other in switches()[name] if other != on)}
        | {"called": _(called), "means": _(means)}
        for name, (on, called, means) in FAMILY.items()
        if name in found
    ]


def count_views(form: Form, edition: Edition) -> list[dict[str, object]]:
    """Return an unverified deck's cards with typed counts."""
    typed = {card: form.get(f"count-{card}") or str(edition.deck[card]) for card in _countable(edition)}
    return [
        {
            "field": f"count-{card}",
            "title": words.title(card),
            "typed": said,
            "changed": said != str(edition.deck[card]),
        }
        for card, said in typed.items()
    ]


def _countable(edition: Edition) -> list[Card]:
    """Return an unverified deck's cards except safeties (one each)."""
    if edition.counts_verified:
        return []
    return [card for card in edition.deck if card.family is not Family.SAFETY]


def rules_in_force(game: Game) -> dict[str, object]:
    """Return the match's rules: target, house rules, ineffective ones, corrected counts."""
    edition, players = game.edition, sum(len(team.players) for team in game.teams)
    return {
        "title": _(edition.title),
        "about": _(edition.about),
        "target": game.target or edition.target_km[players],
        "house_rules": _switches_of(edition, edition.by_the_sheet),
        "idle": [words.why(why, edition, words.Names({}, {})).say for why in game.idle_rules],
        "counts": [(words.title(card), count) for card, count in game.counts],
    }


def _switches_of(edition: Edition, others: Mapping[str, str]) -> list[tuple[str, str]]:
    turned = [name for name, other in others.items() if edition.switch(name) != other]
    return [(_(switch_title(name)), _(switches()[name][edition.switch(name)])) for name in turned]


def differences(edition: Edition, classic: Edition) -> list[tuple[str, str]]:
    """Return an edition's differences from the classic rules: cards, players, points, switches."""
    plain = [
        (_("Cards"), _cards_differ(edition, classic)),
        (_("Players"), _players_differ(edition, classic)),
        (_("Points"), _points_differ(edition, classic)),
    ]
    turned = _switches_of(edition, {name: classic.switch(name) for name in switches()})
    return [(title, sentence) for title, sentence in plain if sentence] + turned


def _cards_differ(edition: Edition, classic: Edition) -> str:
    counts = {card: edition.deck.get(card, 0) for card in Card}
    others = [(card, count) for card, count in counts.items() if count != classic.deck.get(card, 0)]
    said = [_("%(count)d × %(card)s", count=count, card=words.name(card)) for card, count in others if count]
    said += [_("no %(card)s", card=words.name(card)) for card, count in others if not count]
    return ", ".join(said)


def _players_differ(edition: Edition, classic: Edition) -> str:
    if (edition.seatings, edition.target_km) == (classic.seatings, classic.target_km):
        return ""
    ways: dict[tuple[int, int], list[str]] = {}
    for players, each in edition.seatings:
        ways.setdefault((each, edition.target_km[players]), []).append(str(players))
    pairs, alone = N_("%(players)s in pairs, to %(km)d km"), N_("%(players)s on their own, to %(km)d km")
    said = [_(pairs if each > 1 else alone, players=", ".join(n), km=km) for (each, km), n in ways.items()]
    return " · ".join(said)


def _points_differ(edition: Edition, classic: Edition) -> str:
    if edition.is_race:
        return ""
    said = [
        _("%(what)s: %(points)d", what=_(words.ITEMS[item]), points=getattr(edition.points, field))
        for field, item in POINTS.items()
        if getattr(edition.points, field) != getattr(classic.points, field)
    ]
    return " · ".join(said)


POINTS = {
    "safety": Item.SAFETIES,
    "all_safeties": Item.ALL_SAFETIES,
    "coup_fourre": Item.COUPS_FOURRES,
    "trip_completed": Item.TRIP_COMPLETED,
    "delayed_action": Item.DELAYED_ACTION,
    "safe_trip": Item.SAFE_TRIP,
    "extension": Item.EXTENSION,
    "shut_out": Item.SHUT_OUT,
}
