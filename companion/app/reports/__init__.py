"""What commands say in a terminal, and as JSON."""
