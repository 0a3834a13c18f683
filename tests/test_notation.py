"""The record notation: what lines mean, and which are unreadable."""

import contextlib
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules.card_names import MOST_WORDS, card_named, spellings, word_key
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.editions.edition import load_edition
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.record.notation import (
    EditionLine,
    HandLine,
    Header,
    OptionLine,
    PlayerLine,
    SideLine,
    TargetLine,
    UnknownCard,
    Unreadable,
    header_text,
    is_name,
    lines,
    parse_header,
    parse_play,
    without_comment,
)
from companion.rules.table import Team

REDS, BLUES = Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob", "Dee"))
TEAMS = (REDS, BLUES)


# Lines and comments


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("side Ann\n\n  \nAnn roll\n", [(1, "side Ann"), (4, "Ann roll")]),
        ("# a hand\nAnn roll   # at last\n\t# tabs", [(2, "Ann roll")]),
        *((text, [(1, "Ann roll"), (2, "Bob 25")]) for text in ("Ann roll\r\nBob 25\r\n", "Ann roll\rBob 25",
                                                               "\ufeffAnn roll\nBob 25")),
        ('player Ann "Ann # 1"  # our Ann', [(1, 'player Ann "Ann # 1"')]),
        ("Ann roll#2", [(1, "Ann roll")]),
        ('Ann roll # "at last', [(1, "Ann roll")]),
        *((text, []) for text in ("", "\ufeff", "\n\r\n# nothing\n")),
    ],
    ids=["numbered from one, empty ones left out", "a comment goes with the blanks before it", "CR LF", "CR",
         "a byte order mark", "a hash in quotes belongs to the name", "a comment needs no blank before it",
         "quotes in it do no harm", "nothing", "a byte order mark alone", "comments alone"],
)  # fmt: skip
def test_comments_and_surrounding_spaces_are_removed(text, read):
    assert [(line.number, line.text) for line in lines(text)] == read


@pytest.mark.parametrize(
    "text", ['"a' * 50_000 + "#", "#" * 100_000, "a#" * 50_000, '"' * 99_999 + "# x", "Ann\t" * 30_000]
)
def test_hostile_lines_are_parsed_quickly(text):
    start_s = time.process_time()
    for line in lines(text):
        assert line.text

    assert time.process_time() - start_s < 5


# Plays


@pytest.mark.parametrize(
    ("text", "play"),
    [
        ("Ann roll", lay("Ann", Card.ROLL)), ("Ann 100", lay("Ann", Card.KM_100)),
        ("Bob stop > Reds", lay("Bob", Card.STOP, "Reds")),
        ("Cid right-of-way !", lay("Cid", Card.RIGHT_OF_WAY, at_once=True)),
        ("Dee discard 25", discard("Dee", Card.KM_25)), ("Ann take", Play(Verb.TAKE, "Ann")),
        ("Bob skip-draw", Play(Verb.SKIP_DRAW, "Bob")), ("Cid extend", Play(Verb.EXTEND, "Cid")),
        ("Cid finish", Play(Verb.FINISH, "Cid")), ("Bob pass", Play(Verb.PASS, "Bob")),
        ("exhausted", Play(Verb.EXHAUSTED)), ("end", Play(Verb.END)),
        ("Ann exchange 25 25 stop", Play(Verb.EXCHANGE, "Ann", cards=(Card.KM_25, Card.KM_25, Card.STOP))),
        ("Ann 100 anyway", Play(Verb.PLAY, "Ann", Card.KM_100, anyway=True)),
        ("Ann right-of-way ! anyway", Play(Verb.PLAY, "Ann", Card.RIGHT_OF_WAY, at_once=True, anyway=True)),
        ("Ann repairs under !", Play(Verb.PLAY, "Ann", Card.REPAIRS, at_once=True, under=True)),
        ("Ann stop", lay("Ann", Card.STOP)), ("Ann unknown", lay("Ann", Card.UNKNOWN)),
        ("Ann accelerator", lay("Ann", Card.ACCELERATOR)),
    ],
)  # fmt: skip
def test_a_play_is_parsed_and_written_back_unchanged(text, play):
    assert parse_play(text, TEAMS) == play
    assert str(play) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *((text, "Bob stop > Reds") for text in ("Bob STOP > Reds", "Bob  Stop\t>Reds", "Bob stop>Reds",
                                                 "Bob stop > Ann # ouch", "Bob stop > Cid")),
        *((text, text.lower().capitalize()) for text in ("Ann Roll", "Ann DISCARD Right-Of-Way", "Ann Take",
                                                         "Ann 100 ANYWAY")),
        *((text, text.lower()) for text in ("END", "Exhausted")),
        ("Cid right-of-way!", "Cid right-of-way !"),
    ],
)  # fmt: skip
def test_case_and_spaces_do_not_matter_and_a_player_stands_for_the_side(text, written):
    assert str(parse_play(text, TEAMS)) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ann go", "Ann roll"), ("Ann GO", "Ann roll"), ("Ann discard gas", "Ann discard gasoline"),
        ("Ann limit > Blues", "Ann speed-limit > Blues"), ("Ann red-light > Blues", "Ann stop > Blues"),
        ("Ann red light > Blues", "Ann stop > Blues"), ("Ann Red_Light>Blues", "Ann stop > Blues"),
        ("Bob green light", "Bob roll"), ("Bob end of speed limit", "Bob end-of-limit"),
        ("Cid emergency vehicle !", "Cid right-of-way !"), ("Cid fuel-truck ! anyway", "Cid extra-tank ! anyway"),
        ("Ann exchange red light 25 gas", "Ann exchange stop 25 gasoline"),
        ("Ann pair red light for flat tire", "Ann pair stop for flat-tire"),
        ("Ann control green light > Bob", "Ann control roll > Bob"),
        ("Bob r\u00e9troviseur !", "Bob mirror !"), ("Bob retroviseur !", "Bob mirror !"),
        ("Bob re\u0301troviseur !", "Bob mirror !"), ("Ann roulez", "Ann roll"),
        ("Ann panne d'\u00e9lectricit\u00e9 > Bob", "Ann out-of-charge > Blues"),
        ("Ann Panne d’électricité > Bob", "Ann out-of-charge > Blues"),
        ("Ann grüne ampel", "Ann roll"), ("Ann 100 km", "Ann 100"), ("Ann 75 miles", "Ann 75"),
        *((text, "Ann 100*2") for text in ("Ann 100x2", "Ann 2*100", "Ann 2x100", "Ann 100×2", "Ann 100 x 2",
                                           "Ann 2 × 100", "Ann 100 * 2", "Ann 100X2")),
        ("Ann theft 2x100 > Blues", "Ann theft 100*2 > Blues"), ("Ann 100*2*2", "Ann 100*4"),
        *((text, "Ann 100*2") for text in ("Ann 100 km x 2", "Ann 100km*2", "Ann 2 x 100 km", "Ann 100 miglia x2")),
        *((f"Ann 100 {unit}", "Ann 100") for unit in ("kilometers", "Kilometer", "kilómetros", "kilometrów", "Meilen")),
        ("Ann theft 100 km x 2 > Blues", "Ann theft 100*2 > Blues"),
        ("Ann flat tyre > Blues", "Ann flat-tire > Blues"), ("Ann spare tyre", "Ann spare-tire"),
    ],
)  # fmt: skip
def test_cards_are_parsed_by_the_printed_names_of_every_edition(text, written):
    assert str(parse_play(text, TEAMS)) == written


def test_each_name_means_one_card_and_no_keyword():
    cards: dict[str, set[Card]] = {}
    for name, card, _language in spellings():
        assert card_named(name) is card
        for spelled in (name, name.upper(), name.replace(" ", "-"), name.replace(" ", "_")):
            assert card_named(spelled) is card
        for key in (word_key(name), word_key(name).replace("-", "")):
            cards.setdefault(key, {card_of_slug(key) or card}).add(card)
        assert len(word_key(name).split("-")) <= MOST_WORDS

    assert {name: found for name, found in cards.items() if len(found) > 1} == {}
    words = {verb.value for verb in Verb} | {"for", "under", "anyway"}
    assert cards.keys() & words <= {"control", "theft"}
    parts = {name: name.split("-") for name in cards if "-" in name}
    assert [name for name, several in parts.items() if all(part in cards for part in several)] == []


def test_a_printed_name_is_suggested_as_it_is_printed():
    printed = {name for name, *_ in spellings()} | set(Card)

    for name in printed:
        for slip in {word_key(name)[:-1], word_key(name).replace("-", "")[:-1]} - {"2", "5", "7", "10", "20", "30"}:
            said = str(UnknownCard(slip))
            assert said.partition("did you mean '")[2].removesuffix("'?).") in {*printed, ""}, slip


@pytest.mark.parametrize(
    ("typed", "printed"), [("feuver", "Feu vert"), ("redligt", "Red Light"), ("ampel", "Rote Ampel")]
)
def test_a_slip_in_a_name_of_two_words_suggests_both(typed, printed):
    with pytest.raises(Unreadable, match=f"did you mean '{printed}'"):
        parse_play(f"Ann {typed}", TEAMS)


@pytest.mark.parametrize(
    ("edition", "typed", "near"),
    [
        ("rush", "fin-de-pollutio", "Fin du pic de pollution"), ("classic", "redligt", "Stop"),
        ("asmodee-2014", "redligt", "Red Light"), ("asmodee-2014", "grüneampl", "Grüne Ampel"),
    ],
)  # fmt: skip
def test_a_name_is_suggested_as_the_edition_of_the_record_has_it(edition, typed, near):
    assert f"did you mean '{near}'" in UnknownCard(typed).among(load_edition(edition).deck, edition)


def test_equal_letters_make_one_name_however_they_are_spelled():
    one, other = "Zo\u00eb", "Zoe\u0308"
    teams = (parse_header(f"side {other}").team, Team("Bob", ("Bob",)))

    assert teams[0].name == one
    assert str(parse_play(f"{other} roll", teams)) == str(parse_play(f"{one} roll", teams)) == f"{one} roll"
    assert str(parse_play(f"Bob stop > {other}", teams)) == f"Bob stop > {one}"
    assert parse_header(f"hand first {other}") == HandLine(one)
    assert [line.text for line in lines(f"side {other}\n{other} roll")] == [f"side {one}", f"{one} roll"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\u0410nn roll", "it looks like 'Ann', but one of them has Cyrillic letters"),
        ("Ann stop > Β\u043eb", "it looks like 'Bob', but one of them has"),
        ("Ann control roll > B\u03bfb", "it looks like 'Bob', but one of them has Greek letters"),
        ("Ann r\u043ell", "it looks like 'roll', but one of them has Cyrillic letters"),
    ],
)
def test_a_name_with_look_alike_letters_is_explained(text, sentence):
    with pytest.raises(Unreadable, match=sentence):
        parse_play(text, TEAMS)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Start a play with a player's name"), ("ann roll", "Start a play with a player's name"),
        ("Eve roll", "Ann, Cid, Bob, Dee."), ("ann 25", "did you mean 'Ann'"),
        ("optoin hazard-on-hazard=allowed", "did you mean 'option'"), ("Ann Exted", "did you mean 'extend'"),
        ("Ann repair", "did you mean 'repairs'"), ("An 1 25", "did you mean 'Ann'"),
        ("Ann discrad 25", "did you mean 'discard'"), ("Ann rol*2", "did you mean 'roll'"),
        ("Ann discard 100 km x 2", "no card '100-km"), ("Ann roll x 2", "Write a play as"),
        ("Ann \x1b[31m", "no card '·\\[31m'"), ("Reds roll", "Start a play with a player's name"),
        ("Ann", "What does Ann do"), ("Ann anyway", "What does Ann do"), ("Ann !", "What does Ann do"),
        ("Ann rol", "no card 'rol' \\(did you mean 'roll'"), ("Ann 10O", "no card '10O'"),
        ("Ann ١٠٠", "no card '١٠٠'."), ("Ann discard", "Write a card after `discard`"),
        ("Ann discard rol", "did you mean 'roll'"), ("Ann discard 25 50", "Write a discard as"),
        ("Ann discard 25 !", "out of turn"), ("Ann take !", "out of turn"),
        ("Ann take 25", "Write nothing after `take`"), ("Ann repairs under", "repairs under !"),
        ("Ann stop Blues", "Write a play as"), ("Ann stop >", "Write a side after `>`"),
        ("Ann stop > Greens", "Reds, Blues"), ("Ann 100 > Blues", "Only a hazard can be played on"),
        ("Ann theft > Blues", "Write this as `Ann theft 100 > NAME`"),
        ("Ann right-of-way > Blues !", "Only a hazard can be played on"), ("Ann right-of-way ! !", "Write a play as"),
        *((f"Ann {card} under !", "Only a remedy") for card in ("driving-ace", "mirror", "u-turn", "accident", "50")),
        *((f"Ann {card}*2", "Only a dist") for card in ("driving-ace", "stop", "repairs", "accelerator", "unknown")),
        ("Ann exchange", "Write a card after `exchange`"),
        ("Ann exchange 25 50 75 100 roll stop stop", "Exchange one to 6 cards"),
        ("Ann exchange 25 rubbish", "no card 'rubbish'."), ("Ann exchange 25 !", "out of turn"),
        ("end of the hand", "Start a play with a player's name"), ("\x00\x1b[31m", "Start a play with a player's name"),
    ],
)  # fmt: skip
def test_an_unreadable_play_gets_one_sentence(text, sentence):
    with pytest.raises(Unreadable, match=sentence):
        parse_play(text, TEAMS)


def test_player_1_is_suggested_with_its_hyphen():
    players = (Team("Player-1", ("Player-1",)), Team("Player-2", ("Player-2",)))

    with pytest.raises(Unreadable, match="Player-1, Player-2 \\(did you mean 'Player-1'"):
        parse_play("Player 1 125", players)


def test_a_play_before_any_side_is_refused():
    with pytest.raises(Unreadable, match="No `side` line"):
        parse_play("Ann roll", ())


def test_players_and_sides_may_be_named_like_keywords():
    teams = (Team("anyway", ("end",)), Team("discard", ("take",)))

    assert parse_play("take stop > anyway", teams) == lay("take", Card.STOP, "anyway")
    assert parse_play("take take", teams) == Play(Verb.TAKE, "take")
    assert parse_play("end discard roll", teams) == discard("end", Card.ROLL)


# Headers


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("edition classic", EditionLine("classic")), ("EDITION Classic", EditionLine("classic")),
        ("side Ann", SideLine(Team("Ann", ("Ann",)))), ("side Reds = Ann, Cid", SideLine(REDS)),
        ("side Reds=Ann,Cid", SideLine(REDS)), ("side\tReds\t=\tAnn\t,\tCid", SideLine(REDS)),
        ("target 1000", TargetLine(1000)), ("target 225", TargetLine(225)), ("target 1000000", TargetLine(1000000)),
        ("option hazard-on-hazard=forbidden", OptionLine("hazard-on-hazard", "forbidden")),
        ("option Two-Hundreds = Unlimited", OptionLine("two-hundreds", "unlimited")),
        ('player Ann "Ann Smith"', PlayerLine("Ann", "Ann Smith")),
        ('player Ann "  Ann\t Smith "', PlayerLine("Ann", "Ann Smith")), ("hand first Ann", HandLine("Ann")),
        ("Hand First Ann", HandLine("Ann")), ("Ann roll", None), ("", None),
    ],
)  # fmt: skip
def test_a_header_is_parsed(text, header):
    assert parse_header(text) == header


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("edition", "`edition classic`"),
        ("edition poker", "no edition 'poker'"),
        ("edition ../classic", "`edition classic`"),
        ("side", "`side Ann`"),
        ("side Reds =", "`side Ann`"),
        ("side Reds = Ann,", "List each player of a side once"),
        ("side Reds = Ann, Ann", "List each player of a side once"),
        ("side Reds = Ann Cid", "List each player of a side once"),
        ("side Ann Smith", "`side Ann`"),
        ("side Ann#1", "`side Ann`"),
        ("side An.n", "one word of letters"),
        ("side Reds = An.n, Cid", "List each player of a side once"),
        ("target", "`target 1000`"),
        ("target lots", "`target 1000`"),
        ("target -700", "`target 1000`"),
        ("target 100", "at least 200 km, not 100"),
        ("target 710", "multiple of 25"),
        ("target 1" + "0" * 400, "`target 1000`"),
        ("option hazard-on-hazard", "`option hazard"),
        ("option cheating=allowed", "no house rule 'cheating'"),
        ("option hazard-on-hazard=perhaps", "allowed or forbidden, not 'perhaps'"),
        ("player Ann Smith", '`player Ann "Ann Smith"`'),
        ('player Ann "Ann', '`player Ann "Ann Smith"`'),
        ('player Ann ""', "1 to 60 letters"),
        ('player Ann "' + "A" * 61 + '"', "1 to 60 letters"),
        ('player A.n "Ann"', "one word of letters"),
        ("hand", "`hand first Ann`"),
        ("hand first", "`hand first Ann`"),
        ("hand second Ann", "`hand first Ann`"),
    ],
)
def test_an_unreadable_header_gets_one_sentence(text, sentence):
    with pytest.raises(Unreadable, match=sentence):
        parse_header(text)


@pytest.mark.parametrize(
    "name", ["Ann", "Żółć", "Ann-Marie", "R2_D2", "小明", "Ольга", "रीता", "ג׳ואל".replace("׳", ""), "e\u0301lan", "7"]
)
def test_a_name_is_one_word_of_letters_of_any_script(name):
    written = unicodedata.normalize("NFC", name)

    assert is_name(name)
    assert parse_header(f"side {name}") == SideLine(Team(written, (written,)))


@pytest.mark.parametrize(
    "name", ["", "Ann Smith", "Ann!", "a>b", "a=b", 'a"b', "a,b", "a.b", "<b>", "😀", "a\x00b", "../x"]
)
def test_other_words_are_not_names(name):
    assert not is_name(name)


def test_a_pair_may_be_named_after_both_players():
    names = ("A" * 60, "B" * 60)

    assert parse_header(f"side {'-'.join(names)} = {', '.join(names)}") == SideLine(Team("-".join(names), names))


def test_a_header_is_written_in_normal_form_and_parsed_back():
    written = header_text(TEAMS, "classic", 700, {"hazard-on-hazard": "forbidden"})

    sides = ["side Reds = Ann, Cid", "side Blues = Bob, Dee"]
    assert written == ["edition classic", *sides, "target 700", "option hazard-on-hazard=forbidden"]
    assert [parse_header(line) for line in written][1:3] == [SideLine(REDS), SideLine(BLUES)]
    assert header_text([Team("Ann", ("Ann",))], "classic", None, {}) == ["edition classic", "side Ann"]


# Properties

PLAYERS = st.sampled_from([player for team in TEAMS for player in team.players])
CARDS = st.sampled_from(list(Card))
HAZARDS = st.sampled_from([card for card in Card if card.family is Family.HAZARD])
FLAGS = st.booleans()
PLAYS = st.one_of(
    st.builds(lambda p, c, once, anyway: Play(Verb.PLAY, p, c, None, once, anyway), PLAYERS, CARDS, FLAGS, FLAGS),
    st.builds(
        lambda p, c, t, anyway: Play(Verb.PLAY, p, c, t, False, anyway),
        PLAYERS,
        HAZARDS,
        st.sampled_from(["Reds", "Blues"]),
        FLAGS,
    ),
    st.builds(discard, PLAYERS, CARDS),
    st.builds(
        lambda p, cards: Play(Verb.EXCHANGE, p, cards=tuple(cards)), PLAYERS, st.lists(CARDS, min_size=1, max_size=6)
    ),
    st.builds(Play, st.sampled_from([Verb.TAKE, Verb.SKIP_DRAW, Verb.PASS, Verb.EXTEND, Verb.FINISH]), PLAYERS),
    st.builds(Play, st.sampled_from([Verb.END, Verb.EXHAUSTED])),
)


@given(PLAYS)
@settings(max_examples=200, deadline=None)
def test_every_play_can_be_written_and_parsed_back(play):
    assert parse_play(str(play), TEAMS) == play


@given(PLAYS, st.text(" \t", max_size=3), st.text(max_size=20))
@settings(max_examples=100, deadline=None)
def test_spaces_and_comments_change_nothing(play, blanks, comment):
    comment = comment.replace("\n", "").replace("\r", "")

    (line,) = lines(f"{blanks}{play}{blanks} # {comment}")

    assert parse_play(line.text, TEAMS) == play


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_play_a_header_or_unreadable(text):
    with contextlib.suppress(Unreadable):
        assert isinstance(parse_play(text, TEAMS), Play)
    with contextlib.suppress(Unreadable):
        assert isinstance(parse_header(text), Header | None)


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_parsing_a_written_line_again_changes_nothing(text):
    for line in lines(text):
        assert without_comment(line.text) == line.text
