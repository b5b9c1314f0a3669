"""Servers that the referee starts itself when no address of a real one is given."""
