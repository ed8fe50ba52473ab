"""What the operator of a server is told."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field


class TroubleOut(BaseModel):
    """Something that failed and was ours."""

    at: datetime
    text: str


class DraggingOut(BaseModel):
    """A bot whose matches do not come to their end, as if the machine failed or were too busy."""

    bot: str
    matches: int = Field(description="In a row.")


class StatusOut(BaseModel):
    """How the ladder is."""

    draining: bool = Field(description="Whether no new matches begin.")
    tempo: str = Field(
        description="How fast the ladder plays: full; limited, to the rate that was set; calm, one "
        "match at a time, while only our own bots are there; settled, since no match would teach "
        "much."
    )
    matches_per_minute: float | None = Field(
        description="Matches of the ladder that may begin in a minute; null is any number."
    )
    expected_gain: float | None = Field(
        description="What the most instructive match would teach: pairs put right, per rival. Null "
        "if nobody may meet."
    )
    referees: int
    playing: list[str] = Field(description="The ids of the matches at a referee.")
    waiting: int = Field(description="Matches in the queue.")
    checking: int = Field(description="Versions that wait for their check, or are being checked.")
    unchecked: list[str] = Field(
        description="Versions that could not be checked through a fault of ours; the log says why."
    )
    troubles: list[TroubleOut] = Field(
        description="What failed lately and was ours, the newest first: matches that the machine "
        "broke off, programs that cannot be had, a database that did not answer."
    )
    dragging: list[DraggingOut] = Field(
        description="Bots whose matches took too long or were broken off again and again, where "
        "those of others came to their end: they may drag them on, or have them fail. Their "
        "matches are held back for ten minutes each time."
    )
    matches: int = Field(description="Stored in all.")
    authors: int
    bots: int


class InvitationOut(BaseModel):
    """A new invitation. Its text is shown this once."""

    invitation: str


class ModeratedVersion(BaseModel):
    """A version that is in another state now."""

    bot: str
    number: int
    state: str


class ModeratedOut(BaseModel):
    """What has become of a bot or an author."""

    name: str
    disabled: bool
    versions: list[ModeratedVersion]


class PrunedOut(BaseModel):
    """What was removed, or would be."""

    builds: int = Field(description="Programs ready to play; what is needed again is built again.")
    archives: int = Field(description="Uploads.")
    size: int = Field(description="Bytes that are free again.")
    steps: int = Field(description="Old rating steps; of each day the last ones stay.")
    replays: int = Field(description="Games whose moves were too old to be kept.")
    cards: int = Field(description="Crash cards that were too old to be kept.")
    outputs: int = Field(description="Outputs of builds that were too old to be kept.")
    credentials: int = Field(description="Tokens and invitations that let nobody in.")


class RecheckedOut(BaseModel):
    """What is being checked again."""

    versions: list[ModeratedVersion]


class RerateOut(BaseModel):
    """What working out all ratings again has shown."""

    matches: int = Field(description="Rated matches that were gone through.")
    changed: int = Field(description="Stored numbers that were wrong; they are right now.")
