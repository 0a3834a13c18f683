"""How long the companion takes from its start to the first page that it answers.

    PYTHONPATH=tests:. python tests/trust/start_up.py --times 5 [--cold]

`--cold` lets the system forget the files that it has read (as root), and begins without compiled Python files. Exits
with 1 where the median of a kind is above the promise.
"""

import contextlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

from trust.fuzzing import arguments
from trust.real_service import asked, service

PROMISED_S = 3.0
KINDS = ("up", "demo")
"""Without a camera `up` says so; where one is plugged in, give `--source` the one it should not look for."""


def taken_s(kind: str) -> tuple[float, int]:
    """The seconds from the start of a process to its first page, and what it takes up then, in kB."""
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.monotonic()
        with service(Path(folder), kind) as running:
            asked(running.port, "/join")
            return time.monotonic() - began_s, running.size().rss_kb


def forget() -> None:
    """The system forgets the files it has read; only root may ask it to."""
    with contextlib.suppress(OSError):
        Path("/proc/sys/vm/drop_caches").write_text("3")


def main() -> int:
    given = arguments(__doc__, "times", 5, cold=False)
    kept = True
    for kind in KINDS:
        found = []
        for _number in range(given.times):
            if given.cold:
                forget()
            found.append(taken_s(kind))
        median = statistics.median(seconds for seconds, _ in found)
        kept &= median <= PROMISED_S
        worst, rss = max(seconds for seconds, _ in found), max(kb for _, kb in found)
        print(f"{kind}: median {median:.2f} s, longest {worst:.2f} s of {given.times}; {rss / 1024:.0f} MB then")
    print(f"Ready within {PROMISED_S} s: {'yes' if kept else 'NO'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
