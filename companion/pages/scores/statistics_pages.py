"""Statistics of players over all matches, or a choice of them."""

from __future__ import annotations

from flask import Blueprint, render_template

from companion.match import season, statistics
from companion.match.season import EditionFigures, MatchFigures
from companion.match.statistics import Figures
from companion.pages import words
from companion.pages.context import match, service
from companion.pages.scores import charts, match_filter
from companion.pages.words import _, many

bp = Blueprint("statistics", __name__)

TREND_HANDS = 30  # legible on a phone


@bp.get("/past/players")
def show() -> str:
    """Show the statistics of all players, edition by edition."""
    matches, chosen = _matches(), match_filter.selection()
    now = match_filter.this_month()
    blocks = season.by_edition(one for one in matches if chosen.takes(one, now))
    return render_template(
        "players.html",
        blocks=[_block_view(block) for block in blocks],
        chosen=match_filter.view("/past/players", chosen, matches),
        query=match_filter.query(chosen),
    )


def _matches() -> tuple[MatchFigures, ...]:
    return service().archive.figures(match().store)


def _block_view(block: EditionFigures) -> dict[str, object]:
    with words.printed_by(block.edition):
        return {
            "title": _(block.title),
            "players": [_player_view(one, block.players) for one in block.players.values()],
            "cruel": _cruel(statistics.most_cruel(block.players)),
        }


def _player_view(one: Figures, all_of: dict[str, Figures]) -> dict[str, object]:
    rivals = [(all_of[key].name, key, count) for key, count in one.met.most_common()]
    shown = one.hand_points[-TREND_HANDS:]
    about = _("Points, hand by hand: %(points)s", points=", ".join(map(str, shown)))
    best = _("Best hand: %(points)d points.", points=one.best_hand) if one.best_hand else ""
    return {
        "one": one,
        "sentence": " ".join(filter(None, (_rivalry(one, rivals), best))),
        "trend": charts.trend(shown, about) if len(shown) > 1 else "",
        "others": [(who, one.beaten[key], count) for who, key, count in rivals[1:]],
        "lines": _lines(one),
        "victim": _victim(one, all_of),
    }


def _rivalry(one: Figures, rivals: list[tuple[str, str, int]]) -> str:
    if not rivals:
        return ""
    who, key, count = rivals[0]
    return many(
        "Wins %(won)d of %(count)d hand against %(whom)s.",
        "Wins %(won)d of %(count)d hands against %(whom)s.",
        count,
        won=one.beaten[key],
        whom=who,
    )


def _lines(one: Figures) -> list[tuple[str, str]]:
    lines = [
        (one.mean_points, _("points per hand on average")),
        (one.coups_fourres, many("coup fourré played", "coups fourrés played", one.coups_fourres)),
        (one.hazards_given, many("hazard played", "hazards played", one.hazards_given)),
        (one.hazards_got, many("hazard received", "hazards received", one.hazards_got)),
        (one.km, _("km driven")),
        (one.longest_hand, many("play in the longest hand", "plays in the longest hand", one.longest_hand)),
    ]
    return [(str(figure), what) for figure, what in lines if figure]


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
