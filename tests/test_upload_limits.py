"""What the server takes in before the app sees anything of it: how much, from whom, and what it answers itself."""

import gc
import select
import socket
import time
from contextlib import suppress

import pytest
from client import SECRET
from serving import running

from companion.pages import limits
from companion.pages.players import phone_identity
from companion.pages.server import connections

MARK = "zzMARKzz"


@pytest.fixture
def at(app):
    with running(app) as url:
        yield url.removeprefix("http://")


def connected(at: str) -> socket.socket:
    host, port = at.split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def answer(at: str, head: str, body: bytes = b"") -> tuple[int, str]:
    """What the server says to a request as it stands."""
    with connected(at) as line:
        line.sendall(head.replace("\n", "\r\n").encode("latin-1") + body)
        return said(line)


def said(line: socket.socket) -> tuple[int, str]:
    """The next answer on a connection that is closed after it, or after which nothing is asked."""
    got = b""
    with suppress(ConnectionResetError):
        while b"\r\n\r\n" not in got or len(got.partition(b"\r\n\r\n")[2]) < _length(got):
            more = line.recv(65536)
            if not more:
                break
            got += more
    text = got.decode("utf-8", "replace")
    return (int(text.split()[1]) if text else 0), text


def _length(got: bytes) -> int:
    for row in got.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        if row.lower().startswith(b"content-length:"):
            return int(row.split(b":")[1])
    return 0


def posting(at: str, path: str, length: int, more: str = "") -> str:
    """The first lines of a change, without its body."""
    return (
        f"POST {path} HTTP/1.1\nHost: {at}\nOrigin: http://{at}\n"
        f"Content-Type: multipart/form-data; boundary=x\nContent-Length: {length}\n{more}\n"
    )


def cookie(app) -> str:
    """What a phone carries that has scanned the code."""
    with app.test_client() as client:
        got = client.get(f"/join?t={phone_identity.join_token(SECRET)}")
    return "Cookie: " + got.headers["Set-Cookie"].split(";")[0] + "\n"


# --- How much is taken in ------------------------------------------------------------------------------------


FORGED = "Cookie: companion=eyJtYXkiOnRydWV9.aaaa.bbbb\n"
SHUT = ("/play", "/join", "/snap", "/decks/import", "/decks/a/enrol", "/setup", "/api/plays")
TOO_MUCH = [
    *((path, 40_000_000, "") for path in ("/join/code", "/nowhere")),
    *((path, 20_000, "ours") for path in ("/play", "/join", "/setup", "/nowhere")),
    ("/snap", limits.LARGEST_BYTES + 9, "ours"),
    ("/snap", limits.BODIES["snap.send"].most_bytes + 9, "ours"),
]


@pytest.mark.parametrize(("path", "length", "shown"), TOO_MUCH)
def test_nobody_sends_more_than_a_page_and_who_takes_part_no_more_than_a_photograph(
    path, length, shown, app, at, strangers
):
    code, text = answer(at, posting(at, path, length, cookie(app) if shown == "ours" else shown))

    assert code == 413
    assert "That was too much data" in text or shown


@pytest.mark.parametrize("shown", ["", FORGED], ids=["a stranger", "a forged cookie"])
@pytest.mark.parametrize("path", SHUT)
@pytest.mark.parametrize("length", [20_000, 40_000_000])
def test_who_does_not_take_part_is_told_that_first_however_large_the_body(path, length, shown, at, strangers):
    code, text = answer(at, posting(at, path, length, shown + "Accept-Language: de\n"))

    assert code == 401
    assert "WWW-Authenticate" not in text
    assert "Zum Mitmachen scanne" in text or path.startswith("/api/")


def test_a_phone_that_only_watches_is_told_so_however_large_the_body(app, at, strangers):
    with app.test_client() as client:
        client.get(f"/join?t={phone_identity.join_token(SECRET)}")
        client.post("/join", data={"player": ""}, headers={"Origin": "http://localhost"})
        watching = f"Cookie: companion={client.get_cookie('companion').value}\n"

    code, text = answer(at, posting(at, "/decks/import", 900_000, watching))

    assert code == 403
    assert "watch" in text


WAY_BACK = '<a href="/">Back to the table</a>'


@pytest.mark.parametrize(
    ("path", "asks", "says"),
    [
        ("/api/plays", "", ["Content-Type: application/json", '{"say": "That was too much data']),
        ("/play", "Accept-Language: fr\n", ["Content-Type: text/plain; charset=utf-8", "C’est trop"]),
        ("/play", "Accept: text/html\n", ["Content-Type: text/html; charset=utf-8", "try again.", WAY_BACK]),
    ],
    ids=["a script", "who reads French", "a browser"],
)
def test_who_sends_too_much_is_told_so_in_a_form_and_a_language_of_theirs(path, asks, says, app, at, strangers):
    code, text = answer(at, posting(at, path, 20_000, cookie(app) + asks))

    assert code == 413
    assert [said for said in says if said not in text] == []


def test_nothing_of_a_large_body_is_waited_for(at, strangers):
    with connected(at) as line:
        line.sendall(posting(at, "/snap", 40_000_000).replace("\n", "\r\n").encode())

        assert said(line)[0] == 401
        assert line.recv(1) == b""


def test_who_takes_part_sends_a_photograph(app, at, strangers):
    body = (
        b'--x\r\nContent-Disposition: form-data; name="edition"\r\n\r\nclassic\r\n'
        b'--x\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\n'
        + b"\0" * 900_000
        + b"\r\n--x--\r\n"
    )

    code, text = answer(at, posting(at, "/snap", len(body), cookie(app)), body)

    assert code == 400
    assert "or not a JPEG, PNG, WebP or BMP file" in text


@pytest.mark.parametrize(
    "more",
    ["Origin: http://evil.example\n", "", "Sec-Fetch-Site: cross-site\n"],
    ids=["another page", "no page", "cross-site"],
)
def test_another_page_sends_no_photograph_with_the_cookie_of_a_phone(more, app, at, strangers):
    head = posting(at, "/snap", 20_000_000, cookie(app) + more)
    if "Sec" not in more:
        head = head.replace(f"Origin: http://{at}\n", "")

    assert answer(at, head)[0] == 403


def test_pieces_are_counted_as_they_come(app, at, strangers):
    head = f"POST /play HTTP/1.1\nHost: {at}\nOrigin: http://{at}\nTransfer-Encoding: chunked\n{cookie(app)}\n"

    assert answer(at, head, b"2000\r\n" + b"x" * 0x2000 + b"\r\n" + b"4000\r\n" + b"x" * 0x4000 + b"\r\n")[0] == 413


def test_who_asks_before_sending_too_much_is_not_told_to_go_on(app, at, strangers):
    code, text = answer(at, posting(at, "/play", 40_000_000, f"{cookie(app)}Expect: 100-continue\n"))

    assert (code, "100 Continue" in text) == (413, False)


def test_a_few_photographs_are_taken_in_at_a_time(app, at, strangers):
    head = posting(at, "/snap", 1_000_000, cookie(app)).replace("\n", "\r\n").encode()
    coming = [connected(at) for _ in range(connections.MOST_LARGE + 1)]
    for line in coming:
        line.sendall(head)
    answered, _, _ = select.select(coming, [], [], 60)
    code, text = said(answered[0])
    for line in coming:
        line.close()

    assert (code, "Retry-After: 10" in text) == (503, True)
    until_said(lambda: answer(at, posting(at, "/snap", 20_000, cookie(app)), b"\0" * 20_000)[0] == 400)


def test_photographs_that_are_too_large_together_wait_for_one_another(app, at, strangers, monkeypatch):
    monkeypatch.setattr(connections, "MOST_LARGE_BYTES", 1_500_000)
    head = posting(at, "/snap", 1_000_000, cookie(app))
    with connected(at) as first:
        first.sendall(head.replace("\n", "\r\n").encode())
        until_said(lambda: answer(at, head)[0] == 503)

    until_said(lambda: answer(at, posting(at, "/snap", 20_000, cookie(app)), b"\0" * 20_000)[0] == 400)


def until_said(what) -> None:
    until = time.monotonic() + 60
    while not what():
        gc.collect()
        assert time.monotonic() < until


# --- What cannot be read -------------------------------------------------------------------------------------

PLAYING = "POST /play HTTP/1.1\nHost: localhost\nOrigin: http://localhost\n"
UNREADABLE = [
    (f"{MARK.lower()} / HTTP/1.1\n\n", 400), (f"GET /{MARK} HTTP/1.1\n {MARK}: 1\n\n", 400),
    (f"GET /{MARK} HTTP/1.1\n{MARK}\n\n", 400), (f"GET /{MARK} HTTP/1.1\n{MARK} : 1\n\n", 400),
    (f"GET http://[{MARK} HTTP/1.1\n\n", 400), (f"GET /{MARK} HTTP/1.1\nContent-Length: {MARK}\n\n", 400),
    (f"GET /{MARK} HTTP/1.1\nContent-Length: {'9' * 5000}\n\n", 400),
    (f"GET /{MARK} HTTP/1.1\nContent-Length: -1\n\n", 400),
    (f"POST /{MARK} HTTP/1.1\nTransfer-Encoding: {MARK}\n\n", 501), (f"GET /{'x' * 20_000} HTTP/1.1\n\n", 431),
    (f"GET / HTTP/1.1\nCookie: {MARK * 3000}\n\n", 431), (f"{MARK}\n\n", 400), ("\0\0\0\0\n\n", 400),
    (f"{PLAYING}Transfer-Encoding: chunked\n\n{MARK}\n\n", 400),
]  # fmt: skip


@pytest.mark.parametrize(("head", "code"), UNREADABLE)
def test_what_cannot_be_read_is_a_sentence_that_repeats_nothing(head, code, at):
    got, text = answer(at, head)

    assert got == code
    assert "go back and try again." in text
    assert MARK.lower() not in text.lower()
    assert "waitress" not in text.lower()
    assert "default-src 'none'" in text
    assert "\r\nServer:" not in text


def test_the_server_lives_on_after_all_of_it(at):
    for head, _code in UNREADABLE:
        answer(at, head)

    assert answer(at, f"GET /wall HTTP/1.1\nHost: {at}\n\n")[0] == 200


# --- Whom it believes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        "GET /wall HTTP/1.1\nHost: evil.example\n\n", "GET /wall HTTP/1.1\nHost: AT\nHost: evil.example\n\n",
        "GET /wall HTTP/1.1\n\n", "GET /wall HTTP/1.0\n\n", "GET http://AT/wall HTTP/1.1\nHost: evil.example\n\n",
        "GET /wall HTTP/1.1\nHost: evil.example\nX-Forwarded-Host: AT\n\n",
    ],
    ids=["another", "two", "none", "none of old", "in the address", "passed on"],
)  # fmt: skip
def test_only_our_names_are_answered(head, at):
    assert answer(at, head.replace("AT", at))[0] == 400


def test_an_address_in_full_is_judged_by_the_name_beside_it(at):
    assert answer(at, f"GET http://evil.example/wall HTTP/1.1\nHost: {at}\n\n")[0] == 200


@pytest.mark.parametrize(
    "passed_on", ["X-Forwarded-For: 192.168.1.9", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy", "X-Real-IP: 127.0.0.1"]
)
def test_what_another_program_here_passes_on_is_not_the_machines_own_wish(passed_on, at):
    assert answer(at, posting(at, "/play", 0))[0] != 401
    assert answer(at, posting(at, "/play", 0, f"{passed_on}\n"))[0] == 401


def test_nobody_becomes_the_machine_by_saying_so(at, strangers):
    for said_so in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Forwarded-Host", "Client-IP"):
        assert answer(at, posting(at, "/play", 0, f"{said_so}: 127.0.0.1\n"))[0] == 401
