"""Measure the time from the companion's start to its first page.

    PYTHONPATH=tests:. python tests/trust/start_up.py --times 5 [--cold]

`--cold` drops the system's file cache before each start (needs root). The exit code is 1 if a median is above 3 s.
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
"""Commands to measure; `up` needs a machine without a camera."""


def taken_s(kind: str) -> tuple[float, int]:
    """Return the time from start to first page in seconds, and the memory then in kB."""
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.monotonic()
        with service(Path(folder), kind) as running:
            asked(running.port, "/join")
            return time.monotonic() - began_s, running.size().rss_kb


def forget() -> None:
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
