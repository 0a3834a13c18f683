"""The simulated table with people round it: mishaps, idle hands, cups, changing light, other cameras."""
