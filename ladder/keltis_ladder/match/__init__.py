"""What a match is, as values that are stored and sent."""
