"""What a bot author uses: the protocol, the SDK and the reference bots."""

from keltis_bots.framing import PROTOCOL, ProtocolError
from keltis_bots.request import Event, Game, Request, Result
from keltis_bots.sdk import Bot, run

__all__ = ["PROTOCOL", "Bot", "Event", "Game", "ProtocolError", "Request", "Result", "run"]
