"""Small files of the data folder: written whole or not at all, and on the disk when that is said."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Puts a file in its place once all of it is on the disk. Raises OSError where the disk refuses."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
