"""Rules changed one by one: `python tests/mutations.py [NAME…] [--jobs N]` says which test notices each change.

Each change is made in a copy of the project and the tests of the rules are run there until the first failure. Left
out are the tests that play by chance and those marked `long`: a rule is held by a test that names it and that
`deploy/test` runs. NAME is a part of a mutation's name.
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
RULES = "companion/rules"
COPIED = ("companion", "tests", "web", "card_templates", "pyproject.toml", "README.md")
TOO_LONG_S = 300

SUITE = (
    "test_referee.py",
    "test_scoring.py",
    "test_rush.py",
    "test_asmodee.py",
    "test_bsd_mille.py",
    "test_parker.py",
    "test_dujardin.py",
    "test_rows_more.py",
    "test_traps.py",
    "test_every_sheet.py",
    "test_notation.py",
    "test_judge.py",
    "test_golden.py",
    "test_edition.py",
    "test_reasons.py",
    "test_corrections.py",
)
FIRST = {
    "scoring.py": "test_scoring.py",
    "record/judge.py": "test_judge.py",
    "record/notation.py": "test_notation.py",
    "editions/edition.py": "test_edition.py",
    "editions/asmodee-2014.toml": "test_asmodee.py",
    "editions/bsd-mille.toml": "test_bsd_mille.py",
    "editions/dujardin-2014.toml": "test_dujardin.py",
    "editions/parker.toml": "test_parker.py",
    "editions/rush.toml": "test_rush.py",
}
"""The tests most likely to notice a change in a file."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One rule turned wrong: `old` stands once in the file, and `new` in its place is the mistake."""

    name: str
    file: str
    """Below `companion/rules`."""

    old: str
    new: str


MUTATIONS = (
    # --- What speaks against a play ---
    Mutation("75 is slow under a limit", "legality.py", "SLOW_KM = 50", "SLOW_KM = 75"),
    Mutation("two accelerators lie on a card", "legality.py", "MOST_TIMES = 2", "MOST_TIMES = 3"),
    Mutation(
        "a third 200 is allowed",
        "legality.py",
        "side.distances.count(card) >= allowed",
        "side.distances.count(card) > allowed",
    ),
    Mutation("the target cannot be reached exactly", "legality.py", "if km > left and", "if km >= left and"),
    Mutation(
        "distance is driven under a hazard",
        "legality.py",
        "        yield _under(side, side.hazard)\n    elif not is_driving",
        "        pass\n    elif not is_driving",
    ),
    Mutation(
        "the standing car drives and the rolling one does not",
        "legality.py",
        "elif not is_driving(edition, side):",
        "elif is_driving(edition, side):",
    ),
    Mutation(
        "under a limit anything is driven",
        "legality.py",
        "    if side.limited:\n        # Nothing fast",
        "    if not side.limited:\n        # Nothing fast",
    ),
    Mutation(
        "a doubled 50 is fast by the sheet",
        "legality.py",
        'edition.limit_on_doubled == "doubled"',
        'edition.limit_on_doubled == "printed"',
    ),
    Mutation(
        "a card is taken into a full hand",
        "legality.py",
        '>= FULL_HAND:\n        yield reason(Code.CANNOT_TAKE_DISCARD, case="full")',
        '> FULL_HAND:\n        yield reason(Code.CANNOT_TAKE_DISCARD, case="full")',
    ),
    Mutation(
        "a card is taken after drawing",
        "legality.py",
        '    elif table.drawn:\n        yield reason(Code.CANNOT_TAKE_DISCARD, case="drawn")\n',
        "",
    ),
    Mutation("anybody passes", "legality.py", "    if not table.may_pass:", "    if False:"),
    Mutation(
        "the opponents answer for the extension",
        "legality.py",
        'table.side_index(play.player or "") != table.extension_offered_to',
        'table.side_index(play.player or "") == table.extension_offered_to',
    ),
    Mutation(
        "a safety is discarded where it may not be",
        "legality.py",
        'table.edition.discard_safety == "forbidden"',
        'table.edition.discard_safety == "allowed"',
    ),
    Mutation(
        "a fetched card that could be laid is discarded",
        "legality.py",
        "and lays_taken(table, play) and _can_be_laid(table, taken):",
        "and lays_taken(table, play) and not _can_be_laid(table, taken):",
    ),
    Mutation(
        "the last copy is not exchanged",
        "legality.py",
        "play.cards.count(card) > copies_left(table, card, play) > 0",
        "play.cards.count(card) >= copies_left(table, card, play) > 0",
    ),
    Mutation(
        "right of way is no first card",
        "legality.py",
        "card_of(play) not in (Card.ROLL, Card.RIGHT_OF_WAY)",
        "card_of(play) is not Card.ROLL",
    ),
    Mutation(
        "any first card will do",
        "legality.py",
        'first_card == "roll-or-right-of-way" and not side.has_begun',
        'first_card == "roll-or-right-of-way" and side.has_begun',
    ),
    Mutation(
        "a coup fourré passes the target where nothing may",
        "legality.py",
        "SAFETY_KM + COUP_FOURRE_KM * play.at_once",
        "SAFETY_KM",
    ),
    Mutation(
        "any remedy remedies any hazard",
        "legality.py",
        "elif side.hazard is not HAZARD_OF[card]:",
        "elif side.hazard is None:",
    ),
    Mutation(
        "a roll remedies all but a stop",
        "legality.py",
        "        if side.hazard is not Card.STOP:",
        "        if side.hazard is Card.STOP:",
    ),
    Mutation(
        "a roll lies on a roll",
        "legality.py",
        "    elif side.battle_top is Card.ROLL:\n        yield reason(Code.ALREADY_ROLLING, side=side.name)\n",
        "",
    ),
    Mutation(
        "a roll lies on a remedy where it has no use",
        "legality.py",
        "else top.family is Family.REMEDY",
        "else top.family is Family.SAFETY",
    ),
    Mutation(
        "a limit ends that never was",
        "legality.py",
        "        if not side.limited:\n            yield reason(Code.NOT_LIMITED",
        "        if side.limited:\n            yield reason(Code.NOT_LIMITED",
    ),
    Mutation("a side attacks itself", "legality.py", "    if victim is own:", "    if victim is None:"),
    Mutation(
        "a safety shuts nothing out",
        "legality.py",
        "    if SAFETY_OF[card] in victim.safeties:",
        "    if card in victim.safeties:",
    ),
    Mutation("a limit lies on a limit", "legality.py", "    elif victim.limited:", "    elif False:"),
    Mutation(
        "a limit waits for a rolling car",
        "legality.py",
        "    if card is not Card.SPEED_LIMIT:\n        yield from _against_attack",
        "    if card is not Card.UNKNOWN:\n        yield from _against_attack",
    ),
    Mutation(
        "hazards are stacked where they may not be",
        "legality.py",
        'if edition.hazard_on_hazard == "forbidden":',
        'if edition.hazard_on_hazard == "allowed":',
    ),
    Mutation(
        "right of way shields a car that is not rolling",
        "legality.py",
        'switch == "with-right-of-way" and not victim.has_right_of_way',
        'switch == "with-right-of-way" and victim.has_right_of_way',
    ),
    Mutation(
        "an empty pile is attacked like a remedied one",
        "legality.py",
        "edition.hazard_on_empty_pile if top is None else edition.hazard_on_remedy",
        "edition.hazard_on_remedy",
    ),
    Mutation(
        "play goes on after the end",
        "legality.py",
        "return () if says_so_again else (reason(Code.HAND_OVER),)",
        "return ()",
    ),
    Mutation(
        "play goes on while an extension is offered",
        "legality.py",
        "if table.extension_offered_to is not None and play.verb not in _WHILE_OFFERED",
        "if table.extension_offered_to is None and play.verb not in _WHILE_OFFERED",
    ),
    Mutation(
        "a late safety is no news", "legality.py", "        yield reason(Code.LATE_SAFETY)", "        yield from ()"
    ),
    Mutation(
        "the last copy of an unverified deck is remarked upon",
        "legality.py",
        "copies_left(table, card, play) < out.count(card)",
        "copies_left(table, card, play) <= out.count(card)",
    ),
    Mutation(
        "discarding a fetched card is remarked upon",
        "legality.py",
        'table.edition.discard == "when-stuck" and not lays_taken(table, play)',
        'table.edition.discard == "when-stuck"',
    ),
    # --- What speaks against the special cards ---
    Mutation("a mirror is allowed a third time", "legality.py", "MOST_MIRRORS = 2", "MOST_MIRRORS = 3"),
    Mutation("a mirror is not mirrored", "legality.py", "MOST_MIRRORS = 2", "MOST_MIRRORS = 1"),
    Mutation(
        "one steals from oneself alone",
        "legality.py",
        'if victim is table.side_of(play.player or ""):',
        'if victim is not table.side_of(play.player or ""):',
    ),
    Mutation(
        "a doubled card is stolen that is not doubled",
        "legality.py",
        "(victim.doubled if play.times > 1 else victim.distances)",
        "victim.distances",
    ),
    Mutation(
        "a card is stolen that does not lie there",
        "legality.py",
        "        yield reason(Code.NO_SUCH_CARD_THERE, card=card_of(play), side=victim.name)",
        "        yield from ()",
    ),
    Mutation(
        "a safety is demanded",
        "legality.py",
        "    if card.family is Family.SAFETY:\n        yield reason(Code.SAFETY_DEMANDED)",
        "    if card.family is Family.UNKNOWN:\n        yield reason(Code.SAFETY_DEMANDED)",
    ),
    Mutation(
        "a partner is controlled",
        "legality.py",
        'if table.seats[of_seat].side == table.seats[table.seat_of(play.player or "")].side:',
        'if of_seat == table.seat_of(play.player or ""):',
    ),
    Mutation(
        "two requests lie beside one player",
        "legality.py",
        "    if any(request.of_seat == of_seat for request in table.requests):",
        "    if any(request.by_seat == of_seat for request in table.requests):",
    ),
    Mutation(
        "a card is handed over that nobody asked for",
        "legality.py",
        "(r.of_seat, r.by_seat, r.card) == (seat, by_seat, play.card)",
        "(r.of_seat, r.by_seat) == (seat, by_seat)",
    ),
    Mutation(
        "a demanded card is handed over at any time",
        "legality.py",
        "    elif table.window.asked is not asked:\n        yield from against_turn(table, play)\n",
        "",
    ),
    Mutation(
        "anybody names another card",
        "legality.py",
        "(r.of_seat, r.by_seat) == (of_seat, by_seat)), None)",
        "r.of_seat == of_seat), None)",
    ),
    Mutation(
        "another card is the same card",
        "legality.py",
        "    if own.card is play.card:\n        yield reason(Code.REQUEST_PENDING, player=play.target)\n",
        "",
    ),
    Mutation(
        "a pair of safeties is laid down",
        "legality.py",
        "if counts and 0 < copies_left(table, card, play) < 2:",
        "if counts and 0 < copies_left(table, card, play) < 1:",
    ),
    Mutation(
        "a pair fetches nothing of its own kind",
        "legality.py",
        "if wanted not in there and wanted is not card:",
        "if wanted not in there:",
    ),
    Mutation(
        "a pair fetches what has become the draw pile",
        "legality.py",
        "there = () if reshuffles(table) else table.discards",
        "there = table.discards",
    ),
    Mutation(
        "mistakes cost a card by every sheet",
        "legality.py",
        '    if table.edition.mistake_penalty == "no":',
        '    if table.edition.mistake_penalty == "maybe":',
    ),
    Mutation(
        "a mirror reaches whoever is immune",
        "legality.py",
        "    if SAFETY_OF[hazard] in attacker.safeties:",
        "    if hazard in attacker.safeties:",
    ),
    Mutation(
        "a mirror limits whoever is limited",
        "legality.py",
        "        if attacker.limited:",
        "        if attacker.hazard:",
    ),
    Mutation(
        "a mirror stacks hazards",
        "legality.py",
        "elif attacker.hazard is not None and table.edition",
        "elif attacker.hazard is None and table.edition",
    ),
    Mutation(
        "one turns one's own card back",
        "legality.py",
        "elif table.sides[table.seats[laid.seat].side] is side:",
        "elif table.sides[table.seats[laid.seat].side] is None:",
    ),
    Mutation(
        "the winning card is turned back although the house forbids it",
        "legality.py",
        'u_turn_on_winning_card == "forbidden"',
        'u_turn_on_winning_card == "never"',
    ),
    # --- Whose turn, which card, what is open ---
    Mutation(
        "the first attack is answered and not the last",
        "legality.py",
        "    for attack in reversed(table.attacks):",
        "    for attack in table.attacks:",
    ),
    Mutation(
        "remedies answer at once by every sheet",
        "legality.py",
        'if edition.fast_remedy == "yes" else (SAFETY_OF[hazard],)',
        "",
    ),
    Mutation(
        "the first attack is mirrored and not the last",
        "legality.py",
        "next((attack for attack in reversed(table.attacks)",
        "next((attack for attack in table.attacks",
    ),
    Mutation(
        "somebody else lays a stolen card out of turn",
        "legality.py",
        "if taken is None or table.seats[taken.seat].player != play.player or play.at_once:",
        "if taken is None or play.at_once:",
    ),
    Mutation(
        "a stolen card is discarded out of turn",
        "legality.py",
        "return taken.how is not How.STOLEN and play.card is taken.card",
        "return play.card is taken.card",
    ),
    Mutation(
        "a fetched card is an extra one",
        "legality.py",
        "taken is not None and taken.how is not How.FETCHED and lays_taken(table, play)",
        "taken is not None and lays_taken(table, play)",
    ),
    Mutation(
        "a fetched card may be kept",
        "legality.py",
        "            yield reason(Code.MUST_PLAY_IT, card=taken.card)",
        "            yield from ()",
    ),
    Mutation(
        "it is everybody's turn",
        "legality.py",
        "    if play.player != table.player_to_move:\n        yield",
        "    if play.player is None:\n        yield",
    ),
    Mutation(
        "one copy more than is printed",
        "legality.py",
        "copies_left(table, card, play) <= 0",
        "copies_left(table, card, play) < 0",
    ),
    Mutation(
        "a card of the reshuffled discards cannot come back with the draw",
        "legality.py",
        "    return left + table.discards.count(card)",
        "    return left",
    ),
    Mutation(
        "a deck counted wrong makes plays illegal",
        "legality.py",
        "(table.edition.counts_verified or card.family is Family.SAFETY) and copies_left",
        "copies_left",
    ),
    Mutation(
        "a demanded card is laid all the same",
        "legality.py",
        "if request.of_seat == seat and request.card in out:",
        "if request.by_seat == seat and request.card in out:",
    ),
    Mutation(
        "a pair takes one card out of the hand",
        "legality.py",
        "return (card_of(play),) * 2",
        "return (card_of(play),)",
    ),
    Mutation(
        "an accelerator is no card of the hand",
        "legality.py",
        "return (card_of(play), Card.ACCELERATOR) if play.times > 1 else (card_of(play),)",
        "return (card_of(play),)",
    ),
    # --- What a play does ---
    Mutation(
        "a coup fourré loses the hazard",
        "apply.py",
        "    draft.discard(attack.hazard)\n    _lay_safety",
        "    _lay_safety",
    ),
    Mutation(
        "a coup fourré refills nothing",
        "apply.py",
        "    if is_whole:\n        draft.draw(seat)\n",
        "",
    ),
    Mutation(
        "a coup fourré leaves the turn to the left",
        "apply.py",
        "draft.settle(seat, Due.TURN if is_whole else Due.NOTHING)",
        "draft.settle(draft.next(seat), Due.TURN if is_whole else Due.NOTHING)",
    ),
    Mutation(
        "after every coup fourré a card is drawn",
        "apply.py",
        "draft.settle(seat, Due.TURN if is_whole else Due.NOTHING)",
        "draft.settle(seat, Due.TURN)",
    ),
    Mutation(
        "after a coup fourré with a whole turn the turn may be passed",
        "apply.py",
        "draft.may_pass = not is_whole and draft.ending is None",
        "draft.may_pass = draft.ending is None",
    ),
    Mutation(
        "a coup fourré completes no race",
        "apply.py",
        "    draft.complete(attack.side)\n",
        "",
    ),
    Mutation(
        "a coup fourré counts as a plain safety",
        "apply.py",
        "coups_fourres=(*side.coups_fourres, card_of(play))",
        "coups_fourres=side.coups_fourres",
    ),
    Mutation(
        "a turn is drawn for after a remedy out of turn",
        "apply.py",
        "    draft.settle(seat, Due.NOTHING)\n    draft.may_pass = draft.ending is None and",
        "    draft.settle(seat)\n    draft.may_pass = draft.ending is None and",
    ),
    Mutation(
        "a remedy out of turn gives no turn",
        "apply.py",
        "    draft.settle(seat, Due.NOTHING)\n    draft.may_pass = draft.ending is None and",
        "    draft.settle(draft.to_move, draft.due)\n    draft.may_pass = draft.ending is None and",
    ),
    Mutation(
        "nobody passes after a remedy out of turn",
        "apply.py",
        "    draft.may_pass = draft.ending is None and draft.to_move == seat\n\n\ndef _safety_out_of_turn",
        "\n\ndef _safety_out_of_turn",
    ),
    Mutation(
        "a remedy always goes under its hazard",
        "apply.py",
        "(card, hazard) if play.under else (hazard, card)",
        "(card, hazard)",
    ),
    Mutation(
        "a remedy always lies on its hazard",
        "apply.py",
        'in_force and draft.before.edition.pile_after_remedy == "card-beneath"',
        "play.at_once",
    ),
    Mutation(
        "a remedy at once always takes the turn",
        "apply.py",
        'draft.before.edition.fast_remedy_turn == "goes-on"',
        "False",
    ),
    Mutation("a safety ends the turn", "apply.py", "draft.settle(seat, Due.ONE)", "draft.settle(draft.next(seat))"),
    Mutation("a safety draws no card", "apply.py", "draft.settle(seat, Due.ONE)", "draft.settle(seat, Due.NOTHING)"),
    Mutation("after a safety the hand is filled up", "apply.py", "draft.settle(seat, Due.ONE)", "draft.settle(seat)"),
    Mutation(
        "a card beyond the target stays everywhere",
        "apply.py",
        'if passes and edition.past_target_card == "discarded":',
        'if passes and edition.past_target_card == "gone":',
    ),
    Mutation(
        "every late safety takes its hazard away",
        "apply.py",
        'takes_away = card is Card.RIGHT_OF_WAY or edition.roll_after_late_safety == "not-needed"',
        "takes_away = True",
    ),
    Mutation(
        "a late right of way leaves the limit lying",
        "apply.py",
        "limit = card is Card.RIGHT_OF_WAY and side.limited",
        "limit = False",
    ),
    Mutation(
        "a safety takes any hazard away",
        "apply.py",
        "side.hazard is not None and SAFETY_OF[side.hazard] is card else None",
        "side.hazard is not None else None",
    ),
    Mutation(
        "right of way on a stop leaves a roll",
        "apply.py",
        "shows=Shows.NOTHING if gone is Card.STOP else Shows.ROLL",
        "shows=Shows.ROLL",
    ),
    Mutation(
        "right of way on a limit leaves no roll",
        "apply.py",
        "    elif limit and (top is None or top.family is Family.REMEDY):\n"
        "        draft.change_side(index, shows=Shows.ROLL)\n",
        "",
    ),
    Mutation(
        "a late right of way leaves a stop lying where other hazards stay",
        "apply.py",
        "takes_away = card is Card.RIGHT_OF_WAY or edition",
        "takes_away = edition",
    ),
    Mutation(
        "a safety claimed too late draws no card",
        "apply.py",
        "    draft.leave_hand(seat)\n    draft.draw(seat)\n    draft.complete(index)",
        "    draft.leave_hand(seat)\n    draft.complete(index)",
    ),
    Mutation(
        "an exchange draws one card",
        "apply.py",
        "    for _ in play.cards:\n        draft.draw(seat)",
        "    draft.draw(seat)",
    ),
    Mutation(
        "a pass keeps the turn",
        "apply.py",
        'draft.settle(draft.next(draft.before.seat_of(play.player or "")))',
        'draft.settle(draft.before.seat_of(play.player or ""))',
    ),
    Mutation(
        "a card taken does not stand for the draw",
        "apply.py",
        "due if fills_up else Due.NOTHING",
        "due",
    ),
    Mutation("a forgotten draw is drawn", "apply.py", "    draft.due = Due.NOTHING\n", ""),
    Mutation(
        "an extension is offered twice",
        "apply.py",
        "draft.target, draft.may_extend = EXTENDED_KM, False",
        "draft.target = EXTENDED_KM",
    ),
    Mutation(
        "nobody knows who called the extension",
        "apply.py",
        "draft.extended_by, draft.extension_offered_to = draft.extension_offered_to, None",
        "draft.extension_offered_to = None",
    ),
    Mutation(
        "the sight of an empty pile closes the window",
        "apply.py",
        "frozenset({Verb.EXHAUSTED, Verb.EXTEND, Verb.PENALTY})",
        "frozenset({Verb.EXTEND, Verb.PENALTY})",
    ),
    Mutation(
        "a penalty closes the window of a coup fourré",
        "apply.py",
        "frozenset({Verb.EXHAUSTED, Verb.EXTEND, Verb.PENALTY})",
        "frozenset({Verb.EXHAUSTED, Verb.EXTEND})",
    ),
    Mutation(
        "the sight of an empty pile changes nothing",
        "apply.py",
        "    draft.unaccounted += draft.draw_pile\n    draft.draw_pile = 0\n",
        "",
    ),
    Mutation(
        "a race with a reshuffle is exhausted",
        "apply.py",
        "HowEnded.AGREED if draft.draw_pile or can_reshuffle else",
        "HowEnded.AGREED if draft.draw_pile else",
    ),
    Mutation(
        "the last card is not drawn before the end",
        "apply.py",
        "    draft.draw_for_turn(draft.to_move)\n    can_reshuffle",
        "    can_reshuffle",
    ),
    Mutation(
        "a window is never shut",
        "apply.py",
        'coup_fourre_window == "next-draw-or-play":\n        return draft.new_attacks',
        'coup_fourre_window == "next-draw-or-play":\n        return (*draft.attacks, *draft.new_attacks)',
    ),
    Mutation(
        "the own draw shuts no window",
        "apply.py",
        "for attack in draft.attacks if attack.side != acting)",
        "for attack in draft.attacks)",
    ),
    Mutation(
        "a covered attack is answered",
        "apply.py",
        "for attack, side in others if attack.hazard in (side.speed_top, side.battle_top))",
        "for attack, side in others)",
    ),
    Mutation(
        "a hazard on the own side is an attack",
        "apply.py",
        "    if index != own:\n        draft.new",
        "    if True:\n        draft.new",
    ),
    # --- What the special cards do ---
    Mutation(
        "a lifted limit takes the whole speed pile along",
        "draft.py",
        "self.change_side(index, speed=side.speed[:-1])",
        "self.change_side(index, speed=())",
    ),
    Mutation(
        "a lifted hazard forgets that the car was rolling",
        "draft.py",
        "battle=side.battle[:-1], shows=before)",
        "battle=side.battle[:-1], shows=Shows.TOP)",
    ),
    Mutation(
        "a u-turn keeps the accelerator in the hand",
        "apply.py",
        "    draft.hands[laid.seat] += 1\n",
        "    draft.hands[laid.seat] += laid.times\n",
    ),
    Mutation(
        "a u-turn leaves the accelerator lying",
        "apply.py",
        "laid.card, doubled=laid.times > 1)\n",
        "laid.card, doubled=False)\n",
    ),
    Mutation(
        "a u-turn on the winning card ends the race all the same",
        "apply.py",
        "    draft.ending, draft.extension_offered_to = None, None\n",
        "",
    ),
    Mutation(
        "a mirror lays no attack",
        "apply.py",
        "        draft.new_attacks = (Attack(attack.hazard, seat, index, before, attack.mirrors + 1),)\n",
        "",
    ),
    Mutation("mirrors are not counted", "apply.py", "before, attack.mirrors + 1)", "before, attack.mirrors)"),
    Mutation(
        "an answer out of turn takes the turn on",
        "apply.py",
        "    draft.discard(card_of(play))\n    draft.settle(draft.to_move, draft.due)",
        "    draft.discard(card_of(play))\n    draft.settle(draft.next(draft.to_move))",
    ),
    Mutation(
        "theft leaves the accelerator",
        "apply.py",
        "doubled = play.times > 1 or side.distances.count(card) == side.doubled.count(card)",
        "doubled = False",
    ),
    Mutation(
        "theft of a bare card takes a doubled one",
        "apply.py",
        "doubled = play.times > 1 or side.distances.count(card) == side.doubled.count(card)",
        "doubled = card in side.doubled",
    ),
    Mutation("the thief gets no accelerator", "apply.py", "draft.hands[seat] += 1 + doubled", "draft.hands[seat] += 1"),
    Mutation(
        "the stolen card waits for the next turn",
        "apply.py",
        "    draft.window = Window(taken=Taken(seat, card, How.STOLEN))\n",
        "",
    ),
    Mutation(
        "theft lies on top of the discard pile",
        "draft.py",
        "frozenset({Card.THEFT, Card.CONTROL})",
        "frozenset({Card.CONTROL})",
    ),
    Mutation(
        "control lies on top of the discard pile",
        "draft.py",
        "frozenset({Card.THEFT, Card.CONTROL})",
        "frozenset({Card.THEFT})",
    ),
    Mutation(
        "nothing is handed over on the spot",
        "apply.py",
        "        draft.window = Window(asked=asked)\n",
        "",
    ),
    Mutation(
        "whoever names another card draws another card",
        "apply.py",
        "    draft.to_move, draft.due = seat, Due.NOTHING\n    if of_seat is None",
        "    if of_seat is None",
    ),
    Mutation(
        "handing a card over does not end the turn",
        "apply.py",
        "        draft.draw_for_turn(seat)\n        draft.settle(draft.next(seat))\n    draft.leave_hand(seat)\n",
        "        draft.draw_for_turn(seat)\n    draft.leave_hand(seat)\n",
    ),
    Mutation(
        "the giver draws no card",
        "apply.py",
        "        draft.draw_for_turn(seat)\n        draft.settle(draft.next(seat))\n    draft.leave_hand(seat)\n",
        "        draft.settle(draft.next(seat))\n    draft.leave_hand(seat)\n",
    ),
    Mutation(
        "a request stays when the card has been handed over",
        "apply.py",
        "    draft.requests = tuple(other for other in draft.requests if other is not request)\n",
        "",
    ),
    Mutation("the asker gets no card", "apply.py", "    draft.hands[by_seat] += 1\n", ""),
    Mutation(
        "a handed card waits for the asker's turn",
        "apply.py",
        "    draft.window = Window(taken=Taken(by_seat, card_of(play), How.HANDED))\n",
        "",
    ),
    Mutation("a pair is one card", "apply.py", "_begin(draft, play, 2)", "_begin(draft, play, 1)"),
    Mutation(
        "after a pair anything is played",
        "apply.py",
        "    draft.window = Window(taken=Taken(seat, wanted, How.FETCHED))\n",
        "",
    ),
    Mutation(
        "a pair ends the turn",
        "apply.py",
        "draft.to_move, draft.due, draft.may_pass = seat, Due.NOTHING, False",
        "draft.settle(draft.next(seat))",
    ),
    Mutation(
        "after a penalty nothing is turned back",
        "apply.py",
        "    draft.discard(card_of(play))\n    draft.window = draft.before.window\n",
        "    draft.discard(card_of(play))\n",
    ),
    # --- The draw, the turn, the end of the hand ---
    Mutation("turns run the other way", "draft.py", "return (seat + 1) % len", "return (seat - 1) % len"),
    Mutation(
        "the discards stay when they are reshuffled",
        "draft.py",
        "self.draw_pile, self.discards = len(self.discards), ()",
        "self.draw_pile = len(self.discards)",
    ),
    Mutation(
        "a play out of turn draws as the player to move would",
        "draft.py",
        "due = self.due if seat == self.to_move else Due.TURN",
        "due = self.due",
    ),
    Mutation(
        "every turn draws one card",
        "draft.py",
        'if due is Due.TURN and self.before.edition.draw == "to-seven":',
        'if due is Due.TURN and self.before.edition.draw == "to-eight":',
    ),
    Mutation(
        "whoever passes the target completes it",
        "draft.py",
        'passed = km > self.target and self.before.edition.overshoot == "allowed"',
        "passed = km > self.target",
    ),
    Mutation(
        "a race ends only at its exact km",
        "draft.py",
        "    if km != self.target and not passed:".strip(),
        "if km != self.target:",
    ),
    Mutation(
        "nobody is asked for an extension", "draft.py", "        if self.may_extend:", "        if not self.may_extend:"
    ),
    Mutation(
        "the race does not end with the draw pile",
        "draft.py",
        'if how_on == "ends" and due is not Due.NOTHING:',
        'if how_on == "stops" and due is not Due.NOTHING:',
    ),
    Mutation(
        "the race ends although the player need not draw",
        "draft.py",
        'if how_on == "ends" and due is not Due.NOTHING:',
        'if how_on == "ends":',
    ),
    Mutation(
        "a player without cards has the turn",
        "draft.py",
        "        elif not self.hands[seat]:\n",
        "        elif not self.hands:\n",
    ),
    Mutation(
        "whoever completes with the last card has exhausted the hand",
        "draft.py",
        "if self.ending is None and self.extension_offered_to is None:",
        "if self.extension_offered_to is None:",
    ),
    Mutation(
        "an offered extension is exhausted",
        "draft.py",
        "if self.ending is None and self.extension_offered_to is None:",
        "if self.ending is None:",
    ),
    Mutation(
        "a right to pass is kept",
        "draft.py",
        "self.to_move, self.due, self.may_pass = seat, due, False",
        "self.to_move, self.due = seat, due",
    ),
    Mutation(
        "a card from the middle of the pile is fetched from its top",
        "draft.py",
        "self.discards = without_last(self.discards, card)",
        "self.discards = self.discards[:-1]",
    ),
    # --- The table ---
    Mutation("hands are refilled to six", "table.py", "FULL_HAND = 7", "FULL_HAND = 6"),
    Mutation("a safety counts 200 km", "table.py", "\nSAFETY_KM = 100", "\nSAFETY_KM = 200"),
    Mutation("a coup fourré counts 300 km in all", "table.py", "COUP_FOURRE_KM = 100", "COUP_FOURRE_KM = 200"),
    Mutation(
        "an accelerator counts no km",
        "table.py",
        "return sum(map(_KM, self.distances)) + (sum(map(_KM, self.doubled)) if self.doubled else 0)",
        "return sum(map(_KM, self.distances))",
    ),
    Mutation(
        "a hazard stops although its safety is out",
        "table.py",
        "top.family is Family.HAZARD and SAFETY_OF[top] not in self.safeties",
        "top.family is Family.HAZARD",
    ),
    Mutation(
        "right of way lifts no limit",
        "table.py",
        "self.speed_top is Card.SPEED_LIMIT and Card.RIGHT_OF_WAY not in self.safeties",
        "self.speed_top is Card.SPEED_LIMIT",
    ),
    Mutation(
        "an opponent's limit begins a side's race",
        "table.py",
        "own = any(card.family is Family.REMEDY for card in self.battle + self.speed)",
        "own = self.battle + self.speed",
    ),
    Mutation(
        "accelerators are not counted", "table.py", "            return len(self.doubled)", "            return 0"
    ),
    Mutation(
        "discarded cards are not counted",
        "table.py",
        "self.deck.get(card, 0) - self.discards.count(card)",
        "self.deck.get(card, 0)",
    ),
    Mutation(
        "cards on the speed pile are not counted",
        "table.py",
        '"speed" if card in SPEED_CARDS else _AREA',
        '"battle" if card in SPEED_CARDS else _AREA',
    ),
    Mutation(
        "a coup fourré is no distance",
        "table.py",
        "SAFETY_KM * len(side.safeties) + COUP_FOURRE_KM * len(side.coups_fourres)",
        "SAFETY_KM * len(side.safeties)",
    ),
    Mutation(
        "right of way is no permanent roll",
        "table.py",
        "    if top is Card.ROLL or side.has_right_of_way:",
        "    if top is Card.ROLL:",
    ),
    Mutation(
        "a late safety asks for a roll as a remedy does",
        "table.py",
        'return edition.roll_after_late_safety == "not-needed"',
        'return edition.roll_after_remedy == "not-needed"',
    ),
    Mutation(
        "a remedy asks for a roll as a late safety does",
        "table.py",
        'return edition.roll_after_remedy == "not-needed"',
        'return edition.roll_after_late_safety == "not-needed"',
    ),
    Mutation(
        "a roll is needed to start by every sheet",
        "table.py",
        'return edition.roll_to_start == "not-needed"',
        "return False",
    ),
    # --- Counting ---
    Mutation(
        "5000 points are not enough",
        "scoring.py",
        "len(leaders) == 1 and totals[leaders[0]] >= edition.match_points",
        "len(leaders) == 1 and totals[leaders[0]] > edition.match_points",
    ),
    Mutation(
        "of two level sides the first wins the match",
        "scoring.py",
        "len(leaders) == 1 and totals[leaders[0]] >= edition.match_points",
        "totals[leaders[0]] >= edition.match_points",
    ),
    Mutation(
        "a delayed action needs cards in the pile",
        "scoring.py",
        "points.delayed_action * (table.draw_pile == 0)",
        "points.delayed_action * (table.draw_pile != 0)",
    ),
    Mutation(
        "the last card in the pile is a delayed action",
        "scoring.py",
        "points.delayed_action * (table.draw_pile == 0)",
        "points.delayed_action * (table.draw_pile <= 1)",
    ),
    Mutation(
        "a 200 makes a trip safe",
        "scoring.py",
        "(Card.KM_200 not in table.sides[index].distances)",
        "(Card.KM_200 in table.sides[index].distances)",
    ),
    Mutation(
        "several opponents are shut out once",
        "scoring.py",
        '(sum(stayed) if table.edition.shut_out == "per-side" else all(stayed))',
        "all(stayed)",
    ),
    Mutation(
        "one opponent of several is shut out where it takes all",
        "scoring.py",
        "else all(stayed))",
        "else any(stayed))",
    ),
    Mutation(
        "three safeties are all of them",
        "scoring.py",
        "if set(side.safeties) >= set(table.edition.safeties):",
        "if len(side.safeties) >= 3:",
    ),
    Mutation(
        "the caller of an extension has its points whoever completes",
        "scoring.py",
        "if index != table.extended_by if goes_to_opponents else index == completer:",
        "if index != table.extended_by if goes_to_opponents else index == table.extended_by:",
    ),
    Mutation(
        "a caller who fails keeps the extension's points",
        "scoring.py",
        "if index != table.extended_by if goes_to_opponents else index == completer:",
        "if index == table.extended_by if goes_to_opponents else index == completer:",
    ),
    Mutation(
        "an open extension counts",
        "scoring.py",
        "if table.extended_by is None or table.ending is None:",
        "if table.extended_by is None:",
    ),
    Mutation(
        "nobody knows safeties' km on the sheet of a house rule",
        "scoring.py",
        "safety, coup_fourre = safety or SAFETY_KM, coup_fourre or COUP_FOURRE_KM",
        "safety, coup_fourre = safety, coup_fourre",
    ),
    Mutation(
        "a race is won by whoever passed the target",
        "scoring.py",
        "enumerate(map(table.race_km, table.sides)) if km <= table.target}",
        "enumerate(map(table.race_km, table.sides))}",
    ),
    Mutation(
        "of two level races the first wins",
        "scoring.py",
        "    return leaders[0] if len(leaders) == 1 else None",
        "    return leaders[0] if leaders else None",
    ),
    Mutation(
        "a race with a reshuffle goes to the nearest",
        "scoring.py",
        'if not is_exhausted or table.edition.empty_pile == "reshuffle":',
        "if not is_exhausted:",
    ),
    Mutation(
        "a level match is played on where it starts again",
        "scoring.py",
        'return level_at_the_end and edition.points.level == "restart"',
        "return False",
    ),
    Mutation(
        "a level match starts again where it is played on",
        "scoring.py",
        'return level_at_the_end and edition.points.level == "restart"',
        "return level_at_the_end",
    ),
    Mutation(
        "a match goes on after it is won",
        "scoring.py",
        "    if winner is not None or edition.match_points is None:",
        "    if edition.match_points is None:",
    ),
    # --- Dealing, and how editions are made ---
    Mutation("an extension goes to 900", "dealing.py", "EXTENDED_KM = 1000", "EXTENDED_KM = 900"),
    Mutation("any target can be extended", "dealing.py", '== "yes" and km == EXTENDABLE_KM', '== "yes"'),
    Mutation("every 700 can be extended", "dealing.py", 'edition.extension == "yes" and km ==', "km =="),
    Mutation(
        "partners sit side by side",
        "dealing.py",
        "        for place in range(rounds)\n        for side, team in enumerate(teams)\n",
        "        for side, team in enumerate(teams)\n        for place in range(rounds)\n",
    ),
    Mutation(
        "four play alone where they may not",
        "dealing.py",
        "if len(sizes) != 1 or (players, *sizes) not in edition.seatings:",
        "if len(sizes) != 1 or players not in dict(edition.seatings):",
    ),
    Mutation(
        "five hazards are removed for two alone",
        "editions/edition.py",
        "SHORT_GAME_PLAYERS = 3",
        "SHORT_GAME_PLAYERS = 2",
    ),
    Mutation(
        "five hazards are removed for four", "editions/edition.py", "SHORT_GAME_PLAYERS = 3", "SHORT_GAME_PLAYERS = 4"
    ),
    Mutation(
        "a corrected deck may be smaller", "editions/edition.py", "        if total != was:", "        if total > was:"
    ),
    Mutation(
        "what a sheet settles may be turned",
        "editions/edition.py",
        "rules[name] != self.by_the_sheet[name]",
        "rules[name] is None",
    ),
    Mutation(
        "a house rule takes no other along",
        "editions/edition.py",
        "{**self.by_the_sheet, **follows(rules, self.by_the_sheet), **rules}",
        "{**self.by_the_sheet, **rules}",
    ),
    # --- Records ---
    Mutation(
        "an illegal play is applied",
        "record/judge.py",
        "applied = not reasons or (stands and not table.is_over)",
        "applied = True",
    ),
    Mutation(
        "a play is not applied although the table let it stand",
        "record/judge.py",
        "stands = (as_lies or play.anyway) and",
        "stands = as_lies and",
    ),
    Mutation(
        "an unanswered extension ends as agreed",
        "record/judge.py",
        "    if game.table.extension_offered_to is not None:\n",
        "    if game.table.extension_offered_to is None:\n",
    ),
    Mutation(
        "a winning card turned back keeps its points",
        "record/judge.py",
        "totals = {side: points - game.held.sheets[side].total for side, points in totals.items()}",
        "totals = dict(totals)",
    ),
    Mutation(
        "a race turned back stays won",
        "record/judge.py",
        "won = {side: count - (side == game.winner) for side, count in won.items()}",
        "won = dict(won)",
    ),
    Mutation(
        "totals never start again",
        "record/judge.py",
        "        game = game._replace(totals=NO_POINTS, winner=None)\n    return game._replace(table=table",
        "        game = game._replace(winner=None)\n    return game._replace(table=table",
    ),
    Mutation(
        "matches won are not counted",
        "record/judge.py",
        "game.won.get(winner, 0) + 1",
        "game.won.get(winner, 0)",
    ),
    Mutation("targets of any length", "editions/edition_file.py", "TARGET_STEP_KM = 25", "TARGET_STEP_KM = 5"),
    Mutation("a target of 100 km", "editions/edition_file.py", "LEAST_TARGET_KM = 200", "LEAST_TARGET_KM = 100"),
    Mutation("seven cards are exchanged", "record/notation.py", "MOST_EXCHANGED = 6", "MOST_EXCHANGED = 7"),
    Mutation(
        "a discard is laid out of turn",
        "record/notation.py",
        "    if at_once and play.verb is not Verb.PLAY:",
        "    if at_once and play.verb is Verb.EXCHANGE:",
    ),
    Mutation(
        "a safety goes under its hazard",
        "record/notation.py",
        "    if under and card_family(play) is not Family.REMEDY:",
        "    if under and card_family(play) is Family.DISTANCE:",
    ),
    Mutation(
        "a safety is aimed at a side",
        "record/notation.py",
        "    if card.family is not Family.HAZARD:",
        "    if card.family is Family.DISTANCE:",
    ),
    Mutation(
        "a hazard is doubled",
        "record/notation.py",
        '    if card.family is not Family.DISTANCE:\n        raise Unreadable(say("Only a distance',
        '    if card.family is Family.REMEDY:\n        raise Unreadable(say("Only a distance',
    ),
    Mutation(
        "a changed line keeps the verdict that it had",
        "record/judge.py",
        "if was != now), min",
        "if was.number != now.number), min",
    ),
    Mutation(
        "a corrected record is judged on the game that it had become",
        "record/judge.py",
        "    game = games[-1] if games else NEW_GAME",
        "    game = before.game",
    ),
    # --- What a card answers ---
    Mutation(
        "right of way answers no limit",
        "cards.py",
        "Card.SPEED_LIMIT: Card.RIGHT_OF_WAY",
        "Card.SPEED_LIMIT: Card.DRIVING_ACE",
    ),
    # --- The editions ---
    Mutation("four safeties are 700", "editions/classic.toml", "all-safeties = 300", "all-safeties = 700"),
    Mutation("a safe trip is 200", "editions/classic.toml", "safe-trip = 300", "safe-trip = 200"),
    Mutation("an extension is 300", "editions/classic.toml", "extension = 200", "extension = 300"),
    Mutation("a shut-out is 400", "editions/classic.toml", "shut-out = 500", "shut-out = 400"),
    Mutation("four players drive 700", "editions/classic.toml", "4 = 1000", "4 = 700"),
    Mutation(
        "there are more 50s than 100s",
        "editions/classic.toml",
        "50 = 10\n75 = 10\n100 = 12",
        "50 = 12\n75 = 10\n100 = 10",
    ),
    Mutation(
        "the classic game forbids stacked hazards",
        "editions/classic.toml",
        'hazard-on-hazard = { value = "allowed"',
        'hazard-on-hazard = { value = "forbidden"',
    ),
    Mutation(
        "Asmodee takes any first card",
        "editions/asmodee-2014.toml",
        'first-card = { value = "roll-or-right-of-way", source = "Starting to drive" }\n',
        "",
    ),
    Mutation(
        "an Asmodee race is never reshuffled",
        "editions/asmodee-2014.toml",
        'empty-pile = { value = "reshuffle", source = "A turn" }\n',
        "",
    ),
    Mutation("an Asmodee coup fourré is 400", "editions/asmodee-2014.toml", "coup-fourre = 100", "coup-fourre = 300"),
    Mutation(
        "four do not play Asmodee alone",
        "editions/asmodee-2014.toml",
        "[3, 1], [4, 1], [4, 2]",
        "[3, 1], [4, 2]",
    ),
    Mutation(
        "an Asmodee race is to the exact mile",
        "editions/asmodee-2014.toml",
        'overshoot = { value = "allowed"',
        'overshoot = { value = "forbidden"',
    ),
    Mutation(
        "mille has fewer stops than limits",
        "editions/bsd-mille.toml",
        "stop = 4\nspeed-limit = 3",
        "stop = 3\nspeed-limit = 4",
    ),
    Mutation("a level mille match is played on", "editions/bsd-mille.toml", 'level = "restart"', 'level = "play-on"'),
    Mutation(
        "mille shuts the window at the next card",
        "editions/bsd-mille.toml",
        'coup-fourre-window = { value = "own-draw", source = "Coup fourré" }\n',
        "",
    ),
    Mutation(
        "mille shows the card beneath",
        "editions/bsd-mille.toml",
        'pile-after-safety = { value = "roll", source = "Safety cards" }\n',
        "",
    ),
    Mutation(
        "mille asks for a roll after a late safety",
        "editions/bsd-mille.toml",
        'roll-after-late-safety = { value = "not-needed", source = "Safety cards" }\n',
        "",
    ),
    Mutation(
        "a mille hand ends by itself",
        "editions/bsd-mille.toml",
        'empty-pile = { value = "stuck", source = "End of a hand" }\n',
        "",
    ),
    Mutation(
        "Parker's discards are free",
        "editions/parker.toml",
        'discard = { value = "when-stuck", source = "A turn" }\n',
        "",
    ),
    Mutation(
        "a Parker caller who fails loses nothing",
        "editions/parker.toml",
        'extension-bonus = { value = "caller-or-opponents", source = "Extension" }\n',
        "",
    ),
    Mutation(
        "Parker shuts each opponent out",
        "editions/parker.toml",
        'shut-out = { value = "once", source = "Scoring" }\n',
        "",
    ),
    Mutation(
        "a Parker card beyond the target stays",
        "editions/parker.toml",
        'past-target-card = { value = "discarded", source = "Distance cards" }\n',
        "",
    ),
    Mutation(
        "a Dujardin race does not end with the draw pile",
        "editions/dujardin-2014.toml",
        'empty-pile = { value = "ends", source = "End of the race" }\n',
        "",
    ),
    Mutation(
        "a Dujardin race passes 1000 km",
        "editions/dujardin-2014.toml",
        'overshoot = { value = "forbidden"',
        'overshoot = { value = "allowed"',
    ),
    Mutation("seven do not play Dujardin", "editions/dujardin-2014.toml", "[6, 1], [7, 1], [8, 1]", "[6, 1], [8, 1]"),
    Mutation("a Dujardin safety scores", "editions/dujardin-2014.toml", "\nsafety = 0", "\nsafety = 100"),
    Mutation(
        "Rush has more u-turns than mirrors", "editions/rush.toml", "mirror = 4\nu-turn = 3", "mirror = 3\nu-turn = 4"
    ),
    Mutation("the Rush deck counts as known", "editions/rush.toml", "counts-verified = false\n", ""),
    Mutation(
        "Rush draws one card a turn",
        "editions/rush.toml",
        'draw = { value = "to-seven", source = "A turn" }\n',
        "",
    ),
    Mutation(
        "a Rush coup fourré is followed by a whole turn",
        "editions/rush.toml",
        'coup-fourre-turn = { value = "without-drawing", source = "Coup fourré" }\n',
        "",
    ),
    Mutation(
        "Rush attacks only whoever has begun",
        "editions/rush.toml",
        'hazard-on-empty-pile = { value = "allowed", source = "Attacks" }\n',
        "",
    ),
    Mutation(
        "a Rush mistake is free",
        "editions/rush.toml",
        'mistake-penalty = { value = "yes", source = "Mistakes" }\n',
        "",
    ),
    Mutation(
        "a Rush remedy waits for its turn",
        "editions/rush.toml",
        'fast-remedy = { value = "yes"',
        'fast-remedy = { value = "no"',
    ),
)

UNCHANGED = Mutation("nothing is changed", "", "", "")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the tests said of a mutation: the first that failed, or none."""

    mutation: Mutation
    noticed_by: str | None

    def __str__(self) -> str:
        return f"{self.mutation.name:<62}  {self.noticed_by or 'SURVIVED'}"


def main() -> int:
    """Prints a line for each mutation; 1 when one survived, 2 when the tests fail without any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a mutation's name; all without one")
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried at the same time")
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS if not options.names or any(name in m.name for name in options.names)]
    with tempfile.TemporaryDirectory() as folder:
        copies = [copy_of_project(Path(folder) / str(number)) for number in range(options.jobs)]
        for mutation in chosen:
            mutated(text_of(copies[0], mutation), mutation)
        failed = first_failure(copies[0], UNCHANGED, writes_bytecode=True)
        if failed:
            print(f"Without any mutation {failed} fails: the tests have to pass first.")
            return 2
        survivors = [outcome for outcome in outcomes(chosen, copies) if outcome.noticed_by is None]
    print(f"{len(chosen)} mutations, {len(chosen) - len(survivors)} noticed, {len(survivors)} survived")
    return 1 if survivors else 0


def outcomes(chosen: Iterable[Mutation], copies: Iterable[Path]) -> Iterator[Outcome]:
    """What becomes of each mutation, in order, printed as soon as it is known."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def tried(mutation: Mutation) -> Outcome:
        copy = free.get()
        try:
            return Outcome(mutation, first_failure_with(copy, mutation))
        finally:
            free.put(copy)

    with ThreadPoolExecutor(free.qsize()) as pool:
        for outcome in pool.map(tried, chosen):
            print(outcome, flush=True)
            yield outcome


def copy_of_project(to: Path) -> Path:
    """What the tests of the rules need, without what was compiled before."""
    to.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "stills"))
        else:
            shutil.copy2(ROOT / name, to / name)
    return to


def first_failure_with(copy: Path, mutation: Mutation) -> str | None:
    """The first test that fails in a copy with the mutation, which is taken back afterwards."""
    path = copy / RULES / mutation.file
    original = copy / "original"
    shutil.copy2(path, original)
    path.write_text(mutated(text_of(copy, mutation), mutation), encoding="utf-8")
    try:
        return first_failure(copy, mutation)
    finally:
        # Bytecode is found by the time of its source: the original's own time comes back with it.
        shutil.copy2(original, path)


def text_of(root: Path, mutation: Mutation) -> str:
    """The file that a mutation changes."""
    return (root / RULES / mutation.file).read_text(encoding="utf-8")


def mutated(text: str, mutation: Mutation) -> str:
    """A file's text with the mutation. Raises ValueError where its old text does not stand there exactly once."""
    if text.count(mutation.old) != 1:
        raise ValueError(f"'{mutation.name}': its text stands {text.count(mutation.old)} times in {mutation.file}.")
    return text.replace(mutation.old, mutation.new)


def first_failure(copy: Path, mutation: Mutation, *, writes_bytecode: bool = False) -> str | None:
    """The name of the first test that fails in a copy; None when all pass."""
    likeliest = FIRST.get(mutation.file, SUITE[0])
    others = tuple(name for name in SUITE if name != likeliest)
    return next(filter(None, (_run(copy, files, writes_bytecode) for files in ((likeliest,), others))), None)


def _run(copy: Path, files: Iterable[str], writes_bytecode: bool) -> str | None:
    environment = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "400", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if not writes_bytecode:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    command += [f"tests/{name}" for name in files]
    try:
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=TOO_LONG_S)
    except subprocess.TimeoutExpired:
        return "a test that does not end"
    return None if run.returncode == 0 else failure_in(run.stdout)


def failure_in(output: str) -> str:
    """The test that failed, from what pytest printed."""
    found = re.search(r"^(?:FAILED|ERROR) tests/(\S+)", output, re.MULTILINE)
    return found[1] if found else f"pytest itself: {output.strip().splitlines()[-1:]}"


if __name__ == "__main__":
    sys.exit(main())
