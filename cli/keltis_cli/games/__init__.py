"""Play, replay and count games, without a ladder."""
