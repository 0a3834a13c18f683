"""Score sheets for the terminal: what a hand came to, and what it decides."""

from __future__ import annotations

from records import hand, results

from companion.report import score_sheet

DRIVE = "Ann roll\nBob roll\nAnn 200\nBob 25\nAnn 200\nBob 25\nAnn 100\nBob 25\nAnn 100\nBob 25\nAnn 100\nAnn finish\n"


def test_a_race_has_no_match_totals_and_a_winner_of_the_race():
    ended = hand("Ann 300", edition="rush", target=300)

    lines = score_sheet(ended.result)

    assert lines[-1] == "Ann wins the race."
    assert not any(line.startswith("Match") for line in lines)


def test_a_race_that_nobody_ran_to_its_end_has_no_winner():
    ended = hand("Ann 100; Bob 50; end", edition="rush")

    assert score_sheet(ended.result)[-1] == "Nobody wins the race."


def test_matches_won_are_told_from_the_second_on():
    text = "side Ann\nside Bob\n" + 10 * f"hand first Ann\n{DRIVE}"

    told = [score_sheet(result)[-1] for result in results(text) if result.winner]

    assert told == ["Ann wins the match.", "Matches won: Ann 2."]


def test_a_level_end_that_counts_for_nobody_is_said():
    text = (
        "edition bsd-mille\nside Ann\nside Bob\n" + 50 * "hand first Ann\nAnn roll\nBob roll\nAnn 100\nBob 100\nend\n"
    )

    assert score_sheet(results(text)[-1])[-1].startswith("Level at the end of the match: nobody wins it")


def test_an_open_hand_decides_nothing():
    (result,) = results("edition rush\nside Ann\nside Bob\nhand first Ann\nAnn 100\n")

    assert score_sheet(result)[-1].startswith("Total")
