"""Strangers' pictures are decoded in a process of its own: what it may do, and what comes of pictures that break it."""

import random
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from trust.fuzz_files import hostile_picture

from companion.common.errors import Problem
from companion.vision.capture import image_io, sandbox
from companion.vision.capture.image_io import SENT
from companion.vision.capture.sandbox import Darkroom

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def room():
    room = Darkroom()
    yield room
    room.close()


ROWS, COLUMNS = np.mgrid[0:48, 0:64]
PICTURE = np.stack([ROWS * 3 % 256, COLUMNS * 2 % 256, (ROWS + COLUMNS) % 256], axis=2).astype(np.uint8)


def file_of(kind: str = ".jpg", image: np.ndarray = PICTURE) -> bytes:
    return cv2.imencode(kind, image)[1].tobytes()


def broken(how: str, **options: float) -> Darkroom:
    """A sandbox whose process, having read what it is asked, breaks."""
    return Darkroom(command=("-c", f"import os, sys, time\nsys.stdin.buffer.read(8)\n{how}"), **options)


def worker_of(room: Darkroom) -> subprocess.Popen[bytes]:
    room.decode(file_of(), "a")
    assert room._worker is not None
    return room._worker


def test_phones_and_decks_send_their_pictures_there():
    from companion.pages.table_camera import enrol
    from companion.vision.counting import photographs
    from companion.vision.enrol import enrolment as of_decks

    assert photographs.decode is sandbox.decode
    assert enrol.sandbox is of_decks.sandbox is sandbox


@pytest.mark.parametrize("kind", [".jpg", ".png", ".webp", ".bmp"])
def test_a_picture_comes_back_as_it_is_decoded_here(kind, room):
    assert (room.decode(file_of(kind), "a") == image_io.decode(file_of(kind), "a")).all()


PROGRESSIVE = (cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444)


@pytest.mark.parametrize(
    ("width", "height", "options", "comes_as"),
    [
        pytest.param(4000, 3000, (), (4000, 3000), id="12 megapixels"),
        pytest.param(5712, 4284, (), (4099, 3074), id="24 megapixels"),
        pytest.param(8064, 6048, (), (4032, 3024), id="48 megapixels"),
        pytest.param(6100, 4590, PROGRESSIVE, (4092, 3079), id="28 megapixels in scans"),
    ],
)
def test_a_large_photograph_comes_back_with_the_pixels_of_a_usual_one(width, height, options, comes_as, room):
    photograph = np.full((height, width), 120, np.uint8)
    photograph[:, : width // 2] = 30
    photograph[: height // 2] += 50
    image = room.decode(cv2.imencode(".jpg", photograph, list(options))[1].tobytes(), "a")

    assert image.shape[1::-1] == comes_as
    assert [round(image[y, x].mean(), -1) for y in (9, -9) for x in (9, -9)] == [80, 170, 30, 120]


def test_a_turned_photograph_is_made_smaller_upright():
    upright = image_io.decoded(turned(file_of()), image_io.Limits(whole_px=800, jpeg_px=10_000, kept_px=800))

    assert upright.shape == (32, 24, 3)


def turned(jpeg: bytes) -> bytes:
    """A JPEG whose camera noted that it was held on its side."""
    noted = b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIHH", 0x112, 3, 1, 6, 0) + bytes(4)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(noted) + 2) + noted + jpeg[2:]


def of_size(data: bytes, width: int, height: int) -> bytes:
    """A picture file that says it has another size."""
    if data[:2] == b"\xff\xd8":
        at = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2")) + 5
        return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]
    return data[:16] + struct.pack(">II", width, height) + data[24:]


@pytest.mark.parametrize(
    ("sent", "size", "most"),
    [
        pytest.param(file_of(".png"), (9200, 6900), 28, id="PNG of 64 megapixels"),
        pytest.param(
            cv2.imencode(".jpg", PICTURE, list(PROGRESSIVE))[1].tobytes(), (9200, 6900), 28, id="JPEG in scans"
        ),
        pytest.param(file_of(".jpg"), (16000, 13000), 200, id="JPEG of 208 megapixels"),
    ],
)
def test_a_photograph_that_needs_too_much_memory_is_refused_before_it_is_decoded(sent, size, most):
    room = Darkroom(command=("-c", "raise SystemExit(1)"))

    with pytest.raises(Problem, match=f"the limit is {most} million: save it smaller"):
        room.decode(of_size(sent, *size), "a")


def test_it_is_replaced_now_and_then():
    room = Darkroom(most_pictures=1)
    first = worker_of(room)

    assert worker_of(room) is not first
    room.close()
    assert first.returncode == 0


def test_a_process_that_was_ended_is_started_anew(room):
    first = worker_of(room)
    first.kill()
    first.wait()

    assert worker_of(room) is not first


def test_one_that_ended_because_nobody_asked_is_started_anew_in_the_same_moment(tmp_path):
    script = (
        "import os, sys\n"
        "if not os.path.exists(sys.argv[1]): open(sys.argv[1], 'w').close(); sys.exit(0)\n"
        "from companion.vision.capture.sandbox_worker import main; main()"
    )
    room = Darkroom(command=("-c", script, str(tmp_path / "asked")))

    assert room.decode(file_of(), "a").shape == (48, 64, 3)
    room.close()


BREAKS = {
    "a crash": "os.abort()",
    "an exit": "sys.exit(1)",
    "half an answer": "sys.stdout.buffer.write(b'0000'); sys.exit(1)",
    "an answer too large": "sys.stdout.buffer.write((2**31).to_bytes(4, 'big') * 2); sys.exit(1)",
    "too few pixels": "sys.stdout.buffer.write((48).to_bytes(4, 'big') * 2 + b'too little'); sys.exit(1)",
}


@pytest.mark.parametrize("how", BREAKS.values(), ids=BREAKS)
def test_what_breaks_the_process_is_one_sentence_and_the_next_picture_is_read(how):
    room = broken(how)

    with pytest.raises(Problem, match="The picture holiday cannot be read: save it again as JPEG, or take another"):
        room.decode(file_of(), "holiday")

    room._command = sandbox._COMMAND
    assert room.decode(file_of(), "holiday").shape == (48, 64, 3)
    room.close()


def test_a_decoder_that_hangs_is_ended():
    room = broken("time.sleep(1000)", most_s=0.2)

    with pytest.raises(Problem, match="cannot be read"):
        room.decode(file_of(), "a")

    assert room._worker is None


def test_who_waits_too_long_is_told_to_try_again(room, monkeypatch):
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0.01)

    with room._lock, pytest.raises(Problem, match="Another picture is being processed"):
        room.decode(file_of(), "a")


def test_pictures_of_many_phones_at_once_all_come_back_right(room):
    files = [file_of(".png", np.full((8, 8, 3), shade, np.uint8)) for shade in range(12)]
    with ThreadPoolExecutor(12) as phones:
        got = list(phones.map(lambda file: room.decode(file, "a").mean(), files))

    assert got == list(range(12))


def test_hostile_pictures_are_read_or_refused_in_a_sentence_by_a_process_that_lives():
    room = Darkroom(most_pictures=400)
    worker = worker_of(room)
    for number in range(300):
        with suppress(Problem):
            image = room.decode(hostile_picture(random.Random(number)), "a")
            assert 0 < image.shape[0] * image.shape[1] <= SENT.whole_px

    assert worker_of(room) is worker
    room.close()


@pytest.mark.parametrize("part", [b"\xff\xe1\0\2", b"\xff"], ids=["segments", "padding"])
def test_a_header_of_very_many_parts_is_not_looked_through(part):
    size = b"\xff\xc0\0\x0b\x08\0\x24\0\x40\x03"

    assert image_io.declared_size(b"\xff\xd8" + 100 * part + size) == (64, 36)
    assert image_io.declared_size(b"\xff\xd8" + 10_000 * part + size) is None


PROOF = """
import os, socket, sys
import companion.vision.capture.sandbox_worker as developing
developing.shut_in()
def said(what, act):
    try:
        act()
        print(what, "went")
    except (OSError, MemoryError, BlockingIOError) as error:
        print(what, "refused")
said("open", lambda: open("/etc/passwd"))
said("write", lambda: open("/tmp/companion-proof", "w"))
said("connect", lambda: socket.create_connection(("127.0.0.1", 9)))
said("socket", socket.socket)
said("pipe", os.pipe)
said("memory", lambda: bytearray(900 * 2**20))
"""


def test_the_process_opens_nothing_and_takes_no_more_memory_than_a_picture_needs():
    done = subprocess.run(
        [sys.executable, "-c", PROOF], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout.split() == [
        word for what in ("open", "write", "connect", "socket", "pipe", "memory") for word in (what, "refused")
    ]


def test_a_picture_that_takes_too_much_memory_ends_in_a_sentence(monkeypatch):
    """As on a machine with little: here the process gets hardly more than it starts with."""
    script = "import companion.vision.capture.sandbox_worker as d; d.MOST_MORE_BYTES = 40 * 2**20; d.main()"
    room = Darkroom(command=("-c", script))
    large = file_of(".png", np.zeros((5000, 5000, 3), np.uint8))

    with pytest.raises(Problem, match="The picture a "):
        room.decode(large, "a")

    assert room.decode(file_of(), "a").shape == (48, 64, 3)
    room.close()


def test_nobody_asking_for_long_ends_the_process():
    script = "import companion.vision.capture.sandbox_worker as d; d.IDLE_S = 0.05; d.main()"
    room = Darkroom(command=("-c", script))
    try:
        room.decode(file_of(), "a")
    except Problem:  # On a busy machine even the start takes longer than that.
        return
    worker = room._worker

    assert worker is None or worker.wait(60) == 0
    room.close()


def test_the_process_ends_with_the_service():
    script = (
        "import sys, cv2, numpy as np\n"
        "from companion.vision.capture import sandbox\n"
        "sandbox.decode(cv2.imencode('.png', np.zeros((9, 9, 3), np.uint8))[1].tobytes(), 'a')\n"
        "print(sandbox._DARKROOM._worker.pid, flush=True)\n"
        "import os; os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)

    until = time.monotonic() + 60
    while state_of(int(done.stdout)) != "Z":
        assert time.monotonic() < until
        time.sleep(0.05)


def state_of(pid: int) -> str:
    """A process's state, `Z` where it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2]
    except OSError:
        return "Z"
