"""The club: a server that collects many tables' logs in PostgreSQL and shows all of them."""
