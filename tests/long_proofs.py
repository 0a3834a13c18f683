"""The proofs that take minutes to hours: `deploy/test --long [NAME…]` runs all of them, or those that are named.

With `--slice` each runs for as long as an integration machine has time. What a proof prints are its figures.
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


@dataclass(frozen=True, slots=True)
class Proof:
    """A command for Python, and a shorter one; options of `tests/trust` scripts say how much is tried."""

    what: str
    command: str
    slice: str = ""  # the command of a slice; empty where a slice leaves the proof out


PROOFS = {
    "tests": Proof(
        "the tests marked `long`: whole watched hands, all pages in all states, benches",
        f"{PYTEST} -m long",
        f"{PYTEST} -m long tests/browser/test_simulated_table.py tests/test_drawn_zones.py tests/test_demo_players.py",
    ),
    "hands": Proof("fifty watched hands, their figures", "-m tests.bench.hands --hands 50 --jobs 2"),
    "readings": Proof("100,000 readings of stickers", "-m tests.bench.readings --readings 100000"),
    "mutations": Proof("each rule turned wrong and noticed by a test", "tests/mutations.py --jobs 2"),
    "soak": Proof(
        "the service runs, phones come and go",
        "tests/trust/soak.py --minutes 60",
        "tests/trust/soak.py --minutes 3 --phones 4 --speed 2",
    ),
    "kills": Proof("the service is killed", "tests/trust/kills.py --times 1000", "tests/trust/kills.py --times 50"),
    "power-cuts": Proof(
        "the power goes", "tests/trust/power_cuts.py --times 500", "tests/trust/power_cuts.py --times 100"
    ),
    "damages": Proof(
        "files are damaged, bits flip",
        "tests/trust/damages.py --times 130 --bits 1500",
        "tests/trust/damages.py --times 13 --bits 50",
    ),
    "camera": Proof(
        "the camera fails",
        "tests/trust/camera_cycles.py --cycles 100",
        "tests/trust/camera_cycles.py --cycles 100 --virtual",
    ),
    "phone": Proof("a phone's browser is the camera of a whole hand, with gaps", "tests/browser/phone_hand.py"),
    "club": Proof(
        "many tables push to a club that is killed and cut off",
        "tests/trust/club.py --tables 200 --minutes 30",
        "tests/trust/club.py --tables 12 --minutes 1",
    ),
    "connections": Proof("hundreds of connections idle", "tests/trust/idle_connections.py"),
    "confined": Proof("the companion plays shut in", "tests/trust/confined.py"),
    "start-up": Proof("the first page's time", "tests/trust/start_up.py"),
    "fuzz-engine": Proof(
        "chance plays",
        "tests/trust/fuzz_engine.py --steps 1000000 --jobs 2",
        "tests/trust/fuzz_engine.py --steps 20000 --jobs 2",
    ),
    "fuzz-records": Proof(
        "hostile records", "tests/trust/fuzz_records.py --times 5000", "tests/trust/fuzz_records.py --times 200"
    ),
    "fuzz-toml": Proof(
        "hostile small files", "tests/trust/fuzz_toml.py --times 5000", "tests/trust/fuzz_toml.py --times 100"
    ),
    "fuzz-files": Proof(
        "hostile pictures, decks and backups",
        "tests/trust/fuzz_files.py --times 1000",
        "tests/trust/fuzz_files.py --times 40",
    ),
    "fuzz-requests": Proof(
        "hostile requests", "tests/trust/fuzz_requests.py --times 5000", "tests/trust/fuzz_requests.py --times 300"
    ),
}


def main() -> int:
    """Runs what is asked for, one after the other; 1 where one of them fails."""
    listed = "\n".join(f"  {name:<14}{proof.what}" for name, proof in PROOFS.items())
    parser = argparse.ArgumentParser(
        prog="deploy/test --long",
        description=__doc__,
        epilog=f"NAME is one of\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only these")
    parser.add_argument("--slice", action="store_true", help="a short slice of each")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in PROOFS]:
        parser.error(f"no such proof: {', '.join(unknown)} (choose from {', '.join(PROOFS)})")
    commands = {name: PROOFS[name].slice if asked.slice else PROOFS[name].command for name in asked.names or PROOFS}
    failed = [name for name, command in commands.items() if command and not is_proved(name, command)]
    print(f"Failed: {', '.join(failed)}" if failed else "All proofs hold.")
    return 1 if failed else 0


def is_proved(name: str, command: str) -> bool:
    """True if a proof's command ends well."""
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
