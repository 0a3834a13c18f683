"""An entry of the club's own log. Needs no database driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Deed:
    """Who did what in the club, and when."""

    seq: int
    topic: str
    kind: str
    who: str
    at: datetime
    age_s: float  # since `at`, by the database's clock
    body: Mapping[str, Any]
