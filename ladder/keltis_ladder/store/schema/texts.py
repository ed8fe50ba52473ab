"""Texts that bots have a part in, such as the last words of a build."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text that every database takes, whatever a bot has made us say."""
    return text.replace("\0", r"\x00").encode("utf-8", "backslashreplace").decode("utf-8")
