"""Commands for authors: start, check, compare and debug a bot."""
