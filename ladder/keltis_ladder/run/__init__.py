"""Keep a ladder going: what to play next, with which programs, and what is kept of it."""
