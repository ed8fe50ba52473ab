"""The check: whether a bot may join the ladder."""
