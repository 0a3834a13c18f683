"""The set-up form of a match: edition, players, names, target and first player."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict

from companion.common import parsing
from companion.common.errors import Problem
from companion.common.text import one_of
from companion.match.history import DEMO
from companion.match.setup_file import deck_lines
from companion.match.state import MatchState, Policy
from companion.pages.context import AnyResponse, editions, forget_state, has_camera, match, once, service, state
from companion.pages.game import house_rules, how_to_play
from companion.pages.game.table_page import POLICIES
from companion.pages.players import phone_identity, seats
from companion.pages.players.names import check_names, clean, known_names, record_names
from companion.pages.table_camera import camera
from companion.pages.words import Names, _
from companion.robots.robot import ROBOT_NAMES
from companion.rules import referee
from companion.rules.editions.edition import Edition, EditionError, load_edition
from companion.rules.editions.edition_file import FIRST_PLAYERS, LEAST_TARGET_KM, TARGET_STEP_KM
from companion.rules.record import judge, notation
from companion.rules.record.notation import RecordLine, SideLine
from companion.rules.table import Team
from companion.tabletop import translation

bp = Blueprint("setting_up", __name__)

CLASSIC = "classic"  # default, and compared with others
OTHERS = ("bsd-mille", "parker")  # no longer sold: listed separately
DEALT, PERSON, USUAL_ROBOT = "dealt", "0", "2"
"""Form values: dealt cards, a person's level, a robot's default level."""

MOST_PLAYERS = 8
MOST_TARGET_KM = 5000
USUAL_TARGETS_KM = (700, 1000)


@bp.get("/setup")
def show() -> AnyResponse | str:
    """Show the form, prefilled from the last match.

    A due camera trial comes first; phones that may not set up go to the join page.
    """
    if not (phone_identity.may_host() or (phone_identity.takes_part() and state().game.teams)):
        return redirect(url_for("seats.join"))
    if not request.args and camera.is_trial_due():
        return redirect(url_for("camera.trial"))
    return _form(request.args or _like_the_last(state()))


def _like_the_last(now: MatchState) -> MultiDict[str, str]:
    game, names = now.game, _names_before(now)
    if now.match is None or not game.teams or now.is_demo:
        return MultiDict()
    fields = {"edition": game.edition_name, "seating": f"{len(names)}x{len(game.teams[0].players)}"}
    fields |= {f"name{seat}": name for seat, name in enumerate(names, start=1)}
    fields |= {"target": str(game.target)} if game.target else {}
    fields |= {"verify": "yes"} if now.other_side_verifies else {}
    if now.is_dealt:
        seats = enumerate(referee.seating(game.teams), start=1)
        levels = {f"robot{number}": str(now.robots.get(seat.player, PERSON)) for number, seat in seats}
        fields |= {"cards": DEALT, **levels}
    fields |= {f"option-{name}": value for name, value in game.options}
    return MultiDict(fields | {f"count-{card}": str(count) for card, count in game.counts})


def _form(chosen: MultiDict[str, str], sentence: str = "", *, ask: bool = False) -> str:
    now = state()
    known = {edition.name: edition for edition in editions()}
    edition = known.get(chosen.get("edition", ""), next(iter(known.values())))
    translation.speak_of(edition.name)
    target = _km(chosen.get("target", ""))
    who = _who_plays(edition, chosen, _names_before(now))
    return render_template(
        "setup.html",
        editions=list(known.values()),
        differences=house_rules.differences(edition, known[CLASSIC]),
        chosen=edition,
        **_switches(chosen, edition),
        others=OTHERS,
        counts=house_rules.count_views(chosen, edition),
        cards=sum(edition.deck.values()),
        not_seated=_not_seated(edition),
        first_player=_(FIRST_PLAYERS[edition.first_player]),
        has_dealer=edition.first_player == "left-of-the-dealer",
        **who,
        idle_rules=house_rules.idle_views(chosen, edition, who["way"], target),
        target=target,
        usual_targets=sorted({*USUAL_TARGETS_KM, target or USUAL_TARGETS_KM[0]}),
        is_dealt=chosen.get("cards") == DEALT,
        levels=[chosen.get(f"robot{seat}", USUAL_ROBOT if seat > 1 else PERSON) for seat in range(1, MOST_PLAYERS + 1)],
        has_camera=has_camera() and not service().camera.is_simulated,
        policies=POLICIES,
        policy=chosen.get("policy", now.policy, type=Policy),
        verified="verify" in chosen,
        only_host=seats.only_host() if not phone_identity.may_host() else None,
        under_way=now.is_under_way and not now.is_demo,
        sentence=sentence,
        ask=ask,
    )


def _switches(chosen: MultiDict[str, str], edition: Edition) -> dict[str, object]:
    """Return the form's switches: common, others by section, ineffective; and how many changed."""
    views = house_rules.switch_views(chosen, edition)
    family = house_rules.family_views(views)
    shown = {view["name"] for view in family}
    rest = [view for view in views if view["name"] not in shown]
    by_section = (
        (_(title), [view for view in rest if view["name"] in (*told, *fine) and not view["means_nothing"]])
        for title, told, fine in how_to_play.SECTIONS.values()
    )
    return {
        "family": family,
        "groups": [(title, some) for title, some in by_section if some],
        "idle": [view for view in rest if view["means_nothing"]],
        "turned": sum(bool(view["chosen"]) for view in rest),
    }


def _who_plays(edition: Edition, chosen: MultiDict[str, str], before: list[str]) -> dict[str, Any]:
    asked = chosen.get("seating", "")
    names = _named(chosen, MOST_PLAYERS) if asked else before
    players = parsing.whole(asked[:1], 1, MOST_PLAYERS) or len(before) or 2
    ways = edition.seatings
    fitting = [way for way in ways if f"{way[0]}x{way[1]}" == asked] or [way for way in ways if way[0] == players]
    return {
        "way": next(iter(fitting or ways), None),
        "targets": {count: edition.target_km[count] for count, _each in ways},
        "names": names,
        "known": [name for name in known_names(match().store) if name not in names],
        "most": MOST_PLAYERS,
        "first": _first(chosen),
    }


def _named(chosen: MultiDict[str, str], count: int) -> list[str]:
    return [clean(chosen.get(f"name{seat}", "")) for seat in range(1, count + 1)]


def _first(chosen: MultiDict[str, str]) -> int:
    return parsing.whole(chosen.get("first"), 1, MOST_PLAYERS) or 1


def _not_seated(edition: Edition) -> str:
    """Return the sentence naming possible numbers of players; empty if all are."""
    seated = sorted({players for players, _each in edition.seatings})
    if seated == list(range(2, MOST_PLAYERS + 1)):
        return ""
    return _("%(edition)s is for %(many)s players.", edition=_(edition.title), many=one_of(seated))


def _names_before(now: MatchState) -> list[str]:
    if now.is_demo:
        return []
    names = Names.of(now.game)
    return [names.player(seat.player) for seat in referee.seating(now.game.teams)]


@bp.post("/setup")
def start() -> AnyResponse | tuple[str, int]:
    """Begin the match and redirect to the seats, or a single person to the table.

    Show the form again for errors, or to confirm ending another match or an idle house rule.
    """
    try:
        lines = setup_lines(request.form)
    except Problem as problem:
        return _form(request.form, str(problem)), 400
    if "idle" not in request.form and _has_idle_rules(lines):
        return _form(request.form), 409
    if state().is_under_way and not state().is_demo and "replace" not in request.form:
        return _form(request.form, ask=True), 409
    policy, verified = request.form.get("policy", type=Policy), "verify" in request.form
    by, levels = phone_identity.who(state()), _levels(request.form, lines)
    try:
        once(lambda: match().start(lines, by, policy, verified=verified, robots=levels))
    except Problem as problem:
        return _form(request.form, _(problem.sentence)), 400
    forget_state()
    if levels and len(state().people) == 1:
        # A single person needs no choice of seat.
        phone, player = phone_identity.known_phone(), state().people[0]
        phone_identity.phones().sit(phone, player, by=phone)
        match().sit(player, player)
        return redirect(url_for("table.show"), 303)
    return redirect(url_for("seats.join"), 303)


def _has_idle_rules(lines: list[str]) -> bool:
    game = judge.judge_on(judge.EMPTY_RECORD, [RecordLine(number, text) for number, text in enumerate(lines, 1)]).game
    return bool(game.idle_rules)


def _levels(form: MultiDict[str, str], lines: list[str]) -> dict[str, int] | None:
    if form.get("cards") != DEALT:
        return None
    seats = referee.seating([header.team for header in notation.headers(lines) if isinstance(header, SideLine)])
    levels = {seat.player: _level(form, number) for number, seat in enumerate(seats, start=1)}
    return {player: level for player, level in levels.items() if level}


def _level(form: MultiDict[str, str], seat: int) -> int:
    return (form.get("cards") == DEALT and parsing.whole(form.get(f"robot{seat}"), 1, 3)) or 0


@bp.post("/offered")
def answer_offer() -> AnyResponse:
    """Begin the match that the service was started with, or keep the current one."""
    lines, by = state().offered, DEMO if service().camera.is_simulated else phone_identity.who(state())
    if lines and request.form.get("begin") == "yes":
        once(lambda: match().start(lines, by))
        return redirect(url_for("seats.join"), 303)
    match().offer(())
    return redirect(url_for("table.show"), 303)


def setup_lines(form: MultiDict[str, str]) -> list[str]:
    """Return the header lines of a match and its first hand. Raises Problem if impossible."""
    try:
        edition = load_edition(form.get("edition", CLASSIC))
    except EditionError:
        abort(400)
    seating = form.get("seating", "")
    found = [way for way in edition.seatings if seating in ("", f"{way[0]}x{way[1]}")]
    if not found:
        wrong = _(
            "%(edition)s has no seating for these players: choose the number of players again.",
            edition=_(edition.title),
        )
        raise Problem(wrong)
    players, each = found[0]
    typed = _named(form, players)
    spare = (name for name in ROBOT_NAMES if name.casefold() not in map(str.casefold, typed))
    shown = [
        name or (next(spare) if _level(form, seat) else _("Player %(number)d", number=seat))
        for seat, name in enumerate(typed, start=1)
    ]
    check_names(shown)
    words = record_names(shown)
    translation.name_cards_of(edition.name)
    house_rules.agreed(form, edition)
    km = _km(form.get("target", ""))
    target = None if km == edition.target_km[players] else km
    rules = house_rules.house_rules(form, edition)
    edition_line, *lines = notation.header_text(_teams(words, each), edition.name, target, rules)
    lines = [edition_line, *deck_lines(house_rules.counts(form, edition).items()), *lines]
    lines += [f'player {word} "{name}"' for word, name in zip(words, shown, strict=True) if word != name]
    return [*lines, f"hand first {words[(_first(form) - 1) % players]}"]


def _teams(words: list[str], each: int) -> list[Team]:
    """Return the sides of clockwise seats; partners sit opposite."""
    if each == 1:
        return [Team(word, (word,)) for word in words]
    sides = len(words) // each
    partners = [tuple(words[side::sides]) for side in range(sides)]
    return [Team("-".join(names), names) for names in partners]


def _km(value: str) -> int | None:
    """Return the target in km, rounded down; None if missing or out of range."""
    km = parsing.whole(value, 0, MOST_TARGET_KM) or 0
    km -= km % TARGET_STEP_KM
    return km if LEAST_TARGET_KM <= km <= MOST_TARGET_KM else None
