"""Whole hands as views without pictures: people with habits, an eye that errs, and the truth."""
