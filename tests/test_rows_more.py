"""Rows of the sheets that only a rule turned wrong showed to be untested."""
