"""Cards told by the codes of their stickers."""
