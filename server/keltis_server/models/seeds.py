"""What the seeds of matches are made of, as the API tells it."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from keltis_server.models.matches import MatchState


class SeedPartOut(BaseModel):
    """The server's part of a seed. docs/readers/seeds.md says what it is for."""

    number: int = Field(description="Parts are drawn in the order of their numbers.")
    commitment: str = Field(description="The hash that binds the server to it.")
    after: int = Field(description="Number of results that were stored when it was committed to.")
    created: datetime
    match: str | None = Field(description="The id of the match that drew it.")
    match_number: int | None = Field(description="The number of that match's result.")
    match_state: MatchState | None = Field(
        description="How far that match is; one that failed or was cancelled keeps its part."
    )
    secret: str | None = Field(description="The part itself, told when its match is over.")
