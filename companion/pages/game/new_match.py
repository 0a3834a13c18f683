"""Setting up a match on a phone: edition, how many play, names, target, who begins."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from companion.common import parsing
from companion.common.errors import Problem
from companion.match.match import MatchState, Policy
from companion.pages.context import has_camera, match, once, state
from companion.pages.game import house_rules
from companion.pages.players import phone_identity, seats
from companion.pages.players.names import check_names, clean, known_names, record_names
from companion.pages.words import Names, _
from companion.rules import referee
from companion.rules.editions.edition import Edition, EditionError, edition_names, load_edition
from companion.rules.editions.edition_file import FIRST_PLAYERS, LEAST_TARGET_KM, TARGET_STEP_KM
from companion.rules.record import notation
from companion.rules.table import Team

bp = Blueprint("setting_up", __name__)

CLASSIC = "classic"
"""The edition that the others are told by."""

WITH_A_DEALER = "left-of-the-dealer"
MOST_PLAYERS = 8
MOST_TARGET_KM = 5000
USUAL_TARGETS_KM = (700, 1000)


@dataclass(frozen=True, slots=True)
class Seating:
    """A way to play that an edition allows."""

    value: str
    players: int
    in_pairs: bool
    target: int


@bp.get("/setup")
def show() -> str:
    """The form; a new match is like the last one until somebody chooses otherwise."""
    return _form(request.args or _like_the_last(state()))


def _like_the_last(now: MatchState) -> MultiDict[str, str]:
    """The last match as it would be chosen in the form; empty before the first."""
    game, names = now.game, _names_before(now)
    if now.match is None or not game.teams:
        return MultiDict()
    fields = {"edition": game.edition_name, "seating": f"{len(names)}x{len(game.teams[0].players)}"}
    fields |= {f"name{seat}": name for seat, name in enumerate(names, start=1)}
    fields |= {"target": str(game.target)} if game.target else {}
    fields |= {"verify": "yes"} if now.other_side_verifies else {}
    return MultiDict(fields | house_rules.as_chosen(game.options, game.counts))


def _form(chosen: MultiDict[str, str], sentence: str = "", *, ask: bool = False) -> str:
    """The form with what was chosen in it; a sentence of what is wrong with it, or the question before it starts."""
    now = state()
    editions = [load_edition(name) for name in edition_names()]
    edition = next((e for e in editions if e.name == chosen.get("edition")), editions[0])
    return render_template(
        "setup.html",
        editions=editions,
        differences=_differences(editions),
        **_of_the_edition(edition, chosen),
        **_who_plays(edition, chosen, _names_before(now)),
        **_how_it_is_played(chosen, now),
        host=seats.host_name(now) if not phone_identity.may_host() else None,
        under_way=now.is_under_way,
        sentence=sentence,
        ask=ask,
    )


def _of_the_edition(edition: Edition, chosen: MultiDict[str, str]) -> dict[str, object]:
    """The edition that is chosen, with its switches as they are set."""
    return {
        "chosen": edition,
        "switches": house_rules.switch_views(chosen, edition),
        "counts": house_rules.count_views(chosen, edition),
        "cards": sum(edition.deck.values()),
        "not_seated": _not_seated(edition),
        "first_player": _(FIRST_PLAYERS[edition.first_player]),
        "has_dealer": edition.first_player == WITH_A_DEALER,
    }


def _who_plays(edition: Edition, chosen: MultiDict[str, str], before: list[str]) -> dict[str, object]:
    """How many play and their names, those of the match before where nobody has chosen yet."""
    ways, asked = _seatings(edition), chosen.get("seating", "")
    named = [clean(chosen.get(f"name{seat}", "")) for seat in range(1, MOST_PLAYERS + 1)]
    names = named if asked else before
    players = parsing.whole(asked[:1], 1, MOST_PLAYERS) or len(before) or 2
    return {
        "seatings": ways,
        "way": _way(ways, asked, players),
        "targets": {way.players: way.target for way in ways},
        "names": names,
        "known": [name for name in known_names(match().store) if name not in names],
        "most": MOST_PLAYERS,
        "first": _first(chosen),
    }


def _how_it_is_played(chosen: MultiDict[str, str], now: MatchState) -> dict[str, object]:
    """The target, and who confirms."""
    target = _km(chosen.get("target", ""))
    return {
        "target": target,
        "usual_targets": sorted({*USUAL_TARGETS_KM, target or USUAL_TARGETS_KM[0]}),
        "has_camera": has_camera(),
        "policy": chosen.get("policy", now.policy, type=Policy),
        "verified": "verify" in chosen,
    }


def _first(chosen: MultiDict[str, str]) -> int:
    """The seat that begins."""
    return parsing.whole(chosen.get("first"), 1, MOST_PLAYERS) or 1


def _differences(editions: list[Edition]) -> dict[str, list[house_rules.Difference]]:
    """What each edition has otherwise than the classic rules, by its name."""
    classic = next(edition for edition in editions if edition.name == CLASSIC)
    return {edition.name: house_rules.differences(edition, classic) for edition in editions}


def _way(ways: list[Seating], value: str, players: int) -> str:
    """The way to play that is marked: the one chosen, else the one for as many players as before."""
    fitting = [way for way in ways if way.value == value] or [way for way in ways if way.players == players] or ways
    return fitting[0].value if fitting else ""


def _seatings(edition: Edition) -> list[Seating]:
    return [
        Seating(f"{players}x{each}", players, each > 1, referee.target_for(edition, players))
        for players, each in edition.seatings
    ]


def _not_seated(edition: Edition) -> str:
    """What the edition cannot seat, in one sentence; empty where everybody can play."""
    seated = {players for players, _each in edition.seatings}
    missing = [str(players) for players in range(2, MOST_PLAYERS + 1) if players not in seated]
    if not missing:
        return ""
    many = _("%(some)s or %(last)s", some=", ".join(missing[:-1]), last=missing[-1]) if missing[1:] else missing[0]
    return _("%(edition)s cannot seat %(many)s players.", edition=_(edition.title), many=many)


def _names_before(now: MatchState) -> list[str]:
    """The names of the match before, in seating order."""
    names = Names.of(now.game)
    return [names.player(seat.player) for seat in referee.seating(now.game.teams)]


@bp.post("/setup")
def start() -> AnyResponse | tuple[str, int]:
    """Begins the match; asks first where that ends one that is being played."""
    try:
        lines = setup_lines(request.form)
    except Problem as problem:
        return _form(request.form, str(problem)), 400
    if state().is_under_way and "replace" not in request.form:
        return _form(request.form, ask=True), 409
    policy, verified, by = (
        request.form.get("policy", type=Policy),
        "verify" in request.form,
        phone_identity.who(state()),
    )
    once(lambda: match().start(lines, by, policy, verified=verified))
    return redirect(url_for("join.show"), 303)


@bp.post("/offered")
def answer_offer() -> AnyResponse:
    """The match that the service was started with begins, or the one under way goes on."""
    lines, by = state().offered, phone_identity.who(state())
    if lines and request.form.get("begin") == "yes":
        once(lambda: match().start(lines, by))
        return redirect(url_for("join.show"), 303)
    match().offer(())
    return redirect(url_for("table.show"), 303)


def setup_lines(form: MultiDict[str, str]) -> list[str]:
    """The header lines of a match, and its first hand's, from the form. Raises Problem for what cannot be played."""
    edition = _edition(form.get("edition", CLASSIC))
    players, each = _seating(form.get("seating", ""), edition)
    named = [clean(form.get(f"name{seat}", "")) for seat in range(1, players + 1)]
    shown = [name or _("Player %(number)d", number=seat) for seat, name in enumerate(named, start=1)]
    check_names(shown)
    words = record_names(shown)
    teams = _teams(words, each)
    house_rules.agreed(form, edition)
    first = words[(_first(form) - 1) % players]
    target, rules = _target(form.get("target", ""), edition, players), house_rules.house_rules(form, edition)
    edition_line, *lines = notation.header_text(teams, edition.name, target, rules)
    lines = [edition_line, *house_rules.counted_lines(form, edition), *lines]
    lines += [f'player {word} "{name}"' for word, name in zip(words, shown, strict=True) if word != name]
    return [*lines, f"hand first {first}"]


def _edition(name: str) -> Edition:
    try:
        return load_edition(name)
    except EditionError:
        abort(400)


def _seating(value: str, edition: Edition) -> tuple[int, int]:
    """How many play, and how many a side. Raises Problem where the edition cannot seat them so."""
    found = [way for way in edition.seatings if value in ("", f"{way[0]}x{way[1]}")]
    if not found:
        wrong = _("%(edition)s cannot seat these players so: choose how many play once more.", edition=_(edition.title))
        raise Problem(wrong)
    return found[0]


def _teams(words: list[str], each: int) -> list[Team]:
    """Sides from the seats clockwise: partners sit opposite each other."""
    if each == 1:
        return [Team(word, (word,)) for word in words]
    sides = len(words) // each
    partners = [tuple(words[side::sides]) for side in range(sides)]
    return [Team("-".join(names), names) for names in partners]


def _target(value: str, edition: Edition, players: int) -> int | None:
    """The target where it is another than the edition's own."""
    km = _km(value)
    return None if km == referee.target_for(edition, players) else km


def _km(value: str) -> int | None:
    """The target that was chosen; None where none was, or none that could be driven to."""
    km = parsing.whole(value, 0, MOST_TARGET_KM) or 0
    km -= km % TARGET_STEP_KM
    return km if LEAST_TARGET_KM <= km <= MOST_TARGET_KM else None
