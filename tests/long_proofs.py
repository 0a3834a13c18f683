"""Run the proofs that take minutes to hours: `deploy/test --long [NAME…]`.

`--slice` shortens each one to fit an integration machine. Proofs print their measurements.
"""

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTEST = "-m pytest -n auto --dist worksteal"
SEEN = ("occlusion", "enrolment", "face_detector", "eye", "film", "hidden_cards", "drawn_zones", "demo_players")
"""Tests of vision and play with too many pictures for every run."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A command for Python, and a shorter one."""

    what: str
    command: str
    slice: str = ""  # the shorter command; empty if a slice skips this proof


def _trust(what: str, script: str, long: str = "", slice_: str | None = None) -> Proof:
    """Return the proof of a script in `tests/trust`; without `slice_`, a slice skips it."""
    command = f"tests/trust/{script}.py"
    return Proof(what, f"{command} {long}".strip(), "" if slice_ is None else f"{command} {slice_}")


PROOFS = {
    "tests": Proof(
        "the tests marked `long`: whole watched hands, all pages in all states, benches",
        f"{PYTEST} -m long",
        f"{PYTEST} -m long tests/browser/test_simulated_table.py {' '.join(f'tests/test_{name}.py' for name in SEEN)}",
    ),
    "hands": Proof("fifty hands, each followed three ways", "-m tests.bench.hands --eye pictures --hands 50 --jobs 2"),
    "readings": Proof("100,000 readings of stickers", "-m tests.bench.readings --readings 100000"),
    "mutations": Proof("each rule is broken, and a test notices", "tests/mutations.py --jobs 2"),
    "soak": _trust("the service runs, phones come and go", "soak", "--minutes 60", "--minutes 3 --phones 4 --speed 2"),
    "kills": _trust("the service is killed", "kills", "--times 1000", "--times 50"),
    "power-cuts": _trust("the power fails", "power_cuts", "--times 500", "--times 100"),
    "damages": _trust("files are damaged, bits flip", "damages", "--times 130 --bits 1500", "--times 13 --bits 50"),
    "camera": _trust("the camera fails", "camera_cycles", "--cycles 100", "--cycles 100 --virtual"),
    "phone": Proof("a phone's browser is the camera of a whole hand, with gaps", "tests/browser/phone_hand.py"),
    "taps": _trust("plays are tapped on bad networks", "taps", "--runs 500", "--runs 12"),
    "club": _trust(
        "many tables push to a club that is killed and cut off",
        "club",
        "--tables 200 --minutes 30",
        "--tables 12 --minutes 1",
    ),
    "erasures": _trust("names are erased from a club", "erasures", "--times 500", "--times 30"),
    "connections": _trust("hundreds of connections idle", "idle_connections"),
    "silent-tls": _trust("TLS connections remain silent", "silent_tls"),
    "picture-memory": _trust("large photographs are sent", "picture_memory"),
    "confined": _trust("the companion runs confined", "confined"),
    "start-up": _trust("time until the first page", "start_up"),
    "fuzz-engine": _trust("random plays", "fuzz_engine", "--steps 1000000 --jobs 2", "--steps 20000 --jobs 2"),
    "fuzz-records": _trust("hostile records", "fuzz_records", "--times 5000", "--times 200"),
    "fuzz-toml": _trust("hostile small files", "fuzz_toml", "--times 5000", "--times 100"),
    "fuzz-files": _trust("hostile pictures, decks and backups", "fuzz_files", "--times 1000", "--times 40"),
    "fuzz-requests": _trust("hostile requests", "fuzz_requests", "--times 5000", "--times 300"),
}


def main() -> int:
    """Run the chosen proofs one by one; return 1 if one fails."""
    listed = "\n".join(f"  {name:<15}{proof.what}" for name, proof in PROOFS.items())
    parser = argparse.ArgumentParser(
        prog="deploy/test --long",
        description=__doc__,
        epilog=f"NAME is one of\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only these")
    parser.add_argument("--slice", action="store_true", help="run only a short part of each")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in PROOFS]:
        parser.error(f"no such proof: {', '.join(unknown)} (choose from {', '.join(PROOFS)})")
    commands = {name: PROOFS[name].slice if asked.slice else PROOFS[name].command for name in asked.names or PROOFS}
    failed = [name for name, command in commands.items() if command and not is_proved(name, command)]
    print(f"Failed: {', '.join(failed)}" if failed else "All proofs hold.")
    return 1 if failed else 0


def is_proved(name: str, command: str) -> bool:
    print(f"--- {name}: python {command}", flush=True)
    began_s = time.monotonic()
    search = os.pathsep.join((str(ROOT / "tests"), str(ROOT)))
    run = subprocess.run(
        [sys.executable, *command.split()], cwd=ROOT, env={**os.environ, "PYTHONPATH": search}, check=False
    )
    print(f"--- {name}: {'holds' if run.returncode == 0 else 'FAILED'}, {time.monotonic() - began_s:.0f} s", flush=True)
    return run.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
