"""A simulated table before a virtual camera."""
