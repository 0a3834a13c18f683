"""Pages to pick, answer or correct a play; the page of legal plays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for

from companion.common.errors import Problem
from companion.match.questions import Kind, Question
from companion.match.state import Entry, MatchState
from companion.pages import words
from companion.pages.context import AnyResponse, match, state
from companion.pages.game import card_picker, offers, own_hand, prompts, views
from companion.pages.game.card_picker import Tab
from companion.pages.game.offers import Offer, legal_now
from companion.pages.players import permissions, phone_identity
from companion.pages.words import N_, Names, Why, _
from companion.rules import referee
from companion.rules.cards import Card, Family
from companion.rules.play import Play, Verb
from companion.rules.record import notation
from companion.rules.record.notation import Unreadable
from companion.rules.table import Due, Table, Window
from companion.storage.events import EventKind

bp = Blueprint("entry", __name__)

TABS = {
    Tab.MY_TURN: N_("In turn"),
    Tab.DISCARD: N_("Discard"),
    Tab.AT_ONCE: N_("Out of turn"),
    Tab.OTHER: N_("Other"),
}


@bp.get("/play")
def new() -> AnyResponse | str:
    """Show the picker for a new play."""
    now = state()
    table = now.game.table
    if table is None:
        return redirect(url_for("setting_up.show"))
    if now.is_dealt:
        return _way_to_play(now, table)
    if table.is_over and not offers.answers(table, Names.of(now.game), None):
        return redirect(url_for("score.show"))
    lays_now, seat = offers.who_lays_now(table), phone_identity.seat(now)
    mine = lays_now[1] if lays_now is not None and lays_now[0] == seat and table.handed_to is None else None
    return _picker(
        now,
        table,
        seat if seat and mine else table.player_up,
        title=words.lay_now(mine) if mine else _("What was played?"),
        post_to=url_for("table.enter"),
        is_new=True,
        asks_who=lays_now is not None and not mine and seat != table.player_to_move,
    )


def _way_to_play(now: MatchState, table: Table) -> AnyResponse | str:
    question = own_hand.question(now, request.args)
    if question is None:
        return redirect(url_for("table.show"))
    task = {"title": question.title, "post_to": url_for("table.enter"), "table": table}
    return render_template(
        "entry.html",
        task=task,
        question=question,
        groups=question.groups,
        player=phone_identity.seat(now),
        is_own=True,
    )


@bp.get("/question/<question_id>")
def instead(question_id: str) -> AnyResponse | str:
    """Show the picker for the play that answers a question."""
    now = state()
    question = now.question(question_id)
    table = (question.table if question else None) or now.game.table
    if question is None or table is None:
        return redirect(url_for("table.show"))
    play = question.plays[0] if question.plays else None
    said = prompts.sentence(now, question)
    is_play = question.kind is Kind.PLAY
    return _picker(
        now,
        table,
        (play.player if play else None) or table.player_up,
        title=_("Which card is it?") if question.kind is Kind.WHICH else _("What was it?"),
        post_to=url_for("table.answer", question_id=question_id),
        about=_("Recorded as: %(play)s", play=said) if is_play else said,
        written=str(play) if play and is_play else "",
        tab=_tab_of(play) if is_play else Tab.MY_TURN,
        picture=url_for("camera.crop", question_id=question_id) if question.crop else None,
        is_asked=True,
        refused=_refused(now, question, table) if "refused" in request.args else None,
    )


def _refused(now: MatchState, question: Question, table: Table) -> dict[str, Any] | None:
    play = notation.read_play(request.args.get("text", ""), now.game.teams)
    if play is None:
        return None
    named = replace(question, kind=Kind.PLAY, plays=(play,), table=table, reasons=referee.objections(table, play))
    return None if named.is_legal else prompts.view(now, named)


@bp.get("/line/<int:seq>")
def change(seq: int) -> AnyResponse | str:
    """Show the picker for a line's correction or, with `before=1`, for a play forgotten before it."""
    now = state()
    entry = now.entry(seq)
    if entry is None or entry.judged is None or now.is_dealt:
        return redirect(url_for("table.show"))
    before = request.args.get("before") == "1"
    misfits = _misfits(now, entry) if "refused" in request.args else None
    place = next(index for index, entry in enumerate(now.entries) if entry.seq == seq)
    table = now.record.games[place - 1].table or now.record.games[place].table or abort(404)
    play = entry.judged.play
    usual = play if not before else None
    if misfits and misfits["play"]:
        usual = misfits["play"]
    return _picker(
        now,
        table,
        (usual.player if usual else None) or table.player_up,
        title=_("What came before it?") if before else _("What was it?"),
        post_to=url_for("table.insert" if before else "table.correct", seq=seq),
        about=_("Recorded as: %(play)s", play=views.entry_view(now.game, entry)["say"]),
        written="" if before else entry.written.text,
        line=seq,
        noted=None if before else play,
        tab=_tab_of(usual),
        misfits=misfits,
    )


def _misfits(now: MatchState, entry: Entry) -> dict[str, Any] | None:
    """Return the chosen change with the lines it would make illegal, if any."""
    text = None if request.args.get("out") == "1" else request.args.get("text", "")
    written = EventKind.LINE if request.args.get("before") == "1" else EventKind.CORRECT
    kind = EventKind.RETRACT if text is None else written
    try:
        wrong = match().misfits(kind, entry.seq, text)
        play = notation.parse_play(text, now.game.teams) if text is not None else None
    except (Problem, Unreadable):
        return None
    if not wrong:
        return None
    is_own = wrong[0].seq == (now.seq + 1 if kind is EventKind.LINE else entry.seq)
    way = {EventKind.RETRACT: "retract", EventKind.LINE: "insert"}.get(kind, "correct")
    return {
        "play": play,
        "say": words.play_say(play, Names.of(now.game)) if play is not None else "",
        "text": text,
        "post_to": url_for(f"table.{way}", seq=entry.seq),
        # a counted hand is corrected on its score page
        "leave": url_for("score.plays", number=entry.hand) if now.was_counted(entry) else url_for("table.show"),
        "own": is_own,
        "may_stand": is_own and play is not None and not play.anyway,
        "first": views.entry_view(now.game, wrong[0]),
        "later": len(wrong) - is_own,
    }


def _picker(
    now: MatchState,
    table: Table,
    usual_player: str,
    *,
    tab: Tab = Tab.MY_TURN,
    written: str = "",
    noted: Play | None = None,
    line: int | None = None,
    is_new: bool = False,
    asks_who: bool = False,
    **task: object,
) -> str:
    """Return the picker page, with `usual_player` and `tab` preselected.

    `written` is the play in notation, `noted` the changed line's current play, `line` its number. With `asks_who` the
    page asks which of two players played.

    `task` goes to the template:

    * `title`, `post_to`, `picture` (address);
    * `about`: sentence about the card or recorded play;
    * `is_asked`: the page answers a question: "not a play" is possible;
    * `refused`: the illegal play picked here;
    * `misfits`: see `_misfits`.
    """
    names = Names.of(now.game)
    player = request.args.get("player", usual_player)
    if not any(seat.player == player for seat in table.seats):
        player = usual_player
    tab = request.args.get("tab", tab, type=Tab)
    if request.args.get("tab") == Tab.AT_ONCE and "player" not in request.args:
        player = card_picker.who_answers(table, phone_identity.seat(now) or player)
    who = card_picker.who_plays(table, names) if asks_who and not request.args else None
    question = who or card_picker.question(table, player, request.args, names)
    take = (offer for offer in offers.taking(table, player) if offer.legal)
    return render_template(
        "entry.html",
        task={**task, "table": table, "line": line, "is_new": is_new},
        player=player,
        tab=tab,
        tabs=TABS,
        question=question,
        groups=question.groups if question else card_picker.groups(table, player, tab),
        beside=[*offers.beside(table, names, player), *take] if tab is Tab.MY_TURN else [],
        more=card_picker.more(table, player, names) if tab is Tab.OTHER else [],
        written=request.args.get("text") or written or f"{player} ",
        noted=noted if noted is not None and _tab_of(noted) is tab else None,
        same=_same_by(table, noted, player, names) if noted is not None else None,
        fault=_fault(now),
        chances=[offers.coup_fourre(play, names) for play in offers.coups_fourres(table)] if is_new else [],
        before="before=1&" if request.args.get("before") else "",
        why_not_retract=permissions.why_no_retract(now, line) if line else None,
    )


def _same_by(table: Table, noted: Play, player: str, names: Names) -> Offer | None:
    """Return the recorded play as another player's; None if theirs already or aimed at their side."""
    if noted.player in (None, player) or noted.target in (player, table.side_of(player).name):
        return None
    play = replace(noted, player=player, anyway=False)
    return Offer(words.play_say(play, names), str(play), legal=legal_now(table, play), card=play.card)


def _fault(now: MatchState) -> str | None:
    try:
        notation.parse_play(request.args.get("text", "end"), now.game.teams)
    except Unreadable as error:
        return str(error)
    return None


def _tab_of(play: Play | None) -> Tab:
    if play is None:
        return Tab.MY_TURN
    return Tab.DISCARD if play.verb is Verb.DISCARD else Tab.AT_ONCE if play.at_once else Tab.MY_TURN


# Legal cards

MOST_REASONS = 2  # against a card


@bp.get("/may")
def may() -> AnyResponse | str:
    """Show which cards a player may play: the requested, this phone's or the current player."""
    now = state()
    table, seat = now.game.table, phone_identity.seat(now)
    if table is None:
        return redirect(url_for("setting_up.show"))
    asked = request.args.get("player", "")
    known = any(place.player == asked for place in table.seats)
    names, player = Names.of(now.game), asked if known else seat or table.player_up
    is_up, judged = player == table.player_up, table
    if not is_up:  # as if it were their turn
        judged = table._replace(
            to_move=table.seat_of(player), due=Due.TURN, window=Window(), attacks=(), may_pass=False
        )
    return render_template(
        "may.html",
        table=table,
        player=player,
        is_up=is_up,
        is_open=not table.is_over and table.extension_offered_to is None,
        at_once=list(at_once(table, player)),
        beside=[*offers.beside(table, names, player)],
        families=list(families(judged, player, names)),
        discards=discards(judged, player, names),
    )


def at_once(table: Table, player: str) -> Iterator[Offer]:
    """Yield buttons for a player's plays out of turn."""
    for play in referee.legal_plays(table, player):
        if play.at_once and play.card is not None:
            card = words.title(play.card)
            say = _("%(card)s under its hazard", card=card) if play.under else card
            yield Offer(say, str(play), card=play.card)


def families(table: Table, player: str, names: Names) -> Iterator[dict[str, object]]:
    """Yield card families with buttons for legal plays and reasons against others."""
    for family in card_picker.FAMILIES:
        can: list[Offer] = []
        against: list[tuple[Card, Play]] = []
        for card in table.deck:
            if card.family is not family or card in card_picker.ANSWERING:
                continue
            plays = list(card_picker.ways(table, player, card))
            legal = [play for play in plays if legal_now(table, play)]
            can += _taps(player, card, legal, names)
            # A special card's illegal uses are pointless if it has a legal one.
            if not legal or card not in card_picker.ASKS_MORE:
                against += [(card, play) for play in plays if play not in legal]
        cannot = list(_reasons(table, against, names))
        if can or cannot:
            title = _(words.FAMILY_TITLES[family])
            yield {"title": title, "family": family, "can": can, "cannot": cannot}


def _taps(player: str, card: Card, legal: list[Play], names: Names) -> Iterator[Offer]:
    if legal and card in card_picker.ASKS_MORE:
        yield Offer(_("%(card)s …", card=words.title(card)), ask=offers.query(player, card=card.value), card=card)
        return
    for play in legal:
        title, whom = words.title(play.card), names.anyone(play.target or "")
        yield Offer(_("%(card)s on %(whom)s", card=title, whom=whom) if play.target else title, str(play), card=card)


def _reasons(table: Table, against: Iterable[tuple[Card, Play]], names: Names) -> Iterator[tuple[list[Card], Why]]:
    about: dict[Why, dict[Card, None]] = {}
    for card, play in against:
        for why in words.whys(referee.objections(table, play)[:MOST_REASONS], table.edition, names):
            about.setdefault(why, {})[card] = None
    return ((list(cards), why) for why, cards in about.items())


def discards(table: Table, player: str, names: Names) -> dict[str, object]:
    """Return whether any card may be discarded, and reasons against others.

    Safeties are always listed, others only if no discard is legal.
    """
    plays = [(card, Play(Verb.DISCARD, player, card)) for card in table.deck]
    against = [(card, play) for card, play in plays if not legal_now(table, play)]
    told = [(card, play) for card, play in against if card.family is Family.SAFETY or len(against) == len(plays)]
    return {
        "some": len(against) < len(plays),
        "cannot": list(_reasons(table, told, names)),
    }
