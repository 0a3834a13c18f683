"""The match: its state follows from the log, plays wait for a tap, corrections judge again."""

import re
import threading

import pytest
from client import lines as texts
from client import played as enter
from seen import Seen
from sheet import scenes

from companion.common import clock
from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.questions import Answer
from companion.match.state import Policy, next_first
from companion.rules.record import judge, notation
from companion.storage.event_store import NewEvent, Store
from companion.storage.events import EventKind
from companion.storage.versions import FILE_NAME

TWO = ("edition classic", "side Ann", "side Bob", "hand first Ann")
PAIRS = ("side Reds = Ann, Cid", "side Blues = Bob, Dee", "hand first Ann")


@pytest.fixture
def match(store):
    begun = Match(store)
    begun.start(TWO)
    return begun


@pytest.fixture
def seen(match):
    return Seen(match)


def at_once(act) -> list[bool]:
    """Return the outcomes of two people who tap at the same instant."""
    start, done = threading.Barrier(2), []

    def tap(who):
        start.wait()
        done.append(act(who).done)

    people = [threading.Thread(target=tap, args=(who,)) for who in ("Ann", "Bob")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    return sorted(done)


def codes(match: Match) -> list[list[str]]:
    return [[why.code for why in question.reasons] for question in match.state.questions]


def yes(match: Match, question: str, by: str = "Ann", **how):
    return match.answer(question, Answer.YES, by, **how)


class Scene:
    """A match, the actions on it and its state afterwards, in the words of the rows below."""

    def __init__(self, store: Store, setting: str) -> None:
        self.store, self.match = store, Match(store)
        self.match.start([line.strip() for line in setting.split(";")] if setting else TWO)
        self.seen, self.cards = Seen(self.match), dict[str, str]()
        self.outcome = None

    def act(self, text: str):
        """Perform an action; return its outcome, if any."""
        player = text.split()[0]
        for pattern, act in self.ACTS:
            if found := re.fullmatch(pattern, text):
                return act(self, **found.groupdict())
        return self.match.enter(text, player if player in ("Ann", "Bob") else "Ann")

    def sees(self, number: str, play: str, unsure: str | None = None) -> None:
        self.cards[number] = self.seen.play(int(number), play, sure=not unsure)

    def doubts(self, number: str, plays: str) -> None:
        self.cards[number] = self.seen.which(int(number), *plays.split(" or "))

    def differs(self, number: str, zone: str, was: str, now: str, line: str | None, play: str | None) -> None:
        plays, seq = [play] if play else [], self.line(line) if line else None
        was, now = (None if card == "-" else card for card in (was, now))
        self.cards[number] = self.seen.differs(int(number), zone, was, now, *plays, line=seq)

    def says(self, answer: str, number: str, by: str | None, play: str | None, anyway: str | None):
        asked = self.cards[number] if number in self.cards else self.match.state.questions[0].id
        return self.match.answer(asked, Answer(answer), by or "Ann", play=play, anyway=bool(anyway))

    def line(self, text: str) -> int:
        return next(entry.seq for entry in reversed(self.match.state.entries) if entry.written.text == text)

    def restart(self) -> None:
        self.match = Match(self.store)
        self.match.look(self.seen.derive)

    ACTS = (
        (r"sees (?P<number>\d) (?P<unsure>unsure )?(?P<play>.+)", sees),
        (r"doubts (?P<number>\d) (?P<plays>.+)", doubts),
        (
            r"differs (?P<number>\d) (?P<zone>\S+) (?P<was>\S+) (?P<now>\S+)( of (?P<line>.+?))?( as (?P<play>.+))?",
            differs,
        ),
        (r"lifts (?P<number>\d)", lambda self, number: self.seen.lift(self.cards[number])),
        (
            r"(?P<answer>yes|no|taken-back|table|record|ignore) (?P<number>\d|it)"
            r"( by (?P<by>\w+))?( as (?P<play>.+?))?(?P<anyway> anyway)?",
            says,
        ),
        (r"anyway (?P<text>.+)", lambda self, text: self.match.enter(text, "Ann", anyway=True)),
        (
            r"(?P<way>undo|redo)( (?P<seq>\d))?",
            lambda self, way, seq: getattr(self.match, way)("Ann", int(seq) if seq else None),
        ),
        (
            r"once (?P<name>\w+) (?P<text>.+)",
            lambda self, name, text: self.match.once(name, text, lambda: self.act(text)),
        ),
        (r"next hand", lambda self: self.match.next_hand("Ann")),
        (r"another match", lambda self: self.match.start(PAIRS)),
        (r"restart", restart),
        (r"verify", lambda self: self.match.set_verifying("Ann", on=True)),
        (r"policy (?P<policy>.+)", lambda self, policy: self.match.set_policy(Policy(policy), "Ann")),
        (
            r"correct (?P<line>.+) to (?P<text>.+)",
            lambda self, line, text: self.match.correct(self.line(line), text, "Bob"),
        ),
        (
            r"insert (?P<text>.+) before (?P<line>.+)",
            lambda self, text, line: self.match.rewrite(EventKind.LINE, self.line(line), text, "Ann"),
        ),
        (
            r"retract (?P<line>.+)",
            lambda self, line: self.match.rewrite(EventKind.RETRACT, self.line(line), None, "Bob"),
        ),
        (r"let (?P<line>.+) stand", lambda self, line: self.match.let_stand(self.line(line), "Bob")),
    )

    def fact(self, name: str, rest: str) -> str:
        """Return the actual value of a fact about the scene."""
        state, told = self.match.state, self.outcome
        asked = {card: number for number, card in self.cards.items()}
        table = state.game.table
        facts = {
            "lines": lambda: ", ".join(texts(self.match)),
            "asks": lambda: " ".join(asked.get(question.id, "typed") for question in state.questions),
            "codes": lambda: " / ".join(" ".join(found) or "-" for found in codes(self.match)),
            "told": lambda: "done" if told.done else "void" if told.is_void else "not done",
            "why": lambda: " ".join(why.code for why in told.reasons),
            "says": lambda: rest if rest in (told.say or "") else str(told.say),
            "turn": lambda: table.player_to_move,
            "hand": lambda: str(state.game.hand_number),
            "km": lambda: f"{rest.split()[0]} {table.side_of(rest.split()[0]).km}",
            "total": lambda: f"{rest.split()[0]} {state.game.hands[0].sheets[rest.split()[0]].total}",
            "by": lambda: str(state.game.hands[0].by),
            "attention": lambda: ", ".join(f"{entry.hand}: {entry.written.text}" for entry in state.attention),
            "answers": lambda: ", ".join(
                f"{one.answer.value} {one.about}".strip() for one in state.past.answers.values()
            ),
            "corrected": lambda: ", ".join(
                f"{e.written.text} by {e.written.corrected_by}" for e in state.entries if e.written.corrected_by
            ),
            "answered": lambda: " ".join(
                asked[e.written.question] for e in state.hand_entries if e.written.question in asked
            ),
            "matches": lambda: str(len(self.store.matches())),
            "teams": lambda: " ".join(team.name for team in state.game.teams),
        }
        return f"{name} {facts[name]()}".strip()


SCENES = """
# Plays by hand

a legal play counts at once
    Ann roll; Bob discard 25; Ann 100 = km Ann 100
an illegal play waits and can be played all the same
    Ann 100 = told not done; codes not-driving; lines
    yes it by Bob anyway = lines Ann 100 anyway; km Ann 100; asks
an illegal play can be taken back
    Ann 100; taken-back it = asks; turn Ann; answers taken-back
the hand is counted by itself when it ends
    Ann roll; Bob discard 25; Ann 200; Bob discard 25; Ann 200; Bob discard 25; Ann 100; Bob discard 50; Ann 100;
        Bob discard 50; Ann 100; Ann finish = by Ann; total Ann 1600
the next hand begins once with the next player
    Ann roll; end; next hand = turn Bob
    next hand = told void; hand 2
a new match starts empty with its own teams
    Ann roll; sees 1 Bob roll; another match = teams Reds Blues; hand 1; asks; lines

# What the camera sees

a card counts only once it is confirmed
    sees 1 Ann roll = lines
    yes 1 by Bob = lines Ann roll; answered 1; asks
a later play is judged as if the earlier were applied
    sees 1 Ann roll; sees 2 Bob stop > Ann; sees 3 Ann 100 = codes - / - / under-hazard
a yes counts the legal and sure plays before it
    sees 1 Ann roll; sees 2 Bob roll; yes 2 = told done; lines Ann roll, Bob roll
a yes with an illegal play before it says what is in the way
    sees 1 Ann 100; sees 2 Bob roll; yes 2 = told not done; why not-driving; says must be confirmed first; lines
a yes with an unsure play before it says what is in the way
    sees 1 unsure Ann roll; sees 2 Bob roll; yes 2 = told not done; why; says must be confirmed first; lines
what is typed as the camera has it answers the question about the card
    sees 1 Ann roll; Ann roll = lines Ann roll; answered 1; asks
what is entered as it was answers the question about the card
    sees 1 Ann stop > Bob; yes 1 as Ann roll = lines Ann roll; answered 1; asks
what was no play is not asked again over undo and restart
    Ann roll; sees 1 Bob roll; no 1; undo = asks
    restart = asks
a card taken up again cannot be confirmed any more
    sees 1 Ann roll; lifts 1; yes 1 = told void; lines
what was typed undone and laid counts like any other card
    Ann roll; undo; sees 1 Ann roll = asks 1
    yes 1 = told done; lines Ann roll
what was undone while its card lies is asked again
    sees 1 Ann roll; yes 1; undo = asks 1

# Policies

auto counts what is legal and sure
    policy auto; sees 1 Ann roll = lines Ann roll; asks
auto asks about what is unsure
    policy auto; sees 1 unsure Ann roll = lines; asks 1
auto asks about what is illegal
    policy auto; sees 1 Ann 100 = lines; asks 1
auto goes on once what was unsure is settled
    policy auto; sees 1 unsure Ann roll; sees 2 Bob roll; yes 1 = lines Ann roll, Bob roll
what somebody has undone does not count by itself again
    policy auto; sees 1 Ann roll; sees 2 Bob roll; undo; undo; undo = told void; lines; asks 1 2
what somebody has undone does not count with the next play either
    policy play-on; sees 1 Ann roll; sees 2 Bob roll; undo; undo; undo = told void; lines; asks 1 2
auto takes back the last play with its card and no earlier one
    policy auto; sees 1 Ann roll; sees 2 Bob roll; differs 3 side-1/battle roll - of Ann roll = lines Ann roll, Bob roll
    lifts 3; differs 4 side-2/battle roll - of Bob roll = lines Ann roll
play on takes the next players play as a tap
    policy play-on; sees 1 Ann driving-ace; sees 2 Ann roll = lines
    sees 3 Bob roll = lines Ann driving-ace, Ann roll; asks 3
play on does not wave an illegal play through
    policy play-on; sees 1 Ann 100; sees 2 Bob roll = lines

# Plays that were typed and wait

a typed play waits over a restart
    Ann 100; restart = codes not-driving; asks typed
    yes it by Bob anyway = told done; lines Ann 100 anyway
a typed play that counted and was undone is asked again
    Ann 100; yes it anyway; undo = asks typed
a typed play is judged after what the camera asks
    Bob roll = codes not-your-turn
    sees 1 Ann roll = codes - / -
the other side verifies the play that was seen and the one that is said
    verify; sees 1 Ann roll; yes 1 as Ann roll = told not done; says The other side has to confirm that.; lines
    yes 1 as Ann right-of-way = told not done; says The other side has to confirm that.; lines
    yes 1 as Bob discard 25 = told not done; says The other side has to confirm that.; lines
    yes 1 by Bob = told done
a play typed with the word for it is let stand
    Ann 100 anyway = told done; lines Ann 100 anyway
what counts nowhere cannot be let stand
    end; anyway Ann 100 = told not done; why hand-over; lines end

# Changes that are sent twice

a change counts once over a restart and anew in the next match
    once one Ann roll; restart; once one Ann roll = told done; lines Ann roll
    another match; once one Ann roll = told done; lines Ann roll
what was refused may be asked for again under its name
    once one redo = told void
    Ann roll; undo; once one redo = told done; lines Ann roll
    undo; once one redo = told done; lines
a match that is begun twice under one name begins once
    once one another match; once one another match = told done; matches 2

# Corrections

a line corrected to what does not count says why
    Ann roll; correct Ann roll to Ann repairs = told done; why nothing-to-remedy
undo goes back further and redo returns
    Ann roll; Bob roll; Ann 100; undo = lines Ann roll, Bob roll; km Ann 0; turn Ann
    undo = lines Ann roll; turn Bob
    redo; redo = lines Ann roll, Bob roll, Ann 100
who takes back where nothing is to be taken back is told so
    undo = told void; says There is nothing to undo.
    undo 7 = told void; says That is already settled.
    redo = told void; says There is nothing to redo.
    redo 7 = told void; says That is already settled.
a late correction judges what follows anew and drops nothing
    Ann roll; Bob roll; Ann 100; correct Ann roll to Ann discard 25 = lines Ann discard 25, Bob roll, Ann 100;
        corrected Ann discard 25 by Bob; attention 1: Ann 100; km Ann 0
    let Ann 100 stand = attention; km Ann 100
a line can be taken out and brought back
    Ann roll; Bob roll; retract Ann roll = lines Bob roll
    undo = lines Ann roll, Bob roll
a forgotten play is put before another
    Ann roll; anyway Ann 100; insert Bob roll before Ann 100 anyway
        = lines Ann roll, Bob roll, Ann 100 anyway; attention
a correction in an earlier hand reaches its totals and names the lines there that no longer fit
    Ann roll; Bob discard 25; Ann 100; end; next hand; Bob roll; correct Ann roll to Ann discard 25
        = attention 1: Ann 100; total Ann 0; lines Bob roll

# Players called like words of the record

each play of a player called player is undone [side player; side Bob; hand first player]
    player roll; Bob roll; player 25; undo = lines player roll, Bob roll
    undo; undo = lines
after Ann a player called hand begins [side Ann; side hand; hand first Ann]
    Ann roll; hand roll; end; next hand = turn hand; hand 2

# Cards that cannot be told

a card that cannot be told counts once somebody says which of those asked it is
    doubts 1 Ann roll or Ann discard roll; yes 1 by Bob as Ann discard roll = told done; lines Ann discard roll; asks
a card that cannot be told may be another than those asked
    doubts 1 Ann roll or Ann discard roll; yes 1 by Bob as Ann right-of-way = told done; lines Ann right-of-way; asks
of two answers the first counts and the second is told
    doubts 1 Ann roll or Ann stop > Bob; yes 1 as Ann roll; yes 1 by Bob as Ann stop > Bob
        = told void; says That is already settled.; lines Ann roll
an answer that is illegal counts only where the table lets it stand
    doubts 1 Ann roll; yes 1 by Bob as Ann 100 = why not-driving
    yes 1 by Bob as Ann 100 anyway = told done; lines Ann 100 anyway
an answer counts before what was laid after its card
    policy auto; doubts 1 Ann roll; sees 2 Bob roll; yes 1 = lines Ann roll, Bob roll
a typed play answers the question about its card
    doubts 1 Ann roll or Ann right-of-way; Ann right-of-way = asks; lines Ann right-of-way

# Table and record differ

the table is right changes the card in the record
    Ann roll; Bob roll; Ann 75; differs 1 side-1/distance 75 25 of Ann 75 as Ann 25; table 1
        = told done; lines Ann roll, Bob roll, Ann 25; asks
the table is right takes out a line whose card is not there
    Ann roll; Bob stop > Ann; differs 1 side-1/battle stop - of Bob stop > Ann; table 1 = told done; lines Ann roll
the table is right writes the play of a card that the record lacks also an illegal one
    differs 1 side-1/distance - 100 as Ann 100; table 1 by Bob = told done; lines Ann 100 anyway; asks
a difference that no line explains stays and says so
    differs 1 side-2/battle stop -; table 1 = told not done; says correct it in the log; asks 1
the record is right changes nothing and is remembered with what lay there
    Ann roll; differs 1 side-1/battle roll - of Ann roll; record 1; restart
        = lines Ann roll; answers record side-1/battle None
a difference that is ignored is remembered with what lay there
    Ann roll; differs 1 side-1/battle roll - of Ann roll; ignore 1; restart
        = lines Ann roll; answers ignore side-1/battle None
a difference does not stand in the way of a play
    differs 1 side-2/battle stop -; sees 2 Ann roll; yes 2 = told done
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(SCENES))
def test_each_action_leaves_the_match_as_written(store, setting, rows):
    scene = Scene(store, setting)
    for row in rows:
        acts, _, facts = row.partition(" = ")
        for act in acts.split("; "):
            scene.outcome = scene.act(act)
        for fact in facts.split("; "):
            name, _, rest = fact.strip().partition(" ")
            assert scene.fact(name, rest) == fact.strip(), row


# --- Setting up ----------------------------------------------------------------------------------------------


def test_a_setup_is_read_in_any_case_and_only_hands_follow_a_blank_line(store):
    match = Match(store)
    match.start(["edition classic", "side Ann", "side hand", "Hand first hand"])

    assert enter(match, "hand roll").record() == (
        "edition classic\nside Ann\nside hand\n\nHand first hand\nhand roll\n"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ("side Ann", "side Bob"), ("side Ann", "side Ann", "hand first Ann"), ("side Ann", "hand first Ann"),
        ("edition klassik", "side Ann", "side Bob", "hand first Ann"),
        ("side Ann", "side Bob", "hand first Ann", "Ann roll"),
    ],
)  # fmt: skip
def test_invalid_setup_lines_are_refused_and_not_saved(store, lines):
    with pytest.raises(Problem):
        Match(store).start(lines)

    assert store.matches() == ()


@pytest.mark.parametrize(
    ("side", "other"),
    [
        ("side " + "A" * 61, "side Bob"),
        ("side Reds = Ann, " + "A" * 61, "side Blues = Bob, Dee"),
        ("side " + "R" * 61 + " = Ann, Cid", "side Blues = Bob, Dee"),
    ],
)
def test_a_new_match_refuses_names_longer_than_sixty_letters(store, side, other):
    with pytest.raises(Problem, match=r"at most 60 letters: '[AR]{40}' has 61"):
        Match(store).start([side, other, "hand first Bob"])


def test_an_old_match_with_a_longer_name_keeps_its_sides(store):
    begun = {"lines": ["edition classic", "side " + "A" * 61, "side Bob"]}
    store.append(None, NewEvent(EventKind.SETUP, begun), NewEvent(EventKind.LINE, {"text": "hand first Bob"}))

    match = Match(store)

    assert [team.name for team in match.state.game.teams] == ["A" * 61, "Bob"]


def test_a_play_before_the_first_match_is_answered_with_what_to_do(store):
    with pytest.raises(Problem, match="choose the players first"):
        Match(store).enter("Ann roll", "Ann")


# --- Typed plays ---------------------------------------------------------------------------------------------


def test_unreadable_text_is_refused_with_a_hint_and_leaves_questions_open(match, seen):
    card = seen.which(1, "Ann roll")
    for act in (lambda: match.enter("Zoe roll", "Ann"), lambda: yes(match, card, play="Zoe roll")):
        with pytest.raises(Problem, match="Start a play with a player's name"):
            act()

    assert match.state.question(card) is not None


def test_a_hand_begun_by_a_stranger_is_ignored_and_the_next_player_begins(store):
    lines = ["edition classic", "side Ann", "side Bob"]
    hand = [NewEvent(EventKind.LINE, {"text": text}) for text in ("hand first Ann", "end", "hand first Zed")]
    store.append(None, NewEvent(EventKind.SETUP, {"lines": lines}), *hand)

    assert next_first(Match(store).state) == "Bob"


# --- Questions of the camera ---------------------------------------------------------------------------------


def test_two_people_who_confirm_at_once_count_the_play_once(match, seen):
    roll = seen.play(1, "Ann roll")

    assert at_once(lambda who: yes(match, roll, who)) == [False, True]
    assert texts(match) == ["Ann roll"]


def test_no_question_outlives_its_hand(match, seen):
    match.enter("Ann 100", "Ann")
    old = [seen.play(1, "Ann roll"), seen.which(2, "Bob roll"), seen.differs(3, "side-2/battle", None, "stop")]
    old += [question.id for question in match.state.questions]

    assert match.enter("end", "Ann").done
    ended = match.state.questions
    match.next_hand("Ann")

    assert ended == match.state.questions == ()
    assert all(match.answer(question, answer, "Ann").is_void for question in old for answer in Answer)
    assert texts(match) == []


def test_question_ids_differ_between_matches(match, seen):
    first = seen.play(1, "Ann roll")
    match.start(TWO)
    second = seen.play(1, "Ann roll")

    assert first != second
    assert yes(match, first).is_void
    assert match.was_asked(first)
    assert match.was_asked(first.partition("-")[0] + "-2-pile.n0-play")
    assert not match.was_asked("1-2-camera")
    assert not match.was_asked("999-999-camera.1-play")


def test_another_look_makes_no_new_version_but_shows_a_new_picture(match, seen):
    card = seen.play(1, "Ann roll")
    version = match.state.version

    seen.play(1, "Ann roll", crop=b"a better picture")

    assert match.state.version == version
    assert match.state.question(card).crop == b"a better picture"


def test_a_tap_counts_even_if_no_questions_can_be_derived(match):
    def broken(state):
        if state.hand_entries:
            raise ZeroDivisionError
        return ()

    match.look(broken)

    assert match.enter("Ann roll", "Ann").done
    with pytest.raises(ZeroDivisionError):
        match.look(broken)


# --- Repeated changes ----------------------------------------------------------------------------------------


def test_a_change_sent_again_counts_once_and_its_name_cannot_be_reused(match):
    first, again = (match.once("one", "Ann roll", lambda: match.enter("Ann roll", "Ann")) for _ in range(2))
    other = match.once("one", "Bob roll", lambda: match.enter("Bob roll", "Bob"))

    assert first == again
    assert first.done
    assert first.version == match.state.version
    assert other.is_void
    assert texts(match) == ["Ann roll"]


def test_versions_grow_over_a_restart_even_without_new_events(match, store, monkeypatch):
    match.enter("Ann roll", "Ann")
    monkeypatch.setattr(clock, "now_s", lambda: 0.0)
    for number in range(1000):
        match.trouble(f"The camera is gone, {number}.")

    assert match.state.version < Match(store).state.version


def test_versions_fit_into_31_bits_even_with_a_long_log_of_an_older_program(match, store):
    """Older versions of the program saved no version numbers."""
    (store.path.parent / FILE_NAME).unlink()
    store.append(match.state.match, *(NewEvent(EventKind.CALL, {"by": "Ann"}),) * 20_000)
    versions = [Match(store).state.version for _restart in range(3)]

    assert versions == sorted(set(versions))
    assert 20_000 < versions[0] <= versions[-1] < 2**31


def test_a_waiting_play_sent_again_after_a_restart_gets_its_question(match, store):
    waits = match.once("one", "Bob 100", lambda: match.enter("Bob 100", "Bob"))
    again = Match(store)

    repeated = again.once("one", "Bob 100", lambda: again.enter("Bob 100", "Bob"))

    assert [reason.code for reason in waits.reasons] == ["not-your-turn", "not-driving"]
    assert not repeated.done
    assert (repeated.reasons, repeated.asked, repeated.seq) == (waits.reasons, waits.asked, waits.seq)


def test_only_a_player_can_begin_the_next_hand(match):
    match.enter("end", "Ann")

    with pytest.raises(Problem, match="Zed is not one of the players"):
        match.next_hand("Ann", "Zed")


def test_answers_in_older_logs_are_read_and_ignored(match, store):
    old = {"zone": "side-1/battle", "expected": "roll", "seen": None, "answer": "ignore", "by": "Ann"}
    store.append(match.state.match, NewEvent("answer", old))

    assert Match(store).state.past.answers == {}


# --- Corrections ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["undo", "redo"])
def test_two_phones_that_undo_at_once_undo_once(match, name):
    for _ in range(10):
        match.enter("Ann roll", "Ann")
        match.enter("Bob roll", "Bob")
        if name == "redo":
            match.undo("Ann")
        before = match.state
        seq = getattr(before, f"{name}able").seq

        assert at_once(lambda who, seq=seq: getattr(match, name)(who, seq)) == [False, True]
        assert match.state.seq == before.seq + 1

        while match.undo("Ann").done:
            pass


def test_a_correction_judges_only_later_lines_again(match, monkeypatch):
    enter(match, "Ann roll", "Bob roll", "Ann 100", "Bob 25")
    judged = []
    step = judge.step
    monkeypatch.setattr(judge, "step", lambda game, line, **how: judged.append(line.text) or step(game, line, **how))

    match.correct(match.state.hand_entries[2].seq, "Ann 75", "Bob")

    assert judged == ["Ann 75", "Bob 25"]


def test_the_match_is_judged_like_a_replay_of_its_record(match):
    enter(match, "Ann roll", "Bob roll", "Ann 100", "Bob 25", "Ann 25")
    match.rewrite(EventKind.LINE, match.state.hand_entries[2].seq, "Ann driving-ace", "Bob")
    match.rewrite(EventKind.RETRACT, match.state.hand_entries[0].seq, None, "Bob")

    items = [item for item in judge.judge(notation.lines(match.record())) if isinstance(item, judge.JudgedLine)]
    replayed = [(item.line.text, item.verdict, item.reasons) for item in items]
    entries = [entry.judged for entry in match.state.hand_entries]
    assert replayed == [(judged.line.text, judged.verdict, judged.reasons) for judged in entries]
    assert len(match.state.attention) == len([verdict for _, verdict, _ in replayed if verdict == "illegal"]) > 0


def test_the_name_shown_for_a_player_can_change(match):
    match.sit("Ann", "phone", name="Ann ”Speedy” Smith")

    assert match.state.game.shown["Ann"] == "Ann ”Speedy” Smith"


# --- Waiting for changes -------------------------------------------------------------------------------------


def test_a_change_wakes_waiting_threads(match):
    version = match.state.version
    woken = []
    waiter = threading.Thread(target=lambda: woken.append(match.wait(version, 10).trouble))
    waiter.start()

    match.trouble("The camera is gone.")
    waiter.join()

    assert woken == ["The camera is gone."]


def test_a_wait_without_a_change_returns_the_current_state(match):
    assert match.wait(match.state.version, 0) is match.state


# --- Plays chosen before others played --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "late", "says"),
    [
        (["Ann roll"], "Ann roll", "already entered"),
        (["Ann roll"], "Ann driving-ace", "no longer fits"),
        (["Ann driving-ace"], "Ann roll", "no longer fits"),
        (["Ann roll", "Bob roll"], "Ann 100", "no longer fits"),
        (["Ann roll", "undo"], "Ann roll", None),
    ],
    ids=["the same play", "another", "before an extra turn", "a turn later", "undone"],
)
def test_a_play_chosen_before_others_played_counts_once_or_is_refused_with_a_sentence(begun, first, late, says):
    chosen_at = begun.state.last_line
    for play in first:
        assert (begun.undo("Ann") if play == "undo" else begun.enter(play, "Bob")).done
    lines = begun.lines()
    outcome = begun.enter(late, "Ann", after=chosen_at)

    assert (outcome.say is None) == outcome.done == (says is None)
    assert says is None or says in outcome.say
    assert begun.lines() == (lines if says else [*lines, late])
    assert begun.state.past.claims == ()


def test_an_illegal_play_chosen_now_is_still_a_question(begun):
    outcome = begun.enter("Bob 100", "Ann", after=begun.state.last_line)

    assert not outcome.done
    assert begun.state.questions


def test_a_play_chosen_in_an_earlier_hand_is_refused(begun):
    chosen_at = begun.state.last_line
    begun.enter("end", "Ann")
    begun.next_hand("Ann", "Ann")
    outcome = begun.enter("Ann roll", "Bob", after=chosen_at)

    assert "no longer fits" in outcome.say
