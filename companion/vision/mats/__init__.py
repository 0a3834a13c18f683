"""Locate the mats and their zones on a picture."""
