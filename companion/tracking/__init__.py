"""The memory of the table: which card lies where, since when, and which play that means."""
