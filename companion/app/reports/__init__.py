"""Output of commands, as text and JSON."""
