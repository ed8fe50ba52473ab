"""What spectators see as it happens: one websocket for everything they watch."""
