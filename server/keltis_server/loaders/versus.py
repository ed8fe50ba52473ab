"""A bot held against others, from what is stored."""

from __future__ import annotations

from sqlmodel import Session

from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.browsing import names_of
from keltis_ladder.store.ratings.joint.pairings import Pairing, pairings
from keltis_server.models.leaderboards import AllVersusOut, VersusOut


def load_versus(
    session: Session, named: tuple[str, int, int], only: int | None, scope: Scope
) -> AllVersusOut:
    """Hold a bot (its name, version and number) against another version, or against all.

    Who has no joint rating is in nobody's list.
    """
    name, version, number = named
    found = pairings(session, version, scope)
    lines = [] if found is None else [p for p in found.lines if only in (None, p.other)]
    names = names_of(session, [line.other for line in lines])
    return AllVersusOut(
        variant=scope.variant,
        players=scope.players,
        bot=name,
        version=number,
        as_of=None if found is None else found.publication.as_of,
        others=[_out(line, *names[line.other]) for line in lines],
    )


def _out(line: Pairing, bot: str, version: int) -> VersusOut:
    met = line.met
    return VersusOut(
        bot=bot,
        version=version,
        lead=line.lead,
        sigma=line.sigma,
        low=line.low,
        high=line.high,
        better=line.better,
        certain=line.certain,
        expected=line.ahead,
        wins=0 if met is None else met.wins,
        draws=0 if met is None else met.draws,
        losses=0 if met is None else met.losses,
        mean_lead=None if met is None else met.lead,
    )
