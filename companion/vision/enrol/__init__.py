"""Deck enrollment: from photographs of single cards to the templates that recognize them."""
