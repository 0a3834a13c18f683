"""Cards recognised by the codes of their stickers."""
