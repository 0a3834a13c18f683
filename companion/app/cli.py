"""The command line: its commands, and what becomes of what goes wrong in them.

Each command reads its input, hands it to the room that knows, and prints what comes back. The rooms that need OpenCV,
or are only needed now and then, are imported inside the commands: `companion replay` must not wait for OpenCV.
"""

from __future__ import annotations

import os
import sys

import click

from companion import __version__
from companion.app import deck_commands, record_commands, table_commands, usage
from companion.common.errors import Problem
from companion.common.program_name import program
from companion.common.terminal import show_plainly


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="companion")
def companion() -> None:
    """Watches a real Mille Bornes table, referees it and keeps the score.

    \b
    Example: companion demo
    """


for _room in (record_commands, deck_commands, table_commands):
    for _command in _room.COMMANDS:
        companion.add_command(_command)


def main() -> None:
    """Run a command, and turn what went wrong into one sentence and an exit code."""
    show_plainly()
    try:
        code = companion.main(prog_name=program(), standalone_mode=False)
    except click.ClickException as error:
        code = _complain(usage.sentence(error), 2)
    except Problem as problem:
        code = _complain(str(problem), problem.exit_code)
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        # The reader of our output has gone (`companion … | head`); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("COMPANION_DEBUG"):
            raise
        fault = f"{type(error).__name__}: {error}".splitlines()[0]
        code = _complain(f"The companion has made a mistake ({fault}). COMPANION_DEBUG=1 shows where.", usage.WRONG)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(sentence: str, code: int) -> int:
    usage.warn(sentence)
    return code
