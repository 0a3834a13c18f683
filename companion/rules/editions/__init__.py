"""Editions: TOML files of rule sheets, their parser, and switches for house rules."""
