"""The record of a match: notation, and verdicts on lines."""
