"""What a person types to start the program, for hints that say so: `companion`, or a script that stands for it."""

from __future__ import annotations

import os

CALLED = "COMPANION_CALLED"  # the variable in which a script that starts the program says its own name: `deploy/run`


def program() -> str:
    """Return the program's name as it was called."""
    return os.environ.get(CALLED) or "companion"


def typed(words: str) -> str:
    """Return a whole call: `companion enroll family`."""
    return f"{program()} {words}"
