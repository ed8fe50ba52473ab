"""Benchmarks of matchmaking: simulated ladders."""
