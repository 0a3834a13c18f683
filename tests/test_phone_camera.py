"""A phone as camera: which phone may be it, what its pictures lead to, and the TLS port that its page needs."""

import contextlib
import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from client import SECRET, stranger, tap, text_of
from cryptography import x509
from flask import Flask, Response, request
from trust.real_service import free_port

from companion.app.service import _first_camera, _pictures_of_first
from companion.common import clock
from companion.common.errors import Problem
from companion.pages import Camera, create_app
from companion.pages.players.phone_identity import join_token
from companion.pages.server import connections
from companion.pages.server.secure_port import FILE_NAME, PORT_ABOVE, SecurePort, certify
from companion.pages.table_camera.camera import BUSY_PACE_MS, PACE_MS
from companion.vision.capture.devices import Openers, usual_size
from companion.vision.capture.image_io import jpeg_of
from companion.vision.capture.phone_frames import SENDING_S, PhoneFrames

RNG = np.random.default_rng(1)
PICTURE = jpeg_of(RNG.integers(0, 255, (96, 128, 3), np.uint8))
TLS = {"base_url": "https://localhost:8443"}
FROM_TLS = {"Origin": "https://localhost:8443"}


@pytest.fixture
def frames():
    return PhoneFrames()


@pytest.fixture
def app(match, frames, tmp_path):
    return create_app(match, secret=SECRET, camera=Camera(phone=frames), secure=secure_port(tmp_path))


def secure_port(folder: Path) -> SecurePort:
    return SecurePort(folder, "127.0.0.1", min(free_port(), 65535 - PORT_ABOVE) - PORT_ABOVE)


def joined(app):
    """A participating phone, connected over TLS."""
    phone = stranger(app)
    assert phone.get(f"/camera/phone?t={join_token(SECRET)}", **TLS).status_code == 302
    return phone


def sent(phone, jpeg: bytes = PICTURE, battery: str = ""):
    return phone.post(f"/camera/phone/frame?battery={battery}", data=jpeg, headers=FROM_TLS, **TLS)


def test_a_picture_sent_by_a_phone_is_the_cameras_picture(app, frames):
    phone = joined(app)
    assert phone.post("/camera/phone/begin", headers=FROM_TLS, **TLS).status_code == 204
    assert sent(phone).json == {"wait_ms": PACE_MS}

    device = frames.open()
    assert device.grab()
    assert device.retrieve().shape == (96, 128, 3)
    device.close()


def test_a_phone_sends_less_often_while_its_pictures_are_not_read(app):
    phone = joined(app)

    assert [sent(phone).json["wait_ms"] for _ in range(2)] == [PACE_MS, BUSY_PACE_MS]


def test_one_phone_is_the_camera_and_other_players_phones_can_replace_it(app, frames):
    first, second = joined(app), joined(app)
    assert sent(first).status_code == 200
    assert sent(second).status_code == 409

    second.post("/camera/phone/begin", headers=FROM_TLS, **TLS)

    assert sent(first).status_code == 409
    assert sent(second).status_code == 200


def test_a_dismissed_phone_is_no_camera_until_chosen_again(app):
    phone = joined(app)
    sent(phone)
    tap(app.test_client(), "/camera/phone/end")
    assert sent(phone).status_code == 409

    phone.post("/camera/phone/begin", headers=FROM_TLS, **TLS)

    assert sent(phone).status_code == 200


def test_a_stranger_can_send_no_picture_and_gets_no_code(app):
    assert sent(stranger(app)).status_code == 401
    assert "Use a phone" not in text_of(stranger(app).get("/camera/phone"))


def test_only_a_page_loaded_over_tls_may_use_a_camera(app):
    phone = joined(app)

    assert phone.get("/camera/phone", **TLS).headers["Permissions-Policy"] == "camera=(self)"
    assert "camera=()" in phone.get("/camera/phone").headers["Permissions-Policy"]


def test_the_phones_battery_is_shown_on_other_phones(app):
    sent(joined(app), battery="17")

    assert "Its battery is at 17%" in text_of(app.test_client().get("/camera/phone"))


def test_no_phone_is_the_camera_if_a_source_was_named_at_the_start(match):
    phone = joined(create_app(match, secret=SECRET, camera=Camera(lambda: b"")))

    assert "stop it and start it like this: companion up" in text_of(phone.get("/camera/phone", **TLS))
    assert sent(phone).status_code == 404


def test_data_that_is_not_a_picture_makes_no_frame(app, frames):
    sent(joined(app), b"GIF89a, and more")
    device = frames.open()
    device.grab()

    with pytest.raises(Problem):
        device.retrieve()


def test_a_silent_phone_cannot_be_opened_and_the_message_says_what_to_do():
    now_s = 0.0
    frames = PhoneFrames(lambda: now_s)
    frames.put("one", PICTURE)
    frames.open()
    now_s = SENDING_S + 0.1

    with pytest.raises(Problem, match="unlock it"):
        frames.open()


def feed(ends: threading.Event, *cameras: tuple[PhoneFrames, int]) -> None:
    """Send pictures of a given brightness to each chosen camera, all different."""
    while not ends.wait(0.01):
        for frames, low in cameras:
            if frames.sender:
                frames.put(frames.sender, jpeg_of(RNG.integers(low, low + 60, (64, 96, 3), np.uint8)))


class Table:
    """The parts of a watch and a match that the search for a camera uses."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.said: list[str | None] = []

    def refresh(self) -> None:
        pass

    def trouble(self, sentence: str | None) -> None:
        self.said.append(sentence)


def test_a_phone_replaces_another_camera_with_its_first_picture(frames, monkeypatch):
    """The other camera sends dark pictures, the phone its own."""
    table = Table()
    other = PhoneFrames()
    monkeypatch.setattr("companion.app.service.camera_answers", lambda **_: "/dev/video0")
    monkeypatch.setattr("companion.app.service.openers", lambda _source, _size_px: Openers(other.open, lambda: True))
    other.choose("not a phone at all")
    ends = threading.Event()
    feeder = threading.Thread(target=feed, args=(ends, (other, 30), (frames, 180)), daemon=True)
    feeder.start()

    seen = []
    first = _first_camera(frames, table, usual_size, tuple)
    for frame in _pictures_of_first(first, frames, table, table, usual_size):
        seen.append(bool(frame.image.mean() > 128))
        if len(seen) == 2:
            frames.choose("a phone")
        if seen[-1]:
            break
    ends.set()
    feeder.join()

    assert seen[:2] == [False, False]
    assert seen[-1] is True


def test_the_certificate_is_created_once_for_the_machines_addresses(tmp_path):
    path = tmp_path / FILE_NAME
    certify(path, ("192.168.1.20", "table"))
    first = path.read_bytes()
    certify(path, ("192.168.1.20",))

    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o077 == 0
    certify(path, ("192.168.1.21",))
    assert path.read_bytes() != first


def test_a_certificate_from_the_future_is_renewed_and_none_is_created_in_1970(tmp_path, monkeypatch):
    path = tmp_path / FILE_NAME
    monkeypatch.setattr(clock, "now_s", lambda: 4_000_000_000.0)
    certify(path, ("localhost",))
    of_2096 = path.read_bytes()
    monkeypatch.setattr(clock, "now_s", lambda: 0.0)
    with pytest.raises(Problem, match="clock"):
        certify(path, ("localhost",))

    monkeypatch.undo()
    certify(path, ("localhost",))
    assert path.read_bytes() != of_2096


@pytest.mark.parametrize("spoilt", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_a_damaged_certificate_is_replaced(tmp_path, spoilt):
    path = tmp_path / FILE_NAME
    path.write_bytes(spoilt)
    certify(path, ("localhost",))

    until = x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    assert until - datetime.datetime.now(datetime.UTC) < datetime.timedelta(days=825)


class Port:
    """An open TLS port and its connections, which end with it."""

    def __init__(self, secure: SecurePort, certificate: Path, ends: contextlib.ExitStack) -> None:
        self.url, self._ends = secure.base_url(), ends
        self._trusts = ssl.create_default_context(cafile=str(certificate))

    def phone(self) -> HTTPSConnection:
        """A connection for several requests."""
        there = urlsplit(self.url).netloc
        return self._ends.enter_context(closing(HTTPSConnection(there, timeout=20, context=self._trusts)))

    def line(self, sent: bytes = b"") -> socket.socket:
        """A connection without TLS."""
        there = urlsplit(self.url)
        line = self._ends.enter_context(socket.create_connection((there.hostname, there.port), 20))
        line.sendall(sent)
        return line


@contextlib.contextmanager
def opened(secure: SecurePort, folder: Path) -> Iterator[Port]:
    with contextlib.ExitStack() as ends:
        ends.callback(secure.close)
        yield Port(secure, folder / FILE_NAME, ends)


@pytest.fixture
def port(app, tmp_path, monkeypatch):
    """The app's port, waiting for handshakes longer than any test takes."""
    monkeypatch.setattr(connections, "HANDSHAKE_S", 600.0)
    secure = app.extensions["companion"].secure
    assert secure.base_url() is None
    tap(app.test_client(), "/camera/phone/open")
    with opened(secure, tmp_path) as port:
        yield port


def answered(phone: HTTPSConnection, path: str = "/camera/phone", sent: bytes | None = None, **headers: str):
    """Status and body of an answer."""
    phone.request("GET" if sent is None else "POST", path, sent, headers)
    answer = phone.getresponse()
    return answer.status, answer.read()


def test_the_port_serves_pages_over_tls_on_demand(port):
    assert b"phone-camera" in answered(port.phone())[1]


def is_open(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return bool(line.recv(1))
    except BlockingIOError:
        return True


@pytest.mark.parametrize("silent", [1, 3, 200])
@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01"], ids=["nothing", "half a record"])
def test_a_phone_can_send_pictures_while_others_hold_idle_connections(port, frames, silent, sent):
    phone = port.phone()
    cookie = {"Cookie": entered(phone), "Origin": port.url}
    lines = [port.line(sent) for _ in range(silent)]
    by_the_old_connection = answered(phone, "/camera/phone/frame", PICTURE, **cookie)
    by_a_new_one = answered(port.phone(), "/camera/phone/frame", PICTURE, **cookie)

    assert (by_the_old_connection[0], by_a_new_one[0]) == (200, 200)
    assert is_open(lines[-1])
    assert frames.next_after(0)[1] == PICTURE


def entered(phone: HTTPSConnection) -> str:
    """Take part; return the cookie."""
    cookie = ""
    for path in (f"/camera/phone?t={join_token(SECRET)}", "/camera/phone"):
        phone.request("GET", path, headers={"Cookie": cookie})
        answer = phone.getresponse()
        answer.read()
        cookie = answer.headers.get("Set-Cookie", cookie).partition(";")[0]
    return cookie


def test_a_connection_without_complete_handshake_is_closed(port, monkeypatch):
    monkeypatch.setattr(connections, "HANDSHAKE_S", 0.0)

    assert port.line(b"\x16\x03\x01").recv(1) == b""


def test_an_endless_tls_request_is_closed(port, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_S", 0.0)
    phone = port.phone()
    phone.connect()
    phone.sock.sendall(b"GET / HTTP/1.1\r\nX: ")

    assert phone.sock.recv(1) == b""


def test_large_requests_and_answers_are_complete_over_tls(tmp_path):
    app = Flask("echo")
    app.config["MOST_BYTES"] = 5_000_000

    @app.post("/")
    def echo():
        return Response(request.get_data(), headers={"By": request.scheme})

    secure, sent = secure_port(tmp_path), RNG.bytes(4_000_000)
    secure.open(app)
    with opened(secure, tmp_path) as port:
        phone = port.phone()
        for _ in range(3):
            phone.request("POST", "/", sent)
            answer = phone.getresponse()
            assert (answer.headers["By"], answer.read() == sent) == ("https", True)


def test_an_address_opened_without_https_explains_what_is_missing(port):
    answer = port.line(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").recv(65536)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"https://" in answer


def test_the_port_can_be_reopened(app, port):
    secure = app.extensions["companion"].secure
    secure.close()
    assert secure.base_url() is None
    secure.open(app)

    assert answered(port.phone())[0] == 200
