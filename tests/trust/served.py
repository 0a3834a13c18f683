"""The real service in a process that may be killed; each answer names what it promises.

`python -m trust.served` reads lines `FOLDER OUT`. For each it forks a service like `companion up` without a camera,
with everything imported, and prints the process ID.

Each answer reports what was written for its request when the write returned. `X-Wrote` has the events by number and
digest, `X-Party` the number of saved parties and the current one, `X-Phone` the phone, its seat and whether it is host.
"""

import hashlib
import json
import os
import signal
import sys
from pathlib import Path

from flask import g, has_app_context, request_finished

from companion.app import service
from companion.match import phones
from companion.pages.context import service as of_request
from companion.pages.players import phone_identity
from companion.storage.event_store import Event, Store


def digest(match: int, kind: str, body: object) -> str:
    """Return a short digest of an event's content, to compare promised and stored events."""
    text = json.dumps([match, kind, body], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tell_promises() -> None:
    """Make every answer report what was written for it."""
    append, keep = Store.append, phones.Phones._keep

    def noted(self: Store, *args: object, **more: object) -> tuple[Event, ...]:
        events = append(self, *args, **more)
        if has_app_context():
            g.wrote = [*g.get("wrote", ()), *events]
        return events

    def counted(self: phones.Phones, party: phones.Party) -> None:
        keep(self, party)
        self.times = getattr(self, "times", 0) + 1

    Store.append, phones.Phones._keep = noted, counted
    request_finished.connect(_promise, weak=False)


def _promise(_sender: object, response: object, **_more: object) -> None:
    response.headers["X-Wrote"] = ",".join(f"{e.seq}:{digest(e.match, e.kind, e.body)}" for e in g.get("wrote", ()))
    kept = of_request().phones
    with kept._lock:
        party = kept.party
        said = {"host": party.host, "seats": dict(party.seats), "watching": sorted(party.watching)}
        response.headers["X-Party"] = json.dumps([getattr(kept, "times", 0), said])
    state = of_request().match.state
    response.headers["X-Phone"] = json.dumps(
        [phone_identity.phone(), phone_identity.seat(state), phone_identity.is_host()]
    )


def serve(folder: Path) -> None:
    service.camera_answers = lambda **_: None
    service.up(None, None, host="127.0.0.1", port=0, data=folder)


def nest() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        folder, out = line.rstrip("\n").split("\t")
        child = os.fork()
        if not child:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _become(Path(out))
            serve(Path(folder))
            os._exit(0)
        print(child, flush=True)


def _become(out: Path) -> None:
    fd = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


if __name__ == "__main__":
    tell_promises()
    nest()
