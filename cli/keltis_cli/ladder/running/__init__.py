"""Run a scheduler on this machine: put bots on its ladder, show how it goes, stop it."""
