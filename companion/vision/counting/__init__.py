"""Photographs of a finished tableau: what lies there, and what has to be asked."""
