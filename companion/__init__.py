"""Watches a real Mille Bornes table, referees it and keeps the score."""

import os

# Small matrix products are many times slower on several threads. NumPy reads this when it loads, after this module.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "1.0.0"
