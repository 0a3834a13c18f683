"""Mille Bornes Companion: watches a real table, referees it and keeps the score."""

__version__ = "0.1.0"
