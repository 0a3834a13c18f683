"""Locate the mats and their zones: markers, table plane, lens."""
