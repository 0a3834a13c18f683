"""The simulated table in a real household: mishaps, idle hands, cups, changing light, other cameras."""
