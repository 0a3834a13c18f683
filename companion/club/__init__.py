"""The club: a server that collects the logs of many tables in PostgreSQL and shows all of them."""
