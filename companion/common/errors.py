"""The one exception that people may see: a sentence that says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from companion.common.text import say


class Problem(Exception):
    """Something in the input or around the program is wrong; `sentence` is for the person.

    With `values` it is a pattern that a page can show in the reader's language, as `say` makes one.
    The command line prints it on standard error and ends with `exit_code`: 1 when what was given
    turned out wrong, 2 when the call itself cannot be carried out as written.
    """

    def __init__(self, sentence: str, exit_code: int = 2, **values: object) -> None:
        self.sentence = say(sentence, **values) if values else sentence
        super().__init__(self.sentence)
        self.exit_code = exit_code


class Busy(Problem):
    """Too much waits for the same work: the same will do a moment later."""


@contextmanager
def file_problem(pattern: str, **values: object) -> Iterator[None]:
    """Make a Problem of an OSError; the sentence is `pattern`, its `%(error)s` what the system says of the file."""
    try:
        yield
    except OSError as error:
        raise Problem(pattern, 2, error=cause(error), **values) from error


def cause(error: Exception) -> str:
    """Return what the system says of an error, or the error itself."""
    return getattr(error, "strerror", None) or str(error)
