"""Benches, run as `python -m tests.bench.NAME` from the root of the repository. Their helpers are in `tests/`."""

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in `companion/`; must be set before NumPy is imported
for folder in (Path(__file__).parents[2], Path(__file__).parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
