"""Phones: their identity, seats and permissions."""
