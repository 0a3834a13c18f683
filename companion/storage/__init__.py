"""What is kept on the disk: the log of events and its file, backups, recovery and restoring, the data folder."""
