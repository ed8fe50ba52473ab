"""For programs that talk to a server; imports nothing else of ours."""
