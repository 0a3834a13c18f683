"""The API's OpenAPI 3.1 document; `routes.py` declares the routes.

Fields map names to a type, or to a tuple of type, description and further JSON Schema keywords. `[type]` is an array,
`{str: type}` a mapping, `"Name"` an entry of `SCHEMAS`; `"Name?"` may be null. A field name ending with `?` is
optional.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import EnumType
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from companion import __version__
from companion.match.archive import FORMS
from companion.match.questions import Answer, Kind
from companion.match.state import Policy

Schema = dict[str, Any]
Fields = Mapping[str, Any]

_ABOUT = """\
The table as JSON. Reading is open to everybody on the network, as the pages are. A change is a POST of
`application/json` whose `Origin` is the address it is sent to, from the machine itself or with the cookie `companion`,
which `GET /join?t=TOKEN` sets (the token stands in the join code). Every error is `{"say": …}`: a sentence. Sentences
are in the language that a phone has chosen, else in the one that `Accept-Language` asks for."""

# Requests

MOST_NUMBER = 2**31 - 1  # signed 32-bit integer
_SEQ = {"minimum": 0, "maximum": MOST_NUMBER}
_PLAY = "A line of a record, such as `Ann 100` or `Bob stop > Ann`: see docs/records.md."
_HEAD = "The head of a record, up to its first `hand first`: see docs/records.md."
_SAME = "Your name for this change: sent again with the same, it counts once and is answered as before."
_ANSWER = (
    "`yes`: the play counts, and with it those before it that are legal and sure. `no`: it was none. `taken-back`: it"
    " is illegal, and the card goes back. `table`, `record`: which of the two is right. `ignore`: neither, until the"
    " zone changes."
)


def _whole(low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high}


def _letters(most: int) -> dict[str, int]:
    return {"minLength": 1, "maxLength": most}


_ANYWAY = (bool | None, "It counts although it is illegal: the table lets it stand.")
_ID = {"id?": (str | None, _SAME, _letters(64))}
NEW_MATCH: Fields = {
    "record": (str, _HEAD, _letters(4000)),
    "cards?": (Literal["dealt"], "`dealt`: the companion deals the cards, and there are none on the table."),
    "robots?": (
        {str: int},
        "The players who are robots, and the level of each, 1 to 3. The companion then deals the cards, also without"
        " `cards`.",
    ),
    **_ID,
}
NEW_PLAY: Fields = {"text": (str, _PLAY, _letters(200)), "anyway?": _ANYWAY, **_ID}
NEW_ANSWER: Fields = {
    "answer": (Answer, _ANSWER),
    "play?": (str | None, "Another play than the first of `plays`.", _letters(200)),
    "anyway?": _ANYWAY,
    **_ID,
}
WAIVER: Fields = {**_ID}
STEP: Fields = {"seq?": (int | None, "Only if this was the last change.", _SEQ), **_ID}
CORRECTION: Fields = {"seq": (int, "The line’s `seq`.", _SEQ), "text": (str, _PLAY, _letters(200)), **_ID}
SEAT: Fields = {
    "player": (str, "Whose seat.", _letters(100)),
    "take?": (bool | None, "Take it over from a phone that has been silent for two minutes, or as the host."),
    **_ID,
}
POLICY: Fields = {
    "policy": (
        Policy,
        "What counts without a tap: `tap` nothing, `play-on` a legal play once the next card lies, `auto` every legal"
        " play.",
    ),
    **_ID,
}
NEXT_HAND: Fields = {"first?": (str | None, "Who begins it.", _letters(100)), **_ID}

# Responses

VERSION = (
    int,
    "Grows with every change that a page could show, also over a restart: a whole number below 2^31.",
    {"minimum": 1, "maximum": MOST_NUMBER, "format": "int32"},
)
_QUESTION: Fields = {
    "id": (str, "Never given to anything else, in no hand and no match."),
    "kind": (
        Kind,
        "`play`: this was laid, shall it count? `which`: one of several. `differs`: the table lies otherwise than the"
        " record has it. `undo`: somebody wishes to take the last change back, where the cards are dealt.",
    ),
    "zone": str | None,
    "plays": ([str], "The likeliest first."),
    "verdict": (Literal["legal", "illegal", None], "Of the first play."),
    "reasons": ["Why"],
    "say": str,
}
_LINE: Fields = {"seq": int, "text": str, "say": str, "verdict": Literal["legal", "illegal"], "applied": bool}
_MATCH: Fields = {
    "match": int,
    "began": (
        str | None,
        "Null where the clock of the machine cannot have been right. Nothing goes by it.",
        {"format": "date-time"},
    ),
    "edition": str,
    "sides": ({str: [str]}, "The players of each side."),
    "names": ({str: str}, "How players are shown."),
    "hands": (int, "How many hands were begun."),
    "playing": (bool, "It is the match on the table."),
}

SCHEMAS: Mapping[str, Fields] = {
    "Error": {"say": str},
    "Why": {
        "code": (str, "The same in every language."),
        "say": str,
        "rule": (str, "The rules and the section that it comes from."),
        "instead": (str | None, "What could be played instead."),
    },
    "Outcome": {
        "done": (bool, "It counts."),
        "say": (str | None, "A sentence for the person, where `reasons` and `questions` do not say enough."),
        "reasons": (["Why"], "Why it does not count."),
        "questions": ([str], "The ids of all questions that are open after it."),
        "seq": (int, "The number of the latest event after it."),
        "version": VERSION,
        "saved": (bool, "All of it is on the disk."),
    },
    "Match": _MATCH,
    "Played": {
        **_MATCH,
        "record": ([str], "Every line that stands."),
        "played_hands": ["Hand"],
        "totals": {str: int},
        "winner": str | None,
    },
    "State": {
        "version": VERSION,
        "seq": int,
        "match": int | None,
        "edition": str,
        "dealt": (bool, "The companion deals the cards; what is hidden is told by `/api/hand` alone."),
        "robots": ({str: int}, "The players who are robots, and their levels."),
        "hand": int,
        "names": {str: str},
        "table": "Table?",
        "questions": ([_QUESTION], "What the table is asked, in the order of play."),
        "trouble": (str | None, "What is wrong with the camera."),
        "unsaved": (str | None, "What is said while the disk refuses what is played."),
        "policy": Policy,
        "log": ([_LINE], "The lines of the hand."),
        "hands": (["Hand"], "The hands that were counted."),
        "totals": {str: int},
        "winner": str | None,
    },
    "OwnHand": {
        "player": (str | None, "Null, and no cards, for a phone without a seat and where nothing is dealt."),
        "hand": ([str], "The cards, the latest last."),
        "asked": (bool, "He is waited for: it is his turn, or he may answer."),
        "plays": ([str], "What he may play now."),
        "may_wait": (bool, "He may let it pass, by `/api/waive`; on his turn he draws then."),
    },
    "Table": {
        "to_move": str | None,
        "target": int,
        "extended": bool,
        "extension_offered_to": str | None,
        "draw_pile": int,
        "discard": str | None,
        "discards": int,
        "hands": ({str: int}, "How many cards each player holds."),
        "requests": [{"card": str, "by": str, "of": str}],
        "may_pass": bool,
        "ended": str | None,
        "sides": {str: "Side"},
    },
    "Side": {
        "battle": str | None,
        "speed": str | None,
        "km": int,
        "distances": {str: int},
        "safeties": {str: Literal["played", "coup-fourre"]},
        "doubled?": {str: int},
        "score?": ([{"item": str, "points": int}], "Of a hand that was counted."),
        "total?": int,
    },
    "Hand": {
        "hand": int,
        "ended": str,
        "by": str | None,
        "target": int,
        "extended": bool,
        "draw_pile": int,
        "sides": {str: "Side"},
        "match": ({str: int}, "The totals after it."),
        "winner": str | None,
        "matches_won": {str: int},
    },
}

_NAMES = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}


def object_of(fields: Fields) -> Schema:
    """Return the JSON schema of an object with these fields."""
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): schema(kind) for name, kind in fields.items()},
        "required": [name for name in fields if not name.endswith("?")],
    }


def schema(kind: Any) -> Schema:
    """Return the JSON schema of a field in the notation above."""
    if isinstance(kind, tuple):
        of, about, *more = kind
        return schema(of) | {"description": about} | (more[0] if more else {})
    if isinstance(kind, str):
        named = {"$ref": f"#/components/schemas/{kind.removesuffix('?')}"}
        return {"anyOf": [named, {"type": "null"}]} if kind.endswith("?") else named
    if isinstance(kind, list):
        return {"type": "array", "items": schema(kind[0])}
    if isinstance(kind, dict):
        return {"type": "object", "additionalProperties": schema(kind[str])} if str in kind else object_of(kind)
    if isinstance(kind, EnumType):
        return {"enum": list(kind)}
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    return {"type": [_NAMES[one] for one in get_args(kind)] or _NAMES[kind]}


# The document

_ERRORS = {
    400: "What was sent is no JSON, or the address is not this machine’s.",
    401: "This phone may not take part: it has not scanned the join code.",
    403: "`Origin` is missing or another than the address asked, or it is not this phone’s to do.",
    404: "There is no such thing.",
    409: "It was settled already, the seat is taken, its `id` was used for another change, or no game has been set up.",
    413: "More was sent than is ever needed (16 KiB).",
    415: "What was sent is not `application/json`.",
    422: "It is JSON, but not as described here, or no play.",
    429: "That was asked too often: wait as many seconds as `Retry-After` says.",
    503: "It could not be saved: the disk is full or gone. Or too many ask for something slow: try again later.",
}


def document() -> Schema:
    """Return the OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Mille Bornes Companion", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": PATHS,
        "components": {
            "schemas": {name: object_of(fields) for name, fields in SCHEMAS.items()},
            "securitySchemes": {"phone": {"type": "apiKey", "in": "cookie", "name": "companion"}},
        },
    }


PATHS: dict[str, Schema] = {}  # operations by path and method
_PARAMETERS = {
    "number": ("path", "The match: the number of its first event.", _whole(0, 10**15 - 1)),
    "question_id": ("path", "The `id` of one of the `questions`.", {"type": "string"}),
    "form": ("path", "`mbn`: its record. `csv`: its score sheets. `jsonl`: its judged lines.", {"enum": [*FORMS]}),
    "limit": ("query", "How many at most; 20 if not said.", _whole(1, 100)),
    "before": ("query", "Only those before this match: the next page.", _whole(0, MOST_NUMBER)),
}


def describe(rule: str, method: str, name: str, about: str | None, more: Schema, query: Sequence[str] = ()) -> None:
    """Add a route to the document, with query parameters and further keywords (`more`)."""
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)
    parameters = [
        {"name": name, "in": place, "required": place == "path", "description": said, "schema": of}
        for name, (place, said, of) in _PARAMETERS.items()
        if f"{{{name}}}" in path or name in query
    ]
    PATHS.setdefault(path, {})[method] = {"operationId": name, "summary": about, "parameters": parameters, **more}


def answered(answers: str, answer: Any, *errors: int) -> Schema:
    """Return a GET route's responses; `answer` is a field, or None for any object."""
    good = content(answers, {"type": "object"} if answer is None else schema(answer))
    return {"responses": {"200": good, **_errors(400, *errors, 429)}}


def changed(sent: Schema) -> Schema:
    """Return the request body (schema `sent`) and the responses of a change."""
    outcome = schema("Outcome")
    waits = (
        "It waits for the table’s answer: `reasons` say why. Or it counts and is not saved yet, because the"
        " disk refuses it: `saved` is false."
    )
    return {
        "security": [{"phone": []}, {}],
        "requestBody": {"required": bool(sent["required"]), "content": {"application/json": {"schema": sent}}},
        "responses": {
            "200": content("It counts.", outcome),
            "202": content(waits, outcome),
            **_errors(400, 401, 403, 404, 413, 415, 422, 429, 503),
            "409": content(_ERRORS[409], {"anyOf": [outcome, schema("Error")]}),
        },
    }


def file(about: str, kinds: Sequence[str], *errors: int) -> Schema:
    """Return a file route's responses: content types of the file, errors as HTML."""
    good = {"description": about, "content": {kind: {"schema": {"type": "string"}} for kind in kinds}}
    pages = {str(code): content(_ERRORS[code], {"type": "string"}, "text/html") for code in (400, *errors, 429)}
    return {"responses": {"200": good, **pages}}


def content(about: str, of: Schema, kind: str = "application/json") -> Schema:
    """Return a response with one content type."""
    return {"description": about, "content": {kind: {"schema": of}}}


def _errors(*codes: int) -> Schema:
    return {str(code): content(_ERRORS[code], schema("Error")) for code in codes}
