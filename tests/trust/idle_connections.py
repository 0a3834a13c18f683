"""Measure taps while hundreds of connections are idle or slow.

    PYTHONPATH=tests:. python tests/trust/idle_connections.py [--idle 400] [--phones 20] [--taps 200]

Taps are measured with one phone alone, then with `--phones` phones that poll each second and load the table after a
change. Then come `--idle` connections that send nothing, `--crawl` that send a header byte by byte, and `--mute` that
never read their answer. The exit code is 1 if a tap is too slow or refused, or connections are not closed.
"""

import contextlib
import resource
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from trust.fuzzing import arguments
from trust.real_service import Service, Size, asked, beside, service, wait_until

PROMISED_S = 0.5
POLL_S = 1.0
ALONE, PHONES, CROWD, POLLS = "One phone alone", "All phones", "And idle connections", "Polls"


def address(number: int) -> str:
    return f"127.0.{1 + number // 200}.{1 + number % 200}"


def opened(port: int, source: str, sent: bytes = b"") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), 20, source_address=(source, 0))
    line.sendall(sent)
    return line


@contextlib.contextmanager
def crawling(port: int, how_many: int) -> Iterator[None]:
    """Open connections from different addresses that send a header at one byte a second."""
    sent = b"GET / HTTP/1.1\r\nX: "
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(opened(port, address(1000 + number), sent)) for number in range(how_many)]

        def crawl(over: threading.Event) -> None:
            while not over.wait(1.0):
                for line in lines:
                    with contextlib.suppress(OSError):
                        line.send(b"x")

        with beside(crawl):
            yield


@contextlib.contextmanager
def polling(port: int, how_many: int, cookie: str) -> Iterator[list[float]]:
    """Let phones poll the table; yield a growing list of poll times, in seconds."""
    took_s = list[float]()

    def poll(number: int, over: threading.Event) -> None:
        line = HTTPConnection("127.0.0.1", port, timeout=20, source_address=(address(3000 + number), 0))
        known = ""
        over.wait(number / how_many)
        while not over.wait(POLL_S):
            began_s = time.monotonic()
            line.request("GET", "/version", headers={"Cookie": cookie, "If-None-Match": known})
            answer = line.getresponse()
            answer.read()
            took_s.append(time.monotonic() - began_s)
            if answer.status == 200:
                known = answer.headers["ETag"]
                line.request("GET", "/", headers={"Cookie": cookie, "HX-Request": "true"})
                line.getresponse().read()
        line.close()

    with beside(*(partial(poll, number) for number in range(how_many))):
        yield took_s


@dataclass(slots=True)
class Found:
    before: Size
    during: Size
    after: Size
    took_s: dict[str, list[float]]  # times of taps by load, and of polls
    refused: int = 0  # taps with a wrong answer

    def tap(self, who: str, port: int, cookie: str, taps: int) -> None:
        """Change how plays are confirmed, which writes to the disk."""
        for number in range(taps):
            began_s = time.monotonic()
            answer, _, _ = asked(port, "/policy", {"policy": ("tap", "auto")[number % 2]}, cookie=cookie)
            self.took_s.setdefault(who, []).append(time.monotonic() - began_s)
            self.refused += answer not in (200, 204, 302, 303)
            time.sleep(0.02)

    @property
    def is_kept(self) -> bool:
        """True if no tap was too slow or refused, and every connection was closed."""
        longest_s = max(max(self.took_s[who]) for who in (PHONES, CROWD))
        return longest_s < PROMISED_S and not self.refused and self.after.sockets <= self.before.sockets + 1


def measured(running: Service, cookie: str, *, idle: int, phones: int, taps: int, crawl: int, mute: int) -> Found:
    """Tap alone, with the phones, and with all connections; then count the connections left."""
    port = running.port
    asked(port, "/join", cookie=cookie)
    found = Found(*3 * [running.size()], {})
    found.tap(ALONE, port, cookie, taps)
    with polling(port, phones, cookie) as found.took_s[POLLS]:
        found.tap(PHONES, port, cookie, taps)
        with crawling(port, crawl), contextlib.ExitStack() as stack:
            for number in range(idle):
                stack.enter_context(opened(port, address(number)))
            for number in range(mute):
                stack.enter_context(opened(port, address(2000 + number), b"GET / HTTP/1.1\r\n\r\n" * 9))
            found.tap(CROWD, port, cookie, taps)
            found.during = running.size()
    wait_until(lambda: running.size().sockets <= found.before.sockets + 1, 30)
    found.after = running.size()
    return found


def report(found: Found) -> None:
    for who, took_s in found.took_s.items():
        p50, p99 = (1000 * sorted(took_s)[min(len(took_s) - 1, int(share * len(took_s)))] for share in (0.5, 0.99))
        print(f"{who:21} p50 {p50:4.0f} ms, p99 {p99:4.0f} ms, longest {1000 * max(took_s):4.0f} ms of {len(took_s)}")
    for name in ("before", "during", "after"):
        size: Size = getattr(found, name)
        print(f"{name:7}{size.rss_kb / 1024:6.0f} MB, {size.threads} threads, {size.sockets} sockets")
    print(f"{found.refused} taps refused; as promised: {'yes' if found.is_kept else 'NO'}")


def main() -> int:
    given = arguments(__doc__, "taps", 200, idle=400, phones=20, crawl=0, mute=0)
    del given.seed
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    with tempfile.TemporaryDirectory() as folder, service(Path(folder), "demo", "--confirm", "tap") as running:
        _, _, cookie = asked(running.port, f"/join?t={running.token}")
        found = measured(running, cookie, **vars(given))
    report(found)
    return 0 if found.is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
