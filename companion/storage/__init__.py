"""The data folder: event log, backups, recovery of a damaged log, restoring."""
