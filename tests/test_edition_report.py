"""An edition as text: whole, marked where it differs, and no wider than the terminal."""

import re

import pytest

from companion.app.reports import edition_report
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import edition_names, load_edition, read_edition, switches
from companion.rules.reasons import in_edition


def shown(name: str, width: int = 88) -> list[str]:
    return list(edition_report.sheet(load_edition(name), width))


@pytest.mark.parametrize("width", [80, 90, 100])
@pytest.mark.parametrize("name", edition_names())
def test_no_line_is_wider_than_the_terminal(name, width):
    assert max(map(len, shown(name, width))) <= width


@pytest.mark.parametrize("name", edition_names())
def test_every_switch_has_its_value_its_sentence_and_its_sheet(name):
    edition = load_edition(name)
    text = " ".join(" ".join(shown(name)).split())

    idle = text.partition("Without effect here: ")[2].rstrip(".").split(", ")
    for switch, values in switches().items():
        if switch in idle:
            continue
        value = edition.switch(switch)
        assert f" {switch}={value} or " in text
        assert in_edition(values[value], "en", name) in text
        assert f"{edition.sources[switch]}]" in text
    assert edition.sheet in text


@pytest.mark.parametrize("name", edition_names())
def test_what_differs_from_the_parent_is_marked_and_nothing_else(name):
    edition = load_edition(name)
    parent = load_edition(edition.parent or name)
    lines = {line.lstrip("* ").split("=")[0]: line for line in shown(name)}

    for switch in switches():
        differs = edition.switch(switch) != parent.switch(switch)
        assert lines.get(switch, "  without effect").startswith("* " if differs else "  "), switch
    assert edition.parent or not any(line.startswith("*") for line in shown(name))


SILENT = "chosen: the sheet does not say"


@pytest.mark.parametrize(
    ("name", "switch", "source"),
    [
        ("bsd-mille", "two-hundreds", "the manual page of the Unix game mille: Distance cards"),
        ("bsd-mille", "overshoot", "the manual page of the Unix game mille: Distance cards"),
        ("bsd-mille", "roll-after-remedy", "the manual page of the Unix game mille: Remedy cards"),
        ("bsd-mille", "extension", "the manual page of the Unix game mille: Extension"),
        ("bsd-mille", "discard-safety", "chosen: the program refuses it, though the page allows it"),
        ("asmodee-2014", "two-hundreds", "the English Asmodee and Dujardin sheet of 2014: Distance cards"),
        ("asmodee-2014", "roll-to-start", "the English Asmodee and Dujardin sheet of 2014: Starting to drive"),
        ("asmodee-2014", "hazard-on-remedy", SILENT),
        ("parker", "roll-after-remedy", "the Parker Brothers and Winning Moves sheet: Remedy cards"),
        ("rush", "discard-safety", SILENT),
        ("rush", "roll-with-right-of-way", SILENT),
        ("rush", "pile-after-safety", "the classic rules (106 cards): Coup fourré"),
    ],
)
def test_what_the_own_sheet_says_or_leaves_open_is_not_put_down_to_the_parents(name, switch, source):
    lines = shown(name, 200)

    at = next(number for number, line in enumerate(lines) if line[2:].startswith(f"{switch}="))
    assert lines[at + 2].strip() == f"[{source}]"


@pytest.mark.parametrize(
    ("name", "idle"),
    [
        ("rush", "extension-bonus, shut-out, past-target-card."),
        ("bsd-mille", "five-hazards-removed, fast-remedy-turn, limit-on-doubled, u-turn-on-winning-card."),
        ("classic", "fast-remedy-turn, limit-on-doubled, u-turn-on-winning-card."),
    ],
)
def test_switches_on_which_nothing_depends_are_one_line(name, idle):
    assert f" Without effect here: {idle}" in " ".join(" ".join(shown(name)).split())


def test_each_special_of_the_deck_is_told_in_a_sentence():
    specials = [card for card in load_edition("rush").deck if card.family is Family.SPECIAL]
    lines = [
        line.split()[0] for line in shown("rush", 200) if line.startswith(tuple(f"  {card}  " for card in specials))
    ]

    assert lines == specials
    assert "Specials" not in shown("classic")


def test_the_deck_stands_by_family_with_every_count():
    text = "\n".join(shown("rush", 100))

    assert "Deck: 106 cards" in text
    assert "special    17  accelerator × 4, mirror × 4, u-turn × 3, control × 3, theft × 3" in text
    for card, count in load_edition("rush").deck.items():
        assert f"{card} × {count}" in text
    assert Card.KM_25 not in load_edition("rush").deck


def test_players_targets_and_who_begins_are_said():
    classic, rush = "\n".join(shown("classic")), "\n".join(shown("rush"))

    assert "  2 or 3 players alone, to 700 km\n  4 players in pairs, to 1000 km\n  6 players in pairs" in classic
    assert "the dealer's left starts" in classic
    assert "* 2 to 8 players alone, to 1000 km\n* 4, 6 or 8 players in pairs, to 1000 km" in rush
    assert "  The youngest player starts." in rush
    assert "alone, to 1000 miles" in "\n".join(shown("asmodee-2014"))


@pytest.mark.parametrize("name", ["asmodee-2014", "bsd-mille"])
def test_a_sheet_that_counts_miles_speaks_of_no_kilometres(name):
    assert not re.search(r"\bkm\b|kilomet", "\n".join(shown(name)))
    assert [name for name in edition_names() if "Counts unverified" in "".join(shown(name))] == ["rush"]
    assert len([line for line in shown("dujardin-2014") if line.startswith("*     –  ")]) == 8


OWN = 'parent = "classic"\nname = "ours"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN, "Ours is in order, 106 cards; as classic in everything."),
        (OWN + "[deck-changes]\nstop = 6\nroll = 13\n", "106 cards; as classic but for stop=6, roll=13."),
        (
            OWN + "[points]\nsafety = 50\n[setting-up]\nhand = 5\nseatings = [[2, 1]]\n",
            "but for players and targets, 5 cards a hand, points.",
        ),
    ],
)
def test_a_file_in_which_nothing_is_wrong_is_told_by_what_differs(tmp_path, text, said):
    (tmp_path / "ours.toml").write_text(text, encoding="utf-8")

    assert edition_report.in_order(read_edition(tmp_path / "ours.toml")).endswith(said)
