"""Test an evening at the table as rows: actions on phones, and what pages show afterwards.

    a line is taken out by its own side, and corrected by anybody [three]
        Ann taps /play text=Ann roll; Cid taps {line}/retract -> 403; Cid reads | Ann or the host may take it out.
        Cid taps {line}/correct text=Ann right-of-way; lines Ann right-of-way

Semicolons separate steps. The set-up in brackets can have:

* header lines of the match, or `pairs`;
* `two` or `three`: the players have seats (with `three`, the host's phone serves the whole table);
* `fresh`: no match has begun;
* `verified`: the other side confirms plays;
* `dealt`: the program deals, with robots at levels as in `dealt Bob=1`;
* `deals roll / stop 25 / 100`: the first cards of each hand of six, filled up with distances, then the drawn cards.

Phones have the names of players or guests; `machine` is the table's machine. Steps:

* `Ann taps /path field=value` sends a form and expects a redirect, or the answer after `->`.
* `Ann presses` taps on an open page, which may be updated in place (200). `Ann polls /` requests an update of it.
* `Ann sends /path {…}` posts JSON below `/api`.
* `which Ann roll at table/discard` puts a doubtful card in a zone, by default `side-1/battle`.
* `Ann at /path` opens a page, `Ann reads` checks the last one. `| text` must be there, `| not text` must not.
  `button` is a play that a button enters, `buttons` lists all of them, `markup` is HTML.
"""

import re

from client import HOME, SECRET, TWO, lines, text_of, values
from flask.testing import FlaskClient
from seen import camera

from companion.match.match import Match
from companion.pages.players import phone_identity

THREE = ("side Ann", "side Bob", "side Cid", "hand first Ann")
PAIRS = ("side Ann-Cid = Ann, Cid", "side Bob-Dee = Bob, Dee", "hand first Ann")
DULL = "25 25 50 50 75 75"
LIVE = HOME | {"HX-Request": "true"}
SIDES = {"two": TWO, "three": THREE, "pairs": PAIRS}
SEATED = {"two": ("Ann", "Bob"), "three": ("host", "Ann", "Bob", "Cid")}
VERBS = ("sits", "scans", "watches", "taps", "presses", "sends", "answers", "at", "polls", "reads", "is")


class Evening:
    """A match and the phones around it."""

    def __init__(self, app, match: Match, setting: str = "", clock=None, stacked=None) -> None:
        words = [word.strip() for word in setting.split(";") if word.strip()]
        self.app, self.match, self.clock, self.laid = app, match, clock, 0
        self.phones: dict[str, FlaskClient] = {}
        self.answers: dict[str, object] = {}
        header = [word for word in words if " " in word and not word.startswith("deal")]
        usual = ("hand first Ann",) if any(line.startswith("side ") for line in header) else TWO
        self.header = [*header, *next((SIDES[word] for word in words if word in SIDES), usual)]
        for deals in (word.removeprefix("deals ") for word in words if word.startswith("deals ")):
            *hands, drawn = deals.split("/")
            stacked(*(" ".join(f"{hand} {DULL}".split()[:6]) for hand in hands), drawn)
        dealt = next((re.findall(r"(\w+)=(\d)", word) for word in words if word.startswith("dealt")), None)
        if "fresh" not in words:
            robots = {player: int(level) for player, level in dealt} if dealt is not None else None
            match.start(self.header, verified="verified" in words, robots=robots)
        for player in (player for word in words for player in SEATED.get(word, ())):
            self.do(f"{player} sits")
        self.version, self.last = match.state.version, {"asked": "", "seq": ""}

    def phone(self, who: str) -> FlaskClient:
        """Return a phone, new on first use, before it scans the code."""
        if who not in self.phones:
            self.phones[who] = self.app.test_client()
            if who != "machine":
                self.phones[who].environ_base["REMOTE_ADDR"] = f"192.168.1.{len(self.phones) + 9}"
        return self.phones[who]

    def id_of(self, who: str) -> str:
        """Return a phone's id from its cookie."""
        with self.phone(who).session_transaction() as session:
            return session["phone"]

    def play(self, rows: list[str]) -> None:
        """Perform the steps of the rows; fail if an expectation is wrong."""
        for step in (step.strip() for row in rows for step in re.split(r";(?= )", row)):
            self.do(re.sub(r"\{(\w+) ?(\w*)\}", lambda found: self.known(*found.groups()), step))

    def known(self, what: str, which: str) -> str:
        """Return the value of a placeholder in braces; question and change remain known once settled."""
        now = self.match.state
        if now.questions:
            self.last["asked"] = f"/question/{now.questions[0].id}"
        if now.undoable:
            self.last["seq"] = str(now.undoable.seq)
        if what == "phone":
            return self.id_of(which)
        if what == "line":
            return f"/line/{now.hand_entries[int(which or 1) - 1].seq}"
        if what == "changed":
            return str(now.past.changes[int(which or 1) - 1].seq)
        if what == "id":
            return self.last["asked"].rpartition("/")[2]
        return phone_identity.table_code(SECRET) if what == "code" else self.last[what]

    def do(self, step: str) -> None:
        who, _, rest = step.partition(" ")
        verb, _, what = rest.partition(" ")
        if who in ("sees", "perhaps", "which"):
            self.laid, (laid, _, zone) = self.laid + 1, rest.partition(" at ")
            plays, where = laid.split(" or "), zone or "side-1/battle"
            if who == "which":
                camera(self.match).which(self.laid, *plays, zone=where)
            else:
                camera(self.match).play(self.laid, *plays, zone=where, sure=who == "sees")
        elif who in ("lines", "asked"):
            asked = (str(question.plays[0]) for question in self.match.state.questions)
            assert [*(lines(self.match) if who == "lines" else asked)] == ([] if rest == "-" else rest.split(", ")), (
                step
            )
        elif who == "later":
            self.clock.now_s += float(rest)
        elif who == "trouble":
            self.match.trouble(rest)
        elif who == "anew":
            self.match.start(self.header)
        elif who == "newer":
            assert self.match.state.version > self.version, step
            self.version = self.match.state.version
        elif who == "policy":
            assert self.match.state.policy.value == rest, step
        elif verb in VERBS:
            getattr(self, f"_{verb}")(who, what)
        else:
            assert self.match.enter(step, who).done, step

    def _scans(self, who: str, _what: str) -> None:
        token = phone_identity.join_token(SECRET)
        self.answers[who] = self.phone(who).get(f"/join?t={token}", follow_redirects=True)

    def _sits(self, who: str, _what: str) -> None:
        self._scans(who, "")
        self._taps(who, f"/join player={who}" if who in self.match.state.people else "/join everybody=1")

    def _watches(self, who: str, _what: str) -> None:
        self._scans(who, "")
        self._taps(who, "/join player=")

    def _presses(self, who: str, what: str) -> None:
        self._taps(who, what, LIVE)

    def _taps(self, who: str, what: str, headers=HOME) -> None:
        what, _, expected = what.partition(" -> ")
        path, _, sent = what.partition(" ")
        fields = dict(field.split("=", 1) for field in sent.split(" & ") if field)
        answer = self.answers[who] = self.phone(who).post(path, data=fields, headers=headers)
        place = answer.headers.get("HX-Redirect", answer.location)
        found = str(answer.status_code) if expected in ("", *map(str, range(200, 600))) else place
        assert found == (expected or "303"), f"{who} taps {what}: {found}, {text_of(answer)}"

    def _sends(self, who: str, what: str) -> None:
        what, _, expected = what.partition(" -> ")
        path, _, body = what.partition(" ")
        sent = {"data": body or "{}", "content_type": "application/json", "headers": HOME}
        answer = self.answers[who] = self.phone(who).post(f"/api{path}", **sent)
        assert str(answer.status_code) == (expected or "200"), f"{who} sends {what}: {text_of(answer)}"

    def _answers(self, who: str, what: str) -> None:
        said, _, expected = what.partition(" -> ")
        asked = self.app.extensions["companion"].phones.asked[-1].id
        self._taps(who, f"/seats/asked/{asked} answer={said} -> {expected or 303}")

    def _at(self, who: str, what: str) -> None:
        path, _, expected = what.split(" | ")[0].partition(" -> ")
        self.answers[who] = answer = self.phone(who).get(path, follow_redirects=True)
        assert str(answer.status_code) == (expected or str(answer.status_code)), f"{who} at {what}"
        self._reads(who, what)

    def _polls(self, who: str, what: str) -> None:
        path, _, expected = what.partition(" -> ")
        self.answers[who] = answer = self.phone(who).get(path, headers=LIVE)
        assert answer.headers.get("HX-Redirect", "") == expected, f"{who} polls {what}"

    def _reads(self, who: str, what: str) -> None:
        answer = self.answers[who]
        text, markup, buttons = text_of(answer), answer.text, values(answer)
        for said in what.split(" | ")[1:]:
            one = said.removeprefix("not ")
            kind, _, rest = one.partition(" ")
            found = {
                "button": rest in buttons,
                "buttons": rest == ", ".join(buttons),
                "markup": rest in markup,
            }.get(kind, one in text)
            assert found is not said.startswith("not "), f"{who} at {what}: {said!r} in {text} {buttons}"

    def _is(self, who: str, what: str) -> None:
        party = self.app.extensions["companion"].phones.party
        role = party.host if what == "host" else party.seats.get(what)
        assert role == (None if who == "nobody" else self.id_of(who)), f"{who} is {what}"


def check(app, match: Match, setting: str, rows: list[str], clock=None, stacked=None) -> None:
    """Play rows; fail if an expectation is wrong."""
    Evening(app, match, setting, clock, stacked).play(rows)
