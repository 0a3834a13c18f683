"""A simulated table before a virtual camera, which gives nothing but pixels."""
