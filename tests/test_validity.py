"""A table as it lies: everything that is wrong with it at once, and nothing for what legal plays lead to."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import PAIRS, THREE, TWO, hand, seen_table, teams
from sheet import blocks
from validity import Wrong, problems

from companion.rules import referee
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import Edition, EditionError, edition_names, load_edition, switches
from companion.rules.legality import laid_from_hand
from companion.rules.moves import candidates
from companion.rules.play import Play, Verb
from companion.rules.table import Due, Shows, Side, Table

ALL = tuple(edition_names())


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


LYING = """
# Cards

an empty table has no problem [all]
    nothing
where hazards are fewer the third accident is one too many [bsd-mille parker]
    discards accident accident
    discards accident accident accident: too-many-copies
a card of another edition is foreign [all but rush]
    discards 300: unknown-card
    discards 50 [all]
    discards 25: unknown-card [rush]
a card that could not be told is no problem anywhere
    battle unknown roll; speed unknown speed-limit; distances unknown; safeties unknown; discards unknown

# Where cards lie

every card has a pile where it is right [all but rush]
    battle roll flat-tire spare-tire; speed speed-limit end-of-limit; distances 50; safeties puncture-proof
    battle accident; speed speed-limit; distances 50; safeties car-pool [rush]
an accelerator lies with the distances [rush]
    distances 100 accelerator
    battle mirror: wrong-pile

# The battle pile

a hazard lies on no empty pile [all but rush]
    battle flat-tire: opponent-not-driving
    battle roll flat-tire
a hazard lies on an empty pile where anybody may be attacked [rush]
    battle pollution
right of way lets hazards onto an empty pile but never a stop [asmodee-2014 bsd-mille dujardin-2014 parker]
    battle flat-tire; safeties right-of-way
    battle stop roll; safeties right-of-way: opponent-not-driving
as the classic sheet is written nothing lies on an empty pile
    battle flat-tire; safeties right-of-way: opponent-not-driving
hazards are stacked where the sheet has it
    battle roll accident stop
a hazard lies on no hazard in force [asmodee-2014 bsd-mille dujardin-2014 parker]
    battle roll accident flat-tire: already-attacked
    battle roll accident pollution: nothing-under-remedy already-attacked [rush]
the house rule counts not the editions name
    battle roll accident stop; hazard-on-hazard=forbidden: already-attacked
    battle roll accident stop; hazard-on-hazard=allowed [parker]
a remedied pile may be attacked [classic asmodee-2014 dujardin-2014]
    battle roll accident repairs stop
a pile that does not roll is attacked only with right of way [bsd-mille parker]
    battle roll accident repairs flat-tire: opponent-not-driving
    battle roll accident repairs flat-tire; safeties right-of-way
a remedy lies on its own hazard [all but rush]
    battle roll flat-tire spare-tire
    battle roll spare-tire: nothing-under-remedy
    battle roll flat-tire repairs: nothing-under-remedy
    battle spare-tire; first-card=any: nothing-under-remedy
where a remedy is thrown out with its hazard none lies [rush]
    battle pollution end-of-pollution: nothing-under-remedy
    battle stop roll: nothing-under-remedy
    speed speed-limit end-of-limit: not-limited
a roll lies on no roll [all but rush]
    battle roll roll: already-rolling
where right of way leaves the pile empty a roll may lie on a roll once [bsd-mille]
    battle roll roll; safeties right-of-way
    battle roll roll roll; safeties right-of-way: already-rolling
    battle roll roll; safeties right-of-way: already-rolling [dujardin-2014]
    battle roll roll; safeties right-of-way!; pile-after-safety=roll [classic]
a roll lies on no other hazard [all but rush]
    battle roll accident roll: nothing-under-remedy
    battle roll stop roll
a roll lies on a hazard that its safety made harmless
    battle roll accident roll; safeties driving-ace
    battle roll accident roll; safeties driving-ace: nothing-under-remedy [dujardin-2014]
a roll lies on a remedy where it is needed [classic bsd-mille parker]
    battle roll accident repairs roll
a roll lies on no remedy where it would do nothing [asmodee-2014 dujardin-2014]
    battle roll accident repairs roll: nothing-under-remedy
where nobody needs a roll to start none lies there alone [rush]
    battle roll: nothing-under-remedy
a hazard does not lie on under its safety [asmodee-2014 bsd-mille dujardin-2014]
    battle roll accident; safeties driving-ace: protected
    battle roll accident repairs; safeties driving-ace
    battle accident; safeties driving-ace: protected [rush]
a hazard whose safety was late may lie on or be put away [classic parker]
    battle roll accident; safeties driving-ace
    battle roll roll; safeties driving-ace; discards accident
    battle roll roll roll; safeties driving-ace; discards accident: already-rolling
    battle roll roll; safeties driving-ace!; discards accident: already-rolling
of a pile whose top alone was seen only the top is judged
    battle unknown accident; distances 100
    battle unknown accident; safeties driving-ace: protected [bsd-mille]

# The speed pile

limits and their ends take turns [all but rush]
    battle roll; speed speed-limit end-of-limit speed-limit
    battle roll; speed speed-limit speed-limit: already-limited
    battle roll; speed end-of-limit: not-limited
    battle roll; speed speed-limit end-of-limit end-of-limit: not-limited
right of way takes the limit away [all]
    speed speed-limit; safeties right-of-way: protected

# Distances

nobody drives who never rolled [all but rush]
    distances 100: never-rolled
    battle roll; distances 100
    distances 100; safeties right-of-way
where no roll is needed everybody drives [rush]
    distances 100
whoever is attacked before the start may drive without a roll
    battle accident repairs; distances 100; hazard-on-empty-pile=allowed; roll-after-remedy=not-needed;
        roll-on-remedy=forbidden
    battle accident repairs; distances 100; hazard-on-empty-pile=allowed: never-rolled
a third 200 is one too many [all but rush]
    battle roll; distances 200 200
    battle roll; distances 200 200 200; target=1000: third-200
where 200s are not counted there may be any [rush]
    distances 200 200 200 200
    battle roll; distances 200 200 200; two-hundreds=unlimited [classic]
the target may be passed [asmodee-2014]
    battle roll; distances 200 200 100 75 75 75; target=700
    distances 200 200 100 75 75 75; target=700 [rush]
safeties count where they are kilometres
    battle roll; distances 200 200 100; safeties driving-ace! extra-tank; target=700
    battle roll; distances 200 200 100; safeties driving-ace! extra-tank; target=700;
        safeties-count-as-distance=yes: past-target
nothing is doubled where there is no accelerator
    battle roll; distances 100*: unknown-card

# Safeties and the first card

a coup fourre answers an attack [all but rush]
    safeties driving-ace!: not-a-coup-fourre
    safeties right-of-way!
a coup fourre before the first card answers an attack where that is possible [rush]
    safeties driving-ace!
    safeties driving-ace! right-of-way [bsd-mille]
    safeties driving-ace! right-of-way: not-a-coup-fourre [classic]
a coup fourre takes its hazard away [asmodee-2014 bsd-mille dujardin-2014]
    battle roll accident; safeties driving-ace!: protected
a coup fourre takes its hazard away where late ones stay [parker]
    battle roll accident; safeties driving-ace!: protected
    battle roll accident; safeties driving-ace
right of way takes a stop away where other late ones stay [parker]
    battle roll stop; safeties right-of-way: protected
    battle roll stop; safeties right-of-way!: protected
the first card is a roll or right of way where the sheet says so [asmodee-2014]
    safeties driving-ace: first-card
    battle roll; safeties driving-ace
    safeties driving-ace [classic]
no limit is ended before the first card [asmodee-2014]
    speed speed-limit end-of-limit; safeties right-of-way: first-card
    battle roll; speed speed-limit end-of-limit; safeties right-of-way
    speed speed-limit end-of-limit; safeties right-of-way [bsd-mille]
"""


def editions_of(words: str) -> Iterable[str]:
    """The editions of `all`, `all but rush` or `classic parker`."""
    if words.startswith("all"):
        return set(ALL) - set(words.split())
    return words.split() or ["classic"]


@pytest.mark.parametrize("rows", [pytest.param(rows, id=sentence) for sentence, rows in blocks(LYING)])
def test_a_table_as_it_lies(rows):
    assert rows
    for written, editions in rows:
        lying, _, codes = written.partition(": ")
        words = [word.strip() for word in lying.split(";") if word != "nothing"]
        how: dict[str, object] = dict(word.split(" ", 1) for word in words if " " in word)
        options = dict(word.split("=") for word in words if "=" in word)
        if "target" in options:
            how["target"] = int(options.pop("target"))
        how["options"] = " ".join(map("=".join, options.items()))
        for edition in editions_of(editions):
            assert wrong(**how, edition=edition) == codes.split(), (written, edition)


# --- Cards ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ["classic", "asmodee-2014", "dujardin-2014"])
def test_a_fourth_accident_is_one_too_many_wherever_it_lies(edition):
    three, four = lies(discards="accident " * 3, edition=edition), lies(discards="accident " * 4, edition=edition)

    assert problems(three) == ()
    assert [dict(why.details) for why in problems(four)] == [{"card": "accident", "count": "3"}]


def test_of_an_unverified_deck_only_the_safeties_are_counted():
    assert wrong(discards="300 300", edition="rush") == []
    assert wrong(discards="car-pool car-pool", edition="rush") == ["too-many-copies"]


def test_cards_and_hands_and_pile_are_the_deck():
    table = lies("roll", distances="25")
    lost = table._replace(draw_pile=table.draw_pile - 1)
    found = table._replace(hands=(6, 7))

    assert problems(table) == ()
    assert [(str(why), dict(why.details)["count"]) for why in problems(lost)] == [("missing-cards", "105")]
    assert [(str(why), dict(why.details)["count"]) for why in problems(found)] == [("too-many-copies", "107")]


# --- Where cards lie -----------------------------------------------------------------------------------------


WRONG = "battle 200, battle speed-limit, battle end-of-limit, battle right-of-way, speed stop, speed 50, "
WRONG += "distances roll, distances driving-ace, safeties accident, safeties 100"


@pytest.mark.parametrize("wrongly", WRONG.split(", "))
def test_a_card_on_a_wrong_pile_is_named_with_its_pile(wrongly):
    pile, card = wrongly.split()
    found = problems(lies(**{pile: card}))

    assert [why.code for why in found] == ["wrong-pile"]
    assert dict(found[0].details) == {"side": "Ann", "card": card, "pile": pile.removesuffix("s").replace("tie", "ty")}


# --- Distances -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ["classic", "bsd-mille", "parker", "dujardin-2014"])
def test_nobody_drives_past_the_target(edition):
    table = lies("roll", distances="200 200 100 75 75 75", edition=edition, target=700)

    assert [dict(why.details) for why in problems(table)] == [{"side": "Ann", "km": "725", "target": "700"}]


def test_a_doubled_card_is_there():
    table = lies(distances="100* 50", edition="rush")
    without = with_ann(table, distances=cards("50 75"))

    assert problems(table) == ()
    assert [str(why) for why in problems(without)] == ["needs-distance"]


# --- Safeties and the first card -----------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ALL)
def test_a_coup_fourre_has_its_safety(edition):
    begin = "" if edition == "rush" else "roll"
    without = with_ann(lies(begin, edition=edition), coups_fourres=(Card.DRIVING_ACE,))

    assert wrong(begin, safeties="driving-ace!", edition=edition) == []
    assert [str(why) for why in problems(without)] == ["not-a-coup-fourre"]


# --- Everything at once --------------------------------------------------------------------------------------


def test_everything_is_said_at_once():
    found = wrong("200 roll roll repairs", "end-of-limit", "200 200 200 100 25", "driving-ace", "300 driving-ace")
    said = "unknown-card too-many-copies wrong-pile already-rolling nothing-under-remedy not-limited third-200"

    assert found == [*said.split(), "past-target"]


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
def test_any_cards_may_lie_anywhere(edition, sides, discards, draw_pile):
    rules = load_edition(edition)
    named = [Side(name, (name,), *piles) for name, piles in zip(("Ann", "Bob"), sides, strict=True)]

    found = problems(seen_table(rules, named, discards)._replace(draw_pile=draw_pile))

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


def few_copies(whys: tuple[Wrong, ...]) -> bool:
    return all(why.code == "too-many-copies" for why in whys)
