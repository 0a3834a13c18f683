"""Setting up on a phone: what an edition has otherwise, names of earlier games, who deals; the picture's turn."""

import re

import pytest
from client import HOME, SECRET, TWO, played, tap, text_of

from companion.app.service import _begin
from companion.match.setup_file import read_setup
from companion.pages import Camera, create_app
from companion.pages.game import house_rules
from companion.pages.players.names import MOST_KNOWN, MOST_MATCHES, known_names
from companion.pages.table_camera.camera_settings import KeptTurn, Turn
from companion.rules.editions.edition import edition_names, load_edition, switches
from companion.rules.reasons import in_edition

CLASSIC = load_edition("classic")


@pytest.fixture
def turn(tmp_path):
    return KeptTurn(tmp_path)


@pytest.fixture
def page(match, turn):
    return create_app(match, secret=SECRET, camera=Camera(turn=turn)).test_client()


# --- What is different ---------------------------------------------------------------------------------------


def test_the_classic_rules_differ_in_nothing_from_themselves():
    assert house_rules.differences(CLASSIC, CLASSIC) == []


@pytest.mark.parametrize("name", [name for name in edition_names() if name != "classic"])
def test_every_switch_that_an_edition_turns_is_said_in_its_sentence(name):
    edition = load_edition(name)
    turned = {in_edition(values[edition.switch(switch)], "en", None) for switch, values in switches().items()}
    kept = {in_edition(values[CLASSIC.switch(switch)], "en", None) for switch, values in switches().items()}

    said = {sentence for _title, sentence in house_rules.differences(edition, CLASSIC)}

    assert turned - kept <= said
    assert not said & kept


def test_other_cards_and_other_players_are_said():
    said = dict(house_rules.differences(load_edition("bsd-mille"), CLASSIC))

    assert "4 × Stop" in said["Cards"]
    assert said["Players"] == "2 each alone, to 700 km"
    assert "no 25 km" in house_rules.differences(load_edition("rush"), CLASSIC)[0][1]


# --- Names of earlier games ----------------------------------------------------------------------------------


PAIRS = ("side Reds = Cid, Dee", "side Blues = Bob, Eve", "hand first Cid")


@pytest.mark.parametrize(
    ("before", "header", "known"),
    [
        ((*TWO[:2], 'player Ann "Ann Smith"', TWO[2]), PAIRS, ["Cid", "Dee", "Bob", "Eve", "Ann Smith"]),
        ((*TWO[:2], 'player Ann "ANN"', TWO[2]), TWO, ["Ann", "Bob"]),
        (("side Ann", "side Player-2", "hand first Ann"), TWO, ["Ann", "Bob"]),
    ],
    ids=["as they were shown, the latest first", "one written otherwise is one", "not who has typed none"],
)
def test_names_are_remembered(match, before, header, known):
    match.start(before)
    match.start(header)

    assert known_names(match.store) == known


def test_only_so_many_names_of_so_many_matches_are_remembered(match):
    for number in range(MOST_MATCHES + 1):
        match.start((f"side A{number}x", "side Bob", "hand first Bob"))

    assert len(known_names(match.store)) == MOST_KNOWN
    assert known_names(match.store)[0] == f"A{MOST_MATCHES}x"


def test_the_form_offers_the_names_that_it_does_not_show_already(page, match):
    match.start(TWO)
    match.start(("side Cid", "side Dee", "hand first Cid"))

    shown = page.get("/setup").text

    assert re.findall(r'<option value="(\w+)"></option>', shown) == ["Ann", "Bob"]


# --- The picture ---------------------------------------------------------------------------------------------


def test_the_picture_is_turned_and_mirrored_from_the_camera_page(match, turn):
    page = create_app(match, secret=SECRET, camera=Camera(picture=lambda: None, turn=turn)).test_client()
    tap(page, "/camera/turn", degrees="180")
    tap(page, "/camera/turn", mirrored="yes")

    assert turn.current == Turn(180, mirrored=True)
    assert 'value="270"' in page.get("/camera").text


@pytest.mark.parametrize("degrees", ["45", "-90", "360"])
def test_a_picture_is_turned_by_quarters_only(page, turn, degrees):
    assert tap(page, "/camera/turn", degrees=degrees).status_code == 400
    assert turn.current == Turn()


def test_what_no_camera_takes_is_not_turned(match, turn):
    page = create_app(match, secret=SECRET).test_client()

    assert tap(page, "/camera/turn", degrees="90").status_code == 404
    for camera in (Camera(), Camera(turn=turn), Camera(picture=lambda: None, turn=turn, is_there=lambda: False)):
        assert "/camera/turn" not in create_app(match, secret=SECRET, camera=camera).test_client().get("/camera").text


# --- Started with a set-up file ------------------------------------------------------------------------------

OTHERS = 'edition = "classic"\n[[side]]\nname = "Cid"\nmat = "side-1"\n[[side]]\nname = "Dee"\nmat = "side-2"\n'


@pytest.fixture
def others(tmp_path):
    file = tmp_path / "others.toml"
    file.write_text(OTHERS)
    return read_setup(file)


@pytest.fixture
def under_way(begun):
    return played(begun, "Ann roll")


def sides(match) -> list[str]:
    return [team.name for team in match.state.game.teams]


def test_the_match_of_the_set_up_file_begins_where_nothing_is_being_played_and_goes_on_where_it_is(match, others):
    _begin(match, others, in_any_case=False)
    assert sides(match) == ["Cid", "Dee"]
    played(match, "Cid roll")

    _begin(match, others, in_any_case=False)

    assert match.lines()[-1] == "Cid roll"
    assert not match.state.offered


@pytest.mark.parametrize(("begin", "after"), [("yes", ["Cid", "Dee"]), ("no", ["Ann", "Bob"])])
def test_with_another_match_under_way_the_page_asks_whether_it_begins(under_way, page, others, begin, after):
    _begin(under_way, others, in_any_case=False)
    assert "Cid, Dee (Classic)" in page.get("/").text
    assert sides(under_way) == ["Ann", "Bob"]

    tap(page, "/offered", begin=begin)

    assert sides(under_way) == after
    assert "Cid, Dee" not in page.get("/").text


def test_the_match_of_the_set_up_file_begins_at_once_where_that_is_said(under_way, others):
    _begin(under_way, others, in_any_case=True)

    assert sides(under_way) == ["Cid", "Dee"]


# --- As you play it at home ----------------------------------------------------------------------------------


def toggles(page, query: str) -> dict[str, bool]:
    """The switches of the form and whether each is on."""
    shown = page.get(f"/setup?{query}").text
    found = re.findall(r'role="switch" name="option-([a-z-]+)" value="[a-z-]+" (checked)?', shown)
    return {name: bool(on) for name, on in found}


def test_what_families_argue_about_stands_as_the_sheet_has_it(page):
    classic = toggles(page, "edition=classic")

    assert classic == {name: name in ("hazard-on-hazard", "extension") for name in house_rules.FAMILY}
    assert toggles(page, "edition=rush")["roll-after-remedy"]
    assert "five-hazards-removed" not in toggles(page, "edition=bsd-mille")


@pytest.mark.parametrize(
    ("sent", "options"),
    [
        ((), ()),
        (("option-hazard-on-hazard=allowed",), ()),
        (("option-hazard-on-hazard=forbidden",), (("hazard-on-hazard", "forbidden"),)),
        (("option-overshoot=forbidden", "option-overshoot=allowed"), (("overshoot", "allowed"),)),
        (("option-overshoot=forbidden",), ()),
    ],
)
def test_a_switch_makes_a_house_rule_where_it_differs_from_the_sheet(page, match, sent, options):
    form = "&".join(("edition=classic", "seating=2x1", "shown-for=classic", *sent))
    page.post("/setup", data=form, headers=HOME, content_type="application/x-www-form-urlencoded")

    assert match.state.game.options == options


def test_another_box_takes_its_own_sheet_and_keeps_what_somebody_chose(page):
    kept = "shown-for=classic&option-hazard-on-hazard=allowed&option-overshoot=forbidden&option-draw=to-seven"

    assert not toggles(page, f"edition=rush&{kept}")["hazard-on-hazard"]
    assert toggles(page, f"edition=rush&{kept}")["overshoot"]
    assert "More rules (" not in text_of(page.get(f"/setup?edition=rush&{kept}"))
    chosen = page.get("/setup?edition=asmodee-2014&shown-for=classic&option-draw=to-seven").text
    assert '<option value="to-seven" selected>' in chosen


def test_names_come_before_the_box_and_years_with_it(page):
    shown = text_of(page.get("/setup"))

    assert shown.index("Who plays") < shown.index("Which box do you have?") < shown.index("As you play it at home")
    assert "Classic since 1954" in shown
    assert shown.index("Others") < shown.index("BSD mille")


def test_a_house_rule_without_effect_is_shown_before_the_match_begins(page, match):
    form = {"edition": "asmodee-2014", "seating": "2x1", "option-extension": "yes", "shown-for": "asmodee-2014"}
    asked = page.post("/setup", data=form, headers=HOME)

    assert asked.status_code == 409
    assert "The house rule “Extension” has no effect in this game: it needs a target of 700 miles." in text_of(asked)
    assert match.state.match is None

    page.post("/setup", data=form | {"idle": "yes"}, headers=HOME)

    assert match.state.game.options == (("extension", "yes"),)
    assert "The house rule “Extension” has no effect" in text_of(page.get("/more"))


def test_a_house_rule_that_needs_another_one_names_it_by_its_meaning(page):
    form = {
        "edition": "asmodee-2014",
        "seating": "2x1",
        "option-past-target-card": "discarded",
        "shown-for": "asmodee-2014",
    }

    english, german = (
        text_of(page.post("/setup", data=form, headers=HOME | {"Accept-Language": language}))
        for language in ("en", "de")
    )

    assert "The house rule “Past target card” has no effect in this game: it needs “The target must be" in english
    assert "Die Hausregel „Karte übers Ziel hinaus“ bewirkt in diesem Spiel nichts" in german
    assert "past-target-card=discarded" not in english + german


def test_a_house_rule_with_an_effect_begins_the_match_at_once(page, match):
    form = {"edition": "asmodee-2014", "seating": "2x1", "option-extension": "yes", "target": "700"}

    assert page.post("/setup", data=form, headers=HOME).status_code == 303
    assert match.state.game.target == 700
