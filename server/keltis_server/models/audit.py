"""What the audit says, as the API tells it."""

from __future__ import annotations

from pydantic import BaseModel, Field


class AuditLineOut(BaseModel):
    """One test of a bot, or of two."""

    bot: str
    partner: str | None = Field(description="The other one of a pair; null for tests of one bot.")
    test: str = Field(
        description="later: results in later games of a deal against the first; foresight: how "
        "well decisions fit hidden cards, compared in the same way; pair: luck of two together "
        "at tables of three and four."
    )
    variant: str | None = Field(description="Null for pairs, whose matches count together.")
    matches: int
    odds: int = Field(description="So much to one against mere chance, as it stands now.")
    alarm: int | None = Field(
        description="The match after which it was more than chance allows; null if it never was."
    )


class BotAuditOut(BaseModel):
    """What the audit says about a bot; only for its author and the operator."""

    matches: int = Field(description="Matches of the ladder that were looked at.")
    suspicious: bool
    tests: list[AuditLineOut]
    telling: list[int] = Field(
        description="If a test of the bot alone gave an alarm: matches in which it was most "
        "clearly better later, the clearest first."
    )


class AuditOut(BaseModel):
    """How far the audit has come, and whom it suspects."""

    done: int = Field(description="The last match that is in it.")
    waiting: int = Field(description="Matches that it has not come to yet.")
    looked_at: int = Field(description="Matches whose decisions were looked at, for foresight.")
    suspend: bool = Field(description="Whether a bot that is found is suspended at once.")
    suspects: list[AuditLineOut] = Field(description="The newest alarm first.")
