"""`companion play`: a match against robots in the terminal."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from companion.app.robot_match import PERSON, RobotMatch
from companion.app.terminal_screen import HELP, Prompt, Stage, asked, news, screen, slots, wrapped
from companion.common.errors import Problem, file_problem
from companion.common.spelling import meant, shown
from companion.common.terminal import typed
from companion.common.text import Said, listed, say
from companion.pages import words
from companion.pages.words import Names, _
from companion.rules import legality
from companion.rules.card_names import card_named, joined
from companion.rules.cards import Card
from companion.rules.moves import laying
from companion.rules.play import Play, Verb, discard, lay
from companion.rules.record import notation
from companion.rules.record.notation import Unreadable
from companion.storage.data_folder import write_whole

_COMMANDS = {
    "p": "pick", "u": "use", "d": "discard", "n": "no", "o": "order", "w": "why", "h": "hint", "r": "redraw",
    "s": "save", "q": "quit", "?": "help", "t": "take", "e": "extend", "f": "finish",
}  # fmt: skip
"""Long form by letter: a command or word of the notation."""

_NEEDS_NO_CARD = (Verb.TAKE, Verb.EXTEND, Verb.FINISH, Verb.GIVE)  # allowed before picking a card
_PICK_FIRST = say("Pick a card first: `p`.")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_YES = ("y", "yes", "o", "oui", "t", "tak", "j", "ja", "s", "sí", "si", "sì")


class TerminalGame:
    """A match at the terminal: `ask` shows a prompt and returns a line, None at the end of input."""

    def __init__(
        self, match: RobotMatch, path: Path | None, ask: Callable[[str], str | None], tell: Callable[[str], None]
    ) -> None:
        self._match, self._path, self._ask, self._tell = match, path, ask, tell
        self._saved: RobotMatch | None = None
        self._now = Prompt(Stage.OVER)
        self._whys: dict[int, Said] = {}  # robots' reasons, by index of the play in the hand
        self._sorts = self._has_left = self._is_ending = False
        self._commands: Mapping[str, Callable[[list[str]], None]] = {
            "pick": lambda _which: self._pick(),
            "use": self._use,
            "discard": lambda which: self._play(discard(PERSON, self._card(which))),
            "no": lambda _which: self._decline(),
            "order": lambda _which: self._show(sorts=not self._sorts),
            "redraw": lambda _which: self._show(),
            "why": lambda _which: self._say_why(),
            "hint": lambda _which: self._hint(),
            "save": lambda which: self._save(" ".join(which)),
            "quit": lambda _which: self._quit(),
            "help": lambda _which: self._tell(_(HELP)),
        }

    def run(self) -> None:
        """Play until the person leaves, the input ends or the terminal closes; then save the match."""
        words.speak_of(self._match.record.game, {})
        if self._path is not None:
            self._write(self._path)
        with _heard_by(self._end):
            try:
                # One signal may still interrupt the inner `finally`.
                try:
                    self._play_until_left()
                finally:
                    self._is_ending = True
            finally:
                if not self._has_left and self._path is not None:
                    self._write(self._path)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        """Interrupt the game, once: a closing terminal sends several signals."""
        if self._is_ending:
            return
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        self._is_ending = True
        raise SystemExit(128 + number)

    def _play_until_left(self) -> None:
        self._say(_("The cards of seed %(seed)d. `help` lists the commands.", seed=self._match.seed))
        is_interrupted = True
        while not self._has_left:
            try:
                if is_interrupted:
                    self._play_on(self._match)
                    is_interrupted = False
                if (line := self._ask("> ")) is None:
                    return
                self._obey(line.split())
            except KeyboardInterrupt:
                is_interrupted = True
                # Handles a second signal that came with the first.
                signal.pthread_sigmask(signal.SIG_BLOCK, ())
                self._tell("")
                self._quit()

    def _obey(self, line: list[str]) -> None:
        word, which = (_COMMANDS.get(line[0].lower(), line[0].lower()), line[1:]) if line else ("", [])
        try:
            if word in self._commands:
                self._commands[word](which)
            elif word:
                self._play_written([word, *which])
        except Problem as problem:
            self._say(words.said(problem.sentence))

    def _say(self, text: str) -> None:
        self._tell("\n".join(wrapped(text)))

    def _show(self, *, sorts: bool | None = None) -> None:
        self._sorts = self._sorts if sorts is None else sorts
        hand = self._match.hand
        self._tell("\n".join(screen(self._match.record.game, hand, self._now, slots(hand, sorts=self._sorts))))

    # Playing

    def _play_on(self, match: RobotMatch) -> None:
        """Let robots play until the person's turn; show the table.

        Each play counts at once: an interrupted turn can be saved and continued.
        """
        self._match = match
        while (now := asked(self._match.hand)) is None and (position := self._match.hand.asked()) is not None:
            play = None
            if position.player != PERSON:
                play, self._whys[len(position.past)] = self._match.choice(position)
            self._match = self._match.after(position, play)
        self._now = now or self._now
        self._show()

    def _play(self, play: Play) -> None:
        if against := self._against(play):
            raise Problem(" ".join(against))
        self._play_on(self._match.after(self._match.hand.position(0), play))

    def _against(self, play: Play) -> list[str]:
        deal, game = self._match.hand.deal, self._match.record.game
        needs_card = not (play.at_once or play.verb in _NEEDS_NO_CARD or legality.is_extra(deal.table, play))
        if self._now.stage is Stage.PICK and needs_card:
            return [_(_PICK_FIRST)]
        whys = words.whys(deal.objections(play), game.edition, Names.of(game))
        return [f"{why.say} [{why.rule}]" for why in whys]

    def _pick(self) -> None:
        match = self._match
        if self._now.stage is Stage.OVER:
            self._whys.clear()
            self._play_on(match.next_hand())
        elif self._now.stage is Stage.PICK and self._now.may_wait:
            self._play_on(replace(match, hand=match.hand.drawn()))
        else:
            raise Problem(say("You cannot pick a card now."))

    def _decline(self) -> None:
        if self._now.stage is not Stage.ANSWER or not self._now.may_wait:
            raise Problem(say("There is nothing to decline."))
        self._play_on(self._match.after(self._match.hand.position(0), None))

    def _card(self, which: Sequence[str]) -> Card:
        named = which[0].lower() if which else ""
        card = slots(self._match.hand, sorts=self._sorts).get(named) or card_named(named)
        if card is None:
            raise Problem(say("Say which card by its number, as in `u 1` or `d 1`."))
        return card

    def _use(self, which: Sequence[str]) -> None:
        """Play a card in the only possible or the given way."""
        card, table, told = self._card(which), self._match.table, {word.lower() for word in which[1:]} - {">"}
        gifts = [play for play in self._now.plays if play.verb is Verb.GIVE and play.card is card]
        sides = {side.name: side.players for side in table.sides}
        ways = [*gifts, *laying(table, PERSON, card), lay(PERSON, card, at_once=True)]
        ways = [
            way for way in ways if told <= {*str(way).lower().split(), *map(str.lower, sides.get(way.target or "", ()))}
        ]
        fair = [play for play in ways if not self._against(play)]
        if len(fair) > 1 and not fair[-1].at_once:
            raise Problem("Choose one: %(ways)s.", ways=listed(map(_as_typed, fair[:4])))
        # If no way is legal, object to the likeliest: at an opponent, with cards in hand.
        held = Counter(self._match.hand.deal.hands[0])
        ways.sort(key=lambda play: (table.side_index(play.target) == 0, not Counter(play.out_of_hand) <= held))
        if not ways:
            raise Problem(say("This card cannot be used like that."))
        self._play(fair[-1] if fair else ways[0])

    def _play_written(self, written: Sequence[str]) -> None:
        words = joined(written)
        if len(words) == 1 and card_named(words[0]):
            self._use(words)
            return
        try:
            play = notation.parse_play(" ".join([PERSON, *written]), self._match.record.game.teams)
        except Unreadable as error:
            word, near = shown(written[0]), meant(written[0], [*_COMMANDS.values(), *self._match.table.deck])
            unknown = say("There is no command `%(word)s`%(near)s: `help` lists them.", word=word, near=near)
            raise Problem(str(error) if len(written) > 1 else unknown) from error
        self._play(replace(play, anyway=False))

    # Advice

    def _say_why(self) -> None:
        names = Names.of(self._match.record.game)
        said = [(play, self._whys[place]) for place, play in news(self._match.hand.past) if place in self._whys]
        if not said:
            raise Problem(say("No one has played since your last play, or since you resumed the game."))
        for play, why in said:
            self._say(f"{words.play_say(play, names)} {words.said(why)}")

    def _hint(self) -> None:
        hand = self._match.hand
        position = hand.asked()
        if position is None or position.hand != hand.deal.hands[0]:
            raise Problem(_PICK_FIRST if position else say("`p` deals the next hand, `q` quits."))
        play, why = self._match.choice(position)
        waits = "`p`" if position.is_in_turn else "`n`"
        done = f"{_as_typed(play)}: {words.play_say(play, Names.of(self._match.record.game))}" if play else waits
        self._say(f"{done} {words.said(why)}")

    # Leaving

    def _save(self, name: str) -> None:
        path = Path(name).expanduser() if name else self._path
        if path is None:
            raise Problem(say("Give a file name: `save FILE`."))
        if path != self._path and os.path.lexists(path):
            raise Problem("%(file)s already exists: save the game under another name.", file=path)
        self._write(path)
        self._say(_("Saved. To continue: `%(command)s`", command=typed(f"play {path}")))

    def _write(self, path: Path) -> None:
        with file_problem("The game cannot be saved in %(file)s: %(error)s.", file=path):
            write_whole(path, self._match.as_text())
        self._saved, self._path = self._match, path

    def _quit(self) -> None:
        """Leave; if plays are unsaved, ask first and save them in the game's file."""
        answer: str | None = "yes"
        if self._saved is not self._match:
            asks = _("This game is not saved. Quit anyway? (y/n)")
            if self._path is not None:
                asks = _("Quit? The game is saved in %(file)s. (y/n)", file=self._path)
            answer = self._ask(asks + " ")
        if answer is not None and answer.strip().lower() in _YES:
            if self._path is not None and self._saved is not self._match:
                self._write(self._path)
            self._has_left = True


@contextmanager
def _heard_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle signals that end a program inside the context; ignored ones stay ignored."""
    heard = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _as_typed(play: Play) -> str:
    return f"`{str(play).removeprefix(PERSON).strip()}`"
