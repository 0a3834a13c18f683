"""Limits of connections beyond waitress's own: which one makes room, and how long a request may take.

Waitress hands a request to a thread only once all of it has come, so that a slow phone costs a connection but no
thread. At its own limit it accepts nobody until an idle connection has timed out. Here the one that is idle for longest
makes room at once, and a request that trickles in is ended.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from companion.pages.limits import network
from companion.pages.server.upload_limits import Parser

MOST_CONNECTIONS = 640
MOST_AN_ADDRESS = 160
"""Maximum number of connections from one address, behind which there may be a whole room."""

REQUEST_S = 20.0
"""Time in which a request must come, in seconds, plus what its body needs at the slowest pace."""

SLOWEST_BYTES_A_SECOND = 8_000
"""Slowest pace of a body: a photograph over a poor Wi-Fi is faster."""

STALLED_S = 20
"""Time after which an answer is given up if the phone takes nothing of it, in seconds."""


class Channel(HTTPChannel):
    """A connection."""

    def __init__(self, server: Server, sock: socket.socket, addr: Any, adj: Adjustments, map: Any = None) -> None:  # noqa: A002
        super().__init__(server, sock, addr, adj, map=map)
        self.host = network(str(addr[0]))

    def parser_class(self, adj: Adjustments) -> Parser:
        """Return what reads the next request."""
        return Parser(self, adj)

    @property
    def is_answered(self) -> bool:
        """True if a request of it is being answered, or an answer has not been sent in full."""
        return bool(self.requests or self.total_outbufs_len)

    def is_too_slow(self, now_s: float) -> bool:
        """True if a request has begun to come and takes longer than it may."""
        request = self.request
        return request is not None and (
            now_s - request.began_s >= REQUEST_S + request.body_bytes_received / SLOWEST_BYTES_A_SECOND
        )


class Server(TcpWSGIServer):
    """Waitress, whose connections make room for one another."""

    channel_class = Channel

    def channels(self) -> list[Channel]:
        """Return the open connections."""
        return list(self.active_channels.values())

    def maintenance(self, now: float) -> None:
        """End connections that are idle, and those whose request takes too long to come."""
        super().maintenance(now)
        for channel in self.channels():
            if channel.is_too_slow(time.monotonic()):
                channel.will_close = True

    def set_socket_options(self, conn: socket.socket) -> None:
        """Let a connection in: where there are too many, the idle one that brought nothing for longest ends.

        Raises OSError where none of them is idle: waitress then drops the new connection.
        """
        super().set_socket_options(conn)
        # Waitress ends no connection that has something to send; the system does where the phone takes none of it.
        conn.setsockopt(socket.SOL_TCP, socket.TCP_USER_TIMEOUT, 1000 * STALLED_S)
        host = network(str(conn.getpeername()[0]))
        crowd = [channel for channel in self.channels() if channel.host == host]
        if len(crowd) < MOST_AN_ADDRESS:
            crowd = self.channels()
            if len(crowd) < MOST_CONNECTIONS:
                return
        idle = [channel for channel in crowd if not channel.is_answered]
        if not idle:
            conn.close()
            raise ConnectionRefusedError(host)
        min(idle, key=lambda channel: float(channel.last_activity)).handle_close()
