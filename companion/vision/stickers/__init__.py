"""Read the sticker codes of cards."""
