"""The match: its record, what the referee makes of it, its phones, and what is kept of it afterwards."""
