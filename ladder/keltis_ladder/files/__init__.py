"""Directories and archives of strangers, as files and bytes."""
