"""The store: what the ladder knows, in a database, and the files that bots came in."""
