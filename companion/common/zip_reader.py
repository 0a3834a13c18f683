from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from companion.common.errors import Problem, cause
from companion.common.spelling import shown
from companion.common.text import Said, say, say_many

Recoded = Callable[[bytes, str], bytes]
"""Function from a picture's bytes and name (for messages) to a new PNG; raises Problem."""

_STEP_BYTES = 1 << 16
_OF_UNPACKING = ("zlib", "lzma", "_lzma", "struct")  # modules whose errors mean damage and share no base class


@dataclass(frozen=True, slots=True)
class ZipReader:
    """Reader of a kind of untrusted zip file. Raises only Problem."""

    is_known: Callable[[str], bool]  # if an entry may have this name
    strange: Callable[[str], Said]  # sentence about other names
    bad: Callable[[Path, Said], Problem]  # problem for a file and its fault
    most_files: int
    most_bytes: int  # unpacked, in total
    most_of: Callable[[str], int]  # maximum bytes of an entry, by name

    def unpacked(self, file: Path, sent: bytes | None) -> dict[str, bytes]:
        """Return the entries by name, from `sent` or else from the file."""
        content: dict[str, bytes] = {}
        with _opened(file, sent, self.bad) as packed:
            infos, room = packed.infolist(), self.most_bytes
            if len(infos) > self.most_files:
                raise self.bad(file, say_many("it contains %(count)d file", "it contains %(count)d files", len(infos)))
            for info in infos:
                name = info.orig_filename
                is_file = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                if not (is_file and name == info.filename and self.is_known(name)):
                    raise self.bad(file, self.strange(shown(name)))
                if name.casefold() in {other.casefold() for other in content}:
                    raise self.bad(file, say("it contains '%(name)s' twice", name=shown(name)))
                most = self.most_of(name)
                entry = _read_entry(packed, info, min(room, most))
                if entry is None:
                    large = say("'%(name)s' in it is larger than %(mb)d MB", name=name, mb=most // 1_000_000)
                    raise self.bad(file, large if most <= room else self._too_much())
                content[name] = entry
                room -= len(entry)
        return content

    def anew(self, file: Path, pictures: Iterable[tuple[str, bytes]], recoded: Recoded) -> Iterator[tuple[str, bytes]]:
        """Yield PNG names and contents singly: all together may be huge."""
        names, room = set[str](), self.most_bytes
        for name, picture in pictures:
            png = str(PurePosixPath(name).with_suffix(".png"))
            if png in names:
                raise self.bad(file, say("it contains '%(name)s' twice", name=PurePosixPath(name).stem))
            names.add(png)
            content = recoded(picture, f"{file}/{name}")
            room -= len(content)
            if room < 0:
                raise self.bad(file, self._too_much())
            yield png, content

    def _too_much(self) -> Said:
        return say("it is larger than %(mb)d MB when unpacked", mb=self.most_bytes // 1_000_000)


@contextmanager
def _opened(file: Path, sent: bytes | None, bad: Callable[[Path, Said], Problem]) -> Iterator[zipfile.ZipFile]:
    """Open a zip file; errors while open become a Problem."""
    try:
        with zipfile.ZipFile(file if sent is None else io.BytesIO(sent)) as packed:
            yield packed
    except Problem:
        raise
    except FileNotFoundError as error:
        raise Problem("File %(path)s not found: check the path.", path=file) from error
    except OSError as error:
        raise Problem("%(path)s cannot be read (%(error)s): check the path.", path=file, error=cause(error)) from error
    except (zipfile.BadZipFile, RuntimeError, EOFError, ValueError, OverflowError, MemoryError) as error:
        raise bad(file, say("it is damaged, or not a zip file")) from error
    except Exception as error:
        if type(error).__module__ not in _OF_UNPACKING:
            raise
        raise bad(file, say("it is damaged")) from error


def _read_entry(packed: zipfile.ZipFile, info: zipfile.ZipInfo, most_bytes: int) -> bytes | None:
    """Return an entry's content; None above `most_bytes`, whatever it declares."""
    content = bytearray()
    with packed.open(info) as entry:
        while piece := entry.read(_STEP_BYTES):
            content += piece
            if len(content) > most_bytes:
                return None
    return bytes(content)
