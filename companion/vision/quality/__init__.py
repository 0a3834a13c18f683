"""Rate a picture's quality, and advise."""
