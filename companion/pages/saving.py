"""What is said as long as something is not on the disk, and what became of a damaged log until it was read."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from companion.match.match import MatchState
from companion.pages.context import match
from companion.pages.players import phone_identity
from companion.pages.words import said

bp = Blueprint("saving", __name__)

_TABLES = ("table.show", "plain.show")
"""The pages on which everybody reads what became of a damaged log; the host reads it on every page."""


@dataclass(frozen=True, slots=True)
class SavingView:
    """The sentences, each None where all is well."""

    unsaved: str | None
    note: str | None
    may_put_away: bool


def here(now: MatchState) -> SavingView:
    """What this page has to say about it."""
    unsaved = now.unsaved or phone_identity.phones().unkept
    may_put_away = phone_identity.may_host()
    note = now.note if may_put_away or request.endpoint in _TABLES else None
    return SavingView(said(unsaved) if unsaved else None, said(note) if note else None, may_put_away)


@bp.post("/mended")
def put_away() -> AnyResponse:
    """The host has read what became of a damaged log."""
    match().put_note_away()
    return redirect(url_for("table.show"), 303)
