"""What goes wrong with a request, as the API tells it."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ProblemOut(BaseModel):
    """A problem: what kind of one it is, and what to do about this one."""

    type: str = Field(description="A name for this kind of problem.")
    title: str = Field(description="The same for all problems of this kind.")
    status: int = Field(description="The HTTP status code.")
    detail: str = Field(description="What was wrong, and what to do.")
    errors: list[str] = Field(default=[], description="Each field that is wrong, if several are.")
