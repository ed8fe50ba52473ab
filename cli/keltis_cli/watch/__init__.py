"""``watch``: matches as they are played, in the terminal."""
