"""Names are replaced in any case, spacing and Unicode form, and nothing else is changed."""

import pytest

from companion.club.aliases import Aliases, folded, words_of
from companion.rules.record import judge
from companion.rules.record.notation import RecordLine


def put(name: str, **players: str) -> Aliases:
    """Return aliases with X for a name, and other aliases for players of one match."""
    return Aliases((len(words_of(name)),), lambda found: "X" if found == words_of(name) else None, players.get)


@pytest.mark.parametrize(
    ("name", "text", "after"),
    [
        ("Ann", "Ann and ANN, ann’s, (Ann)!", "X and X, X’s, (X)!"),
        ("Ann", "Annika, Joann, Ann-Marie, Ann_2, Ann2, Anñ", "Annika, Joann, Ann-Marie, Ann_2, Ann2, Anñ"),
        ("Ann Lee", "ANN   lee\u00a0ann\u3000Lee, Ann Leeds, Ann the Lee", "X\u00a0X, Ann Leeds, Ann the Lee"),
        ("Zoë", "Zoe\u0308, ZOË, Ｚｏë, Zoe", "X, X, X, Zoe"),
        ("Zoe\u0308", "Zoë", "X"),
        ("Ｚｏｅ", "Zoe", "X"),
        ("Strauß", "STRAUSS Strauß Straussen", "X X Straussen"),
        ("Ann", "A\u200bnn An\u200dn", "X X"),
        ("J. R.", "J.R. and J.  r. and J.-R.", "X and X and J.-R."),
        ("安娜", "安娜 安娜娜", "X 安娜娜"),
        ("🚗", "🚗 Ann 🚗🚗", "X Ann XX"),
        ("Ann", "", ""),
    ],
)  # fmt: skip
def test_a_name_is_found_in_any_spelling_but_not_within_other_words(name, text, after):
    assert put(name).in_text(text) == after
    assert after == text or max(words_of(name), key=len) in folded(text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Ann", "X"),
        (" ann ", "X"),
        ("Ann & Bob", "X & Bob"),
        ("Ann Smith", "Ann Smith"),
        ("Mary Ann", "Mary Ann"),
    ],
)
def test_another_players_full_name_is_not_changed(text, after):
    assert put("Ann").in_name(text) == after


@pytest.mark.parametrize(
    ("name", "line", "after"),
    [
        ("stop", "stop stop > stop", "X stop > X"),
        ("stop", "Bob stop > Ann", "Bob stop > Ann"),
        ("roll", "roll roll anyway", "X roll anyway"),
        ("roll", "roll right-of-way !", "X right-of-way !"),
        ("25", "25 pair 50 for 25", "X pair 50 for 25"),
        ("end", "end", "end"),
        ("end", "end end", "X end"),
        ("first", "hand first first", "hand first X"),
        ("player", 'player player "Player"', 'player X "X"'),
        ("for", "for exchange 25 25 stop", "X exchange 25 25 stop"),
        ("Bob", "Ann give stop>Bob anyway", "Ann give stop>X anyway"),
        ("nobody", "nobody flies", "X flies"),
    ],
)
def test_only_players_and_sides_are_replaced_in_a_line_of_play(name, line, after):
    assert put(name).in_line(line) == after


@pytest.mark.parametrize(
    ("name", "line", "after"),
    [
        ("side", "side side", "side X"),
        ("side", "side Reds = side, Bob", "side Reds = X, Bob"),
        ("Reds", "Side reds=Ann,Bob", "Side X=Ann,Bob"),
        ("classic", "edition classic", "edition classic"),
        ("forbidden", "option hazard-on-hazard=forbidden", "option hazard-on-hazard=forbidden"),
        ("stop", "deck stop=5, roll=5", "deck stop=5, roll=5"),
    ],
)
def test_only_players_and_sides_are_replaced_in_a_records_header(name, line, after):
    assert put(name).in_line(line, is_header=True) == after


@pytest.mark.parametrize(
    ("kind", "body", "after"),
    [
        ("line", {"text": "tap 25", "by": "tap", "source": "camera"}, {"text": "X 25", "by": "X", "source": "camera"}),
        ("setting", {"key": "policy", "value": "tap", "by": "Tap"}, {"key": "policy", "value": "tap", "by": "X"}),
        ("setting", {"key": "robot tap", "value": "2"}, {"key": "robot X", "value": "2"}),
        ("seat", {"player": "tap", "name": "Tap Smith"}, {"player": "X", "name": "Tap Smith"}),
        ("letter", {"what": "change", "text": "Bob 25 anyway"}, {"what": "change", "text": "Bob 25 anyway"}),
        ("letter", {"what": "note", "text": "Tap it, tap!"}, {"what": "note", "text": "X it, X!"}),
        ("later", {"new": [{"deep": "for Tap"}, 3, None]}, {"new": [{"deep": "for X"}, 3, None]}),
    ],
)
def test_texts_from_the_program_are_not_names(kind, body, after):
    assert put("tap").within(body, kind) == after


def test_a_player_named_camera_is_replaced_but_not_the_camera():
    assert put("camera").within({"by": "camera", "text": "camera 25"}, "line") == {"by": "camera", "text": "X 25"}


def test_the_players_of_a_match_have_their_own_aliases():
    ann = put("Ann Secret", Ann="X", ann="X-2")

    assert ann.in_line('player Ann "ANN  Secret"') == 'player X "X"'
    assert ann.in_line("Ann stop > ann") == "X stop > X-2"


def test_a_record_with_a_replaced_name_is_judged_the_same():
    lines = ["edition classic", "side Stop", "side Roll", "hand first Stop", "Stop roll", "Roll roll", "Stop 100",
             "Roll stop > Stop", "Stop roll", "Roll 75", "end"]  # fmt: skip
    other = [put("stop").in_line(line, is_header=number < 3) for number, line in enumerate(lines)]
    before, after = (list(judge.judge(RecordLine(*one) for one in enumerate(each, 1))) for each in (lines, other))

    assert [list(hand.match.values()) for hand in (before[-1], after[-1])] == [[100, 75]] * 2
    assert "X" in after[-1].match
