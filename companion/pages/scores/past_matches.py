"""Past matches: score sheets, charts, downloads and replay."""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial
from urllib.parse import quote

from babel.dates import format_date, format_time
from flask import Blueprint, Response, abort, redirect, render_template, request, url_for

from companion.common import clock, parsing
from companion.match import archive
from companion.match.archive import PastMatch, PlayedHand
from companion.match.history import CAMERA, Written
from companion.match.season import Selection
from companion.pages import language, words
from companion.pages.context import AnyResponse, download, match, once, service, state
from companion.pages.game import views
from companion.pages.limits import Queue
from companion.pages.players import phone_identity
from companion.pages.scores import charts, match_filter, photo_score, score_sheets, sheet_image
from companion.pages.words import N_, Names, _, many
from companion.rules import scoring
from companion.rules.record.judge import Game
from companion.tabletop import translation

bp = Blueprint("past", __name__)

A_PAGE = 10  # each match must be judged
MOST = 10**9  # highest page or step
MOST_WAITING = 4  # drawing is slow on a small computer
BG_STATS = "bgstats://app.bgstatsapp.com/createPlay.html?data="  # the app reads a play from the URL, without a server
_drawing = Queue(MOST_WAITING)


@bp.get("/past")
def show() -> str:
    """Show a page of all matches, the newest first."""
    page, chosen = parsing.whole(request.args.get("page"), 1, MOST) or 1, match_filter.selection()
    is_chosen = chosen != Selection()
    counted = service().archive.figures(match().store) if is_chosen else ()
    now = match_filter.this_month()
    only = [one.match for one in counted if chosen.takes(one, now)] if is_chosen else None
    pasts, pages = service().archive.page(match().store, page, A_PAGE, only)
    return render_template(
        "past.html",
        pasts=[_past_view(past) for past in pasts],
        page=page,
        pages=pages,
        counted=photo_score.running_total() if page == 1 and not is_chosen else None,
        chosen=match_filter.view("/past", chosen, counted),
        query=match_filter.query(chosen),
    )


@bp.get("/past/<int(max=999999999):number>")
def one(number: int) -> str:
    """Show a match: score sheets, charts, downloads."""
    return _match_page(past_or_404(number))


@bp.post("/past/<int(max=999999999):number>/go-on")
def go_on(number: int) -> AnyResponse | tuple[str, int]:
    """Continue an unfinished match; ask first if another is in play."""
    past, now = past_or_404(number), state()
    if not past.is_unfinished or number == now.match:
        return redirect(url_for("past.one", number=number), 303)
    if now.is_under_way and not now.is_demo and "replace" not in request.form:
        return _match_page(past, asks=True), 409
    by = phone_identity.who(now)
    once(lambda: match().go_on_with(number, by))
    return redirect(url_for("table.show"), 303)


def _match_page(past: PastMatch, *, asks: bool = False) -> str:
    names = Names.of(past.game)
    return render_template(
        "past_match.html",
        asks=asks,
        past=_past_view(past),
        rules_at=_rules_at(past),
        sheets=[(score_sheets.explained(hand, names), charts.race(hand, names)) for hand in past.finished],
        open_hand=next((hand.number for hand in past.hands[-1:] if hand.is_open and hand.entries), None),
        totals=charts.totals([hand.result for hand in past.finished], names),
        wins=score_sheets.wins(past.game) if sum(past.game.won.values()) > 1 else [],
    )


@bp.get("/past/<int(max=999999999):number>.<any(mbn, csv, jsonl):form>")
def export(number: int, form: str) -> Response:
    """Return a match's record (`mbn`), score sheets (`csv`) or judged lines (`jsonl`) as a file; 404 if unknown."""
    past = past_or_404(number)
    return download(
        archive.text_of(past, form, Names.of(past.game).side), archive.FORMS[form], f"match-{number}.{form}"
    )


@bp.get("/past/<int(max=999999999):number>/bg-stats")
@bp.get("/past/<int(max=999999999):number>/bg-stats.json")
def bg_stats(number: int) -> Response:
    """Open the match in BG Stats on this device, or return it as JSON."""
    past = past_or_404(number)
    play = json.dumps(archive.bg_stats_play(past, Names.of(past.game).anyone) or abort(404), ensure_ascii=False)
    if request.path.endswith(".json"):
        return download(play, "application/json", f"match-{number}-bg-stats.json")
    return Response(status=302, headers={"Location": BG_STATS + quote(play, safe="")}, mimetype="text/plain")


@bp.get("/past/<int(max=999999999):number>/<int(max=9999):hand>.png")
def picture(number: int, hand: int) -> Response:
    """Return a hand's score sheet as a picture."""
    past = past_or_404(number)
    played = past.hand(hand)
    if played is None or played.is_open:
        abort(404)
    key = (number, past.last, hand, translation.spoken(), language.locale())
    drawn = service().pictures.get(key, partial(_drawn, past, played))
    return download(drawn, "image/png", f"match-{number}-hand-{hand}.png", opens=True)


def _drawn(past: PastMatch, hand: PlayedHand) -> bytes:
    """Draw a score sheet, one at a time. Raises Busy if too many wait."""
    with _drawing.turn(_("Other sheets are being drawn: try again in a moment.")):
        sheet = score_sheets.sheet_view(hand.result, Names.of(past.game))
        return sheet_image.png(sheet, " – ".join(sheet.sides), when(past.began_s))


def _rules_at(past: PastMatch) -> str:
    return f"/how/{past.game.edition_name}"


def past_or_404(number: int) -> PastMatch:
    """Return a match and name cards as its edition does; 404 for none."""
    past = service().archive.past(match().store, number) or abort(404)
    words.speak_of(past.game, {})
    return past


def _past_view(past: PastMatch) -> dict[str, object]:
    with words.printed_by(past.game.edition_name):
        return _past_in_words(past, Names.of(past.game))


def _past_in_words(past: PastMatch, names: Names) -> dict[str, object]:
    return {
        "match": past.match,
        "when": when(past.began_s),
        "length": _("%(count)d min", count=minutes) if (minutes := round(past.played_s / 60)) else "",
        "sides": [names.side(team.name) for team in past.game.teams],
        "edition": _(past.game.edition.title),
        "result": _result(past, names),
        "is_running": past.match == state().match,
        "may_go_on": past.is_unfinished and past.match != state().match and phone_identity.may_host(),
    }


def when(at_s: float) -> str:
    """Return a Unix time as local date and time in the phone's notation."""
    if clock.moment(at_s) is None:
        return _("Unknown date")
    moment, here = datetime.fromtimestamp(at_s).astimezone(), language.locale()
    time = format_time(moment, "short", locale=here).replace("\u202f", " ")
    return _("%(day)s, %(time)s", day=format_date(moment, "long", locale=here), time=time)


def _result(past: PastMatch, names: Names) -> str:
    edition, hands = past.game.edition, past.finished
    if not hands:
        return _("The race was not finished.") if edition.is_race else _("No hand was finished.")
    last = hands[-1].result
    if last.winner:
        return words.won(names.side(last.winner), edition)
    stand = ", ".join(_("%(who)s %(sum)d", who=names.side(side), sum=sum_) for side, sum_ in last.match.items())
    if edition.is_race:
        return _("%(totals)s: no winner.", totals=stand)
    return many("%(totals)s after %(count)d hand", "%(totals)s after %(count)d hands", len(hands), totals=stand)


@bp.get("/past/<int(max=999999999):number>/<int(max=9999):hand>")
def replay(number: int, hand: int) -> str:
    """Show a hand after play `step`, or before its first (0)."""
    played = past_or_404(number)
    one = played.hand(hand) or abort(404)
    at = min(parsing.whole(request.args.get("step"), 0, MOST) or 0, len(one.entries))
    game, names = (one.begins, *one.games)[at], Names.of(played.game)
    entry = one.entries[at - 1] if at else None
    return render_template(
        "replay.html",
        match=number,
        hand=hand,
        step={
            "number": at,
            "last": len(one.entries),
            "play": views.entry_view(game._replace(shown=names.shown), entry) if entry else None,
            "who": _who(entry.written, names) if entry else [],
            "so_far": _so_far(one, game, names),
        },
        sides=views.side_views(game._replace(shown=played.game.shown), None),
        plays=[views.entry_view(played.game, entry) for entry in one.entries],
        edition=played.game.edition,
        rules_at=_rules_at(played),
    )


def _so_far(hand: PlayedHand, game: Game, names: Names) -> tuple[tuple[str, int, int | None], ...]:
    """Return (side, points in this hand, match total before it or, in a race, None)."""
    table, begun = game.table, hand.begins
    if table is None:
        return ()
    counts_match = not table.edition.is_race
    return tuple(
        (names.side(side.name), sheet.total, begun.totals.get(side.name, 0) if counts_match else None)
        for side, sheet in zip(table.sides, scoring.score(table), strict=True)
    )


def _who(written: Written, names: Names) -> list[str]:
    if written.by == CAMERA:
        origin = N_("Seen by the camera; it counted at once.")
    elif written.source == CAMERA:
        origin = N_("Seen by the camera, confirmed by %(who)s.")
    else:
        origin = N_("Entered by %(who)s.")
    said = [_(origin, who=words.doer(written.by, names))]
    if written.corrected_by is not None:
        said.append(_("Changed later by %(who)s.", who=words.doer(written.corrected_by, names)))
    return said
