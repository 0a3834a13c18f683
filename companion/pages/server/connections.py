"""Who may hold a connection to the server, and for how long: one that brings nothing makes room for others.

The server hands a request to a thread only once all of it has come, so that a slow phone takes up a connection and
no more. Here such connections are counted and end: a request must come within a while, an answer must be taken, and
where there are too many connections the one that has brought nothing for longest goes.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from companion.pages.limits import network

MOST_CONNECTIONS = 640
"""More than all streams, and what a browser opens beside its own, of every phone that may have one."""

MOST_AN_ADDRESS = 160
"""A whole room behind one address: a stream and a few pages for each phone."""

REQUEST_S = 20.0
"""So long a request may take to come, and as much longer as its bytes need at the slowest pace."""

SLOWEST_BYTES_A_SECOND = 8_000
"""A photograph over a poor Wi-Fi comes faster."""

IDLE_S = 75.0
"""A browser keeps a connection for its next request; then it opens another."""

STALLED_S = 20.0
"""An answer of which nothing could be sent for so long is for a phone that is gone, or never reads."""

MOST_HELD_BYTES = 96_000_000
"""So much of requests that have not wholly come is kept at once: two of the largest photographs."""

NOTICED_BYTES = 64_000
GIVEN_UP_S = 20
"""After so long without a sign of life of a phone the system itself gives its connection up."""

_OPTIONS = (
    (socket.SOL_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.SOL_TCP, socket.TCP_KEEPIDLE, GIVEN_UP_S // 2),
    (socket.SOL_TCP, socket.TCP_KEEPINTVL, GIVEN_UP_S // 4),
    (socket.SOL_TCP, socket.TCP_KEEPCNT, 2),
    (socket.SOL_TCP, socket.TCP_USER_TIMEOUT, GIVEN_UP_S * 1000),
)
LOOK_S = 1.0
ACCEPTED_AT_ONCE = 32


class Channel(HTTPChannel):
    """A connection that knows since when it has brought nothing. Only the server's own thread looks at that."""

    def __init__(self, server: Server, sock: Any, address: Any, adjustments: Any, map: Any = None) -> None:  # noqa: A002
        self.active_s = self._asked_s = self._stuck_s = server.clock()
        self._sent = self._sent_before = self._received = 0
        super().__init__(server, sock, address, adjustments, map=map)

    @property
    def host(self) -> str:
        """The address it comes from."""
        return network(str(self.addr[0]))

    @property
    def is_answered(self) -> bool:
        """Whether a request of it is being answered, or its answer still has to be sent."""
        return bool(self.requests or self.total_outbufs_len)

    def received(self, data: bytes) -> bool:
        """Takes bytes in; those of one request are counted from its first on."""
        now_s = self.server.clock()
        if self.request is None:
            self._asked_s, self._received = now_s, 0
        self.active_s, self._received = now_s, self._received + len(data)
        taken = bool(super().received(data))
        if self.held_bytes > NOTICED_BYTES:
            self.server.hold_no_more()
        return taken

    @property
    def held_bytes(self) -> int:
        """What is kept of a request that has not wholly come."""
        return self._received if self.request is not None else 0

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Sends what the network takes of some bytes."""
        sent = int(super().send(data, do_close=do_close))
        self._sent += sent
        if sent:
            self.active_s = self.server.clock()
        return sent

    def is_over(self, now_s: float) -> bool:
        """Whether it has been given enough time."""
        moves = not self.total_outbufs_len or self._sent != self._sent_before
        self._stuck_s, self._sent_before = now_s if moves else self._stuck_s, self._sent
        if self.is_answered:
            return now_s - self._stuck_s >= STALLED_S
        if self.request is not None:
            return now_s - self._asked_s >= REQUEST_S + self._received / SLOWEST_BYTES_A_SECOND
        return now_s - self.active_s >= IDLE_S


class Server(TcpWSGIServer):
    """Waitress, whose connections make room for one another."""

    channel_class = Channel

    def __init__(self, *about: Any, clock: Callable[[], float] = time.monotonic, **more: Any) -> None:
        self.clock = clock
        self._next_look_s = 0.0
        super().__init__(*about, **more)

    def readable(self) -> bool:
        """Whether new connections are taken: always, as long as the server runs. Asked at every turn of its loop."""
        now_s = self.clock()
        if now_s >= self._next_look_s:
            self._next_look_s = now_s + LOOK_S
            self.maintenance(now_s)
        return bool(self.accepting)

    def maintenance(self, now: float) -> None:
        """Ends the connections that have had their time. What cannot be sent is not waited for."""
        for channel in self.channels():
            if channel.is_over(now):
                channel.handle_close()

    def handle_accept(self) -> None:
        """Lets the connections in that wait, though no address may hold too many."""
        for _number in range(ACCEPTED_AT_ONCE):
            try:
                accepted = self.accept()
                if accepted is None:
                    return
                sock, address = accepted
                self.set_socket_options(sock)
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE):
                    self._make_room(list(self.channels()))
                return
            if self._has_room(network(str(address[0]))):
                self.channel_class(self, sock, address, self.adj, map=self._map)
            else:
                sock.close()

    def set_socket_options(self, conn: socket.socket) -> None:
        """The system looks by itself whether whoever is at the other end is still there."""
        for level, option, value in _OPTIONS:
            conn.setsockopt(level, option, value)

    def hold_no_more(self) -> None:
        """Ends those that have sent most, as long as all together have sent more than there is room for."""
        largest = sorted(self.channels(), key=lambda channel: channel.held_bytes)
        while sum(channel.held_bytes for channel in largest) > MOST_HELD_BYTES:
            largest.pop().handle_close()

    def channels(self) -> Iterator[Channel]:
        """The connections there are."""
        return iter(list(self.active_channels.values()))

    def _has_room(self, host: str) -> bool:
        everyone = list(self.channels())
        same = [channel for channel in everyone if channel.host == host]
        if len(same) >= MOST_AN_ADDRESS:
            return self._make_room(same)
        return len(everyone) < MOST_CONNECTIONS or self._make_room(everyone)

    def _make_room(self, among: list[Channel]) -> bool:
        """Ends the connection that has brought nothing for longest, though none that is being answered."""
        idle = [channel for channel in among if not channel.is_answered]
        if idle:
            min(idle, key=lambda channel: channel.active_s).handle_close()
        return bool(idle)
