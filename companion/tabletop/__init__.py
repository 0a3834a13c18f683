"""What printing and vision share: mat layout, card ids, sticker codes, template decks, drawn zones."""
