"""A table as it lies: everything that is wrong with it at once, and nothing for what legal plays lead to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import PAIRS, THREE, TWO, hand, seen_table, teams

from companion.rules import referee
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import Edition, EditionError, edition_names, load_edition, switches
from companion.rules.legality import laid_from_hand
from companion.rules.moves import candidates
from companion.rules.play import Play, Verb
from companion.rules.reasons import LANGUAGES, Code, Reason, say
from companion.rules.table import Due, Shows, Side, Table
from companion.rules.validity import doubts, problems

ALL = tuple(edition_names())
STANDS_TO_ROLL = ("classic", "bsd-mille", "parker")
"""Here a roll follows every other remedy."""

REMEDIES_LIE = tuple(name for name in ALL if name != "rush")
REMOVES = ("asmodee-2014", "bsd-mille", "dujardin-2014", "rush")
"""Here a late safety takes its hazard away."""


def lies(
    battle: str = "",
    speed: str = "",
    distances: str = "",
    safeties: str = "",
    discards: str = "",
    *,
    edition: str | Edition = "classic",
    target: int | None = None,
    options: str = "",
) -> Table:
    """A table with cards in front of Ann alone. `driving-ace!` is a coup fourré, `100*` a doubled card."""
    rules = load_edition(edition) if isinstance(edition, str) else edition
    rules = rules.with_options([tuple(option.split("=")) for option in options.split()])
    ann = Side(
        "Ann",
        ("Ann",),
        cards(battle),
        cards(speed),
        cards(distances.replace("*", "")),
        doubled=cards(marked(distances, "*")),
        safeties=cards(safeties.replace("!", "")),
        coups_fourres=cards(marked(safeties, "!")),
    )
    return seen_table(rules, (ann, Side("Bob", ("Bob",))), cards(discards), target)


def cards(slugs: str) -> tuple[Card, ...]:
    return tuple(map(Card, slugs.split()))


def with_ann(table: Table, **changes: object) -> Table:
    """The table with other cards in front of Ann."""
    ann, bob = table.sides
    return table._replace(sides=(ann._replace(**changes), bob))


def marked(slugs: str, sign: str) -> str:
    return " ".join(slug.removesuffix(sign) for slug in slugs.split() if slug.endswith(sign))


def wrong(*lying: str, **how: object) -> list[str]:
    """The codes of what is wrong with such a table."""
    return [str(why) for why in problems(lies(*lying, **how))]


def hazard_of(edition: str) -> str:
    return "pollution" if edition == "rush" else "flat-tire"


def remedy_of(edition: str) -> str:
    return "end-of-pollution" if edition == "rush" else "spare-tire"


def safety_of(edition: str) -> str:
    return "car-pool" if edition == "rush" else "puncture-proof"


# --- Cards ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ALL)
def test_an_empty_table_has_no_problem(edition):
    assert wrong(edition=edition) == []


@pytest.mark.parametrize("edition", ["classic", "asmodee-2014", "dujardin-2014"])
def test_a_fourth_accident_is_one_too_many_wherever_it_lies(edition):
    three, four = lies(discards="accident " * 3, edition=edition), lies(discards="accident " * 4, edition=edition)

    assert problems(three) == ()
    assert [say(why) for why in problems(four)] == ["Accident: the deck has only 3."]


@pytest.mark.parametrize("edition", ["bsd-mille", "parker"])
def test_where_hazards_are_fewer_the_third_accident_is_one_too_many(edition):
    assert wrong(discards="accident accident", edition=edition) == []
    assert wrong(discards="accident accident accident", edition=edition) == ["too-many-copies"]


def test_an_unverified_deck_is_doubted_and_only_its_safeties_are_counted():
    many = lies(discards="300 300", edition="rush")

    assert problems(many) == ()
    assert [(str(why), dict(why.details)["card"]) for why in doubts(many)] == [("too-many-copies", "300")]
    assert wrong(discards="car-pool car-pool", edition="rush") == ["too-many-copies"]


@pytest.mark.parametrize("edition", [name for name in ALL if name != "rush"])
def test_a_verified_deck_leaves_no_doubt(edition):
    assert doubts(lies(discards="200 " * 9, edition=edition)) == ()


@pytest.mark.parametrize("edition", ALL)
def test_a_card_of_another_edition_is_foreign(edition):
    foreign = "25" if edition == "rush" else "300"

    assert wrong(discards=foreign, edition=edition) == ["unknown-card"]
    assert wrong(discards="50", edition=edition) == []


def test_a_card_that_could_not_be_told_is_no_problem_anywhere():
    assert wrong("unknown roll", "unknown speed-limit", "unknown", "unknown", "unknown") == []


def test_cards_and_hands_and_pile_are_the_deck():
    table = lies("roll", distances="25")
    lost = table._replace(draw_pile=table.draw_pile - 1)
    found = table._replace(hands=(6, 7))

    assert problems(table) == ()
    assert [(str(why), dict(why.details)["count"]) for why in problems(lost)] == [("missing-cards", "105")]
    assert [(str(why), dict(why.details)["count"]) for why in problems(found)] == [("too-many-copies", "107")]


# --- Where cards lie -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pile", "card"),
    [
        ("battle", "200"),
        ("battle", "speed-limit"),
        ("battle", "end-of-limit"),
        ("battle", "right-of-way"),
        ("speed", "stop"),
        ("speed", "50"),
        ("distances", "roll"),
        ("distances", "driving-ace"),
        ("safeties", "accident"),
        ("safeties", "100"),
    ],
)
def test_a_card_on_a_wrong_pile_is_named_with_its_pile(pile, card):
    found = problems(lies(**{pile: card}))

    assert [why.code for why in found] == [Code.WRONG_PILE]
    assert dict(found[0].details) == {"side": "Ann", "card": card, "pile": pile.removesuffix("s").replace("tie", "ty")}


@pytest.mark.parametrize("edition", ALL)
def test_every_card_has_a_pile_where_it_is_right(edition):
    hazard, remedy, safety = hazard_of(edition), remedy_of(edition), safety_of(edition)
    go = "" if edition == "rush" else "roll"

    right = lies(f"{go} {hazard} {remedy}", "speed-limit end-of-limit", "50", safety, edition=edition)
    if edition == "rush":
        right = lies("accident", "speed-limit", "50", safety, edition=edition)

    assert problems(right) == ()


def test_an_accelerator_lies_with_the_distances():
    assert wrong(distances="100 accelerator", edition="rush") == []
    assert wrong("mirror", edition="rush") == ["wrong-pile"]


# --- The battle pile -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", [name for name in ALL if name != "rush"])
def test_a_hazard_lies_on_no_empty_pile(edition):
    assert wrong("flat-tire", edition=edition) == ["opponent-not-driving"]
    assert wrong("roll flat-tire", edition=edition) == []


def test_a_hazard_lies_on_an_empty_pile_where_anybody_may_be_attacked():
    assert wrong("pollution", edition="rush") == []


@pytest.mark.parametrize("edition", ["asmodee-2014", "bsd-mille", "parker", "dujardin-2014"])
def test_right_of_way_lets_hazards_onto_an_empty_pile_but_never_a_stop(edition):
    assert wrong("flat-tire", safeties="right-of-way", edition=edition) == []
    assert "opponent-not-driving" in wrong("stop roll", safeties="right-of-way", edition=edition)


def test_as_the_classic_sheet_is_written_nothing_lies_on_an_empty_pile():
    assert wrong("flat-tire", safeties="right-of-way") == ["opponent-not-driving"]


def test_hazards_are_stacked_where_the_sheet_has_it():
    assert wrong("roll accident stop") == []


@pytest.mark.parametrize("edition", [name for name in ALL if name != "classic"])
def test_a_hazard_lies_on_no_hazard_in_force(edition):
    assert wrong(f"stop roll accident {hazard_of(edition)}"[5:], edition=edition).count("already-attacked") == 1


def test_the_house_rule_counts_not_the_editions_name():
    assert wrong("roll accident stop", options="hazard-on-hazard=forbidden") == ["already-attacked"]
    assert wrong("roll accident stop", edition="parker", options="hazard-on-hazard=allowed") == []


@pytest.mark.parametrize("edition", ["classic", "asmodee-2014", "dujardin-2014"])
def test_a_remedied_pile_may_be_attacked(edition):
    assert wrong("roll accident repairs stop", edition=edition) == []


@pytest.mark.parametrize("edition", ["bsd-mille", "parker"])
def test_a_pile_that_does_not_roll_is_attacked_only_with_right_of_way(edition):
    assert wrong("roll accident repairs flat-tire", edition=edition) == ["opponent-not-driving"]
    assert wrong("roll accident repairs flat-tire", safeties="right-of-way", edition=edition) == []


@pytest.mark.parametrize("edition", REMEDIES_LIE)
def test_a_remedy_lies_on_its_own_hazard(edition):
    hazard, remedy = hazard_of(edition), remedy_of(edition)

    assert wrong(f"roll {hazard} {remedy}", edition=edition) == []
    assert wrong(f"roll {remedy}", edition=edition) == ["nothing-under-remedy"]
    assert wrong(f"roll {hazard} repairs", edition=edition) == ["nothing-under-remedy"]
    assert wrong(remedy, edition=edition, options="first-card=any") == ["nothing-under-remedy"]


def test_where_a_remedy_is_thrown_out_with_its_hazard_none_lies():
    assert wrong("pollution end-of-pollution", edition="rush") == ["nothing-under-remedy"]
    assert wrong("stop roll", edition="rush") == ["nothing-under-remedy"]
    assert wrong(speed="speed-limit end-of-limit", edition="rush") == ["not-limited"]


@pytest.mark.parametrize("edition", REMEDIES_LIE)
def test_a_roll_lies_on_no_roll(edition):
    assert wrong("roll roll", edition=edition) == ["already-rolling"]


def test_where_right_of_way_leaves_the_pile_empty_a_roll_may_lie_on_a_roll_once():
    assert wrong("roll roll", safeties="right-of-way", edition="bsd-mille") == []
    assert wrong("roll roll roll", safeties="right-of-way", edition="bsd-mille") == ["already-rolling"]
    assert wrong("roll roll", safeties="right-of-way", edition="dujardin-2014") == ["already-rolling"]
    assert wrong("roll roll", safeties="right-of-way!", options="pile-after-safety=roll") == []


@pytest.mark.parametrize("edition", REMEDIES_LIE)
def test_a_roll_lies_on_no_other_hazard(edition):
    assert wrong("roll accident roll", edition=edition) == ["nothing-under-remedy"]
    assert wrong("roll stop roll", edition=edition) == []


def test_a_roll_lies_on_a_hazard_that_its_safety_made_harmless():
    assert wrong("roll accident roll", safeties="driving-ace") == []
    assert wrong("roll accident roll", safeties="driving-ace", edition="dujardin-2014") == ["nothing-under-remedy"]


@pytest.mark.parametrize("edition", STANDS_TO_ROLL)
def test_a_roll_lies_on_a_remedy_where_it_is_needed(edition):
    assert wrong("roll accident repairs roll", edition=edition) == []


@pytest.mark.parametrize("edition", ["asmodee-2014", "dujardin-2014"])
def test_a_roll_lies_on_no_remedy_where_it_would_do_nothing(edition):
    assert wrong("roll accident repairs roll", edition=edition) == ["nothing-under-remedy"]


def test_where_nobody_needs_a_roll_to_start_none_lies_there_alone():
    assert wrong("roll", edition="rush") == ["nothing-under-remedy"]


@pytest.mark.parametrize("edition", REMOVES)
def test_a_hazard_does_not_lie_on_under_its_safety(edition):
    begin = "" if edition == "rush" else "roll"

    assert wrong(f"{begin} accident", safeties="driving-ace", edition=edition) == ["protected"]
    if edition != "rush":
        assert wrong("roll accident repairs", safeties="driving-ace", edition=edition) == []


@pytest.mark.parametrize("edition", ["classic", "parker"])
def test_a_hazard_whose_safety_was_late_may_lie_on_or_be_put_away(edition):
    assert wrong("roll accident", safeties="driving-ace", edition=edition) == []
    assert wrong("roll roll", safeties="driving-ace", discards="accident", edition=edition) == []
    assert wrong("roll roll roll", safeties="driving-ace", discards="accident", edition=edition) == ["already-rolling"]
    assert wrong("roll roll", safeties="driving-ace!", discards="accident", edition=edition) == ["already-rolling"]


def test_of_a_pile_whose_top_alone_was_seen_only_the_top_is_judged():
    assert wrong("unknown accident", distances="100") == []
    assert wrong("unknown accident", safeties="driving-ace", edition="bsd-mille") == ["protected"]


# --- The speed pile ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", REMEDIES_LIE)
def test_limits_and_their_ends_take_turns(edition):
    def wrong_with(speed: str) -> list[str]:
        return wrong("roll", speed, edition=edition)

    assert wrong_with("speed-limit end-of-limit speed-limit") == []
    assert wrong_with("speed-limit speed-limit") == ["already-limited"]
    assert wrong_with("end-of-limit") == ["not-limited"]
    assert wrong_with("speed-limit end-of-limit end-of-limit") == ["not-limited"]


@pytest.mark.parametrize("edition", ALL)
def test_right_of_way_takes_the_limit_away(edition):
    assert wrong(speed="speed-limit", safeties="right-of-way", edition=edition) == ["protected"]


# --- Distances -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", [name for name in ALL if name != "rush"])
def test_nobody_drives_who_never_rolled(edition):
    assert wrong(distances="100", edition=edition) == ["never-rolled"]
    assert wrong("roll", distances="100", edition=edition) == []
    assert wrong(distances="100", safeties="right-of-way", edition=edition) == []


def test_where_no_roll_is_needed_everybody_drives():
    assert wrong(distances="100", edition="rush") == []


def test_whoever_is_attacked_before_the_start_may_drive_without_a_roll():
    options = "hazard-on-empty-pile=allowed roll-after-remedy=not-needed roll-on-remedy=forbidden"

    assert wrong("accident repairs", distances="100", options=options) == []
    assert wrong("accident repairs", distances="100", options="hazard-on-empty-pile=allowed") == ["never-rolled"]


@pytest.mark.parametrize("edition", [name for name in ALL if name != "rush"])
def test_a_third_200_is_one_too_many(edition):
    assert wrong("roll", distances="200 200", edition=edition) == []
    assert "third-200" in wrong("roll", distances="200 200 200", edition=edition, target=1000)


def test_where_200s_are_not_counted_there_may_be_any():
    assert wrong(distances="200 200 200 200", edition="rush") == []
    assert wrong("roll", distances="200 200 200", options="two-hundreds=unlimited") == []


@pytest.mark.parametrize("edition", ["classic", "bsd-mille", "parker", "dujardin-2014"])
def test_nobody_drives_past_the_target(edition):
    table = lies("roll", distances="200 200 100 75 75 75", edition=edition, target=700)

    assert [say(why) for why in problems(table)] == ["Ann has 725 km, and the target is 700 km."]


@pytest.mark.parametrize("edition", ["asmodee-2014", "rush"])
def test_the_target_may_be_passed(edition):
    begin = "" if edition == "rush" else "roll"

    assert wrong(begin, distances="200 200 100 75 75 75", edition=edition, target=700) == []


def test_safeties_count_where_they_are_kilometres():
    table = lies("roll", distances="200 200 100", safeties="driving-ace! extra-tank", target=700)
    as_km = lies(
        "roll",
        distances="200 200 100",
        safeties="driving-ace! extra-tank",
        target=700,
        options="safeties-count-as-distance=yes",
    )

    assert problems(table) == ()
    assert [str(why) for why in problems(as_km)] == ["past-target"]


def test_a_doubled_card_is_there():
    table = lies(distances="100* 50", edition="rush")
    without = with_ann(table, distances=cards("50 75"))

    assert problems(table) == ()
    assert [str(why) for why in problems(without)] == ["needs-distance"]


def test_nothing_is_doubled_where_there_is_no_accelerator():
    assert wrong("roll", distances="100*") == ["unknown-card"]


# --- Safeties and the first card -----------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ALL)
def test_a_coup_fourre_has_its_safety(edition):
    begin = "" if edition == "rush" else "roll"
    table = lies(begin, safeties=f"{safety_of(edition)}!", edition=edition)
    without = with_ann(lies(begin, edition=edition), coups_fourres=cards(safety_of(edition)))

    assert problems(table) == ()
    assert [str(why) for why in problems(without)] == ["not-a-coup-fourre"]


@pytest.mark.parametrize("edition", [name for name in ALL if name != "rush"])
def test_a_coup_fourre_answers_an_attack(edition):
    assert "not-a-coup-fourre" in wrong(safeties="driving-ace!", edition=edition)
    assert wrong(safeties="right-of-way!", edition=edition) == []


def test_a_coup_fourre_before_the_first_card_answers_an_attack_where_that_is_possible():
    assert wrong(safeties="driving-ace!", edition="rush") == []
    assert wrong(safeties="driving-ace! right-of-way", edition="bsd-mille") == []
    assert wrong(safeties="driving-ace! right-of-way") == ["not-a-coup-fourre"]


@pytest.mark.parametrize("edition", ["asmodee-2014", "bsd-mille", "dujardin-2014"])
def test_a_coup_fourre_takes_its_hazard_away(edition):
    assert wrong("roll accident", safeties="driving-ace!", edition=edition) == ["protected"]


def test_a_coup_fourre_takes_its_hazard_away_where_late_ones_stay():
    assert wrong("roll accident", safeties="driving-ace!", edition="parker") == ["protected"]
    assert wrong("roll accident", safeties="driving-ace", edition="parker") == []


@pytest.mark.parametrize("safeties", ["right-of-way", "right-of-way!"])
def test_right_of_way_takes_a_stop_away_where_other_late_ones_stay(safeties):
    assert wrong("roll stop", safeties=safeties, edition="parker") == ["protected"]


def test_the_first_card_is_a_roll_or_right_of_way_where_the_sheet_says_so():
    assert wrong(safeties="driving-ace", edition="asmodee-2014") == ["first-card"]
    assert wrong("roll", safeties="driving-ace", edition="asmodee-2014") == []
    assert wrong(safeties="driving-ace") == []


def test_no_limit_is_ended_before_the_first_card():
    limited = {"speed": "speed-limit end-of-limit", "safeties": "right-of-way"}

    assert wrong(**limited, edition="asmodee-2014") == ["first-card"]
    assert wrong("roll", **limited, edition="asmodee-2014") == []
    assert wrong(**limited, edition="bsd-mille") == []


# --- Everything at once --------------------------------------------------------------------------------------


def test_everything_is_said_at_once():
    found = wrong("200 roll roll repairs", "end-of-limit", "200 200 200 100 25", "driving-ace", "300 driving-ace")

    assert found == [
        "unknown-card",
        "too-many-copies",
        "wrong-pile",
        "already-rolling",
        "nothing-under-remedy",
        "not-limited",
        "third-200",
        "past-target",
    ]


def test_each_side_is_judged_by_itself():
    rules = load_edition("classic")
    sides = (Side("Reds", ("Ann", "Cid"), cards("accident")), Side("Blues", ("Bob", "Dee"), distances=cards("25")))

    found = problems(seen_table(rules, sides))

    assert [(str(why), dict(why.details)["side"]) for why in found] == [
        ("opponent-not-driving", "Reds"),
        ("never-rolled", "Blues"),
    ]


def test_a_table_is_seen_only_with_sides_that_the_edition_seats():
    with pytest.raises(EditionError):
        seen_table(load_edition("bsd-mille"), [Side(name, (name,)) for name in ("Ann", "Bob", "Cid")])


ANY_CARDS = st.lists(st.sampled_from(list(Card)), max_size=6).map(tuple)


@settings(max_examples=150, deadline=None)
@given(
    edition=st.sampled_from(ALL),
    sides=st.lists(st.tuples(*[ANY_CARDS] * 6), min_size=2, max_size=2),
    discards=ANY_CARDS,
    draw_pile=st.integers(0, 110),
)
def test_whatever_a_camera_reports_has_a_sentence_in_every_language(edition, sides, discards, draw_pile):
    rules = load_edition(edition)
    named = [Side(name, (name,), *piles) for name, piles in zip(("Ann", "Bob"), sides, strict=True)]

    found = problems(seen_table(rules, named, discards)._replace(draw_pile=draw_pile))

    assert all(say(why, language) for why in found for language in LANGUAGES)
    assert len(set(found)) == len(found)


# --- No table that legal plays lead to has a problem ---------------------------------------------------------


def random_edition(chance: random.Random) -> Edition | None:
    """An edition with some house rules; None where they contradict each other."""
    edition = load_edition(chance.choice(ALL))
    names = chance.sample(list(switches()), chance.randrange(8))
    try:
        return edition.with_options((name, chance.choice(list(switches()[name]))) for name in names)
    except EditionError:
        return None


def random_play(chance: random.Random, table: Table, taste: dict[Family, float]) -> Play | None:
    """A legal play of somebody who holds enough cards for it, mostly a card laid."""
    players = [seat.player for seat in table.seats]
    out_of_turn = (table.attacks or table.window.laid is not None) and chance.random() < 0.4
    someone = players if out_of_turn or chance.random() < 0.1 else [table.player_to_move]
    plays = [play for player in someone for play in candidates(table, player) if play.at_once or not out_of_turn]
    plays.sort(key=lambda play: chance.random() ** (1 / liked(play, taste)), reverse=True)
    return next((play for play in plays if holds(table, play) and not referee.objections(table, play)), None)


def liked(play: Play, taste: dict[Family, float]) -> float:
    if play.verb is Verb.PLAY and play.card is not None:
        return 10 * taste[play.card.family]
    return {Verb.DISCARD: 1.5, Verb.GIVE: 10}.get(play.verb, 0.3)


def holds(table: Table, play: Play) -> bool:
    """Whether the hand is large enough for the play."""
    seat = table.seat_of(play.player or "")
    draws = table.to_move == seat and table.due is not Due.NOTHING and table.draw_pile > 0 and not play.at_once
    laid = len(laid_from_hand(play)) or play.verb in (Verb.GIVE, Verb.PENALTY)
    return laid <= table.hands[seat] + (draws and play.verb not in (Verb.EXCHANGE, Verb.PENALTY))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_table_that_legal_plays_lead_to_has_a_problem(seed):
    chance = random.Random(seed)
    edition = random_edition(chance)
    if edition is None:
        return
    players = chance.choice([TWO, THREE, PAIRS] if (4, 2) in edition.seatings else [TWO])
    table = referee.new_hand(edition, teams(players), "Ann")
    taste = {family: chance.choice([0.3, 1, 3, 9]) for family in Family}
    for _ in range(50):
        play = random_play(chance, table, taste)
        if play is None:
            continue
        table = referee.apply(table, play)

        assert problems(table) == (), (edition.name, edition.house_rules, str(play))


@pytest.mark.parametrize(
    ("edition", "plays"),
    [
        ("classic", "Ann roll; Bob roll; Ann stop > Bob; Bob right-of-way; Bob 25; Ann 100"),
        ("classic", "Ann roll; Bob accident > Ann; Ann driving-ace !; Ann 100; Bob speed-limit > Ann; Ann 50"),
        ("bsd-mille", "Ann roll; Bob stop > Ann; Ann right-of-way; Ann roll; Bob flat-tire > Ann; Ann spare-tire"),
        ("rush", "Ann 100*2; Bob stop > Ann; Ann mirror !; Bob mirror !; Ann roll !; Ann 50; Bob stop > Ann; Ann roll"),
        ("parker", "Ann roll; Bob roll; Ann flat-tire > Bob; Bob puncture-proof; Bob roll; Ann 100; Bob 25"),
        ("asmodee-2014", "Ann right-of-way; Ann 200; Bob roll; Ann 25; Bob accident > Ann; Ann driving-ace; Ann 100"),
        ("dujardin-2014", "Ann roll; Bob roll; Ann accident > Bob; Bob repairs; Ann stop > Bob; Bob roll"),
    ],
)
def test_hands_in_notation_have_no_problem_on_the_way(edition, plays):
    lines = plays.split("; ")
    tables = [hand("; ".join(lines[:count]), edition=edition).table for count in range(len(lines) + 1)]

    assert [problems(table) for table in tables] == [()] * len(tables)


# --- A table without a problem can be played to --------------------------------------------------------------


def after(table: Table, play: Play, again: bool = True) -> Iterator[Side]:
    """What may lie in front of Ann once a play was made, and then answered at once by her."""
    if referee.objections(table, play):
        return
    laid = referee.apply(table, play)
    yield laid.sides[0]
    answers = [Play(Verb.PLAY, "Ann", card, at_once=True) for card in table.deck if card.family in ANSWERS]
    for answer in answers if again else ():
        yield from after(laid, answer, again=False)


ANSWERS = (Family.SAFETY, Family.REMEDY)
ROLLING = Side("Bob", ("Bob",), cards("stop roll"))


def one_play_on(rules: Edition, ann: Side) -> Iterator[Side]:
    """What may lie in front of Ann one play later: her own, an attack, or her own attack mirrored."""
    hers = seen_table(rules, (ann, ROLLING))
    bobs = hers._replace(to_move=1)
    for card in (*PILED[rules.name != "rush"], Card.SPEED_LIMIT):
        if card.family is not Family.HAZARD:
            yield from after(hers, Play(Verb.PLAY, "Ann", card))
            continue
        yield from after(bobs, Play(Verb.PLAY, "Bob", card, "Ann"))
        attack = Play(Verb.PLAY, "Ann", card, "Bob")
        if not referee.objections(hers, attack):
            yield from after(referee.apply(hers, attack), Play(Verb.PLAY, "Bob", Card.MIRROR, at_once=True))


PILED = (
    cards("stop roll right-of-way accident repairs driving-ace pollution end-of-pollution car-pool"),
    cards("stop roll right-of-way accident repairs driving-ace flat-tire spare-tire puncture-proof"),
)
MOST_ON_PILE = 2


def reachable(rules: Edition) -> set[Side]:
    """Every battle pile of few cards, with every set of safeties, that legal plays lead to."""
    found = {Side("Ann", ("Ann",))}
    todo = list(found)
    while todo:
        for side in map(in_order, one_play_on(rules, todo.pop())):
            if len(side.battle) <= MOST_ON_PILE + 1 and len(side.speed) <= 1 and side not in found:
                found.add(side)
                todo.append(side)
    short = (side for side in found if len(side.battle) <= MOST_ON_PILE and not side.speed)
    return {side._replace(shows=Shows.TOP, speed_cleared=False) for side in short}


def in_order(side: Side) -> Side:
    return side._replace(safeties=tuple(sorted(side.safeties)), coups_fourres=tuple(sorted(side.coups_fourres)))


def conceivable(rules: Edition) -> Iterator[Side]:
    """Every such pile and safeties at all."""
    piled = PILED[rules.name != "rush"]
    safeties = sorted(card for card in piled if card.family is Family.SAFETY)
    on_pile = [card for card in piled if card.family is not Family.SAFETY]
    piles = [pile for count in range(MOST_ON_PILE + 1) for pile in product(on_pile, repeat=count)]
    outs = [out for count in range(4) for out in combinations(safeties, count)]
    for pile, out in product(piles, outs):
        for count in range(len(out) + 1):
            for coups in combinations(out, count):
                yield Side("Ann", ("Ann",), pile, safeties=out, coups_fourres=coups)


@pytest.mark.variants(1)
@pytest.mark.parametrize("edition", ALL)
def test_a_battle_pile_has_no_problem_exactly_if_it_can_be_played_to(edition):
    rules = load_edition(edition).with_options([("first-card", "any")])
    played_to = reachable(rules)

    right = {side for side in conceivable(rules) if not problems(seen_table(rules, (side, Side("Bob", ("Bob",)))))}

    assert right == played_to


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    ("edition", "options"),
    [
        ("classic", "pile-after-safety=roll hazard-on-empty-pile=with-right-of-way"),
        ("classic", "roll-after-late-safety=not-needed hazard-on-remedy=forbidden"),
        ("parker", "hazard-on-hazard=allowed hazard-on-empty-pile=allowed fast-remedy=yes"),
        ("bsd-mille", "roll-after-late-safety=needed hazard-on-remedy=allowed coup-fourre-window=own-draw"),
        ("asmodee-2014", "hazard-on-empty-pile=allowed roll-on-remedy=allowed"),
        ("rush", "roll-to-start=needed hazard-on-remedy=forbidden"),
    ],
)
def test_whatever_the_house_rules_no_pile_that_can_be_played_to_has_a_problem(edition, options):
    rules = load_edition(edition).with_options(tuple(option.split("=")) for option in options.split())

    found = {side: problems(seen_table(rules, (side, Side("Bob", ("Bob",))))) for side in reachable(rules)}

    assert {side: whys for side, whys in found.items() if not few_copies(whys)} == {}


def few_copies(whys: tuple[Reason, ...]) -> bool:
    return all(why.code is Code.TOO_MANY_COPIES for why in whys)
