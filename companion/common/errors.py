"""The one exception that people may see: a sentence that says what is wrong and what to do."""

from __future__ import annotations

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


class FileProblem:
    """A block of code in which an OSError becomes a Problem.

    `pattern` is the sentence; its `%(error)s` is what the system says of the file.
    """

    def __init__(self, pattern: str, **values: object) -> None:
        self._pattern, self._values = pattern, values

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, OSError):
            raise Problem(self._pattern, 2, error=error.strerror, **self._values) from error
