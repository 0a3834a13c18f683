"""Camera pages: pictures, drawn zones, decks, enrollment and printing."""
