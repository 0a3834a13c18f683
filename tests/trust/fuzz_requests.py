"""Fuzz the real web server:
`PYTHONPATH=tests:. python tests/trust/fuzz_requests.py --times 5000`.

Half of the requests are barely HTTP. The other half are well-formed requests to every route, with every field of the
pages and values of all kinds. They come from a stranger, a guest, the host and the machine itself, some twice at once.

There must be no internal error and no unescaped output. Afterwards the table still plays and the log replays. A service
started over the same folder must not show anything unescaped either.
"""

import http.client
import json
import random
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode

from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from trust.attacked import peak_mb, served
from trust.fuzzing import ESCAPE, MARK, TRACE, WORDS, Findings, fuzz, mutated_bytes, mutated_text, run_command
from trust.real_service import ROOT, Service

from companion.match.match import Match
from companion.pages import create_app
from companion.pages.players import phone_identity
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names
from companion.rules.editions.switches import switches
from companion.storage.data_folder import store_path
from companion.storage.event_store import Store

RAW_SHARE = 0.5
TWICE_SHARE = 0.05
HEALTH_EVERY = 40
STIR_EVERY = 12
PATIENCE_S = 15.0
MOST_READ = 400_000
HARMFUL = re.compile(r"zqx<b>|\x1b\]0;zqx")  # the start of MARK or ESCAPE, unescaped
HTML = ("text/html", "image/svg+xml", "application/xhtml")
FROM = {"machine": "127.0.0.1", "host": "192.168.1.10", "guest": "192.168.1.11", "stranger": "192.168.1.77"}
WORDS_OF_PLAY = (
    "Ann roll", "Bob roll", "Ann 100", "Ann stop > Bob", "Bob discard 25", "Ann roll anyway", "end", "exhausted",
    "Ann driving-ace !", "Ann exchange 25", "side Eve", "hand first Ann", f"Ann {MARK}", "Ann\nBob roll",
)  # fmt: skip
VALUES = (
    *WORDS, *map(str, Card), *edition_names(), *WORDS_OF_PLAY, "Ann", "Bob", "yes", "no", "1", "2", "7", "tap", "auto",
    "play-on", "2x1", "4x2", "8x1", "3x3", "1000", "700", "199", "side-1/battle", "taken-back", "not-a-play", "camera",
    "own", "right", "ignore", "fr", "pl", "en", "xx", "left", "180", "[[1,1],[2,2],[3,3],[4,4]]", '{"a":1}', "CDFG",
)  # fmt: skip
TYPES = (
    "application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x", "text/plain",
    "application/x-www-form-urlencoded; charset=utf-7", "multipart/form-data", "x" * 3000, "application/json;" * 40,
)  # fmt: skip


def run(findings: Findings, times: int, seed: int, folder: Path) -> None:
    with served(folder) as service:
        attack(findings, service, folder, times, seed)
        look_at_pages(findings, service)
        findings.figures["peak memory MB"] = peak_mb(service)
    said = "".join(service.said)
    if TRACE in said or "a page failed" in said:
        findings.found(f"a traceback inside: {said[max(0, said.find(TRACE) - 300) :][:4000]}")
    if HARMFUL.search(said):
        findings.found("what was sent stands in the log of errors as it was sent")
    replayed(findings, folder)
    with served(folder) as service:
        look_at_pages(findings, service)


def attack(findings: Findings, service: Service, folder: Path, times: int, seed: int) -> None:
    people_there = visitors(service, folder)
    for number in range(times):
        chance = random.Random(f"{seed}:{number}")
        about = f"seed {seed} number {number}"
        if chance.random() < RAW_SHARE:
            with findings.trying("raw", about, within_s=3 * PATIENCE_S):
                data = chance.choice(_RAW)(chance, service.port, chance.choice(people_there))
                check_raw(findings, service, data, about)
        else:
            request = structured(chance, chance.choice(people_there))
            with findings.trying(f"as {request.who.name}", about, within_s=3 * PATIENCE_S):
                if chance.random() < TWICE_SHARE:
                    findings.tried["twice at the same moment"] += 1
                    at_once(findings, service, request, about)
                else:
                    check_answer(findings, ask(service, request), request, about)
        if number % STIR_EVERY == 0:
            ask(service, Request("POST", "/--stir", people_there[0]))
        if number % HEALTH_EVERY == HEALTH_EVERY - 1:
            still_plays(findings, service, people_there[0], about)
        if service.process.poll() is not None:
            findings.found(f"the service has ended with {service.process.returncode}", about)
            return


# --- Who asks, and what ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Visitor:
    """A client on the network, with its cookie."""

    name: str
    address: str
    cookie: str = ""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    who: Visitor
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    status: int
    body: str
    headers: http.client.HTTPMessage

    @property
    def kind(self) -> str:
        return self.headers.get("Content-Type", "")


def visitors(service: Service, folder: Path) -> list[Visitor]:
    """Return the machine, a seated host and guest, a stranger, and forgers."""
    token = phone_identity.join_token(phone_identity.load_secret(folder))
    out = [Visitor("machine", FROM["machine"])]
    for name, seat in (("host", "Ann"), ("guest", "Bob")):
        who = Visitor(name, FROM[name])
        cookie = ask(service, Request("GET", f"/join?t={token}", who)).headers.get("set-cookie", "").partition(";")[0]
        out.append(Visitor(name, FROM[name], cookie))
        ask(service, form("/join", out[-1], {"player": seat}))
    out.append(Visitor("stranger", FROM["stranger"]))
    out.append(Visitor("forger", "192.168.1.78", forged_cookie()))
    return out


def forged_cookie() -> str:
    """Return a session with all rights, signed with a wrong key."""
    app = Flask("forger")
    app.secret_key = b"not the key of this table at all"
    signer = SecureCookieSessionInterface().get_signing_serializer(app)
    assert signer is not None
    return f"companion={signer.dumps({'may': True, 'phone': 'abc', '_permanent': True})}"


def form(path: str, who: Visitor, fields: dict[str, str]) -> Request:
    return Request("POST", path, who, urlencode(fields).encode(), {"Content-Type": TYPES[0]})


def ask(service: Service, request: Request) -> Answer:
    """Send a request and return its answer.

    A body that is refused by its header may meet a closed connection while it is being sent, more often on a busy
    machine. Then the answer is lost, and the request is sent again, twice at most.
    """
    for tries_left in (2, 1, 0):
        try:
            return _asked(service, request)
        except (BrokenPipeError, ConnectionResetError):
            if not request.body or not tries_left:
                raise
    raise AssertionError


def _asked(service: Service, request: Request) -> Answer:
    host = f"127.0.0.1:{service.port}"
    headers = {"Host": host, "Origin": f"http://{host}", "X-From": request.who.address, "Connection": "close"}
    headers |= {"Cookie": request.who.cookie} if request.who.cookie else {}
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    try:
        connection.request(request.method, request.path, request.body or None, {**headers, **request.headers})
        answer = connection.getresponse()
        return Answer(answer.status, answer.read(MOST_READ).decode("utf-8", "replace"), answer.headers)
    finally:
        connection.close()


@cache
def routes() -> tuple[tuple[str, str], ...]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "log.sqlite3")
        app = create_app(Match(store), secret=b"x" * 32)
        rules = [(rule.methods or set(), rule.rule) for rule in app.url_map.iter_rules()]
        store.close()
    return tuple(sorted(("POST" if "POST" in methods else "GET", rule) for methods, rule in rules))


@cache
def fields() -> tuple[str, ...]:
    """Return the name of every form field and every request argument in the code."""
    named: set[str] = set()
    for folder, kind, names in (
        ("web/templates", "*.html", r'name="([a-z0-9_-]+)"'),
        ("companion/pages", "*.py", r'(?:form|args|files|json|body)(?:\.get\(|\[)"([^"]+)"'),
    ):
        for path in (ROOT / folder).rglob(kind):
            named.update(re.findall(names, path.read_text(encoding="utf-8")))
    return tuple(sorted({*named, *switches(), *(f"name{seat}" for seat in range(10)), "anyway", "seq", "why", "text"}))


def structured(chance: random.Random, who: Visitor) -> Request:
    method, rule = chance.choice(routes())
    path = re.sub(
        r"<any\(([^)]*)\):[^>]*>", lambda found: chance.choice(found[1].replace("'", "").split(",")).strip(), rule
    )
    path = re.sub(r"<([^>]*)>", lambda found: hostile_part(found[1], chance), path)
    if chance.random() < 0.3:
        path += "?" + urlencode([(field_name(chance), value(chance)) for _ in range(chance.randint(1, 4))])
    if chance.random() < 0.05:
        method = chance.choice(("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"))
    headers: dict[str, str] = {}
    if chance.random() < 0.4:
        headers["HX-Request"] = "true"
    if chance.random() < 0.15:
        name = chance.choice((
            "Origin", "Accept-Language", "User-Agent", "Accept-Encoding", "Last-Event-ID", "If-None-Match", "Range",
            "Cookie", "X-Forwarded-For", "Referer", "If-Modified-Since",
        ))  # fmt: skip
        headers[name] = header_value(chance)
    body, kind = body_of(rule, chance) if method not in ("GET", "HEAD") else (b"", "")
    headers |= {"Content-Type": kind} if kind else {}
    return Request(method, path, who, body, headers)


def hostile_part(what: str, chance: random.Random) -> str:
    if what.startswith("int") and chance.random() < 0.8:
        return chance.choice(("1", "2", "3", "5", "8", "0", "-1", "-7", "99", "999999999999999", "9" * 30, "007"))
    return quote(value(chance)[:300], safe=chance.choice(("", "/.%")), errors="replace") or "x"


def header_value(chance: random.Random) -> str:
    """Return a header's value that the client allows."""
    return re.sub(r"[^\x20-\x7e\x80-\xff]", "?", value(chance))[:3000].strip()


def field_name(chance: random.Random) -> str:
    return chance.choice(fields()) if chance.random() < 0.95 else value(chance)


def value(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.6:
        return chance.choice(VALUES)
    if kind < 0.7:
        return chance.choice((MARK, ESCAPE, f"Ann {MARK}", f'x" onload="{MARK}'))
    if kind < 0.8:
        return mutated_text(chance.choice(WORDS_OF_PLAY), chance)
    return str(chance.choice((chance.randint(-5, 60), chance.randint(-(2**70), 2**70), chance.random())))


def body_of(rule: str, chance: random.Random) -> tuple[bytes, str]:
    if rule.startswith("/api/") and chance.random() < 0.8:
        return json_body(chance), "application/json"
    kind = chance.random()
    if kind < 0.65:
        pairs = [(field_name(chance), value(chance)) for _ in range(chance.randint(0, 8))]
        if rule == "/setup" and chance.random() < 0.7:
            pairs += [("edition", "classic"), ("seating", "2x1"), ("replace", "1"), ("name1", value(chance))]
            pairs += [("name2", "Bob")]
        return urlencode(pairs, errors="replace").encode(), TYPES[0]
    if kind < 0.9:
        return multipart(chance)
    return chance.randbytes(chance.choice((0, 10, 3000, 17_000))), chance.choice(TYPES)


def json_body(chance: random.Random) -> bytes:
    if chance.random() < 0.1:
        return chance.choice((b"[" * 9000, b'{"text":' * 3000, b"\xff\xfe", b'"\\ud800"', b"1e999", b"-" * 99, b""))
    strange = (None, True, 1, -1, 2**70, 1e308, "", [], {}, ["Ann roll"], {"text": "Ann roll"}, "\ud800", value(chance))
    body = {
        chance.choice(("text", "anyway", "seq", "why", field_name(chance))): chance.choice(strange) for _ in range(3)
    }
    if chance.random() < 0.6:
        body["text"] = chance.choice(WORDS_OF_PLAY)
    return json.dumps(chance.choice((body, body, body, [body], list(body)))).encode()


def multipart(chance: random.Random) -> tuple[bytes, str]:
    boundary = chance.choice(("x", "----zq", "a" * 70, "a" * 300, 'q"x', ""))
    parts = b""
    for _ in range(chance.choice((0, 1, 2, 5, 200))):
        name = field_name(chance).replace('"', "%22").replace("\n", " ").replace("\r", " ")
        file = chance.random() < 0.3
        head = f'Content-Disposition: form-data; name="{name}"'
        head += f'; filename="{value(chance)[:200]}"\r\nContent-Type: image/jpeg' if file else ""
        content = (
            chance.randbytes(chance.choice((0, 5, 600))) if file else value(chance).encode("utf-8", "replace")[:900]
        )
        parts += b"--" + boundary.encode() + b"\r\n" + head.encode("utf-8", "replace") + b"\r\n\r\n" + content + b"\r\n"
    parts += b"--" + boundary.encode() + chance.choice((b"--\r\n", b"--", b"", b"\r\n"))
    data = mutated_bytes(parts, chance) if chance.random() < 0.3 else parts
    return data, f"multipart/form-data; boundary={boundary}"


# --- What comes back ------------------------------------------------------------------------------------------


def check_answer(findings: Findings, answer: Answer, request: Request, about: str) -> None:
    sent = f"{about}: {request.who.name} {request.method} {request.path[:200]} {request.body[:300]!r} {request.headers}"
    if answer.status >= 500 and answer.status not in (501, 503, 505):
        findings.found(f"answers {answer.status}", sent)
    if TRACE in answer.body or "werkzeug" in answer.body.lower():
        findings.found("shows its inside", sent)
    if any(kind in answer.kind for kind in HTML) and HARMFUL.search(answer.body):
        findings.found("shows what was sent as it was sent", sent)
    if answer.status < 400 and "nosniff" not in answer.headers.get("x-content-type-options", ""):
        findings.found("lets a browser guess what it is", sent)
    if any("\n" in value or "\x1b" in value for value in answer.headers.values()):
        findings.found("a header holds what was sent", sent)
    changes = request.method not in ("GET", "HEAD", "OPTIONS")
    if request.who.name == "forger" and changes and answer.status < 300 and answer.status != 204:
        may = request.path.split("?")[0] in ("/phone", "/told")
        if not may and request.body != b"" and "oops" not in answer.body and not answer.kind.startswith("text/html"):
            findings.found("lets a forger in", sent)


def at_once(findings: Findings, service: Service, request: Request, about: str) -> None:
    gate = threading.Barrier(2)

    def send() -> Answer:
        gate.wait(PATIENCE_S)
        return ask(service, request)

    with ThreadPoolExecutor(2) as phones:
        both = [phones.submit(send) for _ in range(2)]
    for one in both:
        if error := one.exception():
            findings.found(f"no answer: {error!r}", f"{about} {request.path[:200]}")
        else:
            check_answer(findings, one.result(), request, about)


def still_plays(findings: Findings, service: Service, machine: Visitor, about: str) -> None:
    """Check that a new match can begin and a play counts."""
    findings.tried["plays on"] += 1
    fields = {"edition": "classic", "seating": "2x1", "name1": "Ann", "name2": "Bob", "replace": "1", "policy": "tap"}
    begun = ask(service, form("/setup", machine, fields))
    headers = {"Content-Type": "application/json"}
    state = json.loads(ask(service, Request("GET", "/api/state", machine)).body)
    turn = (state["table"] or {}).get("to_move")
    play = json.dumps({"text": f"{turn} discard 25"}).encode()
    played = ask(service, Request("POST", "/api/plays", machine, play, headers))
    if begun.status != 303 or played.status != 200:
        findings.found(f"plays no more: {begun.status} {played.status} {played.body[:200]}", about)


def look_at_pages(findings: Findings, service: Service) -> None:
    """Check up to 150 pages reached by links, as the machine itself."""
    machine = Visitor("machine", FROM["machine"])
    todo, seen = ["/"], set()
    while todo and len(seen) < 150:
        path = todo.pop(0)
        if path in seen or path.startswith("/static") or "://" in path:
            continue
        seen.add(path)
        request = Request("GET", path, machine)
        with findings.trying("pages afterwards", path, within_s=3 * PATIENCE_S):
            answer = ask(service, request)
            check_answer(findings, answer, request, "afterwards")
            if "html" in answer.kind:
                todo += [link.replace("&amp;", "&") for link in re.findall(r'(?:href|src)="(/[^"#]*)"', answer.body)]


def replayed(findings: Findings, folder: Path) -> None:
    """Check that every match of the log can be exported and read again."""
    store = Store.open(store_path(folder), read_only=True)
    matches = store.matches()
    store.close()
    path = folder / "again.mbn"
    for number in matches[-60:]:
        with findings.trying("matches replayed", number, within_s=60):
            record = run_command("export", str(number), "--data", str(folder))
            path.write_text(record.out, encoding="utf-8")
            again = run_command("replay", "--json", str(path))
            said = [json.loads(line) for line in again.out.splitlines()]
            damaged = [one for one in said if one.get("verdict") == "unreadable"]
            if record.code or damaged:
                findings.found(f"match {number} does not replay: {record.err[:200]} {damaged[:2]}")


# --- Hardly HTTP ----------------------------------------------------------------------------------------------


def sound_bytes(chance: random.Random, port: int, who: Visitor) -> bytes:
    request = structured(chance, who)
    head = [
        f"{request.method} {quote(request.path, safe='/?&=%+-._~')} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Origin: http://127.0.0.1:{port}",
        f"X-From: {who.address}",
        f"Content-Length: {len(request.body)}",
    ]
    head += [f"Cookie: {who.cookie}"] if who.cookie else []
    head += [f"{name}: {text}" for name, text in request.headers.items()]
    return "\r\n".join(head).encode("utf-8", "replace") + b"\r\n\r\n" + request.body


METHODS = ("GET", "POST", "get", "G\x00T", "", "X" * 5000, "CONNECT", "TRACE", "PRI", "GET\t")
PATHS = (
    "/", "//", "/../../etc/passwd", "/static/../../../etc/passwd", "/static/%2e%2e/%2e%2e/secret-key", "/%00", "/%",
    "/%zz", "/\x00", "*", "http://evil.example/", "//evil.example/x", "/" + "a" * 9000, "/%F0%9F%92%A9", "/é",
    "/\xff", "/a b", "/?" + "a=1&" * 3000, "/..;/", "/static/..%5c..%5c", "", "/decks/..%2f..%2fsecret-key.zip",
    "/" + quote(MARK), "/#x", "/join?t=" + "é" * 99,
)  # fmt: skip
VERSIONS = ("HTTP/1.1", "HTTP/1.0", "HTTP/9.9", "HTTP/0.9", "HTTP/1.1 x", "http/1.1", "", "HTTP/" + "1" * 99)
HOSTS = ("evil.example", "", "[::1", "[" * 99, "a" * 3000, "127.0.0.1:99999999", "localhost\x00", "é.local",
         "127.0.0.1@evil", ".local", "[::1]:x", "0x7f.1")  # fmt: skip
LENGTHS = ("-1", "0", "1", "5", "abc", "+5", "0x5", "5, 5", "9" * 30, "99999999999", "٥", " 5 ")
CODINGS = ("chunked", "Chunked", "gzip", "gzip, chunked", "chunked, chunked", "xchunked", "identity")
SIZES = ("5", "-1", "5;x=" + "y" * 5000, "FFFFFFFFFFFFFFFF", "zz", "", "0", "1_0", "0x5", "5 ", "00000005")
LINES = (
    "X: " + "a" * 500, "NoColon", ": empty", " folded: 1", "X\x00Y: 1", f"X: {MARK}", "Cookie: " + "companion=" * 100,
    "Cookie: companion=.eJx" + "A" * 3000, "Cookie: companion=" + MARK, "Accept-Language: " + "fr;q=" * 200,
    "Accept-Language: fr;q=nan,pl;q=-1,xx;q=1e999", "Accept-Encoding: gzip;q=0,*", "Range: bytes=0-0,-1,999999999-",
    "If-Modified-Since: " + "9" * 99, "If-None-Match: " + '"x",' * 500, "Expect: 100-continue", "Upgrade: h2c",
    "Connection: Upgrade, HTTP2-Settings", "X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1",
    "Last-Event-ID: " + "9" * 400, "Last-Event-ID: x", *(f"Host: {host}" for host in HOSTS),
    *(f"Content-Length: {length}" for length in LENGTHS), *(f"Transfer-Encoding: {coding}" for coding in CODINGS),
)  # fmt: skip


def _strange(chance: random.Random, port: int, who: Visitor) -> bytes:
    """Return a request with missing, too many, too long or duplicate header lines, or a wrong length."""
    head, _, body = sound_bytes(chance, port, who).decode("utf-8", "replace").partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    if chance.random() < 0.3:
        first = " ".join(map(chance.choice, (METHODS, PATHS, VERSIONS)))
    if chance.random() < 0.5:
        lines = [line for line in lines if not line.startswith("Content-Length")]
        body = chance.choice(("hello", f"{chance.choice(SIZES)}\r\nhello\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n" * 50))
    for _ in range(chance.choice((0, 1, 2, 3, 50, 2000))):
        lines.insert(chance.randint(0, len(lines)), chance.choice(LINES))
    return "\r\n".join([first, *lines, "", body]).encode("latin-1", "replace")


def _ended_in_its_middle(chance: random.Random, port: int, who: Visitor) -> bytes:
    data = sound_bytes(chance, port, who)
    return data[: chance.randrange(len(data))]


_RAW: tuple[Callable[[random.Random, int, Visitor], bytes], ...] = (
    *3 * [lambda chance, port, who: mutated_bytes(sound_bytes(chance, port, who), chance, most=12)],
    lambda chance, _port, _who: chance.randbytes(chance.choice((1, 20, 5000))) + chance.choice((b"", b"\r\n\r\n")),
    *6 * [_strange],
    _ended_in_its_middle,
)


def check_raw(findings: Findings, service: Service, data: bytes, about: str) -> None:
    """Send bytes, and check that the answer reveals nothing internal."""
    said = exchange(service.port, data)
    text = said.decode("utf-8", "replace")
    status = re.match(r"HTTP/1\.[01] (\d{3})", text)
    if status and int(status[1]) >= 500 and int(status[1]) not in (501, 503, 505):
        findings.found(f"answers {status[1]} to bytes", f"{about}: {data[:300]!r}")
    if TRACE in text:
        findings.found("shows its inside", f"{about}: {data[:300]!r}")
    if "text/html" in text and HARMFUL.search(text):
        findings.found("shows what was sent as it was sent", f"{about}: {data[:300]!r}")


def exchange(port: int, data: bytes) -> bytes:
    out = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            line.settimeout(1.0)
            end_s = time.monotonic() + PATIENCE_S
            while len(out) < MOST_READ and time.monotonic() < end_s:
                part = line.recv(65536)
                if not part:
                    break
                out += part
    except OSError:
        return out
    return out


if __name__ == "__main__":
    sys.exit(fuzz("requests", __doc__, run, times=1000))
