"""The cookie of a phone: signed (HMAC-SHA256), and valid whatever the clocks say."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from flask import Flask, Request, Response
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature
from werkzeug.http import dump_cookie

KEPT = timedelta(days=400)
"""Lifetime of the cookie: the longest that browsers allow."""


class Cookies(SecureCookieSessionInterface):
    """Cookies that do not depend on the clock of this machine.

    Flask refuses a cookie that was signed too long ago or in the future, so a computer that wakes in the wrong year
    would forget every phone; and an expiry date written by a clock in 1970 has the cookie thrown away at once.
    """

    digest_method = staticmethod(hashlib.sha256)

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Return the content of a phone's cookie; empty where there is none, or it is not ours."""
        signed = self.get_signing_serializer(app)
        if signed is None:
            return None
        try:
            return self.session_class(signed.loads(request.cookies.get(self.get_cookie_name(app), "")))
        except BadSignature:
            return self.session_class()

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Send a cookie that has changed; the phone's own clock measures its lifetime (Max-Age)."""
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
