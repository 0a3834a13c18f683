"""Statistics of players over all matches, or a choice of them, and a picture of a player's year."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from flask import Blueprint, Response, abort, render_template

from companion.match import season, statistics
from companion.match.season import Duel, EditionFigures, MatchFigures, Selection
from companion.match.statistics import Figures
from companion.pages import language, words
from companion.pages.context import download, match, service
from companion.pages.limits import Queue
from companion.pages.scores import match_filter, sheet_image
from companion.pages.scores.charts import Curve, Plot
from companion.pages.words import _, many
from companion.printing import render
from companion.tabletop import translation

bp = Blueprint("statistics", __name__)

MOST_CHARTED = 60  # hands; legible on a phone
MOST_WAITING = 4  # drawing is slow on a small computer
_drawing = Queue(MOST_WAITING)


@bp.get("/past/players")
def show() -> str:
    """Show the statistics of all players, edition by edition."""
    chosen = match_filter.selection()
    return render_template(
        "players.html",
        blocks=[_block_view(block) for block in _blocks(chosen)],
        chosen=match_filter.view("/past/players", chosen, _matches()),
        query=match_filter.query(chosen),
    )


@bp.get("/past/players/<segment>")
def one(segment: str) -> str:
    """Show the statistics of a player, or of partners; 404 if they never finished a hand."""
    key, chosen, matches = key_in(segment), match_filter.selection(), _matches()
    name, years = _known(key, matches)
    found = [(block, *who) for block in _blocks(chosen) if (who := block.find(key))]
    return render_template(
        "player.html",
        name=name,
        blocks=[_player_view(block, key, figures, players) for block, figures, players in found],
        chart=next(filter(None, (_chart(block, figures) for block, figures, _players in found)), None),
        cards=[(year, f"{address_of(key)}/{year}.png{_edition_of(chosen)}") for year in years],
        chosen=match_filter.view(address_of(key), chosen, matches, whose=key),
        query=match_filter.query(chosen),
    )


@bp.get("/past/players/<segment>/<int(max=9999):year>.png")
def card(segment: str, year: int) -> Response:
    """Return a player's year as a picture: the edition asked for, else the one played most."""
    key, chosen = key_in(segment), match_filter.selection()
    blocks = _blocks(Selection(str(year), chosen.edition))
    found = [(block, *who) for block in blocks if (who := block.find(key))] or abort(404)
    block, figures, players = max(found, key=lambda each: each[1].hands)
    drawn = ("year", key, year, block.edition, translation.spoken(), language.locale())
    seq = match().store.last
    picture = service().pictures.get(drawn, partial(_card, block, figures, players, year), seq)
    return download(picture, "image/png", f"{year}.png", opens=True)


# Addresses


def address_of(key: str) -> str:
    """Return the address of a player's page."""
    safe = key.replace("~", "~0").replace("/", "~1")
    # Browsers take `.` and `..` for folders.
    return f"/past/players/{quote('~2' + safe[1:] if safe.startswith('.') else safe, safe='')}"


def key_in(segment: str) -> str:
    """Return the key in the last part of a player's address."""
    dotted = f".{segment[2:]}" if segment.startswith("~2") else segment
    return dotted.replace("~1", "/").replace("~0", "~")


def _edition_of(chosen: Selection) -> str:
    return match_filter.query(Selection(edition=chosen.edition))


# Views


def _matches() -> tuple[MatchFigures, ...]:
    return service().archive.figures(match().store)


def _blocks(chosen: Selection) -> list[EditionFigures]:
    now = match_filter.this_month()
    return season.by_edition(one for one in _matches() if chosen.takes(one, now))


def _known(key: str, matches: Iterable[MatchFigures]) -> tuple[str, list[int]]:
    """Return the latest name of a player or of partners, and the years in which they played, the latest first."""
    found = [
        (figures.name, one.month)
        for one in matches
        for figures in (one.players.get(key), *(p for team, p in one.partners.items() if _is_team(team, key)))
        if figures is not None
    ]
    if not found:
        abort(404)
    return found[-1][0], sorted({month[0] for _name, month in found if month}, reverse=True)


def _is_team(team: tuple[str, ...], key: str) -> bool:
    return statistics.joint_key(team) == key


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A line of the table of players or partners."""

    name: str
    href: str
    cells: tuple[str, ...]


def _block_view(block: EditionFigures) -> dict[str, object]:
    with words.printed_by(block.edition):
        in_points = _is_in_points(block)
        return {
            "title": _(block.title),
            "heads": _heads(in_points=in_points),
            "players": [_row(key, one, in_points=in_points) for key, one in block.players.items()],
            "partners": [_row(key, one, in_points=in_points) for key, one in block.partners.items()],
            "cruel": _cruel(statistics.most_cruel(block.players)),
        }


def _is_in_points(block: EditionFigures) -> bool:
    return any(one.counted_hands for one in block.players.values())


def _heads(*, in_points: bool) -> list[str]:
    """Return the headings of `_row`'s cells."""
    return [_("Matches won"), _("Hands won"), *([_("Average"), _("Best hand")] if in_points else []), _("km")]


def _row(key: str, one: Figures, *, in_points: bool) -> FigureRow:
    points = (_figure(one.mean_points), _figure(one.best_hand)) if in_points else ()
    cells = (_share(one.matches_won, one.matches), _share(one.hands_won, one.hands), *points, str(one.km))
    return FigureRow(one.name, address_of(key), cells)


def _figure(value: int | None) -> str:
    return "–" if value is None else str(value)


def _share(won: int, count: int) -> str:
    return _("%(won)d of %(count)d", won=won, count=count) if count else "–"


def _player_view(block: EditionFigures, key: str, one: Figures, players: tuple[str, ...]) -> dict[str, object]:
    all_of = block.players if key in block.players else block.partners
    with words.printed_by(block.edition):
        return {
            "title": _(block.title),
            "lines": _lines(one),
            "rivals": _rivals(block, one, players, all_of),
            "heads": _heads(in_points=_is_in_points(block)),
            "partners": [
                _row(joint, block.partners[joint], in_points=_is_in_points(block))
                for joint, team in block.teams.items()
                if key in team
            ],
            "victim": _victim(one, all_of),
        }


def _lines(one: Figures) -> list[tuple[str, str]]:
    """Return figures with their meaning, except zeros."""
    hazard = one.favorite_hazard
    lines: list[tuple[int | str | None, str]] = [
        (one.matches and _share(one.matches_won, one.matches), _("matches won")),
        (_share(one.hands_won, one.hands), _("hands won")),
        (one.mean_points, _("points per hand on average")),
        (one.best_hand, _("points in the best hand")),
        (str(one.worst_hand) if one.counted_hands > 1 else None, _("points in the worst hand")),
        (one.longest_streak, many("hand won in a row", "hands won in a row", one.longest_streak)),
        (one.began and _share(one.began_won, one.began), _("hands won as first player")),
        (one.coups_fourres, many("coup fourré played", "coups fourrés played", one.coups_fourres)),
        (one.coups_suffered, many("coup fourré suffered", "coups fourrés suffered", one.coups_suffered)),
        (one.shut_outs, many("shut-out", "shut-outs", one.shut_outs)),
        (one.hazards_given, many("hazard played", "hazards played", one.hazards_given)),
        (words.title(hazard) if hazard else None, _("is the favorite hazard")),
        (one.hazards_got, many("hazard received", "hazards received", one.hazards_got)),
        (one.km, _("km driven")),
        (one.longest_hand, many("play in the longest hand", "plays in the longest hand", one.longest_hand)),
    ]
    return [(str(figure), what) for figure, what in lines if figure]


@dataclass(frozen=True, slots=True)
class RivalView:
    """Two people, or two pairs, over time."""

    name: str
    href: str
    hands: str
    matches: str
    closest: str  # empty if no match was decided
    match: int  # of the closest


def _rivals(
    block: EditionFigures, one: Figures, players: tuple[str, ...], all_of: dict[str, Figures]
) -> list[RivalView]:
    """Return everyone who played against a player or partners, those met most first."""
    met: dict[str, list[Duel]] = {key: [] for key, _count in one.met.most_common()}
    met |= _duels_by_rival(block, players)
    own = statistics.joint_key(players)
    return [
        RivalView(
            all_of[key].name,
            address_of(key),
            _share(one.beaten[key], one.met[key]),
            _share(sum(_has_won(duel, players) for duel in duels), len(duels)),
            f"{closest.points} : {closest.opponents_points}" if closest else "",
            closest.match.match if closest else 0,
        )
        for key, duels in met.items()
        if key in all_of and key != own
        for closest in [_closest(duels)]
    ]


def _duels_by_rival(block: EditionFigures, players: tuple[str, ...]) -> dict[str, list[Duel]]:
    found: dict[str, list[Duel]] = {}
    for duel in season.duels(block.decided, players):
        rivals = duel.opponents if len(players) == 1 else (statistics.joint_key(duel.opponents),)
        for key in rivals:
            found.setdefault(key, []).append(duel)
    return found


def _has_won(duel: Duel, players: Iterable[str]) -> bool:
    return set(players) <= set(duel.match.winner)


def _closest(duels: Sequence[Duel]) -> Duel | None:
    return min(duels, key=lambda duel: duel.margin, default=None)


def _chart(block: EditionFigures, one: Figures) -> Plot | None:
    """Return a chart of a player's points, hand by hand; None for races and single hands."""
    shown = one.hand_points[-MOST_CHARTED:]
    if len(shown) < 2:
        return None
    first = one.counted_hands - len(shown) + 1
    with words.printed_by(block.edition):
        return Plot(
            key="points",
            title=" · ".join((_(block.title), _("Points, hand by hand"))),
            about=_("Points, hand by hand: %(points)s", points=", ".join(map(str, shown))),
            lines=(Curve(one.name, (tuple(enumerate(shown)),)),),
            x_name=_("hands"),
            x_most=len(shown) - 1,
            heads=(_("Hand"), one.name),
            rows=tuple((str(number), str(points)) for number, points in enumerate(shown, start=first)),
        )


def _victim(one: Figures, all_of: dict[str, Figures]) -> str:
    if not one.gave:
        return ""
    key, count = one.gave.most_common(1)[0]
    whom = all_of[key].name
    return many("Cruel to %(whom)s: %(count)d hazard.", "Cruel to %(whom)s: %(count)d hazards.", count, whom=whom)


def _cruel(most: tuple[str, str, int] | None) -> str:
    if most is None:
        return ""
    attacker, victim, count = most
    return many(
        "Most cruel attacker: %(who)s, with %(count)d hazard on %(whom)s.",
        "Most cruel attacker: %(who)s, with %(count)d hazards on %(whom)s.",
        count,
        who=attacker,
        whom=victim,
    )


# The picture of a year


def _card(block: EditionFigures, one: Figures, players: tuple[str, ...], year: int) -> bytes:
    """Draw a year, one at a time. Raises Busy if too many wait."""
    with _drawing.turn(_("Other sheets are being drawn: try again in a moment.")), words.printed_by(block.edition):
        rows = [(row, False) for row in _year_rows(block, one, players) if row[1]]
        about = f"{year} · {_(block.title)}"
        return render.to_png(sheet_image.table(one.name, about, rows, "Mille Bornes Companion"), sheet_image.DPI)


def _year_rows(block: EditionFigures, one: Figures, players: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    duel, hazard = _closest(tuple(season.duels(block.decided, players))), one.favorite_hazard
    closest = ""
    if duel:
        whom = " & ".join(block.players[key].name for key in duel.opponents)
        closest = _("%(points)s against %(whom)s", points=f"{duel.points} : {duel.opponents_points}", whom=whom)
    return (
        (_("Hands"), str(one.hands)),
        (_("Hands won"), str(one.hands_won)),
        (_("Matches won"), _share(one.matches_won, one.matches) if one.matches else ""),
        (_("Best hand"), str(one.best_hand or "")),
        (_("Most hands won in a row"), str(one.longest_streak or "")),
        (_("Coups fourrés"), str(one.coups_fourres or "")),
        (_("Favorite hazard"), words.title(hazard) if hazard else ""),
        (_("Closest match"), closest),
    )
