"""The demo: which hands are played, where they go on after a restart, and whom the players wait for."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from companion.app import demo
from companion.app.demo import demo_script
from companion.common.errors import Problem
from companion.common.text import Said
from companion.match.match import Match
from companion.match.setup_file import parse_setup
from companion.rules.record import judge, notation
from companion.rules.table import Team
from companion.simulate.players import random_script
from companion.simulate.script import Script


@pytest.mark.parametrize(
    ("edition", "players"),
    [("classic", 2), ("classic", 4), ("asmodee-2014", 2), ("bsd-mille", 2), ("parker", 2), ("dujardin-2014", 2)],
)
def test_the_demo_plays_legal_hands_of_any_edition_without_specials(edition: str, players: int):
    script = demo_script(edition, players, 3, 0)
    items = list(judge.judge(notation.lines(script.record())))

    assert script.edition_name == edition
    assert len([item for item in items if isinstance(item, judge.HandResult)]) == 3
    assert {item.verdict for item in items if isinstance(item, judge.JudgedLine)} == {judge.LEGAL}
    assert [hand.first for hand in script.hands][:2] == ["Ann", "Bob"]
    if edition == "classic":
        assert script.hands[0] == demo.script_for("two-players" if players == 2 else "pairs").hands[0]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: demo_script("rush", 2, 1, 0), r"^The simulated players cannot play Rush yet: .+\.$"),
        (lambda: demo_script("bsd-mille", 4, 1, 0), "is for 2"),
        (lambda: random_script(teams=[Team(name, (name,)) for name in "ABCDEF"]), "seats up to 4 sides, not 6"),
    ],
)
def test_what_the_simulated_table_does_not_play_is_said_in_a_sentence(made: Callable[[], Script], says: str):
    with pytest.raises(Problem, match=says) as refused:
        made()

    assert refused.value.exit_code == 2
    assert isinstance(refused.value.sentence, Said)


def test_five_players_find_no_simulated_table():
    with pytest.raises(Problem, match="2 or 4"):
        demo_script("classic", 5, 1, 0)


def test_a_setup_files_house_rules_target_and_first_player_are_played_by():
    sides = [{"name": "Ann"}, {"name": "Bob"}]
    options = {"hazard-on-hazard": "forbidden"}
    setup = parse_setup({"target": 400, "first": "Bob", "options": options, "side": sides})
    script = demo.script_for("3", setup)

    assert demo.setup_of(script) == setup


def test_a_restarted_demo_goes_on_where_it_was(match: Match):
    script = demo.script_for("two-players")
    demo.start_or_go_on(match, script)
    for play in ("Ann roll", "Bob roll", "Ann 100"):
        match.enter(play, "Ann")

    assert demo.start_or_go_on(match, script) == 3
    assert len(match.state.hand_entries) == 3


def parted(match: Match, script: Script) -> None:
    """Some plays of a script, one of them taken back, and another in its place."""
    demo.start_or_go_on(match, script)
    for play in ("Ann roll", "Bob roll", "Ann 100"):
        match.enter(play, "Ann")
    match.undo("Ann")
    match.enter("Ann discard 25", "Ann")


def test_a_restarted_demo_whose_hands_are_all_played_begins_anew(match: Match):
    script = demo.script_for("two-players")
    parted(match, script)
    match.enter("end", "Ann")
    demo.start_or_go_on(match, script)

    assert len(match.store.matches()) == 2


def test_a_restarted_demo_with_other_players_or_another_edition_begins_anew(match: Match):
    parted(match, demo.script_for("two-players"))
    demo.start_or_go_on(match, demo.script_for("pairs"))
    assert len(match.store.matches()) == 2

    parted(match, demo.script_for("two-players"))
    other = replace(demo.script_for("two-players"), edition_name="parker")
    demo.start_or_go_on(match, other)
    assert match.state.game.edition_name == "parker"


def test_a_demo_with_other_hands_begins_a_match_of_its_own(match: Match):
    demo.start_or_go_on(match, demo.script_for("two-players"))
    match.enter("Ann discard 25", "Ann")

    assert demo.start_or_go_on(match, demo.script_for("two-players")) == 0
    assert len(match.store.matches()) == 2


def test_a_restarted_demo_leaves_a_match_of_peoples_own_and_asks_whether_it_begins(match: Match):
    match.start(["side Oma", "side Leo", "hand first Oma"], "Oma")
    match.enter("Oma roll", "Oma")
    script = demo.script_for("two-players")

    assert demo.start_or_go_on(match, script) == 0
    assert not match.state.is_demo
    assert match.state.offered == ("edition classic", "side Ann", "side Bob", "hand first Ann")
