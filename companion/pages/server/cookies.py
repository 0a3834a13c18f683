"""The cookie of a phone: signed (HMAC-SHA256), and as good in ten years as today, whatever the clocks say."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from flask import Flask, Request, Response
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature
from werkzeug.http import dump_cookie

KEPT = timedelta(days=400)
"""As long as browsers keep any cookie."""


class Cookies(SecureCookieSessionInterface):
    """Cookies that go by no clock of this machine.

    As they come with Flask, a cookie that was signed too long ago is refused, and so is one that was signed later
    than now: a computer that wakes in the wrong year would forget every phone. And a day on which a cookie ends,
    written by a clock that stands in 1970, has it thrown away before it was ever sent back.
    """

    digest_method = staticmethod(hashlib.sha256)

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """What a phone's cookie says; an empty one where there is none, or it is not ours."""
        signed, sent = self.get_signing_serializer(app), request.cookies.get(self.get_cookie_name(app))
        if signed is None or not sent:
            return None if signed is None else self.session_class()
        try:
            return self.session_class(signed.loads(sent))
        except BadSignature:
            return self.session_class()

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Sends a cookie that has changed; the phone's own clock counts how long it is kept."""
        if not session or not session.permanent or not self.should_set_cookie(app, session):
            super().save_session(app, session, response)
            return
        signed = self.get_signing_serializer(app)
        if signed is not None:
            cookie = dump_cookie(
                self.get_cookie_name(app),
                signed.dumps(dict(session)),
                max_age=KEPT,
                sync_expires=False,
                path=self.get_cookie_path(app),
                domain=self.get_cookie_domain(app),
                secure=self.get_cookie_secure(app),
                httponly=self.get_cookie_httponly(app),
                samesite=self.get_cookie_samesite(app),
            )
            response.headers.add("Set-Cookie", cookie)
        response.vary.add("Cookie")
