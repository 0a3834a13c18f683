"""Counting a photographed tableau: the side of each card, uncertain cards, and the likely score."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from companion.pages.scores import photo_form
from companion.pages.scores.photo_form import fields
from companion.rules import scoring
from companion.rules.cards import Card
from companion.rules.editions.edition import load_edition
from companion.rules.scoring import Item
from companion.rules.table import HowEnded, Side
from companion.rules.tableau import SeatingError, Told, Trip, check_sides, likely, may_have_more, table_of, trips
from companion.vision.counting.tally import Photo, Tally, tally
from companion.vision.view import MatSeen, Sighting, View

CLASSIC, RUSH, PARKER, ASMODEE = map(load_edition, ("classic", "rush", "parker", "asmodee-2014"))
ALL = (Card.DRIVING_ACE, Card.EXTRA_TANK, Card.PUNCTURE_PROOF, Card.RIGHT_OF_WAY)
UPPER = ((0.0, 0.0), (1000.0, 0.0), (1000.0, 450.0), (0.0, 450.0))
LOWER = ((0.0, 500.0), (1000.0, 500.0), (1000.0, 950.0), (0.0, 950.0))
CODE_PX = 34.0  # side of a sticker's code in these views, at two pixels per millimeter


def square(at: tuple[float, float], side: float = CODE_PX):
    (x, y), half = at, side / 2
    return ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half))


def card(name: str, zone: str | None = None, at: tuple[float, float] = (0, 0), **how: object) -> Sighting:
    """Return the sighting of a card with a sticker such as `roll-03`."""
    usual = {"sideways": False, "confidence": 0.99, "by": "sticker"}
    face = Card(name.rpartition("-")[0])
    return Sighting(face=face, card=name, centre_px=at, corners_px=square(at), zone=zone, **(usual | how))


def face(slug: str, zone: str | None = None, at: tuple[float, float] = (0, 0), **how: object) -> Sighting:
    usual = {"sideways": False, "confidence": 0.9, "by": "face"}
    corners = square(at, 114.0)
    return Sighting(face=Card(slug), card=None, centre_px=at, corners_px=corners, zone=zone, **(usual | how))


def unsure(*rivals: str, zone: str | None = None, at: tuple[float, float] = (0, 0)) -> Sighting:
    """Return the sighting of an unknown card with these likely faces."""
    return face("unknown", zone, at, rivals=tuple((f"{slug}-00", 0.4) for slug in rivals))


def photo(*sightings: Sighting, mats: tuple[str, ...] = (), name: str = "a.jpg", **how: object) -> Photo:
    seen = tuple(MatSeen(mat, quad, 2.0) for mat, quad in zip(mats, (UPPER, LOWER), strict=False))
    return Photo(name, (1000, 950), View(0.0, seen, sightings, **how))


def counted(*photos: Photo | Sighting, edition=CLASSIC, mats: tuple[str, ...] = ()) -> Tally:
    """Count photographs, or one photograph with these cards."""
    return tally(edition, photos if photos and isinstance(photos[0], Photo) else [photo(*photos, mats=mats)])


BOTH = ("side-1", "side-2")


def sides(found: Tally, edition=CLASSIC) -> tuple[Side, ...]:
    """Return each side's cards if all guesses are correct."""
    return photo_form.sides(edition, found, fields(edition, found, {}))


def odd(table) -> list[str]:
    return [one.say for one in photo_form.odd(table)]


def distances(found: Tally) -> list[dict[str, int]]:
    km = (Counter(side.distances) for side in sides(found))
    return [{card.value: number for card, number in cards.items() if card is not Card.UNKNOWN} for cards in km]


def in_question(found: Tally) -> list[tuple[int, Card]]:
    """Return number and current face of the cards that are asked about."""
    return [(spot.number, spot.likeliest) for lot in found.lots for spot in lot.unsure]


# --- Cards by side -------------------------------------------------------------------------------------------


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
def test_a_card_belongs_to_the_side_of_its_mat_or_heap(cards, mats, expected):
    found = counted(*cards, mats=mats)

    assert distances(found) == expected
    assert [lot.name for lot in found.lots] == ["Side 1", "Side 2"]
    assert [side.distances == (Card.UNKNOWN,) for side in sides(found)] == [False, not mats]


def test_visible_cards_of_a_sides_piles_are_returned():
    found = counted(*(card(name, zone) for name, zone in ZONES.items()), mats=BOTH)

    assert [found.lots[0].shows(pile) for pile in ("battle", "speed")] == [(Card.ROLL,), (Card.END_OF_LIMIT,)]


def test_a_sideways_safety_is_a_coup_fourre():
    across = card("driving-ace-01", "side-1/safety", sideways=True)
    first = sides(counted(across, card("right-of-way-01", "side-1/safety"), mats=("side-1",)))[0]

    assert first.safeties == (Card.DRIVING_ACE, Card.RIGHT_OF_WAY)
    assert first.coups_fourres == (Card.DRIVING_ACE,)


def test_cards_beside_the_mats_are_listed_but_do_not_count():
    found = counted(card("200-01", "side-1/distance"), card("75-01", at=(300, 475)), mats=BOTH)

    assert distances(found) == [{"200": 1}, {}]
    assert [[spot.number for spot in lot.spots] for lot in found.lots if lot.is_beside] == [[2]]


def test_without_mats_each_separate_heap_is_a_side():
    found = counted(face("100", at=(200, 100)), face("75", at=(300, 100)), face("50", at=(200, 900)))

    assert distances(found) == [{"100": 1, "75": 1}, {"50": 1}]


def test_coups_fourres_are_found_in_a_heap_photographed_from_the_side():
    turned = [face(slug, at=(100 * n, 0), sideways=True) for n, slug in enumerate(("100", "75", "roll", "extra-tank"))]

    found = counted(*turned, face("driving-ace", at=(400, 0), sideways=False))

    assert sides(found)[0].coups_fourres == (Card.DRIVING_ACE,)


def test_an_accelerator_doubles_the_nearest_distance():
    laid = [("100", (100, 100)), ("200", (300, 100)), ("accelerator", (280, 130))]
    found = counted(*(face(slug, "side-1/distance", at) for slug, at in laid), mats=("side-1",), edition=RUSH)

    assert sides(found, RUSH)[0].doubled == (Card.KM_200,)
    assert sides(found, RUSH)[0].km == 500


# --- Several photographs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("photos", "expected", "notes"),
    [
        ([photo(face("100"), name="ann.jpg"), photo(face("75"), face("75", at=(90, 0)), name="bob.jpg")],
         [{"100": 1}, {"75": 2}], ()),
        ([photo(card("100-01"), card("75-02", at=(90, 0))),
          photo(card("100-01"), card("75-02", at=(90, 0)), card("50-01", at=(150, 0)), name="b.jpg")],
         [{"100": 1, "75": 1, "50": 1}, {}], ("2 cards are also on an earlier photo and are counted only once.",)),
        ([photo(face("100", "side-1/distance", (100, 100)), mats=BOTH[:1]),
          photo(*(face(slug, "side-1/distance", (x, 100)) for slug, x in (("100", 100), ("100", 250), ("50", 400))),
                mats=BOTH[:1], name="b.jpg")],
         [{"100": 2, "50": 1}, {}], ("Side 1 is on 2 photos: only b.jpg counts, which shows most of it.",)),
        ([photo(card("100-01", "side-1/distance"), card("50-01", "side-1/distance"), mats=BOTH[:1]),
          photo(card("100-01", "side-1/distance"), card("75-02", "side-1/distance"), mats=BOTH[:1], name="b.jpg")],
         [{"100": 1, "75": 1, "50": 1}, {}], ("Side 1 is on 2 photos: only a.jpg counts, which shows most of it.",)),
        ([photo(face("100"), name="ann.jpg"), photo(name="bob.jpg")], [{"100": 1}, {}],
         ("No card could be read on bob.jpg: if it shows cards, take it again closer up and with more light.",)),
    ],
    ids=["a side each", "a sticker counts once", "of a mat the photograph that shows most counts",
         "a sticker that only the other shows is added", "without a card it is named"],
)  # fmt: skip
def test_several_photographs_are_counted_together(photos, expected, notes):
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
def test_two_photographs_of_the_same_heap_are_reported(first, second, is_said):
    photos = [
        photo(*(face(slug, at=(90 * n, 0)) for n, slug in enumerate(cards)), name=name)
        for name, cards in (("a.jpg", first), ("b.jpg", second))
    ]

    said = "a.jpg and b.jpg seem to show the same cards: count them only once."
    assert counted(*photos).notes == ((said,) if is_said else ())


# --- Questions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rivals", "likeliest"), [(("75", "25"), Card.KM_75), ((), Card.UNKNOWN)], ids=["some likely", "nothing likely"]
)
def test_an_unknown_card_is_asked_about_and_does_not_count_until_answered(rivals, likeliest):
    found = counted(unsure(*rivals, zone="side-1/distance"), mats=BOTH)

    assert in_question(found) == [(1, likeliest)]
    assert distances(found) == [{}, {}]


def test_cards_that_fit_the_zone_are_offered_first():
    found = counted(unsure("roll", "75", zone="side-1/distance"), mats=("side-1",))

    assert found.lots[0].spots[0].guesses == (Card.KM_75, Card.ROLL)


@pytest.mark.parametrize(("confidence", "offered"), [(0.7, {"c-1-1": "guess"}), (0.4, {})])
def test_a_likely_guess_counts_only_once_accepted(confidence, offered):
    rivals = (("75-00", confidence), ("25-00", 0.1))
    found = counted(face("unknown", "side-1/distance", rivals=rivals), mats=("side-1",))
    form = fields(CLASSIC, found, {})
    guessed = form | photo_form.open_guesses(CLASSIC, found, form)

    assert {field: value for field, value in guessed.items() if field[:2] == "c-"} == offered
    assert "c-1-1" not in form
    assert [photo_form.sides(CLASSIC, found, each)[0].km for each in (form, guessed)] == [0, 75 * len(offered)]
    assert photo_form.guesses(found, guessed) == len(offered)


@pytest.mark.parametrize(
    "sighting", [unsure("stop", "roll"), unsure("stop", "25", zone="side-1/battle")], ids=["faces", "zone"]
)
def test_cards_that_cannot_score_are_not_asked_about(sighting):
    found = counted(photo(sighting, face("100", "side-1/distance"), mats=("side-1", "side-2")))

    assert not in_question(found)


def test_a_sticker_read_in_two_places_is_asked_about_at_one():
    cards = [card("100-01", "side-1/distance"), card("100-01", "side-1/distance", (300, 0), confidence=0.95)]
    found = counted(*cards, mats=BOTH)

    assert in_question(found) == [(2, Card.KM_100)]


def test_a_safety_read_twice_is_asked_about_where_it_is_less_clear():
    cards = [face("extra-tank", "side-1/safety", confidence=0.7), face("extra-tank", "side-2/safety", (300, 600))]
    found = counted(*cards, mats=BOTH)

    assert in_question(found) == [(1, Card.EXTRA_TANK)]
    assert [side.safeties for side in sides(found)] == [(), (Card.EXTRA_TANK,)]


@pytest.mark.parametrize(
    ("typed", "places"),
    [
        ({"n-side-1-200": "3"}, {"200": [["Side 1 has more than 2 cards of 200 km."], []]}),
        ({"n-side-1-200": "3", "n-side-2-200": "2"},
         {"200": [["5 × 200 km is too many: the deck has only 4. Count these cards again.",
                   "Side 1 has more than 2 cards of 200 km."],
                  ["5 × 200 km is too many: the deck has only 4. Count these cards again."]]}),
        ({"n-side-1-100": "12", "trip": "700"}, {"km": [["Side 1 has 1200 km, but the target is 700 km."], []]}),
        ({"s-side-1-extra-tank": "out", "s-side-2-extra-tank": "coup-fourre"},
         {"extra-tank": [["2 × Extra Tank is too many: the deck has only 1. Count these cards again."]] * 2}),
        ({"n-side-1-100": "7", "ended": "stopped"}, {"hand": ["Side 1 has all 700 km: that completes the trip."]}),
    ],
    ids=["a third 200", "more than there are", "past the target", "one safety twice", "a trip said to be broken off"],
)  # fmt: skip
def test_impossible_counts_are_reported_beside_their_lines(typed, places):
    found = counted(mats=BOTH)
    form = fields(CLASSIC, found, {}) | typed
    odd = photo_form.odd(photo_form.table_so_far(CLASSIC, found, form))
    said = {"hand": [one.say for one in odd if one.is_of_hand]}
    for lot in photo_form.lot_forms(CLASSIC, found, form, odd):
        said.setdefault("km", []).append(lot["odd"])
        for line in (*lot["lines"], *lot["safeties"]):
            said.setdefault(line["card"].value, []).append(line["odd"])

    assert {place: odd for place, odd in said.items() if any(odd)} == places


def test_a_card_of_another_deck_is_reported_and_not_counted():
    found = counted(card("300-01", "side-1/distance"), mats=BOTH)

    assert found.notes == ("Not counted, because Classic has no such cards: 1 × 300 km.",)
    assert distances(found) == [{}, {}]


def test_two_cards_with_the_same_sticker_are_asked_about():
    same = [face("unknown", "side-1/distance", (at, 200), by="sticker", twice="100-03") for at in (200, 400)]

    found = counted(*same, mats=BOTH)

    assert found.notes == ("Two cards have the sticker 100 km 3: replace one of the stickers.",)
    assert len(found.lots[0].unsure) == 2


def test_a_side_without_a_photograph_is_not_shut_out():
    found = counted(*(face("100", at=(100 * n, 0)) for n in range(7)))
    table = table_of(CLASSIC, sides(found), likely(CLASSIC, sides(found)))

    assert [lot.is_seen for lot in found.lots] == [True, False]
    assert Item.SHUT_OUT not in dict(scoring.score(table)[0].lines)


@pytest.mark.parametrize("seen", [None, True, False])
def test_the_draw_pile_is_read_from_its_mat(seen):
    found = counted(photo(face("100"), draw_pile_empty=seen), photo(face("75")))

    assert found.draw_pile_empty is seen


# --- The score of a tableau ----------------------------------------------------------------------------------


def side(name: str, km: Mapping[Card, int] = MappingProxyType({}), safeties=(), coups_fourres=()) -> Side:
    distances = tuple(Counter(km).elements())
    return Side(name, (name,), distances=distances, safeties=safeties, coups_fourres=coups_fourres)


def test_a_full_score_is_computed_from_cards_and_answers():
    best = side("Ann", {Card.KM_100: 7, Card.KM_75: 2, Card.KM_50: 3}, ALL, ALL)
    told = Told(Trip(1000, extended_by=0), completed_by=0, played_out=False, draw_pile_empty=True)

    table = table_of(CLASSIC, (best, side("Bob")), told)

    assert [sheet.total for sheet in scoring.score(table)] == [4600, 0]
    assert odd(table) == []


def test_a_200_prevents_a_safe_trip():
    sides = (side("Ann", {Card.KM_200: 2, Card.KM_100: 3}), side("Bob", {Card.KM_25: 1}))

    lines = dict(scoring.score(table_of(CLASSIC, sides, likely(CLASSIC, sides)))[0].lines)

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
def test_the_likely_course_of_the_hand_is_proposed(edition, ann, bob, told):
    km, safeties = ann
    sides = (side("Ann", {Card.KM_100: km}, ALL[:safeties]), side("Bob", {Card.KM_100: bob}))

    assert likely(edition, sides) == told


SHORT = CLASSIC.with_options([("extension", "no")])
PASSING = CLASSIC.with_options([("overshoot", "allowed")])


@pytest.mark.parametrize(
    ("edition", "sides", "km", "trip", "may"),
    [
        (CLASSIC, 2, 600, Trip(700), True),
        (CLASSIC, 2, 700, Trip(700), False),
        (CLASSIC, 2, 700, None, True),
        (CLASSIC, 2, 700, Trip(1000, extended_by=1), True),
        (CLASSIC, 2, 1000, None, False),
        (SHORT, 2, 700, None, True),
        (SHORT, 3, 700, None, False),
        (PASSING, 2, 700, Trip(700), True),
        (ASMODEE, 2, 1000, None, True),
    ],
    ids=[
        "short of the target", "at the target of a trip that was not extended", "the trip may have been extended",
        "the trip was extended", "at the end of the extension", "two pairs drive to 1000",
        "three sides drive to 700", "the target may be passed by a house rule", "a race may pass its target",
    ],
)  # fmt: skip
def test_a_side_can_have_hidden_cards_only_while_it_may_drive_farther(edition, sides, km, trip, may):
    laid = [
        side("Ann", {Card.KM_100: km // 100}),
        *(side(name, {Card.KM_25: 1}) for name in ("Bob", "Cid")[: sides - 1]),
    ]

    assert may_have_more(edition, laid, 0, trip) is may


def test_a_hand_played_out_ended_with_an_empty_pile():
    sides = (side("Ann", {Card.KM_100: 5}), side("Bob"))

    assert table_of(CLASSIC, sides, NOBODY).ending.how is HowEnded.EXHAUSTED


def test_all_possible_trips_are_offered():
    assert trips(CLASSIC, 2) == (Trip(700), Trip(1000), Trip(1000, 0), Trip(1000, 1))
    assert trips(RUSH, 3) == (Trip(1000), Trip(700))


def test_a_number_of_sides_that_the_edition_excludes_is_refused():
    with pytest.raises(SeatingError, match="Classic is for 2 or 3 alone, or 4 or 6 in pairs: these are 5 sides"):
        check_sides(CLASSIC, 5)


@pytest.mark.parametrize(
    ("first", "second", "say"),
    [
        ({Card.KM_100: 6}, {}, "Ann has 600 km, but the trip was to 700: check the cards again."),
        ({Card.KM_50: 10, Card.KM_200: 1}, {Card.KM_100: 7},
         "Bob has all 700 km as well: only one side completes the trip."),
    ],
)  # fmt: skip
def test_an_impossible_completed_trip_is_reported(first, second, say):
    told = Told(Trip(700), 0, played_out=True, draw_pile_empty=False)

    assert say in odd(table_of(CLASSIC, (side("Ann", first), side("Bob", second)), told))


def test_piles_that_do_not_score_cause_no_warnings():
    sound = [side("Ann", {Card.KM_100: 4}, ALL, ALL), side("Bob", {Card.KM_25: 4})]

    assert odd(table_of(PARKER, sound, NOBODY)) == []
