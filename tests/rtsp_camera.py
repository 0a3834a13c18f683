"""A network camera: it speaks RTSP (RFC 2326), and sends JPEG pictures as RTP (RFC 2435) down the same line."""

import base64
import socket
import struct
import threading
from contextlib import suppress
from functools import partial
from socketserver import StreamRequestHandler, ThreadingTCPServer

import cv2

from companion.vision.capture.image_io import decode, jpeg_of

PICTURES_A_SECOND = 20
MOST_BYTES = 16_000
"""How much of a picture a packet takes: its length has 16 bits here."""

CLOCK_HZ = 90_000
JPEG_OVER_RTP, MARKED, QUALITY_BESIDE = 26, 0x80, 255
SDP = """v=0
o=- 1 1 IN IP4 127.0.0.1
s=Table
t=0 0
m=video 0 RTP/AVP 26
a=control:trackID=0
"""


class RtspCamera:
    """A camera on a free port that shows a picture until it has another, for whoever knows its name and password."""

    def __init__(self, jpeg: bytes, login: str = "") -> None:
        self.show(jpeg)
        self.login, self.sent = login, 0
        self.looking: set[socket.socket] = set()
        self.port = 0
        self._open()
        self.port = int(self._server.server_address[1])

    def show(self, jpeg: bytes) -> None:
        """Send this picture from now on, as a sensor would: never twice the same, bit for bit."""
        image = decode(jpeg, "the picture")
        self.jpegs = [jpeg_of(cv2.add(image, (light,) * 3)) for light in (0, 1)]

    @property
    def url(self) -> str:
        return f"rtsp://{self.login}@127.0.0.1:{self.port}/live" if self.login else f"rtsp://127.0.0.1:{self.port}/live"

    def _open(self) -> None:
        self._server = _Server(("127.0.0.1", self.port), partial(_Line, self))
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Be gone, as a camera whose plug is pulled."""
        self._server.shutdown()
        self._server.server_close()
        for line in [*self.looking]:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def restart(self) -> None:
        self.close()
        self._open()


class _Server(ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    block_on_close = False


class _Line(StreamRequestHandler):
    """One who looks: what he asks for, and the pictures that he is sent."""

    def __init__(self, camera: RtspCamera, *asked: object) -> None:
        self.camera = camera
        self._writing, self._ends = threading.Lock(), threading.Event()
        super().__init__(*asked)

    def setup(self) -> None:
        super().setup()
        self.camera.looking.add(self.connection)

    def finish(self) -> None:
        self.camera.looking.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def handle(self) -> None:
        with suppress(OSError, ValueError):
            while asked := self._asked():
                self._answer(*asked)
        self._ends.set()

    def _asked(self) -> tuple[str, str, dict[str, str]] | None:
        """Return the next request, past what a viewer reports of the pictures."""
        while (first := self.rfile.read(1)) == b"$":
            self.rfile.read(struct.unpack("!xH", self.rfile.read(3))[0])
        if not first:
            return None
        method, url, _version = (first + self.rfile.readline()).decode().split()
        headers = {}
        while line := self.rfile.readline().decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return method, url, headers

    def _answer(self, method: str, url: str, headers: dict[str, str]) -> None:
        login = base64.b64encode(self.camera.login.encode()).decode()
        if self.camera.login and method != "OPTIONS" and headers.get("authorization") != f"Basic {login}":
            return self._say(headers, "401 Unauthorized", 'WWW-Authenticate: Basic realm="table"')
        if method == "SETUP" and "TCP" not in headers["transport"]:
            return self._say(headers, "461 Unsupported Transport")
        more = {
            "OPTIONS": ["Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER"],
            "DESCRIBE": [f"Content-Base: {url}/", "Content-Type: application/sdp", f"Content-Length: {len(SDP)}"],
            "SETUP": ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1"],
        }
        self._say(headers, "200 OK", *more.get(method, []), body=SDP if method == "DESCRIBE" else "")
        if method == "PLAY":
            threading.Thread(target=self._play, daemon=True).start()
        return None

    def _say(self, headers: dict[str, str], status: str, *more: str, body: str = "") -> None:
        lines = [f"RTSP/1.0 {status}", f"CSeq: {headers['cseq']}", "Session: 1", *more, "", body]
        with self._writing:
            self.wfile.write("\r\n".join(lines).encode())

    def _play(self) -> None:
        number = sequence = 0
        while not self._ends.wait(1 / PICTURES_A_SECOND):
            number += 1
            for is_last, payload in packets(self.camera.jpegs[number % 2]):
                sequence += 1
                kind = JPEG_OVER_RTP | (MARKED if is_last else 0)
                time = number * CLOCK_HZ // PICTURES_A_SECOND
                packet = struct.pack("!BBHII", 0x80, kind, sequence % 2**16, time, 1) + payload
                with suppress(OSError), self._writing:
                    self.wfile.write(struct.pack("!cBH", b"$", 0, len(packet)) + packet)
            self.camera.sent += 1


def packets(jpeg: bytes) -> list[tuple[bool, bytes]]:
    """Return a picture cut into the payloads of packets, and whether each is the last."""
    tables, sampling, height, width, scan = _read(jpeg)
    cuts = range(0, len(scan), MOST_BYTES)
    made = []
    for at in cuts:
        kind = {0x21: 0, 0x22: 1}[sampling]
        head = struct.pack("!I4B", at, kind, QUALITY_BESIDE, width // 8, height // 8)
        beside = b"" if at else struct.pack("!BBH", 0, 0, len(tables)) + tables
        made.append((at == cuts[-1], head + beside + scan[at : at + MOST_BYTES]))
    return made


def _read(jpeg: bytes) -> tuple[bytes, int, int, int, bytes]:
    """Return of a JPEG file its tables of quantization, sampling, height, width, and what is behind the headers."""
    at, tables, sampling, height, width = 2, b"", 0, 0, 0
    while True:
        marker, length = struct.unpack_from("!xBH", jpeg, at)
        body = jpeg[at + 4 : at + 2 + length]
        at += 2 + length
        if marker == 0xDB:
            tables += b"".join(body[n + 1 : n + 65] for n in range(0, len(body), 65))
        elif marker == 0xC0:
            height, width, sampling = *struct.unpack_from("!HH", body, 1), body[7]
        elif marker == 0xDA:
            return tables, sampling, height, width, jpeg[at:-2]
