"""Answers of a server as lines for people."""
