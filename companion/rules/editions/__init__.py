"""Editions: a TOML file for each rule sheet, its parser, its value, and the switches for house rules."""
