"""Benchmarks of the audit: whom it accuses, and how soon."""
