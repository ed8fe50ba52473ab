"""Simple players, whole games at random, and exhaustive counts."""
