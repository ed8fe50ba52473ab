"""Games made again from what was kept of them: a replay, or a view."""
