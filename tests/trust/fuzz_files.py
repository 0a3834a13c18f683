"""Fuzz file readers: `PYTHONPATH=tests:. python tests/trust/fuzz_files.py --times 1000`.

Pictures (JPEG, PNG, WebP, BMP, or other formats with these suffixes) are damaged, cut, or have a false size. Decks and
backups are hostile zip files. They go through `companion read`, `enroll`, `decks import` and `restore`, and as uploads
to a service, in processes with limited memory.

Each must be answered with a sentence or page: no crash, no internal error, no file outside its place.
"""

import contextlib
import faulthandler
import io
import multiprocessing
import random
import resource
import shutil
import struct
import sys
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

import cv2
import numpy as np
from decks import face
from trust import attacked
from trust.attacked import served
from trust.fuzz_requests import PATIENCE_S, Request, Visitor, ask, check_answer, visitors
from trust.fuzzing import Findings, faults_of, fuzz, mutated_bytes, run_command
from trust.real_service import ROOT
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from companion.app.backup_archive import write_bundle
from companion.common.errors import Problem
from companion.match.match import Match
from companion.storage.event_store import Store
from companion.vision.capture.image_io import declared_size, decode

MOST_MB = 2500  # address space of a process; OpenCV's libraries reserve a good part of it
MOST_PEAK_MB = 1200
SLICE = 100  # files tried by one process
KINDS = ("picture", "picture", "picture", "upload", "deck", "backup")
SIDE = 48
SPAWNED = multiprocessing.get_context("spawn")


def run(findings: Findings, times: int, seed: int, folder: Path) -> None:
    """Try this many files: with commands in child processes, and as uploads to a service."""
    uploads = [n for n in range(times) if kind_of(seed, n) == "upload"]
    for first in range(0, times, SLICE):
        run_slice(findings, seed, first, min(first + SLICE, times), folder)
    run_uploads(findings, seed, uploads, folder / "service")


def kind_of(seed: int, number: int) -> str:
    return random.Random(f"{seed}:kind {number}").choice(KINDS)


# --- In a process of its own ----------------------------------------------------------------------------------


def run_slice(findings: Findings, seed: int, first: int, end: int, folder: Path) -> None:
    """Try some files in a child; if it dies, report its last file and continue after it."""
    while first < end:
        ours, theirs = SPAWNED.Pipe(duplex=False)
        child = SPAWNED.Process(target=try_slice, args=(theirs, seed, first, end, folder / "file"))
        child.start()
        theirs.close()
        begun = first
        with contextlib.suppress(EOFError):
            while True:
                begun = ours.recv()
                found, peak = ours.recv()
                findings.add(found)
                findings.figures["peak memory MB"] = max(peak, findings.figures.get("peak memory MB", 0))
        child.join()
        if child.exitcode:
            findings.found(f"the process died with {child.exitcode}", f"seed {seed} number {begun}")
        first = begun + 1 if child.exitcode else end


def try_slice(parent: Connection, seed: int, first: int, end: int, place: Path) -> None:
    """Try files in the child: send each number before it, then the findings and the peak memory."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MB << 20, MOST_MB << 20))
    for number in range(first, end):
        kind, findings, about = kind_of(seed, number), Findings("slice"), f"seed {seed} number {number}"
        if kind == "upload":
            continue
        parent.send(number)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        before = peak_mb()
        with findings.trying(kind, about, within_s=60):
            for fault in CHECKS[kind](place, random.Random(f"{seed}:{number}")):
                findings.found(fault, about)
        if peak_mb() > max(before, MOST_PEAK_MB):
            findings.found(f"{kind}: took {peak_mb()} MB", about)
        parent.send((findings, peak_mb()))


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# --- Pictures -------------------------------------------------------------------------------------------------


def check_picture(place: Path, chance: random.Random) -> Iterator[str]:
    """Try a picture with `decode`, `read` and `enroll`."""
    data = hostile_picture(chance)
    name = f"roll{chance.choice(('.jpg', '.png', '.webp', '.bmp', '.jpeg'))}"
    path = place / name
    path.write_bytes(data)
    try:
        size = declared_size(data)
        image = decode(data, name)
        if size is None or image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            yield f"decoded to {image.shape} {image.dtype} of {size}"
    except Problem as problem:
        said = str(problem)
        if not said.isprintable() or len(said) > 1000 or not said.endswith("."):
            yield f"says {said[:200]!r}"
    small = len(data) < 200_000 and (size is None or size[0] * size[1] < 4_000_000)
    if small and chance.random() < 0.25:
        yield from faults_of(run_command("read", str(path), "--json", "--data", str(place)), sentences=2)
    if small and chance.random() < 0.15:
        ran = run_command("enroll", "ours", "--edition", "classic", "--from", str(place), "--data", str(place / "data"))
        yield from faults_of(ran, sentences=4)


@cache
def sound_pictures() -> tuple[bytes, ...]:
    """Return a card and a patch of noise in each supported format."""
    card = cv2.resize(face("vintage", "roll", 2), (SIDE, 2 * SIDE))
    noise = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    deep = (noise.astype(np.uint16) << 8) + 7
    clear = np.dstack([noise, noise[..., :1]])
    ways = [
        (card, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, 80]), (card, ".jpg", [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]),
        (noise[..., 0], ".jpg", []), (card, ".png", []), (deep, ".png", []), (clear, ".png", []),
        (noise[..., 0], ".png", []), (noise[..., 0], ".png", [cv2.IMWRITE_PNG_BILEVEL, 1]), (card, ".webp", []),
        (clear, ".webp", [cv2.IMWRITE_WEBP_QUALITY, 101]), (card, ".bmp", []), (noise[..., 0], ".bmp", []),
        (card, ".jpg", [cv2.IMWRITE_JPEG_RST_INTERVAL, 2]),
    ]  # fmt: skip
    return tuple(bytes(cv2.imencode(form, image, how)[1]) for image, form, how in ways)


def hostile_picture(chance: random.Random) -> bytes:
    return chance.choice(_PICTURES)(chance.choice(sound_pictures()), chance)


def _mutated(data: bytes, chance: random.Random) -> bytes:
    return mutated_bytes(data, chance, most=chance.choice((1, 3, 20)))


def _head_mutated(data: bytes, chance: random.Random) -> bytes:
    """Damage the first bytes, which hold sizes and tables."""
    return mutated_bytes(data[:200], chance, most=4) + data[200:]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _doubled(data: bytes, chance: random.Random) -> bytes:
    """Return two pictures in one file, of one or two formats."""
    other = chance.choice(sound_pictures())
    return chance.choice(
        (data + other, data[: len(data) // 2] + other, data[:30] + other, b"GIF89a" + data, b"%PDF-1.4\n" + data)
    )


def _bomb(data: bytes, chance: random.Random) -> bytes:
    """Return a small file that claims or has very many pixels."""
    width, height = chance.choice((
        (65500, 65500), (60000, 60000), (1, 2**31 - 1), (2**31 - 1, 1), (30000, 30000), (2**32 - 1,) * 2, (0, 5),
        (5, 0), (6900, 6900), (1, 47_000_000), (100_000, 479),
    ))  # fmt: skip
    return chance.choice((_png_bomb, _jpeg_bomb, _bmp_bomb, _webp_bomb))(width, height, chance)


def _png_bomb(width: int, height: int, chance: random.Random) -> bytes:
    depth, colour = chance.choice(((1, 0), (8, 2), (16, 6), (8, 3), (16, 2), (2, 3), (3, 9)))
    head = struct.pack(">IIBBBBB", width % 2**32, height % 2**32, depth, colour, 0, 0, chance.choice((0, 1, 2)))
    packed = zlib.compress(bytes(chance.choice((10, 10**6, 3 * 10**7))), 9)
    chunks = [(b"IHDR", head), (b"PLTE", bytes(768)), (b"IDAT", packed), (b"IEND", b"")]
    if chance.random() < 0.4:
        kind = chance.choice((b"eXIf", b"iCCP", b"zTXt", b"iTXt", b"acTL", b"tRNS", b"gAMA", b"sBIT", b"fcTL", b"fdAT"))
        content = chance.choice((b"a\0\0" + zlib.compress(bytes(10**7)), b"", chance.randbytes(40)))
        chunks.insert(chance.randint(1, 3), (kind, content))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _jpeg_bomb(width: int, height: int, chance: random.Random) -> bytes:
    """Change the size in a valid JPEG; sometimes insert a second frame header."""
    data = bytearray(next(one for one in sound_pictures() if one[:2] == b"\xff\xd8"))
    at = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
    frame = bytes(data[at : at + 19])
    data[at + 5 : at + 9] = struct.pack(">HH", height % 65536, width % 65536)
    if chance.random() < 0.5:
        data[at:at] = frame
    return bytes(data)


def _bmp_bomb(width: int, height: int, chance: random.Random) -> bytes:
    data = bytearray(next(one for one in sound_pictures() if one[:2] == b"BM"))
    data[18:26] = struct.pack("<II", width % 2**32, chance.choice((height, -height)) % 2**32)
    data[28:30] = struct.pack("<H", chance.choice((1, 4, 8, 16, 24, 32, 64)))
    data[30:34] = struct.pack("<I", chance.choice((0, 1, 2, 3, 99)))
    return bytes(data)


def _webp_bomb(width: int, height: int, chance: random.Random) -> bytes:
    data = bytearray(next(one for one in sound_pictures() if one[:4] == b"RIFF"))
    if chance.random() < 0.5:
        data[26:30] = struct.pack("<HH", width % 65536, height % 65536)
        return bytes(data)
    size = (min(width, 2**24) - 1) % 2**24, (min(height, 2**24) - 1) % 2**24
    vp8x = b"VP8X" + struct.pack("<I", 10) + bytes([chance.choice((0, 2, 0x3E)), 0, 0, 0])
    vp8x += size[0].to_bytes(3, "little") + size[1].to_bytes(3, "little")
    return bytes(data[:12]) + vp8x + bytes(data[12:])


def _others(data: bytes, chance: random.Random) -> bytes:
    """Return an unsupported file: another format, text, or nothing."""
    return chance.choice((
        b"", b"\0", b"\xff\xd8", b"\xff\xd8\xff" * 5000, b"\x89PNG\r\n\x1a\n", b"BM", b"RIFF\0\0\0\0WEBP",
        b"GIF89a\1\0\1\0", b"II*\0\x08\0\0\0", b"#?RADIANCE\n", b"P6 99999 99999 255\n", b"<svg onload='x'/>",
        b"\0\0\0\x1cftypavif", b"\0\0\0\x0cjP  \r\n", b"v/1\x01" + bytes(60),
        b"RIFF\xff\xff\xff\xffWEBPVP8X" + b"\xff" * 40, chance.randbytes(5000), bytes(10**6),
        b"\xff\xd8" + b"\xff\xe0\x00\x00" * 20000, b"\xff\xd8\xff\xc0" + bytes(40),
    ))  # fmt: skip


_PICTURES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _mutated, _mutated, _mutated, _head_mutated, _head_mutated, _cut, _doubled, _bomb, _bomb, _others,
)  # fmt: skip


# --- Decks and backups as one file ----------------------------------------------------------------------------


def check_deck(place: Path, chance: random.Random) -> Iterator[str]:
    path = place / "deck.zip"
    path.write_bytes(hostile_zip(sound_deck(chance), chance))
    data = place / "data"
    data.mkdir()
    ran = run_command("decks", "import", str(path), "--data", str(data), *chance.choice(((), ("--as", "other"))))
    yield from faults_of(ran, sentences=2)
    yield from strays(place, {path, data})
    inside = {child.name for child in (data / "decks").iterdir()} if (data / "decks").is_dir() else set()
    if ran.code and inside:
        yield f"left {sorted(inside)} behind"


def sound_deck(chance: random.Random) -> dict[str, bytes]:
    png = next(one for one in sound_pictures() if one[:4] == b"\x89PNG")
    text = b'name = "ours"\nedition = "classic"\nsize_mm = [57, 88]\n'
    stop = chance.choice((png, hostile_picture(chance)))
    return {"deck.toml": text, "roll.png": png, "stop.png": stop, "back.png": png}


EVENTS_BEFORE = 5
"""Number of events before a backup is restored: setup, start, a setting, two plays."""


def check_backup(place: Path, chance: random.Random) -> Iterator[str]:
    """Try a backup with `restore`: all or nothing, and only in the data folder."""
    path, data = place / "backup.zip", place / "data"
    path.write_bytes(hostile_zip(sound_backup(chance), chance))
    data.mkdir()
    (data / "companion.sqlite3").write_bytes(sound_log(lines=2))
    ran = run_command("restore", str(path), "--data", str(data))
    yield from faults_of(ran, sentences=2)
    yield from strays(place, {path, data})
    yield from (f"a link {link} was made" for link in data.rglob("*") if link.is_symlink())
    yield from faults_of_log(data, was_restored=not ran.code)


def faults_of_log(data: Path, *, was_restored: bool) -> Iterator[str]:
    """Check that the log is the old or the restored one, and its match can be continued."""
    store = Store.open(data / "companion.sqlite3")
    try:
        events = len(store.events(1))
        if not was_restored and events != EVENTS_BEFORE:
            yield f"a backup that was refused has left {events} events of {EVENTS_BEFORE}"
        if store.note is not None:
            yield f"the log had to be mended: {store.note.sentence}"
        if Match(store).state.match is not None:
            Match(store).enter("Ann discard 25", "Ann")
    finally:
        store.close()


def sound_backup(chance: random.Random) -> dict[str, bytes]:
    """Return the files of a backup: a valid or damaged log, and small files."""
    files = dict(bundled())
    log, kind = files["companion.sqlite3"], chance.random()
    if kind < 0.15:
        log = log[:100] + mutated_bytes(log[100:], chance, most=20)
    elif kind < 0.25:
        log = mutated_bytes(log[:100], chance) + log[100:]
    elif kind < 0.3:
        log = log[: chance.randrange(len(log))]
    files["companion.sqlite3"] = log
    if chance.random() < 0.3:
        victim = chance.choice(list(files))
        files[victim] = mutated_bytes(files[victim], chance)
    return files


@cache
def bundled() -> dict[str, bytes]:
    """Return the files of a real backup, with a match, a deck, an edition and settings."""
    with tempfile.TemporaryDirectory() as place:
        data, out = Path(place) / "data", Path(place) / "backup.zip"
        deck = sound_deck(random.Random(0))
        files = {f"decks/ours/{name}": deck[name] for name in ("deck.toml", "roll.png", "back.png")}
        files["editions/ours.toml"] = b'parent = "classic"\nname = "ours"\n'
        files["picture-turn.json"] = b'{"degrees": 90, "mirrored": false}'
        files["companion.sqlite3"] = sound_log()
        for name, content in files.items():
            (data / name).parent.mkdir(parents=True, exist_ok=True)
            (data / name).write_bytes(content)
        left_out = write_bundle(data, out)
        with zipfile.ZipFile(out) as packed:
            found = {name: packed.read(name) for name in packed.namelist()}
    if left_out or not set(files) <= set(found):
        raise RuntimeError(f"the backup to begin with lacks {sorted(set(files) - set(found))}: {left_out}")
    return found


@cache
def sound_log(lines: int = 60) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "companion.sqlite3"
        store = Store.open(path)
        match = Match(store)
        match.start(("side Ann", "side Bob", "hand first Ann"))
        for number in range(lines):
            match.enter(f"{('Ann', 'Bob')[number % 2]} discard 25", "Ann")
        store.close()
        return path.read_bytes()


BAD_NAMES = (
    "../outside", "../../outside", "/tmp/outside", "a/../../outside", "..\\outside", "C:\\outside", "//outside", "./x",
    "", ".", "..", "a" * 5000, "a\0b", "deck.toml/", "decks/", "decks/ours", "\x1b[2J", "é" * 300, "con", "deck.toml\n",
    "~/x", "decks/../deck.toml", "roll.PNG", "secret-key", "companion.sqlite3-wal", "companion.sqlite3-journal",
    "editions/x.toml",
)  # fmt: skip


def hostile_zip(files: dict[str, bytes], chance: random.Random) -> bytes:
    way, out = chance.random(), io.BytesIO()
    files = dict(files)
    if way < 0.2:
        victim = chance.choice(list(files))
        files[chance.choice(BAD_NAMES)] = files.pop(victim) if chance.random() < 0.5 else files[victim]
    # `zipfile` warns of duplicate names.
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w") as packed:
        for name, content in files.items():
            _put(packed, name, content, chance)
        if way < 0.1:
            _put(packed, chance.choice(list(files)), b"twice", chance)
        elif way < 0.3:
            _trick(packed, files, chance)
    data = out.getvalue()
    if way < 0.5:
        return data
    if way < 0.7:
        return mutated_bytes(data, chance, most=10)
    if way < 0.85:
        return _directory_mutated(data, chance)
    return chance.choice((
        b"", b"PK", b"PK\5\6" + bytes(18), data[: chance.randrange(len(data))], data[chance.randrange(len(data)) :],
        b"#!/bin/sh\n" + data, data + b"x" * 70000, data + data, chance.randbytes(900), b"\x1f\x8b" + data,
    ))  # fmt: skip


def _put(packed: zipfile.ZipFile, name: str, content: bytes, chance: random.Random) -> None:
    info = zipfile.ZipInfo(name.replace("\0", "0") or "x")
    info.compress_type = chance.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    info.extra = chance.choice((b"",) * 9 + (b"\1\0\x10\0" + b"\xff" * 16, b"\1\0\2\0", chance.randbytes(20)))
    if chance.random() < 0.06:
        info.external_attr = chance.choice((0o120777, 0o010666, 0o040755, 0o060666, 0o104755)) << 16
        content = chance.choice((content, b"/etc/passwd", b"../../outside"))
    if chance.random() < 0.03:
        info.filename = chance.choice(BAD_NAMES).replace("\0", "0") or "x"
    packed.writestr(info, content)


def _trick(packed: zipfile.ZipFile, files: dict[str, bytes], chance: random.Random) -> None:
    """Add a bomb, very many entries, a nested zip, or an entry marked as encrypted."""
    way = chance.randrange(5)
    if way == 0:
        packed.writestr(zipfile.ZipInfo("stop-2.png"), bytes(10), zipfile.ZIP_STORED)
        info = zipfile.ZipInfo("stop-3.png")
        info.compress_type = zipfile.ZIP_DEFLATED
        with packed.open(info, "w") as bomb:
            for _ in range(chance.choice((20, 200))):
                bomb.write(bytes(10**6))
    elif way == 1:
        for number in range(chance.choice((401, 3000))):
            packed.writestr(f"x{number}", b"")
    elif way == 2:
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as nested:
            nested.writestr("a", bytes(10**6))
        packed.writestr("inner.zip", inner.getvalue())
    elif way == 3:
        info = zipfile.ZipInfo("roll-2.png")
        packed.writestr(info, b"secret")
        info.flag_bits |= 1
    else:
        packed.comment = chance.choice((b"\x1b[2J", b"x" * 65000, b"PK\5\6" * 50))


def _directory_mutated(data: bytes, chance: random.Random) -> bytes:
    """Change the central directory: sizes, offsets, checksums, flags, methods."""
    out = bytearray(data)
    at = data.find(b"PK\1\2")
    for _ in range(chance.randint(1, 4)):
        if at < 0 or at + 46 > len(out):
            break
        place, size = chance.choice(((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)))
        edge = chance.choice((0, 1, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF, 99, len(data))) & (256**size - 1)
        out[at + place : at + place + size] = edge.to_bytes(size, "little")
        found = data.find(b"PK\1\2", at + 4)
        at = found if found > 0 and chance.random() < 0.5 else at
    return bytes(out)


def strays(place: Path, ours: set[Path]) -> Iterator[str]:
    """Yield files outside their place."""
    for child in place.iterdir():
        if child not in ours:
            yield f"{child.name} was written outside"
    for where in (place.parent / "outside", Path("/tmp/outside"), ROOT / "outside"):
        if where.exists():
            yield f"{where} was written outside"
            where.unlink()


# --- Uploads --------------------------------------------------------------------------------------------------


def run_uploads(findings: Findings, seed: int, numbers: list[int], folder: Path) -> None:
    folder.mkdir()
    with served(folder, MOST_MB) as service:
        there = visitors(service, folder)
        begun = multipart_request("/decks", there[0], {"title": "Ours", "edition": "classic"}, {})
        ask(service, begun)
        for number in numbers:
            chance = random.Random(f"{seed}:{number}")
            request = upload(chance, there[chance.randrange(3)])
            with findings.trying("upload", number, within_s=4 * PATIENCE_S):
                answer = ask(service, request)
                check_answer(findings, answer, request, f"seed {seed} number {number}")
                if answer.status == 303 and request.path == "/snap":
                    seen = Request("GET", answer.headers["location"], request.who)
                    check_answer(findings, ask(service, seen), seen, f"seed {seed} number {number}, the page after it")
            if service.process.poll() is not None:
                findings.found(f"the service died with {service.process.returncode}", f"seed {seed} number {number}")
                return
        findings.figures["peak memory of the service MB"] = attacked.peak_mb(service)
    if "Traceback" in (said := "".join(service.said)):
        findings.found(f"a traceback inside: {said[-3000:]}")


def upload(chance: random.Random, who: Visitor) -> Request:
    path = chance.choice(("/snap", "/snap", "/decks/ours/enrol", "/decks/import"))
    if path == "/decks/import":
        content, field = hostile_zip(sound_deck(chance), chance), "file"
    else:
        content, field = hostile_picture(chance), "photo"
    title = chance.choice(("", f"D{chance.random()}"))
    fields = {"edition": "classic", "deck": "", "card": "roll", "subject": "roll", "title": title}
    return multipart_request(path, who, fields, {field: content})


def multipart_request(path: str, who: Visitor, fields: dict[str, str], files: dict[str, bytes]) -> Request:
    sent = {name: FileStorage(io.BytesIO(content), "a.jpg") for name, content in files.items()}
    boundary, body = encode_multipart({**fields, **sent})
    return Request("POST", path, who, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})


CHECKS = {"picture": check_picture, "deck": check_deck, "backup": check_backup}

if __name__ == "__main__":
    sys.exit(fuzz("files", __doc__, run, times=200))
