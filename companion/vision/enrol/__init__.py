"""Deck enrollment: from photographs of cards to recognition templates."""
