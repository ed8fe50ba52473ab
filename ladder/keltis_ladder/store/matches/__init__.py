"""Matches: asked for, played, stored and read."""
