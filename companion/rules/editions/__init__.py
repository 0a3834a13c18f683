"""Editions as data: a rule sheet is a TOML file; here are its reader, its value and the switches of house rules."""
