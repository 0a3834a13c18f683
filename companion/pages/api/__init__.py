"""JSON API of the table, and its OpenAPI description."""
