"""Cards without stickers, identified by their faces."""
