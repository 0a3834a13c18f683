"""The program: its command line, the service, the simulated table, the doctor, backups carried as one file."""
