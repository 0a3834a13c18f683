"""Stored views give back what the eye saw, and three followers of a short hand are counted as they should be."""

from dataclasses import replace

import pytest
from bench import confidence, hands, views
from bench.following import FILM, HOST, NO_TAPS, Host, Journal, Taps, Truth, aligned, follow, setup_of, texts_of
from bench.views import FilmedHand, TruePlay
from records import results
from watched import FRAME_S, Watched

from companion.match.questions import Kind, Question
from companion.rules.cards import Card
from companion.rules.play import Play, Verb
from companion.rules.record.notation import parse_play
from companion.vision.view import Blindness, Hidden, MatSeen, Sighting, View

SETUP = """
edition = "classic"
first = "Ann"
target = 200
[[side]]
name = "Ann"
[[side]]
name = "Bob"
"""


class Filmed(Watched):
    """A table whose views and true plays are kept."""

    def __init__(self, folder):
        self.views, self.plays = [], []
        super().__init__(folder)

    def _see(self, frame):
        view = super()._see(frame)
        self.views.append((view, frame.after_gap))
        return view

    def turn(self, text, card=None, zone=None, *, is_seen=True):
        """Let a player play a card; one that is not seen lies there all the same."""
        lies_s = self.t_s + FRAME_S
        self.plays.append(TruePlay(text, True, zone, card, lies_s, lies_s, None))
        return self.lay(card, zone) if card and is_seen else self.look()

    def slip(self, text, card, zone):
        """Let a player play an illegal card and take it back."""
        lies_s = self.t_s + FRAME_S
        self.lay(card, zone).look(10)
        self.plays.append(TruePlay(text, False, zone, card, lies_s, lies_s, self.t_s + FRAME_S))
        return self.take_up(card)

    def hand(self):
        self.match.store.close()
        return FilmedHand("short", SETUP, tuple(self.plays), [], {}, tuple(self.views))


@pytest.fixture
def table(tmp_path):
    return Filmed(tmp_path)


def rolled(table):
    return table.turn("Ann roll", "roll-01", "side-1/battle").turn("Bob roll", "roll-02", "side-2/battle")


def counts(result):
    return result.right, result.missed, result.wrong, result.invented


# --- Followers -----------------------------------------------------------------------------------------------------


def test_a_hand_that_is_seen_comes_out_right_and_its_sheet_too(table):
    rolled(table).turn("Ann 200", "200-01", "side-1/distance")
    lines = ["edition classic", "side Ann", "side Bob", "target 200", "hand first Ann"]
    lines += ["Ann roll", "Bob roll", "Ann 200"]
    sheets = [result.as_json("")["sides"] for result in results("\n".join(lines))]

    found = follow(replace(table.hand(), sheets=sheets))

    assert {counts(result) for result in found.values()} == {(3, 0, 0, 0)}
    assert {(result.sheets_right, result.sheets) for result in found.values()} == {(1, 1)}
    assert {who: (result.taps, result.typed) for who, result in found.items()} == {
        FILM: (0, 0), NO_TAPS: (0, 0), HOST: (3, 0)
    }  # fmt: skip
    assert {result.false_questions for result in found.values()} == {0}


def test_a_delay_counts_the_frames_from_the_hand_leaving_to_the_proposal(table):
    hand = table.turn("Ann roll", "roll-01", "side-1/battle").hand()
    later = replace(hand.plays[0], clear_s=hand.plays[0].lies_s + FRAME_S)

    at_once, after = (follow(replace(hand, plays=(play,)))[HOST].delays for play in (hand.plays[0], later))

    assert at_once[0] == after[0] + 1


def test_a_card_that_no_view_shows_is_missed_and_the_host_types_it(table):
    table.turn("Ann roll", "roll-01", "side-1/battle")
    table.turn("Bob discard 25", "25-01", "table/discard", is_seen=False).look(30)
    table.turn("Ann 100", "100-01", "side-1/distance").look(10)

    found = follow(table.hand())

    assert counts(found[NO_TAPS])[:2] == (1, 2)
    assert counts(found[HOST]) == (3, 0, 0, 0)
    assert (found[HOST].taps, found[HOST].typed) == (2, 1)


def test_a_play_that_was_not_made_is_invented_and_the_host_refuses_it(table):
    table.turn("Ann roll", "roll-01", "side-1/battle").lay("roll-02", "side-2/battle")

    found = follow(table.hand())

    assert counts(found[FILM]) == counts(found[NO_TAPS]) == (1, 0, 0, 1)
    assert counts(found[HOST]) == (1, 0, 0, 0)
    assert (found[HOST].refused, found[HOST].taps, found[HOST].false_questions) == (1, 2, 1)


def test_a_card_read_as_another_is_a_wrong_play(table):
    rolled(table).lay("75-01", "side-1/distance")
    table.plays.append(TruePlay("Ann 100", True, "side-1/distance", None, table.t_s - 1, table.t_s - 1, None))

    found = follow(table.look(40).hand())

    assert counts(found[FILM]) == counts(found[NO_TAPS]) == (2, 0, 1, 0)
    assert counts(found[HOST]) == (3, 0, 0, 0)
    assert (found[HOST].refused, found[HOST].typed) == (1, 1)


def test_an_illegal_play_is_flagged_while_its_card_lies_there(table):
    table.slip("Ann 100", "100-01", "side-1/distance").turn("Ann roll", "roll-01", "side-1/battle")

    found = follow(table.hand())

    assert {(result.flagged, result.slips) for result in found.values()} == {(1, 1)}
    assert {result.false_questions for result in found.values()} == {0}
    assert (found[HOST].taps, found[HOST].refused) == (2, 0)


def test_a_question_about_a_card_that_only_seems_gone_is_false(table):
    table.turn("Ann roll", "roll-01", "side-1/battle").look(6)
    table.take_up("roll-01").look(30)

    found = follow(table.hand())

    assert found[HOST].false_questions == 1
    assert (found[HOST].right, found[HOST].taps) == (1, 2)


# --- The host ------------------------------------------------------------------------------------------------------


def hosted(table, *texts):
    """Return a host for whom these plays have been made at the table."""
    lying = tuple(TruePlay(text, True, None, None, 0.0, 0.0, None) for text in texts)
    hand = FilmedHand("short", SETUP, lying, [], {}, ())
    return Host(table.match, Truth(hand, setup_of(hand)))


def test_the_host_removes_a_line_that_was_not_played_so_and_types_the_right_one(table):
    table.match.enter("Ann roll", "Ann")
    table.match.enter("Bob discard 75", "Bob")
    host = hosted(table, "Ann roll", "Bob roll")

    host.act(10.0)
    host.act(10.2)

    assert table.played == ["Ann roll", "Bob roll"]
    assert host.taps == Taps(typed=1, removed=1)


def test_the_host_waits_for_the_play_before_and_then_types_it(table):
    table.turn("Ann roll", "roll-01", "side-1/battle").turn("Bob discard 25", is_seen=False)
    table.lay("100-01", "side-1/distance").yes()
    host = hosted(table, "Ann roll", "Bob discard 25", "Ann 100")
    assert table.asked

    host.act(1.0)
    host.act(2.0)
    assert host.taps == Taps()
    host.act(5.0)
    host.act(6.0)

    assert host.taps.typed >= 1
    assert table.played[:2] == ["Ann roll", "Bob discard 25"]


def test_the_host_is_never_stuck_behind_a_question_about_a_later_play(table):
    """A question about the due play that waits behind one about a later play is not answered first."""
    later, due = (Question(f"1-2-card.{n}-play", Kind.PLAY, None, (play(text),)) for n, text in
                  ((1, "Bob roll"), (2, "Ann roll")))  # fmt: skip
    table.match.look(lambda state: () if later.id in state.past.asked else (later, due))
    host = hosted(table, "Ann roll", "Bob roll")

    host.act(0.0)
    host.act(1.0)
    assert host.taps == Taps()
    for number in range(20):
        host.act(5.0 + number)

    assert table.played == ["Ann roll", "Bob roll"]
    assert host.taps.refused == 1


def test_the_host_types_even_an_illegal_play_that_was_not_taken_back(table):
    host = hosted(table, "Ann roll", "Ann discard 25")

    host.type_the_rest(10.0)

    assert table.played == ["Ann roll", "Ann discard 25 anyway"]
    assert host.taps == Taps(typed=2)


def play(text):
    return parse_play(text, setup_of(FilmedHand("", SETUP, (), [], {}, ())).teams)


# --- Counting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "wrong", "missed", "invented"),
    [
        ("a b c", 0, 0, 0),
        ("a c", 0, 1, 0),
        ("a b x c", 0, 0, 1),
        ("a x c", 1, 0, 0),
        ("a x y c", 1, 0, 1),
        ("x b", 1, 1, 0),
        ("", 0, 3, 0),
    ],
)
def test_a_missing_play_beside_an_extra_one_is_wrong(record, wrong, missed, invented):
    pairs = list(aligned(record.split(), "abc"))

    assert sum(None not in pair and pair[0] != pair[1] for pair in pairs) == wrong
    assert sum(mine is None for mine, _ in pairs) == missed
    assert sum(theirs is None for _, theirs in pairs) == invented


def test_plays_are_compared_as_a_record_writes_them():
    assert texts_of([play("Ann Right-of-Way!"), play("Ann roll anyway")]) == ("Ann right-of-way !", "Ann roll")
    assert texts_of([Play(Verb.FINISH, "Ann"), Play(Verb.EXHAUSTED), Play(Verb.TAKE, "Bob")]) == ("Bob take",)


def test_the_later_of_two_equal_plays_takes_the_proposal_when_the_first_was_never_proposed():
    plays = tuple(TruePlay("Ann discard 25", True, "table/discard", None, at_s, at_s, None) for at_s in (1.0, 5.0))
    hand = FilmedHand("short", SETUP, plays, [], {}, ())
    journal = Journal(Truth(hand, setup_of(hand)))

    for t_s in (0.5, 4.0, 5.0, 6.0):
        journal.note(t_s, (), (play("Ann discard 25"),) if t_s == 6.0 else (), 1.0)

    assert journal.delays() == (1,)


def test_the_report_has_a_row_for_each_follower_and_light(table):
    found = follow(rolled(table).hand())
    lights = [hands.Followed(f"stickers-1-{n:02d}", light, found) for n, light in enumerate(("typical", "hard"))]

    lines = hands.summary(lights)

    assert len(lines) == 2 + 3 * 3
    assert {line.count("|") for line in lines} == {lines[0].count("|")}
    assert lines[-1].startswith(f"| all | {HOST} | 2 | 4 | 4 | 0 | 0 | 0 |")


def test_a_proposal_is_right_astray_or_wrong():
    plays = [
        TruePlay("Ann roll", True, "side-1/battle", None, 3.0, 3.0, None, (("side-1/speed", 1.0),)),
        TruePlay("Bob 100", False, "side-2/distance", None, 5.0, 5.0, 7.0),
    ]
    told = [
        {"proposal": text, "verdict": verdict, "zone": zone, "t_s": t_s}
        for text, verdict, zone, t_s in (
            ("Ann end-of-limit", "illegal", "side-1/speed", 2.0),
            ("Ann roll", "legal", "side-1/battle", 3.5),
            ("Ann roll", "legal", "side-1/battle", 4.0),
            ("Bob 100", "legal", "side-2/distance", 6.0),
            ("Bob 100", "illegal", "side-2/distance", 9.0),
        )
    ]

    assert [is_right for _, is_right in confidence.judged(told, plays)] == [None, True, False, False, True]


def test_hands_are_chosen_by_set_or_by_name(monkeypatch):
    monkeypatch.setattr(views, "names", lambda: ["faces-1-00", "film-c1", "stickers-1-00", "stickers-1-01"])

    def names(*options):
        return [job.name for job in hands.jobs_of(hands.parsed(options))]

    assert names("--hands", "1") == ["stickers-1-00", "faces-1-00", "film-c1"]
    assert names("--set", "film", "stickers-1-01") == ["film-c1", "stickers-1-01"]
    assert names("--eye", "scene", "--hands", "2", "--seed", "7") == ["stickers-7-00", "stickers-7-01"]
    with pytest.raises(SystemExit, match=r"tests\.bench\.views"):
        names("--seed", "2", "--set", "faces")


# --- Stored views --------------------------------------------------------------------------------------------------

QUAD = ((1.5, 2.0), (3.0, 2.0), (3.0, 4.25), (1.5, 4.0))
FULL = Sighting(
    Card.ROLL, "roll-03", (2.25, 3.5), QUAD, "side-1/battle", True, 0.9375, "sticker",
    rivals=(("roll-03", 0.5), ("25-00", 0.25)), is_double=True, stay=7, glued="stop-01", twice="stop-02",
    card_px=QUAD, card_sd_mm=7.5,
)  # fmt: skip
BARE = Sighting(Card.UNKNOWN, None, (0.0, 0.0), None, None, False, 0.5, "face")


def test_views_come_back_from_their_file_with_every_field(tmp_path):
    mats = (MatSeen("side-1", QUAD, 1.25),)
    full = View(0.1, mats, (FULL, BARE), frozenset({"side-1/speed"}), True, "Too dark.", frozenset({"table/discard"}),
                "One camera is silent.", {"side-1": Hidden((420.0, 297.0), (0, 6, 1))},
                {"side-2/safety": Blindness.LIGHT})  # fmt: skip
    seen = (full, True), (replace(full, t_s=0.2), False), (View(0.3, (), ()), False)
    plays = (
        TruePlay("Ann roll", True, "side-1/battle", "roll-03", 0.1, 0.2, None, (("side-1/speed", 0.05),)),
        TruePlay("Bob 25", False, None, None, None, None, 3.5),
    )
    hand = FilmedHand("short", SETUP, plays, [{"Ann": {"total": 5}}], {"commit": "0"}, seen)

    assert views.read(views.write(hand, tmp_path)) == hand
    for value in (full, FULL):
        assert all(getattr(value, name) for name in value.__slots__), "a field without a value proves nothing"


def test_a_simulated_hand_is_followed_to_its_score_sheet():
    case = replace(views.case_of("stickers-3-00"), km=200)

    found = follow(views.of_scenes(case, "stickers-3-00"))

    assert found[HOST].right == found[HOST].plays > 5
    assert found[HOST].sheets_right == found[FILM].sheets_right == 1


def test_a_name_tells_the_hand_that_it_belongs_to():
    assert views.case_of("stickers-7-03").seed == 7003
    assert views.case_of("stickers-7-03").faces is None
    assert views.case_of("faces-1-01").faces == "vintage"
