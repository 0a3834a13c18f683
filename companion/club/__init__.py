"""The club: many tables push their logs to one place, which keeps them in PostgreSQL and shows all of them."""
