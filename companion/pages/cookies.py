"""The cookie of a phone: signed with HMAC-SHA256; those of before, with HMAC-SHA1, are still taken."""

from __future__ import annotations

import hashlib
from typing import Any

from flask import Flask
from flask.sessions import SecureCookieSessionInterface


def _sha256(string: bytes = b"") -> Any:
    return hashlib.sha256(string)


class Cookies(SecureCookieSessionInterface):
    """Signs what a phone carries; a phone that was let in before the signature was longer stays in."""

    digest_method = staticmethod(_sha256)

    def get_signing_serializer(self, app: Flask) -> Any:
        signs = super().get_signing_serializer(app)
        if signs is not None:
            signs.fallback_signers = [{"key_derivation": self.key_derivation, "digest_method": hashlib.sha1}]
        return signs
