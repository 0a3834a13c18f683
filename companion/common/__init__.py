"""Helpers for every room, none specific to the game."""
