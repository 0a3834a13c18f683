"""Printing of stickers, mats and our own deck. SVG in millimeters is the source of every picture."""
