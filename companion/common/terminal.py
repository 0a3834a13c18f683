"""The terminal: what people type there to start the program, and what they read there.

A control character in a name could clear the screen or pretend to be our output, so names and file names say nothing to
the terminal itself. Records and JSON that go to a file or to another program stay as they are.
"""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

CALLED = "COMPANION_CALLED"  # the variable in which a script that starts the program says its own name: `deploy/run`
_SPOKEN = "\n\t"


def program() -> str:
    """Return the program's name as it was called: `companion`, or a script that stands for it."""
    return os.environ.get(CALLED) or "companion"


def typed(words: str) -> str:
    """Return a whole call: `companion enroll family`."""
    return f"{program()} {words}"


def plain(text: str) -> str:
    """Return a text in which all that steers a terminal, or turns the writing round, is a dot."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    kept = (char in _SPOKEN or char.isprintable() or unicodedata.category(char) == "Zs" for char in text)
    return "".join(char if keep else "·" for char, keep in zip(text, kept, strict=True))


class Plain(io.TextIOWrapper):
    """A terminal to which nothing but text is written. Raises BrokenPipeError once it is gone, as a pipe does."""

    def write(self, text: str) -> int:
        with _broken_if_gone():
            return super().write(plain(text))

    def flush(self) -> None:
        with _broken_if_gone():
            super().flush()


@contextmanager
def _broken_if_gone() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BrokenPipeError(error.errno, error.strerror) from error


def show_plainly() -> None:
    """Make the terminal show plain text only, and letters that it does not have by their numbers."""
    sys.stdout = _plain(sys.stdout, sys.__stdout__)
    sys.stderr = _plain(sys.stderr, sys.__stderr__)


def _plain(stream: TextIO, own: TextIO | None) -> TextIO:
    """Return a stream of this process made plain; one that somebody has put in its place stays as it is."""
    if stream is not own or not isinstance(stream, io.TextIOWrapper):
        return stream
    if not stream.isatty():
        stream.reconfigure(errors="backslashreplace")
        return stream
    return Plain(stream.detach(), encoding=stream.encoding, errors="backslashreplace", line_buffering=True)
