"""Photographs of a finished tableau: its cards, and what to ask."""
