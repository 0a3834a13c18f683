"""What the camera sees, zones drawn on it, decks enrolled before it, and what is printed for it."""
