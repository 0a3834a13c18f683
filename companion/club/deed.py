"""An entry of the club's log. No database driver is needed to read one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Deed:
    """One entry of the club's log: who did what, and when."""

    seq: int
    topic: str
    kind: str
    who: str
    at: datetime
    age_s: float  # seconds since then, by the database's clock
    body: Mapping[str, Any]
