"""Errors as people see them: one sentence that says what to do, without anything of what was sent."""

from __future__ import annotations

import logging

from flask import Flask, Response, make_response, render_template, request
from werkzeug.exceptions import BadHost, HTTPException, TooManyRequests

from companion.common.errors import Problem
from companion.pages.limits import Busy
from companion.pages.players.phone_identity import NotYours
from companion.pages.words import N_, _
from companion.storage.event_store import NotSaved

log = logging.getLogger(__name__)

SENTENCES = {
    400: N_("That could not be read: go back and try again."),
    401: N_("To take part, scan the code on the big screen or in the terminal with this phone."),
    403: N_("That tap did not come from the companion’s own page: open the page anew."),
    404: N_("There is nothing here: go back to the table."),
    405: N_("There is nothing here: go back to the table."),
    413: N_("That was more than a page ever sends: go back and try again."),
    415: N_("Send this as JSON: Content-Type: application/json."),
    429: N_("That was too often in a short time: wait a moment, then try again."),
    500: N_("Something went wrong on our side. What was confirmed is safe; open the page anew."),
    503: N_("Too many pages are open here: close one, then try again."),
}


def register(app: Flask) -> None:
    """Answer every error with a sentence."""
    app.register_error_handler(Problem, _problem)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _ours)


def _problem(problem: Problem) -> Response:
    code = 503 if isinstance(problem, (NotSaved, Busy)) else 403 if isinstance(problem, NotYours) else 400
    return say(_(problem.sentence), code)


def _http(error: HTTPException) -> Response:
    code = error.code or 500
    if error.response is not None:
        return make_response(error.response)
    response = say(_(SENTENCES.get(code, SENTENCES[500 if code >= 500 else 400])), code)
    if isinstance(error, TooManyRequests):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _ours(error: Exception) -> Response:
    log.error("a page failed: %s", request.endpoint, exc_info=error)
    return say(_(SENTENCES[500]), 500)


def say(sentence: str, code: int) -> Response:
    """Return a sentence as an answer: JSON under `/api/`, else a page or a part of one."""
    if isinstance(request.routing_exception, BadHost):
        # The links of a page would lead nowhere: no machine can have that host name.
        return Response(sentence, code, mimetype="text/plain")
    if request.path.startswith("/api/"):
        return make_response({"say": sentence}, code)
    page = "notice.html" if "HX-Request" in request.headers else "oops.html"
    return make_response(render_template(page, sentence=sentence), code)
