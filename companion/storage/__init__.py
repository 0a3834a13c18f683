"""The data folder: event log, backups, repair of a damaged log, restoring."""
