"""Run the companion for hours on the simulated table, with phones coming and going: do its resources stay constant?

    PYTHONPATH=tests:. python tests/trust/soak.py --minutes 60 [--phones 10] [--speed 6] [--confirm auto|tap] [--seed 0]

Memory, threads, open files, sockets and the data folder are sampled every few seconds. The first tenth, at least a
minute, is a warm-up; the rest is compared by the medians of its first and last third. Medians are used because single
samples depend on a photograph being read.

Total and anonymous memory may grow by 8 %, or 16 MB if that is more; threads and files may differ by 4. The exit code
is 1 if something grows more or a page fails.
"""

import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from trust.fuzzing import arguments
from trust.real_service import ROOT, Service, Size, asked, beside, service, wait_until
from werkzeug.datastructures import FileStorage

MOST_GROWTH = 0.08
MOST_GROWTH_KB = 16 * 1024
MOST_MORE = 4
WARM_S = 60.0
PAGES = (
    *("/", "/more", "/may", "/plain", "/wall", "/score", "/play", "/past", "/past/players", "/seats", "/phone"),
    *("/camera", "/camera/zones", "/camera/trial", "/decks", "/snap", "/setup", "/join", "/camera.jpg",
        "/question/1-2-camera.1-differs.jpg",),
    *("/api/state", "/api/matches", "/api/openapi.json", "/export.mbn"),
)  # fmt: skip
BAD = ("/nothing", "/question/999999.jpg", "/past/0", "/api/matches/x", "/../../etc/passwd", "/%00", "/past/1/9999")
PLAYERS = {"seating": "2x1", "edition": "classic", "name1": "Ann", "name2": "Bob", "policy": "auto", "replace": "1"}


@dataclass(frozen=True, slots=True)
class Sample:
    at_s: float
    size: Size
    folder_kb: int
    hand: int
    lines: int


@dataclass(slots=True)
class Tally:
    done: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, what: str, status: int) -> None:
        with self.lock:
            self.done[what] += 1
            if status >= 500 and status != 503:
                self.failed.append(f"{what}: {status}")


class Phone:
    """A phone that opens pages, polls, taps, sends photographs, leaves, and returns as another one."""

    def __init__(self, running: Service, number: int, tally: Tally, seed: int, confirm: str) -> None:
        self.running, self.tally, self.confirm = running, tally, confirm
        self.source = f"127.0.4.{number + 1}"
        self.chance = random.Random(f"{seed} {number}")
        self.cookie = ""

    def run(self, over: threading.Event) -> None:
        acts: Sequence[tuple[Callable[[], None], int]] = (
            (self.look, 40), (self.poll, 40), (self.tap, 20), (self.seat, 5), (self.past, 8), (self.wrong, 5),
            (self.photograph, 1), (self.another, 4),
        )  # fmt: skip
        while not over.wait(self.chance.uniform(0.1, 1.5)):
            act = self.chance.choices([act for act, _ in acts], [often for _, often in acts])[0]
            try:
                act()
            except OSError as error:
                if not over.is_set():
                    with self.tally.lock:
                        self.tally.failed.append(f"{act.__name__}: {error}")

    def ask(self, what: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, bytes]:
        status, body, self.cookie = asked(self.running.port, path, fields, cookie=self.cookie, source=self.source)
        self.tally.note(what, status)
        return status, body

    def look(self) -> None:
        self.ask("pages", self.chance.choice(PAGES))

    def another(self) -> None:
        """Continue without a cookie, as a new phone."""
        self.cookie = ""
        self.ask("phones", f"/join?t={self.running.token}")

    def seat(self) -> None:
        fields = self.chance.choice(({"player": "Ann"}, {"player": "Bob"}, {"watch": "1"}, {"everybody": "1"}))
        self.ask("seats", "/join", fields)

    def wrong(self) -> None:
        self.ask("bad requests", self.chance.choice(BAD))

    def now(self) -> dict:
        return json.loads(self.ask("states", "/api/state")[1])

    def tap(self) -> None:
        now = self.now()
        if now["winner"]:
            self.ask("matches begun", "/setup", PLAYERS)
        elif now["questions"]:
            asked = now["questions"][0]
            fields = {"answer": "record"} if asked["kind"] == "differs" else {"answer": "yes", "anyway": "1"}
            self.ask("questions", f"/question/{asked['id']}", fields)
        elif now["table"] and now["table"]["extension_offered_to"]:
            player = now["table"]["extension_offered_to"]
            self.ask("extensions", "/play", {"text": f"{player} {self.chance.choice(('extend', 'finish'))}"})
        elif self.chance.random() < 0.1:
            self.ask("policies", "/policy", {"policy": self.confirm})
        else:
            self.ask("hands", "/hand", {})

    def past(self) -> None:
        match = self.now()["match"] or 1
        form = self.chance.choice(("", ".mbn", ".csv", ".jsonl", "/1", "/1?step=5", "/1.png"))
        self.ask("past pages", f"/past/{match}{form}")

    def photograph(self) -> None:
        stills = sorted((ROOT / "tests/stills").rglob("*.jpg"))
        status = sent_photograph(self.running.port, self.chance.choice(stills), self.cookie, self.source)
        self.tally.note("photographs", status)

    def poll(self) -> None:
        self.ask("polls", "/version")


def sent_photograph(port: int, picture: Path, cookie: str, source: str) -> int:
    with picture.open("rb") as photo:
        fields = {"edition": "classic", "photo": FileStorage(photo, picture.name, content_type="image/jpeg")}
        return asked(port, "/snap", fields, cookie=cookie, source=source, timeout_s=60)[0]


def sampled(running: Service, folder: Path, began_s: float) -> Sample:
    _, body, _ = asked(running.port, "/api/state")
    now = json.loads(body)
    kept = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) // 1024
    return Sample(time.monotonic() - began_s, running.size(), kept, now["hand"], now["seq"])


def soak(
    minutes: float, *, phones: int = 10, speed: float = 6.0, confirm: str = "auto", seed: int = 0, hands: int = 50
) -> tuple[list[Sample], Tally, list[str]]:
    """Run the service with phones; return samples, the phones' tally, and the output after the start."""
    samples: list[Sample] = []
    tally = Tally()
    command = ("demo", "--speed", str(speed), "--confirm", confirm, "--hands", str(hands), "--seed", str(seed + 1))
    with tempfile.TemporaryDirectory() as place, service(Path(place), *command) as running:
        wait_until(lambda: any("phone" in line for line in running.said))
        quiet = len(running.said)
        taps = [Phone(running, number, tally, seed, confirm).run for number in range(phones)]
        began_s = time.monotonic()
        pause_s = max(1.0, min(10.0, minutes * 60 / 200))
        with beside(*taps) as over:
            while time.monotonic() - began_s < minutes * 60 and running.process.poll() is None:
                samples.append(sampled(running, Path(place), began_s))
                over.wait(pause_s)
        tally.note(f"exit code {running.end()}", 0)
        said = [line for line in running.said[quiet:] if "has ended" not in line and line.strip(" █▀▄\n")]
    return samples, tally, said


def verdict(samples: Sequence[Sample]) -> bool:
    """Print the medians of the first and last third; return True if they are close enough."""
    warm_s = max(WARM_S, samples[-1].at_s / 10)
    kept = [sample.size for sample in samples if sample.at_s >= warm_s] or [sample.size for sample in samples]
    third, is_flat = max(1, len(kept) // 3), True
    for name in ("rss_kb", "anon_kb", "threads", "files"):
        early, late = (median(getattr(size, name) for size in part) for part in (kept[:third], kept[-third:]))
        grows = late - early > (max(MOST_GROWTH_KB, MOST_GROWTH * early) if name.endswith("kb") else MOST_MORE)
        print(f"{name}: {early:.0f} -> {late:.0f}{'  GROWS' if grows else ''}")
        is_flat &= not grows
    return is_flat


def report(samples: Sequence[Sample], tally: Tally, said: Sequence[str]) -> bool:
    """Print a table and the verdict; return True if the run passed."""
    print("minute  RSS MB  own MB  threads  files  sockets  folder kB  lines  CPU %")
    step = max(1, len(samples) // 20)
    for before, sample in zip(samples[::step], samples[step::step], strict=False):
        size, cpu = sample.size, (sample.size.cpu_s - before.size.cpu_s) / (sample.at_s - before.at_s)
        print(
            f"{sample.at_s / 60:6.1f}{size.rss_kb / 1024:8.0f}{size.anon_kb / 1024:8.0f}{size.threads:9}{size.files:7}"
            f"{size.sockets:9}{sample.folder_kb:11}{sample.lines:7}{100 * cpu:7.0f}"
        )
    print(", ".join(f"{number} {what}" for what, number in sorted(tally.done.items())))
    for line in (*tally.failed[:10], *said[:10]):
        print(f"! {line.rstrip()}")
    well = verdict(samples) and not tally.failed and not said and "exit code 0" in tally.done
    print(f"{samples[-1].at_s / 60:.0f} minutes, nothing grows and nothing failed: {'yes' if well else 'NO'}")
    return well


def main() -> int:
    given = arguments(__doc__, "minutes", 60.0, phones=10, speed=6.0, hands=50, confirm=("auto", "tap"))
    return 0 if report(*soak(**vars(given))) else 1


if __name__ == "__main__":
    sys.exit(main())
