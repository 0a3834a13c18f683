"""Sentences about plays, cards, sides and zones, in the page's language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from companion.common.text import Said, Term
from companion.match.history import CAMERA
from companion.rules import reasons, referee
from companion.rules.card_names import card_name
from companion.rules.cards import REMEDY_OF, SAFETY_OF, Card, Family
from companion.rules.editions.edition import Edition, load_edition
from companion.rules.editions.switches import switch_title, switches
from companion.rules.play import Play, Verb
from companion.rules.reasons import Reason
from companion.rules.record import notation
from companion.rules.record.judge import Game
from companion.rules.scoring import Item, safety_points
from companion.rules.table import HowEnded, Side
from companion.tabletop import translation
from companion.tabletop.mat_layout import ROBOT, TABLE, kind_of, mat_of


def _(text: str, **values: object) -> str:
    """Translate a text and insert its values."""
    return translation.with_values(translation.worded(text), values)


def many(one: str, several: str, count: int, **values: object) -> str:
    """Translate the form of a text for `count`, and insert the values."""
    return translation.with_values(translation.translate_many(one, several, count), {"count": count, **values})


def said(text: str) -> str:
    """Translate a `Said` text; return typed text unchanged."""
    return translation.translate(text) if isinstance(text, Said) else text


def N_(text: str) -> str:  # noqa: N802 - the usual name of this mark
    """Mark a text for translation; return it unchanged."""
    return text


class ShownSide(str):
    """A displayed side, and the number of `players` named in it: 2 for `Ann & Bob`."""

    __slots__ = ("players",)

    players: int

    def __new__(cls, text: str, players: int) -> ShownSide:
        self = super().__new__(cls, text)
        self.players = players
        return self


@dataclass(frozen=True, slots=True)
class Names:
    """Displayed names of players and sides; an unknown name stays as it is."""

    shown: Mapping[str, str]
    sides: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, game: Game) -> Names:
        return cls(game.shown, {team.name: team.players for team in game.teams})

    def player(self, name: str | None) -> str:
        """Return a player's name as typed."""
        return self.shown.get(name or "", name or "")

    def side(self, name: str | None) -> ShownSide:
        """Return a side's own name, or its players' names joined by `&`."""
        players = self.sides.get(name or "", ())
        if len(players) < 2:
            return ShownSide(self.player(players[0] if players else name), 1)
        if name != "-".join(players):
            return ShownSide(self.player(name), 1)
        return ShownSide(" & ".join(map(self.player, players)), len(players))

    def number(self, name: str | None) -> int:
        """Return the number of a side or of a player's side, from 1; 0 if unknown."""
        sides = enumerate(self.sides.items(), start=1)
        return next((number for number, (side, players) in sides if name == side or name in players), 0)

    def is_player(self, name: str | None) -> bool:
        return any(name in players for players in self.sides.values())

    def anyone(self, name: str) -> str:
        return self.side(name) if name in self.sides else self.player(name)


def doer(by: str, names: Names) -> str:
    """Return who made a change: a player's name, the camera or a player."""
    if names.is_player(by):
        return names.player(by)
    return _("the camera") if by == CAMERA else _("a player")


def name(card: Card | None) -> str:
    """Return a card's printed name: `End of Limit`, `75 km`, `U-Turn`."""
    return card_name(card or Card.UNKNOWN, translation.spoken(), translation.printed_in())


def title(card: Card | None) -> str:
    """Return a card's name as a heading; empty for None."""
    return capital(name(card)) if card is not None else ""


def capital(text: str) -> str:
    """Capitalize the first letter."""
    return text[:1].upper() + text[1:]


def doubled(card: Card | None, times: int) -> str:
    """Return a card with its accelerator: `100 km ×2`."""
    return _("%(card)s ×%(times)d", card=title(card), times=times) if times > 1 else title(card)


def play_say(play: Play, names: Names) -> str:
    """Return a play as a sentence."""
    said: dict[str, object] = {
        "who": names.player(play.player),
        "card": name(play.card),
        "title": title(play.card),
        "whom": names.anyone(play.target or ""),
        "wanted": name(play.wanted),
        "cards": ", ".join(map(name, play.cards)),
    }
    if play.verb is Verb.PLAY and play.card is not None:
        return _card_say(play, play.card, said)
    if play.times > 1:
        said["card"] = _("%(card)s with %(accelerator)s", card=name(play.card))
    pattern = _AIMLESS.get(play.verb) if play.target is None else None
    return _(pattern or _VERBS[play.verb], **said)


def _card_say(play: Play, card: Card, said: dict[str, object]) -> str:
    if play.at_once:
        return _(_AT_ONCE.get(card) or _AT_ONCE.get(card.family, _ANSWERS), **said)
    if play.target:
        stops, attacks = N_("%(who)s stops %(whom)s."), N_("%(who)s attacks %(whom)s: %(card)s.")
        return _(stops if card is Card.STOP else attacks, **said)
    if play.times > 1:
        return _("%(who)s drives %(card)s with %(accelerator)s: %(km)d km.", km=card.km * play.times, **said)
    return _(_IN_TURN.get(card) or _IN_TURN.get(card.family, _LAYS), **said)


_LAYS = N_("%(who)s plays %(card)s.")
_ANSWERS = N_("%(who)s counters at once with %(card)s.")
_IN_TURN: Mapping[Card | Family, str] = {
    Family.DISTANCE: N_("%(who)s drives %(card)s."),
}
_AT_ONCE: Mapping[Card | Family, str] = {
    Card.MIRROR: N_("%(card)s! %(who)s sends the attack back."),
    Card.U_TURN: N_("%(card)s! %(who)s sends the last distance card back."),
    Family.SAFETY: N_("Coup fourré! %(who)s counters with %(card)s."),
}
_VERBS = {
    Verb.DISCARD: N_("%(who)s discards %(card)s."),
    Verb.EXCHANGE: N_("%(who)s exchanges %(cards)s for new cards."),
    Verb.PAIR: N_("%(who)s discards %(card)s twice and takes %(wanted)s from the discard pile."),
    Verb.THEFT: N_("%(who)s steals %(card)s from %(whom)s."),
    Verb.CONTROL: N_("%(who)s demands %(card)s from %(whom)s."),
    Verb.NAME: N_("%(who)s demands %(card)s from %(whom)s instead."),
    Verb.GIVE: N_("%(who)s hands %(card)s to %(whom)s."),
    Verb.PENALTY: N_("A mistake costs %(who)s a card: %(card)s."),
    Verb.PASS: N_("%(who)s passes."),
    Verb.TAKE: N_("%(who)s takes the top of the discard pile."),
    Verb.SKIP_DRAW: N_("%(who)s forgot to draw."),
    Verb.EXTEND: N_("%(who)s calls the extension: on to 1000 km."),
    Verb.FINISH: N_("%(who)s stops at the target."),
    Verb.EXHAUSTED: N_("The draw pile is empty."),
    Verb.END: N_("Ended here by agreement."),
}
_AIMLESS = {
    Verb.THEFT: N_("%(who)s steals %(card)s."),
    Verb.CONTROL: N_("%(who)s demands %(card)s."),
    Verb.NAME: N_("%(who)s demands %(card)s instead."),
    Verb.GIVE: N_("%(who)s hands %(card)s over."),
}
"""Sentences for plays without a target."""


_ZONES = {
    "battle": (N_("battle pile"), N_("the battle pile"), N_("%(who)s’s battle pile")),
    "speed": (N_("speed pile"), N_("the speed pile"), N_("%(who)s’s speed pile")),
    "distance": (N_("distance area"), N_("the distance area"), N_("%(who)s’s distance area")),
    "safety": (N_("safety area"), N_("the safety area"), N_("%(who)s’s safety area")),
    "draw": (N_("draw pile"), N_("the draw pile"), ""),
    "discard": (N_("discard pile"), N_("the discard pile"), ""),
}
"""Names of zones: heading, in a sentence, with a side."""

_LAID_IN = {
    "battle": N_("A card was played on %(who)s’s battle pile."),
    "speed": N_("A card was played on %(who)s’s speed pile."),
    "distance": N_("A card was played in %(who)s’s distance area."),
    "safety": N_("A card was played in %(who)s’s safety area."),
    "discard": N_("A card was put on the discard pile."),
}


def laid_in(zone: str, side: str | None) -> str:
    """Return the sentence about an unidentified card in a zone of `side`'s mat."""
    kind = kind_of(zone)
    pattern = _LAID_IN.get(kind) if side is not None or kind == "discard" else None
    return _(pattern or N_("A card was played."), who=side)


ZONES = {kind: said[0] for kind, said in _ZONES.items()}


def zone_in_sentence(zone: str, side: str | None) -> str:
    """Return a zone within a sentence: `Ann’s battle pile`, `the discard pile`."""
    mat, _slash, kind = zone.partition("/")
    if kind not in _ZONES:
        return _("slot %(number)s of the robot’s mat", number=kind) if mat == ROBOT else zone
    _alone, plain, whose = _ZONES[kind]
    return _(whose if side is not None and whose else plain, who=side)


def speak_of(game: Game, mats: Mapping[str, str]) -> None:
    """Set how this request names cards, zones, mats and players; `mats` maps mats to sides."""

    def called(term: Term) -> str | None:
        if term.kind == "player":
            return Names.of(game).player(term.key)
        side = side_at(term.key, Names.of(game), mats)
        if term.kind == "zone":
            # an unused mat has no side during a match
            return zone_in_sentence(term.key, side if not mats or mat_of(term.key) in mats else None)
        if term.kind == "mat":
            return _("%(who)s’s mat", who=side) if side else _("the mat in the middle of the table")
        return (side or _("the middle of the table")) if term.kind == "side" else None

    translation.speak_of(game.edition_name, called)


def printed_by(edition: str) -> AbstractContextManager[None]:
    """Use another edition's unit and card names inside the context."""
    return translation.speaking(translation.spoken(), edition)


def side_at(place: str, names: Names, mats: Mapping[str, str]) -> str | None:
    """Return a mat's or zone's side, else `Side 2`; None for the middle mat."""
    mat = mat_of(place)
    if mat == TABLE:
        return None
    if mat == ROBOT:
        return _("The robot’s hand")
    side = mats.get(mat)
    return names.side(side) if side else _("Side %(number)s", number=mat.removeprefix("side-"))


def zone_name(zone: str, side: str | None) -> str:
    """Return a zone as a heading: `Ann: battle pile`, `Discard pile`."""
    kind = kind_of(zone)
    said = _(ZONES.get(kind, kind))
    return _("%(who)s: %(zone)s", who=side, zone=said) if side else capital(said)


_SIGNS = {Verb.THEFT: Card.THEFT, Verb.CONTROL: Card.CONTROL, Verb.NAME: Card.CONTROL}


def sign_of(play: Play) -> Card | None:
    """Return the card shown beside a play: a special card, else the wanted, played or first exchanged one."""
    return _SIGNS.get(play.verb) or play.wanted or play.card or next(iter(play.cards), None)


def needs(side: Side, who: str = "") -> str | None:
    """Return what a stopped side needs, addressing it unless `who` names it; None if not stopped."""
    if side.hazard is None:
        return None
    pattern = N_("%(who)s needs %(remedy)s or %(safety)s.") if who else N_("You need %(remedy)s or %(safety)s.")
    return _(pattern, who=who, remedy=name(REMEDY_OF[side.hazard]), safety=name(SAFETY_OF[side.hazard]))


def lay_now(card: Card) -> str:
    """Return the offer to play or keep a card just received."""
    return _("Play %(card)s now, or keep it", card=name(card))


def car(edition: Edition, side: Side) -> str:
    """Return a car's state: its hazard, `Rolling`, `Needs Roll` or `Not started`."""
    if side.hazard is not None:
        return _("Stopped") if side.hazard is Card.STOP else title(side.hazard)
    if referee.is_driving(edition, side):
        return _("Rolling")
    return _("Needs %(roll)s") if side.battle_top else _("Not started")


@dataclass(frozen=True, slots=True)
class Why:
    """A referee's reason, for display."""

    code: str  # stable, for scripts
    say: str
    rule: str
    instead: str | None

    @property
    def at(self) -> str:
        """Anchor of the section in *How to play*."""
        section = reasons.catalogue().get(self.code, {}).get("section", "")
        return _TOLD_AT.get(section, "turn")


_TOLD_AT = {
    "Coup fourré": "coup-fourre",
    "Distance cards": "distance",
    "Extension": "goal",
    "Hazards": "hazard",
    "Playing hazards": "hazard",
    "Remedies": "remedy",
    "Safeties": "safety",
    "Specials": "special",
    "Starting to drive": "distance",
}
"""Anchors in *How to play*, by section of the rule sheet."""


def why(reason: Reason, edition: Edition, names: Names) -> Why:
    """Return a reason with displayed names, rule and alternative."""
    people = dict.fromkeys(("player", "turn", "side", "asker"), names.anyone)
    called: dict[str, Callable[[str], str]] = {**people, "rule": _house_rule, "needs": _needed}
    details = tuple((key, called[key](value) if key in called else value) for key, value in reason.details)
    shown = Reason(reason.code, details)
    here, printed = translation.spoken(), translation.printed_in()
    instead = reasons.instead(shown, here, printed)
    say, rule = curly(reasons.say(shown, here, printed)), curly(reasons.rule(shown, edition, here))
    return Why(reason.code.value, say, rule, curly(instead) if instead else None)


def _house_rule(written: str) -> str:
    return f"`{_(switch_title(written.partition('=')[0]))}`"


def _needed(written: str) -> str:
    """Return what a house rule requires: another rule's meaning, or a target."""
    switch, _equals, value = written.partition("=")
    if not value:
        return _("a target of %(km)d km", km=int(written.split()[-1]))
    return f"`{_(switches()[switch][value]).rstrip('.')}`"


def whys(reasons_against: Iterable[Reason], edition: Edition, names: Names) -> list[Why]:
    """Return all reasons against a play.

    Only the first has an alternative: others would still break its rule.
    """
    every = [why(reason, edition, names) for reason in reasons_against]
    return [*every[:1], *(replace(one, instead=None) for one in every[1:])]


_QUOTES = {"pl": "„”", "de": "„“", "es": "«»", "it": "«»", "fr": ("«\u00a0", "\u00a0»")}
"""Quotation marks by language, where not English."""


def curly(text: str) -> str:
    """Translate a sentence, with typographic apostrophes and quotation marks."""
    quoted = r"\1".join(_QUOTES.get(translation.spoken(), "“”"))
    return re.sub(r"`([^`]*)`", quoted, re.sub(r"(?<!\w)'(\w[^' ]*)'", quoted, said(text))).replace("'", "’")


ITEMS = {
    Item.DISTANCE: N_("Distance"),
    Item.SAFETIES: N_("Safeties"),
    Item.ALL_SAFETIES: N_("All four safeties"),
    Item.COUPS_FOURRES: N_("Coups fourrés"),
    Item.TRIP_COMPLETED: N_("Trip completed"),
    Item.DELAYED_ACTION: N_("Delayed action"),
    Item.SAFE_TRIP: N_("Safe trip"),
    Item.EXTENSION: N_("Extension"),
    Item.SHUT_OUT: N_("Shut-out"),
}


def item_note(item: Item, edition: Edition) -> str:
    """Return the note beside a line of the score sheet."""
    safety, coup_fourre = safety_points(edition)
    if item is Item.DISTANCE:
        return _("what the cards show") if edition.is_race else _("1 point per kilometer")
    if item is Item.SAFETIES:
        return _("%(points)d each", points=safety)
    if item is Item.COUPS_FOURRES:
        return _("%(points)d extra each", points=coup_fourre)
    return _(_ITEM_NOTES[item])


_ITEM_NOTES = {
    Item.ALL_SAFETIES: N_("extra"),
    Item.TRIP_COMPLETED: N_("reached the target"),
    Item.DELAYED_ACTION: N_("the draw pile was empty"),
    Item.SAFE_TRIP: N_("no 200 played"),
    Item.EXTENSION: N_("completed after calling it"),
    Item.SHUT_OUT: N_("an opponent played no distance cards"),
}


def won(winner: str, edition: Edition) -> str:
    """Return the announcement of a match's or race's winner."""
    return race_won(winner) if edition.is_race else match_won(winner)


def match_won(winner: str) -> str:
    """Return `Ann wins the match!`."""
    return many("%(who)s wins the match!", "%(who)s win the match!", players_in(winner), who=winner)


def race_won(winner: str) -> str:
    """Return `Ann wins the race!`."""
    return many("%(who)s wins the race!", "%(who)s win the race!", players_in(winner), who=winner)


def players_in(side: str) -> int:
    """Return the number of players that a displayed side names: 2 for `Ann & Bob`, 1 for its own name.

    In names typed for a photographed hand, `&` separates players.
    """
    return side.players if isinstance(side, ShownSide) else side.count(" & ") + 1


def offered(lines: Sequence[str]) -> str:
    """Return the question whether to start the match whose record begins with `lines`."""
    headers = list(notation.headers(lines))
    teams = [header.team for header in headers if isinstance(header, notation.SideLine)]
    sides = [t.name if t.players == (t.name,) else f"{t.name} ({', '.join(t.players)})" for t in teams]
    edition = next(load_edition(header.name) for header in headers if isinstance(header, notation.EditionLine))
    say = N_("The companion was started with another match: %(who)s (%(edition)s). Start it?")
    return _(say, who=", ".join(sides), edition=_(edition.title))


def hand_title(edition: Edition, number: int) -> str:
    """Return `Hand 2`, or `Race 2` in a race edition."""
    return _("Race %(number)d", number=number) if edition.is_race else _("Hand %(number)d", number=number)


def hand_is_over(edition: Edition) -> str:
    """Return the message that the hand or race is over."""
    return _("The race is over") if edition.is_race else _("The hand is over")


def how_ended(edition: Edition, how: HowEnded) -> str:
    """Return how a hand ended that no side completed."""
    if how is not HowEnded.EXHAUSTED:
        return _("ended by agreement")
    return _("the draw pile was empty") if edition.empty_pile == "ends" else _("all cards were played")


ROBOT_LEVELS = ((1, N_("robot, easy")), (2, N_("robot, good")), (3, N_("robot, best")))
FAMILY_TITLES = {
    Family.DISTANCE: N_("Distances"),
    Family.HAZARD: N_("Hazards"),
    Family.REMEDY: N_("Remedies"),
    Family.SAFETY: N_("Safeties"),
    Family.SPECIAL: N_("Specials"),
}
