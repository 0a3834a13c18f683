"""Hundreds of idle streams are opened, from many addresses, while phones tap: how long does a tap take?

    PYTHONPATH=tests:. python tests/trust/idle_streams.py --streams 500 [--taps 200] [--crawl 100] [--mute 20]

Beside the streams `--crawl` connections send a header letter by letter, `--mute` phones never read what they are
sent. Exits with 1 where a tap took longer than promised, was refused, or threads were not given back.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trust.real_service import Service, Size, asked, service, wait_until

PROMISED_S = 0.5
STREAM = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def address(number: int) -> str:
    """One of many addresses of this machine."""
    return f"127.0.{1 + number // 200}.{1 + number % 200}"


def opened(port: int, source: str, sent: bytes = b"") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), 20, source_address=(source, 0))
    line.sendall(sent)
    return line


def open_streams(port: int, how_many: int, addresses: int) -> list[socket.socket]:
    """Streams from so many addresses in turn; those beyond what is let in are answered with 503."""
    return [opened(port, address(number % addresses), STREAM) for number in range(how_many)]


def status(line: socket.socket) -> int:
    """The status that a connection was answered with."""
    line.settimeout(20)
    return int(line.recv(64).split()[1])


@contextlib.contextmanager
def crawling(port: int, how_many: int) -> Iterator[None]:
    """Connections that send their header a letter a second, from addresses of their own."""
    lines = [opened(port, address(1000 + number), b"GET / HTTP/1.1\r\nX: ") for number in range(how_many)]
    over = threading.Event()

    def crawl() -> None:
        while not over.wait(1.0):
            for line in lines:
                with contextlib.suppress(OSError):
                    line.send(b"x")

    thread = threading.Thread(target=crawl, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        close(lines)


def close(lines: list[socket.socket]) -> None:
    for line in lines:
        line.close()


@dataclass(frozen=True, slots=True)
class Found:
    """What a run came to."""

    taps_s: tuple[float, ...]
    refused: int
    """Taps that were not answered as they should be."""

    let_in: int
    """Streams that were answered with 200."""

    turned_away: int
    """Streams that were answered with 503."""

    before: Size
    during: Size
    after: Size

    @property
    def worst_s(self) -> float:
        return max(self.taps_s)

    def share_s(self, share: float) -> float:
        return sorted(self.taps_s)[min(len(self.taps_s) - 1, int(share * len(self.taps_s)))]


def tap(port: int, cookie: str, number: int) -> tuple[float, bool]:
    """Changes how plays are confirmed: a tap that is written to the disk. How long it took, and whether it was done."""
    began_s = time.monotonic()
    policy = ("tap", "auto")[number % 2]
    answer, _, _ = asked(port, "/policy", {"policy": policy}, cookie=cookie)
    return time.monotonic() - began_s, answer in (200, 204, 302, 303)


def measured(running: Service, cookie: str, *, streams: int, addresses: int, taps: int, crawl: int, mute: int) -> Found:
    """Opens the streams, taps, closes them, and looks what is left."""
    asked(running.port, "/join", cookie=cookie)
    before = running.size()
    with crawling(running.port, crawl):
        lines = open_streams(running.port, streams, addresses)
        answers = [status(line) for line in lines]
        quiet = [opened(running.port, address(2000 + number), STREAM) for number in range(mute)]
        taken = [tap(running.port, cookie, number) for number in range(taps)]
        during = running.size()
        close(lines + quiet)
    wait_until(lambda: running.size().sockets <= before.sockets + 1, 30)
    return Found(
        taps_s=tuple(seconds for seconds, _ in taken),
        refused=sum(not done for _, done in taken),
        let_in=answers.count(200),
        turned_away=answers.count(503),
        before=before,
        during=during,
        after=running.size(),
    )


def report(found: Found) -> bool:
    """Prints what was found; whether the promise was kept."""
    print(
        f"Taps: p50 {1000 * statistics.median(found.taps_s):.0f} ms, p99 {1000 * found.share_s(0.99):.0f} ms,"
        f" longest {1000 * found.worst_s:.0f} ms of {len(found.taps_s)}; {found.refused} refused"
    )
    print(f"Streams: {found.let_in} open, {found.turned_away} turned away with 503")
    for name in ("before", "during", "after"):
        size: Size = getattr(found, name)
        print(f"{name:7}{size.rss_kb / 1024:6.0f} MB, {size.threads} threads, {size.sockets} sockets")
    freed = found.after.sockets <= found.before.sockets + 1
    kept = found.worst_s < PROMISED_S and not found.refused and freed
    print(f"Every tap under {1000 * PROMISED_S:.0f} ms, all connections given back: {'yes' if kept else 'NO'}")
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--addresses", type=int, default=125)
    parser.add_argument("--taps", type=int, default=200)
    parser.add_argument("--crawl", type=int, default=100)
    parser.add_argument("--mute", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    with tempfile.TemporaryDirectory() as folder, service(Path(folder), "demo", "--confirm", "tap") as running:
        _, _, cookie = asked(running.port, f"/join?t={running.token}")
        found = measured(
            running,
            cookie,
            streams=given.streams,
            addresses=given.addresses,
            taps=given.taps,
            crawl=given.crawl,
            mute=given.mute,
        )
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
