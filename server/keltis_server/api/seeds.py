"""The server's parts of seeds: what it has committed to, and what was drawn by which match."""

from __future__ import annotations

from typing import Final

from sqlmodel import Session

from keltis_ladder.store.matches.seed_parts import PartRow, list_parts
from keltis_ladder.store.schema.tables import JobState
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, Endpoints
from keltis_server.http.lookups import number_after
from keltis_server.http.parameters import Page, PageQuery
from keltis_server.loaders.matches import STATES
from keltis_server.models.seeds import SeedPartOut

ENDPOINTS: Final = Endpoints("seeds", "What the seeds of matches are made of.")


@ENDPOINTS.get("/seed-parts", returns=Page[SeedPartOut], fails=MISSING)
async def list_seed_parts(call: Call, query: PageQuery) -> Page[SeedPartOut]:
    """All parts that the server has ever committed to, the newest first.

    Note the commitments of those that nobody has drawn yet: no other part can take their place.
    """
    return await call.site.read(_page, query.limit, number_after(query.after))


def _page(session: Session, limit: int, before: int | None) -> Page[SeedPartOut]:
    found = list_parts(session, before, limit + 1)
    shown = found[:limit]
    return Page[SeedPartOut](
        items=[_out(row) for row in shown],
        next=str(shown[-1].part.number) if len(found) > len(shown) else None,
    )


def _out(row: PartRow) -> SeedPartOut:
    part = row.part
    return SeedPartOut(
        number=part.number,
        commitment=part.commitment,
        after=part.after_match,
        created=part.created,
        match=part.job_id,
        match_number=row.match_number,
        match_state=None if row.job_state is None else STATES[JobState(row.job_state)],
        secret=None if row.match_number is None else part.secret,
    )
