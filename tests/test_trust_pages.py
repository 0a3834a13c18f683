"""Secrets, answers that repeat no input, no stored pictures, one port."""

import io
import re
import tempfile
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
import tableaux
from client import HOME, SECRET, scanned, stranger, text_of
from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from house import PICTURE
from serving import running as served
from trust.real_service import asked, service
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from companion.common.errors import Problem
from companion.pages import Camera, create_app
from companion.pages.players import phone_identity
from companion.storage.data_folder import data_dir
from companion.vision.counting.photographs import Snap, Snaps

MARK = "zzMARKzz"


# --- Secrets -------------------------------------------------------------------------------------------------


def test_every_secret_has_128_bits(app):
    assert len(phone_identity.join_token(SECRET)) >= 22
    with app.test_request_context():
        assert len(phone_identity.known_phone()) >= 22
    assert len(Snaps().keep(Snap("classic", "", ()))) >= 22
    assert phone_identity.KEY_BYTES * 8 >= 256


@pytest.mark.parametrize("spoilt", [b"", b"short", b"\0" * 32, b"\n", b"k" * 64, b"x" * 4096])
def test_an_invalid_key_is_replaced_with_a_message(spoilt, tmp_path, capsys):
    (tmp_path / "secret-key").write_bytes(spoilt)

    key = phone_identity.load_secret(tmp_path)

    assert (len(key), phone_identity.load_secret(tmp_path)) == (32, key)
    assert "every phone has to scan the join code again" in capsys.readouterr().err
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_key_is_kept_and_made_readable_only_by_its_owner(tmp_path):
    key = phone_identity.load_secret(tmp_path)
    assert (len(key), (tmp_path / "secret-key").stat().st_mode & 0o777) == (32, 0o600)
    (tmp_path / "secret-key").chmod(0o644)

    assert phone_identity.load_secret(tmp_path) == key
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_key_is_never_half_written(tmp_path):
    (tmp_path / "secret-key.new").write_bytes(b"half of one that was being written when the plug was")

    assert len(phone_identity.load_secret(tmp_path)) == 32
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


def test_a_folder_where_the_key_cannot_be_saved_is_reported(tmp_path):
    (tmp_path / "secret-key").mkdir()

    with pytest.raises(Problem, match="choose another folder with --data"):
        phone_identity.load_secret(tmp_path)


def test_only_the_owner_can_access_the_data_folder(tmp_path):
    assert data_dir(tmp_path / "new" / "data").stat().st_mode & 0o077 == 0


def signed(app: Flask, how) -> str:
    """Return a playing phone's cookie, signed by `how`."""
    with app.test_request_context():
        return how.get_signing_serializer(app).dumps({"may": True, "phone": "one of before"})


def test_new_signatures_use_sha256(match):
    app = create_app(match, secret=SECRET)

    signer = app.session_interface.get_signing_serializer(app).make_signer(b"cookie-session")
    assert signer.digest_method().name == "sha256"


@pytest.mark.parametrize("key", [b"", b"0" * 32, SECRET[:-1], SECRET + b"0"])
def test_a_cookie_signed_with_another_key_gives_no_identity(key, match):
    app, other = create_app(match, secret=SECRET), Flask("other")
    other.secret_key = key or b"another"
    client = stranger(app)
    client.set_cookie("companion", signed(other, SecureCookieSessionInterface()))

    assert client.get("/camera.jpg").status_code == 401


# --- Answers that repeat nothing -----------------------------------------------------------------------------


def marked(rule: str) -> str:
    return re.sub(r"<[^>]+>", MARK, rule)


def test_errors_do_not_repeat_the_request(house):
    for client in (house.stranger(), house.machine()):
        for rule in house.app.url_map.iter_rules():
            for method in ("GET", "POST", "PUT"):
                answer = client.open(
                    marked(rule.rule) + f"?{MARK}={MARK}",
                    method=method,
                    data=None if method == "GET" else {MARK: MARK},
                    headers=HOME | {"User-Agent": MARK, "Referer": f"http://localhost/{MARK}", "X-Mark": MARK},
                )
                if answer.status_code >= 400:
                    assert MARK not in answer.text, (method, rule.rule)
                assert MARK not in str([value for name, value in answer.headers if name != "Location"]), rule.rule


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": f"{MARK}.example"}, {"Origin": f"http://{MARK}"}, {"Content-Type": MARK},
        {"Content-Type": f"multipart/form-data; boundary={MARK}"}, {"Content-Type": "application/json"},
        {"Cookie": f"companion={MARK}"}, {"Accept-Language": MARK}, {"HX-Request": MARK}, {"Last-Event-ID": MARK},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("path", ["/play", "/api/plays", "/join/code", "/snap", "/setup"])
def test_answers_do_not_repeat_request_headers(house, headers, path):
    answer = house.machine().post(path, data=f'{{"{MARK}', headers=HOME | headers)

    assert answer.status_code < 500
    assert MARK not in answer.text
    assert MARK not in str(answer.headers)


def test_a_form_with_too_many_fields_is_refused(house):
    fields = {f"f{number}": "" for number in range(150)}
    answer = house.machine().post("/join", data=fields, headers=HOME, content_type="multipart/form-data")

    assert answer.status_code == 413


# --- Pictures are kept nowhere -------------------------------------------------------------------------------


@pytest.fixture
def watched(begun):
    return create_app(begun, secret=SECRET, camera=Camera(lambda: PICTURE))


def test_photographs_leave_no_files_behind(watched, tmp_path, monkeypatch):
    made: list[str] = []
    for maker in ("TemporaryFile", "NamedTemporaryFile", "mkstemp", "SpooledTemporaryFile"):
        monkeypatch.setattr(tempfile, maker, lambda *_about, maker=maker, **_more: made.append(maker))
    photograph = tableaux.file_of((2400, 1800), kind=".png")
    fields = {"edition": "classic", "photo": FileStorage(io.BytesIO(photograph), "a.png")}
    boundary, body = encode_multipart(fields)
    with served(watched) as url:
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", "Origin": url}
        asked = urllib.request.Request(f"{url}/snap", body, headers)
        page = urllib.request.urlopen(asked).geturl()
        for path in (page, f"{page}/1.jpg", f"{url}/camera.jpg", f"{url}/", f"{url}/wall"):
            urllib.request.urlopen(path).read()

    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]

    assert len(body) > 600_000
    assert made == []
    assert kept
    assert not any(start in content for content in kept for start in (b"\xff\xd8", b"\x89PNG"))


def test_the_join_page_says_that_no_pictures_are_kept(watched):
    for client in (stranger(watched), scanned(watched)):
        assert "No pictures are stored." in text_of(client.get("/join"))


# --- One port ------------------------------------------------------------------------------------------------


def test_a_running_service_listens_on_one_port_only(tmp_path):
    with service(tmp_path, "demo") as running:
        asked(running.port, "/wall")

        assert listening(running.process.pid) == {running.port}


def listening(pid: int) -> set[int]:
    """Return the ports of any kind on which a process listens."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            inodes |= set(re.findall(r"socket:\[(\d+)\]", str(fd.readlink())))
    ports = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            columns = row.split()
            if columns[9] in inodes and columns[3] in ("0A", "07"):
                ports.add(int(columns[1].split(":")[1], 16))
    return ports
