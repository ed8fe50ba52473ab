"""Benchmarks of the clock: whether it is fair on a busy machine."""
