"""Fuzz the referee: `PYTHONPATH=tests:. python tests/trust/fuzz_engine.py --steps 1000000 --jobs 2`.

Random matches of every edition, with random house rules, targets and seatings, go through the judge line by line.
Lines are legal, illegal or unreadable; every third match applies illegal plays too (`as_lies`). Invariants are checked
after every line, and at the end the match is replayed from its record. `--only N` repeats match N.
"""

import json
import multiprocessing
import random
import sys
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count

from players import all_cards, holds, legal_play, random_options, random_play, random_teams
from trust.fuzzing import WORDS, Findings, arguments, last_lines, mutated_text

from companion.common.languages import LANGUAGES
from companion.rules import referee
from companion.rules.cards import SAFETY_OF, Card
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.editions.switches import switches
from companion.rules.play import Play, Verb
from companion.rules.reasons import instead, rule, say
from companion.rules.record import judge, notation
from companion.rules.record.judge import Game, HandResult, JudgedLine
from companion.rules.record.notation import RecordLine
from companion.rules.scoring import Sheet, score
from companion.rules.table import Side, Table

MOST_LINES = 700
"""Maximum number of lines of a match."""

LOOK_EVERY = 20
"""Lines between checks of the whole table, each of which takes as long as judging twenty lines."""

STRAYS, GARBAGE = 0.25, 0.02
AS_LIES_EVERY = 3


def main() -> int:
    options = arguments(__doc__, "steps", 50_000, jobs=1, only=-1)
    if options.only >= 0:
        findings = Findings("engine")
        play_match(findings, options.seed, options.only, show=True)
        return findings.close()
    return run(options.steps, options.seed, options.jobs).close()


def run(steps: int, seed: int, jobs: int = 1) -> Findings:
    if jobs == 1:
        return play(steps, seed, 1, 0)
    findings = Findings("engine")
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for part in pool.map(partial(play, steps // jobs + 1, seed, jobs), range(jobs)):
            findings.add(part)
    return findings


def play(steps: int, seed: int, jobs: int, job: int) -> Findings:
    """Play matches number `job`, `job + jobs`, … until `steps` lines were judged."""
    findings = Findings("engine")
    numbers = count(job, jobs)
    while findings.tried.total() < steps:
        play_match(findings, seed, next(numbers))
    return findings


def play_match(findings: Findings, seed: int, number: int, *, show: bool = False) -> None:
    chance = random.Random(f"{seed}:{number}")
    among, edition = divmod(number, len(edition_names()))
    edition, as_lies = edition_names()[edition], among % AS_LIES_EVERY == AS_LIES_EVERY - 1
    texts: list[str] = []
    try:
        for text in lines_of(edition, chance, texts, as_lies=as_lies):
            findings.tried[edition + (" as it lies" if as_lies else "")] += 1
            if show:
                print(text)
    except Exception:
        about = f"match {number} of seed {seed}, {edition}: {last_lines(traceback.format_exc())}"
        findings.found(about, texts[-4:])


def lines_of(edition: str, chance: random.Random, texts: list[str], *, as_lies: bool) -> Iterator[str]:
    """Yield the lines of a match after judging and checking each; `texts` collects the record."""
    sheet = load_edition(edition)
    options = random_options(sheet, chance, chance.choice((0, 1, 2, 4, 8, len(switches()))))
    teams = random_teams(sheet.with_options(options), chance)
    game = judge.NEW_GAME
    header = notation.header_text(teams, edition, chance.choice((None, 200, 400, 700, 1000, 5000)), dict(options))
    header += [f'player {player} "{player} é"' for player in teams[0].players]
    for text in [*header, f"hand first {teams[0].players[0]}"]:
        texts.append(text)
        game, items = judge.step(game, RecordLine(len(texts), text), as_lies=as_lies)
        assert not items, (text, items)
        yield text
    hands = 1
    for number in range(chance.randint(20, MOST_LINES)):
        assert game.table is not None
        text = next_line(game, chance, as_lies=as_lies)
        if text is None:
            if hands >= 4:
                break
            hands += 1
            text = f"hand first {chance.choice(chance.choice(game.teams).players)}"
        texts.append(text)
        game = checked_step(game, text, len(texts), chance, as_lies=as_lies, thorough=number % LOOK_EVERY == 0)
        yield text
    check_replay(game, texts, as_lies=as_lies)


def next_line(game: Game, chance: random.Random, *, as_lies: bool) -> str | None:
    """Return the next line; None if the hand is over or no play is possible."""
    table = game.table
    assert table is not None
    kind = chance.random()
    stray = random_play(table, chance)
    if kind < GARBAGE:
        text = " ".join(mutated_text(str(stray), chance, WORDS).split()) or "#"
        return text if as_lies or notation.read_play(text, game.teams) is None else "Ann"
    if as_lies:
        return None if table.is_over and chance.random() < 0.7 else str(stray)
    # Exclude legal plays of cards that the player cannot have: only a cheat could make them.
    if kind < STRAYS and (referee.objections(table, stray) or holds(table, stray)):
        return str(stray)
    found = legal_play(table, chance)
    return None if found is None else str(found)


def checked_step(game: Game, text: str, number: int, chance: random.Random, *, as_lies: bool, thorough: bool) -> Game:
    before = game.table
    assert before is not None
    after, items = judge.step(game, RecordLine(number, text), as_lies=as_lies)
    for item in items:
        json.dumps(item.as_json("f", states=thorough) if isinstance(item, JudgedLine) else item.as_json("f"))
        if isinstance(item, HandResult):
            check_result(item)
        elif item.play is not None and item.table is not None:
            check_verdict(before, item, as_lies=as_lies)
    table = after.table
    assert table is not None
    check_table(table, honest=not as_lies)
    if not as_lies:
        known = all_cards(before) if after.hand_number == game.hand_number else sum(table.deck.values())
        assert all_cards(table) == known - seen_empty(before, items), "a card was lost or found"
    if thorough:
        look_round(table, chance)
    return after


def seen_empty(before: Table, items: Iterable[judge.Item]) -> int:
    """Return the number of cards that the draw pile should have when it was declared empty."""
    plays = [item.play.verb for item in items if isinstance(item, JudgedLine) and item.play and item.applied]
    return before.draw_pile * (Verb.EXHAUSTED in plays)


def check_verdict(before: Table, item: JudgedLine, *, as_lies: bool) -> None:
    """Check that a line is legal exactly if there is no objection, and that unapplied lines change nothing."""
    play = item.play
    assert play is not None
    against = referee.objections(before, play)
    assert (item.verdict == judge.LEGAL) == (not against), (play, against)
    assert item.applied or item.table == before
    assert item.applied or against
    teams = tuple(judge.Team(side.name, side.players) for side in before.sides)
    assert notation.parse_play(str(play), teams) == play, play
    for why in (*item.reasons, *item.remarks):
        assert all(say(why, language) and rule(why, before.edition, language) for language in LANGUAGES)
        assert all(instead(why, language) != "" for language in LANGUAGES)


def check_table(table: Table, *, honest: bool) -> None:
    """Check that no count is negative and every score sheet adds up."""
    assert min(*table.hands, table.draw_pile) >= 0
    assert 0 <= table.to_move < len(table.seats)
    sheets = score(table)
    assert all(sheet.total == sum(points for _, points in sheet.lines) for sheet in sheets)
    if honest:
        assert not (table.is_over and table.attacks)
        for side, sheet in zip(table.sides, sheets, strict=True):
            check_side(table, side, sheet)


def check_side(table: Table, side: Side, sheet: Sheet) -> None:
    """Check a side's limits; in a race its total is its distance."""
    rules = table.edition
    assert side.hazard is None or SAFETY_OF[side.hazard] not in side.safeties
    assert rules.overshoot == "allowed" or table.race_km(side) <= table.target
    assert rules.two_hundreds_max is None or side.distances.count(Card.KM_200) <= rules.two_hundreds_max
    assert len(set(side.safeties)) == len(side.safeties)
    assert set(side.coups_fourres) <= set(side.safeties)
    if rules.name in ("asmodee-2014", "rush") and rules.safeties_count_as_distance == "yes":
        assert sheet.total == table.race_km(side)


def check_result(result: HandResult) -> None:
    """Check that a hand has a sheet for each side, and that the match contains their totals."""
    assert set(result.sheets) == {side.name for side in result.table.sides}
    for name, sheet in result.sheets.items():
        assert sheet.total == sum(points for _, points in sheet.lines)
        assert result.match[name] >= sheet.total or result.how == "open" or sheet.total < 0


def look_round(table: Table, chance: random.Random) -> None:
    json.dumps(judge.state_json(table))
    player = chance.choice(table.seats).player
    listed = list(referee.legal_plays(table, player))
    assert len(set(listed)) == len(listed)
    assert all(play.player == player and not referee.objections(table, play) for play in listed)
    for stray in (random_play(table, chance) for _ in range(3)):
        check_listed(table, stray, player, listed)
        lies = referee.apply(table, stray)
        assert min(*lies.hands, lies.draw_pile) >= 0, stray
        assert len(lies.seats) == len(table.seats)


def check_listed(table: Table, stray: Play, player: str, listed: list[Play]) -> None:
    """Check that a legal play is in the list, in its canonical form."""
    if stray.player == player and len(stray.cards) < 2 and not referee.objections(table, stray):
        assert stray in listed, stray


def check_replay(game: Game, texts: list[str], *, as_lies: bool) -> None:
    again = judge.NEW_GAME
    for line in notation.lines(notation.record_text(texts)):
        again, _ = judge.step(again, line, as_lies=as_lies)
    assert again.table == game.table
    assert (again.totals, again.won, again.winner) == (game.totals, game.won, game.winner)
    assert again.hand_number == game.hand_number


if __name__ == "__main__":
    sys.exit(main())
