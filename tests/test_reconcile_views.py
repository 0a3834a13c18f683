"""What is asked about a table seen frame by frame: what lies where is written by hand, view by view."""

from dataclasses import replace

import pytest
from records import THREE
from sheet import scenes
from viewed import STEP_S, Viewed, differences, plays, table_of, told

from companion.match.questions import Kind
from companion.rules.cards import Card
from companion.tracking.handling import BARS
from companion.vision.view import Sighting

# The discard pile, where its top may be taken


def asmodee() -> Viewed:
    """Ann drives, and Bob has laid a 25 on the discard pile."""
    table = Viewed(edition="asmodee-2014")
    table.lay("roll-01", "side-1/battle")
    table.see()
    table.lay("25-01", "table/discard")
    table.see()
    assert plays(table.ever) == ["Ann roll", "Bob discard 25"]
    return table


@pytest.mark.parametrize("edition", ["asmodee-2014", "dujardin-2014", "bsd-mille"])
@pytest.mark.parametrize("hazard_first", [True, False])
def test_the_hazard_of_a_late_safety_goes_to_the_discard_pile(edition: str, hazard_first: bool):
    lines = ("Ann roll", "Bob roll", "Ann discard 25", "Bob stop > Ann", "Ann discard 50", "Bob discard 75")
    table = Viewed(*lines, edition=edition)
    table.lay("stop-01", "side-1/battle")
    table.see()
    where = ["table/discard", "side-1/safety"] if hazard_first else ["side-1/safety", "table/discard"]
    for zone in where:
        table.lay("stop-01" if zone == "table/discard" else "right-of-way-01", zone)
        table.see(1.0)

    assert plays(table.see(5.0)) == []
    assert plays(table.ever) == ["Ann right-of-way"]
    assert differences(table.ever) == []


# Cards told by their faces

STOP = Card.STOP


class ByFace(Viewed):
    """A table whose cards have no stickers; `told` are those in sight."""

    told: tuple[Sighting, ...] = ()

    def _sightings(self, unknown: tuple[str, ...]) -> tuple[Sighting, ...]:
        return self.told


def by_face(face: Card, zone: str, stay: int, x_px: float = 0.0, *, is_double: bool = False) -> Sighting:
    return Sighting(face, None, (x_px, 0.0), None, zone, False, 0.98, "face", stay=stay, is_double=is_double)


@pytest.mark.parametrize("refused", [(), (by_face(Card.END_OF_LIMIT, "side-2/speed", 9),)])
def test_a_card_that_lies_exactly_on_its_like_is_found_by_what_follows_and_the_next_like_it_is_another(refused):
    table = ByFace("Ann roll", "Bob roll")
    table.told = refused
    table.see(BARS.put_right_s)
    table.told = (by_face(Card.KM_25, "side-1/distance", 1), *refused)
    table.see(BARS.put_right_s)
    table.enter("Bob 50")
    upper = by_face(Card.KM_25, "side-1/distance", 2, is_double=True)
    table.told = (upper, *refused)
    table.see(BARS.put_right_s)

    table.told = (upper, by_face(Card.KM_75, "side-2/distance", 3), *refused)
    table.see(BARS.turn_s)
    assert [told(each) for each in table.questions if each.is_legal] == ["Ann 25?", "Bob 75"]
    for question in [each for each in table.questions if each.is_legal]:
        table.yes(question)
    table.told = (by_face(Card.KM_25, "side-1/distance", 4, 24.0), *table.told)
    table.see(BARS.turn_s)

    assert table.played == ["Ann roll", "Bob roll", "Ann 25", "Bob 50", "Ann 25", "Bob 75", "Ann 25"]


def test_a_card_without_a_sticker_that_was_laid_at_the_wrong_side_is_no_play_more_when_it_is_put_right():
    table = ByFace("Ann roll", "Bob roll", "Cid roll", "Ann 100", sides=THREE)
    table.see()
    table.told = (by_face(Card.SPEED_LIMIT, "side-3/speed", 1),)
    table.see()
    assert table.played[-1] == "Bob speed-limit > Cid"

    table.told = (by_face(Card.SPEED_LIMIT, "side-1/speed", 2),)
    table.see(2.0)

    assert table.asked == ["Speed Limit has moved from the speed pile to the speed pile."]
    assert table.played[-1] == "Bob speed-limit > Cid"


def test_two_beaten_hazards_of_one_face_are_carried_off_one_after_the_other_and_neither_was_discarded():
    table, battle = ByFace("Ann roll", "Bob roll"), "side-2/battle"
    first, roll, second = by_face(STOP, battle, 1), by_face(Card.ROLL, battle, 2, 3.0), by_face(STOP, battle, 3, 14.0)
    right_of_way = replace(by_face(Card.RIGHT_OF_WAY, "side-2/safety", 4), sideways=True)
    for cards in ((first,), (roll,), (second,), (second, right_of_way)):
        table.see(1.0, unknown=(battle,))
        table.told = cards
        table.see(3.0)

    off = by_face(STOP, "table/discard", 5), by_face(STOP, "table/discard", 6, 12.0)
    for number in (1, 2):
        table.see(1.0, unknown=(battle,))
        table.told = roll, right_of_way, *off[:number]
        table.see(3 * BARS.turn_s)

    assert table.played[2:] == ["Ann stop > Bob", "Bob roll", "Ann stop > Bob", "Bob right-of-way !"]
    assert table.questions == ()


def test_a_hazard_carried_off_with_its_remedy_as_that_is_played_is_beaten_and_the_next_like_it_is_another():
    table, battle = ByFace("Ann roll", "Bob roll"), "side-2/battle"
    remedy = by_face(Card.ROLL, "table/discard", 3)
    rolled, first = by_face(Card.ROLL, battle, 1), by_face(STOP, battle, 2, 3.0)
    for cards in ((rolled,), (first,), (remedy,), (remedy, by_face(Card.KM_50, "table/discard", 4, 9.0))):
        table.see(1.0, unknown=(battle, "table/discard"))
        table.told = cards
        table.see(3.0)
    table.told = (*table.told, by_face(STOP, battle, 5, 2.0))
    table.enter("Bob discard 25")
    table.see(3.0)

    assert table.played[2:] == ["Ann stop > Bob", "Bob roll", "Ann discard 50", "Bob discard 25", "Ann stop > Bob"]
    assert [told(each) for each in table.questions] == []


def test_a_hazard_that_a_safety_has_beaten_is_no_discard_though_its_like_was_carried_to_the_discard_pile_before_it():
    table, out_of_gas = ByFace("Ann roll", "Bob roll", "Cid roll", sides=THREE), Card.OUT_OF_GAS
    first, gas = by_face(out_of_gas, "side-2/battle", 1), by_face(Card.GASOLINE, "side-2/battle", 2, 3.0)
    second, tank = by_face(out_of_gas, "side-3/battle", 3), by_face(Card.EXTRA_TANK, "side-3/safety", 4)
    one, other = by_face(out_of_gas, "table/discard", 5), by_face(out_of_gas, "table/discard", 6, 12.0)
    at_once = replace(tank, sideways=True)
    for cards in ((first,), (first, gas), (gas, one), (gas, one, second), (gas, one, second, at_once)):
        table.see(1.0, unknown=("side-2/battle", "side-3/battle", "table/discard"))
        table.told = cards
        table.see(BARS.turn_s / 2)
        if cards == (gas, one):
            table.enter("Cid discard 25")
    table.see(1.0, unknown=("side-3/battle", "table/discard"))
    table.told = gas, one, at_once, other
    table.see(3 * BARS.turn_s)

    assert table.played[6:] == ["Ann out-of-gas > Cid", "Cid extra-tank !"]
    assert table.questions == ()


def test_a_remedy_carried_off_with_the_hazard_that_it_has_beaten_is_no_discard_and_the_next_like_it_is_another():
    table, battle = ByFace("Ann roll", "Bob roll"), "side-2/battle"
    rolled, stop, roll = by_face(Card.ROLL, battle, 1), by_face(STOP, battle, 2, 3.0), by_face(Card.ROLL, battle, 3, 9)
    off, accident = by_face(Card.ROLL, "table/discard", 4), by_face(Card.ACCIDENT, battle, 5, 2.0)
    repairs, again = by_face(Card.REPAIRS, battle, 6, 4.0), by_face(Card.ROLL, battle, 7, 12.0)
    for laid in ((), (stop,), (stop, roll), (off,), (off, accident), (off, accident, repairs)):
        table.see(1.0, unknown=(battle, "table/discard"))
        table.told = (rolled, *laid)
        table.see(BARS.turn_s)
    table.enter("Ann discard 25")
    table.see(1.0, unknown=(battle,))
    table.told = (*table.told, again)
    table.see(BARS.turn_s)

    plays = ["Ann stop > Bob", "Bob roll", "Ann accident > Bob", "Bob repairs", "Ann discard 25", "Bob roll"]
    assert table.played[2:] == plays
    assert table.questions == ()


# Reshuffled discards


def reshuffling(draw_pile: int) -> Viewed:
    """Three discards lie there, and so many cards are left by the record."""
    table = asmodee()
    for card in ("50-01", "75-01"):
        table.lay(card, "table/discard")
        table.see()
    table.leave(draw_pile)
    return table


def test_discards_that_become_the_draw_pile_are_reshuffled_by_the_record_itself():
    table = reshuffling(0)
    table.take_up("75-01")
    table.see(3.0, pile_empty=True)
    table.see(3.0)
    table.lay("50-01", "table/discard")

    assert plays(table.see()) == ["Ann discard 50"]
    assert differences(table.ever) == []
    assert table.table.discards == (Card.KM_50,)


def test_a_discard_that_was_never_seen_is_not_expected_any_more_once_the_discards_have_become_the_draw_pile():
    table = asmodee()
    table.take_up("25-01")
    for play in ("Ann discard 100", "Bob discard 75"):
        table.enter(play)
    table.see()
    table.leave(0)
    table.enter("Ann discard 50")
    assert table.table.discards == (Card.KM_50,)
    table.ever.clear()

    table.lay("100-01", "table/discard")
    assert plays(table.see()) == ["Bob discard 100"]


def test_a_reshuffle_that_the_count_does_not_expect_is_asked():
    table = reshuffling(4)
    table.see(1.0, pile_empty=True)
    table.take_up("75-01")
    assert table.see(3.0, pile_empty=True) == []

    (question,) = table.see(1.0)
    assert str(question.plays[0]) == "exhausted"
    assert not question.sure
    assert table.table.discards == ()


# Cards gathered in before the record has the hand's end


def laid_out(edition: str = "classic") -> Viewed:
    table = Viewed(edition=edition)
    for card, zone in (("roll-01", "side-1/battle"), ("roll-02", "side-2/battle"), ("100-01", "side-1/distance")):
        table.lay(card, zone)
        table.see()
    assert len(plays(table.ever)) == 3
    return table


def test_they_surely_do_where_nobody_can_go_on():
    table = laid_out("bsd-mille")
    table.leave(0)
    table.cards.clear()

    question = table.see(4.0)[0]
    assert (str(question.plays[0]), question.sure) == ("end", True)
    assert table.table.ending.how == "exhausted"


# Rush: what only people can tell is asked


@pytest.mark.parametrize("special", ["mirror", "u-turn", "theft", "control", "accelerator"])
def test_a_special_card_on_the_discard_pile_is_asked_never_guessed(special: str):
    table = Viewed("Ann pollution > Bob", edition="rush")
    table.lay(f"{special}-01", "table/discard")

    (question,) = table.see(5.0)
    assert question.kind is Kind.DIFFERS
    assert question.seen is Card(special)
    assert "enter" in str(question.say)


def test_what_depends_on_the_turn_waits_until_a_special_card_is_explained():
    table = Viewed("Ann 100", edition="rush")
    table.lay("u-turn-01", "table/discard")
    (question,) = table.see()
    table.lay("pollution-01", "side-2/battle")
    assert table.see(3.0) == []
    table.enter("Bob u-turn !")
    table.enter("Bob 50")

    assert plays(table.see(3.0)) == ["Ann pollution > Bob"]
    assert question.id not in {asked.id for asked in table.questions}


# House rules that no picture tells apart


def test_a_discard_covered_right_after_it_was_proposed_is_not_proposed_again():
    table = Viewed()
    table.lay("50-03", "table/discard")
    while not table.ever:
        table.see(STEP_S)

    table.lay("75-02", "table/discard")
    table.see(2.0)

    assert plays(table.ever) == ["Ann discard 50", "Bob discard 75"]


REFUSED = (
    "enter Ann roll, Bob roll, Ann discard 25, Bob stop > Ann; put stop-01 1/battle; put roll-02 2/battle; see; "
    "lay 50-01 1/distance; see; lay roll-03 1/battle"
)
"""Ann has laid a 50 upon a stop, which lies on while a roll makes her drive and it is her turn again."""

SCENES = f"""
a card that lies still is proposed once
    lay roll-03 1/battle; see 2 => Ann roll
a proposal comes within four frames
    lay roll-03 1/battle; see {4 * STEP_S} => Ann roll
one sighting is no proposal
    lay roll-03 1/battle; see {STEP_S} => nothing
a hazard before somebody is an attack by the player to move
    enter Ann roll; lay stop-01 1/battle; see => Bob stop > Ann
a Speed Limit in the speed zone is an attack
    enter Ann roll; lay speed-limit-01 1/speed; see => Bob speed-limit > Ann
a card on the discard pile is discarded by the player to move
    enter Ann roll; lay 25-07 discard; see => Bob discard 25
a safety laid sideways on a fresh attack is a coup fourre
    enter Ann roll, Bob stop > Ann; lay right-of-way-01 1/safety sideways; see => Ann right-of-way !
of a pair either partner may have answered at once [pairs]
    enter Ann roll, Bob stop > Reds; lay right-of-way-01 1/safety sideways; see
        => Cid right-of-way ! or Ann right-of-way !?
a safety laid upright on a fresh attack is asked about
    enter Ann roll, Bob stop > Ann; lay right-of-way-01 1/safety; see => Ann right-of-way?
a card laid out of turn is proposed as the play of whose side it is
    enter Ann roll; lay 100-01 1/distance; see => Ann 100?
nothing is proposed from a zone that something covers
    lay roll-03 1/battle; see 3 hiding 1/battle => nothing
a card taken back withdraws its proposal [unconfirmed]
    lay roll-03 1/battle; see => Ann roll
    clear; see {BARS.moment_s + 0.5} => now: nothing
a card moved before it is confirmed is proposed where it lies now [unconfirmed]
    lay roll-03 2/battle; see; put roll-03 1/battle; see => Ann roll
    => now: Ann roll
a covered card is not missed
    lay roll-03 1/battle; see; lay stop-01 1/battle; see 5 => Bob stop > Ann
    => ever: Ann roll / Bob stop > Ann
a confirmed card that vanishes from the top is a difference
    lay roll-03 1/battle; see; clear; see 4 => Roll is no longer on the battle pile.
a difference is settled when the card lies there again
    lay roll-03 1/battle; see; clear; see 4 => Roll is no longer on the battle pile.
    lay roll-03 1/battle; see => nothing
    => now: nothing
a hand over a zone is no reason to miss its card
    lay roll-03 1/battle; see; clear; see 10 hiding 1/battle => nothing
the hazard of a coup fourre may go to the discard pile
    lay roll-03 1/battle; see; lay stop-01 1/battle; see; up stop-01 roll-03; lay stop-01 discard; see;
        lay right-of-way-01 1/safety sideways; see; lay stop-01 discard; lay roll-03 1/battle; see 6
        => ever: Ann roll / Bob stop > Ann / Ann right-of-way !
the hazard of a coup fourre may go to the discard pile (2)
    lay roll-03 1/battle; see; lay stop-01 1/battle; see; lay right-of-way-01 1/safety sideways; see;
        lay stop-01 discard; lay roll-03 1/battle; see 6 => ever: Ann roll / Bob stop > Ann / Ann right-of-way !
cards that lay there before we looked are not proposed
    enter Ann roll, Bob roll, Ann 100; lay roll-01 1/battle; lay roll-02 2/battle; lay 100-04 1/distance; see 3
        => nothing
a card laid on one that lay there before is proposed
    enter Ann roll, Bob roll, Ann 100; lay roll-01 1/battle; see; lay roll-09 1/battle; see => Ann roll?
a card that lay there before we looked is known when the one on it has gone
    enter Ann roll, Bob stop > Ann; lay stop-01 1/battle; see; up stop-01; see 0.5; enter Ann right-of-way !;
        lay roll-01 1/battle; see => nothing
a play entered by hand is not proposed when its card appears
    enter Ann roll; lay roll-01 1/battle; see 2 => nothing
an empty draw pile is told only when the count is far from it
    see; see {BARS.put_right_s + 1} empty => exhausted?
after the hand empty mats mean that the next can begin
    lay roll-03 1/battle; see; enter end; clear; see 3 => nothing
    => cleared
while the extension is undecided nothing is proposed
    enter Ann roll, Bob roll{", Ann 100, Bob discard 25" * 6}, Ann 100; lay 25-01 2/distance; see 2 => nothing
cards left over from the hand before mean nothing
    lay roll-03 1/battle; see; next hand; see 3 => nothing
a card of the hand before is new once it was taken away
    lay roll-03 1/battle; see; next hand; clear; see {BARS.moment_s + 0.5}; lay roll-03 1/battle; see => Ann roll
a play that the record took back may be laid again
    lay roll-03 1/battle; see; clear; see 4; undo; lay roll-03 1/battle; see => Ann roll
a confirmed card put right at once is told at once
    lay roll-03 discard; see; put roll-03 1/battle; see {4 * STEP_S}
        => Roll has moved from the discard pile to the battle pile.
of two cards laid at once the legal one comes first
    enter Ann roll; put 100-01 1/distance; put roll-02 2/battle; see => Bob roll / Ann 100

# The discard pile, where its top may be taken

a discard that is gone has been taken when the next player goes on [asmodee]
    up 25-01; see 3 => nothing
    lay 100-01 1/distance; see => Ann take / Ann 100
a card laid before the discard is surely gone waits for that [asmodee]
    up 25-01; see 0.5; lay 100-01 1/distance; see 3 => Ann take / Ann 100
a discard that is gone has been taken back when its player goes on [asmodee]
    up 25-01; see 3; lay roll-02 2/battle; see => 25 miles is no longer on the discard pile. / Bob roll?
    => ever: Ann roll / Bob discard 25 / 25 miles is no longer on the discard pile. / Bob roll?
whether a discard was taken or taken back is asked where another discard follows [asmodee]
    up 25-01; see 3; lay 50-01 discard; see => Ann take? / Ann discard 50 /
        25 miles is no longer on the discard pile.
an attack on whoever discarded tells that the discard was taken [asmodee]
    lay 100-01 1/distance; see; lay roll-02 2/battle; see; lay 50-01 discard; see; up 50-01 25-01; see 3;
        lay stop-01 1/battle; see => Bob take / Bob stop > Ann
an older discard can only have been taken [asmodee]
    lay 100-01 1/distance; see; up 25-01; see 3 => Bob take
a discard may be taken and laid at once [asmodee]
    put 25-01 1/distance; see => Ann take / Ann 25
a discard laid elsewhere by its own player is put right [asmodee]
    put 25-01 2/distance; see => 25 miles has moved from the discard pile to the distance area.
a discard that was only looked at is not taken [asmodee]
    up 25-01; see 3; lay 25-01 discard; see; lay 100-01 1/distance; see 3 => Ann 100
    => ever: Ann roll / Bob discard 25 / Ann 100
a discard that covers another takes nothing [asmodee]
    lay 50-01 discard; see 4 => Ann discard 50
a discard is taken as soon as the one beneath comes to light [asmodee]
    lay 50-01 discard; see; up 50-01 25-01; see 0.6; lay 75-01 discard; see => Bob take? / Bob discard 75 /
        50 miles is no longer on the discard pile.
a discard beneath that was always in sight tells nothing [asmodee]
    put 50-01 discard; see; up 50-01; see 0.6; lay 50-01 discard; lay 100-01 2/distance; see 3 => Bob 100
a discard that comes to light for the first time is no new one [edition=asmodee-2014]
    enter Ann roll, Bob roll, Ann discard 50, Bob discard 25; lay 25-01 discard; see; up 25-01 50-01; see 3 => nothing
    lay 100-01 1/distance; see => Ann take / Ann 100
a discard like one beneath is a new one where the next play is legal only after it [edition=asmodee-2014]
    enter Ann roll, Bob roll, Ann discard 50, Bob discard 25; lay 25-01 discard; see; up 25-01 50-01; see 3 => nothing
    lay 100-01 2/distance; see => Ann discard 50? / Bob 100
a taken discard may be discarded again [asmodee]
    lay 100-01 1/distance; see; up 25-01; see 3; lay 25-01 discard; see => Bob discard 25
a take that was entered by hand is not proposed again [asmodee]
    enter Ann take; up 25-01; see 3; lay 100-01 1/distance; see => Ann 100

# Reshuffled discards

an empty draw pile is no news while the discards are to be reshuffled [reshuffling 4]
    see {BARS.put_right_s + 1} empty => nothing
of an empty draw pile the last discard can still be taken [reshuffling 0]
    up 75-01 50-01; see 3 empty; lay 100-01 1/distance; see empty => Ann take / Ann 100
discards that vanish while there is a draw pile are missed [reshuffling 40]
    up 75-01; see {2 * BARS.turn_s + 3.0} => 75 miles is no longer on the discard pile. /
        50 miles is no longer on the discard pile. / 25 miles is no longer on the discard pile.
    => ever: Ann roll / Bob discard 25 / Ann discard 50 / Bob discard 75 /
        75 miles is no longer on the discard pile. / 50 miles is no longer on the discard pile. /
        25 miles is no longer on the discard pile.

# Cards gathered in before the record has the hand's end

cards that are all gathered in may mean the hands end [laid_out]
    clear; see 4 => end?
    => cleared
that the hand has ended is asked once [laid_out; unconfirmed]
    clear; see 30 => end?
cards that stay away although others lie there are missed in the end [laid_out]
    lay 50-01 2/distance; see; up roll-01; up roll-02; up 100-01; see {BARS.moment_s + 1.0} => nothing
    see {2 * BARS.turn_s} => 100 km is no longer on the distance area. / Roll is no longer on the battle pile. /
        Roll is no longer on the battle pile.

nothing is missed of what is gathered in though the picture fails meanwhile [laid_out]
    see 20; lay 50-01 2/distance; see; up roll-01; up roll-02; up 100-01; see {BARS.moment_s + 1.0} => nothing
    gap 1; see => nothing
a draw pile that is gathered in with other cards is not used up [laid_out]
    see 20; lay 50-01 2/distance; see; up roll-01; up roll-02; up 100-01; see {BARS.put_right_s + 1} empty => nothing

# Rush: what only people can tell is asked

rush cards laid in turn are proposed like any others [edition=rush]
    lay 100-01 1/distance; see => Ann 100
rush cards laid in turn are proposed like any others (2) [edition=rush]
    lay 300-01 1/distance; see => Ann 300
rush cards laid in turn are proposed like any others (3) [edition=rush]
    lay pollution-01 2/battle; see => Ann pollution > Bob
rush cards laid in turn are proposed like any others (4) [edition=rush]
    lay speed-limit-01 2/speed; see => Ann speed-limit > Bob
a card that was handed over is laid by whoever asked for it [edition=rush; three]
    enter Ann control stop > Bob, Bob give stop > Ann; lay stop-01 3/battle; see => Ann stop > Cid
    enter Ann control roll > Bob, Bob give roll > Ann; lay roll-01 discard; see => Ann discard roll?
a pending control may lie anywhere beside the player who was asked [edition=rush]
    lay control-01 2/battle; see; enter Ann control stop > Bob; see 5 => nothing
    lay control-01 discard; see; enter Ann control stop > Bob; see 5 => nothing
    lay control-01 discard; see; enter Ann control stop > Bob; up control-01; see 5 => nothing
a second control is asked about while the first is pending [edition=rush]
    lay control-01 2/battle; see; enter Ann control stop > Bob; lay control-02 discard; see 5
        => Control was played: enter the play it belongs to.
rush cards laid in turn are proposed like any others (5) [edition=rush]
    enter Ann pollution > Bob; lay end-of-pollution-01 2/battle; see => Bob end-of-pollution
rush cards laid in turn are proposed like any others (6) [edition=rush]
    lay car-pool-01 1/safety; see => Ann car-pool
a safety laid sideways on a fresh attack is a coup fourre in rush too [edition=rush]
    enter Ann pollution > Bob; lay car-pool-01 2/safety sideways; see => Bob car-pool !
an accelerator seen a frame late still doubles [edition=rush]
    lay 100-01 1/distance; see {2 * STEP_S}; lay accelerator-02 1/distance; see => Ann 100*2
an accelerator laid together with a distance card doubles it [edition=rush]
    put 100-01 1/distance; put accelerator-02 1/distance; see 5 => Ann 100*2
a doubled card that loses its accelerator is a difference [edition=rush]
    put 100-01 1/distance; put accelerator-02 1/distance; see; up accelerator-02; see 3
        => Accelerator is no longer on the distance area.
an accelerator laid beside an older distance card is asked [edition=rush]
    lay 100-01 1/distance; see; lay accelerator-02 1/distance; see 3
        => Accelerator was played: enter the play it belongs to.
an accelerator between two distance cards is asked [edition=rush]
    put 100-01 1/distance; put 75-01 1/distance; put accelerator-02 1/distance; see 3
        => Accelerator was played: enter the play it belongs to.
    enter Ann 75*2, Bob discard 50; see 3 => Ann 100
an explained special card may be covered and taken up [edition=rush]
    enter Ann 100; lay u-turn-01 discard; see; enter Bob u-turn !; see; lay 50-01 discard; see 3 => Bob discard 50?
    => ever: U-Turn was played: enter the play it belongs to. / Bob discard 50?
a special card taken back takes its question along [edition=rush]
    lay mirror-01 discard; see => Mirror was played: enter the play it belongs to.
    up mirror-01; see 3 => nothing
    => now: nothing
a special card of a play entered before is not asked [edition=rush]
    enter Ann 100, Bob u-turn !; lay u-turn-01 discard; see 3 => nothing
an attack that a mirror turned lies where the record has it [edition=rush]
    lay pollution-01 2/battle; see; put pollution-01 1/battle; see
        => Pollution has moved from the battle pile to the battle pile.
    enter Bob mirror !; see 3 => nothing
    => now: nothing
a distance card that vanishes in rush is asked and never taken back by itself [edition=rush]
    lay 100-01 1/distance; see; up 100-01; see 3 => 100 km is no longer on the distance area.
    => played: Ann 100
a discard in rush may be half of a pair and is asked [edition=rush]
    lay 50-01 discard; see => Ann discard 50?
a doubled card entered by hand is expected with Accelerator [edition=rush]
    enter Ann 100*2; put 100-01 1/distance; put accelerator-02 1/distance; see 3 => nothing
doubled cards that lay there before we looked are not proposed [edition=rush]
    enter Ann 100*2; put 100-01 1/distance; put accelerator-02 1/distance; see 3 => nothing

# House rules that no picture tells apart

a discard that may be part of an exchange is asked [edition=asmodee-2014; exchange=yes]
    lay 50-01 discard; see => Ann discard 50?
a remedy that may have been an answer out of turn is asked [edition=asmodee-2014; fast-remedy=yes]
    enter Ann roll, Bob roll, Ann accident > Bob; lay repairs-01 discard; see
        => Repairs was discarded or counters the attack: enter the play.
a remedy laid out of turn on a fresh attack is an answer at once [edition=asmodee-2014; fast-remedy=yes; three]
    enter Ann roll, Bob roll, Cid roll, Ann accident > Cid; lay repairs-01 3/battle; see => Cid repairs !?
a remedy on the discard pile after an attack is asked [edition=rush]
    enter Ann pollution > Bob; lay end-of-pollution-01 discard; see 3
        => End of Pollution was discarded or counters the attack: enter the play.
a remedy thrown out with its hazard is asked and no discard [edition=rush]
    enter Ann stop > Bob, Bob discard 50, Ann 50; lay roll-01 discard; see
        => Go was discarded or counters the attack: enter the play.
a card seen before an arm came over it comes before one seen later [three]
    enter Ann roll, Bob roll, Cid roll; put roll-01 1/battle; put roll-02 2/battle; put roll-03 3/battle; see;
        see 0.3 hiding 2/battle 2/speed 2/safety 2/distance; lay 50-03 discard;
        see 1.5 hiding 2/battle 2/speed 2/safety 2/distance; lay stop-03 3/battle;
        see 0.5 hiding 2/battle 2/speed 2/safety 2/distance discard 3/battle;
        see 0.5 hiding 2/battle 2/speed 2/safety 2/distance discard; see => ever: Ann discard 50 / Bob stop > Cid
a card that was waited with counts although an arm takes it to the discard pile
    enter Ann roll, Bob roll; put roll-01 1/battle; put roll-02 2/battle; see; see 0.3 hiding 1/speed;
        lay stop-01 2/battle; see 1.5 hiding 1/speed; lay right-of-way-01 2/safety sideways; see hiding 1/speed;
        see 0.3 hiding 2/battle discard; up stop-01 roll-02; lay stop-01 discard; see 2 => ever: Ann stop > Bob /
        Bob right-of-way !
a remedy that goes to the discard pile with the hazard that it ends was played
    enter Ann roll, Bob roll; put roll-01 1/battle; put roll-02 2/battle; see; lay speed-limit-01 2/speed; see 2;
        see 0.5 hiding 2/speed discard; up speed-limit-01; lay end-of-limit-01 discard; see 3
        => ever: Ann speed-limit > Bob / Bob end-of-limit
    => nothing
a remedy that comes to the discard pile while the hazard that it ends lies on is a discard
    enter Ann roll, Bob roll; put roll-01 1/battle; put roll-02 2/battle; see; lay speed-limit-01 2/speed; see 2;
        see 0.5 hiding 2/speed discard; lay end-of-limit-01 discard; see 3
        => ever: Ann speed-limit > Bob / Bob discard end-of-limit
an attack that is beaten and carried off while it waits still counts
    enter Ann roll, Bob roll, Ann 25; put roll-01 1/battle; put roll-02 2/battle; see; lay stop-01 1/battle;
        see hiding 2/distance; lay roll-01 1/battle; lay stop-01 discard; lay right-of-way-01 1/safety sideways;
        see 0.5 hiding 2/distance; see 7 => ever: Bob stop > Ann / Ann right-of-way !
an attack that counts and is carried off as its safety comes to light is not missed
    enter Ann roll, Bob roll; put roll-01 1/battle; put roll-02 2/battle; see; lay stop-01 2/battle; see 2; up stop-01;
        lay roll-02 2/battle; see 0.2 hiding 2/safety; lay right-of-way-01 2/safety sideways; see 0.1 => nothing
    see 2 => ever: Ann stop > Bob / Bob right-of-way !
a remedy that lay there before the hazard came does not answer it
    enter Ann roll, Bob roll; put roll-01 1/battle; put roll-02 2/battle; see; lay end-of-limit-01 2/speed; see 3;
        lay speed-limit-01 2/speed; see 8 => ever: Bob end-of-limit? / Ann speed-limit > Bob
    => now: nothing
a beaten hazard on the discard pile is borne with until the safety that comes to light counts
    enter Ann roll, Bob roll, Ann 25; put roll-01 1/battle; put roll-02 2/battle; see; lay speed-limit-01 1/speed;
        see; lay speed-limit-01 discard; lay right-of-way-01 1/safety sideways; see 2.9 hiding 1/safety 1/distance;
        see hiding 1/distance => Ann right-of-way !
    see 2 => nothing
    => ever: Bob speed-limit > Ann / Ann right-of-way !
a beaten hazard on the discard pile is borne with until the safety that comes to light counts (2)
    enter Ann roll, Bob roll, Ann 25; put roll-01 1/battle; put roll-02 2/battle; see; lay speed-limit-01 1/speed;
        see; lay speed-limit-01 discard; lay right-of-way-01 1/safety sideways; see 8 hiding 1/safety 1/distance;
        see hiding 1/distance => Ann right-of-way !
    see 2 => nothing
    => ever: Bob speed-limit > Ann / Ann right-of-way !
a refused card taken up and laid on the same spot once it is legal is proposed
    {REFUSED}; see hiding 1/distance; lay gasoline-01 discard; see hiding 1/distance; up 50-01;
        see {BARS.moment_s + 0.2}; lay 50-01 1/distance; see => ever: Ann 50 / Ann roll / Bob discard gasoline / Ann 50
a refused card that lies on is not legal because two looks have missed it
    {REFUSED}; see; lay gasoline-01 discard; see; up 50-01; see 0.2; lay 50-01 1/distance; see 2 => now: Ann 50?
    => played: Ann roll / Bob roll / Ann discard 25 / Bob stop > Ann / Ann roll / Bob discard gasoline

# The pictures break off

a card that was waited with has to be seen anew after a gap [unconfirmed]
    enter Ann roll; lay speed-limit-01 2/battle; see 2; gap; clear; see 3 hiding 2/battle => nothing
    see 3 => nothing
how long a card has been lying does not grow in a gap [unconfirmed]
    enter Ann roll; lay speed-limit-01 2/battle; see; gap; see 3 => nothing
    see 2 => Ann speed-limit > Bob?
a card is not missed for the time of a gap
    lay roll-01 1/battle; see; up roll-01; see {BARS.moment_s - 0.5}; gap; see {BARS.moment_s - 0.5} => nothing
    see => Roll is no longer on the battle pile.
a card that lies as it did after a gap is neither new nor missed
    lay roll-01 1/battle; see; gap; see 5 => nothing
a proposal whose card has gone in a gap is withdrawn once its place is seen bare [unconfirmed]
    lay roll-01 1/battle; see; gap; clear; see 2 hiding 1/battle => nothing
    => now: Ann roll
    see 2 => now: nothing
what may have been laid where nobody has looked since a gap makes the next discard doubtful
    enter Ann roll; lay roll-01 1/battle; see; gap 6; see 7 hiding 1/speed; lay speed-limit-01 discard;
        see 2 hiding 1/speed => Bob discard speed-limit?
where nobody has looked for as long without a gap it is sure
    enter Ann roll; lay roll-01 1/battle; see; see 7 hiding 1/speed; lay speed-limit-01 discard;
        see 2 hiding 1/speed => Bob discard speed-limit
cards that were laid in a gap are proposed in the order that the rules allow
    see; gap; lay 100-01 1/distance; lay roll-01 1/battle; lay roll-02 2/battle; see 3 => Ann roll / Bob roll /
        Ann 100
"""
STARTS = {start.__name__: start for start in (asmodee, laid_out, reshuffling)}


@pytest.mark.parametrize(("setting", "scene"), scenes(SCENES))
def test_a_scene(setting, scene):
    table_of(setting, STARTS).check(scene)
