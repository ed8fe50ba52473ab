"""From an archive to a program that can be run."""
