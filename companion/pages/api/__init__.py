"""The table for scripts, and the one description of it."""
