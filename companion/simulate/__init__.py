"""A simulated table: hands of Mille Bornes played before a camera that does not exist.

What looks at the frames of `frame_source` is told nothing but the pixels.
"""
