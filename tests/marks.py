"""Mark test parameters that only `deploy/test --long` runs."""

from collections.abc import Iterable

import pytest


def mostly_long(values: Iterable, *usual: object) -> list:
    """Return the values as parameters, marking all except `usual` as long."""
    return [value if value in usual else pytest.param(value, marks=pytest.mark.long) for value in values]
