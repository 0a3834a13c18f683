"""`companion play`: commands, screens of 24 lines of 80 columns, saving and resuming."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.app import terminal_game
from companion.app.robot_match import RobotMatch, begin, read_match
from companion.app.terminal_game import _COMMANDS, TerminalGame
from companion.app.terminal_screen import HELP, Stage, asked, screen, slots
from companion.common.languages import LANGUAGES
from companion.robots.information_set import DealtHand
from companion.robots.robot import Level
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.hidden_cards import deal
from companion.rules.record import judge, notation
from companion.storage.data_folder import write_whole
from companion.tabletop import translation

SEATED = [
    (edition, players, each == 2)
    for edition in edition_names()
    for players, each in load_edition(edition).seatings
    if players <= 6
]


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    yield
    translation.speak("en")
    translation.speak_of(None)


@pytest.fixture
def played(called):
    """Return a function that runs `companion play` with typed lines and arguments."""
    return lambda typed, *words: called("play", *words, typed=typed.replace("; ", "\n"))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "game.json"


def coached(match: RobotMatch, most: int = 1500) -> tuple[list[str], list[str]]:
    """Play a hand by the coach's hints; return the typed lines and the output."""
    typed: list[str] = []
    told: list[str] = []

    def ask(prompt: str) -> str | None:
        if "?" in prompt:
            return "y"
        hint = re.search(r"`(.*?)`", told[-1])[1] if typed[-1:] == ["hint"] else "hint"
        typed.append("quit" if "deals the next hand" in told[-1] else hint)
        return typed[-1] if len(typed) < most else None

    TerminalGame(match, None, ask, told.append).run()
    return typed, told


def at_table(edition: str, top: str, lines: str, players: int = 2) -> RobotMatch:
    """Return a match with cards dealt and drawn in this order, after these lines."""
    match = begin(edition, players, Level.THUMB, 1, pairs=False)
    cards = list(map(Card, top.split()))
    rest = Counter(match.table.deck) - Counter(cards)
    match = replace(match, hand=DealtHand(deal(match.table, [*rest.elements(), *reversed(cards)], "key")))
    for line in filter(None, lines.split(", ")):
        play = notation.parse_play(line, match.record.game.teams)
        assert not match.hand.drawn().deal.objections(play) or play.at_once, line
        match = match.after(match.hand.position(0), play)
    return match


def answers(match: RobotMatch, *typed: str) -> list[str]:
    """Return the output for each line."""
    told: list[list[str]] = [[]]
    lines = iter(typed)

    def ask(_prompt: str) -> str | None:
        told.append([])
        return next(lines, None)

    TerminalGame(match, None, ask, lambda text: told[-1].append(text)).run()
    return ["\n".join(texts) for texts in told[1:-1]]


PERSON_7 = "roll 25 50 100 extra-tank stop"
BOB = "roll 25 50 100 out-of-gas accident"

# --- The screen -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("edition", "players", "pairs"), SEATED)
@given(st.integers(0, 10**6), st.sampled_from(LANGUAGES))
@settings(max_examples=2, deadline=None)
def test_the_screen_fits_24_lines_of_80_columns_and_shows_no_hidden_cards(edition, players, pairs, seed, spoken):
    chance = random.Random(seed)
    match = begin(edition, players, Level.THUMB, seed, pairs=pairs)
    translation.speak(spoken)
    told: list[str] = []

    def ask(_prompt: str) -> str | None:
        keys = slots(game._match.hand, sorts=False)
        return (
            chance.choice(
                ["hint", "p", "p", "n", "o", "why", "extend", "take", "pass", "zzz", "q", *(f"d {key}" for key in keys)]
                + 3 * [f"u {key}" for key in keys]
                + [f"u {key} {who}" for key in keys for who in ("bob", "cid", "100")]
            )
            if len(told) < 100
            else None
        )

    def tell(text: str) -> None:
        told.append(text)
        assert text.count("\n") + 2 <= 24
        assert max(map(len, text.split("\n"))) < 80
        if text.startswith("\n"):
            match, sorts = game._match, game._sorts
            hand = elsewhere(match.hand, chance)
            assert text == "\n".join(screen(match.record.game, hand, game._now, slots(hand, sorts=sorts)))

    game = TerminalGame(match, None, ask, tell)
    game.run()


def elsewhere(hand: DealtHand, chance: random.Random) -> DealtHand:
    """Return the hand with the hidden cards dealt differently."""
    own, *others = hand.deal.hands
    cards = [card for other in (*others, hand.deal.pile) for card in other]
    chance.shuffle(cards)
    others = [tuple(cards.pop() for _ in other) for other in others]
    return replace(hand, deal=replace(hand.deal, hands=(own, *others), pile=tuple(cards), key="another"))


def test_the_screen_shows_the_three_scores_both_sides_and_the_hand(played):
    shown = played("p", "--edition", "bsd-mille", "--seed", "1").stdout

    assert "Hand 1 · BSD mille · 700 miles" in shown
    assert "Draw pile: 88 · discard pile: –" in shown
    heads = "Battle +Speed +miles +Hand +Overall +Games"
    assert re.search(rf"{heads}\nPlayer +– +– +0 +0 +0 +0\n +Not started\nBob ", shown)
    assert re.search(r"\n1 \w.*  2 .*  6 .*\s+p \w", shown)


def test_the_others_plays_and_their_reasons_are_shown():
    match = at_table("bsd-mille", f"{PERSON_7} {BOB} 75 75", "")

    shown, why = answers(match, "p", "u roll", "why")[1:]

    assert "\nBob plays Go.\n" in shown
    assert why == "Bob plays Go. It helps Bob, with 700 miles still to go."


def test_the_hand_is_sorted_or_in_the_order_drawn():
    sorts, back = answers(at_table("bsd-mille", f"{PERSON_7} {BOB} 75", ""), "order", "o")

    assert "\n1 25 miles  2 50 miles  3 100 miles  4 Stop  5 Go  6 Extra Tank\n" in sorts
    assert "\n1 Go  2 25 miles  3 50 miles  4 100 miles  5 Extra Tank  6 Stop\n" in back


def test_the_game_uses_the_terminals_language(played, monkeypatch):
    monkeypatch.setenv("LANG", "pl_PL.UTF-8")

    assert "twoja tura" in played("", "--seed", "1").stdout.lower()
    assert "À vous" in played("", "--seed", "1", "--language", "fr").stdout


# --- Playing ----------------------------------------------------------------------------------------------------


def test_a_hand_can_be_played_saved_resumed_and_finished_in_the_terminal(played, tmp_path):
    file, *how = tmp_path / "game.json", "--edition", "bsd-mille", "--seed", "4"
    typed, told = coached(begin("bsd-mille", 2, Level.COUNTING, 4, pairs=False))
    half = len(typed) // 2

    first = played("\n".join([*typed[:half], f"save {file}", "quit"]), *how)
    second = played("\n".join(typed[half:-1]), file)

    assert (first.returncode, first.stderr, second.returncode, second.stderr) == (0, "", 0, "")
    assert "To continue: " in first.stdout.replace("\n", " ")
    assert second.stdout.endswith(f"{told[-1]}\n> \n")
    record = read_match(file).record
    assert [hand.how.value for hand in record.hands.values()] != ["open"]
    assert all(item.verdict == judge.LEGAL for item in record.items if isinstance(item, judge.JudgedLine))


def test_the_same_seed_gives_the_same_game(played):
    typed = "p; d 1; p; d 2; why"
    first, again, other = (played(typed, "--level", "3", "--seed", seed).stdout for seed in ("7", "7", "8"))

    assert first == again
    assert first != other


def test_the_next_hand_is_dealt_and_the_next_player_begins():
    match = begin("bsd-mille", 2, Level.COUNTING, 5, pairs=False)
    typed, told = coached(match)
    assert "The hand is over" in told[-1]
    assert answers(match, *typed[:-1], "hint")[-1] == "`p` deals the next hand, `q` quits."

    game = match.record.game
    assert [line.text for line in match.next_hand().record.lines[-1:]] == ["hand first Bob"]
    assert match.next_hand().hand.deal.hands != match.hand.deal.hands
    assert game.hand_number == 1


@pytest.mark.parametrize(("edition", "players", "sides"), [("classic", 4, 2), ("classic", 6, 3), ("rush", 5, 5)])
def test_robots_fill_the_sides_of_the_edition(played, edition, players, sides):
    shown = played("", "--edition", edition, "--players", players).stdout

    assert len(re.findall(r"^(?:Player|Bob|Cid|Dee|Eve)\b.* 0 +0 +0$", shown, re.MULTILINE)) == sides


def test_the_coach_uses_the_persons_name_and_shows_plays_as_typed(played):
    shown = played("p; hint", "--edition", "bsd-mille", "--seed", "5", "--name", "Zoé", "--level", "3").stdout

    assert "It helps Zoé, with 700 miles still to go." in shown.replace("\n", " ")
    assert "Player" not in shown


def test_pairs_can_be_chosen_if_the_edition_allows_both(played):
    assert "Player & Cid" in played("", "--edition", "rush", "--players", "4", "--pairs").stdout


@pytest.mark.parametrize(
    ("lines", "typed", "says"),
    [
        ("", "u roll", "Pick a card first: `p`."), ("", "n", "There is nothing to decline."),
        ("", "zzz", "There is no command `zzz`"), ("", "qiut", "did you mean 'quit'"),
        ("", "u", "Say which card by its number"), ("", "d 9", "Say which card by its number"),
        ("", "save", "Give a file name"), ("", "save /nowhere/at/all", "cannot be saved"),
        ("", "why", "No one has played since"), ("", "hint", "Pick a card first"),
        ("", "stop > Cid", "Write a side after `>`"), ("", "end", "There is no command `end`"),
        ("p", "p", "You cannot pick a card now."),
        ("p", "u 4", "Player cannot drive yet. [the manual page of the Unix game mille – Starting to drive]"),
        ("p", "u stop", "Bob cannot be stopped yet"),
        ("p", "u gasoline", "Player has no Out of Gas for Gasoline to fix"),
        ("p", "gas", "Player has no Out of Gas for Gasoline to fix"), ("p", "Red Light", "Bob cannot"),
        ("p", "u red-light", "Bob cannot be stopped yet"), ("p", "d fuel-truck", "A safety cannot be discarded"),
        ("p", "d gasoline", "Player does not have Gasoline in hand."),
        ("p", "d extra-tank", "A safety cannot be discarded"),
        ("p", "100 anyway", "Player cannot drive yet."), ("p", "u 1 > Bob", "cannot be used like that"),
        ("p", "skip-draw", "is already drawn"), ("p", "penalty 25", "There is no penalty card"),
    ],
)  # fmt: skip
def test_an_impossible_command_is_refused_and_changes_nothing(lines, typed, says):
    *_, said, after = answers(at_table("bsd-mille", f"{PERSON_7} {BOB} 75", ""), *filter(None, [lines]), typed, "order")

    assert says in said.replace("\n", " ")
    assert "75 miles" in after if lines else "75 miles" not in after
    assert "Not started" in after


def test_only_a_coup_fourre_is_played_before_picking():
    attacked = at_table("bsd-mille", f"{PERSON_7} {BOB} 75 75", "Player roll, Bob out-of-gas > Player")

    shown = answers(attacked, "redraw")[0]
    at_once, late = answers(attacked, "u 4")[0], answers(attacked, "p", "extra-tank !")[-1]

    assert "at once `u 4` (Extra Tank)" in shown
    assert "Extra Tank !" in at_once
    assert "Too late for a coup fourré" in late


def test_the_person_is_asked_about_an_attack_only_if_they_can_answer_it():
    three = "roll 25 50 100 right-of-way 75 roll 25 50 stop stop 75 25 50 75 100 25 50 75 75 75 75 75"
    attacked = at_table("classic", three, "Player roll, Bob stop > Player", players=3)

    assert "At once `u 4` (Right of Way); `n` declines." in answers(attacked, "redraw")[0]
    assert asked(attacked.hand).stage is Stage.ANSWER
    without = at_table("classic", three.replace("right-of-way", "200", 1), "Player roll, Bob stop > Player", players=3)
    assert asked(without.hand) is None


def test_the_partner_decides_before_the_person_picks():
    hands = "roll 25 50 100 75 75 roll 25 50 stop 25 75 right-of-way 50 75 100 25 50 stop 50 75 100 25 50 75 75 75 75"
    lines = "Player roll, Bob discard 25, Cid discard 50, Dee stop > Player"
    attacked = at_table("classic", hands, lines, players=4)

    assert attacked.hand.asked().player == "Cid"


def test_rush_asks_for_u_turns_and_demanded_cards():
    hands = "u-turn roll 50 75 100 repairs 100 control 50 75 100 200 75 75 75 75"
    driven = at_table("rush", hands, "Player 75, Bob 100")
    owes = at_table("rush", hands, "Player 75, Bob control roll > Player")

    assert "at once `u 1` (u-turn)" in answers(driven, "r")[0].lower()
    assert re.search(r"\nBob +– +– +0 ", answers(driven, "u 1")[0])
    assert answers(owes, "p")[0] == "You cannot pick a card now."
    assert "Roll" not in answers(owes, "u roll")[0].split("\n1 ")[1]


def test_a_card_with_several_uses_asks_which():
    hands = "stop accelerator 50 100 roll repairs 100 50 75 75 100 200 100 50 75 75 100 200 75 75 75 75"
    match = at_table("rush", hands, "", players=3)

    which, doubled, aimed = answers(match, "p", "u 1", "u 2")[1:] + answers(match, "p", "u 1 cid")[1:]

    assert which == "Choose one: `stop > Bob`, `stop > Cid`."
    assert doubled == "Choose one: `50*2`, `75*2`, `100*2`."
    assert re.search(r"Cid +Red Light", aimed)


def test_every_command_is_in_the_help_and_in_the_docs():
    page = (Path(__file__).parent.parent / "docs" / "play.md").read_text(encoding="utf-8")

    for letter, word in list(_COMMANDS.items())[:11]:
        assert f"\n| `{letter}" in page
        assert re.search(rf"(?:^|  )(?:{re.escape(letter)}, )?{word}\b", HELP, re.MULTILINE) or word == "help", word


def test_the_screen_on_its_page_has_the_words_of_the_program(played):
    page = (Path(__file__).parent.parent / "docs" / "play.md").read_text(encoding="utf-8")
    screen = page.partition("### The screen\n\n```\n")[2].partition("\n```")[0].splitlines()
    printed = played("p", "--edition", "bsd-mille", "--seed", "4").stdout

    assert screen[0].partition("  ")[0] in printed
    assert {" ".join(line.split()) for line in (screen[1], screen[-2])} <= {
        " ".join(line.split()) for line in printed.splitlines()
    }


# --- Saving and leaving -----------------------------------------------------------------------------------------


def test_quit_asks_before_leaving_an_unsaved_game(played, tmp_path):
    stays = played("p; q; n; o; q; y; o", "--seed", "1").stdout
    saved = played(f"p; save {tmp_path / 'a'}; quit; o", "--seed", "1").stdout

    assert stays.count("This game is not saved. Quit anyway? (y/n)") == 2
    assert stays.count("> o") == 1
    assert "Quit" not in saved
    assert "> o" not in saved


def test_at_the_end_of_input_only_a_game_with_a_file_is_saved(played, file, tmp_path):
    assert played("p; d 1", "--seed", "1", file).returncode == 0
    assert read_match(file).record.lines[-2].text.startswith("Player discard")
    assert played("p; d 1", "--seed", "1").returncode == 0
    assert list(tmp_path.iterdir()) == [file]


def test_a_picked_card_stays_picked_in_the_file(played, file):
    picked = played("p", "--seed", "1", file).stdout

    assert played("", file).stdout.splitlines()[-3:] == picked.splitlines()[-3:]


def test_leaving_saves_a_game_that_has_a_file(played, file):
    told = played("p; d 1; quit; n; quit; y; o", "--seed", "1", file).stdout

    assert told.replace("\n", " ").count(f"Quit? The game is saved in {file}. (y/n)") == 2
    assert "> o" not in told
    assert has_discarded(file)


def test_another_file_is_not_overwritten(played, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Ann")

    ran = played(f"save {tmp_path / 'letter.txt'}", "--seed", "1")

    assert "already exists" in ran.stdout.replace("\n", " ")
    assert (tmp_path / "letter.txt").read_text() == "Dear Ann"


@pytest.mark.parametrize(
    "spoil",
    [
        "", "[" * 100_000, "\x00\udcff", "{}", '{"level": "1", "seed": 1, "record": [',
        lambda saved: saved.update(level=9), lambda saved: saved.update(record="hand first Player"),
        lambda saved: saved["record"].append("Bob 200"), lambda saved: saved["record"].append("rol"),
        lambda saved: saved["record"].remove("side Player"), lambda saved: saved["deal"]["pile"].pop(),
    ],
)  # fmt: skip
def test_a_damaged_file_is_reported_and_not_changed(played, file, spoil):
    played("p; d 1", "--seed", "1", file)
    if not isinstance(spoil, str):
        spoil(saved := json.loads(file.read_text()))
        spoil = json.dumps(saved)
    file.write_bytes(spoil.encode(errors="surrogateescape"))
    before = file.read_bytes()

    ran = played("p; d 1", file)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"{file} has no game to continue. It was not changed: choose another file.\n"
    assert file.read_bytes() == before


@pytest.mark.parametrize("option", [["--edition", "rush"], ["--players", "3"], ["--seed", "2"]])
def test_options_that_contradict_the_file_are_refused(played, file, option):
    played("", "--seed", "1", file)

    ran = played("", file, *option)

    assert ran.returncode == 2
    assert "contains a different game" in ran.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--players", "5"], "2 or 3 alone, or 4 or 6 in pairs"),
        (["--edition", "bsd-mille", "--players", "3"], "BSD mille is for"), (["--edition", "klassik"], "klassik"),
        (["--players", "7"], "from 2 to 6"), (["--name", "bob"], "Two players are called"),
        (["--level", "4"], "1, 2 or 3"), (["/nowhere/at/all"], "cannot be saved"),
    ],
)  # fmt: skip
def test_an_impossible_call_is_answered_with_one_sentence(played, options, says):
    ran = played("", *options)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_the_persons_name_is_shown_and_saved(played, file):
    first = played("q\n", "--seed", "1", "--name", "Zoé", file).stdout
    again = played("q\n", file).stdout
    renamed = played("q\n", "--name", "Ann Smith", file).stdout

    assert ["Zoé" in first, "Zoé" in again, "Ann Smith" in renamed] == [True] * 3
    assert "Player" not in first


def interrupted(
    monkeypatch,
    file: Path | None,
    *typed: str | signal.Signals | tuple[signal.Signals, ...],
    saving: Sequence[signal.Signals] = (),
):
    """Play with these lines and signals; return exit code and output.

    Signals in a tuple arrive together; those in `saving` arrive while the game is saved.
    """
    match, told, lines = begin("classic", 2, Level.THUMB, 1, pairs=False), [], iter(typed)

    def ask(prompt: str) -> str | None:
        told.append(prompt)
        line = next(lines, None)
        if isinstance(line, tuple):
            signal.pthread_sigmask(signal.SIG_BLOCK, line)
            for number in line:  # to this thread: a signal to the process may reach another one, which blocks none
                signal.pthread_kill(threading.get_ident(), number)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, line)
        return os.kill(os.getpid(), line) if isinstance(line, signal.Signals) else line

    def write(path: Path, content: str) -> None:
        for number in saving if told else ():
            os.kill(os.getpid(), number)
        write_whole(path, content)

    monkeypatch.setattr(terminal_game, "write_whole", write)
    # In background jobs SIGINT may be ignored, and under `nohup` SIGHUP.
    usual = {INT: signal.default_int_handler, HUP: signal.SIG_DFL, TERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    try:
        TerminalGame(match, file, ask, told.append).run()
    except SystemExit as ended:
        return ended.code, told
    except KeyboardInterrupt:
        return 130, told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0, told


def has_discarded(file: Path) -> bool:
    return any(line.text.startswith("Player discard") for line in read_match(file).record.lines)


HUP, TERM, INT = signal.SIGHUP, signal.SIGTERM, signal.SIGINT


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        ((HUP, HUP), 128 + HUP), ((TERM, HUP), 128 + TERM), ((HUP, INT, TERM), 128 + HUP), ((None, HUP), 0),
        ((None, INT), 0), ((INT, INT, INT), 130), ((INT, HUP, HUP), 128 + HUP),
    ],
)  # fmt: skip
def test_further_signals_do_not_prevent_saving(monkeypatch, file, ends, code):
    asking = 2 if ends[0] is INT else 1

    ended, _told = interrupted(monkeypatch, file, "p", "d 1", *ends[:asking], saving=ends[asking:])

    assert ended == code
    assert has_discarded(file)


def test_ctrl_c_asks_like_quit_and_the_game_can_continue(monkeypatch, file):
    code, told = interrupted(monkeypatch, None, "p", INT, "n", "d 1", f"save {file}", INT, "zzz")

    assert code == 0
    assert sum("Quit anyway?" in text for text in told) == 1
    assert has_discarded(file)


def test_a_second_ctrl_c_leaves(monkeypatch):
    assert interrupted(monkeypatch, None, "p", INT, INT, "zzz")[0] == 130


@pytest.mark.parametrize("together", [(INT, TERM), (TERM, INT), (INT, HUP)])
def test_ctrl_c_together_with_a_terminating_signal_asks_nothing(monkeypatch, together):
    code, told = interrupted(monkeypatch, None, "p", "d 1", together, "n")

    assert code == 128 + max(number for number in together if number is not INT)
    assert not any("Leave" in text for text in told)


def test_a_play_is_saved_if_the_terminal_closes_while_robots_think(monkeypatch, file):
    monkeypatch.setattr(RobotMatch, "choice", lambda *_: os.kill(os.getpid(), HUP))

    interrupted(monkeypatch, file, "p", "d 1")

    assert has_discarded(file)


def test_after_ctrl_c_the_robots_continue_their_turn(monkeypatch):
    choose, waits = RobotMatch.choice, [INT]

    def choice(match, position):
        if waits:
            os.kill(os.getpid(), waits.pop())
        return choose(match, position)

    monkeypatch.setattr(RobotMatch, "choice", choice)
    _code, told = interrupted(monkeypatch, None, "p", "d 1", "n", "w")

    assert any(text.startswith("Bob ") for text in told[-2:])


@pytest.fixture
def at_terminal(file):
    """A game in a terminal of its own, after a discard; yields the process and the terminal's other end."""
    program = (
        "import fcntl, signal, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL); from companion.app.main import main; main()"
    )
    end, terminal = os.openpty()
    game = subprocess.Popen(
        [sys.executable, "-c", program, "play", "--seed", "1", str(file)],
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    os.write(end, b"p\nd 1\n")
    shown = b""
    while shown.count(b"picks a card") < 2:
        shown += os.read(end, 1000)
    # A signal in the instant before the program waits for a line is noticed only after that line.
    while "S" not in Path(f"/proc/{game.pid}/stat").read_text().rpartition(")")[2]:
        time.sleep(0.01)
    yield game, end
    game.kill()
    game.wait()
    with suppress(OSError):
        os.close(end)


@pytest.mark.parametrize("signals", [(), (HUP,), (HUP, HUP), (TERM, HUP)] * 3)
def test_closing_the_terminal_saves_the_game(at_terminal, file, signals):
    game, end = at_terminal
    for number in signals:
        game.send_signal(number)
    os.close(end)
    game.wait()

    assert has_discarded(file)
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_simultaneous_signals_at_a_terminal_save_the_game(at_terminal, file):
    game, _end = at_terminal
    for number in (signal.SIGSTOP, INT, TERM, signal.SIGCONT):
        game.send_signal(number)

    assert game.wait(60) == 128 + TERM
    assert has_discarded(file)
