"""Reports of checks as the API shows them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keltis_server.models.moments import Moment


class FindingOut(BaseModel):
    """The outcome of one check."""

    check: str = Field(description="Its name, the same in every report.")
    mark: str = Field(description="ok, warning or failed: only a failure keeps a bot away.")
    text: str
    advice: str
    log: str = Field(description="The end of what the bot, or its build, had printed.")


class FoundOut(BaseModel):
    """What a check has found so far; live messages send no more than this."""

    findings: list[FindingOut]
    output: str = Field(description="What its build printed; of much only beginning and end.")


class ReportOut(FoundOut):
    """What the check of a version found. Empty until it is over."""

    state: str
    reason: str = Field(description="Why the version is in its state, in English.")
    reason_code: str = Field(description="The same as a code.")
    reason_details: dict[str, str | int | bool] = Field(description="What belongs to the code.")
    started: Moment | None
    finished: Moment | None
