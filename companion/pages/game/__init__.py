"""The match as it is played: the table on a phone, the cards to tap, what is legal, setting up."""
