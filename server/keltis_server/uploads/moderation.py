"""What follows when a bot or an author was taken off the ladder, or let back."""

from __future__ import annotations

import logging

from aiohttp import web

from keltis_ladder.errors import LadderError
from keltis_ladder.store.bots.moderation import Moderated
from keltis_server.events import TournamentChanged
from keltis_server.play.games import GAMES
from keltis_server.site.site import Site

log = logging.getLogger(__name__)


async def follow_up(site: Site, app: web.Application, done: Moderated) -> None:
    """Tell everybody, have checked what comes back, and let who was taken off leave tournaments."""
    site.tell(*done.changed)
    for tournament, entrant in done.entered:
        try:
            await site.work(site.director.withdraw, tournament, entrant)
        except LadderError as error:  # it has ended meanwhile
            log.warning("entrant %s stays in tournament %s: %s", entrant, tournament, error)
        site.tell(TournamentChanged(tournament))
    app[GAMES].look()
