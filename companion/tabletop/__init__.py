"""What printing and vision share about mats, stickers and decks."""
