"""The simulated players follow the record, whatever is tapped: extensions, undo, corrections, another match."""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import islice

import numpy as np
import pytest
from marks import mostly_long
from scene_eye import SceneEye

from companion.app import demo
from companion.app.demo_players import DemoPlayers
from companion.common.errors import Problem
from companion.common.text import Said
from companion.match.history import DEMO
from companion.match.match import Match
from companion.match.questions import Answer, Question
from companion.match.state import MatchState, Policy
from companion.match.zone_plays import Places
from companion.rules.table import Table
from companion.simulate.animation import Tempo
from companion.simulate.players import random_script
from companion.simulate.scene import BACK, Scene
from companion.simulate.script import Script, plays_that_stay, read_script
from companion.storage.events import EventKind
from companion.tracking.live import TableWatch
from companion.vision.capture.sources import Frame
from companion.vision.view import View

PICTURE = np.zeros((2, 2, 3), np.uint8)
MOST_FRAMES = 4_000

NEAR_THE_TARGET = "\n".join(
    ["side Ann", "side Bob", "hand first Ann", "Ann roll", "Bob roll"]
    + ["Ann 100", "Bob discard stop"] * 3
    + ["Ann 200", "Bob discard stop", "Ann 200"]
    + ["Ann finish", "hand first Bob", "Bob roll", "Ann roll", "Bob 100", "Ann 25", "Bob 75", "Ann 50"]
)


class Demo:
    """The demo without pictures: the whole way from the simulated table to the match, and people who tap."""

    def __init__(self, match: Match, script: Script, policy: Policy = Policy.TAP) -> None:
        self.match, self.cuts, self.t_s = match, 0, 0.0
        demo.start_or_go_on(match, script)
        match.set_policy(policy, "demo")
        self.eye, self.scene = SceneEye(script), Scene()
        self.laid = _plays_of(script)
        self.watch = TableWatch(match, self._look, lambda state: dict(match.mats(state)))
        self.players = DemoPlayers(
            match, script, tempo=Tempo(10.0, 8.0), cut=self._cut, is_stopped=lambda: self.stopped, at_the_end="Over."
        )
        self.stopped = False
        self._scenes = self.players.scenes()

    def _look(self, frame: Frame) -> View:
        return self.eye.view(self.scene, frame.t_s)

    def _cut(self, script: Script) -> None:
        self.cuts += 1
        self.laid |= _plays_of(script)
        self.eye = SceneEye(script)
        self.watch.begin_anew()

    def frame(self) -> None:
        """One more picture."""
        self.scene = next(self._scenes)
        self.t_s += 0.1
        self.watch.take(Frame(PICTURE, self.t_s))

    def until(self, is_so: Callable[[MatchState], bool], tap: Callable[[Match], None] | None = None) -> None:
        """Pictures until something is so; at each, somebody may tap."""
        for _ in range(MOST_FRAMES):
            if is_so(self.match.state):
                return
            self.frame()
            (tap or (lambda _match: None))(self.match)
        raise AssertionError(f"it never came to that: {self.match.record()}\n{self.match.state.questions}")


def _plays_of(script: Script) -> set[str]:
    """Everything that is laid in a script, also what is taken back."""
    return {str(action.play) for hand in script.hands for action in hand.actions}


def lying_of(scene: Scene) -> Counter[str]:
    return Counter(card.picture.rpartition("-")[0] for card in scene.lying if card.picture != BACK)


def recorded(table: Table) -> Counter[str]:
    """The cards that lie on the table by the record."""
    return Counter(card.value for _zone, card in Places({"side-1": "Ann", "side-2": "Bob"}).lying(table))


def confirm(match: Match) -> None:
    """Whoever confirms all that is legal, and takes back what is not."""
    for question in waiting(match.state)[:1]:
        match.answer(question.id, Answer.YES if question.is_legal else Answer.TAKEN_BACK, "Ann")


def waiting(state: MatchState) -> list[Question]:
    return [question for question in state.questions if question.asks_play]


def plays(count: int) -> Callable[[MatchState], bool]:
    """Whether the hand on the table has so many lines."""
    return lambda state: len(state.hand_entries) >= count


def is_settled(demo: Demo) -> Callable[[MatchState], bool]:
    """Whether on the table lies what the record says, with nobody's hand over it."""
    return lambda state: not demo.scene.arms and lying_of(demo.scene) == recorded(state.game.table)


def offers_an_extension(state: MatchState) -> bool:
    return state.game.table.extension_offered_to is not None


def only_seen(demo: Demo) -> None:
    """What has been confirmed was laid by somebody: the table and the record are the same."""
    demo.until(is_settled(demo))
    assert all(question.kind == "play" for question in demo.match.state.questions)


def meanwhile(match: Match, monkeypatch: pytest.MonkeyPatch, do: Callable[[], None]) -> None:
    """Somebody does this whenever the players wait for the record."""
    monkeypatch.setattr(match, "wait", lambda _version, _timeout_s: (do(), match.state)[1])


@pytest.fixture
def played(match: Match) -> Demo:
    """The demo of two players, of which nobody has seen a picture yet."""
    return Demo(match, demo.script_for("two-players"))


@pytest.fixture
def near(match: Match) -> Demo:
    """A hand that has come to the offer of an extension, and the next."""
    near = Demo(match, read_script(NEAR_THE_TARGET))
    near.until(offers_an_extension, confirm)
    return near


def test_the_players_play_a_whole_hand_as_it_is_written(match: Match):
    script = demo.script_for("two-players")
    played = Demo(match, script)
    played.until(offers_an_extension, confirm)
    match.enter("Ann finish", "Ann")

    assert [line for line in match.record().splitlines() if line] == script.record().splitlines()
    assert played.cuts == 0


@pytest.mark.parametrize("seed", mostly_long(range(4), 0))
def test_where_playing_on_confirms_nobody_has_to_tap(match: Match, seed: int):
    script = random_script(seed=seed) if seed else demo.script_for("two-players")
    written = [str(play) for play in plays_that_stay(script.hands[0])]
    shown = [text for text in written if text.split()[-1] not in ("finish", "extend")]

    def read(state: MatchState) -> list[str]:
        plays = [*(entry.play for entry in state.hand_entries), *(one.plays[0] for one in waiting(state))]
        return [str(play) for play in plays]

    played = Demo(match, script, Policy.PLAY_ON)
    played.until(lambda state: read(state) == shown)

    assert played.cuts == 0
    for _ in range(200):
        played.frame()
    assert read(match.state) == shown
    assert waiting(match.state)
    while waiting(match.state):
        confirm(match)
    assert offers_an_extension(match.state) or match.state.game.table.is_over


@pytest.mark.variants(1)
@pytest.mark.parametrize("tap", ["undo", "dismiss"])
def test_where_playing_on_confirms_what_is_taken_back_is_played_otherwise(match: Match, tap: str):
    played = Demo(match, demo.script_for("two-players"), Policy.PLAY_ON)
    played.until(lambda state: len(state.hand_entries) >= 6 and any(one.is_legal for one in waiting(state)))
    if tap == "undo":
        match.undo("Ann")
    else:
        match.answer(waiting(match.state)[0].id, Answer.NO, "Ann")
    left = match.record()
    played.until(plays(12))

    assert match.record().startswith(left)
    assert played.cuts == 1


@pytest.mark.variants(1)
@pytest.mark.parametrize("policy", [Policy.TAP, Policy.AUTO])
def test_an_extension_that_somebody_calls_is_played(match: Match, policy: Policy):
    played = Demo(match, read_script(NEAR_THE_TARGET), policy)
    played.until(offers_an_extension, confirm)
    lines = len(match.state.hand_entries)
    match.enter("Ann extend", "Ann")
    played.until(plays(lines + 5), confirm)

    assert match.state.game.table.target == 1000
    assert played.cuts == 1
    only_seen(played)


@pytest.mark.parametrize(
    ("first", "plays_of_next", "cuts"),
    [(None, ["Bob roll", "Ann roll", "Bob 100"], 0), ("Ann", ["Ann ", "Bob ", "Ann "], 1)],
    ids=["as it is written", "somebody else begins"],
)
def test_an_extension_that_is_left_is_the_hands_end_and_the_next_hand_follows(
    match: Match, near: Demo, first: str | None, plays_of_next: list[str], cuts: int
):
    match.enter("Ann finish", "Ann")
    for _ in range(100):
        near.frame()
    assert match.state.game.table.is_over
    match.next_hand("Ann", first)
    near.until(plays(3), confirm)

    followed = [str(entry.play) for entry in match.state.hand_entries]
    assert [text[: len(told)] for text, told in zip(followed, plays_of_next, strict=True)] == plays_of_next
    assert near.cuts == cuts
    only_seen(near)


def undo(played: Demo) -> None:
    played.match.undo("Ann")


def undo_and_redo(played: Demo) -> None:
    undo(played)
    for _ in range(10):
        played.frame()
    played.match.redo("Ann")


def answer(played: Demo, answer: Answer, change: str | None = None) -> None:
    played.until(lambda state: bool(waiting(state)))
    asked = waiting(played.match.state)[0]
    played.match.answer(asked.id, answer, "Ann", play=change and f"{asked.plays[0].player} {change}")


def enter(played: Demo) -> None:
    mover = played.match.state.game.table.player_to_move
    played.match.enter(f"{mover} discard 50", mover)


def correct(played: Demo) -> None:
    entry = next(e for e in played.match.state.hand_entries if e.play.card is not None and e.play.card.km)
    played.match.correct(entry.seq, f"{entry.play.player} 25", "Ann")


@pytest.mark.parametrize(
    ("before", "tap", "policy"),
    [
        (6, undo, Policy.TAP), (6, undo_and_redo, Policy.TAP),
        (2, lambda played: answer(played, Answer.YES, "discard 25"), Policy.TAP),
        (3, lambda played: answer(played, Answer.NO), Policy.TAP), (4, enter, Policy.TAP), (8, correct, Policy.AUTO),
    ],
    ids=["undo", "undo and redo", "another card", "no play", "entered by hand", "corrected"],
)  # fmt: skip
def test_whatever_is_tapped_the_players_go_on_from_the_record(
    match: Match, before: int, tap: Callable[[Demo], None], policy: Policy
):
    played = Demo(match, demo.script_for("two-players"), policy)
    played.until(plays(before), confirm)
    tap(played)
    left = match.record()
    played.frame()

    only_seen(played)
    assert match.record() == left
    played.until(plays(before + 5), confirm)
    assert match.record().startswith(left)
    by_camera = [e.written for e in match.state.entries if e.written.source == "camera" and not e.written.corrected_by]
    assert {written.text.removesuffix(" anyway") for written in by_camera} <= played.laid
    assert played.cuts >= 1
    only_seen(played)


def test_after_a_restart_the_players_go_on_from_a_record_that_has_parted_from_the_script(match: Match, played: Demo):
    before = Demo(match, demo.script_for("two-players"))
    before.until(plays(6), confirm)
    match.undo("Ann")
    before.until(plays(9), confirm)
    left = match.record()

    played.until(plays(14), confirm)
    assert match.record().startswith(left)
    assert len(match.store.matches()) == 1
    only_seen(played)


def test_nothing_counts_that_nobody_has_confirmed(match: Match, played: Demo):
    played.until(plays(5), confirm)
    match.undo("Ann")
    before = match.record()
    for _ in range(600):
        played.frame()

    assert match.record() == before
    assert len(waiting(match.state)) == 1


def test_a_hand_that_is_ended_by_somebody_is_followed_by_the_next(match: Match):
    played = Demo(match, read_script(NEAR_THE_TARGET))
    played.until(plays(4), confirm)
    match.enter("end", "Ann")
    for _ in range(30):
        played.frame()
    match.next_hand("Ann")
    played.until(plays(3), confirm)

    assert match.state.game.hand_number == 2
    only_seen(played)


def test_another_match_with_more_players_is_played_too(match: Match, played: Demo):
    played.until(plays(3), confirm)
    match.start(["side Reds = Ann, Cid", "side Blues = Bob, Dee", "hand first Bob"], DEMO)
    played.until(plays(5), confirm)

    assert match.state.hand_entries[0].play.player == "Bob"
    assert {entry.play.player for entry in match.state.hand_entries} == {"Ann", "Bob", "Cid", "Dee"}


def test_a_match_that_people_set_up_gets_no_card_of_the_demo(match: Match, played: Demo, monkeypatch):
    played.until(plays(3), confirm)
    asked = []

    def play() -> None:
        asked.extend(match.state.questions)
        if match.state.hand_entries:
            match.start(["side Ann", "side Bob", "hand first Bob"], DEMO)
        else:
            match.enter("Ann roll", "Ann")

    meanwhile(match, monkeypatch, play)
    match.start(["side Ann", "side Eve", "hand first Ann"], "Ann")
    played.until(plays(2), confirm)

    assert (asked, match.state.trouble) == ([], None)
    assert match.state.is_demo


def test_what_cannot_be_simulated_is_said_and_the_next_match_goes_on(match: Match, played: Demo, monkeypatch):
    said = []

    def begin() -> None:
        said.append(match.state.trouble)
        match.start(["side Ann", "side Bob", "hand first Bob"], DEMO)

    meanwhile(match, monkeypatch, begin)
    match.start(["edition rush", "side Ann", "side Bob", "hand first Ann"], DEMO)
    played.until(plays(2), confirm)

    assert said == ["The simulated players cannot play Rush yet: choose another edition for the demo."]
    assert isinstance(said[0], Said)
    assert said[0].values == {"edition": "Rush"}
    assert match.state.hand_entries[0].play.player == "Bob"


def test_after_the_last_hand_it_is_said_and_one_more_can_be_begun(match: Match, monkeypatch: pytest.MonkeyPatch):
    played = Demo(match, read_script("side Ann\nside Bob\nhand first Ann\nAnn roll\nend"))
    said = []

    def begin() -> None:
        said.append(match.state.trouble)
        match.next_hand("Ann")

    meanwhile(match, monkeypatch, begin)
    played.until(lambda state: state.game.hand_number == 2, confirm)
    played.until(plays(3), confirm)

    assert said == ["Over."]
    only_seen(played)


def test_a_stopped_demo_ends(match: Match, played: Demo):
    played.frame()
    match.enter("Ann discard 25", "Ann")
    played.stopped = True

    assert list(islice(played._scenes, 5)) == []


def tap_something(match: Match, chance: random.Random) -> None:
    """What a visitor may tap, whatever that may be."""
    state, table = match.state, match.state.game.table
    line = chance.choice(state.hand_entries).seq if state.hand_entries else 0
    play = f"{table.player_to_move} {chance.choice(['25', '100', 'roll', 'discard stop', 'discard 25'])}"
    asked = chance.choice(state.questions).id if state.questions else "none"
    taps = (
        lambda: match.undo("Ann"), lambda: match.redo("Ann"), lambda: match.enter(play, "Ann"),
        lambda: match.answer(asked, Answer.YES, "Ann", play=play),
        lambda: match.answer(asked, chance.choice(list(Answer)), "Ann"),
        lambda: match.answer(asked, Answer.YES, "Ann", anyway=True), lambda: match.correct(line, play, "Ann"),
        lambda: match.rewrite(EventKind.LINE, line, play, "Ann"),
        lambda: match.rewrite(EventKind.RETRACT, line, None, "Ann"),
        lambda: match.let_stand(line, "Ann"), lambda: match.enter("end", "Ann"),
        lambda: match.next_hand("Ann", chance.choice(["Ann", "Bob"])),
        lambda: match.enter(f"{table.sides[table.extension_offered_to or 0].name} extend", "Ann"),
        lambda: match.enter(f"{table.player_to_move} skip", "Ann") if chance.random() < 0.1 else None,
    )  # fmt: skip
    with suppress(Problem):
        chance.choice(taps)()


def answer_all(match: Match) -> None:
    """Whoever brings the game forward: answers what is asked, in the record's favour, and begins the next hand."""
    state, table = match.state, match.state.game.table
    for question in state.questions:
        if question.kind != "play":
            match.answer(question.id, Answer.RECORD, "Ann")
    confirm(match)
    if table.is_over:
        match.next_hand("Ann")
    elif table.extension_offered_to is not None:
        match.enter(f"{table.sides[table.extension_offered_to].name} finish", "Ann")


@pytest.mark.long
@pytest.mark.parametrize("seed", mostly_long(range(6), 0, 1))
def test_whatever_is_tapped_the_demo_goes_on(match: Match, seed: int):
    chance = random.Random(f"visitor {seed}")
    script = random_script(hands=3, seed=seed)
    played = Demo(match, script, chance.choice(list(Policy)))
    for _ in range(12):
        for _ in range(chance.randint(1, 150)):
            played.frame()
            answer_all(match)
        tap_something(match, chance)
    before = match.state.seq
    played.until(lambda state: state.seq >= before + 12, answer_all)

    by_camera = [e.written for e in match.state.entries if e.written.source == "camera" and not e.written.corrected_by]
    assert {written.text.removesuffix(" anyway") for written in by_camera} <= played.laid
    assert played.cuts >= 1
