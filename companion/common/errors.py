from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from companion.common.text import say


class Problem(Exception):
    """An error for the user: `sentence` says what is wrong and what to do.

    With `values`, `sentence` is a pattern as in `say`. The command line prints it and exits with `exit_code`: 1 for
    wrong input, 2 for a command that cannot run as written.
    """

    def __init__(self, sentence: str, exit_code: int = 2, **values: object) -> None:
        self.sentence = say(sentence, **values) if values else sentence
        super().__init__(self.sentence)
        self.exit_code = exit_code


class Busy(Problem):
    """Too many requests are waiting; retry soon."""


@contextmanager
def file_problem(pattern: str, **values: object) -> Iterator[None]:
    """Turn an OSError into a Problem worded by `pattern`, with the system's message as `%(error)s`."""
    try:
        yield
    except OSError as error:
        raise Problem(pattern, 2, error=cause(error), **values) from error


def cause(error: Exception) -> str:
    """Return the system's message for an error, or else its own text; usual ones are marked for translation."""
    text = getattr(error, "strerror", None) or str(error)
    return _CAUSES.get(text, text)


_CAUSES: Mapping[str, str] = {
    message: message
    for message in (
        say("No such file or directory"),
        say("Permission denied"),
        say("Is a directory"),
        say("Not a directory"),
        say("File exists"),
        say("File name too long"),
        say("Input/output error"),
        say("No space left on device"),
        say("Read-only file system"),
        say("Address already in use"),
    )
}
"""The usual messages of the system, which Python gives in English."""
