"""The boards of the four games as text."""
