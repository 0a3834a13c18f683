"""What players have done over their matches, the names that are remembered, and the matches of the log."""

from dataclasses import replace
from pathlib import Path

import pytest

from companion.match.archive import Archive, as_csv
from companion.match.match import Match
from companion.match.season import MONTH, YEAR, Selection, by_edition, duels, played_s
from companion.match.statistics import key_of, most_cruel, partners_of, players_of, together
from companion.rules.cards import Card
from companion.rules.record import judge, notation
from companion.storage.event_store import Store

GOLDEN = Path(__file__).parent / "golden"


def judged(text: str):
    return judge.judge_on(judge.EMPTY_RECORD, list(notation.lines(text)))


def golden(name: str):
    return judged((GOLDEN / f"{name}.mbn").read_text(encoding="utf-8"))


OPENING = "edition classic\nside Ann\nside Bob\n"


def played(*lines: str, header: str = OPENING, first: str = "Ann"):
    return judged(header + f"hand first {first}\n" + "\n".join(lines))


PAIRS = "edition classic\nside Reds = Ann, Cid\nside Blues = Bob, Dee\n"
RACE = golden("asmodee-passes-1000")
LEVEL = played("Ann roll", "Bob roll", "Ann 100", "Bob 100", "end")
IN_PAIRS = played("Ann roll", "Bob roll", "Cid 100", "Dee stop > Reds", "end", header=PAIRS)
MIRRORED = played("Ann stop > Bob", "Bob mirror !", "end", header="edition rush\nside Ann\nside Bob\n")
MOST = {"hands_won": 1, "best_hand": 4600, "mean_points": 4600, "km": 1000, "coups_fourres": 4, "hazards_given": 6}


@pytest.mark.parametrize(
    ("record", "player", "figures"),
    [
        (golden("two-players-4600"), "ann", {"hands": 1, "longest_hand": 97, **MOST}),
        (
            golden("two-players-4600"),
            "bob",
            {"hands_won": 0, "best_hand": 0, "km": 0, "hazards_got": 6, "coups_fourres": 0, "longest_hand": 97},
        ),
        (golden("match-to-5000"), "ann smith", {"matches_won": 1, "hands": 6}),
        (golden("match-to-5000"), "bob", {"matches_won": 0, "hands": 6}),
        *((LEVEL, player, {"hands_won": 0, "points": 100}) for player in ("ann", "bob")),
        (RACE, "ann", {"hands_won": 1, "matches_won": 1, "best_hand": None, "mean_points": None}),
        *((IN_PAIRS, player, {"km": 100, "hazards_got": 1}) for player in ("ann", "cid")),
        (IN_PAIRS, "bob", {"hazards_given": 0}),
        (IN_PAIRS, "dee", {"hazards_given": 1}),
        (MIRRORED, "bob", {"gave": {"ann": 1}}),
        (MIRRORED, "ann", {"gave": {"bob": 1}}),
        (played("Ann stop > Bob", "Ann roll", "end"), "ann", {"hazards_given": 0}),
        (golden("two-players-4600"), "bob", {"shut_outs": 0, "worst_hand": 0, "coups_suffered": 4, "began": 1}),
        (golden("two-players-4600"), "ann", {"shut_outs": 1, "worst_hand": 4600, "coups_suffered": 0, "began": 0}),
        (golden("match-to-5000"), "bob", {"matches": 1, "began": 3}),
    ],
    ids=[
        *("a whole hand", "a whole hand of the other", "a match", "a match of the other"),
        *("a level hand is nobodys", "of neither", "a race has a winner and no points"),
        *("partners share the road", "and what holds them up", "not what they give", "but each gives his own"),
        *("who held the mirror gives the hazard", "who laid it gave it first", "an illegal hazard hurts nobody"),
        *("who is countered suffers", "who counters does not", "players take turns to begin"),
    ],
)
def test_what_a_player_has_done(record, player, figures):
    one = players_of(record)[player]

    assert {name: getattr(one, name) for name in figures} == figures


THREE = played(
    *("Ann roll", "Bob roll", "Cid roll", "Ann 100", "Bob 100", "Cid 75", "end"),
    header="edition classic\nside Ann\nside Bob\nside Cid\n",
)


@pytest.mark.parametrize(
    ("record", "player", "met", "beaten"),
    [
        (LEVEL, "ann", {}, {}), (THREE, "ann", {"cid": 1}, {"cid": 1}), (THREE, "cid", {"ann": 1, "bob": 1}, {}),
        (IN_PAIRS, "ann", {"bob": 1, "dee": 1}, {"bob": 1, "dee": 1}),
        (RACE, "ann", {"bob": 1}, {"bob": 1}), (RACE, "bob", {"ann": 1}, {}),
    ],
    ids=["a level hand", "two level, one behind", "behind both", "pairs", "a race's winner", "its loser"],
)  # fmt: skip
def test_who_has_won_how_many_hands_against_whom(record, player, met, beaten):
    one = players_of(record)[player]

    assert (one.met, one.beaten) == (met, beaten)


def test_the_points_of_all_hands_stand_in_the_order_in_which_they_were_played():
    first, second = (players_of(played("Ann roll", "Bob roll", f"Ann {km}", "end")) for km in (100, 200))

    assert together([first, second])["ann"].hand_points == [100, 200]
    assert together([second, first])["ann"].hand_points == [200, 100]


def test_the_longest_streak_is_counted_across_matches():
    won, lost = (players_of(played("Ann roll", "Bob roll", f"{who} 100", "end", first=who)) for who in ("Ann", "Bob"))

    assert together([lost, won, won, lost, won])["ann"].longest_streak == 2
    assert together([lost])["ann"].longest_streak == 0


def test_partners_have_figures_of_their_own_whatever_their_order():
    reds, blues = (partners_of(IN_PAIRS)[key] for key in ("ann & cid", "bob & dee"))

    assert (reds.name, reds.hands_won, reds.km, reds.hazards_got, reds.met) == (
        "Ann & Cid",
        1,
        100,
        1,
        {"bob & dee": 1},
    )
    assert (blues.hazards_given, blues.favorite_hazard) == (1, Card.STOP)
    assert partners_of(LEVEL) == {}


def test_a_coup_fourre_is_suffered_by_the_player_who_laid_the_hazard():
    record = played("Ann roll", "Bob roll", "Ann stop > Bob", "Bob right-of-way !", "end")

    assert {key: (one.coups_fourres, one.coups_suffered) for key, one in players_of(record).items()} == {
        "ann": (0, 1),
        "bob": (1, 0),
    }


def test_a_hand_that_was_not_finished_counts_for_nothing():
    assert players_of(played("Ann roll", "Bob stop > Ann", "Ann right-of-way !")) == {}


def test_the_hands_of_a_match_are_won_by_one_player_each_at_most():
    ann, bob = (players_of(golden("match-to-5000"))[name] for name in ("ann smith", "bob"))

    assert ann.hands_won + bob.hands_won <= 6
    assert ann.best_hand >= 1800


def test_the_same_name_in_other_letters_is_the_same_player():
    one = players_of(played("Ann roll", "Bob roll", "Ann 100", "end", header=OPENING + 'player Ann "ANNE"\n'))
    other = players_of(played("Ann roll", "Bob roll", "Ann 200", "end", header=OPENING + 'player Ann "Anne"\n'))

    all_of = together([one, other])

    assert all_of["anne"].name == "Anne"
    assert (all_of["anne"].hands, all_of["anne"].km, all_of["anne"].best_hand) == (2, 300, 200)
    assert key_of("  ŁUKASZ  k") == "łukasz k"


def test_the_most_cruel_attacker_is_named_with_the_one_he_is_cruel_to():
    assert most_cruel(players_of(golden("two-players-4600"))) == ("Ann", "Bob", 6)
    assert most_cruel({}) is None


def test_whoever_has_won_most_comes_first():
    assert list(together([players_of(golden("two-players-4600"))])) == ["ann", "bob"]


# --- The matches of the log -----------------------------------------------------------------------------------


def start(store: Store, *plays: str, names=("Ann", "Bob")) -> Match:
    match = Match(store)
    match.start((f"side {names[0]}", f"side {names[1]}", f"hand first {names[0]}"))
    for play in plays:
        match.enter(play, names[0])
    return match


def test_a_page_judges_no_match_of_another_page(store, monkeypatch):
    for _ in range(5):
        start(store)
    asked = []
    events = store.events
    monkeypatch.setattr(store, "events", lambda match: asked.append(match) or events(match))

    pasts, pages = Archive().page(store, 2, 2)

    assert ([past.match for past in pasts], pages) == ([7, 4], 3)
    assert asked == [7, 4]


def test_a_match_is_judged_once_as_long_as_nothing_is_added(store):
    shelf, match = Archive(), start(store, "Ann roll")
    first = shelf.past(store, 1)

    assert shelf.past(store, 1) is first
    match.enter("Bob roll", "Ann")
    assert len(shelf.past(store, 1).hands[0].entries) == 2


def test_a_correction_is_seen_in_the_figures(store):
    shelf, match = Archive(), start(store, "Ann roll", "Bob roll", "Ann 100", "end")
    assert shelf.figures(store)[0].players["ann"].km == 100

    match.correct(match.state.hand_entries[2].seq, "Ann 200", "Ann")

    assert shelf.figures(store)[0].players["ann"].km == 200


def race(store: Store, *plays: str, names=("Ann", "Bob")) -> None:
    match = Match(store)
    match.start(
        ("edition asmodee-2014", "target 500", f"side {names[0]}", f"side {names[1]}", f"hand first {names[0]}")
    )
    for play in plays:
        assert match.enter(play, names[0]).done, play


WON_RACE = ("Ann roll", "Bob roll", "Ann 200", "Bob 25", "Ann 200", "Bob 25", "Ann 100")


def test_points_and_distances_of_two_editions_are_never_added(store):
    shelf = Archive()
    for _ in range(2):
        start(store, "Ann roll", "Bob roll", "Ann 100", "end")
    race(store, *WON_RACE)

    classic, asmodee = by_edition(shelf.figures(store))

    assert [one.edition for one in (classic, asmodee)] == ["classic", "asmodee-2014"]
    assert (classic.players["ann"].km, classic.players["ann"].hands, classic.players["ann"].best_hand) == (200, 2, 100)
    assert (asmodee.players["ann"].km, asmodee.players["ann"].hands, asmodee.players["ann"].best_hand) == (500, 1, None)


def test_decided_matches_tell_two_people_how_close_they_were(store):
    start(store, "Ann roll", "Bob roll", "Ann 100", "end")
    race(store, *WON_RACE)

    found = [one for block in by_edition(Archive().figures(store)) for one in duels(block.decided, ["bob"])]

    assert [(one.points, one.opponents, one.opponents_points, one.margin) for one in found] == [
        (50, ("ann",), 500, 450)
    ]
    assert found[0].match.winner == ("ann",)


@pytest.mark.parametrize(
    ("chosen", "now", "months"),
    [
        (Selection(), (2026, 3), [(2025, 12), (2026, 2), (2026, 3), None]),
        (Selection(MONTH), (2026, 3), [(2026, 3)]), (Selection(MONTH), None, []),
        (Selection(YEAR), (2026, 3), [(2026, 2), (2026, 3)]), (Selection(YEAR), None, []),
        (Selection("2025"), None, [(2025, 12)]), (Selection("nonsense"), (2026, 3), []),
        (Selection(edition="rush"), (2026, 3), []), (Selection(present=("ann", "cid")), (2026, 3), []),
        (Selection("2025", "classic", ("bob", "ann")), (2026, 3), [(2025, 12)]),
    ],
)  # fmt: skip
def test_matches_are_chosen_by_time_edition_and_company(store, chosen, now, months):
    start(store, "Ann roll", "Bob roll", "Ann 100", "end")
    (one,) = Archive().figures(store)
    ones = [replace(one, month=month) for month in ((2025, 12), (2026, 2), (2026, 3), None)]

    assert [each.month for each in ones if chosen.takes(each, now)] == months


def test_another_choice_of_matches_judges_no_match_again(store, monkeypatch):
    shelf = Archive()
    for _ in range(3):
        start(store, "Ann roll", "Bob roll", "Ann 100", "end")
    shelf.figures(store)
    monkeypatch.setattr(store, "events", lambda match: pytest.fail(f"match {match} was read again"))

    assert len([one for one in shelf.figures(store) if Selection(edition="classic").takes(one, None)]) == 3


def test_pauses_and_clock_jumps_are_not_counted_as_play():
    assert played_s([0, 60, 90, 90 + 86_400, 90 + 86_460, 5, 20]) == 60 + 30 + 60 + 15


def test_a_hand_knows_how_it_began_and_the_game_after_each_play(store):
    start(store, "Ann roll", "Bob roll", "Ann 100")

    hand = Archive().past(store, 1).hands[0]

    assert hand.is_open
    assert [entry.written.text for entry in hand.entries] == ["Ann roll", "Bob roll", "Ann 100"]
    assert [game.table.sides[0].km for game in (hand.begins, *hand.games)] == [0, 0, 0, 100]


def test_a_match_that_is_not_there_is_none(store):
    assert Archive().past(store, 99) is None
    assert Archive().page(store, 1, 10) == ((), 0)


def test_the_sheets_as_csv_name_hand_side_and_item():
    rows = as_csv(golden("two-players-4600").items).splitlines()

    assert rows[:2] == ["hand,ended,side,item,points,name", "1,completed,Ann,distance,1000,Ann"]
    assert "1,completed,Ann,total,4600,Ann" in rows
