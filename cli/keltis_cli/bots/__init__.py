"""For authors: begin, check, compare and mend a bot."""
