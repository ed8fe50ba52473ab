"""A game in progress: what all four have in common, and what each viewer may see of it."""
