"""Cards without stickers, told by their faces."""
