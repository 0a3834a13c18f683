"""Push a table's log to its club.

A thread sends new events and retries forever; the table never waits. It starts with the last two, and the club answers
where its copy ends. Batches begin with the last event that the club has, so a fork is detected, never merged.
"""

from __future__ import annotations

import http.client
import json
import logging
import random
import ssl
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from companion.club import batch
from companion.common.errors import Problem
from companion.common.small_file import read_json
from companion.common.text import Said, say, say_many
from companion.storage.data_folder import write_whole
from companion.storage.event_store import Store

log = logging.getLogger(__name__)

FILE_NAME = "club.json"  # in the data folder; holds the table's ID at the club
LOOK_S = 0.25  # between checks of the log
WORD_S = 10.0  # between empty batches, which fetch the director's letters
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 1.5
"""Pauses between attempts while the club is silent: they double; jitter removes up to half."""

REFUSED_PAUSE_S = 20.0  # longest, after a refusal or fork, which needs a person
OUT_S = 600.0  # how long an expired clock stays while the club is silent
ANSWER_S = 5.0
USUAL_BYTES = 15_000  # target batch size, handled like any other request
MOST_ROWS = 100

Post = Callable[[str, bytes, dict[str, str]], tuple[int, dict[str, Any]]]
"""Post a body to a URL with headers; return status and JSON answer. Raises OSError without one."""


class Trouble(StrEnum):
    """Why the club lacks part of the log."""

    SILENT = "silent"
    REFUSED = "refused"
    FORKED = "forked"


@dataclass(frozen=True, slots=True)
class Address:
    """The club's URL, and this table's name and key. Raises Problem if URL or key is malformed."""

    url: str
    name: str
    key: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Problem("This is not the address of a club: --club https://club.example")
        if self.key:
            batch.signature(self.key, b"")


@dataclass(frozen=True, slots=True)
class Delivery:
    """State of the delivery."""

    acknowledged: int | None = None  # last event that the club has, if known
    trouble: Trouble | None = None
    why: str = ""  # reason for a refusal
    fork_at: int = 0


class Outbox:
    """Pushes a table's log to its club; any thread may read its properties."""

    def __init__(
        self,
        store: Store,
        address: Address,
        *,
        receive: Callable[[Mapping[str, object]], None] = lambda _letter: None,
        post: Post | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store, self._address, self._receive = store, address, receive
        self._file = store.path.parent / FILE_NAME
        self._post, self._chance = post or _posted, chance
        self._delivery = Delivery()
        self._clock: tuple[Mapping[str, Any], float] | None = None
        self._table, self._last = "", 0
        self._pause_s, self._quiet_s = FIRST_PAUSE_S, WORD_S
        self._ended, self._woken = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="club", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread; the rest is sent after a restart."""
        self._ended.set()
        self._woken.set()
        self._thread.join(1)

    @property
    def says(self) -> Said:
        """Sentence about the delivery."""
        now, behind = self._delivery, self.behind
        if now.trouble is Trouble.FORKED:
            return say(
                "The club has a different record of this table, from entry %(seq)d or earlier: this one was "
                "restored from a backup, or copied. Nothing is sent until you decide.",
                seq=now.fork_at,
            )
        if now.trouble is Trouble.REFUSED:
            return say("The club rejects what this table sends: %(why)s", why=now.why)
        if now.trouble is Trouble.SILENT:
            return say_many(
                "The club does not answer. %(count)d entry will be sent when it does.",
                "The club does not answer. %(count)d entries will be sent when it does.",
                behind,
            )
        if behind:
            return say_many(
                "%(count)d entry still to send to the club.", "%(count)d entries still to send to the club.", behind
            )
        return say("The club is up to date with this table.")

    @property
    def behind(self) -> int:
        return max(0, self._last - (self._delivery.acknowledged or 0))

    @property
    def is_forked(self) -> bool:
        return self._delivery.trouble is Trouble.FORKED

    @property
    def clocks(self) -> list[dict[str, Any]]:
        """The current round's clock (at most one), extrapolated from the club's last answer."""
        if self._clock is None:
            return []
        said, at_s = self._clock
        since_s = time.monotonic() - at_s
        left_s = said["of"] - (since_s if said["text"] else 0)
        if since_s > said["of"] + OUT_S:
            return []
        return [{"name": said["by"], "left_s": max(0, round(left_s)), "runs": said["text"], "seq": said["letter"]}]

    def begin_anew(self) -> None:
        """After a fork, push the whole log as a new table. Raises Problem if its ID cannot be saved."""
        if self.is_forked:
            self._table = self._new_table()
            self._delivery = Delivery()
            self._woken.set()

    # The thread

    def _run(self) -> None:
        while not self._ended.is_set():
            self._woken.clear()
            try:
                pause_s = self._step()
            except Problem as problem:
                pause_s = self._in_trouble(Trouble.REFUSED, problem.sentence)
            except Exception as error:
                if not isinstance(error, OSError):
                    log.exception("a batch could not be sent")
                pause_s = self._in_trouble(Trouble.SILENT)
            self._woken.wait(pause_s)
            self._quiet_s += pause_s

    def _step(self) -> float:
        """Send the next batch, if any; return the pause in seconds."""
        self._table = self._table or self._known_table()
        last = self._last = self._store.last
        acknowledged = self._delivery.acknowledged
        if acknowledged == last and self._quiet_s < WORD_S:
            return LOOK_S
        first = max(1, last - 1 if acknowledged is None else acknowledged)
        body = self._next_batch(first, last)
        headers = {"Content-Type": "application/json"}
        if self._address.key:
            headers["Authorization"] = batch.signature(self._address.key, body)
        code, answer = self._post(f"{self._address.url.rstrip('/')}/club/events", body, headers)
        self._quiet_s = 0.0
        return self._answered(code, answer, last)

    def _next_batch(self, first: int, last: int) -> bytes:
        """Return a batch of about USUAL_BYTES, but at least two events, to make progress."""
        rows = self._store.rows(first, MOST_ROWS)
        while True:
            body = batch.written(self._table, self._address.name, first, rows, last)
            if len(body) <= USUAL_BYTES or len(rows) <= 2:
                return body
            rows = rows[: max(2, len(rows) * USUAL_BYTES // len(body))]

    def _answered(self, code: int, answer: dict[str, Any], last: int) -> float:
        if code == 200 and isinstance(here := answer.get("acknowledged"), int):
            if here > last:  # this log lost events, or a copy has pushed
                return self._in_trouble(Trouble.FORKED, fork_at=last + 1)
            self._went_well(here)
            letters = batch.letters(answer, self._address.key)
            self._clock = next(((one, time.monotonic()) for one in letters if one["what"] == batch.CLOCK), None)
            for letter in letters:
                if letter["what"] != batch.CLOCK:
                    self._receive(letter)
            return 0.0 if here < last else LOOK_S
        if code == 409 and isinstance(missing := answer.get("missing_from"), int):
            self._went_well(max(0, missing - 1))
            return 0.0
        if code == 409 and isinstance(fork_at := answer.get("fork_at"), int):
            return self._in_trouble(Trouble.FORKED, fork_at=fork_at)
        if code >= 500 or code == 429:
            return self._in_trouble(Trouble.SILENT)
        why = answer.get("say")
        return self._in_trouble(Trouble.REFUSED, say(str(why)) if why else say("There is no club at this address."))

    def _went_well(self, acknowledged: int) -> None:
        self._delivery = Delivery(acknowledged)
        self._pause_s = FIRST_PAUSE_S

    def _in_trouble(self, trouble: Trouble, why: str = "", fork_at: int = 0) -> float:
        """Record a problem; return the pause, with jitter so that tables spread out."""
        known = self._delivery.acknowledged if trouble is Trouble.SILENT else None
        self._delivery = Delivery(known, trouble, why, fork_at)
        self._quiet_s = WORD_S
        longest_s = LONGEST_PAUSE_S if trouble is Trouble.SILENT else REFUSED_PAUSE_S
        pause_s = self._pause_s * (1 - self._chance() / 2)
        self._pause_s = min(2 * self._pause_s, longest_s)
        return pause_s

    def _known_table(self) -> str:
        try:
            kept = read_json(self._file)
        except FileNotFoundError:
            return self._new_table()
        except (OSError, ValueError) as error:
            raise Problem("%(file)s cannot be read (%(why)s).", file=self._file, why=error) from error
        table = kept.get("table") if isinstance(kept, dict) else None
        return table if isinstance(table, str) and table else self._new_table()

    def _new_table(self) -> str:
        table = uuid.uuid4().hex
        try:
            write_whole(self._file, json.dumps({"table": table}))
        except OSError as error:
            raise Problem(
                "%(file)s cannot be written (%(why)s): make room on the disk.", file=self._file, why=error.strerror
            ) from error
        return table


def _posted(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    asked = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310 (the scheme was checked)
    try:
        with urllib.request.urlopen(asked, timeout=ANSWER_S) as answer:  # noqa: S310
            return answer.status, _object(answer.read(65536))
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _object(error.read(65536))
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise Problem(say("Its certificate is not valid for this address.")) from error
        raise
    except http.client.HTTPException as error:
        raise OSError("no answer that can be read") from error


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
