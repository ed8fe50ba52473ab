"""Run a ladder on this machine, and maintain its database."""
