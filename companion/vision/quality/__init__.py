"""The quality of a picture, and what would help."""
