"""The match in play: the table, picking cards, legal plays, set-up."""
