"""Print stickers, mats and our own deck, from SVG."""
