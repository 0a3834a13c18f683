"""The program: command line, service, simulated table, doctor, backup files."""
