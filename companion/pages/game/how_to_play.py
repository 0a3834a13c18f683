"""How to play: rules of an edition or this table, single cards, a trial game."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from flask import Blueprint, abort, render_template, request

from companion.common import parsing
from companion.pages import words
from companion.pages.context import editions, state
from companion.pages.game import house_rules, views
from companion.pages.words import N_, Names, _
from companion.rules import referee
from companion.rules.cards import REMEDY_OF, SAFETY_OF, SPECIALS, Card, Family, card_of_slug
from companion.rules.editions.edition import Edition, switches
from companion.rules.moves import laying
from companion.rules.play import Play
from companion.rules.record import judge, notation
from companion.rules.record.judge import Game
from companion.rules.record.notation import RecordLine
from companion.rules.scoring import Item
from companion.rules.set_up_remarks import lacks_in_this_game
from companion.rules.table import Table
from companion.tabletop import translation

bp = Blueprint("how", __name__)

SECTIONS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "goal": (
        N_("The goal"),
        ("match", "overshoot", "extension", "safeties-count-as-distance"),
        ("extension-bonus", "past-target-card", "five-hazards-removed"),
    ),
    "turn": (
        N_("A turn"),
        ("draw", "take-discard"),
        ("discard", "empty-pile", "exchange", "pair-for-discard", "mistake-penalty"),
    ),
    "distance": (N_("Distances"), ("roll-to-start", "two-hundreds"), ("first-card",)),
    "hazard": (N_("Hazards"), ("hazard-on-hazard", "hazard-on-empty-pile", "hazard-on-remedy"), ()),
    "remedy": (
        N_("Remedies"),
        ("roll-after-remedy", "fast-remedy"),
        ("fast-remedy-turn", "roll-on-remedy", "roll-with-right-of-way", "pile-after-remedy"),
    ),
    "safety": (N_("Safeties"), (), ("roll-after-late-safety", "pile-after-safety", "discard-safety")),
    "coup-fourre": (N_("Coup fourré"), ("coup-fourre-window", "coup-fourre-turn"), ()),
    "special": (N_("Specials"), (), ("limit-on-doubled", "u-turn-on-winning-card")),
    "points": (N_("Points"), (), ("shut-out",)),
}
"""Heading, main switches and fine points, by section."""

USUAL = {
    Family.DISTANCE: N_("Play these on your own side while your car can drive. They add up."),
    Family.HAZARD: N_("Play on an opponent: their car stops until they fix it."),
    Family.REMEDY: N_("Play on your own side: it fixes the matching hazard."),
    Family.SAFETY: N_("Play on your own side: you are immune to the matching hazards and take another turn."),
}
"""Effect of a card, by family."""

_OWN = {
    Card.SPEED_LIMIT: N_("Play on an opponent: they can drive at most 50 at a time."),
    Card.ROLL: N_("It starts the car."),
    Card.RIGHT_OF_WAY: N_("You no longer need %(roll)s cards."),
}
"""Additional effects of single cards."""


@bp.get("/how")
def show() -> str:
    """Show the rules of this table."""
    game = state().game
    return _page(game.edition, game.table)


@bp.get("/how/<name>")
def one(name: str) -> str:
    """Show the rules of an edition's sheet."""
    return _page(next((edition for edition in editions() if edition.name == name), None) or abort(404))


@bp.get("/how/card/<slug>")
def card(slug: str) -> str:
    """Show what a card does at this table."""
    face, edition = card_of_slug(slug), state().game.edition
    if face is None or face is Card.UNKNOWN:
        abort(404)
    return render_template("how_card.html", one=_card(face, edition))


def _page(edition: Edition, table: Table | None = None) -> str:
    """Return an edition's rules; with `table`, only those in effect there."""
    translation.speak_of(edition.name)
    targets = [table.target] if table else set(edition.target_km.values())
    target = _(" or ").join(map(str, sorted(targets)))
    worth = {item: getattr(edition.points, field) for field, item in house_rules.POINTS.items()}
    idle = _idle(table) if table else set()
    if "extension" in idle or edition.extension == "no":
        del worth[Item.EXTENSION]
    return render_template(
        "how.html",
        edition=edition,
        editions=editions(),
        target=translation.in_edition(f"{target} km"),
        sections={
            key: {
                "title": _(title),
                "told": _said(told, edition, idle),
                "fine": _said(fine, edition, idle),
                "cards": [_card(card, edition) for card in edition.deck if card.family.value == key],
            }
            for key, (title, told, fine) in SECTIONS.items()
        },
        usual=USUAL,
        # Scoring items; empty if only distance counts.
        points=[]
        if edition.is_race
        else [
            (_(words.ITEMS[item]), words.item_note(item, edition), points) for item, points in worth.items() if points
        ],
    )


def _idle(table: Table) -> set[str]:
    """Return the switches without effect for a table's players and target."""
    players, sides = len(table.seats), len(table.sides)
    return {name for name in switches() if lacks_in_this_game(name, players, sides, table.target)}


def _said(names: Iterable[str], edition: Edition, idle: Set[str]) -> list[tuple[str, bool]]:
    """Return the sentences of effective switches, and whether each is a house rule."""
    turned = dict(edition.house_rules)
    return [
        (_(switches()[name][edition.switch(name)]), name in turned)
        for name in names
        if name not in idle and (name in turned or not edition.means_nothing(name))
    ]


def _card(face: Card, edition: Edition) -> dict[str, object]:
    """Return a card's effect, and the cards it counters or is countered by."""
    needs_roll = edition.roll_to_start == "needed" or face is Card.SPEED_LIMIT
    return {
        "card": face,
        "title": words.title(face),
        "count": edition.deck.get(face, 0),
        "usual": _(USUAL[face.family]) if face.family in USUAL and face is not Card.SPEED_LIMIT else "",
        "own": _(SPECIALS[face]) if face in SPECIALS else _(_OWN[face]) if face in _OWN and needs_roll else "",
        "answered_by": [card for card in (REMEDY_OF.get(face), SAFETY_OF.get(face)) if card],
        "answers": [face_of for face_of in edition.deck if face in (REMEDY_OF.get(face_of), SAFETY_OF.get(face_of))],
    }


# Trial game, judged by the referee; it changes no match

YOU, OTHER = "Ann", "Bob"
BEGINS = (f"side {YOU}", f"side {OTHER}", f"hand first {YOU}")
FIRST_HAND = (Card.ROLL, Card.KM_100, Card.GASOLINE, Card.STOP, Card.PUNCTURE_PROOF, Card.KM_25)


@dataclass(frozen=True, slots=True)
class TrialStep:
    """A learner's play: card drawn before it, instruction, opponent's reply."""

    play: str
    say: str
    draws: Card | None = None
    reply: str = ""


STEPS = (
    TrialStep("Ann roll", N_("Your car has not started yet: tap %(card)s."), Card.KM_200, "Bob roll"),
    TrialStep("Ann 100", N_("Now drive. %(card)s is a good start: tap it."), Card.ROLL, "Bob out-of-gas > Ann"),
    TrialStep(
        "Ann gasoline",
        N_("Your tank is empty, so your car is stopped. Fix it: tap %(card)s."),
        Card.END_OF_LIMIT,
        "Bob 75",
    ),
    TrialStep(
        "Ann roll",
        N_("By the classic rules, a remedy alone does not start your car again: tap %(card)s."),
        Card.KM_50,
        "Bob 100",
    ),
    TrialStep(
        "Ann stop > Bob",
        N_("Bob is getting away. Attack: tap %(card)s to stop his car."),
        Card.ACCIDENT,
        "Bob flat-tire > Ann",
    ),
    TrialStep(
        "Ann puncture-proof !",
        N_("Bob attacks you, and you hold the safety against it. Quick, before the next card is drawn: tap %(card)s."),
    ),
)


@bp.get("/try")
def try_it() -> str:
    """Show a step of the trial game, or why another card is needed."""
    number = parsing.whole(request.args.get("step", ""), 0, len(STEPS)) or 0
    tapped = card_of_slug(request.args.get("card", ""))
    if number < len(STEPS) and tapped is _play(STEPS[number].play).card:
        number, tapped = number + 1, None
    game, hand = _played(number), _hand(number)
    names, wanted = Names.of(game), _play(STEPS[number].play).card if number < len(STEPS) else None
    translation.speak_of(game.edition_name)
    return render_template(
        "try.html",
        number=number,
        steps=len(STEPS),
        say=_(STEPS[number].say, card=words.title(wanted)) if wanted else "",
        answer=_answer(game, tapped, wanted) if tapped in hand and wanted else None,
        before=words.play_say(_play(STEPS[number - 1].reply), names) if number and wanted else "",
        edition=game.edition,
        sides=views.side_views(game, YOU),
        hand=hand,
        wanted=wanted,
        you=YOU,
    )


def _play(text: str) -> Play:
    return notation.parse_play(text, _played(0).teams)


def _played(steps: int) -> Game:
    game = judge.NEW_GAME
    plays = (text for step in STEPS[:steps] for text in (step.play, step.reply) if text)
    for text in (*BEGINS, *plays):
        game = judge.step(game, RecordLine(0, text))[0]
    return game


def _hand(steps: int) -> list[Card]:
    drawn = (step.draws for step in STEPS[: steps + 1] if step.draws)
    hand = [*FIRST_HAND, *drawn]
    for step in STEPS[:steps]:
        hand.remove(_play(step.play).card or Card.UNKNOWN)
    return hand


def _answer(game: Game, tapped: Card | None, wanted: Card) -> dict[str, object] | None:
    table = game.table
    if table is None or tapped is None:
        return None
    plays = [play for play in laying(table, YOU, tapped) if play.target != YOU]
    against = referee.objections(table, plays[0])
    return {
        "say": _(
            "%(card)s is allowed too, but for this lesson tap %(wanted)s.",
            card=words.title(tapped),
            wanted=words.title(wanted),
        ),
        "whys": words.whys(against, game.edition, Names.of(game)),
    }
