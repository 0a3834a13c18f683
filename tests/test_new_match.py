"""Set-up on a phone: differences between editions, known names, dealing, turning the picture."""

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


# --- Differences ---------------------------------------------------------------------------------------------


def test_the_classic_rules_have_no_differences_from_themselves():
    assert house_rules.differences(CLASSIC, CLASSIC) == []


@pytest.mark.parametrize("name", [name for name in edition_names() if name != "classic"])
def test_every_switch_changed_by_an_edition_is_shown_as_a_sentence(name):
    edition = load_edition(name)
    turned = {in_edition(values[edition.switch(switch)], "en", None) for switch, values in switches().items()}
    kept = {in_edition(values[CLASSIC.switch(switch)], "en", None) for switch, values in switches().items()}

    said = {sentence for _title, sentence in house_rules.differences(edition, CLASSIC)}

    assert turned - kept <= said
    assert not said & kept


def test_different_cards_and_numbers_of_players_are_shown():
    said = dict(house_rules.differences(load_edition("bsd-mille"), CLASSIC))

    assert "4 × Stop" in said["Cards"]
    assert said["Players"] == "2 on their own, to 700 km"
    assert "no 25 km" in house_rules.differences(load_edition("rush"), CLASSIC)[0][1]


# --- Known names ---------------------------------------------------------------------------------------------


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
def test_names_of_past_matches_are_remembered(match, before, header, known):
    match.start(before)
    match.start(header)

    assert known_names(match.store) == known


def test_the_number_of_remembered_names_and_matches_is_limited(match):
    for number in range(MOST_MATCHES + 1):
        match.start((f"side A{number}x", "side Bob", "hand first Bob"))

    assert len(known_names(match.store)) == MOST_KNOWN
    assert known_names(match.store)[0] == f"A{MOST_MATCHES}x"


def test_the_form_offers_known_names_that_are_not_entered_yet(page, match):
    match.start(TWO)
    match.start(("side Cid", "side Dee", "hand first Cid"))

    shown = page.get("/setup").text

    assert re.findall(r'<option value="(\w+)"></option>', shown) == ["Ann", "Bob"]


# --- The picture ---------------------------------------------------------------------------------------------


def test_the_camera_page_turns_and_mirrors_the_picture(match, turn):
    page = create_app(match, secret=SECRET, camera=Camera(picture=lambda: None, turn=turn)).test_client()
    tap(page, "/camera/turn", degrees="180")
    tap(page, "/camera/turn", mirrored="yes")

    assert turn.current == Turn(180, mirrored=True)
    assert 'value="270"' in page.get("/camera").text


@pytest.mark.parametrize("degrees", ["45", "-90", "360"])
def test_a_picture_turns_only_by_quarter_turns(page, turn, degrees):
    assert tap(page, "/camera/turn", degrees=degrees).status_code == 400
    assert turn.current == Turn()


def test_without_a_camera_there_is_nothing_to_turn(match, turn):
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


def test_the_set_up_files_match_begins_or_continues_if_already_in_play(match, others):
    _begin(match, others, in_any_case=False)
    assert sides(match) == ["Cid", "Dee"]
    played(match, "Cid roll")

    _begin(match, others, in_any_case=False)

    assert match.lines()[-1] == "Cid roll"
    assert not match.state.offered


@pytest.mark.parametrize(("begin", "after"), [("yes", ["Cid", "Dee"]), ("no", ["Ann", "Bob"])])
def test_with_another_match_in_play_the_page_asks_whether_to_begin(under_way, page, others, begin, after):
    _begin(under_way, others, in_any_case=False)
    assert "Cid, Dee (Classic)" in page.get("/").text
    assert sides(under_way) == ["Ann", "Bob"]

    tap(page, "/offered", begin=begin)

    assert sides(under_way) == after
    assert "Cid, Dee" not in page.get("/").text


def test_the_set_up_files_match_begins_at_once_if_requested(under_way, others):
    _begin(under_way, others, in_any_case=True)

    assert sides(under_way) == ["Cid", "Dee"]


# --- House rules ---------------------------------------------------------------------------------------------


def toggles(page, query: str) -> dict[str, bool]:
    """Return the form's switches, and whether each is on."""
    shown = page.get(f"/setup?{query}").text
    found = re.findall(r'role="switch" name="option-([a-z-]+)" value="[a-z-]+" (checked)?', shown)
    return {name: bool(on) for name, on in found}


def test_family_switches_are_preset_from_the_sheet(page):
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
def test_a_switch_that_differs_from_the_sheet_is_a_house_rule(page, match, sent, options):
    form = "&".join(("edition=classic", "seating=2x1", "shown-for=classic", *sent))
    page.post("/setup", data=form, headers=HOME, content_type="application/x-www-form-urlencoded")

    assert match.state.game.options == options


def test_another_edition_uses_its_own_sheet_and_keeps_chosen_rules(page):
    kept = "shown-for=classic&option-hazard-on-hazard=allowed&option-overshoot=forbidden&option-draw=to-seven"

    assert not toggles(page, f"edition=rush&{kept}")["hazard-on-hazard"]
    assert toggles(page, f"edition=rush&{kept}")["overshoot"]
    assert "More rules (" not in text_of(page.get(f"/setup?edition=rush&{kept}"))
    chosen = page.get("/setup?edition=asmodee-2014&shown-for=classic&option-draw=to-seven").text
    assert '<option value="to-seven" selected>' in chosen


def test_names_come_before_the_edition_and_its_years(page):
    shown = text_of(page.get("/setup"))

    assert shown.index("Who plays") < shown.index("Which edition do you have?") < shown.index("House rules")
    assert "Classic since 1954" in shown
    assert shown.index("Others") < shown.index("BSD mille")


def test_a_house_rule_without_effect_is_reported_before_the_match_begins(page, match):
    form = {"edition": "asmodee-2014", "seating": "2x1", "option-extension": "yes", "shown-for": "asmodee-2014"}
    asked = page.post("/setup", data=form, headers=HOME)

    assert asked.status_code == 409
    assert "The house rule “Extension” has no effect in this game: it needs a target of 700 miles." in text_of(asked)
    assert match.state.match is None

    page.post("/setup", data=form | {"idle": "yes"}, headers=HOME)

    assert match.state.game.options == (("extension", "yes"),)
    assert "The house rule “Extension” has no effect" in text_of(page.get("/more"))


def test_a_house_rule_that_needs_another_names_it_by_its_meaning(page):
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

    assert "The house rule “Card past the target” has no effect in this game: it needs “The target must be" in english
    assert "Die Hausregel „Karte übers Ziel hinaus“ bewirkt in diesem Spiel nichts" in german
    assert "past-target-card=discarded" not in english + german


def test_a_house_rule_with_an_effect_begins_the_match_at_once(page, match):
    form = {"edition": "asmodee-2014", "seating": "2x1", "option-extension": "yes", "target": "700"}

    assert page.post("/setup", data=form, headers=HOME).status_code == 303
    assert match.state.game.target == 700
