"""A bot goes to a server: packed, sent, followed through its check, and checked again."""
