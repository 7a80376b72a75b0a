"""How the share of zeros grows with time."""
