"""What goes onto paper: stickers, mats and our own deck. SVG in millimetres is the source of every picture."""
