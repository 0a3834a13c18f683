"""Players at the simulated table, who follow a script while the record agrees with it.

After an extension, undo or correction they continue from the record. Their plays are read like any other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile

from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.state import MatchState, Policy, first_of_hand, table_of
from companion.rules.play import Verb
from companion.rules.record import judge
from companion.rules.record.judge import Game
from companion.rules.record.notation import RecordLine
from companion.rules.table import Table
from companion.simulate.animation import Tempo
from companion.simulate.art import STICKERED, Cards
from companion.simulate.frame_source import SETTLING_S, followed_scenes, table_studio
from companion.simulate.players import played_on
from companion.simulate.scene import Scene
from companion.simulate.script import Hand, Script, plays_that_stay
from companion.simulate.studio import Studio
from companion.vision.capture.sources import Frame

LOOK_BEFORE_GOING_ON = 6  # frames for the camera after each play, at least
UNREAD_S = 12.0  # until an unread card is picked up again
THINKING_S = 2.5  # extra pause off the script, for corrections
LOOK_AGAIN_S = 0.5
EVEN = Tempo()


class ScriptRecord:
    """The games expected while a script that continues a hand is played."""

    def __init__(self, game: Game, script: Script) -> None:
        self._actions = [action for hand in script.hands for action in hand.actions if not action.taken_back]
        self._stands = tuple(_stands(game, script.hands))

    def where(self, number: int, state: MatchState) -> int | None:
        """Return the index in `_stands` of the latest expected game that equals the record's, if any.

        Play `number`, from 1, is next, or confirmed already. Plays without a card (extensions) may come any time
        between two cards.
        """
        # Visible: plays with a card, and gathering all cards.
        actions = enumerate(self._actions, start=1)
        shown = [n for n, action in actions if action.card_id is not None or action.play.verb is Verb.END]
        first = max((n for n in shown if n < number), default=0)
        last = min((n for n in shown if n > number), default=len(self._actions) + 1) - 1
        games = (state.game, _played_to(state))
        may_be = ((n, stand) for n, (plays, stand) in enumerate(self._stands) if first <= plays <= last)
        return max((n for n, stand in may_be if any(_is_there(stand, game) for game in games)), default=None)

    def may_begin(self, number: int, state: MatchState) -> bool:
        """True if the record is ready for play `number`.

        If plays confirm themselves, the players gather the cards after a hand; else a person begins the next. If
        playing on confirms, the previous play may be unconfirmed, but not the last.
        """
        game = _played_to(state) if number <= len(self._actions) else state.game
        before = [stand for plays, stand in self._stands if plays == number - 1]
        wanted = before if state.policy is Policy.AUTO else before[-1:]
        if number > 1 and number - 2 < len(self._actions) and self._actions[number - 2].play.verb is Verb.TAKE:
            # Only the next card shows whether the card was taken.
            wanted = [*wanted, *(stand for plays, stand in self._stands if plays == number - 2)]
        return any(_is_there(stand, game) for stand in wanted)


def _is_there(stand: Game, game: Game) -> bool:
    return game.hand_number == stand.hand_number and game.table == stand.table


def _played_to(state: MatchState) -> Game:
    """Return the game after the waiting legal, sure plays that the next play would confirm."""
    game = state.game
    if _playing_on_confirms(state):
        waiting = (question for question in state.questions if question.asks_play)
        for question in takewhile(lambda question: question.may_count_untapped, waiting):
            game = _after(game, str(question.plays[0]))
    return game


def _playing_on_confirms(state: MatchState) -> bool:
    return state.policy is Policy.PLAY_ON and not state.other_side_verifies


def _stands(game: Game, hands: Iterable[Hand]) -> Iterator[tuple[int, Game]]:
    """Yield (number of plays done, expected game), from each hand's start on."""
    plays = 0
    for number, hand in enumerate(hands):
        game = _after(game, f"hand first {hand.first}") if number else game
        yield plays, game
        for play in plays_that_stay(hand):
            plays += 1
            game = _after(game, str(play))
            yield plays, game


def _after(game: Game, line: str) -> Game:
    return judge.step(game, RecordLine(0, line))[0]


def begun(script: Script) -> Game:
    """Return the game of a script after its first deal."""
    return reduce(_after, [*script.header, f"hand first {script.hands[0].first}"], judge.NEW_GAME)


def script_from(state: MatchState, hands: int, seed: int) -> Script:
    """Return a script that continues the record until `hands` hands are played. Raises Problem if impossible."""
    game, table = state.game, table_of(state)
    script = Script(game.teams, (Hand(first_of_hand(state), ()),), game.edition_name, game.target, game.options)
    return played_on(script, table, hands=hands - game.hand_number + 1, seed=seed)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The players' wait for the record before a play."""

    looks: int = 0
    idle: int = 0  # frames without a question or progress
    was_asked: bool = False  # if there was a question about the last play


class DemoPlayers:
    """The hands at the simulated table, as scenes that follow the record.

    `cut` gets the script right before a scene that does not continue the last.
    """

    def __init__(
        self,
        match: Match,
        script: Script,
        *,
        plays_done: int = 0,
        tempo: Tempo = EVEN,
        cut: Callable[[Script], None] = lambda _script: None,
        is_stopped: Callable[[], bool] = lambda: False,
        at_the_end: str = "",
    ) -> None:
        self._match, self._tempo = match, tempo
        self._cut, self._is_stopped, self._at_the_end = cut, is_stopped, at_the_end
        self._hands, self._takes = len(script.hands), 0
        self.script, self._course, self._done = script, ScriptRecord(begun(script), script), plays_done
        self._number, self._waiting, self._reached, self._since = plays_done, Waiting(), 0, match.state.seq

    def scenes(self) -> Iterator[Scene]:
        """Yield one scene a frame until the service stops."""
        yield from self._played()
        while not self._is_stopped():
            if self._take_up():
                yield from self._played()

    def _played(self) -> Iterator[Scene]:
        self._number, self._waiting, self._reached = self._done, Waiting(), 0
        settling_s = SETTLING_S + (THINKING_S if self._takes else 0.0)
        scenes = followed_scenes(self.script, self._takes, self._tempo, self._may_begin, self._done, settling_s)
        for scene in scenes:
            if self._has_parted():
                return
            yield scene
        if not self._has_parted():
            self._wait(self._at_the_end)

    def _may_begin(self, number: int) -> bool:
        """True if the camera has looked, no question waits, and the record is ready."""
        state, before = self._match.state, self._waiting
        # The next card may answer some questions.
        by_itself = _playing_on_confirms(state)
        asks = any(not (question.may_count_untapped and by_itself) for question in state.questions)
        table = _played_to(state).table
        # People decide on the extension and the next hand.
        is_for_people = table is None or table.is_over or table.extension_offered_to is not None
        idle = 0 if asks or is_for_people else before.idle + 1
        self._waiting = Waiting(before.looks + 1, idle, before.was_asked or asks)
        if asks or before.looks < LOOK_BEFORE_GOING_ON or not self._course.may_begin(number, state):
            return False
        self._number, self._waiting = number, Waiting()
        return True

    def _has_parted(self) -> bool:
        """True if the record left the script or was undone, or a card was refused or unread."""
        refused = self._waiting.was_asked and self._waiting.idle > LOOK_BEFORE_GOING_ON
        unread = self._waiting.idle > UNREAD_S * self._tempo.fps
        state = self._match.state
        before, now = self._reached, self._course.where(self._number, state)
        self._reached = max(before, now or 0)
        undone = state.redoable is not None and state.redoable.seq > self._since
        return refused or unread or undone or now is None or now < before

    def _take_up(self) -> bool:
        """Continue from the record; if impossible, show why until it changes and return False."""
        self._takes += 1
        if not self._match.state.is_demo:
            self._stand_aside()
        state = self._match.state
        try:
            self.script = script_from(state, self._hands, self._takes)
        except Problem as problem:
            self._wait(problem.sentence)
            return False
        self._course, self._done, self._since = ScriptRecord(state.game, self.script), 0, state.seq
        self._cut(self.script)
        return True

    def _stand_aside(self) -> None:
        """Clear the table and wait during people's own match."""
        self._cut(self.script)
        self._match.trouble(None)
        while not self._is_stopped() and not (now := self._match.state).is_demo:
            self._match.wait(now.version, LOOK_AGAIN_S)

    def _wait(self, sentence: str) -> None:
        """Show a sentence until the record changes."""
        self._match.trouble(sentence)
        before = now = self._match.state
        while not self._is_stopped() and _place(now) == _place(before):
            now = self._match.wait(now.version, LOOK_AGAIN_S)


def _place(state: MatchState) -> tuple[int | None, int, Table | None]:
    return state.match, state.game.hand_number, state.game.table


def frames_of_players(players: DemoPlayers, *, cards: Cards = STICKERED) -> Iterator[Frame]:
    """Yield camera frames; redraws the table for other numbers of sides or players."""
    studios: dict[tuple[int, int], Studio] = {}
    chance = random.Random("noise 0")  # noqa: S311
    for index, scene in enumerate(players.scenes()):
        seated = len(players.script.teams), len(players.script.players)
        if seated not in studios:
            studios = {seated: table_studio(players.script, cards=cards)}
        yield Frame(studios[seated].picture(scene, chance), index / EVEN.fps)
