"""Notices while something is not on the disk, and on a damaged log until they are read."""

from __future__ import annotations

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match.match import MatchState
from companion.pages.context import match
from companion.pages.players import phone_identity
from companion.pages.words import said

bp = Blueprint("saving", __name__)

_TABLES = ("table.show", "plain.show")
"""The pages on which everybody sees the note on a damaged log; the host sees it on every page."""


def here(now: MatchState) -> dict[str, object]:
    """Return what this page says of what is not on the disk, and of a damaged log; None where all is well."""
    unsaved = now.unsaved or phone_identity.phones().unkept
    may_put_away = phone_identity.may_host()
    note = now.note if may_put_away or request.endpoint in _TABLES else None
    return {
        "unsaved": said(unsaved) if unsaved else None,
        "note": said(note) if note else None,
        "may_put_away": may_put_away,
    }


@bp.post("/mended")
def put_away() -> AnyResponse:
    """Put away the note on a damaged log."""
    match().put_note_away()
    return redirect(url_for("table.show"), 303)
