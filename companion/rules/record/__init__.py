"""The record of a match: its notation, and the verdict on each line."""
