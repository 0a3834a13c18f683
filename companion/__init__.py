"""Mille Bornes Companion: watches a real table, referees it and keeps the score."""

import os

# Small products of matrices are many times slower on several threads than on one; this counts only before numpy is
# loaded, and every module of ours is loaded after this one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
