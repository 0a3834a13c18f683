"""Rate the quality of a picture, and advise."""
