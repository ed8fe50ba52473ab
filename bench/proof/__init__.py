"""Ladders whose truth is known, and ratings held against it: the parts of ``bench.coverage``."""
