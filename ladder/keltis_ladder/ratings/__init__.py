"""Ratings: what results say about the strength of bots, always recomputable."""
