"""What printing and vision share about mats, stickers and decks, and what pages and terminal share about languages."""
