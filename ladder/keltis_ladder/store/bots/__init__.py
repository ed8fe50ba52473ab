"""Authors, bots and their versions."""
