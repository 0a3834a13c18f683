"""The match in play: the table on a phone, picking cards, legal plays, set-up."""
