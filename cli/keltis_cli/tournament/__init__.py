"""Run a tournament on this machine."""
