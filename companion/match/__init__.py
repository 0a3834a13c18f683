"""The match: its judged record, its phones, past matches and statistics."""
