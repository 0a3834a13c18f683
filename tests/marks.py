"""Which parameters of a test are left to `deploy/test --long`."""

from collections.abc import Iterable

import pytest


def mostly_long(values: Iterable, *usual: object) -> list:
    """Parameters of a test, all but the usual ones marked as long."""
    return [value if value in usual else pytest.param(value, marks=pytest.mark.long) for value in values]
