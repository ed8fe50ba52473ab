"""Benchmarks, and the results of those that we keep."""
