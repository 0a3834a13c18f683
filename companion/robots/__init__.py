"""Robots: players for one to play against. They know what is public and their own hand, by their types."""
