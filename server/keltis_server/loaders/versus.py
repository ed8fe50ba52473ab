"""A bot held against others, from what is stored."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.browsing import names_of
from keltis_ladder.store.ratings.joint.pairings import Pairing, pairing, pairings
from keltis_server.models.leaderboards import AllVersusOut, VersusOut


def load_versus(
    session: Session, named: tuple[str, int, int], only: int | None, scope: Scope
) -> AllVersusOut:
    """Hold a bot (its name, version and number) against another version, or against all.

    Who has no joint rating is in nobody's list.
    """
    name, version, number = named
    if only is None:
        found = pairings(session, version, scope)
    else:
        found = pairing(session, version, only, scope)
    lines = [] if found is None else found.lines
    names = names_of(session, [line.other for line in lines])
    return AllVersusOut(
        variant=scope.variant,
        players=scope.players,
        bot=name,
        version=number,
        as_of=None if found is None else found.publication.as_of,
        others=[_out(line, *names[line.other]) for line in lines],
    )


def load_pairing(
    session: Session, one: int, other: int, scopes: Sequence[Scope]
) -> dict[Scope, VersusOut]:
    """Hold a version against another one in several scopes; those without figures are left out."""
    names = names_of(session, [other])
    found = {scope: pairing(session, one, other, scope) for scope in scopes}
    return {
        scope: _out(held.lines[0], *names[other])
        for scope, held in found.items()
        if held is not None
    }


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
