"""Errors of the command line that the engine has no name for."""

from __future__ import annotations

from keltis_engine import EngineError


class BadRequest(EngineError):
    """What was asked for on the command line cannot be done; the message says what can."""
