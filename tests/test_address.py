"""The announced address (`--address`): where it is shown, and https through a proxy."""

import html
import re

import pytest
from client import SECRET, TWO, stranger, tap, text_of

from companion.app import demo, service
from companion.app.cli import companion
from companion.common.errors import Problem
from companion.pages import announce, create_app
from companion.pages.context import Camera
from companion.pages.players.phone_identity import join_token
from companion.pages.server import address
from companion.pages.server.secure_port import SecurePort
from companion.vision.capture.phone_frames import PhoneFrames

CAFE = "https://table.cafe.example"
TOKEN = join_token(SECRET)
PASSED_ON = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
PROXIES = {
    "keeps the name": {"Host": "table.cafe.example", **PASSED_ON},
    "keeps the name and says nothing else": {"Host": "table.cafe.example"},
    "uses its own name": {"Host": "localhost:8080", **PASSED_ON},
}
"""Headers that proxies on this machine add to https requests."""


@pytest.fixture
def app(match, tmp_path):
    match.start(TWO)
    camera = Camera(phone=PhoneFrames())
    return create_app(
        match, secret=SECRET, base_url="http://192.168.1.20:8080", announced=CAFE, camera=camera,
        secure=SecurePort(tmp_path, "127.0.0.1", 0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "announced"),
    [
        (CAFE, CAFE),
        ("HTTPS://Table.Cafe.example:443/", CAFE),
        ("http://table.cafe.example:80", "http://table.cafe.example"),
        ("http://203.0.113.5:9000", "http://203.0.113.5:9000"),
        ("http://[2001:db8::5]:9000", "http://[2001:db8::5]:9000"),
    ],
)
def test_an_address_is_announced_in_the_form_browsers_use(given, announced):
    assert address.announced(given) == announced


REFUSED = "table.cafe.example ftp://table.cafe.example https:// https://table.cafe.example/mille https://a@b.example "
REFUSED += "https://b.example?x https://b.example#x https://b.example:0 https://b.example:x https://b.example:70000 "
REFUSED += "https://b_.example https://[::1 http://localhost:8080 http://127.0.0.1 http://0.0.0.0:8080 http://-.example"


@pytest.mark.parametrize("given", REFUSED.split())
@pytest.mark.parametrize("command", ["up", "demo"])
def test_an_address_that_phones_cannot_open_is_refused_at_the_start(tmp_path, command, given):
    with pytest.raises(Problem, match=r"--address https://table\.cafe\.example"):
        companion.main([command, "--address", given, "--data", str(tmp_path / "data")], standalone_mode=False)

    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("command", "room"), [("up", service), ("demo", demo)])
def test_the_address_comes_from_an_option_or_the_environment(tmp_path, monkeypatch, command, room):
    served = []
    monkeypatch.setattr(room, "run_service", lambda *_, announced, **_more: served.append(announced))
    monkeypatch.setattr("companion.app.table_commands._leave", lambda: None)
    for words, environment in (["--address", CAFE], {}), ([], {"COMPANION_ADDRESS": CAFE}), ([], {}):
        monkeypatch.delenv("COMPANION_ADDRESS", raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        companion.main([command, *words, "--data", str(tmp_path)], standalone_mode=False)

    assert served == [CAFE, CAFE, ""]


def test_the_terminal_and_its_code_show_the_announced_address(monkeypatch):
    coded = []
    make = address._code
    monkeypatch.setattr(address, "_code", lambda text, border: coded.append(text) or make(text, border))
    said = announce("0.0.0.0", 8080, "tok", "NKCM", CAFE)

    assert coded == [f"{CAFE}/join?t=tok"]
    assert {*re.findall(r"https?://[^\s/]+", said)} == {CAFE, "http://localhost:8080"}
    assert f"Open {CAFE}/join and type NKCM" in said


@pytest.mark.parametrize("headers", PROXIES.values(), ids=PROXIES)
def test_the_walls_code_and_link_use_the_announced_address(app, headers):
    wall = stranger(app)
    wall.get(f"/wall?t={TOKEN}", headers=headers)
    shown = wall.get("/wall", headers=headers)

    assert address.qr_path(f"{CAFE}/join?t={TOKEN}")[1] in shown.text
    assert f"{CAFE}/join" in text_of(shown)
    assert "192.168.1.20" not in html.unescape(shown.text)


def test_its_host_name_is_accepted_and_other_names_are_pointed_to_it(app):
    assert app.test_client().get("/wall", headers={"Host": "table.cafe.example:8080"}).status_code == 200
    assert f"open {CAFE} instead" in text_of(app.test_client().get("/wall", headers={"Host": "evil.example"}))


@pytest.mark.parametrize("headers", PROXIES.values(), ids=PROXIES)
def test_a_phone_joins_and_plays_through_a_proxy_for_https(app, match, headers):
    phone = app.test_client()  # The proxy runs on the machine itself.
    came = phone.get(f"/join?t={TOKEN}", headers=headers)
    sat = phone.post(
        "/join", data={"player": "Ann"}, headers={**headers, "Origin": CAFE, "Sec-Fetch-Site": "same-origin"}
    )
    played = phone.post("/play", data={"text": "Ann roll"}, headers={**headers, "Origin": CAFE})

    assert [answer.status_code for answer in (came, sat, played)] == [302, 303, 303]
    assert [answer.headers["Location"] for answer in (came, sat)] == ["/join", "/"]
    assert "Secure" in came.headers["Set-Cookie"].split("; ")
    assert match.lines()[-1] == "Ann roll"


@pytest.mark.parametrize("headers", PROXIES.values(), ids=PROXIES)
def test_requests_through_the_proxy_do_not_count_as_the_machine_itself(app, headers):
    answer = app.test_client().post("/play", data={"text": "Ann roll"}, headers={**headers, "Origin": CAFE})

    assert answer.status_code == 401


def test_a_change_through_a_proxy_without_client_address_is_not_local(app):
    passed_on = {"Host": "localhost:8080", "Origin": CAFE}

    answer = app.test_client().post("/api/policy", json={"policy": "auto"}, headers=passed_on)

    assert answer.status_code == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "https://table.cafe.example.evil.example", "null", ""])
def test_a_cross_site_request_through_the_proxy_changes_nothing(app, match, origin):
    phone = stranger(app)
    phone.get(f"/join?t={TOKEN}", headers=PASSED_ON)

    assert phone.post("/play", data={"text": "Ann roll"}, headers={**PASSED_ON, "Origin": origin}).status_code == 403
    assert match.state.hand_entries == ()


def test_without_an_announced_address_a_missing_origin_is_refused(match):
    match.start(TWO)
    page = create_app(match, secret=SECRET).test_client()

    assert page.post("/play", data={"text": "Ann roll"}, headers={"Origin": ""}).status_code == 403


def test_on_the_local_network_the_cookie_allows_plain_http(app):
    for path in ("/join", "/camera/phone"):
        phone = stranger(app)
        secure = {"base_url": "https://localhost:8443"} if path == "/camera/phone" else {}
        assert "Secure" not in phone.get(f"{path}?t={TOKEN}", **secure).headers["Set-Cookie"]
        assert tap(phone, "/join", player="Ann").status_code == 303


def test_a_phone_can_be_the_camera_through_the_proxy_without_a_warning(app):
    phone = stranger(app)
    phone.get(f"/join?t={TOKEN}")
    shown = phone.get("/camera/phone")
    by_proxy = phone.get("/camera/phone", headers={"Host": "table.cafe.example", **PASSED_ON})

    assert address.qr_path(f"{CAFE}/camera/phone?t={TOKEN}")[1] in shown.text
    assert "The phone will warn you" not in shown.text
    assert by_proxy.headers["Permissions-Policy"] == "camera=(self)"
