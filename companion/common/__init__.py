"""What every room may use: sentences, errors, the clock, parsing, files that ship; none of it knows the game."""
