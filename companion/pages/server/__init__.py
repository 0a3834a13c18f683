"""The web server: connections, checks of every request, process lifetime."""
