"""What goes wrong at a real table, as it is seen look by look: pushed, bumped, covered, mislaid, left lying, unread."""

from dataclasses import replace
from typing import Any

import pytest
from sheet import scenes
from test_reconcile_views import asmodee
from viewed import STEP_S, Viewed, plays, table_of, zone_of

from companion.match.questions import SURE_CONFIDENCE, Kind, Question
from companion.rules.cards import Card
from companion.tracking.handling import BARS
from companion.vision.view import MatSeen, Point, Sighting, View

PX_PER_MM = 2.0
BATTLE, DISTANCE, SAFETY = "side-1/battle", "side-1/distance", "side-1/safety"
ROLLING = ("Ann roll", "Bob roll")


class Table(Viewed):
    """A table whose cards lie somewhere, in millimetres."""

    def __init__(self, *lines: str, **how: Any) -> None:
        super().__init__(*lines, **how)
        self.at_mm: dict[str, Point] = {}
        self.codes: dict[str, tuple[str, Point, tuple[tuple[str, float], ...]]] = {}
        """Codes that cannot be read, by any name: zone, place, and what they may be."""

        self.camera_px: Point = (0.0, 0.0)
        self.trouble: str | None = None

    def put(self, card: str, zone: str, x: float = 0.0, y: float = 0.0, *, sideways: bool = False) -> None:
        """Let a card come to lie there; nothing else is changed."""
        self.cards[card], self.at_mm[card] = (zone, sideways), (x, y)

    def laid(self, card: str, zone: str, x: float = 0.0, y: float = 0.0) -> None:
        """Lay a card, and let it be seen."""
        self.put(card, zone, x, y)
        assert plays(self.see(0.6)) != []

    def cover(self, card: str) -> None:
        """Let a card be seen no more."""
        del self.cards[card]

    def perform(self, step: str) -> list[Question]:
        match step.split():
            case ["code", name, zone, *words]:
                rivals = tuple((card, float(sure)) for card, sure in (word.split("=") for word in words if "=" in word))
                x, y = [float(word) for word in words if "=" not in word] or (0.0, 0.0)
                self.codes[name] = (zone_of(zone), (x, y), rivals)
            case ["uncode"]:
                self.codes.clear()
            case ["yes"]:
                self.yes(self.questions[0])
            case ["begin"]:
                self.follower.deal(self.record.lines[-1].seq)
                self.next_hand()
            case ["trouble"]:
                self.trouble = "The light has changed."
            case ["no", "trouble"]:
                self.trouble = None
            case ["camera", x, y]:
                self.camera_px = (float(x), float(y))
            case _:
                return super().perform(step)
        return []

    def _view(self, unknown: tuple[str, ...], pile_empty: bool) -> View:
        x, y = self.camera_px
        sheet = ((x, y), (x + 840, y), (x + 840, y + 594), (x, y + 594))
        mats = tuple(MatSeen(mat.id, sheet, PX_PER_MM) for mat in self.mats)
        return replace(super()._view(unknown, pile_empty), mats=mats, trouble=self.trouble)

    def _sightings(self, unknown: tuple[str, ...]) -> tuple[Sighting, ...]:
        unread = (
            Sighting(Card.UNKNOWN, None, self._px(at), None, zone, False, 0.0, "sticker", rivals)
            for zone, at, rivals in self.codes.values()
            if zone not in unknown
        )
        return (*super()._sightings(unknown), *unread)

    def _centre_px(self, card: str, zone: str) -> Point:
        return self._px(self.at_mm[card])

    def _px(self, at: Point) -> Point:
        return self.camera_px[0] + 420 + at[0] * PX_PER_MM, self.camera_px[1] + 297 + at[1] * PX_PER_MM


def driving(*, edition: str = "classic") -> Table:
    """Ann and Bob drive; both rolls are seen lying there."""
    table = Table(edition=edition)
    table.laid("roll-01", BATTLE)
    table.laid("roll-02", "side-2/battle")
    assert plays(table.ever) == ["Ann roll", "Bob roll"]
    table.ever.clear()
    return table


# The table is cleared between hands


def over() -> Table:
    """A hand that is over, its cards still lying there: three of Ann's, three of Bob's."""
    table = driving()
    for number, (card, zone) in enumerate(
        (("100-01", DISTANCE), ("75-01", "side-2/distance"), ("50-01", DISTANCE), ("25-01", "side-2/distance"))
    ):
        table.laid(card, zone, 70.0 * number)
    table.enter("end")
    table.see(1.0)
    table.ever.clear()
    return table


# How sure


# Cards laid in the wrong zone


def test_a_safety_that_lies_neither_upright_nor_sideways_is_not_sure():
    table = Table(*ROLLING, "Ann 25", "Bob stop > Ann", confirm=False)
    table.put("right-of-way-01", SAFETY, sideways=True)
    table.corners["right-of-way-01"] = ((0, 0), (30, 30), (0, 60), (-30, 30))

    (proposal,) = table.see()
    assert proposal.confidence < SURE_CONFIDENCE
    assert not proposal.sure


def test_a_code_that_every_reading_puts_first_by_far_is_proposed_and_never_sure():
    table = Table(confirm=False)
    table.perform("code a 1/battle roll-03=0.95 stop-02=0.3")

    (question,) = table.see(3.0)
    assert question.kind is Kind.PLAY
    assert question.confidence <= BARS.doubtful < SURE_CONFIDENCE
    assert not question.sure
    assert [str(play) for play in question.plays] == ["Ann roll", "Bob stop > Ann"]


FAN = (
    "put 100-01 1/distance; see 0.6; put 25-05 discard; see 0.6; put 75-01 1/distance 70 0; see 0.6; "
    "put 25-06 discard; see 0.6; cover 25-05"
)
"""Two of Ann's distance cards side by side; Bob discards in between."""

MORE = "put 50-01 1/distance 140 0; see 0.6; put 25-07 discard; see 0.6; cover 25-06"
SCENES = f"""
# Bumps and turns

a card that is turned before it is confirmed stays the same proposal [unconfirmed]
    put roll-01 1/battle; see; put roll-01 1/battle sideways; see 2 => nothing
a card bumped within its zone says nothing [driving]
    put roll-01 1/battle 14 -9 sideways; see 4 => nothing

a card turned to and fro while it is looked at says nothing [driving]
    {"put roll-01 1/battle sideways; see 0.1; put roll-01 1/battle; see 0.1; " * 6}see 0.1 => ever: nothing

# Fans pushed together

a fan that is pushed together loses none of its cards [driving]
    {FAN}; {MORE}; see 0.5 hiding 1/distance; cover 75-01; cover 50-01; put 100-01 1/distance 100 0; see 6
        => nothing
a fan that is spread again shows what it always showed [driving]
    {FAN}; cover 75-01; put 100-01 1/distance 60 0; see 4 => nothing
    put 100-01 1/distance; put 75-01 1/distance 90 0; see 4 => nothing
a card taken from a fan whose other cards stay is missed [driving]
    {FAN}; {MORE}; cover 100-01; see 3 => 100 km is no longer on the distance area.

# Light and camera

a moved camera does not uncover what lies beneath [driving]
    put stop-01 1/battle 8 8; cover roll-01; see; camera 160 -90; see 4 => nothing
what was out of sight while the picture could not be trusted has not been missing [driving]
    cover roll-01; see {BARS.moment_s - 0.5}; trouble; see 5 => nothing
    no trouble; see 0.4; put roll-01 1/battle; see 3 => nothing
a play made while the picture could not be trusted is seen once afterwards [driving]
    trouble; put 100-01 1/distance; see 2; no trouble; see 3 => Ann 100

# Hands that are still over the mat

while the arm is over the mat a card just laid is waited for
    put roll-01 1/battle; see {BARS.moment_s - 0.2} hiding 1/distance => nothing
    see 0.2 => Ann roll
an arm that stays is not waited for for ever
    put roll-01 1/battle; see {BARS.moment_s + 0.3} hiding 1/distance => Ann roll
a cup on the mat holds no card up
    see {BARS.turn_s + 1.0} hiding 1/distance; put roll-01 1/battle; see {4 * STEP_S} hiding 1/distance => Ann roll
a card put down in the wrong zone and moved by the same arm is one play
    enter Ann roll; put stop-01 2/battle; see 0.5 hiding 2/distance; see 0.3 hiding 2/battle 2/distance;
        put stop-01 1/battle; see 2 => Bob stop > Ann
a card seen before the one that was laid first waits for it
    enter Ann roll, Bob roll; put 50-01 2/distance; see {BARS.turn_s - 0.5} hiding 1/distance 1/battle => nothing
    put 100-01 1/distance; see => Ann 100 / Bob 50
a card out of turn is told though a hand lies on the table
    enter Ann roll, Bob roll; put 50-01 2/distance; see {BARS.turn_s + 0.5} hiding 1/distance 1/battle => Bob 50?
a discard seen before the play of whoever was to move is the next players [driving]
    put 25-01 discard; see 0.3 hiding 1/distance; put 100-01 1/distance; see => Ann 100 / Bob discard 25
a hazard seen before the play of whoever was to move is the next players [driving]
    put stop-01 1/battle; cover roll-01; see 0.2 hiding discard; put 25-01 discard; see => Ann discard 25 /
        Bob stop > Ann
a play refused only because the one before was out of sight is proposed anew when that counts
    enter Ann roll, Bob roll; see 0.2 hiding 1/distance; put stop-01 1/battle;
        see {BARS.turn_s + 0.5} hiding 1/distance => Bob stop > Ann?
    put 100-01 1/distance; see => played: Ann roll / Bob roll / Ann 100 / Bob stop > Ann
    => now: nothing
a play out of turn stays refused when the player before lays his card only then
    enter Ann roll, Bob roll; put 50-01 2/distance; see; put 100-01 1/distance; see 3 => Ann 100
a discard does not overtake a play that is waited with [driving]
    see {STEP_S} hiding 2/distance; put stop-01 2/battle; put 25-01 discard; cover roll-02;
        see 0.5 hiding 2/distance => Ann stop > Bob
    see 0.5 => Bob discard 25
a discard that is waited with and covered by the next is not lost [driving]
    see 0.2 hiding 2/battle; put 25-01 discard; see 0.4 hiding 2/battle; see 0.3 hiding 2/battle discard;
        cover 25-01; put 50-01 discard 5 5; see => Ann discard 25 / Bob discard 50
a discard seen but once before the next was laid upon it is not lost [driving]
    put 25-01 discard; see {STEP_S}; see 0.3 hiding discard; cover 25-01; put 50-01 discard 5 5; see
        => Ann discard 25 / Bob discard 50
a card seen but once and taken away again is no play [driving]
    put 25-01 discard; see {STEP_S}; see 0.3 hiding discard; cover 25-01; see 4 => nothing
of two plays that may be either way round the one comes first that came into sight first
    enter Ann roll, Bob roll, Ann 25, Bob 25; put stop-01 2/battle; see {STEP_S}; put 25-01 discard; see
        => Ann stop > Bob / Bob discard 25
of a play and a discard that come into sight together the one comes first that makes both legal [driving]
    put 25-01 discard; put stop-01 2/battle; cover roll-02; see => Ann stop > Bob / Bob discard 25
an arm over a mat where nothing can have been laid by the player to move holds no discard up [driving]
    put 25-01 discard; see {4 * STEP_S} hiding 2/distance draw => Ann discard 25

# Discards that are taken and covered at once

a discard that was never seen to go lies under the next [asmodee]
    see 0.4 hiding discard; lay 50-01 discard; see 4 => Ann discard 50
a beaten hazard that is held for a while before it is discarded is no new discard [driving]
    put 100-01 1/distance; see 0.6; put stop-01 1/battle 3 3; cover roll-01; see;
        put right-of-way-01 1/safety sideways; see; cover stop-01; put roll-01 1/battle; see 4;
        put stop-01 discard; see 3 => nothing
    => ever: Ann 100 / Bob stop > Ann / Ann right-of-way !
a hazard and the remedy that ended it that are cleared away some plays later are no new discards [driving]
    put 100-01 1/distance; see; put stop-01 1/battle 3 3; cover roll-01; see;
        put roll-03 1/battle 5 5; cover stop-01; see; put 25-01 2/distance; see;
        see 0.4 hiding 1/battle discard; cover roll-03; put stop-01 discard; put roll-03 discard 4 4;
        put roll-01 1/battle; see 4 => ever: Ann 100 / Bob stop > Ann / Ann roll / Bob 25
a hazard that is taken up before its remedy lies on the discard pile with it was ended [driving]
    put 100-01 1/distance; see; put stop-01 1/battle 3 3; cover roll-01; see; see 0.2 hiding 1/battle; cover stop-01;
        put roll-01 1/battle; see 0.6; see 0.4 hiding discard; put roll-03 discard; see
        => ever: Ann 100 / Bob stop > Ann / Ann roll

# What people said is not what lies there

a card that was changed into another is that one for people and is not asked about [unconfirmed]
    put roll-01 1/battle; see; as Ann right-of-way; see 20 => nothing
    => now: nothing
a card that was changed into what it is is not asked about [unconfirmed]
    enter Ann roll; put stop-01 1/battle; see; as Bob roll; correct Bob stop > Ann; see 20 => nothing
    => now: nothing
a card that was to be taken back and lies on is asked about [unconfirmed]
    put 100-01 1/distance; see; say taken-back; see 4 => nothing
    enter Ann discard 25; see => 100 km was taken back but is still on the distance area.
    cover 100-01; see 3 => now: nothing
a card that people said means nothing is left alone [unconfirmed]
    put 100-01 1/distance; see; say no; see 20 => nothing
    => now: nothing
a special card that was no play is not asked about again while it lies there [edition=rush]
    put mirror-01 discard; see; say ignore; see 20 => nothing
    => now: nothing
a dismissed card whose play is entered later counts as that [unconfirmed]
    put roll-01 1/battle; see; say no; enter Ann roll; see; cover roll-01; see 3
        => Roll is no longer on the battle pile.

# The table is cleared between hands

a card or two left lying do not keep the next hand from beginning [over]
    clear roll-02; see {BARS.put_right_s + BARS.moment_s + 1.0} => nothing
    => cleared
a card or two left lying do not keep the next hand from beginning (2) [over]
    clear 75-01 25-01; see {BARS.put_right_s + BARS.moment_s + 1.0} => nothing
    => cleared
a hand that is over and lies there is not cleared [over]
    see 20 => nothing
    => uncleared
while a side still clears the next hand has not begun [over]
    clear roll-02 75-01 25-01; see 20 => nothing
    => uncleared
one side that clears late does not keep the next hand from beginning [over]
    clear roll-02 75-01 25-01; see 4; put roll-07 1/battle; see => cleared
    begin; see => Ann roll
    clear roll-07; see 4 => nothing
a card laid again in the next hand while a side clears late is a new one [over]
    clear roll-02 75-01 25-01; see 6; put roll-01 1/battle 5 5; see => cleared
    begin; see 2 => Ann roll
a card left lying that is covered and uncovered is still no play [over]
    clear roll-01; see {BARS.put_right_s + BARS.moment_s + 1.0}; begin; cover roll-01; put roll-09 1/battle 3 3; see 4
        => Ann roll
    clear; put roll-01 1/battle; see 4 => Roll is no longer on the battle pile.

# Codes that cannot be told

a code that cannot be told is asked about after a second
    code a 1/battle roll-03=0.5 stop-02=0.45 gasoline-01=0.3; see {BARS.moment_s - 0.2} => nothing
    see => which: Ann roll, Ann gasoline, Bob stop > Ann
of plays that are about as likely the legal one comes first and none twice
    code a 1/battle gasoline-01=0.5 roll-03=0.45 roll-04=0.44; see 2 => which: Ann roll, Ann gasoline
an illegal play comes first where the card is much likelier
    code a 1/battle gasoline-01=0.9 gasoline-02=0.85 roll-03=0.01; see 2 => which: Ann gasoline, Ann roll
a card that lies elsewhere is no candidate [driving]
    code a 1/distance roll-02=0.5 100-01=0.45; see 2 => which: Ann 100
a doubt is settled when the card can be read and its play proposed
    code a 1/battle roll-03=0.5 stop-02=0.45; see 2 => which: Ann roll, Bob stop > Ann
    uncode; put roll-03 1/battle; see => Ann roll
    => now: nothing
a doubt is settled when the card is taken back
    code a 1/battle roll-03=0.5 stop-02=0.45; see 2 => which: Ann roll, Bob stop > Ann
    uncode; see {BARS.moment_s + 0.5} => nothing
    => now: nothing
an answered doubt is not asked again and its card is known once it is read
    code a 1/battle roll-03=0.5 stop-02=0.45; see 2 => which: Ann roll, Bob stop > Ann
    yes; see 5 => nothing
    => now: nothing
    uncode; put roll-03 1/battle; see 3 => nothing
    => now: nothing
a known card whose code is hard to read for a while is still that card [driving]
    cover roll-01; code a 1/battle roll-01=0.4 stop-02=0.35; see 5 => nothing
an unreadable card hides what it lies on [driving]
    enter Ann 25; cover roll-01; code a 1/battle 6 6 stop-02=0.45 stop-03=0.4 accident-01=0.4; see 5
        => which: Bob stop > Ann, Bob accident > Ann
a code taken for a card that it is not withdraws its proposal [unconfirmed]
    code a 1/battle roll-03=0.95 stop-02=0.3; see 3 => Ann roll?
    uncode; put gasoline-02 1/battle; see 2 => Ann gasoline
    => now: Ann gasoline
a play after a doubt is asked about too, and counts once the doubt is answered [driving]
    code a 1/distance 100-01=0.5 75-01=0.45; see 0.5; put 25-01 discard; see 3 => which: Ann 100, Ann 75 /
        Bob discard 25
    yes; see => played: Ann roll / Bob roll / Ann 100 / Bob discard 25
a code that showed for a moment holds nothing up [driving]
    code a 1/distance 50-09=0.44; see 0.1; uncode; see 0.1; put 25-01 discard; see => Ann discard 25
a code without any candidate is not asked about
    code a 1/battle; see 5 => nothing

# How sure

a play out of turn is never sure for the one before may have been missed [unconfirmed]
    enter Ann roll, Bob roll; put 50-01 2/distance; see => Bob 50?
what the reader is not sure of never confirms itself [unconfirmed; sure=0.95]
    put roll-01 1/battle; see => Ann roll
what the reader is not sure of never confirms itself (2) [unconfirmed; sure=0.89]
    put roll-01 1/battle; see => Ann roll?

# Cards laid in the wrong zone

a card on a pile where it does not belong is given time to be put right
    enter Ann roll, Bob roll, Ann 25, Bob stop > Ann; put right-of-way-01 1/speed;
        see {BARS.put_right_s - 0.5} => nothing
    put right-of-way-01 1/safety sideways; see => Ann right-of-way !
a card that stays where it does not belong is a play all the same
    put roll-01 1/speed; see {BARS.put_right_s + 0.5} => Ann roll
"""
STARTS = {"driving": driving, "over": over, "asmodee": asmodee}


@pytest.mark.parametrize(("setting", "scene"), scenes(SCENES))
def test_a_scene(setting, scene):
    table_of(setting, STARTS, Table).check(scene)
