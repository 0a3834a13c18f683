"""Whether a picture is good enough, and what would help."""
