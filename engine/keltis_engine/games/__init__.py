"""The four games, each a module that reads like its rules page beside it."""
