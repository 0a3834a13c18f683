"""Find NumPy scalars in vision values: they look like numbers but cannot be written as JSON."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np


def numpy_in(value: object, at: str = "") -> Iterator[str]:
    """Yield the places of NumPy scalars in fields, items and keys, at any depth."""
    if isinstance(value, np.generic):
        yield f"{at}: {type(value).__name__}"
    elif is_dataclass(value):
        for field in fields(value):
            yield from numpy_in(getattr(value, field.name), f"{at}.{field.name}")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from numpy_in(key, f"{at} key {key}")
            yield from numpy_in(one, f"{at}[{key!r}]")
    elif isinstance(value, (tuple, list, set, frozenset)):
        for number, one in enumerate(value):
            yield from numpy_in(one, f"{at}[{number}]")
