"""What the table is asked, in conversations: cards are laid, people answer, type, undo and correct."""

import pytest
from sheet import scenes
from watched import CLASSIC, Watched

from companion.match.match import GONE
from companion.match.questions import Answer
from companion.match.state import Policy
from companion.vision.view import FACE, STICKER

OPENED = (("roll-01", "side-1/battle"), ("roll-02", "side-2/battle"))


@pytest.fixture
def table(tmp_path):
    return Watched(tmp_path)


@pytest.fixture
def opened(table):
    return table.play(*OPENED)


# --- Laid and answered ----------------------------------------------------------------------------------------


def test_an_illegal_card_is_asked_about_with_its_reason(table):
    table.lay("50-01", "side-1/distance")

    (question,) = table.questions
    assert str(question.plays[0]) == "Ann 50"
    assert [reason.code for reason in question.reasons] == ["not-driving"]


def test_a_card_taken_up_for_little_more_than_a_second_after_no_is_a_new_question(table):
    table.lay("roll-01", "side-1/battle")
    first = table.questions[0].id
    table.say(Answer.NO).look()
    del table.lying["roll-01"]
    table.look(6).lay("roll-01", "side-1/battle")

    assert table.asked == ["Ann roll"]
    assert table.questions[0].id != first


def test_a_question_keeps_its_id_as_long_as_its_card_lies(opened):
    opened.lay("50-01", "side-1/distance")
    before = opened.questions[0].id
    opened.look(4, hidden=("side-1/distance",)).look(10)

    assert [q.id for q in opened.questions] == [before]


# --- Typed ----------------------------------------------------------------------------------------------------


def test_amended_in_the_queue_swallows_no_later_card(opened):
    opened.lay("100-01", "side-1/distance").lay("25-01", "side-2/distance")
    opened.match.answer(opened.questions[1].id, Answer.YES, "Bob", play="Bob 50")
    opened.look(3).lay("75-01", "side-1/distance").yes().lay("50-01", "side-2/distance")

    assert opened.asked == ["Bob 50"]


# --- Hands and matches ----------------------------------------------------------------------------------------


def test_what_was_unanswered_at_a_hands_end_is_no_play_of_the_next(opened):
    opened.lay("50-01", "side-1/distance")
    old = opened.questions[0].id
    opened.match.enter("end", "Ann")
    opened.match.next_hand("Ann")
    opened.look(20)

    assert opened.asked == []
    assert opened.match.answer(old, Answer.YES, "Ann") == GONE
    assert opened.played == []


def test_a_question_of_an_old_match_counts_nothing_in_the_next(table):
    table.lay("roll-01", "side-1/battle")
    old = table.questions[0].id
    table.match.start(("edition classic", "side Ann", "side Bob", "hand first Ann"))
    table.look(20)
    assert table.asked == []

    table.take_up("roll-01").lay("roll-01", "side-1/battle")
    assert table.questions[0].id != old
    assert table.match.answer(old, Answer.YES, "Ann") == GONE


# --- Over a restart -------------------------------------------------------------------------------------------


def test_a_question_keeps_its_id_over_a_restart(table):
    table.lay("roll-01", "side-1/battle")
    before = table.questions[0].id
    table.restart()
    table.look(10)

    assert [q.id for q in table.questions] == [before]


def test_what_is_laid_after_a_card_for_a_typed_play_is_asked_about_after_it(table):
    table.match.enter("Ann 100", "Ann")

    table.lay("100-01", "side-1/distance").lay("25-01", "table/discard")

    assert table.asked == ["Ann 100", "Ann discard 25"]
    assert table.questions[0].is_typed
    assert table.questions[0].zone == "side-1/distance"


SCENES = """
# Laid and answered

a card that is laid is asked about once
    lay roll-01 1/battle; look 20 => Ann roll
a card that counts is not asked about again
    lay roll-01 1/battle; yes; look 20 => nothing
    => played: Ann roll
an illegal card counts where the table is said to be right
    lay 50-01 1/distance; say table => played: Ann 50 anyway
    => nothing
what was no play is not asked again while it lies
    lay roll-01 1/battle; say no; look 20 => nothing
a card that is taken back unanswered asks nothing more [opened]
    lay 50-01 1/distance; up 50-01 => nothing
another play than the one seen settles the card [opened]
    lay 25-01 1/distance; yes Ann 50; look 20 => nothing
    => played: Ann roll / Bob roll / Ann 50
a card whose play was changed to a discard and that lies on where it lay is asked about [opened]
    lay 100-01 1/distance; yes; correct Ann discard 100; look
        => 100 km is still on the distance area, but should be on the discard pile.
    say table; look => played: Ann roll / Bob roll / Ann 100
    => nothing
where the record is right about a card that lies on where it lay nothing more is asked of it [opened]
    lay 100-01 1/distance; yes; correct Ann discard 100; look; say record; look 20 => nothing
    lay 100-01 discard; look 20 => nothing
    => played: Ann roll / Bob roll / Ann discard 100
a card whose play was changed to a discard and that is carried there asks nothing [opened]
    lay 100-01 1/distance; yes; correct Ann discard 100; look; lay 100-01 discard; look 20 => nothing
a card whose play was changed to another side's lies on the wrong mat [opened]
    lay 100-01 1/distance; yes; correct Bob 100 anyway; look
        => 100 km is still on the distance area, but should be on the distance area.
    lay 100-01 2/distance; look 20 => nothing
two cards between two looks are asked about in the order that the rules allow
    put 50-01 1/distance; put roll-02 2/battle; put roll-01 1/battle; look => Ann roll / Bob roll / Ann 50
yes counts the legal ones before it
    put roll-01 1/battle; look; lay roll-02 2/battle; say yes 1 => played: Ann roll / Bob roll

an illegal card does not take the turn away
    lay 100-01 1/distance; up 100-01; lay 25-01 discard => Ann discard 25
after another play than the one seen the next card of its face is still asked about
    lay 25-01 discard; yes Ann discard 50; lay 50-01 discard => Bob discard 50

# Typed

typed while its card waits
    lay roll-01 1/battle; enter Ann roll; look 10 => nothing
    => played: Ann roll
typed then laid asks nothing [opened]
    enter Ann 50; lay 50-01 1/distance; look 20 => nothing
    => played: Ann roll / Bob roll / Ann 50
typed undone laid is asked [opened]
    enter Ann 50; look 3; undo; look 3; lay 50-01 1/distance => Ann 50
typed and retracted then laid is asked [opened]
    enter Ann 50; look 3; retract; lay 50-01 1/distance => Ann 50
typed wrong corrected laid asks nothing and swallows nothing [opened]
    enter Ann 25; correct Ann 50; lay 50-01 1/distance => nothing
    enter Bob 100; lay 100-01 2/distance; lay 25-01 1/distance => Ann 25
what is undone while its card lies is asked again [opened]
    lay 50-01 1/distance; yes; undo => Ann 50
redo settles it again [opened]
    lay 50-01 1/distance; yes; undo; redo; look => nothing

# Hands and matches

what was missing at a hands end is not asked in the next [opened]
    up roll-01 => Roll is no longer on the battle pile.
    enter end; next hand; look 20 => nothing
cards that lie when a hand begins ask nothing until they are laid anew [opened]
    enter end; next hand; up roll-02 => nothing
    lay roll-02 2/battle => Bob roll
a hands start undone takes nothing from what lies there [opened]
    enter end; next hand; look 3; undo; undo; look 3 => nothing
    up roll-01 => Roll is no longer on the battle pile.
    lay roll-01 1/battle => nothing
a hand ended while a card is in the air does not take it along [opened]
    enter end; lay 50-01 1/distance; next hand; look 10 => nothing

# Cards that leave their place

a card that is gone and was never played may be laid again
    lay roll-01 1/battle; yes; up roll-01; say table; look; lay roll-01 1/battle => Ann roll
the table is right takes the line out [opened]
    lay 50-01 1/distance; yes; up 50-01 => 50 km is no longer on the distance area.
    say table; look => played: Ann roll / Bob roll
    => nothing
what is said to be all right is not asked again while the zone stays [opened]
    lay 50-01 1/distance; yes; up 50-01; say record; look 20 => nothing
    => played: Ann roll / Bob roll / Ann 50
what is said to be all right is not asked again while the zone stays (2) [opened]
    lay 50-01 1/distance; yes; up 50-01; say ignore; look 20 => nothing
    => played: Ann roll / Bob roll / Ann 50
a beaten hazard is carried off whenever it pleases [opened]
    lay stop-01 2/battle; yes; lay right-of-way-01 2/safety sideways => Bob right-of-way !
    yes; look 0; lay stop-01 discard; look 20 => nothing
a beaten hazard is carried off whenever it pleases (2) [opened]
    lay stop-01 2/battle; yes; lay right-of-way-01 2/safety sideways => Bob right-of-way !
    yes; look; lay stop-01 discard; look 20 => nothing
a beaten hazard is carried off whenever it pleases (3) [opened]
    lay stop-01 2/battle; yes; lay right-of-way-01 2/safety sideways => Bob right-of-way !
    yes; look 40; lay stop-01 discard; look 20 => nothing
a hazard carried off before its safety is seen asks only for the safety [opened]
    lay stop-01 2/battle; yes; put stop-01 discard; look 3; lay right-of-way-01 2/safety sideways
        => Bob right-of-way !
a beaten hazard carried off after the next discard asks nothing [opened]
    lay stop-01 2/battle; yes; lay right-of-way-01 2/safety sideways; yes; lay 25-05 discard; yes;
        lay stop-01 discard; look 20 => nothing
where plays count by themselves a card taken back at once is taken out by itself [policy=auto]
    lay roll-01 1/battle; lay roll-02 2/battle; lay 50-01 1/distance => played: Ann roll / Bob roll / Ann 50
    up 50-01 => played: Ann roll / Bob roll
    => nothing
a discard taken by the next player is told by his card [opened; edition=asmodee-2014]
    lay 50-01 discard; yes; up 50-01 => nothing
    lay 50-01 2/distance => Bob take / Bob 50
a discard that was taken is not expected there again [opened; edition=asmodee-2014; by faces]
    enter Ann discard 50; look; enter Bob take; look; enter Bob 25; look; lay 50-01 discard => Ann discard 50
and is expected there again once the taking is undone [opened; edition=asmodee-2014; by faces]
    enter Ann discard 50; look; enter Bob take; look; undo; look; lay 50-01 discard; look 20 => nothing
a discard that nobody took is not said to be taken again [opened; edition=asmodee-2014]
    lay 50-01 discard; yes; up 50-01; lay 50-01 2/distance; say no; look 20
        => 50 miles has moved from the discard pile to the distance area.

# Cards without stickers

a card told by its face is not played again when a hand passes and nudges it [opened; by faces]
    lay speed-limit-01 2/speed; yes; look 3 hiding 2/speed; lay speed-limit-01 2/speed 1; look 3 hiding 2/speed;
        lay speed-limit-01 2/speed 3; look 3 hiding 2/speed; lay speed-limit-01 2/speed -4 => nothing
a second card with the same face beside the first is asked about [opened; by faces]
    lay 50-01 1/distance; yes; lay 25-01 2/distance; yes; look 3 hiding 1/distance; lay 50-02 1/distance => Ann 50
where the record is right about a card that is gone nothing more is asked of it [opened]
    lay 50-01 1/distance; yes; up 50-01; say record; lay 25-01 2/distance; yes; lay 75-01 1/distance; look 20
        => Ann 75
a hazard that is carried away once its remedy lies on it asks nothing [opened]
    lay stop-01 2/battle; yes; lay roll-03 2/battle; yes; lay stop-01 discard; lay roll-03 2/battle; look 20
        => nothing
    => played: Ann roll / Bob roll / Ann stop > Bob / Bob roll
a card that is put back and goes again is a new question [opened]
    lay 50-01 1/distance; yes; up 50-01; say record; lay 50-01 1/distance; look 12 => nothing
    up 50-01 => 50 km is no longer on the distance area.
a hazard that a late safety has beaten may be carried away [opened]
    lay flat-tire-01 2/battle; yes; lay 25-01 discard; yes; lay 25-02 discard; yes; lay puncture-proof-01 2/safety;
        yes; lay flat-tire-01 discard; look 40 => nothing
a card that is laid for a typed play that waits asks nothing of its own
    enter Ann 100; lay 100-01 1/distance => Ann 100
    yes anyway; look 12 => nothing
    => played: Ann 100 anyway
no to a typed play is no to the card that was laid for it
    enter Bob roll; lay roll-02 2/battle => Bob roll
    say no; look => nothing
no to a typed play is no to the card that was laid for it (2)
    enter Bob roll; lay roll-02 2/battle; say taken-back; look => nothing

# Plays that count by themselves

a card moved to the right zone is put right in the record [policy=auto]
    lay roll-01 discard; lay roll-01 1/battle => played: Ann roll
    => nothing
a special card entered by hand answers its question [policy=auto; edition=rush]
    lay 100-01 1/distance; lay u-turn-01 discard; up 100-01; enter Bob u-turn !; look 15; lay pollution-01 1/battle
        => played: Ann 100 / Bob u-turn ! / Bob pollution > Ann
    => nothing
a special card that is ignored stands in the way no more [policy=auto; edition=rush]
    lay mirror-01 discard; say ignore; look; up mirror-01; lay mirror-02 discard; say ignore; look; up mirror-02;
        lay pollution-01 2/battle => played: Ann pollution > Bob
    => nothing
a taken discard counts by itself where it is sure [policy=auto; edition=asmodee-2014]
    lay roll-01 1/battle; lay 25-01 discard; up 25-01; lay 100-01 1/distance
        => played: Ann roll / Bob discard 25 / Ann take / Ann 100
    => nothing
and is asked about where it is not [policy=auto; edition=asmodee-2014]
    lay roll-01 1/battle; lay 25-01 discard; up 25-01; lay 75-01 discard => Ann take / Ann discard 75
    => played: Ann roll / Bob discard 25

# Over a restart

no holds over undo and restart [opened]
    lay 50-01 1/distance; say no; undo; restart; look 20 => Bob roll
"""


@pytest.mark.parametrize(("setting", "scene"), scenes(SCENES))
def test_a_scene(tmp_path, setting, scene):
    words = setting.split("; ")
    said = dict(word.split("=") for word in words if "=" in word)
    lines = (f"edition {said['edition']}", *CLASSIC[1:]) if "edition" in said else CLASSIC
    policy = Policy(said.get("policy", Policy.TAP))
    by = FACE if "by faces" in words else STICKER
    table = Watched(tmp_path, *lines, policy=policy, by=by)
    (table.play(*OPENED) if "opened" in words else table).check(scene)
