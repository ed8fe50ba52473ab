"""Run a ladder on this machine, and look after what it stores."""
