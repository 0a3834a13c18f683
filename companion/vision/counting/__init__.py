"""Photographs of a finished tableau: which cards are there, and what to ask."""
