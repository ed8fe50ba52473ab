"""Benchmarks of ratings: what their numbers are, and whether they hold."""
