"""Pictures of tables rendered by three.js: bent glossy sheets, lamps, shadows and a perspective camera.

Nothing that shapes these pictures is shared with `photos` and `webcam`, so they show whether the reader has learned our
own renderer instead of tables.
"""
