"""Edition files of one's own: a parent plus what differs, and everything that is wrong in one, by key."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules.editions.edition import Edition, EditionError, load_edition, read_edition, switches
from companion.rules.editions.edition_file import EDITIONS, read_file, read_text

CLASSIC = load_edition("classic")
CLASSIC_TEXT = (EDITIONS / "classic.toml").read_text(encoding="utf-8")
OWN = """parent = "classic"
name = "our-rules"

[switches]
hazard-on-hazard = { value = "forbidden", source = "grandmother" }
"""


def read(folder: Path, text: str) -> Edition:
    path = folder / "ours.toml"
    path.write_text(text, encoding="utf-8")
    return read_edition(path)


def faults(text: str) -> list[tuple[int, str]]:
    return [(fault.line, fault.say) for fault in read_text(text).faults]


def test_an_edition_is_its_parent_and_what_differs(tmp_path):
    ours = read(tmp_path, OWN)

    assert (ours.parent, ours.deck, ours.target_km, ours.points) == (
        "classic", CLASSIC.deck, CLASSIC.target_km, CLASSIC.points,
    )  # fmt: skip
    differs = {name for name in switches() if ours.switch(name) != CLASSIC.switch(name)}
    assert differs == {"hazard-on-hazard"}
    assert (ours.sources["hazard-on-hazard"], ours.written_in["hazard-on-hazard"]) == ("grandmother", "our-rules")
    assert ours.written_in["extension"] == "classic"
    assert (ours.title, ours.sheet) == ("Our rules", "our own rules")
    assert ours.about == "As Classic, with rules of our own."


def test_the_file_in_the_docs_is_in_order(tmp_path):
    page = (Path(__file__).parent.parent / "docs" / "rules.md").read_text(encoding="utf-8")
    example = next(block for block in re.findall(r"(?s)```toml\n(.*?)```", page) if block.startswith("# ours.toml"))

    assert faults(example) == []
    assert read(tmp_path, example).deck["stop"] == 6


def test_changes_to_the_deck_keep_the_rest_and_a_deck_replaces_it_whole(tmp_path):
    changed = read(tmp_path, OWN + "[deck-changes]\nstop = 6\nroll = 13\n25 = 0\n[setting-up]\ncards = 96")
    whole = read(tmp_path, OWN + "[deck]\n25 = 50\nroll = 9\nstop = 1\n[setting-up]\ncards = 60")

    assert changed.deck == {**{card: n for card, n in CLASSIC.deck.items() if card != "25"}, "stop": 6, "roll": 13}
    assert dict(whole.deck) == {"25": 50, "stop": 1, "roll": 9}


def test_seatings_replace_the_parents_and_leave_none_of_its_targets(tmp_path):
    two = read(tmp_path, OWN + "[setting-up]\nseatings = [[2, 1]]")
    five = read(tmp_path, OWN + "[setting-up]\nseatings = [[2, 1], [5, 1]]\ntarget-km.5 = 800")

    assert (two.seatings, dict(two.target_km)) == (((2, 1),), {2: 700})
    assert dict(five.target_km) == {2: 700, 5: 800}


def test_a_parent_may_have_a_parent(tmp_path):
    ours = read(tmp_path, 'parent = "rush"\nname = "ours"\n[deck-changes]\nstop = 5\nroll = 5')

    assert not ours.counts_verified
    assert (ours.switch("fast-remedy"), ours.switch("first-card"), ours.switch("discard-safety")) == (
        "yes",
        "any",
        "allowed",
    )
    assert {ours.written_in[name] for name in ("fast-remedy", "pile-after-safety")} == {"rush", "classic"}


# What is wrong. `@` stands for the line that is named: that of what is no TOML, for the rest the key is enough.

HEAD = 'parent = "classic"\nname = "ours"\n'

WRONG = [
    ("@parent = ", "this is not valid TOML: texts need quotes"),
    (HEAD + "@\x00", "this is not valid TOML"),
    (HEAD + "# x\n\n@title = Ours", "this is not valid TOML: texts need quotes"),
    (HEAD + '@title = "Ours\n', "this is not valid TOML: the quotation mark at the end of a text is missing."),
    (HEAD + "@title = 'Ours", "this is not valid TOML: the quotation mark at the end of a text is missing."),
    (HEAD + '@title = """Ours', "this is not valid TOML: the quotation mark at the end of a text is missing."),
    (HEAD + '@title = "Ours" ours', "there is more after the value; a comment begins with #."),
    (HEAD + "@[points\n", "the bracket ] after the name of a table is missing."),
    ('name = "ours"\nparent = "Clasic"', "parker, rush (did you mean 'classic'?)."),
    (HEAD + '[points]\nsafety = 1\n@safety = 2', "this is not valid TOML: this key appears twice"),
    (HEAD + "[points]\n[deck]\n@[points]", "this is not valid TOML: this table appears twice"),
    (HEAD + "[setting-up]\n@seatings = [[2, 1],\n", "this is not valid TOML"),
    (HEAD + 'colour = "red"', "there is no key 'colour' here; known are parent"),
    (HEAD + 'tilte = "Ours"', "there is no key 'tilte' here (did you mean 'title'?)."),
    ('name = "ours"\nparent = "poker"', "its parent 'poker' is not one of classic, asmodee-2014"),
    ('name = "ours"\nparent = 3', "'parent' must be a text in quotes, not 3."),
    ('parent = "classic"\nname = 3', "'name' must be a text in quotes, not 3."),
    ('parent = "classic"\nname = "Our Rules"', "'name' is small letters, digits and hyphens, such as our-rules"),
    ('parent = "classic"\nname = ""', "'name' must be one line of text, not ''."),
    (HEAD + 'title = """Ours\nand theirs"""', "'title' must be one line of text, not 'Ours·and theirs'."),
    ('parent = "classic"', "'name' is missing."),
    (HEAD + 'unit = "mile"', "'unit' is km or miles, not 'mile' (did you mean 'miles'?)."),
    (HEAD + 'counts-verified = "yes"', "'counts-verified' must be true or false, not 'yes'."),
    (HEAD + "deck = 106", "'deck' must be a table, not 106."),
    (HEAD + "[[deck]]\nroll = 13", "'deck' must be a table, not a list."),
    (HEAD + "[deck]\nroll = 13", "with [deck] the deck has 13 cards, not 106: correct the counts"),
    (HEAD + "[deck-changes]\nroll = 13", "with [deck-changes] the deck has 105 cards, not 106"),
    (HEAD + "[setting-up]\ncards = 107", "[setting-up] the deck has 106 cards, not 107: correct the counts, or write"),
    (HEAD + "[deck-changes]\nstop = 6\nroll = -1", "[deck-changes] 'roll' must be a whole number, not -1."),
    (HEAD + "[deck-changes]\nroll = -1\nstop = 17", "[deck-changes] 'roll' must be a whole number, not -1."),
    (HEAD + "[deck-changes]\nroll = true", "'roll' must be a whole number, not true."),
    (HEAD + "[deck-changes]\nroll = 1.5", "'roll' must be a whole number, not a number with a point."),
    (HEAD + "[deck-changes]\nroll = 1979-05-27", "'roll' must be a whole number, not a date."),
    (HEAD + f"[deck-changes]\nroll = 0x{'f' * 5000}", "'roll' must be a whole number, not so large a number."),
    (HEAD + "@roll = " + "9" * 5000, "this number is too large."),
    (HEAD + f"[setting-up]\nhand = 0x{'f' * 6000}", "'hand' must be a whole number, not so large a number."),
    (HEAD + f"[setting-up]\nfirst-player = 0x{'f' * 6000}", "must be a table such as"),
    ("@" + "a." * 20_000 + "b = 1", "the brackets are nested too deeply."),
    ("@name = " + "[" * 10_000, "the brackets are nested too deeply."),
    (HEAD + "[deck-changes]\nunknown = 1", "names a card 'unknown' that no edition has."),
    (HEAD + "[deck-changes]\nrol = 2", "names a card 'rol' that no edition has (did you mean 'roll'?)."),
    (HEAD + "[deck]\nroll = 106\n[deck-changes]\nroll = 106", "write one of them"),
    (HEAD + "[setting-up]\nhands = 6", "[setting-up] there is no key 'hands' here (did you mean 'hand'?)."),
    (HEAD + '[setting-up]\nhand = "six"', "'hand' must be a whole number, not 'six'."),
    (HEAD + "[setting-up]\nhand = 0", "'hand' is at least one card."),
    (HEAD + "[setting-up]\nhand = 20", "the hands of 6 players take 120 cards, and the deck has 106."),
    (HEAD + "[setting-up]\nseatings = [[2]]", "lists pairs of numbers"),
    (HEAD + "[setting-up]\nseatings = [\n  [2, 1],\n  [5, 2],\n]", "lists pairs of numbers"),
    (HEAD + "[setting-up]\nseatings = [[2, 2]]", "for two sides or more"),
    (HEAD + "[setting-up]\nseatings = [[9, 1]]", "up to 8 players"),
    (HEAD + "[setting-up]\nseatings = [[true, 1]]", "lists pairs of numbers"),
    (HEAD + "[setting-up]\nseatings = [[2, 1],\n[2, 1]]", "lists [2, 1] twice."),
    (HEAD + "[setting-up]\nseatings = []", "'seatings' is empty"),
    (HEAD + "[setting-up]\nseatings = [[5, 1]]", "names no target for 5 players, whom 'seatings' has."),
    (HEAD + "[setting-up]\ntarget-km.2 = 0", "'2' must be a multiple of 25 from 200 km up, not 0."),
    (HEAD + "[setting-up.target-km]\n2 = 700\n9 = 700", "names '9', a number of players that 'seatings' has not."),
    (HEAD + '[setting-up]\nfirst-player = "youngest"', "[setting-up] 'first-player' must be a table such as { value"),
    (HEAD + '[setting-up]\nfirst-player = { value = "oldest", source = "x" }', "is left-of-the-dealer, youngest"),
    (HEAD + "[points]\nbonus = 5", "[points] there is no key 'bonus' here; known are"),
    (HEAD + '[points]\nsafety = "many"', "'safety' must be a whole number, not 'many'."),
    (HEAD + '[points]\nlevel = "toss"', "[points] 'level' is play-on or restart, not 'toss'."),
    (HEAD + '[switches]\ncheating = { value = "yes", source = "x" }', "[switches] has no switch 'cheating': `comp"),
    (HEAD + '[switches]\nextention = { value = "no", source = "x" }', "(did you mean 'extension'?)."),
    (HEAD + '[switches]\n# extension = 1\nextension = { value = "maybe", source = "x" }', "yes or no, not 'maybe'."),
    (HEAD + '[switches.extension]\nsource = "x"\nvalue = "maybe"', "[switches] 'extension' is yes"),
    (HEAD + 'switches.extension.value = "maybe"\nswitches.extension.source = "x"', "is yes or no, not 'maybe'."),
    (HEAD + '[switches]\nextension = "no"', "'extension' must be a table such as { value = \"no\", source = "),
    (HEAD + '[switches]\nmatch = "one-rase"', "'match' must be a table such as { value = \"one-race\", source = "),
    (HEAD + '[switches]\ntwo-hundreds = 7', "'two-hundreds' must be a table such as { value = \"2\", source = "),
    (HEAD + '[switches]\nmatch = { value = "one race", source = "x" }', "not 'one race' (did you mean 'one-race'?)."),
    (HEAD + '[switches]\nextension = { value = "no" }', "[switches] 'extension' has no 'source': write { value = "),
    (HEAD + '[switches]\ntwo-hundreds = { value = 2, source = "x" }', "'value' must be a text in quotes"),
    (HEAD + '[switches]\nextension = { value = "no", source = "x", because = "y" }', "no key 'because' here"),
    (
        HEAD + '[switches]\nroll-on-remedy = { value = "forbidden", source = "x" }\n'
        'roll-after-late-safety = { value = "not-needed", source = "x" }',
        "roll-on-remedy=forbidden contradicts roll-after-remedy=needed (the card needed after a remedy must be "
        "allowed on it): roll-after-remedy=not-needed would do.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_what_is_wrong_is_told_once(text, sentence):
    before, named, _ = text.partition("@")
    said = faults(text.replace("@", "", 1))

    assert len(said) == 1
    assert said[0][0] == (before.count("\n") + 1 if named else None)
    assert sentence in said[0][1]
    assert said[0][1].endswith(".")
    assert said[0][1].isprintable()
    assert len(said[0][1]) < 600


def test_a_deck_is_changed_only_where_a_parent_has_one():
    sentence = "[deck-changes] changes a parent's deck, and this file names no parent."

    assert sentence in [say for _, say in faults('name = "ours"\n[deck-changes]\nroll = 2')]


def test_everything_that_is_wrong_is_told_at_once():
    text = """name = "Our Rules"
parent = "classic"
[switches]
extension = { value = "maybe", source = "x" }
first-card = { value = "roll-or-right-of-way", source = "x" }
roll-to-start = { value = "not-needed", source = "x" }
[deck-changes]
rol = 14
[points]
safety = -1
[setting-up]
seatings = [[2, 1], [5, 1]]
"""

    said = [say for _, say in faults(text)]
    named = ["'name'", "'rol'", "'safety'", "'extension'", "5 players", "roll-to-start=not-needed"]
    assert len(said) == len(named)
    assert all(key in say for key, say in zip(named, said, strict=True))


def test_a_file_without_a_parent_that_says_nothing_is_told_what_it_needs():
    said = faults("")

    needed = ["name", "title", "sheet", "about", "counts-verified", "deck", "setting-up", "points", "switches"]
    assert [re.search("'(.*?)'", say)[1] for _, say in said] == needed


@pytest.mark.parametrize("key", ["name", "deck", "setting-up", "points", "switches", "counts-verified"])
def test_a_file_without_a_parent_says_everything_itself(key):
    without = re.sub(rf"(?ms)^\[{key}[\].].*?(?=^\[(?!{key})|\Z)|^{key} = .*?$", "", CLASSIC_TEXT)

    assert [re.split("[,.]", say)[0] for _, say in faults(without)] == [f"'{key}' is missing"]


@pytest.mark.parametrize(
    ("key", "table"), [("overshoot", "switches"), ("shut-out", "points"), ("hand", "setting-up"), ("level", "points")]
)
def test_what_a_table_does_not_say_is_told_with_its_name(key, table):
    said = faults(re.sub(rf"(?ms)(^\[{table}\].*?)^{key} = .*?\n", r"\1", CLASSIC_TEXT))

    assert [say.split(",")[0] for _, say in said] == [f"[{table}] says nothing about '{key}'"]
    assert len(faults(re.sub(r"(?ms)^\[switches\].*", "[switches]\n", CLASSIC_TEXT))) == len(switches())


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_a_file_from_another_system_has_the_same_lines(end):
    text = (HEAD + "# a\n[points]\nsafety = x\n").replace("\n", end)

    assert [line for line, _ in faults("\ufeff" + text)] == [5]


def test_the_first_fault_is_the_error_with_file_and_key(tmp_path):
    with pytest.raises(EditionError, match=r"ours\.toml: \[points\] 'safety' must be a whole number, not 'x'\.$"):
        read(tmp_path, HEAD + "[points]\nsafety = 'x'\nlevel = 3")


def test_the_name_of_an_edition_that_ships_is_a_fault_of_its_own(tmp_path):
    with pytest.raises(EditionError, match=r"ours\.toml: 'rush' is the name of an edition that ships: give yours an"):
        read(tmp_path, 'parent = "classic"\nname = "rush"\n[points]\nsafety = 50\n')

    assert len(read_file(tmp_path / "ours.toml").faults) == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    latin = tmp_path / "latin.toml"
    latin.write_bytes('parent = "classic"\ntitle = "Fran\xe7ais"'.encode("latin-1"))

    with pytest.raises(EditionError, match=r"none\.toml: cannot be read"):
        read_edition(tmp_path / "none.toml")
    with pytest.raises(EditionError, match="cannot be read"):
        read_edition(tmp_path)
    with pytest.raises(EditionError, match=r"latin\.toml:2: this is no UTF-8 text"):
        read_edition(latin)


def test_a_file_saved_by_notepad_is_read(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('parent = "classic"\nname = "ours"\ntitle = "Fran\xe7ais"', encoding="utf-16")

    assert read_edition(path).title == "Fran\xe7ais"


@pytest.mark.parametrize(("key", "most"), [("name", 60), ("title", 60), ("about", 300), ("sheet", 300)])
def test_a_text_that_is_too_long_is_a_fault(tmp_path, key, most):
    texts = {"name": "ours", key: "x" * (most + 1)}
    written = 'parent = "classic"\n' + "".join(f'{name} = "{text}"\n' for name, text in texts.items())

    with pytest.raises(EditionError, match=f"'{key}' has at most {most} letters, not {most + 1}"):
        read(tmp_path, written)


# Any text

KEYS = st.sampled_from(
    [
        *("parent", "name", "deck", "deck-changes", "setting-up", "points", "switches", "roll", "value", "source"),
        *("hand", "target-km", "seatings", "first-player", "extension", "roll-on-remedy", "2", "level"),
        *('"a.b"', "'x'", '"é"'),
    ]
)
VALUES = st.sampled_from(
    [
        *('"classic"', '"ours"', '"no"', '"needed"', "'''\nx = 1\n[y]'''", '"""\n# "a" = 2\n"""'),
        *("1", "-3", "true", "1.5", "1979-05-27"),
        *("[]", "[[2, 1]]", "[\n [2, 1], # no\n [4, 2],\n]", "[1, {}]", "{}", '{ value = "no", source = "x" }'),
    ]
)
DOTTED = st.lists(KEYS, min_size=1, max_size=3).map(".".join)
TOML_LINES = st.one_of(
    st.builds("[{}]".format, DOTTED),
    st.builds("[[{}]]".format, DOTTED),
    st.builds("{} = {}".format, DOTTED, VALUES),
    st.builds("{} = {}".format, DOTTED, VALUES),
    st.builds("# {} = {}".format, KEYS, VALUES.filter(lambda value: "\n" not in value)),
    st.text(max_size=10),
)
TOML_TEXT = st.lists(TOML_LINES, max_size=10).map("\n".join)


@given(st.one_of(TOML_TEXT, TOML_TEXT.map(HEAD.__add__), st.text(max_size=80)))
@settings(max_examples=300, deadline=None)
def test_any_text_is_an_edition_or_has_faults(text):
    reading = read_text(text)

    for fault in reading.faults:
        assert fault.line is None or 1 <= fault.line <= text.count("\n") + 1
        assert fault.say.isprintable()
    assert reading.faults or "parent" in text


# Hostile files


def test_a_sentence_does_not_hold_a_whole_file():
    assert all(len(sentence) < 600 for _, sentence in faults('"' + "k" * 5000 + '" = 1'))


@pytest.mark.parametrize("text", ["/dev/zero", "pipe"])
def test_what_is_no_file_is_no_edition(tmp_path, text):
    path = tmp_path / text
    if text == "pipe":
        os.mkfifo(path)

    with pytest.raises(EditionError, match="it is no file"):
        read_file(path)
