"""A trial game of two minutes: prepared plays that the learner taps, judged by the referee. No match is touched."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, render_template, request

from companion.common import parsing
from companion.pages import language, words
from companion.pages.game import views
from companion.pages.words import N_, Names, _
from companion.rules import referee
from companion.rules.cards import Card, card_of_slug
from companion.rules.moves import laying
from companion.rules.play import Play
from companion.rules.record import judge, notation
from companion.rules.record.judge import Game
from companion.rules.record.notation import Line

bp = Blueprint("trial", __name__)

YOU, OTHER = "Ann", "Bob"
BEGINS = (f"side {YOU}", f"side {OTHER}", f"hand first {YOU}")
FIRST_HAND = (Card.ROLL, Card.KM_100, Card.GASOLINE, Card.STOP, Card.PUNCTURE_PROOF, Card.KM_25)


@dataclass(frozen=True, slots=True)
class Step:
    """A play of the learner's: what is drawn before it, what is said, and what the other one plays then."""

    play: str
    say: str
    draws: Card | None = None
    reply: str = ""


STEPS = (
    Step("Ann roll", N_("Your car stands. A green light starts it: tap %(card)s."), Card.KM_200, "Bob roll"),
    Step("Ann 100", N_("Now drive. %(card)s is a fine beginning: tap it."), Card.ROLL, "Bob out-of-gas > Ann"),
    Step(
        "Ann gasoline",
        N_("Your tank is empty, and the car stands until that is remedied: tap %(card)s."),
        Card.END_OF_LIMIT,
        "Bob 75",
    ),
    Step(
        "Ann roll", N_("By the classic rules a remedied car needs a roll again: tap %(card)s."), Card.KM_50, "Bob 100"
    ),
    Step(
        "Ann stop > Bob",
        N_("Bob is getting away. Now you attack: tap %(card)s, and his car stands."),
        Card.ACCIDENT,
        "Bob flat-tire > Ann",
    ),
    Step(
        "Ann puncture-proof !",
        N_("He attacks you – and you hold the very safety against it. Quick, before anybody draws: tap %(card)s."),
    ),
)


@bp.get("/try")
def show() -> str:
    """Show a step of the trial game; with the card that was tapped the next one, or why it is not that card."""
    number = parsing.whole(request.args.get("step", ""), 0, len(STEPS)) or 0
    tapped = card_of_slug(request.args.get("card", ""))
    if number < len(STEPS) and tapped is _play(STEPS[number].play).card:
        number, tapped = number + 1, None
    game, hand = _played(number), _hand(number)
    names, wanted = Names.of(game), _play(STEPS[number].play).card if number < len(STEPS) else None
    language.speak_of(game.edition_name)
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
    """Return the game after so many plays of the learner's."""
    game = judge.NEW_GAME
    plays = (text for step in STEPS[:steps] for text in (step.play, step.reply) if text)
    for text in (*BEGINS, *plays):
        game = judge.step(game, Line(0, text))[0]
    return game


def _hand(steps: int) -> list[Card]:
    """Return the learner's cards after so many plays, the one for the turn drawn."""
    drawn = (step.draws for step in STEPS[: steps + 1] if step.draws)
    hand = [*FIRST_HAND, *drawn]
    for step in STEPS[:steps]:
        hand.remove(_play(step.play).card or Card.UNKNOWN)
    return hand


def _answer(game: Game, tapped: Card | None, wanted: Card) -> dict[str, object] | None:
    """Return what is said of another card than the one that the lesson is about."""
    table = game.table
    if table is None or tapped is None:
        return None
    plays = [play for play in laying(table, YOU, tapped) if play.target != YOU]
    against = referee.objections(table, plays[0])
    return {
        "say": _(
            "%(card)s would be allowed too. For the lesson tap %(wanted)s.",
            card=words.title(tapped),
            wanted=words.title(wanted),
        ),
        "whys": [words.why(one, game.edition, Names.of(game)) for one in against],
    }
