"""Dispatchers carry jobs to referees, and what happens there back, while it happens."""
