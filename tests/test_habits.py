"""Simulated hands show each habit of people and each error of the eye, and without any they are followed to the end."""

import random
from collections import Counter

import pytest
from bench.following import FILM, NO_TAPS, follow
from habits import simulated_hands
from habits.acted_hand import Acting, Habits
from habits.noisy_eye import Noise
from habits.ranges import HABITS, NOISE
from test_following import counts

from companion.rules import referee
from companion.rules.cards import Card
from companion.simulate.script import read_script
from companion.vision.view import FACE, STICKER

SHORT = """edition classic; side Ann; side Bob; hand first Ann; Ann roll; Bob roll; # taken back: Ann gasoline; Ann 100;
Bob out-of-gas > Ann; Ann gasoline; Bob 100; Ann roll; Bob 50; Ann 100; Bob stop > Ann; Ann right-of-way !; Ann 50"""
BATTLE, SPREAD, DISCARDS = "side-1/battle", "side-1/distance", "table/discard"


def made(noise=None, by=FACE, **habits):
    script, quick = read_script(SHORT.replace(";", "\n")), {"hand_before_s": 0.1, "hand_after_s": 0.1}
    return simulated_hands.hand_of(script, Habits(**quick | habits), Noise(**noise or {}), by, "short")


def seen(hand, zone=None):
    """Return all sightings with their times, until the cards are gathered in."""
    until_s = min(one.gone_s for one in hand.plays if one.gone_s > hand.plays[-1].lies_s + 2.0)
    looks = [view for view, _ in hand.views if view.t_s < until_s - 0.2]
    return [(view.t_s, one) for view in looks for one in view.sightings if zone in (None, one.zone)]


def last(hand, zone):
    """Return the faces at the end."""
    looks = seen(hand, zone)
    return " ".join(sorted(one.face for t_s, one in looks if t_s == looks[-1][0]))


def places(hand, face=Card.KM_100, zone=SPREAD):
    """Return where cards of a face were seen, in the order of their first sighting, in pixels."""
    return list(dict.fromkeys(complex(*one.centre_px) for _, one in seen(hand, zone) if one.face is face))


def most_new(hand):
    """Return the largest number of cards that appear on one look."""
    first_s = {one.stay: t_s for t_s, one in reversed(seen(hand))}
    return max(Counter(first_s.values()).values())


def hidden(hand):
    return sum(len(view.unknown_zones) for view, _ in hand.views)


def has_strayed(hand, play):
    """True if the card of a play is seen in a wrong zone before."""
    spans = [(seen(hand, zone), from_s) for zone, from_s in play.early]
    return any(
        from_s <= t_s < play.lies_s and one.face == play.card[:-3] for look, from_s in spans for t_s, one in look
    )


def stays_s(hand, text):
    """Return how long the card of a play is in its zone, if it is removed before the end."""
    play = next((play for play in hand.plays if play.text == text), None)
    return play.gone_s - play.lies_s if play and play.gone_s < hand.plays[-1].lies_s + 2.0 else 0.0


HAZARD, SLIP = "Bob out-of-gas > Ann", "Ann gasoline"
PEOPLE = {
    "clears_now": lambda hand: 1.0 < stays_s(hand, HAZARD) < 7.0 and last(hand, BATTLE) == "gasoline roll roll",
    "clears_later": lambda hand: stays_s(hand, HAZARD) > 9.0 and last(hand, DISCARDS) == "out-of-gas stop",
    "clears_now with_remedy": lambda hand: last(hand, BATTLE) == "roll roll",
    "clears_now whole_pile": lambda hand: last(hand, BATTLE) == "roll",
    "forgets": lambda hand: last(hand, BATTLE) == "gasoline out-of-gas roll roll stop",
    "fans pushes": lambda hand: len(places(hand)) == 3,
    "squares_up": lambda hand: len(places(hand, Card.ROLL, BATTLE)) > 2,
    "fans": lambda hand: abs(places(hand)[0] - places(hand)[1]) > 30.0,
    "stacks": lambda hand: abs(places(hand)[0] - places(hand)[1]) < 3.0,
    "repicks": lambda hand: len(places(hand)) == 4,
    "strays": lambda hand: all(has_strayed(hand, play) for play in hand.plays),
    "slips": lambda hand: 1.5 <= stays_s(hand, SLIP) <= 4.0,
    "slips lingers": lambda hand: stays_s(hand, SLIP) > 4.0,
    "hasty": lambda hand: most_new(hand) == 2,
    "crosses": lambda hand: hidden(hand) > 1.2 * hidden(made()),
}


@pytest.mark.parametrize("habits", PEOPLE)
def test_a_habit_shows_and_the_tidy_do_not_have_it(habits):
    assert PEOPLE[habits](made(**dict.fromkeys(habits.split(), 1)))
    assert not PEOPLE[habits](made())
    assert last(made(), BATTLE) == "gasoline out-of-gas roll roll"


def test_a_coup_fourre_is_sideways_and_a_top_discard_is_taken():
    assert {one.sideways for _, one in seen(made(), "side-1/safety")} == {True}
    assert any(one.text.endswith(" take") for one in simulated_hands.made("simulated-1-0006").plays)


def each(hand):
    return [one for _, one in seen(hand)]


EYE = {
    "jitter_mm": lambda hand: places(hand) != places(made(by=each(hand)[0].by)),
    "jitter_deg": lambda hand: each(hand)[0].corners_px != each(made(by=each(hand)[0].by))[0].corners_px,
    "doubt": lambda hand: all(one.confidence < 0.99 for one in each(hand)),
    "misread": lambda hand: all(one.rivals and one.face is not Card.UNKNOWN for one in each(hand)),
    "unreadable": lambda hand: all(one.rivals and one.face is Card.UNKNOWN for one in each(hand)),
    "flicker jitter_mm": lambda hand: len(places(hand)) > 9,
    "phantom": lambda hand: len(each(hand)) > len(each(made(by=each(hand)[0].by))),
    "beside_hand": lambda hand: any(one.zone in view.unknown_zones for view, _ in hand.views for one in view.sightings),
    "covers": lambda hand: hidden(hand) > hidden(made()),
    "gap": lambda hand: any(after_gap for _, after_gap in hand.views),
}


@pytest.mark.parametrize("by", [STICKER, FACE])
@pytest.mark.parametrize("noise", EYE)
def test_an_error_of_the_eye_shows(noise, by):
    assert EYE[noise](made({field: 0.5 if field == "doubt" else 1.0 for field in noise.split()}, by))
    assert not EYE[noise](made(by=by))


def test_a_covered_moved_or_stacked_card_by_its_face():
    battle = [one for _, one in seen(made({"covered_lost": 1}, slips=1), BATTLE)]
    at = [one.face for one in battle].index(Card.GASOLINE)
    assert {one.stay for one in battle[:at]} == {next(one.stay for one in battle[at:] if one.face is Card.ROLL)}
    assert last(made({"covered_lost": 1}), BATTLE) == "roll"
    assert any(one.is_double for one in each(made({"covered_lost": 1})))
    moved = {"repicks": 1, "hand_before_s": 0.3}  # the place is never seen bare
    assert any(one.is_double for one in each(made({"unsure": 1}, **moved)))
    assert not any(one.is_double for one in each(made(**moved)))
    assert not any(view.sightings for view, _ in made({"missed": 1}).views)


def test_a_name_gives_the_same_hand_again_with_values_of_its_half():
    one, again, reserved = (simulated_hands.made(f"simulated-{half}0001") for half in ("1-", "1-", "reserved-1-"))
    assert one == again != reserved
    for ranges in (HABITS, NOISE):
        for is_reserved, at in ((False, 0), (True, 1)):
            for field, value in simulated_hands.drawn(ranges, random.Random(1), is_reserved=is_reserved).items():
                assert min(ranges[field][at : at + 2]) <= value <= max(ranges[field][at : at + 2])


@pytest.mark.parametrize("table", range(len(simulated_hands.TABLES)))
def test_without_habits_every_card_ends_where_the_rules_put_it(table):
    script = simulated_hands.script_of(table, "rules")
    acted = Acting(script, Habits(), "rules").acted()
    end = [moment for moment in acted.moments if moment.t_s < acted.gathered_s][-1]
    (hand,) = script.hands
    state = referee.new_hand(script.edition, script.teams, hand.first, script.target)
    for action in hand.actions:
        state = state if action.taken_back else referee.apply(state, action.play)
    piles = {f"side-{n}/{pile}": cards for n, side in enumerate(state.sides, 1) for pile, cards in side.piles.items()}
    for zone, cards in {**piles, DISCARDS: state.discards}.items():
        assert Counter(one.picture[:-3] for one in end.zones.get(zone, ())) == Counter(cards)


@pytest.mark.parametrize(("table", "by"), [(0, STICKER), (1, STICKER), (4, STICKER), (0, FACE), (2, FACE), (5, FACE)])
def test_without_habits_and_noise_both_followers_get_every_play(table, by):
    script = simulated_hands.script_of(table, f"zero-{table}")
    hand = simulated_hands.hand_of(script, Habits(), Noise(), by, f"zero-{table}")
    for result in follow(hand, (FILM, NO_TAPS)).values():
        assert (counts(result), result.sheets_right) == ((result.plays, 0, 0, 0), 1)
