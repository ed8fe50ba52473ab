"""What users can put right."""

from __future__ import annotations


class LadderError(ValueError):
    """Something that the user asked for and that cannot be done; the text says what to do."""


class UnknownBot(LadderError):
    """A bot that is neither one of ours nor a directory with a ``bot.toml``."""
