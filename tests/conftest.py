"""What tests of many rooms start from."""

from __future__ import annotations

import pytest

from companion.match import Match
from companion.store import Store


@pytest.fixture
def match(tmp_path):
    """A match that nobody has begun, over an empty log."""
    store = Store.open(tmp_path / "log.sqlite3")
    yield Match(store)
    store.close()


@pytest.fixture
def page(app):
    """A browser on the machine itself, at the pages that the test's own file serves."""
    return app.test_client()
