"""A photographed tableau counted: whose cards, which of them are asked about, what the hand scores if all is right."""

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result
from pictures import Lens, Mat, Scene, on_mat, picture

from companion.app.cli import companion
from companion.app.reports import tally_report
from companion.pages.scores.photo_form import fields
from companion.rules import scoring
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.scoring import Item
from companion.rules.table import HowEnded
from companion.rules.tableau import Laying, SeatingError, Told, Trip, check_sides, likely, odd, table_of, trips
from companion.tabletop.mat_layout import side_mat
from companion.vision.counting.tally import Photo, Tally, layings, tally
from companion.vision.view import MatSeen, Sighting, View

CLASSIC, RUSH, PARKER, ASMODEE = map(load_edition, ("classic", "rush", "parker", "asmodee-2014"))
ALL = (Card.DRIVING_ACE, Card.EXTRA_TANK, Card.PUNCTURE_PROOF, Card.RIGHT_OF_WAY)
UPPER = ((0.0, 0.0), (1000.0, 0.0), (1000.0, 450.0), (0.0, 450.0))
LOWER = ((0.0, 500.0), (1000.0, 500.0), (1000.0, 950.0), (0.0, 950.0))
CODE_PX = 34.0  # the side of a sticker's code on the pictures that are made up here: two pixels a millimetre


def square(at: tuple[float, float], side: float = CODE_PX):
    (x, y), half = at, side / 2
    return ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half))


def card(name: str, zone: str | None = None, at: tuple[float, float] = (0, 0), **how: object) -> Sighting:
    """A card with its sticker read: `roll-03`."""
    usual = {"sideways": False, "confidence": 0.99, "by": "sticker"}
    face = Card(name.rpartition("-")[0])
    return Sighting(face=face, card=name, centre_px=at, corners_px=square(at), zone=zone, **(usual | how))


def face(slug: str, zone: str | None = None, at: tuple[float, float] = (0, 0), **how: object) -> Sighting:
    usual = {"sideways": False, "confidence": 0.9, "by": "face"}
    corners = square(at, 114.0)
    return Sighting(face=Card(slug), card=None, centre_px=at, corners_px=corners, zone=zone, **(usual | how))


def unsure(*rivals: str, zone: str | None = None, at: tuple[float, float] = (0, 0)) -> Sighting:
    """A card that cannot be told for sure."""
    return face("unknown", zone, at, rivals=tuple((f"{slug}-00", 0.4) for slug in rivals))


def photo(*sightings: Sighting, mats: tuple[str, ...] = (), name: str = "a.jpg", **how: object) -> Photo:
    seen = tuple(MatSeen(mat, quad, 2.0) for mat, quad in zip(mats, (UPPER, LOWER), strict=False))
    return Photo(name, (1000, 950), View(0.0, seen, sightings, **how))


def counted(*photos: Photo | Sighting, edition=CLASSIC, mats: tuple[str, ...] = ()) -> Tally:
    """Photographs counted, or one of these cards."""
    return tally(edition, photos if photos and isinstance(photos[0], Photo) else [photo(*photos, mats=mats)])


BOTH = ("side-1", "side-2")


def distances(found: Tally) -> list[dict[str, int]]:
    return [{card.value: number for card, number in laying.distances.items()} for laying in layings(found)]


def asked(found: Tally, about: str = "") -> list[str]:
    questions = tally_report.questions(CLASSIC, found)
    return [question.say for question in questions if about in ("", question.ask)]


# --- Whose cards ---------------------------------------------------------------------------------------------


ZONES = {"200-01": "side-1/distance", "100-01": "side-1/distance", "25-04": "side-2/distance",
         "roll-01": "side-1/battle", "end-of-limit-01": "side-1/speed", "stop-01": "table/discard"}  # fmt: skip
TOLD_TWICE = [("100", (200, 100)), ("100", (203, 101)), ("100", (200, 130)), ("75", (201, 100))]


@pytest.mark.parametrize(
    ("cards", "mats", "expected"),
    [
        ([card(name, zone) for name, zone in ZONES.items()], BOTH, [{"200": 1, "100": 1}, {"25": 1}]),
        ([card("200-01", "side-1/distance")], BOTH, [{"200": 1}, {}]),
        ([card("200-01", at=(300, 700)), card("75-01", at=(300, 200))], BOTH, [{"75": 1}, {"200": 1}]),
        ([face(slug, "side-1/distance", at) for slug, at in TOLD_TWICE], BOTH, [{"100": 2, "75": 1}, {}]),
        ([face("100", at=(200, 100)), face("roll", at=(200, 300)), face("stop", at=(900, 900))], (), [{"100": 1}, {}]),
    ],
    ids=["zones tell", "a bare mat is a side", "between the zones of a mat", "a face told twice in one place",
         "a heap of which nothing scores is no side"],
)  # fmt: skip
def test_a_card_lies_before_the_side_whose_mat_or_heap_it_is_on(cards, mats, expected):
    found = counted(*cards, mats=mats)

    assert distances(found) == expected
    assert [place.name for place in found.places] == ["Side 1", "Side 2"]
    assert [laying.drove_unseen for laying in layings(found)] == [False, not mats]


def test_what_shows_of_a_sides_piles_is_told():
    found = counted(*(card(name, zone) for name, zone in ZONES.items()), mats=BOTH)

    assert [found.lots[0].shows(pile) for pile in ("battle", "speed")] == [(Card.ROLL,), (Card.END_OF_LIMIT,)]


def test_a_safety_that_lies_sideways_was_a_coup_fourre():
    across = card("driving-ace-01", "side-1/safety", sideways=True)
    first = layings(counted(across, card("right-of-way-01", "side-1/safety"), mats=("side-1",)))[0]

    assert first.safeties == (Card.DRIVING_ACE, Card.RIGHT_OF_WAY)
    assert first.coups_fourres == (Card.DRIVING_ACE,)


def test_cards_beside_the_mats_are_asked_about_listed_and_do_not_count():
    found = counted(card("200-01", "side-1/distance"), card("75-01", at=(300, 475)), mats=BOTH)

    said = list(tally_report.sentences(CLASSIC, found))
    (beside,) = (question for question in tally_report.questions(CLASSIC, found) if question.ask == "beside")

    assert distances(found) == [{"200": 1}, {}]
    assert beside.say == "Card 2 lies beside the mats: whose? Not counted for now."
    assert beside.choices == ("Side 1", "Side 2")
    assert said[said.index("Beside the mats on a.jpg, not counted:") + 1] == "  1 × 75 (card 2)"


def test_without_mats_the_cards_are_as_many_sides_as_heaps_lie_clearly_apart():
    found = counted(face("100", at=(200, 100)), face("75", at=(300, 100)), face("50", at=(200, 900)))

    assert distances(found) == [{"100": 1, "75": 1}, {"50": 1}]
    assert asked(found, "whose") == [
        "Do cards 1 and 2 lie before a side of their own? Taken for Side 1.",
        "Does card 3 lie before a side of its own? Taken for Side 2.",
    ]


def test_a_heap_photographed_from_the_side_has_its_coups_fourres_across_its_other_cards():
    turned = [face(slug, at=(100 * n, 0), sideways=True) for n, slug in enumerate(("100", "75", "roll", "extra-tank"))]

    found = counted(*turned, face("driving-ace", at=(400, 0), sideways=False))

    assert layings(found)[0].coups_fourres == (Card.DRIVING_ACE,)


def test_an_accelerator_doubles_the_distance_it_lies_nearest_to():
    laid = [("100", (100, 100)), ("200", (300, 100)), ("accelerator", (280, 130))]
    found = counted(*(face(slug, "side-1/distance", at) for slug, at in laid), mats=("side-1",), edition=RUSH)

    assert layings(found)[0].doubled == {Card.KM_200: 1}
    assert layings(found)[0].km == 500


# --- Several photographs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("photos", "expected", "notes"),
    [
        ([photo(face("100"), name="ann.jpg"), photo(face("75"), face("75", at=(90, 0)), name="bob.jpg")],
         [{"100": 1}, {"75": 2}], ()),
        ([photo(card("100-01"), card("75-02", at=(90, 0))),
          photo(card("100-01"), card("75-02", at=(90, 0)), card("50-01", at=(150, 0)), name="b.jpg")],
         [{"100": 1, "75": 1, "50": 1}, {}], ("2 cards were on a photograph before and counted there.",)),
        ([photo(face("100", "side-1/distance", (100, 100)), mats=BOTH[:1]),
          photo(*(face(slug, "side-1/distance", (x, 100)) for slug, x in (("100", 100), ("100", 250), ("50", 400))),
                mats=BOTH[:1], name="b.jpg")],
         [{"100": 2, "50": 1}, {}], ("Side 1 is on 2 photographs: b.jpg shows most of it and counts.",)),
        ([photo(card("100-01", "side-1/distance"), card("50-01", "side-1/distance"), mats=BOTH[:1]),
          photo(card("100-01", "side-1/distance"), card("75-02", "side-1/distance"), mats=BOTH[:1], name="b.jpg")],
         [{"100": 1, "75": 1, "50": 1}, {}], ("Side 1 is on 2 photographs: a.jpg shows most of it and counts.",)),
        ([photo(face("100"), name="ann.jpg"), photo(name="bob.jpg")], [{"100": 1}, {}],
         ("No card was read on bob.jpg: if cards lie there, photograph them from nearer by and with more light.",)),
    ],
    ids=["a side each", "a sticker counts once", "of a mat the photograph that shows most counts",
         "a sticker that only the other shows is added", "without a card it is named"],
)  # fmt: skip
def test_several_photographs_count_together(photos, expected, notes):
    found = counted(*photos)

    assert (distances(found), found.notes, found.is_blank) == (expected, notes, False)


@pytest.mark.parametrize(
    ("first", "second", "is_said"),
    [
        (["100", "75", "50"], ["75", "50", "100"], True), (["100", "extra-tank"], ["50", "100", "extra-tank"], True),
        (["100", "75"], ["100", "75"], False), (["100", "75", "50"], ["100", "75", "25"], False),
    ],
    ids=["the same cards", "a safety twice", "only two", "others"],
)  # fmt: skip
def test_two_photographs_of_one_side_without_a_mat_are_noticed(first, second, is_said):
    photos = [
        photo(*(face(slug, at=(90 * n, 0)) for n, slug in enumerate(cards)), name=name)
        for name, cards in (("a.jpg", first), ("b.jpg", second))
    ]

    said = "The same cards seem to lie on a.jpg and b.jpg: let them count once only."
    assert counted(*photos).notes == ((said,) if is_said else ())


# --- What is asked -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rivals", "say", "counts"),
    [
        (("75", "25"), "Which is card 1: 75 km or 25 km (a.jpg, upper left, at 9, 9)? Counted as 75 km for now.", True),
        ((), "Which is card 1 (a.jpg, upper left, at 9, 9)? It cannot be told, and is not counted for now.", False),
    ],
    ids=["counts as the likeliest", "nothing likely counts nothing"],
)
def test_a_card_that_cannot_be_told_is_a_question_with_its_place(rivals, say, counts):
    found = counted(unsure(*rivals, zone="side-1/distance", at=(9, 9)), mats=BOTH)

    assert asked(found)[0] == say
    assert distances(found) == [{"75": 1} if counts else {}, {}]


def test_what_may_lie_in_the_zone_is_offered_first():
    found = counted(unsure("roll", "75", zone="side-1/distance"), mats=("side-1",))

    assert found.lots[0].spots[0].guesses == (Card.KM_75, Card.ROLL)


@pytest.mark.parametrize(("confidence", "proposed"), [(0.7, Card.KM_75), (0.4, None)])
def test_a_guess_is_filled_in_where_it_is_likely(confidence, proposed):
    rivals = (("75-00", confidence), ("25-00", 0.1))
    found = counted(face("unknown", "side-1/distance", rivals=rivals), mats=("side-1",))

    assert found.lots[0].spots[0].proposed is proposed
    assert fields(CLASSIC, found, {}).get("c-1-1") == (proposed and proposed.value)


@pytest.mark.parametrize(
    "sighting", [unsure("stop", "roll"), unsure("stop", "25", zone="side-1/battle")], ids=["faces", "zone"]
)
def test_what_cannot_score_is_not_asked_about(sighting):
    found = counted(photo(sighting, face("100", "side-1/distance"), mats=("side-1", "side-2")))

    assert not asked(found, "card")


def test_the_same_sticker_read_in_two_places_is_a_question_at_one_of_them():
    cards = [card("100-01", "side-1/distance"), card("100-01", "side-1/distance", (300, 0), confidence=0.95)]
    found = counted(*cards, mats=BOTH)

    assert [spot.is_sure for spot in found.lots[0].spots] == [True, False]
    assert asked(found)[0].startswith("Is card 2 really 100 km")


def test_a_card_of_another_deck_is_named_and_not_counted():
    found = counted(card("300-01", "side-1/distance"), mats=BOTH)

    assert found.notes == ("Not in the deck of Classic, and not counted: 1 × 300 km.",)
    assert distances(found) == [{}, {}]


def test_a_side_that_no_photograph_shows_is_asked_about_and_not_shut_out_unasked():
    found = counted(*(face("100", at=(100 * n, 0)) for n in range(7)))
    table = tally_report.likely_table(CLASSIC, found)

    assert "No picture shows Side 2: did it lay any distance? Taken for yes." in asked(found)
    assert Item.SHUT_OUT not in dict(scoring.score(table)[0].lines)


def test_the_list_and_the_questions_call_a_card_by_one_number_those_that_score_first():
    found = counted(
        photo(
            card("roll-01", "side-1/battle"),
            card("100-01", "side-1/distance", (100, 100)),
            unsure("75", "25", zone="side-1/distance", at=(500, 240)),
            card("50-01", "side-2/distance", (900, 900)),
            unsure(zone="side-2/safety", at=(20, 640)),
            mats=("side-1", "side-2"),
        )
    )

    said = list(tally_report.sentences(CLASSIC, found))

    assert said[:7] == [
        "Side 1, mat side-1 on a.jpg: 175 km", "  1 × 100 (card 1)", "  not told for sure: card 2",
        "  battle pile: roll", "Side 2, mat side-2 on a.jpg: 50 km", "  1 × 50 (card 3)", "  not told for sure: card 4",
    ]  # fmt: skip
    assert [say for say in said if "Which" in say] == [
        "? Which is card 2: 75 km or 25 km (a.jpg, at the top, at 500, 240)? Counted as 75 km for now.",
        "? Which is card 4 (a.jpg, lower left, at 20, 640)? It cannot be told, and is not counted for now.",
    ]


@pytest.mark.parametrize(
    ("numbers", "say"),
    [([3], "card 3"), ([4, 3], "cards 3 and 4"), ([1, 2, 3, 5], "cards 1 to 3 and 5"), ([1, 3, 4], "cards 1, 3 and 4")],
)
def test_cards_are_called_by_their_numbers(numbers, say):
    spot = counted(photo(face("100"))).lots[0].spots[0]

    assert tally_report.called([replace(spot, number=number) for number in numbers]) == say


@pytest.mark.parametrize(("seen", "is_asked"), [(None, True), (True, False), (False, False)])
def test_the_draw_pile_is_asked_about_unless_its_mat_was_seen(seen, is_asked):
    found = counted(photo(*(face("100", at=(100 * n, 0)) for n in range(7)), draw_pile_empty=seen))

    assert any("draw pile" in say for say in asked(found)) == is_asked
    assert tally_report.likely_table(CLASSIC, found).draw_pile == 0 if seen else True


# --- The score of a tableau ----------------------------------------------------------------------------------


def test_the_whole_pad_comes_out_of_the_cards_and_what_people_tell():
    best = Laying("Ann", {Card.KM_100: 7, Card.KM_75: 2, Card.KM_50: 3}, {}, ALL, ALL)
    told = Told(Trip(1000, extended_by=0), completed_by=0, played_out=False, draw_pile_empty=True)

    table = table_of(CLASSIC, (best, Laying("Bob")), told)

    assert [sheet.total for sheet in scoring.score(table)] == [4600, 0]
    assert odd(table) == ()


def test_a_200_among_the_distances_spoils_the_safe_trip():
    layings = (Laying("Ann", {Card.KM_200: 2, Card.KM_100: 3}), Laying("Bob", {Card.KM_25: 1}))

    lines = dict(scoring.score(table_of(CLASSIC, layings, likely(CLASSIC, layings)))[0].lines)

    assert lines == {Item.DISTANCE: 700, Item.TRIP_COMPLETED: 400}


NOBODY = Told(Trip(700), None, played_out=True, draw_pile_empty=False)


@pytest.mark.parametrize(
    ("edition", "ann", "bob", "told"),
    [
        (CLASSIC, (5, 0), 7, Told(Trip(700), 1, played_out=False, draw_pile_empty=False)),
        (CLASSIC, (5, 0), 8, Told(Trip(1000, extended_by=1), None, played_out=True, draw_pile_empty=False)),
        (ASMODEE, (8, 3), 5, Told(Trip(1000), 0, played_out=False, draw_pile_empty=False)),
        (CLASSIC, (5, 0), 0, NOBODY),
    ],
    ids=[
        "who lies at the target has completed the trip", "beyond 700 the extension was called",
        "a race counts safeties and may pass its target", "a trip that nobody completed was played out",
    ],
)  # fmt: skip
def test_how_the_hand_went_by_all_likelihood(edition, ann, bob, told):
    km, safeties = ann
    layings = (Laying("Ann", {Card.KM_100: km}, {}, ALL[:safeties]), Laying("Bob", {Card.KM_100: bob}))

    assert likely(edition, layings) == told


def test_a_hand_that_was_played_out_has_ended_with_an_empty_pile():
    layings = (Laying("Ann", {Card.KM_100: 5}), Laying("Bob"))

    assert table_of(CLASSIC, layings, NOBODY).ending.how is HowEnded.EXHAUSTED


def test_every_way_a_hand_can_have_gone_is_offered():
    assert trips(CLASSIC, 2) == (Trip(700), Trip(1000), Trip(1000, 0), Trip(1000, 1))
    assert trips(RUSH, 3) == (Trip(1000), Trip(700))


def test_the_edition_must_be_played_by_so_many_sides():
    with pytest.raises(SeatingError, match="Classic is played by 2 or 3 alone, or 4 or 6 in pairs: these are 5 sides"):
        check_sides(CLASSIC, 5)


@pytest.mark.parametrize(
    ("first", "second", "completed_by", "say"),
    [
        ({Card.KM_200: 3}, {}, None, "Ann has more than 2 cards of 200 km."),
        ({Card.KM_200: 2}, {Card.KM_200: 3}, None, "200 km: the deck has only 4."),
        ({Card.KM_100: 8}, {}, None, "Ann has 800 km, and the target is 700 km."),
        ({Card.KM_100: 6}, {}, 0, "Ann has 600 km, and the trip went to 700: look at the cards again."),
        ({Card.KM_100: 7}, {}, None, "Ann has all 700 km: that completes the trip."),
        ({Card.KM_50: 10, Card.KM_200: 1}, {Card.KM_100: 7}, 0,
         "Bob has all 700 km as well: only one side completes the trip."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(first, second, completed_by, say):
    told = Told(Trip(700), completed_by, played_out=True, draw_pile_empty=False)

    assert say in odd(table_of(CLASSIC, (Laying("Ann", first), Laying("Bob", second)), told))


def test_a_safety_before_two_sides_is_said_and_of_piles_that_nobody_counts_nothing():
    twice = [Laying(name, safeties=(Card.EXTRA_TANK,)) for name in ("Ann", "Bob")]
    sound = [Laying("Ann", {Card.KM_100: 4}, {}, ALL, ALL), Laying("Bob", {Card.KM_25: 4})]

    assert odd(table_of(CLASSIC, twice, NOBODY)) == ("Extra tank: the deck has only 1.",)
    assert odd(table_of(PARKER, sound, NOBODY)) == ()


# --- On the command line -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tableau(tmp_path_factory):
    """A photograph of two mats with stickers on them."""
    ann, bob = Mat(side_mat(1), -440, -150), Mat(side_mat(2), 20, -150)
    km = ["200-01", "200-02", "100-01", "100-02", "100-03"]
    stickers = [on_mat(ann, "distance", f"MB1:{name}", dx_mm=65 * n - 130) for n, name in enumerate(km)]
    stickers += [on_mat(bob, "distance", "MB1:75-02"), on_mat(bob, "battle", "MB1:STOP-03")]
    stickers += [on_mat(ann, "safety", "MB1:RIGHT-OF-WAY-01", turn_deg=90)]
    path = tmp_path_factory.mktemp("tableau") / "table.png"
    cv2.imwrite(str(path), picture(Scene(mats=(ann, bob), stickers=tuple(stickers)), Lens(width_mm=980)))
    return path


def read(*words: object) -> Result:
    """`companion read` with these words."""
    return CliRunner().invoke(companion, ["read", *map(str, words)], standalone_mode=False)


def test_read_tells_the_cards_of_each_side_what_it_asks_and_the_score(tableau):
    answer = read(tableau, "--tally", "classic")

    assert answer.return_value == 0, answer.output
    assert f"Side 1, mat side-1 on {tableau}: 700 km\n  2 × 200 (cards 1 and 2), 3 × 100" in answer.output
    assert "  right of way (coup fourré, card 6)\n" in answer.output
    assert f"Side 2, mat side-2 on {tableau}: 75 km\n  1 × 75 (card 7)\n  battle pile: stop" in answer.output
    assert "? Who completed it? By the cards: Side 1." in answer.output
    assert "  Total             1500      75" in answer.output


def test_read_tells_a_tally_as_json_after_its_pictures(tableau):
    answer = read(tableau, "--tally", "classic", "--json")

    shown, found = map(json.loads, answer.stdout.splitlines())

    assert shown["image"] == str(tableau)
    assert found["tally"] == "classic"
    assert found["sides"][0]["distances"] == {"200": 2, "100": 3}
    assert found["sides"][0]["safeties"] == {"right-of-way": "coup-fourre"}
    assert found["told"] == {"target": 700, "extended_by": None, "completed_by": "Side 1", "draw_pile_empty": False}
    assert {name: sheet["total"] for name, sheet in found["score"].items()} == {"Side 1": 1500, "Side 2": 75}
    assert [question["ask"] for question in found["questions"]] == ["trip", "completed", "draw-pile"]


@pytest.mark.parametrize(
    ("words", "say"),
    [
        (["classic"], "No sticker was read: cards without stickers are read with --deck NAME, which names their deck: "
                      "own (the printed deck)."),
        (["rush"], "--deck NAME, which names their deck; if they are another deck, `companion enroll` makes it known."),
        (["classic", "--deck", "own"], "No sticker was read, and no card of the deck 'own': photograph the cards from "
                                       "nearer by; if they are another deck, `companion enroll` makes it known."),
        (["classic", "--json"], '"notes": ["No sticker was read'),
    ],
    ids=["no deck named", "no deck there", "another deck", "as JSON"],
)  # fmt: skip
def test_where_no_card_was_read_it_says_what_to_do_and_counts_nothing(words, say, tmp_path):
    bare = tmp_path / "bare.png"
    cv2.imwrite(str(bare), np.full((480, 640, 3), 90, np.uint8))

    answer = read(bare, "--tally", *words, "--data", tmp_path)

    assert say in answer.output
    assert "Total" not in answer.output


def test_a_tally_of_pictures_that_cannot_be_read_is_said(tmp_path):
    answer = read(tmp_path / "none.jpg", "--tally", "classic")

    assert answer.return_value == 1
    assert "No picture could be read: there is nothing to count." in answer.output


def test_sides_are_called_as_the_setup_says() -> None:
    shots = [
        photo(face("100", "side-1/distance", (100, 100)), mats=("side-1", "side-2"), name=name)
        for name in ("a.jpg", "b.jpg")
    ]

    found = tally(CLASSIC, shots, {"side-1": "Ann", "side-2": "Bob"})

    assert [place.name for place in found.places] == ["Ann", "Bob"]
    assert [place.name for place in counted(*shots).places] == ["Side 1", "Side 2"]
    assert any(note.startswith("Ann is on 2 photographs") for note in found.notes)
