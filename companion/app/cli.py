"""The command line: its commands and error handling.

Only the file of the requested command is loaded, and commands import OpenCV rooms in their body: `companion replay`
must not wait for OpenCV.
"""

from __future__ import annotations

import os
import sys
from contextvars import copy_context
from importlib import import_module

import click

from companion import __version__
from companion.app import usage
from companion.common.errors import Problem
from companion.common.terminal import program, show_plainly
from companion.common.text import say

_COMMANDS = {
    "record_commands": ("replay", "score", "robot", "play", "editions", "export"),
    "deck_commands": ("print", "enroll", "decks"),
    "table_commands": ("read", "watch", "up", "demo", "doctor", "backup", "restore"),
    "club_commands": ("club",),
}
_FILE_OF = {name: file for file, names in _COMMANDS.items() for name in names}


class Commands(usage.Group):
    """Commands that are imported when called."""

    def list_commands(self, ctx: click.Context | None) -> list[str]:  # noqa: ARG002
        return sorted(_FILE_OF)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _FILE_OF:
            return None
        commands: tuple[click.Command, ...] = import_module(f"companion.app.{_FILE_OF[cmd_name]}").COMMANDS
        return next(command for command in commands if command.name == cmd_name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="companion")
def companion() -> None:
    """Watch a Mille Bornes table through a camera, referee the game and keep the score.

    \b
    Example: companion demo
    """


def main() -> None:
    """Run a command in the terminal's language; report an error as one sentence and an exit code."""
    show_plainly()
    code = copy_context().run(_run)
    sys.exit(code if isinstance(code, int) else 0)


def _run() -> object:
    """Run a command and return its exit code."""
    usage.answer_in(None)
    code: object
    try:
        code = companion.main(prog_name=program(), standalone_mode=False)
    except click.ClickException as error:
        code = _complain(usage.sentence(error), 2)
    except Problem as problem:
        code = _complain(str(problem), problem.exit_code)
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        # The reader of our output has closed it, as in `companion … | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("COMPANION_DEBUG"):
            raise
        fault = f"{type(error).__name__}: {error}".splitlines()[0]
        mistake = say("Something went wrong in the companion (%(fault)s). COMPANION_DEBUG=1 shows where.", fault=fault)
        code = _complain(mistake, usage.WRONG)
    return code


def _complain(sentence: str, code: int) -> int:
    usage.warn(sentence)
    return code
