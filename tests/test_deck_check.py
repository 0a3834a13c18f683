"""The deck check: whether all cards are there, as values, in words and on the command line."""

import json
from pathlib import Path

import cv2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import DECK, Lens, Scene, grid_of, picture

from companion.app.reports import audit_report
from companion.app.reports.audit_report import Shown, audit
from companion.common.languages import LANGUAGES
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.reasons import say
from companion.tabletop.card_ids import payload

CLASSIC = load_edition("classic")
RUSH = load_edition("rush")


def shown(*cards: str, faces: dict[Card, int] | None = None) -> Shown:
    return Shown(frozenset(cards), faces or {})


# --- As values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", edition_names())
def test_a_deck_with_all_its_cards_is_complete(edition):
    found = audit(load_edition(edition).deck, load_edition(edition).deck)

    assert found.is_complete
    assert found.reasons() == ()


def test_missing_extra_foreign_and_unread_cards_are_counted_separately():
    seen = {**CLASSIC.deck, Card.ROLL: 12, Card.STOP: 6, Card.MIRROR: 1, Card.UNKNOWN: 3}

    found = audit(CLASSIC.deck, seen)

    assert (found.missing, found.extra, found.foreign, found.unknown) == (
        {Card.ROLL: 2},
        {Card.STOP: 1},
        {Card.MIRROR: 1},
        3,
    )
    assert [say(why) for why in found.reasons()] == [
        "Missing: 2 × Roll.",
        "6 × Stop is too many: the deck has only 5. Count these cards again.",
        "There is no Mirror in this game.",
        "Unrecognized cards: 3.",
    ]


def test_only_the_safeties_of_an_unverified_deck_are_certain():
    found = audit(RUSH.deck, {**RUSH.deck, Card.KM_300: 0, Card.CAR_POOL: 0, Card.ACCELERATOR: 5})

    assert sorted(say(why) for why in found.reasons(verified=False)) == [
        "Accelerator: more than the 4 counted in this deck. You can correct the counts.",
        "Missing: 1 × 300 km, if the counts of this deck are right.",
        "Missing: 1 × Car Pool.",
    ]


COUNTS = st.dictionaries(st.sampled_from(list(Card)), st.integers(0, 20))


@given(deck=COUNTS.map(lambda deck: {card: n for card, n in deck.items() if card is not Card.UNKNOWN}), seen=COUNTS)
def test_an_audit_accounts_for_every_card(deck, seen):
    found = audit(deck, seen)

    for card in deck:
        assert deck[card] - found.missing.get(card, 0) + found.extra.get(card, 0) == seen.get(card, 0)
    told = sum(deck.values()) - sum(found.missing.values()) + sum(found.extra.values()) + sum(found.foreign.values())
    assert told + found.unknown == sum(seen.values())
    assert all(say(why, language) for why in found.reasons() for language in LANGUAGES)


# --- In words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unread", [0, 1])
def test_a_complete_deck_is_reported_in_one_line_despite_unread_pictures(unread):
    said = list(audit_report.sentences(CLASSIC, Shown(frozenset(DECK), {}, unread=unread)))

    assert said == ["Classic: all 106 cards are there."]


def test_every_card_of_an_unverified_edition_can_be_missing():
    lines = list(audit_report.sentences(RUSH, shown("u-turn-01")))

    assert audit_report.UNVERIFIED in lines
    assert any("× U-Turn (u-turn-02, u-turn-03), if" in line or "× U-Turn, if" in line for line in lines)
    assert audit(RUSH.deck, shown().counts).missing == RUSH.deck


def test_missing_cards_are_named_by_their_stickers():
    lines = list(audit_report.sentences(CLASSIC, shown(*(set(DECK) - {"roll-03", "roll-11", "100-07"}))))

    assert lines[:3] == [
        "Classic: 103 of 106 cards are there.",
        "  Missing: 1 × 100 km (100-07).",
        "  Missing: 2 × Roll (roll-03, roll-11).",
    ]
    assert "take another picture" in lines[3]


def test_no_sticker_is_named_if_faces_were_read_without_stickers():
    lines = list(audit_report.sentences(CLASSIC, shown(*DECK[2:], faces={Card.KM_25: 1})))

    assert lines[1] == "  Missing: 1 × 25 km."


def test_a_card_with_a_sticker_on_several_pictures_counts_once():
    one = {"cards": [{"card": "roll-03", "face": "roll"}, {"card": None, "face": "unknown"}]}

    counts = audit_report.shown_on([one, one]).counts

    assert counts == {Card.ROLL: 1, Card.UNKNOWN: 2}


def test_a_duplicate_sticker_is_reported_with_a_free_one():
    cards = [{"card": card, "face": "?"} for card in DECK if card not in ("roll-03", "roll-07")]
    twice = {"card": None, "face": "unknown", "twice": "roll-03"}
    pictures = [{"cards": [*cards, twice, twice]}, {"cards": [twice, twice]}]

    said = audit_report.as_json(CLASSIC, audit_report.shown_on(pictures))

    assert said["say"] == [
        "Classic: all 106 cards are there.",
        "  roll-03 is there twice: one of the two needs another sticker, roll-07 for example.",
    ]
    assert (said["twice"], said["unknown"], said["missing"], said["shown"]) == (["roll-03"], 0, {}, 106)
    assert not said["complete"]


def test_no_sticker_is_called_free_while_cards_are_missing():
    twice = {"card": None, "face": "unknown", "twice": "roll-03"}

    said = audit_report.as_json(CLASSIC, audit_report.shown_on([{"cards": [twice, twice]}]))

    assert "  roll-03 is there twice: one of the two needs another sticker." in said["say"]


def test_no_missing_sticker_is_named_for_a_face_with_a_duplicate_sticker():
    cards = [{"card": card, "face": "?"} for card in DECK if card not in ("roll-03", "roll-07", "roll-11", "stop-02")]
    twice = {"card": None, "face": "unknown", "twice": "roll-03"}

    said = audit_report.as_json(CLASSIC, audit_report.shown_on([{"cards": [*cards, twice, twice]}]))

    assert said["missing"] == {"roll": 1, "stop": 1}
    assert said["missing_cards"] == ["stop-02"]
    assert "  Missing: 1 × Roll." in said["say"]


def test_a_duplicate_sticker_on_an_extra_card_is_reported_without_a_free_one():
    cards = [{"card": card, "face": "?"} for card in DECK if card != "stop-01"]
    thrice = {"card": None, "face": "unknown", "twice": "stop-01"}

    said = audit_report.as_json(CLASSIC, audit_report.shown_on([{"cards": [*cards, thrice, thrice, thrice]}]))

    assert "  stop-01 is there 3 times: 2 need another sticker." in said["say"]
    assert said["extra"] == {"stop": 2}


def test_without_a_picture_nothing_is_missing():
    nothing = audit_report.shown_on([], unread=2)

    assert list(audit_report.sentences(CLASSIC, nothing)) == [audit_report.NO_PICTURE]
    assert audit_report.as_json(CLASSIC, nothing)["say"] == [audit_report.NO_PICTURE]


@pytest.mark.parametrize(
    ("unread", "said"), [(1, "One picture could not be read"), (2, "2 pictures could not be read")]
)
def test_missing_cards_may_be_on_an_unreadable_picture(unread, said):
    lines = list(audit_report.sentences(CLASSIC, Shown(frozenset(DECK[1:]), {}, unread=unread)))

    assert lines[2].startswith(f"{said}: what is missing may be on ")


# --- By the command line -------------------------------------------------------------------------------------


def pictures_of(cards: list[str], folder: Path, each: int = 60) -> list[Path]:
    """Save pictures of the cards' stickers in rows."""
    paths = []
    for first in range(0, len(cards), each):
        stickers = grid_of([payload(card) for card in cards[first : first + each]], columns=10, step_mm=38)
        paths.append(folder / f"cards-{first}.png")
        cv2.imwrite(str(paths[-1]), picture(Scene(stickers=stickers), Lens(width_mm=560)))
    return paths


@pytest.mark.long
def test_the_command_lists_missing_cards(called, tmp_path):
    lying = [card for card in DECK if card not in ("roll-03", "100-07")]
    ran = called("read", *pictures_of([*lying, "mirror-01", "25-01"], tmp_path), "--audit", "classic")

    assert ran.stdout.splitlines()[:4] == [
        "Classic: 104 of 106 cards are there.",
        "  Missing: 1 × 100 km (100-07).",
        "  Missing: 1 × Roll (roll-03).",
        "  There is no Mirror in this game.",
    ]
    assert (ran.stderr, ran.returncode) == ("", 1)


@pytest.mark.long
def test_the_command_succeeds_with_a_complete_deck(called, tmp_path):
    ran = called("read", *pictures_of(list(DECK), tmp_path), "--audit", "classic", "--json")

    *pictures, said = map(json.loads, ran.stdout.splitlines())
    assert [len(each["cards"]) for each in pictures] == [60, 46]
    assert (said["audit"], said["complete"], said["shown"], said["missing"]) == ("classic", True, 106, {})
    assert ran.returncode == 0


@pytest.mark.long
def test_an_unverified_deck_is_checked_against_the_tables_own_counts(called, tmp_path):
    setup = tmp_path / "table.toml"
    setup.write_text("edition = 'rush'\n[deck]\nstop = 5\nroll = 5\n[[side]]\nname = 'Ann'\n[[side]]\nname = 'Bob'\n")
    (path,) = pictures_of(["stop-05"], tmp_path)
    ran = called("read", path, "--audit", "rush", "--setup", setup, "--json")

    missing = json.loads(ran.stdout.splitlines()[-1])["missing"]
    assert (missing["stop"], missing["roll"]) == (4, 5)


def test_unreadable_pictures_do_not_count_as_missing_cards(called, tmp_path):
    ran = called("read", tmp_path / "none.jpg", "--audit", "classic")

    assert ran.stdout == f"{audit_report.NO_PICTURE}\n"
    assert ran.stderr.count("\n") == 1
    assert ran.returncode == 1
