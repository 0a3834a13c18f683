"""The console script; while it loads, Ctrl-C ends it silently."""

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
