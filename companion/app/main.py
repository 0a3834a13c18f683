"""The console script: until the program has been loaded, Ctrl-C ends it without a word."""

from __future__ import annotations

import signal


def main() -> None:
    """Load the command line and run it."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from companion.common import clock

    clock.make_readable()
    from companion.app.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()
