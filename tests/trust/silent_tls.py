"""Measure pictures from a phone camera while other TLS connections are silent.

    PYTHONPATH=tests:. python tests/trust/silent_tls.py [--phones 10] [--pictures 50]

A phone sends pictures on an open connection and on new ones, while `--phones` others poll each second: first alone,
then with 1, 3 and 200 silent connections. The exit code is 1 if a picture is refused, or if the median time is more
than 1.5 times that without silent connections.
"""

import contextlib
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from http.client import HTTPSConnection
from pathlib import Path

import numpy as np
from trust.fuzzing import arguments
from trust.idle_connections import address, opened, polling
from trust.real_service import asked, service

from companion.pages.server.secure_port import FILE_NAME, PORT_ABOVE
from companion.vision.capture.image_io import jpeg_of

SILENT = (0, 1, 3, 200)
MOST_RATIO = 1.5
PICTURE = jpeg_of(np.random.default_rng(1).integers(0, 255, (720, 1280, 3), np.uint8)) or b""
PAUSE_S = 0.08  # a phone's sustained limit; fifty pictures of each kind end before the handshake timeout
TIMEOUT_S = 60.0


class Phone:
    def __init__(self, port: int, certificate: Path, cookie: str) -> None:
        self._port, self._trusts = port + PORT_ABOVE, ssl.create_default_context(cafile=str(certificate))
        self._headers = {"Cookie": cookie, "Origin": f"https://127.0.0.1:{self._port}"}
        self._line = self._connection()

    def _connection(self) -> HTTPSConnection:
        return HTTPSConnection("127.0.0.1", self._port, timeout=TIMEOUT_S, context=self._trusts)

    def send(self, by: HTTPSConnection | None = None) -> tuple[int, float]:
        """Send a picture; return the status and the time in seconds."""
        line, began_s = by or self._line, time.monotonic()
        line.request("POST", "/camera/phone/frame", PICTURE, self._headers)
        answer = line.getresponse()
        answer.read()
        return answer.status, time.monotonic() - began_s

    def send_anew(self) -> tuple[int, float]:
        with contextlib.closing(self._connection()) as line:
            return self.send(line)


def measured(phone: Phone, pictures: int) -> Mapping[str, list[float]]:
    """Return the times of pictures by kind of connection. Raises ValueError if one is refused."""
    took_s: dict[str, list[float]] = {"kept": [], "new": []}
    for _ in range(pictures):
        for kind, send in (("kept", phone.send), ("new", phone.send_anew)):
            status, one_s = send()
            if status != 200:
                raise ValueError(f"a picture was refused: {status}")
            took_s[kind].append(one_s)
            time.sleep(PAUSE_S)
    return took_s


def main() -> int:
    given = arguments(__doc__, "pictures", 50, phones=10)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, service(Path(folder), "up") as running:
        _, _, cookie = asked(running.port, f"/join?t={running.token}")
        asked(running.port, "/camera/phone/open", {}, cookie=cookie)
        _, _, cookie = asked(running.port, "/camera/phone/begin", {}, cookie=cookie)
        phone = Phone(running.port, Path(folder) / FILE_NAME, cookie)
        before: Mapping[str, float] = {}
        with polling(running.port, given.phones, cookie):
            phone.send()
            for silent in SILENT:
                with contextlib.ExitStack() as stack:
                    for number in range(silent):
                        stack.enter_context(opened(running.port + PORT_ABOVE, address(number % 7)))
                    took_s = measured(phone, given.pictures)
                usual = {kind: statistics.median(each) for kind, each in took_s.items()}
                before = before or usual
                for kind, each in took_s.items():
                    ratio = usual[kind] / before[kind]
                    worst = max(worst, ratio)
                    print(
                        f"{silent:3} silent, {kind:4} connection: usual {1000 * usual[kind]:5.1f} ms"
                        f" (x {ratio:.2f}), longest {1000 * max(each):5.0f} ms of {len(each)}",
                        flush=True,
                    )
    print(f"at most x {worst:.2f}; as promised: {'yes' if worst <= MOST_RATIO else 'NO'}")
    return 0 if worst <= MOST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
