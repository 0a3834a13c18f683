"""The wall screen, and full-screen moments, also on phones."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for

from companion.match.archive import hands_of, last_match
from companion.match.state import last_result
from companion.pages.context import AnyResponse, service, state
from companion.pages.game import offers, prompts, views
from companion.pages.players import phone_identity
from companion.pages.scores import charts, score_sheets
from companion.pages.server import address
from companion.pages.words import Names, _
from companion.rules.record.judge import Game
from companion.rules.scoring import safety_points

bp = Blueprint("wall", __name__)

ANSWER_S = 15
"""Time to undo a win by an immediate answer, before it is celebrated."""


@bp.get("/wall")
def show() -> AnyResponse | str:
    """Show the wall screen, with the join code if the link has the token."""
    if phone_identity.let_in(request.args.get("t", ""), service().token):
        return redirect(url_for("wall.show"))
    now = state()
    names = Names.of(now.game)
    base = service().base_url() or request.host_url.rstrip("/")
    code = address.qr_path(address.join_url(base, service().token)) if phone_identity.takes_part() else None
    last_hand = last_result(now)
    players = [seat.player for seat in now.game.table.seats] if now.game.table else []
    robots = views.robots_of(now)
    here = phone_identity.seated(now) | now.robots.keys()
    return render_template(
        "wall.html",
        sides=views.side_views(now.game, None, robots),
        head=prompts.asked(now)["head"],
        last=views.last_play(now),
        sheet=score_sheets.sheet_view(last_hand, names) if last_hand else None,
        whole=_whole_match(now.game) if last_hand else None,
        turns_back=now.game.table is not None and offers.may_be_answered(now.game.table),
        race=charts.race(list(hands_of(now.record, now.entries))[-1], names) if last_hand else None,
        people=[(names.player(player), names.number(player), player in here, player in robots) for player in players],
        here=len(here & set(players)),
        code=code,
        typed=address.typed(base, "/join" if code else "", is_announced=bool(service().announced)),
    )


def _whole_match(game: Game) -> score_sheets.MatchView | None:
    """Return all hands of the match just won; None if it continues, and for a race."""
    is_won = game.winner is not None and not game.edition.is_race
    return score_sheets.match_view(last_match(game.hands), Names.of(game)) if is_won else None


def latest_moment() -> dict[str, object] | None:
    """Return the last play's full-screen moment; None before the first play.

    Screens show each `key` once; lines without a moment have only that.
    """
    now = state()
    last, result, table, names = views.last_play(now), last_result(now), now.game.table, Names.of(now.game)
    if last is None or table is None:
        return None
    if table.is_over and result is not None:
        sheet = score_sheets.sheet_view(result, names)
        waits = ANSWER_S if offers.may_be_answered(table) else 0
        if sheet.champion:
            won = {"kind": "victory", "side": sheet.champion, "title": sheet.headline, "about": sheet.final_score}
            return {"key": last.key, "waits": waits, **won}
        side = sheet.lead[0] if sheet.lead and not sheet.draw else None
        return {"key": last.key, **({"kind": "arrival", "side": side, "title": sheet.headline} if side else {})}
    if last.kind != "coup-fourre":
        return {"key": last.key}
    whose = f"{names.side(now.game.teams[last.side - 1].name)} +{safety_points(table.edition)[1]}"
    return {"key": last.key, "kind": "coup-fourre", "side": last.side, "title": _("Coup fourré!"), "about": whose}
