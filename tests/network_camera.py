"""A camera in the network, as programs make one of a phone: it sends one JPEG after the other by HTTP."""

import base64
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PICTURES_A_SECOND = 20


class NetworkCamera:
    """A camera on a free port that shows a picture until it has another, for whoever knows its name and password."""

    def __init__(self, jpeg: bytes, login: str = "") -> None:
        self.jpeg, self.login, self.sent = jpeg, login, 0
        self.looking: set[socket.socket] = set()
        self._server = self._opened(0)
        self.port = self._server.server_port
        self.url = f"http://{login}@127.0.0.1:{self.port}/video" if login else f"http://127.0.0.1:{self.port}/video"

    def _opened(self, port: int) -> ThreadingHTTPServer:
        server = ThreadingHTTPServer(("127.0.0.1", port), type("Line", (_Line,), {"camera": self}))
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def close(self) -> None:
        """Be gone, as a camera whose plug is pulled."""
        self._server.shutdown()
        self._server.server_close()
        for line in [*self.looking]:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def restart(self) -> None:
        self.close()
        self._server = self._opened(self.port)


class _Line(BaseHTTPRequestHandler):
    """One who looks, and the pictures that he is sent."""

    camera: NetworkCamera

    def do_GET(self) -> None:
        known = f"Basic {base64.b64encode(self.camera.login.encode()).decode()}"
        if self.camera.login and self.headers["Authorization"] != known:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="table"')
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
        self.end_headers()
        self.camera.looking.add(self.connection)
        paced = threading.Event()
        with suppress(OSError):
            while not paced.wait(1 / PICTURES_A_SECOND):
                self.wfile.write(b"--next\r\nContent-Type: image/jpeg\r\n\r\n" + self.camera.jpeg + b"\r\n")
                self.camera.sent += 1
        self.camera.looking.discard(self.connection)

    def log_message(self, *_said: object) -> None:
        pass
