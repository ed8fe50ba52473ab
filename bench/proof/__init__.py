"""Ladders whose truth is known, and ratings held against it: for ``bench.ratings.coverage``."""
