"""Tables in a terminal: of bots, of tournaments, head to head."""
