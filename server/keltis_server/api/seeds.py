"""The server's parts of seeds: what it has committed to, and what was drawn by which match."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pydantic import BaseModel, Field
from sqlmodel import Session

from keltis_ladder.store.matches.seed_parts import PartRow, list_parts
from keltis_ladder.store.schema.tables import JobState
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, Endpoints
from keltis_server.http.lookups import number_after
from keltis_server.http.parameters import Page, PageQuery
from keltis_server.loaders.matches import STATES
from keltis_server.models.matches import MatchState

ENDPOINTS: Final = Endpoints("seeds", "What the seeds of matches are made of.")


class SeedPartOut(BaseModel):
    """The server's part of a seed. docs/readers/seeds.md says what it is for."""

    number: int = Field(description="Parts are drawn in the order of their numbers.")
    commitment: str = Field(description="The hash that binds the server to it.")
    after: int = Field(description="So many results were stored when it was committed to.")
    created: datetime
    match: str | None = Field(description="The id of the match that drew it.")
    match_number: int | None = Field(description="The number of that match's result.")
    match_state: MatchState | None = Field(
        description="How far that match is; one that failed or was cancelled keeps its part."
    )
    secret: str | None = Field(description="The part itself, told when its match is over.")


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
