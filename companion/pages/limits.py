"""How much each route takes in: a page sends little; photographs and decks have a line of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Request

from companion.vision.counting.photographs import MOST_BYTES, MOST_SENT_BYTES

MOST_DECK_BYTES = 64_000_000
"""A larger file is not taken in over the network; `companion decks import` takes it."""

_AT_ONCE = 512 * 1024
"""How much of a file is taken in at once has to fit as well."""


@dataclass(frozen=True, slots=True)
class Body:
    """What one request may bring."""

    most_bytes: int = 16 * 1024
    most_fields: int = 128
    most_form_bytes: int = 16 * 1024
    """How much of it may be anything else than files."""


USUAL = Body()
BODIES: Mapping[str, Body] = {
    "snap.send": Body(MOST_SENT_BYTES, 600, _AT_ONCE),
    "snap.count": Body(MOST_SENT_BYTES, 600, _AT_ONCE),
    "enrolling.take": Body(MOST_BYTES, most_form_bytes=_AT_ONCE),
    "decks.take_in": Body(MOST_DECK_BYTES, most_form_bytes=_AT_ONCE),
}
"""The routes that take in more than usual, by endpoint."""

LARGEST_BYTES = max(body.most_bytes for body in BODIES.values())


def of(endpoint: str | None) -> Body:
    """What a route takes in."""
    return BODIES.get(endpoint or "", USUAL)


def limit(request: Request) -> None:
    """Holds a request to what its route takes in."""
    body = of(request.endpoint)
    request.max_content_length = body.most_bytes
    request.max_form_parts = body.most_fields
    request.max_form_memory_size = body.most_form_bytes
