"""Plain terminal output: control characters in names could clear the screen or imitate ours.

Files and other programs get output unchanged.
"""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

CALLED = "COMPANION_CALLED"  # environment variable: script that started the program
_SPOKEN = "\n\t"


def program() -> str:
    """Return the name the user typed: `companion`, or the script that started it."""
    return os.environ.get(CALLED) or "companion"


def typed(words: str) -> str:
    """Return a complete command: `companion enroll family`."""
    return f"{program()} {words}"


def plain(text: str) -> str:
    """Replace characters that control a terminal or the writing direction by dots."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    kept = (char in _SPOKEN or char.isprintable() or unicodedata.category(char) == "Zs" for char in text)
    return "".join(char if keep else "·" for char, keep in zip(text, kept, strict=True))


class Plain(io.TextIOWrapper):
    """A terminal for plain text. Raises BrokenPipeError once it is gone."""

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
    """Make terminal output plain; unencodable letters become escapes."""
    sys.stdout = _plain(sys.stdout, sys.__stdout__)
    sys.stderr = _plain(sys.stderr, sys.__stderr__)


def _plain(stream: TextIO, own: TextIO | None) -> TextIO:
    """Return one of the process's own streams made plain, a replaced one unchanged."""
    if stream is not own or not isinstance(stream, io.TextIOWrapper):
        return stream
    if not stream.isatty():
        stream.reconfigure(errors="backslashreplace")
        return stream
    return Plain(stream.detach(), encoding=stream.encoding, errors="backslashreplace", line_buffering=True)
