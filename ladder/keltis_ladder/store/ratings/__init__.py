"""Ratings: leaderboards, and their recomputation."""
