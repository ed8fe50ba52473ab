"""What can go wrong, each with its own name."""

from __future__ import annotations


class EngineError(ValueError):
    """Something the caller gave the engine cannot be used; the state is unchanged."""


class UnknownVariant(EngineError):
    """No variant has that id."""


class BadOption(EngineError):
    """A variant has no such option, or the option cannot have that value."""


class BadDeal(EngineError):
    """A game cannot be dealt for that number of players or from that seed."""


class UnknownNotation(EngineError):
    """A text that names no action of the variant."""


class IllegalAction(EngineError):
    """An action that the player may not take now, or that does not exist at all."""


class BadViewer(EngineError):
    """A view was asked for somebody who is not at the table, or too early."""


class BadView(EngineError):
    """Data that is not the view of a seat."""


class BadGame(EngineError):
    """The module of a game declares too little of its actions, or something that cannot be."""
