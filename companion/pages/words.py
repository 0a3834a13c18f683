"""What the pages say about plays: every sentence that is put together from names and cards.

`_` marks a text for translation; the templates mark theirs the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from companion.rules import reasons, referee
from companion.rules.cards import HAZARD_OF, REMEDY_OF, SAFETY_OF, Card, Family, card_name
from companion.rules.edition import Edition
from companion.rules.judge import Game
from companion.rules.play import Play, Verb
from companion.rules.reasons import Reason
from companion.rules.scoring import Item
from companion.rules.table import Side


def _(text: str, **values: object) -> str:
    """A text in the language of the page, with its values put in."""
    return text % values if values else text


@dataclass(frozen=True, slots=True)
class Names:
    """How players and sides are called on the pages."""

    shown: Mapping[str, str]
    sides: Mapping[str, tuple[str, ...]]
    """The players of each side."""

    @classmethod
    def of(cls, game: Game) -> Names:
        return cls(game.shown, {team.name: team.players for team in game.teams})

    def player(self, name: str | None) -> str:
        """A player's name as he typed it."""
        return self.shown.get(name or "", name or "")

    def side(self, name: str | None) -> str:
        """A side's name: its own where it has one, else its players'."""
        players = self.sides.get(name or "", ())
        if len(players) < 2:
            return self.player(players[0] if players else name)
        joined = "-".join(players)
        return " & ".join(map(self.player, players)) if name == joined else self.player(name)

    def anyone(self, name: str) -> str:
        """The name of a side or a player."""
        return self.side(name) if name in self.sides else self.player(name)


def title(card: Card | None) -> str:
    """A card's name as a heading: `End of limit`, `75 km`."""
    if card is None:
        return ""
    name = card_name(card)
    return name[:1].upper() + name[1:]


_COUNTED = {
    Card.ROLL: "a roll",
    Card.SPARE_TIRE: "a spare tire",
    Card.END_OF_LIMIT: "an end of limit",
    Card.DRIVING_ACE: "the driving ace",
    Card.EXTRA_TANK: "the extra tank",
}


def a(card: Card) -> str:
    """A card as one needs it: `a roll`, `gasoline`."""
    return _(_COUNTED.get(card, card_name(card)))


def play_say(play: Play, names: Names) -> str:
    """A play as a plain sentence."""
    who = names.player(play.player)
    if play.verb is Verb.PLAY and play.card is not None:
        return _card_say(play, play.card, who, names)
    if play.verb is Verb.DISCARD:
        return _("%(who)s discards %(card)s.", who=who, card=card_name(play.card or Card.UNKNOWN))
    return _(_VERBS[play.verb], who=who) if play.player else _(_VERBS[play.verb])


def _card_say(play: Play, card: Card, who: str, names: Names) -> str:
    if play.at_once:
        return _("Coup fourré! %(who)s answers with %(card)s.", who=who, card=card_name(card))
    if play.target:
        whom = names.side(play.target)
        return _("%(card)s on %(whom)s, from %(who)s.", card=title(card), whom=whom, who=who)
    pattern = _ROLLS if card is Card.ROLL else _FAMILIES.get(card.family, _LAYS)
    return _(pattern, who=who, card=card_name(card))


_ROLLS = "%(who)s rolls."
_LAYS = "%(who)s lays %(card)s."
_FAMILIES = {Family.DISTANCE: "%(who)s drives %(card)s."}
_VERBS = {
    Verb.TAKE: "%(who)s takes the top of the discard pile.",
    Verb.SKIP_DRAW: "%(who)s forgot to draw.",
    Verb.EXTEND: "%(who)s calls the extension: on to 1000 km.",
    Verb.FINISH: "%(who)s stops at the target.",
    Verb.EXHAUSTED: "The draw pile is used up.",
    Verb.END: "The hand ends here.",
}


def needs(side: Side) -> str | None:
    """What gets a stopped side going again: "A roll or right of way is needed"."""
    if side.hazard is None:
        return None
    remedy, safety = a(REMEDY_OF[side.hazard]), a(SAFETY_OF[side.hazard])
    return _("%(remedy)s or %(safety)s is needed.", remedy=remedy[:1].upper() + remedy[1:], safety=safety)


def car(edition: Edition, side: Side) -> str:
    """How the car stands, in a word or two."""
    if side.hazard is not None:
        return _("Stopped") if side.hazard is Card.STOP else title(side.hazard)
    if referee.is_driving(edition, side):
        return _("Rolling")
    return _("Needs a roll") if side.battle_top else _("Not started")


@dataclass(frozen=True, slots=True)
class Why:
    """A reason as the page shows it."""

    say: str
    rule: str
    instead: str | None


def why(reason: Reason, edition: Edition, names: Names) -> Why:
    """A reason with the names as they are shown, the rule it comes from, and the way out."""
    people = {"player", "turn", "side", "asker"}
    details = tuple((key, names.anyone(value) if key in people else value) for key, value in reason.details)
    shown = Reason(reason.code, details)
    instead = reasons.instead(shown)
    return Why(curly(reasons.say(shown)), reasons.rule(shown, edition), curly(instead) if instead else None)


def curly(text: str) -> str:
    """A sentence with the apostrophes of the pages."""
    return text.replace("'", "’")


ITEMS = {
    Item.DISTANCE: "Distance",
    Item.SAFETIES: "Safeties",
    Item.ALL_SAFETIES: "All four safeties",
    Item.COUPS_FOURRES: "Coups fourrés",
    Item.TRIP_COMPLETED: "Trip completed",
    Item.DELAYED_ACTION: "Delayed action",
    Item.SAFE_TRIP: "Safe trip",
    Item.EXTENSION: "Extension",
    Item.SHUT_OUT: "Shut-out",
}
"""The lines of the score sheet."""

ITEM_NOTES = {
    Item.DISTANCE: "a point a kilometre",
    Item.SAFETIES: "100 each",
    Item.ALL_SAFETIES: "on top",
    Item.COUPS_FOURRES: "300 each, on top",
    Item.TRIP_COMPLETED: "the target reached",
    Item.DELAYED_ACTION: "with the draw pile used up",
    Item.SAFE_TRIP: "no 200 laid",
    Item.EXTENSION: "completed after the call",
    Item.SHUT_OUT: "an opponent without distance",
}
"""What each line is for, in a few words."""

FAMILY_TITLES = {
    Family.DISTANCE: "Distances",
    Family.HAZARD: "Hazards",
    Family.REMEDY: "Remedies",
    Family.SAFETY: "Safeties",
    Family.SPECIAL: "Specials",
}


def answers(hazard: Card) -> Card:
    """The safety that answers a hazard at once."""
    return SAFETY_OF[hazard]


def heals(card: Card) -> Card | None:
    """The hazard that a remedy answers."""
    return HAZARD_OF.get(card)
