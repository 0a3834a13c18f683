"""The API as a document: OpenAPI 3.1, built here and nowhere else. A test keeps it and the routes the same."""

from __future__ import annotations

from typing import Any

from companion import __version__
from companion.match.questions import Answer, Kind

Schema = dict[str, Any]

_ABOUT = """\
The table as JSON. Reading is open to everybody on the network, as the pages are. A change is a POST of
`application/json` whose `Origin` is the address it is sent to, from the machine itself or with the cookie `companion`,
which `GET /join?t=TOKEN` sets (the token stands in the join code). Every error is `{"say": …}`: a sentence. Sentences
are in the language that a phone has chosen, else in the one that `Accept-Language` asks for."""


def document() -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Mille Bornes Companion", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"phone": {"type": "apiKey", "in": "cookie", "name": "companion"}},
        },
    }


# The parts that it is made of


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(needed: Schema, **others: Schema) -> Schema:
    """An object in which `needed` are always there, and `others` may be."""
    return {"type": "object", "properties": {**needed, **others}, "required": list(needed)}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _by_name(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _or_null(kind: str) -> Schema:
    return {"type": [kind, "null"]}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
TRUTH: Schema = {"type": "boolean"}


def _answer(about: str, schema: Schema) -> Schema:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


_ERRORS = {
    400: "What was sent is no JSON, or the address is not this machine’s.",
    401: "This phone may not take part: it has not scanned the join code.",
    403: "`Origin` is missing or another than the address asked, or it is not this phone’s to do.",
    404: "There is no such thing.",
    409: "It was settled already, its `id` was used for another change, or no game has been set up.",
    413: "More was sent than is ever needed (16 KiB).",
    415: "What was sent is not `application/json`.",
    422: "It is JSON, but not as described here, or no play.",
    429: "That was asked too often: wait as many seconds as `Retry-After` says.",
    503: "It could not be saved: the disk is full or gone.",
}


def _errors(*codes: int) -> Schema:
    return {str(code): _answer(_ERRORS[code], _ref("Error")) for code in codes}


def _get(name: str, about: str, answer: Schema, *errors: int, parameters: list[Schema] | None = None) -> Schema:
    return {
        "operationId": name,
        "summary": about,
        "parameters": parameters or [],
        "responses": {"200": answer, **_errors(400, *errors, 429)},
    }


def _post(
    name: str, about: str, fields: Schema, *, needed: tuple[str, ...] = (), path: tuple[Schema, ...] = ()
) -> Schema:
    body = {
        "type": "object",
        "properties": {**fields, "id": _ID},
        "required": list(needed),
        "additionalProperties": False,
    }
    conflict = {"oneOf": [_ref("Outcome"), _ref("Error")]}
    return {
        "operationId": name,
        "summary": about,
        "parameters": list(path),
        "security": [{"phone": []}, {}],
        "requestBody": {"required": bool(needed), "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": _answer("It counts.", _ref("Outcome")),
            "202": _answer(
                "It waits for the table’s answer: `reasons` say why. Or it counts and is not saved yet, because the"
                " disk refuses it: `saved` is false.",
                _ref("Outcome"),
            ),
            **_errors(400, 401, 403, 404, 413, 415, 422, 429, 503),
            "409": _answer(_ERRORS[409], conflict),
        },
    }


def _in_path(name: str, about: str, low: int) -> Schema:
    most = 10**15 - 1
    schema = {"type": "integer", "minimum": max(low, -most), "maximum": most}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema}


def _in_query(name: str, about: str, low: int, high: int) -> Schema:
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return {"name": name, "in": "query", "required": False, "description": about, "schema": schema}


# What there is


def _paths() -> Schema:
    return {
        "/api/openapi.json": {"get": _get("document", "This document.", _answer("OpenAPI 3.1.", {"type": "object"}))},
        "/api/state": {"get": _get("state", "The table now.", _answer("Everything a page shows.", _ref("State")))},
        "/version": {"get": _version()},
        "/api/matches": {"get": _matches(), "post": _begin()},
        "/api/matches/{number}": {"get": _one_match()},
        "/api/plays": {"post": _play()},
        "/api/questions/{question_id}": {"post": _answer_question()},
        "/api/undo": {"post": _step("undo", "Takes back the last change of the record.")},
        "/api/redo": {"post": _step("redo", "Takes back the last undo.")},
        "/api/correct": {"post": _correct()},
        "/api/next-hand": {"post": _next_hand()},
        "/export.mbn": {"get": _record()},
    }


def _matches() -> Schema:
    asked = [
        _in_query("limit", "How many at most; 20 if not said.", 1, 100),
        _in_query("before", "Only those before this match: the next page.", 0, 2**53),
    ]
    answer = _answer("As they were set up.", _object({"matches": _list(_ref("Match"))}))
    return _get("matches", "The matches, the latest first.", answer, 422, parameters=asked)


def _one_match() -> Schema:
    number = _in_path("number", "The match: the number of its first event.", 0)
    return _get("match", "A match: its record and its hands.", _answer("It.", _ref("Played")), 404, parameters=[number])


def _version() -> Schema:
    about = "Whether anything has changed that a page could show. Send the last `ETag` as `If-None-Match`."
    get = _get("version", about, _answer("The version of the state.", _object({"version": NUMBER})))
    get["responses"]["304"] = {"description": "It is the one that is known."}
    return get


def _begin() -> Schema:
    lines = "The head of a record, up to its first `hand first`: see docs/records.md."
    record = {"type": "string", "minLength": 1, "maxLength": 4000, "description": lines}
    about = "Begins a match, in the place of the one that is being played."
    return _post("begin", about, {"record": record}, needed=("record",))


def _play() -> Schema:
    about = "Enters a play. A legal one counts at once, an illegal one waits for the table’s answer."
    return _post("play", about, {"text": _PLAY, "anyway": _ANYWAY}, needed=("text",))


def _answer_question() -> Schema:
    answer = {
        "enum": [answer.value for answer in Answer],
        "description": "`yes`: the play counts, and with it those before it that are legal and sure. `no`: it was"
        " none. `taken-back`: it is illegal, and the card goes back. `table`, `record`: which of the two is right."
        " `ignore`: neither, until the zone changes.",
    }
    play = {**_PLAY, "type": ["string", "null"], "description": "Another play than the first of `plays`."}
    path = {
        "name": "question_id",
        "in": "path",
        "required": True,
        "description": "The `id` of one of the `questions`.",
        "schema": TEXT,
    }
    fields = {"answer": answer, "play": play, "anyway": _ANYWAY}
    return _post("answer", "Answers what the table is asked.", fields, needed=("answer",), path=(path,))


def _step(name: str, about: str) -> Schema:
    only = {**_SEQ, "type": ["integer", "null"], "description": "Only if this was the last change."}
    return _post(name, about, {"seq": only})


def _correct() -> Schema:
    line = {**_SEQ, "description": "The line’s `seq`."}
    return _post("correct", "Changes a line of the record.", {"seq": line, "text": _PLAY}, needed=("seq", "text"))


def _next_hand() -> Schema:
    first = {"type": ["string", "null"], "minLength": 1, "maxLength": 100, "description": "Who begins it."}
    return _post("next_hand", "Begins the next hand.", {"first": first})


_SEQ: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53}
_PLAY: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "description": "A line of a record, such as `Ann 100` or `Bob stop > Ann`: see docs/records.md.",
}
_ANYWAY: Schema = {
    "type": ["boolean", "null"],
    "description": "It counts although it is illegal: the table lets it stand.",
}
_ID: Schema = {
    "type": ["string", "null"],
    "minLength": 1,
    "maxLength": 64,
    "description": "Your name for this change: sent again with the same, it counts once and is answered as before.",
}


def _record() -> Schema:
    return {
        "operationId": "record",
        "summary": "The match being played as a record: see docs/records.md.",
        "responses": {
            "200": {"description": "The record.", "content": {"text/plain": {"schema": TEXT}}},
            "404": {"description": "No game has been set up.", "content": {"text/html": {"schema": TEXT}}},
        },
    }


# What is said


def _schemas() -> Schema:
    return {
        "Error": _object({"say": TEXT}),
        "Why": _object({"code": TEXT, "say": TEXT, "rule": TEXT, "instead": _or_null("string")}),
        "Outcome": _outcome(),
        "Match": _match(),
        "Played": {"allOf": [_ref("Match"), _played()]},
        "State": _state(),
        "Table": _table(),
        "Side": _side(),
        "Hand": _hand(),
    }


def _outcome() -> Schema:
    return _object(
        {
            "done": {**TRUTH, "description": "It counts."},
            "say": _or_null("string"),
            "reasons": {**_list(_ref("Why")), "description": "Why it does not count."},
            "questions": {**_list(TEXT), "description": "The ids of what the table is asked after it."},
            "seq": {**NUMBER, "description": "The last event."},
            "version": {**NUMBER, "description": "Counts every change since the service started."},
            "saved": {**TRUTH, "description": "All of it is on the disk."},
        }
    )


def _match() -> Schema:
    return _object(
        {
            "match": NUMBER,
            "began": {
                "type": ["string", "null"],
                "format": "date-time",
                "description": "Null where the clock of the machine cannot have been right. Nothing goes by it.",
            },
            "edition": TEXT,
            "sides": {**_by_name(_list(TEXT)), "description": "The players of each side."},
            "names": {**_by_name(TEXT), "description": "How players are shown."},
            "hands": {**NUMBER, "description": "How many hands were begun."},
            "playing": {**TRUTH, "description": "It is the match on the table."},
        }
    )


def _played() -> Schema:
    return _object(
        {
            "record": {**_list(TEXT), "description": "Every line that stands."},
            "played_hands": _list(_ref("Hand")),
            "totals": _by_name(NUMBER),
            "winner": _or_null("string"),
        }
    )


def _state() -> Schema:
    question = _object(
        {
            "id": {**TEXT, "description": "Never given to anything else, in no hand and no match."},
            "kind": {
                "enum": [kind.value for kind in Kind],
                "description": "`play`: this was laid, shall it count? `which`: one of several. `differs`: the table"
                " lies otherwise than the record has it.",
            },
            "zone": _or_null("string"),
            "plays": {**_list(TEXT), "description": "The likeliest first."},
            "verdict": {"enum": ["legal", "illegal", None], "description": "Of the first play."},
            "reasons": _list(_ref("Why")),
            "say": TEXT,
        }
    )
    line = _object(
        {"seq": NUMBER, "text": TEXT, "say": TEXT, "verdict": {"enum": ["legal", "illegal"]}, "applied": TRUTH}
    )
    return _object(
        {
            "version": NUMBER,
            "seq": NUMBER,
            "match": _or_null("integer"),
            "edition": TEXT,
            "hand": NUMBER,
            "names": _by_name(TEXT),
            "table": {"anyOf": [_ref("Table"), {"type": "null"}]},
            "questions": {**_list(question), "description": "What the table is asked, in the order of play."},
            "trouble": {**_or_null("string"), "description": "What is wrong with the camera."},
            "unsaved": {**_or_null("string"), "description": "What is said while the disk refuses what is played."},
            "policy": {"enum": ["tap", "play-on", "auto"]},
            "log": {**_list(line), "description": "The lines of the hand."},
            "hands": {**_list(_ref("Hand")), "description": "The hands that were counted."},
            "totals": _by_name(NUMBER),
            "winner": _or_null("string"),
        }
    )


def _table() -> Schema:
    return _object(
        {
            "to_move": _or_null("string"),
            "target": NUMBER,
            "extended": TRUTH,
            "extension_offered_to": _or_null("string"),
            "draw_pile": NUMBER,
            "discard": _or_null("string"),
            "discards": NUMBER,
            "hands": {**_by_name(NUMBER), "description": "How many cards each player holds."},
            "requests": _list(_object({"card": TEXT, "by": TEXT, "of": TEXT})),
            "may_pass": TRUTH,
            "ended": _or_null("string"),
            "sides": _by_name(_ref("Side")),
        }
    )


def _side() -> Schema:
    how = {"enum": ["played", "coup-fourre"]}
    score = _list(_object({"item": TEXT, "points": NUMBER}))
    return _object(
        {
            "battle": _or_null("string"),
            "speed": _or_null("string"),
            "km": NUMBER,
            "distances": _by_name(NUMBER),
            "safeties": _by_name(how),
        },
        doubled=_by_name(NUMBER),
        score={**score, "description": "Of a hand that was counted."},
        total=NUMBER,
    )


def _hand() -> Schema:
    return _object(
        {
            "hand": NUMBER,
            "ended": TEXT,
            "by": _or_null("string"),
            "target": NUMBER,
            "extended": TRUTH,
            "draw_pile": NUMBER,
            "sides": _by_name(_ref("Side")),
            "match": {**_by_name(NUMBER), "description": "The totals after it."},
            "winner": _or_null("string"),
            "matches_won": _by_name(NUMBER),
        }
    )
