"""Messages to systemd: that the companion is ready, how it is, that it still lives.

The socket is named in `NOTIFY_SOCKET`; without one nothing is sent. A service that has sent no beat for
`WATCHDOG_USEC` is restarted: a beat is sent only after every part has been tried, so a part that hangs stops the beats.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress

from companion.common.parsing import whole

BEATS = 4
"""Number of beats within the time after which the service is restarted."""


class Manager:
    """The service manager, where there is one. Never raises: the service works without it."""

    def __init__(self, environ: MutableMapping[str, str] = os.environ) -> None:
        address = environ.pop("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        usec = whole(environ.get("WATCHDOG_USEC", ""), 1, 10**12)
        meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.patience_s = usec / 1_000_000 if usec and meant else None
        """Longest time between beats, in seconds; None where it expects none."""

    def tell(self, **what: str | int) -> None:
        """Send one message: `READY=1`, `STATUS="…"`, `STOPPING=1`, `WATCHDOG=1`."""
        if not self._address:
            return
        said = "\n".join(f"{key}={' '.join(str(value).split())}" for key, value in what.items())
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
            line.settimeout(1)
            line.sendto(said.encode(), self._address)


def start_heart(manager: Manager, tries: Sequence[Callable[[], object]], status: Callable[[], str]) -> None:
    """Try every part of the service again and again in a thread, with a beat each time all work.

    Nothing is started where the manager does not listen. Each of `tries` raises or hangs if its part does not work.
    """

    def run(pause_s: float) -> None:
        while True:
            time.sleep(pause_s)
            beat(manager, tries, status)

    if manager.patience_s is not None:
        threading.Thread(target=run, args=(manager.patience_s / BEATS,), name="heart", daemon=True).start()


def beat(manager: Manager, tries: Sequence[Callable[[], object]], status: Callable[[], str] = str) -> bool:
    """Try everything once; return True if all of it works."""
    try:
        for one in tries:
            one()
        said = status()
    except Exception as error:
        manager.tell(STATUS=f"Something does not answer: {error}")
        return False
    manager.tell(WATCHDOG=1, STATUS=said)
    return True


def answers(host: str, port: int, within_s: float = 5.0) -> None:
    """Ask the web server for a page as a phone would; any answer will do. Raises OSError where none comes."""
    reached = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    with socket.create_connection((reached, port), within_s) as line:
        line.settimeout(within_s)
        line.sendall(b"HEAD /static/icon.svg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        if not line.recv(64).startswith(b"HTTP/1."):
            raise OSError("the web server gives no answer")
