"""Score sheets for the terminal: what a hand came to, and what it decides."""

import pytest
from records import hand, record, results

from companion.app.reports import report
from companion.app.reports.report import closing, in_order, picture, printable, score_sheet
from companion.rules.record import judge, notation

DRIVE = "Ann roll\nBob roll\nAnn 200\nBob 25\nAnn 200\nBob 25\nAnn 100\nBob 25\nAnn 100\nBob 25\nAnn 100\nAnn finish\n"


@pytest.mark.parametrize(
    ("plays", "winner"), [("Ann 300", "Ann wins the race!"), ("Ann 100; Bob 50; end", "Nobody wins the race.")]
)
def test_a_race_has_no_match_totals_and_a_winner_of_the_race_or_none(plays, winner):
    lines = score_sheet(hand(plays, edition="rush", target=300).result)

    assert lines[-1] == winner
    assert not any(line.startswith("Match") for line in lines)


def test_matches_won_are_a_line_of_every_sheet_from_the_first_on():
    text = "side Ann\nside Bob\n" + 10 * f"hand first Ann\n{DRIVE}"

    hands = results(text)
    lines = [[line.split() for line in score_sheet(result) if line.startswith("Matches won")] for result in hands]
    first = next(number for number, result in enumerate(hands) if result.winner)

    assert lines[:first] == [[]] * first
    assert lines[first : first + 2] == [[["Matches", "won", "1", "0"]]] * 2
    assert lines[-1] == [["Matches", "won", str(sum(bool(result.winner) for result in hands)), "0"]]


def test_a_level_end_that_counts_for_nobody_is_said():
    text = (
        "edition bsd-mille\nside Ann\nside Bob\n" + 50 * "hand first Ann\nAnn roll\nBob roll\nAnn 100\nBob 100\nend\n"
    )

    assert score_sheet(results(text)[-1])[-1].startswith("Level at the end of the match: nobody wins it")


def test_an_open_hand_decides_nothing():
    (result,) = results("edition rush\nside Ann\nside Bob\nhand first Ann\nAnn 100\n")

    assert score_sheet(result)[-1].startswith("Total")


@pytest.mark.parametrize(
    ("last", "said"),
    [("Bob 25", ["Line 5 was illegal and left out. `companion replay --as-lies` counts"]), ("Bob", [])],
)
def test_one_line_that_was_left_out_is_named_without_a_count_and_one_that_cannot_be_read_explains_itself(last, said):
    items = record(f"side Ann\nside Bob\nhand first Ann\nAnn roll\n{last}\n")
    lines = [item for item in items if hasattr(item, "line")]

    assert [sentence.partition(" every")[0] for sentence in closing(lines)] == said


def test_a_long_name_or_a_line_without_end_is_cut_short_wherever_it_is_shown():
    endless = "x" * 60
    text = f"side Ann\nside {endless}\nhand first Ann\nAnn roll\n{endless} roll\n" + "end\n"
    (ended,) = [item for item in record(text) if hasattr(item, "sheets")]

    lines = score_sheet(ended)

    assert "x" * 40 + "…" in lines[1]
    assert max(map(len, lines)) < 100

    out_of_turn = record(text.replace("Ann roll", f"{endless} 200", 1))
    judged = next(item for item in out_of_turn if getattr(item, "reasons", ()))
    assert len(report.judged_line(judged, "a.mbn")) < 2000
    (unreadable,) = judge.judge(notation.lines("x" * 10_000))
    assert len(report.judged_line(unreadable, "a.mbn")) < 500


def test_a_tab_shows_as_a_blank_and_what_would_steer_the_terminal_as_a_dot():
    assert printable("Ann\t100\x1b[31m") == "Ann 100·[31m"
    assert printable("Ann\u2028100\u2029\x85\u202e\u0530 é\xa0!") == "Ann·100···· é\xa0!"


def seen(name: str, zone: str | None = None, **more: object) -> dict[str, object]:
    """A card as `read --json` tells it."""
    return {"face": name[:-3], "card": name, "zone": zone, "sideways": False, "confidence": 0.99} | more


BESIDE = [seen(f"{face}-{number:02d}") for number in range(1, 6) for face in ("roll", "100")]
STRANGER = seen("theft-01", face="unknown", card=None, foreign="theft-01")


@pytest.mark.parametrize(
    ("cards", "lines"),
    [
        ([seen("roll-03"), seen("roll-03", face="unknown", card=None)],
         ["  roll-03: in no zone (0.99)", "  unknown: in no zone, a sticker that cannot be told"]),
        ([STRANGER | {"zone": "side-1/battle"}] * 2,
         ["  theft-01: side-1/battle, a card of another edition: it does not count"] * 2),
        ([*BESIDE, seen("stop-01", "side-1/battle", sideways=True)],
         ["  stop-01: side-1/battle, sideways (0.99)",
          "  in no zone: 10 cards, 5 × 100, 5 × roll; --json has the place of each"]),
        ([STRANGER] * 9, ["  in no zone: 9 cards, 9 of another edition; --json has the place of each"]),
    ],
)  # fmt: skip
def test_each_card_in_a_zone_has_a_line_and_many_beside_them_share_one(cards, lines):
    found = {"image": "a.jpg", "width": 900, "height": 600, "mats": [], "cards": cards}

    assert list(picture(found)) == [f"a.jpg: 900 × 600, no mats, {len(cards)} cards", *lines]


def test_cards_are_listed_mat_by_mat_zone_by_zone_and_face_by_face():
    laid = [
        seen("roll-02"), seen("100-01", "side-2/distance"), seen("stop-01", "table/discard"),
        seen("roll-03", "side-2/battle"), seen("200-01", "side-1/distance"), seen("25-02", "side-1/distance"),
        seen("25-01", "side-1/distance"), seen("roll-01", "side-1/battle"),
    ]  # fmt: skip

    listed = [(card["zone"], card["card"]) for card in in_order(laid)]

    assert listed == [
        ("side-1/battle", "roll-01"), ("side-1/distance", "25-01"), ("side-1/distance", "25-02"),
        ("side-1/distance", "200-01"), ("side-2/battle", "roll-03"), ("side-2/distance", "100-01"),
        ("table/discard", "stop-01"), (None, "roll-02"),
    ]  # fmt: skip


def test_mats_without_any_card_read_point_to_the_doctor_and_to_decks():
    found = {"image": "our table.jpg", "width": 640, "height": 480, "mats": [{"id": "side-1"}], "cards": []}

    hint = "  `companion doctor --source 'our table.jpg'` says whether stickers can be read there."
    assert list(picture(found))[1] == hint
    assert "`--deck own`" in list(picture(found))[2]
    assert list(picture({**found, "mats": []}))[1:] == []


def test_a_play_that_nobody_saw_is_told_as_what_else_comes_of_a_film():
    said = [report.watched({"t_s": 12.4, key: "Ann 100"}) for key in ("missed", "counted")]

    assert said == ["    12.4 s  not seen, but played: Ann 100", "    12.4 s  counted after all: Ann 100"]
