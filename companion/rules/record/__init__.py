"""The record of a match: how a line is written and read, and every line judged."""
