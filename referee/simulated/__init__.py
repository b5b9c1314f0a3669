"""A simulated venue: recorded days spoken on the venues' own wire, under a stepped clock."""
