"""The web server: who may hold a connection, what every request passes, how long a process is alive."""
