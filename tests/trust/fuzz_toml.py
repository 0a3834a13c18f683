"""Fuzz the readers of setup, edition and deck files and of small files in the data folder:
`PYTHONPATH=tests:. python tests/trust/fuzz_toml.py --times 5000`.

Valid files get changed words, lines, values and bytes, and values of wrong types. Some paths are no regular files:
folders, pipes, broken or endless links. The commands that read them must name the file in a sentence or use a sensible
default, without internal errors or waiting.
"""

import json
import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

from decks import face
from trust.fuzzing import WORDS, Findings, faults_of, fuzz, mutated_text, run_command, written_otherwise

from companion.common.errors import Problem
from companion.match.match import Match
from companion.match.phones import KEPT_NAME as PHONES
from companion.match.phones import Phones
from companion.match.setup_file import read_setup
from companion.pages import create_app
from companion.pages.players import phone_identity
from companion.pages.table_camera.camera_settings import KeptTurn
from companion.rules.editions.edition_file import EDITIONS
from companion.rules.editions.switches import switches
from companion.storage.data_folder import DECK_IN_USE_NAME as DECK_IN_USE
from companion.storage.data_folder import TURN_NAME as PICTURE_TURN
from companion.storage.event_store import Store
from companion.tabletop.drawn_zones import FILE_NAME as DRAWN_ZONES
from companion.tabletop.drawn_zones import DrawnZones
from companion.vision.enrol.enrolment import as_png
from companion.vision.faces.deck_in_use import DeckInUse

DOCS = Path(__file__).parents[2] / "docs"


def shown(page: str) -> tuple[str, ...]:
    """Return the TOML files shown on a page of the docs."""
    return tuple(re.findall(r"(?s)```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8")))


SETUPS, EDITIONS_SHOWN = shown("setup-file.md"), shown("rules.md")
DECK = """\
name = "ours"
title = "Ours & co"
edition = "classic"
maker = "somebody"
size_mm = [57, 88]
back = "roll.png"
made = 2026-11-22
"""
SMALL = {
    PHONES: {"host": "abc", "seats": {"Ann": "abc"}, "watching": ["def"], "let_in": ["abc", "def"],
        "names": {"def": "Somebody"}},
    PICTURE_TURN: {"degrees": 90, "mirrored": True},
    DECK_IN_USE: {"deck": "ours"},
    DRAWN_ZONES: {"picture": [640, 480], "zone": [{"name": "side-1/battle", "corners": [[1, 1], [99, 1], [99, 99],
        [1, 99]]}]},
}  # fmt: skip
VALUES = (
    "true", "-1", "0", "1.5", "1e400", "nan", "-inf", "9" * 400, "9" * 5000, "0x" + "f" * 5000, '""',
    '"\\u001b]0;x\\u0007"', '"\\u0000"', '"%(name)s %d"', '"' + "a" * 5000 + '"', "'''a\nb'''", "[]", "[[]]", "{}",
    "{a = 1}", "[" * 200 + "]" * 200, "[" * 5000 + "]" * 5000, "{a=" * 2000 + "1" + "}" * 2000, "[1, 'a', {}]",
    "[[1e308, 1e308], [-1e308, 0], [nan, 1], [1, 2]]", "1979-05-27T07:32:00Z", "1979-05-27", "07:32:00", '"../../x"',
    '"' + "x" * 300 + '"', '["Ann", "Ann"]', '["", "Ann"]', '[["Ann"]]',
)  # fmt: skip
KEYS = (
    "edition", "side", "zone", "target", "name", "players", "mat", "rect", "corners", "seat", "picture", "seats",
    "options", "deck", "points", "switches", "setting-up", "seatings", "parent", "back", "size_mm", "made", "cards",
    "[x]", "[[side]]", "[[zone]]", "[side]", "[deck]", "a.b.c", '"\\u001b"', '"' + "k" * 3000 + '"', *switches(),
)  # fmt: skip


def run(findings: Findings, times: int, seed: int, folder: Path) -> None:
    data = data_folder(folder / "data")
    for number in range(times):
        chance = random.Random(f"{seed}:{number}")
        kind, name, content = hostile_file(chance)
        with_file(findings, data, kind, name, content, f"seed {seed} number {number}")
    for number, (what, (kind, name)) in enumerate(product(NO_FILES, PLACES)):
        strange = data_folder(folder / f"strange-{number}")
        path = place(strange, kind, name)
        remove(path)
        NO_FILES[what](path)
        with findings.trying(f"no file: {kind}", f"{name} {number}", within_s=20):
            for fault in CHECKS[kind](strange, path):
                findings.found(f"{kind} {name} as {what}: {fault}")
        shutil.rmtree(strange)


def with_file(findings: Findings, data: Path, kind: str, name: str, content: bytes, about: str) -> None:
    path = place(data, kind, name)
    before = path.read_bytes() if path.is_file() else None
    path.write_bytes(content)
    with findings.trying(kind, about):
        for fault in CHECKS[kind](data, path):
            findings.found(f"{kind} {name}: {fault}", f"{about}: {content[:400]!r}")
    if before is None:
        path.unlink()
    else:
        path.write_bytes(before)


def data_folder(folder: Path) -> Path:
    deck = folder / "decks" / "ours"
    deck.mkdir(parents=True)
    (folder / "editions").mkdir()
    (folder / "empty").mkdir()
    (deck / "deck.toml").write_text(DECK)
    (deck / "roll.png").write_bytes(as_png(face("vintage", "roll", 2)))
    return folder


def place(data: Path, kind: str, name: str) -> Path:
    return {"deck": data / "decks" / "ours" / name, "own edition": data / "editions" / name}.get(kind, data / name)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# --- What is tried --------------------------------------------------------------------------------------------


def hostile_file(chance: random.Random) -> tuple[str, str, bytes]:
    """Return kind, name and content of a file."""
    kind = chance.choice(("setup", "setup", "edition", "edition", "own edition", "deck", "deck", "small", "small"))
    if kind == "small":
        name = chance.choice((*SMALL, "secret-key"))
        return kind, name, hostile_json(SMALL.get(name, {}), chance)
    edition = chance.choice((*2 * EDITIONS_SHOWN, shipped_edition(chance)))
    text = {"setup": chance.choice(SETUPS), "deck": DECK}.get(kind, edition)
    name = {"setup": "table.toml", "deck": "deck.toml"}.get(kind, "ours.toml")
    return kind, name, hostile_toml(text, chance)


def shipped_edition(chance: random.Random) -> str:
    path = chance.choice(sorted(EDITIONS.glob("*.toml")))
    return path.read_text(encoding="utf-8").replace(f'name = "{path.stem}"', 'name = "ours"', 1)


def hostile_toml(text: str, chance: random.Random) -> bytes:
    """Return a TOML file with changed values, keys, lines or bytes."""
    way = chance.random()
    if way < 0.04:
        return chance.randbytes(chance.choice((0, 1, 100, 3000)))
    if way < 0.08:
        return chance.choice(
            (
                "[[side]]\n" * 9000,
                "a." * 20_000 + "b = 1",
                "[a." + "a." * 9000 + "b]",
                "#" * 10**6,
                "\n" * 10**6,
                "[options]\n" + "".join(f"k{n} = 1\n" for n in range(20_000)),
            )
        ).encode()
    lines = text.split("\n")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        key, equals, value = lines[at].partition(" = ")
        if equals and chance.random() < 0.8:
            lines[at] = f"{key} = {chance.choice(VALUES)}"
        elif equals:
            lines[at] = f"{chance.choice(KEYS)} = {value}"
        elif chance.random() < 0.5:
            lines.insert(at, f"{chance.choice(KEYS)} = {chance.choice(VALUES)}")
    text = "\n".join(lines)
    return (
        written_otherwise(mutated_text(text, chance, (*WORDS, *VALUES)), chance)
        if chance.random() < 0.5
        else text.encode()
    )


def hostile_json(sound: object, chance: random.Random) -> bytes:
    way = chance.random()
    if way < 0.1:
        return chance.choice((b"", b"[" * 100_000, b'{"a":' * 50_000, b"nul", b"\xff\xfe{}", b'"\\ud800"', b"9" * 6000))
    text = json.dumps(other_json(sound, chance))
    if way < 0.8:
        return text.encode()
    return written_otherwise(mutated_text(text, chance), chance)


def other_json(value: object, chance: random.Random, depth: int = 0) -> object:
    """Return a value with some parts replaced by other values."""
    if chance.random() < 0.12 + 0.1 * depth:
        return chance.choice((
            None, True, -1, 0, 1.5, 10**400, float("nan"), float("inf"), "", "\ud800", "\x00", "a" * 9000, [], {}, [[]],
            {"a": {}}, ["Ann"] * 300, "<b>", {"\ud800": "\udfff"}, [1, 2], {"Ann": 3}, [float("nan")] * 2, 90.0,
        ))  # fmt: skip
    if isinstance(value, dict):
        return {key if chance.random() < 0.9 else "other": other_json(v, chance, depth + 1) for key, v in value.items()}
    return [other_json(v, chance, depth + 1) for v in value] if isinstance(value, list) else value


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a loop": lambda path: path.symlink_to(path.name),
    "a dead link": lambda path: path.symlink_to("nowhere-at-all"),
    "without end": lambda path: (path.touch(), os.truncate(path, 40_000_000_000)),
    "a link without end": lambda path: path.symlink_to("/dev/zero"),
    "not for us": lambda path: (path.write_bytes(b"name = 1"), path.chmod(0)),
}
"""Things that are no regular file, each tried in every place."""
PLACES = (
    ("setup", "table.toml"), ("edition", "ours.toml"), ("own edition", "ours.toml"), ("deck", "deck.toml"),
    ("deck", "stop.png"), *(("small", name) for name in (*SMALL, "secret-key")),
)  # fmt: skip


# --- What is looked at ----------------------------------------------------------------------------------------


def check_setup(data: Path, path: Path) -> Iterator[str]:
    """Try a setup file with `watch`, `read` and the start of `up`."""
    for words in (
        ("watch", "--setup", str(path), "--source", str(data / "nowhere.mp4"), "--data", str(data)),
        ("read", "--setup", str(path), str(data / "nowhere.jpg"), "--data", str(data)),
    ):
        ran = run_command(*words)
        yield from faults_of(ran, sentences=3, longest=1500)
        if "nowhere." not in ran.err and path.name not in ran.err:
            yield f"names neither the file nor what is missing: {ran.err[:200]!r}"
    yield from started(data, path)


def started(data: Path, path: Path) -> Iterator[str]:
    """Check that a valid setup begins a match, as `up --setup` does."""
    try:
        setup = read_setup(path)
    except Problem:
        return
    log = data / "log.sqlite3"
    store = Store.open(log)
    match = Match(store)
    try:
        match.start([*setup.header(), f"hand first {setup.first}"], by="setup")
        if not match.state.game.hand_is_open:
            yield "a sound setup has begun no hand"
    except Problem as problem:
        yield f"the setup was read, and the match refused it: {problem}"
    finally:
        store.close()
        log.unlink()


def check_edition(data: Path, path: Path) -> Iterator[str]:
    checked = run_command("editions", "check", str(path))
    yield from faults_of(checked, longest=1500)
    if checked.code and path.name not in checked.err:
        yield f"does not name the file: {checked.err[:200]!r}"
    shown = run_command("editions", "show", str(path))
    yield from faults_of(shown, sentences=1, longest=1500)
    if (shown.code == 0) != (checked.code == 0):
        yield "one command takes the file and the other does not"


def check_own_edition(data: Path, path: Path) -> Iterator[str]:
    """Check that commands report a faulty edition in the data folder and continue."""
    ran = run_command("editions", "--data", str(data))
    yield from faults_of(ran, sentences=1, longest=1500)
    if ran.code or "classic" not in ran.out:
        yield f"the editions are not listed: {ran.err[:200]!r}"


def check_deck(data: Path, path: Path) -> Iterator[str]:
    for words in (
        ("decks",),
        ("decks", "show", "ours"),
        ("read", "--deck", "ours", str(data / "nowhere.jpg")),
        ("enroll", "ours", "--edition", "classic", "--from", str(data / "empty")),
        ("decks", "export", "ours", "--out", str(data / "out.zip")),
    ):
        ran = run_command(*words, "--data", str(data))
        yield from (f"{words[:2]}: {fault}" for fault in faults_of(ran, sentences=4, longest=1500))
        if words == ("decks",) and ran.code:
            yield f"the decks are not listed: {ran.err[:200]!r}"
    remove(data / "out.zip")
    for child in (data / "decks").iterdir():
        if child.name != "ours":
            yield f"{child.name} was left in the folder of the decks"


def check_small(data: Path, path: Path) -> Iterator[str]:
    """Start a service over such a data folder and check its pages."""
    try:
        secret = phone_identity.load_secret(data)
    except Problem as problem:
        yield from one_sentence(str(problem))
        secret = b"0123456789abcdef" * 2
    Phones(data), KeptTurn(data), DeckInUse(data).templates()
    zones = DrawnZones(data)
    yield from one_sentence(str(zones.problem or ""))
    if path.name in (DRAWN_ZONES, DECK_IN_USE):
        yield from faults_of(run_command("doctor", "--source", str(data / "nowhere.jpg"), "--data", str(data)))
    store = Store.open(data / "log.sqlite3")
    try:
        match = Match(store)
        match.start(("side Ann", "side Bob", "hand first Ann"))
        client = create_app(match, secret=secret).test_client()
        yield from pages_of(client)
    finally:
        store.close()
        (data / "log.sqlite3").unlink()
    if path.is_file() and path.name == "secret-key" and len(secret) < 16:
        yield f"a key of {len(secret)} bytes signs cookies"


def pages_of(client: object) -> Iterator[str]:
    """Check the pages that show parts of the data folder."""
    for address in ("/", "/join", "/camera", "/decks", "/seats"):
        answer = client.get(address)  # type: ignore[attr-defined]
        if answer.status_code >= 500:
            yield f"{address} answers {answer.status_code}"
    answer = client.post("/join", data={"player": "Ann"}, headers={"Origin": "http://localhost"})  # type: ignore[attr-defined]
    if answer.status_code >= 500 and answer.status_code != 503:
        yield f"to sit down answers {answer.status_code}"


def one_sentence(said: str) -> Iterator[str]:
    if any(not char.isprintable() for char in said):
        yield f"says what steers a terminal: {said[:200]!r}"
    if len(said) > 1500:
        yield f"a sentence of {len(said)} signs"


CHECKS: dict[str, Callable[[Path, Path], Iterator[str]]] = {
    "setup": check_setup,
    "edition": check_edition,
    "own edition": check_own_edition,
    "deck": check_deck,
    "small": check_small,
}

if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(fuzz("small files", __doc__, run, times=1000))
