"""Printing of stickers, mats and our own deck, all drawn as SVG in millimeters."""
