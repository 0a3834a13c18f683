"""The simulated table: cards are where they belong, and the camera sees them."""

import itertools
import random
import tracemalloc

import cv2
import numpy as np
import pytest
import zxingcpp
from records import results, verdicts
from troubles.rough_studio import RoughStudio

from companion.common.errors import Problem
from companion.printing import deck, render
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.record.judge import LEGAL
from companion.rules.table import Team
from companion.simulate import animation, arrange, art, camera_model, choreography, frame_source, players, script
from companion.simulate.art import BARE, STICKERED, Cards
from companion.simulate.scene import BACK, Arm, Lying, Scene
from companion.simulate.studio import project
from companion.tabletop.card_ids import card_id_of, face_of
from companion.tabletop.mat_layout import CARD_MM, DRAW_MARKER_ID

SMALL = (960, 540)
QUIET = camera_model.Look(noise=0.0)
SCRIPTS = script.shipped_scripts()
THREE = tuple(Team(name, (name,)) for name in ("Ann", "Bob", "Cid"))
SHORT = """
side Ann
side Bob
hand first Ann
Ann roll
# taken back: Bob 25
Bob roll
"""


@pytest.fixture(scope="module")
def studio():
    """A noiseless camera over a table for two."""
    return RoughStudio(arrange.plan(2, 2), QUIET, SMALL, Cards(36.0), seed=1)


def shown(studio, scene):
    return studio.picture(scene, random.Random(0))


def danced(played):
    """Return a script's movements, and the plan of its table."""
    plan = arrange.plan(len(played.teams), len(played.players))
    return list(choreography.Choreographer(played, plan, seed=1).movements()), plan


def corners_of(pose):
    half_x, half_y = CARD_MM[0] / 2, CARD_MM[1] / 2
    for x, y in ((-half_x, -half_y), (half_x, -half_y), (half_x, half_y), (-half_x, half_y)):
        dx, dy = arrange.turned(x, y, pose.turn_deg)
        yield pose.x_mm + dx, pose.y_mm + dy


def zones_under(plan, points):
    """Yield each mat's zone that contains all points."""
    for place in plan.mats:
        found = {place.layout.zone_at(*place.on_mat(*point)) for point in points}
        if len(found) == 1 and None not in found:
            yield f"{place.layout.id}/{found.pop()}"


def stack(place, layers):
    rect = place.layout.zones["draw"]
    return tuple(Lying(BACK, arrange.stack_spot(place, rect, n)) for n in range(layers))


def marker_ids(image):
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_ARUCO_MIP_36h12)
    _, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(image)
    return set() if ids is None else {int(number) for number in ids.ravel()}


# Positions


EDITIONS = [
    ("asmodee-2014", THREE),
    ("bsd-mille", players.TWO_PLAYERS),
    ("parker", players.PAIRS),
    ("dujardin-2014", THREE),
]
HANDS = [
    *(lambda name=name: script.shipped_script(name) for name in SCRIPTS),
    lambda: players.random_script(seed=2, hands=2),
    *(lambda e=e, t=t: players.random_script(e, teams=t, seed=1, hands=2) for e, t in EDITIONS),
]


@pytest.mark.variants(3)
@pytest.mark.parametrize("hand", HANDS, ids=[*SCRIPTS, "two hands", *(edition for edition, _ in EDITIONS)])
def test_each_card_is_in_one_place_and_inside_one_zone(hand):
    moves, plan = danced(hand())

    for movement in moves:
        for lying in (movement.before, movement.during, movement.after):
            pictures = [card.picture for card in lying if card.picture != BACK]
            assert len(pictures) == len(set(pictures))
        for card in movement.after:
            assert len(list(zones_under(plan, list(corners_of(card.pose))))) == 1, card


def test_a_distance_card_is_in_its_column():
    (*_, last), plan = danced(script.shipped_script("pairs"))
    distances = [card for card in last.after if card.picture != BACK and face_of(card.picture).km]

    for card in distances:
        place = next(p for p in plan.mats if p.layout.zone_at(*p.on_mat(card.pose.x_mm, card.pose.y_mm)) == "distance")
        column = arrange.column(place.layout, face_of(card.picture).value)
        assert column.contains(*place.on_mat(card.pose.x_mm, card.pose.y_mm))


def test_a_coup_fourre_is_sideways_and_its_hazard_is_discarded():
    (*_, last), plan = danced(script.shipped_script("two-players"))
    turns = {face_of(card.picture).value: card.pose.turn_deg for card in last.after if card.picture != BACK}
    stop = next(card for card in last.after if card.picture.startswith("stop-"))

    assert turns["right-of-way"] == pytest.approx(-90, abs=5)
    assert turns["extra-tank"] == pytest.approx(0, abs=5)
    assert list(zones_under(plan, [(stop.pose.x_mm, stop.pose.y_mm)])) == ["table/discard"]


@pytest.mark.parametrize("sideways", list(itertools.product((False, True), repeat=4)))
def test_all_stickers_of_four_safeties_stay_visible(sideways):
    place = arrange.plan(2, 2).mat("side-1")
    chance = random.Random(5)
    spots = []
    for turned in sideways:
        spots.append(arrange.safety_spot(place, place.layout.zones["safety"], spots, turned, chance))
    stickers = [arrange.turned(0.0, -CARD_MM[1] / 2 + 3.5 + 18.0, spot.turn_deg) for spot in spots]

    for n, (spot, sticker) in enumerate(zip(spots, stickers, strict=True)):
        middle = spot.x_mm + sticker[0], spot.y_mm + sticker[1]
        for later in spots[n + 1 :]:
            x, y = arrange.turned(middle[0] - later.x_mm, middle[1] - later.y_mm, -later.turn_deg)
            assert max(abs(x) - CARD_MM[0] / 2, abs(y) - CARD_MM[1] / 2) > 16.0


def test_the_marker_shows_when_the_draw_pile_is_empty(studio):
    place = arrange.plan(2, 2).mat("table")
    one_left, none_left = shown(studio, Scene(stack(place, 1))), shown(studio, Scene(stack(place, 0)))

    assert DRAW_MARKER_ID not in marker_ids(one_left)
    assert DRAW_MARKER_ID in marker_ids(none_left)


def test_a_new_hand_starts_with_an_empty_table_and_a_full_draw_pile():
    moves, _ = danced(players.random_script(seed=2, hands=2))
    fresh = [move for move in moves if move.pictures == (BACK,) * 3]

    assert [{card.picture for card in m.after} for m in fresh] == [{BACK}]
    assert len(fresh[0].after) == 8


def test_reshuffled_discards_become_the_draw_pile():
    moves, plan = danced(players.random_script(seed=18, options=(("empty-pile", "reshuffle"),)))
    (fresh,) = [move for move in moves if move.pictures == (BACK,) * 3]
    discards = [c for c in fresh.after if "table/discard" in zones_under(plan, [(c.pose.x_mm, c.pose.y_mm)])]

    assert discards == []
    assert BACK not in {card.picture for card in fresh.before}
    assert BACK in {card.picture for card in fresh.after}


def test_taking_the_top_discard_replaces_the_draw():
    text = "option take-discard=allowed\nside Ann\nside Bob\nhand first Bob\nBob discard 25\nAnn take\nAnn roll\n"
    moves, _ = danced(script.read_script(text))
    steps = [(m.player, m.pictures[0].rpartition("-")[0] or m.pictures[0]) for m in moves]

    assert steps == [(1, BACK), (1, "25"), (0, "25"), (0, "roll")]


# Pictures


@pytest.mark.parametrize("tilt_deg", [0.0, 15.0, 30.0])
def test_the_camera_sees_all_mats(tilt_deg):
    for sides in (2, 3, 4):
        plan = arrange.plan(sides, sides)
        matrix = camera_model.camera(plan.corners, (1920, 1080), tilt_deg, roll_deg=2.0)
        for corner in plan.corners:
            x, y = project(matrix, corner)
            assert 0 < x < 1920
            assert 0 < y < 1080


def test_equal_seeds_give_equal_frames():
    def pictures(seed):
        drawn = frame_source.demo_pictures(script.read_script(SHORT, 4), seed=seed, size=SMALL)
        return list(itertools.islice(drawn, 20, 60, 4))

    first, again, other = pictures(1), pictures(1), pictures(2)

    assert all(np.array_equal(one, two) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


def test_a_hand_covers_the_table_and_leaves_no_trace(studio):
    plan = arrange.plan(2, 2)
    spot = plan.mat("side-1").on_table(*plan.mat("side-1").layout.zones["battle"].centre_mm)
    bare = shown(studio, Scene())
    covered = shown(studio, Scene(arms=(Arm(0, plan.seats[0], spot),)))
    x, y = (round(part) for part in project(studio.matrix, plan.mat("side-1").on_table(100.0, 120.0)))

    assert np.abs(covered[y, x].astype(int) - bare[y, x]).max() > 20
    assert np.array_equal(shown(studio, Scene()), bare)


def test_removing_a_card_shows_the_card_below(studio):
    place = arrange.plan(2, 2).mat("side-2")
    spot = arrange.pile_spot(place, place.layout.zones["battle"], random.Random(1))
    roll, stop = Lying("roll-01", spot), Lying("stop-01", spot)
    before, attacked = shown(studio, Scene((roll,))), shown(studio, Scene((roll, stop)))

    assert not np.array_equal(attacked, before)
    assert np.array_equal(shown(studio, Scene((roll,))), before)


@pytest.mark.variants(1)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_common_qr_reader_reads_every_visible_sticker(name):
    played = script.shipped_script(name, 1)
    (*_, last), _ = danced(played)
    image = frame_source.table_studio(played, seed=1, cards=Cards(36.0)).picture(Scene(last.after), random.Random(1))
    large = cv2.resize(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    found = {card_id_of(code.text) for code in zxingcpp.read_barcodes(large, formats=zxingcpp.BarcodeFormat.QRCode)}

    assert found == set(in_sight(last.after))


def in_sight(lying):
    """Yield the cards whose stickers are not covered."""
    for n, card in enumerate(lying):
        dx, dy = arrange.turned(0.0, -CARD_MM[1] / 2 + 21.5, card.pose.turn_deg)
        middle = card.pose.x_mm + dx, card.pose.y_mm + dy
        if card.picture != BACK and not any(_covers(later.pose, middle) for later in lying[n + 1 :]):
            yield card.picture


def _covers(pose, point):
    x, y = arrange.turned(point[0] - pose.x_mm, point[1] - pose.y_mm, -pose.turn_deg)
    return abs(x) < CARD_MM[0] / 2 + 18.0 and abs(y) < CARD_MM[1] / 2 + 18.0


# Time


@pytest.mark.parametrize("speed", [0.5, 8.0])
def test_a_played_card_rests_long_enough_at_any_speed(speed):
    moves, plan = danced(script.shipped_script("two-players"))

    for movement in moves:
        if movement.is_play:
            scenes = list(animation.scenes(movement, plan, animation.Tempo(10.0, speed)))
            assert scenes[-10:] == [Scene(movement.after)] * 10


def test_the_table_rests_after_a_card_is_taken_back():
    moves, plan = danced(script.read_script(SHORT))
    back = next(m for m in moves if m.start is not None and m.pictures[0].startswith("25-"))
    scenes = list(animation.scenes(back, plan, animation.Tempo(10.0, 8.0)))

    assert scenes[-20:] == [Scene(back.after)] * 20


def test_double_speed_takes_about_half_the_frames():
    pairs = script.shipped_script("pairs")
    usual, quick = (len(list(frame_source.followed_scenes(pairs, 1, animation.Tempo(50.0, x)))) for x in (1, 2))

    assert 0.45 < quick / usual < 0.75


def followed(played, may_begin=lambda _number: True, plays_done=0):
    return list(frame_source.followed_scenes(played, 1, animation.Tempo(), may_begin, plays_done))


def test_players_wait_until_they_may_begin_a_play():
    asked = []
    answers = iter([True] + [False] * 7 + [True] * 100)
    patient = followed(script.read_script(SHORT), lambda number: asked.append(number) or next(answers))

    assert len(patient) == len(followed(script.read_script(SHORT))) + 7
    assert asked == [1] + [2] * 8 + [3]


def test_a_film_can_begin_in_the_middle_of_a_hand():
    played = script.shipped_script("two-players")
    whole, rest = followed(played), followed(played, plays_done=5)

    assert len(rest[0].lying) == 8 + 5
    assert whole[-len(rest) + 25 :] == rest[25:]


def test_a_film_after_the_last_play_shows_the_final_table():
    scenes = followed(script.read_script(SHORT), plays_done=2)

    assert {scene.arms for scene in scenes} == {()}
    assert len(scenes[0].lying) == 8 + 2


# Cards


def test_stickers_are_slightly_off_and_askew():
    offs, turns = [], []
    for number in range(1, 9):
        sprite = art.card_sprite(f"roll-{number:02d}", Cards(36.0))
        (code,) = zxingcpp.read_barcodes(sprite.pixels[..., :3], formats=zxingcpp.BarcodeFormat.QRCode)
        place = code.position
        offs.append(
            (place.top_left.x + place.bottom_right.x) / 2 / sprite.px_per_mm - sprite.anchor_px[0] / sprite.px_per_mm
        )
        across = place.top_right.x - place.top_left.x, place.top_right.y - place.top_left.y
        turns.append(np.degrees(np.arctan2(across[1], across[0])))

    assert 0.5 < max(map(abs, offs)) < 2.6
    assert 1.0 < max(map(abs, turns)) < 4.6


def test_a_cached_card_looks_as_drawn():
    deck_of_one = Cards(30.0)
    art.card_sprite.cache_clear()
    first = art.card_sprite("roll-01", deck_of_one)
    art.card_sprite.cache_clear()

    assert np.array_equal(art.card_sprite("roll-01", deck_of_one).pixels, first.pixels)
    unpacked = cv2.imdecode(art._packed("roll-01", deck_of_one), cv2.IMREAD_COLOR)
    assert np.array_equal(unpacked, deck_of_one.flat("roll-01"))


@pytest.mark.long
def test_showing_many_cards_needs_little_memory():
    """In a few hours, a simulated table shows every card."""
    deck_in_play = Cards(25.0)
    tracemalloc.start()
    for number in range(1, 11):
        for face in ("25", "50", "75", "100"):
            art.card_sprite(f"{face}-{number:02d}", deck_in_play)
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept_bytes < 10_000_000


def test_copies_of_a_card_without_stickers_look_alike():
    one, other, stickered = BARE.flat("roll-01"), BARE.flat("roll-02"), STICKERED.flat("roll-01")
    drawn = render.to_image(deck.face_svg(Card.ROLL), 4.0)

    assert np.array_equal(one, drawn)
    assert np.array_equal(one, other)
    assert not np.array_equal(one, stickered)
    assert np.array_equal(BARE.flat(BACK), STICKERED.flat(BACK))


# Scripts


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_shipped_hand_is_legal_and_complete_except_for_cards_taken_back(name):
    played = script.shipped_script(name)
    (hand,) = played.hands
    table = referee.new_hand(played.edition, played.teams, hand.first)

    assert set(verdicts(played.record())) == {LEGAL}
    assert [result.how for result in results(played.record())] == ["completed"]
    assert any(action.taken_back for action in hand.actions)
    for action in hand.actions:
        if action.taken_back:
            assert referee.objections(table, action.play)
        else:
            table = referee.apply(table, action.play)


def test_a_card_taken_back_is_the_copy_played_later():
    played = script.read_script(
        "side Ann\nside Bob\nhand first Ann\n# taken back: Ann 25\nAnn roll\nBob roll\nAnn 25\n"
    )
    actions = played.hands[0].actions

    assert actions[0].card_id == actions[3].card_id


UNEVEN = (Team("Reds", ("Ann", "Cid")), Team("Blues", ("Bob",)))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda: script.read_script("side Ann\nside Bob\nhand first Ann\nAnn flies\n"), "Line 4"),
        (lambda: script.read_script("side Ann\nside Bob\n"), "hand first"),
        (lambda: players.random_script("tarot"), "There is no edition"),
        (lambda: script.shipped_script("nine-players"), "pairs"),
        (lambda: players.random_script(teams=UNEVEN), "is for"),
    ],
)
def test_a_game_that_cannot_be_simulated_is_refused_with_a_reason(asked, says):
    with pytest.raises(Problem, match=says):
        asked()


MADE_UP = [("classic", teams, seed) for teams in (players.TWO_PLAYERS, THREE, players.PAIRS) for seed in (0, 1, 2)]
MADE_UP += [(edition, teams, seed) for edition, teams in EDITIONS for seed in (1, 4)]


@pytest.mark.parametrize(("edition", "teams", "seed"), MADE_UP)
def test_random_hands_are_legal_and_complete(edition, teams, seed):
    written = players.random_script(edition, teams=teams, seed=seed).record()

    assert set(verdicts(written)) == {LEGAL}
    assert results(written)[-1].how in ("completed", "exhausted")


def test_players_take_a_discard_they_can_use_and_play_at_once():
    played = players.random_script("asmodee-2014", seed=1)
    lines = played.record().splitlines()
    takes = [number for number, line in enumerate(lines) if line.endswith(" take")]

    assert takes
    assert all(lines[number + 1].split()[0] == lines[number].split()[0] for number in takes)


def test_the_draw_pile_is_as_high_as_in_the_record():
    played = players.random_script("asmodee-2014", teams=THREE, seed=1)
    (*_, last), _ = danced(played)
    table = referee.new_hand(played.edition, played.teams, played.hands[0].first)
    for play in script.plays_that_stay(played.hands[0]):
        table = referee.apply(table, play)

    assert sum(card.picture == BACK for card in last.after) == -(-table.draw_pile // 12)


def test_a_stuck_hand_ends_with_a_cleared_table():
    played = players.random_script("bsd-mille", seed=4)
    (*_, last), _ = danced(played)

    assert played.record().splitlines()[-1] == "end"
    assert last.is_play
    assert last.after == ()


@pytest.mark.parametrize(("discarding", "line"), [("free", "Ann discard 25"), ("when-stuck", "Ann driving-ace")])
def test_a_player_who_may_not_discard_plays_a_safety_instead(discarding, line, monkeypatch):
    monkeypatch.setattr(players, "HOLDS_SHARE", 1.0)
    rules = script.load_edition("classic").with_options((("discard", discarding),))
    table = referee.new_hand(rules, players.TWO_PLAYERS, "Ann")
    deal = players._Deal(table, random.Random(1))
    deal._held["Ann"] = ["driving-ace-01", "25-01"]

    assert str(deal._choice("Ann")[0]) == line


def test_two_hazards_removed_at_once_are_discarded_in_the_order_of_the_record():
    text = (
        "edition dujardin-2014\nside Ann\nside Bob\nhand first Ann\nAnn roll\nBob stop > Ann\nAnn discard 25\n"
        "Bob speed-limit > Ann\nAnn discard 50\nBob roll\nAnn right-of-way\n"
    )
    played = script.read_script(text)
    (*_, last), plan = danced(played)
    pile = [face_of(c.picture) for c in last.after if "table/discard" in zones_under(plan, list(corners_of(c.pose)))]
    (end,) = results(text)

    assert tuple(pile) == end.table.discards


def test_random_hands_keep_the_target_and_the_first_player():
    played = players.random_script(seed=1, target=300, first="Bob")

    assert "target 300" in played.record()
    assert [hand.first for hand in played.hands] == ["Bob"]
    assert results(played.record())[-1].table.target == 300


def test_equal_seeds_give_equal_random_hands():
    assert players.random_script(seed=7) == players.random_script(seed=7)
    assert players.random_script(seed=7) != players.random_script(seed=8)


def test_a_script_is_recorded_without_plays_taken_back():
    played = script.shipped_script("pairs")

    assert any(action.taken_back for hand in played.hands for action in hand.actions)
    assert script.read_script(played.record()).record() == played.record()
    assert "taken back" not in played.record()
