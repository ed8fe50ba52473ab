"""Between here and a server: which one, as whom, and what goes wrong."""
