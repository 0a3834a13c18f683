"""A simulated table: hands of Mille Bornes played before a camera that does not exist."""
